"""Fit the documents of a run to providers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from instrc.cli.documents import Emit, Export, printed
from instrc.files import name_of
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Source


class Fitted(NamedTuple):
    """One export for one target: what is sent, and the way back for `instrc lift`."""

    stem: str
    target: str
    payload: Json
    map: Json


def fitted(
    exports: Sequence[Export],
    targets: Sequence[str],
    emit: Emit | None,
    report: Report,
    *,
    recursion: str | None = None,
    strict: bool = False,
) -> Iterator[Fitted]:
    """Yield each tool, or flat view if that is asked for, for each target; losses and what cannot be said are taken down."""
    from instrc.targets.catalogue import dialect  # needed with --target only

    known = []
    for target in dict.fromkeys(targets):
        try:
            known.append(dialect(target).name)
        except CompileError as error:
            report.take(error)
    view = Emit.FLAT if emit is Emit.FLAT else Emit.TOOL
    for export in exports:
        schema = printed(export, view, report)
        if schema is not None:
            for target in known:
                yield from _lower(export, schema, target, report, recursion=recursion, strict=strict)


def _lower(export: Export, schema: Json, target: str, report: Report, *, recursion: str | None, strict: bool) -> Iterator[Fitted]:
    from instrc.targets.lower import lower

    found = Report()
    own = schema.get("description") if isinstance(schema, dict) else None
    try:
        result = lower(
            schema,
            target,
            export.stem,
            description=own or export.artefact.title,
            recursion=recursion,
            strict=strict,
            report=found,
        )
        yield Fitted(export.stem, target, result.payload, result.map)
    except CompileError as error:
        found.take(error)
    place = Source(name_of(export.file), "").whole()
    for problem in found.problems:
        report.add(problem if problem.at else replace(problem, at=place))
