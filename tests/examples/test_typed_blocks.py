"""What the pages tell a reader to type works: agents in Python, a worker in another terminal, the options of each command.

`test_examples.py` runs the commands beside each example, and `test_readme.py` those of the first page.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from every_case import every_case

from instrc.cli import main
from instrc.text.jsontext import loads

ROOT = Path(__file__).parents[2]
FOLDERS = ("examples", "grammar", "instrc", "schemas", "tests")
PAGES = [ROOT / "README.md", *sorted(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
RUNTIME = ROOT / "instrc" / "runtime" / "README.md"
MEETING = ROOT / "examples" / "meeting-with-approval"
NEEDS_MORE = ("--model gigachat:", "--model openai:", "--service https://")
"""Of commands that need a key or a server of somebody else."""


class Line(NamedTuple):
    page: Path
    text: str

    @property
    def command(self) -> str:
        """The line without what it says to the reader."""
        return re.sub(r"\s+# .*", "", self.text.removeprefix("$ "))


def lines(page: Path) -> list[Line]:
    blocks = re.findall(r"^```(?:console|sh|bash)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found = []
    for block in blocks:
        written = [line for line in block.splitlines() if line]
        typed = [line for line in written if line.startswith("$ ")]  # the others are what comes out
        found += [Line(page, line) for line in typed or written]
    return found


TYPED = {"tutorial", "guides", "deploy"}
"""Folders whose pages `test_pages.py` types into a shell, as they are printed."""
LINES = [line for page in PAGES if {"node_modules", *TYPED}.isdisjoint(page.parts) for line in lines(page)]
AGENTS = [
    line for line in LINES if line.command.startswith("python agent.py") and not any(word in line.text for word in NEEDS_MORE)
]


BLOCK = re.compile(r"^(<!-- not run: [^\n]+ -->\n+)?^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN = {
    "README.md": {"console", "python", "sh"},  # `test_readme.py`
    "examples/frameworks/README.md": {"python"},  # `test_lines_of_frameworks.py`
    "grammar/editors/README.md": {"toml"},  # `test_documented_settings.py`
    "instrc/runtime/README.md": {"console"},  # here: the worker and its answer
}
"""The languages whose blocks a test runs, by page."""
EXAMPLES = {"console", "sh"}
"""Of the pages of examples: `test_examples.py` and `test_pages_of_agents.py` follow them, `AGENTS` here too."""


OTHERS = {"node_modules", "tutorial", "guides", "problems", "tests"}
"""Folders whose pages `test_pages.py` or `tests/problems` runs, and those of the tests themselves."""


@every_case(
    "page",
    [page for page in PAGES if OTHERS.isdisjoint(page.relative_to(ROOT).parts)],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_a_block_is_run_or_says_why_not(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = page.relative_to(ROOT).as_posix()
    run = RUN.get(name, EXAMPLES if name.startswith("examples/") else set())
    for reason, language, text in BLOCK.findall(page.read_text("utf-8")):
        if language == "toml" and "[tool.instrc" in text:
            (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
            (tmp_path / "schemas" / "processes").mkdir(parents=True, exist_ok=True)
            (tmp_path / "schemas" / "processes" / "trip.aug").write_text(
                '"x" | @{ title: "Reply", type: "object" }', encoding="utf-8"
            )
            assert main(["check"]) == 0, text
        elif language == "json" and not reason:
            loads(text)
        elif language == "aug" and not reason:
            (tmp_path / "page.aug").write_text(text, encoding="utf-8")
            assert main(["fmt", "page.aug"]) == 0, text
        elif language in {"console", "sh", "bash", "python", "py", "toml", "yaml"} and not reason:
            assert language in run, f"no test runs this:\n{text}"


def test_every_line_of_a_console_is_a_command() -> None:
    programs = {line.command.split()[0] for line in LINES}
    assert programs == {"instrc", "python", "pip", "temporal", "head"}


@every_case("line", AGENTS, ids=lambda line: f"{line.page.parent.name}: {line.command}")
def test_an_agent_without_a_key_does_what_its_page_says(line: Line, tmp_path: Path) -> None:
    if "extra `sandbox`" in line.text:
        pytest.importorskip("pydantic_monty")
    place = shutil.copytree(line.page.parent, tmp_path / "agent")
    words = [sys.executable, *shlex.split(line.command)[1:]]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        words,
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
    assert "'status': 'failed'" not in done.stdout


def test_a_worker_in_one_terminal_carries_what_another_answers(tmp_path: Path) -> None:
    pytest.importorskip("dbos")
    worker, answer = [shlex.split(line.command) for line in lines(RUNTIME)][:2]
    assert (worker[:2], answer[:3]) == (["instrc", "worker"], ["instrc", "answer", "lunch"])
    place = shutil.copytree(MEETING, tmp_path / "meeting")
    instrc = [sys.executable, "-m", "instrc"]
    begin = ["run", "meeting.aug", "--input", "lunch", "--model", "scripted:answers.json", "--id", "lunch", "--quiet"]
    assert subprocess.run([*instrc, *begin], cwd=place, capture_output=True, check=False, timeout=100).returncode == 3  # it waits
    carrying = subprocess.Popen([*instrc, *worker[1:]], cwd=place, stderr=subprocess.PIPE, text=True)
    try:
        assert carrying.stderr is not None
        assert carrying.stderr.readline() == "the worker is ready\n"
        done = subprocess.run([*instrc, *answer[1:]], cwd=place, capture_output=True, text=True, check=True, timeout=100)
        while loads(done.stdout)["status"] == "running":  # the answer has reached the worker, which goes on with the run
            done = subprocess.run([*instrc, "show", "lunch"], cwd=place, capture_output=True, text=True, check=True, timeout=100)
    finally:
        carrying.terminate()
        carrying.communicate(timeout=100)
    assert loads(done.stdout)["status"] == "done"


@every_case(
    "line",
    [line for line in LINES if line.command.startswith("instrc ")],
    ids=lambda line: f"{line.page.parent.name}: {line.command}",
)
def test_options_of_every_command_on_a_page_exist(line: Line, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that cannot be run here, as it needs two terminals or a cluster, is at least one that the tool knows."""
    words = shlex.split(line.command)[1:]
    assert main([*words[: 2 if words[0] == "plan" else 1], "--help"]) == 0
    told = capsys.readouterr().out
    assert [word for word in words if re.match(r"-\w$|--\w", word) and not re.search(rf"(?<![\w-]){word}(?![\w-])", told)] == []
