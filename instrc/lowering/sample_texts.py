"""Make texts for samples: of a length, a format or a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from instrc.jsonvalue import JsonObject
from instrc.limits.payloads import SAMPLE_CHARACTERS
from instrc.schema.expressions import search
from instrc.schema.laws.bounds import bound

_OF_FORMATS = {
    "date": ("2026-01-02", "2026-01-03", "2026-02-01"),
    "date-time": ("2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z", "2026-02-01T03:04:05Z"),
    "duration": ("P1D", "PT1H", "P2W"),
    "email": ("a@example.org", "b@example.org", "c@example.org"),
    "hostname": ("example.org", "a.example.org", "b.example.org"),
    "idn-email": ("a@example.org", "b@example.org", "c@example.org"),
    "idn-hostname": ("example.org", "a.example.org", "b.example.org"),
    "ipv4": ("192.0.2.1", "192.0.2.2", "192.0.2.3"),
    "ipv6": ("2001:db8::1", "2001:db8::2", "2001:db8::3"),
    "iri": ("https://example.org/a", "https://example.org/b", "https://example.org/c"),
    "iri-reference": ("https://example.org/a", "/b", "c"),
    "json-pointer": ("/a", "/b", ""),
    "regex": ("a", "b", "^c$"),
    "relative-json-pointer": ("0", "1/a", "2/b"),
    "time": ("03:04:05Z", "04:04:05Z", "05:04:05Z"),
    "uri": ("https://example.org/a", "https://example.org/b", "https://example.org/c"),
    "uri-reference": ("https://example.org/a", "/b", "c"),
    "uri-template": ("https://example.org/{a}", "https://example.org/{b}", "c"),
    "uuid": (
        "123e4567-e89b-12d3-a456-426614174000",
        "123e4567-e89b-12d3-a456-426614174001",
        "123e4567-e89b-12d3-a456-426614174002",
    ),
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class MadeText(NamedTuple):
    """A text, and whether it is what its schema asks for."""

    value: str
    sure: bool


def text_of(schema: JsonObject, nth: int = 0) -> MadeText:
    """Return a text for a schema; texts for different numbers `nth` differ where the schema allows it."""
    found = list(islice(_texts(schema, nth), nth + 1))
    if found:
        return MadeText(found[min(nth, len(found) - 1)], sure=True)
    return MadeText(next(_plain(schema, nth)), sure=False)


def _texts(schema: JsonObject, nth: int) -> Iterator[str]:
    """Yield texts that satisfy a schema."""
    pattern = schema.get("pattern")
    known = _OF_FORMATS.get(str(schema.get("format")))
    least, most = bound(schema, "minLength") or 0, bound(schema, "maxLength")
    if least > SAMPLE_CHARACTERS:
        return
    for text in known or _plain(schema, nth):
        fits = least <= len(text) and (most is None or len(text) <= most)
        if fits and (not isinstance(pattern, str) or search(pattern, text) is not False):
            yield text
    if isinstance(pattern, str):
        yield from _of_pattern(pattern, int(least), None if most is None else int(most), str(schema.get("format")))


def _of_pattern(pattern: str, least: int, most: int | None, named: str) -> Iterator[str]:
    from instrc.schema.formats import CHECKS
    from instrc.schema.pattern_texts import matching_texts

    for text in matching_texts(pattern, max(least, 1), most):
        if named not in CHECKS or CHECKS[named](text):
            yield text


def _plain(schema: JsonObject, nth: int) -> Iterator[str]:
    """Yield texts of one letter, as long as they must be, and the empty one."""
    least, most = bound(schema, "minLength"), bound(schema, "maxLength")
    length = max(1 if least is None else int(min(least, SAMPLE_CHARACTERS)), 1)
    if most is None or length <= most:
        for number in range(nth + 1):
            yield _LETTERS[number % len(_LETTERS)] * (length + number // len(_LETTERS) * (most is None))
    yield ""
