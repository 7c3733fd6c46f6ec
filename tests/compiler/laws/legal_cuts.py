"""Every legal cut of a small program with blocks, by the rules of the language alone: a body is cut by itself, what it holds too.

A program is a tuple of `Node`s, whose last one is its value; a block holds such tuples. `cut` tries all that is legal.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

EXECUTORS = ("LLM", "SERVER", "USER", "BLOCK")
"""In the order that decides between cuts of the same length."""
STEPS = {
    "model": 0,
    "list": 0,
    "choice": 0,
    "plan": 0,
    "asks": 0,
    "mixin": 0,
    "mixed": 0,
    "program": 0,
    "server": 1,
    "run": 1,
    "fail": 1,
    "user": 2,
    "lister": 2,
    "chooser": 2,
}
"""What carries out the steps of each kind; `asks` has an `output`, so the server answers it; `run` carries out a plan.

`mixin` is a mixin around one step and `mixed` around two; `program` calls one that asks the server first;
`lister` and `chooser` are of a person.
"""
CHOICES = ("choice", "chooser")
"""Steps whose braces have a list that must be given in another chunk."""
BLOCK = 3


@dataclass(frozen=True)
class Node:
    """A step or a block of a program."""

    name: str
    kind: str
    """One of `STEPS`, or the word of a block."""
    reads: tuple[str, ...] = ()
    """Names and paths, left to right; those of a block stand in its opening."""
    braces: str = ""
    """What it reads in its braces: the list of a choice, or what the program gives to a tool of a plan."""
    bodies: tuple[Body, ...] = ()
    program: int = 0
    """Which program it calls: no two call the same."""

    @property
    def executor(self) -> int:
        return STEPS.get(self.kind, BLOCK)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What its call is given, or its opening: the request where it reads nothing."""
        return self.reads or ("prompt",)

    @property
    def shown(self) -> tuple[str, ...]:
        """What its model is shown: the list of a choice as well; what the program gives to a tool is kept back."""
        if self.kind == "program":
            return (*self.arguments, f"called{self.program}")
        return (*self.arguments, self.braces) if self.kind in CHOICES else self.arguments

    @property
    def heads(self) -> list[str]:
        """The names that it reads itself, in order of evaluation."""
        return [path.partition(".")[0] for path in (*self.reads, self.braces) if path]


Body: TypeAlias = tuple[Node, ...]


@dataclass(frozen=True)
class Context:
    """A chunk as it should be: what it is called, what lies in it, and the contexts of each body if it is a block."""

    word: str
    names: tuple[str, ...]
    """Those of its steps, in order; a block's own. The answer of the server to `n1` is `n1.output`."""
    bodies: tuple[tuple[Context, ...], ...] = ()


def source(body: Body, *, top: bool = True) -> str:
    """Write a program; what is read has a name."""
    read = _read(body)
    lines = [f"const {each.name} = {_written(each)};" if each.name in read else f"{_written(each)};" for each in body[:-1]]
    text = " ".join([*lines, _written(body[-1])])
    return text if top else f"{{ {text} }}"


def _written(node: Node) -> str:
    """Write an expression; its name is its description, so that no two are equal."""
    given, over = ", ".join(node.arguments), node.arguments[0]
    inside = [source(body, top=False) for body in node.bodies]
    if node.kind == "fail":
        return f"Fail({node.name}: {over})"
    if node.kind == "mixin":
        return f'Introspect_Mixin(Ma({given}) @ {{ description: "{node.name}" }})'
    if node.kind == "mixed":
        first = f'Ma({given}) @ {{ description: "{node.name}.first" }}'
        return f'Introspect_Mixin(Mc({first}, {given}) @ {{ description: "{node.name}" }})'
    text = {
        "model": f"Ma({given})",
        "list": f"Ml({given})",
        "choice": f"Choose({given}, {{ id: OneOf({node.braces}) }})",
        "plan": f"Act({given}, {{ plan: Plan(Log_Activity, Use_Activity(given: {node.braces or 'prompt'})) }})",
        "run": f"RunPlan_Activity({over})",
        "lister": f"Names_User({given})",
        "chooser": f"Pick_User({given}, {{ id: OneOf({node.braces}) }})",
        "program": f"Called{node.program}({over})",
        "asks": f"FindUser({given})",
        "server": f"Log_Activity({given})",
        "user": f"Confirm_User({given})",
        "when": f'(when {over} is "a" {" else ".join(inside)})',
        "each": f"(each {node.name}e in {over} {''.join(inside)})",
        "repeat": f"(repeat {' until round is 2 max 1 else '.join(inside)}{' until round is 2' * (len(inside) == 1)})",
        "try": f"(try {' else '.join(inside)})",
        "race": f"(race {' or '.join(inside)})",
        "do": f"(do {''.join(inside)})",
    }[node.kind]
    return f'{text} @ {{ description: "{node.name}" }}'


def walk(body: Body) -> Iterator[Node]:
    """Yield the nodes of a body and of the blocks in it."""
    for node in body:
        yield node
        for inner in node.bodies:
            yield from walk(inner)


def _read(body: Body) -> set[str]:
    """Return the names that are read in a body, blocks included."""
    return {name for node in walk(body) for name in node.heads}


def settled(body: Body) -> Body:
    """Return a program whose names are all read: what nothing reads at the top is another export."""
    while True:
        read = _read(body)
        less = tuple(node for node in body if node.name in read or node is body[-1])
        if less == body:
            return body
        body = less


@dataclass
class _Evaluation:
    """The nodes of a body as they are evaluated, what each of them reads of it, and what the whole reads from outside."""

    order: list[Node] = field(default_factory=list)
    needs: dict[str, set[str]] = field(default_factory=dict)
    outer: list[str] = field(default_factory=list)


def evaluated(body: Body) -> _Evaluation:
    """Evaluate: unread statements as they are written, then the value; each brings before it what it reads."""
    own = {node.name: node for node in body}
    read = _read(body)
    found = _Evaluation()

    def bring(node: Node) -> None:
        if node.name in found.needs:
            return
        found.needs[node.name] = set()
        heads = node.heads
        for inner in node.bodies:
            heads += [name for name in evaluated(inner).outer if name != f"{node.name}e"]
        for name in heads:
            if name in own:
                bring(own[name])
                found.needs[node.name].add(name)
            else:
                found.outer.append(name)
        found.order.append(node)

    for node in [each for each in body if each.name not in read and each is not body[-1]]:
        bring(node)
    bring(body[-1])
    fails = [node for node in found.order if node.kind == "fail"]
    for node in fails:  # after every other statement
        found.needs[node.name] = {each.name for each in found.order if each.kind != "fail"}
    found.order.sort(key=lambda node: node.kind == "fail")
    return found


@dataclass(frozen=True)
class _Piece:
    """What is put into one chunk: a node, or the answer of the server to one."""

    name: str
    executor: int
    reads: frozenset[int]
    apart: frozenset[int] = frozenset()
    """What it reads of a chunk that must be another one: the list of a choice."""
    together: bool = False
    """Whether it lies in the chunk of the piece before it: a mixin holds both."""


def cut(body: Body) -> tuple[Context, ...]:
    """Return the best legal cut of a body, and those of the bodies in it."""
    evaluation = evaluated(body)
    pieces = _in_line(_pieces(evaluation), body, evaluation)
    nodes = {node.name: node for node in body}
    sequence, places = _best(pieces)
    made = []
    for place, executor in enumerate(sequence):
        names = tuple(piece.name for piece, each in zip(pieces, places, strict=True) if each == place)
        if executor != BLOCK:
            made.append(Context(EXECUTORS[executor], names))
            continue
        block = nodes[names[0]]
        inside = tuple(cut(each) for each in block.bodies)
        if block.kind == "repeat" and len(inside) == 2:
            made += [Context("REPEAT", names, inside[:1]), Context("ELSE", (), inside[1:])]
        else:
            made.append(Context(block.kind.upper(), names, inside))
    return tuple(made)


def _pieces(evaluation: _Evaluation) -> list[_Piece]:
    """Return what is to be cut, in order of evaluation."""
    where: dict[str, int] = {}
    pieces: list[_Piece] = []
    for node in evaluation.order:
        reads = frozenset(where[name] for name in evaluation.needs[node.name])
        head = node.braces.partition(".")[0] if node.kind in CHOICES else ""
        apart = frozenset([where[head]]) if head in where else frozenset[int]()
        before = {"mixed": (f"{node.name}.first", 0), "program": (f"called{node.program}", 1)}.get(node.kind)
        if before is not None:
            pieces.append(_Piece(*before, reads))
            reads |= {len(pieces) - 1}
        pieces.append(_Piece(node.name, node.executor, reads, apart, together=node.kind == "mixed"))
        if node.kind == "asks":
            pieces.append(_Piece(f"{node.name}.output", 1, frozenset([len(pieces) - 1])))
        where[node.name] = len(pieces) - 1
    return pieces


def _in_line(pieces: list[_Piece], body: Body, evaluation: _Evaluation) -> list[_Piece]:
    """Return the pieces, each effect after those of earlier lines: a line has what it is the first to need."""
    line: dict[str, int] = {}
    fails = {node.name for node in body if node.kind == "fail"}
    for number, node in enumerate(body):
        waiting = [node.name]
        while waiting:
            if (name := waiting.pop()) not in line:
                line[name] = number
                waiting += evaluation.needs[name] if name not in fails else ()
    of = {f"called{node.program}": node.name for node in body if node.kind == "program"}
    blocks = {node.name for node in body if any(_is_effect(each) for inner in node.bodies for each in walk(inner))}
    at = [line[of.get(piece.name, piece.name.partition(".")[0])] for piece in pieces]
    effect = [(piece.executor in {1, 2} and piece.name not in fails) or piece.name in blocks for piece in pieces]
    return [
        replace(piece, reads=piece.reads | {other for other in range(len(pieces)) if effect[other] and at[other] < at[index]})
        if effect[index]
        else piece
        for index, piece in enumerate(pieces)
    ]


def _is_effect(node: Node) -> bool:
    return node.executor in {1, 2} or node.kind in {"asks", "program"}


def _best(pieces: list[_Piece]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sequence of executors and the place of each piece: fewest chunks, first executors, and as late as may be."""
    for length in itertools.count(1):
        for sequence in itertools.product(range(len(EXECUTORS)), repeat=length):
            if found := list(_placements(pieces, sequence)):
                return sequence, _latest(pieces, found)
    raise AssertionError


def _placements(pieces: list[_Piece], sequence: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every legal way to put pieces into the chunks of a sequence."""
    choices = [[place for place, each in enumerate(sequence) if each == piece.executor] for piece in pieces]
    for places in itertools.product(*choices):
        if set(places) == set(range(len(sequence))) and _legal(pieces, places):
            yield places


def _legal(pieces: list[_Piece], places: tuple[int, ...]) -> bool:
    """Tell whether each piece comes after what it reads; a block is alone, and the list of a choice lies in another chunk."""
    if any(piece.together and places[index] != places[index - 1] for index, piece in enumerate(pieces)):
        return False
    blocks = [place for piece, place in zip(pieces, places, strict=True) if piece.executor == BLOCK]
    if len(set(blocks)) < len(blocks):
        return False
    return all(
        places[read] < place or (places[read] == place and read not in piece.apart)
        for piece, place in zip(pieces, places, strict=True)
        for read in piece.reads
    )


def _latest(pieces: list[_Piece], found: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the placement in which blocks stand as they are written, where they may change places, and steps stand latest."""
    blocks = [index for index, piece in enumerate(pieces) if piece.executor == BLOCK]
    first = min(sorted(blocks, key=lambda index, places=places: places[index]) for places in found)
    found = [places for places in found if sorted(blocks, key=lambda index, places=places: places[index]) == first]
    latest = tuple(max(places[index] for places in found) for index in range(len(pieces)))
    assert latest in found, "each step can stand as late as its readers allow, and all at once"
    return latest
