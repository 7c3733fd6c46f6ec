"""Arguments of a called program belong to the caller: blocks of the program hide none of the caller's names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from applications import run_in_app
from objects import an_object

import instrc

TEXT = {"type": "string"}
VIBES = {name: an_object(text=TEXT, ok={"type": "boolean"}) for name in ("Act", "Draft", "Ask", "Judge", "Send_Activity")}
PROGRAMS = {
    "faq": "input history; repeat { const d = Draft(prompt, history, rounds); d } until d.ok max 2",
    "named": "input history; const h = history; repeat { const d = Draft(h); d } until d.ok max 2",
    "listed": "input history; repeat { const d = each r in history { Draft(r) }; const a = Ask(d); a } until a.ok max 2",
    "asked": "input last; repeat { const d = Draft(prompt); d } until last.ok max 2",
    "member": "input last; repeat { const d = Draft(last.text); d } until d.ok max 2",
    "round": "input last; repeat { const d = Draft(last.a.text); d } until d.ok max 2",
    "object": "input it; repeat { const d = Draft(it.all, it.one); d } until d.ok max 2",
    "outer": "input history; repeat { const d = Faq(prompt, history: history); d } until d.ok max 2",
    "tried": "input why; try { Send_Activity(prompt) } else { Draft(why, error) }",
    "piped": "repeat { Draft } until round is 2",
    "straight": "input history; Draft(history)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (made / f"{name}.aug").write_text(text, encoding="utf-8")
    return made


def found(document: Any, word: str) -> list[Any]:
    """Return what stands under a keyword, wherever that is."""
    if isinstance(document, list):
        return [each for part in document for each in found(part, word)]
    if not isinstance(document, dict):
        return []
    here = [document[word]] if word in document else []
    return here + [each for part in document.values() for each in found(part, word)]


@pytest.mark.parametrize(
    ("body", "given", "arguments"),
    [
        ("Faq(a, history: rounds)", ["rounds"], ["step1_act", "step2_do", "rounds"]),
        ("Named(history: rounds)", ["rounds"], "step2_do"),
        ("Listed(history: rounds)", ["rounds"], "r"),
        ("Round(last: previous)", ["previous"], "step2_do.step1_act.text"),
        ("Member(last: previous.a)", ["previous.step1_act"], "step2_do.text"),
        ("Outer(history: rounds)", ["rounds"], ["prompt", "step2_do", "rounds"]),
        ("try { Send_Activity(a) } else { Tried(why: error) }", ["error"], ["step3_do", "error"]),
        ("Piped(rounds)", ["rounds"], "step2_do"),
        ("Draft(Piped(round))", ["round"], "step1_do"),
        ("rounds | Piped", ["rounds"], "step2_do"),
        ("const o = { all: rounds, one: round }; Object(it: o)", ["rounds", "round"], ["step2_do", "step3_do"]),
        ("Straight(history: rounds)", [], "rounds"),
    ],
)
def test_a_word_that_a_block_of_the_program_has_goes_through_a_do(
    body: str, given: list[str], arguments: Any, folder: Path
) -> None:
    text = f"repeat {{ const a = Act(prompt); {body} }} until a.ok"
    [artefact] = instrc.artefacts(text, vibes=VIBES, roots=[folder])
    process = artefact.documents["process"]
    assert [each["value"] for each in found(process, "do")] == given
    assert arguments in found(process, "arguments")


def test_a_condition_of_the_program_asks_the_argument(folder: Path) -> None:
    text = "repeat { const a = Act(prompt); Asked(last: a) } until a.ok"
    with pytest.raises(instrc.CompileError) as caught:  # it is the same in every round of the program: its own mistake
        instrc.artefacts(text, vibes=VIBES, roots=[folder])
    assert [each.name for each in caught.value.problems] == ["unchanging-condition"]


def test_each_loop_of_a_run_reads_its_own_rounds(folder: Path) -> None:
    text = "repeat { const a = Act(prompt); Faq(a, history: rounds) } until a.ok max 2"
    no = {"text": "x", "ok": False}
    model = instrc.Scripted({"act": [{"text": f"a{n}", "ok": False} for n in (1, 2)], "draft": [no] * 4})
    run = run_in_app(text, "go", vibes=VIBES, roots=[folder], model=model)
    assert run.status == "done", run.outcome
    drafts = [message.message for message in model.sent if "step2_do" in message.message]
    assert ["a1" in each.partition("step2_do")[2] for each in drafts] == [False, False, True, True]


def test_every_argument_is_evaluated_read_or_not(folder: Path) -> None:
    (folder / "deaf.aug").write_text("input why; Draft(prompt)")
    [artefact] = instrc.artefacts("do { Deaf(prompt, why: Send_Activity(prompt)) }", vibes=VIBES, roots=[folder])
    assert "step2_send" in str(artefact.documents["process"])
