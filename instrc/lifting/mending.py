"""Read an answer's arguments as they were meant where they break their schema in one of the ways models are known to.

Nothing is touched in an answer that is valid as it stands, and nothing is mended that does not become less wrong by it:

* `null` for a property that may be left out and may not be null is left out (targets where keys may be left out);
* a text that holds JSON, where no text may stand, is the value it holds (written as JSON twice, or as text between tags);
* a word in another case than the one listed is that word, where the target is known to change case.

What was mended is told, with its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple

from instrc.codecs.encode import Interpreter
from instrc.jsonvalue import Json, loads, pointer
from instrc.lifting.violations import Violation, Weight, violations, weighed

_TRIES = 60
"""Places that are tried one by one."""
_MOST_PACKED = 20
"""Texts that are tried to be read as what they hold."""
_WORDS: dict[str, Json] = {"True": True, "False": False}
"""As Python writes them, and models that were taught in it."""
_OF_TYPE = frozenset({"type", "enum", "const"})

Path = tuple[str | int, ...]


class Mend(NamedTuple):
    """One thing that was read otherwise than it was written."""

    instance: str
    """Where in the value, as a JSON Pointer; empty where the value was read anew as a whole."""
    what: Literal["null-left-out", "text-read", "case"]

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return self._asdict()


class Read(NamedTuple):
    """A value in our names and shapes, what is wrong with it, and what was mended."""

    value: Json
    broken: tuple[Violation, ...]
    mends: tuple[Mend, ...] = ()


def meant(record: dict[str, Any], arguments: Json) -> Read:
    """Return the value that the arguments of a call stand for by the map of its tool."""
    codec, schema = record.get("codec"), record["schema"]
    value = Interpreter(record, fold=False).decode(codec, arguments)
    broken = violations(schema, value)
    if not broken:
        return Read(value, ())
    now = weighed(schema, value)
    mends: tuple[Mend, ...] = ()
    for what, other in _readings(record, arguments):
        weight = weighed(schema, other)
        if weight.cost < now.cost:
            value, now, mends = other, weight, (*mends, Mend("", what))
    if now.cost and (names := _names(codec)):
        value, now, more = _unpacked(record, arguments, names.get("keys") or {}, Read(value, ()), now)
        mends = (*mends, *more)
    value, more = _in_places(schema, value, now)
    return Read(value, violations(schema, value), (*mends, *more))


def _unpacked(
    record: dict[str, Any], arguments: Json, back: dict[str, str], read: Read, now: Weight
) -> tuple[Json, Weight, list[Mend]]:
    """Read texts that hold objects and lists before names are turned into ours, so that the names in them are as well."""
    value, mends = read.value, []
    interpreter = Interpreter(record)
    for path in islice(_packed(arguments), _MOST_PACKED):
        trial = _applied(arguments, path, "text-read")
        other = interpreter.decode(record.get("codec"), trial)
        weight = weighed(record["schema"], other)
        if weight.cost < now.cost:
            arguments, value, now = trial, other, weight
            mends.append(Mend(pointer(back.get(step, step) if isinstance(step, str) else step for step in path), "text-read"))
    return value, now, mends


def _packed(arguments: Json) -> Iterator[Path]:
    """Yield the places of texts that hold an object or a list."""
    stack: list[tuple[Json, Path]] = [(arguments, ())]
    while stack:
        item, path = stack.pop()
        if isinstance(item, dict):
            stack.extend((inner, (*path, key)) for key, inner in item.items())
        elif isinstance(item, list):
            stack.extend((inner, (*path, index)) for index, inner in enumerate(item))
        elif isinstance(item, str) and path and item.lstrip().startswith(("{", "[")) and not isinstance(_held(item), str):
            yield path


def _readings(record: dict[str, Any], arguments: Json) -> list[tuple[Literal["text-read", "case"], Json]]:
    """Return other readings of the whole: with the case of words mended, with texts read where containers should stand."""
    codec = record.get("codec")
    if isinstance(arguments, str) and arguments.lstrip().startswith(("{", "[")):
        arguments = _held(arguments)
    readings: list[tuple[Literal["text-read", "case"], Json]] = []
    if (names := _names(codec)) and names.get("fold"):
        readings.append(("case", Interpreter(record).decode(codec, arguments)))
    if codec is not None:
        readings.append(("text-read", Interpreter(record, texts=True).decode(codec, arguments)))
    return readings


def _names(codec: Any) -> Any:
    """Return the codec of names, which may mend the case of words too; `None` if a lowering rebuilt more than names."""
    while codec is not None and codec["as"] == "box":
        codec = codec.get("codec")
    return codec if codec is not None and codec["as"] == "names" else None


def _held(text: str) -> Json:
    """Return the JSON value that a text holds; the text itself if it holds none."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def _in_places(schema: Json, value: Json, now: Weight) -> tuple[Json, list[Mend]]:
    """Mend a value place by place: first all that is wrong whatever was meant, then one place after the other."""
    certain = [mend for mend in _candidates(now) if mend[2]]
    if certain:
        trial = value
        for path, what, _ in certain:
            trial = _applied(trial, path, what)
        weight = weighed(schema, trial)
        if weight.cost <= now.cost - len(certain):
            value, now, mends = trial, weight, [Mend(pointer(path), what) for path, what, _ in certain]
        else:
            mends = []
    else:
        mends = []
    tried: set[tuple[Path, str]] = set()
    for _ in range(_TRIES):
        place = next(((path, what) for path, what, _ in _candidates(now) if (path, what) not in tried), None)
        if place is None or now.cost == 0:
            break
        tried.add(place)
        trial = _applied(value, *place)
        weight = weighed(schema, trial)
        if weight.cost < now.cost:
            value, now = trial, weight
            mends.append(Mend(pointer(place[0]), place[1]))
    return value, mends


_Place = tuple[Path, Literal["null-left-out", "text-read"], bool]


def _candidates(weight: Weight) -> list[_Place]:
    """Return the places at which a value might be mended, once each."""
    found: dict[tuple[Path, Literal["null-left-out", "text-read"]], bool] = {}
    for leaf in weight.leaves:
        if leaf.value is None and leaf.path and isinstance(leaf.path[-1], str):
            found[leaf.path, "null-left-out"] = found.get((leaf.path, "null-left-out"), False) or leaf.certain
        elif isinstance(leaf.value, str) and leaf.keyword in _OF_TYPE and not isinstance(_held(leaf.value), str):
            found[leaf.path, "text-read"] = found.get((leaf.path, "text-read"), False) or leaf.certain
    return [(path, what, certain) for (path, what), certain in found.items()]


def _applied(value: Json, path: Path, what: str) -> Json:
    """Return a copy of a value with one place mended; what is no longer there is left alone."""
    if not path:
        return _held(value) if isinstance(value, str) else value
    root: Any = [value]
    holder: Any = root
    key: Any = 0
    for step in path:
        inner = holder[key]
        holder[key] = inner = dict(inner) if isinstance(inner, dict) else list(inner) if isinstance(inner, list) else inner
        if not isinstance(inner, dict | list) or (step not in inner if isinstance(inner, dict) else not _within(step, inner)):
            return value
        holder, key = inner, step
    if what == "null-left-out":
        del holder[key]
    elif isinstance(holder[key], str):
        holder[key] = _held(holder[key])
    return root[0]


def _within(step: str | int, items: list[Json]) -> bool:
    return isinstance(step, int) and step < len(items)
