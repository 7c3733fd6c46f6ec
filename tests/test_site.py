"""The site is made from the pages of this repository, works from a file with no network, and can be read by everybody."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from filelock import FileLock

ROOT = Path(__file__).parent.parent
SITE = ROOT / ".ci" / "site" / "out" / "site"
CHROMIUM = shutil.which("chromium")
LOOKED_AT = [
    "index.html",
    "examples/tutorial/8-durable/index.html",
    "examples/guides/settings.html",
]
PLACES = [
    *((place, width, scheme) for place in LOOKED_AT for width in (400, 1400) for scheme in ("light", "dark")),
    ("reference/python.html", 400, "light"),  # so long that axe takes ten seconds
]

pytest.importorskip("zensical")
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    """Build the site once for all processes of a run of the tests: the first marks it, and the others wait for it."""
    mark, run = SITE.parent / "tested", os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    with FileLock(SITE.parent.with_suffix(".lock")):
        if not mark.exists() or mark.read_text(encoding="utf-8") != run:
            done = subprocess.run([sys.executable, ".ci/site/build.py"], cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "issue" not in done.stdout.replace("No issues", ""), done.stdout
            mark.write_text(run, encoding="utf-8")
    return {page: page.read_text(encoding="utf-8") for page in SITE.rglob("*.html") if page.name != "404.html"}


def test_every_link_leads_somewhere(pages: dict[Path, str]) -> None:
    assert len(pages) > 300
    anchors = {page: set(re.findall(r'\sid="?([^"\s>]+)', text)) for page, text in pages.items()}
    broken = set()
    for page, text in pages.items():
        for link in re.findall(r'<a [^>]*href="?([^"\s>]+)', text):
            if re.match(r"\w+:", link):
                continue
            file, _, heading = unquote(link).partition("#")
            place = (page.parent / file).resolve() if file else page
            if not place.exists() or (heading and place in anchors and heading not in anchors[place] | {"__top"}):
                broken.add(f"{page.relative_to(SITE)}: {link}")
    assert broken == set()


def test_nothing_is_fetched(pages: dict[Path, str]) -> None:
    for page, text in pages.items():
        assert re.findall(r'<(?:script|img|iframe)[^>]*src="?(?:https?:)?//', text) == [], page
        assert re.findall(r'<link[^>]*rel="?(?:stylesheet|preconnect)"?[^>]*href="?(?:https?:)?//', text) == [], page


def test_programs_are_coloured_and_every_problem_has_its_page(pages: dict[Path, str]) -> None:
    tutorial = pages[SITE / "examples" / "tutorial" / "7-branch-and-loop" / "index.html"]
    assert re.search(r'<span class="k">repeat</span>', tutorial)
    problems = {page.stem for page in (ROOT / "instrc" / "problems" / "pages").glob("*.md")}
    assert problems <= {page.stem for page in (SITE / "explain").glob("*.html")}


def test_a_reader_is_led_through_the_tutorial(pages: dict[Path, str]) -> None:
    """The menu has what teaches first, and each page leads to the one before and the one after."""
    page = pages[SITE / "examples" / "tutorial" / "5-person" / "index.html"]
    tabs = re.findall(r"md-tabs__link[^>]*>\s*([^<]+?)\s*<", page)
    assert tabs == ["Start", "Learn", "Do", "Look up", "Operate", "Inside"]
    for kind, title in (("prev", "4 A pipeline"), ("next", "6 An activity")):
        assert re.search(rf'class="?md-footer__link md-footer__link--{kind}"?[^>]*aria-label="[^"]*{title}"', page), kind


def test_a_search_finds_problems_by_their_names_alone(pages: dict[Path, str]) -> None:  # the site must be there
    index = json.loads((SITE / "search.json").read_text(encoding="utf-8"))["items"]
    assert {item["text"] for item in index if item["location"].startswith("explain/")} == {""}
    assert any(item["text"] for item in index if item["location"].startswith("examples/tutorial/"))
    assert "no model is chosen" not in (SITE / "search.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser(pages: dict[Path, str]) -> Iterator[object]:  # the site must be there
    api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    with api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize(("place", "width", "scheme"), PLACES)
def test_a_page_fits_and_axe_finds_nothing(place: str, width: int, scheme: str, browser: object) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[attr-defined]  # of playwright
    try:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((SITE / place).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found] == []
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    finally:
        page.close()


def test_the_search_finds_a_word_without_a_server(browser: object) -> None:
    page = browser.new_page()  # type: ignore[attr-defined]  # of playwright
    try:
        page.goto((SITE / "index.html").as_uri())
        page.keyboard.press("/")
        page.wait_for_timeout(500)
        page.keyboard.type("idempotency", delay=50)
        page.get_by_text(re.compile(r"^[1-9]\d* results?$")).wait_for()
    finally:
        page.close()
