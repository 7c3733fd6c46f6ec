"""The arguments of a call of a program: what its inputs are given, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from instrc import problems
from instrc.ir.graph import TypedArgument
from instrc.ir.paths import Path
from instrc.ir.surface import Argument, Expression, Name, Object
from instrc.jsonvalue import Json
from instrc.passes.argument_names import missing_arguments, unknown_argument
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.literals import data_of, is_data
from instrc.passes.bind.lookup import names_a_value
from instrc.passes.bind.scopes import ProgramNames
from instrc.passes.bind.values import BoundValue, Data, StepResult
from instrc.passes.trampoline import Task
from instrc.schema.literals import literal_fault
from instrc.source import Span
from instrc.syntax.places import place_of_value


class _GivenInput(NamedTuple):
    """What a call gives to one input."""

    name: str
    """Its label, or its name in braces; what stands there plain is for `prompt`."""
    plain: bool
    at: Span
    value: Expression
    braced: bool
    """Whether it stands in braces."""


def evaluate_arguments(
    ev: Evaluation, names: ProgramNames, callee: str, written: tuple[Argument, ...], span: Span, context: EvaluationContext
) -> Task[dict[str, BoundValue] | None]:
    """Evaluate the arguments of a call, by the names of the inputs; `None`, once it is reported, if one is wrong or missing."""
    inputs = tuple(names.inputs)
    found: dict[str, BoundValue] = {}
    places: dict[str, Span] = {}
    complete = True
    for given in _given(written):
        name = given.name
        if given.braced and not is_data(given.value) and not names_a_value(ev, given.value, context):
            ev.report.add(problems.calls.MisplacedCall(at=given.value.span, word=given.value.span.text, holder=callee))
            places.setdefault(name, given.at)
            complete = False
        elif name in places:
            _report_second(ev, given, callee, inputs, places[name])
            complete = False
        elif name not in inputs:
            places[name] = given.at
            ev.report.add(unknown_argument(name, given.at, callee, inputs))
            complete = False
        else:
            places[name] = given.at
            value: BoundValue | None = (
                Data(data_of(ev, given.value)) if is_data(given.value) else (yield ev.value(given.value, context.inside()))
            )
            if isinstance(value, Data):
                fits = admits_literal(ev, names.schemas()[name], name, value.value, given.at, callee)
                value = Data(value.value, name) if fits else None
            if value is None:
                complete = False
            else:
                found[name] = value
                if isinstance(value, StepResult):
                    at = given.value.span
                    ev.passed.append(TypedArgument(callee, name, value.path, names.schemas()[name], at, at))
    if "prompt" not in found:
        ev.reads_pipe(context)
        found["prompt"] = context.piped if context.piped is not None else StepResult(Path("prompt"))
    if not places.keys() >= set(inputs) - {"prompt"}:
        complete = False
        needed = tuple(name for name in inputs if name != "prompt")
        if (missing := missing_arguments(places, span, callee, inputs, needed)) is not None:
            ev.report.add(missing)
    return {name: found[name] for name in inputs} if complete else None


def _report_second(ev: Evaluation, given: _GivenInput, callee: str, inputs: tuple[str, ...], first: Span) -> None:
    """Report an input that is given twice; of plain arguments there can be one."""
    if given.plain:
        ev.report.add(problems.calls.TooManyArguments(at=given.at, mixin=callee, first=first, inputs=inputs))
    else:
        ev.report.add(problems.names.RepeatedName(at=given.at, word=given.name, first=first))


def admits_literal(ev: Evaluation, schema: Json, name: str, literal: Json, at: Span, callee: str) -> bool:
    """Tell whether the schema of an argument admits a literal; report if not."""
    fault = literal_fault(literal, schema)
    if fault is None:
        return True
    place = place_of_value(at, fault.instance)
    from instrc.passes.fitting_values import fitting_literals  # few literals do not fit

    instead = fitting_literals(literal, schema, fault.instance)
    ev.report.add(
        problems.plans.WrongArgument(at=place, pointer="", callee=callee, argument=name, reason=fault.message, instead=instead)
    )
    return False


def _given(written: tuple[Argument, ...]) -> Iterator[_GivenInput]:
    """Yield what a call is given, the names in its braces as labels."""
    for each in written:
        if each.label is None and isinstance(each.value, Object):
            for field in each.value.fields:
                value = field.value or Name(field.key, field.key_span)
                yield _GivenInput(field.key or "prompt", plain=False, at=field.key_span, value=value, braced=True)
        else:
            at = each.label_span or each.value.span
            yield _GivenInput(each.label or "prompt", plain=each.label is None, at=at, value=each.value, braced=False)
