"""Look through a schema once for all that later steps ask of it as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.schema.expressions import why_unreadable
from instrc.schema.kinds import TYPES, types_of
from instrc.schema.parameters import parameters
from instrc.schema.shapes import SOUND
from instrc.schema.vocabulary import COUNTS, HOLDERS
from instrc.schema.walk import schemas_under

_OF_OTHERS = frozenset({"nullable", "x-nullable", "optional", "example", "dependencies", "additionalItems"})
"""Keywords of older drafts and of OpenAPI that 2020-12 does not refuse, and that say something all the same."""
PATTERNS = frozenset({"pattern", "patternProperties"})
_BELOW = HOLDERS | {"required", "dependentRequired"}
"""Keywords that hold schemas or names of properties."""


_TEXTS = frozenset({"title", "description"})


class Survey(Struct, frozen=True, eq=False, gc=False):
    """What was seen in one look through a schema."""

    schema: Json
    modern: bool
    """Whether it is JSON Schema 2020-12 beyond doubt, and says nothing in the words of others."""
    words: set[str]
    """The keywords that stand in it, wherever, those included that nobody knows."""
    names: Mapping[str, None]
    """The names of all properties that it speaks of, in order of appearance."""


def survey(schema: Json) -> Survey:
    """Look through a schema."""
    modern = True
    words: set[str] = set()
    names: dict[str, None] = {}
    stack: list[Json] = [schema]
    while stack:
        node = stack.pop()
        if node.__class__ is not dict:
            modern = modern and node.__class__ is bool
            continue
        words.update(node)
        if not _BELOW.isdisjoint(node):
            for keyword, value in node.items():
                if keyword in HOLDERS:
                    stack.extend(schemas_under(keyword, value))
            _add_names(node, names)
        modern = modern and _is_modern(node)
    return Survey(schema, modern, words, names)


def _is_modern(node: JsonObject) -> bool:
    """Say whether the keywords of one schema are those of 2020-12, and hold what they may hold."""
    ours = not node
    for keyword, value in node.items():
        if value.__class__ is str and (keyword in _TEXTS or (keyword == "type" and value in TYPES)):
            ours = True
            continue
        sound = SOUND.get(keyword)
        if sound is None:
            if keyword in _OF_OTHERS:
                return False
        elif not (sound(value) or _is_count(keyword, value)) or (keyword in PATTERNS and unreadable_in(keyword, value)):
            return False
        else:
            ours = True
    return not ((not ours and parameters(node)) or ("enum" in node and "array" in (types_of(node.get("type", [])) or ())))


def _is_count(keyword: str, value: Json) -> bool:
    """Say whether a keyword holds a count that is written as `3.0`, which is a whole number to JSON Schema."""
    return keyword in COUNTS and value.__class__ is float and value >= 0 and value.is_integer()


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
