"""What a notebook shows of values: HTML without scripts, and one line as text."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from typing import Any, ClassVar

import pytest

import instrc
from instrc.testing.evaluation.comparison import compared  # what `instrc eval --against` shows
from instrc.text import notebook

HOSTILE = "<script>alert(1)</script>\u202e\x1b[2J"
PROGRAM = (
    "const mail = Draft(prompt); const answer = Approve_User(mail); when answer.ok is true { Send_Activity(text: mail.text) }"
)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
VIBES = {
    "Draft": TEXT,
    "Approve_User": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
    "Send_Activity": TEXT,
}


class _Balanced(HTMLParser):
    """Refuses elements that are not closed, and all that a page may not hold."""

    empty: ClassVar = {"br", "path", "rect", "line", "circle", "polygon", "use"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag not in {"script", "iframe", "img", "link"}
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in self.empty:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.empty:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.empty:
            assert self.open.pop() == tag


def shown(value: Any) -> str:
    """Return what a notebook shows of a value, after a look at its form."""
    page: str = value._repr_html_()
    reader = _Balanced()
    reader.feed(page)
    assert not reader.open
    assert "\n" not in repr(value)
    assert len(repr(value)) < 300
    assert "\u202e" not in page
    assert "\x1b" not in page
    return page


def waiting() -> instrc.Run:
    model = instrc.Scripted({"draft": {"text": HOSTILE}})
    return instrc.run(PROGRAM, "x", vibes=VIBES, model=model, activities={"Send_Activity": lambda given: given}, id="friday")


def test_a_run_shows_its_steps_and_how_to_answer() -> None:
    run = waiting()
    page = shown(run)
    assert "friday: waiting for step2_approve" in page
    assert "step3_send</td><td style='text-align:left'>not reached" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    [line] = re.findall(r"<pre>await run\.(.*?)</pre>", page)
    call = line.replace("&quot;", '"').replace("&#x27;", "'").replace("answer_async", "run.answer")
    eval(call, {"run": run})  # noqa: S307  -- it is the line that the reader is shown
    assert run.status == "done"
    assert "await run." not in shown(run)


def test_a_failed_run_says_why() -> None:
    run = instrc.run("Draft(prompt)", "x", vibes=VIBES, model=instrc.Scripted([]))
    assert "failed: the script has no answer" in shown(run)


def test_documents_of_a_program_are_folded_below_its_picture() -> None:
    [artefact] = instrc.artefacts(PROGRAM, vibes=VIBES)
    page = shown(artefact)
    assert "<svg" in page
    assert "<summary>process</summary>" in page
    assert repr(artefact).startswith("<artefact program: tool, result")
    [tool] = instrc.artefacts("Draft", vibes=VIBES)
    assert "<svg" not in shown(tool)


def test_a_lowering_shows_what_is_lost() -> None:
    schema = {**TEXT, "properties": {"text": {"type": "string", "format": "email", "not": {"const": HOSTILE}}}}
    lowering = instrc.lower(schema, "openai")
    assert lowering.losses
    page = shown(lowering)
    assert "<summary>payload</summary>" in page
    assert lowering.losses[0].pointer in page


def test_evaluations_and_their_comparison_are_tables() -> None:
    cases = [{"id": f"case {number}", "input": "x", "expected": {"text": "a"}} for number in range(300)]

    def evaluated(text: str) -> instrc.EvaluationResult:
        model = instrc.Scripted({"draft": {"text": text}})
        return instrc.evaluate("Draft", cases, vibes=VIBES, model=model, concurrency=1)

    before, after = evaluated("b"), evaluated("a")
    page = shown(before)
    assert "<td style='text-align:left'>0.0%</td>" in page
    assert "… and 200 more rows" in page
    assert len(page) < 60_000
    assert str(before) == repr(before)
    assert "300 cases better, 0 worse" in repr(compared(before, after))
    assert "<table>" in shown(compared(before, after))


def test_a_rehearsal_shows_its_runs() -> None:
    rehearsal = instrc.rehearse('when prompt is "a" { @{ title: "Draft", type: "object" } }')
    assert repr(rehearsal) == "<rehearsal: 2 of 2 branches in 2 runs>"
    assert shown(rehearsal).count("<tr>") == 3


def test_an_error_in_a_cell_is_the_problem_and_the_line_of_the_caller() -> None:
    with pytest.raises(instrc.CompileError) as raised:
        instrc.compile("unknown_name")
    lines = "\n".join(raised.value._render_traceback_()).splitlines()
    assert len(lines) < 8
    assert 'instrc.compile("unknown_name")' in "\n".join(lines)
    assert [line for line in lines if line.startswith("CompileError: program.aug:1:1: ")]
    run = waiting()
    with pytest.raises(instrc.RunWaitingError) as unended:
        _ = run.value
    assert unended.value._render_traceback_()[-1].startswith("RunWaitingError: the run `friday` has not ended: it waits for")


def test_a_bar_replaces_one_line_of_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, state: dict[str, str], *, raw: bool) -> None:
            assert raw
            shown.append(state)

    def display(state: dict[str, str], **_: object) -> Handle:
        shown.append(state)
        return Handle()

    monkeypatch.setitem(sys.modules, "IPython.display", type("Module", (), {"display": staticmethod(display)}))
    monkeypatch.setitem(sys.modules, "IPython", type("Module", (), {}))
    advance = notebook.bar(3)
    for text in ("running", "running", "running, 1 not done <b>"):
        advance(text)
    assert [state["text/plain"] for state in (shown[0], shown[-1])] == ["running 0/3", "running, 1 not done <b> 3/3"]
    assert shown[-1]["text/html"] == "<progress value='3' max='3'></progress> running, 1 not done &lt;b&gt; 3/3"
    notebook.bar(None)("running")
    assert shown[-1]["text/html"] == "<progress></progress> running 1"
