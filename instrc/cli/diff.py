"""`instrc diff`: what has changed, and for whom it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.inputs import read_schema
from instrc.cli.options import Roots, Shared
from instrc.cli.show import FINE, PROBLEMS, Format, show, verdict
from instrc.cli.terminal import write
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.workspace import OptionOverrides, Workspace

if TYPE_CHECKING:
    from instrc.flattening.changes import Comparison

_SCHEME = "aug:"


class Shape(StrEnum):
    """How the differences are written."""

    TEXT = "text"
    JSON = "json"


def command(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A vibe, a JSON Schema, a program, or aug:name:1.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, later.")],
    check: Annotated[bool, typer.Option("--check", help="Exit 1 unless it is certain that nothing breaks.")] = False,
    shape: Annotated[Shape, typer.Option("--format", help="How the differences are written.")] = Shape.TEXT,
    root: Roots = None,
    shared: Shared = None,
    problems: Annotated[Format, typer.Option("--problems", help="How problems are written.")] = Format.TEXT,
) -> None:
    """Say what has changed between two schemas: for those who write by the old one, and for those who read by it.

    What is certain is said; what cannot be decided is called unknown.
    """
    report = Report()
    documents: list[Json] = []
    certain = True
    try:
        workspace = Workspace(root or (), shared or ())
        before, after = (dict(_schemas(each, workspace, report)) for each in (old, new))
        if not report.failed:
            from instrc.flattening.changes import compare  # brings the algebra

            if len(before) == len(after) == 1:  # one schema each: the names of files do not count
                before, after = {old: next(iter(before.values()))}, {old: next(iter(after.values()))}
            for name in dict.fromkeys([*before, *after]):
                if name not in before or name not in after:
                    certain = certain and name not in before
                    documents.append({"name": name, "export": "removed" if name in before else "added"})
                    continue
                found = compare(before[name], after[name])
                certain = certain and found.writers == found.readers == "yes"
                documents.append({"name": name, **_document(found)})
    except CompileError as error:
        report.take(error)
    told = report.once()
    code = verdict(told)
    if code == FINE:
        write(
            _text(documents, old, new)
            if shape is Shape.TEXT
            else f"{dumps(documents[0] if len(documents) == 1 else documents)}\n"
        )
        code = PROBLEMS if check and not certain else FINE
    show(told, problems)
    raise typer.Exit(code)


def _schemas(path: str, workspace: Workspace, report: Report) -> Iterator[tuple[str, Json]]:
    """Yield the flat schemas of a file or reference by name."""
    from instrc.flattening.flatten import flatten  # as above

    if path.endswith(".aug"):
        for artefact in workspace.compile(path, OptionOverrides(hints=False), report):
            yield artefact.name, artefact.documents["result" if artefact.kind == "process" else "tool"]
        return
    if path.startswith(_SCHEME):
        registry = workspace.registry("-")
        yield path, flatten({"$ref": path}, registry.documents, nullable=True, report=report)
        return
    registry = workspace.registry(path)
    given = read_schema(path, registry, report)
    if given is not None:
        yield path, flatten(given.value, registry.documents, base=given.base, nullable=True, report=report, locate=given.locate)


def _document(found: Comparison) -> dict[str, Json]:
    document: dict[str, Json] = {
        "changes": [{"pointer": each.pointer, "what": each.what, "detail": each.detail} for each in found.changes],
        "old_instances_accepted": found.writers,
        "new_instances_expected": found.readers,
    }
    if found.writers == "no":
        document["refused"] = found.refused
    if found.readers == "no":
        document["surprising"] = found.surprising
    return document


_WRITERS = {
    "yes": "safe: all that was accepted still is",
    "no": "breaks: this was accepted and is refused now:",
    "unknown": "unknown: it could not be decided whether all that was accepted still is",
}
_READERS = {
    "yes": "safe: nothing comes that could not come before",
    "no": "breaks: this comes now and could not come before:",
    "unknown": "unknown: it could not be decided whether anything new can come",
}


def _text(documents: list[Json], old: str, new: str) -> str:
    lines = [f"{old} → {new}"]
    for document in documents:
        if len(documents) > 1:
            lines.append(f"{document['name']}:")
        if "export" in document:
            lines.append(f"  the export was {document['export']}")
            continue
        for change in document["changes"]:
            detail = f" ({change['detail']})" if change["detail"] else ""
            lines.append(f"  {change['pointer'] or '/'}  {change['what']}{detail}")
        if not document["changes"]:
            lines.append("  nothing has changed")
        for who, words, key, shown in (
            ("who writes by the old schema", _WRITERS, "old_instances_accepted", "refused"),
            ("who reads by the old schema", _READERS, "new_instances_expected", "surprising"),
        ):
            instance = f" {dumps(document[shown], indent=False)}" if shown in document else ""
            lines.append(f"  {who}: {words[document[key]]}{instance}")
    return "\n".join(lines) + "\n"
