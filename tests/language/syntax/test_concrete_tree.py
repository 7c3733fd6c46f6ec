from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from printing import print_program
from programs import programs

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
    """Return a program assembled from the leaves of its tree, with their trivia."""
    tree = read_tree(Source("typed.aug", text))
    parts = [part for leaf in tree.leaves() for part in (*(trivia.text for trivia in leaf.before), leaf.text)]
    return "".join([*parts, *(trivia.text for trivia in tree.behind)])


@given(programs(most=3))
def test_a_tree_gives_its_source_back(program: Program) -> None:
    text = print_program(program)
    assert written(text) == text


def test_comments_quotes_brackets_and_separators_are_in_the_tree() -> None:
    tree = read_tree(Source("typed.aug", COMMENTED))
    assert written(COMMENTED) == COMMENTED
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


def test_a_source_with_a_mistake_has_no_tree() -> None:
    with pytest.raises(ValueError, match="not a program"):
        read_tree(Source("typed.aug", "const a = A;\nconst b = ;\nconst c = C;"))


def test_a_tree_as_deep_as_a_source_may_be() -> None:
    text = "f(" * 256 + "x" + ")" * 256
    assert written(text) == text
