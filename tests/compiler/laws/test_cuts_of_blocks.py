"""Programs with blocks are cut as well as can be: every body by itself, and around a block with the block in its place.

What is right is found by trying all legal cuts (`legal_cuts`), in small programs drawn at random and in all of the smallest.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hunting import examples
from hypothesis import example, given
from hypothesis import strategies as st
from legal_cuts import CHOICES, EXECUTORS, STEPS, Body, Context, Node, cut, settled, source, walk
from meaning import CUT, compiled
from test_runs_of_programs import play

from instrc.vibes.registry import Registry

WHO = ("model", "server", "user")
BLOCKS = {"when": (1, 2), "each": (1, 1), "repeat": (1, 2), "try": (2, 2), "race": (2, 2), "do": (1, 1)}
"""How many bodies each block has."""


@st.composite
def programs(
    draw: st.DrawFn,
    depth: int = 2,
    visible: tuple[str, ...] = (),
    at: str = "n",
    most: int = 4,
    uncalled: list[int] | None = None,
) -> Body:
    """Draw a body whose steps and blocks read what is visible there; `uncalled` are programs that may still be called."""
    uncalled = [*range(len(CUT))] if uncalled is None else uncalled
    body: list[Node] = []
    last = draw(st.integers(0, most - 1))
    for number in range(last + 1):
        plain, lists, plans = ([name for name in visible if name.partition(".")[2] == end] for end in ("", "names", "plan"))
        kinds = [*STEPS, *(BLOCKS if depth else ())]
        idle = {*(() if lists else CHOICES), *(() if plans else ("run",)), *(() if uncalled else ("program",))}
        if at == "n" or any(node.kind == "fail" for node in body):
            idle.add("fail")
        kind, name = draw(st.sampled_from([each for each in kinds if each not in idle])), f"{at}{number}"
        openings = {"repeat": [], "try": [], "race": [], "do": [], "each": lists, "run": plans, "when": plain, "fail": plain}
        if kind in openings:
            reads = draw(st.lists(st.sampled_from(openings[kind]), min_size=kind == "run", max_size=1)) if openings[kind] else []
        else:
            reads = draw(st.lists(st.sampled_from(plain), max_size=3 if number == last else 2, unique=True)) if plain else []
        braces = plain if kind == "plan" else lists if kind in CHOICES else []
        inside = [(*visible, f"{name}e") if kind == "each" else visible, visible]
        count = draw(st.integers(*BLOCKS[kind])) if kind in BLOCKS else 0
        bodies = [draw(programs(depth - 1, seen, f"{name}_{each}", 3, uncalled)) for each, seen in enumerate(inside[:count])]
        called = uncalled.pop() if kind == "program" else 0
        braced = draw(st.sampled_from(braces)) if braces else ""
        body.append(Node(name, kind, tuple(reads[:1] if kind == "program" else reads), braced, tuple(bodies), called))
        members = {"list": ("", ".names"), "lister": ("", ".names"), "plan": ("", ".plan"), "fail": ()}.get(kind, ("",))
        visible = (*visible, *(f"{name}{member}" for member in members))
    return tuple(body)


def smallest(around: tuple[str, ...], inside: list[tuple[str, str]]) -> Iterator[Body]:
    """Yield every program of two steps and a block of two steps, whatever reads what."""
    made = (
        settled(_small(place, outer, inner, reads))
        for place, outer, inner in itertools.product(range(3), itertools.product(around, repeat=2), inside)
        for reads in itertools.product((False, True), repeat=5)
    )
    yield from dict.fromkeys(made)


def _small(place: int, around: tuple[str, ...], inside: tuple[str, ...], reads: tuple[bool, ...]) -> Body:
    """Return a program whose second and third parts read what stands before them, and whose block reads it in either step."""
    later = (*(["a"] if reads[0] else []),), (*(["a"] if reads[1] else []), *(["b"] if reads[2] else []))
    given_ = {"a": (), "b": later[0], "c": later[1]}
    kinds = [*around[:place], "block", *around[place:]]
    body = []
    for name, kind in zip("abc", kinds, strict=True):
        read = given_[name]
        if kind == "block":
            first = Node("i", inside[0], () if reads[3] else read)
            second = Node("j", inside[1], (*(read if reads[3] else ()), *(["i"] if reads[4] else [])))
            body.append(Node(name, "do", bodies=((first, second),)))
        else:
            body.append(Node(name, kind, read))
    return tuple(body)


class Written:
    """A process as its JSON says it: its contexts, their numbered names, and the key of each step and block."""

    def __init__(self, documents: Any) -> None:
        self.documents, self.document = documents, documents["process"]
        self.keys: dict[str, str] = {}
        self.numbered: list[str] = []
        for schema in self.document["$defs"].values():
            steps = schema.get("properties", {}).items()
            self.keys |= {step["description"]: key for key, step in steps if "description" in step}
            engine = next((schema[word] for word in BLOCKS if word in schema), {})
            self.keys |= {schema["description"]: engine["key"]} if "key" in engine else {}
        self.names = {key: name for name, key in self.keys.items()}
        self.contexts = self._inside(self.document)

    def _inside(self, schema: Any) -> tuple[Context, ...]:
        return tuple(self._context(each["$ref"]) for each in schema["properties"].values() if "$ref" in each)

    def _context(self, reference: str) -> Context:
        name = reference.removeprefix("#/$defs/")
        self.numbered.append(name)
        schema, word = self.document["$defs"][name], name.partition("_")[0]
        if word in EXECUTORS:
            return Context(word, tuple(self._step(*each) for each in schema["properties"].items() if each[0][0] != "_"))
        bodies = [each for each in schema.get("anyOf", [schema.get("items", schema)]) if each != {"type": "null"}]
        return Context(word, () if word == "ELSE" else (schema["description"],), tuple(map(self._inside, bodies)))

    def _step(self, key: str, step: Any) -> str:
        if step.get("fail"):
            return str(*step["arguments"])
        return self.names[key] if "description" in step else f"{self.names[key]}.output"


def process_of(body: Body, known: Registry) -> Written | None:
    """Compile a program; return its process, if it is one."""
    made = compiled(source(body), known, hints=False)
    assert not isinstance(made, set), (made, source(body))
    [artefact] = made
    return Written(artefact.documents) if "process" in artefact.documents else None


def check(body: Body, known: Registry) -> None:
    """Assert that a program is cut as well as can be, its chunks are counted in one walk, and its first one is its entry."""
    process, best = process_of(body, known), cut(body)
    if process is None:
        assert [context.word for context in best] in (["LLM"], ["LLM", "SERVER"]), source(body)
        return
    assert process.contexts == best, source(body)
    count = Counter[str]()
    for name in process.numbered:
        count[name.partition("_")[0]] += 1
        assert name == f"{name.partition('_')[0]}_{count[name.partition('_')[0]]}"
    entry = best[0].names if best[0].word == "LLM" else ()
    assert [process.names[key] for key in process.documents["tool"].get("properties", {}) if key[0] != "_"] == list(entry)


CHOICE = (Node("l", "list"), Node("c", "choice", braces="l.names"), Node("a", "asks"))
"""The server could answer between the list and the choice; of two cuts as short, the one that begins with the model is right."""


@examples(150)
@example(body=(Node("d", "do", bodies=(CHOICE,)),))
@given(body=programs())
def test_every_body_is_cut_as_well_as_can_be(body: Body, known: Registry) -> None:
    check(settled(body), known)


def test_the_smallest_programs_are_cut_as_well_as_can_be(known: Registry) -> None:
    for body in smallest(around=("model", "server"), inside=[("model", "server"), ("server", "model")]):
        check(body, known)


@pytest.mark.slow
def test_all_small_programs_are_cut_as_well_as_can_be(known: Registry) -> None:
    for body in smallest(around=WHO, inside=list(itertools.product(WHO, repeat=2))):
        check(body, known)


@examples(100)
@given(body=programs(), request=st.sampled_from(["a", ["x", "y"]]), data=st.data())
def test_a_model_is_shown_what_its_chunk_reads_of_others_and_nothing_else(
    body: Body, request: Any, data: st.DataObject, known: Registry
) -> None:
    body = settled(body)
    process = process_of(body, known)
    if process is None:
        return
    asked: list[Any] = []
    play(process.document, {"prompt": request}, lambda count: data.draw(st.integers(0, count - 1)), frozenset(), asked.append)
    nodes = {node.name: node for node in walk(body)}
    for command in asked:
        if command["kind"] == "model":
            inside = [process.names[key] for key in command["steps"] if key[0] != "_"]
            read = {path.partition(".")[0] for name in inside for path in nodes[name.partition(".")[0]].shown}
            assert set(command["context"]) == {process.keys.get(name, name) for name in read.difference(inside)}
