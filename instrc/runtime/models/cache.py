"""A cache of paid answers: kept in a file by the exact request, and returned without asking."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct, field, structs

from instrc.runtime.models.database import require_file, transaction
from instrc.runtime.secrets import redacted
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json

_FORMAT: Final = 1
"""Version of the entry format, which is part of each key, so that entries of other formats are not read."""
_TABLE: Final = "answers (key TEXT PRIMARY KEY, model TEXT, answer TEXT)"


class AnswerCache(Struct, frozen=True, eq=False):
    """Answers of providers in an SQLite file, which several processes may use at the same time.

        launcher = Launcher(prepared, model="openai:gpt-5", cache=AnswerCache("answers.sqlite", sample=2))

    In a program, `instrc.run(…, cache="answers.sqlite")`; in the settings, `cache` of `[tool.instrc.run]`.
    Two requests are equal if all that is sent is: the server, the model, the message, the schema, every setting.
    `sample` numbers independent answers to one request: each sample of an evaluation has a number of its own, from 0.
    Accepted answers of the provider are kept, as JSON; keys are digests, so no message is in the file.
    A cache belongs to one run: equal requests of a run are different samples, whatever asks them.
    """

    file: str | Path
    sample: int = 0
    turn: int = 1
    """Number of deliberate restarts of a command, each of which needs a different answer."""
    _asked: dict[str, list[str]] = field(default_factory=dict)
    """Requesters of each entry, so that equal requests of one run get different answers."""

    def again(self, turn: int) -> AnswerCache:
        """Return the cache for the given restart of a command."""
        return self if turn == self.turn else structs.replace(self, turn=turn)

    def key(self, request: Json, asker: str) -> str:
        """Return the key of a request; `asker` is equal for all its attempts, `run/command`."""
        digest = sha256(dumps([_FORMAT, self.sample, self.turn, request], indent=False).encode()).hexdigest()
        askers = self._asked.setdefault(digest, [])
        if asker not in askers:
            askers.append(asker)
        return f"{digest}.{askers.index(asker)}"

    def find(self, key: str) -> Json:
        """Return the cached answer to a request, or `None` if there is none or the file is unreadable."""
        try:
            with transaction(self.file, _TABLE) as database:
                row = database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            return None if row is None else loads(row[0])
        except (sqlite3.Error, ValueError, TypeError):
            return None

    def keep(self, key: str, model: str, answer: Json) -> str | None:
        """Store an answer, unless it contains a secret; return the reason if it cannot be stored, or `None`."""
        if redacted(answer) != answer:
            return None
        try:
            with transaction(self.file, _TABLE) as database:
                database.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", (key, model, dumps(answer, indent=False)))
        except sqlite3.Error as error:
            return f"the answer could not be kept in `{self.file}`: {error}"
        return None

    def require(self) -> None:
        """Create the file; raise `SettingsError` if it is unusable."""
        require_file(self.file, _TABLE, "cache")
