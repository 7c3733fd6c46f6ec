"""The console agent says, logs and remembers what its 40 rows say, and goes where they say."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from console_sessions import SESSIONS, Session

import instrc

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "agents" / "console-agent"
DOCUMENT = json.loads((ROOT / "tests" / "data" / "agents" / "console-agent.states.json").read_text(encoding="utf-8"))
sys.path.insert(0, str(FOLDER))

import agent  # noqa: E402  -- an example lies beside the project

PREFIXES = DOCUMENT["prefixes"]
SETTINGS = agent.Settings.read(FOLDER / "settings.json")


def name(row: Mapping[str, Any]) -> str:
    return f"{row['step']} {row['when']}".partition(" VERBATIM")[0]


ROWS = {name(row): row for row in DOCUMENT["rows"]}


@dataclass
class Told:
    """One row as it was carried out."""

    row: str
    stdout: str
    logged: list[tuple[str, str]]
    before: list[Any]
    after: list[Any]


@dataclass
class Played:
    told: list[Told] = field(default_factory=list)
    code: int = 0
    asked: list[int] = field(default_factory=list)
    """How many rows had been told at each question to the person."""


class Recording(agent.Console):
    """A console that keeps what each row did."""

    def __init__(self, settings: Any, *, verbatim: bool = False) -> None:
        self.records: list[tuple[str, str]] = []
        log = logging.Logger("session")  # noqa: LOG001  -- one of its own
        handler = logging.Handler()
        handler.emit = lambda record: self.records.append((record.levelname.lower(), record.getMessage()))  # type: ignore[method-assign]
        log.addHandler(handler)
        super().__init__(settings, out=io.StringIO(), log=log, verbatim=verbatim)
        self.played = Played()

    def tell(self, given: Mapping[str, Any]) -> dict[str, Any]:
        printed, logged = len(self.out.getvalue()), len(self.records)
        result = super().tell(given)
        before = list(given.get("history") or [])
        told = Told(given["row"], self.out.getvalue()[printed:], self.records[logged:], before, result["output"])
        self.played.told.append(told)
        return result


def play(session: Session, *, verbatim: bool = False) -> Played:
    console = Recording(replace(SETTINGS, services=session.services), verbatim=verbatim)
    typed = iter(session.typed)

    def listen() -> str:
        console.played.asked.append(len(console.played.told))
        return next(typed)

    model = agent.Keywords() if session.script is None else instrc.Scripted(session.script)
    with agent.services(*session.fail) as (rag, haiku):
        console.played.code = agent.session(console, listen, model, rag, haiku)
    return console.played


@lru_cache
def played(title: str) -> Played:
    return play(SESSIONS[title])


@pytest.mark.parametrize("title", SESSIONS)
def test_a_session_ends_with_its_exit_code(title: str) -> None:
    assert played(title).code == SESSIONS[title].code


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_carried_out_as_the_document_says(row: str) -> None:
    found = [(each, at, session) for session in map(played, SESSIONS) for at, each in enumerate(session.told) if each.row == row]
    assert found, "no session reaches this row"
    said = ROWS[row]
    for told, at, session in found:
        assert matches(told.stdout, printed(said))
        logs = said["log"] if isinstance(said["log"], list) else [said["log"]] if said["log"] else []
        assert [level for level, _ in told.logged] == [said["level"]] * len(logs)
        for (_, line), pattern in zip(told.logged, logs, strict=True):
            assert matches(line, f"{PREFIXES[str(said['step'])]} {pattern}")
        joined = told.after[len(told.before) :]
        assert told.after[: len(told.before)] == told.before
        assert bool(joined) is said["add_to_history"]
        assert goes_on(said, session, at)


def printed(said: Mapping[str, Any]) -> str:
    """Return what a row prints, with `{…}` for facts; two lines of the document have their values the wrong way round."""
    text = said["stdout"] or ""
    if "VERBATIM" in said["when"]:
        label = text.partition(":")[0]
        text = f"{label}: {{}}"
    lines = [text] if text else []
    return "\n".join([*lines, *(["<help message>"] if "<help message>" in (said["next"] or "") else [])])


def matches(text: str, pattern: str) -> bool:
    import re

    parts = re.split(r"\{[^{}]*\}|<help message>", pattern)
    return re.fullmatch(".*".join(map(re.escape, parts)) + r"\s*", text, re.DOTALL) is not None


def goes_on(said: Mapping[str, Any], session: Played, at: int) -> bool:
    """Tell whether what comes after a row is what the document says."""
    after = session.told[at + 1].row if at + 1 < len(session.told) else None
    where = said["next"]
    if where is None:
        return after is not None and after.startswith(f"{said['step']} ")
    if where == "exit":
        return after is None
    if where.startswith("input"):
        return at + 1 in session.asked
    if where.startswith("step 1"):
        return after == "1 not session start"
    return after is not None and after.startswith(f"{where.removeprefix('step ')} ")


def test_the_counts_of_a_haiku_stand_by_their_words_or_as_in_the_document() -> None:
    session = Session(("хайку про осень", "q"))
    assert "#слогов построчно: 5-7-5\n" in [told.stdout for told in play(session).told]
    verbatim = [told.stdout for told in play(session, verbatim=True).told]
    assert "#слов итого: 5-7-5\n" in verbatim
    assert any(line.startswith("#слогов построчно: ") and line.strip()[-1].isdigit() and "-" not in line for line in verbatim)


def test_ten_sessions_at_once_keep_their_histories_apart() -> None:
    themes = ["осень", "зиму", "весну", "лето", "снег", "дождь", "море", "лес", "ночь", "утро"]
    with ThreadPoolExecutor(10) as pool:
        sessions = list(pool.map(lambda theme: play(Session((f"хайку про {theme}", "q"))), themes))
    for theme, session in zip(themes, sessions, strict=True):
        said = [message["content"] for message in session.told[-1].after if message["role"] == "user"]
        assert said == [f"хайку про {theme}"]


def test_the_model_sees_the_last_messages_only() -> None:
    console = Recording(SETTINGS)
    history = [{"role": "user", "content": str(number)} for number in range(30)]
    assert console.recent(history)["output"] == history[-10:]


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("exit", "exit"),
        ("  /Q ", "exit"),
        ("exit now", "message"),
        ("?", "help"),
        ("HELP", "help"),
        ("   ", "blank"),
        ("да?", "message"),
    ],
)
def test_a_command_is_the_whole_input(typed: str, kind: str) -> None:
    assert Recording(SETTINGS).recognize({"text": typed})["output"]["kind"] == kind


def test_settings_are_read_in_either_case(tmp_path: Path) -> None:
    given = json.loads((FOLDER / "settings.json").read_text(encoding="utf-8"))
    other = tmp_path / "settings.json"
    other.write_text(json.dumps({key.lower(): value for key, value in given.items()}), encoding="utf-8")
    assert agent.Settings.read(other) == SETTINGS
