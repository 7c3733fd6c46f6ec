"""Pipes: each stage is given the value of the one before."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.ir.surface import Access, Annotated, Array, Call, Expression, Literal, Name, Pipe, Uri
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.lookup import not_callable
from instrc.passes.bind.scopes import goal
from instrc.passes.bind.values import BoundValue, Data, Inner
from instrc.passes.trampoline import Task


def evaluate_pipe(ev: Evaluation, pipe: Pipe, context: EvaluationContext) -> Task[BoundValue | None]:
    """Evaluate the last stage; each stage is given the value of the one before."""
    stages = pipe.stages
    if goal(stages[0], context.scope) is not None:
        stages = stages[1:]
    within = replace(context.inside(), own=context.own)
    last = replace(context, direct=False)
    value: BoundValue | None = None
    complete = True
    for i, stage in enumerate(stages):
        here = last if i == len(stages) - 1 else within
        if (i > 0 or context.own or isinstance(stage, Array)) and not _is_stage(ev, stage, context):
            complete = False
            continue
        if i > 0:
            here = replace(here, piped=value or Inner(), own=True)
        value = yield ev.value(stage, here)
        if isinstance(value, Data) and not (value.given and i < len(stages) - 1):
            ev.report.add(problems.calls.MisplacedData(at=stage.span))
            value = None
        complete = complete and value is not None
    return value if complete else None


def _is_stage(ev: Evaluation, stage: Expression, context: EvaluationContext) -> bool:
    """Tell whether an expression can take what is piped into it; a name of a value cannot."""
    while isinstance(stage, Annotated):
        stage = stage.value
    if isinstance(stage, Array) and any(isinstance(item, Name | Call | Uri | Pipe) for item in stage.items):
        ev.report.add(problems.habits.ListOfSteps(at=stage.span))
        return False
    if isinstance(stage, Literal | Array):
        ev.report.add(problems.calls.MisplacedData(at=stage.span))
        return False
    if isinstance(stage, Access) and isinstance(stage.base, Name):
        ev.report.add(problems.calls.NotCallable(at=stage.span, word=stage.span.text, places=()))
        return False
    if isinstance(stage, Name):
        found = context.scope.find(stage.text)
        if (
            context.find(stage.text) is not None
            or context.scope.value(stage.text) is not None
            or context.scope.is_input(stage.text)
        ):
            not_callable(ev, stage, context.scope)
            return False
        if found is not None and not ev.ends.is_alias(found):
            ev.note_read(stage.text, found.scope)
            places = (found.binding.name.span,)
            not_callable(ev, stage, context.scope, places)
            return False
    return True
