from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from printing import print_program
from programs import mutated, mutations, programs

from instrc import Report, Source
from instrc.language.habits import name_habits, prose  # the second one counts what it reads
from instrc.language.parser import parse
from instrc.language.surface import Program
from instrc.problems.suggest import applied
from instrc.text.limits import REPORTED_MISTAKES  # the limit that is tried here

CASE = re.compile(r"^(```|~~~)aug\n(.*?)\n\1\n```text\n(.*?)```$", re.DOTALL | re.MULTILINE)
CASES = [
    pytest.param(found[2], found[3].splitlines(), id=f"{path.stem}: {found[2][:40]}")
    for path in sorted(Path(__file__).parent.glob("cases/*.md"))
    for found in CASE.finditer(path.read_text(encoding="utf-8"))
]


def mistakes(text: str) -> list[str]:
    report = Report()
    name_habits(parse(Source("broken.aug", text), report), report)
    for problem in report.problems:
        assert problem.message
        assert problem.at is not None
        assert 0 <= problem.at.start <= problem.at.end <= len(text)
    return [f"{problem.at.line}:{problem.at.column} {problem.name}" for problem in report.ordered() if problem.at]


def test_there_are_cases() -> None:
    assert len(CASES) > 140


@every_case(("text", "expected"), CASES)
def test_each_mistake_is_named_once_at_its_place(text: str, expected: list[str]) -> None:
    assert mistakes(text) == expected


@every_case(("text", "expected"), CASES)
def test_a_mistake_does_not_spoil_its_neighbours(text: str, expected: list[str]) -> None:
    """What stands before and behind in statements of their own is read, and has no mistakes."""
    report = Report()
    program = parse(Source("broken.aug", f"const before = A;\n{text}"), report)
    name_habits(program, report)
    names = [problem.name for problem in report.ordered()]
    if names != ["too-many-mistakes"]:
        assert names == [line.split()[1] for line in expected]
    assert getattr(program.statements[0], "name").text == "before"  # noqa: B009  -- an expression has none


@every_case(
    ("text", "words"),
    [
        ("when a.b => 5 { A }", "write `>=`"),
        ("when a.b < 'c' { A }", "write a number"),
        ("a->b | A", "write `.`"),
        ("a=>b | A", "write `|`"),
        ("a -> A", "write `|`"),
        ("const { a, b } = A", "name the whole value"),
        ("const = A", "write a name"),
        ("people.0 | A", "no member of a value is called `0`"),
        ("people.0.1 | A", "no member of a value is called `0`"),
        ("people.0.1.2 | A", "no member of a value is called `0`"),
        ("people[0] | A", "square brackets"),
        ("prompt.text(x)", "pass the value to an instruction"),
        ("A({ Weather(x), y: z })", "write `{ weather: Weather(…) }`"),
        ("A({ people.name.first, y: z })", "write `{ first: people.name.first }`"),
        ("const text: Letter = A", "remove `: Letter`"),
        ("when a.ok { const draft = A; }", "write `draft` before the `}`"),
        ('const "text" = A', "without quotes: `const text`"),
        ("1.5.5", "has two points"),
        (".b", "a value or `@` or the end of the statement"),
    ],
)
def test_the_words_of_a_mistake_are_about_what_was_written(text: str, words: str) -> None:
    report = Report()
    name_habits(parse(Source("broken.aug", text), report), report)
    [problem] = report.problems
    assert words in f"{problem.message}; {problem.hint}"


SIGNS = 'const a = A({ b: B }, c) | D @ { title: "x", type: ["string"] }; a'


@every_case(("letter", "sign"), [*zip("（）［］｛｝，；：｜＝＠│、", "()[]{},;:|=@|,", strict=True)])
def test_a_character_that_looks_like_a_sign_is_read_as_that(letter: str, sign: str) -> None:
    report = Report()
    program = parse(Source("wide.aug", SIGNS.replace(sign, letter, 1)), report)
    [problem] = report.problems
    assert (problem.name, problem.at and problem.at.start) == ("stray-character", SIGNS.index(sign))
    assert f"`{sign}`" in (problem.hint or "")
    assert [type(statement).__name__ for statement in program.statements] == ["Binding", "Anonymous"]


def test_the_signs_of_a_line_that_only_look_right_are_one_mistake_with_one_fix() -> None:
    report = Report()
    parse(Source("wide.aug", "A（b．c， d）； e； 。"), report)
    signs, stray = report.problems
    assert signs.hint == "write `(`, and replace the similar characters in the line: `．`, `，`, `）`, `；`"
    [fix] = signs.fixes
    assert (applied("A（b．c， d）； e；", [fix])[0], fix.title) == ("A(b.c, d); e;", "replace 6 signs")
    assert stray.hint == "remove it"


REPEAT = "repeat { const d = A(a); d } until"


@every_case(
    ("wrong", "right"),
    [
        ("when a.ok&&a.good { A(a) }", "when a.ok and a.good { A(a) }"),
        ("when a.ok||a.good { A(a) }", "when a.ok or a.good { A(a) }"),
        ("when a.ok==true { A(a) }", "when a.ok is true { A(a) }"),
        ('when a.text=="x" { A(a) }', 'when a.text is "x" { A(a) }'),
        ("when a.n≠-3 { A(a) }", "when a.n is not -3 { A(a) }"),
        ("when a.n =3 { A(a) }", "when a.n is 3 { A(a) }"),
        ("each x:a.xs { A(x) }", "each x in a.xs { A(x) }"),
        ("try { A(a) }catch{ B }", "try { A(a) }else{ B }"),
        ("A({$a, b: a})", "A({a, b: a})"),
        ("A(‘it’s fine’)", "A('it’s fine')"),
        ("A(‘it’s’)", "A('it’s')"),
        ("A('it’s fine’)", "A('it’s fine')"),
        (f"{REPEAT} d.ok||d.good max 3", f"{REPEAT} d.ok or d.good max 3"),
        (f"{REPEAT} d.ok || B(d)", f"{REPEAT} d.ok | B(d)"),
    ],
)
def test_a_safe_fix_makes_what_was_meant(wrong: str, right: str) -> None:
    report = Report()
    parse(Source("signs.aug", wrong), report)
    assert applied(wrong, [fix for problem in report.problems for fix in problem.fixes if fix.safe]) == (right, 1)


def test_prose_is_found_without_reading_the_rest_of_a_row() -> None:
    class Row(list[Any]):
        def __getitem__(self, place: Any) -> Any:
            assert isinstance(place, int) or len(range(len(self))[place]) < 10
            return super().__getitem__(place)

    source = Source("names.aug", "a b;\n" * 100)
    row = Row(parse(source, Report()).statements)
    assert [prose(source, row, at) for at in range(len(row))] == [None] * 200


def test_a_source_with_as_many_mistakes_as_are_reported_is_read_to_its_end() -> None:
    quoted = "“Write it” | Draft;\n" * REPORTED_MISTAKES
    assert mistakes(f"{quoted}Draft") == [f"{line}:1 smart-quote" for line in range(1, REPORTED_MISTAKES + 1)]
    assert mistakes(f"{quoted}when {{ Draft }}") == ["1:1 too-many-mistakes"]


@pytest.mark.long
def test_as_many_signs_as_a_line_has_are_no_limit() -> None:
    report = Report()
    parse(Source("wide.aug", "A（" + "b，" * 20_000), report)
    assert [problem.name for problem in report.problems][:1] == ["too-many-mistakes"]


@given(programs(most=3), mutations())
def test_nothing_that_is_typed_breaks_the_parser(program: Program, edits: list[tuple[str, int, str]]) -> None:
    mistakes(mutated(print_program(program), edits))


@given(st.text(max_size=60) | st.text("ab1 \n\"'()[]{},;:|=@<>-+.#`“”\\/*", max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    mistakes(text)


@pytest.mark.long
@every_case(
    ("text", "name"),
    [
        ("(" * 100_000, "too-deep"),
        ("f(" * 40_000, "too-deep"),
        ("{a:" * 30_000, "too-deep"),
        ("a" + ' @ "x"' * 20_000, "too-deep"),
        ("(" * 257 + "a" + ")" * 257, "too-deep"),
        (")" * 100_000, "extra-closing-bracket"),
        (",|" * 50_000, "extra-comma"),
        ("a);\n" * 30_000, "too-many-mistakes"),
        ("\0" * 100_000, "stray-character"),
        ('"' + "\\" * 100_001, "unclosed-string"),
        ('"' + "\\x" * 10_000 + '"', "too-many-mistakes"),
        ("/* " * 100_000, "unclosed-comment"),
        ("\u0301" * 100_000, "stray-character"),
        ("9" * 5_000, "bad-number"),
        ("# a\n" * 50_000, "hash-comment"),
    ],
    ids=lambda value: value[:6],
)
def test_a_hostile_source_is_one_problem(text: str, name: str) -> None:
    assert [line.split()[1] for line in mistakes(text)] == [name]


def test_a_missing_bracket_shows_where_it_was_opened() -> None:
    report = Report()
    parse(Source("broken.aug", "f({ a: g(x;\nB"), report)
    (problem,) = report.problems
    assert problem.message == "`)})` is missing here"
    assert [(label.span.column, label.text) for label in problem.labels] == [
        (9, "this `(` is still open"),
        (3, "this `{` is still open"),
        (2, "this `(` is still open"),
    ]


def test_statements_without_mistakes_are_read_around_one_with() -> None:
    report = Report()
    program = parse(Source("broken.aug", "const a = A\ninput b = B;\nconst c = C"), report)
    assert [problem.name for problem in report.problems] == ["unexpected-text"]
    assert [getattr(statement, "name").text for statement in program.statements] == ["a", "c"]  # noqa: B009  -- as above


@every_case(
    "text",
    [
        "---\nname: letter\n",
        "name: letter\nsteps:\n  - draft\n",
        "steps:\n  - draft\n",
        '{ "type": "object", "properties": {} }',
        "<!DOCTYPE html>\n<p>",
        "#!/bin/sh\ninstrc check .\n",
        "Please write a kind letter to Ann and sign it.\n",
    ],
)
def test_another_kind_of_file_is_one_problem(text: str) -> None:
    assert [line.split()[1] for line in mistakes(text)] == ["not-a-program"]


def test_two_mistakes_far_from_each_other_are_named_and_all_between_is_read() -> None:
    good = "".join(f"// note {number}\nconst s{number} = Draft(prompt);\n" for number in range(50))
    report = Report()
    program = parse(Source("a.aug", f"const x(= Draft;\n{good}const y = = Draft;\n{good}"), report)
    assert (len(program.comments), len(report.problems)) == (100, 2)
    assert len(program.statements) >= 100


@every_case(
    ("text", "hint"),
    [
        ("Send(to people.names)", "separate with `,`, or write `to: …`"),
        ("Send(to people: 1)", "separate with `,`"),
        ("input(x)", "write it without brackets: `input NAME`"),
        ("tool(x)", "choose another name; to call an instruction of this name, write it in another case"),
    ],
)
def test_the_hint_of_a_mistake_fits_what_was_written(text: str, hint: str) -> None:
    report = Report()
    parse(Source("broken.aug", text), report)
    assert [problem.hint for problem in report.problems] == [hint]


@every_case("text", ['A("it is)', 'A("it is);', 'A([{ b: "it is }])'])
def test_a_string_without_its_end_leaves_the_brackets_behind_it(text: str) -> None:
    report = Report()
    parse(Source("broken.aug", text), report)
    (problem,) = report.problems
    assert problem.at is not None
    assert text[problem.at.start : problem.at.end].rstrip() == '"it is'
