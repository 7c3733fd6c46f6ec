"""Hints say what to write instead: words of other languages and systems, letters of other scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

import instrc

STEP = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def hints(program: str) -> list[str | None]:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile(program, vibes={"A": STEP, "B": STEP})
    return [problem.hint for problem in caught.value.problems]


@pytest.mark.parametrize("program", ["forEach(A, one => B(one))", "A | map({ one => B(one) })", "forEach(A, B)"])
def test_a_loop_of_another_language_is_answered_with_each(program: str) -> None:
    assert hints(program) == ["write `each NAME in PATH { … }`"]


@pytest.mark.parametrize(("letter", "latin"), [("\u0410", "A"), ("\u0412", "B"), ("\u0391", "A")])
def test_a_name_whose_letters_all_look_latin_finds_its_twin(letter: str, latin: str) -> None:
    assert hints(letter) == [f"all its letters only look like Latin letters; did you mean `{latin}`?"]


@pytest.mark.parametrize("word", ["timeout", "deadline", "timeLimit"])
def test_a_deadline_by_another_name_is_told_of_within(word: str, tmp_path: Path) -> None:
    program = tmp_path / "letter.aug"
    program.write_text(f'@{{ type: "object" }} @ {{ {word}: "P2D" }}')
    [problem] = instrc.check(str(program))
    assert problem.name == "unknown-keyword"
    assert problem.hint
    assert '`@ { within: "P2D" }`' in problem.hint
