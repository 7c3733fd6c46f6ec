"""Repair an answer's arguments where they break their schema in one of the ways models are known for.

Nothing is touched in an answer that is valid as it stands, and nothing is repaired that does not become less wrong by it.
`slips` lists the ways; here they are tried, from the whole to its parts:

* the arguments stand one level too deep, in a list or below `arguments`;
* the whole is read by its codec in another way, with texts as what they hold, with the case of words repaired;
* place by place: first all that is wrong whatever was meant, then one place after the other.

What was repaired is told, with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from instrc.codecs.transcode import Transcoder
from instrc.ir.codec import BoxCodec, Codec, NamesCodec
from instrc.jsonvalue import Json, JsonObject, Location, equal, mapping, pointer
from instrc.lifting.copied import replace_at
from instrc.lifting.slips import Candidate, Repair, parse_text, repairable_places
from instrc.lifting.violations import Wrongness, error_cost, violations
from instrc.limits.payloads import REPAIRED_PLACES, TOLD_DIFFERENCES, UNPACKED_TEXTS
from instrc.schema.validation import Violation, json_fault

_WRAPPERS = frozenset({"arguments", "parameters", "params", "args", "kwargs", "input", "properties"})
"""Words below which a model puts the arguments once more."""


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
    transcoder = Transcoder(record, fold=False)
    value = transcoder.read(arguments)
    broken = violations(schema, value)
    if not broken or broken[0].keyword == "schema":
        return Repaired(value, broken)
    if (held := _held(record, arguments)) is not None and not (inner := repair(record, held[0])).violations:
        return inner._replace(repairs=(held[1], *inner.repairs))
    state = _State(value, error_cost(schema, value))
    state = _read_otherwise(record, arguments, state)
    if state.wrongness.cost and (names := _names(transcoder.codec)) is not None:
        state = _unpacked(record, arguments, names.keys, state)
    state = _in_places(schema, state)
    return Repaired(state.value, violations(schema, state.value), state.repairs)


def _held(record: JsonObject, arguments: Json) -> tuple[Json, Repair] | None:
    """Return the arguments that stand one level too deep: alone in a list, below a word for them, or below the tool's name."""
    if isinstance(arguments, list):
        return (arguments[0], Repair("", "unlisted")) if len(arguments) == 1 and isinstance(arguments[0], dict) else None
    if not isinstance(arguments, dict):
        return None
    tool = mapping(record.get("tool"))
    names = {name for name in (tool.get("name"), tool.get("sent")) if isinstance(name, str)}
    beside = {key for key in ("name", "tool", "function", "type") if isinstance(arguments.get(key), str)}
    keys = arguments.keys() - beside if len(arguments) > 1 else arguments.keys()
    for key in keys if len(keys) == 1 else ():
        if key in _WRAPPERS | names and isinstance(held := parse_text(arguments[key]), dict):
            return held, Repair("", "unwrapped", key)
    return None


def _read_otherwise(record: JsonObject, arguments: Json, state: _State) -> _State:
    """Read the whole in other ways: with texts read where containers should stand, with the case of words repaired."""
    schema = record["schema"]
    if record.get("codec") is None:
        return state
    held = parse_text(arguments) if isinstance(arguments, str) and arguments.lstrip().startswith(("{", "[")) else arguments
    texts = False
    other = Transcoder(record, fold=False, texts=True).read(held)
    wrongness = error_cost(schema, other)
    if wrongness.cost < state.wrongness.cost:
        arguments, texts = held, True
        state = _State(other, wrongness, (*state.repairs, Repair("", "text-read")))
    other = Transcoder(record, texts=texts).read(arguments)
    wrongness = error_cost(schema, other)
    if wrongness.cost < state.wrongness.cost:
        repairs = (Repair(place, "case") for place in _differences(state.value, other))
        state = _State(other, wrongness, (*state.repairs, *repairs))
    return state


def _differences(before: Json, after: Json) -> list[str]:
    """Return the places at which texts differ, or the whole where values of different shapes were read."""
    found: list[str] = []
    stack: list[tuple[Json, Json, Location]] = [(before, after, ())]
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
    transcoder = Transcoder(record)
    for path in islice(_packed_places(arguments), UNPACKED_TEXTS):
        trial = replace_at(arguments, path, parse_text)
        other = transcoder.read(trial)
        wrongness = error_cost(record["schema"], other)
        if wrongness.cost < state.wrongness.cost:
            arguments = trial
            place = pointer(back.get(step, step) if isinstance(step, str) else step for step in path)
            state = _State(other, wrongness, (*state.repairs, Repair(place, "text-read")))
    return state


def _packed_places(arguments: Json) -> Iterator[Location]:
    """Yield the places of texts that hold an object or a list."""
    stack: list[tuple[Json, Location]] = [(arguments, ())]
    while stack:
        item, path = stack.pop()
        if isinstance(item, dict):
            stack.extend((inner, (*path, key)) for key, inner in item.items())
        elif isinstance(item, list):
            stack.extend((inner, (*path, index)) for index, inner in enumerate(item))
        elif isinstance(item, str) and path and item.lstrip().startswith(("{", "[")) and not isinstance(parse_text(item), str):
            yield path


def _names(codec: Codec) -> NamesCodec | None:
    """Return the codec of names, which may repair the case of words too; `None` if a lowering rebuilt more than names."""
    while isinstance(codec, BoxCodec):
        codec = codec.codec
    return codec if isinstance(codec, NamesCodec) else None


def _in_places(schema: Json, state: _State) -> _State:
    """Repair a value place by place: first all that is wrong whatever was meant, then one place after the other."""
    certain: dict[Location, Candidate] = {}
    for candidate in repairable_places(state.wrongness):
        if candidate.certain:
            certain.setdefault(candidate.path, candidate)
    if certain:
        trial = state.value
        for candidate in certain.values():
            trial = candidate.applied(trial)
        wrongness = error_cost(schema, trial)
        if wrongness.cost <= state.wrongness.cost - len(certain):
            state = _State(trial, wrongness, (*state.repairs, *(candidate.told for candidate in certain.values())))
    tried: set[Candidate] = set()
    for _ in range(REPAIRED_PLACES):
        place = next((each for each in repairable_places(state.wrongness) if each not in tried), None)
        if place is None or state.wrongness.cost == 0:
            break
        tried.add(place)
        trial = place.applied(state.value)
        wrongness = error_cost(schema, trial)
        if wrongness.cost < state.wrongness.cost:
            state = _State(trial, wrongness, (*state.repairs, place.told))
    return state
