"""One slip in a program of many blocks is one problem: what only follows from it is not told."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from objects import an_object

import instrc

TEXT: Any = {"type": "string"}


VIBES = {
    "Draft": an_object(text=TEXT),
    "Check": an_object(ok={"type": "boolean"}, level=TEXT, guests={"type": "array", "items": TEXT}),
    "Tell_Activity": an_object(output=an_object(told=TEXT)),
}
PROGRAM = """\
input history @ { type: "array", items: { type: "object" } };

const last = repeat {
  const made = try {
    Tell_Activity({ row: "made", history })
  } else {
    when error.kind is "plan" {
      Tell_Activity({ row: "plan", history: previous.made })
    } else {
      Fail(error)
    }
  };
  const seen = Check(prompt, made);
  each guest in seen.guests max 5 {
    const mail = Draft(guest, made);
    Tell_Activity({ row: "sent", mail, guest })
  };
  seen
} until seen.level is "done" or seen.level is "left" max 20 else {
  Check(prompt, rounds)
};

Draft(last)
"""


def told(text: str) -> list[tuple[str, str]]:
    """Return the problems of a program with what they are about; none if it compiles."""
    try:
        instrc.artefacts(text, vibes=VIBES)
    except instrc.CompileError as error:
        return [(problem.name, problem.at.text if problem.at else "") for problem in error.problems]
    return []


def test_the_program_is_right() -> None:
    assert told(PROGRAM) == []


@every_case(
    ("right", "slip", "name", "at"),
    [
        # in a block, the statement is given up, not what is around it
        ("(prompt, made);", "(.made);", "unexpected-text", "."),
        ("const made = try", "const made try", "unexpected-text", "try"),
        ("const made = try", "const = made try", "missing-name", "const"),
        ("history: previous", "history:: previous", "unknown-operator", "::"),
        ('{ row: "plan", ', '{ : "plan", ', "missing-braces", "{"),
        ("Draft(guest, made)", "Draft(guest( made)", "missing-closing-bracket", ""),
        # brackets
        ('{ row: "made", history })', '{ row: "made", history }))', "mismatched-bracket", ")"),
        ("(error)", ";error)", "mismatched-bracket", ")"),
        ("else {\n      Fail", "else )\n      Fail", "mismatched-bracket", ")"),
        ("try {", "try {{", "doubled-braces", "{"),
        # words and strings twice
        ('row: "plan"', 'row row: "plan"', "repeated-word", "row"),
        ('{ type: "object" }', '{ type type: "object" }', "repeated-word", "type"),
        ('row: "plan"', 'row: "plan" "plan"', "repeated-word", '"plan"'),
        ("const seen =", "const seen seen =", "repeated-word", "seen"),
        ("= Check(", "= Check Check(", "repeated-word", "Check"),
        ("max 20", "max 20 20", "repeated-word", "20"),
        ("Draft(last)", "Draft Draft(last)", "repeated-word", "Draft"),
        # two words in the wrong order
        ('type: "array",', 'type: ,"array"', "missing-value", ":"),
        ("history: previous.made", "history: ,previous.made", "missing-value", ":"),
        ('items: { type: "object" }', "items: { type: }", "missing-value", ":"),
        # names
        ("const last", "const lsat", "unknown-name", "last"),
        ("const seen =", "const sene =", "misspelt-definition", "sene"),
        ("const made =", "const Made =", "misspelt-definition", "Made"),
        ("each guest in", "each geust in", "misspelt-definition", "geust"),
    ],
)
def test_one_slip_is_one_problem(right: str, slip: str, name: str, at: str) -> None:
    assert PROGRAM.count(right) >= 1
    assert told(PROGRAM.replace(right, slip, 1)) == [(name, at)]


def test_a_misspelt_definition_shows_who_reads_it() -> None:
    with pytest.raises(instrc.CompileError) as raised:
        instrc.artefacts("const poeple = Check(prompt); const a = Draft(people); Draft(people, a)", vibes=VIBES)
    [problem] = raised.value.problems
    assert problem.message == "nothing reads `poeple`, but 2 places read `people`, which is not defined"
    assert [label.span.start for label in problem.labels] == [46, 61]
    [fix] = problem.fixes
    assert fix.edits[0].text == "people"


def test_what_is_read_under_two_names_stays_two_problems() -> None:
    assert [name for name, _ in told("const people = Check(prompt); Draft(poeple, peolpe)")] == ["unknown-name"] * 2


def test_mistakes_in_two_statements_of_one_body_are_told_together() -> None:
    text = "do {\n  const a = Draft(prompt,, made);\n  const b = Draft(a b);\n  const c = ;\n  Draft(c)\n}"
    assert [name for name, _ in told(text)] == ["extra-comma", "missing-comma", "missing-value"]
