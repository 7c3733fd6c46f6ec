"""Evaluate expressions: a call becomes a step, a name its bound value."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.access import access, read_local, seen
from instrc.compiler.bind.blocks import evaluate_block
from instrc.compiler.bind.calls import call, fail, mix
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.given import data_of, refuse_annotations
from instrc.compiler.bind.lookup import callee_of, find_vibe, look_up, not_callable, undefined_meaning
from instrc.compiler.bind.scopes import CONTEXTS, CalledProgram, InputName, LocalName, Special, goal
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Data, Inner, StepResult
from instrc.compiler.ir import TIMING, Instruction, Path
from instrc.language import surface
from instrc.problems.problem import Problem
from instrc.text.durations import from_words, is_duration, is_no_time
from instrc.text.jsonvalue import Json
from instrc.text.source import Span


def evaluate(ev: Evaluation, expression: surface.Expression, context: EvaluationContext) -> BoundValue | None:
    """Evaluate any expression."""
    if type(expression) is surface.Call:
        return _call(ev, expression.callee, expression.arguments, expression.span, context)
    if type(expression) is surface.Name:
        return _name(ev, expression, context)
    if isinstance(expression, surface.Block):
        return evaluate_block(ev, expression, context)
    match expression:
        case surface.Uri():
            return _call(ev, expression, (), expression.span, context)
        case surface.Inline(schema, span):
            title = schema.get("title")
            instruction = Instruction(title if isinstance(title, str) and title.strip() else "inline", None, schema)
            return call(ev, instruction, (), span, context)
        case surface.Annotated():
            return _annotated(ev, expression, context)
        case surface.Pipe():
            return evaluate_pipe(ev, expression, context)
        case surface.Object():
            from instrc.compiler.bind.braces import object_of_values  # many programs have none

            return object_of_values(ev, expression, context)
        case surface.Literal(value, span):
            refuse_annotations(ev, span, context)
            return Data(value)
        case surface.Array(_, span):
            refuse_annotations(ev, span, context)
            reported = len(ev.report.problems)
            data = data_of(ev, expression)
            return Data(data) if len(ev.report.problems) == reported else None
        case surface.Access():
            return access(ev, expression, context)


def _call(
    ev: Evaluation,
    callee: surface.Name | surface.Uri,
    arguments: tuple[surface.Argument, ...],
    span: Span,
    context: EvaluationContext,
) -> BoundValue | None:
    """Evaluate a call of a name or a reference."""
    called = callee_of(ev, callee, context) if isinstance(callee, surface.Name) else find_vibe(ev, callee, context.scope)
    match called:
        case Instruction():
            if called.kind == "mixin":
                return mix(ev, called, arguments, span, context)
            if called.name != "StartProcess":
                return call(ev, called, arguments, span, context)
            from instrc.compiler.bind.processes import start  # most programs neither start processes nor call programs

            return start(ev, called, arguments, span, context)
        case None:
            if context.exported and not context.own and isinstance(callee, surface.Name) and _holds_contexts(arguments):
                from instrc.compiler.bind.processes import process  # as above

                return process(ev, Special("Process"), arguments, span, context)  # already reported
            _report_mistakes_in(ev, arguments, context)
            return None
        case CalledProgram():
            from instrc.compiler.bind.bodies import call_program  # as above

            return call_program(ev, called, arguments, span, context)
        case Special("Fail"):
            return fail(ev, arguments, span, context)
        case Special("RunPlan_Activity"):
            from instrc.compiler.plan_schema import RUN_PLAN  # as above

            return call(ev, RUN_PLAN, arguments, span, context)
        case Special("Plan" | "OneOf"):
            ev.report.add(problems.plans.MisplacedPlan(at=span, word=called.name))
            return None
        case Special("LaunchProcess"):
            from instrc.compiler.bind.processes import launch  # as above

            return launch(ev, arguments, span, context)
        case Special():
            from instrc.compiler.bind.processes import process  # as above

            return process(ev, called, arguments, span, context)


def _holds_contexts(arguments: tuple[surface.Argument, ...]) -> bool:
    """Return whether an argument is a context, as only those of `Process` are."""
    for argument in arguments:
        value = argument.value
        while isinstance(value, surface.Annotated):
            value = value.value
        if isinstance(value, surface.Call) and isinstance(value.callee, surface.Name) and value.callee.text in CONTEXTS:
            return True
    return False


def _report_mistakes_in(ev: Evaluation, arguments: tuple[surface.Argument, ...], context: EvaluationContext) -> None:
    """Evaluate the arguments of an invalid call, to find mistakes in them."""
    inside = context.inside()
    for argument in arguments:
        if isinstance(argument.value, surface.Object):
            for field in argument.value.fields:
                ev.value(field.content, inside)
        else:
            ev.value(argument.value, inside)


def _name(ev: Evaluation, name: surface.Name, context: EvaluationContext) -> BoundValue | None:
    """Evaluate a bare name."""
    found = look_up(name, context)
    if isinstance(found, LocalName):
        alias = ev.ends.is_alias(found)
        return _call(ev, name, (), name.span, context) if alias else read_local(ev, name, found, context)
    if found is not None:
        refuse_annotations(ev, name.span, context)
        return seen(ev, context, name.span, found)
    match undefined_meaning(ev, name, context.scope):
        case None:
            return None
        case InputName(text):
            refuse_annotations(ev, name.span, context)
            return StepResult(Path(text))
        case _:
            path = None if context.keys is None else context.keys.path_to_part(name.text)
            if path is not None:
                ev.report.add(problems.names.HiddenSlot(at=name.span, word=name.text, path=path))
            return _call(ev, name, (), name.span, context)


def _annotated(ev: Evaluation, written: surface.Annotated, context: EvaluationContext) -> BoundValue | None:
    """Evaluate an expression with an `@`: deadline and delay are for the engine, the rest for the schema."""
    annotation = written.annotation
    added: dict[str, Json] = {"description": annotation} if isinstance(annotation, str) else dict(annotation)
    timing = context.timing
    for word in TIMING:
        if word in added:
            value = added.pop(word)
            if not isinstance(value, str) or not is_duration(value):
                instead = _duration_of(value) if isinstance(value, str) else None
                ev.report.add(problems.blocks.BadDuration(at=written.annotation_span, word=word, instead=instead))
                return None
            if word == "within" and is_no_time(value):
                ev.report.add(problems.blocks.BadDuration(at=written.annotation_span, word=word, over=True))
                return None
            if getattr(timing, word):
                ev.report.add(problems.blocks.MisplacedDeadline(at=written.annotation_span, word=word, place="twice"))
                return None
            timing = replace(timing, **{word: value})
    more = (added, *context.annotations) if added or annotation == {} else context.annotations
    before = len(ev.report.problems)
    result = ev.value(written.value, replace(context, annotations=more, timing=timing))
    ev.report.change(before, lambda each: _at_annotation(each, written.annotation_span))
    return result


def _duration_of(text: str) -> str | None:
    """Return the probable duration in a text: `5m`, or one of ISO 8601 in lower case."""
    return text.upper() if is_duration(text.upper()) else from_words(text)


def _at_annotation(problem: Problem, at: Span) -> Problem:
    """Return a problem with an annotation, located at the annotation if it was found in a called program."""
    elsewhere = problem.at is not None and problem.at.source is not at.source
    return replace(problem, at=at, calls=()) if elsewhere and problem.name == "misplaced-annotation" else problem


def evaluate_pipe(ev: Evaluation, pipe: surface.Pipe, context: EvaluationContext) -> BoundValue | None:
    """Evaluate the last stage of a pipe; each stage receives the value of the previous one."""
    stages = pipe.stages
    if goal(stages[0], context.scope) is not None:
        stages = stages[1:]
    within = replace(context.inside(), own=context.own)
    last = replace(context, direct=False)
    value: BoundValue | None = None
    complete = True
    for i, stage in enumerate(stages):
        here = last if i == len(stages) - 1 else within
        if (i > 0 or context.own or isinstance(stage, surface.Array)) and not _is_stage(ev, stage, context):
            complete = False
            continue
        if i > 0:
            here = replace(here, piped=value or Inner(), own=True)
        value = ev.value(stage, here)
        if isinstance(value, Data) and not (value.given and i < len(stages) - 1):
            ev.report.add(problems.calls.MisplacedData(at=stage.span))
            value = None
        complete = complete and value is not None
    return value if complete else None


def _is_stage(ev: Evaluation, stage: surface.Expression, context: EvaluationContext) -> bool:
    """Return whether an expression can receive a piped value; the name of a value cannot."""
    while isinstance(stage, surface.Annotated):
        stage = stage.value
    if isinstance(stage, surface.Array) and any(
        isinstance(item, surface.Name | surface.Call | surface.Uri | surface.Pipe) for item in stage.items
    ):
        ev.report.add(problems.habits.ListOfSteps(at=stage.span))
        return False
    if isinstance(stage, surface.Literal | surface.Array):
        ev.report.add(problems.calls.MisplacedData(at=stage.span))
        return False
    if isinstance(stage, surface.Access) and isinstance(stage.base, surface.Name):
        ev.report.add(problems.calls.NotCallable(at=stage.span, word=stage.span.text, places=()))
        return False
    if isinstance(stage, surface.Name):
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
