"""`instrc preview` shows what an engine would send, and `compile --target` serves each call of the model."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from command_lines import Instrc

import instrc as library
from instrc.testing import rehearsal  # counts its runs
from instrc.testing.preview import TEMPLATE_TOKENS, calls_of, estimated_tokens  # an estimate of texts
from instrc.text.jsontext import dumps

PROCESS = """
"Do it"
  | @{ title: "Ask", type: "object", properties: { question: { type: "string", maxLength: 9 } }, required: ["question"] }
  | @{ title: "LookUp_Activity", type: "object", properties: { found: { type: "string" } }, required: ["found"] }
  | @{ title: "Propose", type: "object", properties: { _why: { type: "string" }, at: { enum: ["now", "later"] } } }
"""


@pytest.fixture(autouse=True)
def program(folder: Path) -> None:
    (folder / "it.aug").write_text(PROCESS)


def test_each_call_of_the_model_is_shown_as_it_is_sent(instrc: Instrc) -> None:
    done = instrc("preview", "it.aug", "--input", "Сделай это")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.split("── llmContext2")
    assert '"prompt": "Сделай это"' in first
    assert "Write `step1_ask`, as JSON that satisfies the schema." in first
    assert "question: string, maxLength 9" in first
    assert 'step1_ask: {"references":["prompt"],"arguments":"prompt"}' in first
    assert '"step2_look_up": {' in second
    assert 'at?: one of "now", "later"' in second


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("Write the answer.", 4),
        ("incomprehensibilities", 3),
        ('{"a": 12}\n', 6),
        ("назначить", 4),
        ("-----", 2),
    ],
)
def test_tokens_are_estimated_by_the_pieces_of_a_text(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


def test_the_tokens_of_a_call_are_those_of_its_message_and_its_schema(instrc: Instrc) -> None:
    page, _, _ = instrc("preview", "it.aug").out.partition("── llmContext2")
    [(tokens, shown)] = re.findall(r"^message \((\d+) tokens\):\n(.*?)\n\nschema", page, re.MULTILINE | re.DOTALL)
    message = "\n".join(line.removeprefix("  ") for line in shown.split("\n")) + "\n"
    assert int(tokens) == estimated_tokens(message)
    [of_schema] = re.findall(r"^schema, in order \((\d+) tokens\):", page, re.MULTILINE)
    assert f"── llmContext1 ── about {int(tokens) + int(of_schema)} tokens (estimate)" in page


def test_a_payload_is_shown_for_a_target(instrc: Instrc) -> None:
    done = instrc("preview", "it.aug", "--target", "openai")
    assert done.code == 0
    assert done.out.count('"strict": true') == 2
    assert re.findall(r'^ {6}"(name|description)": "(.*)"', done.out, re.MULTILINE) == [
        ("name", "step1_ask"),
        ("name", "step3_propose"),
    ]


def test_a_tool_and_a_process_without_a_model_are_shown(instrc: Instrc, folder: Path) -> None:
    (folder / "tool.aug").write_text('tool it = @{ title: "A", type: "object", properties: { a: { type: "null" } } }')
    page = instrc("preview", "tool.aug").out
    assert "a?: null" in page
    assert ": 1 call of the model\n" in page
    (folder / "served.aug").write_text('@{ title: "A_Activity", type: "object", properties: { output: {} } }')
    assert ": 0 calls of the model\n\nThe model is not asked" in instrc("preview", "served.aug").out


BRANCHES = """
const a = @{ title: "A_User", type: "object", properties: { d: { enum: ["yes", "no"] } }, required: ["d"] };
when %s { @{ title: "B", type: "object", properties: { b: {} } } | @{ title: "D", type: "object" } } else {
  @{ title: "C", type: "object", properties: { c: {} } }
}
"""


def test_the_call_of_each_branch_is_shown_with_its_message(instrc: Instrc, folder: Path) -> None:
    (folder / "block.aug").write_text(BRANCHES % 'a.d is "yes"')
    done = instrc("preview", "block.aug")
    assert done.code == 0, done.err
    assert done.out.count("\nmessage (") == 2
    assert "the rehearsal did not reach this call" not in done.out


def test_a_branch_that_no_run_reaches_is_shown_without_a_message(instrc: Instrc, folder: Path) -> None:
    (folder / "block.aug").write_text(BRANCHES % 'a.d @ { enum: ["yes", "no"] }')
    done = instrc("preview", "block.aug")
    assert done.code == 0, done.err
    assert done.out.count("the rehearsal did not reach this call") == 1


def test_with_a_model_it_shows_what_that_is_sent_and_what_it_may_cost(instrc: Instrc, folder: Path) -> None:
    pytest.importorskip("openai")
    table = (
        '[tool.instrc.run]\nmodel = "llamacpp:small"\ntemperature = 0\n[tool.instrc.prices]\nsmall = { input = 1, output = 900 }'
    )
    (folder / "pyproject.toml").write_text(table)
    first, second = instrc("preview", "it.aug").out.split("── llmContext2 ── llamacpp:small ──")
    assert "The JSON has these keys, in this order" in first
    assert '\nsettings: {"temperature":0,"max_tokens":256}\n' in first
    assert re.search(r"^equal in every run, so that a cache may give it: about [1-9][\d,]* tokens$", first, re.MULTILINE)
    assert re.search(r"\ncost: 0\.23 USD at most\n", first)
    assert "settings:" in second
    assert "schema, in order (a grammar, which the model does not read):" in first
    [(total, of_message)] = re.findall(r"about (\d+) tokens \(.*?\nmessage \((\d+) tokens\)", first, re.DOTALL)
    assert int(total) == int(of_message) + TEMPLATE_TOKENS
    assert "settings:" not in instrc("preview", "it.aug", "--target", "openai").out


def test_problems_are_told_instead(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text("Nothing")
    done = instrc("preview", "it.aug")
    assert (done.code, done.out) == (1, "")
    assert "[unknown-name]" in done.err


def test_a_process_is_compiled_for_a_target_call_by_call(instrc: Instrc, folder: Path) -> None:
    payloads = json.loads(instrc("compile", "it.aug", "--target", "openai").out)
    assert [payload["function"]["name"] for payload in payloads] == ["do_it", "do_it_llmContext2"]
    assert json.loads(instrc("compile", "it.aug", "--target", "openai", "--emit", "tool").out)["function"]["name"] == "do_it"
    assert instrc("compile", "it.aug", "--target", "openai", "-o", "out").code == 0
    assert {"do_it.openai.json", "do_it_llmContext2.openai.json", "do_it_llmContext2.openai.map.json"} <= {
        path.name for path in Path("out").iterdir()
    }
    assert instrc("compile", "it.aug", "--target", "openai", "--map", "map.json").code == 2


TEXT = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^a"}}, "required": ["text"]}


@pytest.mark.parametrize(
    ("then", "at_most"), [("Send_Activity(a{0})", 1), ("Late(a{0})", 100)], ids=["all are reached", "some are never reached"]
)
def test_a_preview_looks_for_calls_of_the_model_only_and_not_forever(
    then: str, at_most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[object] = []
    through = rehearsal._Play.through

    def counted(*given: Any) -> Any:
        runs.append(given)
        return through(*given)

    monkeypatch.setattr(rehearsal._Play, "through", counted)
    steps = [
        f'const a{{0}} = Grade(prompt); when a{{0}}.text is "b{{0}}" {{{{ {then} }}}}'.format(number) for number in range(60)
    ]
    with warnings.catch_warnings(action="ignore"):  # each condition never holds
        [artefact] = library.artefacts(
            f"tool it = do {{ {' '.join(steps)} a0 }}", vibes=dict.fromkeys(["Grade", "Late", "Send_Activity"], TEXT)
        )
    reached = [call.message is not None for call in calls_of(artefact, "a")]
    assert all(reached) == (at_most == 1)
    assert 1 <= len(runs) <= at_most


def test_the_only_step_of_a_program_gives_its_name_to_the_tool(instrc: Instrc, folder: Path) -> None:
    (folder / "one.aug").write_text('tool it = @{ title: "Tell a joke", type: "object", properties: { joke: {} } }')
    assert re.findall(r'"name": "(.*)"', instrc("preview", "one.aug", "--target", "openai").out) == ["tell_a_joke"]


def test_a_chunk_that_several_models_fill_in_is_shown_as_it_is_sent(instrc: Instrc, folder: Path) -> None:
    """A run divides it in the same way: what a model is sent is the message and the schema of the preview."""
    (folder / "two.aug").write_text("const a = Write(prompt); const b = Judge(a); const c = Mend(b); Keep_User(c)")
    for name in ("write", "judge", "mend", "keep_User"):
        (folder / "schemas" / f"{name}.vibe.json").write_text(
            '{ "properties": { "text": { "type": "string" } }, "required": ["text"] }'
        )
    whole = instrc("preview", "two.aug", "--full").out
    assert re.findall("^── (.*) about", whole, re.MULTILINE) == ["llmContext1 ──"]
    (folder / "pyproject.toml").write_text('[tool.instrc.models]\n"judg*" = "scripted:judge.json"\n')
    (folder / "judge.json").write_text('{"judge": {"text": "a"}}')
    shown = instrc("preview", "two.aug", "--full", "--input", "a").out
    parts = [f"llmContext1.step{each} ──" for each in ("1_write", "2_judge ── scripted:judge.json", "3_mend")]
    assert re.findall("^── (.*) about", shown, re.MULTILINE) == parts
    ran = library.run(folder / "two.aug", "a", rehearse=True)
    asked = [event for event in ran.trace if event["event"] == "asked"]
    assert [f"{event['id']} ──" in shown for event in asked] == [True, True, True]
    for event in asked:
        assert "\n".join(f"  {line}" for line in event["sent"].rstrip("\n").split("\n")) in shown
        assert "\n".join(f"  {line}" for line in dumps(event["schema"]).split("\n")) in shown
