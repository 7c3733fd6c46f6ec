"""Find inconsistencies in a valid vibe: references, required names, paths between steps, the solution."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, partial
from itertools import filterfalse
from typing import Final, NamedTuple

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.lint.process_form import written_place
from instrc.compiler.lint.required import Shapes, hidden_properties, misspelt_names
from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import Report, first_of
from instrc.problems.suggest import NearestNames
from instrc.process import flow
from instrc.process.chunk_json import read_chunk, resolved
from instrc.process.process import Process
from instrc.process.process_json import is_context
from instrc.schema.drafts import join
from instrc.schema.flattening.contradictions import origin_in
from instrc.schema.references import Locate, SchemaStore
from instrc.schema.scopes import DynamicScope
from instrc.schema.walk import walk
from instrc.text.jsonvalue import Json, Location, as_object, mapping, pointer
from instrc.text.limits import COMPARED_NAMES
from instrc.text.source import Span
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe

TOLD_TOGETHER: Final = 100
"""Maximum problems reported of each kind that concerns how schemas relate to each other."""
SOLUTION_VIOLATIONS: Final = 20
"""Maximum violations reported for one solution."""
SOLUTION_LEVELS: Final = 100
"""Maximum nesting that the validator of solutions is sure to handle, as it recurses on its own stack."""


_READS = frozenset({"references", "arguments", "among"})
"""Keywords that hold paths."""


def incoherences(vibe: Vibe, registry: Registry, report: Report) -> None:
    """Report unresolvable references of a vibe, and contradictions in it."""
    library = SchemaStore(registry.documents, nullable=True, locate=_locate(vibe, registry))
    try:
        scope = library.add(vibe.uri, vibe.schema)
    except CompileError as error:  # the dialect is not known
        report.problems.extend(replace(problem, at=problem.at or _dialect(vibe, problem)) for problem in error.problems)
        return
    broken = list(first_of(_references(vibe, registry, library, scope), TOLD_TOGETHER))
    report.problems.extend(broken)
    shapes = Shapes(library)
    report.problems.extend(first_of(_required(vibe, scope, shapes), TOLD_TOGETHER))
    report.problems.extend(first_of(_hidden(vibe, scope, shapes), TOLD_TOGETHER))
    flat = False if broken else _compose(vibe, registry, report, folds=library.to_fold)
    report.problems.extend(first_of(_paths(vibe, flat), TOLD_TOGETHER))


def _dialect(vibe: Vibe, problem: Problem) -> Span:
    """Return the place of the `$schema` that a problem is about."""
    places = (path for path, node in walk(vibe.schema) if mapping(node).get("$schema") == getattr(problem, "uri", None))
    return vibe.span(pointer((*next(places, ()), "$schema")))


def _locate(vibe: Vibe, registry: Registry) -> Locate:
    """Return a function that returns places in a vibe, possibly outside the roots, and in those that it refers to."""
    return lambda uri, place: vibe.span(place) if uri == vibe.uri else registry.locate(uri, place)


def _references(vibe: Vibe, registry: Registry, library: SchemaStore, scope: DynamicScope) -> Iterator[Problem]:
    """Yield the problems of a vibe's references, one per occurrence."""
    if not library.to_fold:
        return
    for path, node, within in library.walk(vibe.schema, scope):
        for keyword in ("$ref", "$dynamicRef"):
            written = node.get(keyword)
            if written.__class__ is str:
                try:
                    base = written.partition("#")[0]
                    if base and join(within.resource.uri, base) not in library.resources:
                        registry.load(written, vibe.span(pointer((*path, keyword))))  # more informative than a mere lookup
                    library.target(keyword, node, within)
                except CompileError as error:
                    at = vibe.span(pointer((*path, keyword)))
                    yield from (replace(problem, at=problem.at or at) for problem in error.problems)


def _required(vibe: Vibe, scope: DynamicScope, shapes: Shapes) -> Iterator[Problem]:
    mixin = vibe.segment.casefold().endswith("_mixin")
    for path, name, near in misspelt_names(vibe.schema, scope, shapes, mixin=mixin):
        yield problems.vibes.MissingFromProperties(at=vibe.span(pointer(path)), word=name, nearest=near)


def _hidden(vibe: Vibe, scope: DynamicScope, shapes: Shapes) -> Iterator[Problem]:
    """Yield the properties of branches that an enclosing closed schema forbids."""
    store = shapes.library
    for name, holder, closer, branches in hidden_properties(vibe.schema, scope, shapes):
        closed = origin_in(store, closer.node, closer.node, "additionalProperties")
        described = origin_in(store, holder.node, holder.node, "properties", name)
        at = closed.at or described.at
        yield problems.schemas.ClosedAway(at=at, key=name, closed=closed, described=described, branches=branches)


def _paths(vibe: Vibe, flat: Json) -> Iterator[Problem]:
    """Yield the paths of steps that lead nowhere, or to a later step; `flat` is the composed schema."""
    schema = vibe.schema
    if not isinstance(schema, dict) or not ("value" in schema or any(_reads(node) for _, node in walk(schema))):
        return
    composed = any(isinstance(node, dict) and not _COMPOSED.isdisjoint(node) for _, node in walk(schema))
    read = as_object(flat if composed and isinstance(flat, dict) else schema)
    try:
        process = Process.find(read)
    except CompileError:  # `process_form` reports why it cannot be read
        return
    above = 0
    if process is None:  # steps that are not divided into contexts
        try:
            chunk = read_chunk("llmContext1", "model", read, None, partial(resolved, document=read))
        except (ValueError, RecursionError):
            return
        process, above = Process(flow.Body((chunk,))), len(_place_of(chunk, ()))
    for fault in dataflow_faults(process, tuple(vibe.input) if isinstance(vibe.input, dict) else ()):
        at = _written_at(vibe, fault.place[above:], exactly=read is flat)
        if at is None:  # in another vibe, which is reviewed separately
            continue
        if fault.later is None:
            yield problems.vibes.DanglingReference(at=at, path=fault.path, nearest=fault.nearest[:3])
        else:
            target = _written_at(vibe, fault.later[above:], key=True)
            yield problems.vibes.ForwardReference(at=at, path=fault.path, step=fault.reader, target=target)


_COMPOSED = frozenset({"$ref", "$dynamicRef", "allOf"})
"""Keywords that bring steps from elsewhere."""


def _reads(node: Json) -> bool:
    return isinstance(node, dict) and not _READS.isdisjoint(node)


def _written_at(vibe: Vibe, place: Location, *, key: bool = False, exactly: bool = False) -> Span | None:
    """Return a place in a vibe, or the nearest around it where a process is spelled in another way; not if only `exactly`."""
    written = written_place(vibe.schema, pointer(place))
    if exactly and not written.endswith(pointer(place[-2:])):
        return None
    return vibe.span(written, key=key)


def _compose(vibe: Vibe, registry: Registry, report: Report, *, folds: bool) -> Json:
    """Compose the whole schema, as compiling would, hold the solution against it, and return it."""
    if not folds and not vibe.has_solution:
        return vibe.schema
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
    report.problems += [each for each in composing.problems if each not in report.problems]
    if vibe.has_solution and not composing.failed:
        report.problems.extend(_solution(vibe, flat))
    return flat


def _solution(vibe: Vibe, flat: Json) -> Iterator[Problem]:
    """Yield the violations of the schema by the solution."""
    from instrc.schema.validation import errors_of, validator  # imports a heavy library, and few vibes have a solution
    from instrc.schema.violation_words import in_words, of_intended_branch

    try:
        errors = errors_of(validator(flat, formats=True), vibe.solution, SOLUTION_VIOLATIONS)
    except RecursionError:
        yield problems.files.TooLarge(at=vibe.place("/solution"), what="the solution", limit=SOLUTION_LEVELS, unit="levels")
        return
    except ValueError:  # a number of 5,000 digits, which the validator cannot handle
        return
    for error in map(of_intended_branch, errors):
        place = pointer(error.absolute_path)
        yield problems.vibes.InvalidSolution(at=vibe.place("/solution" + place), pointer=place, reason=_reason(in_words(error)))


def _reason(message: str) -> str:
    return message if len(message) <= 200 else message[:99] + " … " + message[-99:]


_PROMPT = re.compile(r"prompt(?:_item\d+)?")
_OPEN = frozenset({"allOf", "anyOf", "oneOf", "$ref", "additionalProperties", "patternProperties", "if", "items", "prefixItems"})
"""Keywords next to which a value may have members other than its properties."""


class ProcessFault(NamedTuple):
    """A path that is unresolvable, or leads to a later step; its place is that in canonical spelling."""

    place: Location
    path: str
    reader: str
    nearest: tuple[str, ...]
    later: Location | None
    """Location of the later value."""


def dataflow_faults(process: Process, inputs: tuple[str, ...]) -> Iterator[ProcessFault]:
    """Yield each invalid path of a process; `inputs` are known in addition to those it lists."""
    names: dict[str, Json] = dict.fromkeys(("prompt", *inputs), True)
    waiting = [_PendingBody(process.body, (), (), _Scope(names | (process.inputs or {})))]
    while waiting:
        body, place, engine, scope, until = waiting.pop()
        places = [_place_of(context, place) for context in body.contexts]
        for context, start in zip(body.contexts, places, strict=True):
            scope.expected |= {key: (*start, *below) for key, below in _keys(context)}
        for context, start in zip(body.contexts, places, strict=True):
            if isinstance(context, flow.Chunk):
                yield from _in_chunk(context, start, scope)
            else:
                yield from _in_block(context, start, scope)
                waiting += _inside(context, start, scope)
                if not isinstance(context, flow.Else) and context.key is not None:
                    scope.know(context.key, schema=True)
        if until is not None:
            yield from _in_condition(until, (*engine, "until"), "until", scope)
        yield from _judged(flow.reads_of(body.value), (*engine, "value"), "value", scope)


class _Scope:
    """The visible names of a body: its own, and those of enclosing bodies up to its block."""

    def __init__(self, known: dict[str, Json], around: _Scope | None = None) -> None:
        self.known: dict[str, Json] = known
        """Schemas by name, `True` where there is none."""
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(known)}
        self.expected: dict[str, Location] = {}
        """Place of the later step."""
        self.around = around
        self.known_around = len(around.known) if around is not None else 0
        self.offers: NearestNames = (
            around.offers if around is not None else NearestNames(COMPARED_NAMES // 10)
        )  # each in its own names

    def know(self, name: str, schema: Json) -> None:
        """Define a name from here on."""
        self.numbers.setdefault(name, len(self.numbers))
        before = self.known.get(name)
        if isinstance(before, dict) and isinstance(schema, dict):  # the server's half of a step has the model's key
            schema = {**schema, "properties": {**mapping(before.get("properties")), **mapping(schema.get("properties"))}}
        self.known[name] = schema

    def find(self, name: str) -> Json | None:
        """Return the schema of a readable name, or `None`."""
        return next((scope.known[name] for scope, count in self._outwards() if scope.numbers.get(name, count) < count), None)

    def later(self, name: str) -> Location | None:
        """Return the place of a later definition of a name."""
        return next((scope.expected[name] for scope, _ in self._outwards() if name in scope.expected), None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names of this body and those around it, also those that come later."""
        return (*self.known, *self.expected, *(self.around.names if self.around is not None else ()))

    def _outwards(self) -> Iterator[tuple[_Scope, int]]:
        """Yield this body and the enclosing ones, each with the number of its names readable here."""
        scope: _Scope | None = self
        count = len(self.known)
        while scope is not None:
            yield scope, count
            count, scope = scope.known_around, scope.around


class _PendingBody(NamedTuple):
    body: flow.Body
    place: Location
    engine: Location
    """Location of its value and its end condition."""
    scope: _Scope
    until: flow.Condition | None = None


def _place_of(context: flow.Context, around: Location) -> Location:
    return (*around, "properties", context.name) if context.definition is None else ("$defs", context.definition)


def _keys(context: flow.Context) -> Iterator[tuple[str, Location]]:
    if isinstance(context, flow.Chunk):
        yield context.name, ()
        for step in context.steps:
            yield from ((key, ("properties", step.key)) for key in (step.key, f"{context.name}.{step.key}"))
    elif not isinstance(context, flow.Else) and context.key is not None:
        yield context.key, ()


def _in_chunk(chunk: flow.Chunk, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    own: dict[str, Json] = {}
    for step in chunk.steps:
        at = (*place, "properties", step.key)
        yield from _in_step(step, at, scope)
        own[step.key] = step.schema
        scope.know(step.key, step.schema)
        scope.know(chunk.name, {"properties": own})


def _in_step(step: flow.Step, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    for where, engine in ((place, step.engine), *(((*place, *slot.path), slot.engine) for slot in step.slots)):
        given = set(flow.reads_of(engine.arguments))
        for index, read in enumerate(engine.references):
            faults = _judged([read], (*where, "references", index), step.key, scope)
            yield from (fault for fault in faults if not (read in given and _may_be_input(fault)))
        faults = _judged(flow.reads_of(engine.arguments), (*where, "arguments"), step.key, scope)
        yield from (fault for fault in faults if not _may_be_input(fault) or flow.Read.parse(fault.path) not in engine.references)
        if engine.among is not None:
            yield from _judged([engine.among], (*where, "among"), step.key, scope)


def _may_be_input(fault: ProcessFault) -> bool:
    """Return whether a path that leads nowhere may be an input: the compiler lists those as references and as arguments."""
    return fault.later is None and not fault.nearest and fault.path.isidentifier()


def _judged(reads: Iterator[flow.Read] | list[flow.Read], place: Location, reader: str, scope: _Scope) -> Iterator[ProcessFault]:
    for read in reads:
        names = [segment.name for segment in read.segments]
        if _PROMPT.fullmatch(names[0]):
            continue
        prefixes = [".".join(names[:size]) for size in range(len(names), 0, -1)]
        known = next(((prefix, found) for prefix in prefixes if (found := scope.find(prefix)) is not None), None)
        missing: tuple[list[str], tuple[str, ...]] | None = (names, ())
        if known is not None and (missing := _missing(known[1], names[known[0].count(".") + 1 :], scope.offers)) is None:
            continue
        rest, close = missing or (names, ())
        done = names[: len(names) - len(rest)]
        reached = [".".join([*done, rest[0]])] if known is not None else [prefixes[0], *filterfalse(is_context, prefixes[1:])]
        if (later := next(filter(None, map(scope.later, reached)), None)) is not None:
            yield ProcessFault(place, read.text, reader, (), later)
            continue
        if known is None and not scope.offers.over:
            close = tuple(name for name in scope.offers.nearest(names[0], scope.names) if scope.find(name) is not None)
        yield ProcessFault(place, read.text, reader, tuple(".".join([*done, name, *rest[1:]]) for name in close), None)


def _missing(schema: Json, names: list[str], offers: NearestNames) -> tuple[list[str], tuple[str, ...]] | None:
    """Return the rest of a path from a member that its schema certainly lacks, and similar members."""
    while names:
        if not isinstance(schema, dict) or not _OPEN.isdisjoint(schema):
            return None
        properties = mapping(schema.get("properties"))
        if not properties:
            types = schema.get("type", "object")
            return None if {"object", "array"} & set(types if isinstance(types, list) else [types]) else (names, ())
        size = next((size for size in range(1, len(names) + 1) if ".".join(names[:size]) in properties), 0)
        if not size:
            return names, offers.nearest(names[0], tuple(properties))
        schema, names = properties[".".join(names[:size])], names[size:]
    return None


def _in_block(block: flow.Block, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    """Check the paths that a block reads before its bodies run."""
    word, reader = flow.word_of(block), block.name if isinstance(block, flow.Else) else block.key or block.name
    for number, part in enumerate(flow.parts_of(block)):
        if part.condition is not None:
            yield from _in_condition(part.condition, (*place, "anyOf", number, word), reader, scope)
    yield from _judged(flow.reads_of(flow.source_of_block(block)), (*place, word, "in"), reader, scope)
    if isinstance(block, flow.Repeat):
        yield from _judged(flow.reads_of(block.first), (*place, word, "from"), reader, scope)


def _in_condition(condition: flow.Condition, place: Location, reader: str, scope: _Scope) -> Iterator[ProcessFault]:
    for where, number in condition.places():
        yield from _judged([condition.tests[number][0]], (*place, *where), reader, scope)


def _inside(block: flow.Block, place: Location, scope: _Scope) -> Iterator[_PendingBody]:
    """Yield the bodies of a block with the names visible in them."""
    word = flow.word_of(block)
    way = flow.FORMS[word].bodies
    for number, part in enumerate(flow.parts_of(block)):
        at = (*place, way, number) if way == "anyOf" else (*place, way) if way else place
        engine = (*(at if way == "anyOf" else place), word)
        yield _PendingBody(part.body, at, engine, _Scope(dict.fromkeys(part.names, True), scope), part.until)
