"""The submitted data of a form: the names and texts of a value, and the changes of a form's buttons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeGuard

from instrc import problems
from instrc.problems.errors import LimitError
from instrc.schema.validation import accepts
from instrc.server.form_shapes import LEVELS, FieldShape, fixed_values, shape_of
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object, at, equal, listing, mapping, pointer, tokens

ROOT: Final = "/data"
FIELDS: Final = 2_000
"""Fields of a form; a schema with more is one field for JSON."""
ROWS: Final = 200
"""Rows of a list."""
EMPTY: Final[dict[str, Json]] = {"text": "", "line": "", "any": "", "list": [], "object": {}}


def data_of(schema: Json, value: Json, path: tuple[str | int, ...] = (), root: Json = None) -> dict[str, str]:
    """Return the names and texts that a form of a schema has to hold for a value; as JSON where its fields cannot show it."""
    whole = schema if root is None else root
    made: dict[str, str] = {}
    _write(schema, value, path, whole, frozenset(), made)
    return made


def _write(
    schema: Json, value: Json, path: tuple[str | int, ...], root: Json, inside: frozenset[str], made: dict[str, str]
) -> None:
    name, shape = ROOT + pointer(path), shape_of(schema, root, inside)
    if shape.kind == "choice":
        same = [option for option in shape.options if dumps(option, indent=False) == dumps(value, indent=False)]
        made[name if same else f"json:{name}"] = dumps(value, indent=False)
    elif value is None and shape.nullable:
        made[f"null:{name}"] = "1"
    elif len(path) > LEVELS or not _writes(shape, value):
        made[f"json:{name}"] = dumps(value)
    elif shape.kind == "union":
        _write_branch(shape, value, path, root, made)
    elif value in ("", [], {}) and type(value) is type(EMPTY.get(shape.kind)):
        made[f"empty:{name}"] = "1"
    elif isinstance(value, dict) and shape.kind == "object":
        for key, part in value.items():
            _write(as_object(shape.schema["properties"])[key], part, (*path, key), root, shape.inside, made)
    elif isinstance(value, list) and shape.kind == "list":
        made[f"rows:{name}"] = str(len(value))
        heads = listing(shape.schema.get("prefixItems"))
        for index, part in enumerate(value):
            item = heads[index] if index < len(heads) else shape.schema.get("items", True)
            _write(item, part, (*path, index), root, shape.inside, made)
    else:
        made[name] = value if isinstance(value, str) else dumps(value)
        if shape.kind == "any" and not isinstance(value, str):
            made[f"as_json:{name}"] = "1"


def _write_branch(shape: FieldShape, value: Json, path: tuple[str | int, ...], root: Json, made: dict[str, str]) -> None:
    """Write a value by the first alternative that takes it."""
    name, definitions = ROOT + pointer(path), mapping(root).get("$defs")
    for index, branch in enumerate(shape.branches):
        inner = shape_of(branch, root, shape.inside)
        if not accepts(branch, value, definitions) or not (inner.kind == "json" or _writes(inner, value)):
            continue
        fixed = fixed_values(inner.schema, root) if inner.kind == "object" else {}
        if not all(equal(mapping(value).get(key), each) for key, each in fixed.items()):
            continue
        made[f"kind:{name}"] = str(index)
        if isinstance(value, dict) and inner.kind == "object":
            left: Json = {key: each for key, each in value.items() if key not in fixed}
            if left:
                _write(branch, left, path, root, shape.inside, made)
        else:
            _write(branch, value, path, root, shape.inside, made)
        return
    made[f"json:{name}"] = dumps(value)


_DATE: Final = re.compile(r"(?!0000)\d{4}-\d\d-\d\d")


def _writes(shape: FieldShape, value: Json) -> bool:
    """Return whether the fields of a shape can hold a value of its type; a text of HTML cannot hold all characters."""
    match shape.kind:
        case "object":
            known = {name for name, part in mapping(shape.schema.get("properties")).items() if part is not False}
            return isinstance(value, dict) and value.keys() <= known
        case "list":
            return isinstance(value, list) and len(value) <= ROWS
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "text" | "any":
            return _is_html(value) or (shape.kind == "any" and not isinstance(value, str))
        case "line":
            return _is_html(value) and "\n" not in value
        case "date":
            return isinstance(value, str) and _DATE.fullmatch(value) is not None
        case "union":
            return True
    return False


def _is_html(value: Json) -> TypeGuard[str]:
    return (
        isinstance(value, str) and re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]", value) is None
    )


def changed(schema: Json, data: dict[str, str], button: str, show: Json) -> tuple[dict[str, str], str]:
    """Return the data of a form after one of its buttons, and the name of the field to focus.

    `add:NAME` adds a row, `remove:NAME` removes one, `take:NAME POINTER` fills a field from a shown value; `kind:NAME` shows
    the fields of the chosen alternative.
    """
    action, _, name = button.partition(":")
    if action == "add":
        count = data.get(f"rows:{name}", "0")
        rows = int(count) if re.fullmatch(r"[0-9]{1,6}", count) else 0
        return {**data, f"rows:{name}": str(rows + 1)}, f"{name}/{rows}"
    if action == "remove":
        return _without_row(data, name)
    if action == "take":
        return _filled(schema, data, name, show)
    return data, name


def _without_row(data: dict[str, str], name: str) -> tuple[dict[str, str], str]:
    above, _, number = name.rpartition("/")
    count = data.get(f"rows:{above}", "")
    if not (re.fullmatch(r"[0-9]{1,6}", number) and re.fullmatch(r"[0-9]{1,6}", count) and int(number) < int(count)):
        return data, above
    made = {f"rows:{above}": str(int(count) - 1)}
    for key, text in data.items():
        word, slash, place = key.partition("/")
        row = re.match(rf"{re.escape(above)}/([0-9]{{1,6}})(?=/|\Z)", slash + place)
        if key == f"rows:{above}" or (row is not None and int(row[1]) == int(number)):
            continue
        after = row is not None and int(row[1]) > int(number)
        made[f"{word}{above}/{int(row[1]) - 1}{(slash + place)[row.end() :]}" if row is not None and after else key] = text
    return made, above


def _filled(schema: Json, data: dict[str, str], button: str, show: Json) -> tuple[dict[str, str], str]:
    name, _, source = button.partition(" ")
    path = tuple(tokens(name.removeprefix(ROOT))) if name.startswith(f"{ROOT}/") else ()
    try:
        value, part = at(show, source), schema
        for step in path:
            part = mapping(shape_of(part, schema).schema.get("properties"))[step]
    except (LookupError, ValueError):
        return data, name
    kept = {key: text for key, text in data.items() if not f"{key[key.find('/') :]}/".startswith(f"{name}/")}
    return {**kept, **data_of(part, value, path, schema)}, name


def pairs(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the submitted texts, by name."""
    found = dict(items)
    if len(found) > FIELDS * 3:
        raise LimitError([problems.serving.TooMuch(what="fields of a form", limit=FIELDS)])
    return found
