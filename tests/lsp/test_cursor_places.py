"""What an editor offers and finds inside of blocks, paths, plans and called programs, place by place: `¦` is the cursor."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol.types import InsertTextFormat
from objects import an_object

from instrc.compiler.bind.scopes import RESERVED
from instrc.lsp import completion, navigation  # questions to a session without a client
from instrc.lsp.hints import hover  # questions to a session without a client
from instrc.lsp.session import EditorSession, TextDocument  # a session without a client

TEXT = {"type": "string"}
VIBES = {
    "find-guests": an_object(guests={"type": "array", "items": an_object(name=TEXT, mail=TEXT)}),
    "draft": an_object(subject=TEXT, text=TEXT),
    "approve_User": an_object(decision={"enum": ["Approve", "Reject"]}, sure={"type": "boolean"}),
    "send_Activity": an_object(to=TEXT),
}
PEOPLE = "const people = FindGuests(prompt);\n"
ANSWER = f"{PEOPLE}const answer = Approve_User(people);\n"


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    """Open a text beside a few vibes and a program in the same root."""
    (tmp_path / "schemas" / "support").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    for name, schema in VIBES.items():
        (tmp_path / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))
    (tmp_path / "schemas" / "support" / "triage.aug").write_text("input customer;\nDraft(prompt, customer);\n")

    def put(text: str) -> tuple[TextDocument, int, EditorSession]:
        session = EditorSession()
        document = session.put(str(tmp_path / "a.aug"), text.replace("¦", ""))
        return document, text.index("¦"), session

    return put


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (PEOPLE + "each guest in people.guests { Draft(guest.¦) }", {"name", "mail"}),
        ("repeat { const d = Draft(prompt, previous.¦); d } until d.text is 1", {"d"}),
        ("repeat { const d = Draft(prompt, previous.d.¦); d } until d.text is 1", {"subject", "text"}),
        ("repeat { const d = Draft(prompt, ¦); d } until d.text is 1", {"previous", "round", "rounds", "prompt"}),
        ("repeat { const d = Draft(prompt); d } until d.¦", {"subject", "text"}),
        ("repeat { const d = Draft(prompt); d } until d.text is 1 else { each r in rounds { Draft(r.¦) } }", {"d"}),
        ("repeat { const d = Draft(prompt); d } ¦", {"until"}),
        ("repeat { const d = Draft(prompt); d } until d.text is 1 ¦", {"max", "keep", "or", "else"}),
        ("each guest ¦", {"in"}),
        ("const people = Draft;\n// All of people.\n¦", {"tool", "const", "Draft", "people"}),
        ("Draft | Tr¦", {"Draft", "Triage", "when"}),
        ("try { Send_Activity(prompt) } else { Draft(error.¦) }", {"step", "kind", "code", "message"}),
        (ANSWER + "when answer.decision is ¦", {'"Approve"', '"Reject"'}),
        (ANSWER + 'when answer.decision is "¦" { Draft(people) }', {"Approve", "Reject"}),
        (ANSWER + "when answer.sure is ¦", {"true", "false"}),
        ("¦", {"Triage", "Draft"}),
        ("Triage(prompt, ¦)", {"customer"}),
        ("Draft(prompt;\nrepeat { Draft(prompt draft); Draft } ¦", {"until"}),
        ("each guest in prompt.guests { Draft({ a b }); }\n¦", {"tool", "input", "const", "Draft"}),
        ("aug:support/¦", {"aug:support/triage"}),
        ("Draft @ { ¦ }", {"within", "delay", "description", "properties"}),
        ('Send_Activity(prompt) @ { within: "P2D", de¦ }', {"delay", "description"}),
        ("Draft(prompt, { subject: Plan(¦) })", {"Send_Activity", "Triage"}),
        (PEOPLE + "Draft({ subject: OneOf(¦) })", {"people"}),
    ],
)
def test_what_is_offered(opened: Any, text: str, wanted: set[str]) -> None:
    document, offset, session = opened(text)
    assert wanted <= {item.label for item in completion.completion(document, offset, session, snippets=False)}


def test_an_editor_that_cannot_fill_blanks_gets_the_bare_word_of_a_statement(opened: Any) -> None:
    document, offset, session = opened("¦")
    (each,) = (item for item in completion.completion(document, offset, session, snippets=False) if item.label == "each")
    assert (each.insert_text, each.insert_text_format) == ("each", InsertTextFormat.PlainText)


@pytest.mark.parametrize("text", ["// Dr¦", "/* Dr¦ */", '"Dr¦" | Draft', "Draft(prompt) @ 'Dr¦'"])
def test_nothing_is_offered_in_comments_and_strings(opened: Any, text: str) -> None:
    document, offset, session = opened(text)
    assert completion.completion(document, offset, session, snippets=False) == []


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        ("const ¦", {"Draft", "const", "prompt"}),
        ("const a = ¦", {"tool", "input", "const", "else", "until"}),
        ("each ¦ in people.guests { Draft }", {"Draft", "prompt"}),
        ("when ¦", {"Draft", "Process", "when"}),
        ("each guest in ¦", {"Draft", "each"}),
        ("Draft ¦", {"Draft", "prompt", "const", "when", "else"}),
        ("Draft @ ¦", {"Draft", "const"}),
        ("Draft @ { properties: { text: ¦ } }", {"Draft", "subject", "when"}),
        ("Draft({ ¦ })", {"const", "tool", "else"}),
        ("each a in prompt.b { ¦ }", {"tool", "input", "else"}),
        ("Draft @ { ¦ }", {"Draft", "prompt", "when"}),
        ("Draft(prompt, { subject: Plan(¦) })", {"Draft", "prompt", "Approve_User", "RunPlan_Activity", "when"}),
        (PEOPLE + "Draft({ subject: OneOf(¦) })", {"Draft", "Send_Activity", "when"}),
        ("repeat { Draft } ¦", {"max", "else", "Draft"}),
        ("when prompt.x is 1 { Draft } ¦", {"Draft", "until", "is"}),
        ("Draft(prompt;\nDraft;\n¦", {"else", "until", "max", "keep", "is", "or", "in"}),
        ("Draft(\nconst people = Draft;\n¦", {"else", "until", "max", "keep", "is", "or", "in"}),
        ("Draft('prompt;\nDraft;\n¦", {"else", "until", "max", "keep", "is", "or", "in"}),
        ("Draft({ text: prompt;\nDraft;\n¦", {"else", "until", "max", "keep", "is", "or", "in"}),
        ("each a in prompt.b { Draft(prompt draft); ¦ }", {"tool", "input", "until", "is"}),
    ],
)
def test_what_cannot_stand_at_a_place_is_not_offered(opened: Any, text: str, unwanted: set[str]) -> None:
    document, offset, session = opened(text)
    offered = {item.label for item in completion.completion(document, offset, session, snippets=False)}
    assert not unwanted & offered


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("wh¦en prompt.x is 1 { Draft }", "when PATH { … } else { … }"),
        ("¦each a in prompt.b { Draft(a) }", "all at the same time"),
        ("repeat { const d = Draft(prompt); d } unt¦il d.text is 'a' max 3", "ends the rounds"),
        ("repeat { const d = Draft(prompt); d } until d.text is 'a' ma¦x 3", "Most rounds"),
        ("co¦nst a = Draft(prompt)", "Names a value."),
        ("try { Draft(prompt) } el¦se { null }", "What runs if"),
        ("// wh¦en", "None"),
        ("Draft¦(prompt) | @ { title: 'when' }", "carried out by the model"),
    ],
)
def test_the_words_of_the_language_are_explained(opened: Any, text: str, shown: str) -> None:
    document, offset, session = opened(text)
    assert shown in str(hover(document, offset, session))


@pytest.mark.parametrize("name", ["Tri¦age(prompt)", "aug:support/tri¦age(prompt)"])
def test_a_called_program_is_shown_and_found(opened: Any, name: str) -> None:
    document, offset, session = opened(name)
    assert "a program; its inputs: `prompt`, `customer`" in str(hover(document, offset, session))
    found = navigation.definition(document, offset, session)
    assert found is not None
    assert found.uri.endswith("schemas/support/triage.aug")


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ('{ "$ref": "¦aug:draft" }', "draft.vibe.json"),
        ('{ "$ref": "aug:dr¦aft" }', "draft.vibe.json"),
        ('{ "$ref": "aug:draft¦" }', "draft.vibe.json"),
        ('{ "$ref": ¦"aug:draft" }', None),
        ('{ "$r¦ef": "aug:draft" }', None),
        ('{ "$ref": "aug:no¦thing" }', None),
        ('{ "title": "dr¦aft" }', None),
        ('{ "$ref": "aug:dr¦aft', None),
    ],
)
def test_a_reference_of_a_vibe_leads_to_the_vibe_that_it_names(opened: Any, tmp_path: Path, text: str, file: str | None) -> None:
    _, _, session = opened("¦")
    document = session.put(str(tmp_path / "schemas" / "note.vibe.json"), text.replace("¦", ""))
    found = navigation.definition(document, text.index("¦"), session)
    assert (None if found is None else Path(found.uri).name) == file


def test_the_places_of_a_called_program_are_in_all_files(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "b.aug").write_text("const triage = Draft;\naug:support/triage(triage)")
    (tmp_path / "schemas" / "c.aug").write_text("Draft | { Triage }")
    (tmp_path / "d.aug").write_text("Draft // Triage")
    document, offset, session = opened("Tri¦age(prompt)")
    called = navigation.program_at(document, offset, session)
    assert called is not None
    found = navigation.places_in_project(called, document, session, declaration=True)
    assert sorted((Path(each.uri).name, each.range.start.line, each.range.start.character) for each in found) == [
        ("a.aug", 0, 0),
        ("b.aug", 1, 12),
        ("c.aug", 0, 10),
        ("triage.aug", 0, 0),
    ]


def test_every_name_of_the_language_is_offered_once(opened: Any) -> None:
    document, offset, session = opened("const a = ¦")
    offered = [item.label for item in completion.completion(document, offset, session, snippets=False)]
    assert [offered.count(name) for name in sorted(RESERVED)] == [1] * len(RESERVED)


def test_a_name_that_also_names_an_argument_of_a_tool_keeps_it_when_it_is_renamed(opened: Any) -> None:
    text = "const ¦to = FindGuests(prompt);\nDraft(to, { subject: Plan(Send_Activity(to, from: to)) })"
    document, offset, session = opened(text)
    edits = navigation.rename(document, offset, "people", session).changes[document.uri]
    assert [edit.new_text for edit in edits] == ["people", "people", "to: people", "people"]


def test_a_name_of_a_round_is_renamed_where_its_first_value_is_given(opened: Any) -> None:
    text = "repeat { const ¦d = Draft(prompt, previous.d); d } from { d: prompt } until d.text is 1"
    document, offset, session = opened(text)
    edits = navigation.rename(document, offset, "mail", session).changes[document.uri]
    places = [found.start() for found in re.finditer(r"\bd\b", document.source.text)]
    assert sorted(edit.range.start.character for edit in edits) == places


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("prompt", "`prompt` has a meaning in the language"),
        ("Process", "`Process` has a meaning in the language"),
        ("Draft", "`Draft` is used here for something else, which it would no longer reach"),
        ("b", "`b` is defined already"),
    ],
)
def test_a_name_that_means_something_is_no_new_name(opened: Any, name: str, reason: str) -> None:
    document, offset, session = opened("const ¦a = Draft(prompt);\nconst b = Draft(a);\nDraft(b)\n")
    assert navigation.rename(document, offset, name, session) == reason


def test_an_input_that_other_files_give_keeps_its_name(opened: Any) -> None:
    document, _, session = opened("Triage(prompt, customer: prompt)¦")
    path = str(Path(document.path).parent / "schemas" / "support" / "triage.aug")
    called = session.put(path, "input customer;\nDraft(prompt, customer);\n")
    assert "by hand" in navigation.rename(called, 6, "client", session)
    session.put(document.path, "Draft(prompt)")
    assert not isinstance(navigation.rename(called, 6, "client", session), str)


@pytest.mark.parametrize("name", ["draft", "Triage"])
def test_a_name_may_be_like_an_instruction_that_is_not_used(opened: Any, name: str) -> None:
    document, offset, session = opened("const ¦a = Draft(prompt);\nDraft(a)\n")
    assert not isinstance(navigation.rename(document, offset, name, session), str)


@pytest.mark.parametrize(
    "text",
    [
        "repeat { const ¦d = Draft(prompt, previous.d.text); d } until d.text is 1",
        "repeat { const d = Draft(prompt, previous.¦d); d } until d.text is 1",
        "repeat { const ¦d = Draft(prompt); d } until d.text is 1 max 2 else { each r in rounds { Draft(r.d) } }",
        "repeat { const ¦d = Draft(prompt); each r in rounds { Draft(r.d) } } until d.text is 1",
    ],
)
def test_a_name_of_a_round_is_renamed_in_earlier_rounds_too(opened: Any, text: str) -> None:
    document, offset, session = opened(text)
    edit = navigation.rename(document, offset, "neu", session)
    assert not isinstance(edit, str)
    [edits] = (edit.changes or {}).values()
    plain = document.source.text
    for each in sorted(edits, key=lambda each: document.lines.offset(each.range.start), reverse=True):
        plain = plain[: document.lines.offset(each.range.start)] + each.new_text + plain[document.lines.offset(each.range.end) :]
    assert plain == text.replace("¦", "").replace(" d ", " neu ").replace(".d", ".neu").replace("until d", "until neu")


@pytest.mark.parametrize(
    "text",
    [
        "try { )each }:tool ;}¦",
        "[each p in people.all { Draft(p) }\n}]¦",
        "repeat { const a} = Draft(prompt); a }¦",
        "try { } x; tool}¦",
    ],
)
def test_a_bracket_that_closes_nothing_is_passed_over(opened: Any, text: str) -> None:
    document, place, session = opened(f"{text}")
    completion.completion(document, place, session, snippets=True)


def test_behind_a_try_that_lacks_its_else_nothing_is_in_its_body(opened: Any) -> None:
    document, place, session = opened("try { const inner = Draft(prompt) } x;\n¦")
    offered = {each.label for each in completion.completion(document, place, session, snippets=True)}
    assert "Draft" in offered
    assert "inner" not in offered
