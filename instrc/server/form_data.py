"""The submitted data of a form: the names and texts of a value, and the changes of a form's buttons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final, TypeGuard
from urllib.parse import unquote

from instrc import problems
from instrc.problems.errors import LimitError
from instrc.schema.validation import accepts
from instrc.server.files import fits
from instrc.server.form_shapes import LEVELS, FieldShape, additions, fixed_values, has_rest, is_read_only, shape_of
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, at, equal, listing, mapping, pointer, tokens

ROOT: Final = "/data"
FIELDS: Final = 2_000
"""Maximum fields of a form; a larger schema becomes one field for JSON."""
NAMES: Final = FIELDS * 3
"""Maximum names that a form sends: a field has up to three."""
ROWS: Final = 200
"""Maximum rows of a list."""
EMPTY: Final[dict[str, Json]] = {"text": "", "line": "", "any": "", "list": [], "checks": [], "object": {}}


def data_of(schema: Json, value: Json, path: tuple[str | int, ...] = (), root: Json = None, most: int = NAMES) -> dict[str, str]:
    """Return the field names and texts of a form with a value, using JSON where its fields cannot show it.

    A list that would make more than `most` names is JSON too; with 0, the whole value is.
    """
    whole = schema if root is None else root
    made: dict[str, str] = {}
    _write(schema, value, path, whole, frozenset(), made, most)
    return made


def _write(
    schema: Json, value: Json, path: tuple[str | int, ...], root: Json, inside: frozenset[str], made: dict[str, str], most: int
) -> None:
    name, shape = ROOT + pointer(path), shape_of(schema, root, inside)
    if shape.kind == "choice":
        same = [option for option in shape.options if dumps(option, indent=False) == dumps(value, indent=False)]
        made[name if same else f"json:{name}"] = dumps(value, indent=False)
    elif value is None and shape.nullable:
        made[f"null:{name}"] = "1"
    elif not most or len(path) > LEVELS or not _writes(shape, value, root):
        made[f"json:{name}"] = dumps(value)
    elif shape.kind == "union":
        _write_branch(shape, value, path, root, made, most)
    elif value in ("", [], {}) and type(value) is type(EMPTY.get(shape.kind)):
        made[f"empty:{name}"] = "1"
    elif isinstance(value, dict) and shape.kind == "object":
        members = _members(shape, root, value)
        for key, part in value.items():
            if key in members:
                _write(members[key], part, (*path, key), root, shape.inside, made, most)
        if rest := {key: part for key, part in value.items() if key not in members}:
            made[f"rest:{name}"] = dumps(rest)
    elif isinstance(value, list) and shape.kind == "checks":
        for option in value:
            made[f"item:{name}/{_codes(shape.options).index(dumps(option, indent=False))}"] = "1"
    elif isinstance(value, list) and shape.kind == "list":
        _write_list(shape, value, path, root, made, most)
    elif isinstance(value, str) and (moment := _MOMENT.fullmatch(value)) is not None and shape.kind == "moment":
        made[name], made[f"zone:{name}"] = moment[1], moment[2]
    else:
        made[name] = value if isinstance(value, str) else re.sub(r"(\.[0-9]{3})\Z", r"\g<1>0", dumps(value))  # no digit group
        if shape.kind == "any" and not isinstance(value, str):
            made[f"as_json:{name}"] = "1"


def _write_list(
    shape: FieldShape, value: list[Json], path: tuple[str | int, ...], root: Json, made: dict[str, str], most: int
) -> None:
    """Write a list as rows, each of which has an equal share of the names that are left, or as JSON beyond them."""
    name, left = ROOT + pointer(path), most - len(made)
    rows, heads = {f"rows:{name}": str(len(value))}, listing(shape.schema.get("prefixItems"))
    for index, part in enumerate(value):
        item = heads[index] if index < len(heads) else shape.schema.get("items", True)
        _write(item, part, (*path, index), root, shape.inside, rows, len(rows) + left // len(value))
        if len(rows) > left:
            rows = {f"json:{name}": dumps(value)}
            break
    made.update(rows)


def _write_branch(
    shape: FieldShape, value: Json, path: tuple[str | int, ...], root: Json, made: dict[str, str], most: int
) -> None:
    """Write a value by the first alternative that accepts it."""
    name, definitions = ROOT + pointer(path), mapping(root).get("$defs")
    for index, branch in enumerate(shape.branches):
        inner = shape_of(branch, root, shape.inside)
        if not accepts(branch, value, definitions) or not (inner.kind == "json" or _writes(inner, value, root)):
            continue
        fixed = fixed_values(inner.schema, root) if inner.kind == "object" else {}
        if not all(equal(mapping(value).get(key), each) for key, each in fixed.items()):
            continue
        made[f"kind:{name}"] = str(index)
        if isinstance(value, dict) and inner.kind == "object":
            left: Json = {key: each for key, each in value.items() if key not in fixed}
            if left:
                _write(branch, left, path, root, shape.inside, made, most)
        else:
            _write(branch, value, path, root, shape.inside, made, most)
        return
    made[f"json:{name}"] = dumps(value)


_DATE: Final = re.compile(r"(?!0000)\d{4}-\d\d-\d\d")
_MOMENT: Final = re.compile(r"((?:(?!0000)\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d(?:\.\d{1,3})?)(Z|[+-]\d\d:\d\d)", re.ASCII)
"""A time as shown by a browser's own field, and its zone."""


def moment_of(text: str, zone: str, form: str) -> str:
    """Return a time with its zone in JSON Schema format; any other text is unchanged."""
    local = re.fullmatch(r"((?:[\d-]+[T ])?\d\d:\d\d)(:\d\d(?:\.\d+)?)?", text.strip(), re.ASCII)
    if local is None:
        return text
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?", zone, re.ASCII)
    shown = f"{offset[1]}{offset[2]:0>2}:{offset[3] or '00'}" if offset else "Z" if zone.upper() in {"", "Z", "UTC"} else zone
    day = local[1].replace(" ", "T") if form == "date-time" else local[1]
    return f"{day}{local[2] or ':00'}{shown}"


def json_number(text: str, decimal: str) -> str:
    """Return a number in JSON syntax, from a local notation with decimal sign and digit groups, or a text that is none.

    With a decimal comma, `12.500` is none: people who write so mean 12,500, and others 12.5.
    """
    text = text.strip().replace("\u2212", "-").removeprefix("+")
    if decimal != "." and re.fullmatch(r"-?[1-9][0-9]{0,2}\.[0-9]{3}", text):
        return f"{text}?"
    signs = r" \u00a0\u2009\u202f'" + ("," if decimal == "." else "")
    if re.fullmatch(rf"-?[0-9]{{1,3}}(?:[{signs}][0-9]{{3}})+(?:[.,][0-9]*)?", text):
        text = re.sub(rf"[{signs}](?=[0-9]{{3}}(?:[^0-9]|\Z))", "", text)
    text = re.sub(r"^(-?)(?=[.,][0-9])", r"\g<1>0", text).replace(",", ".", 1)
    return re.sub(r"(?<=[0-9])\.\Z", "", text)


def _codes(options: Iterable[Json]) -> list[str]:
    return [dumps(option, indent=False) for option in options]


def _members(shape: FieldShape, root: Json, value: JsonObject | None) -> dict[str, Json]:
    """Return the members of an object with fields, including conditional ones for a value; without a value, all of these."""
    named = {name: part for name, part in mapping(shape.schema.get("properties")).items() if part is not False}
    required = listing(shape.schema.get("required"))
    shown = {name: part for name, part in named.items() if name in required or not is_read_only(part, root)}
    return {**additions(shape, root, value)[0], **shown} if shape.conditions else shown


def _writes(shape: FieldShape, value: Json, root: Json) -> bool:
    """Return whether the fields of a shape can represent a value of its type; HTML texts cannot hold all characters."""
    match shape.kind:
        case "object":
            if not isinstance(value, dict):
                return False
            others = value.keys() - _members(shape, root, value).keys()
            return not others or (has_rest(shape.schema) and not others & mapping(shape.schema.get("properties")).keys())
        case "list":
            return isinstance(value, list) and len(value) <= ROWS
        case "checks":
            codes = _codes(value) if isinstance(value, list) else ["no list"]
            return codes == [code for code in _codes(shape.options) if code in codes] and len(set(codes)) == len(codes)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "text" | "any":
            return _is_html(value) or (shape.kind == "any" and not isinstance(value, str))
        case "line":
            return _is_html(value) and "\n" not in value
        case "file":
            return isinstance(value, str) and fits(value, str(shape.schema["contentMediaType"]))
        case "date" | "moment":
            return isinstance(value, str) and (_DATE if shape.kind == "date" else _MOMENT).fullmatch(value) is not None
        case "union":
            return True
    return False


def _is_html(value: Json) -> TypeGuard[str]:
    return (
        isinstance(value, str) and re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]", value) is None
    )


SHOWN: Final = 2
"""Maximum nesting of the shown value from which fields are prefilled."""


def begun(schema: Json, show: Json, most: int = NAMES) -> dict[str, str]:
    """Return the initial data of a form: its defaults, and shown values to be edited, as by `data_of`; with 0, none.

    A decision of the person, one of several values, is only filled in from its default.
    """
    made: dict[str, str] = {}
    if most:
        _begin(schema, (), schema, objects_in(show, SHOWN), made, most)
    return made


def _begin(
    schema: Json, path: tuple[str | int, ...], root: Json, shown: list[tuple[str, JsonObject]], made: dict[str, str], most: int
) -> None:
    shape, definitions = shape_of(schema, root), mapping(root).get("$defs")
    if "default" in shape.schema and accepts(schema, shape.schema["default"], definitions):
        _write(schema, shape.schema["default"], path, root, frozenset(), made, most)
        return
    places = [value for _, value in named_values(shown, str(path[-1])) if accepts(schema, value, definitions)] if path else []
    if len(places) == 1 and shape.kind not in {"choice", "checks", "any", "json"}:
        _write(schema, places[0], path, root, frozenset(), made, most)
    elif shape.kind == "object":
        required = listing(shape.schema.get("required"))
        for name, part in _members(shape, root, {}).items():
            if not path or name in required:
                _begin(part, (*path, name), root, shown if len(path) < SHOWN else [], made, most)


def objects_in(value: Json, levels: int = LEVELS) -> list[tuple[str, JsonObject]]:
    """Return a value and the first objects in it, if it is an object, and their places: each field looks for its name there."""
    found = [("", value)] if isinstance(value, dict) else []
    for where, outer in found:
        if where.count("/") + 1 < levels:
            inner = ((key, part) for key, part in outer.items() if isinstance(part, dict))
            found += [(where + pointer([key]), part) for key, part in islice(inner, FIELDS - len(found))]
    return found


def named_values(objects: list[tuple[str, JsonObject]], name: str) -> list[tuple[str, Json]]:
    """Return the first values with a name in objects, and their places."""
    return [(where + pointer([name]), outer[name]) for where, outer in objects if name in outer][:SOURCES]


SOURCES: Final = 20
"""Maximum shown values from which one field can be filled."""


def changed(schema: Json, data: dict[str, str], button: str, show: Json, most: int = NAMES) -> tuple[dict[str, str], str]:
    """Return the data of a form after one of its buttons, and the name of the field to focus.

    `add:NAME` adds a row, `remove:NAME` removes one, `take:NAME POINTER` fills a field from a shown value, as by `data_of`,
    `kind:NAME` shows the fields of the chosen alternative, and `pick:NAME TEXT` chooses one.
    A NAME before a space is quoted as in a URL.
    """
    action, _, name = button.partition(":")
    if action == "add":
        count = data.get(f"rows:{name}", "0")
        rows = int(count) if re.fullmatch(r"[0-9]{1,6}", count) else 0
        return {**data, f"rows:{name}": str(rows + 1)}, f"{name}/{rows}"
    if action == "remove":
        return _without_row(data, name)
    if action == "pick":
        chosen, _, text = name.partition(" ")
        chosen = unquote(chosen)
        return {**data, chosen: text}, chosen[chosen.find("/") :]
    if action == "take":
        return _filled(schema, data, name, show, most)
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


def _filled(schema: Json, data: dict[str, str], button: str, show: Json, most: int) -> tuple[dict[str, str], str]:
    name, _, source = button.partition(" ")
    name = unquote(name)
    path = tuple(tokens(name.removeprefix(ROOT))) if name.startswith(f"{ROOT}/") else ()
    try:
        value, part = at(show, source), schema
        for step in path:
            part = _members(shape_of(part, schema), schema, None)[step]
    except (LookupError, ValueError):
        return data, name
    kept = {key: text for key, text in data.items() if not f"{key[key.find('/') :]}/".startswith(f"{name}/")}
    return {**kept, **data_of(part, value, path, schema, most)}, name


def pairs(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the submitted texts, by name."""
    found = dict(items)
    if len(found) > NAMES:
        raise LimitError([problems.serving.TooMuch(what="fields of a form", limit=FIELDS)])
    return found
