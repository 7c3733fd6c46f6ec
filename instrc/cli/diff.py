"""`instrc diff`: what has changed, and for whom it breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from instrc.cli.differences import differences_text
from instrc.cli.inputs import read_schema
from instrc.cli.options import Roots, Shared
from instrc.cli.show import FINE, PROBLEMS, Format, show, verdict
from instrc.cli.terminal import write, write_report
from instrc.files import read_data
from instrc.ir.artefact import Artefact, Emit
from instrc.ir.process import Process
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.syntax.lexer import decode_source
from instrc.workspace import OptionOverrides, Workspace

if TYPE_CHECKING:
    from instrc.comparing.processes import CutComparison
    from instrc.comparing.schemas import Comparison

_SCHEME = "aug:"
_PROGRAM = ".aug"
_LOCK = ".lock"


class DiffFormat(StrEnum):
    """How the differences are written."""

    TEXT = "text"
    JSON = "json"


def command(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A vibe, a JSON Schema, a program, aug:name:1, or a lock.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The newer one, of the same kind.")],
    check: Annotated[bool, typer.Option("--check", help="Exit 1 unless it is certain that nothing breaks.")] = False,
    shape: Annotated[DiffFormat, typer.Option("--format", help="How the differences are written.")] = DiffFormat.TEXT,
    root: Roots = None,
    shared: Shared = None,
    problems: Annotated[Format, typer.Option("--problems", help="How problems are written.")] = Format.TEXT,
) -> None:
    """Show what has changed between two schemas or programs.

    It also says for whom the change is breaking.

    Of a schema: for those who write by the old one, and for those who read by it. Of a process also what has changed in its
    steps, contexts and blocks, new requirements, and whether it breaks for those who start it or serve it.
    A change that cannot be decided is reported as unknown.
    """
    report = Report()
    documents: list[Json] = []
    certain = True
    try:
        workspace = Workspace(root or (), shared or ())
        if all(each.endswith(_LOCK) for each in (old, new)):
            documents, certain = _locks_compared(old, new, report)
        else:
            programs = all(each.endswith(_PROGRAM) for each in (old, new))
            before, after = (dict(_schemas(each, workspace, report, programs=programs)) for each in (old, new))
            if not report.failed:
                documents, certain = _all_compared(before, after, old, new)
    except CompileError as error:
        report.take(error)
    told = report.once()
    code = verdict(told)
    if code == FINE:
        if shape is DiffFormat.TEXT:
            write_report(differences_text(documents, old, new))
        else:
            write(f"{dumps(documents[0] if len(documents) == 1 else documents)}\n")
        code = PROBLEMS if check and not certain else FINE
    show(told, problems)
    raise typer.Exit(code)


def _locks_compared(old: str, new: str, report: Report) -> tuple[list[Json], bool]:
    """Return what has changed between two locks, and whether nothing that was used has changed."""
    from instrc.comparing.locks import compare_locks
    from instrc.vibes.lock import read_lock

    locks = []
    for path in (old, new):
        data = read_data(path, report)
        source = None if data is None else decode_source(path, data, report)
        if source is not None:
            locks.append(read_lock(Path(path), source.text))
    if len(locks) != len((old, new)):
        return [], False
    found = compare_locks(*locks)
    changes: list[Json] = [{"reference": each.reference, "what": each.what, "detail": each.detail} for each in found]
    return [{"name": old, "vibes": changes}], all(each.what in ("added", "moved") for each in found)


def _all_compared(before: dict[str, _Given], after: dict[str, _Given], old: str, new: str) -> tuple[list[Json], bool]:
    """Return what has changed export by export, and whether it is certain that nothing breaks."""
    if len(before) == len(after) == 1:  # one schema each: the names of files do not count
        before, after = {old: next(iter(before.values()))}, {old: next(iter(after.values()))}
    else:
        after = _named_as(after, old, new)
    documents: list[Json] = []
    certain = True
    renamed = _renamed(before, after)
    for name in dict.fromkeys([*before, *after]):
        if name in renamed.values():
            continue
        if name in renamed:
            certain = False
            documents.append({"name": name, "export": "renamed", "from": renamed[name]})
            continue
        if name not in before or name not in after:
            certain = certain and name not in before
            documents.append({"name": name, "export": "removed" if name in before else "added"})
            continue
        document, sure = _compared(before[name], after[name])
        certain = certain and sure
        documents.append({"name": name, **document})
    return documents, certain


class _Given(NamedTuple):
    """One of the two sides: a flat schema, and the process of which it is the result."""

    kind: str
    schema: Json
    process: Process | None = None


def _schemas(path: str, workspace: Workspace, report: Report, *, programs: bool) -> Iterator[tuple[str, _Given]]:
    """Yield the flat schemas of a file or reference by name; of two programs without the sentences about what a step reads."""
    from instrc.flattening.flatten import flatten  # as above

    if path.endswith(_PROGRAM):
        for artefact in workspace.compile(path, OptionOverrides(hints=not programs), report):
            yield artefact.name, _of_artefact(artefact)
        return
    if path.startswith(_SCHEME):
        registry = workspace.registry("-")
        yield path, _Given("schema", flatten({"$ref": path}, registry.documents, nullable=True, report=report))
        return
    registry = workspace.registry(path)
    given = read_schema(path, registry, report)
    if given is not None:
        process = Process.find(given.value)
        if process is not None:  # as a program is compared: by what it gives
            yield from ((path, _of_artefact(each)) for each in workspace.compile(path, OptionOverrides(), report))
            return
        flat = flatten(given.value, registry.documents, base=given.base, nullable=True, report=report, locate=given.locate)
        yield path, _Given("schema", flat)


def _compared(was: _Given, now: _Given) -> tuple[dict[str, Json], bool]:
    """Return what has changed as JSON, of two kinds in their results, and whether it is certain that nothing breaks."""
    from instrc.comparing.schemas import compare  # brings the algebra
    from instrc.flattening.strip import strip

    if was.kind != now.kind and {was.kind, now.kind} != {"tool", "schema"}:
        given = compare(*(strip(each.schema, {"all"}) for each in (was, now)))
        return {"kind": {"old": was.kind, "new": now.kind}, **_document(given)}, False
    found = compare(was.schema, now.schema)
    document, certain = _document(found), found.writers == found.readers == "yes"
    if was.process is not None and now.process is not None:
        from instrc.comparing.processes import compare_processes  # as above

        cut = compare_processes(was.process, now.process)
        certain = certain and cut.start.verdict == cut.serve.verdict == "yes"
        document["process"] = _cut_changes(cut)
    return document, certain


def _of_artefact(artefact: Artefact) -> _Given:
    """Return an export as it is compared: a tool by what is filled in, a process by what it gives."""
    shown: Emit = "result" if artefact.kind == "process" else "tool"
    return _Given(artefact.kind, artefact.documents[shown], _process_of(artefact))


def _process_of(artefact: Artefact) -> Process | None:
    """Return what runs an export: a process, or a direct call as one; a tool is none."""
    if artefact.kind == "tool":
        return None
    from instrc.runtime.plan import plan_of  # few programs are calls

    written = artefact.documents[artefact.kind]
    return Process.from_json(written if artefact.kind == "process" else plan_of(written)["process"])


def _named_as(given: dict[str, _Given], old: str, new: str) -> dict[str, _Given]:
    """Return exports with those that are called like their file, `new` and `new_2`, called like the old file."""
    was, now = (Path(each).stem for each in (old, new))
    own = re.compile(rf"{re.escape(now)}(_\d+)?")
    renamed = {f"{was}{found[1] or ''}" if (found := own.fullmatch(name)) else name: each for name, each in given.items()}
    return renamed if len(renamed) == len(given) else given


def _renamed(before: dict[str, _Given], after: dict[str, _Given]) -> dict[str, str]:
    """Return new names of exports with the old ones, where all that they compile to is the same, and no other export is so."""
    gone, fresh = (
        {name: _content(each) for name, each in one.items() if name not in other}
        for one, other in ((before, after), (after, before))
    )
    was, now = list(gone.values()), list(fresh.values())
    names = {content: name for name, content in gone.items()}
    return {name: names[content] for name, content in fresh.items() if was.count(content) == now.count(content) == 1}


def _content(given: _Given) -> str:
    process = None if given.process is None else given.process.to_json()
    return dumps([given.kind, *({**each, "title": ""} if isinstance(each, dict) else each for each in (given.schema, process))])


def _document(found: Comparison) -> dict[str, Json]:
    document: dict[str, Json] = {
        "changes": [{"pointer": each.pointer, "what": each.what, "detail": each.detail} for each in found.changes],
        "old_instances_accepted": found.writers,
        "new_instances_expected": found.readers,
    }
    if found.writers == "no":
        document |= {"refused": found.refused, "only_unnamed_refused": not found.refused_named}
    if found.readers == "no":
        document |= {"surprising": found.surprising, "only_unnamed_surprising": not found.surprising_named}
    return document


def _cut_changes(found: CutComparison) -> dict[str, Json]:
    """Return what has changed in the cut of a process as JSON."""
    claims = {"old_starts_accepted": found.start, "old_services_suffice": found.serve}
    return {
        "changes": [{"at": each.at, "what": each.what, "detail": each.detail} for each in found.changes],
        "needed": list(found.needed),
        "spared": list(found.spared),
        **{name: {"verdict": claim.verdict, **({"why": claim.why} if claim.why else {})} for name, claim in claims.items()},
    }
