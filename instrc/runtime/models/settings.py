"""Request settings from a project, a command or a Python program, and the limit of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, cast

from msgspec import Struct, field

from instrc.process.request_settings import RequestSettings, is_model_pattern
from instrc.runtime.interpreter.documents import bare_name
from instrc.schema.vocabulary import TEMPERATURE
from instrc.schema.walk import map_schemas
from instrc.text.jsonvalue import Json, JsonObject, as_object, is_amount, mapping

TIMEOUT: Final = 600.0
"""Default timeout of one request, in seconds: several libraries wait for ever."""


class RequestTable(Struct, frozen=True):
    """Request settings by scope; narrower ones win: a run, a model, a vibe, and arguments for this run."""

    general: RequestSettings = field(default_factory=RequestSettings)
    by_pattern: Mapping[str, RequestSettings] = field(default_factory=dict)
    """Settings by name or pattern of a model or vibe."""
    given: RequestSettings = field(default_factory=RequestSettings)
    """Settings from `--set` or from arguments in Python."""
    server: str = ""
    """URL of the PostgreSQL database in which all machines of the project count requests and tokens, if any."""

    def of_model(self, words: str) -> RequestSettings:
        """Return the settings of every request to a model; among patterns, longer ones count as narrower."""
        fitting = [pattern for pattern in self.by_pattern if is_model_pattern(pattern) and fnmatchcase(words, pattern)]
        return joined(self.general, *(self.by_pattern[pattern] for pattern in sorted(fitting, key=len)))

    def of_steps(self, steps: Sequence[str], said: Sequence[float] = ()) -> RequestSettings:
        """Return the settings of a chunk: those of its first step override the others, and those of this run override all."""
        result: list[RequestSettings] = []
        for step in reversed(steps):
            name = bare_name(step)
            patterns = {item: bare_name(item.rpartition("/")[2]) for item in self.by_pattern if not is_model_pattern(item)}
            fitting = [pattern for pattern, bare in patterns.items() if fnmatchcase(name, bare)]
            result += [self.by_pattern[pattern] for pattern in sorted(fitting, key=len)]
        own: list[RequestSettings] = [{"temperature": value} for value in said[:1]]
        return joined(*result, *own, self.given)


def temperatures(schema: Json, steps: Sequence[str]) -> list[float]:
    """Return the temperatures of steps without duplicates; without steps, that of the schema itself."""
    parts = mapping(mapping(schema).get("properties"))
    nodes = [mapping(parts.get(step)) for step in steps] or [mapping(schema)]
    return list(dict.fromkeys(float(value) for node in nodes if is_amount(value := node.get(TEMPERATURE))))


def joined(*parts: RequestSettings) -> RequestSettings:
    """Return merged settings, where later ones win; provider parameters under `extra` are merged individually."""
    result: JsonObject = {}
    for part in parts:
        extra = {**cast("JsonObject", result.get("extra", {})), **cast("JsonObject", part.get("extra", {}))}
        result |= cast("JsonObject", part)
        if extra:
            result["extra"] = extra
    return cast("RequestSettings", result)


LEAST_BOUND: Final = 256
THOUGHT_LETTERS: Final = 800
"""Maximum characters of a thought without a length, where only a grammar ends it."""
MOST_BOUND: Final = 16_384
"""Maximum estimate in tokens; a first answer is limited between both bounds, and each time it is cut off the limit doubles."""
_THOUGHT = 400
"""Assumed tokens of a thought without a length."""
_TEXT = 1_000
"""Assumed tokens of any other text without a length."""
_ITEMS = 8
"""Assumed items of a list without a length."""
_LETTERS = 2
"""Assumed characters per token: low, because of non-Latin scripts."""
_DEEPEST = 6
"""Maximum levels of recursive references that are counted."""


def with_short_thoughts(schema: Json) -> Json:
    """Return a schema in which thoughts (texts with `_` names) without a maximum length get one.

    A grammar lets a small model think until its answer is truncated; ending a thought early costs nothing.
    """
    return map_schemas(schema, _shortened)


_BOUNDED = frozenset({"maxLength", "enum", "const", "format", "pattern"})


def _shortened(node: Json) -> Json:
    properties = mapping(mapping(node).get("properties"))
    thoughts = {
        name: {**part, "maxLength": THOUGHT_LETTERS}
        for name, part in properties.items()
        if name.startswith("_") and isinstance(part, dict) and part.get("type") == "string" and _BOUNDED.isdisjoint(part)
    }
    return {**as_object(node), "properties": {**properties, **thoughts}} if thoughts else node


def answer_bound(schema: Json) -> int:
    """Return the maximum tokens of an answer to a schema, from its lengths and numbers of items."""
    result = _bound(schema, mapping(mapping(schema).get("$defs")), "", 0)
    return max(LEAST_BOUND, min(result, MOST_BOUND))


def _bound(schema: Json, definitions: JsonObject, name: str, depth: int) -> int:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return _TEXT if schema is True else 0
    if isinstance(ref := schema.get("$ref"), str):
        return _bound(definitions.get(ref.rpartition("/")[2]), definitions, name, depth + 1)
    if isinstance(values := schema.get("enum"), list):
        return max((len(str(value)) for value in values), default=0) // _LETTERS + 4
    if "const" in schema:
        return len(str(schema["const"])) // _LETTERS + 4
    branches = [item for word in ("anyOf", "oneOf") if isinstance(result := schema.get(word), list) for item in result]
    most = max((_bound(item, definitions, name, depth) for item in branches), default=0)
    kinds = schema.get("type")
    if kinds == "string" or (isinstance(kinds, list) and "string" in kinds):
        length = schema.get("maxLength")
        usual = _THOUGHT if name.startswith("_") else _TEXT
        most = max(most, min(int(length) // _LETTERS + 4, usual * 4) if isinstance(length, int | float) else usual)
    if isinstance(properties := schema.get("properties"), dict):
        parts = [len(key) // _LETTERS + 6 + _bound(part, definitions, key, depth) for key, part in properties.items()]
        most = max(most, sum(parts) + 4)
    for word, least in (("items", "maxItems"), ("additionalProperties", "maxProperties")):
        if isinstance(part := schema.get(word), dict):
            count = int(given) if isinstance(given := schema.get(least), int | float) else _ITEMS
            most = max(most, count * (_bound(part, definitions, name, depth) + 4))
    return most or 24
