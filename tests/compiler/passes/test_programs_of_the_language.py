"""The programs by which the language is explained compile as they are written, without a word of complaint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from marked_mistakes import problems_of
from objects import an_object

import instrc
from instrc import Report
from instrc.text.jsontext import dumps, loads

TEXT = {"type": "string"}


PEOPLE = an_object(organizer=TEXT, attendees={"type": "array", "items": an_object(name=TEXT, mail=TEXT)})
VIBES = {
    "IdentifyParticipants": PEOPLE,
    "Identify": PEOPLE,
    "Fetch": an_object(who={"type": "array", "items": TEXT}),
    "Fetch_Activity": an_object(slots={"type": "array", "items": {"type": "string", "format": "date-time"}}),
    "FindSlot": an_object(slot=TEXT, why=TEXT),
    "FindCommonSlot": an_object(slot=TEXT),
    "FetchAvailability": an_object(who={"type": "array", "items": TEXT}),
    "FetchAvailability_Activity": an_object(slots={"type": "array", "items": TEXT}),
    "DraftInvitation": an_object(subject=TEXT, body=TEXT),
    "Draft": an_object(subject=TEXT, tone=TEXT),
    "Confirm_User": an_object(decision={"enum": ["Approve", "Reject"]}),
    "ConfirmInvitation_User": an_object(decision={"enum": ["Approve", "Reject"]}, comment=TEXT),
    "SendInvitation_Activity": an_object(id=TEXT),
    "Send_Activity": an_object(id=TEXT),
    "NoteFailure_Activity": an_object(id=TEXT),
    "ThankForTheirTime": an_object(text=TEXT),
    "Act": an_object(answer={"type": ["string", "null"]}, plan={"type": "array"}),
    "AnswerWithWhatThereIs": an_object(answer=TEXT),
    "Search_Activity": an_object(query=TEXT, output={"type": "array", "items": TEXT}),
    "Weather_Activity": an_object(city=TEXT, output=an_object(degrees={"type": "number"})),
    "Book_Activity": an_object(hotel=TEXT, passenger=TEXT, output=an_object(code=TEXT)),
    "Find_Activity": an_object(
        query=TEXT, limit={"type": "integer"}, output=an_object(candidates={"type": "array", "items": TEXT})
    ),
    "Choose": an_object(id=TEXT),
    "Framed_Mixin": {"type": "object", "properties": {"header": {}, "default": {"type": "object"}}, "required": ["header"]},
    "Judge": an_object(good={"type": "boolean"}, advice=TEXT),
}
MEETING = """
const people = IdentifyParticipants(prompt);
const slot   = FindCommonSlot(FetchAvailability_Activity(people));
const draft  = DraftInvitation(people, slot);
const answer = ConfirmInvitation_User({ draft, slot });

when answer.decision is "Approve" {
  each person in people.attendees {
    try { SendInvitation_Activity({ person, draft }) } else { NoteFailure_Activity({ person, error }) }
  }
} else {
  ThankForTheirTime(answer.comment)
}
"""
AGENT = """
"Find out and answer"
  | repeat {
      const act  = Act(prompt, rounds, { plan: Plan(Search_Activity, Weather_Activity) });
      const seen = RunPlan_Activity(act.plan);
      act
    } until act.answer @ { type: "string" } max 8 keep 4 else { AnswerWithWhatThereIs(prompt, rounds) }
"""
PROGRAMS = {
    "the meeting": MEETING,
    "the agent": AGENT,
    "a process of one line": '"Schedule a meeting" | Identify | Fetch_Activity | Introspect_Mixin(FindSlot) | Confirm_User',
    "three modes": "const body = Draft(prompt); { tone: Judge, answer: Introspect_Mixin(Draft(body)) }",
    "a mixin with two slots": "Framed_Mixin(Draft, { header: Judge })",
    "an object that is read": "{ a: Draft, b: Judge } | Choose",
    "labels": "const d = Draft(prompt); Judge(x: d, y: prompt)",
    "a bound of a loop": "Loop_Mixin(Draft) @ { properties: { _iteration: { maximum: 5 } } }",
    "a cut by hand": """
        Process(LLM_Context({ d: Draft }), User_Context({ ok: Confirm_User(d) }), Server_Context({ sent: Send_Activity(d, ok) }))
    """,
    "the start of a process": 'StartProcess({ name: "Meeting", llmContext1: Identify })',
    "branches": """
        const answer = Confirm_User(Draft(prompt));
        when answer.decision is "Approve" { Judge } else when answer.decision is "Reject" { Draft } else { FindSlot }
    """,
    "one after the other": """
        const p = Identify(prompt);
        repeat person in p.attendees { const d = Draft(person, rounds); d } until d.tone is "x"
    """,
    "a failure": "try { Send_Activity(prompt) } else { Fail(error) }",
    "an object of a block": "do { const a = Draft(prompt); const b = Judge(a); { a, b } }",
    "an object alone in a block": "do { { a: Draft, b: Judge } }",
    "a member of a call": "Judge({ x: Draft(prompt).subject })",
    "more is required": 'Draft @ { required: ["tone"] }',
    "a property is added": 'Draft @ { properties: { mood: { type: "string" } } }',
    "a bound of a plan": "RunPlan_Activity(Act({ plan: Plan(Search_Activity) @ { maxItems: 5 } }).plan)",
    "a block in a pipe": "const people = Identify(prompt); Identify | each person in people.attendees { Draft }",
    "a program's arguments": """
        input passenger;
        const act = Act(prompt, { plan: Plan(Book_Activity(passenger), Find_Activity(limit: 5)) });
        RunPlan_Activity(act.plan)
    """,
    "a choice": "const found = Find_Activity(prompt); Choose(found, { id: OneOf(found.candidates) })",
    "a closed step": "Draft @ { additionalProperties: false }",
    "a deadline": 'const draft = Draft(prompt); Confirm_User(draft) @ { within: "P2D" }',
    "a loop with a deadline": """
        (repeat { const d = Draft(prompt, previous.d); const j = Judge(d); { d, j } } until j.good) @ { within: "PT1H" }
    """,
    "samples": "const drafts = each i in 3 { Draft(prompt) }; Judge(drafts)",
    "an input with a schema": """
        input order @ { type: "object", properties: { lines: { type: "array" } } };
        each line in order.lines { Draft(line) }
    """,
    "a judge by itself": "const d = Draft(prompt); do { Judge(d) }",
}


def compiled(text: str) -> tuple[Any, list[str]]:
    report = Report()
    [made] = instrc.artefacts(text, vibes=VIBES, report=report)
    return made, [f"{problem.name}: {problem.message}" for problem in report.problems]


@every_case("name", PROGRAMS)
def test_each_program_compiles_as_written(name: str) -> None:
    assert compiled(PROGRAMS[name])[1] == []


@every_case("name", PROGRAMS)
def test_each_program_runs_on_every_branch_that_it_can_take(name: str) -> None:
    rehearsal = instrc.rehearse(PROGRAMS[name], "Ann and Ben, on Friday", vibes=VIBES)
    assert rehearsal.sound
    unreachable = {"branches": 1}  # a person who may only approve or reject never comes to its `else`
    assert len(rehearsal.missed) == unreachable.get(name, 0)
    outcomes: list[Any] = [run.outcome for run in rehearsal.runs]
    failed = [outcome["error"]["message"] for outcome in outcomes if outcome["status"] == "failed"]
    assert failed == (["made to fail by the rehearsal"] if name == "a failure" else [])  # `Fail(error)` hands it on


WHOLE = """
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Schedule a meeting",
  "type": "object",
  "properties": {
    "llmContext1": { "$ref": "#/$defs/LLM_1" },
    "serverContext1": { "$ref": "#/$defs/SERVER_1" },
    "llmContext2": { "$ref": "#/$defs/LLM_2" },
    "userContext1": { "$ref": "#/$defs/USER_1" }
  },
  "required": ["llmContext1", "serverContext1", "llmContext2", "userContext1"],
  "$defs": {
    "LLM_1": {
      "type": "object",
      "properties": {
        "step1_identify": {
          "description": "…\\nUse prompt.",
          "type": "object",
          "properties": { "organizer": { "type": "string" }, "attendee": { "type": "string" } },
          "required": ["organizer", "attendee"],
          "references": ["prompt"],
          "arguments": "prompt"
        },
        "step2_fetch": {
          "description": "…\\nUse step1_identify.",
          "type": "object",
          "properties": { "who": { "type": "array", "items": { "type": "string" } } },
          "required": ["who"],
          "references": ["step1_identify"],
          "arguments": "step1_identify"
        }
      },
      "required": ["step1_identify", "step2_fetch"]
    },
    "SERVER_1": {
      "type": "object",
      "properties": {
        "step3_fetch": {
          "type": "object",
          "properties": { "slots": { "type": "array", "items": { "type": "string", "format": "date-time" } } },
          "required": ["slots"],
          "activity": "fetch_Activity",
          "references": ["step2_fetch"],
          "arguments": "step2_fetch"
        }
      },
      "required": ["step3_fetch"]
    },
    "LLM_2": {
      "type": "object",
      "properties": {
        "step4_find_slot": {
          "description": "…\\nUse step3_fetch.",
          "type": "object",
          "properties": {
            "_considerations": { "type": "string", "description": "…" },
            "slot": { "type": "string", "format": "date-time" },
            "why": { "type": "string" },
            "_feedback": { "type": "string", "description": "…" }
          },
          "required": ["_considerations", "slot", "why", "_feedback"],
          "references": ["step3_fetch"],
          "arguments": "step3_fetch"
        }
      },
      "required": ["step4_find_slot"]
    },
    "USER_1": {
      "type": "object",
      "properties": {
        "step5_confirm": {
          "type": "object",
          "properties": { "decision": { "enum": ["Approve", "Reject"] } },
          "required": ["decision"],
          "references": ["step4_find_slot"],
          "arguments": "step4_find_slot"
        }
      },
      "required": ["step5_confirm"]
    }
  }
}
"""
"""What the last chapter of the language shows for `a process of one line`; descriptions are shortened to `…`."""


def test_a_process_comes_out_as_its_page_shows_it_key_by_key() -> None:
    vibes = {
        "identify": {"description": "Who.", **an_object(organizer=TEXT, attendee=TEXT)},
        "fetch": {"description": "Whom.", **an_object(who={"type": "array", "items": TEXT})},
        "fetch_Activity": VIBES["Fetch_Activity"],
        "find_slot": {"description": "When.", **an_object(slot={"type": "string", "format": "date-time"}, why=TEXT)},
        "confirm_User": VIBES["Confirm_User"],
    }
    [made] = instrc.artefacts(PROGRAMS["a process of one line"], vibes=vibes)
    assert dumps(shortened(made.documents["process"])) == dumps(loads(WHOLE))


def shortened(schema: Any) -> Any:
    """Return a schema whose descriptions keep their last line, where that is the hint of the compiler."""
    if isinstance(schema, list):
        return [shortened(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {word: shortened(value) for word, value in schema.items()}
    if isinstance(said := schema.get("description"), str):
        hint = said.rpartition("\n")[2]
        made["description"] = f"…\n{hint}" if hint.startswith("Use ") else "…"
    return made


def test_the_meeting_comes_out_as_the_page_shows_it() -> None:
    definitions = compiled(MEETING)[0].documents["process"]["$defs"]
    assert definitions["EACH_1"] == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"tryContext1": {"$ref": "#/$defs/TRY_1"}},
            "required": ["tryContext1"],
        },
        "maxItems": 1000,
        "each": {"item": "person", "in": "step1_identify_participants.attendees", "value": "step9_try", "key": "step10_each"},
    }


TICKET = """
input ticket @ { type: "object", properties: { text: { type: "string" } } };
input called;
const d = Draft(ticket.text);
Judge(d, called)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, schema in VIBES.items():
        (tmp_path / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    (tmp_path / "support").mkdir()
    (tmp_path / "support" / "triage.aug").write_text(TICKET, encoding="utf-8")
    (tmp_path / "support" / "triage@2.aug").write_text("tool a = Draft(prompt)\ntool b = Judge(prompt)", encoding="utf-8")
    (tmp_path / "round.aug").write_text("Round(prompt)", encoding="utf-8")
    (tmp_path / "send.aug").write_text('"Send" | Draft | Send_Activity', encoding="utf-8")
    (tmp_path / "wake.aug").write_text("Send_Activity(prompt)", encoding="utf-8")
    (tmp_path / "lone.aug").write_text("Draft(prompt)", encoding="utf-8")
    (tmp_path / "again.aug").write_text("Judge(LaunchProcess(Again))", encoding="utf-8")
    (tmp_path / "people.aug").write_text("input team;\neach person in team.attendees { Draft(team, person) }", encoding="utf-8")
    return tmp_path


def found(text: str, folder: Path) -> list[str]:
    return [problem.name for problem in problems_of(text, roots=[folder])]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("input order; aug:support/triage:2#a(order)", []),
        ("const T = aug:support/triage:2#b; T(prompt)", []),
        ("aug:support/triage:2(prompt)", ["unchosen-export"]),
        ("Round(prompt)", ["circular-program"]),
        ("Send(prompt)", []),
        ("const p = Identify(prompt); People(team: p)", []),
        ("each person in prompt { People(team: person) }", []),
        ("People(teams: prompt)", ["unknown-argument"]),
        ("const a = Act(prompt, { plan: Plan(Send) }); RunPlan_Activity(a.plan)", []),
        ("LaunchProcess(People)", []),
        ("LaunchProcess(Send)", []),
        ("LaunchProcess(Wake)", []),
        ("LaunchProcess(Lone)", []),
        ("LaunchProcess(Again)", ["circular-program"]),
        ("LaunchProcess(aug:support/triage:2)", ["unchosen-export"]),
        ("LaunchProcess(aug:support/triage:2#c)", ["unknown-export"]),
        ("LaunchProcess(aug:support/triage:2#a)", []),
    ],
)
def test_programs_are_called_like_instructions(text: str, problems: list[str], folder: Path) -> None:
    assert found(text, folder) == problems


@pytest.mark.parametrize(("name", "keys"), [("Lone", ["step1_draft"]), ("Send", ["step1_draft"]), ("Wake", []), ("People", [])])
def test_a_program_of_any_shape_is_launched_by_its_first_context(name: str, keys: list[str], folder: Path) -> None:
    [made] = instrc.artefacts(f"LaunchProcess({name})", roots=[folder])
    assert list(made.documents["tool"]["properties"]["llmContext1"]["properties"]) == keys


def test_the_name_that_a_tool_was_called_by_is_not_the_models_to_say(folder: Path) -> None:
    (folder / "support" / "triage@2.aug").unlink()
    text = "const a = Act(prompt, { plan: Plan(aug:support/triage(ticket: prompt)) }); RunPlan_Activity(a.plan)"
    [made] = instrc.artefacts(text, roots=[folder])
    step = made.documents["process"]["$defs"]["LLM_1"]["properties"]["step1_act"]["properties"]["plan"]
    [tool] = step["plan"]["tools"].values()
    assert "called" not in tool["arguments"]["properties"]
    assert "called" not in str(made.documents["tool"])
    assert tool["bound"] == {"ticket": "prompt"}


def test_an_element_of_a_called_program_is_told_from_one_around_it(folder: Path) -> None:
    [made] = instrc.artefacts("each person in prompt { People(team: person) }", roots=[folder])
    definitions = made.documents["process"]["$defs"]
    assert [definitions[name]["each"]["item"] for name in ("EACH_1", "EACH_2")] == ["person", "person_2"]
    assert definitions["EACH_2"]["each"]["in"] == "person.attendees"
    assert definitions["LLM_1"]["properties"]["step1_draft"]["arguments"] == ["person", "person_2"]


def test_the_notations_of_one_program_are_one(folder: Path) -> None:
    nested = (
        "Send_Activity(Confirm_User(DraftInvitation(people: Identify(prompt), slot: FindSlot(Fetch_Activity(Identify(prompt))))))"
    )
    named = """
        const people = Identify(prompt);
        const query  = Fetch(people);
        const busy   = Fetch_Activity(query);
        const slot   = FindSlot(busy);
        const mail   = DraftInvitation(people: people, slot: slot);
        Send_Activity(Confirm_User(mail))
    """
    [one], [other] = (instrc.artefacts(text, roots=[folder], report=instrc.Report()) for text in (nested, named))
    assert dumps(one.documents) == dumps(other.documents)
    assert found(nested, folder) == ["unread-result"]  # what is sent is the decision, not the letter
