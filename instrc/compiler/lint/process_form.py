"""Report where a vibe that describes a process, or its engine keywords, cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from instrc.problems.errors import CompileError
from instrc.problems.plans import InvalidTools
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.runs import UnreadableProcess
from instrc.problems.schemas import InvalidSchema
from instrc.process.process import Process
from instrc.schema.walk import walk
from instrc.schema.wellformed import problems_of
from instrc.text.jsonvalue import Json, Location, at, listing, pointer, tokens
from instrc.tools.plan_tools import fault_of_tools
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe

CHAINED_REFERENCES: Final = 100
"""Maximum references followed from one place of a handwritten process."""


def reading_problems(vibe: Vibe, registry: Registry) -> tuple[Problem, ...]:
    """Return what prevents a process from being read, or nothing if it is not one, or is complete only after composition."""
    refused = _refusals(vibe.schema)
    if not refused and not any(_leads_out(node) for _, node in walk(vibe.schema)):
        return ()
    from instrc.compiler.instructions import documents_of  # only needed to reject one, or for one in several files
    from instrc.schema.flattening.flatten import flatten  # as above

    documents = documents_of(vibe.schema, registry)
    try:
        flat = flatten(vibe.schema, documents, base=vibe.uri, nullable=True, report=Report(), locate=registry.locate)
    except CompileError:  # the target of the reference is reported separately
        return ()
    found = _refusals(flat)
    return tuple(replace(each, at=vibe.span(written_place(vibe.schema, each.pointer))) for each in (found and refused) or found)


def _refusals(schema: Json) -> list[UnreadableProcess]:
    try:
        Process.find(schema)
    except CompileError as error:
        return [problem for problem in error.problems if isinstance(problem, UnreadableProcess)]
    return []


def _leads_out(node: Json) -> bool:
    reference = node.get("$ref") if isinstance(node, dict) else None
    return isinstance(reference, str) and not reference.startswith("#")


def written_place(document: Json, place: str) -> str:
    """Return the place of the value that a pointer leads to through the names of contexts, or the nearest place around it."""
    found: list[str] = []
    try:
        for token in tokens(place):
            found = _followed(document, found, token)
            at(document, pointer([*found, token]))
            found.append(token)
        return pointer(_followed(document, found, None))
    except (LookupError, ValueError):
        return pointer(found)


def _followed(document: Json, found: list[str], token: str | None) -> list[str]:
    """Follow references within the document from a place until a member is found."""
    for _ in range(CHAINED_REFERENCES):
        node = at(document, pointer(found))
        reference = node.get("$ref") if isinstance(node, dict) and token not in node else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        at(document, reference[1:])
        found = tokens(reference[1:])
    return found


def form_problems(vibe: Vibe) -> Iterator[Problem]:
    """Yield invalid tools of plans, choices that are not paths, and conditions that are not schemas."""
    for path, node in walk(vibe.schema):
        if not isinstance(node, dict):
            continue
        yield from _in_plan(vibe, path, node.get("plan"))
        if "among" in node and not (isinstance(node["among"], str) and node["among"]):
            place = pointer((*path, "among"))
            yield InvalidSchema(at=vibe.span(place), pointer=place, reason="it is the path to the list that the value is one of")
        repeat = node.get("repeat")
        yield from _in_condition(vibe, (*path, "when"), node.get("when"))
        yield from _in_condition(vibe, (*path, "repeat", "until"), repeat.get("until") if isinstance(repeat, dict) else None)


def _in_plan(vibe: Vibe, path: Location, plan: Json) -> Iterator[Problem]:
    """Yield the invalid tools of a plan, with which plans could not be checked."""
    if not isinstance(plan, dict) or plan.keys() != {"tools"}:
        return
    place = pointer((*path, "plan", "tools"))
    if not isinstance(plan["tools"], dict):
        yield InvalidSchema(at=vibe.span(place), pointer=place, reason="the tools of a plan are an object, by their names")
        return
    fault = fault_of_tools(plan["tools"])
    if fault is not None:
        place = pointer((*path, "plan", "tools", str(fault[0])))
        reason = InvalidTools(tool=fault[0], fault=fault[1]).message
        yield InvalidSchema(at=vibe.span(place), pointer=place, reason=reason)


def _in_condition(vibe: Vibe, path: Location, condition: Json) -> Iterator[Problem]:
    """Yield the problems of the schemas of a condition; its form is reported when the process is read."""
    listed = condition.get("anyOf") if isinstance(condition, dict) else None
    tests = [((*path, "anyOf", number), test) for number, test in enumerate(listing(listed))] or [(path, condition)]
    for way, test in tests:
        if isinstance(test, dict) and isinstance(test.get("path"), str) and isinstance(test.get("schema"), dict):
            around = pointer((*way, "schema"))
            for problem in problems_of(test["schema"]):
                yield replace(problem, at=vibe.span(around + problem.pointer), pointer=around + problem.pointer)
