"""The parts of a process: contexts, blocks, conditions, steps, and the paths they read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final, Generic, Literal, TypeAlias, TypedDict, TypeVar

import msgspec

from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_text

# Who carries a step out: the model fills it in, the server does it, or a person answers.


Executor: TypeAlias = Literal["model", "server", "user"]

EXECUTORS: Final[dict[Executor, str]] = {"model": "the model", "server": "the server", "user": "a person"}
"""Executors, with their names in messages."""


# What the engine properties of a process say: paths, and values made of paths and constants.
#
# True of this form: a path has at least one segment; nothing in a value names code.


_SEGMENT = r'("(?:[^"\\]|\\.)*")(?=\.|$)|([^."][^.]*)(?=\.|$)|(?=\.|$)'  # compiled on first use


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A name in a path; if not `quoted`, it may be part of a key that contains dots."""

    name: str
    quoted: bool = False


class Read(msgspec.Struct, frozen=True, gc=False):
    """A path: a step, an input or a name of a block, followed by members; `step1_page."b c"`."""

    segments: tuple[Segment, ...]
    optional: bool = False
    """Whether the argument is omitted if the path leads to `null`."""

    @property
    def text(self) -> str:
        """The path as text."""
        segments = self.segments
        if len(segments) == 1 and not segments[0].quoted:
            return segments[0].name
        return ".".join([dumps(each.name, indent=False) if each.quoted else each.name for each in segments])

    @property
    def first(self) -> str:
        """The first name of the path."""
        return self.segments[0].name

    @classmethod
    def parse(cls, text: str, *, optional: bool = False) -> Read:
        """Parse a path; text that is not a sequence of names and JSON strings is split at its dots."""
        found: list[Segment] = []
        at = 0
        segment = re.compile(_SEGMENT)
        while match := segment.match(text, at):
            try:
                found.append(Segment(as_text(loads(match[1])), quoted=True) if match[1] else Segment(match[2] or ""))
            except ValueError:
                break
            at = match.end() + 1
            if match.end() == len(text):
                return cls(tuple(found), optional)
        return cls(tuple(Segment(name) for name in text.split(".")), optional)


class Constant(msgspec.Struct, frozen=True, gc=False):
    """A constant value."""

    value: Json


class Listed(msgspec.Struct, frozen=True, gc=False):
    """A list of values."""

    items: tuple[Value, ...]


class Named(msgspec.Struct, frozen=True, gc=False):
    """An object of values."""

    members: Mapping[str, Value] = msgspec.field(default_factory=dict)


Value: TypeAlias = Read | Constant | Listed | Named
"""Source of an argument or of a block's value."""


def value_of(written: Json) -> Value:
    """Read a value: a text is a path, `{ "const": … }` a constant, lists and objects hold values; anything else is a constant."""
    match written:
        case str():
            return Read.parse(written)
        case {"const": value, **others} if not others:
            return Constant(value)
        case {"path": str(path), "optional": True, **others} if not others:
            return Read.parse(path, optional=True)
        case {"path": str(path), "optional": False, **others} if not others:
            return Read.parse(path)
        case dict():
            return Named({name: value_of(each) for name, each in written.items()})
        case list():
            return Listed(tuple(value_of(each) for each in written))
        case _:
            return Constant(written)


def is_value(written: Json) -> bool:
    """Return whether `value_of` reads only paths and explicit constants."""
    waiting = [written]
    while waiting:
        match waiting.pop():
            case str() as path:
                if not path:
                    return False
            case {"const": _, **others} | {"path": str(), "optional": bool(), **others} if not others:
                pass
            case dict() as members:
                waiting.extend(members.values())
            case list() as items:
                waiting.extend(items)
            case _:
                return False
    return True


def written_value(value: Value) -> Json:
    """Return the JSON form of a value; `value_of` parses it."""
    match value:
        case Read(optional=False):
            return value.text
        case Read():
            return {"path": value.text, "optional": True}
        case Constant(constant):
            return {"const": constant}
        case Named(members):
            return {name: written_value(member) for name, member in members.items()}
        case Listed(items):
            return [written_value(item) for item in items]


def reads_of(value: Value | None) -> Iterator[Read]:
    """Yield the paths in a value, in order."""
    waiting: list[Value | None] = [value]
    while waiting:
        match waiting.pop():
            case Read() as read:
                yield read
            case Listed(items):
                waiting.extend(reversed(items))
            case Named(members):
                waiting.extend(reversed(list(members.values())))
            case Constant() | None:
                pass


def map_reads(value: Value, change: Callable[[Read], Read]) -> Value:
    """Return a value with all of its paths changed."""
    match value:
        case Read():
            return change(value)
        case Listed(items):
            return Listed(tuple(map_reads(item, change) for item in items))
        case Named(members):
            return Named({name: map_reads(member, change) for name, member in members.items()})
        case Constant():
            return value


# The steps of a process, and the chunks that contain them.
#
# True of this form: what is for the engine stands next to a schema, not in it.


class EngineProperties(msgspec.Struct, frozen=True, gc=False):
    """Keywords next to a schema that only the engine reads."""

    references: tuple[Read, ...] = ()
    arguments: Value | None = None
    activity: str | None = None
    plan: JsonObject | None = None
    """Tools that a plan may use, by name: `{ "activity" | "process", "arguments", "output", "bound"? }`."""
    among: Read | None = None
    """List from which the value must be chosen."""
    fail: bool = False
    within: str | None = None
    """Deadline, as an ISO 8601 duration."""
    delay: str | None = None
    after: tuple[str, ...] = ()
    """Keys of steps and blocks of the same body, or names of contexts, that must end before this one begins."""
    takes: JsonObject | None = None
    """Schema of what an activity may be given."""


NO_ENGINE = EngineProperties()


class EngineSlot(msgspec.Struct, frozen=True, gc=False):
    """A schema inside a step with engine keywords."""

    path: tuple[str | int, ...]
    """Keywords, names and indexes that lead to the slot from the schema of the step."""
    engine: EngineProperties

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the properties that lead to the slot."""
        return tuple(str(each) for before, each in pairwise(self.path) if before == "properties")


class Among(msgspec.Struct, frozen=True):
    """A property whose value is an element of an earlier step's list."""

    place: tuple[str, ...]
    """Property names that lead to the value from the step."""
    choices: Read


class Planned(msgspec.Struct, frozen=True):
    """A property whose value is a plan."""

    place: tuple[str, ...]
    tools: JsonObject


class Loop(msgspec.Struct, frozen=True):
    """A part of a model's answer that may request another round."""

    place: tuple[str, ...]
    """Property names that lead from the chunk to the object with `_iteration` and `_continue`."""
    maximum: int


class Step(msgspec.Struct, frozen=True, gc=False):
    """One property of a chunk."""

    key: str
    schema: Json
    """Schema without engine properties; a reference at its top is resolved."""
    executor: Executor = "model"
    engine: EngineProperties = NO_ENGINE
    slots: tuple[EngineSlot, ...] = ()
    reference: Json = None
    """The schema as written, if it is a reference."""

    @property
    def references(self) -> tuple[Read, ...]:
        """The paths it reads, including those of its filled slots; without `references` the paths in its `arguments`."""
        if not self.slots and self.engine.references:
            return self.engine.references
        found = dict.fromkeys(self.engine.references)
        for slot in self.slots:
            found |= dict.fromkeys(slot.engine.references)
        return tuple(found or dict.fromkeys(reads_of(self.engine.arguments)))

    @property
    def within(self) -> str | None:
        """The deadline, as an ISO 8601 duration."""
        return self.engine.within

    @property
    def delay(self) -> str | None:
        """The delay before it starts, as an ISO 8601 duration."""
        return self.engine.delay

    @property
    def after(self) -> tuple[str, ...]:
        """The keys that must end before it begins although it does not read them."""
        return self.engine.after

    @property
    def plan(self) -> JsonObject | None:
        """The tools that a step may call when it carries out a plan."""
        return self.engine.plan if self.executor == "server" else None

    @property
    def among(self) -> tuple[Among, ...]:
        """The properties, itself included, whose value is chosen from a list."""
        return tuple(Among(names, engine.among) for names, engine in self._engines() if engine.among is not None)

    @property
    def plans(self) -> tuple[Planned, ...]:
        """The properties, itself included, whose value is a plan."""
        return tuple(
            Planned(names, engine.plan)
            for names, engine in self._engines()
            if engine.plan is not None and (names or self.executor != "server")
        )

    def _engines(self) -> Iterator[tuple[tuple[str, ...], EngineProperties]]:
        yield (), self.engine
        yield from ((slot.names, slot.engine) for slot in self.slots)

    @property
    def output(self) -> bool:
        """Whether its value is the member `output` of the recorded one."""
        properties = self.schema.get("properties") if isinstance(self.schema, dict) else None
        return isinstance(properties, dict) and "output" in properties


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """Consecutive steps of one executor."""

    name: str
    executor: Executor
    steps: tuple[Step, ...]
    frame: JsonObject | None = None
    """Schema around the steps with empty `properties`; `None` for an object that requires all of them."""
    definition: str | None = None
    """Name among the definitions; `None` if it is written inline."""

    @property
    def schema(self) -> JsonObject:
        """Its schema without engine keywords."""
        return framed(self.frame, {step.key: step.schema for step in self.steps})


def framed(frame: JsonObject | None, properties: JsonObject) -> JsonObject:
    """Return an object schema with these properties and a frame."""
    if frame is None:
        whole: JsonObject = {"type": "object", "properties": properties}
        return {**whole, "required": list(properties)} if properties else whole
    return {**frame, "properties": {**as_object(frame["properties"]), **properties}} if "properties" in frame else frame


# The parts of a process: contexts, blocks and conditions.
#
# True of this form: contexts stand in an order in which they can run; a `repeat` stands before its `else`.


Comparison: TypeAlias = Literal["equals", "differs", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]
COMPARISONS: Mapping[Comparison, str] = {
    "equals": "is",
    "differs": "is not",
    "minimum": ">=",
    "exclusiveMinimum": ">",
    "maximum": "<=",
    "exclusiveMaximum": "<",
}
"""Keyword of each comparison with another path in a process, with its form in a program."""
BY_SIZE = frozenset({"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"})


class Condition(msgspec.Struct, frozen=True, gc=False):
    """Holds if one of its tests does, together with those joined to it: the value of the path satisfies the schema."""

    tests: tuple[tuple[Read, Json], ...]
    """Tests as path and schema; the two paths of a comparison are both listed, with an empty schema."""
    joined: frozenset[int] = frozenset()
    """Indexes of tests that hold only together with the previous one."""
    compared: Mapping[int, Comparison] = {}
    """Comparison by index, for tests whose value is compared with that of the next one."""

    @property
    def alternatives(self) -> list[list[int]]:
        """The indexes of the tests that must all hold, for each alternative."""
        found: list[list[int]] = []
        for number in range(len(self.tests)):
            if number in self.joined:
                found[-1].append(number)
            else:
                found.append([number])
        return found

    def as_text(self, path: Callable[[Read], str], test: Callable[[Json], str], both: str, either: str) -> str:
        """Return the condition as text: `path` and `test` render paths and schemas, `both` and `either` join them."""
        cases: list[str] = []
        for case in self.alternatives:
            clauses: list[str] = []
            for number in case:
                read, schema = self.tests[number]
                if number in self.compared:
                    clauses.append(f"{path(read)} {COMPARISONS[self.compared[number]]} {path(self.tests[number + 1][0])}")
                elif number - 1 not in self.compared:
                    clauses.append(f"{path(read)}{test(schema)}")
            cases.append(f" {both} ".join(clauses))
        return f" {either} ".join(cases)

    def places(self) -> Iterator[tuple[tuple[str | int, ...], int]]:
        """Yield the location of each test's path below the condition, and the index of the test."""
        cases = self.alternatives
        for index, case in enumerate(cases):
            one = () if len(cases) == 1 else ("anyOf", index)
            whole = [number for number in case if number - 1 not in self.compared]
            for number in case:
                first = number if number in whole else number - 1
                all_of = () if len(whole) == 1 else ("allOf", whole.index(first))
                word = "path" if first == number else self.compared[first]
                yield (*one, *all_of, word), number


class Body(msgspec.Struct, frozen=True, gc=False):
    """Contexts that run together, once or once per round."""

    contexts: tuple[Context, ...]
    value: Value | None = None
    """Value of the body; `None` if unused."""
    frame: JsonObject | None = None
    """Schema around the contexts; `None` for an object that requires all of them."""
    shows: Value | None = None
    """Part of the value that later rounds of a `repeat` see, if not all of it."""


class Branch(msgspec.Struct, frozen=True, gc=False):
    """One case of a `when`."""

    condition: Condition | None
    """Condition of the branch; `None` for the `else`."""
    body: Body


class Common(TypedDict):
    """The properties that every block has."""

    key: str | None
    within: str | None
    delay: str | None
    after: tuple[str, ...]
    about: JsonObject | None
    definition: str | None


class _Keyed(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A block that may have its own key, deadline and delay."""

    key: str | None = None
    within: str | None = None
    delay: str | None = None
    after: tuple[str, ...] = ()
    """Keys of steps and blocks of the same body, or names of contexts, that must end before this one begins."""
    about: JsonObject | None = None
    """Additional keywords."""
    definition: str | None = None


class When(_Keyed, frozen=True, gc=False):
    """Runs the first branch whose condition holds."""

    name: str
    branches: tuple[Branch, ...]


class Selection(msgspec.Struct, frozen=True, gc=False):
    """The elements that a block runs for."""

    condition: Condition | None = None
    """Condition evaluated for each element before the block, under the element's name."""
    most: Value | None = None
    """Limit, if it is read from a value."""
    first: Value | None = None
    """Number of elements to take."""


class Each(_Keyed, frozen=True, gc=False):
    """Runs the body once per element, concurrently."""

    name: str
    item: str
    source: Value
    """The list, or a number for 1, 2, 3, …"""
    body: Body
    most: int | None
    least: int | None = None
    """Minimum number of rounds; all of them for a count."""
    until: Condition | None = None
    """Condition that ends the block without waiting for the remaining elements."""
    selection: Selection | None = None


class Repeat(_Keyed, frozen=True, gc=False):
    """Runs the body repeatedly, or for one element after the other."""

    name: str
    body: Body
    until: Condition | None
    item: str | None
    source: Value | None
    most: int | None
    keep: int | None = None
    hands: tuple[str, ...] | None = None
    """Keys visible in `previous` and `rounds`; `None` for all."""
    otherwise: str | None = None
    """Name of the context of its `else`."""
    least: int | None = None
    """Minimum number of rounds: one, or zero for a list."""
    first: Value | None = None
    """Value of `previous` in the first round."""
    selection: Selection | None = None


class Else(msgspec.Struct, frozen=True, gc=False):
    """The body that runs after a `repeat` without success."""

    name: str
    of: str
    body: Body
    about: JsonObject | None = None
    definition: str | None = None


class Try(_Keyed, frozen=True, gc=False):
    """Runs the first body, and the second if the first fails permanently."""

    name: str
    body: Body
    otherwise: Body


class Race(_Keyed, frozen=True, gc=False):
    """Runs all bodies concurrently; the first to finish ends the others."""

    name: str
    branches: tuple[Body, ...]


class Do(_Keyed, frozen=True, gc=False):
    """Runs the body once."""

    name: str
    body: Body


KeyedBlock: TypeAlias = When | Each | Repeat | Try | Race | Do
"""A block that may have its own key, deadline and delay."""
Block: TypeAlias = KeyedBlock | Else
Context: TypeAlias = Chunk | Block


class BlockPart(msgspec.Struct, frozen=True, gc=False):
    """A body of a block with its properties; every block is a sequence of these."""

    body: Body
    names: tuple[str, ...] = ()
    """Names that the block defines for its body."""
    condition: Condition | None = None
    """Condition for running the body, evaluated outside it."""
    until: Condition | None = None
    """Condition that ends the rounds, evaluated with its names."""
    title: str | None = None
    """Label that tells the body from the others, where no condition does."""
    rescued: bool = False
    """Whether a failure in the body is handled by another body."""


def parts_of(context: Context) -> tuple[BlockPart, ...]:
    """Return the parts of a block in order; only this function knows them. A chunk has none."""
    match context:
        case Chunk():
            return ()
        case Do(body=body):
            return (BlockPart(body),)
        case When(branches=branches):
            return tuple([BlockPart(branch.body, condition=branch.condition) for branch in branches])
        case Each(body=body, item=item, until=until):
            return (BlockPart(body, (item,), until=until),)
        case Repeat(body=body, item=element, until=until):
            return (BlockPart(body, ("round", "previous", "rounds", *([element] if element else ())), until=until),)
        case Else(body=body):
            return (BlockPart(body, ("rounds",)),)
        case Try(body=body, otherwise=otherwise):
            first = BlockPart(body, title="try", rescued=True)
            return first, BlockPart(otherwise, ("error",), title="else")
        case Race(branches=branches):
            return tuple(
                [BlockPart(body, title="or" if number else "race", rescued=True) for number, body in enumerate(branches)]
            )


B = TypeVar("B")


class Gives(msgspec.Struct, Generic[B], frozen=True, gc=False):
    """The value of a block: a list of the values of one body, or the value of one of its bodies."""

    ones: tuple[B, ...]
    """Bodies one of which provides the value."""
    listed: B | None = None
    """Body whose values form the list; another body, if any, may provide something else instead."""
    null: bool = False
    """Whether possibly no body runs, or for a list, not all of its values are awaited."""
    count: int | None = None
    """Length of the list, if known."""


def gives(block: KeyedBlock) -> Gives[Body]:
    """Return the bodies that provide the value of a block."""
    bodies = bodies_of(block)
    if source_of_block(block) is not None:
        return Gives((), bodies[0], null=isinstance(block, Each) and block.until is not None)
    return Gives(bodies, null=isinstance(block, When) and block.branches[-1].condition is not None)


def source_of_block(context: Context) -> Value | None:
    """Return the list that a block iterates over, or `None`."""
    return context.source if isinstance(context, Each | Repeat) else None


def reads_before(context: Context) -> Iterator[Read]:
    """Yield the paths that a block reads before its bodies run: its conditions, its list."""
    for part in parts_of(context):
        for read, _ in part.condition.tests if part.condition else ():
            yield read
    yield from reads_of(source_of_block(context))
    yield from reads_of(context.first if isinstance(context, Repeat) else None)
    if isinstance(context, Each | Repeat) and (chosen := context.selection) is not None:
        tests = chosen.condition.tests if chosen.condition else ()
        yield from (read for read, _ in tests if read.first != context.item)
        yield from (*reads_of(chosen.most), *reads_of(chosen.first))


READS_ONLY: Final = "x-reads-only"
"""Keyword of a vibe whose call has no side effects; only the compiler reads it."""
ORDERED: Final = 2
"""Version of the process JSON that introduced `after`."""


def version_needed(contexts: Iterable[Context]) -> int | None:
    """Return the version of the JSON format that some contexts require, or `None` if the first one suffices."""
    return max(map(_version_of, contexts), default=0) or None


def _version_of(context: Context) -> int:
    if isinstance(context, Each | Repeat) and context.selection is not None:
        return ORDERED
    if afters_of(context) or any(word in BY_SIZE for each in _conditions_of(context) for word in each.compared.values()):
        return ORDERED
    return int(_is_of_version_1(context))


def afters_of(context: Context) -> tuple[str, ...]:
    """Return what must end before a block, or a step of a chunk, begins although it does not read it."""
    if isinstance(context, Chunk):
        return tuple([name for step in context.steps for name in step.after])
    return () if isinstance(context, Else) else context.after


def _is_of_version_1(context: Context) -> bool:
    if any(condition.compared or condition.joined for condition in _conditions_of(context)):
        return True
    if isinstance(context, Each):
        return context.until is not None
    return isinstance(context, Race) or (isinstance(context, Repeat) and context.first is not None)


def _conditions_of(context: Context) -> list[Condition]:
    return [each for part in parts_of(context) for each in (part.condition, part.until) if each is not None]


def bodies_of(context: Context) -> tuple[Body, ...]:
    """Return the bodies of a block in order; a chunk has none."""
    return tuple([part.body for part in parts_of(context)])


_COMMON = ("key", "after", "within", "delay")
_VALUE = ("value", "shows")
CONDITION = ("path", "schema", *COMPARISONS, "anyOf", "allOf")
"""Keywords of a condition."""


class BlockForm(msgspec.Struct, frozen=True):
    """The JSON form of a block."""

    bodies: Literal["", "items", "anyOf"]
    """Keyword that holds the bodies; empty if the block is its own body."""
    block: tuple[str, ...] = ()
    """Engine property keywords of the whole block."""
    branch: tuple[str, ...] = ()
    """Engine property keywords of a body in `anyOf`."""
    least: int = 1
    """Minimum number of bodies."""
    most: int | None = None
    """Maximum number of bodies."""

    @property
    def own(self) -> frozenset[str]:
        """The keywords of JSON Schema that belong to the block itself."""
        return _OWN[self.bodies]


_OWN = {
    "": frozenset({"type", "properties", "required"}),
    "items": frozenset({"type", "items", "minItems", "maxItems"}),
    "anyOf": frozenset({"anyOf"}),
}
FORMS: dict[str, BlockForm] = {
    "when": BlockForm("anyOf", _COMMON, (*CONDITION, *_VALUE)),
    "each": BlockForm("items", ("item", "in", "when", "max", "first", "until", *_VALUE, *_COMMON)),
    "repeat": BlockForm("items", ("from", "until", "item", "in", "when", "max", "first", "keep", "hands", *_VALUE, *_COMMON)),
    "try": BlockForm("anyOf", _COMMON, _VALUE, least=2, most=2),
    "race": BlockForm("anyOf", _COMMON, _VALUE, least=2),
    "do": BlockForm("", (*_VALUE, *_COMMON)),
    "else": BlockForm("anyOf", (), ("of", *_VALUE), most=1),
}
"""Form of each block by its keyword, which is also the name of its engine property."""


def word_of(block: Block) -> str:
    """Return the keyword of a block."""
    return type(block).__name__.lower()


def branched(word: str, name: str, branches: tuple[Branch, ...], common: Common) -> KeyedBlock:
    """Return a block that consists only of its branches, by its keyword."""
    bodies = tuple([branch.body for branch in branches])
    match word:
        case "when":
            return When(name, branches, **common)
        case "try":
            return Try(name, bodies[0], bodies[1], **common)
        case "race":
            return Race(name, bodies, **common)
        case _:
            return Do(name, bodies[0], **common)


def all_contexts(body: Body) -> Iterator[Context]:
    """Yield all contexts of a body and its nested blocks, each block before its contents."""
    waiting = list(reversed(body.contexts))
    while waiting:
        context = waiting.pop()
        yield context
        for inner in reversed(bodies_of(context)):
            waiting.extend(reversed(inner.contexts))
