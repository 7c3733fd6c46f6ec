"""Mistakes that people make with paths, blocks and plans: each gets one problem, at the place between the marks."""

from __future__ import annotations

from pathlib import Path

from every_case import every_case
from marked_mistakes import CHECK, PEOPLE, TEXT, assert_one_problem, found, problems_of
from objects import an_object

VIBES = {
    "People": an_object(
        organizer=TEXT,
        attendees={"type": "array", "items": an_object(name=TEXT, mail=TEXT)},
        names={"type": "array", "items": TEXT},
        count={"type": "integer"},
    ),
    "Draft": an_object(text=TEXT, subject=TEXT),
    "Write": an_object(letter=TEXT),
    "Check": an_object(ok={"type": "boolean"}, level={"enum": ["low", "high"]}, note={"type": ["string", "null"]}),
    "Act": an_object(plan={"type": "array"}, answer={"type": ["string", "null"]}),
    "Noted_Mixin": an_object(note=TEXT, default={}),
    "Send_Activity": an_object(id=TEXT),
    "Search_Activity": an_object(query=TEXT, output=an_object(items={"type": "array", "items": TEXT})),
    "Weather_Activity": an_object(city=TEXT, output=TEXT),
    "Book_Activity": an_object(hotel=TEXT, passenger=TEXT, output=TEXT),
    "Confirm_User": an_object(decision={"enum": ["Approve", "Reject"]}, comment=TEXT),
}
PLAN = "const a = Act(prompt, { plan: Plan(Search_Activity, Weather_Activity) }); "
EITHER = (
    "const w = when c.ok {{ Act(prompt, {{ plan: Plan({}) }}) }} else {{ Act(prompt, {{ plan: Plan({}) }}) }}; "
    "«RunPlan_Activity(w.plan)»"
)

MISTAKES = [
    # race, and each … until
    ("race { Draft(prompt) }«»", "incomplete-block", "race { … } or { … }"),
    ("race { Draft(prompt) } «else» { Write(prompt) }", "incomplete-block", "race { … } or { … }"),
    ("race { Draft(prompt) } «{» Write(prompt) }", "incomplete-block", "race { … } or { … }"),
    ("race { Draft(prompt) } «and» { Write(prompt) }", "incomplete-block", "race { … } or { … }"),
    ("race { Draft(prompt) } «|» Write", "incomplete-block", "race { … } or { … }"),
    ("race { Draft(prompt) } or «Write»(prompt)", "incomplete-block", "race { … } or { … }"),
    ("race { Draft(prompt) } or { Write(prompt) } or«»", "incomplete-block", "race { … } or { … }"),
    ("race { Draft(prompt) } or { Write(prompt) } «until» prompt", "stray-word", ""),
    ("«Race» { Draft(prompt) } or { Write(prompt) }", "misspelt-keyword", "write `race`"),
    ("«any» { Draft(prompt) } or { Write(prompt) }", "braces-after-name", "race { … } or { … }"),
    ("«first» { Draft(prompt) } or { Write(prompt) }", "braces-after-name", "race { … } or { … }"),
    ("race { «text»: Draft(prompt) } or { Write(prompt) }", "missing-braces", ""),
    ('«race { Draft(prompt) } or { Write(prompt) }» @ { type: "object" }', "misplaced-annotation", "call in the block"),
    (PEOPLE + "each x in p.attendees «until» x.name { Draft(x) }", "incomplete-block", "the braces: "),
    (PEOPLE + "each x in p.attendees «while» x.name { Draft(x) }", "incomplete-block", "the braces: "),
    (PEOPLE + 'each x in p.attendees { Draft(x) } until x.name is "a" «max» 5', "stray-word", "before the braces"),
    (PEOPLE + "each x in p.attendees { Draft(x) } until «p.count is 3»", "unchanging-condition", ""),
    (PEOPLE + "each x in p.attendees { Draft(x) } until x.«nam» is 3", "unknown-member", "`name`"),
    (PEOPLE + "each x in p.attendees { Draft(x) } until «x.name is 3»", "never-true", ""),
    # paths
    (PEOPLE + "Draft(p.attendees.«name»)", "path-into-list", "each element in"),
    (PEOPLE + "Draft(p.attendees.«0».name)", "indexed-value", "each NAME in PATH"),
    (PEOPLE + "Draft(People(p).«0».name)", "indexed-value", "each NAME in PATH"),
    (PEOPLE + "Draft(p.attendees«[»0])", "indexed-value", "each NAME in PATH"),
    (PEOPLE + "Draft(p«[»0])", "indexed-value", "write `.NAME`"),
    (PEOPLE + 'Draft(p«[»"organizer"])', "indexed-value", "write `.NAME`"),
    (PEOPLE + "Draft(p.«atendees»)", "unknown-member", "`attendees`"),
    ("const s = Search_Activity(prompt); Draft(s.items.«first»)", "path-into-list", "each element in"),
    ("tool x = Draft(prompt).«text»", "member-of-tool", "do { … }"),
    ("tool x = Draft(prompt).«text»; tool y = Draft(prompt)", "member-of-tool", "do { … }"),
    ("const d = Draft(prompt); tool x = { t: d.«text», l: Write(d.subject) }", "member-of-tool", "do { … }"),
    ("const d = Draft(prompt); Send_Activity(d).«id»", "member-of-tool", "do { … }"),
    # if, for, forEach, =>
    (CHECK + "«if» c.ok { Draft(prompt) }", "foreign-statement", "when PATH"),
    (CHECK + "«if» (c.ok) { Draft(prompt) } else { Write(prompt) }", "foreign-statement", "when PATH"),
    (CHECK + "when c.ok { Draft(prompt) } «else if» c.note { Write(prompt) }", "foreign-statement", "else when PATH"),
    (CHECK + 'when c.ok { Draft(prompt) } «elif» c.level is "low" { Write(prompt) }', "foreign-statement", "else when PATH"),
    (PEOPLE + "«for» x in p.attendees { Draft(x) }", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "«for» (const x of p.attendees) { Draft(x) }", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "p.attendees.«forEach»(x => Draft(x))", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "p.attendees.«map»(Draft)", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "«forEach»(p.attendees, x => Draft(x))", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "const each_mail = x «=>» Draft(x)", "foreign-statement", "no functions"),
    (PEOPLE + "each x in p.attendees «=>» Draft(x)", "incomplete-block", "each NAME in PATH {"),
    (CHECK + "«while» c.ok { Draft(prompt) }", "foreign-statement", "repeat { … } until"),
    (CHECK + "when c.ok { «return» Draft(prompt) }", "foreign-statement", "last expression"),
    (CHECK + "c.ok «?» Draft(prompt)", "unknown-operator", "when PATH"),
    ("try { Send_Activity(prompt) } «catch» { Draft(error) }", "incomplete-block", "try { … } else"),
    # conditions
    (CHECK + "when «(»c.ok) { Draft(prompt) }", "bad-condition", "brackets"),
    (CHECK + "when c.ok { Draft(prompt) } «elseif» c.note { Write(prompt) }", "foreign-statement", "else when PATH"),
    (CHECK + "Draft(c «==» c)", "unknown-operator", "there are no comparisons"),
    (CHECK + "Draft(c, { subject «!=» c })", "unknown-operator", "there are no comparisons"),
    (CHECK + 'Draft(c, { subject «:=» "x" })', "equals-for-colon", "write `:`"),
    ("draft «:=» Draft(prompt)", "wrong-equals", "write `=`"),
    ("Draft(prompt) «:=» 3", "unknown-operator", "there are no comparisons"),
    (CHECK + "when c.ok «==» true { Draft(prompt) }", "unknown-operator", "`is`"),
    (CHECK + "when «not» c.ok { Draft(prompt) }", "unknown-operator", "`else`"),
    (CHECK + 'when c.ok «&&» c.level is "low" { Draft(prompt) }', "unknown-operator", "write `and`"),
    (CHECK + "when c.level is «low» { Draft(prompt) }", "bad-condition", 'is "low"'),
    (PEOPLE + "when p.attendees.«length» > 0 { Draft(prompt) }", "path-into-list", "{ minItems: 1 }"),
    (PEOPLE + "when p.attendees.«size» <= 4 { Draft(prompt) }", "path-into-list", "{ minItems: 1 }"),
    ("«loop» 3 { Draft(prompt) }", "braces-after-name", "each i in 3"),
    ('«timeout» "PT5M" { Draft(prompt) }', "braces-after-name", 'within: "PT30S"'),
    ("Draft(prompt) «then» Check", "foreign-statement", "write `|`"),
    ("when «Check»(prompt).ok { Draft(prompt) }", "bad-condition", "name the result of the call first"),
    (CHECK + 'when «c.level is "medium"» { Draft(prompt) }', "never-true", '`"low"`, `"high"`'),
    ("const check = Check(prompt); when «Check».ok { Draft(prompt) }", "not-a-value", "did you mean `check`?"),
    ("const draf = People(prompt); Write(«draft».names)", "not-a-value", "did you mean `draf`?"),
    (CHECK + "when «c» { Draft(prompt) }", "never-true", "compare"),
    ("repeat { const d = Draft(prompt); d } until «d.text»", "never-true", "compare"),
    (
        PLAN + 'const seen = RunPlan_Activity(a.plan); each t in seen { when «t.tool is "search-activity"» { Draft(t) } }',
        "never-true",
        "Search_Act",
    ),
    (PLAN + 'each t in a.plan { when «t.tool is "Search"» { Draft(t) } }', "never-true", ""),
    (CHECK + "repeat { const d = Draft(prompt); d } until «c.ok»", "unchanging-condition", "into the block"),
    ("repeat { const c = Check(prompt); c } until «not» c.ok", "unknown-operator", "until PATH is false"),
    ("repeat { const c = Check(prompt); c } until «not» c.ok max 3 else { Draft(rounds) }", "unknown-operator", "is false"),
    ('repeat { const c = Check(prompt); c } until c.level is "low" or «not» c.ok max 3', "unknown-operator", "is false"),
    ("repeat { const c = Check(prompt); c } until «!»c.ok", "unknown-operator", "until PATH is false"),
    ('repeat { const c = Check(prompt); c } until c.level «!=» "low"', "unknown-operator", "write `is not`"),
    (CHECK + "when c.ok «!=» true { Draft(prompt) }", "unknown-operator", "write `is not`"),
    ("repeat { const c = Check(prompt); c } until c.ok «&&» c.note is null", "unknown-operator", "write `and`"),
    # parts that are missing
    ("repeat { const c = Check(prompt); c }«»", "incomplete-block", "until PATH"),
    ("repeat { const c = Check(prompt); c }«» max 3", "incomplete-block", "until PATH"),
    ('repeat { const c = Check(prompt); c } until c.ok max «"3"»', "incomplete-block", "until PATH"),
    ("repeat { const c = Check(prompt); c } until c.ok max «0»", "bad-bound", ""),
    ("each i in «5» max 3 { Draft(prompt) }", "over-limit", "larger `max`"),
    ("each i in «2000» { Draft(prompt) }", "over-limit", "`max 2000`"),
    ("repeat { const c = Check(prompt, rounds); c } until c.ok max 2 keep «3»", "keep-over-max", "max 3"),
    ("repeat { const c = Check(prompt, rounds); c } until c.ok keep «4»", "keep-over-max", "max 4"),
    (PEOPLE + "each x in p.attendees max «{» Draft(x) }", "incomplete-block", "each NAME in PATH"),
    (PEOPLE + "each x «of» p.attendees { Draft(x) }", "incomplete-block", "each NAME in PATH"),
    (PEOPLE + "each p«.»attendees { Draft }", "incomplete-block", "each NAME in PATH"),
    (CHECK + "when c.ok «then» Draft(prompt)", "incomplete-block", "when PATH {"),
    (CHECK + "when c.ok «{» }", "missing-value", "expression"),
    (CHECK + "when c.ok { «x»: Draft(prompt) }", "missing-braces", "{ { key: value } }"),
    (CHECK + "«else» { Draft(prompt) }", "stray-else", "else when"),
    ("Draft «prompt»", "nothing-to-do", "write `Draft(prompt)`"),
    ("«prompt»", "nothing-to-do", "pass the value to an instruction"),
    ("«max» 3 { Draft(prompt) }", "braces-after-name", "repeat { … } until PATH max 3"),
    (CHECK + "when c.ok { Draft(c) } «{» Draft(prompt) }", "missing-else", "when PATH { … } else { … }"),
    (CHECK + "when c.ok { Draft(c) }\n«{» Draft(prompt) }", "missing-else", "when PATH { … } else { … }"),
    (CHECK + 'const x = do { when c.ok { Draft(c) } «{» "text" } }', "missing-else", "when PATH { … } else { … }"),
    (CHECK + "when c.ok { Draft(c) } else { Write(c) } «{» Draft(prompt) }", "stray-braces", "else when CONDITION"),
    ("do { Draft(prompt) } «{» Write(prompt) }", "stray-braces", "one pair of braces"),
    (CHECK + "when c.ok { Draft(c) } «{ x: Write(prompt) }»", "missing-separator", "write `else` between them"),
    (CHECK + "when c.ok { Draft(c) } «{ x: Write(c) }»", "missing-separator", "write `else` between them"),
    (PEOPLE + "each x in p.attendees { Draft(x) }\n«{» Write(p) }", "stray-braces", "begin these with `do`"),
    ("Draft(try { Draft } else { Draft(prompt) } «else» { Draft(error) })", "stray-else", "else when"),
    ("try { Send_Activity(prompt) }«»", "incomplete-block", "try { … } else"),
    # lists
    (PEOPLE + "each x in «p» { Draft(x) }", "not-a-list", "`p.attendees` or `p.names`"),
    (PEOPLE + "each x in «p.organizer» { Draft(x) }", "not-a-list", ""),
    (PEOPLE + "each x in «[»1, 2] { Draft(x) }", "bad-condition", "a written list a value first"),
    ("const s = Search_Activity(prompt); Draft(prompt, { subject: OneOf(«s») })", "not-a-list", "s.items"),
    (PEOPLE + "each x in «range»(3) { Draft(x) }", "bad-condition", "each i in 3"),
    (PEOPLE + "each x in «People»(p).attendees { Draft(x) }", "bad-condition", "name the result of the call first"),
    (PEOPLE + "each «(»x, i) in p.attendees { Draft(x) }", "incomplete-block", "no index"),
    (PEOPLE + "each i in 1 «to» 3 { Draft(p) }", "incomplete-block", "each i in 3"),
    ("repeat «(»3) { Draft(prompt) }", "incomplete-block", "each i in 3"),
    ("repeat { const c = Check(prompt); c } until «{» c.ok }", "incomplete-block", "until PATH"),
    ("repeat { const c = Check(prompt, rounds); c } until c.ok max 3«,» keep 2", "extra-comma", "max 5 keep 2"),
    ("repeat { const c = Check(prompt); c } until c.ok«,» c.note", "extra-comma", "`or`"),
    ("try«:» Send_Activity(prompt)", "incomplete-block", "try {"),
    (CHECK + "const d = c.ok «?» Draft(prompt) : Write(prompt); d", "unknown-operator", "when PATH"),
    # names
    (CHECK + "when c.ok { const d = Draft(prompt); d }; Write(«d»)", "unknown-name", "value of its block"),
    ("try { const d = Draft(prompt); Send_Activity(d) } else { Write(error) }; Write(«d»)", "unknown-name", "value of its block"),
    (CHECK + "when c.ok { const «c» = Draft(prompt); c }", "repeated-name", ""),
    ("Draft(«previous»)", "unknown-name", ""),
    # names that blocks give
    ("repeat { const c = Check(prompt, «prev».c); c } until c.ok", "unknown-name", "`previous`"),
    ("repeat { const c = Check(prompt, «last».c); c } until c.ok", "unknown-name", "`previous`"),
    ("repeat { const c = Check(prompt, «history»); c } until c.ok", "unknown-name", "`rounds`"),
    ("repeat { const c = Check(prompt); c } until c.ok or «i» is 3", "unknown-name", "`round`"),
    ("repeat { const c = Check(prompt); c } until c.ok or «ruond» is 3", "unknown-name", "`round`"),
    (PEOPLE + "each person in p.attendees { Draft(«persn».name) }", "unknown-name", "`person`"),
    (PEOPLE + "each person in p.attendees { Draft(«item»).text }", "unknown-name", "`person`"),
    ("try { Send_Activity(prompt) } else { Draft(«exc».message) }", "unknown-name", "`error`"),
    (PEOPLE + "each s in p.attendees { Draft(s) }; Write(«s»)", "unknown-name", "const all = each"),
    (
        "repeat { const earlier = rounds; repeat { «Draft(earlier)» } until round is 2 } until round is 2",
        "hidden-name",
        "do { rounds }",
    ),
    ("try { Send_Activity(prompt) } else { const e = error; try { Draft } else { «Write(e)» } }", "hidden-name", "do { error }"),
    (
        "input error; const e = error; try { Send_Activity(e) } else { «Write(e)» }",
        "hidden-name",
        "do { error }",
    ),
    # names that only pass a value on are no part of a round
    ("repeat { const c = Check(prompt); const r = round; Draft(previous.«r») } until c.ok", "unknown-member", "const r = do {"),
    (
        PEOPLE + "repeat { const c = Check(p); const o = { c, p }; Draft(previous.«o») } until c.ok",
        "unknown-member",
        "`p: do { … }`",
    ),
    (
        CHECK + "repeat { const d = Draft(prompt); const v = when c.ok { do { previous } } else { Write(d) }; "
        "Write(v.«d») } until round is 3",
        "unknown-member",
        "{ { d: … } }",
    ),
    (
        CHECK + "repeat { const d = Draft(prompt); const v = when c.ok { do { previous } } else { { d: Write(d) } }; "
        "Write(v.«d») } until round is 3",
        "unknown-member",
        "{ { d: … } }",
    ),
    # a block where a value stands
    (CHECK + "Write({ letter: «when c.ok { Draft }» })", "misplaced-block", "before this expression"),
    (CHECK + "Introspect_Mixin(«when c.ok { Draft(prompt) }»)", "misplaced-block", "before this expression"),
    (CHECK + "const x = «[when c.ok { Draft(prompt) }]»; Write(x)", "list-of-steps", "braces"),
    # plans, failures, deadlines
    (PLAN + "«RunPlan_Activity(a)»", "not-a-plan", "act.plan"),
    (PLAN + "«RunPlan_Activity(a.plan, prompt)»", "not-a-plan", "alone"),
    (PLAN + "«RunPlan_Activity(plan: a.plan)»", "not-a-plan", "alone"),
    (PLAN + "«RunPlan_Activity({ plan: a.plan, why: prompt })»", "not-a-plan", "alone"),
    ("Act(prompt, { plan: Plan(«Draft») })", "not-for-plans", "activities"),
    ("Act(prompt, «Plan(Search_Activity)»)", "misplaced-plan", "property: Plan"),
    ("RunPlan_Activity(Act(prompt, { plan: Plan(Search_Activity(«queri»: prompt)) }).plan)", "unknown-argument", "`query`"),
    ("Act(prompt, { plan: «Plan» })", "misplaced-plan", "`Plan(Search_Activity)`"),
    ("Act(prompt, { answer: «OneOf» })", "misplaced-plan", "`OneOf(found.ids)`"),
    ("Act(prompt, { plan: Plan(Search_Activity) «max» 5 })", "unexpected-text", ""),
    ("Act(prompt, { plan: Plan(Search_Activity, max: «5») })", "not-for-plans", "{ maxItems: 5 }"),
    ('Send_Activity(prompt); «sleep»("PT5S")', "unknown-name", "{ delay:"),
    ("Draft | Confirm_User «@ { within: 'P1M' }»", "bad-duration", "no fixed length"),
    ("Draft(«Fail»)", "not-a-value", "into a `try`"),
    ("Draft(subject: «Fail()»)", "not-a-value", "into a `try`"),
    ("«goto» Draft", "foreign-statement", "by its name"),
    ("«run» Draft(prompt)", "foreign-statement", "by its name"),
    ('Fail(«"nobody came"»)', "misplaced-data", "message:"),
    ("Draft | Confirm_User «within» 2 days", "misplaced-deadline", 'within: "P2D"'),
    ('Draft | Confirm_User «@ { within: "2 days" }»', "bad-duration", "P2D"),
    (CHECK + 'const l = { a: { b: «Draft(c)» @ { within: "P2D" }, d: Draft(c.note) } }; Write(l.a.b)', "misplaced-deadline", ""),
    (CHECK + 'when c.ok @ «{ within: "P2D" }» { Draft(prompt) }', "misplaced-deadline", "brackets"),
    ('«input x @ { within: "P2D" }»; Draft(x)', "misplaced-deadline", "after the step"),
    (
        'Process(LLM_Context({ d: Draft }) «@ { delay: "P2D" }», User_Context({ a: Confirm_User(d) }))',
        "misplaced-deadline",
        "after the step",
    ),
    ('«Draft(prompt)» @ { within: "P2D", delay: "PT5S" }', "idle-deadline", "do {"),
    # one slip is one problem
    ("const «repeat» = Draft(prompt); Draft(repeat); Draft(repeat)", "keyword-as-name", "another name"),
    ("«Greet» prompt", "unknown-name", "schema"),
    # the tools of a plan are known wherever it comes from
    (
        PEOPLE
        + "const all = each x in p.attendees { Act(x, { plan: Plan(Search_Activity) }) }; "
        + 'each t in all { const s = RunPlan_Activity(t.plan); each e in s { when «e.tool is "Nothing"» { Draft(e) } } }',
        "never-true",
        "Search_Act",
    ),
    (
        "repeat { const s = RunPlan_Activity(previous.a.plan); "
        + PLAN
        + 'const d = each e in s { when «e.tool is "Nothing"» { Draft(e) } }; a } until round is 2',
        "never-true",
        "Search_Act",
    ),
    (
        CHECK
        + "const v = when c.ok { const a = Act(c, { plan: Plan(Search_Activity) }); { p: a.plan } } else { { p: [] } }; "
        + 'const s = RunPlan_Activity(v.p); each e in s { when «e.tool is "Nothing"» { Draft(e) } }',
        "never-true",
        "Search_Act",
    ),
    ("input plans; each t in plans { «RunPlan_Activity(t)» }", "not-a-plan", "Plan(…)"),
    # deadlines
    ('Confirm_User(prompt) «@ { within: "PT0S" }»', "bad-duration", "leave the deadline out"),
    ('(repeat { const c = Check(prompt); c } until c.ok) «@ { within: "P0D" }»', "bad-duration", "leave the deadline out"),
    # what the program gives to the tools of a plan
    (CHECK + EITHER.format("Book_Activity(passenger: c.note)", "Book_Activity"), "different-tools", "the same arguments"),
    (CHECK + EITHER.format("Book_Activity", "Book_Activity(passenger: c.note)"), "different-tools", "the same arguments"),
    (
        CHECK + EITHER.format("Book_Activity(passenger: c.note)", "Book_Activity(hotel: c.note)"),
        "different-tools",
        "the same arguments",
    ),
    (
        PEOPLE + "const w = each x in p.names { Act(prompt, { plan: Plan(Book_Activity(passenger: x)) }) }; "
        "each y in w { «RunPlan_Activity(y.plan)» }",
        "bound-in-block",
        "in the block that creates the plan",
    ),
    (
        CHECK
        + "const w = do { const d = Draft(c); Act(c, { plan: Plan(Book_Activity(passenger: d.text)) }) }; "
        + "«RunPlan_Activity(w.plan)»",
        "bound-in-block",
        "in the block that creates the plan",
    ),
    (
        PEOPLE + "repeat x in p.names { const a = Act(x, { plan: Plan(Book_Activity(passenger: x)) }); "
        "«RunPlan_Activity(previous.a.plan)» }",
        "bound-in-block",
        "bind a value from outside of the block",
    ),
    (
        PEOPLE
        + "repeat x in p.names { const w = do { previous.a }; const a = Act(x, { plan: Plan(Book_Activity(passenger: x)) }); "
        "«RunPlan_Activity(w.plan)» }",
        "bound-in-block",
        "bind a value from outside of the block",
    ),
    ("Act(prompt, { plan: Plan(Book_Activity(«passenger»: 7)) })", "wrong-argument", ""),
    ("Act(prompt, { plan: Plan(Book_Activity({ «passenger»: 7 })) })", "wrong-argument", ""),
    (PEOPLE + "Draft(prompt, { text: OneOf(«p.count») })", "not-a-list", "a list of only the names or ids"),
    # and more of them
    (CHECK + "when c.level is «high» { Draft(prompt) }", "bad-condition", ""),
    (CHECK + 'when c.note is "" or «{» Draft(prompt) }', "incomplete-block", ""),
    (CHECK + "when «{» Draft(c) }", "incomplete-block", ""),
    (CHECK + 'when c.level is "high" «Draft»(prompt)', "incomplete-block", ""),
    (CHECK + "try { Draft(c) } «catch» { Write(prompt) }", "incomplete-block", ""),
    (PEOPLE + "each x «of» p.attendees { Draft(x) }", "incomplete-block", ""),
    (PEOPLE + "each x«,» i in p.attendees { Draft(x) }", "incomplete-block", ""),
    (PEOPLE + 'each x in p.attendees max «"3"» { Draft(x) }', "incomplete-block", ""),
    (PEOPLE + "each x in p.attendees max «0» { Draft(x) }", "bad-bound", ""),
    (PEOPLE + "Draft(prompt, { text: «OneOf(p.names, 1)» })", "not-a-value", ""),
    ("repeat «3» { Draft(prompt) }", "incomplete-block", ""),
    ('repeat { Draft(previous) } until «round is "3"»', "never-true", ""),
    ("Draft(«error»)", "unknown-name", ""),
    ("«do { Draft(prompt) }» @ { maxItems: 3 }", "misplaced-annotation", "in the block"),
    ("People(prompt) | each p in «attendees» { Draft(p) }", "unknown-name", "`found.attendees`"),
    # more words and signs of other languages
    (PEOPLE + "each x in p.attendees { Draft(x) } «max» 3", "stray-word", ""),
    (PEOPLE + "each x in p.attendees «where» x.name { Draft(x) }", "incomplete-block", ""),
    (PEOPLE + "each x in p.attendees.«*» { Draft(x) }", "unknown-operator", ""),
    (PEOPLE + "«parallel» { Draft(p); Write(p) }", "braces-after-name", ""),
    (CHECK + '«switch» c.level { "low": Draft(c) }', "foreign-statement", ""),
    (CHECK + "when c.ok is «None» { Draft(c) }", "bad-condition", ""),
    (CHECK + "when c.ok { Draft(c) } «otherwise» { Write(c) }", "braces-after-name", ""),
    (CHECK + "when c«?.»ok { Draft(c) }", "incomplete-block", ""),
    ("«loop» { const c = Check(prompt); c } until c.ok", "braces-after-name", ""),
    ("do { const c = Check(prompt); c } «until» c.ok", "stray-word", ""),
    ("repeat { const c = Check(prompt); c } until c.ok max «three»", "incomplete-block", ""),
    ("repeat { const c = Check(prompt); c } until c.ok«,» max 3", "extra-comma", ""),
    ("repeat { Check(previous.«d») } until round is 2", "unknown-member", ""),
    ("try { Send_Activity(prompt) } else «(»e) { Draft(e) }", "unexpected-text", ""),
    ("try { Send_Activity(prompt) } else { Draft(error.«reason») }", "unknown-member", ""),
    ("«await» Send_Activity(prompt)", "foreign-statement", ""),
    ('Fail(message «=» "x")', "equals-for-colon", ""),
    ("Act(prompt, { plan: Plan(Search_Activity, «Search_Activity») })", "repeated-name", ""),
    ("Act(prompt, { plan: Plan(«Confirm_User») })", "not-for-plans", ""),
    # what holds a call that is wrong is not judged by what is left of that call
    (PEOPLE + "Noted_Mixin(Search_Activity({ query: «OneOf(p.names)» }))", "misplaced-plan", "of the model or a person"),
    (PEOPLE + "Noted_Mixin(Search_Activity({ «const»: p }))", "reserved-name", ""),
    (PEOPLE + "each i in «2.5» { Draft(p) }", "bad-bound", ""),
    # what rounds give stands in three names
    ("repeat { const d = Draft(prompt, previous.«round»); d } until round is 2", "unknown-member", "without `previous`"),
    ("repeat { const d = Draft(prompt, previous.«rounds»); d } until round is 2", "unknown-member", "without `previous`"),
    ("repeat { const d = Draft(prompt, previous.«previous»); d } until round is 2", "unknown-member", "`rounds`"),
    ("repeat { const d = Draft(prompt, round.«d»); d } until round is 2", "unknown-member", "`previous.d`"),
    ("repeat { const d = Draft(prompt, rounds.«d»); d } until round is 2", "path-into-list", "`previous.d`"),
    # a name of one body in the other
    ("try { const s = Send_Activity(prompt); s } else { Draft(«s») }", "unknown-name", "`error`"),
    ("repeat { const d = Draft(prompt); d } until round is 2 else { Write(«d») }", "unknown-name", "`rounds`"),
    (CHECK + "when c.ok { const d = Draft(c); d } else { Write(«d») }", "unknown-name", "value of its block"),
    # heads and ends of blocks
    (PEOPLE + "each a in p.attendees «if» a.name { Draft(a) }", "incomplete-block", "select elements with `when`"),
    (PEOPLE + "each a in p.attendees «and» p.names { Draft(a) }", "incomplete-block", "one list"),
    (CHECK + 'when c.level @ «"low"» { Draft(c) }', "incomplete-block", 'PATH is "low"'),
    (CHECK + 'when c.ok { Draft(c) } else «c».level is "low" { Write(c) }', "incomplete-block", "else when PATH"),
    (CHECK + "when c.ok { Draft(c) } else «Write»(c)", "incomplete-block", "goes in braces"),
    ("try { Send_Activity(prompt) } else «error» { Draft(error) }", "incomplete-block", "it needs no name"),
    (CHECK + "when c.ok { Draft(c)«,» Write(c) }", "extra-comma", "`;`"),
    (PEOPLE + "each i in «1..3» { Draft(p) }", "bad-number", ""),
    # statements of other languages in a body, a call or a value that begins on the same line
    (CHECK + "do { «if» c.ok { Draft(prompt) } }", "foreign-statement", "when PATH"),
    (CHECK + "do { «if» (c.ok) { Draft(prompt) } else { Write(prompt) } }", "foreign-statement", "when PATH"),
    (CHECK + "do { «while» c.ok { Draft(c) } }", "foreign-statement", "repeat { … } until"),
    (CHECK + "do { Write(c); «unless» c.ok { Draft(c) } }", "foreign-statement", "when PATH"),
    (PEOPLE + "do { «for» a in p.attendees { Draft(a) } }", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "do { «for» (let i = 0; i < 3; i++) { Draft(p) } }", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "do { «forEach» a in p.attendees { Draft(a) } }", "foreign-statement", "each NAME in PATH"),
    (PEOPLE + "Draft(«for» a in p.attendees { Draft(a) })", "foreign-statement", "each NAME in PATH"),
    (CHECK + "Draft(«if» c.ok { Write(c) })", "foreign-statement", "when PATH"),
    (CHECK + "const x = «if» c.ok { Write(c) }; Draft(x)", "foreign-statement", "when PATH"),
    (CHECK + "Draft(do { «return» Write(c) })", "foreign-statement", "last expression"),
    ("do { «function» f(x) { Draft(x) } }", "foreign-statement", "no functions"),
    (CHECK + "do { const «repeat» = Draft(c); Write(repeat) }", "keyword-as-name", "another name"),
    (CHECK + "Write(do { const «when» = Draft(c); Draft(when) })", "keyword-as-name", "another name"),
]


@every_case(("marked", "name", "advice"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_each_mistake_is_one_problem_at_its_place(marked: str, name: str, advice: str) -> None:
    assert_one_problem(marked, name, advice, VIBES)


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 60


@every_case(
    "text",
    [
        "repeat { const earlier = do { rounds }; repeat { Draft(earlier, rounds) } until round is 2 } until round is 2",
        CHECK + "repeat { const d = Draft(prompt); const v = when c.ok { { d: do { previous.d } } } else { { d } }; "
        "Write(v.d) } until round is 3",
        "repeat { const now = round; each i in 3 { Draft(now) } } until round is 2",
        PLAN + 'const seen = RunPlan_Activity(a.plan); each t in seen { when t.tool is "Search_Activity" { Draft(t) } }',
        "const s = Search_Activity(prompt); Draft(prompt, { subject: OneOf(s.items) })",
        CHECK
        + EITHER.replace("«", "").replace("»", "").format("Book_Activity(passenger: c.note)", "Book_Activity(passenger: c.note)"),
        PEOPLE + "each x in p.names { const a = Act(x, { plan: Plan(Book_Activity(passenger: x)) }); RunPlan_Activity(a.plan) }",
        'try { Send_Activity(prompt) } else { Fail(code: "none", message: "nobody came") }',
        "const within = Draft(prompt); Check(Write(within), within)",
    ],
)
def test_what_is_right_is_not_blamed(text: str) -> None:
    assert found(text, VIBES) == []


@every_case("line", ["return Draft(c)", "async Draft(c)", "throw Fail(c)", "do { Draft(c) } while c.ok"])
def test_a_called_program_shows_the_words_of_other_languages_in_it(line: str, tmp_path: Path) -> None:
    (tmp_path / "inner.aug").write_text(CHECK + line, encoding="utf-8")
    [problem] = problems_of("Inner", vibes=VIBES, roots=[tmp_path])
    assert problem.name == "foreign-statement"
    assert problem.at.source.name.endswith("inner.aug")


def test_a_name_that_nothing_uses_runs_unless_the_file_has_tools() -> None:
    text = PEOPLE + "const sent = Send_Activity(p.organizer); {}Write(p)"
    [problem] = found(text.format("tool t = "), VIBES)
    assert (problem.name, problem.at.text) == ("unused-binding", "sent")
    assert problem.message == "`sent` is not used, so it does not run"
    assert "without `tool` every line runs" in problem.hint
    assert found(text.format(""), VIBES) == []
    assert found(f"do {{ {text.format('')} }}", VIBES) == []


def test_another_name_of_an_instruction_that_nothing_uses_leaves_nothing_out() -> None:
    [problem] = found("const send = Send_Activity; Write(prompt)", VIBES)
    assert problem.message == "`send` is not used"


@every_case("place", ["{}", "do {{ {} }}", "when prompt is 1 {{ {} }}", "Write(do {{ {} }})"])
@every_case(
    ("mistake", "name", "advice"),
    [
        ("«const» { tone } = Draft(prompt); Write(tone)", "missing-name", "name the whole value"),
        ("«let» [a, b] = Draft(prompt); Write(a)", "missing-name", "name the whole value"),
        ("const d«:» Draft = Draft(prompt); Write(d)", "wrong-equals", "names have no types"),
        ("const d «Draft»(prompt); Write(d)", "missing-equals", "write `d = …`"),
        ('«const» "d" = Draft(prompt); Write(prompt)', "missing-name", "without quotes: `const d`"),
        ("let «mut» d = Draft(prompt); Write(d)", "foreign-statement", "a name has one value"),
        ("const f«(»x) = Draft(x); Write(f)", "parameters", "declare each parameter with `input NAME`"),
    ],
)
def test_a_wrong_definition_is_the_same_mistake_in_a_block(mistake: str, name: str, advice: str, place: str) -> None:
    assert_one_problem(place.format(mistake), name, advice, VIBES)


@every_case("text", ["Write(«const» d = Draft(prompt))", "Write(prompt, «let» d = Draft(prompt); d)"])
def test_a_definition_in_brackets_says_where_it_may_stand(text: str) -> None:
    [problem] = found(text.replace("«", "").replace("»", ""), VIBES)
    assert (problem.name, problem.at.text) == ("unexpected-text", text.partition("«")[2].partition("»")[0])
    assert "`do { const a = A(b); a }`" in problem.hint


@every_case(
    "call",
    [
        'Confirm_User(prompt, «within»: "P2D")',
        'Confirm_User({ draft: prompt, «within»: "P2D" })',
        'Confirm_User(«delay»: "PT5S")',
    ],
)
def test_a_deadline_that_a_person_is_given_as_an_argument_is_told(call: str) -> None:
    word = call.partition("«")[2].partition("»")[0]
    assert_one_problem(f"do {{ {call} }}", "deadline-as-argument", f"Confirm_User(draft) @ {{ {word}:", VIBES)


@every_case(
    "call",
    [
        'Send_Activity(prompt, within: "P2D")',
        'Confirm_User(prompt) @ { description: "x", within: "P2D" }',
        'Confirm_User(within: "Pisa")',
    ],
)
def test_a_time_that_may_be_meant_is_let_through(call: str) -> None:
    assert found(f"do {{ {call} }}", VIBES) == []


@every_case(
    ("marked", "reason"),
    [
        ('Fail(«code»: 404, message: "none")', "404 is not of type"),
        ('Fail(«kind»: "other", message: "none")', '"other" is not one of'),
        ("Fail(«message»: 5)", '5 is not of type "string"'),
        (PEOPLE + "Fail(message: p.«names»)", "receives the type array, and takes string"),
    ],
)
def test_what_a_fail_cannot_pass_on_is_told(marked: str, reason: str) -> None:
    before, _, rest = marked.partition("«")
    [problem] = found(marked.replace("«", "").replace("»", ""), VIBES)
    assert (problem.name, problem.at.start, problem.at.text) == ("wrong-argument", len(before), rest.partition("»")[0])
    assert reason in problem.message


@every_case(
    "text",
    [
        'Fail(message: null, code: "x")',
        "try { Draft(prompt) } else { Fail(kind: error.kind, code: error.code, message: error.message) }",
        PEOPLE + 'when p.organizer is "x" { Fail(message: p.organizer) } else { Draft(p) }',
    ],
)
def test_what_a_fail_can_pass_on_is_let_through(text: str) -> None:
    assert found(text, VIBES) == []
