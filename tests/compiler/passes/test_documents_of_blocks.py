"""What the documents of a program say of its steps, its values and the values of its blocks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from every_case import every_case
from jsonschema import Draft202012Validator

import instrc
from instrc import Artefact, Report
from instrc.compiler.compose import outcomes  # a limit is lowered here
from instrc.compiler.emit.vibes import emit_vibe  # the process as a vibe, before it is a file
from instrc.schema.flattening.flatten import flatten

TEXT = {"type": "string"}
A = {"type": "object", "properties": {"x": TEXT}, "required": ["x"]}
B = {"type": "object", "properties": {"y": TEXT}}
VIBES: dict[str, Any] = {
    "A": {"$schema": "https://json-schema.org/draft/2020-12/schema", **A},
    "B": B,
    "Judge": {"type": "object", "properties": {"good": {"type": "boolean"}}},
    "Get_Activity": B,
    "Search_Activity": {"type": "object", "properties": {"output": TEXT}},
    "Tree": {"type": "object", "properties": {"child": {"$ref": "#"}, "name": TEXT}},
    "Act": {"type": "object", "properties": {"plan": {}}, "required": ["plan"]},
}


def compiled(text: str) -> Artefact:
    [made] = instrc.artefacts(text, vibes=VIBES, hints=False, report=Report())  # warnings are no subject here
    return made


def test_a_step_does_not_repeat_the_dialect_of_its_vibe() -> None:
    made = compiled("const a = A(prompt); B(a)")
    assert made.documents["tool"]["properties"] == {"step1_a": A, "step2_b": B}


@every_case("hints", [False, True])
def test_a_step_of_a_process_can_be_changed_without_others_of_its_instruction(*, hints: bool) -> None:
    text = "const a = A(prompt); const b = A(a); const s = Get_Activity(b); const t = Get_Activity(s); A(t)"
    first, second = (instrc.artefacts(text, vibes=VIBES, hints=hints, report=Report())[0].documents["process"] for _ in range(2))
    for chunk in ("LLM_1", "SERVER_1"):
        steps = first["$defs"][chunk]["properties"]
        changed, *others = steps
        steps[changed]["description"] = "mine"
        steps[changed]["references"].append("mine")
        steps[changed]["arguments"] = "mine"
        assert others
        assert [steps[key] for key in others] == [second["$defs"][chunk]["properties"][key] for key in others]
    assert first["$defs"]["LLM_2"] == second["$defs"]["LLM_2"]


def test_a_deadline_is_that_of_one_step_not_of_others_of_its_instruction() -> None:
    text = 'const s = Get_Activity(prompt) @ { within: "PT5S" }; const t = Get_Activity(s); Get_Activity(t) @ { delay: "PT1S" }'
    steps = compiled(text).documents["process"]["$defs"]["SERVER_1"]["properties"].values()
    assert [(each.get("within"), each.get("delay")) for each in steps] == [("PT5S", None), (None, None), (None, "PT1S")]


def test_the_number_of_a_counted_each_is_an_integer_up_to_the_count() -> None:
    [each] = compiled("each i in 3 { { number: i, a: A(i) } }").documents["result"]["properties"].values()
    assert each["items"]["properties"]["number"] == {"type": "integer", "minimum": 1, "maximum": 3}


@pytest.mark.parametrize(
    ("given", "value"),
    [("b", None), ("b.y", "step3_b.y"), ("{ what: a.x, b }", {"what": "step1_a.x", "b": "step3_b"}), ("{ b }", {"b": "step3_b"})],
)
def test_a_process_says_what_it_gives_where_that_is_a_member(given: str, value: Any) -> None:
    made = compiled(f"const a = A(prompt); const s = Get_Activity(a); const b = B(s); {given}")
    assert made.documents["process"].get("value") == value


JUDGED = "const j = Judge(prompt); "


@every_case(
    ("block", "value"),
    [
        (JUDGED + "when j.good { A(prompt) }", {"anyOf": [A, {"type": "null"}]}),
        (JUDGED + "when j.good { A(prompt) } else { B(prompt) }", {"anyOf": [A, B]}),
        (JUDGED + "when j.good { A(prompt) } else { A(j) }", A),
        ("try { Get_Activity(prompt) } else { A(prompt) }", {"anyOf": [B, A]}),
        ("each p in prompt { A(p) }", {"type": "array", "items": A}),
        ("repeat { const j = Judge(prompt); j } until j.good", VIBES["Judge"]),
        ("repeat p in prompt { A(p) }", {"type": "array", "items": A}),
        ("do { A(prompt) }", A),
        ("do { const a = A(prompt); a.x }", TEXT),
        (
            'do { const a = A(prompt); { a, word: "done" } }',
            {"type": "object", "properties": {"a": A, "word": {"const": "done"}}, "required": ["a", "word"]},
        ),
    ],
)
def test_the_result_of_a_process_kept_as_a_vibe_says_what_its_blocks_give(block: str, value: Any) -> None:
    process = compiled(block).documents["process"]
    kept = emit_vibe(flatten(process), "kept", batch=1)
    assert list(kept.documents["result"]["properties"].values())[-1] == value


@every_case(
    ("tool", "bound"),
    [
        ("Search_Activity", None),
        ("Search_Activity(b)", {"b": "step2_b"}),
        ("Search_Activity(word: a.x, b)", {"word": "step1_a.x", "b": "step2_b"}),
        ("Search_Activity(word: a.x)", {"word": "step1_a.x"}),
    ],
)
def test_what_a_program_gives_to_a_tool_of_a_plan_is_bound_by_name(tool: str, bound: Any) -> None:
    text = f"const a = A(prompt); const b = B(a); const act = Act(a, b, {{ plan: Plan({tool}) }}); RunPlan_Activity(act.plan)"
    process = compiled(text).documents["process"]
    [step] = process["$defs"]["SERVER_1"]["properties"].values()
    assert step["plan"]["tools"]["Search_Activity"].get("bound") == bound


@every_case(
    ("block", "around"),
    [
        ("do { Tree(prompt) }", lambda tree: tree),
        (JUDGED + "when j.good { Tree(j) }", lambda tree: tree),
        (JUDGED + "when j.good { Tree(j) } else { B(j) }", lambda tree: tree),
        ("each i in 2 { Tree(i) }", lambda tree: [tree, tree]),
        ("each i in 2 { { one: Tree(i), two: Tree(prompt) } }", lambda tree: [{"one": tree, "two": tree}] * 2),
    ],
)
def test_a_vibe_that_refers_to_itself_does_so_in_the_value_of_a_block(block: str, around: Any) -> None:
    schema = compiled(block).documents["result"]
    whole = Draft202012Validator({"$defs": schema.get("$defs", {}), **list(schema["properties"].values())[-1]})
    assert whole.is_valid(around({"child": {"child": {}, "name": "a"}}))
    if "else" not in block:
        assert not any(whole.is_valid(around({"child": {"child": child}})) for child in (None, [], [{}, {}], {"name": 1}))


def test_steps_are_put_into_a_property_that_refers_to_itself() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}
    vibe = {"type": "object", "properties": {"top": {"$ref": "#/$defs/node"}}, "required": ["top"], "$defs": {"node": node}}
    [made] = instrc.artefacts(
        "Nest({ top: { a: A } })", vibes={"Nest": vibe, "A": {"type": "object", "required": ["x"], "properties": {"x": {}}}}
    )
    whole = Draft202012Validator(made.documents["tool"])
    assert whole.is_valid({"top": {"a": {"x": 1}, "child": {"child": {}}}})
    assert not any(whole.is_valid({"top": top}) for top in ({}, {"a": {}}, {"a": {"x": 1}, "child": {"child": 1}}))


@every_case("name", ["LLM_1", "LLM_1_item1", "LLM_1_item2", "EACH_1_item2"])
def test_a_definition_of_a_vibe_is_not_called_like_a_context_of_any_item(name: str) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": f"#/$defs/{name}"}}}
    vibe = {"type": "object", "properties": {"first": {"$ref": f"#/$defs/{name}"}}, "$defs": {name: node}}
    [made] = instrc.artefacts("each i in 2 { List(i) }", vibes={"List": vibe}, batch=2)
    definitions = made.documents["process"]["$defs"]
    for item in ("item1", "item2"):
        assert definitions[f"EACH_1_{item}"]["type"] == "array"
        assert list(definitions[f"LLM_1_{item}"]["properties"]) == [f"step1_list_{item}"]
    assert node not in definitions.values()


@every_case(("room", "problems"), [(0, ["unknown-member"]), (-1, [])])
def test_the_value_of_a_block_is_looked_into_up_to_a_limit(
    room: int, problems: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = 7  # the object `A`, its `type`, `properties` with `x` and its `type`, `required` with `x`
    monkeypatch.setattr(outcomes, "OUTCOME_SCHEMAS", values + room)
    report = Report()
    with suppress(instrc.CompileError):
        instrc.artefacts("const a = do { A(prompt) }; B(a.z)", vibes=VIBES | {"A": A}, report=report)
    assert [problem.name for problem in report.problems] == problems


@every_case(("call", "reads"), [('Get_Activity(zone: "Rome")', []), ('Get_Activity(prompt, zone: "Rome")', ["prompt"])])
def test_an_activity_that_is_given_something_reads_nothing_else(call: str, reads: list[str]) -> None:
    document = compiled(f"do {{ {call} }}").documents["process"]
    step = document["$defs"]["SERVER_1"]["properties"]["step1_get"]
    assert step.get("references", []) == reads


def test_a_list_in_the_value_of_a_block_is_read_beside_rounds() -> None:
    text = 'const q = do { { l: [1] } }; const r = repeat { const a = A(prompt); a } until a.x is "x"; { r, l: q.l }'
    assert compiled(text).documents["process"]["value"] == {"r": "step2_repeat_a", "l": "step3_do.l"}


@every_case("value", ["[]", '["a"]', "{ l: [1] }", "{ l: { m: [{ n: [] }] } }"])
@every_case("block", ["do { VALUE }", 'when prompt is "a" { prompt } else { VALUE }', "try { prompt } else { VALUE }"])
def test_a_list_in_a_block_of_a_body_is_read_in_the_next_round(block: str, value: str) -> None:
    body = f"const a = A(prompt, previous.l); const l = {block.replace('VALUE', value)}; {{ a, l }}"
    process = compiled(f'const r = repeat {{ {body} }} until a.x is "x"; r').documents["process"]
    [read] = [each for each in process["$defs"]["LLM_1"]["properties"]["step1_a"]["references"] if each != "prompt"]
    assert read == f"previous.{process['$defs']['REPEAT_1']['repeat']['hands'][1]}"


@every_case(
    ("body", "problems"),
    [
        ("Get_Activity(prompt); A(prompt); Get_Activity(prompt)", ["same-effect"]),
        ("const g = Get_Activity(prompt); A(g); Get_Activity(prompt)", ["same-effect"]),
        ("const g = Get_Activity(prompt); A(g); B(g)", []),
        ("{ a: Get_Activity(prompt), b: B(Get_Activity(prompt)) }", []),
        ("Get_Activity(n: 1); Get_Activity(n: 2)", []),
    ],
)
def test_an_effect_that_two_lines_write_is_an_error(body: str, problems: list[str]) -> None:
    try:
        compiled(f"do {{ {body} }}")
        names = []
    except instrc.CompileError as error:
        names = [problem.name for problem in error.problems]
    assert names == problems


def test_a_file_gives_its_last_line_and_orders_the_lines_that_nothing_reads() -> None:
    both = compiled("const a = A(prompt); const b = Search_Activity(a); { a, b }").documents["process"]
    assert both["value"] == {"a": "step1_a", "b": "step2_search.output"}
    ordered = compiled("const a = A(prompt); const b = Search_Activity(a); Search_Activity(word: a.x)").documents["process"]
    assert ordered["$defs"]["SERVER_1"]["properties"]["step3_search"]["after"] == ["step2_search"]
