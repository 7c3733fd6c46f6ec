"""A deprecated word goes on working, is a warning with a fix, and `fmt --upgrade` rewrites it; names so called stay."""

from __future__ import annotations

from pathlib import Path

import pytest

import instrc
from instrc.cli import main
from instrc.language import deprecations  # its table is empty today
from instrc.problems.statements import DeprecatedWord

PROGRAM = 'language 1;\nlet a = Draft(let: "x"); // let it be\ntool let b = Draft({ let: a, b: a.let, c: "let" });\n'
UPGRADED = 'language 1;\nconst a = Draft(let: "x"); // let it be\ntool const b = Draft({ let: a, b: a.let, c: "let" });\n'


@pytest.fixture
def _let_is_deprecated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (deprecations.Deprecation("let", "9.1.0", "const"),))


@pytest.mark.usefixtures("_let_is_deprecated")
def test_a_deprecated_word_is_a_warning_with_a_fix() -> None:
    found = [each for each in instrc.check(PROGRAM, vibes={"draft": {"type": "object"}}) if isinstance(each, DeprecatedWord)]
    assert [(each.severity, each.at and each.at.start, each.message) for each in found] == [
        ("warning", at, "`let` is deprecated since 9.1.0") for at in (PROGRAM.index("let a"), PROGRAM.index("let b"))
    ]
    assert all("const" in each.fixes[0].title for each in found)


@pytest.mark.usefixtures("_let_is_deprecated")
def test_an_upgrade_writes_the_word_of_today_and_changes_no_byte_of_what_is_compiled(tmp_path: Path) -> None:
    file = tmp_path / "a.aug"
    file.write_text(PROGRAM)
    assert main(["fmt", "--check", str(file)]) == 0
    assert main(["fmt", "--check", "--upgrade", str(file)]) == 1
    assert main(["fmt", "--upgrade", str(file)]) == 0
    assert file.read_text() == UPGRADED
    assert main(["fmt", "--check", "--upgrade", str(file)]) == 0


def test_the_page_of_versions_lists_each_deprecated_word() -> None:
    page = (Path(__file__).parents[3] / "grammar" / "VERSIONS.md").read_text("utf-8")
    rows = [f"| `{each.word}` | {each.since} | " for each in deprecations.DEPRECATIONS] or ["| (nothing today) | | |"]
    assert all(row in page for row in rows)
