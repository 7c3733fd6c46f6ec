"""A data set says what a program is given and what is expected; what is wrong with it is told before any model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from every_case import every_case

import instrc

PROGRAM = """
const people = prompt | @{ title: "Find_Activity", properties: { output: { type: "array", items: { type: "string" } } } };
const mail = people | @{ title: "Draft", type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const answer = mail | @{ title: "Approve_User", type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
"""
MODEL = {"draft": {"text": "Dear Ann"}}


def evaluated(cases: object, program: str = PROGRAM, **options: object) -> instrc.EvaluationResult:
    return instrc.evaluate(program, cases, **{"model": instrc.Scripted(MODEL), **options})  # type: ignore[arg-type]


ANSWERS = {"approve": {"ok": True}}
CASE = '"input": "x", "answers": {"approve": {"ok": true}}'
FORMS = {
    "t.eval.jsonl": f'{{{CASE}, "expected": {{"ok": true}}, "id": 7}}\n',
    "set.eval.jsonl": f'{{"repeat": 2}}\n{{{CASE}, "expected": {{"draft.text": "Dear Ann"}}, "id": "7"}}\n',
    "t.eval.yaml": f"repeat: 1\ncases:\n- {{id: 7, {CASE}, expected: {{draft: {{text: Dear Ann}}}}}}\n",
    "pydantic.eval.yaml": "cases:\n- name: '7'\n  inputs: x\n  metadata: {tags: [a], weight: 2, by: ann}\n"
    "  expected_output: {ok: true}\n  evaluators: []\nevaluators: [EqualsExpected]\nreport_evaluators: []\n",
    "t.eval.py": "def cases():\n    answers = {'approve': {'ok': True}}\n"
    "    yield {'id': '7', 'input': 'x', 'expected': {'ok': True}, 'answers': answers}\n",
}


@every_case("name", FORMS)
def test_a_data_set_is_lines_yaml_or_python(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(FORMS[name], encoding="utf-8")
    program = '@{ title: "Ok", type: "object", properties: { ok: { type: "boolean" } } }' if "pydantic" in name else PROGRAM
    model = instrc.Scripted({"ok": {"ok": True}, **MODEL})
    found = instrc.evaluate(program, file, model=model)
    assert found.scores() == {"7": 1.0}
    assert len(found.results) == (2 if name.startswith("set") else 1)


def test_yaml_has_the_values_of_json(tmp_path: Path) -> None:
    case = f"{{id: 1, {CASE}, expected: {{draft: {{text: no}}}}}}"
    (tmp_path / "t.eval.yaml").write_text(f"cases:\n- {case}\n", encoding="utf-8")
    model = instrc.Scripted({**MODEL, "draft": {"text": "no"}, "ok": {"ok": True}})
    found = instrc.evaluate(PROGRAM, tmp_path / "t.eval.yaml", model=model)
    assert found.scores() == {"1": 1.0}


WRONG = {
    '{"repeat": 1}': "it has no cases",
    '{"expected": 1}': "it has no `input`",
    '{"text": "x", "label": "y"}': "case `case 1`: it has no `input`",
    '{"input": "x", "expectd": 1}': "did you mean `expected`?",
    '{"input": "x", "tags": [1]}': "`tags` is a list of texts",
    '{"input": "x", "weight": 0}': "`weight` is a number from 0.000001 to 1,000,000",
    '{"input": "x", "weight": true}': "`weight` is a number from 0.000001 to 1,000,000",
    f'{{"input": "x", "weight": {10**400}}}': "`weight` is a number from 0.000001 to 1,000,000",
    f'{{"checks": {{"a": {{"check": "number", "relative": {10**400}}}}}}}\n{{"input": "x"}}': "`relative` is a number",
    '{"input": "x", "answers": []}': "`answers` is an object",
    '{"input": "x", "id": "a"}\n{"input": "y", "id": "a"}': "another case has this id",
    '{"input": "x"}\n[1]': "a table of pandas",
    '{"input": {"prompt": "x", "langs": "de"}}': "`langs` is not declared",
    '{"input": "x", "answers": {"aprove": {}}}': "did you mean `approve`?",
    '{"check": {}}\n{"input": "x"}': "did you mean `checks`?",
    '{"repeat": 0}\n{"input": "x"}': "`repeat` is a whole number",
    '{"input": "x", "expected": {"drafft": {"text": "a"}}}': "did you mean `draft`?",
    '{"min": 2}\n{"input": "x"}': "a number from 0 to 1",
    '{"activities": "all"}\n{"input": "x"}': "`invented` or `real`",
    '{"checks": {"a": "equals"}}\n{"input": "x"}': "did you mean `equal`?",
    '{"checks": {"a": {"check": "equal", "hole": true}}}\n{"input": "x"}': "did you mean `whole`?",
    '{"checks": {"a": {"check": "number", "within": "1"}}}\n{"input": "x"}': "`within` is a number",
    '{"checks": {"a": {"check": "schema", "schema": {"type": "txt"}}}}\n{"input": "x"}': "check `a`",
    '{"checks": {"a": {"check": "function", "name": "os:getcwd"}}}\n{"input": "x"}': "on the command line",
    '{"checks": {"a": {"check": "metric"}}}\n{"input": "x"}': "`metric` is the name of a metric",
    '{"checks": {"a": {"check": "plan", "tools": {"nodes": [{"id": "a"}]}, "score": []}}}\n{"input": "x"}': "`score` one of n-F1",
    '{"checks": {"a": {"check": "plan", "tools": "no.json"}}}\n{"input": "x"}': "`tools` cannot be read",
    '{"report_evaluators": ["ConfusionMatrix"]}\n{"input": "x"}': "evaluators of reports",
    '{"checks": [1]}\n{"input": "x"}': "`checks` is an object",
    '{"input": "x", "id": "a", "id": "b"}': "id",
    '{"input": "x"}\n{"input": "y", "expected": {"drafft": 1}}': "t.eval.jsonl:2:1: ",
    "\n": "it has no cases",
    "{": "",
}


@every_case("text", WRONG)
def test_what_is_wrong_is_told_before_a_model_is_asked(tmp_path: Path, text: str) -> None:
    (file := tmp_path / "t.eval.jsonl").write_text(text, encoding="utf-8")
    model = instrc.Scripted(MODEL)
    with pytest.raises(instrc.CompileError) as refused:
        evaluated(file, model=model)
    assert WRONG[text] in str(refused.value)
    assert model.sent == []


@every_case(
    "text",
    ["def cases():\n    yield {'input': {1}}\n", "raise SystemExit(3)", "x = 1", "def cases():\n    return 1\n", "def cases(:"],
)
def test_a_file_of_python_that_fails_is_a_problem(tmp_path: Path, text: str) -> None:
    (file := tmp_path / "t.eval.py").write_text(text, encoding="utf-8")
    with pytest.raises(instrc.CompileError):
        evaluated(file)


def test_more_runs_than_anybody_waits_for_are_refused() -> None:
    with pytest.raises(instrc.SettingsError, match="more than 1,000,000 runs"):
        evaluated([{"input": "x", "answers": ANSWERS}], repeat=10**9)
