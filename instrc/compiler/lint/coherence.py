"""Find inconsistencies in a valid vibe: references, required names, paths between steps, the solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.lint.required import OwnSchemas, ScopedSchema, Shape, Shapes, hidden_properties, misspelt_names
from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import NearestNames
from instrc.process import flow
from instrc.process.flow import Chunk
from instrc.process.process import Process
from instrc.schema.drafts import join
from instrc.schema.flattening.contradictions import origin_in
from instrc.schema.references import Locate, SchemaStore
from instrc.schema.scopes import DynamicScope
from instrc.text.jsonvalue import Json, Location, as_object, at, pointer
from instrc.text.limits import COMPARED_NAMES
from instrc.text.source import Span
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe

SOLUTION_VIOLATIONS: Final = 20
"""Maximum violations reported for one solution."""
SOLUTION_LEVELS: Final = 100
"""Maximum nesting that the validator of solutions is sure to handle, as it recurses on its own stack."""


_OF_STEPS = re.compile("llm|server|user|human", re.IGNORECASE)
"""Prefix of the name of a context that is not a block."""
_READS = frozenset({"references", "arguments", "among"})
"""Keywords that hold paths."""


def incoherences(vibe: Vibe, registry: Registry, report: Report) -> None:
    """Report references of a vibe that lead nowhere, and contradictions in it."""
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
    """Return a function that returns places in a vibe, which may lie outside the roots, and in those that it refers to."""
    return lambda uri, place: vibe.span(place) if uri == vibe.uri else registry.locate(uri, place)


def _references(vibe: Vibe, registry: Registry, library: SchemaStore, scope: DynamicScope) -> Iterator[Problem]:
    """Yield the problems of the references of a vibe, one for each occurrence."""
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
    """Yield the paths of the steps of a process that lead nowhere, or to a later step."""
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
    """Yield the paths of a process that lead nowhere, or to a later step; with `only`, those in these keywords."""
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


PropertyPath: TypeAlias = tuple[str, ...]
"""Property names from the root down: `("llmContext1", "identify", "who")`."""


class SchemaRead(NamedTuple):
    """A path that a step reads: the place of the schema with it, its place there, and the path."""

    holder: Location
    below: Location
    path: str


class PathFault(NamedTuple):
    """A path that leads nowhere (`dangling`, with the nearest ones), or to a later step (`forward`, with its place)."""

    read: SchemaRead
    kind: Literal["dangling", "forward"]
    step: str
    nearest: tuple[str, ...]
    target: Location | None
    """Schema location that a path leads to, if that is later in the same document."""


_CHUNK = re.compile(r"(?:llm|server|user|human)_?context_?\d*", re.IGNORECASE)
DATAFLOW_PLACES: Final = 20_000
"""Maximum places of a vibe examined for data flow."""
DATAFLOW_LEVELS: Final = 40
"""Maximum members of a path along which data flow is followed."""
_PROMPT = re.compile(r"prompt(?:_item\d+)?")
_PARTS = frozenset({"items", "prefixItems", "patternProperties", "contains", "unevaluatedItems", "propertyNames"})


class Dataflow:
    """The steps of a schema by key; `inputs` are names that a path may begin with beside `prompt`."""

    def __init__(self, schema: Json, scope: DynamicScope, shapes: Shapes, own: OwnSchemas, inputs: Sequence[str] = ()) -> None:
        self.shapes = shapes
        self.own = own
        self.inputs: tuple[str, ...] = tuple(inputs)
        self.offers = NearestNames()
        self.positions: dict[PropertyPath, dict[str, int]] = {}
        self.shape_at: dict[PropertyPath, Shape] = {(): shapes.of([ScopedSchema(schema, scope)])}
        self.children: dict[PropertyPath, dict[str, list[ScopedSchema]]] = {}
        root = self.at(())
        self.chunks: list[str] = [name for name in root if _CHUNK.fullmatch(name)]
        self.steps: dict[str, list[PropertyPath]] = {}
        """The places of each step key, in order."""
        for name in root:
            below = [(name, key) for key in self.at((name,))] if name in self.chunks else [(name,)]
            for keys in below:
                self.steps.setdefault(keys[-1], []).append(keys)
        self.names: tuple[str, ...] = (*self.steps, *self.inputs, "prompt")
        """What a path may begin with."""

    def at(self, keys: PropertyPath) -> dict[str, list[ScopedSchema]]:
        """Return the properties of a place, in order."""
        found = self.children.get(keys)
        if found is None:
            found = self.children[keys] = self.shapes.spliced(self.shape_at[keys])
            for name, parts in found.items():
                self.shape_at[(*keys, name)] = self.shapes.of(parts)
        return found

    def faults(self) -> Iterator[PathFault]:
        """Yield each path that is invalid wherever its step is."""
        worst: dict[SchemaRead, PathFault | None] = {}
        for keys, holder, node in self._readers():
            paths = list(paths_of(node))
            for below, path in paths:
                read = SchemaRead(holder, below, path)
                if read not in worst or worst[read] is not None:
                    fault = self._judge(read, keys)
                    worst[read] = None if fault is not None and not self.offers.over and _is_input(fault, paths) else fault
        yield from (fault for fault in worst.values() if fault is not None)

    def _readers(self) -> Iterator[tuple[PropertyPath, Location, dict[str, Json]]]:
        """Yield the schemas of our own that read something, with the keys of the place where they apply and their own place."""
        stack: list[tuple[PropertyPath, tuple[frozenset[int], ...]]] = [((), ())]
        for _ in range(DATAFLOW_PLACES):
            if not stack:
                return
            keys, above = stack.pop()
            if keys:
                for node, _scope in self.shape_at[keys].objects():
                    place = self.own.path(node) if "references" in node or "arguments" in node else None
                    if place is not None:
                        yield keys, place, node
            if len(keys) >= DATAFLOW_LEVELS:
                continue
            for name, parts in reversed(self.at(keys).items()):
                key = frozenset(id(part.node) for part in parts)
                if key not in above and self.own.have(parts):  # a recursive schema has no new steps further down
                    stack.append(((*keys, name), (*above, key)))

    def _judge(self, read: SchemaRead, holder: PropertyPath) -> PathFault | None:
        words = [segment.name for segment in flow.Read.parse(read.path).segments]
        found, later = self._resolve(words, holder)
        if found:
            return None
        step = holder[-1]
        if later:
            return PathFault(read, "forward", step, (), self.own.path(self.shape_at[later].parts[0].node))
        close = self._nearest(words, holder)
        usable = tuple(path for path in close if self._resolve(path.split("."), holder)[0])
        return PathFault(read, "dangling", step, (usable or close)[:3], None)

    def _resolve(self, words: list[str], holder: PropertyPath) -> tuple[bool, PropertyPath]:
        """Return whether a path leads to an earlier step, and if not, the later one it leads to."""
        if _PROMPT.fullmatch(words[0]) or words[0] in self.inputs:
            return True, ()
        later: PropertyPath = ()
        for start in self._starts(holder):
            target = self._follow(start, words)
            if target is not None:
                if self._order(target) < self._order(holder) and holder[: len(target)] != target:
                    return True, ()
                later = later or target
        return False, later

    def _starts(self, holder: PropertyPath) -> list[PropertyPath]:
        """Return the places at which a path may begin: around the step from inside out, then every chunk."""
        around = [holder[:depth] for depth in range(len(holder) - 1, -1, -1)]
        return list(dict.fromkeys([*around, *((chunk,) for chunk in self.chunks)]))

    def _follow(self, start: PropertyPath, words: list[str]) -> PropertyPath | None:
        """Return the keys of the target of a path from a place, or `None` if it certainly leads nowhere."""
        keys, rest = self._walk(start, words)
        if keys == start:
            return None
        return keys if not rest or self._may_hold(self.shape_at[keys]) else None

    def _walk(self, keys: PropertyPath, words: list[str]) -> tuple[PropertyPath, list[str]]:
        """Go along a path as far as there are properties; a key may itself have dots in it."""
        rest = words
        while rest and len(keys) < DATAFLOW_LEVELS:
            known = self.at(keys)
            size = next((size for size in range(1, len(rest) + 1) if ".".join(rest[:size]) in known), 0)
            if not size:
                break
            keys, rest = (*keys, ".".join(rest[:size])), rest[size:]
        return keys, rest

    def _may_hold(self, shape: Shape) -> bool:
        """Return whether a shape may have parts that are not written as properties."""
        if not shape.complete or shape.is_open():
            return True
        schemas = [node for node, _ in shape.objects()]
        if any(not node.keys().isdisjoint(_PARTS) for node in schemas):
            return True
        if any(node.get("properties") for node in schemas):
            return False
        types = [node["type"] if node["type"].__class__ is list else [node["type"]] for node in schemas if "type" in node]
        return all({"object", "array"} & set(names) for names in types)

    def _order(self, keys: PropertyPath) -> list[int]:
        """Return where a place comes in the order of evaluation."""
        return [self._positions(keys[:depth])[name] for depth, name in enumerate(keys)]

    def _positions(self, keys: PropertyPath) -> dict[str, int]:
        """Return the number of each property of a place."""
        found = self.positions.get(keys)
        if found is None:
            found = self.positions[keys] = {name: position for position, name in enumerate(self.at(keys))}
        return found

    def _nearest(self, words: list[str], holder: PropertyPath) -> tuple[str, ...]:
        """Return the paths, written alike, that may have been meant."""
        chunk = words[0] if words[0] in self.chunks and len(words) > 1 else None
        key = words[1] if chunk else words[0]
        rest = words[2:] if chunk else words[1:]
        found: list[str] = []
        if key in self.steps and (chunk is None or key in self.at((chunk,))):  # the step exists, its part does not
            for keys in self.steps[key]:
                if chunk is None or keys[0] == chunk:
                    reached, left = self._walk(keys, rest)
                    names = self.offers.nearest(left[0], tuple(self.at(reached))) if left else ()
                    done = rest[: len(rest) - len(left)]
                    found += [".".join([*words[: len(words) - len(rest)], *done, name, *left[1:]]) for name in names]
        else:
            own = frozenset({holder[-1]} if self.steps.get(holder[-1]) == [holder] else ()).difference(self.inputs)
            close = (key,) if key in self.steps else self.offers.nearest(key, self.names, without=own)
            for name in close:
                places = self.steps.get(name, [(name,)])
                if chunk is None:
                    found.append(".".join([name, *rest]))
                else:
                    best = next((place for place in places if place[0] == chunk), places[0])
                    found.append(".".join([*best, *rest]))
            if chunk is None and len(words) > 1 and not found:
                found = [".".join([name, *words[1:]]) for name in self.offers.nearest(key, tuple(self.chunks))]
        return tuple(dict.fromkeys(found))


def _is_input(fault: PathFault, paths: list[tuple[Location, str]]) -> bool:
    """Return whether a path that leads nowhere must be an input of the program that a process was compiled from.

    The compiler lists an input among the `references` of a step, and in its `arguments` the property it fills.
    """
    path = fault.read.path
    places = {place[0] for place, other in paths if other == path}
    return fault.kind == "dangling" and not fault.nearest and path.isidentifier() and places == {"references", "arguments"}


def paths_of(node: dict[str, Json]) -> Iterator[tuple[Location, str]]:
    """Yield the paths in the engine properties of a schema, with the place of each in it."""
    references = node.get("references")
    if references.__class__ is list:
        yield from ((("references", index), path) for index, path in enumerate(references) if path.__class__ is str)
    stack: list[tuple[Location, Json]] = [(("arguments",), node.get("arguments"))]
    while stack:
        place, value = stack.pop()
        if value.__class__ is str:
            yield place, value
        elif value.__class__ is list:
            stack.extend(((*place, index), item) for index, item in reversed(list(enumerate(value))))
        elif value.__class__ is dict and "const" not in value:
            stack.extend(((*place, name), item) for name, item in reversed(value.items()))


_OPEN = frozenset({"allOf", "anyOf", "oneOf", "$ref", "additionalProperties", "patternProperties", "if", "items", "prefixItems"})
"""Keywords beside which a value may have members other than its properties."""


class ProcessFault(NamedTuple):
    """A path that leads nowhere, or to a later step; its place is that of the canonical spelling."""

    place: Location
    path: str
    reader: str
    nearest: tuple[str, ...]
    later: Location | None
    """Location of the later value."""


def dataflow_faults(process: Process, inputs: tuple[str, ...]) -> Iterator[ProcessFault]:
    """Yield each invalid path of a process; `inputs` are known beside those that it lists."""
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
    """The visible names of a body: its own, and those of the bodies around it up to its block."""

    def __init__(self, known: dict[str, Json], around: _Scope | None = None) -> None:
        self.known: dict[str, Json] = known
        """Schemas by name, `True` where there is none."""
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(known)}
        self.expected: dict[str, Location] = {}
        """Where that stands which comes later."""
        self.around = around
        self.known_around = len(around.known) if around is not None else 0
        self.offers: NearestNames = (
            around.offers if around is not None else NearestNames(COMPARED_NAMES // 10)
        )  # each in names of its own

    def know(self, name: str, schema: Json) -> None:
        """Make a name known from here on."""
        self.numbers.setdefault(name, len(self.numbers))
        self.known[name] = schema

    def find(self, name: str) -> Json | None:
        """Return the schema of a name that can be read, or `None` if there is no such name."""
        return next((scope.known[name] for scope, count in self._outwards() if scope.numbers.get(name, count) < count), None)

    def later(self, name: str) -> Location | None:
        """Return the place of a later definition of a name."""
        return next((scope.expected[name] for scope, _ in self._outwards() if name in scope.expected), None)

    def names(self) -> tuple[str, ...]:
        """Return all names that can be read."""
        return tuple(name for scope, count in self._outwards() for name in islice(scope.known, count))

    def _outwards(self) -> Iterator[tuple[_Scope, int]]:
        """Yield this body and those around it, each with the number of its names that can be read here."""
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
        yield from ((step.key, ("properties", step.key)) for step in context.steps)
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
        for index, read in enumerate(engine.references):
            yield from _judged([read], (*where, "references", index), step.key, scope)
        yield from _judged(flow.reads_of(engine.arguments), (*where, "arguments"), step.key, scope)
        if engine.among is not None:
            yield from _judged([engine.among], (*where, "among"), step.key, scope)


def _judged(reads: Iterator[flow.Read] | list[flow.Read], place: Location, reader: str, scope: _Scope) -> Iterator[ProcessFault]:
    for read in reads:
        names = [segment.name for segment in read.segments]
        sizes = ((size, scope.find(".".join(names[:size]))) for size in range(len(names), 0, -1))
        size, schema = next(((size, found) for size, found in sizes if found is not None), (0, None))
        if schema is not None:
            if missing := _missing(schema, names[size:], scope.offers):
                done = names[: len(names) - len(missing[0])]
                close = tuple(".".join([*done, name, *missing[0][1:]]) for name in missing[1])
                yield ProcessFault(place, read.text, reader, close, None)
        elif (later := scope.later(names[0])) is not None:
            yield ProcessFault(place, read.text, reader, (), later)
        else:
            near = () if scope.offers.over else scope.offers.nearest(names[0], scope.names())
            close = tuple(".".join([name, *names[1:]]) for name in near)
            yield ProcessFault(place, read.text, reader, close, None)


def _missing(schema: Json, names: list[str], offers: NearestNames) -> tuple[list[str], tuple[str, ...]] | None:
    """Return the rest of a path from the member that its schema certainly lacks, and the nearest that it has."""
    for index, name in enumerate(names):
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict) or not properties or not _OPEN.isdisjoint(schema):
            return None
        if name not in properties:
            return names[index:], offers.nearest(name, tuple(properties))
        schema = properties[name]
    return None


def _in_block(block: flow.Block, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    """Check the paths that a block reads before anything in it runs."""
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
