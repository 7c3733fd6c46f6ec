"""The commands `compile`, `check`, `verify`, `targets` and `preview`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer
from msgspec import Struct

from instrc import problems
from instrc.cli import options
from instrc.cli.compile_files import Delivery, Emit, LoweredTool, compile_files, exports, one_by_one
from instrc.cli.output import FINE, Format, verdict
from instrc.cli.review_files import review_files
from instrc.cli.terminal import write, write_report
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.source import Source, Span
from instrc.text.visible import visible
from instrc.vibes.find_files import shown_path
from instrc.vibes.settings import PREVIEW_INPUT, Settings, read_settings

if TYPE_CHECKING:
    from instrc.compiler.ir import Artefact
    from instrc.process.request_settings import WordsLevel
    from instrc.providers.dialect import Dialect, Limits
    from instrc.providers.lowering.verify import Verification
    from instrc.testing.preview import ModelCall


def compile_command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Programs (.aug), vibes (.vibe.json), or - for a program on the standard input."),
    ],
    folders: options.LockedFolderGroup,
    emit: Annotated[Emit | None, typer.Option("--emit", help="The document to print; by default chosen by the program.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write NAME.KIND.json files into a folder instead.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="NAME", help="Convert the tool for a provider; see `instrc targets`.")
    ] = None,
    way_back: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="With --target, write the reverse map for `instrc lift`.")
    ] = None,
    recursion: Annotated[
        Literal["keep", "unroll", "refuse"] | None,
        typer.Option("--recursion", help="With --target, how to handle recursive schemas."),
    ] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, max=10_000, metavar="N", help="Multiply every step for N items.")] = 1,
    sketch: options.Sketch = False,
    strict: options.Strict = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Compile programs into tools, processes and direct calls."""
    options.one_stdin(*files)
    _refuse_contradictions(emit, target, way_back, folder)
    if sketch and all(file.endswith(".json") for file in files):
        options.refuse_use("--sketch is about programs: a vibe stays as it is")
    if recursion is not None and not target:
        options.refuse_use("--recursion belongs to --target")
    wanted = Delivery(emit, folder, target or (), way_back, recursion, strict)
    overrides = OptionOverrides(batch=batch, sketch=sketch)
    raise typer.Exit(compile_files(files, overrides, wanted, folders.project, shape))


def _refuse_contradictions(emit: Emit | None, target: list[str] | None, way_back: Path | None, folder: Path | None) -> None:
    """Refuse contradictory options."""
    if target and emit not in {None, Emit.TOOL, Emit.FLAT} and folder is None:
        wrong = f"--emit {emit} is not for models: with --target it is tool or flat"
    elif target and len(target) > 1 and folder is None:
        wrong = "several --target need a folder (-o)"
    elif way_back is not None and (not target or folder is not None):
        wrong = "--map belongs to --target on the standard output; a folder (-o) gets the map as a file"
    else:
        return
    raise typer.BadParameter(wrong)


def check_command(
    folders: options.LockedFolderGroup,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Programs (.aug), vibes (.vibe.json), folders, or - for a program; by default the current folder.",
        ),
    ] = None,
    shape: options.ProblemFormat = Format.TEXT,
    strict: options.Strict = False,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes first; `--format json` shows all fixes.")] = False,
    dependents: Annotated[
        bool,
        typer.Option("--dependents", help="Also check the programs and vibes that use these, or that use files deleted in git."),
    ] = False,
) -> None:
    """Report problems in programs and vibes.

    The exit code is 1 if there are errors.
    """
    paths = paths or ([] if dependents else ["."])  # a hook passes no file if one was only deleted
    options.one_stdin(*paths)
    code = review_files(
        paths,
        shape=shape,
        project=folders.project,
        strict=strict,
        fix=fix,
        dependents=dependents,
    )
    raise typer.Exit(code)


def verify_command(
    file: options.ProgramFile,
    folders: options.LockedFolderGroup,
    target: Annotated[list[str], typer.Option("--target", metavar="NAME", help="See `instrc targets`. Repeatable.")],
    flat: Annotated[bool, typer.Option("--flat", help="Verify the flat view of a process instead of its tool.")] = False,
    strict: options.Strict = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Check a tool against the rules of a target."""
    results: list[Json] = []
    with options.reported(shape, strict=strict) as report:
        compiled = Workspace(folders.project).compile(file, OptionOverrides(), report)
        wanted = Delivery(Emit.FLAT if flat else Emit.TOOL, targets=target, strict=strict)
        for each in one_by_one(list(exports((file, artefact) for artefact in compiled)), wanted, report):
            from instrc.providers.lowering.verify import verify

            found = verify(each.payload, each.target)
            results.append({"name": each.stem, **found.to_json()})
            report.problems.extend(_problems(each, found, Source(shown_path(file), "").whole()))
        if results:
            write(f"{dumps(results[0] if len(results) == 1 else results)}\n")


def _problems(lowered: LoweredTool, found: Verification, at: Span) -> Iterator[Problem]:
    """Yield the problems of sending a tool."""
    for breach in found.breaches:
        yield problems.targets.PayloadRefused(at=at, tool=lowered.stem, target=lowered.target, reason=str(breach))


ORDERS = {
    "schema": "answers keep the order of the schema",
    "required-first": "answers give required properties first",
    "hinted": "answers follow a hint about their order",
    "free": "answers come in any order",
}


def targets_command(
    shape: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format of the list.")] = "text",
) -> None:
    """List the targets of `compile --target` with their limits."""
    from instrc.providers.targets import targets

    if shape == "json":
        write(f"{dumps([_facts(dialect) for dialect in targets().values()])}\n")
        return
    width = max(map(len, targets()))
    for name, dialect in targets().items():
        write(f"{name:{width}}  {dialect.title}\n")
        for line in _lines(dialect):
            write(f"{'':{width}}    {line}\n")


def _facts(dialect: Dialect) -> Json:
    return {
        "name": dialect.name,
        "title": dialect.title,
        "enforced": dialect.enforced,
        "order": dialect.order,
        "every_property_required": dialect.every_required,
        "limits": dict(_limits(dialect.limits)),
        "facts": [fact._asdict() for fact in dialect.facts],
    }


def _limits(limits: Limits) -> dict[str, int]:
    """Return the known limits, by what they limit."""
    counted = {
        "properties": limits.properties,
        "levels": limits.depth,
        "enum values": limits.enum_values,
        "characters of names and values": limits.characters,
        "characters of description": limits.description,
        "tools a request": limits.tools,
        "strict tools a request": limits.strict_tools,
        "optional parameters a request": limits.optional,
        "union-typed parameters a request": limits.unions,
    }
    return {word: value for word, value in counted.items() if value is not None}


def _lines(dialect: Dialect) -> list[str]:
    force = "the decoder enforces the schema" if dialect.enforced else "the schema is shown to the model, not enforced"
    counts = ", ".join(f"{value:,} {word}" for word, value in _limits(dialect.limits).items())
    notes = [fact.what for fact in dialect.facts if not fact.fields]
    return [f"{force}; {ORDERS[dialect.order]}", *([f"at most {counts}"] if counts else []), *notes]


REQUEST = "(what the user asks for)"


def preview_command(
    file: options.ProgramFile,
    folders: options.LockedFolderGroup,
    target: Annotated[str | None, typer.Option("--target", metavar="NAME", help="Show what this provider receives.")] = None,
    given: Annotated[
        str, typer.Option("--input", metavar="TEXT", help="The request.", envvar=PREVIEW_INPUT, show_envvar=False)
    ] = REQUEST,
    full: Annotated[bool, typer.Option("--full", help="Show the schema as JSON, as it is sent.")] = False,
    model: options.Model = None,
    set_: options.Set = None,
    sketch: options.Sketch = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Show what the model receives: messages, schema, tokens.

    Include what only the engine reads.

    The values that a chunk reads are generated from the schemas. Nothing is sent, and no key is needed.
    """
    with options.reported(shape) as report:
        compiled = Workspace(folders.project).compile(file, OptionOverrides(sketch=sketch), report)
        settings = read_settings(Path(file).parent)
        words = model or settings.run.get("model")
        view = _View(settings, target, words, options.settings_of(set_), report, full)
        text = "\n".join(_artefact(each, given, view) for each in compiled)
        if verdict(report.once()) == FINE:
            write_report(text)


class _View(Struct, frozen=True):
    """The view of the model's calls."""

    settings: Settings
    target: str | None
    model: str | None
    """Model spec from the project or the command line."""
    given: Mapping[str, Json]
    report: Report
    full: bool


def _artefact(artefact: Artefact, given: str, view: _View) -> str:
    from instrc.engines.prepare import models_of  # imports the runtime
    from instrc.testing.preview import calls_of  # imports the interpreter

    settings = view.settings
    folder = Path() if settings.file is None else settings.file.parent
    names = (artefact.name, artefact.step or "")
    models = models_of(artefact.documents[artefact.kind], settings, folder, names) if settings.models else {}
    calls = calls_of(artefact, given, models, settings.sentences)
    lines = [f"{artefact.title or artefact.name}: {len(calls)} call{'' if len(calls) == 1 else 's'} of the model", ""]
    if not calls:
        lines.append("The model is not asked: all steps are of servers and people.")
    for call in calls:
        lines += _call(call, artefact, view)
    return "\n".join(lines) + "\n"


def _call(call: ModelCall, artefact: Artefact, view: _View) -> list[str]:
    from instrc.engines.equip import asking
    from instrc.runtime.models.catalogue import provider_of
    from instrc.schema.outline import outline
    from instrc.testing.preview import TEMPLATE_TOKENS, estimated_tokens

    payload: Json = call.schema
    sent, words, count = call.message, call.model or view.model, estimated_tokens
    beside: list[str] = []
    read, around = True, 0
    effects = None
    if words and call.command:
        effects = asking(view.settings, words, view.given, artefact.step)
    if view.target is not None:
        from instrc.providers.lowering.lower import lower
        from instrc.providers.targets import dialect
        from instrc.runtime.models.provider import message_with_words
        from instrc.tools.tool import Tool

        lowering = lower(
            Tool(call.name, call.schema, hints=artefact.hints, sentences=view.settings.sentences),
            dialect(view.target),
            report=view.report,
        )
        payload, read = lowering.payload, lowering.dialect.shown_to_model
        level = cast("WordsLevel | None", view.given.get("words", view.settings.run.get("words")))
        sent = None if sent is None else message_with_words(sent, lowering, view.settings.sentences, level)
    elif effects is not None and call.command is not None and (provider := provider_of(effects.model)) is not None:
        asked, lowering = provider.preview(effects.request(call.command))
        sent, payload, read = asked.message, asked.payload, lowering.dialect.shown_to_model
        around = TEMPLATE_TOKENS if provider.endless else 0  # the additions of a hosted model are unknown
        equal = count(dumps(payload, indent=False)) * read + count(sent.partition(call.message or sent)[0])
        beside.append(f"equal in every run, so that a cache may give it: about {equal:,} tokens")
        if said := {**asked.options, **asked.extra}:
            beside.append(f"settings: {dumps(said, indent=False)}")
    if effects is not None and call.command is not None and (cost := effects.estimate(effects.request(call.command))):
        beside.append(f"cost: {cost:.2g} USD at most")
    schema_tokens = count(dumps(payload, indent=False))
    total = schema_tokens * read + (count(sent) + around if sent is not None else 0)
    by_model = f" {words} ──" if words is not None else ""
    lines = [f"── {call.chunk} ──{by_model} about {total:,} tokens (estimate)", ""]
    if sent is None:
        lines += ["message: not known, because the rehearsal did not reach this call", ""]
    else:
        lines += [f"message ({count(sent):,} tokens):", *(f"  {line}" for line in sent.rstrip("\n").split("\n")), ""]
    kind = f"payload for {view.target}" if view.target is not None else "schema, in order"
    lines.append(f"{kind} ({f'{schema_tokens:,} tokens' if read else 'a grammar, which the model does not read'}):")
    shown = dumps(payload).split("\n") if view.full or view.target is not None else map(visible, outline(call.schema))
    lines += [f"  {line}" for line in shown]
    lines += ["", *beside, "kept back by the engine:"]
    kept = [f"  {step}: {dumps(facts, indent=False)}" for step, facts in call.kept.items() if facts]
    lines += [*(kept or ["  nothing"]), ""]
    return lines
