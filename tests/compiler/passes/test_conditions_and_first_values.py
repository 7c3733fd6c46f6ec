"""Comparisons, `and`, rounds that are counted, and what the first round reads: what they become, and mistakes with them."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from marked_mistakes import assert_one_problem, found
from objects import an_object

import instrc
from instrc import Report
from instrc.compiler.compose import conditions  # its search is counted
from instrc.process.process import Process

TEXT = {"type": "string"}
MAYBE = {"type": ["string", "null"]}
VIBES: dict[str, Any] = {
    "Check": an_object(
        ok={"type": "boolean"}, level={"enum": ["low", "high"]}, note=MAYBE, score={"type": "number", "maximum": 10}, text=TEXT
    ),
    "Draft": an_object(text=TEXT, who=TEXT, parts={"type": "array", "items": TEXT}),
    "Send_Activity": an_object(id=TEXT),
    "Open": an_object(text=TEXT, ok={"type": "boolean"}, more={}, whole=an_object(text=TEXT)),
    "Post_Activity": an_object(text=TEXT, output=an_object(id=TEXT)),
    "Plain_Mixin": an_object(note=TEXT, default={}),
}
C = "const c = Check(prompt); const d = Draft(c); "
P = "repeat { const s = Post_Activity(text: previous.m); const w = Open(s); const m = w.more; w } "
R = "repeat { const c = Check(prompt, previous.c); const e = c.text; const o = { c, n: 1 }; const k = 3; c } "


def definitions(text: str) -> Any:
    [artefact] = instrc.artefacts(text, vibes=VIBES, report=Report())
    process = artefact.documents["process"]
    assert Process.from_json(process).to_json() == process
    return process


def the_condition(written: str) -> Any:
    more = "const limit = 7; const e = Check(d); " if "limit" in written or "e.score" in written else ""
    process = definitions(C + more + f"when {written} {{ Send_Activity(prompt) }}")
    first = process["$defs"]["WHEN_1"]["anyOf"][0]["when"]
    by_size = "'minimum': '" in str(first) or "'exclusiveMaximum': '" in str(first)
    version = 2 if by_size else 1 if any(word in str(first) for word in ("allOf", "equals", "differs")) else None
    assert process.get("instrc") == version
    return {word: value for word, value in first.items() if word != "value"}


def score(**limits: Any) -> Any:
    return {"path": "step1_check.score", "schema": {"type": "number", **limits}}


OK = {"path": "step1_check.ok", "schema": {"const": True}}
LOW = {"path": "step1_check.level", "schema": {"const": "low"}}


@every_case(
    ("written", "made"),
    [
        ("c.score >= 8", score(minimum=8)),
        ("c.score > 0.5", score(exclusiveMinimum=0.5)),
        ("c.score <= -1", score(maximum=-1)),
        ("c.score<8", score(exclusiveMaximum=8)),
        ('c.level is not "low"', {"path": "step1_check.level", "schema": {"not": {"enum": ["low", None]}}}),
        ("c.note is not null", {"path": "step1_check.note", "schema": {"not": {"type": "null"}}}),
        ("c.note is null", {"path": "step1_check.note", "schema": {"const": None}}),
        ("c.text is d.text", {"path": "step1_check.text", "equals": "step2_draft.text"}),
        ("c.text is not d.text", {"path": "step1_check.text", "differs": "step2_draft.text"}),
        ("c.score >= e.score", {"path": "step1_check.score", "minimum": "step3_check.score"}),
        ("c.score < e.score", {"path": "step1_check.score", "exclusiveMaximum": "step3_check.score"}),
        (
            "c.score > limit and c.score < e.score",
            {"allOf": [score(exclusiveMinimum=7), {"path": "step1_check.score", "exclusiveMaximum": "step3_check.score"}]},
        ),
        ('c.ok and c.level is "low"', {"allOf": [OK, LOW]}),
        ('c.ok or c.level is "low"', {"anyOf": [OK, LOW]}),
        ('c.score > 1 or c.ok and c.level is "low"', {"anyOf": [score(exclusiveMinimum=1), {"allOf": [OK, LOW]}]}),
        (
            "c.ok and c.text is d.text or c.ok",
            {"anyOf": [{"allOf": [OK, {"path": "step1_check.text", "equals": "step2_draft.text"}]}, OK]},
        ),
    ],
)
def test_a_condition_becomes_schemas(written: str, made: Any) -> None:
    assert the_condition(written) == made


def test_a_condition_of_many_tests_is_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[object] = []
    monkeypatch.setattr(conditions, "disjoint", lambda *pair: bool(pairs.append(pair)))
    tests = " and ".join(f'c.text is not "{number}"' for number in range(1_000))
    definitions(f"{C}when {tests} {{ c }} else {{ d }}")
    assert 1_000 < len(pairs) < 5_000


def test_a_name_of_a_literal_is_that_literal() -> None:
    process = definitions('const low = "low"; ' + C + "when c.level is low { Send_Activity(prompt) }")
    assert process["$defs"]["WHEN_1"]["anyOf"][0]["when"]["schema"] == {"const": "low"}


@every_case(
    ("written", "least", "most"),
    [
        ("repeat i in 4 { Draft(i, previous) }", 4, 4),
        ("repeat i in 4 { const c = Check(i); c } until c.ok", 1, 4),
        ("each i in 4 { Draft(i) }", 4, 4),
    ],
)
def test_rounds_are_counted(written: str, least: int, most: int) -> None:
    block = next(each for name, each in definitions(written)["$defs"].items() if name in {"REPEAT_1", "EACH_1"})
    assert (block["minItems"], block["maxItems"]) == (least, most)
    assert (block.get("repeat") or block["each"])["in"] == 4


def test_the_first_round_reads_what_from_gives_by_keys() -> None:
    text = "repeat { const d = Draft(previous.who, previous.last); const who = d.who; const last = do { d.text }; d } "
    process = definitions("const f = Check(prompt); " + text + 'from { who: "triage", last: f.text } until d.who is "x"')
    assert process["$defs"]["REPEAT_1"]["repeat"]["from"] == {
        "step2_draft": {"who": {"const": "triage"}},
        "step3_do": "step1_check.text",
    }
    assert process["instrc"] == 1


def run(text: str, **answers: Any) -> Any:
    model = instrc.Scripted(answers)
    done = instrc.run(text, "go", vibes=VIBES, model=model, activities={"Send_Activity": lambda _: {"id": "sent"}})
    assert done.status == "done", done.outcome
    return done, model


def test_a_run_starts_with_the_first_values() -> None:
    text = (
        "repeat { const d = Draft(previous.who, rounds); const who = d.who; d } " + 'from { who: "triage" } until d.who is "end"'
    )
    answers = [{"text": "", "who": who, "parts": []} for who in ("a", "end")]
    done, model = run(text, draft=answers)
    shown = [request.command["context"] for request in model.sent]
    assert [each["previous"] for each in shown] == [{"step1_draft": {"who": "triage"}}, {"step1_draft": {"who": "a"}}]
    assert [len(each["rounds"]) for each in shown] == [0, 1]
    assert done.value["who"] == "end"


@every_case(
    ("condition", "check", "draft", "holds"),
    [
        ("c.score >= 8", {"score": 8}, {}, True),
        ("c.score > 8", {"score": 8}, {}, False),
        ("c.score > e.score", {"score": 8}, {}, False),
        ("c.score <= e.score", {"score": 8}, {}, True),
        ("c.note is d.text", {"note": None}, {}, False),
        ("c.note is not d.text", {"note": None}, {}, False),
        ("c.note is not d.text", {"note": "b"}, {"text": "a"}, True),
        ("c.note is d.text and c.ok", {"note": "a", "ok": True}, {"text": "a"}, True),
        ("c.note is d.text and c.ok", {"note": "a", "ok": False}, {"text": "a"}, False),
        ("c.ok and c.score > 8 or c.note is d.text", {"ok": False, "note": "x"}, {"text": "x"}, True),
        ('c.note is not "x"', {"note": None}, {}, False),
        ("c.note is not null", {"note": "x"}, {}, True),
    ],
)
def test_conditions_in_a_run(condition: str, check: Any, draft: Any, *, holds: bool) -> None:
    answers = {"ok": True, "level": "low", "note": "n", "score": 1, "text": "t", **check}
    done, _ = run(
        C + ("const e = Check(d); " * ("e." in condition)) + f"when {condition} {{ Send_Activity(d) }} else {{ null }}",
        check=answers,
        draft={"text": "t", "who": "w", "parts": [], **draft},
    )
    assert (done.value is not None) == holds


@every_case(
    "text",
    [
        P + 'from { m: "a" } until w.ok',
        "const o = Open(prompt); " + P + "from { m: o.text } until w.ok",
        "const o = Open(prompt); " + P + "from { m: o.more } until w.ok",
        "const o = Open(prompt); " + P.replace(".m)", ".m.a)") + "from { m: { a: o.more.x } } until w.ok",
        (
            "repeat { const s = when round > 1 { Post_Activity(text: previous.m) } else { null }; const w = Open(s); "
            "const m = w.more; w } from { m: { a: 1 } } until w.ok"
        ),
    ],
)
def test_a_first_value_that_may_fit_is_no_mistake(text: str) -> None:
    report = Report()
    instrc.artefacts(text, vibes=VIBES, report=report)
    assert not report.failed


def test_a_first_value_that_a_call_cannot_take_names_the_argument() -> None:
    [problem] = found(P + "from { m: { a: 1 } } until w.ok", VIBES)
    assert problem.message.endswith("`text` of `Post_Activity`: it receives the type object, and takes string")


MISTAKES = [
    # comparisons
    (C + "when c.score «==» 8 { Send_Activity(d) }", "unknown-operator", "write `is`"),
    (C + 'when c.level «!=» "low" { Send_Activity(d) }', "unknown-operator", "write `is not`"),
    (C + 'when c.level «!==» "low" { Send_Activity(d) }', "unknown-operator", "write `is not`"),
    (C + "when c.ok «&&» c.score > 3 { Send_Activity(d) }", "unknown-operator", "write `and`"),
    (C + "when c.ok «||» c.score > 3 { Send_Activity(d) }", "unknown-operator", "write `or`"),
    (C + "when c.score «=>» 3 { Send_Activity(d) }", "unknown-operator", "write `>=`"),
    (C + "when «c.score >= d.text» { Send_Activity(d) }", "never-true", ""),
    (C + 'when c.score < «"8"» { Send_Activity(d) }', "bad-condition", "write a number"),
    (C + "when c.score < «null» { Send_Activity(d) }", "bad-condition", "write a number"),
    (C + "when c.score >= «{» Send_Activity(d) }", "bad-condition", "write a number"),
    (C + "when «c.text >= 3» { Send_Activity(d) }", "never-true", ""),
    (C + "when «c.score > 10» { Send_Activity(d) }", "never-true", ""),
    (C + "when «c.score <= 10» { Send_Activity(d) }", "always-true", ""),
    (C + "when «c.ok < 1» { Send_Activity(d) }", "never-true", ""),
    (C + "when «d.parts > 1» { Send_Activity(c) }", "never-true", ""),
    (C + 'when «c.level is not "other"» { Send_Activity(d) }', "always-true", ""),
    (C + "when «c.text is not null» { Send_Activity(d) }", "always-true", ""),
    (C + "when c.level is not «low» { Send_Activity(d) }", "bad-condition", 'is "low"'),
    (C + "when c.level is «low» { Send_Activity(d) }", "bad-condition", 'is "low"'),
    (C + "when c.level is not «{» Send_Activity(d) }", "bad-condition", ""),
    (C + 'when c.level is «in» ["low"] { Send_Activity(d) }', "bad-condition", "enum"),
    (C + 'const l = ["low"]; when c.level is «l» { Send_Activity(d) }', "bad-condition", "enum"),
    # two paths
    (C + "when c.text is d.«txt» { Send_Activity(d) }", "unknown-member", "`text`"),
    (C + "when «c.score is d.text» { Send_Activity(d) }", "never-true", "no value matches both"),
    (C + "when «c is d.text» { Send_Activity(d) }", "never-true", "no value matches both"),
    (C + "when «c.score is not d.text» { Send_Activity(d) }", "always-true", ""),
    # and, or, not
    (C + "when c.ok and «true» { Send_Activity(d) }", "bad-condition", "write the path again"),
    (C + 'when c.level is "low" or «"high"» { Send_Activity(d) }', "bad-condition", "write the path again"),
    (C + "when c.ok and «not» c.note { Send_Activity(d) }", "unknown-operator", "is false"),
    (C + "when «not» c.ok { Send_Activity(d) }", "unknown-operator", "is false"),
    (C + "when c.ok and «{» Send_Activity(d) }", "incomplete-block", ""),
    (C + "when c.ok and «(»c.note) { Send_Activity(d) }", "bad-condition", ""),
    # cases that are all there is, or taken already
    (C + "when «c.ok is true or c.ok is false» { Send_Activity(d) }", "always-true", ""),
    (C + 'when «c.level is "low" or c.level is "high"» { Send_Activity(d) }', "always-true", ""),
    (C + "when c.ok { Send_Activity(d) } else when «c.ok» { Draft(c) }", "never-true", "before it"),
    (C + "when c.score > 3 { Send_Activity(d) } else when «c.score > 5» { Draft(c) }", "never-true", "before it"),
    (C + "when c.score > 3 { Send_Activity(d) } else when «c.score > 5» and c.ok { Draft(c) }", "never-true", "before it"),
    # the version of the language
    ("«language 2»; Draft(prompt)", "newer-language", "language 1"),
    ("«language 0»; Draft(prompt)", "misplaced-language", "language 1"),
    ("«language 1.5»; Draft(prompt)", "misplaced-language", "language 1"),
    ("language 1; «language 1»; Draft(prompt)", "misplaced-language", "first line"),
    # rounds that are counted
    ("repeat i in «0» { Draft(i) }", "bad-bound", "such a number"),
    ("repeat i in «1.5» { Draft(i) }", "bad-bound", "such a number"),
    ("repeat i in «2000» { Draft(i) }", "over-limit", "max 2000"),
    ("repeat i in «5» { const c = Check(i); c } until c.ok max 3", "over-limit", "larger `max`"),
    # first values
    (R + "from { «cc»: null } until c.ok", "wrong-first-value", "`c`"),
    (R + "from { «k»: 1 } until c.ok", "wrong-first-value", "`c`"),
    (R + "from { «o»: 1 } until c.ok", "wrong-first-value", "`c`"),
    (R + 'from { c: { text: "" }, «e»: "x" } until c.ok', "wrong-first-value", ""),
    (R + "from { e: «3» } until c.ok", "wrong-first-value", ""),
    ("const x = Check(prompt); " + R + "from { c: «x.text» } until c.ok", "wrong-first-value", ""),
    # what a call of the first round is given, where the name itself takes anything
    (P + "from { m: «{ a: 1 }» } until w.ok", "wrong-first-value", "leave the name out"),
    (P + "from { m: «3» } until w.ok", "wrong-first-value", "leave the name out"),
    ("const o = Open(prompt); " + P + "from { m: «o.whole» } until w.ok", "wrong-first-value", "leave the name out"),
    ("const o = Open(prompt); " + P + "from { m: «{ a: o.text }» } until w.ok", "wrong-first-value", "leave the name out"),
    (P.replace(".m)", ".m.a)") + "from { m: «{ a: { b: 1 } }» } until w.ok", "wrong-first-value", "leave the name out"),
    (
        "const o = Open(prompt); " + P.replace(".m)", ".m.a)") + "from { m: «{ a: o.whole }» } until w.ok",
        "wrong-first-value",
        "leave the name out",
    ),
    (R + "from { e: «unknown» } until c.ok", "unknown-name", ""),
    (R + "from { e: prompt, «e»: prompt } until c.ok", "repeated-key", ""),
]


@every_case(("marked", "name", "advice"), MISTAKES)
def test_each_mistake_is_one_problem_at_its_place(marked: str, name: str, advice: str) -> None:
    assert_one_problem(marked, name, advice, VIBES)


@every_case("head", ["language 1;", "language 1", "// a note\nlanguage 1\n", "/* a */ language 1; /* b */"])
def test_the_version_of_the_language_changes_no_byte(head: str) -> None:
    text = "const d = Draft(prompt); Send_Activity(d)"
    assert instrc.compile(f"{head} {text}", vibes=VIBES) == instrc.compile(text, vibes=VIBES)


@every_case("text", ["const language = Draft(prompt); Send_Activity(language)", "input language; Draft(language)"])
def test_words_stay_names(text: str) -> None:
    assert instrc.compile(text, vibes=VIBES)


def test_plain_keys_have_no_number() -> None:
    text = "const d = Draft(prompt); const e = Draft(d); each i in 2 { Check(e) }"
    [artefact] = instrc.artefacts(text, vibes={**VIBES, "Error": VIBES["Draft"]}, naming="plain", report=Report())
    assert list(artefact.documents["result"]["properties"]) == ["draft", "draft_2", "each_check"]
    [artefact] = instrc.artefacts(
        'const e = @{ title: "Error", type: "object" }; do { Send_Activity(e) }', vibes=VIBES, naming="plain"
    )
    assert "error_2" in artefact.documents["result"]["properties"]


@every_case("test", ["c.n < 5 or c.n >= 5", "c.n >= 5 or c.n < 5"])
def test_a_null_satisfies_no_comparison(test: str) -> None:
    vibes = {"Check": an_object(n={"type": ["integer", "null"], "minimum": 0}), "Send_Activity": VIBES["Send_Activity"]}
    assert instrc.check(f"const c = Check(prompt); when {test} {{ Send_Activity(c) }}", vibes=vibes) == ()


def test_branches_are_compared_with_the_ones_before_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    implied = conditions.implies
    monkeypatch.setattr(conditions, "implies", lambda *given: asked.append(1) or implied(*given))
    branches = " else ".join(f"when c.more is {number} {{ Send_Activity(n: {number}) }}" for number in range(200))
    instrc.compile(f"const c = Open(prompt); {branches}", vibes=VIBES | {"Send_Activity": an_object(n={})})
    assert len(asked) <= 200 * conditions.COMPARED_TESTS
