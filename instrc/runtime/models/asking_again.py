"""Ask a model again with new information: another sample first, then what was wrong; never the same bytes at temperature 0."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from instrc.process.request_settings import RequestSettings
from instrc.runtime.activities import complaints
from instrc.runtime.models.model import Request, model_message
from instrc.runtime.models.settings import joined
from instrc.schema.strip import is_meta
from instrc.text.jsonvalue import Json, equal, mapping, tokens
from instrc.text.sentences import Sentences

TEMPERATURE: Final = 0.7
"""Minimum temperature of another sample: with it 13 of 17 invalid answers of a small model became valid, and none at 0."""


def attempt_of(request: Request) -> int:
    """Return the number of requests for an answer, including this one: 1 unless the previous answer was rejected."""
    number = "" if request.command is None else request.command["id"].rpartition("#")[2]
    again = request.command is not None and request.command["complaints"]
    return int(number) if again and number.isdecimal() else 1


def asked_again(
    request: Request, settings: RequestSettings, names: Container[str], *, samples: bool
) -> tuple[Request, tuple[str, ...]]:
    """Return a request in its sent form, and a note on how it differs from the first one.

    `settings` are the effective ones, `names` those that the provider supports; the model `samples` if its temperature
    may be set without a user setting.  Models tend to copy a failed answer, so one that samples is not shown it.
    """
    command, attempt = request.command, attempt_of(request)
    if command is None or attempt == 1:
        return request, ()
    schema = _without_refused(request)
    said = ["without the values that were refused"] if schema is not request.schema else []
    changed: RequestSettings = {}
    message = request.message
    if "temperature" in names and (samples or "temperature" in settings):
        changed["temperature"] = max(TEMPERATURE, settings.get("temperature", 0.0))
        if "seed" in names:
            changed["seed"] = settings.get("seed", 0) + attempt - 1
        said += [f"{name} {value:g}" for name, value in changed.items() if isinstance(value, int | float)]
        if message == model_message(command, request.sentences):
            shown = command["complaints"] if attempt > 2 else []
            message = model_message({**command, "rejected": None, "complaints": shown}, request.sentences)
            said.append("with what was wrong" if shown else "with the first message")
    if not said:
        return request, ()
    result = replace(request, message=message, schema=schema, settings=joined(request.settings, changed))
    return result, (f"asked again: {', '.join(said)}",)


def _without_refused(request: Request) -> Json:
    """Return the schema without enum values that a check has refused, unless another value could be meant."""
    command, schema = request.command, request.schema
    assert command is not None
    sentences, rejected = request.sentences, command["rejected"]
    of_form = {sentences.cut, sentences.looped, sentences.empty, sentences.twice}
    if rejected is None or any(item["message"] in of_form for item in command["complaints"]) or complaints(rejected, schema):
        return schema
    for item in command["complaints"]:
        with suppress(ValueError):  # a check may point anywhere
            schema = _narrowed(schema, rejected, tokens(item["pointer"]))
    return schema


def _narrowed(schema: Json, value: Json, path: list[str]) -> Json:
    """Return a schema that excludes a value at a path; below it, the value of an object's only member other than thoughts."""
    node = mapping(schema)
    if isinstance(value, dict):
        properties = mapping(node.get("properties"))
        seen = path[:1] or [name for name in value if not is_meta(name)]
        if len(seen) != 1 or seen[0] not in value or seen[0] not in properties:
            return schema
        part = _narrowed(properties[seen[0]], value[seen[0]], path[1:])
        return schema if part is properties[seen[0]] else {**node, "properties": {**properties, seen[0]: part}}
    listed = node.get("enum")
    left = [item for item in listed if not equal(item, value)] if isinstance(listed, list) and not path else []
    return {**node, "enum": left} if left else schema


def cut_complaint(text: str, sentences: Sentences) -> str:
    """Return the complaint about a truncated answer: it gets more room, unless it only repeats itself."""
    return sentences.looped if repeats(text) else sentences.cut


def repeats(text: str) -> bool:
    """Return whether a text ends in endless repetition, or in blanks only."""
    if len(text) >= _LOOP and not text[-_LOOP:].strip():
        return True
    tails = ((text[-most:], period) for period in range(1, _LOOP) if len(text) >= (most := max(_LOOP, period * _TIMES)))
    return any(tail[period:] == tail[:-period] for tail, period in tails)


_LOOP: Final = 200
"""Minimum characters of repeated text that count as a loop; one repetition is shorter."""
_TIMES: Final = 5
