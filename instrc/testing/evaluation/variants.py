"""Versions of a program to compare: another vibe, a mixin left out, an earlier revision, and each part changed in turn."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from instrc.compiler.ir import Application, FlatGraph, Instruction
from instrc.compiler.tuned import PromptForm, formed, other_calls, schemas_of, steps_of
from instrc.compiler.workspace import Workspace
from instrc.engines.prepare import Prepared, prepare
from instrc.problems.errors import SettingsError, unusable
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.runtime.models.model import Model
from instrc.schema.walk import map_schemas
from instrc.text.files import MOST_BYTES
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping
from instrc.text.source import Source, Span
from instrc.vibes.find_files import read_text, run_git
from instrc.vibes.project import DEFAULT_PROJECT, Project

_T = TypeVar("_T")


class Version(NamedTuple):
    """A program to evaluate, and its label."""

    name: str
    prepared: Prepared
    model: str | Model | None = None
    """Model that replaces the evaluation's."""
    settings: Mapping[str, object] | None = None
    """Request settings in addition to the evaluation's."""

    def is_like(self, other: Version) -> bool:
        """Return whether both versions send identical requests."""
        return self[2:] == other[2:] and _asked(self.prepared) == _asked(other.prepared)


def _asked(prepared: Prepared) -> tuple[str, ...]:
    """Return the facts that determine the requests to a model; the order of properties counts."""
    settings = prepared.settings
    return dumps(prepared.document), dumps(prepared.processes), repr((prepared.words, settings.requests, settings.run))


class Changes(NamedTuple):
    """The changes to compare a program with."""

    against: str | None = None
    """A git revision, or the file of another program."""
    vibes: tuple[tuple[str, str], ...] = ()
    """Names of vibes, each with its replacement."""
    off: tuple[str, ...] = ()
    """Names of mixins to remove."""
    model: str | None = None
    settings: tuple[tuple[str, Json], ...] = ()

    @property
    def name(self) -> str:
        """The label of the changed version."""
        settings = [f"{name}={dumps(value, indent=False)}" for name, value in self.settings]
        parts = [*(f"{name}={other}" for name, other in self.vibes), *(f"{name}=off" for name in self.off), self.model, *settings]
        return ", ".join(part for part in parts if part) or "now"


def versions_of(
    program: str, changes: Changes, *, export: str | None = None, project: Project = DEFAULT_PROJECT, model: str | None = None
) -> tuple[Version, Version]:
    """Return the earlier and the later version of a program: unchanged, or with the changes.

    `model` overrides the project's.  Raise `CompileError` if the program does not use a changed vibe or mixin.
    """
    result = partial(with_vibes, program, export=export, project=project, model=model)
    now = prepare(program, export=export, project=project, model=model)
    for name, other in changes.vibes:
        if _asked(result({name: other}, ())) == _asked(now):
            near = _near(name, program, Instruction, export, project)
            _refuse("vibe", f"{name}={other}", f"nothing in `{program}` is changed by it", near)
    for name in changes.off:
        if _asked(result({}, (name,))) == _asked(now):
            near = _near(name, program, Application, export, project)
            _refuse("mixin", name, f"nothing in `{program}` is changed without it", near)
    changed = result(dict(changes.vibes), changes.off, model=changes.model or model) if any(changes[1:4]) else now
    after = Version(changes.name, changed, changes.model, dict(changes.settings) or None)
    if changes.against is None:
        return Version("as it is", now), after
    return other_version(program, changes.against, export=export, project=project, model=model), after


def other_version(
    program: str, against: str, *, export: str | None = None, project: Project = DEFAULT_PROJECT, model: str | None = None
) -> Version:
    """Return the version of a program at a git revision, or another program, if there is such a file."""
    if os.path.exists(against):  # noqa: PTH110  -- no error for a NUL
        return Version(against, prepare(against, export=export, project=project, model=model))
    return Version(against, at_revision(program, against, export=export, project=project, model=model))


def _near(
    name: str, program: str, kind: type[Instruction | Application], export: str | None, project: Project
) -> tuple[str, ...]:
    """Return the names in a program that a misspelt one may refer to."""
    flat = _composed(program, export, project)
    uses = _uses([] if flat is None else [*flat.graph.steps.values(), *flat.graph.units], kind)
    names = sorted({use.mixin.name if isinstance(use, Application) else use.name for use in uses})
    return nearest(name, names, without=frozenset({name}))


def _composed(program: str, export: str | None, project: Project) -> FlatGraph | None:
    """Return the graph of a program, or `None` if it is not a program."""
    seen: list[FlatGraph] = []

    def note(graph: FlatGraph) -> FlatGraph:
        seen.append(graph)
        return graph

    chosen = prepare(program, export=export, project=project, change=note).name
    return next((item for item in seen if item.graph.name == chosen), seen[0] if seen else None)


def _uses(value: object, kind: type[_T]) -> Iterator[_T]:
    """Yield the uses of mixins, or of instructions, in contents."""
    if isinstance(value, kind):
        yield value
    if isinstance(value, tuple | list):
        for item in value:
            yield from _uses(item, kind)
    elif isinstance(value, msgspec.Struct) and not isinstance(value, Span | Source):
        for name in value.__struct_fields__:
            yield from _uses(getattr(value, name), kind)


def _refuse(what: str, word: str, reason: str, near: tuple[str, ...] = ()) -> NoReturn:
    raise unusable(what, word, reason, near) from None


def with_vibes(
    program: str,
    given: Mapping[str, str],
    off: tuple[str, ...],
    *,
    export: str | None = None,
    project: Project = DEFAULT_PROJECT,
    model: str | None = None,
) -> Prepared:
    """Return a program that calls other vibes under the old names, without the mixins `off`.

    `given` maps each name to another vibe or its file (`.json`).  The argument of a mixin stays unchanged.
    """
    vibes = {**(project.vibes or {}), **{name: _vibe(program, name, other, project) for name, other in given.items()}}
    changed = replace(project, vibes={**vibes, **{name: {"type": "object"} for name in off}})
    return prepare(program, export=export, project=changed, model=model)


def _vibe(program: str, name: str, other: str, project: Project) -> Json:
    """Return the schema of another vibe; if it extends the one that it replaces, it still does."""
    if other.endswith(".json"):
        report = Report()
        source = read_text(other, report)
        report.stop_if_failed(SettingsError)
        try:
            return loads(source.text if source is not None else "")
        except ValueError as error:
            _refuse("vibe", other, str(error))
    registry = Workspace(project).registry(program)
    result = registry.lookup(other) or ((other,) if other.startswith("aug:") else ())
    if len(result) != 1:
        many = f"{len(result)} vibes have this name"
        _refuse("vibe", other, many if result else "no vibe has this name", nearest(other, () if result else registry.names()))
    replaced = registry.lookup(name)

    def in_full(node: Json) -> Json:
        """Inline the schema of the replaced vibe where it is referred to, as the name now means the other one."""
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(reference, str) or reference not in {*replaced, f"aug:{name}"}:
            return node
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return {**rest, "allOf": [*listing(rest.get("allOf")), registry.load(reference).schema]}

    return map_schemas(registry.load(result[0]).schema, in_full)


_KEPT: Final = (".aug", ".json", "pyproject.toml", ".tuned.toml", "aug.lock")
"""Files that determine how a program is compiled; nothing else of a revision is written."""


def at_revision(
    program: str, revision: str, *, export: str | None = None, project: Project = DEFAULT_PROJECT, model: str | None = None
) -> Prepared:
    """Return a program with its vibes at a git revision; nothing is fetched, and no code of it is run.

    Settings of models, activities and checks are the current ones: the instructions are compared.
    """
    today = prepare(program, export=export, project=project)
    folder = Path(program).resolve().parent
    top = Path(os.fsdecode(_git(folder, revision, "rev-parse", "--show-toplevel")).rstrip("\n")).resolve()
    commit = _git(folder, revision, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode()
    with _files_of(top, commit.strip(), revision) as copy:

        def moved(path: str) -> str:
            """Return the copy's path for a repository path; any other path unchanged."""
            there = Path(path).resolve()
            return str(copy / there.relative_to(top)) if there.is_relative_to(top) else path

        place = moved(program)
        if not Path(place).is_file():
            _refuse("revision", revision, f"it has no `{Path(program).resolve().relative_to(top).as_posix()}`")
        folders = (tuple(item for item in map(moved, some) if Path(item).is_dir()) for some in (project.roots, project.shared))
        roots, shared = folders
        of_then = msgspec.structs.replace(project, roots=roots, shared=shared)
        before = prepare(place, export=export, project=of_then, model=model or today.settings.run.get("model"))
        return replace(before, folder=today.folder, settings=today.settings, sources=today.sources)


def _git(folder: Path, revision: str, *words: str, given: bytes = b"") -> bytes:
    """Return the output of a read-only git command; nothing that a partial clone lacks is fetched."""
    try:
        done = run_git("-C", str(folder), *words, given=given)
    except (OSError, ValueError) as error:
        _refuse("revision", revision, f"git cannot be asked: {error}")
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        _refuse("revision", revision, lines[-1] if lines else "git knows no such revision, and there is no such file")
    return done.stdout


@contextmanager
def _files_of(top: Path, commit: str, revision: str) -> Iterator[Path]:
    """Yield a folder with the programs, vibes and settings of a commit: plain files only, without links."""
    listed = _git(top, revision, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
    entries = [(head.split()[:3], os.fsdecode(path)) for head, _, path in (line.partition(b"\t") for line in listed) if path]
    files = [(name, path) for (mode, _, name), path in entries if mode.startswith(b"100") and path.endswith(_KEPT)]
    data = _git(top, revision, "cat-file", "--batch", given=b"".join(name + b"\n" for name, _ in files))
    if len(data) > MOST_BYTES:
        _refuse("revision", revision, f"its programs and vibes have more than {MOST_BYTES // 2**20} MB")
    with tempfile.TemporaryDirectory(prefix="instrc-") as result:
        copy = Path(result).resolve()
        for _, path in files:
            head, _, data = data.partition(b"\n")
            size = int(head.split()[2])
            target = copy / path
            if target.is_relative_to(copy) and ".." not in target.parts:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data[:size])
            data = data[size + 1 :]
        yield copy


PartKind: TypeAlias = Literal["mixin", "thought", "description", "order", "values", "calls", "words"]


class Part(NamedTuple):
    """A part of a program whose benefit can be measured."""

    kind: PartKind
    name: str
    """Display name: `write_reply._considerations`."""
    form: PromptForm = PromptForm()
    """The form of the program without it."""


def parts_of(program: str, *, export: str | None = None, project: Project = DEFAULT_PROJECT) -> list[Part]:
    """Return the parts of a program: mixins, thoughts, descriptions, the orders of properties and values, shared requests."""
    flat = _composed(program, export, project)
    if flat is None:
        _refuse("program", program, "only a program (`.aug`) has parts that can be left out")
    contents = [*(step.content for step in flat.graph.steps.values()), *flat.graph.units]
    mixins = dict.fromkeys(use.mixin.name for use in _uses(contents, Application))
    result = [Part("mixin", name) for name in mixins]
    for _, name, schema in steps_of(flat):
        for place, part in schemas_of(schema, name):
            result += parts_at(place, part)
    return [*result, *(Part("calls", form.calls or "", form) for form in other_calls(flat))]


def parts_at(place: str, schema: JsonObject) -> Iterator[Part]:
    """Yield the parts at one place of a program, without nested ones."""
    if place.rpartition(".")[2].startswith("_"):
        yield Part("thought", place, PromptForm(off=[place]))
    if "description" in schema:
        yield Part("description", place, PromptForm(texts={place: ""}))
    if len(values := listing(schema.get("enum"))) > 1:
        yield Part("values", place, PromptForm(values={place: values[::-1]}))
    if len(names := [*mapping(schema.get("properties"))]) > 1:
        yield Part("order", place, PromptForm(order={place: names[::-1]}))


def without(
    program: str, part: Part, *, export: str | None = None, project: Project = DEFAULT_PROJECT, model: str | None = None
) -> Prepared:
    """Return a program without a part, or with properties or values in reverse order."""
    if part.kind == "mixin":
        return with_vibes(program, {}, (part.name,), export=export, project=project, model=model)
    return prepare(program, export=export, project=project, model=model, change=lambda flat: formed(flat, part.form))
