"""Programs that mean something, over one vocabulary, written in any notation.

A program is a tree: `Given()` is the request, `Step` a call with what it is given, `Around` a mixin, `Chain` a pipe.
`write` turns a tree into source; chosen subtrees become local names, under chosen names, in a chosen order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from hypothesis import strategies as st

from instrc import Artefact, CompileError, Report, Source
from instrc.compiler.driver import compile_source  # one program with its own registry and options
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.vibes.registry import Registry


def _object(*names: str, **more: Json) -> Json:
    return {"type": "object", "properties": {**{name: {"type": "string"} for name in names}, **more}, "required": [*names, *more]}


VIBES: dict[str, Json] = {
    "ma": _object("a"),
    "mb": {"title": "B", "description": "Do b.", **_object("b")},
    "mc": {**_object("c"), "additionalProperties": False},
    "md": {"type": "object", "properties": {"_why": {"type": "string"}, "d": {"type": "integer"}}, "required": ["d"]},
    "fetch": _object("who"),
    "fetch_Activity": _object("slots"),
    "log_Activity": _object("id"),
    "get_Activity": _object("key", output={"type": "object", "properties": {"$cost": {"type": "number"}}}),
    "find_user": _object("query", output={"type": "string"}),
    "confirm_User": _object("decision"),
    "act": _object("answer", plan={}),
    "use": _object("more", given={}),
    "use_Activity": _object("done"),
    "list_Activity": _object("about", output=_object(names={"type": "array", "items": {"type": "string"}})),
    "ml": _object(names={"type": "array", "items": {"type": "string"}}),
    "choose": _object("id"),
    "names_User": _object(names={"type": "array", "items": {"type": "string"}}),
    "pick_User": _object("id"),
}
CALLED = {
    "inner": "input who; const d = Ma(prompt, who); try { Log_Activity(d.a) } else { Mc(d, who) }",
    "outer": "input who; const i = Inner(who, who: prompt); "
    'each x in 2 { when prompt is "a" { Mb(x, i) } else { do { Confirm_User(x) } } }',
}
"""Programs that are called, with an input `who` beside the request."""
CUT = {
    f"called{number}": f'const seen = Log_Activity(prompt) @ {{ description: "called{number}" }}; Mc(prompt, seen)'
    for number in range(4)
}
"""Programs whose steps lie in the caller's chunks; the first step of each has a description of its own."""
MODELS = ("Ma", "Mb", "Mc", "Md", "Fetch")
OTHERS = ("Fetch_Activity", "Log_Activity", "Get_Activity", "FindUser", "Confirm_User")
MIXINS = ("Introspect_Mixin", "SelfEvaluate_Mixin", "Loop_Mixin")


@dataclass(frozen=True)
class Given:
    """The request."""


@dataclass(frozen=True)
class Step:
    """A call; labels are empty for plain arguments."""

    name: str
    labels: tuple[str, ...]
    arguments: tuple[Tree, ...]


@dataclass(frozen=True)
class Around:
    mixin: str
    inside: Tree


@dataclass(frozen=True)
class Chain:
    stages: tuple[Tree, ...]


Tree: TypeAlias = Given | Step | Around | Chain


def _step(inner: st.SearchStrategy[Tree], names: Sequence[str], least: int) -> st.SearchStrategy[Tree]:
    given = st.lists(st.tuples(st.sampled_from(["", "", "x", "y"]), inner), min_size=least, max_size=3)

    def made(name: str, pairs: list[tuple[str, Tree]]) -> Tree:
        kept: dict[str, None] = {}
        chosen = []
        for label, value in pairs:
            if not label or label not in kept:
                chosen.append((label, value))
            if label:
                kept[label] = None
        return Step(name, tuple(label for label, _ in chosen), tuple(value for _, value in chosen))

    return st.builds(made, st.sampled_from(names), given)


def _chain(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    calls = inner.filter(lambda tree: isinstance(tree, Step | Around))
    return st.builds(lambda first, rest: Chain((first, *rest)), inner, st.lists(calls, min_size=1, max_size=3))


def trees(*, least: int = 0, chains: bool = True, mixins: bool = True) -> st.SearchStrategy[Tree]:
    """Return programs; with `least=1` every call is given something."""

    def extend(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        kinds = [_step(inner, MODELS, least), _step(inner, MODELS, least), _step(inner, OTHERS, least)]
        if chains:
            kinds.append(_chain(inner))
        if mixins:
            kinds.append(st.builds(Around, st.sampled_from(MIXINS), inner.filter(lambda tree: not isinstance(tree, Given))))
        return st.one_of(kinds)

    leaf: st.SearchStrategy[Tree] = st.just(Given()) if least else st.one_of(st.just(Given()), _step(st.just(Given()), MODELS, 0))
    return st.recursive(leaf, extend, max_leaves=8).filter(lambda tree: not isinstance(tree, Given))


def places(tree: Tree, *, held: bool = False) -> list[Tree]:
    """Return the subtrees that may become local names: arguments and first stages outside of a mixin's brackets."""
    match tree:
        case Given():
            return []
        case Step(_, _, arguments):
            below = [place for argument in arguments for place in places(argument, held=held)]
        case Around(_, inside):
            below = places(inside, held=True)
        case Chain(stages):
            below = places(stages[0], held=held)
            for stage in stages[1:]:  # a stage takes what is piped to it, so it is no value
                if isinstance(stage, Step):
                    below += [place for argument in stage.arguments for place in places(argument, held=held)]
                else:
                    below += places(stage, held=True)
    return below if held else [*below, tree]


def write(tree: Tree, locals_: dict[Tree, str] | None = None, *, pipes: bool = False, top: bool = True) -> str:
    """Return an expression; subtrees in `locals_` are written by their names, with `pipes` first arguments are piped in."""
    if locals_ and not top and tree in locals_:
        return locals_[tree]

    def again(part: Tree) -> str:
        return write(part, locals_, pipes=pipes, top=False)

    match tree:
        case Given():
            return "prompt"
        case Step(name, labels, arguments):
            given = [
                f"{label}: {again(value)}" if label else again(value) for label, value in zip(labels, arguments, strict=True)
            ]
            if pipes and labels and not labels[0]:
                return f"({given[0]} | {name}({', '.join(given[1:])}))"
            return f"{name}({', '.join(given)})"
        case Around(mixin, inside):
            return f"{mixin}({write(inside, None)})"
        case Chain(stages):
            first, *rest = stages
            return "(" + " | ".join([again(first), *(_stage(stage, locals_) for stage in rest)]) + ")"


def _stage(stage: Tree, locals_: dict[Tree, str] | None) -> str:
    """Write a later stage: the call itself has to stand there, its arguments may have names."""
    return write(stage, locals_, top=True)


REGISTRY_FOLDER = "vibes"


def registry(folder: Path) -> Registry:
    """Return a registry of the vocabulary, with the programs that are called."""
    for name, schema in VIBES.items():
        (folder / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    for name, text in (CALLED | CUT).items():
        (folder / f"{name}.aug").write_text(text, encoding="utf-8")
    return Registry([folder])


def compiled(text: str, known: Registry, **options: object) -> tuple[Artefact, ...] | set[str]:
    """Return the artefacts of a program, or the names of its mistakes."""
    report = Report()
    try:
        return compile_source(Source("t.aug", text), known, CompileOptions(**options), report, stem="t")  # type: ignore[arg-type]
    except CompileError as error:
        return {problem.name for problem in error.problems if problem.severity == "error"}


def same(one: tuple[Artefact, ...] | set[str], other: tuple[Artefact, ...] | set[str]) -> bool:
    """Compare what two programs are compiled to, byte for byte."""
    if isinstance(one, set) or isinstance(other, set):
        return one == other
    return [(each.name, each.title, dumps(each.documents)) for each in one] == [
        (each.name, each.title, dumps(each.documents)) for each in other
    ]
