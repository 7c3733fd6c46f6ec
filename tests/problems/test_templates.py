"""A text of a problem is a template that is filled with its facts."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from instrc import Problem
from instrc.problems import problem  # the folder of its classes is read
from instrc.problems.catalogue import classes  # every problem and its page
from instrc.problems.problem import FACT  # the form of all templates
from instrc.problems.suggest import fixed_by, replacement  # what problems have as `fixes`
from instrc.text.source import Source


class Counted(Problem):
    message = "`{word}` stands {count:,} times in `{ a: A }`, {{word}}, `{}` and { … }"
    hint = "write `{ word: {word} }`"

    word: str
    count: int = 0


class Renamed(Counted):
    hint = None


class Listed(Problem):
    message = "{words:and}, {words:or} at `{pointer:/}`"
    fixes = fixed_by(replacement, "{put}", safe=False)

    words: tuple[str, ...]
    pointer: str = ""
    put: str = ""


def test_facts_are_filled_in_and_other_braces_stand_for_themselves() -> None:
    made = Counted(word="x{count}", count=1200)
    assert made.message == "`x{count}` stands 1,200 times in `{ a: A }`, {x{count}}, `{}` and { … }"
    assert made.hint == "write `{ word: x{count} }`"
    assert Renamed(word="x").message.startswith("`x` stands 0 times")
    assert Renamed(word="x").hint is None


def test_names_are_listed_and_the_whole_document_has_a_pointer() -> None:
    assert Listed(words=("a", "b")).message == "`a` and `b`, `a` or `b` at `/`"
    assert Listed(words=("a",), pointer="/x").message == "`a`, `a` at `/x`"


def test_a_fix_is_offered_if_its_text_is_known() -> None:
    at = Source("a.aug", "=> Draft").span(0, 2)
    assert [(fix.title, fix.safe) for fix in Listed(at=at, words=(), put="|").fixes] == [("replace by `|`", False)]
    assert Listed(at=at, words=()).fixes == Listed(words=(), put="|").fixes == ()


def test_a_problem_is_frozen_and_takes_keywords_only() -> None:
    with pytest.raises(TypeError):
        Counted("x")
    with pytest.raises(AttributeError):
        Counted(word="x").word = "y"
    assert Counted(word="x") == Counted(word="x") != Renamed(word="x")
    assert hash(Counted(word="x")) == hash(Counted(word="x"))


def test_each_template_names_facts_of_its_class() -> None:
    known = {kind.__name__: kind for kind in classes().values()}
    found = [
        (node.name, fact[1])
        for file in Path(problem.__file__).parent.glob("*.py")
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name in known
        for text in node.body
        if isinstance(text, ast.Assign)
        for part in ast.walk(text.value)
        if isinstance(part, ast.Constant)
        for fact in re.finditer(FACT, str(part.value))
    ]
    assert len(found) > 100
    assert [(name, fact) for name, fact in found if not hasattr(known[name], fact)] == []


def test_each_page_belongs_to_a_problem() -> None:
    assert sorted(file.stem for file in (Path(problem.__file__).parent / "pages").iterdir()) == list(classes())
