"""Conditions: what is read, and the schema that it has to satisfy."""

from __future__ import annotations

from msgspec import Struct

from instrc import problems
from instrc.ir.blocks import Test
from instrc.ir.paths import Path
from instrc.ir.surface import Access, Condition, Equals, Matches, Name, Truth
from instrc.ir.surface import Test as Written
from instrc.jsonvalue import Json
from instrc.passes.bind.access import access, subject
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.timing import timing_words
from instrc.passes.bind.values import BoundValue, Data, Inner, StepResult
from instrc.passes.trampoline import Task
from instrc.schema.vocabulary import SPEAKS_OF


def condition(ev: Evaluation, written: Condition, context: EvaluationContext) -> Task[tuple[Test, ...] | None]:
    """Evaluate the tests of a condition; `None` if one of them is a mistake."""
    tests: list[Test] = []
    for each in written.tests:
        schema = _schema(ev, each)
        path = yield read_path(ev, each.subject, context)
        if path is not None and schema is not None:
            tests.append(Test(path, schema, each.span))
    return tuple(tests) if len(tests) == len(written.tests) else None


class Asked(Struct, frozen=True):
    """The condition of a branch: what is left to be asked, or that it holds whatever is answered."""

    tests: tuple[Test, ...]
    holds: bool


def asked(ev: Evaluation, written: Condition, context: EvaluationContext) -> Task[Asked | None]:
    """Evaluate the tests of a branch; those about literals that a program is called with are decided here."""
    tests: list[Test] = []
    holds = False
    complete = True
    for each in written.tests:
        schema = _schema(ev, each)
        value = yield _value(ev, each.subject, context)
        if isinstance(value, Data) and value.given and schema is not None:
            from instrc.schema.validation import is_valid  # few programs are called with literals

            holds = holds or is_valid(value.value, schema)
            continue
        path = _path(ev, value, each.subject, context)
        if path is None or schema is None:
            complete = False
        else:
            tests.append(Test(path, schema, each.span))
    return Asked(tuple(tests), holds) if complete else None


def read_path(ev: Evaluation, written: Name | Access, context: EvaluationContext) -> Task[Path | None]:
    """Evaluate the path that a condition or a list reads."""
    value = yield _value(ev, written, context)
    return _path(ev, value, written, context)


def _value(ev: Evaluation, written: Name | Access, context: EvaluationContext) -> Task[BoundValue | None]:
    inside = context.inside()
    return (yield access(ev, written, inside) if isinstance(written, Access) else subject(ev, written, inside))


def _path(ev: Evaluation, value: BoundValue | None, written: Name | Access, context: EvaluationContext) -> Path | None:
    if isinstance(value, StepResult):
        return value.path
    if isinstance(value, Data) and value.given:
        from instrc.passes.bind.constants import path_of_constant  # few conditions read what was given

        return path_of_constant(ev, value, context, written.span)
    if value is not None and value != Inner(mistaken=True):
        ev.report.add(problems.steps.NotAValue(at=written.span, word=written.span.text))
    return None


def _schema(ev: Evaluation, written: Written) -> Json | None:
    match written:
        case Truth():
            return {"const": True}
        case Equals(_, literal):
            return {"const": literal.value}
        case Matches(_, schema, span):
            for word in timing_words(schema):
                ev.report.add(problems.blocks.MisplacedDeadline(at=span, word=word))
                return None
            return with_type(schema)


def with_type(schema: dict[str, Json]) -> Json:
    """Return the schema of a condition so that `null` satisfies it only if the schema names `null`."""
    if "type" in schema or "const" in schema or "enum" in schema:
        return schema
    types: list[Json] = list(
        dict.fromkeys(max(SPEAKS_OF[keyword]) for keyword in schema if keyword in SPEAKS_OF)
    )  # a number, not an integer
    if types:
        return {"type": types[0] if len(types) == 1 else types, **schema}
    if "not" in schema and schema["not"] != {"type": "null"}:
        return {**schema, "not": {"anyOf": [schema["not"], {"type": "null"}]}}
    return {**schema, "not": {"type": "null"}}
