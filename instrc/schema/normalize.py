"""Normalize foreign schemas to valid JSON Schema 2020-12, with a note for each change.

This reads older drafts, OpenAPI and the type names of Python, JavaScript and SQL, and repairs mistakes.
`READERS` has a function for each keyword, which returns the replacing keywords and notes on the changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from instrc.schema.drafts import LATEST, NULLABLE, Draft, modern, split_dependencies
from instrc.schema.kinds import TYPES, has_type, is_number, types_of
from instrc.schema.type_words import any_of, schema_of
from instrc.schema.vocabulary import HOLDERS, KEYWORDS, MANY, NAMED, ValueShape
from instrc.schema.walk import is_schema
from instrc.schema.wellformed import problems_of
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, Location, as_object, as_text, as_texts, put, tokens
from instrc.text.limits import META_ERRORS
from instrc.text.visible import shortened

Refer: TypeAlias = Callable[[str, Location], str | None]
"""Maps a reference to its replacement, or to `None` to remove it; the function reports the removal."""


class Rules(Struct, frozen=True, kw_only=True):
    """How to read the schemas of one kind of source."""

    dialect: Draft = LATEST
    plain_words: bool = False
    """Whether foreign type names are usual for the source and need no note."""
    refer: Refer | None = None
    shorthand: bool = True
    """Whether an object of schemas without any object keyword is read as `properties`."""
    unwanted: Mapping[str, str] = field(default_factory=dict)
    """Keywords to omit, with the reasons."""


NoteKind: TypeAlias = Literal[
    "dialect",  # a spelling that an older draft or OpenAPI defines
    "word",  # a type name from another language
    "repair",  # a typo, read with its most likely meaning
    "left-out",  # a value with nothing worth keeping
]


class Note(Struct, frozen=True):
    """A part of a schema that was not kept as written."""

    path: Location
    what: Json
    """Keyword or value, as written."""
    kind: NoteKind
    reason: str
    """What the value is read as; for `left-out`, why it cannot be kept."""

    @property
    def message(self) -> str:
        """The note as a sentence."""
        outcome = "left out: " if self.kind == "left-out" else "read as "
        return f"`{describe_value(self.what)}` is {outcome}{self.reason}"


class Normalized(Struct, frozen=True):
    """A schema in 2020-12, and notes on the parts that were changed."""

    schema: Json
    """A copy of the schema, equal to the original if there are no notes."""
    notes: tuple[Note, ...]


READ_LEVELS: Final = 500
"""Maximum nesting of a schema; deeper parts are left out with a note, since no model fills in a tenth of that."""
READ_SCHEMAS: Final = 100_000
"""Maximum schemas in one tool; the rest is left out with a note."""


def normalize(schema: Json, rules: Rules | None = None, path: Location = ()) -> Normalized:
    """Return a foreign schema, found at `path`, in 2020-12.

    Values that no keyword can hold are dropped with a note; `wellformed` validates the rest.
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


Noted: TypeAlias = tuple[Json, tuple[Note, ...]]
"""A schema, with notes on what was changed in it."""


def _node(raw: Json, path: Location, rules: Rules) -> Noted:
    """Return one schema with valid keywords; its subschemas are unchanged."""
    if raw.__class__ is bool:
        return raw, ()
    if raw.__class__ is dict:
        return _keywords(raw, path, rules)
    if raw is None:
        return {}, (Note(path, raw, "repair", "a schema that allows everything"),)
    if raw.__class__ is str:
        return _normalize_text(raw, path)
    if raw.__class__ is list and raw and all(item.__class__ is str and item in TYPES for item in raw):
        return {"type": list(dict.fromkeys(raw))}, (Note(path, "a list of types", "repair", "a schema of these types"),)
    if raw.__class__ is list and raw and not any(item.__class__ in {dict, list} for item in raw):
        return {"enum": raw}, (Note(path, "a list of values", "repair", "the values to choose from"),)
    return {}, (Note(path, raw, "left-out", "it is not a schema"),)


Schema: TypeAlias = dict[str, Json]


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
            out.setdefault(word, value)  # existing keywords take precedence over implied ones
    notes += write_required(out, node, path)
    if "nullable" in out:
        out = modern(out, NULLABLE)
    notes += fit_listed_values(out, path)
    return out, tuple(notes)


def _keyword(keyword: str, node: Schema, path: Location, rules: Rules, notes: list[Note]) -> Schema:
    """Return the keywords that replace one keyword, and record the repairs."""
    value = node[keyword]
    if keyword in rules.unwanted:
        notes.append(Note(path, keyword, "left-out", rules.unwanted[keyword]))
        return {}
    if keyword == "$ref" and rules.refer is not None and value.__class__ is str:
        reference = rules.refer(value, path)
        return {} if reference is None else {keyword: reference}
    if keyword in {"nullable", "x-nullable"}:  # the second in Swagger 2.0, which had no keyword for it
        wanted = value is True or (value.__class__ is str and value.lower() == "true")
        notes.append(Note(path, keyword, "dialect", "whether `null` is allowed"))
        return {"nullable": True} if wanted else {}
    if keyword == "optional":
        notes.append(Note(path, keyword, "dialect", "whether the property around it is required"))
        return {}
    reading = properties_of(node, path) if keyword == "properties" else read_keyword(keyword, path, node)
    notes += reading.notes
    return reading.keywords


def _normalize_text(text: str, path: Location) -> Noted:
    """Return the schema for a text in its place: the name of a type, or else a description."""
    if text.strip().lower() in {"true", "false"}:
        return text.strip().lower() == "true", (Note(path, text, "repair", f"`{text.strip().lower()}`"),)
    result = schema_of(text)
    if result is not None:
        return result, (Note(path, text, "word", "a type"),)
    return {"description": text}, (Note(path, text, "repair", "a description"),)


def _below(node: Schema) -> list[tuple[Location, Json, JsonArray | JsonObject]]:
    """Return the subschemas directly below a schema, with their holders."""
    result: list[tuple[Location, Json, JsonArray | JsonObject]] = []
    for keyword, value in node.items():
        if keyword not in HOLDERS:
            continue
        if keyword in NAMED and value.__class__ is dict:
            result += [((keyword, name), child, value) for name, child in value.items()]
        elif keyword in MANY and value.__class__ is list:
            result += [((keyword, index), child, value) for index, child in enumerate(value)]
        else:
            result.append(((keyword,), value, node))
    return result


REPAIR_ROUNDS: Final = 50
"""Maximum repair rounds: removing one refused part may invalidate another that needs it."""
NOTED_VALUE: Final = 60
"""Maximum characters of a value shown in a note."""


class KeywordReading(Struct, frozen=True):
    """The keywords that replace one keyword, and the repairs."""

    keywords: Schema
    notes: tuple[Note, ...] = ()


def kept_as_written(keyword: str, value: Json) -> KeywordReading:
    """Keep a keyword and its value; containers of schemas are copied, the schemas in them are not."""
    copied = value.copy() if value.__class__ is dict or value.__class__ is list else value
    return KeywordReading({keyword: copied})


def read_as(keywords: Schema, path: Location, what: Json, meaning: str, kind: NoteKind = "repair") -> KeywordReading:
    """Replace a keyword by others, with a note."""
    return KeywordReading(keywords, (Note(path, what, kind, meaning),))


def left_out(path: Location, what: Json, reason: str) -> KeywordReading:
    """Drop a keyword, with a note."""
    return KeywordReading({}, (Note(path, what, "left-out", reason),))


def describe_value(value: object) -> str:
    """Return a short description of a value."""
    if isinstance(value, dict | list | tuple):
        return ("{…}" if isinstance(value, dict) else "[…]") if value else "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return "a long number"
    try:
        text = value if isinstance(value, str) else dumps(value) if isinstance(value, bool | None) else repr(value)
    except Exception:  # noqa: BLE001  -- a foreign object, whose `repr` may fail
        text = type(value).__name__
    return shortened(" ".join(text.split()), NOTED_VALUE)


def fit_listed_values(out: Schema, path: Location) -> tuple[Note, ...]:
    """Move an array's values to its items, and drop a type that none of the listed values has: the values show the intent."""
    names = types_of(out["type"]) if "type" in out else None
    if not names:
        return ()
    listed = out.get("enum")
    if "array" in names and listed.__class__ is list and _lists_items(listed, names):
        items = out.get("items", {})
        if items.__class__ is dict and "enum" not in items and "prefixItems" not in out:
            del out["enum"]
            out["items"] = {**items, "enum": [value for value in listed if value is not None]}
            return (Note((*path, "enum"), "enum", "repair", "what the items of the array are chosen from"),)
    for keyword in ("enum", "const"):
        values = out[keyword] if keyword == "enum" and keyword in out else [out[keyword]] if keyword in out else []
        if values.__class__ is list and values and not any(has_type(value, names) for value in values):
            del out["type"]
            return (Note((*path, "type"), "type", "left-out", f"no value of `{keyword}` has it"),)
    return ()


def _lists_items(values: list[Json], names: tuple[str, ...]) -> bool:
    """Return whether values next to `array` belong to its items: none of them, except `null`, has an allowed type."""
    given = [value for value in values if value is not None]
    return bool(given) and (len(given) == len(values) or "null" in names) and not any(has_type(value, names) for value in given)


_KEYWORDS_THAT_HOLD_OBJECTS = HOLDERS | {"default", "const", "example", "examples", "discriminator", "xml", "externalDocs"}
_OF_A_SCHEMA = frozenset(
    {"type", "description", "enum", "anyOf", "oneOf", "allOf", "$ref", "properties", "items", "default", "const"}
)
_COMPOSING = frozenset({"allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "then", "else", "dependentSchemas", "not"})


def parameters(schema: Schema) -> bool:
    """Return whether the value in place of a schema is a map of parameters, as in `{ "city": { "type": "string" } }`."""
    return bool(schema) and all(
        value.__class__ is dict
        and not value.keys().isdisjoint(_OF_A_SCHEMA)
        and name not in _KEYWORDS_THAT_HOLD_OBJECTS
        and not name.startswith(("x-", "$"))
        for name, value in schema.items()
    )


def required_of(schema: Schema) -> dict[str, Json]:
    """Return the required parameters: those neither declared optional nor with a default."""
    objects = [(name, as_object(value)) for name, value in schema.items()]
    names: list[Json] = [name for name, value in objects if "default" not in value and not _optional(value)]
    return {"required": names} if names else {}


def _optional(value: Schema) -> bool:
    written = value.get("type")
    said = written.__class__ is str and "optional" in written.lower()
    return value.get("required") is False or value.get("optional") is True or said


def properties_of(schema: Schema, path: Location) -> KeywordReading:
    """Read `properties` as an object, or a list of parameters that each have a `name`."""
    value = schema["properties"]
    if value.__class__ is dict:
        return kept_as_written("properties", value)
    if value is None:
        return read_as({"properties": {}}, path, value, "no properties")
    if value.__class__ is list and all(item.__class__ is dict and item.get("name").__class__ is str for item in value):
        named: Schema = {
            as_text(item["name"]): {key: part for key, part in item.items() if key != "name"} for item in map(as_object, value)
        }
        return read_as({"properties": named}, path, "properties", "properties by their names", "dialect")
    return KeywordReading({"properties": {}}, left_out(path, "properties", "it is not an object of schemas").notes)


def write_required(out: Schema, schema: Schema, path: Location) -> tuple[Note, ...]:
    """Write the required names into `out`, as a list without duplicates, if any."""
    properties = out.get("properties")
    of_properties: dict[str, Json] = properties if properties.__class__ is dict else {}
    names, notes = _names(schema, (*path, "required"))
    flagged = {name for name, value in of_properties.items() if value.__class__ is dict and value.get("required") is True}
    optional = {name for name, value in of_properties.items() if value.__class__ is dict and value.get("optional") is True}
    if flagged or optional:
        names = [
            name for name in dict.fromkeys([*names, *(name for name in of_properties if name in flagged)]) if name not in optional
        ]
    alone = of_properties and _COMPOSING.isdisjoint(out) and not out.get("additionalProperties")
    if alone and "patternProperties" not in out and not _within_composition(path):
        for name in names:
            if name not in of_properties:
                notes.append(Note((*path, "required"), name, "repair", "a property without a schema"))
                of_properties[name] = {}
    if names or schema.get("required") == []:
        out["required"] = [*names]
    else:
        out.pop("required", None)
    return tuple(notes)


def _names(schema: Schema, path: Location) -> tuple[list[str], list[Note]]:
    """Return the names in `required`."""
    if "required" not in schema:
        return [], []
    value = schema["required"]
    if value.__class__ is bool:
        return [], [Note(path, value, "dialect", "whether the property around it is required")]
    if value is None:
        return [], [Note(path, value, "left-out", "it is null")]
    if value.__class__ is str:
        return [value], [Note(path, "required", "repair", "a list of one")]
    if value.__class__ is not list:
        return [], [Note(path, "required", "left-out", "it is not a list of names")]
    names = list(dict.fromkeys(_texts(value)))
    if len(list(_texts(value))) < len(value):
        return names, [Note(path, "required", "left-out", "not all in it is a name")]
    return names, [Note(path, "required", "repair", "each name once")] if len(names) < len(value) else []


def _texts(value: list[Json]) -> Iterable[str]:
    return (item for item in value if item.__class__ is str)


def _within_composition(path: Location) -> bool:
    """Return whether a schema is one of several about the same object, so that another may describe a name."""
    return len(path) >= 2 and (
        path[-2] in {"allOf", "anyOf", "oneOf", "dependentSchemas"} or path[-1] in {"if", "then", "else", "not"}
    )


KeywordReader: TypeAlias = Callable[[str, Location, Json, Schema], KeywordReading]
_LONG = 10**15
"""Smallest number that is not accepted as a title."""
_NUMBER = re.compile(r"\s*-?\d{1,30}(\.\d{1,30})?\s*")


def _text(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    if value.__class__ is str:
        return kept_as_written(keyword, value)
    if keyword == "description" and value.__class__ is list and all(item.__class__ is str for item in value):
        return read_as({keyword: "\n".join(as_texts(value))}, path, keyword, "a text of several lines")
    if keyword in {"description", "title"} and is_number(value) and abs(value) < _LONG:
        return read_as({keyword: str(value)}, path, value, "a text")
    return left_out(path, keyword, "it is not a text")


def _number(keyword: str, path: Location, value: Json, schema: Schema) -> KeywordReading:
    number = _as_number(value)
    bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}.get(keyword)
    if bound is not None and value.__class__ is bool:
        limit = _as_number(schema.get(bound))
        if value and limit is not None:
            return read_as({keyword: limit}, path, keyword, f"the bound of `{bound}`, left out itself", "dialect")
        return read_as({}, path, keyword, f"nothing beyond `{bound}`", "dialect")
    if keyword in {"minimum", "maximum"} and schema.get("exclusiveM" + keyword[1:]) is True and number is not None:
        return read_as({}, path, keyword, "a bound that is left out itself", "dialect")
    if number is None or (keyword == "multipleOf" and number <= 0):
        return left_out(path, keyword, "it is not a number" if number is None else "it is not above zero")
    return kept_as_written(keyword, value) if number is value else read_as({keyword: number}, path, value, f"the number {number}")


def _count(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    number = _as_number(value)
    if number is None or number < 0 or number != int(number):
        return left_out(path, keyword, "it is not a count")
    if value.__class__ is int:
        return kept_as_written(keyword, value)
    return read_as({keyword: int(number)}, path, value, f"the number {int(number)}")


def _flag(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    if value.__class__ is bool:
        return kept_as_written(keyword, value)
    if value.__class__ is str and value.lower() in {"true", "false"}:
        return read_as({keyword: value.lower() == "true"}, path, value, f"`{value.lower()}`")
    return left_out(path, keyword, "it is neither true nor false")


def _schema(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    if value.__class__ is str and value.strip().lower() in {"true", "false"}:
        return read_as({keyword: value.strip().lower() == "true"}, path, value, f"`{value.strip().lower()}`")
    return kept_as_written(keyword, value)


def _several(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    if value.__class__ is list and value:
        return kept_as_written(keyword, value)
    if value.__class__ is dict and value:
        return read_as({keyword: [value]}, path, keyword, "a list of one")
    return left_out(path, keyword, "it is not a list of schemas")


def _read_named_schemas(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    return (
        kept_as_written(keyword, value) if value.__class__ is dict else left_out(path, keyword, "it is not an object of schemas")
    )


def _items(keyword: str, path: Location, value: Json, schema: Schema) -> KeywordReading:
    if value.__class__ is not list:
        return _schema(keyword, path, value, schema)
    if not value or "prefixItems" in schema:
        return left_out(path, keyword, "it is an empty list" if not value else "`prefixItems` is beside it")
    rest = schema.get("additionalItems")
    following = {"items": rest} if is_schema(rest) else {}
    return read_as({"prefixItems": list(value), **following}, path, keyword, "`prefixItems`", "dialect")


def _dependencies(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    if value.__class__ is not dict:
        return left_out(path, keyword, "it is not an object")
    found = split_dependencies(value)
    reading = read_as(found, path, keyword, " and ".join(f"`{word}`" for word in found) or "nothing", "dialect")
    lost = tuple(
        Note((*path, key), key, "left-out", "it is neither a list of names nor a schema")
        for key, needs in value.items()
        if needs.__class__ not in {str, list} and not is_schema(needs)
    )
    return KeywordReading(reading.keywords, (*reading.notes, *lost))


def _examples(keyword: str, path: Location, value: Json, schema: Schema) -> KeywordReading:
    if keyword == "example":
        result: Schema = {} if "examples" in schema else {"examples": [value]}
        return read_as(result, path, keyword, "one of `examples`", "dialect")
    if value.__class__ is list:
        return kept_as_written(keyword, value)
    if value.__class__ is dict and value and all(item.__class__ is dict and "value" in item for item in value.values()):
        named: Schema = {keyword: [as_object(item)["value"] for item in value.values()]}
        return read_as(named, path, keyword, "a list of the values that are named", "dialect")  # as OpenAPI has them
    return read_as({keyword: [value]}, path, keyword, "a list of one")


def _type(keyword: str, path: Location, value: Json, schema: Schema) -> KeywordReading:
    if value.__class__ is str and value in TYPES:
        return kept_as_written(keyword, value)
    if value.__class__ is list and value and all(item.__class__ is str and item in TYPES for item in value):
        names = list(dict.fromkeys(value))
        return kept_as_written(keyword, value) if names == value else read_as({keyword: names}, path, keyword, "each type once")
    if value.__class__ is dict:
        return read_as({"allOf": [value]}, path, keyword, "a schema")
    entry = value if value.__class__ is list else [value]
    types = [_one_type(item) for item in entry]
    if not types or None in types:
        said = describe_value(value)
        reason = f"{dumps(said) if isinstance(value, str) else said} is not a type"
        return left_out(path, keyword, "it is empty" if value in ("", []) else reason)
    result = any_of([one for one in types if one is not None])
    keywords = {word: part for word, part in result.items() if word == keyword or word not in schema}
    return read_as(keywords, path, value, _type_in_words(result), "word" if value.__class__ is str else "repair")


_BY_SHAPE: dict[ValueShape, KeywordReader] = {
    "text": _text,
    "pattern": _text,
    "number": _number,
    "step": _number,
    "count": _count,
    "flag": _flag,
    "schema": _schema,
    "schemas": _several,
    "named": _read_named_schemas,
    "schema or schemas": _items,
    "named or names": _dependencies,
    "values": _examples,
    "types": _type,
}


def _as_number(value: Json) -> int | float | None:
    if is_number(value):
        return value
    if value.__class__ is str and _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return None


def _one_type(item: Json) -> Schema | None:
    if item is None:
        return {"type": "null"}
    if item.__class__ is dict:
        return dict(item)  # a union of draft 3
    return schema_of(item) if item.__class__ is str else None


def _type_in_words(schema: Schema) -> str:
    if schema.keys() <= {"type", "uniqueItems"} and schema:
        names = schema["type"] if schema["type"].__class__ is list else [schema["type"]]
        return " or ".join(f"`{name}`" for name in names)
    return "a schema of its own" if schema else "any type"


_KEPT = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$vocabulary"})
"""Keywords that serve references; the caller has to resolve them."""


def _enum(keyword: str, path: Location, value: Json, _: Schema) -> KeywordReading:
    if value.__class__ is list and value:
        return kept_as_written(keyword, value)
    if value.__class__ is dict and value:
        return read_as({keyword: list(value)}, path, keyword, "its keys")
    return left_out(path, keyword, "it lists no values")


READERS: dict[str, KeywordReader] = {
    **{name: _BY_SHAPE[row.shape] for name, row in KEYWORDS.items() if row.shape in _BY_SHAPE and name not in _KEPT},
    "enum": _enum,
    "example": _examples,
    "required": lambda word, *_: KeywordReading({word: []}),  # it keeps its place: `write_required` needs the properties
    "additionalItems": lambda word, path, *_: read_as(
        {}, path, word, "`items` after a list of them, and ignored elsewhere", "dialect"
    ),
    "$schema": lambda _, path, value, __: read_as(
        {}, path, value, "what it says of the schema; the result is 2020-12", "dialect"
    ),
}


def read_keyword(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    """Read one keyword of a schema."""
    value = schema[keyword]
    if keyword not in READERS:
        return kept_as_written(keyword, value)
    if value is None and keyword not in {"example", "required", "additionalItems"}:
        return left_out(path, keyword, "it is null, which is not a type" if keyword == "type" else "it is null")
    return READERS[keyword](keyword, path, value, schema)


def drop_invalid_keywords(schema: Json, path: Location = ()) -> Normalized:
    """Remove refused keywords from a fresh result of `normalize`, in place."""
    notes: list[Note] = []
    for _ in range(REPAIR_ROUNDS):
        wrong = problems_of(schema, most=META_ERRORS)
        if not wrong:
            return Normalized(schema, tuple(notes))
        for problem in wrong:
            steps = tokens(problem.pointer)
            keyword = _remove(schema, steps)
            if keyword is not None:
                notes.append(Note((*path, *steps), keyword, "left-out", problem.reason))
    notes.append(Note(path, "this schema", "left-out", "too much in it is wrong"))
    return Normalized({}, tuple(notes))


def _remove(schema: Json, steps: list[str]) -> str | None:
    """Delete the innermost object member on a path; return its key, or `None` if it is already gone."""
    holder, key, node = None, "", schema
    for step in steps:
        if node.__class__ is dict and step in node:
            holder, key, node = node, step, node[step]
        elif node.__class__ is list and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return None
    if holder is None:
        return None
    del holder[key]
    return key
