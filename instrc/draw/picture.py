"""Find out what there is to see in a process: boxes, steps and who reads whom."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from instrc.ir.chunk_json import write_chunk, write_step
from instrc.ir.flow import Body, Condition, Context, Do, Each, Else, Repeat, Try, When
from instrc.ir.picture import Box, Picture, PictureRead, PictureStep, Section
from instrc.ir.process import Process
from instrc.ir.reads import Read, Value, reads_of
from instrc.ir.steps import Chunk, Step
from instrc.jsonvalue import Json
from instrc.limits.programs import PICTURED_LETTERS, PICTURED_LEVELS
from instrc.problems.files import TooLarge
from instrc.problems.problem import CompileError
from instrc.source import Span

_AROUND = 80
"""Letters of a long line that are shown before a step, and half of those after it."""


def picture_of(process: Process, name: str, places: Mapping[str, Span] | None = None) -> Picture:
    """Return what there is to see; `places` says where the program defines the step of a key."""
    try:
        return _Painter(places or {}).picture(process, name)
    except RecursionError:
        raise CompileError([TooLarge(what="the picture", limit=PICTURED_LEVELS, unit="levels")]) from None


@dataclass(slots=True)
class _Painter:
    """One walk through a process, in the order in which it runs."""

    places: Mapping[str, Span]
    known: dict[str, str] = field(default_factory=dict)
    """Keys that can be read here, with the ids of what they stand for."""
    names: dict[str, str] = field(default_factory=dict)
    """Names that the blocks around give to what is in them, with the ids of these blocks."""
    count: int = 0

    def picture(self, process: Process, name: str) -> Picture:
        inputs = tuple(process.inputs) if process.inputs else ("prompt",)
        contexts = process.body.contexts
        boxes = [self.box(context, first=index == 0) for index, context in enumerate(contexts)]
        return Picture(name, process.title, inputs, tuple(boxes))

    def box(self, context: Context, *, first: bool = False) -> Box:
        self.count += 1
        here = f"b{self.count}"
        match context:
            case Chunk(name, executor, steps):
                nodes = tuple(self.node(step, context) for step in steps)
                entry = first and executor == "model"
                return Box(here, name, "chunk", name, executor, entry, (), (Section(None, (), nodes),), write_chunk(context))
            case When(name, branches, key):
                sections = []
                for index, branch in enumerate(branches):
                    said = (
                        "otherwise"
                        if branch.condition is None
                        else ("if " if not index else "else if ") + _condition_as_text(branch.condition)
                    )
                    reads = tuple(self.lines(_reads_of_condition(branch.condition)))
                    sections.append(Section(said, reads, self.body(branch.body, {})))
                return self.block(here, name, "when", "when", (), sections, key, context)
            case Each(name, item, source, body, most, key):
                title = f"each {item} in {_text(source)}" + ("" if most is None or most == _USUAL else f" · at most {most:,}")
                reads = tuple(self.lines(reads_of(source)))
                return self.block(here, name, "each", title, reads, [self.section(None, body, here, (item,))], key, context)
            case Repeat(name, body, until, item, source, most, keep, _hands, _otherwise, key):
                title = "repeat" + (f" {item} in {_text(source)}" if item else "")
                title += f" until {_condition_as_text(until)}" if until else ""
                title += f" · at most {most:,} rounds" if most is not None else ""
                title += f" · keep {keep}" if keep else ""
                reads = tuple(self.lines(reads_of(source)))
                names = ("round", "rounds", "previous", *([item] if item else []))
                return self.block(here, name, "repeat", title, reads, [self.section(None, body, here, names)], key, context)
            case Else(name, of, body):
                return self.block(
                    here, name, "else", f"else of {of}", (), [self.section(None, body, here, ("rounds",))], None, context
                )
            case Try(name, body, otherwise, key):
                sections = [self.section("try", body, here, ()), self.section("if it fails", otherwise, here, ("error",))]
                return self.block(here, name, "try", "try", (), sections, key, context)
            case Do(name, body, key):
                return self.block(here, name, "do", "do", (), [self.section(None, body, here, ())], key, context)
            case _:
                assert_never(context)

    def block(
        self,
        here: str,
        name: str,
        kind: str,
        title: str,
        reads: tuple[PictureRead, ...],
        sections: list[Section],
        key: str | None,
        context: When | Each | Repeat | Else | Try | Do,
    ) -> Box:
        within = getattr(context, "within", None)
        delay = getattr(context, "delay", None)
        title += (f" · within {within}" if within else "") + (f" · after {delay}" if delay else "")
        if key is not None:
            self.known[key] = here
            title += f"  →  {key}"
        return Box(here, name, kind, title, None, entry=False, reads=reads, sections=tuple(sections), schema=None, key=key)

    def section(self, title: str | None, body: Body, here: str, names: Iterable[str]) -> Section:
        return Section(title, (), self.body(body, dict.fromkeys(names, here)))

    def body(self, body: Body, names: Mapping[str, str]) -> tuple[Box, ...]:
        """Paint what is in a body, where some further names can be read."""
        before = dict(self.names)
        self.names |= names
        boxes = tuple(self.box(context) for context in body.contexts)
        self.names = before
        return boxes

    def node(self, step: Step, chunk: Chunk) -> PictureStep:
        reads = tuple(self.lines(step.references))
        self.count += 1
        made = f"s{self.count}"
        self.known[step.key] = made
        self.known[f"{chunk.name}.{step.key}"] = made  # as processes written by hand may call it
        notes = [f"calls {step.activity}"] if step.activity else []
        notes += ["fails the block"] if step.fail else []
        notes += [f"within {step.within}"] if step.within else []
        notes += [f"after {step.delay}"] if step.delay else []
        notes += ["a plan"] if step.plans else []
        at = self.places.get(step.key)
        where = None if at is None else f"{at.source.name}:{at.line}  {_line_around(at)}"
        return PictureStep(made, step.key, chunk.executor, reads, tuple(notes), write_step(step), where)

    def lines(self, reads: Iterable[Read]) -> Iterator[PictureRead]:
        for read in dict.fromkeys(reads):
            source = self.source(read)
            inner = None if source is not None else self.names.get(read.first)
            yield PictureRead(read.text, source or inner, inner is not None)

    def source(self, read: Read) -> str | None:
        """Return the step or block whose key a path begins with; a key may have dots in it."""
        names = [segment.name for segment in read.segments]
        for size in range(min(len(names), PICTURED_LETTERS), 0, -1):
            found = self.known.get(".".join(names[:size]))
            if found is not None:
                return found
        return None


_USUAL = 1000
"""The limit of an `each` where none is written."""


def _reads_of_condition(condition: Condition | None) -> list[Read]:
    return [] if condition is None else [read for read, _ in condition.tests]


def _condition_as_text(condition: Condition) -> str:
    """Say a condition as the language writes it."""
    return " or ".join(f"{read.text}{_test(schema)}" for read, schema in condition.tests)


def _test(schema: Json) -> str:
    if isinstance(schema, dict) and schema.keys() == {"const"}:
        return "" if schema["const"] is True else f" is {_short(_json(schema['const']))}"
    return f" @ {_short(_json(schema))}"


def _text(value: Value | None) -> str:
    reads = list(reads_of(value))
    if isinstance(value, Read):
        return value.text
    return ", ".join(read.text for read in reads) if reads else _short(str(getattr(value, "value", "…")))


def _line_around(at: Span) -> str:
    """Return the line of a step; of a long line, such as a program in one line, the part around the step."""
    line = at.source.line(at.line)
    begin = max(at.column - 1 - _AROUND, 0)
    end = at.column - 1 + 2 * _AROUND
    return ("…" if begin else "") + line[begin:end].strip() + ("…" if end < len(line) else "")


def _short(text: str) -> str:
    return text if len(text) <= PICTURED_LETTERS else text[: PICTURED_LETTERS - 1] + "…"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
