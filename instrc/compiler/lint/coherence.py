"""Find what does not fit together in a sound vibe: references, required names, paths between steps, the solution."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.lint.dataflow import Dataflow, dataflow_faults
from instrc.compiler.lint.required import OwnSchemas, Shapes, hidden_properties, misspelt_names
from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.process.flow import Chunk
from instrc.process.process import Process
from instrc.schema.drafts import join
from instrc.schema.flattening.contradictions import origin_in
from instrc.schema.references import Locate, SchemaStore
from instrc.schema.scopes import DynamicScope
from instrc.text.jsonvalue import Json, Location, as_object, at, pointer
from instrc.text.source import Span
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe

SOLUTION_VIOLATIONS: Final = 20
"""Violations of one solution that are told."""
SOLUTION_LEVELS: Final = 100
"""Levels that the judge of solutions follows for certain; it keeps them on its own stack."""


_OF_STEPS = re.compile("llm|server|user|human", re.IGNORECASE)
"""How the name of a context begins that is no block."""
_READS = frozenset({"references", "arguments", "among"})
"""Words that hold paths."""


def incoherences(vibe: Vibe, registry: Registry, report: Report) -> None:
    """Report what in a vibe leads nowhere or contradicts itself."""
    library = SchemaStore(registry.documents, nullable=True, locate=_locate(vibe, registry))
    try:
        scope = library.add(vibe.uri, vibe.schema)
    except CompileError as error:  # the dialect is not known
        report.problems.extend(replace(problem, at=problem.at or vibe.span("/$schema")) for problem in error.problems)
        return
    broken = list(_references(vibe, registry, library, scope))
    report.problems.extend(broken)
    shapes = Shapes(library)
    report.problems.extend(_required(vibe, scope, shapes))
    report.problems.extend(_hidden(vibe, scope, shapes))
    report.problems.extend(_paths(vibe, scope, shapes))
    if not broken:
        _compose(vibe, registry, report, folds=library.to_fold)


def _locate(vibe: Vibe, registry: Registry) -> Locate:
    """Return what gives places in a vibe, which need not lie below a root, and in those that it refers to."""
    return lambda uri, place: vibe.span(place) if uri == vibe.uri else registry.locate(uri, place)


def _references(vibe: Vibe, registry: Registry, library: SchemaStore, scope: DynamicScope) -> Iterator[Problem]:
    """Yield what is wrong with the references of a vibe, each occurrence by itself."""
    if not library.to_fold:
        return
    for path, node, within in library.walk(vibe.schema, scope):
        for keyword in ("$ref", "$dynamicRef"):
            written = node.get(keyword)
            if written.__class__ is str:
                try:
                    base = written.partition("#")[0]
                    if base and join(within.resource.uri, base) not in library.resources and not _is_there(written, registry):
                        registry.load(written, vibe.span(pointer((*path, keyword))))  # says more than a mere lookup can
                    library.target(keyword, node, within)
                except CompileError as error:
                    at = vibe.span(pointer((*path, keyword)))
                    yield from (replace(problem, at=problem.at or at) for problem in error.problems)


def _is_there(uri: str, registry: Registry) -> bool:
    """Return whether a reference leads to a vibe: only where it does not, its place has to be known."""
    try:
        registry.load(uri)
    except CompileError:
        return False
    return True


def _required(vibe: Vibe, scope: DynamicScope, shapes: Shapes) -> Iterator[Problem]:
    mixin = vibe.segment.casefold().endswith("_mixin")
    for path, name, near in misspelt_names(vibe.schema, scope, shapes, mixin=mixin):
        yield problems.vibes.MissingFromProperties(at=vibe.span(pointer(path)), word=name, nearest=near)


def _hidden(vibe: Vibe, scope: DynamicScope, shapes: Shapes) -> Iterator[Problem]:
    """Yield the properties of branches that a closed schema around them forbids."""
    store = shapes.library
    for name, holder, closer, branches in hidden_properties(vibe.schema, scope, shapes):
        closed = origin_in(store, closer.node, closer.node, "additionalProperties")
        described = origin_in(store, holder.node, holder.node, "properties", name)
        at = closed.at or described.at
        yield problems.schemas.ClosedAway(at=at, key=name, closed=closed, described=described, branches=branches)


def _paths(vibe: Vibe, scope: DynamicScope, shapes: Shapes) -> Iterator[Problem]:
    """Yield the paths of the steps of a process that lead nowhere, or to what comes later."""
    own = OwnSchemas(vibe.schema)
    if not (
        (isinstance(vibe.schema, dict) and "value" in vibe.schema) or any(not _READS.isdisjoint(node) for _, node in own.schemas)
    ):
        return
    try:
        process = Process.find(vibe.schema)
    except CompileError:  # `process_form` reports why it cannot be read
        process = None
        if not all(_OF_STEPS.match(name) for name in as_object(as_object(vibe.schema)["properties"])):
            return
    if process is not None and any(not isinstance(context, Chunk) for context in process.contexts()):
        yield from _paths_of_process(vibe, process)
        return
    if process is not None:
        yield from _paths_of_process(vibe, process, only=frozenset({"among", "value"}))
    declared = vibe.schema.get("inputs") if isinstance(vibe.schema, dict) else None
    inputs = (*_inputs(vibe), *(declared if isinstance(declared, dict) else ()))
    for fault in Dataflow(vibe.schema, scope, shapes, own, inputs).faults():
        holder, below, path = fault.read
        at = vibe.span(pointer((*holder, *below)))
        if fault.kind == "dangling":
            yield problems.vibes.DanglingReference(at=at, path=path, nearest=fault.nearest)
        else:
            yield problems.vibes.ForwardReference(at=at, path=path, step=fault.step, target=_target(fault.target, vibe))


def _paths_of_process(vibe: Vibe, process: Process, only: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yield the paths of a process that lead nowhere, or to what comes later; with `only`, those in these words."""
    for fault in dataflow_faults(process, _inputs(vibe)):
        if only and fault.place[-1] not in only:
            continue
        at = _written_at(vibe, fault.place)
        if fault.later is None:
            yield problems.vibes.DanglingReference(at=at, path=fault.path, nearest=fault.nearest[:3])
        else:
            target = _written_at(vibe, fault.later)
            yield problems.vibes.ForwardReference(at=at, path=fault.path, step=fault.reader, target=target)


def _inputs(vibe: Vibe) -> tuple[str, ...]:
    return tuple(vibe.input) if isinstance(vibe.input, dict) else ()


def _written_at(vibe: Vibe, place: Location) -> Span:
    """Return a place in a vibe, or the nearest around it where a process is spelled in another way."""
    for size in range(len(place), 0, -1):
        try:
            at(vibe.schema, pointer(place[:size]))
        except (LookupError, ValueError):
            continue
        return vibe.span(pointer(place[:size]))
    return vibe.span("")


def _target(place: Location | None, vibe: Vibe) -> Span | None:
    return None if place is None else vibe.span(pointer(place), key=True)


def _compose(vibe: Vibe, registry: Registry, report: Report, *, folds: bool) -> None:
    """Compose the whole schema, as compiling would, and hold the solution against it."""
    if not folds and not vibe.has_solution:
        return
    from instrc.schema.flattening.flatten import flatten  # a plain schema needs no composing

    composing = Report()
    flat: Json = False
    try:
        flat = flatten(
            vibe.schema,
            registry.documents,
            base=vibe.uri,
            nullable=True,
            report=composing,
            locate=_locate(vibe, registry),
        )
    except CompileError as error:
        composing.problems.extend(error.problems)
    told: dict[tuple[str, Span | None], list[Problem]] = {}
    for problem in report.problems:
        told.setdefault((problem.name, problem.at), []).append(problem)
    report.problems.extend(each for each in composing.problems if each not in told.get((each.name, each.at), ()))
    if vibe.has_solution and not composing.failed:
        report.problems.extend(_solution(vibe, flat))


def _solution(vibe: Vibe, flat: Json) -> Iterator[Problem]:
    """Yield where the schema does not accept the solution."""
    from instrc.schema.validation import (
        in_words,
        of_intended_branch,
        validator,  # brings a heavy library, and few vibes have a solution
    )

    try:
        errors = list(islice(validator(flat, formats=True).iter_errors(vibe.solution), SOLUTION_VIOLATIONS))
    except RecursionError:
        yield problems.files.TooLarge(at=vibe.place("/solution"), what="the solution", limit=SOLUTION_LEVELS, unit="levels")
        return
    except ValueError:  # a number of 5,000 digits: the judge cannot tell
        return
    for error in map(of_intended_branch, errors):
        place = pointer(error.absolute_path)
        yield problems.vibes.InvalidSolution(at=vibe.place("/solution" + place), pointer=place, reason=_reason(in_words(error)))


def _reason(message: str) -> str:
    return message if len(message) <= 200 else message[:99] + " … " + message[-99:]
