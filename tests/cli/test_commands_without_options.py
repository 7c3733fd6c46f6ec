"""`compile` and `check` of files without options load no reader of options, and say what they say with options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from instrc.cli import main, run_plain  # commands choose this way by themselves

EXAMPLES = Path(__file__).parents[2] / "examples"
SOUND = str(EXAMPLES / "schedule-meeting" / "schedule-meeting.aug")


@pytest.mark.parametrize("file", [SOUND, str(EXAMPLES / "none.aug"), str(EXAMPLES / "schedule-meeting"), "wrong.aug"])
@pytest.mark.parametrize("command", ["compile", "check"])
def test_an_option_that_changes_nothing_changes_nothing(
    command: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.aug").write_text("Nobody(prompt)", encoding="utf-8")
    code = main([command, file])
    plain = capfd.readouterr()
    assert (main([command, "--format", "text", file]), capfd.readouterr()) == (code, plain)


@pytest.mark.parametrize(
    "arguments",
    [[], ["compile"], ["check"], ["compile", "--help"], ["check", "-h"], ["compile", "-", "-"], ["compile", ""], ["fmt", SOUND]],
)
def test_what_is_more_than_files_is_left_to_the_whole_program(arguments: list[str]) -> None:
    assert run_plain(arguments) is None


@pytest.mark.parametrize("command", ["compile", "check"])
def test_no_reader_of_options_and_no_parser_generator_is_loaded(command: str) -> None:
    code = f"import sys; from instrc.cli import main; main([{command!r}, {SOUND!r}]); print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stderr.split()
    assert {"typer", "click", "lark", "rich", "jsonschema", "hashlib"}.isdisjoint(loaded)
    of_problems = {name for name in loaded if name.startswith("instrc.problems.")}
    assert of_problems <= {f"instrc.problems.{name}" for name in ("errors", "problem", "report", "suggest", "lookalikes")}
