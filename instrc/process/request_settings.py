"""Settings of requests to models, and the types of settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final, Literal, TypeAlias, TypedDict, cast, get_args, get_type_hints

from msgspec import Struct

from instrc.problems.suggest import nearest
from instrc.text.jsonvalue import Json, is_amount

HIGHEST_LIMIT: Final = 2_000_000_000
"""Largest limit that a project may set: a file of that size is read into memory."""
EFFORTS: Final = ("none", "low", "medium", "high", "xhigh")
WordsLevel: TypeAlias = Literal["all", "keys", "task", "none"]
"""How much of a schema the message contains: the keys with enum values, the keys, the task sentence, nothing."""
WORDS_LEVELS: Final[tuple[WordsLevel, ...]] = get_args(WordsLevel)


class Kind(Struct, frozen=True):
    """The type of a setting."""

    read: Callable[[object], object]
    """Return the converted value, or `None` if it is not of this kind."""
    reason: str
    """What the value must be, for messages."""
    choices: tuple[str, ...] = ()


def whole(least: int, most: int | None = None) -> Callable[[object], object]:
    """Return a reader of integers within bounds."""

    def read(value: object) -> object:
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= least and (most is None or value <= most)
        return value if fits else None

    return read


def one_of(choices: tuple[str, ...]) -> Kind:
    """Return the type of settings that accept one of several words."""
    words = [f"`{choice}`" for choice in choices]
    reason = f"it must be {', '.join(words[:-1])} or {words[-1]}"
    return Kind(lambda value: value if isinstance(value, str) and value in choices else None, reason, choices)


def _span(value: object) -> float | None:
    """Return a duration in seconds: from a number, ISO 8601, or a text such as `30s`."""
    if isinstance(value, str):
        from instrc.text.durations import from_words, is_duration, seconds

        text = value if is_duration(value) else from_words(value)
        value = None if text is None else seconds(text)
    return float(value) if is_amount(value) and value > 0 else None


def _words_level(value: object) -> object:
    """Return a level of words; `true` and `false` from earlier releases mean `all` and `none`."""
    level = {True: "all", False: "none"}[value] if isinstance(value, bool) else value
    return level if isinstance(level, str) and level in WORDS_LEVELS else None


def _parameters(value: object) -> object:
    from instrc.schema.validation import json_fault  # few projects have this table

    return value if isinstance(value, Mapping) and json_fault(cast("Json", dict(value))) is None else None


WHOLE: Final = Kind(whole(1, HIGHEST_LIMIT), "it must be a whole number from 1")
INTEGER: Final = Kind(whole(1 - 2**63, 2**63 - 1), "it must be a whole number")
NUMBER: Final = Kind(lambda value: value if is_amount(value) else None, "it must be a number from 0")
SPAN: Final = Kind(_span, "it must be a time span: a number of seconds, or a text such as `PT30S` or `30s`")
TRUTH: Final = Kind(lambda value: value if isinstance(value, bool) else None, "it must be `true` or `false`")
PARAMETERS: Final = Kind(_parameters, "it must be a table of the provider's own parameters")
EFFORT: Final = one_of(EFFORTS)
WORDS: Final = Kind(_words_level, one_of(WORDS_LEVELS).reason, WORDS_LEVELS)


class RequestSettings(TypedDict, total=False):
    """Settings of a request to a model, under the same names for every provider."""

    max_tokens: Annotated[int, WHOLE]
    context: Annotated[int, WHOLE]
    """Context window of the model for message and answer together, in tokens."""
    temperature: Annotated[float, NUMBER]
    seed: Annotated[int, INTEGER]
    timeout: Annotated[float, SPAN]
    """Timeout of one request, in seconds."""
    total_timeout: Annotated[float, SPAN]
    """Timeout of all attempts at a request, pauses included, in seconds."""
    attempts: Annotated[int, WHOLE]
    reasoning: Annotated[str, EFFORT]
    """Reasoning effort of the model."""
    words: Annotated[WordsLevel, WORDS]
    """How much of the schema the message contains, if the model does not receive it otherwise."""
    extra: Annotated[Mapping[str, Json], PARAMETERS]
    """Parameters under the provider's own names."""
    rpm: Annotated[int, WHOLE]
    """Maximum requests per minute."""
    tpm: Annotated[int, WHOLE]
    """Maximum tokens per minute."""
    parallel: Annotated[int, WHOLE]
    """Maximum concurrent requests."""
    cooldown: Annotated[float, SPAN]
    """Pause in requests to a model after three failures in a row, if another model is available, in seconds."""


PER_MODEL: Final = frozenset({"rpm", "tpm", "parallel", "cooldown"})
"""Settings that apply to a model, whichever vibe uses it."""
Fault: TypeAlias = tuple[str, str, tuple[str, ...]]
"""Name of the setting, why it cannot be used, and possible corrections."""
_ACCESS: Final = r"(?i)url$|^api|key$|host|address|endpoint"
_FROM_ENVIRONMENT: Final = (
    "keys and addresses of providers come from the environment, such as `OPENAI_API_KEY` and `LLAMACPP_BASE_URL`; "
    "`instrc doctor` names all of them"
)


def request_settings(table: Mapping[str, object]) -> tuple[RequestSettings, list[Fault]]:
    """Return the effective settings of a request, and their problems."""
    values, faults = read_values(kinds_of(RequestSettings), table, "there is no such setting of a request")
    hidden = {key for key in table if key not in RequestSettings.__annotations__ and re.search(_ACCESS, key)}
    return cast("RequestSettings", values), [
        (key, _FROM_ENVIRONMENT if key in hidden else reason, close) for key, reason, close in faults
    ]


def read_values(kinds: Mapping[str, Kind], table: Mapping[str, object], unknown: str) -> tuple[dict[str, object], list[Fault]]:
    """Return the values of a table by their kinds, and its problems."""
    values: dict[str, object] = {}
    faults: list[Fault] = []
    for key, value in table.items():
        if (kind := kinds.get(key)) is None:
            faults.append((key, unknown, nearest(key, tuple(kinds))))
        elif (result := kind.read(value)) is None:
            faults.append((key, kind.reason, nearest(value, kind.choices) if isinstance(value, str) else ()))
        else:
            values[key] = result
    return values, faults


def kinds_of(declaration: type) -> dict[str, Kind]:
    """Return the kind of each setting that a class declares with one."""
    hints = get_type_hints(declaration, include_extras=True)
    return {key: hint.__metadata__[0] for key, hint in hints.items() if hasattr(hint, "__metadata__")}


def is_model_pattern(pattern: str) -> bool:
    """Return whether a pattern of `[tool.instrc.models]` matches models, such as `openai:*`, rather than vibes."""
    return ":" in pattern and not pattern.startswith("aug:")


def joined_names(value: object) -> str | None:
    """Return a name, or a list of names joined by commas, or `None` if it is neither."""
    names = value if isinstance(value, list) else [value]
    stripped = [name.strip() for name in names if isinstance(name, str)]
    return ", ".join(stripped) if stripped and all(stripped) and len(stripped) == len(names) else None
