"""Pages that are run: their commands are typed into one shell, and what they show must be what is printed.

A block `console` has commands, each after `$ `, and what each prints, output and errors together. `…` there is any text, and any
lines where it is alone. A command must succeed, or say its code: `# exit code 3`. A command that ends with `&` is a service.
Every other block is a file of the project, named by its title (```` ```py title="app.py" ````), whole or a part of it; where
the folder has no such file, the block is written there; one whose title begins with "cell" is a cell of a notebook, and a comment
after `print(…)` is what it prints. A block that is none of these is preceded by `<!-- not run: REASON -->`.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n+)?^```(?P<language>\w*)(?: title=\"(?P<title>[^\"\n]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
END = "\x1e"
PATIENCE = 60  # seconds a command


class Typed(NamedTuple):
    """A command of a page, the code that it ends with, and the lines that the page shows after it."""

    command: str
    code: int
    shown: str


def typed(text: str) -> Iterator[Typed]:
    """Yield the commands of a block `console`; a line that ends with a backslash continues on the next one."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        found = re.match(r"(?:[^\n]*\\\n)*[^\n]*\n?", part)
        command = found[0].strip() if found else ""
        said = re.search(r"# exit code (\d+)", command)
        yield Typed(command, int(said[1]) if said else 0, part[found.end() if found else 0 :].rstrip("\n"))


class Shell:
    """One bash, from the first command of a page to its last."""

    def __init__(self, place: Path) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("INSTRC_", "PYTEST_"))},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTEST_DEBUG_TEMPROOT": str(place.parent),  # else it removes the folders of earlier runs, for minutes
            "PYTEST_PLUGINS": "instrc.cli.pytest_plugin",  # also where the tree is on the path without being installed
        }
        command = ["bash", "--norc", "--noprofile"]
        pipe = subprocess.PIPE
        self.bash = subprocess.Popen(
            command, cwd=place, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, start_new_session=True
        )
        self.known = b""

    def type(self, command: str) -> tuple[str, int]:
        """Return what a command prints, and its code."""
        stdin: IO[bytes] | None = self.bash.stdin
        assert stdin is not None
        stdin.write(f"{command}\n".encode())
        stdin.flush()
        if re.search(r"&\s*(?:#.*)?$", command) and ">" not in command:
            return self._read("\n", command), 0
        stdin.write(f"printf '{END}%s{END}' $?\n".encode())
        stdin.flush()
        printed = self._read(END, command)
        return printed, int(self._read(END, command))

    def _read(self, until: str, command: str) -> str:
        assert self.bash.stdout is not None
        limit = time.monotonic() + PATIENCE
        while until.encode() not in self.known:
            ready, _, _ = select.select([self.bash.stdout], [], [], max(0, limit - time.monotonic()))
            new = os.read(self.bash.stdout.fileno(), 65536) if ready else b""
            assert new, f"no end of `{command}` after {self.known.decode()!r}"
            self.known += new
        read, _, self.known = self.known.partition(until.encode())
        return read.decode()

    def close(self) -> None:
        """End the shell and the services that it has started."""
        os.killpg(self.bash.pid, 9)
        self.bash.wait()
        for pipe in (self.bash.stdin, self.bash.stdout):
            if pipe is not None:
                pipe.close()


def agrees(shown: str, printed: str) -> bool:
    """Tell whether what a page shows is what is printed; `…` stands for anything."""
    lines = [re.escape(line).replace("…", r"[^\n]*") for line in shown.splitlines()]
    pattern = "\n".join(r"(?:[^\n]*(?:\n|$))*?" if line == r"[^\n]*" else line for line in lines)
    pattern = pattern.replace("*?\n", "*?")
    return re.fullmatch(pattern, printed.rstrip("\n")) is not None


def follow(page: Path, place: Path) -> str:
    """Run a page in a copy of its folder, and return the page as it should be: with what its commands print."""
    text = page.read_text(encoding="utf-8")
    kernels: dict[str, list[str]] = {}
    for block in BLOCK.finditer(text):
        if block["title"] and block["title"].startswith("cell"):
            kernels.setdefault(block["title"], []).append(block["text"])
        elif block["title"]:
            _has(place / block["title"], block["text"], page)
        else:
            assert block["language"] == "console" or block["reason"], f"{page}: a block is no file, and not run:\n{block['text']}"
    for cells in kernels.values():
        _run_cells([*(kernels["cell"][:1] if cells is not kernels["cell"] else []), *cells], place)
    shell = Shell(place)
    try:
        return BLOCK.sub(lambda block: _typed_again(block, shell, page), text)
    finally:
        shell.close()


KERNEL = """
import ast, asyncio, inspect, json, sys

async def run(space):
    for cell in json.load(sys.stdin):
        made = eval(compile(cell, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), space)
        if inspect.iscoroutine(made):
            await made

asyncio.run(run({"__name__": "__main__"}))
"""


def _run_cells(cells: list[str], place: Path) -> None:
    """Run the cells of one kernel of a notebook, where an event loop runs already; a new kernel runs the first cell again."""
    command = [sys.executable, "-c", KERNEL]
    done = subprocess.run(command, check=False, cwd=place, input=json.dumps(cells), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", "".join(cells), re.MULTILINE)


def _typed_again(block: re.Match[str], shell: Shell, page: Path) -> str:
    if block["language"] != "console" or block["reason"]:
        return block[0]
    parts = ["```console\n"]
    for each in typed(block["text"]):
        printed, code = shell.type(each.command)
        assert code == each.code, f"{page}: `{each.command}` ended with {code}:\n{printed}"
        shown = each.shown if agrees(each.shown, printed) else printed.rstrip("\n")
        parts.append(f"$ {each.command}\n" + (f"{shown}\n" if shown else ""))
    return "".join([*parts, "```"])


def _has(file: Path, text: str, page: Path) -> None:
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text.strip() in file.read_text(encoding="utf-8"), f"{page}: this is not in {file.name}:\n{text}"


def copied(page: Path, place: Path) -> Path:
    """Return a copy of the folder of a page, without what earlier runs have left there."""
    shutil.copytree(page.parent, place, ignore=shutil.ignore_patterns(".instrc", "__pycache__"))
    return place
