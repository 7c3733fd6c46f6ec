"""Hints say what to write instead: words of other languages and systems, letters of other scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

import instrc
from instrc.problems.lookalikes import strange_letter

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


@pytest.mark.parametrize("name", ["Составить_User", "найти_slot", "Составить_Activity", "draft_2"])
def test_a_name_of_words_from_two_scripts_is_not_taken_for_a_slip(name: str) -> None:
    assert strange_letter(name) is None


@pytest.mark.parametrize(("name", "letter"), [("Drаft_User", "а"), ("Cоставить_User", "C"), ("draft_а", "а")])
def test_a_letter_of_another_script_inside_a_word_is_named(name: str, letter: str) -> None:
    assert (strange_letter(name) or "").startswith(f"`{letter}` in it is")
