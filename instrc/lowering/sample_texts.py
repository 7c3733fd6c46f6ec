"""Make texts for samples: of a length, a format or a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from instrc.jsonvalue import Json, JsonObject
from instrc.limits.payloads import SAMPLE_CHARACTERS, SAMPLE_TEXTS
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
    pattern, named = schema.get("pattern"), str(schema.get("format"))
    plain = _plain(schema, nth)
    if not isinstance(pattern, str) and named not in _OF_FORMATS:
        return MadeText(plain, _fits(schema, plain))
    found = list(islice(_texts(schema, named, pattern), min(nth, SAMPLE_TEXTS) + 1))
    return MadeText(found[min(nth, len(found) - 1)], sure=True) if found else MadeText(plain, sure=False)


def _texts(schema: JsonObject, named: str, pattern: Json) -> Iterator[str]:
    """Yield texts that satisfy a schema with a pattern or a format that is known."""
    for text in _OF_FORMATS.get(named) or (*(_plain(schema, number) for number in range(len(_LETTERS))), ""):
        if _fits(schema, text) and (not isinstance(pattern, str) or search(pattern, text) is not False):
            yield text
    least, most = bound(schema, "minLength") or 0, bound(schema, "maxLength")
    if isinstance(pattern, str) and least <= SAMPLE_CHARACTERS:
        from instrc.schema.formats import CHECKS
        from instrc.schema.pattern_texts import matching_texts

        longest = None if most is None else int(min(most, SAMPLE_CHARACTERS))
        for text in matching_texts(pattern, max(int(least), 1), longest):
            if named not in CHECKS or CHECKS[named](text):
                yield text


def _fits(schema: JsonObject, text: str) -> bool:
    least, most = bound(schema, "minLength"), bound(schema, "maxLength")
    return (least is None or least <= len(text)) and (most is None or len(text) <= most)


def _plain(schema: JsonObject, nth: int) -> str:
    """Return a text of one letter, as long as it must be; the empty one where that is too long."""
    least, most = bound(schema, "minLength"), bound(schema, "maxLength")
    length = max(1 if least is None else int(min(least, SAMPLE_CHARACTERS)), 1)
    length += nth // len(_LETTERS) * (most is None)
    return _LETTERS[nth % len(_LETTERS)] * length if most is None or length <= most else ""
