"""Service logs as JSON: one object per line, without addresses of people, queries, keys or tokens."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from traceback import format_tb
from typing import Final, TextIO

from instrc.runtime.secrets import redacted
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import JsonObject

REQUESTS: Final = logging.getLogger("instrc.requests")
"""Logger with an entry for each response of a service, if its level allows."""
_FACTS: Final = "facts"
_OF_EVENTS: Final = ("run", "id", "code", "attempt")
"""Facts of a run's event that are logged: not the texts of its errors, which activities and services choose."""


def log_as_json(stream: TextIO | None = None) -> None:
    """Write all log entries of this process, including requests, as lines of JSON."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_JsonLine())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    REQUESTS.setLevel(logging.INFO)
    logging.getLogger("instrc.serve").setLevel(logging.INFO)


def is_json() -> bool:
    """Return whether log entries of this process are written as lines of JSON."""
    return REQUESTS.level == logging.INFO


def note_request(operation: str, method: str, path: str, status: int, seconds: float) -> None:
    """Log a response; `path` is the route from the operation table, as actual paths may contain secrets."""
    if is_json():
        facts = {"operation": operation, "method": method, "path": path, "status": status, "seconds": round(seconds, 6)}
        REQUESTS.info("request", extra={_FACTS: facts})


def tell_in_log(line: str) -> None:
    """Log a message that `serve` prints for people."""
    logging.getLogger("instrc.serve").info(line)


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event: JsonObject = getattr(record, "instrc", {})
        facts: JsonObject = {name: event[name] for name in _OF_EVENTS if name in event}
        message = event.get("event", "metric") if event else record.getMessage()
        entry: JsonObject = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": message, **facts}
        entry |= getattr(record, _FACTS, {})
        if record.exc_info is not None and (error := record.exc_info[1]) is not None:
            entry["error"] = _frames(error)
        return dumps(redacted(entry), indent=False)


def _frames(error: BaseException) -> str:
    """Return where an error and its causes arose, without their texts: these may contain data of people."""
    causes = (error.__cause__ or error.__context__, *getattr(error, "exceptions", ()))
    before = [_frames(cause) for cause in causes if cause is not None]
    return "".join([*before, *format_tb(error.__traceback__), f"{type(error).__qualname__}\n"])
