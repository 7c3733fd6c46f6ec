"""The pages of the service: templates that escape all foreign text, and their texts in several languages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from msgspec import Struct

from instrc.problems.errors import SettingsError
from instrc.problems.problem import Problem
from instrc.problems.serving import NotAuthenticated
from instrc.problems.settings import InvalidSettings
from instrc.problems.suggest import nearest
from instrc.process.picture import WORDS
from instrc.runtime.questions import Question
from instrc.server.files import is_reference, type_of
from instrc.server.forms import Words
from instrc.text.files import read_toml
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping
from instrc.text.names import readable
from instrc.text.sentences import replacement_fault, translated
from instrc.text.visible import HIDDEN

DEFAULT: Final = "en"


class PageWords(dict[str, str]):
    """The texts of one language; a missing text raises an error instead of leaving a gap."""

    def __init__(self, texts: Mapping[str, str], problems: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.problems = problems
        """Translations of the sentences of problems."""

    def __getattr__(self, name: str) -> str:
        return self[name]


@cache
def languages(added: str | None = None) -> Mapping[str, PageWords]:
    """Return the texts of all languages, with those of a project's file, which may leave out texts of other languages.

    Raise `SettingsError` for a file that cannot be used: it is not TOML, or has a text that no page shows.
    """
    ours = (files("instrc.server") / "pages" / "words.toml").read_text(encoding="utf-8")
    table: dict[str, dict[str, str]] = tomllib.loads(ours)
    table[DEFAULT] |= {f"picture {part}": text for part, text in WORDS.items()}
    shown = {DEFAULT: table[DEFAULT], "problems": table["problems ru"]}
    for name, texts in _added(added, shown).items() if added is not None else ():
        table[name] = {**table.get(name, {} if name.startswith("problems ") else table[DEFAULT]), "language": name, **texts}
    return {name: PageWords(texts, table.get(f"problems {name}", {})) for name, texts in table.items() if " " not in name}


def _added(place: str, shown: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the tables of a project's file."""
    try:
        tables = read_toml(Path(place).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unusable(f"`{place}` cannot be read: {error}") from None
    result: dict[str, dict[str, str]] = {}
    for name, texts in tables.items():
        if re.fullmatch(r"(problems )?[a-z]{2,8}", name) is None or not isinstance(texts, dict):
            raise _unusable(f'`{name}` in `{place}`: name a table after a language, such as `[de]` or `["problems de"]`')
        known = shown["problems" if name.startswith("problems ") else DEFAULT]
        for key, text in texts.items():
            if key not in known:
                raise _unusable(f"`{key}` under `{name}` in `{place}` is not a text of the pages", nearest(key, known))
            fault = replacement_fault(known[key], text) if isinstance(text, str) else "it must be a text"
            if fault is not None:
                raise _unusable(f"`{key}` under `{name}` in `{place}`: {fault}")
        result[name] = texts
    return result


def _unusable(reason: str, close: tuple[str, ...] = ()) -> SettingsError:
    return SettingsError([InvalidSettings(key="serve.words", reason=reason, nearest=close)])


def spoken(problem: Problem, words: PageWords) -> list[tuple[str, bool]]:
    """Return the sentences of a problem for a reader, each with whether it is in English for lack of a translation.

    The table has them by the sentences of the problem's class; advice for programs on authentication is left out.
    """
    hint = None if isinstance(problem, NotAuthenticated) else problem.hint
    said = [(each, translated(each, words.problems)) for each in (problem.message, hint) if each]
    return [(told, told == each and words["language"] != DEFAULT) for each, told in said]


def counted(words: Words, unit: str, count: int) -> str:
    """Return a count with its unit by the plural rules of the language: `minute one`, `minute few`, `minute many`."""
    form = "one" if count == 1 else "many"
    if words["language"] == "ru":
        few = 2 <= count % 10 <= 4 and not 12 <= count % 100 <= 14
        form = "one" if count % 10 == 1 and count % 100 != 11 else "few" if few else "many"
    return words[f"{unit}_{form}"].format(count=count)


def operator_schema(question: Question, words: Words) -> JsonObject:
    """Return the schema of an operator's question with titles: retry, provide the result, or let it fail."""
    branches: list[Json] = []
    for branch in listing(mapping(question.schema)["anyOf"]):
        members = mapping(mapping(branch)["properties"])
        titled: JsonObject = {name: _titled(part, words[f"operator_{name}"]) for name, part in members.items()}
        name = next(iter(members)) if len(members) == 1 else "limits"
        branches.append({**mapping(branch), "title": words[f"operator_{name}"], "properties": titled})
    return {**mapping(question.schema), "anyOf": branches}


def _titled(schema: Json, title: str) -> Json:
    return {**schema, "title": title} if isinstance(schema, dict) and "title" not in schema else schema


def words_for(accepted: str | None, setting: str | None = None, added: str | None = None) -> PageWords:
    """Return the texts for a reader: in the setting's language, or the first supported one of `Accept-Language`.

    `added` is the file of a project's own texts.
    """
    texts = languages(added)
    if setting in texts:
        return texts[setting or DEFAULT]
    wanted: list[tuple[float, str]] = []
    for part in (accepted or "")[:500].split(","):
        found = re.fullmatch(r"\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]{1,40})?\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?))?\s*", part)
        if found and found[1].lower() in texts:
            wanted.append((-float(found[2] or 1), found[1].lower()))
    best = min(wanted, key=lambda each: each[0], default=(0.0, DEFAULT))
    return texts[best[1] if best[0] or not wanted else DEFAULT]


def render(template: str, words: Words, **facts: object) -> str:
    """Return a page; all values on it have `SHOWN` parts together, and each with a `most` a tenth of them."""
    left = SHOWN

    def begin(value: Json, most: int) -> object:
        nonlocal left
        shown = begun(value, most, min(left, SHOWN // 10 if most else SHOWN))
        left -= _size(shown)
        return shown

    return _environment().get_template(template).render(words=words, begin=begin, **facts)


SHOWN: Final = 10_000
"""Maximum members and elements of the values on a page: each takes time to write, and more than a reader has."""
_LEVELS: Final = 6
"""Maximum levels of a value on a page: what is deeper is shown as JSON."""


class Begun(Struct):
    """The beginning of an object or a list."""

    parts: list[tuple[str, object]]
    """Each with its key, which is empty in a list."""
    more: int
    keys: bool
    is_cut: bool


def begun(value: Json, most: int, room: int, level: int = 0) -> object:
    """Return the beginning of a value: `most` parts of each object and list, if not 0, and `room` in all, shared evenly.

    So a long member does not push those after it off the page.
    """
    if not isinstance(value, dict | list) or not value or level > _LEVELS:
        return value
    count = min(len(value), most or room, room)
    left, parts = room - count, list[tuple[str, object]]()
    pairs = value.items() if isinstance(value, dict) else (("", part) for part in value)
    for place, (key, part) in enumerate(islice(pairs, count)):
        share = left // (count - place)
        parts.append((key, begun(part, most, share, level + 1)))
        left -= _size(parts[-1][1])
    more = len(value) - count
    return Begun(parts, more, isinstance(value, dict), more > 0 or any(getattr(part, "is_cut", False) for _, part in parts))


def _size(part: object) -> int:
    return sum(1 + _size(inner) for _, inner in part.parts) if isinstance(part, Begun) else 0


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("instrc.server", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(json=dumps, linked=linked, media_type=type_of, readable=readable)
    made.tests.update(file=is_reference, begun=lambda value: isinstance(value, Begun))
    return made


def linked(text: str) -> Markup:
    """Return a text to show: web addresses become links, and hidden characters become visible."""
    shown = re.sub(HIDDEN, lambda found: f"[U+{ord(found[0]):04X}]", text)
    parts = map(str, map(escape, re.split(r"(https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}*_])", shown)))
    made = (f'<a href="{part}" rel="noreferrer">{part}</a>' if at % 2 else part for at, part in enumerate(parts))
    return Markup("".join(made))  # noqa: S704  -- each part is escaped
