"""A trace as a page: everything is on it, and nothing on it can act."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import pytest
from applications import run_in_app
from written_processes import DECISION, attempt, call, chunk, process, step

import instrc
from instrc.cli import main
from instrc.runtime.trace_page import page_of
from instrc.runtime.traces import TimelineSpan, spans_of  # rows of a page, before they are text

IN_A_BROWSER = pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium is installed: `apt-get install chromium`")
WICKED = '<script>alert("x")</script>'


def _run() -> instrc.Run:
    attempts = iter([RuntimeError("busy"), {"text": WICKED}])

    def work(_given: Any) -> Any:
        made = next(attempts)
        if isinstance(made, Exception):
            raise made
        return made

    document = process(
        llmContext1=chunk(
            step1_a=step(
                {"type": "object", "properties": {"_why": {"type": "string"}, "text": {"type": "string"}, "$score": {}}}, "prompt"
            )
        ),
        serverContext1=chunk(step2_b=call("Work", "step1_a.text")),
        userContext1=chunk(step3_ok=step(DECISION, "step2_b")),
    )
    answers = [{"step1_a": {"text": 1}}, {"step1_a": {"_why": "because", "text": WICKED, "$score": 7}}]
    activities = instrc.Activities()
    activities.add("Work", work, retry=instrc.Retry(attempts=2, pause=0))
    run = instrc.run(document, WICKED, model=instrc.Scripted(answers), activities=activities, id="r")
    return run.answer("ok", {"decision": "Approve"})


def test_spans_tell_who_did_what_and_what_came_of_it() -> None:
    run = _run()
    spans = {span.id: span for span in spans_of(run.trace)}
    assert [(span.id, span.lane, span.state) for span in spans.values()] == [
        ("llmContext1", "model", "rejected"),
        ("llmContext1#2", "model", "done"),
        ("serverContext1.step2_b", "server", "done"),
        ("userContext1", "person", "done"),
    ]
    assert spans["serverContext1.step2_b"].retries == ["RuntimeError: busy"]
    assert spans["llmContext1#2"].facts["thoughts"] == {"step1_a._why": "because"}
    assert run.metrics == {"llmContext1#2.step1_a.$score": 7}


def test_the_metrics_of_a_process_behind_an_activity_are_told_apart() -> None:
    draft = {"llmContext1": chunk(step1_draft=step({"properties": {"text": {}, "$score": {}}}, "prompt"))}
    document = process(**draft, serverContext1=chunk(step2_trip=call("Trip", "step1_draft.text", {})))
    answers = [{"step1_draft": {"text": "a", "$score": score}} for score in (1, 2)]
    run = instrc.run(document, "x", model=instrc.Scripted(answers), activities={"Trip": process(**draft)})
    assert run.metrics == {
        "llmContext1.step1_draft.$score": 1,
        "serverContext1.step2_trip/llmContext1.step1_draft.$score": 2,
    }


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_what_a_person_is_asked_is_open_until_it_is_answered_or_the_run_ends(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def note(given: Any) -> Any:
        return {"text": given["kind"]}

    late = process(userContext2=chunk(step2_late=step(DECISION, "prompt", within="PT0.5S")))
    document = process(
        userContext1=chunk(step1_ok=step(DECISION, "prompt")),
        tryContext1=attempt(late, process(serverContext1=chunk(step3_note=call("Note", "error"))), ("step2_late", "step3_note")),
    )
    run = instrc.run(document, "x", activities={"Note": note}, engine=engine, model=instrc.Scripted({}), id="r", store="kept")
    while any(question.steps == ("step2_late",) for question in run.questions):
        run = instrc.find_run("r", engine=engine, store="kept", activities={"Note": note}, model=instrc.Scripted({})).resume()
    before = {span.id: span.state for span in spans_of(run.trace)}
    assert before["userContext1"] == "open"
    run.answer("ok", {"decision": "Approve"})
    instrc.close_stores()
    spans = {span.id: span for span in spans_of(run.trace)}
    assert spans["userContext1"].state == "done"
    assert spans["userContext1"].facts["answer"] == {"decision": "Approve"}
    assert spans["tryContext1.userContext2"].state == "cancelled"
    assert spans["tryContext1.else.serverContext1.step3_note"].state == "done"


def test_the_page_holds_everything_and_loads_nothing() -> None:
    page = page_of("r", "done", spans_of(_run().trace), {})
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page)
    for text in (">sent<", ">thoughts<", "because", ">RuntimeError: busy<", ">complaints<", ">metrics<", ">tried again after<"):
        assert text in page


def test_a_row_says_in_words_what_its_bar_and_colour_show() -> None:
    drafted = TimelineSpan("llmContext1", "model", 1.5, 3.0, "failed", retries=["busy"], facts={"steps": ["step1_draft"]})
    waiting = TimelineSpan("userContext1", "person", 3.0, None, "open", facts={"steps": ["step2_ok"]})
    for titles, name in (({"step1_draft": "The letter"}, "The letter"), ({}, "draft")):
        page = page_of("r", "waiting", [drafted, waiting], titles)
        assert f"<code>llmContext1</code><span>{name}</span>" in page
        facts = ["model · failed · 1.5 s · retries: 1", "person · open"]
        assert re.findall(r'<span class="facts">(.*?)</span>', page) == facts
        assert re.findall(r'<i style="(.*?)">', page) == ["left:50.00%;width:50.00%", "left:100.00%;width:0.00%"]


LONG = ["step1_read_letter", "step2_" + "прочитать_длинное_письмо_" * 4, "step3_" + "W" * 90, "step4_" + "書類を読む" * 9]
MEASURE = """
<script>
addEventListener("load", () => {
  const inside = document.querySelector("iframe").contentDocument;
  const box = (item) => item.getBoundingClientRect();
  const wide = inside.documentElement;
  const said = { scrolls: wide.scrollWidth > wide.clientWidth, outside: [], over: [] };
  for (const row of inside.querySelectorAll("summary")) {
    const drawn = [...row.children];
    for (const item of drawn) {
      if (box(item).left < box(row).left - 1 || box(item).right > box(row).right + 1) said.outside.push(item.textContent);
    }
    for (const [number, item] of drawn.entries()) {
      for (const other of drawn.slice(number + 1)) {
        const [a, b] = [box(item), box(other)];
        const over = a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
        if (over) said.over.push([item.textContent, other.textContent]);
      }
    }
  }
  said.rows = inside.querySelectorAll("summary").length;
  document.body.textContent = JSON.stringify(said);
});
</script>
"""


@IN_A_BROWSER
@pytest.mark.parametrize("width", [360, *(pytest.param(width, marks=pytest.mark.long) for width in (768, 1440))])
def test_no_name_runs_out_of_its_frame_or_over_another(width: int, tmp_path: Path) -> None:
    spans = [
        TimelineSpan(f"llmContext{number}", "model" if number % 3 else "server", 2.0 * number, 2.0 * number + number % 5)
        for number in range(1, 25)
    ]
    for number, span in enumerate(spans):
        span.facts["steps"] = [LONG[number % 4]]
    frame = (
        f'<iframe style="border:0;width:{width}px;height:900px" srcdoc="{escape(page_of(LONG[1], "done", spans, {}))}"></iframe>'
    )
    (tmp_path / "it.html").write_text(f'<!doctype html><meta charset="utf-8"><body>{frame}{MEASURE}', encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    command = ["chromium", *options, (tmp_path / "it.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    said = json.loads(re.findall(r"<body>(.*?)</body>", shown, re.DOTALL)[0])
    assert said == {"scrolls": False, "outside": [], "over": [], "rows": 24}


@IN_A_BROWSER
@pytest.mark.long
def test_a_printed_page_shows_what_its_rows_hide(tmp_path: Path) -> None:
    page, printed = tmp_path / "it.html", tmp_path / "it.pdf"
    page.write_text(page_of("r", "done", spans_of(_run().trace), {}), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = ["chromium", *options, f"--print-to-pdf={printed}", page.as_uri()]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) > 1


def test_a_watcher_that_fails_does_not_end_the_run() -> None:
    def watch(_event: Any) -> None:
        message = "the screen is gone"
        raise RuntimeError(message)

    with pytest.warns(RuntimeWarning, match="the screen is gone"):
        run = run_in_app('@{ title: "Draft", type: "object" }', "x", model=instrc.Scripted([{}]), watch=watch)
    assert run.status == "done"


@pytest.mark.parametrize("shape", ["text", "html", "json"])
@pytest.mark.parametrize(
    "line",
    [
        '{"event": "ended", "run": "r", "at": 1, "outcome": "done"}',
        '{"event": "ended", "run": "r", "at": 1, "outcome": {"status": 1}}',
        '{"event": "ended", "run": "r", "at": 1}',
        '{"event": "retried", "run": "r", "at": 1, "id": "a"}',
    ],
)
def test_a_file_of_events_that_another_program_wrote_is_shown(
    line: str, shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "theirs.jsonl").write_text(f'{{"event": "called", "run": "r", "at": 1, "id": "a"}}\n{line}\n', encoding="utf-8")
    assert main(["trace", str(tmp_path / "theirs.jsonl"), "--format", shape]) == 0
    assert "internal error" not in capsys.readouterr().err
