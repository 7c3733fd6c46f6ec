"""Effects keep the order of lines: an oracle that knows only that rule agrees with the run of any program about every order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from hunting import examples
from hypothesis import assume, given
from hypothesis import event as count
from hypothesis import strategies as st
from test_runs_of_programs import filled

from instrc.compiler.driver import compile_source  # one program with its own registry
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.problems.report import Report
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.text.jsontext import dumps
from instrc.text.source import Source
from instrc.vibes.registry import Registry

OUTPUT = {"type": "object", "properties": {"output": {"type": "string"}}, "required": ["output"]}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
VIBES = {
    "look_Activity": {"x-reads-only": True, **OUTPUT},
    "send_Activity": OUTPUT,
    "ask_User": TEXT,
    "approve_User": {"type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}, "required": ["decision"]},
    "find": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "output": {"type": "string"}},
        "required": ["n", "output"],
    },
    "draft": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
"""`find` is a step whose number the model fills in before the server answers."""
SERVERS = ("look_Activity", "send_Activity")
PEOPLE = {"ask_User", "approve_User"}


@dataclass(eq=False)
class Effect:
    """A call; each has a number of its own, so that no two are equal."""

    callee: str
    number: int
    reads: list[str]


@dataclass(eq=False)
class Block:
    """Bodies, and how they are written around."""

    word: str
    bodies: list[Body]


@dataclass(eq=False)
class Called:
    """A program that is called once; it has a file of its own."""

    body: Body


Item: TypeAlias = Effect | Block | Called


@dataclass(eq=False)
class Line:
    """What stands in one line side by side; under a name, or as it is."""

    items: list[Item]
    name: str | None


@dataclass(eq=False)
class Body:
    lines: list[Line]
    depth: int = 0
    """How many parts the name of its scope has."""
    needed: list[list[str]] = field(default_factory=list)
    """The names that each line reads."""


class Writer:
    """Draws a program and writes it down."""

    def __init__(self, random: Random, callees: tuple[str, ...], words: tuple[str, ...]) -> None:
        self.random = random
        self.callees = callees
        self.words = words
        self.count = 0
        self.files: dict[str, str] = {}
        self.bodies: list[Body] = []

    def number(self) -> int:
        self.count += 1
        return self.count

    def one(self, *values: Any) -> Any:
        return self.random.choice(values)

    def body(self, depth: int, visible: list[str], level: int = 0) -> Body:
        """Draw a body; `visible` are names of effects that it may read, of its own too, wherever they are defined."""
        size = self.one(1, 2, 2, 3, 3)
        names = [f"n{self.number()}" if self.one(0, 0, 1) else None for _ in range(size - 1)]
        body = Body([], depth)
        self.bodies.append(body)
        known = list(visible)
        for name in [*names, None]:  # a name is read by later names only, so that none is a circle
            own = [self.effect(known)] if name else [self.item(depth, known, level) for _ in range(self.one(1, 1, 2))]
            body.lines.append(Line(own, name))
            known += [name] if name else []
        order = list(range(size - 1))
        body.lines = [body.lines[place] for place in self.random.sample(order, len(order))] + body.lines[
            -1:
        ]  # use before definition
        return body

    def process(self) -> tuple[Body, str]:
        """Draw a process that is divided by hand, in which each context is a line; later contexts read keys of earlier ones."""
        body, contexts, known = Body([]), [], list[str]()
        self.bodies.append(body)
        for _ in range(self.one(2, 3, 4)):
            word = self.one("LLM", "Server", "Server", "User", "block")
            if word == "block":
                items: list[Item] = [self.item(0, known, 1)]
                if not isinstance(items[0], Block):
                    continue
                contexts.append(self.text(items[0]))
            else:
                callees = {"LLM": ("draft",), "Server": SERVERS, "User": ("ask_User", "approve_User")}[word]
                steps = [self.effect(known, callees) for _ in range(self.one(1, 2))]
                keys = [f"k{self.number()}" for _ in steps]
                fields = ", ".join(f"{key}: {self.text(step)}" for key, step in zip(keys, steps, strict=True))
                contexts.append(f"{word}_Context({{ {fields} }})")
                items = [*steps]
                known += keys
            body.lines.append(Line(items, None))
        return body, f"Process({', '.join(contexts)})"

    def effect(self, known: list[str], callees: tuple[str, ...] = ()) -> Effect:
        reads = [name for name in known if self.one(0, 0, 1)][:2]
        return Effect(self.one(*(callees or self.callees)), self.number(), reads)

    def item(self, depth: int, known: list[str], level: int) -> Item:
        if level == 2 or not self.words or self.one(0, 0, 1):
            return self.effect(known)
        word = self.one(*self.words)
        if word == "call":
            return Called(self.body(depth + 1, [], level + 1))
        count = 2 if word in {"try", "race", "when", "until"} else 1
        return Block(word, [self.body(depth + 1 + (word == "try" and part), known, level + 1) for part in range(count)])

    def text_of_body(self, body: Body, *, top: bool = False) -> str:
        lines = [self.text_of_line(line) for line in body.lines]
        return ";\n".join(lines) if top else "{ " + "; ".join(lines) + " }"

    def text_of_line(self, line: Line) -> str:
        texts = [self.text(item) for item in line.items]
        value = texts[0] if len(texts) == 1 else "{ " + ", ".join(f"k{self.number()}: {text}" for text in texts) + " }"
        return value if line.name is None else f"const {line.name} = {value}"

    def text(self, item: Item) -> str:
        match item:
            case Effect(callee, number, reads):
                return f"{_pascal(callee)}(n: {number}{''.join(f', {name}: {name}' for name in reads)})"
            case Called(body):
                name = f"program{self.number()}"
                self.files[name] = f"do {self.text_of_body(body)}"
                return f"{name.capitalize()}(prompt)"
            case Block("each", [body]):
                return f"each e{self.number()} in 2 {self.text_of_body(body)}"
            case Block("repeat", [body]):
                return f"repeat e{self.number()} in 2 {self.text_of_body(body)}"
            case Block("until", [body, otherwise]):
                return (
                    f"repeat {self.text_of_body(body)} until round >= {self.one(1, 2)} max 1 else {self.text_of_body(otherwise)}"
                )
            case Block("do", [body]):
                return f"do {self.text_of_body(body)}"
            case Block(word, [first, second]):
                head = 'when prompt is "a"' if word == "when" else word
                return f"{head} {self.text_of_body(first)} {'or' if word == 'race' else 'else'} {self.text_of_body(second)}"
        raise AssertionError(item)


def _pascal(name: str) -> str:
    return name[:1].upper() + name[1:]


# The oracle: it reads the tree, and knows the wording of the rule.


def effects_in(item: Item | Body, inside: tuple[str, ...] = ()) -> Iterator[tuple[Effect, tuple[str, ...]]]:
    """Yield the effects that are written in something, with what takes in a failure of each."""
    match item:
        case Effect():
            yield item, inside
        case Called(body):
            yield from effects_in(body, inside)
        case Block(word, bodies):
            for part, body in enumerate(bodies):
                yield from effects_in(body, (*inside, word) if word == "race" or (word == "try" and not part) else inside)
        case Body(lines):
            for line in lines:
                for each in line.items:
                    yield from effects_in(each, inside)


def lines_of(body: Body) -> list[list[Item]]:
    """Return what belongs to each line: what it is the first to write, or to need through names."""
    named = {line.name: line.items for line in body.lines if line.name}
    taken: set[int] = set()
    found: list[list[Item]] = []
    for line in body.lines:
        own: list[Item] = []
        waiting = list(line.items)
        while waiting:
            item = waiting.pop()
            if id(item) in taken:
                continue
            taken.add(id(item))
            own.append(item)
            for effect, _ in effects_in(item):
                waiting += [each for name in effect.reads for each in named.get(name, ())]
        found.append(own)
    return found


Ordered: TypeAlias = tuple[Effect, Effect, int, bool]
"""An effect, one of a later line, the depth of their body, and whether a failure of the first is taken in above it."""


def orders(bodies: list[Body]) -> Iterator[Ordered]:
    for body in bodies:
        for earlier, later in combinations(lines_of(body), 2):
            for first in earlier:
                for second in later:
                    if not (_only_looks(first) and _only_looks(second)):
                        for one, inside in effects_in(first):
                            for other, _ in effects_in(second):
                                if one.callee != "draft" != other.callee:
                                    yield one, other, body.depth, bool(inside)


def _only_looks(item: Item) -> bool:
    return all(effect.callee in {"look_Activity", "draft"} for effect, _ in effects_in(item))


@dataclass
class Event:
    effect: int
    scope: str
    begun: int
    ended: int | None = None
    failed: bool = False
    refused: bool = False
    """Whether a person has refused, which nothing reads, so that the run ends."""


def run(document: Any, choose: Any, effects: dict[int, Effect]) -> list[Event]:
    """Carry a process out, some effects failing, and return when each effect began and ended."""
    plan = plan_of(document)
    state = versions.begin(plan, {"prompt": "a" if choose(2) else "b"})
    waiting: list[Any] = []
    open_: dict[str, list[Event]] = {}
    events: list[Event] = []
    time = 0
    while True:
        issued = versions.issue(plan, state)
        for each in state.pop("withdrawn", ()):  # before another command begins, as an engine cancels them without a pause
            for event in open_[each]:
                event.ended = time
            waiting = [command for command in waiting if command["id"] != each]
        for command in issued:
            waiting.append(command)
            time += 1
            open_[command["id"]] = [
                Event(number, command["id"].rsplit(".", 2 if command["kind"] == "activity" else 1)[0], time)
                for number in _numbers(command)
                if command["kind"] != "model" and number in effects
            ]
            events += open_[command["id"]]
        if versions.outcome(plan, state) is not None:
            return events
        assert waiting, "nothing is open, and the run has not ended"
        command = waiting.pop(choose(len(waiting)))
        failed = command["kind"] == "activity" and not choose(4)
        answer = {"error": {"message": "broken"}} if failed else {"ok": filled(command.get("schema") or {}, choose)}
        time += 1
        for event in open_[command["id"]]:
            event.ended, event.failed = time, failed
            event.refused = command["kind"] == "user" and "Reject" in dumps(answer)
        gone = set(versions.apply(plan, state, command["id"], answer))
        waiting = [each for each in waiting if each["id"] not in gone]
        for each in gone:
            for event in open_[each]:
                event.ended = time


def _numbers(command: Any) -> Iterator[int]:
    """Yield the numbers of the effects that a command is for: of a form all of its questions."""
    waiting = [command.get("input", command.get("show"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("n"), int):
                yield node["n"]
            else:
                waiting.extend(node.values())


def check(events: list[Event], ordered: list[Ordered]) -> None:
    by_effect: dict[int, list[Event]] = {}
    for event in events:
        by_effect.setdefault(event.effect, []).append(event)
    for one, other, depth, taken_in in ordered:
        for first in by_effect.get(one.number, ()):
            for second in by_effect.get(other.number, ()):
                if _parts(first.scope)[:depth] != _parts(second.scope)[:depth]:
                    continue
                form = first.begun == second.begun and {one.callee, other.callee} <= PEOPLE
                assert form or (first.ended is not None and first.ended < second.begun), (one, other)
                assert not first.failed or taken_in, (one, other)
                assert form or not first.refused, (one, other)


def _parts(scope: str) -> list[str]:
    return scope.split(".") if scope else []


WORDS = ("each", "repeat", "until", "do", "when", "try", "race", "call")


def compiled(text: str, files: dict[str, str], folder: Path) -> Any:
    for path in folder.glob("program*.aug"):
        path.unlink()
    for name, program in files.items():
        (folder / f"{name}.aug").write_text(program, encoding="utf-8")
    made = compile_source(Source("p.aug", text), Registry([folder]), CompileOptions(), Report(), stem="p")
    return made[-1].documents.get("process")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ordered")
    for name, schema in VIBES.items():
        (made / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    return Path(made)


def checked(seed: int, folder: Path, *, by_hand: bool) -> int:
    """Draw a program, check three runs of it, and return how many orders it has; -1 if it is no process."""
    random = Random(seed)  # noqa: S311  -- programs are drawn from it
    writer = Writer(random, tuple(VIBES), WORDS)
    if by_hand:
        body, text = writer.process()
    else:
        body = writer.body(1, [])
        text = f"do {writer.text_of_body(body)}"
    document = compiled(text, writer.files, folder) if body.lines else None
    if document is None:
        return -1
    effects = {effect.number: effect for effect, _ in effects_in(body)}
    ordered = list(orders(writer.bodies))
    for _ in range(3):
        check(run(document, random.randrange, effects), ordered)
    return len(ordered)


@examples(500)
@given(seed=st.integers(0, 2**32), by_hand=st.sampled_from([False, False, True]))
def test_effects_of_later_lines_begin_when_those_of_earlier_lines_have_ended(seed: int, by_hand: bool, folder: Path) -> None:  # noqa: FBT001
    found = checked(seed, folder, by_hand=by_hand)
    assume(found >= 0)
    count(f"{min(found, 20)} orders")
