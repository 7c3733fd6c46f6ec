"""The bounds of requests to a service, the same at every door: this is their table."""

from __future__ import annotations

import re
from typing import Final

HEAD_SECONDS: Final = 10.0
"""For the whole head of a request, whatever is sent meanwhile."""
BODY_SECONDS: Final = 30.0
"""For the whole body of a request."""
CONNECTIONS: Final = 800
"""In all; a process may often have 1,024 descriptors, and files, streams and the database need some."""
FROM_ONE_ADDRESS: Final = 200
"""Connections from one address, unless it is that of a proxy."""
RESERVED: Final = 20
"""Of all connections, those that are left for addresses which have none."""
HEADERS: Final = 100
"""Headers of a request; their bytes are bounded by the HTTP library (64 KiB)."""
DEPTH: Final = 200
"""Levels of nesting in JSON."""
DIGITS: Final = 1000
"""Digits of a number in JSON: to print one is quadratic."""
MEMBERS: Final = 100_000
"""Members and elements of JSON in all."""
NAME: Final = 500
"""Characters of what clients of any protocol name: idempotency keys, messages, threads, contexts, values of metadata."""
PARTS: Final = 1000
"""Parts of a message, and messages of a conversation."""
SESSIONS: Final = 20
"""Open sessions of MCP of one caller."""
SMALL_BODY: Final = 64 * 1024
"""Bytes that are read without leaving the loop: more are read in a thread."""
_TEXTS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def excess_in(body: bytes) -> str | None:
    """Return the part of a JSON text that is over its bound, or `None`. It takes time linear in the text."""
    bare = _TEXTS.sub(b"", body)
    if re.search(rb"[0-9]{%d}" % (DIGITS + 1), bare):
        return f"the body has a number of more than {DIGITS:,} digits"
    if bare.count(b",") + bare.count(b":") > MEMBERS:
        return f"the body has more than {MEMBERS:,} members"
    depth = 0
    for bracket in re.finditer(rb"[\[{]+|[\]}]+", bare) if bare.count(b"[") + bare.count(b"{") > DEPTH else ():
        depth += len(bracket[0]) if bracket[0][0] in b"[{" else -len(bracket[0])
        if depth > DEPTH:
            return f"the body nests deeper than {DEPTH:,} levels"
    return None
