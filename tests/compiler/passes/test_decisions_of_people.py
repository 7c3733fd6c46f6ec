"""Who decides is shown what is carried out: `unread-result` stands at the step of a person who is not, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from objects import an_object

import instrc
from instrc import Report

TEXT = {"type": "string"}


VIBES = {
    "People": an_object(names={"type": "array", "items": TEXT}),
    "Draft": an_object(text=TEXT),
    "Summarise": an_object(short=TEXT),
    "Polish": an_object(polished=TEXT),
    "Send": an_object(mail=TEXT),
    "Sort": an_object(kind={"enum": ["x", "y"]}),
    "Send_Activity": an_object(id=TEXT),
    "Queue_Activity": an_object(place=TEXT),
    "Check_Activity": an_object(fine={"type": "boolean"}),
    "Approve_User": an_object(verdict={"enum": ["yes", "no"]}, comment=TEXT),
    "Sign_User": an_object(signed={"type": "boolean"}),
    "Rate_User": an_object(verdict={"enum": ["yes", "no"]}, stars={"type": "integer"}),
    "Mark_User": an_object(verdict={"enum": ["yes", "no"]}, anything=True),
    "Ask_User": an_object(address=TEXT, express={"type": "boolean"}, floor={"type": "integer"}, door=TEXT),
}
DRAFT = "const d = Draft(prompt); "
PEOPLE = "const p = People(prompt); "
ASKED = "const ok = «Approve_User(prompt)»; "
SENT = 'when ok.verdict is "yes" { Send_Activity(d) }'
YES = 'when ok.verdict is "yes" '
APPROVED = "const ok = Approve_User(prompt); "

UNSHOWN = {
    "straight": DRAFT + ASKED + SENT,
    "written later": ASKED + DRAFT + SENT,
    "in the else": DRAFT + ASKED + 'when ok.verdict is "no" { Polish(d) } else { Send_Activity(d) }',
    "the second of three branches": DRAFT + ASKED + 'when ok.verdict is "no" { Polish(d) } else ' + SENT + " else { Polish(ok) }",
    "the answer is given to the activity": DRAFT + ASKED + "Send_Activity({ ok, d })",
    "a yes or no": DRAFT + "const ok = «Sign_User(prompt)»; when ok.signed { Send_Activity(d) }",
    "in a when": "const c = Check_Activity(prompt); when c.fine { " + DRAFT + ASKED + SENT + " }",
    "twice for one answer": DRAFT + ASKED + "do { " + SENT + "; " + YES + "{ do { Queue_Activity(d) } } }",
    "twice, once for a second answer as well": DRAFT
    + ASKED
    + YES
    + "{ Send_Activity(d); when ok.comment @ { minLength: 1 } { Queue_Activity(d) } }",
    "in an each": PEOPLE + "each n in p.names { const d = Draft(n); const ok = «Approve_User(n)»; " + SENT + " }",
    "a mail to each": PEOPLE
    + "const d = Draft(p); const ok = «Approve_User(p)»; "
    + YES
    + "{ each n in p.names { Send_Activity({ n, d }) } }",
    "in a try": DRAFT + ASKED + YES + "{ try { Send_Activity(d) } else { Polish(error) } }",
    "until it is approved": "const l = repeat { const d = Draft(prompt, previous.ok.comment); "
    + ASKED
    + '{ d, ok } } until ok.verdict is "yes"; Send_Activity(l.d)',
    "another part of the round before": "const l = repeat { const ok = «Approve_User(previous.c.fine)»; "
    "const c = Check_Activity(prompt); " + DRAFT + '{ d, ok } } until ok.verdict is "yes"; Send_Activity(l.d)',
    "each in a do": "const d = do { Draft(prompt) }; const ok = do { «Approve_User(prompt)» }; do { "
    + YES
    + "{ do { Send_Activity(d) } } }",
    "a step between": PEOPLE + "const d = Draft(p); const ok = «Approve_User(Summarise(p))»; " + SENT,
    "the second of two people": DRAFT
    + 'const one = Approve_User(prompt); when one.verdict is "yes" { '
    + "const ok = «Sign_User(one)»; when ok.signed { Send_Activity(d) } }",
}

SHOWN = {
    "what is sent": DRAFT + "const ok = Approve_User(d); " + SENT,
    "a summary of it": DRAFT + "const ok = Approve_User(Summarise(d)); " + SENT,
    "a check of it by the server": DRAFT + "const ok = Approve_User(Check_Activity(d)); " + SENT,
    "in a block outside": DRAFT + "const ok = Approve_User(d); do { do { " + SENT + " } }",
    "as the value of a block": "const l = do { "
    + DRAFT
    + "{ d } }; const ok = Approve_User(l); "
    + YES
    + "{ Send_Activity(l.d) }",
    "its list, and an element is sent": PEOPLE
    + "const ok = Approve_User(p); "
    + YES
    + "{ each n in p.names { Send_Activity(n) } }",
    "until it is approved": "const l = repeat { const d = Draft(prompt, previous.ok.comment); const ok = Approve_User(d); "
    '{ d, ok } } until ok.verdict is "yes"; Send_Activity(l.d)',
    "to another person first": DRAFT
    + "const one = Approve_User(d); const ok = Sign_User(one); when ok.signed { Send_Activity(d) }",
    "a part of the draft of the round before": "const l = repeat { const ok = Approve_User(previous.d.text); "
    + DRAFT
    + '{ d, ok } } until ok.verdict is "yes"; Send_Activity(l.d)',
    "something else that is sent": PEOPLE
    + "const d = Draft(p); const ok = Approve_User(p); "
    + YES
    + "{ Send_Activity({ p, d }) }",
    "another result, which is sent to them": PEOPLE
    + DRAFT
    + "const ok = Approve_User(d); "
    + YES
    + "{ each n in p.names { Send_Activity({ n, d }) } }",
}

NO_DECISION = {
    "a person gives an address": DRAFT + "const a = Ask_User(prompt); Send_Activity({ a, d })",
    "a wish among other answers": DRAFT + "const a = Ask_User(prompt); when a.express { Send_Activity({ a, d }) }",
    "a number beside the decision": DRAFT + APPROVED.replace("Approve", "Rate") + SENT,
    "something unsaid beside the decision": DRAFT + APPROVED.replace("Approve", "Mark") + SENT,
    "a remark is asked for": DRAFT + "const a = Approve_User(prompt); when a.comment @ { minLength: 1 } { Send_Activity(d) }",
    "one of two ways": DRAFT + APPROVED + SENT + " else { Queue_Activity(d) }",
    "one of two ways, in a block of its own each": DRAFT
    + APPROVED
    + "do { "
    + SENT
    + '; do { when ok.verdict is "no" { do { Queue_Activity(d) } } } }',
    "one of two ways, inside another question": DRAFT
    + APPROVED
    + YES
    + "{ when prompt is 1 { Send_Activity(d) } } else { do { Queue_Activity(d) } }",
    "what leads to the person": "const c = Check_Activity(prompt); const d = Sort(prompt); "
    'const a = when d.kind is "x" { Polish(c) } else { Approve_User(prompt) }; Send_Activity({ d, a })',
    "made after the decision": APPROVED + YES + "{ Send_Activity(Draft(prompt)) }",
    "made from the decision": APPROVED + "const d = Draft(ok); " + SENT,
    "made anew after the decision": DRAFT + APPROVED + YES + "{ Send_Activity(Polish(d)) }",
    "independent of the decision": DRAFT + APPROVED + "do { Send_Activity(d); " + YES + "{ Polish(d) } }",
}


def alarms(text: str, **options: Any) -> list[Any]:
    report = Report()
    instrc.artefacts(text, vibes=VIBES, report=report, **options)
    return [problem for problem in report.ordered() if problem.name == "unread-result" and problem.carried is not None]


@every_case("marked", UNSHOWN.values(), ids=UNSHOWN)
def test_a_person_who_decides_on_what_they_are_not_shown_is_reported_once_at_their_step(marked: str) -> None:
    text = marked.replace("«", "").replace("»", "")
    [only] = alarms(text)
    assert only.word == "Draft"
    assert (only.at.start, only.at.text) == (marked.index("«"), marked.partition("«")[2].partition("»")[0])
    [first, second] = only.labels
    assert first.span.text.startswith("Draft(")
    assert second.span.text.startswith("Send_Activity(")
    assert "give the result of `Draft` to this step" in (only.hint or "")


def test_a_second_person_who_decides_on_a_second_activity_is_reported_too() -> None:
    asked = DRAFT + APPROVED + "const s = Sign_User(prompt); "
    told = alarms(f"{asked}do {{ {SENT}; {YES}{{ when s.signed {{ Queue_Activity(d) }} }} }}")
    assert [each.at and each.at.text for each in told] == ["Approve_User(prompt)", "Sign_User(prompt)"]


@every_case("text", [*SHOWN.values(), *NO_DECISION.values()], ids=[*SHOWN, *NO_DECISION])
def test_nobody_is_blamed_who_is_shown_it_or_does_not_decide_on_it(text: str) -> None:
    assert [str(problem) for problem in alarms(text)] == []


def test_a_preparation_stands_for_what_it_reads() -> None:
    [found] = alarms(
        'const d = Draft(prompt); const ok = Approve_User(prompt); when ok.verdict is "yes" { Send_Activity(Send(d)) }'
    )
    assert found.word == "Draft"


def test_in_a_called_program_the_person_is_blamed_there(tmp_path: Any) -> None:
    called = 'const d = Draft(prompt); const ok = Approve_User(prompt); when ok.verdict is "yes" { Send_Activity(d) }'
    (tmp_path / "deliver.aug").write_text(called, encoding="utf-8")
    [found] = alarms("Deliver(prompt)", roots=[tmp_path])
    assert (found.at.text, found.at.source.name.endswith("deliver.aug")) == ("Approve_User(prompt)", True)


def test_what_the_caller_shows_to_a_called_program_is_shown(tmp_path: Any) -> None:
    (tmp_path / "ask.aug").write_text("Approve_User(prompt)", encoding="utf-8")
    text = 'const d = Draft(prompt); const ok = Ask(«d»); when ok.verdict is "yes" { Send_Activity(d) }'
    assert alarms(text.replace("«d»", "d"), roots=[tmp_path]) == []
    [found] = alarms(text.replace("«d»", "prompt"), roots=[tmp_path])
    assert found.at.text == "Approve_User(prompt)"


def test_in_a_process_cut_by_hand_the_person_is_blamed_as_well() -> None:
    text = """Process(
        LLM_Context({ d: Draft(prompt) }),
        User_Context({ ok: Approve_User({ «d» }) }),
        w: when ok.verdict is "yes" { Send_Activity({ d }) },
    )"""
    assert alarms(text.replace("«d»", "d")) == []
    [found] = alarms(text.replace("«d»", "prompt"))
    assert (found.at.text, found.word) == ("Approve_User({ prompt })", "d")


def test_a_hundred_people_are_a_hundred_problems_in_order() -> None:
    lines = (
        f"const d{i} = Draft(Summarise(Check_Activity({{ prompt, n: {i} }}))); const ok{i} = Sign_User({{ prompt, n: {i} }});"
        for i in range(100)
    )
    ends = (f"const w{i} = when ok{i}.signed {{ Send_Activity(d{i}) }};" for i in range(100))
    found = alarms("do { " + "\n".join([*lines, *ends]) + " w0 }")
    assert len(found) == len({each.at.start for each in found}) == 100


CHECKED = "const c = Check_Activity(prompt); "


@every_case(
    "marked",
    [
        PEOPLE + "do { const m = «each n in p.names { Draft(n) }»; Queue_Activity(p) }",
        CHECKED + "do { const v = «when c.fine { Draft(c) } else { Polish(c) }»; Queue_Activity(c) }",
        "do { const x = do { Draft(prompt) }; do { const y = «do { Polish(x) }»; Queue_Activity(x) } }",
    ],
)
def test_a_block_that_only_a_model_writes_and_nobody_reads_is_told(marked: str) -> None:
    [(name, place)] = unread_places(marked.replace("«", "").replace("»", ""))
    assert (name, place) == ("unread-result", marked.partition("«")[2].partition("»")[0])


@every_case(
    "text",
    [
        CHECKED + "do { when c.fine { Send_Activity(c) } else { Polish(c) }; Queue_Activity(c) }",
        PEOPLE + "do { try { Draft(p) } else { Fail(error) }; Queue_Activity(p) }",
        PEOPLE + "do { each n in p.names { do { Send_Activity(n) } }; Polish(p) }",
        "repeat { const d = do { Draft(prompt, previous.d) }; Queue_Activity(prompt) } until round is 2",
    ],
)
def test_a_block_that_does_something_needs_no_reader(text: str) -> None:
    assert unread_places(text) == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("Judge_User(d, author: d.author, leads: p.names)", []),
        ("Judge_User({ author, leads: p.names, d })", []),
        ("Judge_User(d, author, leads: p.names)", ["x-not"]),
        ("Judge_User(d.author, leads)", ["x-approvers", "x-not"]),
    ],
)
def test_a_rule_that_names_a_value_without_a_label_is_told(call: str, words: list[str]) -> None:
    rule: Any = {**an_object(verdict=TEXT), "x-not": "author", "x-approvers": "leads"}
    vibes = {"People": VIBES["People"], "Draft": an_object(author=TEXT), "Judge_User": rule}
    found = instrc.check(f"{PEOPLE}{DRAFT}const author = d.author; const leads = p.names; const ok = {call}; ok", vibes=vibes)
    assert [(each.name, each.at and each.at.text) for each in found] == [("invalid-approval-rule", call)] * len(words)
    assert [str(each.message).split("`")[1] for each in found] == words


def unread_places(text: str) -> list[tuple[str, str]]:
    report = Report()
    instrc.artefacts(text, vibes=VIBES, report=report)
    return [(each.name, each.at.text) for each in report.ordered() if each.at]
