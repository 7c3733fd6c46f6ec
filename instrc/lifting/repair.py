"""Repair an answer's arguments where they break their schema in one of the ways models are known for.

Nothing is touched in an answer that is valid as it stands, and nothing is repaired that does not become less wrong by it:

* `null` for a property that may be left out and may not be null is left out (targets where keys may be left out);
* a text that holds JSON, where that text may not stand, is the value it holds (written as JSON twice, or as text between tags);
* a word in another case than a listed one is that word.

What was repaired is told, with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from instrc.codecs.encode import Interpreter
from instrc.ir.codec import BoxCodec, Codec, NamesCodec
from instrc.jsontext import loads
from instrc.jsonvalue import Json, JsonArray, JsonObject, equal, pointer, put
from instrc.lifting.violations import Leaf, Wrongness, error_cost, violations
from instrc.limits.payloads import REPAIRED_PLACES, TOLD_DIFFERENCES, UNPACKED_TEXTS
from instrc.schema.validation import Violation, json_fault

_WORDS: dict[str, Json] = {"True": True, "False": False}
"""As Python writes them, and models that were taught in it."""
_OF_TYPE = frozenset({"type", "enum", "const"})

Path = tuple[str | int, ...]
What = Literal["null-left-out", "text-read", "case", "repeated-key"]


class Repair(NamedTuple):
    """One thing that was read otherwise than it was written."""

    instance: str
    """Where in the value, as a JSON Pointer; empty where the value was read anew as a whole."""
    what: What
    key: str | None = None
    """With `repeated-key`: the key that one object has twice; the last one counts."""

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        told: JsonObject = {"instance": self.instance, "what": self.what}
        return told if self.key is None else {**told, "key": self.key}


class Repaired(NamedTuple):
    """A value in our names and shapes, what is wrong with it, and what was repaired."""

    value: Json
    violations: tuple[Violation, ...]
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class _State:
    """A reading of the arguments so far."""

    value: Json
    wrongness: Wrongness
    repairs: tuple[Repair, ...] = ()


def repair(record: JsonObject, arguments: Json) -> Repaired:
    """Return the value that the arguments of a call stand for by the map of its tool."""
    if (fault := json_fault(arguments)) is not None:
        return Repaired(arguments, (Violation(fault[0], "json", "", fault[1]),))
    schema = record["schema"]
    interpreter = Interpreter(record, fold=False)
    value = interpreter.read(arguments)
    broken = violations(schema, value)
    if not broken or broken[0].keyword == "schema":
        return Repaired(value, broken)
    state = _State(value, error_cost(schema, value))
    state = _read_otherwise(record, arguments, state)
    if state.wrongness.cost and (names := _names(interpreter.codec)) is not None:
        state = _unpacked(record, arguments, names.keys, state)
    state = _in_places(schema, state)
    return Repaired(state.value, violations(schema, state.value), state.repairs)


def _read_otherwise(record: JsonObject, arguments: Json, state: _State) -> _State:
    """Read the whole in other ways: with texts read where containers should stand, with the case of words repaired."""
    schema = record["schema"]
    if record.get("codec") is None:
        return state
    held = _parse_text(arguments) if isinstance(arguments, str) and arguments.lstrip().startswith(("{", "[")) else arguments
    texts = False
    other = Interpreter(record, fold=False, texts=True).read(held)
    wrongness = error_cost(schema, other)
    if wrongness.cost < state.wrongness.cost:
        arguments, texts = held, True
        state = _State(other, wrongness, (*state.repairs, Repair("", "text-read")))
    other = Interpreter(record, texts=texts).read(arguments)
    wrongness = error_cost(schema, other)
    if wrongness.cost < state.wrongness.cost:
        repairs = (Repair(place, "case") for place in _differences(state.value, other))
        state = _State(other, wrongness, (*state.repairs, *repairs))
    return state


def _differences(before: Json, after: Json) -> list[str]:
    """Return the places at which texts differ, or the whole where values of different shapes were read."""
    found: list[str] = []
    stack: list[tuple[Json, Json, Path]] = [(before, after, ())]
    while stack:
        old, new, path = stack.pop()
        if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
            stack.extend((item, new[key], (*path, key)) for key, item in reversed(old.items()))
        elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            stack.extend((item, new[index], (*path, index)) for index, item in reversed(list(enumerate(old))))
        elif isinstance(old, str) and not isinstance(new, dict | list):
            if not equal(old, new):
                found.append(pointer(path))
        elif not equal(old, new):
            return [""]
    return found[:TOLD_DIFFERENCES] or [""]


def _unpacked(record: JsonObject, arguments: Json, back: Mapping[str, str], state: _State) -> _State:
    """Read texts that hold objects and lists before names are turned into ours, so that the names in them are as well."""
    interpreter = Interpreter(record)
    for path in islice(_packed_places(arguments), UNPACKED_TEXTS):
        trial = _replace_at(arguments, path, _parse_text)
        other = interpreter.read(trial)
        wrongness = error_cost(record["schema"], other)
        if wrongness.cost < state.wrongness.cost:
            arguments = trial
            place = pointer(back.get(step, step) if isinstance(step, str) else step for step in path)
            state = _State(other, wrongness, (*state.repairs, Repair(place, "text-read")))
    return state


def _packed_places(arguments: Json) -> Iterator[Path]:
    """Yield the places of texts that hold an object or a list."""
    stack: list[tuple[Json, Path]] = [(arguments, ())]
    while stack:
        item, path = stack.pop()
        if isinstance(item, dict):
            stack.extend((inner, (*path, key)) for key, inner in item.items())
        elif isinstance(item, list):
            stack.extend((inner, (*path, index)) for index, inner in enumerate(item))
        elif isinstance(item, str) and path and item.lstrip().startswith(("{", "[")) and not isinstance(_parse_text(item), str):
            yield path


def _names(codec: Codec) -> NamesCodec | None:
    """Return the codec of names, which may mend the case of words too; `None` if a lowering rebuilt more than names."""
    while isinstance(codec, BoxCodec):
        codec = codec.codec
    return codec if isinstance(codec, NamesCodec) else None


def _parse_text(text: Json) -> Json:
    """Return the JSON value that a text holds; the text itself if it holds none."""
    if not isinstance(text, str):
        return text
    if text in _WORDS:
        return _WORDS[text]
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A place at which a value might be repaired."""

    path: Path
    what: What
    listed: tuple[str, ...] = ()
    certain: bool = False

    def applied(self, value: Json) -> Json:
        """Return a copy of a value with this place repaired."""
        match self.what:
            case "null-left-out":
                return _remove_member(value, self.path)
            case "case":
                return _replace_at(value, self.path, lambda word: listed_word(word, self.listed) or word)
            case _:
                return _replace_at(value, self.path, _parse_text)

    @property
    def told(self) -> Repair:
        """What is said of it."""
        return Repair(pointer(self.path), self.what)


def _in_places(schema: Json, state: _State) -> _State:
    """Repair a value place by place: first all that is wrong whatever was meant, then one place after the other."""
    certain = [candidate for candidate in _candidates(state.wrongness) if candidate.certain]
    if certain:
        trial = state.value
        for candidate in certain:
            trial = candidate.applied(trial)
        wrongness = error_cost(schema, trial)
        if wrongness.cost <= state.wrongness.cost - len(certain):
            state = _State(trial, wrongness, (*state.repairs, *(candidate.told for candidate in certain)))
    tried: set[tuple[Path, str]] = set()
    for _ in range(REPAIRED_PLACES):
        place = next((each for each in _candidates(state.wrongness) if (each.path, each.what) not in tried), None)
        if place is None or state.wrongness.cost == 0:
            break
        tried.add((place.path, place.what))
        trial = place.applied(state.value)
        wrongness = error_cost(schema, trial)
        if wrongness.cost < state.wrongness.cost:
            state = _State(trial, wrongness, (*state.repairs, place.told))
    return state


def _candidates(wrongness: Wrongness) -> list[_Candidate]:
    """Return the places at which a value might be repaired, once each."""
    found: dict[tuple[Path, What], _Candidate] = {}
    for leaf in wrongness.leaves:
        if (what := _way(leaf)) is not None:
            known = found.get((leaf.path, what))
            listed = leaf.listed if known is None else (*known.listed, *leaf.listed)
            certain = leaf.certain or (known is not None and known.certain)
            found[leaf.path, what] = _Candidate(leaf.path, what, listed, certain)
    return list(found.values())


def _way(leaf: Leaf) -> What | None:
    """Return in which way what is wrong at one place might be repaired."""
    if leaf.value is None and leaf.path and isinstance(leaf.path[-1], str):
        return "null-left-out"
    if not isinstance(leaf.value, str):
        return None
    if listed_word(leaf.value, leaf.listed) is not None:
        return "case"
    return "text-read" if leaf.keyword in _OF_TYPE and not isinstance(_parse_text(leaf.value), str) else None


def listed_word(word: Json, listed: tuple[str, ...]) -> str | None:
    """Return the only listed word that differs from a word in case alone; `None` if there is none or several."""
    if not isinstance(word, str) or word in listed:
        return None
    fitting = {each for each in listed if each.casefold() == word.casefold()}
    return fitting.pop() if len(fitting) == 1 else None


def _remove_member(value: Json, path: Path) -> Json:
    """Return a copy of a value without the member at a place; what is no longer there is left alone."""
    copied = _copy_path(value, path)
    if copied is None:
        return value
    root, holder = copied
    if not isinstance(holder, dict):
        return value
    del holder[str(path[-1])]
    return root[0]


def _replace_at(value: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    """Return a copy of a value with one place changed; what is no longer there is left alone."""
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


def _copy_path(value: Json, path: Path) -> tuple[list[Json], JsonArray | JsonObject] | None:
    """Copy the containers on the way to a place: a list of the new root, and the container of the place."""
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
