"""Find the keys that a JSON text has twice in one object, of which a fast reader keeps one without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from instrc.jsonvalue import Json

if TYPE_CHECKING:
    from instrc.jsonreader import RepeatedMember

_QUOTE_ESCAPE = r"\u0022"


class _RepeatedKeyError(Exception):
    pass


def repeated_keys(text: str, value: Json) -> tuple[str, ...]:
    """Return the keys that a JSON text has twice in one object, of which the fast reader has kept one `value`; most have none."""
    if _is_kept(text, value):
        return ()
    from json import decoder  # few texts come to this

    def look(pairs: list[tuple[str, None]]) -> None:
        if len(dict(pairs)) != len(pairs):
            raise _RepeatedKeyError

    try:
        decoder.JSONDecoder(object_pairs_hook=look, parse_int=len, parse_float=len).decode(text)
    except (_RepeatedKeyError, RecursionError):
        return tuple(dict.fromkeys(each.key for each in _repeated(text)))
    except ValueError:  # what only the exact reader reads, or nobody
        return ()
    return ()


def _is_kept(text: str, value: Json) -> bool:
    """Tell at once that no key was lost when a text was read: its quotes, two of each string and those inside, are all there."""
    if _QUOTE_ESCAPE in text:
        return False  # it is written with a quote of its own
    try:
        return orjson.dumps(value).count(b'"') == text.count('"')
    except orjson.JSONEncodeError:  # it holds what that writer does not
        return False


def repeated_members(text: str, value: Json) -> tuple[RepeatedMember, ...]:
    """Return where a JSON text, read as `value`, has a key a second time; most have none, which is found out fast."""
    return _repeated(text) if repeated_keys(text, value) else ()


def _repeated(text: str) -> tuple[RepeatedMember, ...]:
    from instrc.jsonreader import parse_json  # only where there are some

    return tuple(parse_json(text).repeated)
