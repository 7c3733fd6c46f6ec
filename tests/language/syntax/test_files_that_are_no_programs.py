from __future__ import annotations

import pytest

from instrc import Report, Source
from instrc.language.habits import name_habits
from instrc.language.parser import parse


def problems(text: str) -> list[tuple[str, str]]:
    report = Report()
    name_habits(parse(Source("copied.aug", text), report), report)
    return [(problem.name, problem.characters) for problem in report.ordered()]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("1. Identify\n2. Draft", "1."),
        ("1) Identify\n2) Draft", "1)"),
        ("1  const x = Identify(prompt);\n2  Draft(x)", "1"),
        ("1: const x = Identify(prompt);\n\n2: Draft(x)", "1:"),
        ("- Identify\n- Draft", "-"),
        ("* Identify\n* Draft", "*"),
        ("\u2022 Identify\n\u2022 Draft", "\u2022"),
        ("> Draft(prompt)\n> // as I said", ">"),
        (">>> Draft(prompt)\nDraft", ">>>"),
    ],
)
def test_marks_before_lines_are_one_mistake(text: str, mark: str) -> None:
    assert problems(text) == [("line-marks", mark)]


@pytest.mark.parametrize("before", ["", "const x = Identify(prompt);\n"])
def test_the_marks_of_a_merge_are_one_mistake(before: str) -> None:
    conflict = "<<<<<<< HEAD\nDraft(x)\n=======\nSend(x, y)\n>>>>>>> other\n"
    assert problems(before + conflict) == [("merge-conflict", "<<<<<<< HEAD")]
    assert problems("/*\n=======\n*/ Draft") == []


@pytest.mark.parametrize(
    "text",
    [
        "$ instrc compile letter.aug",
        "instrc compile letter.aug",
        "cat letter.txt | Draft",
        "goal: Write a letter\nsteps: [Identify, Draft]",
        "steps:\n  - Identify",
        "[tool.letter]\nname = 'x'\nsteps = 2",
        "Sure! Here is the program:\n\nDraft(prompt)",
    ],
)
def test_a_file_that_is_no_program_is_one_mistake(text: str) -> None:
    assert [name for name, _ in problems(text)] == ["not-a-program"]


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_what_stands_around_fences_is_one_mistake_with_them(fence: str) -> None:
    around = f"Sure! Here it is:\n{fence}aug\nDraft(prompt)\n{fence}\nHope it helps!"
    assert problems(around) == [("markdown-fence", fence)]


def test_what_is_wrong_inside_of_fences_is_told_as_well() -> None:
    assert [name for name, _ in problems("Here!\n```aug\nDraft(prompt\n```\nBye!")] == [
        "markdown-fence",
        "missing-closing-bracket",
    ]


@pytest.mark.parametrize("text", ["3 | Draft", "const x = [\n1,\n2\n", "Draft(prompt)\n- Review"])
def test_other_mistakes_with_such_signs_keep_their_names(text: str) -> None:
    assert "line-marks" not in {name for name, _ in problems(text)}
