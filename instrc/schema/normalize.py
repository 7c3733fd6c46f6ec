"""Normalise what others wrote: sound JSON Schema 2020-12 comes out, and with it a note on each thing that is read otherwise.

This reads older drafts, OpenAPI, and the words that Python, JavaScript and SQL have for types, and it repairs slips.
A schema that is sound already comes out equal.  Nothing below `const`, `enum`, `default` and `examples` is touched.

    normalize({"type": "str", "minLength": "3"})
    # Normalized({"type": "string", "minLength": 3}, notes: `str` is read as `string`, `3` is read as the number 3)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from instrc.jsonvalue import Json, JsonArray, JsonObject, Location, put
from instrc.limits.schemas import READ_LEVELS, READ_SCHEMAS
from instrc.schema.drafts import LATEST, NULLABLE, Draft, modern
from instrc.schema.kinds import TYPES
from instrc.schema.listed import fit_listed_values
from instrc.schema.notes import Note, Schema
from instrc.schema.parameters import parameters, properties_of, required_of, write_required
from instrc.schema.repairs import read_keyword
from instrc.schema.type_words import schema_of
from instrc.schema.vocabulary import HOLDERS, MANY, NAMED

Refer: TypeAlias = Callable[[str, Location], str | None]
"""What a reference becomes; `None` leaves it out, and whoever says so tells it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How the schemas of one kind of source are read."""

    dialect: Draft = LATEST
    plain_words: bool = False
    """Whether other words for types belong to the kind, so that they are not worth telling."""
    refer: Refer | None = None
    shorthand: bool = True
    """Whether an object of schemas without any keyword of an object is its properties."""
    unwanted: Mapping[str, str] = field(default_factory=dict)
    """Keywords that are left out, and why."""


@dataclass(frozen=True, slots=True)
class Normalized:
    """A schema in 2020-12, and what is read in it otherwise than it is written."""

    schema: Json
    """A copy; equal to what was given if there are no notes."""
    notes: tuple[Note, ...]


def normalize(schema: Json, rules: Rules | None = None, path: Location = ()) -> Normalized:
    """Return a schema in 2020-12 for one that somebody wrote, which stands at `path`.

    What no keyword can hold is left out with a note; whether all values are sound beyond that is for `wellformed` to tell.
    """
    rules = rules or Rules()
    notes: list[Note] = []
    holder: list[Json] = [None]
    stack: list[tuple[Json, Location, JsonArray | JsonObject, str | int, int]] = [(schema, path, holder, 0, 0)]
    count = 0
    while stack:
        raw, place, container, key, level = stack.pop()
        count += 1
        if level > READ_LEVELS or count > READ_SCHEMAS:
            reason = f"it is over {READ_LEVELS} levels deep" if level > READ_LEVELS else "there are too many parts"
            notes.append(Note(place, "this part", "left-out", reason))
            put(container, key, {})
            continue
        node, found = _node(raw, place, rules)
        notes += found
        put(container, key, node)
        if node.__class__ is dict:
            below = _below(node)
            stack.extend((child, (*place, *step), inside, step[-1], level + 1) for step, child, inside in reversed(below))
    return Normalized(holder[0], tuple(notes))


def _below(node: Schema) -> list[tuple[Location, Json, JsonArray | JsonObject]]:
    """Return what stands in the places of schemas directly below a schema, with what holds it."""
    found: list[tuple[Location, Json, JsonArray | JsonObject]] = []
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


Noted: TypeAlias = tuple[Json, tuple[Note, ...]]
"""A schema, and what is to be said of what was changed in it."""


def _node(raw: Json, path: Location, rules: Rules) -> Noted:
    """Return one schema with sound keywords; the schemas below it are as they were."""
    if raw.__class__ is bool:
        return raw, ()
    if raw.__class__ is dict:
        return _keywords(raw, path, rules)
    if raw is None:
        return {}, (Note(path, raw, "repair", "a schema that allows everything"),)
    if raw.__class__ is str:
        return _text(raw, path)
    if raw.__class__ is list and raw and all(item.__class__ is str and item in TYPES for item in raw):
        return {"type": list(dict.fromkeys(raw))}, (Note(path, "a list of types", "repair", "a schema of these types"),)
    if raw.__class__ is list and raw and not any(item.__class__ in {dict, list} for item in raw):
        return {"enum": raw}, (Note(path, "a list of values", "repair", "the values to choose from"),)
    return {}, (Note(path, raw, "left-out", "it is not a schema"),)


def _text(text: str, path: Location) -> Noted:
    """Return the schema that a text in the place of one stands for: a word for a type, else a description."""
    if text.strip().lower() in {"true", "false"}:
        return text.strip().lower() == "true", (Note(path, text, "repair", f"`{text.strip().lower()}`"),)
    found = schema_of(text)
    if found is not None:
        return found, (Note(path, text, "word", "a type"),)
    return {"description": text}, (Note(path, text, "repair", "a description"),)


def _keywords(raw: Schema, path: Location, rules: Rules) -> Noted:
    notes: list[Note] = []
    node = modern(raw, rules.dialect) if rules.dialect.old else raw
    if node is not raw:
        notes.append(Note(path, "this schema", "dialect", f"one of {rules.dialect.name}"))
    if rules.shorthand and parameters(node):
        notes.append(Note(path, ", ".join(node), "word", "properties of an object"))
        return {"type": "object", "properties": dict(node), **required_of(node)}, tuple(notes)
    out: Schema = {}
    for keyword in node:
        for word, value in _keyword(keyword, node, (*path, keyword), rules, notes).items():
            out.setdefault(word, value)  # what is there already wins over what another keyword implies
    notes += write_required(out, node, path)
    if "nullable" in out:
        out = modern(out, NULLABLE)
    notes += fit_listed_values(out, path)
    return out, tuple(notes)


def _keyword(keyword: str, node: Schema, path: Location, rules: Rules, notes: list[Note]) -> Schema:
    """Return what one keyword is read as, and note what is to be told of it."""
    value = node[keyword]
    if keyword in rules.unwanted:
        notes.append(Note(path, keyword, "left-out", rules.unwanted[keyword]))
        return {}
    if keyword == "$ref" and rules.refer is not None and value.__class__ is str:
        reference = rules.refer(value, path)
        return {} if reference is None else {keyword: reference}
    if keyword in {"nullable", "x-nullable"}:  # the second in Swagger 2.0, which had no word for it
        wanted = value is True or (value.__class__ is str and value.lower() == "true")
        notes.append(Note(path, keyword, "dialect", "whether `null` is allowed"))
        return {"nullable": True} if wanted else {}
    if keyword == "optional":
        notes.append(Note(path, keyword, "dialect", "whether the property is required that it stands in"))
        return {}
    reading = properties_of(node, path) if keyword == "properties" else read_keyword(keyword, path, node)
    notes += reading.notes
    return reading.keywords
