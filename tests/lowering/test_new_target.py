"""A new target is a value and nothing else."""

from __future__ import annotations

from instrc.codecs.encode import encode
from instrc.ir.dialect import Dialect, Fact, Limits, NameRule
from instrc.lifting.lift import lift
from instrc.lowering.lower import lower
from instrc.lowering.rules import breaches

TOY = Dialect(
    name="toy",
    title="A target made up here",
    envelope={"call": "@name", "says": "@description", "takes": "@schema", "v": 7},
    where=("takes",),
    tool_name=NameRule("a-z", "a-z", 8),
    key=NameRule("a-z", "a-z0-9", 6),
    keywords=frozenset({"type", "enum", "anyOf", "properties", "required", "items", "additionalProperties"}),
    every_required=True,
    maps="pairs",
    tuples="object",
    anything="text",
    recursion="unroll",
    enums=frozenset({"string"}),
    limits=Limits(depth=9),
    facts=(Fact("it takes no descriptions of properties", "this test", "2026-11-21"),),
)

SCHEMA = {
    "type": "object",
    "properties": {
        "$metric": {"type": "integer", "minimum": 3},
        "Кто": {"type": "string"},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False, "minItems": 2},
        "ages": {"type": "object", "additionalProperties": {"type": "integer"}},
        "which": {"enum": ["a", 1, None]},
        "more": {"type": "array", "items": {"$ref": "#/$defs/more"}},
        "free": {},
    },
    "required": ["$metric", "Кто"],
    "additionalProperties": False,
    "$defs": {"more": {"type": "object", "properties": {"next": {"$ref": "#/$defs/more"}, "n": {"type": "integer"}}}},
}


def test_a_schema_fits_a_target_made_up_on_the_spot() -> None:
    result = lower(SCHEMA, TOY, "Draft_It", description="Drafts.")
    assert result.payload.keys() == {"call", "says", "takes", "v"}
    assert TOY.tool_name.allows(result.payload["call"])
    assert not [breach for breach in breaches(result.payload, TOY) if breach.message != "'description' is not known"]


def test_its_answers_come_back() -> None:
    result = lower(SCHEMA, TOY)
    for value in (
        {"$metric": 3, "Кто": "я"},
        {"$metric": 4, "Кто": "", "pair": ["x", True], "ages": {"Кто": 1, "$metric": 2}, "which": None, "free": {"a": [1, "2"]}},
        {"$metric": 4, "Кто": "", "which": 1, "more": [{"next": {"next": {"next": {"next": {"n": 1}}}}}], "free": "text"},
    ):
        answer = encode(value, result.map)
        lifted = lift(answer, result.map)
        assert lifted.value == value
        assert not lifted.invalid


def test_what_it_cannot_say_is_reported() -> None:
    lost = {(loss.pointer, loss.keyword) for loss in lower(SCHEMA, TOY).losses}
    assert ("/properties/$metric", "minimum") in lost
