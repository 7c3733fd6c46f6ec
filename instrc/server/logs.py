"""Service logs as JSON: one object per line, without addresses of people, queries, keys or tokens."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Final, TextIO

from instrc.runtime.secrets import redacted
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import JsonObject

REQUESTS: Final = logging.getLogger("instrc.requests")
"""Logger with an entry for each response of a service, if its level allows."""
_FACTS: Final = "facts"


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
        entry: JsonObject = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        entry |= getattr(record, _FACTS, {})
        if record.exc_info is not None:
            entry["error"] = self.formatException(record.exc_info)
        return dumps(redacted(entry), indent=False)
