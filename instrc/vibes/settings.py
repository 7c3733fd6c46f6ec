"""Read the settings of a project: the table `[tool.instrc]` of its `pyproject.toml`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, TypeVar, cast, get_args

from msgspec import Struct, field

from instrc import problems
from instrc.problems.errors import SettingsError
from instrc.problems.suggest import nearest
from instrc.process.request_settings import (
    HIGHEST_LIMIT,
    PER_MODEL,
    TRUTH,
    Kind,
    RequestSettings,
    is_model_pattern,
    joined_names,
    kinds_of,
    one_of,
    read_values,
    request_settings,
    whole,
)
from instrc.text.files import TomlError, read_toml, read_whole, refuse_planted
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import is_amount
from instrc.text.sentences import EN, LANGUAGES, Sentences, sentences_in
from instrc.text.sentences import NAMES as SENTENCE_NAMES
from instrc.text.source import Source, Span
from instrc.text.visible import shortened
from instrc.vibes.settings_places import (
    entry_place,
    error_place,
    has_similar_header,
    header_place,
    misplaced_table,
    readable_path,
)

if TYPE_CHECKING:
    from instrc.vibes.service_settings import ServiceSettings


def _text(value: object) -> object:
    return value if isinstance(value, str) and value.strip() else None


Naming: TypeAlias = Literal["step", "camel", "plain"]
"""How the keys of steps are named: with numbers, in camel case, or without numbers."""
EngineName: TypeAlias = Literal["memory", "durable", "temporal"]
NAMING: Final = one_of(get_args(Naming))
TEXT: Final = Kind(_text, "it must be a text that is not empty")
COUNT: Final = Kind(whole(0), "it must be a whole number from 0")
LIMIT: Final = Kind(whole(1, HIGHEST_LIMIT), f"it must be a whole number from 1 to {HIGHEST_LIMIT:,}")
MODELS: Final = Kind(joined_names, "it must be the name of a model, or a list of names")
BUDGETS: Final = Kind(joined_names, "it must be a text such as `5 USD/day`, or a list of them")


class RunSettings(RequestSettings, total=False):
    """The defaults of runs: `[tool.instrc.run]`."""

    model: Annotated[str, MODELS]
    """Model spec; several, separated by commas, are tried in turn until one answers."""
    engine: Annotated[str, one_of(get_args(EngineName))]
    store: Annotated[str, TEXT]
    asks: Annotated[int, COUNT]
    elements: Annotated[int, COUNT]
    requests: Annotated[int, COUNT]
    tokens: Annotated[int, COUNT]
    reconnect: Annotated[int, COUNT]
    """Seconds for which a run waits for a lost server."""
    traces: Annotated[str, TEXT]
    """URL of a database for the traces of runs on Temporal."""
    failed: Annotated[str, one_of(("hold", "fail"))]
    """What happens to a run after a transient failure."""
    budget: Annotated[str, BUDGETS]
    """Cost limits for models, such as `2 USD` or `5 USD/day`, separated by commas."""
    cache: Annotated[str, TEXT]
    """File of cached answers, relative to the project folder."""


class Settings(Struct, frozen=True):
    """The settings of a project; `None` or empty if unset."""

    roots: tuple[Path, ...] = ()
    """Workspace folders in order of precedence, as displayed."""
    shared: tuple[Path, ...] = ()
    python: tuple[str, ...] = ()
    """Python modules whose classes and functions are vibes."""
    hint: str | None = None
    sentences: Sentences = EN
    """Texts sent to models, `hint` included."""
    naming: Naming | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    keywords: frozenset[str] = frozenset()
    """Additional schema keywords and formats of the project."""
    templates: bool = False
    """Whether texts of programs are templates that other code fills in."""
    activities: Mapping[str, object] = field(default_factory=dict)
    """Activities by name: `package.module:function`, the address of a process, or a table."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Model specs, by name or pattern of a vibe."""
    requests: Mapping[str, RequestSettings] = field(default_factory=dict)
    """Request settings, by name or pattern of a vibe or of a model (`openai:*`)."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Prices by name or pattern of a model: `input` and `output`, in US dollars per million tokens."""
    checks: Mapping[str, str] = field(default_factory=dict)
    """Checks as `package.module:function`, by name of a vibe."""
    run: RunSettings = field(default_factory=RunSettings)
    """Defaults for runs."""
    service: ServiceSettings | None = None
    """Settings of a service that offers the programs; `None` if nothing is set."""
    file: Path | None = None
    """The `pyproject.toml` that the settings were read from."""


PREVIEW_INPUT: Final = "INSTRC_PREVIEW_INPUT"
"""Variable of the environment that replaces `preview --input`, whose text other users of the machine can read."""
SETTINGS_BYTES: Final = 1024 * 1024
"""Maximum size of a `pyproject.toml`, in bytes."""
T = TypeVar("T")
KEYS: Final = (
    *(name for name in Settings.__struct_fields__ if name not in {"sentences", "requests", "service", "file"}),
    "prompts",
    "serve",
    "people",
)
"""Keys of `[tool.instrc]`: the fields of `Settings`, and those that are read into a field of another name."""
LIMITS = ("source", "vibe", "schema")
"""`source` and `vibe` limit the bytes of a file (1 MiB by default), `schema` the nodes of a composed schema."""
_OF_TARGETS = "a provider is chosen with `instrc compile --target NAME`, or `targets` of the library"
_ELSEWHERE = {
    "target": _OF_TARGETS,
    "targets": _OF_TARGETS,
    "provider": _OF_TARGETS,
    "strict": "`instrc check --strict` takes warnings for errors; a strict schema is a target, `--target anthropic-strict`",
    "emit": "what is written is chosen with `instrc compile --emit NAME`",
    "recursion": "what is done about recursive schemas is chosen with `instrc compile --target NAME --recursion NAME`",
}
"""Command options that are not settings, with the place to choose them."""
_FUNCTION = r"[^\s:]+:[^\s:]+"  # patterns are compiled on first use
_PLACEHOLDER = r"\{\w*\}"
_MAY_BE_SET = r"""(?im)^[ \t]*\[.*instrc|instrc["']?[ \t]*(?:\.|=(?!=))"""
"""The package name in a table header or as a key; as a dependency it sets nothing."""
_Wrong: TypeAlias = tuple[Span, str, str, tuple[str, ...]]
"""Span, name of the setting, reason, and possible corrections."""


def read_file(file: Path) -> Settings:
    """Return the settings of a `pyproject.toml`; raise `SettingsError` with all errors."""
    name = readable_path(file).as_posix()
    try:
        refuse_planted(file)
        data = read_whole(str(file), SETTINGS_BYTES)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else (error.strerror or "no reason").lower()
        raise _error([(Source(name, "").whole(), "", reason, ())]) from None
    if re.search(_MAY_BE_SET, text) is None and not has_similar_header(text):
        return Settings(file=file)  # avoids importing the TOML parser
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
        raise _error([(entry_place(source, "instrc"), "tool.instrc", "it must be a table", ())])
    return _SettingsReader(source, file, table).settings()


def _error(wrong: list[_Wrong]) -> SettingsError:
    return SettingsError(
        problems.settings.InvalidSettings(at=at, key=key, reason=reason, nearest=close) for at, key, reason, close in wrong
    )


class _SettingsReader:
    """Reads one `[tool.instrc]` table, collecting all errors."""

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
        naming, hint = self._value("naming", NAMING), self._hint()
        models, requests = self._models()
        roots, shared = self._folders("roots"), self._folders("shared")
        told = any(key == "shared" for _, key, *_ in self.wrong)
        for folder in () if told else (folder for folder in shared if folder in roots):
            self._wrong("shared", f"`{folder.as_posix()[:80]}` is one of `roots` already: its vibes would have two names")
        settings = Settings(
            templates=self._value("templates", TRUTH) is True,
            roots=roots,
            shared=shared,
            python=self._modules(),
            hint=hint,
            sentences=self._sentences(hint),
            naming=cast("Naming | None", naming),
            limits=self._limits(),
            keywords=self._keywords(),
            activities=self._functions("activities", (str, dict), "`module:function`, addresses or tables"),
            models=models,
            requests=requests,
            prices=self._prices(),
            checks=cast("Mapping[str, str]", self._functions("checks", (str,), "`module:function`")),
            run=cast("RunSettings", self._values("run", kinds_of(RunSettings), "there is no such setting")),
            service=self._service(),
            file=self.file,
        )
        if self.wrong:
            raise _error(self.wrong)
        return settings

    def _value(self, key: str, kind: Kind) -> object:
        value = kind.read(self.table.get(key))
        if value is None and key in self.table:
            self._wrong(key, kind.reason)
        return value

    def _hint(self) -> str | None:
        hint = self.table.get("hint")
        if hint is None:
            return None
        if not isinstance(hint, str):
            self._wrong("hint", "it must be a text")
            return None
        if unknown := set(re.findall(_PLACEHOLDER, hint)) - {"{paths}"}:
            self._wrong("hint", f"`{min(unknown)}` is not replaced: what a step reads is `{{paths}}`")
        elif "{paths}" not in hint:
            self._wrong("hint", "it names nothing that a step reads: write `{paths}` where the names belong")
        return hint

    def _sentences(self, hint: str | None) -> Sentences:
        """Return the sentences for models in the project's language, with the project's replacements."""
        written = self.table.get("prompts", "en")
        said: dict[str, object] = dict(written) if isinstance(written, dict) else {"language": written}
        language = said.pop("language", "en")
        if not isinstance(language, str) or language not in LANGUAGES:
            known = ", ".join(f'`"{each}"`' for each in LANGUAGES)
            self._wrong("prompts", f"it must be a language ({known}), or a table of `language` and sentences", word="prompts")
            return EN
        found = sentences_in(language)
        tables = {
            "faults": (found.faults, "it must be a table of texts by keyword of JSON Schema, or by English sentence"),
            "notes": (found.notes, "it must be a table of texts by keyword of JSON Schema"),
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
                self._wrong(f"prompts.{name}", "it must be a text", word=name)
            elif (fault := found.fault_of(name, sentence)) is not None:
                self._wrong(f"prompts.{name}", fault, word=name)
        if self.wrong:
            return EN
        texts = {name: sentence for name, sentence in said.items() if isinstance(sentence, str)}
        return found.changed(texts if hint is None else {**texts, "hint": hint})

    def _folders(self, key: str) -> tuple[Path, ...]:
        written = self.table.get(key, [])
        if not isinstance(written, list) or not all(isinstance(item, str) and item and "\0" not in item for item in written):
            one = isinstance(written, str) and written and "\0" not in written
            self._wrong(key, f"it must be a list of folders{_as_list(key, written) if one else ''}")
            return ()
        for item in dict.fromkeys(item for item in written if written.count(item) > 1):
            self._wrong(key, f"it names `{item[:80]}` twice")
        folders = [(item, Path(os.path.normpath(self.file.parent / item))) for item in written]
        for item, folder in folders:
            if not os.path.isdir(folder):  # noqa: PTH112  -- no error for a name that is too long
                self._wrong(key, f"there is no folder `{shortened(item, 80)}`", word=item)
        return tuple(readable_path(folder) for _, folder in folders)

    def _modules(self) -> tuple[str, ...]:
        written = self.table.get("python", [])
        names = written if isinstance(written, list) else [None]
        if not all(isinstance(name, str) and all(part.isidentifier() for part in name.split(".")) for name in names):
            self._wrong("python", 'it must be a list of modules, such as `["app.vibes"]`')
            return ()
        return tuple(names)

    def _keywords(self) -> frozenset[str]:
        written = self.table.get("keywords", [])
        if not isinstance(written, list) or not all(isinstance(item, str) and item for item in written):
            one = isinstance(written, str) and written
            self._wrong("keywords", f"it must be a list of keywords{_as_list('keywords', written) if one else ''}")
            return frozenset()
        return frozenset(written)

    def _table(self, key: str, kinds: tuple[type[T], ...], reason: str) -> dict[str, T]:
        written = self.table.get(key, {})
        if not isinstance(written, dict) or not all(isinstance(value, kinds) for value in written.values()):
            self._wrong(key, f"it must be a table, and {reason}")
            return {}
        return written

    def _functions(self, key: str, kinds: tuple[type, ...], kind: str) -> Mapping[str, object]:
        """Return a table of implementations; report entries that are empty or do not name a function."""
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
                words = joined_names(table.pop("model"))
                if words is None:
                    self._wrong(f"models.{name}", "it must be the name of a model, or a list of names", word=name)
                elif is_model_pattern(name):
                    self._wrong(f"models.{name}", "this is a model itself: it has a table of settings", word=name)
                else:
                    models[name] = words
            made, wrong = request_settings(table)
            for key, reason, close in wrong:
                self._wrong(f"models.{name}.{key}", reason, close, word=key)
            for key in () if is_model_pattern(name) else sorted(made.keys() & PER_MODEL):
                self._wrong(
                    f"models.{name}.{key}", 'it is a limit of a model: write it under that, such as `"openai:*"`', word=key
                )
            if made:
                requests[name] = made
        return models, requests

    def _prices(self) -> Mapping[str, Mapping[str, float]]:
        written = self._table("prices", (dict,), "its values are tables of `input` and `output`")
        for name, price in written.items():
            if not price:
                self._wrong(f"prices.{name}", "it has `input` and `output`, US dollars for a million tokens", word=name)
            for key, value in price.items():
                if key not in {"input", "output", "cache_read", "cache_write"} or not is_amount(value):
                    self._wrong(f"prices.{name}", "it has `input` and `output`, US dollars for a million tokens", word=name)
        return written

    def _service(self) -> ServiceSettings | None:
        if not {"serve", "people"} & self.table.keys():
            return None
        from instrc.vibes.service_settings import service_settings  # few commands start a service

        return service_settings(self.table.get("serve", {}), self.table.get("people", {}), self._wrong)

    def _limits(self) -> dict[str, int]:
        values = self._values("limits", dict.fromkeys(LIMITS, LIMIT), "there is no such limit")
        return cast("dict[str, int]", values)

    def _values(self, name: str, kinds: Mapping[str, Kind], unknown: str) -> dict[str, object]:
        """Return the values of a table by their kinds, and report the others."""
        written = self.table.get(name, {})
        if not isinstance(written, dict):
            self._wrong(name, "it must be a table")
            return {}
        values, faults = read_values(kinds, written, unknown)
        for key, reason, close in faults:
            self._wrong(f"{name}.{key}", reason, close, word=key)
        return values

    def _wrong(self, key: str, reason: str, close: tuple[str, ...] = (), word: str | None = None) -> None:
        self.wrong.append((entry_place(self.source, word or key), key, reason, close))


def _place_of(key: str) -> str | None:
    """Return the place where an option that is not a setting can be chosen, or `None` if there is no such option."""
    if key in RunSettings.__annotations__:
        return f"`{key}` belongs to the table `[tool.instrc.run]`"
    if key in LIMITS:
        return f"`{key}` belongs to the table `[tool.instrc.limits]`"
    return _ELSEWHERE.get(key)


def _as_list(key: str, text: object) -> str:
    """Return how to write a single text as a list."""
    return f": write `{key} = {dumps([str(text)[:60]], indent=False)}`"


def settings_file(folder: Path) -> Path | None:
    """Return the `pyproject.toml` in a folder or in the nearest parent."""
    here = Path(os.path.realpath(folder))
    files = (above / "pyproject.toml" for above in (here, *here.parents))
    return next((file for file in files if os.path.lexists(file)), None)  # no error without permission


def read_settings(folder: Path) -> Settings:
    """Return the settings for a folder: those of the `pyproject.toml` in it or in the nearest parent."""
    file = settings_file(folder)
    return Settings() if file is None else read_file(file)
