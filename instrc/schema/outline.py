"""Outline a schema in readable lines: its properties in order, with types, bounds and descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from instrc.schema.kinds import kind_of_value
from instrc.schema.walk import map_schemas, required_names
from instrc.text.jsonvalue import Json, JsonObject, equal, listing, mapping
from instrc.text.limits import REBUILT_LEVELS
from instrc.text.sentences import EN, Sentences, filled


def outline(schema: Json, whole: Sentences | None = None, *, values: bool = True) -> list[str]:
    """Return a line for each property of a schema: its name (with `?` if optional), its type, bounds and description.

    With a project's sentences it is complete (`whole`), for a model that does not see the schema: every value of an enum,
    multi-line descriptions unchanged, the definitions in use, and a sentence in place of `?`.
    Without `values` it omits enum values, except those that the schema explains individually.
    """
    schema = schema if values else map_schemas(schema, _without_values)
    lines = [*_members(schema, 0, whole)]
    if whole is None:
        return lines
    for name, part in mapping(mapping(schema).get("$defs")).items():
        lines += ["", *_entry(filled(whole.defined, name=name), part, 0, whole), *_below(part, 1, whole)]
    return lines


def _without_values(node: Json) -> Json:
    """Return a schema with the types of its enum values in place of the enum."""
    if not isinstance(node, dict) or not isinstance(listed := node.get("enum"), list) or len(listed) == 1:
        return node  # a single value tells alternatives apart
    types: list[Json] = ["number" if kind == "fraction" else kind for kind in dict.fromkeys(map(kind_of_value, listed))]
    return {"type": types if len(types) > 1 else types[0] if types else [], **{k: v for k, v in node.items() if k != "enum"}}


OUTLINE_LEVELS: Final = 12
"""Maximum levels of a schema shown in its outline."""


def _members(schema: Json, depth: int, whole: Sentences | None, told: dict[str, Json] | None = None) -> Iterator[str]:
    """Yield the lines of an object's keys; descriptions in `told`, from an earlier alternative, are not repeated."""
    if not isinstance(schema, dict) or depth > OUTLINE_LEVELS:
        return
    names = frozenset(required_names(schema))
    for name, part in mapping(schema.get("properties")).items():
        mark = "" if name in names or whole else "?"
        free = "" if name in names or not whole else f", {whole.optional}"
        head = f"{' '.join(name.split())}{mark}:"
        if told is not None and whole:
            if name in told and equal(told[name], part) and not _is_short(part):
                yield f"{'  ' * depth}{head} {whole.as_above}{free}"
                continue
            told[name] = part
        yield from _entry(head, part, depth, whole, free)
        yield from _below(part, depth + 1, whole, told)
    values = schema.get("additionalProperties")
    if whole and isinstance(values, dict):
        yield from _entry(f"({whole.other_keys}):", values, depth, whole)
        yield from _below(values, depth + 1, whole)
    for word in ("anyOf", "oneOf", "allOf"):
        above = {} if told is None else told
        inner = [[*_members(branch, depth + 1, whole, above)] for branch in listing(schema.get(word))]
        chosen = [(f"({word} {index})", lines) for index, lines in enumerate(inner, 1) if lines]
        if whole and len(chosen) == 1:
            yield from (line[2:] for line in chosen[0][1])  # a nullable object: nothing to choose
            continue
        for number, (mark, lines) in enumerate(chosen, 1):
            yield f"{'  ' * depth}{filled(whole.alternative, number=str(number)) if whole else mark}"
            yield from lines


def _is_short(part: Json) -> bool:
    """Return whether the description of a value is short enough to be repeated."""
    return not isinstance(part, dict) or part.keys() <= {"type", "const"}


def _entry(head: str, part: Json, depth: int, whole: Sentences | None, free: str = "") -> Iterator[str]:
    """Yield the line of one schema, followed by its further lines of description in a complete outline.

    For a listed value the description precedes the values: a small model that reads it after them chooses the
    first value nearly every time.  For any other value the type comes first: directly after a key, a small model reads the
    description as the value, and copied it in 57 of 64 texts (in 9 of 64 with the type first).
    """
    text = part.get("description") if isinstance(part, dict) else None
    lines = text.strip().splitlines() if isinstance(text, str) else []
    inset, form = "  " * depth, f"{_describe(part, whole)}{free}"
    description = " ".join(" ".join(lines).split())
    if not description:
        yield f"{inset}{head} {form}"
    elif whole is None:
        yield f"{inset}{head} {form} — {description}"
    elif len(lines) == 1:
        yield f"{inset}{head} {description} ({form})" if "enum" in mapping(part) else f"{inset}{head} {form}. {description}"
    else:
        yield f"{inset}{head} {form}"
        yield from (f"{inset}  {line}".rstrip() for line in lines)


_SAID = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "const", "default"),
)


def _describe(part: Json, whole: Sentences | None) -> str:
    if not isinstance(part, dict):
        return (whole or EN).anything if part else (whole or EN).nothing
    words = [_kind(part, whole)]
    words += [f"{keyword} {_value(part[keyword], whole)}" for keyword in _SAID if keyword in part and keyword != "const"]
    return ", ".join(words)


_SHORT_ENUM: Final = 8


def _kind(part: JsonObject, whole: Sentences | None, level: int = 0) -> str:
    """Return a short description of a value's type."""
    said = whole or EN
    if "const" in part:
        return filled(said.always, value=_value(part["const"], whole))
    if isinstance(values := part.get("enum"), list):
        shown = values if whole else values[:_SHORT_ENUM]
        more = ", …" if len(values) > len(shown) else ""
        return filled(said.one_of, values=", ".join(_value(item, whole) for item in shown) + more)
    if level > REBUILT_LEVELS:
        return said.anything
    if isinstance(part.get("$ref"), str):
        return str(part["$ref"]).rpartition("/")[2]
    types = part.get("type")
    names = types if isinstance(types, list) else [types] if isinstance(types, str) else []
    if whole and (explained := _explained(part)):
        return said.either.join(dict.fromkeys(kind_of_value(item["const"]) for item in explained))
    if not names:
        branches = next((found for word in ("anyOf", "oneOf") if isinstance(found := part.get(word), list)), None)
        kinds = [_kind(item, whole, level + 1) if isinstance(item, dict) else said.anything for item in branches or ()]
        return said.either.join(dict.fromkeys(kinds) if whole else kinds) or said.anything
    items = part.get("items")
    return said.either.join(
        filled(said.list_of, items=_kind(items, whole, level + 1)) if name == "array" and isinstance(items, dict) else str(name)
        for name in names
    )


_SHORT: Final = 60
"""Maximum characters of a value, and values of an enum, in a short outline."""


def _value(value: Json, whole: Sentences | None) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return " ".join((text if whole or len(text) <= _SHORT else f"{text[: _SHORT - 1]}…").split())


def _below(part: Json, depth: int, whole: Sentences | None, told: dict[str, Json] | None = None) -> Iterator[str]:
    for choice in _explained(part) if whole else ():
        meaning = ": ".join(
            " ".join(said.split()) for word in ("title", "description") if isinstance(said := choice.get(word), str)
        )
        yield f"{'  ' * depth}{_value(choice['const'], whole)}{meaning and f' — {meaning}'}"
    yield from _members(part, depth, whole, told)
    items = part.get("items") if isinstance(part, dict) else None
    yield from _members(items, depth, whole, told)


def _explained(part: Json) -> list[JsonObject]:
    """Return the alternatives of a value that are constants, if at least one has a description."""
    branches = next((found for word in ("anyOf", "oneOf") if isinstance(found := mapping(part).get(word), list)), [])
    constants = [branch for branch in branches if isinstance(branch, dict) and "const" in branch]
    explains = any(not branch.keys().isdisjoint({"title", "description"}) for branch in constants)
    return constants if explains and len(constants) == len(branches) else []
