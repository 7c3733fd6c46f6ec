"""Decide whether a schema is well-formed: by quick checks first, and by the meta-schema in cases of doubt.

Doubtful places are passed to `jsonschema` one by one, so depth and number cost little.
A schema that names an older draft in `$schema` is validated by that draft, at any depth.
Patterns are checked beyond the meta-schemas: a regular expression that no dialect accepts is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct

from instrc import problems
from instrc.schema.kinds import TYPES, is_number
from instrc.schema.patterns import broken, patterns_in
from instrc.schema.vocabulary import KEYWORDS, MANY, NAMED, ValueShape
from instrc.schema.walk import is_schema, nodes, walk
from instrc.text.jsontext import digits
from instrc.text.jsonvalue import LATEST_DRAFT, Json, JsonObject, Location, as_array, as_object, as_text, as_texts, at, pointer
from instrc.text.limits import META_ERRORS
from instrc.text.source import Span
from instrc.text.visible import shortened

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    from instrc.problems.schemas import InvalidSchema

TOLD_PROBLEMS: Final = 20
"""Maximum problems reported for one schema: a file that is not a schema would have thousands."""
_SHORT_NAMES = {"int": "integer", "str": "string", "bool": "boolean", "obj": "object", "num": "number", "arr": "array"}
"""Abbreviated type names, which may be misspelt as well."""
_NOUNS = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def reason_of(error: ValidationError) -> str:
    """Return a clause that describes an error of a meta-schema."""
    value: Json = error.instance  # type: ignore[assignment]  # set, since the error was found in one
    wanted: Json = error.validator_value  # type: ignore[assignment]  # as above
    match error.validator:
        case "type":
            names = [wanted] if isinstance(wanted, str) else as_texts(wanted)
            return f"{shown_value(value)} is not {' or '.join(_NOUNS.get(name, name) for name in names)}"
        case "enum" | "anyOf" if "type" in list(error.absolute_path)[-2:]:
            return "it is empty" if value == [] else f"{shown_value(value)} is not a type"
        case "minItems":
            return "it is empty"
        case "uniqueItems":
            return "it says something twice"
        case "minimum" | "exclusiveMinimum":
            return f"{shown_value(value)} is too small"
        case "pattern":
            return f"{shown_value(value)} is not written as this keyword wants it"
    return f"{shown_value(value)} is not what this keyword holds"


def shown_value(value: Json) -> str:
    """Return a value formatted for a sentence: containers only by their type."""
    if value.__class__ is dict:
        return "an object"
    if value.__class__ is list:
        return "an array"
    if value.__class__ is str:
        return '"' + shortened(value, 40).replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value is None or value.__class__ is bool:
        return {True: "true", False: "false", None: "null"}[value]
    return digits(value)[:40] if value.__class__ is int else str(value)


def nearest_type(path: Location, value: Json) -> tuple[str, ...]:
    """Return the types most similar to a misspelt one; `path` leads to the value."""
    if "type" not in path[-2:] or value.__class__ is not str:
        return ()
    from instrc.problems.suggest import nearest  # only needed to report a problem

    return nearest(value, tuple(sorted(TYPES))) or tuple(_SHORT_NAMES[name] for name in nearest(value, tuple(_SHORT_NAMES)))


def problems_of(
    schema: Json, locate: Callable[[str], Span | None] | None = None, *, most: int = TOLD_PROBLEMS
) -> tuple[InvalidSchema, ...]:
    """Return the problems of a schema, except its references, in written order.

    `locate` returns the span of a JSON Pointer; `most` limits the problems.
    """
    if not is_schema(schema):
        result: dict[Location, str] = {(): f"{shown_value(schema)} is not an object or a boolean"}
    elif is_sound(schema):
        return ()
    else:
        result = dict(islice(_refusals(schema), most))
    if not result:
        return ()
    return tuple(
        problems.schemas.InvalidSchema(
            at=locate(pointer(path)) if locate else None,
            pointer=pointer(path),
            reason=result[path],
            nearest=nearest_type(path, at(schema, pointer(path))),
        )
        for path in sorted(result, key=_order_in(schema))
    )


def _refusals(schema: Json) -> Iterator[tuple[Location, str]]:
    """Yield the places that the meta-schema refuses, without duplicates, with the reasons."""
    seen: set[Location] = set()
    for path, reason in _judged(schema):
        if path not in seen:
            seen.add(path)
            yield path, reason


def _judged(schema: Json) -> Iterator[tuple[Location, str]]:
    parts = list(_parts(schema))
    inner = {place for place, _ in parts if place}
    for place, part in parts:
        for below, reason in _judged_part(part):
            path = (*place, *below)
            if not any(path[:end] in inner for end in range(len(place) + 1, len(path) + 1)):
                yield path, reason
    for place, node in walk(schema):
        for below, written in patterns_in(node):
            if why := broken(written):
                yield (*place, *below), f"it is not a regular expression ({why})"


def _parts(schema: Json) -> Iterator[tuple[Location, Json]]:
    """Yield a schema and the nested schemas that name their own draft, outer ones first."""
    from instrc.schema.drafts import dialect_of_uri  # only if the quick check is inconclusive

    for path, node in walk(schema):
        if not path or (node.__class__ is dict and "$schema" in node and dialect_of_uri(node["$schema"]) is not None):
            yield path, node


_OF_PATTERNS = frozenset({"pattern", "patternProperties"})


def _judged_part(schema: Json) -> Iterator[tuple[Location, str]]:
    """Yield the errors of a schema under the draft that it names."""
    import jsonschema.validators as drafts  # as above

    older = _older_draft(schema, drafts)
    if older is not None and older.META_SCHEMA.get("$id") == _DRAFT_2019 and is_sound(schema, _SOUND_2019):
        return  # the library takes a millisecond for each part
    if older is not None:
        try:
            yield from _errors(older, schema)
        except (RecursionError, ValueError):  # too deep, or a number too long for the validator: its validity stays open
            return
        return
    for doubt in doubtful(schema):
        if doubt.step is None and doubt.keyword in _OF_PATTERNS and next(patterns_in({doubt.keyword: doubt.value}), None):
            continue  # well-formed: regular expressions are checked separately
        member = {doubt.step: doubt.value} if doubt.step.__class__ is str else [doubt.value]
        probe = {doubt.keyword: doubt.value if doubt.step is None else member}
        place = (*doubt.node, doubt.keyword, *(() if doubt.step is None else (doubt.step,)))
        try:
            for path, reason in _errors(drafts.Draft202012Validator, probe):
                yield (*place, *path[len(place) - len(doubt.node) :]), reason
        except (RecursionError, ValueError):  # the validator cannot write deep values, or numbers with over 4,300 digits
            yield place, "it is not what this keyword holds"


def _older_draft(schema: Json, drafts: ModuleType) -> type[Draft202012Validator] | None:
    """Return the validator class of the older draft that a schema names, or `None` for 2020-12, unknown names and without one."""
    from instrc.schema.drafts import dialect_of_uri  # as above

    dialect = dialect_of_uri(schema.get("$schema")) if schema.__class__ is dict else None
    names = {4: "Draft4", 6: "Draft6", 7: "Draft7", 2019: "Draft201909"}
    if dialect is None or dialect.year not in names:
        return None
    return cast("type[Draft202012Validator]", getattr(drafts, f"{names[dialect.year]}Validator"))


def _errors(draft: type[Draft202012Validator], schema: Json) -> Iterator[tuple[Location, str]]:
    """Yield the errors of a schema under the meta-schema of a draft, in a deterministic order."""
    found: dict[Location, str] = {}
    for error in islice(draft(draft.META_SCHEMA).iter_errors(schema), META_ERRORS):
        deeper = [inner for inner in error.context or () if inner.path]  # an item of a list of types
        best = deeper[0] if deeper else error
        found.setdefault(tuple(best.absolute_path), reason_of(best))
    yield from ((place, found[place]) for place in sorted(found, key=_order_in(schema)))


def _order_in(schema: Json) -> Callable[[Location], list[int]]:
    """Return the key that sorts paths in the written order of a schema."""
    positions: dict[int, dict[str, int]] = {}

    def order(path: Location) -> list[int]:
        value, numbers = schema, list[int]()
        for step in path:
            if isinstance(step, int):
                numbers.append(step)
                value = as_array(value)[step]
            else:
                if id(value) not in positions:
                    positions[id(value)] = {key: number for number, key in enumerate(as_object(value))}
                numbers.append(positions[id(value)][step])
                value = as_object(value)[step]
        return numbers

    return order


_ANCHOR = r"[A-Za-z_][-A-Za-z0-9._]*"
_TEXTS = frozenset({str})
_SCHEMAS = frozenset({dict, bool})
"""Python classes of schemas."""


def _named_schemas(value: Json) -> bool:
    return value.__class__ is dict and _SCHEMAS.issuperset(map(type, value.values()))


def _count(value: Json) -> bool:
    return (value.__class__ is int or (value.__class__ is float and value.is_integer())) and value >= 0


def _boolean(value: Json) -> bool:
    return value.__class__ is bool


def _types(value: Json) -> bool:
    if value.__class__ is list:
        return bool(value) and _strings(value) and TYPES.issuperset(value)
    return value.__class__ is str and value in TYPES


def _strings(value: Json) -> bool:
    return value.__class__ is list and _TEXTS.issuperset(map(type, value)) and len(set(value)) == len(value)


_BY_SHAPE: dict[ValueShape, Callable[[Json], bool]] = {
    "schema": is_schema,
    "schemas": lambda value: value.__class__ is list and bool(value) and _SCHEMAS.issuperset(map(type, value)),
    "schema or schemas": is_schema,
    "named": _named_schemas,
    "named or names": lambda value: value.__class__ is dict and all(is_schema(item) or _strings(item) for item in value.values()),
    "values": lambda value: value.__class__ is list,
    "text": lambda value: value.__class__ is str,
    "pattern": lambda value: value.__class__ is str and not broken(value),
    "number": is_number,
    "step": lambda value: is_number(value) and value > 0,
    "count": _count,
    "flag": _boolean,
    "flags": lambda value: value.__class__ is dict and all(map(_boolean, value.values())),
    "types": _types,
    "names": _strings,
    "names by name": lambda value: value.__class__ is dict and all(map(_strings, value.values())),
}
_OF_TODAY = {name: row for name, row in KEYWORDS.items() if name not in {"example", "additionalItems"}}
"""Keywords of 2020-12, which still allows `definitions` and `dependencies` but not the old recursive keywords."""


def _anchor(value: Json) -> bool:
    return value.__class__ is str and re.fullmatch(_ANCHOR, value) is not None


def _patterns(value: Json) -> bool:
    return _named_schemas(value) and not any(map(broken, as_object(value)))


SOUND: dict[str, Callable[[Json], bool]] = {
    **{name: _BY_SHAPE[row.shape] for name, row in _OF_TODAY.items() if row.shape != "value"},
    "$id": lambda value: value.__class__ is str and "#" not in value,
    "$schema": lambda value: value.__class__ is str and value.rstrip("#") == LATEST_DRAFT,
    "$anchor": _anchor,
    "$dynamicAnchor": _anchor,
    "$recursiveRef": lambda _: False,
    "$recursiveAnchor": lambda _: False,
    "patternProperties": _patterns,
}


_DRAFT_2019: Final = "https://json-schema.org/draft/2019-09/schema"
_SOUND_2019: Final = {
    **SOUND,
    "$schema": lambda value: value.__class__ is str and value.rstrip("#") == _DRAFT_2019,
    "$anchor": lambda value: _anchor(value) and not as_text(value).startswith("_"),
    "$recursiveRef": _BY_SHAPE["text"],
    "$recursiveAnchor": _boolean,
    "additionalItems": is_schema,
}


class Doubt(Struct, frozen=True):
    """A value that may be invalid: of a keyword, or of one member (`step`) of the keyword's value."""

    node: Location
    keyword: str
    step: str | int | None
    value: Json


def doubtful(schema: Json) -> Iterator[Doubt]:
    """Yield the doubts about a schema, by JSON Schema 2020-12; mostly none."""
    for path, node in walk(schema):
        yield from _doubts_at(path, node)


_MAPS = NAMED - {"dependencies"}
_LISTS = MANY - {"items"}


def _doubts_at(path: Location, node: Json) -> Iterator[Doubt]:
    if node.__class__ is not dict:
        return
    for keyword, value in node.items():
        sound = SOUND.get(keyword)
        if sound is None or sound(value):
            continue
        members: list[tuple[str | int, Json]] = []
        if keyword in _MAPS and value.__class__ is dict:
            members = [(name, item) for name, item in value.items() if not is_schema(item)]
        elif keyword in _LISTS and value.__class__ is list:
            members = [(index, item) for index, item in enumerate(value) if not is_schema(item)]
        yield from (Doubt(path, keyword, step, item) for step, item in members)
        if not members:
            yield Doubt(path, keyword, None, value)


def is_sound(schema: Json, sound: Mapping[str, Callable[[Json], bool]] = SOUND) -> bool:
    """Return whether a schema is certainly well-formed; shared and cyclic parts are visited once."""
    return all(has_sound_keywords(node, sound) for node in nodes(schema))


def has_sound_keywords(node: JsonObject, sound: Mapping[str, Callable[[Json], bool]] = SOUND) -> bool:
    """Return whether each keyword of one schema has a plausible value."""
    return all(keyword not in sound or sound[keyword](value) for keyword, value in node.items())
