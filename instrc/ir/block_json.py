"""What the JSON of a block says beside its contexts, and the refusal of what cannot be understood."""

from __future__ import annotations

from typing import NoReturn, TypeAlias

from instrc.ir.chunk_json import is_count
from instrc.ir.engine_words import Place, fault_of, fault_of_word
from instrc.ir.flow import Body, Branch, Condition
from instrc.ir.reads import Constant, Read, Value, value_of
from instrc.ir.steps import Chunk
from instrc.jsonvalue import Json, JsonObject, pointer

BodyWithEngine: TypeAlias = tuple[JsonObject, Body]
Common: TypeAlias = "tuple[str | None, str | None, str | None, JsonObject | None, str | None]"
"""What any block says: its key, its deadline, its delay, further keywords, its definition."""


class UnreadableProcessError(ValueError):
    """Something that is no process: `pointer` leads to the part that shows it, `reason` is a short clause."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{reason} at {pointer or '/'}")
        self.pointer = pointer
        self.reason = reason


def refuse_process(pointer: str, reason: str) -> NoReturn:
    """Stop reading: this is no process."""
    raise UnreadableProcessError(pointer, reason)


OWN: dict[str, frozenset[str]] = {
    "do": frozenset({"type", "properties", "required"}),
    "each": frozenset({"type", "items", "minItems", "maxItems"}),
    "repeat": frozenset({"type", "items", "minItems", "maxItems"}),
}
"""The keywords of a block's schema that its parts say; of the others `anyOf`."""


def about_of(kind: str, schema: JsonObject) -> JsonObject | None:
    """Return what the schema of a block says beside its parts."""
    own = OWN.get(kind, {"anyOf"})
    return {word: each for word, each in schema.items() if word != kind and word not in own} or None


def least_of(schema: JsonObject) -> int | None:
    """Return how many rounds there are at least."""
    least = schema.get("minItems")
    return least if is_count(least) else None


def engine_property(kind: str, place: Place, schema: JsonObject, at: str) -> JsonObject:
    """Return the engine property of a block or a branch."""
    engine = schema.get(kind)
    if not isinstance(engine, dict):
        refuse_process(f"{at}/{kind}" if kind in schema else at, f"the engine property `{kind}` is missing")
    fault = fault_of(kind, place, engine)
    if fault is not None:
        way, reason = fault
        refuse_process(f"{at}/{kind}{pointer(way)}", reason)
    return engine


def timed(chunk: Chunk, place: str) -> Chunk:
    """Return a chunk whose deadlines and delays are durations, and whose `fail` is a boolean."""
    for step in chunk.steps:
        left = step.schema if isinstance(step.schema, dict) else {}  # what is no text is not read from there
        for word, said in (("within", step.engine.within), ("delay", step.engine.delay), ("fail", None)):
            value = left.get(word, said)
            fault = fault_of_word(word, value) if word in left or said is not None else None
            if fault is not None:
                refuse_process(place + pointer(("properties", step.key, word)), fault)
    return chunk


def is_branch(value: Json, number: int) -> bool:
    """Tell whether a value is the number of a branch."""
    return is_count(value) and value == number


def when_branches(bodies: list[BodyWithEngine], place: str) -> tuple[Branch, ...]:
    """Return the cases of a `when`; only the last of several can be its `else`."""
    found = tuple(
        Branch(condition_of(engine, place) if "path" in engine or "anyOf" in engine else None, body) for engine, body in bodies
    )
    for number, branch in enumerate(found):
        if branch.condition is None and (number == 0 or number < len(found) - 1):
            refuse_process(
                f"{place}/anyOf/{number}",
                "it says in `when` by a `path` and a `schema` when it runs; only the last can be the `else`",
            )
    return found


def condition_of(written: JsonObject, place: str) -> Condition:
    """Return a condition."""
    listed = written.get("anyOf")
    tests = listed if isinstance(listed, list) else [written]
    found = [
        (Read.parse(path), test.get("schema", True))
        for test in tests
        if isinstance(test, dict) and isinstance(path := test.get("path"), str)
    ]
    if len(found) < len(tests) or not found:
        refuse_process(place, "a condition says a `path` and a `schema`")
    return Condition(tuple(found))


def source_of(written: Json) -> Value:
    """Return what a block goes through: a list that is written out is no list of paths."""
    return Constant(written) if isinstance(written, int | list) else value_of(written)
