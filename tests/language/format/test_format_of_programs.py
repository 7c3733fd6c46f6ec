from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from printing import print_program
from programs import bare, programs

from instrc import Report, Source
from instrc.language.concrete_tree import read_tree  # the tree below the surface gives every sign back
from instrc.language.formatter import format_program, format_source  # a text without a file
from instrc.language.parser import parse
from instrc.language.surface import Program


def parsed(text: str) -> Program:
    report = Report()
    program = parse(Source("formatted.aug", text), report)
    assert [problem.name for problem in report.problems] == [], text
    return program


def formatted(text: str) -> str:
    return format_program(Source("formatted.aug", text))


def comments(text: str) -> list[str]:
    """Return the comments of a program, by text: they may move a little, but none goes."""
    tree = read_tree(Source("commented.aug", text))
    found = [trivia.text for leaf in tree.leaves() for trivia in leaf.before]
    found += [trivia.text for trivia in tree.behind]
    return sorted(re.sub(r"\s+", " ", comment).strip() for comment in found if comment.strip())


GAPS = st.sampled_from(
    ["", "", "", " ", "\n", "\n\n\n", " // c\n", "\n// own\n", " /* b */ ", "\n/* two\n  lines */\n", "\n\n// d\n\n", "\t"]
)


@st.composite
def commented(draw: st.DrawFn) -> str:
    """Programs with white space and comments between any two words."""
    text = print_program(draw(programs(most=3)))
    parts = []
    for leaf in read_tree(Source("any.aug", text)).leaves():
        needed = bool(leaf.before) and leaf.start > 0
        gap = draw(GAPS)
        parts += [gap or (" " if needed else ""), leaf.text]
    return "".join([*parts, draw(GAPS)])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tool/*c*/ a = A", "/*c*/ tool a = A;\n"),
        ("tool // the const\n a = A", "// the const\ntool a = A;\n"),
        ("tool const/*c*/ a = A", "/*c*/ tool a = A;\n"),
        ("let/*c*/a = A", "/*c*/ const a = A;\n"),
        ("let // let\n a = A", "// let\nconst a = A;\n"),
    ],
)
def test_comments_beside_the_word_of_a_definition_are_no_words(text: str, wanted: str) -> None:
    assert format_source(Source("a.aug", text), Report()) == wanted


@given(commented())
def test_the_layout_keeps_meaning_and_comments_and_is_its_own_layout(text: str) -> None:
    again = formatted(text)
    assert bare(parsed(again)) == bare(parsed(text))
    assert comments(again) == comments(text)
    assert formatted(again) == again
    assert not re.search(r"[ \t]$", again, re.MULTILINE) or "/*" in again


UNTIDY = """\
// Meeting
const people = IdentifyParticipants(prompt)
const slot   = FindCommonSlot(FetchAvailability_Activity(people));
const draft  = DraftInvitation(people, slot);


const answer = ConfirmInvitation_User({ draft, slot });   // ask
when answer.decision is "Approve" {
  each person in people.attendees {
    try { SendInvitation_Activity({ person, draft }) } else { NoteFailure_Activity({ person, error }) } // x
  }
  // else nobody
} else {
  ThankForTheirTime(answer.comment)
}
"Find out and answer"
  | repeat {
      const act  = Act(prompt, rounds, { plan: Plan(Search_Activity, Weather_Activity, aug:processes/book-trip) });
      const seen = RunPlan_Activity(act.plan);
      act
    } until act.answer @ { type: "string" } max 8 keep 4 else { AnswerWithWhatThereIs(prompt, rounds) }
tool x = Introspect_Mixin(Draft(people: Identify(prompt), slot: FindSlot(Fetch_Activity(Identify(prompt)))))
@ { "properties": { "_iteration": { "maximum": 5 } , a: [1,2,3]}}
when a.b { A } else when c.d @ {type: 'string'} or e { B } else { C }
"goal" | A | B | C @ 'it"s'
Send_Activity(Confirm_User(Draft(people: Identify(prompt), slot:
FindSlot(Fetch_Activity(Identify(prompt))), more: Something(a, b))))
"""

TIDY = """\
// Meeting
const people = IdentifyParticipants(prompt);
const slot = FindCommonSlot(FetchAvailability_Activity(people));
const draft = DraftInvitation(people, slot);

const answer = ConfirmInvitation_User({ draft, slot }); // ask
when answer.decision is "Approve" {
  each person in people.attendees {
    try {
      SendInvitation_Activity({ person, draft })
    } else {
      NoteFailure_Activity({ person, error })
    } // x
  }
  // else nobody
} else {
  ThankForTheirTime(answer.comment)
}
"Find out and answer"
  | repeat {
      const act = Act(
        prompt,
        rounds,
        { plan: Plan(Search_Activity, Weather_Activity, aug:processes/book-trip) },
      );
      const seen = RunPlan_Activity(act.plan);
      act
    } until act.answer @ { type: "string" } max 8 keep 4 else {
      AnswerWithWhatThereIs(prompt, rounds)
    };
tool x = Introspect_Mixin(
  Draft(people: Identify(prompt), slot: FindSlot(Fetch_Activity(Identify(prompt)))),
) @ { properties: { _iteration: { maximum: 5 }, a: [1, 2, 3] } };
when a.b { A } else when c.d @ { type: "string" } or e { B } else { C }
"goal" | A | B | C @ 'it"s';
Send_Activity(
  Confirm_User(
    Draft(
      people: Identify(prompt),
      slot: FindSlot(Fetch_Activity(Identify(prompt))),
      more: Something(a, b),
    ),
  ),
);
"""


def test_the_layout_of_each_notation() -> None:
    assert formatted(UNTIDY) == TIDY


BROKEN = """\
Tell_Activity({
  row: "the brackets of a call break together with those of its only argument",
  history: entered,
});
Inline_Mixin(@ {
  type: "object",
  properties: { name: { type: "string", description: "so do those of a schema in the program" } },
});
Tell_Activity(
  // A comment before the argument needs a line.
  {
    row: "the brackets of a call break together with those of its only argument",
    history: entered,
  },
);
Tell_Activity(
  { row: "and so does one behind it" }, // here
);
const decided = when answer.decision is "Approve, with all the changes that were asked for"
    or answer.decision @ { type: "string", pattern: "^(yes|of course)$" }
    // Some say nothing.
    or answer.silent {
  Send_Activity(answer)
} else when answer.later is true {
  Wait_Activity(answer)
};
"Ask"
  | repeat {
      Ask_User(prompt)
    } until answer.decision is "Approve, with all the changes that were asked for and some more"
        or answer.decision @ { type: "string", pattern: "^(yes|of course)$" } max 3 else {
      GiveUp(prompt)
    };
Measure_Activity({
  primes: [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
    101, 103,
  ],
});
"""


def test_what_does_not_fit_breaks_where_a_reader_looks_for_it() -> None:
    assert formatted(BROKEN) == BROKEN
    on_few_lines = re.sub(r"(\n? *// .*\n)|\n", lambda found: found[1] or " ", BROKEN)
    assert formatted(on_few_lines) == BROKEN


def test_comments_around_else_move_into_its_block_and_all_its_statements_stay() -> None:
    text = "when a.b { A } // why\nelse /* so */ { B; C; D }"
    assert formatted(text) == "when a.b {\n  A\n} else {\n  // why\n  /* so */\n  B;\n  C;\n  D\n}\n"
    text = "when a.b { A }\n// else\nelse when c // c\n{ B }\n// last\nelse when d { C }"
    assert formatted(text) == ("when a.b {\n  A\n} else when c {\n  // else\n  // c\n  B\n} else when d {\n  // last\n  C\n}\n")


def test_comments_between_a_repeat_and_its_condition_stay_at_the_end_of_its_block() -> None:
    text = "const r = repeat { A } // good?\nuntil /* yes */ a.b // or so\nmax 3 // at last\nelse { B } // end"
    assert formatted(text) == (
        "const r = repeat {\n  A\n  // good?\n  /* yes */\n  // or so\n} until a.b max 3 else {\n  // at last\n  B\n}; // end\n"
    )


@given(commented())
def test_a_comment_inside_a_statement_stays_with_it(text: str) -> None:
    numbered = iter(range(1_000))
    text = re.sub(r"// c|/\* b|// d|// own|/\* two", lambda found: f"{found[0]} #{next(numbered)} ", text)
    before, after = (_statements_of_comments(each) for each in (text, formatted(text)))
    assert {number: at for number, (at, inside) in before.items() if inside} == {
        number: after[number][0] for number, (_, inside) in before.items() if inside
    }


def _statements_of_comments(text: str) -> dict[str, tuple[int, bool]]:
    """Return of each numbered comment to which outermost statement it belongs, and whether it is inside of that."""
    spans = [statement.span for statement in parsed(text).statements]
    found = {}
    for comment in re.finditer(r"(?://|/\*) \w+ #(\d+)", text):
        place = comment.start()
        started = sum(span.start < place for span in spans)
        inside = started > 0 and place < spans[started - 1].end
        before = re.sub(r"/\*.*?\*/", "", text[text.rfind("\n", 0, place) + 1 : place])
        found[comment[1]] = (started if not before.strip() and not inside else started - 1, inside)
    return found


def test_a_comment_inside_of_a_line_stays_before_its_word_unless_that_closes_a_bracket() -> None:
    assert formatted("/* a */ A(/* b */ x, /* c */ y)") == "/* a */ A(/* b */ x, /* c */ y);\n"
    assert formatted("A(x /* b */ )") == "A(\n  x, /* b */\n);\n"


def test_of_two_comments_at_the_end_of_a_line_the_first_moves_above_it() -> None:
    """Behind `// one`, on its line, the second would be part of it."""
    assert formatted("A // one\n; // two\nB") == "// one\nA; // two\nB;\n"
    assert formatted("A /* one\nline */; // two\nB") == "/* one\nline */\nA; // two\nB;\n"
    assert formatted("A /* one */; // two\nB") == "A; /* one */ // two\nB;\n"


def test_a_program_as_deep_as_may_be_is_formatted() -> None:
    text = "f(" * 128 + "{ a: [" * 64 + "x" + "] }" * 64 + ")" * 128
    assert print_program(parsed(formatted(text))) == print_program(parsed(text))


@pytest.mark.parametrize("text", ["", "\n\n", "// only this\n", "/* a */ /* b */"])
def test_a_source_without_statements_keeps_its_comments(text: str) -> None:
    assert comments(formatted(text)) == comments(text)
    assert formatted(formatted(text)) == formatted(text)
