"""Problems of programs name the word, the vibe or the call that is wrong, and show where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from objects import an_object
from usual_vibes import TEXT, VIBES, compiled, problems

import instrc
from instrc import Report, Source
from instrc.compiler.driver import compile_source  # one program with its own registry and options
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.text.jsontext import dumps
from instrc.vibes.registry import Registry


def test_a_contradiction_of_an_annotation_shows_the_vibe_and_the_program(folder: Path) -> None:
    [problem] = problems('Derived @ { properties: { x: { type: "integer" } } }', folder)
    assert problem.name == "contradiction"
    assert isinstance(problem, instrc.problems.schemas.Contradiction)
    assert (problem.left.uri, problem.right.uri) == ("aug:Base", "program.aug")


def test_a_step_in_the_wrong_context_is_named(folder: Path) -> None:
    [problem] = problems("Process(LLM_Context({ a: Get_Activity(prompt) }))", folder)
    assert (problem.name, "`a`" in problem.message) == ("cut-against-data-flow", True)
    [problem] = problems("Process(LLM_Context({ a: A(Get_Activity(prompt)) }))", folder)
    assert (problem.name, "`Get`" in problem.message) == ("cut-against-data-flow", True)


@pytest.mark.parametrize(
    ("text", "name"), [("Closed({ part: { b: B } })", "closed-away"), ("Own({ part: { b: B } })", "contradiction")]
)
def test_steps_that_a_property_does_not_admit_are_told_of_at_their_place(text: str, name: str, folder: Path) -> None:
    [problem] = problems(text, folder)
    assert (problem.name, problem.at is not None and problem.at.text) == (name, "{ b: B }")


@pytest.mark.parametrize(("filling", "word"), [("Get_Activity(prompt)", "Get_Activity"), ("Ask_User", "Ask")])
def test_what_cannot_fill_a_slot_is_called_by_its_name(filling: str, word: str, folder: Path) -> None:
    [problem] = problems(f"Own({{ part: {filling} }})", folder)
    assert isinstance(problem, instrc.problems.calls.MisplacedCall)
    assert (problem.word, problem.holder, problem.at is not None and problem.at.text) == (word, "Own", filling)


@pytest.mark.parametrize(
    "marked",
    [
        'Loop_Mixin({ note: "n", default: A }, «note»: "m")',
        'Loop_Mixin(note: "n", { «note»: "m", default: A })',
        "const a = A(prompt); Get_Activity({ id: a }, «id»: a.x)",
        "const a = A(prompt); Get_Activity(id: a, { «id»: a.x })",
        "const a = A(prompt); Team(of: a, { «of»: a })",
    ],
)
def test_an_argument_given_with_and_without_braces_is_shown_where_it_stands_again(marked: str, folder: Path) -> None:
    [problem] = problems(marked.replace("«", "").replace("»", ""), folder)
    assert problem.name == "repeated-name"
    assert (problem.at is not None and problem.at.start) == marked.index("«")


def test_a_problem_of_a_called_program_shows_the_call(folder: Path) -> None:
    (folder / "wrong.aug").write_text("input of;\nB(nope)", encoding="utf-8")
    [problem] = problems("const a = A(prompt); Wrong(of: a)", folder)
    assert (problem.name, [call.text for call in problem.calls]) == ("unknown-name", ["Wrong(of: a)"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('A @ { properties: { x: { const: "a" } } } @ { properties: { x: { const: "b" } } }', ['"a"', '"b"']),
        ("A @ { properties: { x: { maxLength: 9 } } } @ { properties: { x: { maxLength: 2, minLength: 5 } } }", ["5", "2"]),
    ],
)
def test_of_several_annotations_those_are_shown_that_contradict(text: str, shown: list[str], folder: Path) -> None:
    [problem] = problems(text, folder)
    assert sorted(label.span.text for label in problem.labels) == sorted(shown)


@pytest.mark.parametrize(
    ("name", "taken_for"), [("particpants", "value"), ("Particpants", ""), ("particpants(prompt)", ""), ("elsewhere", "")]
)
def test_in_a_sketch_a_name_that_looks_like_a_value_is_no_instruction(name: str, taken_for: str, folder: Path) -> None:
    report = Report()
    registry = Registry([folder])
    text = f"const participants = A(prompt); B(participants, {name})"
    if not taken_for:
        assert compile_source(Source("t.aug", text), registry, CompileOptions(sketch=True), report, stem="t")
    else:
        with pytest.raises(instrc.CompileError, match="particpants"):
            compile_source(Source("t.aug", text), registry, CompileOptions(sketch=True), report, stem="t")


@pytest.mark.parametrize("piped", ["A(prompt)", "{ a: A(prompt), b: B(prompt) }"])
def test_a_block_that_reads_nothing_of_its_pipe_is_told_of_at_its_word(piped: str, folder: Path) -> None:
    text = f"const c = Judge(prompt); {piped} | when c.good {{ %s }} else {{ B(c) }}"
    assert problems(text % "Slot", folder) == []
    [problem] = problems(text % "Slot(c)", folder)
    assert (problem.name, problem.at and problem.at.text) == ("unread-pipe", "when")


@pytest.mark.parametrize("block", ["do {{ {} }}", "do {{ do {{ {} }} }}", "each i in 2 {{ {} }}", "{}"])
def test_a_name_from_further_out_is_offered_for_a_misspelt_one(folder: Path, block: str) -> None:
    [problem] = problems("const written = A(prompt); " + block.format("B(writen)"), folder)
    assert (problem.name, getattr(problem, "nearest", None)) == ("unknown-name", ("written",))


def test_a_step_that_nothing_reads_is_told_without_another(folder: Path) -> None:
    [problem] = problems("do { A(prompt); B(prompt) }", folder)
    assert (problem.name, problem.labels) == ("unread-result", ())
    assert problem.message == "nothing reads the result of `A`"


@pytest.mark.parametrize(("word", "offered"), [("find_slott", "find_slot"), ("FindSlott", "FindSlot")])
def test_a_vibe_is_offered_as_the_author_would_write_its_name(word: str, offered: str, folder: Path) -> None:
    (folder / "find-slot.vibe.json").write_text(dumps(VIBES["A"]), encoding="utf-8")
    [problem] = problems(f"{word}(prompt)", folder)
    assert (problem.name, getattr(problem, "nearest", None)) == ("unknown-name", (offered,))


def test_a_mistake_that_is_written_twice_is_told_at_both_places(folder: Path) -> None:
    wrong = 'Derived(prompt) @ { properties: { x: { type: "integer" } } }'
    text = f"{{ a: {wrong}, b: {wrong} }}"
    found = [(problem.name, problem.at and problem.at.start) for problem in problems(text, folder)]
    places = [place for place in range(len(text)) if text.startswith("@", place)]
    assert found == [("contradiction", place) for place in places]


def test_a_decision_without_what_was_shown_is_told_whatever_else_activities_are_given(folder: Path) -> None:
    decided = "const shown = A(prompt); const said = Decide_User(shown); Get_Activity(said)"
    (folder / "Decide_User.vibe.json").write_text(dumps(an_object(ok={"type": "boolean"})), encoding="utf-8")
    [alone] = problems(decided, folder)
    both = "{ first: Get_Activity(id: prompt), then: Get_Activity(said) }"
    [among] = problems(decided.replace("Get_Activity(said)", both), folder)
    assert alone.name == among.name == "unread-result"


def test_a_name_that_stands_for_nothing_is_told_though_nobody_uses_it(folder: Path) -> None:
    [problem] = problems("const other = Nowhere; tool it = A(prompt)", folder)
    assert (problem.name, problem.at and problem.at.text) == ("unknown-name", "Nowhere")


def test_what_prepares_an_activity_that_is_given_only_a_decision_does_not_hide_that(folder: Path) -> None:
    (folder / "Approve_User.vibe.json").write_text(dumps(an_object(decision={"enum": ["yes", "no"]})), encoding="utf-8")
    [problem] = problems("const a = A(prompt); const ok = Approve_User({ a }); Find_Activity(ok)", folder)
    assert (problem.name, problem.at and problem.at.text) == ("unread-result", "Find_Activity(ok)")


def test_what_nothing_satisfies_is_shown_as_a_whole_where_a_slot_of_it_is_filled(folder: Path) -> None:
    never = {**TEXT, "minLength": 3, "maxLength": 1}
    (folder / "Never.vibe.json").write_text(dumps(an_object(part=never)), encoding="utf-8")
    found = problems('Never({ part: "x" })', folder)
    assert ("impossible-schema", 'Never({ part: "x" })') in {(problem.name, problem.at and problem.at.text) for problem in found}


@pytest.mark.parametrize(
    "text",
    [
        'const l = Names(prompt); each n in l.names { repeat { const j = Judge(n); j } until n is "x" }',
        'try { Get_Activity(prompt) } else { repeat { const j = Judge(error); j } until error.code is "x" }',
    ],
)
def test_a_loop_that_asks_after_what_a_block_around_it_has_never_sees_it_change(text: str, folder: Path) -> None:
    assert "unchanging-condition" in {problem.name for problem in problems(text, folder)}


def test_each_value_that_is_no_literal_is_told_in_its_own_list(folder: Path) -> None:
    told = [(problem.name, problem.at and problem.at.text) for problem in problems("Get_Activity(id: [[A], [B]])", folder)]
    assert told == [("not-data", "A"), ("not-data", "B")]


def test_what_is_written_beside_a_text_is_not_idle_as_it_would_be_beside_an_object(folder: Path) -> None:
    (folder / "Word.vibe.json").write_text(dumps(TEXT), encoding="utf-8")
    assert problems("Slot({ part: Word @ { minLength: 2 } })", folder) == []


def test_a_filling_that_contradicts_its_slot_is_shown_in_its_own_vibe(folder: Path) -> None:
    """Both refer to themselves, so that each is a part by itself."""
    slot = an_object(b={"type": "integer"})
    (folder / "Two.vibe.json").write_text(dumps(an_object(one=slot, two=slot)), encoding="utf-8")
    for name, kind in (("Right", "integer"), ("Wrong", "string")):
        schema = {"type": "object", "properties": {"b": {"type": kind}, "below": {"$ref": "#"}}}
        (folder / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    [problem] = problems("Two({ one: Right, two: Wrong })", folder)
    assert isinstance(problem, instrc.problems.schemas.Contradiction)
    assert (problem.left.uri, problem.right.uri) == ("aug:Two", "aug:Wrong")


def test_a_few_lines_that_ask_for_a_million_values_are_one_problem(folder: Path) -> None:
    lines = ["const v0 = prompt;"]
    lines += [f"const v{n + 1} = {{ {', '.join(f'a{each}: v{n}' for each in range(10))} }};" for n in range(6)]
    [problem] = problems(" ".join(lines) + " A(v6)", folder)
    assert (problem.name, "500,000 values" in problem.message) == ("too-large", True)


def test_another_name_of_an_instruction_is_no_step_of_a_body(folder: Path) -> None:
    assert problems("do { const other = A; B(prompt) }", folder) == []
    assert list(compiled("do { const other = A; B(prompt) }", folder).documents["result"]["properties"]) == ["step2_do_b"]


@pytest.mark.parametrize("call", ['A(b) @ { description: "It." }', 'A(b @ { description: "It." })'])
def test_a_key_of_a_later_context_is_told_of_in_what_is_annotated(call: str, folder: Path) -> None:
    [problem] = problems(f"Process(LLM_Context({{ a: {call} }}), LLM_Context({{ b: B }}))", folder)
    assert (problem.name, problem.at and problem.at.text) == ("cut-against-data-flow", "b")
