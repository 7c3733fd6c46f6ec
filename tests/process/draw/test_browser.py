"""The page in a real browser: it draws, answers the pointer and the keyboard, and no label lies on another."""

from __future__ import annotations

import html as entities
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from drawn_processes import blocks, straight

from instrc.process.picture import picture_of
from instrc.process.picture_page import html
from instrc.process.process import Process

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: `apt-get install chromium`")

ACTIONS = """
<script>
(() => {
  const said = {};
  const at = (name) => [...document.querySelectorAll(name)];
  const panel = document.getElementById("panel");
  const fire = (item, kind, more = {}) => {
    const Event = kind.startsWith("key") ? KeyboardEvent : MouseEvent;
    item.dispatchEvent(new Event(kind, { bubbles: true, ...more }));
  };
  const boxes = at(".instrc text").map((text) => [text.getBoundingClientRect(), text.textContent]);
  boxes.sort((a, b) => a[0].top - b[0].top);
  said.overlapping = [];
  for (let i = 0; i < boxes.length; i += 1) {
    for (let j = i + 1; j < boxes.length && boxes[j][0].top < boxes[i][0].bottom - 3; j += 1) {
      const [a, b] = [boxes[i][0], boxes[j][0]];
      if (a.left < b.right - 1 && b.left < a.right - 1 && b.top < a.bottom - 3) said.overlapping.push([boxes[i][1], boxes[j][1]]);
    }
  }
  const drawn = at("svg.instrc")[0];
  said.scale = drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width;
  said.outside = at(".step").filter((step) => {
    const frame = step.querySelector(".frame").getBoundingClientRect();
    return [...step.querySelectorAll("text")].some((text) => text.getBoundingClientRect().right > frame.right + 1);
  }).map((step) => step.textContent);
  const step = at(".step")[0];
  fire(step, "mouseover");
  said.hovered = panel.textContent;
  said.panelInSight = panel.getBoundingClientRect().bottom <= innerHeight + 1;
  said.went = [];
  for (const each of at(".step").slice(0, 20)) {
    fire(each, "mouseover");
    said.lit = Math.max(said.lit || 0, at(".step.lit").length);
    for (const way of at(".near")) {
      const to = way.querySelector("button");
      to.click();
      const [from, there] = [each, document.activeElement].map((step) => step.querySelector("text").lastChild.textContent);
      said.went.push([from, way.firstChild.textContent, to.textContent, there === to.textContent]);
    }
  }
  const chunk = at(".choose")[0];
  fire(chunk, "click");
  said.tabs = at('[role="tab"]').map((tab) => tab.textContent);
  at('[role="tab"]')[2].click();
  said.process = panel.textContent;
  said.focused = document.activeElement.textContent;
  fire(document.querySelector(".choose"), "click");
  document.querySelector(".step").focus();
  fire(document.activeElement, "keydown", { key: "End" });
  said.end = [...document.activeElement.querySelectorAll("text")].map((text) => text.textContent).join(", ");
  said.endRole = document.activeElement.getAttribute("role");
  said.endAbovePanel = document.activeElement.getBoundingClientRect().bottom <= panel.getBoundingClientRect().top + 1;
  said.stops = at('.instrc [tabindex="0"]').length;
  fire(document.activeElement, "keydown", { key: "Enter" });
  said.pinned = at(".pinned").length;
  fire(document.activeElement, "keydown", { key: "Escape" });
  said.free = at(".pinned").length;
  const button = document.getElementById("theme");
  const colour = (name) => getComputedStyle(document.getElementById(name)).backgroundColor;
  const ground = () => colour("theme") === colour("find");
  said.flat = [ground()];
  button.click();
  said.flat.push(ground());
  said.theme = document.documentElement.dataset.theme;
  said.ink = getComputedStyle(document.querySelector(".instrc .key")).fill;
  said.paper = getComputedStyle(document.body).backgroundColor;
  const find = document.getElementById("find");
  find.value = "step1_";
  find.dispatchEvent(new Event("input"));
  said.found = document.getElementById("found").textContent;
  const unnamed = at('[role="button"], [role="group"]').filter((item) => !item.getAttribute("aria-label") && !item.textContent);
  said.unnamed = unnamed.length;
  const drawnSteps = at("figure .step").length;
  fire(document.querySelector(".step"), "click");
  const lit = () => at(".lit").length;
  said.litAndPrinted = [lit()];
  dispatchEvent(new Event("beforeprint"));
  said.litAndPrinted.push(lit());
  const texts = (under) => at(`${under} .step`).map((step) => step.textContent).join();
  said.printed = [texts(".paper") === texts("figure > svg"), at(".paper > svg").length];
  said.sheets = at(".paper > svg > svg").map(({ viewBox: { baseVal } }) => baseVal.height / baseVal.width);
  dispatchEvent(new Event("afterprint"));
  said.litAndPrinted.push(lit());
  said.afterPrinting = at(".paper").length + at("figure .step").length - drawnSteps;
  document.body.replaceChildren();
  document.title = JSON.stringify(said);
})();
</script>
"""


def browse(page: str, folder: Path, *options: str) -> str:
    """Open a page in the browser, and return what the browser prints."""
    (folder / "it.html").write_text(page, encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}", *options]
    done = subprocess.run([*command, (folder / "it.html").as_uri()], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def act(document: Any, folder: Path) -> dict[str, Any]:
    """Open the page of a process, act on it, and return what was seen."""
    page = html([picture_of(Process.from_json(document), "it")])
    printed = browse(page.replace("</body>", f"{ACTIONS}</body>"), folder, "--dump-dom")
    title = re.search(r"<title>(.*?)</title>", printed, re.DOTALL)
    assert title is not None
    seen: dict[str, Any] = json.loads(entities.unescape(title[1]))
    return seen


@pytest.mark.parametrize("size", [20, pytest.param(200, marks=pytest.mark.long), pytest.param(2000, marks=pytest.mark.long)])
def test_no_label_lies_on_another_or_leaves_its_step(size: int, tmp_path: Path) -> None:
    seen = act(straight(size), tmp_path)
    assert seen["overlapping"] == []
    assert seen["outside"] == []


def test_each_step_is_printed_whole_on_one_sheet_of_paper(tmp_path: Path) -> None:
    seen = act(straight(200), tmp_path)
    assert (seen["litAndPrinted"][1], seen["litAndPrinted"][0]) == (
        0,
        seen["litAndPrinted"][2],
    )  # what is chosen on the screen does not fade the others on paper
    assert seen["printed"][0]
    assert seen["printed"][1] > 5
    assert max(seen["sheets"]) <= 1.3, "as tall as paper"
    assert min(seen["sheets"][:-1]) >= 0.6, "well filled"
    assert seen["afterPrinting"] == 0


def test_without_scripts_a_long_picture_is_printed_on_many_sheets_and_nothing_is_offered_that_needs_them(tmp_path: Path) -> None:
    page = html([picture_of(Process.from_json(straight(200)), "it")])
    assert "header label, header output, header button, aside { display: none }" in page.partition("<noscript>")[2]
    as_without = re.sub(r"<script>.*?</script>|</?noscript>", "", page, flags=re.DOTALL)
    printed = tmp_path / "it.pdf"
    browse(as_without, tmp_path, f"--print-to-pdf={printed}")
    assert len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) > 5


def test_in_a_narrow_window_details_are_in_sight_and_cover_no_chosen_step(tmp_path: Path) -> None:
    seen = act(straight(200), tmp_path)  # a window of 800 pixels
    assert seen["panelInSight"]
    assert seen["endAbovePanel"]


def test_a_picture_has_its_whole_size_in_a_narrow_window(tmp_path: Path) -> None:
    assert act(straight(20), tmp_path)["scale"] > 0.99  # a window of 800 pixels


def test_the_page_answers_the_pointer_and_the_keyboard(tmp_path: Path) -> None:
    seen = act(blocks(), tmp_path)
    assert seen["overlapping"] == []
    assert seen["hovered"].startswith("identify")
    assert '"references"' in seen["hovered"]
    assert seen["lit"] == 1
    assert ["confirm", "Is read by", "thank", True] in seen["went"]
    assert ["thank", "Comes from", "confirm", True] in seen["went"]
    assert all(there for *_, there in seen["went"])
    assert seen["tabs"] == ["tool", "result", "process"]
    assert '"references"' in seen["process"]
    assert seen["focused"] == "process"
    assert "report, ← when" in seen["end"]
    assert seen["endRole"] == "button"
    assert seen["stops"] == 1
    assert (seen["pinned"], seen["free"]) == (1, 0)
    assert seen["theme"] == "dark"
    assert seen["flat"] == [True, False]  # a pressed button is seen to be pressed
    assert seen["ink"] != seen["paper"]
    assert seen["found"] == "1 of 9"
    assert seen["unnamed"] == 0


def test_a_schema_is_shown_as_it_is_written(tmp_path: Path) -> None:
    """An object of JavaScript would sort keys that are numbers, and round large ones."""
    document = straight(1)
    [step] = next(iter(document["properties"].values()))["properties"].values()
    step["properties"] = {"2": {"maximum": 12345678901234567890, "minimum": 1.0}, "1": {"enum": [[], {}, "\ud83d\ude42<"]}}
    shown = act(document, tmp_path)["hovered"]
    assert json.dumps(step["properties"]["2"], indent=2).replace("\n", "\n    ") in shown
    assert shown.index('"2": {') < shown.index('"1": {')
    assert '[],\n        {},\n        "🙂<"' in shown
