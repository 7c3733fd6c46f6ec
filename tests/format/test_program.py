from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from printing import print_program
from programs import bare, programs

from instrc.format.program import format_program
from instrc.ir.surface import Program
from instrc.problems.report import Report
from instrc.source import Source
from instrc.syntax.concrete import read_tree
from instrc.syntax.parse import parse


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


def test_comments_around_else_move_into_its_block_and_all_its_statements_stay() -> None:
    text = "when a.b { A } // why\nelse /* so */ { B; C; D }"
    assert formatted(text) == "when a.b {\n  A\n} else {\n  // why\n  /* so */\n  B;\n  C;\n  D\n}\n"


def test_a_comment_inside_of_a_line_stays_before_its_word_unless_that_closes_a_bracket() -> None:
    assert formatted("/* a */ A(/* b */ x, /* c */ y)") == "/* a */ A(/* b */ x, /* c */ y);\n"
    assert formatted("A(x /* b */ )") == "A(\n  x, /* b */\n);\n"


def test_of_two_comments_at_the_end_of_a_line_the_first_moves_above_it() -> None:
    """Behind `// one`, on its line, the second would be part of it."""
    assert formatted("A // one\n; // two\nB") == "// one\nA; // two\nB;\n"
    assert formatted("A /* one\nline */; // two\nB") == "/* one\nline */\nA; // two\nB;\n"
    assert formatted("A /* one */; // two\nB") == "A; /* one */ // two\nB;\n"


def test_depth_is_no_limit() -> None:
    text = "f(" * 500 + "{ a: [" * 250 + "x" + "] }" * 250 + ")" * 500
    assert print_program(parsed(formatted(text))) == print_program(parsed(text))


@pytest.mark.parametrize("text", ["", "\n\n", "// only this\n", "/* a */ /* b */", ";;;", "// a\n\n\n// b\n;"])
def test_a_source_without_statements_keeps_its_comments(text: str) -> None:
    assert comments(formatted(text)) == comments(text)
    assert formatted(formatted(text)) == formatted(text)
