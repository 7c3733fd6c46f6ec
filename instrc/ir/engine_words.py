"""What the engine property of a block may say, word by word: what a reader would not understand is named, not passed over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from instrc.durations import is_duration, is_no_time
from instrc.ir.chunk_json import is_count
from instrc.ir.reads import is_value
from instrc.jsonvalue import Json, JsonObject

Place: TypeAlias = Literal["block", "branch"]
"""Where an engine property stands: on the whole block, or in one of its branches."""
MisplacedWord: TypeAlias = tuple[tuple[str | int, ...], str]
"""The way to the word, and what is wrong with it in a short clause."""


def fault_of(kind: str, place: Place, engine: JsonObject) -> MisplacedWord | None:
    """Return the first thing that is wrong with an engine property; what is missing is told at the property itself."""
    words = _WORDS[kind, place]
    for word, value in engine.items():
        if word not in words:
            return (word,), f"`{kind}` has no `{word}` here: it takes {', '.join(f'`{each}`' for each in words)}"
        sound, reason = _SHAPES[word]
        if not sound(value):
            return (word,), reason
    match kind:
        case "each":
            return (
                None if {"item", "in"} <= engine.keys() else ((), "it says the name of an element (`item`) and the list (`in`)")
            )
        case "repeat":
            return _of_repeat(engine)
        case "else" if "of" not in engine:
            return (), "it says of which `repeat` it is the `else`"
        case "when" if place == "branch":
            return _of_condition(engine, ())
        case _:
            return None


def _of_repeat(engine: JsonObject) -> MisplacedWord | None:
    if ("item" in engine) != ("in" in engine):
        return (), "the name of an element (`item`) and the list (`in`) stand together"
    until = engine.get("until")
    if isinstance(until, dict):
        for word in until:
            if word not in _CONDITION:
                return ("until", word), f"a condition has no `{word}`: it takes {', '.join(f'`{each}`' for each in _CONDITION)}"
        return _of_condition(until, ("until",)) if until else (("until",), _NO_CONDITION)
    return None if "in" in engine else ((), "it says when it ends (`until`), or the list that it goes through (`item`, `in`)")


def _of_condition(engine: JsonObject, way: tuple[str | int, ...]) -> MisplacedWord | None:
    """Return what is wrong with a condition; one that says nothing is that of an `else`."""
    said = {word: engine[word] for word in _CONDITION if word in engine}
    listed = said.get("anyOf")
    if not said:
        return None
    if "anyOf" in said and len(said) > 1:
        return way, "a condition is one `path` with its `schema`, or a list of these in `anyOf`"
    if "anyOf" in said and not (isinstance(listed, list) and listed):
        return (*way, "anyOf"), "it is a list of conditions"
    tests: list[tuple[tuple[str | int, ...], Json]] = [(way, said)]
    if isinstance(listed, list):
        tests = [((*way, "anyOf", number), test) for number, test in enumerate(listed)]
    for place, test in tests:
        if not isinstance(test, dict) or test.keys() != {"path", "schema"}:
            return place, _NO_CONDITION
        for word, value in test.items():
            sound, reason = _SHAPES[word]
            if not sound(value):
                return (*place, word), reason
    return None


def fault_of_word(word: str, value: Json) -> str | None:
    """Return what is wrong with what a word holds, whatever stands beside it; `None` if nothing is."""
    sound, reason = _SHAPES[word]
    return None if sound(value) else reason


def _is_span(value: Json) -> bool:
    return isinstance(value, str) and is_duration(value)


def _is_deadline(value: Json) -> bool:
    return isinstance(value, str) and is_duration(value) and not is_no_time(value)


def _is_schema(value: Json) -> bool:
    return isinstance(value, dict | bool)


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


def _is_source(value: Json) -> bool:
    """Tell whether a value can be a list, or a number of rounds."""
    match value:
        case {"const": constant, **others} if not others:
            return constant is None or isinstance(constant, list) or is_count(constant)
        case {"path": str(path), "optional": bool(), **others} if not others:
            return bool(path)
        case str() | list():
            return bool(value) or isinstance(value, list)
        case _:
            return is_count(value)


def _is_rounds(value: Json) -> bool:
    return is_count(value) and value > 0


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_NO_CONDITION = "a condition says a `path` and a `schema`"
_DELAY = 'it is a duration of ISO 8601 without years and months: `"P2D"` is two days, `"PT30S"` half a minute'
_DEADLINE = _DELAY.replace("without", "that is not zero, without")
_Shape: TypeAlias = tuple[Callable[[Json], bool], str]
_SHAPES: dict[str, _Shape] = {
    "key": (_is_text, "it is the key by which others read the block, a text"),
    "within": (_is_deadline, _DEADLINE),
    "delay": (_is_span, _DELAY),
    "value": (is_value, 'it is a path, `{ "const": … }`, or a list or an object of these'),
    "item": (_is_text, "it is the name of an element, a text"),
    "in": (_is_source, "it is the path to a list, a number, or a list in `const`"),
    "until": (lambda value: isinstance(value, dict), _NO_CONDITION),
    "keep": (_is_rounds, "it is the number of rounds that are shown, 1 or more"),
    "hands": (_is_texts, "it is a list of keys"),
    "fail": (lambda value: isinstance(value, bool), "it says by `true` that the step ends its block as failed"),
    "of": (_is_text, "it is the name of a `repeat` beside it"),
    "path": (_is_text, "it is a path"),
    "schema": (_is_schema, "it is a schema"),
    "anyOf": (lambda value: isinstance(value, list), "it is a list of conditions"),
}
"""What a word holds, and how that is said."""
_COMMON = ("key", "within", "delay")
_CONDITION = ("path", "schema", "anyOf")
_WORDS: dict[tuple[str, Place], tuple[str, ...]] = {
    ("when", "block"): _COMMON,
    ("when", "branch"): (*_CONDITION, "value"),
    ("try", "block"): _COMMON,
    ("try", "branch"): ("value",),
    ("each", "block"): ("item", "in", "value", *_COMMON),
    ("repeat", "block"): ("until", "item", "in", "keep", "hands", "value", *_COMMON),
    ("else", "branch"): ("of", "value"),
    ("do", "block"): ("value", *_COMMON),
}
"""The words of each block, by where they stand."""
