"""The form of a program's schemas that `instrc tune` chose for a model to read, kept next to it in `PROGRAM.tuned.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, cast

import msgspec
from msgspec import Struct

from instrc import problems
from instrc.compiler.ir import Context, FlatGraph
from instrc.problems.report import Report
from instrc.process.request_settings import WordsLevel
from instrc.text.files import read_toml, read_whole
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_texts, listing, mapping
from instrc.text.names import snake
from instrc.text.source import Source
from instrc.vibes.find_files import tuned_file
from instrc.vibes.lock import toml_of


class PromptForm(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model reads of a program: its schemas, with changes by place, such as `tell_mood.mood`, and the level of words."""

    words: WordsLevel | None = None
    texts: dict[str, str] = {}
    """Descriptions by place; an empty one is left out."""
    values: dict[str, list[Json]] = {}
    """Enum values in order, by place."""
    order: dict[str, list[str]] = {}
    """Property names in order, by place."""
    off: list[str] = []
    """Thoughts that are left out."""
    calls: Literal["each", "one"] | None = None
    """Whether each step has a request of its own, or as many as possible share one, whatever the program says."""


class Tuned(Struct, frozen=True, kw_only=True):
    """A form chosen for one program and one model, with the basis of the choice."""

    export: str
    model: str
    program: str
    """Digest of the program that it was chosen for."""
    data: str
    """Digest of the cases that it was chosen by."""
    date: str
    figures: dict[str, Json] = {}
    form: PromptForm = PromptForm()

    def text(self) -> str:
        """Return the text of the file."""
        top = "".join(f"{name} = {toml_of(getattr(self, name))}\n" for name in ("export", "model", "program", "data", "date"))
        form: JsonObject = msgspec.to_builtins(self.form)
        tables: dict[str, JsonObject] = {"figures": dict(self.figures), "form": {}}
        for name, value in form.items():
            if isinstance(value, dict):
                tables[f"form.{name}"] = value
            else:
                tables["form"][name] = value
        written = (
            f"\n[{name}]\n" + "".join(f"{toml_of(key)} = {toml_of(_plain(value))}\n" for key, value in entries.items())
            for name, entries in tables.items()
        )
        return f"{_HEAD}{top}{''.join(written)}"


_HEAD: Final = (
    "# Written by `instrc tune`: what this model reads of this program.\n"
    "# Remove the file to go back to the program as it is written.\n"
)


def _plain(value: Json) -> Json:
    """Return a list of values as a list of JSON strings, since TOML has no `null`."""
    return [dumps(item, indent=False) for item in value] if isinstance(value, list) else value


def read_tuned(program: str, report: Report) -> Tuned | None:
    """Return the form next to a program; `None` if it cannot be read, which is reported."""
    file = tuned_file(Path(program))
    try:
        table = cast("JsonObject", read_toml(read_whole(str(file)).decode()))
        form = mapping(table.get("form"))
        lists = {name: {key: _loaded(value) for key, value in mapping(form.get(name)).items()} for name in ("values", "order")}
        return msgspec.convert({**table, "form": {**form, **lists, "off": _loaded(form.get("off", []))}}, Tuned)
    except (OSError, ValueError, TypeError) as error:
        report.add(problems.settings.NotTuned(at=Source(str(file), "").whole(), reason=f"the file cannot be read: {error}"))
        return None


def _loaded(value: Json) -> list[Json]:
    return [loads(text) for text in as_texts(listing(value))]


def formed(flat: FlatGraph, form: PromptForm) -> FlatGraph:
    """Return a program in another form, ignoring places that it does not have."""
    changed = {number: _formed(schema, place, form) for number, place, schema in steps_of(flat)}
    graph, contexts = flat.graph, None if form.calls == "one" else flat.graph.contexts
    if form.calls == "each" and all(isinstance(unit, int) for unit in graph.units):
        steps = [graph.steps[unit] for unit in graph.units if isinstance(unit, int)]
        contexts = tuple(Context(step.executor, (step.number,), (), step.span) for step in steps)
    graph = msgspec.structs.replace(graph, contexts=contexts)
    return msgspec.structs.replace(flat, graph=graph, schemas={**flat.schemas, **changed})


def steps_of(flat: FlatGraph) -> Iterator[tuple[int, str, Json]]:
    """Yield the steps that a model fills in, with number, place and schema."""
    for number, step in flat.graph.steps.items():
        if step.executor == "model" and number in flat.schemas:
            yield number, step.key or snake(step.base_name), flat.schemas[number]


def schemas_of(schema: Json, place: str) -> Iterator[tuple[str, JsonObject]]:
    """Yield a schema and those of its properties and items, by place."""
    if isinstance(schema, dict):
        yield place, schema
        for name, part in mapping(schema.get("properties")).items():
            yield from schemas_of(part, f"{place}.{name}")
        yield from schemas_of(schema.get("items"), f"{place}[]")


def other_calls(flat: FlatGraph) -> Iterator[PromptForm]:
    """Yield the form in which steps that share a request get one each, or in which manually separated ones share one."""
    steps = [step for step in flat.graph.steps.values() if step.executor == "model"]
    if len(steps) > 1 and not flat.graph.block_numbers:
        yield PromptForm(calls="each" if flat.graph.contexts is None else "one")


def _formed(schema: Json, place: str, form: PromptForm) -> Json:
    if not isinstance(schema, dict):
        return schema
    result: JsonObject = {**schema}
    if form.texts.get(place, "") != "":
        result["description"] = form.texts[place]
    elif place in form.texts:
        result.pop("description", None)
    values = form.values.get(place, [])
    if values and sorted(map(dumps, listing(schema.get("enum")))) == sorted(map(dumps, values)):  # in another order
        result["enum"] = values
    if "items" in schema:
        result["items"] = _formed(schema["items"], f"{place}[]", form)
    if isinstance(properties := schema.get("properties"), dict):
        first = [name for name in form.order.get(place, ()) if name in properties]
        names = [name for name in dict.fromkeys([*first, *properties]) if f"{place}.{name}" not in form.off]
        result["properties"] = {name: _formed(properties[name], f"{place}.{name}", form) for name in names}
        if "required" in schema:
            result["required"] = [name for name in listing(schema["required"]) if name in names]
    return result


def digest_of(flat: FlatGraph, source: Source) -> str:
    """Return the digest of a program in the layout of `instrc fmt`, with the schemas of its steps."""
    schemas = [[place, schema] for _, place, schema in steps_of(flat)]
    from hashlib import sha256  # most programs have no forms

    from instrc.language.formatter import format_source

    layout = format_source(source, Report()) or source.text
    return sha256(dumps([layout, schemas], indent=False).encode()).hexdigest()


class TunedForm:
    """The form of one program during compilation, used only if it was chosen for this program and this model."""

    def __init__(self, tuned: Tuned, source: Source, model: str | None, report: Report) -> None:
        self.tuned, self.source, self.model, self.report = tuned, source, model, report
        self.words: WordsLevel | None = None
        """The level of words, once the form is used."""

    def change(self, flat: FlatGraph) -> FlatGraph:
        """Return an export in its form, or report why the form is not used."""
        tuned = self.tuned
        if flat.graph.name != tuned.export:
            return flat
        first = None if self.model is None else self.model.partition(",")[0].strip()
        reason = None if first in (None, tuned.model) else f"it is for `{tuned.model}`, and `{first}` is asked"
        reason = reason if digest_of(flat, self.source) == tuned.program else "the program has changed since then"
        if reason is not None:
            self.report.add(
                problems.settings.NotTuned(at=Source(str(tuned_file(Path(self.source.name))), "").whole(), reason=reason)
            )
            return flat
        self.words = tuned.form.words
        return formed(flat, tuned.form)
