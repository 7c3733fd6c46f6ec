"""Rules that no other test of the passes would miss: each was found by a change of the code that nothing noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from objects import an_object

import instrc
from instrc.compiler import compile_source
from instrc.ir.artefact import Artefact
from instrc.ir.options import CompileOptions
from instrc.jsontext import dumps
from instrc.passes.compose.objects import admits_objects
from instrc.problems.calls import UnchosenExport
from instrc.problems.report import Report
from instrc.source import Source
from instrc.vibes.registry import Registry

TEXT = {"type": "string"}


VIBES: dict[str, Any] = {
    "A": an_object(x=TEXT),
    "B": an_object(y=TEXT),
    "Judge": an_object(good={"type": "boolean"}, advice=TEXT),
    "Get_Activity": an_object(id=TEXT),
    "Ask_User": an_object(answer=TEXT),
    "Look_Activity": {"type": "object", "properties": {"q": TEXT, "output": TEXT}, "required": ["output"]},
    "Perhaps": an_object(word={"type": ["string", "null"]}),
    "Find": an_object(query=TEXT, output=TEXT),
    "Find_Activity": an_object(query=TEXT, output=TEXT),
    "Slot": an_object(part={}),
    "Noted_Mixin": {"type": "object", "properties": {"note": TEXT, "default": {}}},
    "Rated_Mixin": {"type": "object", "properties": {"default": {}, "rate": TEXT}},
    "Closed": an_object(part={"type": "object", "additionalProperties": False}),
    "Own": an_object(part=an_object(b={"type": "integer"})),
    "Base": an_object(x=TEXT),
    "Derived": {"$ref": "aug:Base"},
    "Names": an_object(names={"type": "array", "items": TEXT}),
    "Odd": an_object(**{"b c": TEXT, "b.c": TEXT, "b": TEXT}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, schema in VIBES.items():
        (tmp_path / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    (tmp_path / "pair.aug").write_text("input of;\n{ a: A(of), b: B(of) }", encoding="utf-8")
    (tmp_path / "team.aug").write_text("input of;\nB(of)", encoding="utf-8")
    return tmp_path


def compiled(text: str, folder: Path) -> Artefact:
    [made] = instrc.artefacts(text, roots=[folder])
    return made


def problems(text: str, folder: Path) -> list[instrc.Problem]:
    report = Report()
    try:
        instrc.artefacts(text, roots=[folder], report=report)
    except instrc.CompileError as error:
        return list(error.problems)
    return list(report.problems)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"const": 1},
        {"enum": [1, "a"]},
        {"type": ["string", "null"]},
        {"allOf": [{"type": "string"}]},
        {"allOf": [{"type": "string"}, True]},
        {"allOf": [{"type": "object"}, {"anyOf": [{"type": "string"}, {"const": 1}]}]},
        {"oneOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}]},
        {"$ref": "#/$defs/text", "$defs": {"text": {"type": "string"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"const": []}}},
    ],
)
def test_what_no_object_satisfies_is_seen_as_far_as_types_and_values_say(schema: Any) -> None:
    assert not admits_objects(schema)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"const": {}},
        {"enum": [1, {}]},
        {"type": ["object", "null"]},
        {"allOf": [{"type": "object"}, True]},
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
        {"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [{"$ref": "#/$defs/node"}]}}},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "aug:text"},
    ],
)
def test_what_some_object_may_satisfy_admits_objects(schema: Any) -> None:
    assert admits_objects(schema)


@pytest.mark.parametrize("call", ["Team(of: of)", "Team({ of: of })", "Team({ of })"])
def test_braces_give_a_program_its_inputs_by_name(call: str, folder: Path) -> None:
    made = compiled(f"const of = A(prompt); {call}", folder)
    assert list(made.documents["tool"]["properties"]) == ["step1_a", "step2_b"]


def test_previous_leads_to_a_member_of_what_a_name_had(folder: Path) -> None:
    made = compiled("repeat { const it = Judge(prompt, previous.it.advice); it } until it.good", folder)
    process = made.documents["process"]
    [step] = process["$defs"]["LLM_1"]["properties"].values()
    assert step["references"] == ["prompt", "previous.step1_judge.advice"]


def test_a_contradiction_of_an_annotation_shows_the_vibe_and_the_program(folder: Path) -> None:
    [problem] = problems('Derived @ { properties: { x: { type: "integer" } } }', folder)
    assert problem.name == "contradiction"
    assert isinstance(problem, instrc.problems.schemas.Contradiction)
    assert (problem.left.uri, problem.right.uri) == ("aug:Base", "program.aug")


@pytest.mark.parametrize(
    "text",
    [
        "const v = do { const a = A(prompt); { const: a } }; B(v)",
        "const v = do { const a = A(prompt); { x: a, deep: { const: a } } }; B(v)",
        "const a = A(prompt); { const: a.x }",
    ],
)
def test_a_member_of_a_value_is_not_taken_for_a_constant(text: str, folder: Path) -> None:
    [problem] = problems(text, folder)
    assert (problem.name, problem.at is not None and "const" in problem.at.text) == ("reserved-name", True)


def test_a_step_may_have_the_key_const_where_no_value_is_written(folder: Path) -> None:
    assert list(compiled("{ const: A }", folder).documents["tool"]["properties"]) == ["const"]


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


@pytest.mark.parametrize(
    ("words", "severity"), [("", "warning"), (', required: ["b"]', "error"), (', required: ["a"]', "warning")]
)
def test_a_closed_schema_that_forbids_what_is_required_is_an_error(words: str, severity: str, folder: Path) -> None:
    text = f"@{{ allOf: [{{ properties: {{ a: {{}} }}, additionalProperties: false }}, {{ properties: {{ b: {{}} }}{words} }}] }}"
    assert {(problem.name, problem.severity) for problem in problems(text, folder)} == {("closed-away", severity)}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('input lang @ "ISO\\n 639."; A(lang)', "Use lang (ISO 639)."),
        ('input lang @ "ISO 639"; A(prompt, lang) | Get_Activity', "Use prompt, lang (ISO 639)."),
        ('input who @ { properties: { name: { description: "in full" }, mail: {} } }; A(who.name, who.mail)', None),
        ("input lang; A(lang)", "Use lang."),
    ],
)
def test_a_tool_is_told_what_its_inputs_are(text: str, hint: str | None, folder: Path) -> None:
    assert (hint or "Use who.name (in full), who.mail.") in dumps(compiled(text, folder).documents["tool"])


def test_a_process_lists_what_its_inputs_are(folder: Path) -> None:
    documents = compiled('input lang @ "ISO 639"; A(lang) | Get_Activity | B', folder).documents
    assert documents["process"]["inputs"]["lang"] == {"description": "ISO 639"}
    assert "Use lang." in dumps(documents["process"])


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


def test_constants_in_slots_tell_steps_apart(folder: Path) -> None:
    text = 'const p = Own({ part: "x" }); const q = Own({ part: "y" }); const r = Own({ part: "x" }); Judge(p, q, r)'
    made = compiled(text.replace("Own", "Slot"), folder).documents["tool"]["properties"]
    assert [made[key]["properties"]["part"] for key in list(made)[:-1]] == [{"const": "x"}, {"const": "y"}]


def test_blocks_in_whose_slots_different_values_are_read_are_two(folder: Path) -> None:
    named = "const a = A(prompt); const b = B(prompt); "
    equal = compiled(
        named + "const c = do { Slot({ part: Own(a) }) }; const d = do { Slot({ part: Own(a) }) }; Judge(a, b, c, d)", folder
    )
    other = compiled(
        named + "const c = do { Slot({ part: Own(a) }) }; const d = do { Slot({ part: Own(b) }) }; Judge(a, b, c, d)", folder
    )
    blocks = [[name for name in made.documents["result"]["properties"] if "do" in name] for made in (equal, other)]
    assert blocks == [["step3_do_slot"], ["step4_do_slot", "step6_do_slot"]]


def test_blocks_that_read_the_failures_of_different_tries_are_two(folder: Path) -> None:
    inner = "try { Get_Activity(a) } else { const b = do { A(error) }; B(a, b) }"
    made = compiled(f"try {{ Get_Activity(prompt) }} else {{ const a = do {{ A(error) }}; {inner} }}", folder)
    assert made.documents["process"]["$defs"]["LLM_3"]["properties"]["step7_b"]["references"] == ["step3_do_a", "step6_do_a"]


def test_instructions_written_in_place_are_told_apart_by_their_content(folder: Path) -> None:
    text = "const {0} = prompt | @{{ title: 'Odd', type: 'object', properties: {{ x: {{ type: '{1}' }} }} }}; "
    made = compiled(text.format("p", "string") + text.format("q", "integer") + "Judge(p, q)", folder).documents["tool"][
        "properties"
    ]
    assert [made[key]["properties"] for key in ("step1_odd", "step2_odd")] == [{"x": TEXT}, {"x": {"type": "integer"}}]


def test_what_prepares_a_call_is_filled_in_by_a_model_and_answered_by_an_activity_of_its_name(folder: Path) -> None:
    made = compiled("Find_Activity(prompt)", folder).documents
    assert made["tool"]["properties"]["step1_find"]["required"] == ["query"]
    contexts = [context["properties"] for context in made["process"]["$defs"].values()]
    assert [each["activity"] for steps in contexts for each in steps.values() if "activity" in each] == ["Find", "Find_Activity"]


def test_an_argument_that_an_activity_need_not_have_is_left_out_where_it_is_null(folder: Path) -> None:
    made = compiled("const a = Perhaps(prompt); Look_Activity(q: a.word)", folder).documents["process"]
    steps = {key: step for context in made["$defs"].values() for key, step in context["properties"].items()}
    assert steps["step2_look"]["arguments"] == {"q": {"path": "step1_perhaps.word", "optional": True}}


@pytest.mark.parametrize("text", ["Slot({ part: A(Get_Activity(B(prompt))) })", "Rated_Mixin(A(Get_Activity(B(prompt))))"])
def test_a_mixin_lets_out_what_an_activity_needs_that_is_read_further_in(folder: Path, text: str) -> None:
    steps = compiled(f"Noted_Mixin({text})", folder).documents["result"]["properties"]
    assert list(steps)[:2] == ["step1_b", "step2_get"]


def test_an_object_under_a_key_that_reads_a_key_before_it_hands_its_members_on(folder: Path) -> None:
    round_ = "const d = {{ k: {{ first: Base(prompt), {0} }} }}; const j = Judge(d, previous.d.k); j"
    for member in ("b: first", "b: { c: first }"):
        assert problems(f"repeat {{ {round_.format(member)} }} until j.good", folder) == []


@pytest.mark.parametrize("hints", [True, False])
def test_a_model_is_told_to_leave_an_answer_of_others_null_only_with_hints(folder: Path, *, hints: bool) -> None:
    [made] = instrc.artefacts("Get_Activity(prompt)", roots=[folder], hints=hints)
    assert ("Leave it null" in dumps(made.documents["flat"])) == hints


def test_a_problem_of_a_called_program_shows_the_call(folder: Path) -> None:
    (folder / "wrong.aug").write_text("input of;\nB(nope)", encoding="utf-8")
    [problem] = problems("const a = A(prompt); Wrong(of: a)", folder)
    assert (problem.name, [call.text for call in problem.calls]) == ("unknown-name", ["Wrong(of: a)"])


def test_of_several_mixins_those_are_named_that_need_each_other(folder: Path) -> None:
    one, two = "Introspect_Mixin(A(B, own))", "Introspect_Mixin(B(SelfEvaluate_Mixin(own), B))"
    text = f"const own = Own(prompt); Judge(Introspect_Mixin(Slot(prompt)), {one}, {two}, Introspect_Mixin(Slot(own)))"
    [problem] = problems(text, folder)
    assert isinstance(problem, instrc.problems.steps.EntangledMixins)
    assert {problem.at and problem.at.text, problem.other and problem.other.text} == {one, two}


def test_of_mixins_that_need_each_other_in_a_circle_the_first_two_are_named(folder: Path) -> None:
    names = "const a = A(prompt); const b = B(prompt); const c = Own(prompt);"
    one = "Introspect_Mixin(Judge(SelfEvaluate_Mixin(a), c))"
    two = "Introspect_Mixin(Slot(SelfEvaluate_Mixin(b), a))"
    three = "Introspect_Mixin(Derived(SelfEvaluate_Mixin(c), b))"
    text = f"{names} {{ w: Introspect_Mixin(Base), x: {one}, y: {two}, z: {three}, last: Introspect_Mixin(Closed) }}"
    [problem] = problems(text, folder)
    assert isinstance(problem, instrc.problems.steps.EntangledMixins)
    assert (problem.other and problem.other.text, problem.at and problem.at.text) == (one, two)


def test_what_is_required_below_a_slot_may_be_added_by_what_fills_it(folder: Path) -> None:
    text = 'Slot({ part: A }) @ { properties: { part: { required: ["z"], properties: { q: {} } } } }'
    assert problems(text, folder) == []
    assert [problem.name for problem in problems(text.replace("({ part: A })", ""), folder)] == ["missing-from-properties"]


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


PAIR = "{ a: A(prompt), b: B(prompt) }"
PLACES = {"alone": "%s", "under a key": "{ key: %s }", "in a slot": "Slot(prompt, { part: %s })"}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(
    "given",
    ["aug:pair({ of: prompt })", "pair", "aug:again(prompt)"],
    ids=["a called program", "by a name", "a program that calls another"],
)
def test_a_mixin_is_put_around_an_object_whoever_gives_it(folder: Path, place: str, given: str) -> None:
    (folder / "again.aug").write_text("aug:pair({ of: prompt })", encoding="utf-8")
    before = "const pair = aug:pair({ of: prompt }); " if given == "pair" else ""
    written = compiled(place % f"Noted_Mixin({{ default: {PAIR} }})", folder)
    assert compiled(before + place % f"Noted_Mixin({given})", folder).documents["tool"] == written.documents["tool"]


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_of_two_mixins_around_an_object_neither_is_lost(folder: Path, place: str) -> None:
    tool = compiled(place % f"Noted_Mixin(Rated_Mixin({{ default: {PAIR} }}))", folder).documents["tool"]
    found = next(iter(tool["properties"].values())) if place != "%s" else tool
    if place == PLACES["in a slot"]:
        found = tool["properties"]["part"]
    assert list(found["properties"]) == ["note", "a", "b", "rate"]


@pytest.mark.parametrize("given", [f"{{ default: {PAIR} }}", "aug:pair({ of: prompt })", "pair", "Rated_Mixin(pair)"])
def test_under_two_keys_an_object_has_steps_of_its_own_twice(folder: Path, given: str) -> None:
    before = f"const pair = {PAIR}; " if given.endswith(("pair", "pair)")) else ""
    tool = compiled(f"{before}{{ one: Noted_Mixin({given}), two: Noted_Mixin({given}) }}", folder).documents["tool"]
    found = [set(slot["properties"]) - {"note", "rate"} for slot in tool["properties"].values()]
    assert found == [{"a", "b"}, {"a_2", "b_2"}]


@pytest.mark.parametrize("member", ["step", "kind", "code", "message"])
def test_what_an_error_tells_has_its_type(folder: Path, member: str) -> None:
    text = f"try {{ Get_Activity(prompt) }} else {{ when error.{member} is 1 {{ A(error) }} }}"
    assert [problem.name for problem in problems(text, folder)] == ["never-true"]


def test_expressions_that_stand_alone_are_numbered_by_their_place(folder: Path) -> None:
    (folder / "three.aug").write_text("A(prompt);\nconst b = B(prompt);\nGet_Activity(b)", encoding="utf-8")
    [problem] = problems("aug:three(prompt)", folder)
    assert isinstance(problem, UnchosenExport)
    assert problem.known == ("(1)", "(3)")


@pytest.mark.parametrize(("member", "read"), [('"b c"', 'step1_odd."b c"'), ('"b.c"', 'step1_odd."b.c"'), ('"b"', "step1_odd.b")])
def test_a_name_that_is_no_identifier_is_quoted_wherever_a_path_is_written(folder: Path, member: str, read: str) -> None:
    process = compiled(f"const o = Odd(prompt); const a = Get_Activity(o.{member}); Slot(a)", folder).documents["process"]
    step = process["$defs"]["SERVER_1"]["properties"]["step2_get"]
    assert (step["arguments"], step["references"]) == (read, [read])


def test_a_model_that_chooses_from_a_list_of_a_model_is_asked_after_it(folder: Path) -> None:
    text = "const l = Names(prompt); B(l, { y: OneOf(l.names) })"
    process = compiled(f"{text} | Get_Activity", folder).documents["process"]
    assert list(process["properties"]) == ["llmContext1", "llmContext2", "serverContext1"]


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


def test_a_block_with_a_called_program_that_is_written_twice_is_one(folder: Path) -> None:
    block = "do { const a = A(prompt); Team(prompt, of: a.x) }"
    once, twice = (compiled(text, folder) for text in (f"const d = {block}; B(d, d)", f"B({block}, {block})"))
    assert dumps(once.documents) == dumps(twice.documents)


def test_a_name_that_stands_for_nothing_is_told_though_nobody_uses_it(folder: Path) -> None:
    [problem] = problems("const other = Nowhere; tool it = A(prompt)", folder)
    assert (problem.name, problem.at and problem.at.text) == ("unknown-name", "Nowhere")


def test_a_tool_of_one_step_has_its_name_for_a_title_where_the_vibe_has_none(folder: Path) -> None:
    (folder / "Titled.vibe.json").write_text(dumps({**an_object(x=TEXT), "title": "A letter"}), encoding="utf-8")
    for name, title in (("A", "it"), ("Titled", "A letter")):
        assert compiled(f"tool it = {name}(prompt)", folder).documents["tool"]["title"] == title


def test_a_task_of_a_plan_is_held_to_all_that_its_tool_says_of_the_arguments(folder: Path) -> None:
    tool = {**an_object(q=TEXT, output=TEXT), "required": ["q"], "additionalProperties": False, "maxProperties": 1}
    (folder / "Strict_Activity.vibe.json").write_text(dumps(tool), encoding="utf-8")
    (folder / "Act.vibe.json").write_text(dumps(an_object(plan={"type": "array"})), encoding="utf-8")
    made = compiled("RunPlan_Activity(Act(prompt, { plan: Plan(Strict_Activity) }).plan)", folder).documents["tool"]
    [task] = made["properties"]["step1_act"]["properties"]["plan"]["items"]["anyOf"]
    arguments = task["properties"]["arguments"]
    assert {word: arguments.get(word) for word in ("type", "additionalProperties", "maxProperties")} == {
        "type": "object",
        "additionalProperties": False,
        "maxProperties": 1,
    }


def test_what_prepares_an_activity_that_is_given_only_a_decision_does_not_hide_that(folder: Path) -> None:
    (folder / "Approve_User.vibe.json").write_text(dumps(an_object(decision={"enum": ["yes", "no"]})), encoding="utf-8")
    [problem] = problems("const a = A(prompt); const ok = Approve_User({ a }); Find_Activity(ok)", folder)
    assert (problem.name, problem.at and problem.at.text) == ("unread-result", "Find_Activity(ok)")


def test_what_fails_does_so_after_all_that_stands_beside_it(folder: Path) -> None:
    (folder / "Undo_Activity.vibe.json").write_text(dumps(an_object(id=TEXT)), encoding="utf-8")
    for written in ("Fail(error); Undo_Activity(prompt)", "Undo_Activity(prompt); Fail(error)"):
        process = compiled(f"try {{ Get_Activity(prompt) }} else {{ {written} }}", folder).documents["process"]
        steps = [key for context in process["$defs"].values() for key in context.get("properties", ()) if key.startswith("step")]
        assert steps == ["step1_get", "step2_undo", "step3_fail"]


@pytest.mark.parametrize(
    ("excluded", "asked"),
    [('{ const: "k" }', {"anyOf": [{"const": "k"}, {"type": "null"}]}), ('{ type: "null" }', {"type": "null"})],
)
def test_a_condition_that_excludes_a_value_excludes_null_beside_it(excluded: str, asked: Any, folder: Path) -> None:
    process = compiled(f"const p = Perhaps(prompt); when p.word @ {{ not: {excluded} }} {{ A(p) }}", folder).documents["process"]
    branch = process["$defs"]["WHEN_1"]["anyOf"][0]
    assert branch["when"]["schema"] == {"not": asked}


def test_a_block_at_the_top_that_nothing_reads_has_no_place_in_the_result(folder: Path) -> None:
    with pytest.warns(instrc.CompileWarning, match="unread-pipe"):
        result = compiled("do { Get_Activity(prompt) } | do { B(prompt) }", folder).documents["result"]
    assert list(result["properties"]) == ["step3_do_b"]


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


def test_what_no_steps_of_a_mixin_satisfy_is_told_at_the_mixin(folder: Path) -> None:
    text = "Process(LLM_Context(Noted_Mixin(B(A(prompt)))) @ { properties: { step1_a: false } })"
    [problem] = problems(text, folder)
    assert (problem.name, problem.at and problem.at.text) == ("unsatisfiable", "Noted_Mixin(B(A(prompt)))")


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


def test_each_step_that_refers_to_itself_refers_to_a_definition_of_its_key(folder: Path) -> None:
    (folder / "Tree.vibe.json").write_text(dumps(an_object(of={"$ref": "#"})), encoding="utf-8")
    tool: Any = compiled("{ a: Tree, b: Tree }", folder).documents["tool"]
    of = {key: step["properties"]["of"] for key, step in tool["properties"].items()}
    assert of == {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}}


def test_words_that_the_compiler_writes_are_not_taken_from_a_vibe(folder: Path) -> None:
    words = {"activity": "Another", "references": ["elsewhere"], "arguments": {"x": "elsewhere"}}
    (folder / "Wordy.vibe.json").write_text(dumps({**an_object(x=TEXT), **words}), encoding="utf-8")
    tool: Any = compiled("{ w: Wordy }", folder).documents["tool"]
    assert tool["properties"]["w"] == {"description": "Use prompt.", **an_object(x=TEXT)}
