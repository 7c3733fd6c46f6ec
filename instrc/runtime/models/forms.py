"""Forms of requests to a model: known ones, and those that providers have refused."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from time import time
from typing import Final, Literal, NamedTuple

from instrc.runtime.models.database import create_private, transaction
from instrc.runtime.models.model import ModelError
from instrc.text.jsonvalue import Json, JsonObject

Form = Literal["forced", "choice", "output", "words"]
FORMS: Final[dict[Form, str]] = {
    "forced": "a tool that it must call",
    "choice": "a tool that it may call",
    "output": "the schema of its answer",
    "words": "the schema in the prompt",
}
"""Request forms in the order in which they are tried; answers are validated against the schema in every form."""


def forms_by(tool: str, output: str) -> dict[Form, str]:
    """Return all forms, each with its target: of tools, and of structured output."""
    return {"forced": tool, "choice": tool, "output": output, "words": output}


NO_THOUGHTS: Final = "thinking off"
"""Feature refused by models whose thinking cannot be disabled: they are asked with low effort instead."""
REMEMBERED: Final = 30 * 86_400.0
"""Seconds for which a refused form is remembered: models and servers change."""


class KnownModel(NamedTuple):
    """Facts about models that are known in advance."""

    kinds: str
    """Pattern of adapter names."""
    models: str
    """Pattern of model names."""
    refuses: frozenset[str]
    source: str
    date: str
    thinking: Literal["unless off", "if asked"] = "unless off"
    """When the model thinks, and thus refuses a forced tool."""

    def fits(self, kind: str, model: str) -> bool:
        """Return whether the facts apply to a model of an adapter."""
        return fnmatchcase(kind, self.kinds) and fnmatchcase(model.lower().rpartition("/")[2], self.models)


_FORCED: Final = frozenset({"forced"})
_ANTHROPIC: Final = (("anthropic*", ""), ("bedrock", "*anthropic."))
_ADAPTIVE: Final = "docs.aws.amazon.com/bedrock, adaptive thinking; 400 answers quoted in anomalyco/opencode#23007"
_CURRENT: Final = "anthropic 2.14.0, `ModelParam`; Anthropic's guide, extended thinking: tool_choice is auto or none"
KNOWN_MODELS: Final = (
    *(
        KnownModel(kinds, f"{start}claude-{family}-5*", _FORCED, _CURRENT, "2026-11-28")
        for kinds, start in _ANTHROPIC
        for family in ("opus", "sonnet", "haiku", "fable", "mythos")
    ),
    *(
        KnownModel(kinds, f"{start}claude-*-4-[678]*", _FORCED, _ADAPTIVE, "2026-11-28", "if asked")
        for kinds, start in _ANTHROPIC
    ),
    KnownModel("*", "deepseek-v4*", _FORCED, "400 answers quoted in deepseek-ai/DeepSeek-V3#1376", "2026-08-21"),
    KnownModel("*", "deepseek-flash*", _FORCED, "V4.1; 400 answers quoted in can1357/oh-my-pi#11505", "2026-09-10"),
    KnownModel("*", "kimi-k2.[67]*", _FORCED, "400 answers quoted in UKGovernmentBEIS/inspect_ai#5152", "2026-08-31"),
    KnownModel("openai", "gpt-5.6*", _FORCED | {"choice"}, "400 answers quoted in danny-avila/LibreChat#14231", "2026-07-13"),
    KnownModel("*", "qwen3.5*", _FORCED, "400 answers quoted in cloudwego/eino#994", "2026-04-24"),
)


def known_refusals(kind: str, model: str, reasoning: str | None) -> frozenset[str]:
    """Return the forms known to be refused by a model at a reasoning effort."""
    thinking = {"none": (), None: ("unless off",)}.get(reasoning, ("unless off", "if asked"))
    return frozenset(form for row in KNOWN_MODELS if row.fits(kind, model) and row.thinking in thinking for form in row.refuses)


_VERSION: Final = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2}))?(?!\d)")


def thinks_adaptively(model: str) -> bool:
    """Return whether an Anthropic model chooses its own reasoning effort: since 4.6 (AWS, adaptive thinking, 2026-11-28)."""
    version = _VERSION.search(model.lower())
    return version is not None and (int(version[1]), int(version[2] or 0)) >= (4, 6)


def thinking_of(model: str, form: Form, effort: Json) -> JsonObject:
    """Return the parameter of an Anthropic model for its thoughts at an effort; it refuses a forced tool while it thinks."""
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "adaptive"}} if effort and thinks_adaptively(model) and form != "forced" else {}


_NO: Final = re.compile(
    r"n(?:o|['’])t (?:yet )?(?:be )?(?:support|allow|permit|compatib|availab|enabled)|unsupported|unavailable|no endpoints"
    r"|incompatib|may not|cannot|can't|must be|only"
)
_NAMES: Final[dict[str, re.Pattern[str]]] = {
    "forced": re.compile(r"tool.?choice|function tools|tools? (?:use|calling)|allowed_function_names|function.?call"),
    "choice": re.compile(r"tool.?choice|\btools?\b|function.?call"),
    "output": re.compile(
        r"response.?format|output.?(?:config|format)|text.?format|json.?schema|structured.?output|response.?(?:schema|mime)"
    ),
    NO_THOUGHTS: re.compile(
        r"thinking.{0,40}(?:disabled|off)|reasoning.?effort.{0,60}none|thinking.?budget|disable.{0,20}thinking"
    ),
}
_OF_SCHEMA: Final = re.compile(r"invalid schema|schema for|for function|invalid_function_parameters")
"""Messages that reject the schema itself rather than the form."""


def is_refused(form: str, error: ModelError) -> bool:
    """Return whether an error is a 400 that names a form, or says that thinking cannot be disabled."""
    said = str(error).lower()
    names = _NAMES.get(form)
    of_form = error.code in {"400", "404", "422"} and names is not None and names.search(said) and _NO.search(said)
    return bool(of_form) and not _OF_SCHEMA.search(said)


_TABLE: Final = "forms (model TEXT, form TEXT, at REAL, said TEXT, PRIMARY KEY (model, form))"
_learned: dict[str, dict[str, float]] = {}
"""Features that each model refused in this process, with the time."""


class Refusal(NamedTuple):
    """A form that a provider has refused for a model."""

    model: str
    form: str
    at: float
    said: str


def learn(file: Path | None, model: str, form: str, said: str) -> None:
    """Remember that a form was refused: in this process, and if possible in the project's file."""
    _learned.setdefault(model, {})[form] = now = time()
    if file is not None:
        with suppress(sqlite3.Error, OSError):
            create_private(file)
            with transaction(file, _TABLE) as database:
                database.execute("INSERT OR REPLACE INTO forms VALUES (?, ?, ?, ?)", (model, form, now, said))


def refusals(file: Path | None) -> list[Refusal]:
    """Return the refusals in a project's file."""
    if file is not None and file.is_file():
        place = f"{file.absolute().as_uri()}?mode=ro"  # do not wait for writers: this is read before each request
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(place, uri=True)) as database:
            query = "SELECT model, form, at, said FROM forms WHERE at > ? ORDER BY model, at"
            return [Refusal(*row) for row in database.execute(query, (time() - REMEMBERED,))]
    return []


def forget(file: Path | None) -> int:
    """Delete the remembered refusals, and return the number of those in the project's file."""
    count = len(refusals(file))
    _learned.clear()
    if count and file is not None:
        with suppress(sqlite3.Error, OSError), transaction(file, _TABLE) as database:
            database.execute("DELETE FROM forms")
    return count


def refused_forms(file: Path | None, kind: str, model: str, name: str, reasoning: str | None) -> frozenset[str]:
    """Return the forms that are not tried: known to be refused by a model, or learned under its name."""
    since = time() - REMEMBERED
    here = {form for form, at in _learned.get(name, {}).items() if at > since}
    kept = {item.form for item in refusals(file) if item.model == name}
    return known_refusals(kind, model, reasoning) | here | kept


def forms_to_try(forms: Iterable[Form], refused: frozenset[str]) -> list[Form]:
    """Return the forms to try in order; if all were refused, only the last one."""
    several = list(forms)
    return [form for form in several if form not in refused] or several[-1:]
