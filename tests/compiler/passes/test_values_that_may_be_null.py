"""A value that may be `null` where an argument excludes it is told, unless a condition around the call has asked for it."""

from __future__ import annotations

from every_case import every_case
from marked_mistakes import problems_of
from objects import an_object

TEXT = {"type": "string"}
VIBES = {
    "Find": an_object(mail={"type": ["string", "null"]}, other={"type": ["string", "null"]}, sure={"type": "boolean"}),
    "Send_Activity": {"type": "object", "properties": {"to": TEXT, "output": TEXT}, "required": ["to"]},
    "Draft": an_object(text=TEXT),
    "Pay_Activity": {
        "type": "object",
        "properties": {"sum": {"type": "integer"}, "output": an_object(receipt=TEXT)},
        "required": ["sum"],
    },
    "Book_Activity": {"type": "object", "properties": {"seats": {"type": "integer"}, "output": TEXT}, "required": ["seats"]},
}
SEND = "Send_Activity(to: f.mail)"


def names(text: str) -> list[str]:
    found = "const f = Find(prompt); " if "f." in text else ""
    return [problem.name for problem in problems_of(found + text, vibes=VIBES)]


@every_case(
    "text",
    [
        f'when f.mail @ {{ type: "string" }} {{ {SEND} }}',
        f'when f.mail is "a@b.c" or f.mail is "b@b.c" {{ {SEND} }}',
        f"when f.mail @ {{ minLength: 1 }} {{ when f.sure {{ {SEND} }} }}",
        f"when f.mail is null {{ Draft(f) }} else {{ {SEND} }}",
        f"when f.mail is null or f.sure {{ Draft(f) }} else {{ {SEND} }}",
        f"when f.mail is null {{ Draft(f) }} else when f.sure {{ {SEND} }} else {{ Draft(f) }}",
        f"when f.mail @ {{}} {{ try {{ {SEND} }} else {{ Draft(error) }} }}",
    ],
)
def test_what_a_condition_has_asked_for_is_there(text: str) -> None:
    assert names(text) == []


@every_case(
    "text",
    [
        SEND,
        f"when f.sure {{ {SEND} }}",
        f"when f.mail is null {{ {SEND} }}",
        f'when f.other @ {{ type: "string" }} {{ {SEND} }}',
        f"when f.mail @ {{}} or f.sure {{ {SEND} }}",
        f"when f.mail @ {{}} {{ Draft(f) }} else {{ {SEND} }}",
        f"when f.mail @ {{}} {{ Draft(f) }}; {SEND}",
    ],
)
def test_what_no_condition_has_asked_for_may_be_null(text: str) -> None:
    assert "may-be-null" in names(f"do {{ {text} }}")


def test_the_answer_of_a_server_is_there_whatever_is_required_of_its_arguments() -> None:
    assert names("const paid = Pay_Activity(sum: 3); Send_Activity(to: paid.receipt)") == []


def test_a_part_of_an_answer_that_never_fits_is_told() -> None:
    assert names("const paid = Pay_Activity(sum: 3); Book_Activity(seats: paid.receipt)") == ["wrong-argument"]


MAYBE = "const w = when f.sure { Draft(prompt) }; "
ALL = "const all = each i in 3 { when f.sure { Draft(i) } }; "
TO = "Send_Activity(to: w.text)"


@every_case(
    ("text", "told"),
    [
        (MAYBE + TO, True),
        ("const w = when f.sure { Draft(prompt) } else { null }; " + TO, True),
        ("const w = when f.sure { Draft(prompt) } else { Draft(f) }; " + TO, False),
        (ALL + "each w in all { " + TO + " }", True),
        (ALL + "each w in all { when w @ {} { " + TO + " } }", False),
        (MAYBE + "when w @ {} { " + TO + " }", False),
        (MAYBE + "when w.text @ {} { " + TO + " }", False),
        (MAYBE + "when w is null { Draft(f) } else { " + TO + " }", False),
        ("const w = when f.sure { { text: Draft(f), b: f } }; when w.b.sure { Send_Activity(to: w.text.text) }", False),
    ],
)
def test_a_member_of_what_may_be_null_may_be_null(text: str, *, told: bool) -> None:
    assert ("may-be-null" in names(text)) == told
