"""Bytes to source: the check that every text passes before anyone looks at it."""

from __future__ import annotations

from instrc.limits.incoming import PROGRAM_BYTES
from instrc.problems.report import Report
from instrc.source import Source

_BOM = b"\xef\xbb\xbf"


def decode_source(name: str, data: bytes, report: Report, limit: int = PROGRAM_BYTES) -> Source | None:
    """Return the text of a file without its byte order mark; `None` with a problem if it is too large or not UTF-8.

    To find out that a file is too large, it is enough to pass one byte more than the limit.
    """
    if len(data) > limit:
        from instrc.problems.size import TooLarge  # problems are imported where there is one

        start = Source(name, data[:200].decode("utf-8-sig", "replace"))
        report.add(TooLarge(at=start.whole(), what="the source", limit=limit, unit="bytes", setting="source"))
        return None
    text = data.removeprefix(_BOM)
    try:
        return Source(name, text.decode())
    except UnicodeDecodeError as error:
        from instrc.problems.text import NotUtf8  # as above

        shown = Source(name, text.decode("utf-8", "replace"))
        place = len(text[: error.start].decode())
        report.add(NotUtf8(at=shown.span(place, place + 1)))
        return None
