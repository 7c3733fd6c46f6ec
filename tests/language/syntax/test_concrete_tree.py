from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from printing import print_program
from programs import mutated, mutations, programs

from instrc import Report, Source
from instrc.language.concrete_tree import Leaf, Phrase, read_tree  # the tree below the surface gives every sign back
from instrc.language.parser import parse
from instrc.language.surface import Program

COMMENTED = """
// before
tool  a = ( 'x' | B( p: "q",) ) /* in */ @ { k : [1 ,2] } ; // behind
input b;
(C) | /* two
lines */ D
"""


def written(text: str) -> str:
    return read_tree(Source("typed.aug", text)).text


@given(programs(most=3), mutations())
def test_a_tree_gives_its_source_back(program: Program, edits: list[tuple[str, int, str]]) -> None:
    text = print_program(program)
    assert written(text) == text
    broken = mutated(text, edits)
    assert written(broken) == broken


@given(st.text(max_size=60) | st.text("ab1 \n\"'()[]{},;:|=@<>-+.#`“”\\/*", max_size=60))
def test_a_tree_of_anything_gives_it_back(text: str) -> None:
    assert written(text) == text


def test_comments_quotes_brackets_and_separators_are_in_the_tree() -> None:
    tree = read_tree(Source("typed.aug", COMMENTED))
    assert tree.text == COMMENTED
    trivia = [trivia.text for leaf in tree.leaves() for trivia in leaf.before if trivia.kind == "comment"]
    assert trivia == ["// before", "/* in */", "// behind", "/* two\nlines */"]
    assert [child.rule if isinstance(child, Phrase) else child.text for child in tree.root.children] == [
        "binding", ";", "input", ";", "anonymous"
    ]  # fmt: skip


def spans(node: Any) -> set[tuple[int, int]]:
    """Return the places of all nodes of a surface."""
    found = set()
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple) and not hasattr(each, "source"):
            pending += each
        elif hasattr(each, "__dataclass_fields__") and not isinstance(each, Source):
            if span := getattr(each, "span", None):
                found.add((span.start, span.end))
            pending += [getattr(each, field) for field in each.__dataclass_fields__ if field not in {"source", "comments"}]
    return found


@given(programs(most=3))
def test_the_surface_is_a_view_of_the_tree(program: Program) -> None:
    """Each node of it covers a phrase or a word."""
    source = Source("typed.aug", print_program(program))
    covered = set()
    pending: list[Phrase | Leaf] = [read_tree(source).root]
    while pending:
        node = pending.pop()
        covered.add((node.start, node.end))
        if isinstance(node, Phrase):
            pending += node.children
    assert spans(parse(source, Report()).statements) <= covered


def test_a_source_with_a_mistake_is_its_words() -> None:
    tree = read_tree(Source("typed.aug", "const a = A;\nconst b = ;\nconst c = C;"))
    assert [child.rule for child in tree.root.children if isinstance(child, Phrase)] == ["broken", "broken", "broken"]


def test_a_tree_as_deep_as_a_source_may_be() -> None:
    text = "f(" * 256 + "x" + ")" * 256
    assert written(text) == text


def test_the_way_to_an_offset() -> None:
    tree = read_tree(Source("typed.aug", "a | Draft(x)"))
    leaf = tree.path(6)[-1]
    assert isinstance(leaf, Leaf)
    assert leaf.text == "Draft"
