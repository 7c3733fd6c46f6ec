"""Mistakes of people who know Python, TypeScript, BAML, LangGraph, n8n or YAML: one problem each, wherever they make it.

Each is tried as a statement, in the braces of a block, and as an argument; the marks are around the place that is shown.
"""

from __future__ import annotations

from every_case import every_case
from marked_mistakes import CHECK, LETTER_VIBES, PEOPLE, assert_one_problem, found

PLACES = {"statement": "{}", "block": "do {{ {} }}", "argument": "Write({})"}

MISTAKES = [
    ("parallel «[Draft(p), Write(p)]»", "list-of-steps", "{ a: A, b: B }"),
    ("Promise.all«(»[Draft(p), Write(p)])", "bracket-after-value", "{ a: A, b: B }"),
    ("asyncio.gather«(»Draft(p), Write(p))", "bracket-after-value", "{ a: A, b: B }"),
    ("p.guests.«filter»(g => g.name)", "foreign-statement", "each NAME in PATH { … }"),
    ("p.guests.«length»", "path-into-list", "PATH @ { minItems: 1 }"),
    ("«len»(p.guests)", "unknown-name", "programs do not compute"),
    ("p.guests.«first»", "path-into-list", "each element in … { … }"),
    ('p.names.join«(»", ")', "bracket-after-value", "… | Review"),
    ("Draft(«`»Hello ${p.organizer}`)", "template-string", 'write "…"'),
    ('Draft(«f"Hello {p.organizer}"»)', "prefixed-string", "; pass values as arguments, as in "),
    ('Draft("Hello " «+» p.organizer)', "unknown-operator", "join stages with `|`"),
    ("«str»(p.count)", "unknown-name", "programs do not compute"),
    ("p.count «+» 1", "unknown-operator", "join stages with `|`"),
    ('p.organizer «??» "nobody"', "unknown-operator", "when PATH @ {} { … } else { … }"),
    ('p.organizer «||» "nobody"', "unknown-operator", "or"),
    ("c.ok «?» Draft(c) : Write(c)", "unknown-operator", "when PATH { … } else { … }"),
    ("Draft(c) «if» c.ok else Write(c)", "foreign-statement", "when PATH { … } else { … }"),
    ("[Draft(g) «for» g in p.guests]", "foreign-statement", "each NAME in PATH { … }"),
    ("«lambda» g: Draft(g)", "foreign-statement", "tool NAME = …"),
    ("(g) «=>» Draft(g)", "foreign-statement", "tool NAME = …"),
    ("Draft(«**»p)", "unknown-operator", "f(people)"),
    ("Draft(«*»p.names)", "unknown-operator", "f(people)"),
    ("Draft(«...»p.names)", "unknown-operator", "f(people)"),
    ("Draft.invoke«(»prompt)", "bracket-after-value", "instrc run FILE"),
    ("Draft.run«(»p)", "bracket-after-value", "instrc run FILE"),
    ("Draft(p).«await»", "unknown-member", "text"),
    ("«await» Draft(p)", "foreign-statement", "remove it: a step"),
    ("{«{» p.organizer }}", "doubled-braces", "remove one pair"),
    ("«$»{{ p.organizer }}", "unknown-operator", "a name has no sign"),
    ("«steps».people.outputs.organizer", "unknown-name", "const found = …;"),
    ('graph.add_node«(»"draft", Draft)', "bracket-after-value", "add_node(…)"),
    ('graph.add_edge«(»"draft", "write")', "bracket-after-value", "add_edge(…)"),
    ("«StateGraph»(Draft)", "unknown-name", "instrc compile --sketch"),
    ("«START»", "unknown-name", "a program begins with what reads `prompt`"),
    ("«END»", "unknown-name", "a program ends when its steps are done"),
    ("repeat { const k = Check(prompt); k } until k.ok else «Write»(prompt)", "incomplete-block", "until PATH else { … }"),
    ("«sleep» 10; Draft(p)", "foreign-statement", "delay"),
    ("«wait» 3 days; Draft(p)", "foreign-statement", "delay"),
    ("«process» Answer = Draft(p)", "foreign-statement", "tool NAME = …"),
    ("«workflow» Answer { Draft(p) }", "foreign-statement", "tool NAME = …"),
    ("«while» true { Draft(p) }", "foreign-statement", "repeat { … } until PATH"),
    ('Confirm_User(p) «@ { within: "P2D" }» @ { within: "P3D" }', "misplaced-deadline", "remove one of the two"),
    ("each g in «p.organizer» { Draft(g) }", "not-a-list", "the type `array`"),
    ('«timeout»("PT5M") { a: Draft }', "braces-after-name", 'do { … } @ { within: "PT5M" }'),
    ("timeout(«5m», Draft(prompt))", "bad-name", '@ { within: "PT5M" }'),
    ("Confirm_User(p) @ { within: «3 days» }", "bad-duration", 'write `"P3D"`'),
    ('Confirm_User(p) «@ { within: "pt5m" }»', "bad-duration", 'write `"PT5M"`'),
    ("Confirm_User(p) «@ { within: null }»", "bad-duration", 'write `"P2D"`'),
    ('«"Draft"»(p)', "quoted-reference", "without quotes"),
    ('Draft(«"Write"»(p))', "quoted-reference", "without quotes"),
    ("«timeout» 5m { Draft(p) }", "braces-after-name", 'do { … } @ { within: "PT5M" }'),
    ("«deadline» 30s { Draft(p) }", "braces-after-name", 'do { … } @ { within: "PT30S" }'),
    ("«timeout»(5m) { Draft(p) }", "braces-after-name", 'do { … } @ { within: "PT5M" }'),
    ("«timeout»(5 min) { Draft(p) }", "braces-after-name", 'do { … } @ { within: "PT5M" }'),
    ("«deadline»(300) { const d = Draft(p); d }", "braces-after-name", "do { … } @ { within:"),
    ("«retry»(times: 3) { Draft(p) }", "braces-after-name", "try { … } else { … }"),
    ("«parallel»(2) { Draft(p); Write(p) }", "braces-after-name", "do { … }"),
    ("«parallel» { Draft(p); Write(p) }", "braces-after-name", "do { … }"),
    ('«Draft» { tone: "warm" }', "braces-after-name", "Draft({ … })"),
    ("do { const «repeat» = Draft(p); repeat }", "keyword-as-name", "choose another name"),
    ("do { const «try» = Draft(p); { a: try } }", "keyword-as-name", "choose another name"),
    ("Write([«each»])", "keyword-as-name", "choose another name"),
    ("each g in «1..3» { Draft(g) }", "bad-number", "each i in 3 { … }"),
    ('each g in «[»"a", "b"] { Draft(g) }', "bad-condition", "const items = do { […] }; each NAME in items { … }"),
    ("each g in p.guests { Draft(g) } «max» 5", "stray-word", "each NAME in PATH max 5 { … }"),
    ("when p.names is «[»] { Draft(p) }", "bad-condition", "PATH @ { maxItems: 0 }"),
    ('when «contains»(p.names, "x") { Draft(p) }', "bad-condition", "PATH @ { contains: { const: … } }"),
    ("when «len»(p.names) { Draft(p) }", "bad-condition", "PATH @ { minItems: 1 }"),
    ("when «exists»(c.note) { Draft(p) }", "bad-condition", "PATH @ {}"),
    ("when c.ok { Draft(c) } «otherwise» { Write(c) }", "braces-after-name", "else { … }"),
    ("try { Draft(p) } else «when» c.ok { Write(c) }", "incomplete-block", "else { when PATH { … } }"),
    (
        "repeat { const d = Check(p); d } until d.ok else «when» c.ok { Write(c) }",
        "incomplete-block",
        "else { when PATH { … } }",
    ),
    ("Write(p, «if» c.ok { Draft(c) })", "foreign-statement", "when PATH { … } else { … }"),
    ("Write(p, «return» Draft(p))", "foreign-statement", "the last expression is the result"),
    ("Write(p, «await» Draft(p))", "foreign-statement", "waits for the results"),
    ("«until» c.ok { Draft(p) }", "braces-after-name", "repeat { … } until PATH"),
    ("«loop» p.guests { Draft(p) }", "braces-after-name", "repeat { … } until PATH"),
    ("each g in p.guests «@» { maxItems: 3 } { Draft(g) }", "incomplete-block", "each NAME in PATH max 5 { … }"),
    ("(each g in p.guests { Draft(g) })«.»text", "unexpected-text", "`const found = …;`, then `found.NAME`"),
    ("Write(needs: [«Draft»])", "not-data", "pass results as separate arguments"),
    ("Write({ needs: [1, «Draft»] })", "not-data", "pass results as separate arguments"),
    ("Draft «>>» Write", "arrow", "write `|`"),
    ("Draft «->» Write", "arrow", "write `|`"),
    ("Draft «|>» Write", "arrow", "write `|`"),
    ("Draft «|»: Write", "missing-stage", "remove the `|`, or"),
    ("Draft «<»| Write", "unknown-operator", "a call is written"),
    ("Draft(subject«=»p.organizer)", "equals-for-colon", "write `:`"),
    ("Draft(p) «as» d", "foreign-statement", "const NAME = …"),
    ("Draft(p)«:» d", "stray-colon", "f(text: x)"),
    ('«match» c.level { "low" => Draft(c) }', "foreign-statement", "when PATH is VALUE { … }"),
    ('«case» c.level { "low": Draft(c) }', "foreign-statement", "when PATH is VALUE { … }"),
    ("«select» c.level { }", "foreign-statement", "people.name"),
    ("when c.ok { Draft(c) } «else if» c.note { Write(c) } else { Draft(p) }", "foreign-statement", "else when PATH { … }"),
    ('when c.ok is true «&&» c.level is "low" { Draft(c) }', "unknown-operator", "and"),
    ('when c.level is "low" «||» c.level is "high" { Draft(c) }', "unknown-operator", "or"),
    ('when c.level «=» "low" { Draft(c) }', "unknown-operator", "is"),
    ('when c.level «===» "low" { Draft(c) }', "unknown-operator", "is"),
    ('when c.level is «in» ["low"] { Draft(c) }', "bad-condition", "PATH @ { enum: […] }"),
    ('when c.level «matches» "l.*" { Draft(c) }', "incomplete-block", 'PATH @ { pattern: "…" }'),
    ("when c.note is null or «undefined» { Draft(c) }", "unknown-name", "null"),
    ("when c.note is «empty» { Draft(c) }", "bad-condition", '""'),
    ("when c.ok is «yes» { Draft(c) }", "bad-condition", "true"),
    ("when «(»c.ok) { Draft(c) }", "bad-condition", "remove the brackets"),
    ("when c.ok«:» { Draft(c) }", "incomplete-block", "when PATH { … } else { … }"),
    ("when c.ok «=>» Draft(c)", "incomplete-block", "when PATH { … } else { … }"),
    ("when «!»c.ok { Draft(c) }", "unknown-operator", "else"),
    ("«unless» c.ok { Draft(c) }", "foreign-statement", "when PATH { … } else { … }"),
    ("each g in p.guests«:» Draft(g)", "incomplete-block", "each NAME in PATH { … }"),
    ("each g in p.guests «as» h { Draft(h) }", "incomplete-block", "each NAME in PATH { … }"),
    ("each «(»g in p.guests) { Draft(g) }", "bad-condition", "remove the brackets"),
    ("each g«,» i in p.guests { Draft(g) }", "incomplete-block", "each NAME in PATH { … }"),
    ("each g in p.guests.«items»() { Draft(g) }", "bad-condition", "const answer = …"),
    ("each g in p.guests«[»0:3] { Draft(g) }", "incomplete-block", "each NAME in PATH { … }"),
    ("each g in p.guests «|» Draft { Write(g) }", "incomplete-block", "each"),
    ("each g in p.guests { «yield» Draft(g) }", "foreign-statement", "remove it: a step"),
    ("each g in p.guests { «continue» }", "unknown-name", "when PATH { … }"),
    ("each g in p.guests «parallel» { Draft(g) }", "incomplete-block", "each NAME in PATH { … }"),
    ("each g in p.guests max«=»5 { Draft(g) }", "incomplete-block", "each NAME in PATH max 5 { … }"),
    ("each g in p.guests max«:» 5 { Draft(g) }", "incomplete-block", "each NAME in PATH max 5 { … }"),
    ("repeat { const k = Check(prompt); k } until k.ok max«=»5", "incomplete-block", "repeat { … } until PATH max 5"),
    ("repeat { const k = Check(prompt); k } until «(»k.ok)", "bad-condition", "remove the brackets"),
    (
        "repeat { const k = Check(prompt); k } until k.ok «timeout» 5",
        "misplaced-deadline",
        'Confirm_User(draft) @ { within: "P2D" }',
    ),
    ("repeat «5» times { Draft(p) }", "incomplete-block", "each i in 3 { … }"),
    ("repeat «until» c.ok { Draft(p) }", "incomplete-block", "repeat { … } until PATH max 3"),
    ("repeat { const k = Check(prompt); k } «while» k.ok", "incomplete-block", "repeat { … } until PATH"),
    ("do { Draft(p) } «until» c.ok", "stray-word", "repeat { … } until PATH"),
    ("try { Draft(p) } «catch» (e) { Write(e) }", "incomplete-block", "try { … } else { … }"),
    ("try { Draft(p) } «except» { Write(p) }", "incomplete-block", "try { … } else { … }"),
    ("try { Draft(p) } «finally» { Write(p) }", "incomplete-block", "try { … } else { … }"),
    ("try «Draft»(p) else Write(p)", "incomplete-block", "try { … } else { … }"),
    ("«throw» Draft(p)", "foreign-statement", "try { … } else { … }"),
    ("«raise» Fail(p)", "foreign-statement", "try { … } else { … }"),
    ('Fail «"nobody"»', "unexpected-text", 'Fail(message: "…")'),
    ("«retry» 3 { Draft(p) }", "braces-after-name", "try { … } else { … }"),
    ("Draft(p) @ { «retry»: 3 }", "unknown-keyword", "models, retries and the"),
    ('Draft(p) @ { «timeout»: "PT5S" }', "unknown-keyword", "within"),
    ("Draft(p) @ { «timeout»: 5 }", "unknown-keyword", "within"),
    ("Draft(p) @ { «temperature»: 0.2 }", "unknown-keyword", "models, retries and the"),
    ("Draft(p) «@ { within: 5 }»", "bad-duration", '"P2D"'),
    ("Draft(p) «@» retry(3)", "bad-annotation", '@ "…"'),
    ('Confirm_User(p) «timeout» "P2D"', "misplaced-deadline", 'Confirm_User(draft) @ { within: "P2D" }'),
    ("Send_Activity({ to: p.organizer, cc«:» })", "missing-value", "write an expression: a"),
    ("Send_Activity(to: p.organizer «cc»: p.names)", "missing-comma", "separate with `,`"),
    ("Send_Activity(to «p».organizer)", "missing-comma", "separate with `,`"),
    ("Send_Activity({ to «=» p.organizer })", "equals-for-colon", "write `:`"),
    ("Send_Activity(p.organizer, p.names,«,» p.count)", "extra-comma", "remove it"),
    ("«Plan(Search_Activity)»", "misplaced-plan", "Act({ property: Plan(…) })"),
    ("Act(p, plan: «Plan(Search_Activity)»)", "misplaced-plan", "Act({ property: Plan(…) })"),
    ("Act(p, { plan: Plan(tools: «[Search_Activity]») })", "not-for-plans", "Plan(Search_Activity, Book_Activity)"),
    ("Act(p, { plan: [«Search_Activity»] })", "not-data", "Plan(Search_Activity, Book_Activity)"),
    ("Act(p, tools«=»[Search_Activity])", "equals-for-colon", "write `:`"),
    ("Act(p).plan.run«(»)", "bracket-after-value", "instrc run FILE"),
    ("«RunPlan»(Act(p).plan)", "unknown-name", "RunPlan_Activity"),
    ("«RunPlan_Activity(Act(p))»", "not-a-plan", "Plan(…)"),
    ("Draft(p, { tone: OneOf(p.guests.«name») })", "path-into-list", "each element in … { … }"),
    ("Draft(p, { tone: p.names«[»0] })", "indexed-value", ".NAME"),
    ('Draft(p, { tone: «enum»("a", "b") })', "unknown-name", "instrc compile --sketch"),
    ("Draft(p, { tone: «string» })", "unknown-name", '"string"'),
    ('Draft(p, { tone: "a" | «"b"» })', "misplaced-data", 'Draft(tone: "warm")'),
    ("«print»(p)", "unknown-name", "remove it: the value"),
    ("console.log«(»p)", "bracket-after-value", "remove it: the value"),
    ('«import» "other.aug"', "foreign-statement", "aug:"),
    ("«from» x import Draft", "foreign-statement", "aug:"),
    ("«type» Letter = Draft", "foreign-statement", '@ { type: "object", … }'),
    ("«class» Letter { text string }", "foreign-statement", '@ { type: "object", … }'),
    ("«function» f(p) { Draft(p) }", "foreign-statement", "tool NAME = …"),
    ("«def» f(p): Draft(p)", "foreign-statement", "tool NAME = …"),
    ("client «GPT4» { provider openai }", "braces-after-name", "GPT4({ … })"),
    ("«var» d = Draft(p)", "foreign-statement", "const NAME = …"),
    ("«export» const d = Draft(p)", "foreign-statement", "tool NAME = …"),
    ("«-» Draft(p)", "unknown-operator", "join stages with `|`"),
]


@every_case("place", PLACES.values(), ids=PLACES)
@every_case(("mistake", "name", "advice"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_each_is_one_problem_wherever_it_is_made(mistake: str, name: str, advice: str, place: str) -> None:
    plain = mistake.replace("«", "").replace("»", "")
    read = (CHECK if "c." in plain else "") + (PEOPLE if "p." in plain or "(p" in plain else "")
    assert_one_problem(read + place.format(mistake), name, advice, LETTER_VIBES)


@every_case(
    "text",
    [
        'Draft({ tone: "a", text: "b" })',
        PEOPLE + "do { Write(p); { a: p.names } }",
        CHECK + 'when c.level is "in" or c.ok { Draft(c) }',
        "const retry = Draft(prompt); Write(retry)",
        "do { const until = Draft(prompt); Write(until) }",
        "Draft\n{ a: Write }",
    ],
)
def test_what_only_looks_like_one_is_let_through(text: str) -> None:
    assert [problem for problem in found(text, LETTER_VIBES) if problem.name != "never-true"] == []


def test_a_block_that_ends_with_a_name_that_is_a_word_shows_both_mistakes() -> None:
    named, missing = found("do { const each = Draft(prompt) }", LETTER_VIBES)
    assert (named.name, named.at.text) == ("keyword-as-name", "each")
    assert (missing.name, missing.at.text) == ("missing-value", "}")
    assert "write `each` before the `}`" in missing.hint


@every_case("text", ["const f = Fail; Draft(f)", "do { const f = Fail; Draft(f) }", "Write(do { const f = Fail; Draft(f) })"])
def test_an_alias_of_fail_that_is_read_is_one_problem(text: str) -> None:
    assert [problem.name for problem in found(text, LETTER_VIBES)] == ["not-a-value"]


def test_a_name_that_is_only_another_name_of_an_instruction_is_one_problem_however_often_it_is_read() -> None:
    text = "const draft = Draft; when draft.text { Write(draft.text) } else { Write(draft.text) }"
    [problem] = found(text, LETTER_VIBES)
    assert (problem.name, problem.at.line, problem.at.text) == ("not-a-value", 1, "draft")
    assert "another name of `Draft`, which has not been called" in problem.message
    assert "`const draft = Draft();`" in (problem.hint or "")
    assert [label.span.text for label in problem.labels] == ["Draft"]


@every_case("place", ["{}", "Write({})"])
def test_a_text_with_a_placeholder_that_cannot_stand_there_is_one_problem(place: str) -> None:
    assert_one_problem(PEOPLE + place.replace("{}", '«"Hello {{ p.organizer }}"»'), "misplaced-data", "", LETTER_VIBES)


@every_case("text", [CHECK + "when c.level is", CHECK + "when c.level is // low\n", "repeat { Draft } until round is"])
def test_a_condition_that_ends_with_the_file_says_what_is_is_followed_by(text: str) -> None:
    [problem] = found(text, LETTER_VIBES)
    assert problem.name == "bad-condition"
    assert "`is` needs a text, a number" in problem.message


def test_an_equal_call_in_a_second_mixin_says_that_it_is_one_step() -> None:
    assert_one_problem(
        "Write(Introspect_Mixin(Draft(prompt)), «SelfEvaluate_Mixin(Draft(prompt))»)",
        "empty-mixin",
        "equal calls are one step",
        LETTER_VIBES,
    )


@every_case("place", ["{}", "do {{ {} }}"])
def test_a_member_of_an_element_is_one_problem_at_the_brackets(place: str) -> None:
    assert_one_problem(PEOPLE + place.format("p.guests«[0]».name"), "indexed-value", "each NAME in PATH", LETTER_VIBES)


def test_braces_behind_a_word_for_what_runs_at_once_show_blocks() -> None:
    assert_one_problem(PEOPLE + "Write(«async» { Draft(p) })", "braces-after-name", "write `do { … }` for each", LETTER_VIBES)
