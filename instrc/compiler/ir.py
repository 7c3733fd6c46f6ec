"""The forms of a program between text and artefact: graph, flat graph, plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

import msgspec
from msgspec import Struct

from instrc.process import flow
from instrc.process.flow import Constant, Executor, Gives
from instrc.process.request_settings import WordsLevel  # at runtime, for the signature of `Artefact`
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.limits import FLAT_SCHEMAS
from instrc.text.notebook import block, folded
from instrc.text.sentences import EN, Sentences
from instrc.text.source import Source, Span

if TYPE_CHECKING:
    from instrc.tools.tool import Hint, Tool


BlockName: TypeAlias = Literal["item", "round", "previous", "rounds", "error"]


class Local(msgspec.Struct, frozen=True, gc=False):
    """A name that a block binds for its contents."""

    block: int
    """Number of the region that it belongs to."""
    level: int
    """Number of enclosing blocks."""
    kind: BlockName
    name: str
    """Name as used in paths: `person`, `round`."""


class Path(msgspec.Struct, frozen=True, gc=False):
    """Something that is read: an input by name, a step or a block by number, a name of a block, or a part of one of these."""

    origin: str | int | Local
    tail: tuple[str, ...] = ()


class ObjectReading(msgspec.Struct, frozen=True, gc=False):
    """An object of readings."""

    members: tuple[tuple[str, Reading], ...]


Reading: TypeAlias = Path | Constant | ObjectReading
"""Value of a block: a path, a constant, or an object of these."""


def reading_paths(reading: Reading) -> list[Path]:
    """Return the paths in the value of a block."""
    found: list[Path] = []
    waiting: list[Reading] = [reading]
    while waiting:
        match waiting.pop():
            case Path() as path:
                found.append(path)
            case ObjectReading(members):
                waiting.extend(member for _, member in reversed(members))
            case Constant():
                pass
    return found


def member_of(reading: Reading | None, tail: tuple[str, ...]) -> tuple[Reading | None, tuple[str, ...]]:
    """Return the member of a value that a path leads to, as far as objects are written out, and the rest of the path."""
    while isinstance(reading, ObjectReading) and tail:
        reading, tail = dict(reading.members).get(tail[0]), tail[1:]
    return reading, tail


InstructionKind: TypeAlias = Literal["model", "server", "user", "mixin"]

SUFFIXES: dict[str, InstructionKind] = {"_Activity": "server", "_User": "user", "_Human": "user", "_Mixin": "mixin"}
"""Suffixes of instruction names that determine the executor."""


class Instruction(msgspec.Struct, frozen=True, gc=False):
    """A callee: a vibe of the registry, or an inline schema."""

    name: str
    """Last segment of the vibe's path as spelled there, or the title of an inline schema."""
    uri: str | None
    schema: dict[str, Json] | None
    """Schema of an instruction without a vibe: inline or sketched."""
    home: int = 0
    """Number of the roots that it was found in; 0 for those of the compiled program."""

    @property
    def kind(self) -> InstructionKind:
        """Who carries it out, by the suffix of its name."""
        return instruction_kind(self.name)

    @property
    def base_name(self) -> str:
        """The name without its suffix."""
        return self.name.removesuffix(suffix_of(self.name))


def suffix_of(name: str) -> str:
    """Return the end of a name that decides who carries it out, or nothing if the model does."""
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")


def instruction_kind(name: str) -> InstructionKind:
    """Return the executor of a name."""
    return SUFFIXES.get(suffix_of(name), "model")


class Argument(msgspec.Struct, frozen=True, gc=False):
    """An input of a call: labelled or plain."""

    label: str | None
    value: Path | Constant


class PlannableTool(msgspec.Struct, frozen=True):
    """An activity or a process that a plan may call."""

    name: str
    kind: Literal["activity", "process"]
    target: str
    """Name of the activity, or the reference of the process."""
    arguments: dict[str, Json]
    output: Json
    bound: tuple[Argument, ...]
    """Arguments set by the program, which the model cannot set."""
    file: str | None = None
    """File that the reference of a process resolves to from the program that contains it."""


class Planned(msgspec.Struct, frozen=True, gc=False):
    """A property that is filled with a plan for these tools."""

    tools: tuple[PlannableTool, ...]


class Among(msgspec.Struct, frozen=True, gc=False):
    """A property that is filled with an element of an earlier step's list."""

    choices: Path
    span: Span


class Slot(msgspec.Struct, frozen=True, gc=False):
    """Something composed into a property of the same name."""

    name: str
    content: Filling
    reads: tuple[Path, ...]
    """Paths read by the calls in it."""
    span: Span
    number: int
    """Number shared by equal contents."""
    engine: Planned | Among | None = None
    """What the engine needs to know about it."""


class Application(msgspec.Struct, frozen=True, gc=False):
    """One use of a mixin: its filled slots besides `default`, and the annotations written where it is applied."""

    mixin: Instruction
    slots: tuple[Slot, ...]
    annotations: tuple[Json, ...]
    span: Span


class Fusion(msgspec.Struct, frozen=True, gc=False):
    """The composition of one schema: an instruction, the content of its slots, annotations, and mixins, innermost first."""

    instruction: Instruction
    slots: tuple[Slot, ...]
    annotations: tuple[Json, ...]
    mixins: tuple[Application, ...]
    span: Span

    @property
    def all_slots(self) -> list[Slot]:
        """The slots of the instruction and of the mixins around it."""
        return [*self.slots, *(slot for use in self.mixins for slot in use.slots)]


def is_lone_instruction(content: object) -> bool:
    """Return whether a content is an instruction alone, as most are: without fillings or mixins."""
    return type(content) is Fusion and not content.slots and not content.mixins


class MixinGroup(msgspec.Struct, frozen=True, gc=False):
    """A mixin around several steps, which are placed between its properties and never cut apart."""

    application: Application
    members: tuple[Unit, ...]
    numbers: tuple[int, ...]
    """Steps of all members, in order."""
    number: int
    """Number among the groups of the graph."""


Unit: TypeAlias = int | MixinGroup
"""Content of a chunk or slot: a step number or a group of units."""


class StepObject(msgspec.Struct, frozen=True, gc=False):
    """An object of steps inside a slot or under a key."""

    units: tuple[Unit, ...]
    annotations: tuple[Json, ...]
    span: Span


Filling: TypeAlias = Fusion | Constant | StepObject
"""Content of a step or slot."""


Word: TypeAlias = Literal["when", "each", "repeat", "try", "race", "do"]


Comparison: TypeAlias = flow.Comparison | Literal["other"]


class Test(msgspec.Struct, frozen=True, gc=False):
    """A test that holds if the value of a path satisfies a schema; the schema alone decides whether `null` does."""

    path: Path
    schema: Json
    span: Span
    joined: bool = False
    """Whether it holds only together with the previous one."""
    compared: Comparison | None = None
    """How its value is compared with that of the next test, the `other`."""


class FirstValue(msgspec.Struct, frozen=True, gc=False):
    """The value of a body's name before the first round."""

    name: str
    target: Path
    """Path that the name refers to."""
    value: Reading
    span: Span


class Region(msgspec.Struct, frozen=True, gc=False):
    """The contents of the braces of a block, cut by itself."""

    number: int
    units: tuple[Unit, ...]
    """Units in evaluation order."""
    value: Reading
    span: Span


class Branch(msgspec.Struct, frozen=True, gc=False):
    """One case of a `when`; no condition is the `else`."""

    condition: tuple[Test, ...]
    body: Region


class When(msgspec.Struct, frozen=True, gc=False):
    """The first branch whose condition holds."""

    branches: tuple[Branch, ...]


class Selection(msgspec.Struct, frozen=True, gc=False):
    """The elements that a block runs for."""

    tests: tuple[Test, ...] = ()
    """Condition on elements, evaluated before the block."""
    most: Path | None = None
    """Limit, if it is read from a value."""
    first: Path | int | None = None
    """Number of elements to take."""
    at: Span | None = None
    """Span of that number."""

    @property
    def reads(self) -> tuple[Path, ...]:
        """The paths that it reads, those into the element included."""
        return (*(test.path for test in self.tests), *(each for each in (self.most, self.first) if isinstance(each, Path)))


class Each(msgspec.Struct, frozen=True, gc=False):
    """The body once an element, or once for 1, 2, 3."""

    item: str
    source: Path | int
    most: int
    body: Region
    at: Span
    """Span of the list."""
    until: tuple[Test, ...] = ()
    """Condition that ends the block without waiting for the remaining elements."""
    selection: Selection = Selection()


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """The body again and again, or one element after the other."""

    item: str | None
    source: Path | int | None
    most: int
    keep: int | None
    body: Region
    until: tuple[Test, ...]
    otherwise: Region | None
    names: tuple[tuple[str, Reading], ...]
    """Members of `previous`: the names that the body defines, with their values."""
    handed: bool
    """Whether `previous` or `rounds` is read."""
    at: Span
    """Span of the list, or else of the whole block."""
    first: tuple[FirstValue, ...] | None = None
    """Value of `previous` in the first round; `None` for `null`."""
    selection: Selection = Selection()


class Try(msgspec.Struct, frozen=True, gc=False):
    """Try: the first body, and the second when the first has failed for good."""

    body: Region
    otherwise: Region


class Race(msgspec.Struct, frozen=True, gc=False):
    """All bodies at once; the first that is done ends the others."""

    branches: tuple[Region, ...]


class Do(msgspec.Struct, frozen=True, gc=False):
    """The body, once."""

    body: Region


Block: TypeAlias = When | Each | Repeat | Try | Race | Do

Content: TypeAlias = Fusion | Constant | StepObject | Block


class RegionPart(msgspec.Struct, frozen=True, gc=False):
    """A body of a block with its parts; every block is a row of these."""

    region: Region
    condition: tuple[Test, ...] = ()
    """Condition for running the body, evaluated outside it."""
    until: tuple[Test, ...] = ()
    """Condition that ends the rounds, evaluated with its names."""


def parts_of(content: Content) -> tuple[RegionPart, ...]:
    """Return the parts of a block, in order, or none for anything else: only this function knows them."""
    match content:
        case Do(body):
            return (RegionPart(body),)
        case Each(body=body, until=until, selection=selection):
            return (RegionPart(body, selection.tests, until),)
        case When(branches):
            return tuple([RegionPart(branch.body, branch.condition) for branch in branches])
        case Repeat(body=body, until=until, otherwise=otherwise, selection=selection):
            rounds = RegionPart(body, selection.tests, until)
            return (rounds,) if otherwise is None else (rounds, RegionPart(otherwise))
        case Try(body, otherwise):
            return RegionPart(body), RegionPart(otherwise)
        case Race(branches):
            return tuple([RegionPart(body) for body in branches])
        case _:
            return ()


def gives(block: Block) -> Gives[Region]:
    """Return the values of a block by region."""
    first, *others = regions_of(block)
    if isinstance(block, Each) or (isinstance(block, Repeat) and block.source is not None):
        ends = isinstance(block, Repeat) and bool(block.until)
        count = block.source if isinstance(block.source, int) and not ends and block.selection == Selection() else None
        return Gives(tuple(others), first, null=isinstance(block, Each) and bool(block.until), count=count)
    return Gives((first, *others), null=isinstance(block, When) and bool(block.branches[-1].condition))


def regions_of(content: Content) -> tuple[Region, ...]:
    """Return the regions of a block, in order, or none for anything else."""
    return tuple([part.region for part in parts_of(content)])


def tests_of(content: Content) -> tuple[Test, ...]:
    """Return the tests of a block's conditions, in order."""
    return tuple([test for part in parts_of(content) for test in (*part.condition, *part.until)])


def alternatives(tests: tuple[Test, ...]) -> list[list[Test]]:
    """Return the tests that must all hold, for each of the cases in which a condition does."""
    found: list[list[Test]] = []
    for test in tests:
        if test.joined:
            found[-1].append(test)
        else:
            found.append([test])
    return found


def word_of(block: Block) -> Word:
    """Return the word that a block begins with."""
    return cast("Word", type(block).__name__.lower())


class Timing(msgspec.Struct, frozen=True, gc=False):
    """A deadline and a delay, as ISO 8601 durations."""

    within: str | None = None
    delay: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """words: The words of the annotation that sets it."""
        return tuple(word for word in TIMING if getattr(self, word) is not None)


TIMING = ("within", "delay")
NO_TIMING = Timing()


class Step(msgspec.Struct, frozen=True, gc=False):
    """One call, carried out once."""

    number: int
    """Index in evaluation order, from 0; all that it reads has lower numbers."""
    base_name: str
    """Name of the called instruction without its suffix, or the keyword of a block."""
    key: str | None
    """Explicit key from braces, if any."""
    executor: Executor | Literal["block"]
    output: bool
    """Whether it returns only its property `output`; with the model as executor, the server is called for it."""
    content: Content
    arguments: tuple[Argument, ...]
    reads: tuple[Path, ...]
    """All paths that it reads, without duplicates: its arguments and those of calls fused into it."""
    activity: str | None
    span: Span
    timing: Timing = NO_TIMING
    fail: bool = False
    """Whether it ends its block, or the run, as failed."""
    about: str | None = None
    """Description of a block."""
    needs: tuple[Path, ...] = ()
    """Paths that must have a value first without being shown."""
    chosen: tuple[Path, ...] = ()
    """Lists from which it chooses; they cannot be produced in the same chunk."""


class BodyLine(msgspec.Struct, frozen=True, gc=False):
    """One line of a body: the steps that it is the first to write or to need, and the called programs in it."""

    steps: tuple[int, ...]
    bodies: tuple[Lines, ...] = ()


Lines: TypeAlias = tuple[BodyLine, ...]


class Context(msgspec.Struct, frozen=True, gc=False):
    """A chunk cut by hand, or a block among these."""

    executor: Executor | Literal["block"]
    units: tuple[Unit, ...]
    annotations: tuple[Json, ...]
    span: Span


class Graph(msgspec.Struct, frozen=True, gc=False):
    """One export of a program as a graph: its steps, and which step reads the result of which.

    Every name is resolved, equal expressions are one step, and each step has its executor, the values it reads and the parts of
    its schema.  No schema is composed yet, no step has its final key, nothing is cut into chunks.
    """

    name: str
    """Stem of its file names."""
    goal: str | None
    """Text at the beginning of its pipe."""
    tool: str | None
    """Name assigned by `tool`."""
    steps: dict[int, Step]
    """Steps by number, in evaluation order."""
    units: tuple[Unit, ...]
    """Steps and groups placed directly in a chunk; the others are inside the slots of these."""
    inputs: dict[str, Json]
    """Schemas of `prompt` and the declared inputs, in order."""
    contexts: tuple[Context, ...] | None
    """Explicit contexts, if the program was divided by hand."""
    inner: dict[int, tuple[int, ...]]
    """Steps inside the slots of a step, or of the mixin around a group (by its first step), in order of filling."""
    keyed: bool
    """Whether its steps keep their keys even if there is only one."""
    value: Reading | None
    """Its value; `None` if no single key determines it."""
    accesses: tuple[Reached, ...] = ()
    """Members named by paths of the program, to be looked up in the schemas."""
    compound: frozenset[int] = frozenset()
    """Steps that are more than a plain instruction: filled, enclosed by a mixin, or blocks."""
    block_numbers: tuple[int, ...] = ()
    """Numbers of the blocks among them."""
    awaited_numbers: tuple[int, ...] = ()
    """Steps whose result, or `output`, comes from the server or a person."""
    labels: dict[tuple[int, str], Span] = {}
    """Spans of argument names of server steps, by step and name."""
    passed: tuple[TypedArgument, ...] = ()
    """Values that the program passes to inputs of called programs and to tools of plans."""
    calls: dict[Source, Span] = {}
    """Call through which each called program was read."""
    lines: Mapping[int, Lines] = {}
    """Lines of each body that has more than one, by region; effects keep their order."""
    only_reading: frozenset[int] = frozenset()
    """Effects without changes, which need not wait for each other."""
    unread: frozenset[int] = frozenset()
    """Steps of lines whose value nothing in the program mentions."""

    def compounds(self) -> list[Step]:
        """Return the steps that are more than an instruction alone, in evaluation order."""
        return [self.steps[number] for number in sorted(self.compound)]

    def blocks(self) -> list[Step]:
        """Return the steps that are blocks, in evaluation order."""
        return [self.steps[number] for number in self.block_numbers]

    def awaited(self) -> list[Step]:
        """Return the steps whose result, or `output`, comes from the server or a person, in evaluation order."""
        return [self.steps[number] for number in self.awaited_numbers]

    def readings(self, *, given: bool = True) -> Iterator[tuple[Path, int]]:
        """Yield each path that is read, with its reader: -1 for a condition, the export, and, if `given`, a value of a body."""
        values = [] if self.value is None else [self.value]
        for step in self.blocks():
            yield from ((test.path, -1) for test in tests_of(step.content))
            values += [region.value for region in regions_of(step.content) if given]
            if type(step.content) is Repeat and step.content.handed:
                values += [reading for _, reading in step.content.names]
        yield from ((path, -1) for value in values for path in reading_paths(value))
        for number, step in self.steps.items():
            yield from ((path, number) for path in step.reads + step.needs)

    def origins(self) -> set[str | int | Local]:
        """Return what a step, a condition, a list, the value of a body or the export reads, or a part of."""
        return {path.origin for path, _ in self.readings()}

    @property
    def has_flow(self) -> bool:
        """Whether it has paths or blocks."""
        return (
            bool(self.accesses or self.block_numbers)
            or any(step.chosen for step in self.compounds())
            or any(step.activity == "RunPlan_Activity" for step in self.awaited())
        )


class Reached(msgspec.Struct, frozen=True, gc=False):
    """A member that a path names: the path up to it, and its place."""

    path: Path
    span: Span


class TypedArgument(msgspec.Struct, frozen=True, gc=False):
    """A value passed under a name whose schema is known."""

    callee: str
    label: str
    value: Path | Constant
    schema: Json
    """Schema of the argument."""
    within: Span
    """Span of the call, or of the part with the value."""
    named: Span
    """Span of the argument's name."""


class Placed(msgspec.Struct, frozen=True):
    """A block in a property of a step's schema, filled in when keys are known."""

    slots: tuple[str, ...]
    block: StepObject


class FlatGraph(msgspec.Struct, frozen=True, gc=False):
    """A graph with its schemas composed."""

    graph: Graph
    schemas: dict[int, Json]
    """Flat schemas without engine properties by step, `output` included; for a block, the schema of its value."""
    placed: dict[int, tuple[Placed, ...]]
    """Blocks inside steps, by step."""
    mixins: dict[int, Json]
    """Composed schema of each group's mixin, by group number."""
    around: dict[int, tuple[Placed, ...]]
    """Blocks inside the mixins of groups, by group number."""
    read: AbstractSet[str | int | Local]
    """Values of which any part is read: inputs by name, steps by number, names of blocks."""
    referring: frozenset[int] = frozenset()
    """Steps with recursive schemas, which contain definitions and references."""
    optional: frozenset[tuple[int, str]] = frozenset()
    """Named arguments that are omitted if `null`, by step."""


ArtefactShape: TypeAlias = Literal["tool", "call", "process"]


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """The steps that one executor does without a break, or a block."""

    executor: Executor | Word | Literal["else"]
    index: int
    """Number among the chunks of its executor in the whole program, from 1."""
    units: tuple[Unit, ...]
    answers: frozenset[int]
    """Steps represented only by their `output`; their inputs were filled in an earlier chunk."""
    annotations: tuple[Json, ...]
    block: int | None
    """Number of the block that it represents; `None` for a chunk of one executor."""


class Plan(msgspec.Struct, frozen=True, gc=False):
    """A graph cut into chunks, each carried out by one executor, or a block.

    Every step is in one chunk, or in two if it waits for the `output` of the server; no chunk needs the result of a later one;
    neighbours differ in their executors unless they are cut by hand; every step that is read has its final key.
    """

    flat: FlatGraph
    shape: ArtefactShape
    chunks: tuple[Chunk, ...]
    keys: dict[int, str]
    """Key of each step, by number; unread blocks have none."""
    bare: bool
    """Whether it is a single model step whose schema is the tool, without a key."""
    inside: Mapping[int, tuple[Chunk, ...]] = msgspec.field(default_factory=dict)
    """Chunks of each block body, by region number."""
    elements: Mapping[int, str] = msgspec.field(default_factory=dict)
    """Element names of blocks, by region number."""
    after: Mapping[int, tuple[int, ...]] = msgspec.field(default_factory=dict)
    """Effects and blocks that must end before an effect that does not read them, by step."""

    def walk(self) -> Iterator[Chunk]:
        """Yield all chunks: a block before its contents, these before what comes after."""
        yield from all_chunks(self.flat.graph, self.chunks, self.inside)

    @property
    def intersects(self) -> bool:
        """Whether schemas are intersected when it is emitted, so that this may still fail."""
        return bool(self.flat.mixins or self.flat.placed) or any(chunk.annotations for chunk in self.walk())


def all_chunks(graph: Graph, chunks: tuple[Chunk, ...], inside: Mapping[int, tuple[Chunk, ...]]) -> Iterator[Chunk]:
    """Yield chunks and those inside them: a block before its contents, these before what comes after."""
    waiting = list(reversed(chunks))
    while waiting:
        chunk = waiting.pop()
        yield chunk
        if chunk.block is not None:
            for region in reversed(regions_in(graph, chunk)):
                waiting.extend(reversed(inside[region.number]))


def regions_in(graph: Graph, chunk: Chunk) -> tuple[Region, ...]:
    """Return the bodies that lie in a chunk; those of a `repeat` and of its `else` are two chunks."""
    if chunk.block is None:
        return ()
    content = graph.steps[chunk.block].content
    if type(content) is Repeat:
        return regions_of(content)[1:] if chunk.executor == "else" else (content.body,)
    return regions_of(content)


class CompileOptions(Struct, frozen=True):
    """The options of a compilation."""

    naming: str = "step"
    """Style of keys: `step` for `step1_find_slot`, `camel` for `findSlot`, `plain` for `find_slot`; duplicates get `_2`."""
    hints: bool = True
    sentences: Sentences = EN
    """Sentences for descriptions shown to a model, such as hints on what a step reads."""
    batch: int = 1
    sketch: bool = False
    """Whether unknown instructions are treated as objects of any shape."""
    limit: int = FLAT_SCHEMAS
    """Maximum number of schemas in a composed one."""
    keywords: frozenset[str] = frozenset()
    """Additional schema keywords and formats of the project."""
    templates: bool = False
    """Whether texts of programs are templates that other code fills in."""
    change: Callable[[FlatGraph], FlatGraph] | None = None
    """Transformation of each composed graph before partitioning: a variant of the program, for an experiment."""


Emit: TypeAlias = Literal["tool", "result", "flat", "process", "call"]
NUMBER = re.compile(r"^step\d+_")
"""Prefix of a step's name in its key."""


class HintedPath(NamedTuple):
    """A path in a hint, with its description."""

    path: str
    words: str = ""
    label: str = ""
    """Suffix such as `as mine`, if the step receives it under another name."""


class Hinted(Struct, frozen=True):
    """The hints in descriptions."""

    around: tuple[str, ...]
    """Parts of the sentence around its paths; empty without hints."""
    paths: tuple[tuple[HintedPath, ...], ...]
    """Paths in each hint."""


def hint_of(around: Sequence[str], paths: Sequence[HintedPath]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text of a hint, and the place of each path in it; the paths are listed in each place of the sentence."""
    text, places = around[0], []
    for part in around[1:]:
        for number, (path, words, label) in enumerate(paths):
            text += ", " if number else ""
            places.append((len(text), len(text) + len(path)))
            text += " ".join(filter(None, (path, label, f"({words})" if words else "")))
        text += part
    return text, tuple(places)


class Artefact(Struct, frozen=True, eq=False):
    """The documents of one export; `tool` and `result` are always among them."""

    name: str
    """Stem of its file names."""
    title: str | None
    documents: dict[Emit, JsonObject]
    """Documents by kind: the model's `tool`, its `result`, and if present the `process`,
    its `flat` view, or the direct `call`."""
    plan: Plan | None = None
    """Plan of the documents, neither compared nor shown; `None` for a vibe file."""
    told: Hinted | None = None
    """Hints in the descriptions of the documents, neither compared nor shown; `None` if unknown."""
    sentences: Sentences = EN
    """Sentences for its model, neither compared nor shown."""
    words: WordsLevel | None = None
    """How much of the schema its messages contain, if `instrc tune` set it; neither compared nor shown."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Artefact):
            return NotImplemented
        return (self.name, self.title, self.documents) == (other.name, other.title, other.documents)

    __hash__ = None  # type: ignore[assignment]  # documents change

    def __repr__(self) -> str:
        return f"<artefact {self.name}: {', '.join(self.documents)}>"

    def _repr_html_(self) -> str:
        """Return the picture of a process and the documents, for a notebook."""
        from instrc.process.picture import picture_of  # only used in notebooks
        from instrc.process.process import Process
        from instrc.process.svg import svg

        process = self.documents.get("process")
        drawn = [] if process is None else [svg(picture_of(Process.from_json(process), self.name))]
        documents = [folded(kind, document) for kind, document in self.documents.items()]
        return block(self.title or self.name, *drawn, *documents)

    def __instrc_tool__(self, name: str | None) -> Tool:
        """Return the tool that a model fills in, described by its goal, else by its instruction."""
        from instrc.tools.tool import Tool, checked_json  # most compilations pass no artefact to a provider

        return Tool(
            name or self.name, checked_json(self.documents["tool"]), self.purpose, hints=self.hints, sentences=self.sentences
        )

    @property
    def purpose(self) -> str | None:
        """The purpose of the tool for a model: its goal, or its description, or its title."""
        said = self.documents["tool"].get("description") if self.kind == "tool" else None
        if isinstance(said, str) and (self.plan is None or self.plan.flat.graph.goal is None):
            from instrc.tools.tool import Hint  # as above

            own = Hint.split(said, self.hints)[0]
            return own or self.title
        return self.title

    @property
    def hints(self) -> tuple[Hint, ...] | None:
        """The hints in descriptions of the documents, or `None` if they are unknown."""
        from instrc.tools.tool import Hint  # as above

        return None if self.told is None else tuple([Hint(*hint_of(self.told.around, paths)) for paths in self.told.paths])

    @property
    def step(self) -> str | None:
        """The name of the only step, where the tool is its schema, with no key around it."""
        if self.plan is None:
            return self.name if self.kind == "tool" else None  # of a vibe file
        return NUMBER.sub("", next(iter(self.plan.keys.values()))) if self.plan.bare else None

    @property
    def kind(self) -> Emit:
        """The kind of the main document: the process, the direct call, or the tool."""
        return next(kind for kind in ("process", "call", "tool") if kind in self.documents)
