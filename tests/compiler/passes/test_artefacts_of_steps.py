"""What documents say of single steps: titles, hints, inputs, arguments, paths and what is prepared for calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from objects import an_object
from usual_vibes import TEXT, compiled, problems

import instrc
from instrc.text.jsontext import dumps


@pytest.mark.parametrize("call", ["Team(of: of)", "Team({ of: of })", "Team({ of })"])
def test_braces_give_a_program_its_inputs_by_name(call: str, folder: Path) -> None:
    made = compiled(f"const of = A(prompt); {call}", folder)
    assert list(made.documents["tool"]["properties"]) == ["step1_a", "step2_b"]


def test_previous_leads_to_a_member_of_what_a_name_had(folder: Path) -> None:
    made = compiled("repeat { const it = Judge(prompt, previous.it.advice); it } until it.good", folder)
    process = made.documents["process"]
    [step] = process["$defs"]["LLM_1"]["properties"].values()
    assert step["references"] == ["prompt", "previous.step1_judge.advice"]


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
    assert (hint or "Use who.name (in full; may be null), who.mail.") in dumps(compiled(text, folder).documents["tool"])


def test_a_process_lists_what_its_inputs_are(folder: Path) -> None:
    documents = compiled('input lang @ "ISO 639"; A(lang) | Get_Activity | B', folder).documents
    assert documents["process"]["inputs"]["lang"] == {"description": "ISO 639"}
    assert "Use lang." in dumps(documents["process"])


def test_what_prepares_a_call_is_filled_in_by_a_model_and_answered_by_an_activity_of_its_name(folder: Path) -> None:
    made = compiled("Find_Activity(prompt)", folder).documents
    assert made["tool"]["properties"]["step1_find"]["required"] == ["query"]
    contexts = [context["properties"] for context in made["process"]["$defs"].values()]
    assert [each["activity"] for steps in contexts for each in steps.values() if "activity" in each] == ["Find", "Find_Activity"]


def test_an_argument_that_an_activity_need_not_have_is_left_out_where_it_is_null(folder: Path) -> None:
    made = compiled("const a = Perhaps(prompt); Look_Activity(q: a.word)", folder).documents["process"]
    steps = {key: step for context in made["$defs"].values() for key, step in context["properties"].items()}
    assert steps["step2_look"]["arguments"] == {"q": {"path": "step1_perhaps.word", "optional": True}}


@pytest.mark.parametrize("hints", [True, False])
def test_a_model_is_told_to_leave_an_answer_of_others_null_only_with_hints(folder: Path, *, hints: bool) -> None:
    [made] = instrc.artefacts("Get_Activity(prompt)", roots=[folder], hints=hints)
    assert ("Leave it null" in dumps(made.documents["flat"])) == hints


@pytest.mark.parametrize("member", ["step", "kind", "code", "message"])
def test_what_an_error_tells_has_its_type(folder: Path, member: str) -> None:
    text = f"try {{ Get_Activity(prompt) }} else {{ when error.{member} is 1 {{ A(error) }} }}"
    assert [problem.name for problem in problems(text, folder)] == ["never-true"]


@pytest.mark.parametrize(("member", "read"), [('"b c"', 'step1_odd."b c"'), ('"b.c"', 'step1_odd."b.c"'), ('"b"', "step1_odd.b")])
def test_a_name_that_is_no_identifier_is_quoted_wherever_a_path_is_written(folder: Path, member: str, read: str) -> None:
    process = compiled(f"const o = Odd(prompt); const a = Get_Activity(o.{member}); Slot(a)", folder).documents["process"]
    step = process["$defs"]["SERVER_1"]["properties"]["step2_get"]
    assert (step["arguments"], step["references"]) == (read, [read])


def test_a_model_that_chooses_from_a_list_of_a_model_is_asked_after_it(folder: Path) -> None:
    text = "const l = Names(prompt); B(l, { y: OneOf(l.names) })"
    process = compiled(f"{text} | Get_Activity", folder).documents["process"]
    assert list(process["properties"]) == ["llmContext1", "llmContext2", "serverContext1"]


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


@pytest.mark.filterwarnings("ignore:below-fail")
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
