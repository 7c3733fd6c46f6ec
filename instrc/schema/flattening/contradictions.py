"""The context of one flattening, and its report of contradictions, losses and cycles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.problems.report import Report
from instrc.schema.flattening.conjunction import Conjunct, Mark, OuterSchema
from instrc.schema.flattening.run import Flattening
from instrc.schema.laws.objects import ForbiddenProperty
from instrc.schema.references import SchemaStore
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object, kind_in_words, listing, mapping, pointer
from instrc.text.visible import shortened

SHOWN_ORIGIN: Final = 60
"""Maximum characters of source text shown in a contradiction."""


_RULING_OUT = ("const", "enum", "type", "properties")


def report_contradiction(run: Flattening, left: tuple[Conjunct, str], right: tuple[Conjunct, str]) -> None:
    """Warn about two contradictory keywords."""
    report = run.options.report
    if report is not None:
        one, other = origin(run, *left), origin(run, *right)
        report.add(problems.schemas.Contradiction(at=other.at or one.at, left=one, right=other))


def report_refusal(run: Flattening, conjuncts: Sequence[Conjunct], keywords: Sequence[str]) -> None:
    """Warn about an unsatisfiable group of keywords, with the keyword that most likely causes it."""
    refused = next((conjunct, word) for word in keywords for conjunct in reversed(conjuncts) if word in conjunct.view)
    likely = ((conjunct, word) for word in (*_RULING_OUT, *keywords) for conjunct in reversed(conjuncts) if word in conjunct.view)
    report_contradiction(run, next((other for other in likely if other != refused), refused), refused)


def report_lost(run: Flattening, conjuncts: list[Conjunct], lost: ForbiddenProperty) -> None:
    """Warn about a property that a closed schema forbids."""
    report = run.options.report
    if report is None:
        return
    closer = conjuncts[lost.closer]
    keyword = "additionalProperties" if closer.view.get("additionalProperties") is False else "unevaluatedProperties"
    closed = origin(run, closer, keyword)
    listed = ((conjunct, mapping(conjunct.view.get("properties"))) for conjunct in conjuncts)
    holder = next(
        (conjunct for conjunct, named in listed if any(named.get(lost.name) is schema for schema, _ in lost.terms)), None
    )
    if holder is None:
        return  # only its evaluation elsewhere is known
    described = origin(run, holder, "properties", lost.name)
    at = closed.at or described.at
    required = any(lost.name in listing(conjunct.view.get("required")) for conjunct in conjuncts)
    report.add(problems.schemas.ClosedAway(at=at, key=lost.name, closed=closed, described=described, required=required))


def origin(run: Flattening, conjunct: Conjunct, *path: str) -> problems.schemas.Origin:
    """Return the origin of a keyword, or of a member of its value."""
    return origin_in(run.store, conjunct.node, conjunct.view, *path)


def origin_in(store: SchemaStore, node: Json, view: Json, *path: str) -> problems.schemas.Origin:
    """Return the origin of a part of a schema, with its value in 2020-12."""
    uri, place = store.where(node) or ("", "")
    place += pointer(path)
    value: Json = view
    for step in path:
        value = as_object(value)[step]
    return problems.schemas.Origin(uri=uri, pointer=place, value=one_line(value), at=store.place(uri, place))


def one_line(value: Json) -> str:
    """Return a value as JSON on one line, shortened if long."""
    return shortened(dumps(value, indent=False), SHOWN_ORIGIN)


def report_cycle(run: Flattening, report: Report, mark: Mark, way: OuterSchema) -> None:
    """Report a schema that refers to itself in a cycle; a schema that merely occurs twice is not reported.

    A reference back to the schema itself, as in `{"allOf": [{"$ref": "#"}]}`, adds no constraint.
    """
    references: list[str] = []
    step: OuterSchema | None = way
    while step is not None:
        view = step.view
        reference = view.get("$ref") or view.get("$dynamicRef") or view.get("$recursiveRef")
        if isinstance(reference, str):
            references.append(reference)
        if step.mark == mark:
            found = problems.vibes.ReferenceCycle(at=run.store.at(way.view), references=tuple(reversed(references)))
            if found not in report.problems:
                report.add(found)
            return
        step = step.around


def not_a_schema(store: SchemaStore, node: Json, way: OuterSchema | None, keyword: str = "", value: Json = None) -> CompileError:
    """Return the error for a value that is not a schema where one is required."""
    holder = way.view if way is not None else None
    found = store.where(holder) if holder is not None else None
    path = (found[1] if found else "") + (f"/{keyword}" if keyword else "/allOf")
    reason = (
        f"it is {kind_in_words(value)}, not a list of schemas"
        if keyword
        else f"it holds {kind_in_words(node)}, which is not a schema"
    )
    return CompileError([problems.schemas.InvalidSchema(at=store.at(holder), pointer=path, reason=reason)])
