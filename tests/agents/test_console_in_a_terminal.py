"""A person can play the console agent: a real terminal goes through all its rows."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from console_sessions import SESSIONS, Session

ROOT = Path(__file__).parents[2]
AGENT = ROOT / "examples" / "agents" / "console-agent"
ROWS = json.loads((AGENT / "rows.json").read_text(encoding="utf-8"))
PATIENCE = 60.0
"""Seconds to wait for the next line on the screen."""

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """One window of tmux, on a server of its own."""

    def __init__(self, folder: Path) -> None:
        self.socket = str(folder / "tmux")
        self.window = ""

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-S", self.socket, *words], capture_output=True, text=True, check=True)
        return done.stdout

    def begin(self, name: str, command: str) -> None:
        self.window = name
        shown = f'{command}; echo "[exit $?]"; sleep 600'
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "250", "-y", "400", "-s", name, "sh", "-c", shown)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.window)

    def wait(self, prompts: int) -> str:
        """Wait for so many prompts, or for the end."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            shown = self.screen()
            if len(re.findall(r"^>", shown, re.MULTILINE)) >= prompts or "[exit " in shown:
                return shown
            time.sleep(0.05)
        pytest.fail(f"nothing came in {PATIENCE} seconds:\n{self.screen()}")

    def write(self, text: str) -> None:
        if text:
            self.tmux("send-keys", "-t", self.window, "-l", text)
        self.tmux("send-keys", "-t", self.window, "Enter")

    def end(self) -> None:
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    made.end()


def play(terminal: Terminal, session: Session, folder: Path) -> tuple[str, str]:
    """Play a session; return the screen and the log."""
    settings = json.loads((AGENT / "settings.json").read_text(encoding="utf-8")) | {"services": list(session.services)}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    words = [sys.executable, str(AGENT / "agent.py"), "--settings", str(folder / "settings.json"), "--fail", *session.fail]
    words += ["--log", str(folder / "log"), "--level", "debug"]
    if session.script is not None:
        (folder / "answers.json").write_text(json.dumps(session.script), encoding="utf-8")
        words += ["--model", f"scripted:{folder / 'answers.json'}"]
    terminal.begin(folder.name, shlex.join(words))
    for number, text in enumerate(session.typed, 1):
        terminal.wait(number)
        terminal.write(text)
    shown = terminal.wait(len(session.typed) + 1)
    return shown, (folder / "log").read_text(encoding="utf-8")


@pytest.mark.long
def test_all_rows_are_played_in_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    screens, logs = "", ""
    for title, session in SESSIONS.items():
        folder = tmp_path / title.replace(" ", "-")
        folder.mkdir()
        shown, logged = play(terminal, session, folder)
        assert f"[exit {session.code}]" in shown, f"{title}\n{shown}"
        assert not re.search(r"^\[\w+\]", shown.replace(f"[exit {session.code}]", ""), re.MULTILINE), (
            "the log is not for the person"
        )
        screens += shown
        logs += logged
    missing = [row["when"] for row in ROWS["rows"] if not seen(row, screens, logs)]
    assert missing == []


def test_ctrl_c_ends_the_session_at_once_whatever_line_was_begun(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = [sys.executable, str(AGENT / "agent.py"), "--log", str(log), "--level", "debug"]
    terminal.begin("left", f"trap : INT; {shlex.join(words)}")  # the shell around gets the signal too
    terminal.wait(1)
    terminal.tmux("send-keys", "-t", terminal.window, "-l", "Сколько дней")
    terminal.tmux("send-keys", "-t", terminal.window, "C-c")
    shown = terminal.wait(2)
    assert "До свидания!\n[exit 130]" in shown
    assert log.read_text("utf-8").splitlines()[-1].endswith("[main] AgentEnd")


def seen(row: dict[str, object], screens: str, logs: str) -> bool:
    """Tell whether what a row prints and logs was there."""
    lines = row["log"] if isinstance(row["log"], list) else [row["log"]] if row["log"] else []
    prefixed = [f"{ROWS['prefixes'][str(row['step'])]} {line}" for line in lines]
    printed = [str(row["stdout"])] if row["stdout"] and "<" not in str(row["stdout"]) else []
    return all(found(line, logs) for line in prefixed) and all(found(line, screens) for line in printed)


def found(line: str, text: str) -> bool:
    return re.search(".*".join(map(re.escape, re.split(r"\{[^{}]*\}", line))), text, re.DOTALL) is not None
