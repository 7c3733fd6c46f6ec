"""Limits of requests to a service, shared by all protocols."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from instrc.text.jsontext import loads, repeated_members, value_in
from instrc.text.jsonvalue import Json

HEAD_SECONDS: Final = 10.0
"""Time limit for the whole head of a request in seconds, even if data arrives."""
BODY_SECONDS: Final = 30.0
"""Time limit for the whole body of a request, in seconds."""
UNREAD_SECONDS: Final = 30.0
"""Time in which a client reads what fills the buffer of its connection, in seconds."""
AT_ONCE: Final = 2
"""Requests of a caller, or by one link, that are handled at the same time, besides those that only wait or stream.

The others are queued: each takes time from other callers, and none is answered sooner by it.
"""
PIECE: Final = 64 * 1024
"""Bytes of a response that are sent at a time."""
READ_BYTES: Final = 4096
"""Bytes read of a connection at a time: the HTTP library parses them at once, however many parts they have."""
CONNECTIONS: Final = 800
"""Maximum connections: processes often have 1,024 descriptors, and files, streams and the database need some."""
FROM_ONE_ADDRESS: Final = 200
"""Maximum connections from one address other than a proxy's."""
RESERVED: Final = 20
"""Connections reserved for addresses that have none."""
HEADERS: Final = 100
"""Maximum headers of a request; the HTTP library limits their bytes (64 KiB)."""
DEPTH: Final = 200
"""Maximum nesting of JSON."""
DIGITS: Final = 1000
"""Maximum digits of a JSON number: printing one takes quadratic time."""
MEMBERS: Final = 100_000
"""Maximum members, elements, objects and arrays in a JSON body: each costs time, also one inside another."""
A2A_MEMBERS: Final = 10_000
"""The same for bodies of A2A, whose library parses them in the event loop, about ten times as slowly."""
NAME: Final = 500
"""Maximum characters of client-chosen names: idempotency keys, messages, threads, contexts, metadata values."""
COMMENT: Final = 10_000
"""Maximum characters of the comment of an answer."""
SETTING: Final = 8 * 1024
"""Maximum bytes of a push setting: each message has its token and credentials."""
PARTS: Final = 1000
"""Maximum parts of a message, and messages of a conversation."""
SESSIONS: Final = 20
"""Maximum open MCP sessions per caller."""
PAGE_SESSIONS: Final = 100
"""Maximum sessions of pages per caller: another one ends that which would expire first."""
LISTED: Final = 1024 * 1024
"""Characters after which a page of questions, tasks or events ends, unless its only one is longer, as it may be."""
SMALL_BODY: Final = 64 * 1024
"""Size in bytes up to which a body is parsed in the event loop; larger ones are parsed in a thread."""
FORM: Final = 32
"""Maximum size of a form with a file that is too large, as a multiple of the size of other bodies: only its fields are kept."""
_TEXTS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_UTF_8: Final = re.compile(r'charset="?utf[-_]?8"? *(;|$)')


def excess_in(body: bytes, path: str = "") -> str | None:
    """Return the part of a JSON text that exceeds its limit or is written twice, or `None`, in linear time.

    The `path` of the request tells its protocol.
    Another encoding than UTF-8 is one: libraries of the protocols would detect it, and read what is not bounded here.
    """
    try:
        is_plain = "\0" not in body.decode()
    except UnicodeDecodeError:
        is_plain = False
    if not is_plain:
        return "the body is not JSON in UTF-8"
    bare = _TEXTS.sub(b"", body)
    if re.search(rb"(?<![0-9])[0-9]{%d}" % (DIGITS + 1), bare):  # tried once a number, not at each of its digits
        return f"the body has a number of more than {DIGITS:,} digits"
    most = A2A_MEMBERS if path.startswith("/a2a") else MEMBERS
    if sum(map(bare.count, (b",", b":", b"[", b"{"))) > most:
        return f"the body has more than {most:,} members"
    depth = 0
    for bracket in re.finditer(rb"[\[{]+|[\]}]+", bare) if bare.count(b"[") + bare.count(b"{") > DEPTH else ():
        depth += len(bracket[0]) if bracket[0][0] in b"[{" else -len(bracket[0])
        if depth > DEPTH:
            return f"the body is nested deeper than {DEPTH:,} levels"
    value = value_in(body)
    repeated = () if value is None else repeated_members(body.decode(), value)  # libraries of the protocols keep the last one
    return repeated[0].reason if repeated else None


def names_codec(content_type: str) -> bool:
    """Return whether the type of a form names another encoding than UTF-8: its texts would be decoded by any codec of Python.

    Some of them take quadratic time, or return characters that no answer can contain.
    """
    said = content_type.lower()
    return "multipart" in said and "charset" in _UTF_8.sub("", said)


def loads_bounded(text: str) -> Json:
    """Return the value of JSON sent as a text, in a form or in other JSON; raise `ValueError` beyond the limits of a body."""
    if (excess := excess_in(text.encode("utf-8", "surrogatepass"))) is not None:
        raise ValueError(excess.replace("the body", "the text"))
    return loads(text)


class FormCutter(Struct):
    """Passes on the beginning of a form with files, and after it every field, without the rest of a large file."""

    boundary: bytes
    """Line between two fields."""
    left: int
    """Bytes that are still passed on before a file is cut."""
    tail: bytes = b""
    """End of the data so far, in which a boundary may begin."""
    is_cutting: bool = False

    def passed(self, data: bytes) -> bytes:
        """Return the part of the following data that is passed on."""
        self.left -= len(data)
        joined = self.tail + data
        known = 0 if self.is_cutting else len(self.tail)  # bytes that were passed on already
        self.tail = joined[1 - len(self.boundary) :]
        if self.left >= 0:
            return data
        place = joined.find(self.boundary)
        self.is_cutting = place < 0
        self.left = -1 if self.is_cutting else SMALL_BODY
        return b"" if self.is_cutting else joined[max(place, known) :]


def cutter_of(path: str, content_type: str, limit: int) -> FormCutter | None:
    """Return a cutter for a form with files on a page, or `None` for another body."""
    found = re.match(r'multipart/form-data;.*boundary="?([^\s";,]{1,200})', content_type)
    return FormCutter(f"\r\n--{found[1]}".encode(), limit) if found and path.startswith("/inbox/") else None
