"""A process as a picture: steps in lanes, chunks and blocks as boxes, and the data flow."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from instrc.problems.errors import CompileError
from instrc.problems.files import TooLarge
from instrc.process import flow
from instrc.process.chunk_json import write_chunk, write_step
from instrc.process.process import Process
from instrc.text.jsonvalue import Json, mapping, optional_text
from instrc.text.source import Span
from instrc.text.visible import columns, shortened, visible


class PictureRead(Struct, frozen=True):
    """A path that is read, as text, and the id of its source step or block."""

    text: str
    source: str | None
    """Id of the source; `None` for `prompt`, for inputs, and for an unresolved path."""
    first: str
    """First name of the path in the process."""
    inner: bool = False
    """Whether the source is a name that a block defines, such as its element, rather than the block's final value."""


class PictureStep(Struct, frozen=True):
    """A step."""

    id: str
    key: str
    lane: flow.Executor
    reads: tuple[PictureRead, ...]
    notes: tuple[str, ...]
    """Short notes: its activity, a deadline."""
    schema: Json
    source: str | None
    """Source location such as `meeting.aug:3`, with the text of the line."""
    title: str | None = None
    """Title of its schema, shown instead of the key."""
    state: str | None = None
    """State in a picture of a run: `done`, `failed`, `open`, `idle` and others."""
    fails: bool = False
    """Whether the step fails the enclosing block."""

    @property
    def label(self) -> str:
        """Its text: the title, or else the key."""
        return f"{'✗ ' if self.fails else ''}{self.title or name_of_step(self.key)}"


def name_of_step(key: str) -> str:
    """Return the display name of a step's key."""
    return re.sub(r"^step\d+_|_(?:User|Activity)$", "", key).replace("_", " ")


def schemas_of(process: Process) -> dict[str, Json]:
    """Return the schemas of steps by key."""
    return {step.key: step.schema for step in process.steps()}


def titles_of(process: Process) -> dict[str, str]:
    """Return the titles of steps by key."""
    titles = {key: optional_text(mapping(schema).get("title")) for key, schema in schemas_of(process).items()}
    return {key: title for key, title in titles.items() if title and title.strip()}


class Section(Struct, frozen=True):
    """A part of a box: all of a chunk, or one body of a block."""

    title: str | None
    reads: tuple[PictureRead, ...]
    """Values that the condition of a branch reads."""
    items: tuple[PictureStep | Box, ...]


class Box(Struct, frozen=True):
    """A chunk or a block."""

    id: str
    name: str
    """Name in the process: `llmContext1`, `eachContext2`."""
    kind: str
    """`chunk` or the kind of block: `when`, `each`, `repeat`, `else`, `try`, `do`."""
    title: str
    lane: flow.Executor | None
    """Lane of a chunk."""
    entry: bool
    """Whether it is the tool that starts the process."""
    reads: tuple[PictureRead, ...]
    sections: tuple[Section, ...]
    schema: Json
    """Schema of a chunk: its request in the process."""
    key: str | None = None
    """Key of a block whose value is used."""
    folded: bool = False
    """Whether its contents are left out: they are a picture of their own."""
    state: str | None = None
    """State of a folded block in a picture of a run."""

    @property
    def heading(self) -> str:
        """Its text: that of its first body if it has one, such as the condition of a branch."""
        return (self.sections[0].title if self.sections else None) or self.title


SIGNS: Final[dict[flow.Executor, str]] = {"model": "●", "server": "■", "user": "▲"}
"""The sign of each executor, which is read without colour."""


WORDS: Final[Mapping[str, str]] = tomllib.loads((files("instrc.process") / "picture.toml").read_text(encoding="utf-8"))
"""The texts of a picture in English, with blocks and conditions in the notation of the language."""


class Picture(Struct, frozen=True):
    """One export."""

    name: str
    title: str | None
    inputs: tuple[str, ...]
    boxes: tuple[Box, ...]
    block: str = ""
    """Id of the block whose picture it is, if not all is shown."""
    words: Mapping[str, str] = field(default_factory=lambda: WORDS)

    def all(self) -> Iterator[Box | PictureStep]:
        """Yield every box and step, each box before its contents."""
        waiting: list[Box | PictureStep] = list(reversed(self.boxes))
        while waiting:
            item = waiting.pop()
            yield item
            if isinstance(item, Box):
                waiting.extend(reversed([each for section in item.sections for each in section.items]))

    def nodes(self) -> Iterator[PictureStep]:
        """Yield every step, in order."""
        return (item for item in self.all() if isinstance(item, PictureStep))

    @property
    def size(self) -> int:
        """The number of its steps and folded blocks."""
        return sum(1 for item in self.all() if isinstance(item, PictureStep) or item.folded)

    def lanes(self) -> tuple[flow.Executor, ...]:
        """Return the non-empty lanes from left to right."""
        used = {node.lane for node in self.nodes()} | {box.lane for box in self.all() if isinstance(box, Box)}
        return tuple(lane for lane in SIGNS if lane in used) or ("model",)


PICTURED_LETTERS: Final = 60
"""Maximum characters of a line in a picture."""
PICTURED_LEVELS: Final = 100
"""Maximum nesting of blocks that is guaranteed to be drawable."""
UNFOLDED: Final = 60
"""Maximum steps and folded blocks of a picture, unless its outermost blocks have more."""


def folded_pictures(picture: Picture) -> Iterator[Picture]:
    """Yield a picture with its deepest blocks folded until few steps are left, then one of each folded block."""
    small = folded(picture)
    yield small
    for box in small.all():
        if isinstance(box, Box) and box.folded:
            yield from folded_pictures(picture_of_block(picture, box.id))


def picture_of_block(picture: Picture, id_: str) -> Picture:
    """Return the picture of one block; of all if there is no such block."""
    boxes = tuple(box for box in picture.all() if isinstance(box, Box) and box.id == id_ and box.lane is None)
    return (
        replace(picture, title=f"{picture.title or picture.name} › {boxes[0].heading}", boxes=boxes, block=id_)
        if boxes
        else picture
    )


def folded(picture: Picture) -> Picture:
    """Fold the deepest blocks until few steps are left; a single block stays open."""
    small, depth = picture, PICTURED_LEVELS
    while depth > (len(picture.boxes) == 1) and small.size > UNFOLDED:
        depth -= 1
        small = replace(picture, boxes=tuple(_folded(box, depth, picture.words) for box in picture.boxes))
    return small


def _folded(box: Box, depth: int, words: Mapping[str, str]) -> Box:
    """Fold the blocks at a depth."""
    if box.lane:
        return box
    if depth:
        sections = tuple(
            replace(part, items=tuple(_folded(item, depth - 1, words) if isinstance(item, Box) else item for item in part.items))
            for part in box.sections
        )
        return replace(box, sections=sections)
    inside = list(Picture(box.name, None, (), (box,)).nodes())
    states = {node.state for node in inside}
    state = next((state for state in ("failed", "open", "rejected", "done", "idle") if state in states), None)
    count = words["step" if len(inside) == 1 else "steps"].format(count=len(inside))
    return replace(box, title=f"{box.heading} · {count}", sections=(), folded=True, state=state)


_AROUND = 80
"""Characters of a long line shown before a step; half as many are shown after it."""


def picture_of(
    process: Process, name: str, places: Mapping[str, Span] | None = None, words: Mapping[str, str] = WORDS
) -> Picture:
    """Return the picture; `places` are the definitions of the steps in the program, by key."""
    try:
        return _Painter(places or {}, words, titles_of(process)).picture(process, name)
    except RecursionError:
        raise CompileError([TooLarge(what="the picture", limit=PICTURED_LEVELS, unit="levels")]) from None


class _Painter(Struct):
    """Walks through a process once, in execution order."""

    places: Mapping[str, Span]
    words: Mapping[str, str]
    named_steps: Mapping[str, str]
    """Titles of steps by key."""
    labels: dict[str, str] = field(default_factory=dict)
    """Display names of steps and blocks by key; processes written by hand may put the name of the chunk before it."""
    outputs: set[str] = field(default_factory=set)
    """Steps whose value is the member `output` of the recorded one."""
    known: dict[str, str] = field(default_factory=dict)
    """Ids by the keys that are visible at this point."""
    names: dict[str, str] = field(default_factory=dict)
    """Block ids by the names that enclosing blocks define."""
    count: int = 0

    def picture(self, process: Process, name: str) -> Picture:
        inputs = tuple(process.inputs) if process.inputs else ("prompt",)
        for context in process.contexts():
            if isinstance(context, flow.Chunk):
                labels = {step.key: self.named_steps.get(step.key) or name_of_step(step.key) for step in context.steps}
                self.labels |= labels | {f"{context.name}.{key}": label for key, label in labels.items()}
                self.outputs |= {step.key for step in context.steps if step.output}
            elif not isinstance(context, flow.Else) and context.key is not None:
                self.labels[context.key] = name_of_step(context.key)
        contexts = process.body.contexts
        boxes = [self.box(context, first=index == 0) for index, context in enumerate(contexts)]
        return Picture(name, process.title, inputs, tuple(boxes), words=self.words)

    def box(self, context: flow.Context, *, first: bool = False) -> Box:
        self.count += 1
        here = f"b{self.count}"
        match context:
            case flow.Chunk(name, executor, steps):
                nodes = tuple(self.node(step, context) for step in steps)
                entry = first and executor == "model"
                title = f"{SIGNS[executor]} {self.words[executor]}"
                return Box(here, name, "chunk", title, executor, entry, (), (Section(None, (), nodes),), write_chunk(context))
            case block:
                return self.block(here, block)

    def block(self, here: str, block: flow.Block) -> Box:
        title, said = self.titles(block)
        reads = tuple(self.lines(flow.reads_of(flow.source_of_block(block))))
        sections = []
        for text, part in zip(said, flow.parts_of(block), strict=True):
            seen = tuple(self.lines(read for read, _ in (part.condition.tests if part.condition else ())))
            sections.append(Section(text, seen, self.body(part.body, dict.fromkeys(part.names, here))))
        key, more = None, ""
        if not isinstance(block, flow.Else):
            key = block.key
            more = "".join(f" · {note}" for note in self.times(block))
        if key is not None:
            self.known[key] = here
        if sections[0].title is not None:
            sections[0] = replace(sections[0], title=sections[0].title + more)
        title += more
        kind = flow.word_of(block)
        return Box(here, block.name, kind, title, None, entry=False, reads=reads, sections=tuple(sections), schema=None, key=key)

    def body(self, body: flow.Body, names: Mapping[str, str]) -> tuple[Box, ...]:
        """Draw the contents of a body, where some additional names are visible."""
        before = dict(self.names)
        self.names |= names
        boxes = tuple(self.box(context) for context in body.contexts)
        self.names = before
        return boxes

    def node(self, step: flow.Step, chunk: flow.Chunk) -> PictureStep:
        reads = tuple(self.lines(step.references))
        self.count += 1
        made = f"s{self.count}"
        self.known[step.key] = made
        self.known[f"{chunk.name}.{step.key}"] = made  # as processes written by hand may call it
        notes = [self.words["calls"].format(name=step.engine.activity)] if step.engine.activity else []
        notes += [self.words["fails"]] if step.engine.fail else []
        notes += [*self.times(step)]
        notes += [self.words["plan"]] if step.plans else []
        at = self.places.get(step.key)
        where = None if at is None else f"{at.source.name}:{at.line}  {_line_around(at)}"
        about = (write_step(step), where, self.named_steps.get(step.key))
        return PictureStep(made, step.key, chunk.executor, reads, tuple(notes), *about, fails=step.engine.fail)

    def times(self, item: flow.Step | flow.KeyedBlock) -> Iterator[str]:
        """Yield when a step or block begins, and when it has to end."""
        if item.within:
            yield self.words["within"].format(time=item.within)
        if item.delay:
            yield self.words["after"].format(time=item.delay)
        if item.after:
            yield self.words["ended"].format(names=self.named(item.after))

    def lines(self, reads: Iterable[flow.Read]) -> Iterator[PictureRead]:
        for read in dict.fromkeys(reads):
            source = self.source(read)
            inner = None if source is not None else self.names.get(read.first)
            yield PictureRead(self.text(read), source or inner, read.first, inner is not None)

    def source(self, read: flow.Read) -> str | None:
        """Return the step or block whose key is the beginning of a path; keys may contain dots."""
        names = [segment.name for segment in read.segments]
        for size in range(min(len(names), PICTURED_LETTERS), 0, -1):
            found = self.known.get(".".join(names[:size]))
            if found is not None:
                return found
        return None

    def named(self, keys: Iterable[str]) -> str:
        return ", ".join(self.labels.get(key) or name_of_step(key) for key in keys)

    def text(self, read: flow.Read) -> str:
        """Return a path with the titles of steps instead of their keys: `The ticket › topic`."""
        names = [segment.name for segment in read.segments]
        for start in (0, 1):  # a key also follows a name of a block such as `previous`
            for end in range(min(len(names), start + PICTURED_LETTERS), start, -1):
                key = ".".join(names[start:end])
                if label := self.labels.get(key):
                    rest = names[end:]
                    rest = rest[1:] if key in self.outputs and rest[:1] == ["output"] else rest
                    return " › ".join([*names[:start], label, *rest])
        return " › ".join(names)

    def titles(self, block: flow.Block) -> tuple[str, list[str | None]]:
        """Return the title of a block, and of each of its parts."""
        match block:
            case flow.Each(item=item, source=source, most=most, until=until, selection=selection):
                title = self.rounds("each", item, source, selection, until)
                return title + ("" if most in {None, _USUAL} else self.limit("most", most)), [None]
            case flow.Repeat(item=item, source=source, until=until, most=most, keep=keep, selection=selection):
                title = self.rounds("repeat each" if item else "repeat", item, source, selection, until)
                title += self.limit("rounds", most) if most is not None else ""
                return title + (self.limit("keep", keep) if keep else ""), [None]
            case flow.Else():
                return self.words["else of repeat"], [None]
            case _:
                parts, word = flow.parts_of(block), flow.word_of(block)
                cases = any(part.condition for part in parts)
                titles = [self.title_of_part(number, part, cases=cases) for number, part in enumerate(parts)]
                return self.words[word], titles

    def rounds(
        self, word: str, item: str | None, source: flow.Value | None, chosen: flow.Selection | None, until: flow.Condition | None
    ) -> str:
        """Return the title of a block that runs several times."""
        parts = [self.words[word].format(item=item, source=self.value(source) if item else ""), *self.selection(chosen)]
        return " ".join([*parts, *([self.condition("until", until)] if until else [])])

    def limit(self, word: str, count: int | None) -> str:
        return f" · {self.words[word].format(count=f'{count:,}')}"

    def title_of_part(self, number: int, part: flow.BlockPart, *, cases: bool) -> str | None:
        if part.condition is not None:
            return self.condition("else when" if number else "when", part.condition)
        return self.words["else"] if cases else part.title and self.words[part.title]

    def selection(self, chosen: flow.Selection | None) -> list[str]:
        """Return the parts of the selection of elements that a block runs for."""
        if chosen is None:
            return []
        numbers = (("max", chosen.most), ("first", chosen.first))
        counts = [self.words[word].format(count=self.value(value)) for word, value in numbers if value is not None]
        return [*([self.condition("when", chosen.condition)] if chosen.condition else []), *counts]

    def value(self, value: flow.Value | None) -> str:
        if isinstance(value, flow.Read):
            return self.text(value)
        reads = list(flow.reads_of(value))
        return ", ".join(map(self.text, reads)) if reads else _short(str(getattr(value, "value", "…")))

    def condition(self, word: str, condition: flow.Condition) -> str:
        """Return a condition after its word, with titles."""
        return f"{self.words[word]} {condition.as_text(self.text, self.test, self.words['and'], self.words['or'])}"

    def test(self, schema: Json) -> str:
        """Return the requirement of a condition on a value, as the language writes it if it can."""
        test = schema if isinstance(schema, dict) else {}
        if test.keys() == {"const"}:
            return "" if test["const"] is True else f" {self.words['is'].format(value=_short(_json(test['const'])))}"
        if test == {"not": {"type": "null"}}:
            return f" {self.words['is not null']}"
        excluded = test.get("not") if test.keys() == {"not"} else None
        values = excluded.get("enum") if isinstance(excluded, dict) and excluded.keys() == {"enum"} else None
        if isinstance(values, list) and len(values) == 2 and values[1] is None:
            return f" {self.words['is not'].format(value=_short(_json(values[0])))}"
        signs = [word for word in test if word in _SIGNS]
        if len(signs) == 1 and test.keys() == {"type", *signs} and test["type"] == "number":
            return f" {_SIGNS[signs[0]]} {_json(test[signs[0]])}"
        return f" {self.words['@'].format(schema=_short(_notation(schema)))}"


_USUAL = 1000
"""Default limit of an `each`."""


_SIGNS: Final = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _notation(value: Json) -> str:
    """Return a value as the language writes it, with plain member names unquoted."""
    if isinstance(value, dict):
        members = (f"{name if name.isidentifier() else _json(name)}: {_notation(part)}" for name, part in value.items())
        return f"{{ {', '.join(members)} }}" if value else "{}"
    return f"[{', '.join(map(_notation, value))}]" if isinstance(value, list) else _json(value)


def _short(text: str) -> str:
    return shortened(text, PICTURED_LETTERS)


def _line_around(at: Span) -> str:
    """Return the source line of a step; of a long line, such as a one-line program, the part around the step."""
    line = at.source.line(at.line)
    begin = max(at.column - 1 - _AROUND, 0)
    end = at.column - 1 + 2 * _AROUND
    return ("…" if begin else "") + line[begin:end].strip() + ("…" if end < len(line) else "")


class ReadArrow(Struct, frozen=True):
    """An arrow from a source to its reader."""

    source: str
    """Id of a step or block, or `in0` for the first input."""
    target: str
    said: str
    """Label of the path; empty for a whole result, which its box already names, since text would overlap boxes."""
    name: str | None
    """Name defined by the block, if that is what is read."""


def arrows_of(picture: Picture) -> Iterator[ReadArrow]:
    """Yield the arrows, grouped by reader."""
    inputs = {name: f"in{index}" for index, name in enumerate(picture.inputs)}
    names = {id_: name for name, id_ in inputs.items()} | {item.id: name_of_step(item.key or "") for item in picture.all()}
    names |= {node.id: node.title for node in picture.nodes() if node.title}
    for item in picture.all():
        for line in (
            item.reads
            if isinstance(item, PictureStep)
            else [*item.reads, *(read for part in item.sections for read in part.reads)]
        ):
            source = line.source or inputs.get(line.first)
            if source is not None and source != item.id:
                yield ReadArrow(
                    source, item.id, "" if line.text == names[source] else line.text, line.first if line.inner else None
                )


def printable(text: str) -> str:
    """Return a text as one line of visible characters."""
    return visible(" ".join(text.split()))


def shorten_to_width(text: str, width: float, letter: float) -> str:
    """Return a text shortened in the middle to a width in pixels."""
    room = max(int(width / letter), 4)
    text = " ".join(text.split())
    if columns(text) <= room:
        return text
    half = (room - 1) // 2
    head, tail = text[:half], text[-half:]
    while columns(head) > half:
        head = head[:-1]
    while columns(tail) > half:
        tail = tail[1:]
    return f"{head}…{tail}"
