"""Results as they are recorded."""

from __future__ import annotations

from typing import cast

from instrc.jsontext import dumps, loads
from instrc.runtime.interpreter.commands import Result
from instrc.runtime.secrets import redacted


def as_recorded(result: Result) -> Result:
    """Return a result as it is read back from a store: pure JSON, without secrets."""
    try:
        return cast("Result", redacted(loads(dumps(result, indent=False))))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the result is not JSON: {error}"
        return {"error": {"kind": "failed", "code": "no-json", "message": redacted(message)}}
