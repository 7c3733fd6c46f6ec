"""Settings: what the table `[tool.instrc]` of a project says, and all that is wrong with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct, field

from instrc.problems.errors import SettingsError
from instrc.problems.suggest import nearest
from instrc.process.request_settings import RequestSettings, is_model_pattern
from instrc.text.durations import is_duration
from instrc.text.files import TomlError, read_regular, read_toml
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, is_amount
from instrc.text.sentences import EN, SENTENCES, Sentences
from instrc.text.sentences import NAMES as SENTENCE_NAMES
from instrc.text.source import Source, Span

if TYPE_CHECKING:
    from instrc.vibes.service_settings import ServiceSettings


class RunSettings(RequestSettings, total=False):
    """How programs are run, where nothing else is said."""

    model: str
    """Several, divided by commas, are asked one after the other until one answers."""
    engine: str
    store: str
    asks: int
    elements: int
    requests: int
    tokens: int
    reconnect: int
    """Seconds for which a run waits for a server that was lost."""
    traces: str
    """The URL of a database for the traces of runs on Temporal."""
    failed: str
    """`hold` or `fail`: what happens to a run for a reason that passes."""
    keep: str
    """How long runs are kept that have ended, as `P30D`."""
    budget: str
    """What models may cost, as `2 USD` or `5 USD/day`; several, divided by commas."""
    cache: str
    """The file of answers that are not asked for twice, from the folder of the project."""


class Settings(Struct, frozen=True):
    """What a project has set; `None` and empty where it has not."""

    roots: tuple[Path, ...] = ()
    """Workspace folders, earlier ones first, as they are shown."""
    shared: tuple[Path, ...] = ()
    hint: str | None = None
    sentences: Sentences = EN
    """All that is said to a model, with `hint` in it."""
    naming: Literal["step", "camel", "plain"] | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    keywords: frozenset[str] = frozenset()
    """Keywords and formats of schemas that the project has for itself."""
    templates: bool = False
    """Texts of programs are templates that other code fills in."""
    activities: Mapping[str, object] = field(default_factory=dict)
    """By name: `package.module:function`, the address of a process, or a table."""
    models: Mapping[str, str] = field(default_factory=dict)
    """The model that answers, by name or pattern of a vibe."""
    requests: Mapping[str, RequestSettings] = field(default_factory=dict)
    """How models are asked, by name or pattern of a vibe or of a model (`openai:*`)."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What models cost, by name or pattern of a model: `input` and `output`, in US dollars for a million tokens."""
    checks: Mapping[str, str] = field(default_factory=dict)
    """`package.module:function` by name of a vibe."""
    run: RunSettings = field(default_factory=RunSettings)
    """How programs are run, where nothing else is said."""
    service: ServiceSettings | None = None
    """Who may do what with a service of its programs; `None` if nothing is set."""
    file: Path | None = None
    """The `pyproject.toml` they are from."""


SETTINGS_BYTES: Final = 1024 * 1024
"""Of a `pyproject.toml`."""
HIGHEST_LIMIT: Final = 2_000_000_000
"""The largest limit that a project may set: a file of that size is read into memory."""


def readable_path(path: Path) -> Path:
    """Return a path as a person would write it here: relative if it lies below the working folder."""
    below = os.path.relpath(path)
    return path if below.startswith("..") else Path(below)


_HEADER = r"(?im)^\s*\[\s*(?:tools?\s*\.\s*)?[\"']?instrc\b"
"""The header of our table, and what is written for it by mistake."""


def entry_place(source: Source, word: str) -> Span:
    """Return where a word first stands after the table's header."""
    header = re.search(_HEADER, source.text)
    found = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(source.text, header.end() if header else 0)
    return source.span(*found.span()) if found else source.span(*header.span()) if header else source.whole()


def header_place(source: Source, table: str) -> Span:
    """Return where the last part of a table's name stands in its header."""
    name = table.rpartition(".")[2]
    found = re.search(rf"^\s*\[[^\]\n]*?({re.escape(name)})\b", source.text, re.MULTILINE)
    return source.whole() if found is None else source.span(*found.span(1))


def error_place(source: Source, error: TomlError) -> Span:
    """Return the sign at which a text is no TOML."""
    if error.line is None or error.column is None:
        return source.whole()
    lines = source.text.split("\n")[: error.line - 1]
    start = sum(len(line) + 1 for line in lines) + error.column - 1
    start = min(start, max(len(source.text) - 1, 0))
    return source.span(start, min(start + 1, len(source.text)))


_OURS = "instrc"
_HEADERS = r"(?m)^\s*\[\s*tools?\s*\.\s*[\"']?([\w-]+)"


def has_similar_header(text: str) -> bool:
    """Tell, without a reader of TOML, whether a header of a table may be ours with a letter wrong."""
    return any(map(_is_similar, re.findall(_HEADERS, text)))


def _is_similar(name: str) -> bool:
    if name == _OURS or abs(len(name) - len(_OURS)) > 1 or not set(name.lower()) & set(_OURS[:2]):
        return False
    from instrc.problems.suggest import is_a_slip_of  # few projects have a tool of such a name

    return is_a_slip_of(name.lower(), _OURS)


def misplaced_table(document: Mapping[str, object]) -> str | None:
    """Return the name of a table that would be ours, were its name right; one that is similar only where ours is missing."""
    tools, plural = document.get("tool"), document.get("tools")
    for above, table in (("", document), ("tools.", plural), ("tool.", tools)):
        for name in _names(table):
            if name.lower() == _OURS and (above, name) != ("tool.", _OURS):
                return f"{above}{name}"
    if _OURS in _names(tools):
        return None
    return next((f"tool.{name}" for name in _names(tools) if _is_similar(name)), None)


def _names(table: object) -> Iterable[str]:
    return table if isinstance(table, Mapping) else ()


T = TypeVar("T")
KEYS = (
    "roots",
    "shared",
    "hint",
    "prompts",
    "naming",
    "limits",
    "keywords",
    "templates",
    "activities",
    "models",
    "prices",
    "checks",
    "run",
    "serve",
    "people",
)
RUN = (
    "model",
    "engine",
    "store",
    "requests",
    "tokens",
    "asks",
    "elements",
    "reconnect",
    "traces",
    "failed",
    "keep",
    "cache",
    "budget",
)
"""Settings of `[tool.instrc.run]`, beside those of `REQUEST`."""
REQUEST: Mapping[str, str] = {
    "max_tokens": "whole",
    "context": "whole",
    "temperature": "number",
    "seed": "integer",
    "timeout": "span",
    "total_timeout": "span",
    "attempts": "whole",
    "reasoning": "effort",
    "words": "truth",
    "extra": "table",
    "rpm": "whole",
    "tpm": "whole",
    "parallel": "whole",
    "cooldown": "span",
}
"""Settings of a request and their kinds: for all in `[tool.instrc.run]`, for a model or vibe under `[tool.instrc.models]`."""
OF_MODELS = frozenset({"rpm", "tpm", "parallel", "cooldown"})
"""Those that hold for a model, whoever asks it."""
EFFORTS = ("none", "low", "medium", "high")
_KINDS = {
    "whole": "it is a whole number from 1",
    "number": "it is a number from 0",
    "integer": "it is a whole number",
    "span": "it is a span of time: a number of seconds, or a text such as `PT30S` or `30s`",
    "effort": f"it is one of {', '.join(f'`{each}`' for each in EFFORTS)}",
    "truth": "it is `true` or `false`",
    "table": "it is a table of the provider's own parameters",
}
ENGINES = ("memory", "durable", "temporal")
"""What `engine` names."""
LIMITS = ("source", "vibe", "schema")
"""`source` and `vibe` count the bytes of a file (1 MiB each unless set), `schema` the nodes of a composed schema."""
_OF_TARGETS = "a provider is chosen with `instrc compile --target NAME`, or `targets` of the library"
_ELSEWHERE = {
    "target": _OF_TARGETS,
    "targets": _OF_TARGETS,
    "provider": _OF_TARGETS,
    "strict": "`instrc check --strict` takes warnings for errors; a strict schema is a target, as `--target anthropic-strict`",
    "emit": "what is written is chosen with `instrc compile --emit NAME`",
    "recursion": "what is done about recursive schemas is chosen with `instrc compile --target NAME --recursion NAME`",
}
"""Options of commands that are no settings, and where they are chosen."""
_FUNCTION = r"[^\s:]+:[^\s:]+"  # patterns are compiled when they are needed
_PLACEHOLDER = r"\{\w*\}"
_MAY_BE_SET = r"""(?im)^[ \t]*\[.*instrc|instrc["']?[ \t]*(?:\.|=(?!=))"""
"""The name in a header or as a key; as a dependency it sets nothing."""
_Wrong: TypeAlias = tuple[Span, str, str, tuple[str, ...]]
"""Where, which setting, why, and what may have been meant."""


def read_file(file: Path) -> Settings:
    """Return what a `pyproject.toml` says; a `SettingsError` tells all that is wrong with it."""
    name = readable_path(file).as_posix()
    try:
        data = read_regular(str(file), SETTINGS_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else (error.strerror or "no reason").lower()
        raise _error([(Source(name, "").whole(), "", reason, ())]) from None
    if len(data) > SETTINGS_BYTES:
        raise _error([(Source(name, "").whole(), "", f"it is larger than {SETTINGS_BYTES:,} bytes", ())])
    if re.search(_MAY_BE_SET, text) is None and not has_similar_header(text):
        return Settings(file=file)  # spares the import of the TOML reader
    source = Source(name, text)
    try:
        document = read_toml(text)
    except TomlError as error:
        raise _error([(error_place(source, error), "", error.reason, ())]) from None
    tools = document.get("tool", {})
    if misplaced := misplaced_table(document):
        raise _error([(header_place(source, misplaced), misplaced, "the settings are in the table `[tool.instrc]`", ())])
    table = tools.get("instrc", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise _error([(entry_place(source, "instrc"), "tool.instrc", "it is a table", ())])
    return _SettingsReader(source, file, table).settings()


def _error(wrong: list[_Wrong]) -> SettingsError:
    from instrc.problems.settings import InvalidSettings  # as in `refusals`

    return SettingsError(InvalidSettings(at=at, key=key, reason=reason, nearest=close) for at, key, reason, close in wrong)


class _SettingsReader:
    """One `[tool.instrc]` table; all that is wrong with it is said at once."""

    def __init__(self, source: Source, file: Path, table: Mapping[str, object]) -> None:
        self.source = source
        self.file = file
        self.table = table
        self.wrong: list[_Wrong] = []

    def settings(self) -> Settings:
        for key in self.table:
            if key not in KEYS:
                place = _place_of(key)
                reason = "there is no such setting" + (f": {place}" if place else "")
                self._wrong(key, reason, () if place else nearest(key, KEYS))
        naming, hint = self._naming(), self._hint()
        models, requests = self._models()
        templates = self.table.get("templates", False)
        if not isinstance(templates, bool):
            self._wrong("templates", "it is `true` or `false`")
        roots, shared = self._folders("roots"), self._folders("shared")
        told = any(key == "shared" for _, key, *_ in self.wrong)
        for folder in () if told else (folder for folder in shared if folder in roots):
            self._wrong("shared", f"`{folder.as_posix()[:80]}` is one of `roots` already: its vibes would have two names")
        settings = Settings(
            templates=templates is True,
            roots=roots,
            shared=shared,
            hint=hint,
            sentences=self._sentences(hint),
            naming=naming,
            limits=self._limits(),
            keywords=self._keywords(),
            activities=self._functions("activities", (str, dict), "`module:function`, addresses or tables"),
            models=models,
            requests=requests,
            prices=self._prices(),
            checks=cast("Mapping[str, str]", self._functions("checks", (str,), "`module:function`")),
            run=self._run(),
            service=self._service(),
            file=self.file,
        )
        if self.wrong:
            raise _error(self.wrong)
        return settings

    def _hint(self) -> str | None:
        hint = self.table.get("hint")
        if hint is None:
            return None
        if not isinstance(hint, str):
            self._wrong("hint", "it is a text")
            return None
        if unknown := set(re.findall(_PLACEHOLDER, hint)) - {"{paths}"}:
            self._wrong("hint", f"nothing is put in the place of `{min(unknown)}`: what a step reads is `{{paths}}`")
        elif "{paths}" not in hint:
            self._wrong("hint", "it names nothing that a step reads: write `{paths}` where the names belong")
        return hint

    def _sentences(self, hint: str | None) -> Sentences:
        """Return what is said to a model: in a language, with the sentences that the project has replaced."""
        written = self.table.get("prompts", "en")
        said: dict[str, object] = dict(written) if isinstance(written, dict) else {"language": written}
        language = said.pop("language", "en")
        if not isinstance(language, str) or language not in SENTENCES:
            known = ", ".join(f'`"{each}"`' for each in SENTENCES)
            self._wrong("prompts", f"it is a language ({known}), or a table of `language` and sentences", word="prompts")
            return EN
        found = SENTENCES[language]
        tables = {
            "faults": (found.faults, "it is a table of texts by keyword of JSON Schema, or by English sentence"),
            "notes": (found.notes, "it is a table of texts by keyword of JSON Schema"),
        }
        changed: dict[str, dict[str, str]] = {}
        for name, (usual, reason) in tables.items():
            texts = said.pop(name, {})
            if not isinstance(texts, dict) or not all(isinstance(each, str) and each.strip() for each in texts.values()):
                self._wrong(f"prompts.{name}", reason, word=name)
                return EN
            changed[name] = {**usual, **texts}
        for keyword in changed["notes"].keys() - found.notes.keys():
            near = nearest(keyword, tuple(found.notes))
            self._wrong(f"prompts.notes.{keyword}", "there is no such sentence", near, word=keyword)
        found = replace(found, faults=changed["faults"], notes=changed["notes"])
        for name, sentence in said.items():
            if name not in SENTENCE_NAMES:
                self._wrong(f"prompts.{name}", "there is no such sentence", nearest(name, SENTENCE_NAMES), word=name)
            elif not isinstance(sentence, str) or not sentence.strip():
                self._wrong(f"prompts.{name}", "it is a text", word=name)
            elif (fault := found.fault_of(name, sentence)) is not None:
                self._wrong(f"prompts.{name}", fault, word=name)
        if self.wrong:
            return EN
        texts = {name: sentence for name, sentence in said.items() if isinstance(sentence, str)}
        return found.changed(texts if hint is None else {**texts, "hint": hint})

    def _naming(self) -> Literal["step", "camel", "plain"] | None:
        match self.table.get("naming"):
            case None:
                return None
            case "step":
                return "step"
            case "camel":
                return "camel"
            case "plain":
                return "plain"
        self._wrong("naming", 'it is `"step"`, `"camel"` or `"plain"`')
        return None

    def _folders(self, key: str) -> tuple[Path, ...]:
        written = self.table.get(key, [])
        if not isinstance(written, list) or not all(isinstance(item, str) and item and "\0" not in item for item in written):
            one = isinstance(written, str) and written and "\0" not in written
            self._wrong(key, f"it is a list of folders{_as_list(key, written) if one else ''}")
            return ()
        for item in dict.fromkeys(item for item in written if written.count(item) > 1):
            self._wrong(key, f"it names `{item[:80]}` twice")
        folders = [(item, Path(os.path.normpath(self.file.parent / item))) for item in written]
        for item, folder in folders:
            if not os.path.isdir(folder):  # noqa: PTH112  -- no error for a name that is too long
                self._wrong(key, f"there is no folder `{item if len(item) <= 80 else item[:79] + '…'}`", word=item)
        return tuple(readable_path(folder) for _, folder in folders)

    def _keywords(self) -> frozenset[str]:
        written = self.table.get("keywords", [])
        if not isinstance(written, list) or not all(isinstance(item, str) and item for item in written):
            one = isinstance(written, str) and written
            self._wrong("keywords", f"it is a list of keywords{_as_list('keywords', written) if one else ''}")
            return frozenset()
        return frozenset(written)

    def _table(self, key: str, kinds: tuple[type[T], ...], reason: str) -> dict[str, T]:
        written = self.table.get(key, {})
        if not isinstance(written, dict) or not all(isinstance(value, kinds) for value in written.values()):
            self._wrong(key, f"it is a table, and {reason}")
            return {}
        return written

    def _functions(self, key: str, kinds: tuple[type, ...], kind: str) -> Mapping[str, object]:
        """Return a table of what carries something out; what is no name of a function, or says nothing, is told."""
        written: dict[str, object] = self._table(key, kinds, f"its values are {kind}")
        for name, value in written.items():
            if not value or (isinstance(value, str) and not re.fullmatch(_FUNCTION, value)):
                self._wrong(f"{key}.{name}", f"its values are {kind}", word=name)
        return written

    def _models(self) -> tuple[Mapping[str, str], Mapping[str, RequestSettings]]:
        """Return the models by vibe, and the settings of requests by vibe or model."""
        models: dict[str, str] = {}
        requests: dict[str, RequestSettings] = {}
        written: Mapping[str, object] = self._table("models", (str, list, dict), "its values are models, or tables of settings")
        for name, value in written.items():
            table = dict(value) if isinstance(value, dict) else {"model": value}
            if "model" in table:
                words = model_words(table.pop("model"))
                if words is None:
                    self._wrong(f"models.{name}", "it is the name of a model, or a list of names", word=name)
                elif is_model_pattern(name):
                    self._wrong(f"models.{name}", "this is a model itself: it has a table of settings", word=name)
                else:
                    models[name] = words
            made, wrong = request_settings(table)
            for key, reason, close in wrong:
                self._wrong(f"models.{name}.{key}", reason, close, word=key)
            for key in () if is_model_pattern(name) else sorted(made.keys() & OF_MODELS):
                self._wrong(f"models.{name}.{key}", 'it is a limit of a model: write it under that, as `"openai:*"`', word=key)
            if made:
                requests[name] = made
        return models, requests

    def _prices(self) -> Mapping[str, Mapping[str, float]]:
        written = self._table("prices", (dict,), "its values are tables of `input` and `output`")
        for name, price in written.items():
            if not price:
                self._wrong(f"prices.{name}", "it has `input` and `output`, US dollars for a million tokens", word=name)
            for key, value in price.items():
                if key not in {"input", "output"} or not is_amount(value):
                    self._wrong(f"prices.{name}", "it has `input` and `output`, US dollars for a million tokens", word=name)
        return written

    def _run(self) -> RunSettings:
        written = self.table.get("run", {})
        if not isinstance(written, dict):
            self._wrong("run", "it is a table")
            return {}
        made, wrong = request_settings({key: value for key, value in written.items() if key not in RUN})
        for key, reason, close in wrong:
            known = key in REQUEST
            self._wrong(f"run.{key}", reason if known else "there is no such setting", close or nearest(key, RUN), word=key)
        for key in RUN:
            if key in written and (fault := _fault_of_run(key, written[key])):
                self._wrong(f"run.{key}", fault, nearest(str(written[key]), ENGINES) if key == "engine" else (), word=key)
        joined = {key: model_words(written[key]) for key in ("model", "budget") if key in written}
        return cast("RunSettings", {**{key: written[key] for key in RUN if key in written}, **joined, **made})

    def _service(self) -> ServiceSettings | None:
        if not {"serve", "people"} & self.table.keys():
            return None
        from instrc.vibes.service_settings import service_settings  # few commands serve anything

        return service_settings(self.table.get("serve", {}), self.table.get("people", {}), self._wrong)

    def _limits(self) -> dict[str, int]:
        written = self.table.get("limits", {})
        if not isinstance(written, dict):
            self._wrong("limits", "it is a table of numbers")
            return {}
        for key, value in written.items():
            if key not in LIMITS:
                self._wrong(f"limits.{key}", "there is no such limit", nearest(key, LIMITS), word=key)
            elif isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= HIGHEST_LIMIT:
                self._wrong(f"limits.{key}", f"it is a whole number from 1 to {HIGHEST_LIMIT:,}", word=key)
        return {key: value for key, value in written.items() if key in LIMITS}

    def _wrong(self, key: str, reason: str, close: tuple[str, ...] = (), word: str | None = None) -> None:
        self.wrong.append((entry_place(self.source, word or key), key, reason, close))


def _place_of(key: str) -> str | None:
    """Return where something is chosen that is no setting of the whole table; `None` if nothing is called so."""
    if key in RUN or key in REQUEST:
        return f"`{key}` belongs to the table `[tool.instrc.run]`"
    if key in LIMITS:
        return f"`{key}` belongs to the table `[tool.instrc.limits]`"
    return _ELSEWHERE.get(key)


def _as_list(key: str, text: object) -> str:
    """Say how a single text is written as the list that is needed."""
    return f": write `{key} = {dumps([str(text)[:60]], indent=False)}`"


def _fault_of_run(key: str, value: object) -> str | None:
    """Return what is wrong with a setting of runs; `None` if nothing is."""
    if key == "model":
        return None if model_words(value) is not None else "it is the name of a model, or a list of names"
    if key == "budget":
        return None if model_words(value) is not None else "it is a text such as `5 USD/day`, or a list of them"
    if key == "failed":
        return None if value in {"hold", "fail"} else "it is `hold` or `fail`"
    if key == "keep":
        return None if isinstance(value, str) and is_duration(value) else "it is a span of time, as `P30D`"
    if key not in {"engine", "store", "traces", "cache"}:
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if whole else "it is a whole number from 0"
    if not isinstance(value, str) or not value.strip():
        return "it is a text" if not isinstance(value, str) else "it is empty"
    if key == "engine" and value not in ENGINES:
        return f"engines are {', '.join(f'`{each}`' for each in ENGINES)}"
    return None


_NO_SETTING: Final = "there is no such setting of a request"
_ACCESS: Final = r"(?i)url$|^api|key$|host|address|endpoint"
_OF_ENVIRONMENT: Final = (
    "keys and addresses of providers come from the environment, as `OPENAI_API_KEY` and `LLAMACPP_BASE_URL`; "
    "`instrc doctor` names all of them"
)


def request_settings(written: Mapping[str, object]) -> tuple[RequestSettings, list[tuple[str, str, tuple[str, ...]]]]:
    """Return settings of a request as they are used, with times in seconds; and what is wrong: which, why, what may be meant."""
    made: dict[str, object] = {}
    wrong: list[tuple[str, str, tuple[str, ...]]] = []
    for key, value in written.items():
        if key not in REQUEST:
            wrong.append((key, _OF_ENVIRONMENT if re.search(_ACCESS, key) else _NO_SETTING, nearest(key, REQUEST)))
        elif (read := _request_value(REQUEST[key], value)) is None:
            near = nearest(value, EFFORTS) if key == "reasoning" and isinstance(value, str) else ()
            wrong.append((key, _KINDS[REQUEST[key]], near))
        else:
            made[key] = read
    return cast("RequestSettings", made), wrong


def _request_value(kind: str, value: object) -> object:
    """Return a value of a kind as it is used; `None` if it is not one."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "truth":
            fits = isinstance(value, bool)
        case "table":
            from instrc.schema.validation import json_fault  # few projects have such a table

            fits = isinstance(value, Mapping) and json_fault(cast("Json", dict(value))) is None
        case "effort":
            fits = isinstance(value, str) and value in EFFORTS
        case "whole":
            fits = isinstance(value, int) and number and 1 <= value <= HIGHEST_LIMIT
        case "integer":
            fits = isinstance(value, int) and number and abs(value) < 2**63
        case "span":
            return _span(value)
        case _:
            fits = is_amount(value)
    return value if fits else None


def _span(value: object) -> float | None:
    """Return seconds of a span that is written as a number, in ISO 8601, or as `30s`; `None` if it is none, or no time."""
    if isinstance(value, str):
        from instrc.text.durations import from_words, is_duration, seconds

        text = value if is_duration(value) else from_words(value)
        value = None if text is None else seconds(text)
    return float(value) if is_amount(value) and value > 0 else None


def model_words(value: object) -> str | None:
    """Return the words of a model, or of several that are asked one after the other; `None` if they are none."""
    names = value if isinstance(value, list) else [value]
    said = [name.strip() for name in names if isinstance(name, str)]
    return ", ".join(said) if said and all(said) and len(said) == len(names) else None


def read_settings(folder: Path) -> Settings:
    """Return the settings that hold in a folder: those of the `pyproject.toml` in it or nearest above it."""
    here = Path(os.path.realpath(folder))
    for above in (here, *here.parents):
        file = above / "pyproject.toml"
        if os.path.lexists(file):  # no error where it may not be asked
            return read_file(file)
    return Settings()
