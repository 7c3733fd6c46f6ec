"""The pages that teach are true: each command is run as it is printed, and each block of code is a file of the project.

`pytest --snapshot-update` writes what the commands print into the pages; the diff is the review.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from every_case import every_case
from pages import agrees, copied, follow

ROOT = Path(__file__).parents[2] / "examples"
PAGES = sorted([*ROOT.glob("tutorial/*/README.md"), *ROOT.glob("guides/**/*.md")])
LIBRARIES = {"fastapi": "fastapi", "pydantic-ai": "pydantic_ai"}  # the pages of others' libraries
NODE = Path(os.environ.get("NODE_MODULES", ROOT.parent / "tests" / "server" / "node_modules"))

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="the pages are typed into bash")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_prints_what_it_shows(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if (library := LIBRARIES.get(page.stem)) is not None:
        pytest.importorskip(library)
    if page.name == "README.md":
        place = copied(page, tmp_path / page.parent.name)
    else:
        place = tmp_path / "guides"
        place.mkdir()
        if page.stem == "other-language":
            if not (NODE / "openapi-typescript").exists():
                pytest.skip("needs `npm install --prefix tests/server`")
            (place / "node_modules").symlink_to(NODE)
        for example in ("reply", "meeting-with-approval"):
            copied(ROOT / example / "README.md", tmp_path / example)
    now = follow(page, place)
    if request.config.getoption("update_snapshots"):
        page.write_text(now, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == now


@every_case("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_is_short(page: Path) -> None:
    words = len(page.read_text(encoding="utf-8").split())
    assert words <= 1500, "a page is read in five minutes"


@every_case(
    ("shown", "printed", "true"),
    [
        ("a\nb", "a\nb\n", True),
        ("a", "a\nb", False),
        ("", "a", False),
        ("a …", "a b", True),
        ("a …", "a b\nc", False),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…", "a\nb\nc", True),
        ("a\n…\nd", "a\nb\nc\ne", False),
        ("a.c", "abc", False),
    ],
)
def test_a_page_may_leave_lines_out_and_nothing_else(shown: str, printed: str, *, true: bool) -> None:
    assert agrees(shown, printed) is true
