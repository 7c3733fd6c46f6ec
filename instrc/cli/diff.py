"""`instrc diff`: what has changed, and for whom it breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from instrc.cli.inputs import read_schema
from instrc.cli.options import FolderGroup, ProblemsOption
from instrc.cli.output import FINE, PROBLEMS, Format, show, verdict
from instrc.cli.terminal import write, write_report
from instrc.compiler.ir import Artefact, Emit
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.problems.errors import InstrcError
from instrc.problems.report import Report
from instrc.process.process import Process
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object, as_text, as_texts

if TYPE_CHECKING:
    from instrc.process.compare import ProcessComparison
    from instrc.schema.differences import Comparison


_PROGRAM = ".aug"


def diff_command(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A vibe, a JSON Schema, a program, or aug:name:1.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The newer version, of the same kind.")],
    folders: FolderGroup,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 unless it is certain that nothing breaks.")] = False,
    shape: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format of the differences.")] = "text",
    problems: ProblemsOption = Format.TEXT,
) -> None:
    """Show what has changed between two schemas or programs.

    It also says whom the change breaks.

    For a schema: those who write by the old one, and those who read by it. For a process also new requirements,
    and whether it breaks for those who start it or serve it.
    A change that cannot be decided is reported as unknown.
    """
    report = Report()
    documents: list[Json] = []
    certain = True
    try:
        workspace = Workspace(folders.project)
        programs = all(each.endswith(_PROGRAM) for each in (old, new))
        before, after = (dict(_schemas(each, workspace, report, programs=programs)) for each in (old, new))
        if not report.failed:
            documents, certain = _all_compared(before, after, old, new)
    except InstrcError as error:
        report.take(error)
    told = report.once()
    code = verdict(told)
    if code == FINE:
        if shape == "text":
            write_report(differences_text(documents, old, new))
        else:
            write(f"{dumps(documents[0] if len(documents) == 1 else documents)}\n")
        code = PROBLEMS if check and not certain else FINE
    show(told, problems)
    raise typer.Exit(code)


class _Given(NamedTuple):
    """One of the two sides: a flat schema, and the process it is the result of."""

    kind: str
    schema: Json
    process: Process | None = None


_SCHEME = "aug:"


def _schemas(path: str, workspace: Workspace, report: Report, *, programs: bool) -> Iterator[tuple[str, _Given]]:
    """Yield the flat schemas of a file or reference by name; two programs are compared without hints."""
    from instrc.schema.flattening.flatten import flatten  # as above

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
        if process is not None:  # compared like a program, by its result
            yield from ((path, _of_artefact(each)) for each in workspace.compile(path, OptionOverrides(), report))
            return
        flat = flatten(given.value, registry.documents, base=given.base, nullable=True, report=report, locate=given.locate)
        yield path, _Given("schema", flat)


def _of_artefact(artefact: Artefact) -> _Given:
    """Return the schema for comparing an export: a tool by its input, a process by its result."""
    shown: Emit = "result" if artefact.kind == "process" else "tool"
    return _Given(artefact.kind, artefact.documents[shown], _process_of(artefact))


def _process_of(artefact: Artefact) -> Process | None:
    """Return the process of an export, or its direct call as a process, or `None` for a tool."""
    if artefact.kind == "tool":
        return None
    from instrc.runtime.plan import plan_of  # few programs are calls

    written = artefact.documents[artefact.kind]
    return Process.from_json(written if artefact.kind == "process" else plan_of(written)["process"])


def _all_compared(before: dict[str, _Given], after: dict[str, _Given], old: str, new: str) -> tuple[list[Json], bool]:
    """Return the changes of each export, and whether it is certain that nothing breaks."""
    named_alike = old in before or new in after or (Path(old).stem in before and Path(new).stem in after)
    if len(before) == len(after) == 1 and named_alike:  # one schema each, both named after their files
        before, after = {old: next(iter(before.values()))}, {old: next(iter(after.values()))}
    elif before.keys() != after.keys():
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


def _named_as(given: dict[str, _Given], old: str, new: str) -> dict[str, _Given]:
    """Return exports, with those named after their file, `new` and `new_2`, renamed after the old file."""
    was, now = (Path(each).stem for each in (old, new))
    own = re.compile(rf"{re.escape(now)}(_\d+)?")
    renamed = {f"{was}{found[1] or ''}" if (found := own.fullmatch(name)) else name: each for name, each in given.items()}
    return renamed if len(renamed) == len(given) else given


def _renamed(before: dict[str, _Given], after: dict[str, _Given]) -> dict[str, str]:
    """Return the new names of renamed exports with the old ones: everything compiled is equal, for no other export."""
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


def _compared(was: _Given, now: _Given) -> tuple[dict[str, Json], bool]:
    """Return the changes of two kinds of results as JSON, and whether it is certain that nothing breaks."""
    from instrc.schema.differences import compare  # imports the schema algebra
    from instrc.schema.strip import strip

    if was.kind != now.kind and {was.kind, now.kind} != {"tool", "schema"}:
        given = compare(*(strip(each.schema, {"all"}) for each in (was, now)))
        return {"kind": {"old": was.kind, "new": now.kind}, **_document(given)}, False
    found = compare(was.schema, now.schema)
    document, certain = _document(found), found.writers == found.readers == "yes"
    if was.process is not None and now.process is not None:
        from instrc.process.compare import compare_processes  # as above

        change = compare_processes(was.process, now.process)
        certain = certain and change.start.verdict == change.serve.verdict == "yes"
        document["process"] = _process_changes(change)
    return document, certain


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


def _process_changes(found: ProcessComparison) -> dict[str, Json]:
    """Return whom the change of a process affects as JSON."""
    claims = {"old_starts_accepted": found.start, "old_services_suffice": found.serve}
    return {
        "needed": list(found.needed),
        "spared": list(found.spared),
        **{name: {"verdict": claim.verdict, **({"why": claim.why} if claim.why else {})} for name, claim in claims.items()},
    }


_LONG = re.compile(r'"(?:[^"\\]|\\.){61,}"')
"""JSON strings that are shortened for display."""
_SHOWN = 40
_WHOLE = 600
"""Maximum characters of a long string, and of an example, that are shown."""
_WRITERS = {
    "yes": "safe: everything that was accepted still is",
    "no": "breaks: this was accepted and is now rejected:",
    "unnamed": "breaks only if properties are written that the old schema does not name:",
    "unknown": "unknown: it could not be decided whether everything that was accepted still is",
}
_READERS = {
    "yes": "safe: no value is possible that was not possible before",
    "no": "breaks: this is possible now and was not before:",
    "unnamed": "breaks only if properties are read that the new schema does not name:",
    "unknown": "unknown: it could not be decided whether new values are possible",
}


def differences_text(documents: list[Json], old: str, new: str) -> str:
    """Return the differences, export by export."""
    kinds = {"call": "a direct call", "process": "a process", "tool": "a tool", "schema": "a schema"}
    lines = [f"{old} → {new}"]
    for document in map(as_object, documents):
        if len(documents) > 1:
            lines.append(f"{document['name']}:")
        if "export" in document:
            lines.append(
                f"  the export was {document['export']}" + (f" (from `{document['from']}`)" if "from" in document else "")
            )
            continue
        if "kind" in document:
            kind = as_object(document["kind"])
            lines.append(f"  it was {kinds[as_text(kind['old'])]} and is {kinds[as_text(kind['new'])]}; its result:")
        changes = map(as_object, as_array(document["changes"]))
        lines += [f"  {change['pointer'] or '/'}  {change['what']}{_detail(change)}" for change in changes]
        if not document["changes"]:
            served = as_object(as_object(document.get("process", {})).get("old_services_suffice", {"verdict": "yes"}))
            lines.append("  nothing has changed" if served["verdict"] == "yes" else "  its result has not changed")
        sides = (
            ("those who write by the old schema", _WRITERS, "old_instances_accepted", "refused"),
            ("those who read by the old schema", _READERS, "new_instances_expected", "surprising"),
        )
        for who, words, key, shown in sides["kind" in document :]:  # a schema of another kind has no old writers
            instance = f" {_brief(document[shown])}" if shown in document else ""
            verdict = "unnamed" if document.get(f"only_unnamed_{shown}") else as_text(document[key])
            lines.append(f"  {who}: {words[verdict]}{instance}")
        if "process" in document:
            lines += _process_lines(as_object(document["process"]))
    return "\n".join(lines) + "\n"


def _detail(change: JsonObject) -> str:
    return f" ({change['detail']})" if change["detail"] else ""


def _brief(instance: Json) -> str:
    """Return an example for display, with long texts and long examples shortened."""

    def shortened(text: re.Match[str]) -> str:
        return f'{text[0][:_SHOWN]}…" ({len(text[0]) - 2:,} characters)'

    whole = _LONG.sub(shortened, dumps(instance, indent=False))
    return whole if len(whole) <= _WHOLE else f"{whole[:_WHOLE]}… ({len(whole):,} characters)"


_CLAIMS = {
    "old_starts_accepted": (
        "who starts the process",
        {"yes": "safe: every input that started it still does", "no": "breaks", "unknown": "unknown"},
    ),
    "old_services_suffice": (
        "who serves the process",
        {"yes": "safe: activities and people receive and return the same", "no": "breaks", "unknown": "unknown"},
    ),
}


def _process_lines(change: JsonObject) -> Iterator[str]:
    for key, words in (("needed", "needed anew"), ("spared", "no longer needed")):
        if change[key]:
            yield f"  {words}: {', '.join(as_texts(change[key]))}"
    for key, (who, verdicts) in _CLAIMS.items():
        claim = as_object(change[key])
        why = f": {claim['why']}" if "why" in claim else ""
        yield f"  {who}: {verdicts[as_text(claim['verdict'])]}{why}"
