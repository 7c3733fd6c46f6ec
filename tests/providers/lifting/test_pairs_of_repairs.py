"""Repairs combine: every pair of slips, one inside of the other or beside it, is repaired on every target as each is alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any, TypeAlias

import pytest
from every_case import every_case

from instrc import Lifted, encode, lift, lower, targets
from instrc.text.jsontext import dumps, loads

Slip: TypeAlias = Callable[[Any], Any]
PERIOD: Any = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["day", "week"]},
        "mode": {"enum": ["very_fast", "slow"]},
        "note": {"type": "integer"},
        "days": {"type": "integer"},
        "open": {"type": "boolean"},
        "level": {"enum": ["1", "2"]},
        "words": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["kind", "mode", "days", "open", "level", "words"],
    "additionalProperties": False,
}
RENAMED: Any = {**PERIOD, "properties": {**PERIOD["properties"], "имя $": {"type": "string"}}}
"""With a key that most targets need another name for."""
NUMBERED: Any = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"is": {"const": "number"}, "number": {"type": "integer"}},
            "required": ["is", "number"],
            "additionalProperties": False,
        },
        {**RENAMED, "properties": {"is": {"const": "period"}, **RENAMED["properties"]}, "required": ["is", *RENAMED["required"]]},
    ]
}
"""One of two objects."""


def _whole(period: Any) -> Any:
    return {
        "type": "object",
        "properties": {"period": period, "rows": {"type": "array", "items": period}, "title": {"type": "string"}},
        "required": ["period", "rows", "title"],
        "additionalProperties": False,
    }


VALUE: Any = {"kind": "week", "mode": "very_fast", "days": 3, "open": True, "level": "1", "words": ["a"]}
SCHEMAS: dict[str, tuple[Any, Any]] = {
    "plain": (_whole(PERIOD), VALUE),
    "renamed": (_whole(RENAMED), {**VALUE, "имя $": "x"}),
    "shared": ({**_whole({"$ref": "#/$defs/p"}), "$defs": {"p": RENAMED}}, {**VALUE, "имя $": "x"}),
    "nullable": (_whole({"anyOf": [RENAMED, {"type": "null"}]}), {**VALUE, "имя $": "x"}),
    "union": (_whole(NUMBERED), {"is": "period", **VALUE, "имя $": "x"}),
}


def _at(key: str, change: Slip) -> Slip:
    return lambda held: {**held, key: change(held[key])}


INSIDE: dict[str, Slip] = {
    "null": lambda held: {**held, "note": None},
    "word for null": lambda held: {**held, "note": "null"},
    "case": _at("kind", str.upper),
    "spelling": _at("mode", lambda _: "Very fast"),
    "key": lambda held: {("Days" if key == "days" else key): item for key, item in held.items()},
    "number": _at("days", str),
    "truth": _at("open", str),
    "listed": _at("words", lambda items: items[0]),
    "unlisted": _at("days", lambda item: [item]),
    "as text": _at("level", int),
}
"""Slips inside of an object; those of one key do not go together."""
AROUND: dict[str, Slip] = {
    "text": dumps,
    "text of a text": lambda held: dumps(dumps(held)),
    "loose": str,
    "alone in a list": lambda held: [held],
    "text alone in a list": lambda held: [dumps(held)],
    "list as a text": lambda held: dumps([held]),
}
"""What an object is written as, where an object belongs."""
ROWS: dict[str, Slip] = {
    "text": dumps,
    "text of a text": lambda rows: dumps(dumps(rows)),
    "loose": str,
    "its only item": lambda rows: rows[0],
    "its only item as a text": lambda rows: dumps(rows[0]),
    "its only item as a text of a text": lambda rows: dumps(dumps(rows[0])),
    "a list of texts": lambda rows: [dumps(row) for row in rows],
    "a list in a list": lambda rows: [rows],
}
"""What a list of one object is written as, where a list belongs."""
WHOLE: dict[str, Slip] = {
    "text of a text": lambda sent: dumps(dumps(sent)),
    "loose": str,
    "fence": lambda sent: f"```json\n{dumps(sent)}\n```",
    "below a word": lambda sent: {"arguments": sent},
    "below a word as a text": lambda sent: {"parameters": dumps(sent)},
    "alone in a list": lambda sent: [sent],
}
"""What all arguments are written as."""


def _holder(sent: Any, key: str) -> Any:
    """Return the object with the slips, below a key of the root."""
    held = sent[key][0] if key == "rows" else sent[key]
    while "kind" not in held:  # a union that is one object with a choice
        held = next(item for item in held.values() if isinstance(item, dict))
    return held


def _pairs() -> Iterator[tuple[str, Slip]]:
    """Yield changes of what is sent, by the two slips in them."""

    def inside(key: str, *slips: str) -> Slip:
        def change(sent: Any) -> Any:
            made = held = _holder(sent, key)
            for slip in slips:
                made = INSIDE[slip](made)
            held.clear()
            held.update(made)
            return sent

        return change

    def both(key: str, slip: str, change: Slip) -> Slip:
        return lambda sent: _at(key, change)(inside(key, slip)(sent))

    own = {"key": "days", "number": "days", "unlisted": "days", "null": "note", "word for null": "note"}
    for one, other in combinations(INSIDE, 2):
        if own.get(one, one) != own.get(other, other):
            yield f"{one} + {other}", inside("period", one, other)
    for slip in INSIDE:
        yield from ((f"{slip} in {name}", both("period", slip, around)) for name, around in AROUND.items())
        yield from ((f"{slip} in rows: {name}", both("rows", slip, around)) for name, around in ROWS.items())
        yield from ((f"{slip} in all: {name}", _after(inside("rows", slip), whole)) for name, whole in WHOLE.items())
    for name, around in AROUND.items():
        first = _at("period", around)
        yield from ((f"{name} + rows: {other}", _after(first, _at("rows", rows))) for other, rows in ROWS.items())
        yield from ((f"{name} in all: {other}", _after(first, whole)) for other, whole in WHOLE.items())


def _after(first: Slip, second: Slip) -> Slip:
    return lambda sent: second(first(sent))


PAIRS = dict(_pairs())


@cache
def _lowered(schema: str, target: str) -> Any:
    return lower(SCHEMAS[schema][0], target)


def _lifted(schema: str, target: str, pair: str) -> tuple[Lifted, Any]:
    held = SCHEMAS[schema][1]
    value = {"period": held, "rows": [held], "title": "t"}
    lowered = _lowered(schema, target)
    sent = PAIRS[pair](loads(dumps(encode(value, lowered))))
    return lift({"name": lowered.map["tool"]["sent"], "arguments": sent}, lowered), value


def _wrong(schema: str, target: str, pairs: list[str]) -> dict[str, Any]:
    wrong = {}
    for pair in pairs:
        found, value = _lifted(schema, target, pair)
        if (found.status, found.values) != ("ok", [value]):
            wrong[pair] = found.to_json()
    return wrong


@every_case("target", ["anthropic", "openai", "vllm", "gemini-schema"])
@every_case("schema", ["renamed", "union"])
def test_a_pair_of_slips_is_repaired(schema: str, target: str) -> None:
    assert not _wrong(schema, target, list(PAIRS)[::13])


@every_case("target", targets())
def test_a_fault_inside_of_a_text_is_named(target: str) -> None:
    for around in AROUND.values():
        lowered = _lowered("renamed", target)
        held = SCHEMAS["renamed"][1]
        sent = encode({"period": held, "rows": [held], "title": "t"}, lowered)
        found = lift({**sent, "period": around({**sent["period"], "kind": "month"})}, lowered)
        assert (found.status, [violation.instance for violation in found.invalid]) == ("invalid", ["/period/kind"])


@pytest.mark.slow
@every_case("target", targets())
@every_case("schema", SCHEMAS)
def test_every_pair_of_slips_is_repaired(schema: str, target: str) -> None:
    assert not _wrong(schema, target, list(PAIRS))
