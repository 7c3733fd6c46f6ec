"""Evaluate conditions to the tests of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, structs

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind.access import access, subject
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.scopes import is_defined, timing_words
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Data, Inner, StepResult
from instrc.language.surface import Access, Compares, Condition, Equals, Literal, Matches, Name, Truth
from instrc.language.surface import Test as Written
from instrc.process import flow
from instrc.schema.kinds import types_of
from instrc.schema.vocabulary import SPEAKS_OF
from instrc.schema.walk import in_place
from instrc.text.jsonvalue import Json, listing


def condition(ev: Evaluation, written: Condition, context: EvaluationContext) -> tuple[ir.Test, ...] | None:
    """Evaluate the tests of a condition; return `None` if one of them is a mistake."""
    tests: list[ir.Test] = []
    complete = True
    for number, each in enumerate(written.tests):
        path = read_path(ev, each.subject, context)
        compiled = _tests(ev, each, path, context)
        complete = compiled is not None and complete
        tests += _joined(compiled or (), joined=number in written.joined)
    return tuple(tests) if complete else None


def _tests(ev: Evaluation, written: Written, path: ir.Path | None, context: EvaluationContext) -> tuple[ir.Test, ...] | None:
    """Return a test of the value of a path, or two tests if it is compared with that of another path."""
    schema = _schema(ev, written, context)
    if path is None or schema is None:
        return None
    if isinstance(schema, ir.Path):
        comparison = _LIMITS[written.sign] if isinstance(written, Compares) else "differs" if _is_negated(written) else "equals"
        other = ir.Test(schema, {}, written.span, joined=True, compared="other")
        return ir.Test(path, {}, written.span, compared=comparison), other
    return (ir.Test(path, schema, written.span),)


_LIMITS: Mapping[str, flow.Comparison] = {"<": "exclusiveMaximum", "<=": "maximum", ">": "exclusiveMinimum", ">=": "minimum"}
"""JSON Schema keyword for each comparison sign."""
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each comparison sign with its sides exchanged."""


def _schema(ev: Evaluation, written: Written, context: EvaluationContext) -> Json | ir.Path | None:
    """Return the schema that a test requires, or the path to the compared value, or `None` for a mistake."""
    match written:
        case Truth():
            return {"const": True}
        case Equals(_, value):
            if isinstance(value, Literal):
                return _equal_to(value.value, negated=written.negated)
            if isinstance(value, Name) and context.find(value.text) is None and not is_defined(value.text, context.scope):
                ev.report.add(problems.blocks.BadCondition(at=value.span, slip="scalar", word=value.text))
                return None
            known = _value(ev, value, context)
            if not isinstance(known, Data):
                return _path(ev, known, value, context)
            if isinstance(known.value, dict | list):
                ev.report.add(problems.blocks.BadCondition(at=value.span, slip="list"))
                return None
            return _equal_to(known.value, negated=written.negated)
        case Compares(_, sign, limit):
            if isinstance(limit, Literal):
                return {"type": "number", _LIMITS[sign]: limit.value}
            known = _value(ev, limit, context)
            if not isinstance(known, Data):
                return _path(ev, known, limit, context)
            if isinstance(known.value, bool) or not isinstance(known.value, int | float):
                ev.report.add(problems.blocks.BadCondition(at=limit.span, slip="number"))
                return None
            return {"type": "number", _LIMITS[sign]: known.value}
        case Matches(_, schema, span):
            for word in timing_words(schema):
                ev.report.add(problems.blocks.MisplacedDeadline(at=span, word=word))
                return None
            return with_type(schema)


def _equal_to(value: Json, *, negated: bool) -> Json:
    """Return the schema that accepts, or excludes, a scalar; `null` satisfies it only if that is the scalar."""
    if not negated:
        return {"const": value}
    return {"not": {"type": "null"}} if value is None else {"not": {"enum": [value, None]}}


def _value(ev: Evaluation, written: Name | Access, context: EvaluationContext) -> BoundValue | None:
    inside = context.inside()
    return access(ev, written, inside) if isinstance(written, Access) else subject(ev, written, inside)


def _path(ev: Evaluation, value: BoundValue | None, written: Name | Access, context: EvaluationContext) -> ir.Path | None:
    if isinstance(value, StepResult):
        return value.path
    if isinstance(value, Data) and value.given:
        from instrc.compiler.bind.choices import path_of_constant  # few conditions read an input

        return path_of_constant(ev, value, context, written.span)
    if value is not None and value != Inner(mistaken=True):
        ev.report.add(problems.steps.NotAValue(at=written.span, word=written.span.text, literal=isinstance(value, Data)))
    return None


def _joined(tests: tuple[ir.Test, ...], *, joined: bool) -> tuple[ir.Test, ...]:
    return (structs.replace(tests[0], joined=True), *tests[1:]) if tests and joined else tests


class BranchCondition(Struct, frozen=True):
    """The condition of a branch: the tests that a run decides, or the fixed outcome."""

    tests: tuple[ir.Test, ...]
    holds: bool


def branch_condition(ev: Evaluation, written: Condition, context: EvaluationContext) -> BranchCondition | None:
    """Evaluate the tests of a branch; decide those about literals passed to a program."""
    tests: list[ir.Test] = []
    complete = True
    verdicts: list[bool | None] = []
    """Of the alternative at hand: whether a test holds that is decided here, `None` for each that is left to be asked."""
    holds = False
    begun = 0
    for number, each in enumerate(written.tests):
        if number not in written.joined:
            holds = holds or (bool(verdicts) and all(verdicts))
            verdicts, begun = [], len(tests)
        value = _value(ev, each.subject, context)
        if isinstance(value, Data) and value.given:
            verdict = _decided(ev, each, value, context)
            if not isinstance(verdict, tuple):
                complete = verdict is not None and complete
                verdicts.append(verdict is True)
                if verdict is False:
                    del tests[begun:]
                continue
            made: tuple[ir.Test, ...] | None = verdict
        else:
            made = _tests(ev, each, _path(ev, value, each.subject, context), context)
        complete = made is not None and complete
        verdicts.append(None)
        if False not in verdicts:
            tests += _joined(made or (), joined=len(tests) > begun)
    holds = holds or (bool(verdicts) and all(verdicts))
    return BranchCondition(tuple(tests), holds) if complete else None


def _decided(ev: Evaluation, written: Written, value: Data, context: EvaluationContext) -> bool | tuple[ir.Test, ...] | None:
    """Decide a test of a literal argument; compared with a path, it becomes a test of the path's value."""
    from instrc.schema.validation import is_valid  # few programs are called with literals

    schema = _schema(ev, written, context)
    if not isinstance(schema, ir.Path):
        return None if schema is None else is_valid(value.value, schema)
    if isinstance(written, Compares):
        return (ir.Test(schema, {"type": "number", _LIMITS[_MIRRORED[written.sign]]: value.value}, written.span),)
    return (ir.Test(schema, _equal_to(value.value, negated=_is_negated(written)), written.span),)


def _is_negated(written: Written) -> bool:
    return isinstance(written, Equals) and written.negated


def read_path(ev: Evaluation, written: Name | Access, context: EvaluationContext) -> ir.Path | None:
    """Evaluate the path that a condition or a list reads."""
    value = _value(ev, written, context)
    return _path(ev, value, written, context)


_COMBINING: Final = frozenset({"anyOf", "oneOf", "allOf"})


def _names_null(schema: Json) -> bool:
    """Return whether a schema that combines others names `null` in one of them."""
    parts = list(in_place([schema], schema, _COMBINING))
    named = [types_of(part.get("type")) or () for part in parts]
    listed = [[part.get("const", True), *listing(part.get("enum"))] for part in parts]
    return any("null" in types for types in named) or any(None in values for values in listed)


def with_type(schema: dict[str, Json]) -> Json:
    """Return the schema of a condition so that `null` satisfies it only if the schema names `null`."""
    if "type" in schema or "const" in schema or "enum" in schema or _names_null(schema):
        return schema
    types: list[Json] = list(
        dict.fromkeys(max(SPEAKS_OF[keyword]) for keyword in schema if keyword in SPEAKS_OF)
    )  # a number, not an integer
    if types:
        return {"type": types[0] if len(types) == 1 else types, **schema}
    if "not" in schema and schema["not"] != {"type": "null"}:
        return {**schema, "not": {"anyOf": [schema["not"], {"type": "null"}]}}
    return {**schema, "not": {"type": "null"}}
