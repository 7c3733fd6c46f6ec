"""Repair the arguments of an answer that violate their schema in a way typical of models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from msgspec import Struct

from instrc.problems.suggest import comparison_key
from instrc.providers.codec import NamesCodec, ToolMap
from instrc.providers.key_renaming import Shaping, shaped
from instrc.providers.lifting.reply import loose_json
from instrc.providers.transcode import CODEC_LEVELS, Transcoder
from instrc.schema.validation import RAISED_ON_PURPOSE, Violation, errors_of, json_fault, validate, validator
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, Location, equal, mapping, pointer, put

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

RepairKind = Literal[
    "null-left-out",
    "text-read",
    "case",
    "spelling",
    "key",
    "listed",
    "unlisted",
    "as-text",
    "repeated-key",
    "loose-json",
    "tool-name",
    "repeated-id",
    "unwrapped",
]
"""`null-left-out`: null, or its name, for an optional property; `text-read`: a text parsed as JSON;
`case`, `spelling`: a listed word in another case, or with other spaces and dashes; `key`: a key in another case or spelling;
`listed`, `unlisted`: a value where a list is expected, and the reverse; `as-text`: a number for a listed text;
`repeated-key`: a duplicate key in one object, the last one used; `loose-json`: the text is JSON apart from minor errors;
`tool-name`: a tool by another spelling of its name; `repeated-id`: an id that an earlier call already has;
`unwrapped`: arguments nested one level too deep."""


class Repair(NamedTuple):
    """A part of an answer that was read differently than written."""

    instance: str
    """JSON Pointer into the value; empty if the whole value was reparsed."""
    what: RepairKind
    key: str | None = None
    """Key, name or id as the model wrote it, for `repeated-key`, `key`, `unwrapped`, `tool-name` and `repeated-id`."""

    def to_json(self) -> Json:
        """Return the repair as plain JSON."""
        reported: JsonObject = {"instance": self.instance, "what": self.what}
        return reported if self.key is None else {**reported, "key": self.key}


class Repaired(NamedTuple):
    """A value in the original names and shapes, with its errors and repairs."""

    value: Json
    violations: tuple[Violation, ...]
    repairs: tuple[Repair, ...] = ()


WRAPPERS_OPENED: Final = 3
"""Maximum levels by which arguments are nested too deep; each one repairs the rest on its own."""


def repair(record: ToolMap, arguments: Json, levels: int = WRAPPERS_OPENED) -> Repaired:
    """Return the value of a call's arguments by the map of its tool, which may be nested some levels too deep."""
    if (fault := json_fault(arguments)) is not None:
        return Repaired(arguments, (Violation(fault[0], "json", "", fault[1]),))
    schema = record.schema
    transcoder = Transcoder(record, fold=False)
    value = transcoder.read(arguments)
    broken = violations(schema, value)
    reported = tuple(Repair("", "repeated-key", key) for key in transcoder.repeated)
    if not broken or broken[0].keyword == "schema":
        return Repaired(value, broken, reported)
    if levels and (held := _held(record, arguments)) is not None:
        inner = repair(record, held[0], levels - 1)
        if not inner.violations or _is_wrapped(record, arguments, held[0]):
            return inner._replace(repairs=(held[1], *inner.repairs))
    state = _State(value, error_cost(schema, value), reported)
    passes = REPAIRED_CHARACTERS // (len(dumps(value, indent=False)) + _ERROR_CHARACTERS * state.wrongness.errors)
    if not passes:
        return Repaired(value, broken, reported)
    state = _read_otherwise(record, arguments, state)
    state = _in_places(schema, state, passes)
    return Repaired(state.value, violations(schema, state.value), state.repairs)


_WRAPPERS = frozenset({"arguments", "parameters", "params", "args", "kwargs", "input", "properties"})
"""Members under which models nest the arguments a second time."""


def _held(record: ToolMap, arguments: Json) -> tuple[Json, Repair] | None:
    """Return arguments nested one level too deep: alone in a list, under a word for arguments, or under the tool's name."""
    if isinstance(arguments, list):
        alone = unpacked(arguments[0]) if len(arguments) == 1 else None
        return (alone, Repair("", "unlisted")) if isinstance(alone, dict) else None
    if not isinstance(arguments, dict):
        return None
    names = [name for name in (record.tool.name, record.tool.sent) if name]
    own = {key for key in record.keys if key in arguments and arguments[key] not in names}
    beside = {key for key in ("name", "tool", "function", "type") if isinstance(arguments.get(key), str)} - own
    keys = arguments.keys() - beside if len(arguments) > 1 else arguments.keys()
    for key in keys if len(keys) == 1 else ():
        if key in {*_WRAPPERS, *names} and isinstance(held := unpacked(arguments[key]), dict) and (key not in own or key in held):
            return held, Repair("", "unwrapped", key)
    return None


def _is_wrapped(record: ToolMap, arguments: Json, held: Json) -> bool:
    """Return whether keys of the tool are nested one level too deep, and none are in place."""
    keys = set(record.keys)
    return (
        isinstance(held, dict) and not keys.isdisjoint(held) and (not isinstance(arguments, dict) or keys.isdisjoint(arguments))
    )


class LeafViolation(NamedTuple):
    """An error at one place of a value, possibly in an alternative that was not intended."""

    path: tuple[str | int, ...]
    value: Json
    keyword: str
    certain: bool
    """Whether the value is invalid in every alternative."""
    listed: tuple[str, ...] = ()
    """Listed texts allowed at this place."""
    types: tuple[str, ...] = ()
    """Allowed types, if the value has another one."""
    keys: frozenset[str] = frozenset()
    """Keys declared by the schema at this place."""
    items: bool = False
    """Whether the schema constrains the items of lists at this place."""


class Wrongness(NamedTuple):
    """The number of errors in a value, by kind."""

    shape: int
    """Weight of wrong types; one nearer to the root outweighs all those below another."""
    cost: int
    """Number of repairs under the nearest alternatives; 0 for a valid value."""
    leaves: tuple[LeafViolation, ...]
    errors: int = 0
    """Number of errors in all alternatives."""

    def is_worse(self, other: Wrongness) -> bool:
        """Return whether another reading is better; errors inside a text appear only once it is parsed."""
        return (other.shape, other.cost) < (self.shape, self.cost)


class _State(Struct, frozen=True):
    """The current reading of the arguments."""

    value: Json
    wrongness: Wrongness
    repairs: tuple[Repair, ...] = ()


def _read_otherwise(record: ToolMap, arguments: Json, state: _State) -> _State:
    """Try other readings of the whole: with objects and lists converted, with the case of words repaired."""
    if record.codec is None:
        return state
    held = unpacked(arguments) if isinstance(arguments, str) and arguments.lstrip().startswith(("{", "[", '"')) else arguments
    for fold in (False,) if isinstance(record.codec, NamesCodec) else (False, True):  # it does not know which place is wrong
        other = Transcoder(record, fold=fold, read=unpacked).read(held)
        wrongness = error_cost(record.schema, other)
        if state.wrongness.is_worse(wrongness):
            state = _State(other, wrongness, (*state.repairs, *_differences(state.value, other)))
    return state


TOLD_DIFFERENCES: Final = 1000
"""Maximum differences reported for a repaired answer."""


def _differences(before: Json, after: Json) -> list[Repair]:
    """Return the repairs of texts, lists and case, or one of the whole if it was read as a different value."""
    result: list[Repair] = []
    stack: list[tuple[Json, Json, Location]] = [(before, after, ())]
    while stack:
        old, new, path = stack.pop()
        if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
            stack.extend((item, new[key], (*path, key)) for key, item in reversed(old.items()))
        elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            stack.extend((item, new[index], (*path, index)) for index, item in reversed(list(enumerate(old))))
        elif not equal(old, new):
            result.append(Repair(pointer(path), _difference(old, new)))
    return result[:TOLD_DIFFERENCES]


def _difference(old: Json, new: Json) -> RepairKind:
    if isinstance(old, str):
        return "text-read" if isinstance(new, dict | list) else "case"
    return "unlisted" if isinstance(old, list) else "listed" if isinstance(new, list) else "key"


SHAPED_LEVELS: Final = 20
"""Maximum passes that convert all places at once."""
REPAIRED_PLACES: Final = 60
"""Maximum places tried one by one."""
REPAIRED_CHARACTERS: Final = 300_000
"""Maximum characters of an answer that is repaired, times the places tried: each one checks the whole answer again."""
_ERROR_CHARACTERS: Final = 50
"""Characters that take as long as an error."""


def _in_places(schema: Json, state: _State, most: int) -> _State:
    """Repair a value place by place: first all certain errors, then one place after another."""
    for _ in range(min(SHAPED_LEVELS, most)):  # the contents of a text may contain texts
        certain: dict[Location, Candidate] = {}
        for candidate in repairable_places(state.wrongness):
            if candidate.certain:
                certain.setdefault(candidate.path, candidate)
        shapings = [candidate for candidate in certain.values() if candidate.steps]
        better = _tried(schema, state, shapings or list(certain.values()))
        if better is None:
            break
        state = better
    tried: set[Candidate] = set()
    for _ in range(min(REPAIRED_PLACES, most)):
        place = next((item for item in repairable_places(state.wrongness) if item not in tried), None)
        if place is None or state.wrongness.cost == 0:
            break
        tried.add(place)
        state = _tried(schema, state, [place]) or state
    return state


class Candidate(Struct, frozen=True):
    """A place where a value might be repaired."""

    path: Location
    what: RepairKind
    listed: tuple[str, ...] = ()
    certain: bool = False
    name: str = ""
    """The intended key."""
    types: frozenset[str] = frozenset()
    """Expected types."""
    steps: tuple[Shaping, ...] = ()
    """Conversions that produce an expected type."""

    def applied(self, value: Json) -> Json:
        """Return a copy of a value with this place repaired."""
        match self.what:
            case "null-left-out":
                return remove_member(value, self.path)
            case "case" | "spelling":
                return replace_at(value, self.path, lambda word: listed_word(word, self.listed, self.what) or word)
            case "key":
                return rename_member(value, self.path, self.name)
            case "as-text":
                return replace_at(value, self.path, str)
            case _:
                return replace_at(value, self.path, lambda item: _in_shape(item, self.types)[0])

    @property
    def told(self) -> tuple[Repair, ...]:
        """The repair as text."""
        if self.what == "key":
            return (Repair(pointer((*self.path[:-1], self.name)), self.what, str(self.path[-1])),)
        return tuple(Repair(pointer(self.path), what) for what in self.steps or (self.what,))


def _tried(schema: Json, state: _State, candidates: list[Candidate]) -> _State | None:
    """Return the state after some repairs of one kind, or `None` if they do not remove as many errors."""
    if not candidates:
        return None
    trial = state.value
    for candidate in candidates:
        trial = candidate.applied(trial)
    wrongness = error_cost(schema, trial)
    if candidates[0].steps:
        listed = {(*candidate.path, 0) for candidate in candidates if candidate.steps[-1] == "listed"}
        stuck = any(leaf.path in listed and leaf.types and leaf.certain and not _shaping(leaf)[1] for leaf in wrongness.leaves)
        better = state.wrongness.is_worse(wrongness) and not stuck
    else:
        better = wrongness.cost <= state.wrongness.cost - len(candidates)
    repairs = (repair for candidate in candidates for repair in candidate.told)
    return _State(trial, wrongness, (*state.repairs, *repairs)) if better else None


_LISTED_TYPES = frozenset({"string", "integer", "number", "boolean", "null"})
"""Types of listed values."""
_OF_TYPE = frozenset({"type", "enum", "const"})


def _shaping(leaf: LeafViolation) -> tuple[frozenset[str], tuple[Shaping, ...]]:
    """Return the types allowed at a place, and the conversions of its value to one of them."""
    types = frozenset(leaf.types) if leaf.keyword == "type" else _LISTED_TYPES if leaf.keyword in _OF_TYPE else frozenset()
    result, steps = _in_shape(leaf.value, types) if types else (None, ())
    if not leaf.path and "text-read" not in steps[:1]:  # candidates for the whole value were tried before
        return types, ()
    if "unlisted" in steps and isinstance(result, dict):  # an object with unknown keys may be an entry of a map
        keys = {_spelt(key) for key in leaf.keys}
        return types, steps if result and all(_spelt(key) in keys for key in result) else ()
    return types, () if "listed" in steps and not leaf.items else steps


_SEVERAL = re.compile(r"[,;\n|]|\A\s*[\[{(\"]|\A\s*\Z")
"""A text that may contain several words, none, or JSON."""


def _in_shape(value: Json, types: AbstractSet[str]) -> tuple[Json, tuple[Shaping, ...]]:
    """Return a value as one of some types; JSON text is not an allowed value, and a single word is not a list."""
    if isinstance(value, str) and value in _NOTHING and "null" in types:
        return None, ("text-read",)
    if "array" in types and not isinstance(value, dict | list | None) and not (isinstance(value, str) and _SEVERAL.search(value)):
        return [value], ("listed",)
    result, steps = shaped(value, types, unpacked)
    if types == _LISTED_TYPES and isinstance(result, str) and not isinstance(held := unpacked(result), str | dict | list):
        return held, (*steps, "text-read")
    return result, steps


def _spelt(word: str) -> str:
    return comparison_key(word.strip().replace(" ", "_"))


COUNTED_VIOLATIONS: Final = 300
"""Maximum violations of one value that are weighted."""


def remove_member(value: Json, path: Location) -> Json:
    """Return a copy of a value without the member at a path, if it still exists."""
    return _rewrite(value, path, lambda key, item: () if key == path[-1] else ((key, item),))


def _rewrite(value: Json, path: Location, change: Callable[[str, Json], tuple[tuple[str, Json], ...]]) -> Json:
    """Return a copy of a value with the members of the object around a path replaced by the result of `change`."""

    def written(holder: Json) -> Json:
        return dict(new for old in holder.items() for new in change(*old)) if isinstance(holder, dict) else holder

    return replace_at(value, path[:-1], written)


def rename_member(value: Json, path: Location, name: str) -> Json:
    """Return a copy of a value with the member at a path renamed in place."""
    return _rewrite(value, path, lambda key, item: ((name if key == path[-1] else key, item),))


def replace_at(value: Json, path: Location, change: Callable[[Json], Json]) -> Json:
    """Return a copy of a value with one place changed, if it still exists."""
    copied = _copy_path(value, path)
    if copied is None:
        return value
    root, holder = copied
    if isinstance(holder, dict):
        name = str(path[-1])
        holder[name] = change(holder[name])
    else:
        index = int(path[-1]) if path else 0
        holder[index] = change(holder[index])
    return root[0]


def _copy_path(value: Json, path: Location) -> tuple[list[Json], JsonArray | JsonObject] | None:
    """Copy the containers on a path; return a list with the new root, and the container of the last step."""
    root: list[Json] = [value]
    holder: JsonArray | JsonObject = root
    key: str | int = 0
    for step in path:
        inner = holder[str(key)] if isinstance(holder, dict) else holder[int(key)]
        copy: JsonArray | JsonObject
        if isinstance(inner, dict) and step in inner:
            copy = dict(inner)
        elif isinstance(inner, list) and isinstance(step, int) and step < len(inner):
            copy = list(inner)
        else:
            return None
        put(holder, key, copy)
        holder, key = copy, step
    return root, holder


def violations(schema: Json, value: Json) -> tuple[Violation, ...]:
    """Return the violations of a map's schema by a value; the map may be hostile."""
    return validate(value, schema)


def error_cost(schema: Json, value: Json) -> Wrongness:
    """Return the number and depth of a value's errors, for comparing two readings of an answer."""
    leaves: list[LeafViolation] = []
    try:
        errors = errors_of(validator(schema, formats=True), value, COUNTED_VIOLATIONS)
        costs = [_cost(error, leaves, {}, certain=True) for error in errors]
    except RAISED_ON_PURPOSE:
        raise
    except BaseException:  # noqa: BLE001  -- an answer that cannot be validated cannot be repaired
        return Wrongness(0, 1, ())
    return Wrongness(*_sum(costs), tuple(leaves[:COUNTED_VIOLATIONS]), len(leaves))


_WEIGHT: Final = 1_000_000
"""Weight of a wrong type relative to one a level deeper."""


def _cost(
    error: ValidationError, leaves: list[LeafViolation], known: dict[int, tuple[int, int]], *, certain: bool
) -> tuple[int, int]:
    """Return the shape errors and the number of repairs of one error; for a union, of its nearest alternative."""
    if id(error) in known:  # the same part of a value in another branch
        return known[id(error)]
    if not error.context:
        keyword, wanted = str(error.validator), error.validator_value
        words = wanted if keyword == "enum" else [wanted] if keyword == "const" else ()
        listed = _texts(words)
        types = _texts(wanted if isinstance(wanted, list) else [wanted]) if keyword == "type" else ()
        schema: JsonObject = error.schema if isinstance(error.schema, dict) else {}
        keys = frozenset(mapping(schema.get("properties")))
        items = bool(schema.get("items"))
        instance: Json = error.instance  # type: ignore[assignment]  # the types allow errors without a position
        path = tuple(error.absolute_path)
        leaves.append(LeafViolation(path, instance, keyword, certain, listed, types, keys, items))
        misshapen = types or (listed and isinstance(instance, dict | list))
        return _WEIGHT ** max(CODEC_LEVELS - len(path), 0) if misshapen else 0, 1
    branches: dict[str | int | None, list[ValidationError]] = {}
    for cause in error.context:
        branches.setdefault(cause.relative_schema_path[0] if cause.relative_schema_path else None, []).append(cause)
    nearest = (False, 0, 0)
    for place, causes in enumerate(branches.values()):
        shape, count = _sum([_cost(cause, leaves, known, certain=False) for cause in causes])
        other = any(cause.validator == "type" and not cause.relative_path for cause in causes)  # of an unintended type
        nearest = min(nearest, (other, count, shape)) if place else (other, count, shape)
    known[id(error)] = result = nearest[2], 1 + nearest[1]
    return result


def _texts(items: object) -> tuple[str, ...]:
    return tuple(item for item in items if isinstance(item, str)) if isinstance(items, list) else ()


def _sum(costs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    shapes, counts = 0, 0
    for shape, count in costs:
        shapes, counts = shapes + shape, counts + count
    return shapes, counts


_WORDS: dict[str, Json] = {"True": True, "False": False, "TRUE": True, "FALSE": False, "None": None}
"""Literals as written by Python, by tables, and by models trained on them."""
_NOTHING = frozenset({"null", "None", "NULL", "undefined"})
_OF_KEYS = frozenset({"required", "additionalProperties", "unevaluatedProperties"})
_READ_TEXTS: Final = 3
"""Maximum nesting of JSON texts in JSON texts."""
_WORD = re.compile(r"[^\W\d_][\w -]*")


def repairable_places(wrongness: Wrongness) -> list[Candidate]:
    """Return the places where a value might be repaired, without duplicates per kind of repair."""
    result: dict[tuple[Location, RepairKind, str], Candidate] = {}
    for leaf in wrongness.leaves:
        types, steps = _shaping(leaf)
        shaping = [(leaf.path, steps[0], "")] if steps else []
        for path, what, name in (*_ways(leaf), *shaping, *_slips_keys(leaf)):
            known = result.get((path, what, name))
            listed = leaf.listed if known is None else (*known.listed, *leaf.listed)
            certain = leaf.certain or (known is not None and known.certain)
            shape = (types, steps) if what in steps else (frozenset[str](), ())
            result[path, what, name] = Candidate(path, what, listed, certain, name, *shape)
    return sorted(result.values(), key=lambda item: "null" not in item.types)  # an allowed null is kept


_SPELLINGS: tuple[Literal["case", "spelling"], ...] = ("case", "spelling")


def _ways(leaf: LeafViolation) -> Iterator[tuple[Location, RepairKind, str]]:
    """Yield the possible repairs at one place, likeliest first."""
    value, path = leaf.value, leaf.path
    is_member = bool(path) and isinstance(path[-1], str)
    if is_member and value is None:
        yield path, "null-left-out", ""
    if isinstance(value, str):
        if (what := next((way for way in _SPELLINGS if listed_word(value, leaf.listed, way) is not None), None)) is not None:
            yield path, what, ""
        if is_member and leaf.keyword in _OF_TYPE and (value in _NOTHING or unpacked(value) is None):
            yield path, "null-left-out", ""
    if isinstance(value, int) and not isinstance(value, bool) and str(value) in leaf.listed:
        yield path, "as-text", ""


def _slips_keys(leaf: LeafViolation) -> Iterator[tuple[Location, RepairKind, str]]:
    """Yield the unknown keys of an object that are other spellings of missing ones."""
    if leaf.keyword not in _OF_KEYS or not isinstance(leaf.value, dict) or leaf.value.keys() <= leaf.keys:
        return
    missing: dict[str, list[str]] = {}
    for key in leaf.keys:
        if key not in leaf.value:
            missing.setdefault(_spelt(key), []).append(key)
    written: dict[str, list[str]] = {}
    for key in leaf.value:
        if key not in leaf.keys:
            written.setdefault(_spelt(key), []).append(key)
    for spelt, keys in written.items():
        names = missing.get(spelt, ())
        if len(keys) == 1 and len(names) == 1:
            yield (*leaf.path, keys[0]), "key", names[0]


def listed_word(word: Json, listed: tuple[str, ...], what: str = "case") -> str | None:
    """Return the only listed word that differs only in case, or `None`.

    With `spelling`, spaces, dashes and underscores are ignored too, in words that begin with a letter.
    """
    if not isinstance(word, str) or word in listed:
        return None
    if what == "case":
        fitting = {item for item in listed if item.casefold() == word.casefold()}
    else:
        words = [item for item in listed if _WORD.fullmatch(item)] if _WORD.fullmatch(word.strip()) else []
        fitting = {item for item in words if _spelt(item) == _spelt(word)}
    return fitting.pop() if len(fitting) == 1 else None


def parse_text(text: Json) -> Json:
    """Return the JSON value in a text, or the text itself if there is none."""
    if not isinstance(text, str):
        return text
    if text in _WORDS:
        return _WORDS[text]
    try:
        return loads(text)
    except (ValueError, RecursionError):
        repaired = loose_json(text)
        return text if repaired is None else loads(repaired)


def unpacked(text: Json) -> Json:
    """Return the JSON value in a text, or in a text nested inside it, or the text itself."""
    held = text
    for _ in range(_READ_TEXTS):
        if not isinstance(held, str) or (isinstance(inner := parse_text(held), str) and inner == held):
            break
        held = inner
    return text if isinstance(held, str) else held
