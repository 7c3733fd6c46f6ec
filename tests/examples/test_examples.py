"""Every example does what its page says: the commands on the page are run, and what they write lies beside it.

`pytest --snapshot-update` writes the expected files anew; the diff is the review.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from every_case import every_case
from jsonschema import Draft202012Validator
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from instrc.cli import main
from instrc.text import jsontext

ROOT = Path(__file__).parents[2] / "examples"
PAGES = sorted([*ROOT.glob("*/README.md"), *ROOT.glob("agents/*/README.md")])
PAGES.remove(ROOT / "frameworks" / "README.md")  # a page of Python: `tests/frameworks` runs it
PAGES.remove(ROOT / "pictures" / "README.md")  # its pictures are taken in a browser
PAGES.remove(ROOT / "notify" / "README.md")  # `test_notify.py` runs it against stand-ins
PAGES = [
    page for page in PAGES if page.parent.name not in {"tutorial", "guides", "deploy"}
]  # `test_pages.py` types them into a shell
COMMAND = re.compile(r"^\$ instrc (.+)$", re.MULTILINE)


class Expected(SingleFileSnapshotExtension):
    """A snapshot that is a file of the example itself; its index is the path below `examples/`."""

    _write_mode = WriteMode.TEXT
    file_extension = ""

    @classmethod
    def get_location(cls, *, test_location: object, index: int | str) -> str:  # noqa: ARG003  -- syrupy's signature
        return str(ROOT / str(index))

    @classmethod
    def matches_test_location(cls, *, test_location: object, snapshot_location: str) -> bool:  # noqa: ARG003  -- syrupy's signature
        return True


@pytest.fixture
def expected(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Expected)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_what_the_page_says_is_what_comes_out(
    page: Path,
    expected: SnapshotAssertion,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / "example"
    shutil.copytree(page.parent, place, ignore=shutil.ignore_patterns("expected"))
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # pages call `python`
    commands = COMMAND.findall(page.read_text(encoding="utf-8"))
    assert commands, "a page without a command shows nothing"
    with _service(place):
        _follow(commands, place, capsys)
    written = {path.relative_to(tmp_path / "example") for path in (place / "expected").rglob("*") if path.is_file()}
    for path in sorted(written):
        assert (place / path).read_text(encoding="utf-8") == expected(name=(page.parent.relative_to(ROOT) / path).as_posix())
    there = {path.relative_to(page.parent) for path in (page.parent / "expected").rglob("*") if path.is_file()}
    if expected.session.update_snapshots:
        for path in there - written:
            (page.parent / path).unlink()
    else:
        assert there == written, "a file lies there that no command writes"


@contextmanager
def _service(place: Path) -> Iterator[None]:
    """Run the service of an example, if it has one, as its page says."""
    if not (place / "service.py").exists():
        yield
        return
    pytest.importorskip("httpx")
    pytest.importorskip("mcp")
    with subprocess.Popen([sys.executable, "service.py"], cwd=place, stdout=subprocess.PIPE) as service:
        try:
            assert service.stdout is not None
            assert b"ready" in service.stdout.readline()
            yield
        finally:
            service.kill()


def _follow(commands: list[str], place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands:
        code = main(shlex.split(command))  # as a shell divides it, so that a reader can paste it
        printed = capsys.readouterr()
        if command.startswith("check"):
            (place / "expected").mkdir(exist_ok=True)
            (place / "expected" / "problems.txt").write_text(printed.err + printed.out, encoding="utf-8")
            assert code == 1
        else:
            assert code in ({0, 3} if command.startswith(("run", "answer")) else {0}), printed.out + printed.err  # 3: it waits
            passed = "2 passed", "3 passed", "80 passed"
            expected_lines = ("wrote ", *(passed if command == "test" else ["praise_a_colleague is a direct call: "]))
            assert all(line.startswith(expected_lines) for line in printed.err.splitlines())


ARTEFACTS = sorted(path for path in ROOT.glob("*/expected/**/*.json") if not path.name.endswith(".call.json"))


@every_case("path", ARTEFACTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_artefact_is_a_valid_schema_in_canonical_json(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    schema = jsontext.loads(text)
    Draft202012Validator.check_schema(schema)
    assert jsontext.dumps(schema) + "\n" == text


@every_case("other", ["nested", "steps"])
def test_three_spellings_of_the_meeting_are_one_artefact(other: str) -> None:
    first = ROOT / "schedule-meeting" / "expected"
    files = [path for path in first.iterdir() if path.is_file()]
    assert files
    for path in files:
        assert (first / other / path.name).read_bytes() == path.read_bytes()
