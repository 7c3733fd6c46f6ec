"""Look through a schema once for all that later steps ask of it as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.schema.expressions import why_unreadable
from instrc.schema.kinds import types_of
from instrc.schema.parameters import parameters
from instrc.schema.shapes import SOUND, all_sound
from instrc.schema.walk import every_schema

_OF_OTHERS = frozenset({"nullable", "x-nullable", "optional", "example", "additionalItems"})
"""Keywords of older drafts and of OpenAPI that 2020-12 does not refuse, and that say something all the same."""
PATTERNS = frozenset({"pattern", "patternProperties"})
_NAMING = frozenset({"properties", "dependentSchemas", "dependentRequired", "required"})
"""Keywords that hold names of properties."""


class Survey(Struct, frozen=True, eq=False, gc=False):
    """What was seen in one look through a schema."""

    schema: Json
    modern: bool
    """Whether it is JSON Schema 2020-12 beyond doubt, and says nothing in the words of others."""
    words: set[str]
    """The keywords that stand in it, wherever, those included that nobody knows."""
    names: Mapping[str, None]
    """The names of all properties that it speaks of, each once."""
    nodes: Sequence[Json]
    """Every schema in it, itself included."""


def survey(schema: Json) -> Survey:
    """Look through a schema."""
    nodes = every_schema(schema)
    words: set[str] = set()
    names: dict[str, None] = {}
    for node in nodes:
        if node.__class__ is dict:
            words.update(node)
            if not _NAMING.isdisjoint(node):
                _add_names(node, names)
    return Survey(schema, _is_modern(nodes, words), words, names, nodes)


def _is_modern(nodes: Sequence[Json], words: set[str]) -> bool:
    """Say whether the keywords of schemas are those of 2020-12, and hold what they may hold."""
    if not _OF_OTHERS.isdisjoint(words) or not all_sound(nodes):
        return False
    lists, matches = "enum" in words, not PATTERNS.isdisjoint(words)
    for node in nodes:
        if node.__class__ is not dict:
            continue
        if SOUND.keys().isdisjoint(node) and parameters(node):
            return False
        if lists and "enum" in node and "array" in (types_of(node.get("type", [])) or ()):
            return False
        if matches and any(unreadable_in(keyword, node[keyword]) for keyword in PATTERNS.intersection(node)):
            return False
    return True


def unreadable_in(keyword: str, value: Json) -> list[str]:
    """Return the regular expressions of a keyword that no engine reads."""
    patterns = [value] if keyword == "pattern" else list(as_object(value))
    return [pattern for pattern in patterns if isinstance(pattern, str) and why_unreadable(pattern) is not None]


def _add_names(node: JsonObject, names: dict[str, None]) -> None:
    """Add the names of properties that one schema speaks of."""
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if (members := node.get(keyword)).__class__ is dict:
            names.update(dict.fromkeys(members))
    if (required := node.get("required")).__class__ is list:
        names.update(dict.fromkeys([name for name in required if name.__class__ is str]))
    if (dependent := node.get("dependentRequired")).__class__ is dict:
        for needed in dependent.values():
            if needed.__class__ is list:
                names.update(dict.fromkeys(name for name in needed if name.__class__ is str))
