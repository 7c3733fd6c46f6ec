"""What compiles, but was hardly meant: told as a warning, and never in programs that are written as usual."""

from __future__ import annotations

from every_case import every_case

import instrc
from instrc import Report

TEXT = {"type": "string"}
VIBES = {
    name: {"type": "object", "properties": {"text": TEXT}, "required": ["text"]} for name in ("Draft", "Review", "Send_Activity")
}


def warnings(text: str) -> list[tuple[str, str]]:
    """Return the names and the places of the warnings about a program."""
    report = Report()
    instrc.artefacts(text, vibes=VIBES, report=report)
    return [(problem.name, problem.at.text) for problem in report.ordered() if problem.at and problem.name != "unread-result"]


@every_case(
    "text",
    [
        '"A letter" | Draft\n  «Review»',
        "Draft(prompt)\n    «Review» | Draft",
        "const d = Draft\n  «Review()»\nDraft(d)",
        "do {\n  Draft(prompt)\n    «Review»\n}",
        "Draft // the first\n\t«Review»",
        'Draft\n  «Introspect_Mixin(Review) @ "Be strict."»',
    ],
)
def test_an_instruction_indented_below_a_statement_lacks_its_bar(text: str) -> None:
    shown = text.partition("«")[2].partition("»")[0]
    assert warnings(text.replace("«", "").replace("»", "")) == [("indented-statement", shown)]


@every_case(
    "text",
    [
        "Draft;\n  Review",
        "Draft\nReview",
        "  Draft\n  Review",
        "const d = Draft(prompt)\n  Review(d)",
        "const d = Draft(prompt)\n  const e = Review(d)\n  Draft(e)",
        "Draft\n  | Review",
        "Draft(\n  prompt)\nReview",
        "do { Draft(prompt)\n  Review }",
    ],
)
def test_other_lines_are_statements_as_they_stand(text: str) -> None:
    assert "indented-statement" not in dict(warnings(text))


@every_case(
    "text",
    [
        'const d = Draft(prompt); when d.text is "" { Fail(d) } else { d }',
        'const d = Draft(prompt); when d.text is "" { Fail(code: "empty") } else { d }',
        'const d = Draft(prompt); when d.text is "" { d | Fail } else { d }',
        'const d = Draft(prompt); when d.text is "" { d | Fail() } else { d }',
        "try { Send_Activity(prompt) } else { Fail(error) }",
        '"Fail" | Draft',
        'Send_Activity(prompt); Fail(code: "x")',
    ],
)
def test_a_fail_that_is_given_something_is_not_bare(text: str) -> None:
    assert warnings(text) == []


@every_case(
    "text",
    [
        'Fail(code: "x"); «Send_Activity(prompt)»',
        "Send_Activity(prompt); prompt | Fail; «Draft(prompt)»; Review(prompt)",
        'try { Fail(code: "x"); «const d = Draft(prompt)»; Send_Activity(d) } else { null }',
        'const d = Draft(prompt); when d.text is "" { Fail(d); «null» } else { d }',
        'try { Fail(code: "x"); «Fail(code: "y")» } else { null }',
    ],
)
def test_a_line_below_a_fail_is_told_once(text: str) -> None:
    shown = text.partition("«")[2].partition("»")[0]
    report = Report()
    instrc.compile(text.replace("«", "").replace("»", ""), vibes=VIBES, report=report)
    assert [each.at and each.at.text for each in report.once() if each.name == "below-fail"] == [shown]


@every_case("text", ['"A prompt" | Draft', '"Prompt" | Draft', '"Draft" | Draft', '"city" | Draft'])
def test_a_goal_that_is_no_name_of_a_value_is_a_goal(text: str) -> None:
    assert warnings(text) == []


@every_case(("closed", "name"), [(True, "unknown-argument"), (False, "similar-label")])
def test_a_label_that_is_no_input_is_told_once(closed: bool, name: str) -> None:  # noqa: FBT001  -- a parameter
    inputs = {"reply": {"type": "string"}, "urgent": {"type": "boolean"}, "output": {}}
    schema = {"type": "object", "properties": inputs, "additionalProperties": not closed}
    program = "const d = Draft(prompt); Draft(Send_Activity(reply: d.text), Send_Activity(replay: d.text, urgent: true))"
    vibes = {"Draft": {"type": "object", "properties": {"text": {"type": "string"}}}, "Send_Activity": schema}
    report = Report()
    try:
        instrc.compile(program, vibes=vibes, report=report)
    except instrc.CompileError as error:
        report.problems[:] = error.problems
    [problem] = report.once()
    assert (problem.name, problem.at and problem.at.text) == (name, "replay")
