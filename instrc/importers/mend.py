"""Mend schemas as they are met in the wild: what comes out is sound JSON Schema 2020-12, what was changed is noted.

A schema that is sound already comes out equal.
Nothing below `const`, `enum`, `default` and `examples` is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from instrc.importers.given import Given
from instrc.importers.keywords import READERS, UNREAD, Words
from instrc.importers.objects import described, parameters, properties_of, required_of
from instrc.importers.values import fitting
from instrc.jsonvalue import Json
from instrc.schema.dialects import LATEST, NULLABLE, Dialect, modern
from instrc.schema.laws import TYPES
from instrc.schema.vocabulary import HOLDERS, MANY, NAMED
from instrc.schema.walk import Path, is_schema

_DEEPEST = 500
"""Levels of a schema that are read; no model fills in a tenth of that."""
_MOST = 100_000
"""Schemas of one tool that are read."""
Refer: TypeAlias = Callable[[str, Path], str | None]
"""What a reference becomes; `None` leaves it out, once that is noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How the schemas of one kind of source are read."""

    dialect: Dialect = LATEST
    plain_words: bool = False
    """Whether other words for types belong to the kind, so that they need no note."""
    refer: Refer | None = None
    shorthand: bool = True
    """Whether an object of schemas without any keyword of an object is its properties."""


def mend(schema: Json, path: Path, given: Given, rules: Rules) -> Json:
    """Return a sound schema for one that stands at `path` of what was given."""
    holder: list[Json] = [None]
    stack: list[tuple[Json, Path, Any, str | int, int]] = [(schema, path, holder, 0, 0)]
    count = 0
    while stack:
        raw, place, container, key, level = stack.pop()
        count += 1
        if level > _DEEPEST or count > _MOST:
            given.left_out(
                place, "this part", f"it is over {_DEEPEST} levels deep" if level > _DEEPEST else "there are too many parts"
            )
            container[key] = {}
            continue
        node = _node(raw, place, given, rules)
        container[key] = node
        if node.__class__ is dict:
            below = list(_below(node))
            stack.extend((child, (*place, *step), inside, step[-1], level + 1) for step, child, inside in reversed(below))
    return holder[0]


def _below(node: dict[str, Json]) -> list[tuple[Path, Json, Any]]:
    """Return what stands in the places of schemas directly below a node, with what holds it."""
    found: list[tuple[Path, Json, Any]] = []
    for keyword, value in node.items():
        if keyword not in HOLDERS:
            continue
        if keyword in NAMED and value.__class__ is dict:
            found += [((keyword, name), child, value) for name, child in value.items()]
        elif keyword in MANY and value.__class__ is list:
            found += [((keyword, index), child, value) for index, child in enumerate(value)]
        else:
            found.append(((keyword,), value, node))
    return found


def _node(raw: Json, path: Path, given: Given, rules: Rules) -> Json:
    """Return one schema with sound keywords; the schemas below it are as they were."""
    words = Words(given, rules.plain_words)
    if is_schema(raw):
        return raw if raw.__class__ is bool else _keywords(raw, path, words, rules)
    if raw is None:
        return {}
    if raw.__class__ is str:
        return _text(raw, path, words)
    if raw.__class__ is list and raw and all(item.__class__ is str and item in TYPES for item in raw):
        given.read_as(path, "a list of types", "a schema of these types")
        return {"type": list(dict.fromkeys(raw))}
    if raw.__class__ is list and raw and not any(item.__class__ in {dict, list} for item in raw):
        given.read_as(path, "a list of values", "the values to choose from")
        return {"enum": raw}
    given.left_out(path, raw, "it is no schema")
    return {}


def _text(text: str, path: Path, words: Words) -> Json:
    """Return the schema that a text in the place of one stands for: a word for a type, else a description."""
    if text.strip().lower() in {"true", "false"}:
        return text.strip().lower() == "true"
    meant = words.type_of(text)
    if meant is not None:
        if not words.plain:
            words.given.read_as(path, text, "a type")
        return meant
    words.given.read_as(path, text, "a description")
    return {"description": text}


def _keywords(raw: dict[str, Json], path: Path, words: Words, rules: Rules) -> dict[str, Json]:
    node = modern(raw, rules.dialect) if rules.dialect.old else raw
    if rules.shorthand and parameters(node):
        if not words.plain:
            words.given.read_as(path, ", ".join(node), "properties of an object")
        return {"type": "object", "properties": dict(node), **required_of(node)}
    out: dict[str, Json] = {}
    for keyword, value in node.items():
        if keyword in UNREAD:
            words.given.left_out((*path, keyword), keyword, UNREAD[keyword])
        elif keyword == "$ref" and rules.refer is not None and value.__class__ is str:
            if (reference := rules.refer(value, (*path, keyword))) is not None:
                out[keyword] = reference
        elif keyword == "properties":
            _set(out, properties_of(value, (*path, keyword), words.given))
        elif keyword in READERS:
            _set(out, READERS[keyword](keyword, value, (*path, keyword), words, node))
        elif keyword in {"nullable", "x-nullable"}:  # the second in Swagger 2.0, which had no word for it
            if value is True or (value.__class__ is str and value.lower() == "true"):
                out["nullable"] = True
        elif keyword != "optional":
            out[keyword] = value
    described(out, node, path, words.given)
    if "nullable" in out:
        out = modern(out, NULLABLE)
    fitting(out, path, words.given)
    return out


def _set(out: dict[str, Json], found: dict[str, Json]) -> None:
    """Add keywords; what is there already wins over what another keyword implies."""
    for keyword, value in found.items():
        out.setdefault(keyword, value)
