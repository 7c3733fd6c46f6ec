"""Estimate how long a schema becomes when everything in it is written out, as outlines-core does in one regular expression.

Recursion is written out three levels deep, and a place for any value takes about 14,000 characters.
An object whose properties are all optional repeats each of them for every one, so sizes multiply from level to level
(outlines-core 0.2.14, measured 2026-11-21).
"""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject, listing, mapping
from instrc.limits.payloads import MEASURED_ROUNDS, MEASURED_STEPS
from instrc.lowering.sample import referred

_ANYTHING = 14_000
"""Characters that a place without a type takes: all of JSON, a few levels deep."""
_PLAIN = 60
"""Characters of a text, a number, a boolean or null."""
ENDLESS = 10**12
"""What is said of a schema that is too large to be measured."""


def expanded_size(schema: Json) -> int:
    """Return the characters that a schema would take with its references written out, within a factor of a few."""
    return _Measuring(schema).size()


class _Measuring:
    """The measuring of one schema."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._steps = 0

    def size(self) -> int:
        try:
            return min(self._size(self._root, {}), ENDLESS)
        except RecursionError:
            return ENDLESS

    def _size(self, node: Json, passed: dict[str, int]) -> int:
        self._steps += 1
        if self._steps > MEASURED_STEPS:
            return ENDLESS
        if not isinstance(node, dict) or not node.keys() & {"type", "enum", "const", "anyOf", "$ref"}:
            return _ANYTHING
        if "$ref" in node:
            reference = str(node["$ref"])
            count = passed.get(reference, 0)
            return self._size(referred(self._root, reference), {**passed, reference: count + 1}) if count < MEASURED_ROUNDS else 0
        if "anyOf" in node:
            return sum(self._size(branch, passed) for branch in listing(node["anyOf"]))
        if listed := listing(node["enum"]) if "enum" in node else [node["const"]] if "const" in node else []:
            return sum(len(str(value)) + 4 for value in listed)
        types = listing(node["type"]) or [node["type"]]
        return sum(self._size_of_kind(node, kind, passed) for kind in types)

    def _size_of_kind(self, node: JsonObject, kind: Json, passed: dict[str, int]) -> int:
        if kind == "array":
            prefix = sum(self._size(item, passed) for item in listing(node.get("prefixItems")))
            return prefix + 2 * self._size(node["items"], passed) if "items" in node else prefix or _ANYTHING
        if kind != "object":
            return _PLAIN
        properties = mapping(node.get("properties"))
        rest = node.get("additionalProperties", True)
        beside = 2 * self._size(rest, passed) if rest is not False and not properties else 0
        inside = sum(len(name) + 20 + self._size(child, passed) for name, child in properties.items())
        return beside + inside * (1 if node.get("required") else max(len(properties), 1)) + _PLAIN
