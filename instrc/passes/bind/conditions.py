"""Conditions: what is read, and the schema that it has to satisfy."""

from __future__ import annotations

from instrc import problems
from instrc.ir.blocks import Test
from instrc.ir.paths import Path
from instrc.ir.surface import Access, Condition, Equals, Matches, Name, Truth
from instrc.ir.surface import Test as Written
from instrc.jsonvalue import Json
from instrc.passes.bind.access import access, subject
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.durations import timing_words
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.values import Result
from instrc.passes.trampoline import Task
from instrc.schema.vocabulary import SPEAKS_OF


def condition(ev: Evaluation, written: Condition, context: EvaluationContext) -> Task[tuple[Test, ...] | None]:
    """Evaluate the tests of a condition; `None` if one of them is a mistake."""
    tests: list[Test] = []
    for each in written.tests:
        schema = _schema(ev, each)
        path = yield read(ev, each.subject, context)
        if path is not None and schema is not None:
            tests.append(Test(path, schema, each.span))
    return tuple(tests) if len(tests) == len(written.tests) else None


def read(ev: Evaluation, written: Name | Access, context: EvaluationContext) -> Task[Path | None]:
    """Evaluate the path that a condition or a list reads."""
    inside = context.inside()
    value = yield access(ev, written, inside) if isinstance(written, Access) else subject(ev, written, inside)
    if isinstance(value, Result):
        return value.path
    if value is not None:
        ev.report.add(problems.paths.NotAValue(at=written.span, word=written.span.text))
    return None


def _schema(ev: Evaluation, written: Written) -> Json | None:
    match written:
        case Truth():
            return {"const": True}
        case Equals(_, literal):
            return {"const": literal.value}
        case Matches(_, schema, span):
            for word in timing_words(schema):
                ev.report.add(problems.deadlines.MisplacedDeadline(at=span, word=word))
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
