"""Fit the documents of a run to providers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from instrc.cli.documents import Emit, NamedArtefact, document_to_print
from instrc.files import shown_path
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key
from instrc.source import Source

if TYPE_CHECKING:
    from instrc.ir.dialect import Dialect
    from instrc.ir.tool import Tool
    from instrc.lowering.options import Recursion
    from instrc.vibes.registry import Registry


class LoweredTool(NamedTuple):
    """What is sent to a target, and the way back for `instrc lift`."""

    stem: str
    file_name: str
    """The stem as the file system takes it."""
    target: str
    payload: Json
    map: Json


def handling_of(recursion: str | None) -> Recursion | None:
    """Return what to do about recursive schemas, by its word on the command line."""
    known: dict[str, Recursion] = {"keep": "keep", "unroll": "unroll", "refuse": "refuse"}
    return None if recursion is None else known[recursion]


def one_by_one(
    exports: Sequence[NamedArtefact],
    targets: Sequence[str],
    emit: Emit | None,
    report: Report,
    *,
    recursion: Recursion | None = None,
    strict: bool = False,
    registry: Callable[[str], Registry] | None = None,
) -> Iterator[LoweredTool]:
    """Yield each tool, or flat view if that is asked for, for each target; what is lost or cannot be said is reported.

    Where no document is asked for, a process gives one for each chunk of the model.
    `registry` gives the registry that a file sees, so that losses can be shown where they were written.
    """
    from instrc.lowering.lower import lower  # needed with --target only

    for export in exports:
        for tool in _tools(export, emit, report):
            for target in _existing_targets(targets, report):
                with _placing_problems(report, export, registry) as found:
                    result = lower(
                        tool,
                        target,
                        recursion=recursion,
                        strict=strict,
                        report=found,
                    )
                    part = tool.name.removeprefix(export.stem) if tool.name.startswith(f"{export.stem}_") else ""
                    yield LoweredTool(tool.name, export.file_name + part, target.name, result.payload, result.map)


def together(
    exports: Sequence[NamedArtefact],
    target: str,
    emit: Emit | None,
    report: Report,
    *,
    strict: bool = False,
    registry: Callable[[str], Registry] | None = None,
) -> tuple[list[Json], Json]:
    """Return the tools of one request and one way back for answers to it; names that the target makes equal get numbers."""
    from instrc.lowering.toolset import lower_all  # needed with --target only

    owned = [(tool, export) for export in exports for tool in _tools(export, emit, report)]
    owners = {tool.name: export for tool, export in reversed(owned)}
    for known in _existing_targets([target], report):
        with _placing_problems(report, exports[0], registry, owners) as found:
            result = lower_all([tool for tool, _ in owned], known, strict=strict, report=found)
            return result.payload, result.map
    return [], None


def _tools(export: NamedArtefact, emit: Emit | None, report: Report) -> Iterator[Tool]:
    from instrc.ir.tool import Tool

    if emit is None and export.artefact.kind == "process":
        yield from _chunks(export)
        return
    schema = document_to_print(export, Emit.FLAT if emit is Emit.FLAT else Emit.TOOL, report)
    if schema is not None:
        yield Tool(_name_of(export, schema), schema, _description(schema) or export.artefact.title)


def _chunks(export: NamedArtefact) -> Iterator[Tool]:
    """Yield the tool that starts a process, then what the model fills in later, each under the name of its chunk."""
    from instrc.ir.tool import Tool
    from instrc.previewing import later_schemas  # brings the runtime's views

    tool = export.artefact.documents["tool"]
    yield Tool(export.stem, tool, _description(tool) or export.artefact.title)
    for chunk, schema in later_schemas(export.artefact).items():
        yield Tool(f"{export.stem}_{chunk}", schema, export.artefact.title)


def _description(schema: Json) -> str | None:
    own = schema.get("description") if isinstance(schema, dict) else None
    return own if isinstance(own, str) else None


def _name_of(export: NamedArtefact, schema: Json) -> str:
    """Return the name of a tool: an imported vibe has that of its server for its title, which calls of the model must reach."""
    title = schema.get("title") if isinstance(schema, dict) else None
    if not isinstance(title, str) or not export.file.endswith(".json") or any(map(str.isspace, title)):
        return export.stem
    return title if _letters(title) and _letters(title) in _letters(export.stem) else export.stem


def _letters(name: str) -> str:
    """Return a name without its signs, of which the names of files and references have fewer than those of tools."""
    return "".join(filter(str.isalnum, comparison_key(name)))


def _existing_targets(targets: Sequence[str], report: Report) -> list[Dialect]:
    """Return the targets that exist, once each."""
    from instrc.dialects.catalogue import dialect

    known = []
    for target in dict.fromkeys(targets):
        with _placing_problems(report) as found:
            known.append(dialect(target))
        if found.failed:
            return []
    return known


@contextmanager
def _placing_problems(
    report: Report,
    export: NamedArtefact | None = None,
    registry: Callable[[str], Registry] | None = None,
    owners: Mapping[str, NamedArtefact] | None = None,
) -> Iterator[Report]:
    """Note problems with the place they belong to: where a loss was written if that is known, else the file.

    A problem that names one of several tools belongs to its owner, all others to `export`.
    """
    found = Report()
    try:
        yield found
    except CompileError as error:
        found.take(error)
    finally:
        if export is not None and found.problems:
            found.problems[:] = _placed(found.problems, export, registry, owners or {})
        report.problems.extend(_hinted_once(found.problems, report))


def _hinted_once(found: list[Problem], report: Report) -> list[Problem]:
    """Return problems of which only the first loss in the whole report says what to do."""
    from instrc.problems.targets import LossyTarget

    said = any(isinstance(each, LossyTarget) for each in report.problems)
    told: list[Problem] = []
    for each in found:
        told.append(replace(each, first=False) if said and isinstance(each, LossyTarget) else each)
        said = said or isinstance(each, LossyTarget)
    return told


def _placed(
    found: list[Problem],
    export: NamedArtefact,
    registry: Callable[[str], Registry] | None,
    owners: Mapping[str, NamedArtefact],
) -> list[Problem]:
    """Return problems with losses placed in the vibe, or at the step, that they are about, and others in their file."""
    from instrc.cli.places import Places  # only where something is lost
    from instrc.problems.targets import LossyStrict, LossyTarget

    places: dict[int, Places] = {}
    placed: list[Problem] = []
    for each in found:
        at, owner = each.at, export
        if isinstance(each, LossyStrict | LossyTarget):
            owner = export if each.tool is None else owners.get(each.tool, export)
            if registry is not None:
                known = places.setdefault(id(owner), Places(owner.artefact, owner.file, registry(owner.file)))
                at = known.of(f"{each.pointer}/{each.keyword}")
        placed.append(replace(each, at=at or Source(shown_path(owner.file), "").whole()))
    return placed
