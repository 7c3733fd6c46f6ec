"""Hints say what to write instead: words of other languages and systems, letters of other scripts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from every_case import every_case

import instrc
from instrc import Report
from instrc.problems.suggest import strange_letter  # words and letters without a program

STEP = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def hints(program: str) -> list[str | None]:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile(program, vibes={"A": STEP, "B": STEP})
    return [problem.hint for problem in caught.value.problems]


@every_case("program", ["forEach(A, one => B(one))", "A | map({ one => B(one) })", "forEach(A, B)"])
def test_a_loop_of_another_language_is_answered_with_each(program: str) -> None:
    assert hints(program) == ["write `each NAME in PATH { … }`"]


def test_the_backslash_of_a_function_without_a_name_is_answered() -> None:
    assert hints("\\x -> A x") == ["a line break needs no sign, and there are no anonymous functions: write the call itself"]


@every_case(("letter", "latin"), [("\u0410", "A"), ("\u0412", "B"), ("\u0391", "A")])
def test_a_name_whose_letters_all_look_latin_finds_its_twin(letter: str, latin: str) -> None:
    assert hints(letter) == [f"all its letters only look like Latin letters; did you mean `{latin}`?"]


@every_case("word", ["timeout", "deadline", "timeLimit"])
def test_a_deadline_by_another_name_is_told_of_within(word: str, tmp_path: Path) -> None:
    program = tmp_path / "letter.aug"
    program.write_text(f'@{{ type: "object" }} @ {{ {word}: "P2D" }}')
    [problem] = instrc.check(str(program))
    assert problem.name == "unknown-keyword"
    assert problem.hint
    assert '`@ { within: "P2D" }`' in problem.hint


@every_case("name", ["Составить_User", "найти_slot", "Составить_Activity", "draft_2"])
def test_a_name_of_words_from_two_scripts_is_not_taken_for_a_slip(name: str) -> None:
    assert strange_letter(name) is None


@every_case(("name", "letter"), [("Drаft_User", "а"), ("Cоставить_User", "C"), ("draft_а", "а")])
def test_a_letter_of_another_script_inside_a_word_is_named(name: str, letter: str) -> None:
    assert (strange_letter(name) or "").startswith(f"`{letter}` in it is")


FILLED = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "tone": {"enum": ["warm", "formal"]}, "score": {"type": "number"}},
}


def only_hint(program: str) -> str:
    """Return the hint of the one problem that a program has, a warning or an error."""
    report = Report()
    with suppress(instrc.InstrcError):
        instrc.compile(program, vibes={"Draft": FILLED, "find-slot": STEP, "Send_Activity": STEP}, report=report)
    [problem] = report.once()
    return problem.hint or ""


@every_case(
    ("program", "part"),
    [
        ("input prompt; Draft(prompt)", "every program has it, the request that starts a run: read it without a definition"),
        ("Draft prompt", "`Draft(prompt)`"),
        ('Draft @ "a" "b"', '`Draft(tone: "warm")`'),
        ("find slot(prompt)", "`find_slot`"),
        ("\u0412\u043a\u0444\u0430\u0435(prompt)", "keyboard layout; did you mean `Draft`"),
        ('Draft(prompt, t\u043ene: "warm")', "only looks like `o`; did you mean `tone`"),
        ("Draft = Draft(prompt)", "hides the instruction"),
        ("input Draft\nDraft(Draft)", "hides the instruction"),
        ("Draft(tone: warm)", '`"warm"`'),
        ("Draft(score: NaN)", "JSON has no such number"),
        ("Draft(score: 1,5)", "`1.5`"),
        ("Draft(ok: yes)", "`true`"),
        ("print(Draft(prompt))", "remove it"),
        ("len(Draft(prompt))", "do not compute"),
        ("Draft(question)", "`prompt`"),
        ("Draft(customer)", "`input customer`"),
        ("const d = Draft(prompt); find_slot(step1_draft)", "name the value"),
        ("const x = find_slot(prompt); Draft(y)", "`input y`"),
        ("try { Send_Activity(prompt) } else { Draft(err) }", "`error`"),
        ("Draft | [find_slot, Draft]", "`{ a: A, b: B }`"),
        ("@ { a: { type: 'string' } }", "under `properties`"),
        ("Loop_Mixin(Draft, max: 5)", "_iteration: { maximum: 5 }"),
        ("people: Person = Draft(prompt)", "remove `: Person`"),
        ("Draft(**{ tone: 'warm' })", "the braces alone"),
        ("Draft(prompt)!", "remove it"),
        ("Draft(score: 10%)", "number alone"),
        ("Draft(...)", "leave it out"),
        ("**Draft**(prompt)", "remove the Markdown"),
        ("`Draft(prompt)`", "belong to Markdown"),
        ("chain.invoke(Draft)", "`instrc run FILE`"),
        ("dspy.Predict(prompt)", "`Predict(…)`"),
        ("console.log(Draft(prompt))", "remove it"),
        ("Promise.all(Draft, find_slot)", "beside each other"),
        ("this.Draft(prompt)", "called by its name"),
        ("./draft | Draft", "`aug:draft`"),
        ("schemas/draft.vibe.json | Draft", "`aug:draft`"),
        ("Draft(prompt).", "no `.` before it"),
        ("Draft(tone: 'it''s')", "`\\'`"),
        ("each g in prompt.a max { Draft(g) }", "max 5 {"),
        ("repeat { const r = Draft(prompt); } until r.ok", "write `r` before"),
        ("const p = Draft(prompt), q = Draft(p)", "`const a = …; const b = …`"),
        ("input a b\nDraft(a)", "`input b`"),
        ("[Draft(p) for p in prompt]", "`each NAME in PATH { … }`"),
        ("Draft > find_slot", "write `|`"),
        ("Draft@2", "`aug:…/Draft:2`"),
        ('input city @ "A town." @ { type: "string" }; Draft(city)', '`@ { description: "…", type: "string" }`'),
        ('input city @ { type: "string" } @ "A town."; Draft(city)', '`@ { description: "…", type: "string" }`'),
        ("aug:letters/draft@12 | find_slot", "`aug:letters/draft:12`"),
        ("Draft(prompt) @ { properties: { a: { default: [None] } } }", "write `null`"),
        ("Draft(prompt) @ { uniqueItems: True }", "write `true`"),
        ('"Write" | [Draft, find_slot] | Draft', "`{ a: A, b: B }`"),
        ('Draft("prompt")', "without quotes, `prompt` is"),
        ("const d = Draft(prompt);\nd.\nfind_slot(d)", "the `.` that ends the line before"),
        ("const c = Draft(prompt); repeat { const d = Draft(c); d } until d.text is 'x' or max 4", "`max 4` without `or`"),
        ("const c = Draft(prompt); repeat { const d = Draft(c); d } until round is 2 or max 4 keep 1", "`max 4` without `or`"),
        ('const d = Draft(prompt); when d.text is "" { Fail() } else { find_slot(d) }', "`Fail(code:"),
        ('const d = Draft(prompt); when d.text is "" { Fail } else { find_slot(d) }', "`Fail(code:"),
        ('"prompt" | Draft', "`prompt` without quotes"),
        ('input city; "city" | Draft | find_slot(city)', "`city` without quotes"),
    ],
)
def test_a_typical_mistake_is_one_problem_with_a_way_out(program: str, part: str) -> None:
    assert part in only_hint(program)


def test_an_address_in_the_place_of_a_file_is_told_to_be_saved() -> None:
    for kind in ("mcp", "openapi"):
        (problem,) = instrc.import_tools(kind, "https://example.com/mcp").problems
        assert problem.name == "unreadable-file"
        assert problem.hint == "URLs are not fetched: save the response as a file, and pass the file"


BRACES = "the body goes in braces, without a colon or a word before them: `try { … } else { … }`"


@every_case(
    ("program", "name", "shown", "hint"),
    [
        ("let mut x = A; B(x)", "foreign-statement", "mut", "remove it: a name has one value, which each block inside sees"),
        (
            "const string x = A; B(x)",
            "foreign-statement",
            "string",
            "name values with `const NAME = …`, export with `tool NAME = …`",
        ),
        (
            "use a::A;",
            "foreign-statement",
            "use",
            "nothing is imported: instructions are found by name, or by an `aug:` reference",
        ),
        (
            "{% if x %} A {% endif %}",
            "unknown-operator",
            "%",
            "there are no templates: write `when PATH { … } else { … }`, `each NAME in PATH { … }`",
        ),
        ("try:\n    A\nexcept:\n    B", "incomplete-block", ":", BRACES),
        ("const x = try:\n    A\nexcept A as e:\n    B\nfinally:\n    A", "incomplete-block", ":", BRACES),
        ("try { A }\nexcept:\n    B", "incomplete-block", "except", "write `try { … } else { … }`"),
        ("A(prompt)\nexcept:\n    B", "foreign-statement", "except", "write `try { … } else { … }`; `Fail(error)` fails again"),
        ("A until x", "stray-word", "until", "write `repeat { … } until PATH` to run a block again"),
        ("A until x is true", "stray-word", "until", "write `repeat { … } until PATH` to run a block again"),
        ("A times three max 3", "stray-word", "times", "leave it out: the number alone is the bound"),
        ('{ "a": A; "b": B }', "semicolon-in-brackets", ";", "separate with `,`"),
    ],
)
def test_a_habit_of_another_language_is_one_problem_at_its_word(program: str, name: str, shown: str, hint: str) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile(program, vibes={"A": STEP, "B": STEP})
    [problem] = caught.value.problems
    assert problem.at is not None
    assert (problem.name, problem.at.text, problem.hint) == (name, shown, hint)


def test_a_definition_without_equals_is_told_so_where_the_next_line_defines_a_name() -> None:
    assert hints("const x\ny = A")[0] == "write `x = …`"


def test_the_text_of_an_error_can_be_written_whatever_name_is_in_it() -> None:
    with pytest.raises(instrc.CompileError) as told:
        instrc.rehearse("x\ud800.aug")
    assert "`x\\ud800.aug` cannot be read" in str(told.value).encode().decode()
