"""Mistakes with `race`, `from`, `until`, `and`, comparisons and `language`: each is one problem that says the way out."""

from __future__ import annotations

from typing import Any

from every_case import every_case

import instrc

OBJECT: dict[str, Any] = {
    "list": {"type": "array", "items": {"type": "string"}},
    "n": {"type": "integer"},
    "t": {"type": "string"},
    "ok": {"type": "boolean"},
    "w": {"enum": ["x", "y"]},
}
VIBES: dict[str, Any] = {
    "l": {"type": "object", "properties": OBJECT, "required": list(OBJECT)},
    "a": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "two_Mixin": {"type": "object", "properties": {"head": {"type": "object"}, "tail": {"type": "object"}}},
}
REPEAT = "repeat { const d = L(prompt); d }"
EACH = "const l = L(prompt); each x in l.list"
WHEN = "const l = L(prompt); when "
RACE = "`race { … } or { … }`"
FROM = "`repeat { … } from { NAME: VALUE } until PATH`"
MISTAKES = [
    ("race { A } { A(prompt) }", "incomplete-block", RACE),
    ("race { A }", "incomplete-block", RACE),
    ("race { A } or A", "incomplete-block", RACE),
    ("race { A } else { A(prompt) }", "incomplete-block", RACE),
    ("race { A } and { A(prompt) }", "incomplete-block", RACE),
    ("race { A } || { A(prompt) }", "incomplete-block", RACE),
    ("race { A } or { A(prompt) } or", "incomplete-block", RACE),
    ("const r = race { A }; or { L }", "incomplete-block", RACE),
    ("race { } or { A }", "missing-value", "write an expression"),
    ("race { A } or when prompt { A }", "incomplete-block", RACE),
    ("race (A, A(prompt))", "unknown-name", RACE),
    ("race({ A }, { A })", "unknown-name", RACE),
    (f'{REPEAT} from {{ x: "a" }} until d.ok', "wrong-first-value", "names that can have one: `d`"),
    (f"{REPEAT} from {{ d: 5 }} until d.ok", "wrong-first-value", "a complete value of its schema"),
    (f"{REPEAT} from {{ n: 5 }} until d.ok", "wrong-first-value", "names that can have one: `d`"),
    (f"{REPEAT} until d.ok from {{ d: {{ n: 1 }} }}", "foreign-statement", FROM),
    (f"{REPEAT} from d until d.ok", "incomplete-block", FROM),
    (f'{REPEAT} from (d: "a") until d.ok', "incomplete-block", FROM),
    (f'{REPEAT} from {{ d: "a", d: "b" }} until d.ok', "repeated-key", "remove one"),
    ("repeat from { d: 1 } { const d = L(prompt); d } until d.ok", "incomplete-block", FROM),
    ("each i in 3 { A } from { i: 1 }", "foreign-statement", FROM),
    ("repeat { A }", "incomplete-block", "`repeat { … } until PATH`"),
    ("repeat { A } until", "unexpected-text", "expected a name"),
    ("repeat i in 0 { A }", "bad-bound", "write such a number"),
    ("repeat i in 2.5 { A }", "bad-bound", "write such a number"),
    ("repeat i in 5 max 3 { A }", "over-limit", ""),
    ("each i in 2000 { A }", "over-limit", "`max 2000`"),
    ("repeat i in 3 { A } keep 2", "stray-word", "`repeat { … } until PATH max 3`"),
    (f"{EACH} {{ A }} until l.ok", "unchanging-condition", "move the step"),
    (f'{EACH} until x is "a" {{ A(x) }}', "incomplete-block", "the braces: "),
    (f"{EACH} {{ const y = L(x); y }} until y.nok", "unknown-member", "did you mean `ok`?"),
    (f"{EACH} {{ const y = L(x); y }} until y.ok max 3", "stray-word", "before the braces"),
    (f"{EACH} {{ const y = L(x); y }} while y.ok", "foreign-statement", "until PATH"),
    (f"{WHEN} l.ok && l.n > 3 {{ A }}", "unknown-operator", "write `and`"),
    (f"{WHEN} l.ok || l.n > 3 {{ A }}", "unknown-operator", "write `or`"),
    (f"{WHEN} l.n == 3 {{ A }}", "unknown-operator", "write `is`"),
    (f"{WHEN} l.n != 3 {{ A }}", "unknown-operator", "write `is not`"),
    (f"{WHEN} l.n => 3 {{ A }}", "unknown-operator", "write `>=`"),
    (f"{WHEN} not l.ok {{ A }}", "unknown-operator", "`PATH is false`"),
    (f"{WHEN} l.ok and not l.ok {{ A }}", "unknown-operator", "`PATH is false`"),
    (f'{WHEN} l.n >= "3" {{ A }}', "bad-condition", "write a number"),
    (f"{WHEN} l.n > l.t {{ A }}", "never-true", ""),
    (f"{WHEN} 3 < l.n {{ A }}", "bad-condition", "the path comes first"),
    (f"{WHEN} 3 <= l.n <= 5 {{ A }}", "bad-condition", "`PATH >= 3 and PATH <= 5`"),
    (f"{WHEN} l.n > 3 > 1 {{ A }}", "incomplete-block", "`PATH >= 3 and PATH <= 5`"),
    (f"{WHEN} l.n between 3 and 5 {{ A }}", "incomplete-block", "`PATH >= 3 and PATH <= 5`"),
    (f"{WHEN} l.n in [1, 2] {{ A }}", "incomplete-block", "`PATH @ { enum: […] }`"),
    (f"{WHEN} l.n isnt 3 {{ A }}", "incomplete-block", "`PATH is not VALUE`"),
    (f"{WHEN} l.n is not {{ A }}", "bad-condition", "write one of these"),
    (f"{WHEN} l.ok and {{ A }}", "incomplete-block", "when PATH"),
    (f'{WHEN} (l.ok or l.n > 3) and l.t is "a" {{ A }}', "bad-condition", "`A and B or A and C`"),
    (f'{WHEN} l.t is "a" and (l.ok or l.n > 3) {{ A }}', "bad-condition", "`A and B or A and C`"),
    (f"{WHEN} (l.ok or l.n > 3) {{ A }}", "bad-condition", "remove the brackets"),
    (f"{WHEN} l.ok AND l.n > 3 {{ A }}", "incomplete-block", "in lower case"),
    (f"{WHEN} l.ok unless l.n > 3 {{ A }}", "incomplete-block", "the opposite"),
    (f"{WHEN} l.n greater than 3 {{ A }}", "incomplete-block", "write `PATH > 3`"),
    (f"{WHEN} l.n is > 3 {{ A }}", "bad-condition", "without `is`"),
    (f"{WHEN} l.n ≥ 3 {{ A }}", "unknown-operator", "write `>=`"),
    (f"{WHEN} l.n ≠ 3 {{ A }}", "unknown-operator", "write `is not`"),
    (f"{WHEN} l.n < 9 and > 1 {{ A }}", "bad-condition", "and PATH > 1`"),
    (f"{WHEN} l.n is 1 or 2 {{ A }}", "bad-condition", "or PATH is 2`"),
    (f"{WHEN} l.n is 1 or is 2 {{ A }}", "bad-condition", "or PATH is 2`"),
    (f"{WHEN} l.n is l.n {{ A }}", "always-true", "remove it"),
    (f"{WHEN} l.n is not l.n {{ A }}", "never-true", "compare with another one"),
    ("repeat { const d = L(prompt); d } until round > 3", "never-true", "at most 3 here; `max` allows more"),
    ("repeat i in 3 { const d = L(prompt); d } until i is 5", "never-true", "at most 3 here"),
    ("repeat i in 3 { A(prompt) } max 5", "stray-word", "belongs to a condition"),
    ("const n = 'x'; each i in n { A(prompt) }", "bad-bound", "write such a number"),
    ("const d = A(prompt); repeat { d = A(d); d } until d.text is 'x'", "repeated-name", "`previous.NAME`"),
    (f"{EACH} {{ const y = L(x); y }} until round is 2", "unknown-name", "exists in a `repeat`"),
    (f"{EACH} {{ const y = L(x); y }} until y.ok else {{ A }}", "stray-else", "`each` has no `else`"),
    ("race { A } or { L } else { A(prompt) }", "stray-else", "`race` has no `else`"),
    ("race { A };\nor { L }", "incomplete-block", "remove the `;`"),
    ("race A(prompt) or L(prompt)", "incomplete-block", RACE),
    ("const w = race A(prompt) or L(prompt)", "incomplete-block", RACE),
    ("do { race A or L }", "incomplete-block", RACE),
    ("race { const d = A(prompt); d } or { L }; L(d)", "unknown-name", "give the block a name"),
    (f"{REPEAT} from {{ d }} until d.ok", "unknown-name", "`from { d: VALUE }`"),
    (f"{REPEAT} from {{ d.ok: true }} until d.ok", "missing-key", "`{ d: { ok: … } }`"),
    (f"{REPEAT} from {{ d: {{ n: 1 }} }} until d.ok", "wrong-first-value", "leave the name out"),
    (f"{REPEAT} from {{ ok: true }} until d.ok", "wrong-first-value", "`d: { … }`"),
    (f"{WHEN} l.t > 3 {{ A }}", "never-true", "values that the schema allows"),
    (f'{WHEN} l.ok is "true" {{ A }}', "never-true", "write `true` without quotes"),
    (f"{WHEN} l.list is l.n {{ A }}", "never-true", "no value matches both"),
    (f"{WHEN} l.n >= 5 and l.n < 3 {{ A }}", "never-true", "joined by `and`"),
    (f'{WHEN} l.w is "x" and l.w is "y" {{ A }}', "never-true", "joined by `and`"),
    (f'{WHEN} l.w is not "x" and l.w is not "y" {{ A }}', "never-true", "joined by `and`"),
    (f"{WHEN} l.n < 5 or l.n >= 5 {{ A }}", "always-true", "remove it"),
    (f"{WHEN} l.ok is true or l.ok is false {{ A }}", "always-true", "remove it"),
    (f'{WHEN} l.w is not "x" or l.w is not "y" {{ A }}', "always-true", "remove it"),
    (f"{WHEN} l.ok {{ A }} else when l.ok is true {{ A(l) }}", "never-true", "a branch before it"),
    (f"{WHEN} l.n > 3 {{ A }} else when l.n >= 5 {{ A(l) }}", "never-true", "a branch before it"),
    ("language 2; A(prompt)", "newer-language", "install a newer"),
    ("language 0; A(prompt)", "misplaced-language", "`language 1;`"),
    ("language 1.5; A(prompt)", "misplaced-language", "`language 1;`"),
    ('language "1"; A(prompt)', "misplaced-language", "`language 1;`"),
    ("repeat { const d = L(prompt); d } until d.ok else { A(previous.d) }", "unknown-name", "reads `rounds`"),
    ("const seat = repeat { const seat = L(prompt); seat } until seat.ok; A(seat)", "repeated-name", "choose another one"),
    ("const docs = ['a', 'b']; each d in docs { A(d) }", "not-a-value", "`do { [1, 2] }`"),
    ("const ask = @ { title: 'Ask', type: 'object' }; A(ask(prompt))", "not-callable", "a stage of a pipe"),
    ("A(prompt, lang: 'de')", "slot-not-found", '`@ "…"`'),
    ("'Write a mail'\nconst d = A(prompt);\nL(d)", "text-alone", "before the last expression"),
    ("Language 1; A(prompt)", "misplaced-language", "`language 1;`"),
    ("language: 1; A(prompt)", "misplaced-language", "`language 1;`"),
    ("language 01; A(prompt)", "bad-number", "as in JSON"),
    ("language v1; A(prompt)", "misplaced-language", "`language 1;`"),
    ("A(prompt); language 1;", "misplaced-language", "first line"),
    ("language 1; language 1; A(prompt)", "misplaced-language", "first line"),
    ("A @ { properties: { text: false } }", "impossible-schema", "correct one"),
    ("A(A @ { properties: { text: false } })", "impossible-schema", "correct one"),
    ("A @ { allOf: [{ properties: { text: false } }] }", "unsatisfiable", "excludes every value"),
    ("Two_Mixin(A, { head: L(A), tail: L })", "empty-mixin", "let the slot read something else"),
    ("input A; L(A)", "hidden-instruction", "such as `a`"),
    ("const A = L(prompt); L(A)", "hidden-instruction", "such as `a`"),
]
SOUND = [
    f"{WHEN} l.n < 5 or l.n > 5 {{ A }}",
    "const f = repeat { const d = A(previous.d); d } until d is previous.d; L(f)",
    "const race = A(prompt); L(race)",
    f"{WHEN} l.n >= 3 and l.n < 5 {{ A }} else when l.n > 4 {{ A(l) }}",
    f'{WHEN} l.w is "x" {{ A }} else when l.w is "y" {{ A(l) }}',
    f'{WHEN} l.ok and l.w is "x" or l.ok and l.w is "y" {{ A }}',
    "input a; L(a)",
    "const a = A(prompt); L(a)",
    "const L = A; L(prompt)",
    "tool A = L(prompt)",
    "A @ { properties: { more: false } }",
]


@every_case(("program", "name", "hint"), MISTAKES)
def test_a_mistake_with_a_new_word_is_one_problem_with_its_way_out(program: str, name: str, hint: str) -> None:
    found = instrc.check(f"{program}\n", vibes=VIBES)
    assert [each.name for each in found] == [name], found
    assert hint in (found[0].hint or ""), found[0].hint


@every_case("program", SOUND)
def test_what_only_looks_like_one_is_none(program: str) -> None:
    assert not instrc.check(f"{program}\n", vibes=VIBES)
