"""Mistakes of people who come from other languages, or who have read half of the page: one problem each, with a way out.

The marks are around the place that is shown. What is told behind it is a part of the hint.
"""

from __future__ import annotations

import pytest
from every_case import every_case
from marked_mistakes import CHECK, LETTER_VIBES, PEOPLE, TEXT, assert_one_problem, found
from objects import an_object

import instrc

VIBES = LETTER_VIBES | {"Search": an_object(query=TEXT), "Pick_User": an_object(level={"enum": ["low", "high"]})}

MISTAKES = [
    # strings and the goal
    ('«f"hello"» | Draft', "prefixed-string", "remove the `f`"),
    ("«r'hello'» | Draft", "prefixed-string", "remove the `r`"),
    ('«""»"hello""" | Draft', "tripled-quotes", 'write `"…"`'),
    ('«"Write a letter"» Draft', "text-alone", "`|` after it"),
    ('«"Write a letter"»\nconst d = Draft(prompt);\nWrite(d)', "text-alone", "before the last expression"),
    ("«Write» a letter | Draft", "not-a-program", "right file?"),
    # arrows and operators
    ("(x, y) «=>» Draft(x)", "foreign-statement", "no functions"),
    ("Draft «||» Write", "unknown-operator", "write one `|`"),
    ("Draft «&» Write", "unknown-operator", "{ a: A, b: B }"),
    (PEOPLE + "Draft(p«->»organizer)", "arrow", "write `.`"),
    (PEOPLE + "Draft(p«::»organizer)", "unknown-operator", "name.member"),
    (PEOPLE + "Draft(«...»p)", "unknown-operator", "whole value"),
    (PEOPLE + "Draft(«**»p)", "unknown-operator", "whole value"),
    ("Draft(prompt).then«(»Write)", "bracket-after-value", "| Review"),
    (PEOPLE + "when p.count «=>» 3 { Draft(prompt) }", "unknown-operator", "write `>=`"),
    (PEOPLE + "when «p.count < p.count» { Draft(prompt) }", "never-true", "both paths are the same"),
    (PEOPLE + 'when p.count < «"3"» { Draft(prompt) }', "bad-condition", "a number"),
    (PEOPLE + "when «p.count < p.organizer» { Draft(prompt) }", "never-true", "only numbers"),
    (CHECK + "when c.note «!=» null { Draft(prompt) }", "unknown-operator", "write `is not`"),
    (PEOPLE + "when «len»(p.guests) > 3 { Draft(prompt) }", "bad-condition", "write `p.guests @ { minItems: 4 }`"),
    (PEOPLE + "when «count»(p.guests) <= 2 { Draft(prompt) }", "bad-condition", "write `p.guests @ { maxItems: 2 }`"),
    ("Draft(prompt); sleep «5m»; Write(prompt)", "bad-duration", '`@ { delay: "PT5M" }`'),
    # definitions
    ("const both = People | Draft; «both»(prompt)", "not-callable", "a pipe is a value and takes nothing"),
    ("const d = Draft(prompt); «d» = Write(d); d = Draft(d); d = Write(d); Draft(d)", "repeated-name", "be reassigned"),
    (CHECK + "do { const «c» = Draft(c); const c = Write(c); c }", "repeated-name", "be reassigned"),
    ("repeat { const d = Draft(prompt, previous.«check»); Check(d) } until d.text is 'a'", "unknown-member", "`const check = …`"),
    ("«const» { organizer } = People(prompt); Draft(organizer)", "missing-name", "p.names`".replace("p.", "people.")),
    ("«const» [a, b] = People(prompt); Draft(a)", "missing-name", "read its members"),
    ("const a«,» b = Draft(prompt)", "extra-comma", "one name per statement"),
    ("input a«,» b; Draft(a, b)", "extra-comma", "input a; input b"),
    ("let d«:» Letter = Draft(prompt); Write(d)", "wrong-equals", "remove `: Letter`"),
    ("tool Letter «{» Draft(prompt) }", "missing-equals", "Letter = …"),
    ('input lang «=» "en"; Draft(lang)', "unexpected-text", "default"),
    ("input lang«:» string; Draft(lang)", "unexpected-text", 'type: "string"'),
    # keywords that are none
    ('Draft @ { required: «"tone"» }', "invalid-schema", "square brackets"),
    ('Draft @ { properties: { tone: «"warm"» } }', "invalid-schema", '{ "const": … }'),
    ('Draft @ { «tone»: "warm" }', "unknown-keyword", "A(tone: …)"),
    ('Draft @ { «"mood"»: { type: "string" } }', "unknown-keyword", "properties: { mood"),
    ('Draft @ { «model»: "gpt-5" }', "unknown-keyword", "when a program is run"),
    # braces
    ('«Draft» { tone: "warm" }', "braces-after-name", "Draft({ … })"),
    ("«Draft»{prompt}", "braces-after-name", "Draft({ … })"),
    ("«loop» { const c = Check(prompt); c } until c.ok", "braces-after-name", "repeat { … } until PATH"),
    ("«parallel» { Draft(prompt); Write(prompt) }", "braces-after-name", "do { … }"),
    (CHECK + "when c.ok { Draft(prompt) } «otherwise» { Write }", "braces-after-name", "else { … }"),
    (CHECK + "when c.ok { Draft(prompt) } «default» { Write }", "braces-after-name", "else { … }"),
    (PEOPLE + "Draft({ «p».organizer })", "missing-key", "{ organizer: p.organizer }"),
    ("{ «Draft»(prompt) }", "missing-key", "{ draft: Draft(…) }"),
    (PEOPLE + "each x in p.guests { const d = Draft(x) «}»", "missing-value", "write `d` before the `}`"),
    ("do { const a = Draft(prompt); const b = Write(a) «}»", "missing-value", "write `b` before the `}`"),
    # annotations
    ("«@»Draft", "bad-annotation", "write `Draft`"),
    ('«@»"Warmly" Draft', "bad-annotation", 'Draft @ "…"'),
    ('Draft @ { «$ref»: "aug:write" }', "unknown-operator", '"$ref"'),
    # heads of blocks
    (CHECK + "when c.ok«:» Draft", "incomplete-block", "without a colon"),
    (CHECK + "when c.ok «Draft» else Write", "incomplete-block", "goes in braces"),
    (CHECK + 'when c.level «in» ["low"] { Draft }', "incomplete-block", "enum"),
    (CHECK + "when c.note «exists» { Draft }", "incomplete-block", "PATH @ {}"),
    (CHECK + 'when c.ok«,» c.level is "low" { Draft }', "incomplete-block", "write `and`"),
    (CHECK + "when c«[»0] { Draft }", "incomplete-block", ".NAME"),
    (CHECK + 'when c.level is «[»"low", "high"] { Draft }', "bad-condition", "enum"),
    (CHECK + 'when c.level is "low" or «"high"» { Draft }', "bad-condition", 'or PATH is "high"'),
    (CHECK + "when c.ok is «True» { Draft }", "bad-condition", "write `true`"),
    (PEOPLE + "each x«,» i in p.guests { Draft(x) }", "incomplete-block", "one name"),
    (PEOPLE + "each x in p.guests «limit» 5 { Draft(x) }", "incomplete-block", "max 5"),
    (PEOPLE + "each x in p.guests «until» x.ok { Draft(x) }", "incomplete-block", "the braces: "),
    (PEOPLE + "each x in p.guests { Draft(x) } «max» 5", "stray-word", "before the braces"),
    ("each «3» { Draft(prompt) }", "incomplete-block", "each i in 3"),
    ("repeat «3» { Draft(prompt) }", "incomplete-block", "`repeat i in 3 { … }`"),
    ("repeat «max» 3 { Draft(prompt) }", "incomplete-block", "the braces: "),
    ("repeat «until» c.ok { const c = Check(prompt); c }", "incomplete-block", "the braces: "),
    ("repeat { const c = Check(prompt); c }«» max 3 until c.ok", "incomplete-block", "the braces: "),
    ("repeat { const c = Check(prompt); c } until c.ok max 3 «times»", "stray-word", "number alone"),
    ("do { const c = Check(prompt); c } «until» c.ok", "stray-word", "repeat { … } until PATH"),
    ("do { const c = Check(prompt); c } «while» (c.ok)", "stray-word", "repeat { … } until PATH"),
    ("try { Send_Activity(prompt) } else «(»error) { Draft(error) }", "unexpected-text", "`error` there"),
    # conditions by kind
    (CHECK + 'when «c.ok is "true"» { Draft }', "never-true", "`true` without quotes"),
    (PEOPLE + 'when «p.count is "3"» { Draft }', "never-true", "`3` without quotes"),
    (PEOPLE + "when «p.guests» { Draft }", "never-true", "minItems: 1"),
    (PEOPLE + "when «p.organizer» { Draft }", "never-true", "minLength: 1"),
    (CHECK + "when «c» { Draft }", "never-true", "one of its members"),
    ("each i in «0» { Draft(prompt) }", "bad-bound", "such a number"),
    # names
    ("Draft(«error»)", "unknown-name", "`else` of a `try`"),
    ("Draft(«round»)", "unknown-name", "in a `repeat`"),
    ("repeat { const c = Check(prompt, previous); c } until c.ok; Draft(«previous»)", "unknown-name", "name the block"),
    ("repeat { const c = Check(prompt); «break»; c } until c.ok", "unknown-name", "ends when the condition holds"),
    ("try { Send_Activity(prompt) } else { «raise» }", "unknown-name", "Fail(error)"),
    ("«output» Draft(prompt)", "unknown-name", ""),
    ('Draft(prompt, «model»: "gpt-5")', "slot-not-found", "chosen when a program is run"),
    # choices that nothing reads
    ("const d = Draft(prompt); «Pick_User(d)»; Send_Activity(d)", "unread-answer", "when answer.level is"),
    ("do { const d = Draft(prompt); const o = «Pick_User(d)»; try { Send_Activity(d) } else { d } }", "unread-answer", "when"),
    ("const d = Draft(prompt); do { «Pick_User(d)» }; Send_Activity(d)", "unread-answer", "when answer.level is"),
    # effects between a question and the line that reads its choice
    (
        'const o = «Pick_User(prompt)»; Send_Activity(prompt); when o.level is "low" { Draft(o) }',
        "unread-answer",
        "above the question",
    ),
    # lines that do nothing, or do not run
    ("const d = Draft(prompt); «d»; Write(d)", "nothing-to-do", "Draft(prompt)"),
    ("tool d = Draft(prompt); «Send_Activity(d)»", "misplaced-line", "without `tool` every line runs"),
    # plans, choices, failures
    ("Act(prompt, { plan: «Plan()» })", "not-for-plans", "Plan(Search_Activity"),
    ('Act(prompt, { plan: Plan(«"search"») })', "not-for-plans", "one after the other"),
    ("Act(prompt, { plan: Plan(«[Search_Activity]») })", "not-for-plans", "one after the other"),
    ("Act(prompt, { plan: Plan(«Search») })", "not-for-plans", "`Search_Activity`?"),
    ("Act(prompt, { plan: [«Search_Activity», Send_Activity] })", "not-data", "Plan(Search_Activity"),
    ("Draft([«People», Check])", "not-data", "separate arguments"),
    ("Act(prompt, { plan: Plan(Search_Activity(«town»: prompt)) })", "unknown-argument", "`query`"),
    ('Draft(prompt, { tone: «OneOf("a", "b")» })', "not-a-value", "enum"),
    ('Draft(prompt, { tone: OneOf(«["a", "b"]») })', "not-a-value", "enum"),
    (PEOPLE + "Draft(prompt, { tone: OneOf(«p.guests») })", "not-a-list", "only the names or ids"),
    (PEOPLE + "Send_Activity({ to: «OneOf(p.names)» })", "misplaced-plan", "of the model or a person"),
    ('try { Send_Activity(prompt) } else { Fail(«reason»: "late") }', "unknown-argument", "`message`"),
    # processes
    ("Process(«{ a: LLM_Context(Draft) }»)", "misplaced-context", "one after the other"),
    ("Process(«LLMContext»(Draft))", "unknown-name", "LLM_Context"),
    ("LaunchProcess(«Meeting»)", "unknown-name", ""),
    ("«LaunchProcess()»", "not-a-process", "--emit process"),
    ("LaunchProcess(«prompt»)", "not-a-process", "--emit process"),
    (CHECK + "LaunchProcess(«c»)", "not-a-process", "--emit process"),
    ("LaunchProcess(«Draft»)", "not-a-process", "--emit process"),
    ("StartProcess(«Draft»)", "too-many-arguments", "llmContext1: A"),
]


@every_case(("marked", "name", "advice"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_each_is_one_problem_with_a_way_out(marked: str, name: str, advice: str) -> None:
    assert_one_problem(marked, name, advice, VIBES)


@every_case(
    "text",
    [
        "Draft;\nWrite",
        "const d = Draft(prompt); tool send = Send_Activity(d); tool write = Write(d)",
        "const D = Draft; D(prompt); Write(D(prompt))",
        'const goal = "Write"; goal | Draft',
        "Draft\n{ a: Write }",
        CHECK + 'when c.level is "low" { "calm" } else { "loud" }',
        "const until = Draft(prompt); Write(until)",
        'const o = Pick_User(prompt); when o.level is "low" { Send_Activity(prompt) }',
        "{ picked: Pick_User(prompt), sent: Send_Activity(prompt) }",
        'try { Send_Activity(prompt) } else { Fail(code: "late", message: "too late") }',
        PEOPLE + "Draft(prompt, { tone: OneOf(p.names) })",
    ],
)
def test_what_only_looks_like_one_is_let_through(text: str) -> None:
    assert found(text, VIBES) == []


def test_two_steps_on_one_line_stay_a_warning() -> None:
    problems = found("Draft { a: Write }", VIBES)
    assert [(problem.name, problem.severity) for problem in problems] == [("missing-separator", "warning")]
    assert [problem.severity for problem in found("Draft Write Check", VIBES)] == ["warning"]


def test_what_stands_in_and_behind_the_braces_of_a_wrong_condition_is_read_on() -> None:
    text = """const p = People(prompt);
when p.count > "3" {
  const c = Check(p);
  when c.level == "low" { Send_Activity(c) } else { Draft(c) }
} else {
  Draft(p)
}
Write(p, )).name
"""
    assert [(problem.name, problem.at.line) for problem in found(text, VIBES)] == [
        ("bad-condition", 2),
        ("unknown-operator", 4),
        ("extra-closing-bracket", 8),
    ]


@every_case("text", ["Broken(prompt)", "LaunchProcess(Broken)", "do { Broken }", "const b = Broken(prompt); Broken(b.text)"])
def test_a_vibe_that_refers_to_nothing_is_one_problem(text: str) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.artefacts(text, vibes={"Broken": {"type": "object", "properties": {"text": {"$ref": "aug:nowhere"}}}})
    [problem] = caught.value.problems
    assert problem.name == "unresolved-reference"


def test_a_name_without_a_value_behind_another_statement_is_no_repeated_word() -> None:
    text = "do { const close = Draft(prompt);\n close=\n };"
    assert [problem.name for problem in found(text, VIBES)] == ["missing-value"]


def test_a_word_of_the_language_is_not_told_as_misspelt() -> None:
    problems = found(CHECK + 'when； c.level is "low" { Draft(c) }', VIBES)
    assert "misspelt-keyword" not in {problem.name for problem in problems}
    assert problems[0].name == "stray-character"


@every_case(
    ("marked", "advice"),
    [
        ("«let» d = Draft(prompt); Write(d)", "const NAME"),
        ("«d» = Draft(prompt); Write(d)", "const NAME"),
        ("do { «d» = Draft(prompt); Write(d) }", "const NAME"),
        ("tool «const» d = Draft(prompt)", "remove it"),
    ],
)
def test_there_is_one_way_to_define_a_name(marked: str, advice: str) -> None:
    assert_one_problem(marked, "wrong-definition", advice, VIBES)
