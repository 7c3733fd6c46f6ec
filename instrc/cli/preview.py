"""`instrc preview`: what the model receives, chunk by chunk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from shutil import get_terminal_size
from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.options import LockedOption, ProblemFormat, Roots, Shared
from instrc.cli.show import FINE, Format, show, verdict
from instrc.cli.terminal import clear_screen, is_terminal, write_error, write_report
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.workspace import OptionOverrides, Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from instrc.ir.artefact import Artefact
    from instrc.previewing import ModelCall

REQUEST = "(what the user asks for)"
_PAUSE = 0.4
"""Seconds between two looks at the files."""


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A program (.aug), a vibe (.vibe.json), or - for a program.")],
    target: Annotated[str | None, typer.Option("--target", metavar="NAME", help="Show what this provider receives.")] = None,
    given: Annotated[str, typer.Option("--input", metavar="TEXT", help="The request.")] = REQUEST,
    full: Annotated[bool, typer.Option("--full", help="Show the schema as the JSON that is sent.")] = False,
    tokenizer: Annotated[
        str | None, typer.Option("--tokenizer", metavar="NAME", help="Count with an encoding of tiktoken, such as o200k_base.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Draw it again whenever a file changes.")] = False,
    sketch: Annotated[bool, typer.Option("--sketch", help="Treat unknown instructions as objects with any properties.")] = False,
    locked: LockedOption = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Show what the model receives: messages, schema, tokens.

    Also what only the engine reads.

    Answers and results are generated from the schemas; no key is needed and nothing is sent.
    """
    while True:
        report = Report()
        workspace: Workspace | None = None
        text = ""
        try:
            count, by = _counter(tokenizer)
            workspace = Workspace(root or (), shared or (), locked=locked)
            compiled = workspace.compile(file, OptionOverrides(sketch=sketch), report)
            text = "\n".join(_artefact(each, target, given, report, count, by, full=full) for each in compiled)
        except CompileError as error:
            report.take(error)
        if watch:
            clear_screen()
        found = report.once()
        if verdict(found) == FINE:
            write_report(_cut_to_width(text, get_terminal_size().columns) if is_terminal(sys.stdout) else text)
        show(found, shape)
        if not watch or workspace is None:
            raise typer.Exit(verdict(found))
        files = workspace.files(file)
        before = _stamps(files())  # before anybody is told: what is written from then on is seen
        write_error("watching; Ctrl-C ends\n")
        while _stamps(files()) == before:
            sleep(_PAUSE)


def _cut_to_width(text: str, width: int) -> str:
    """Return a text whose long lines go on in the next one, between words and further in, as a terminal does not do it."""
    from textwrap import wrap  # only where a person reads

    lines = []
    for line in text.split("\n"):
        inset = " " * min(len(line) - len(line.lstrip()) + 2, width // 2)
        fits = len(line) <= width
        lines += [line] if fits else wrap(line, width, subsequent_indent=inset, break_on_hyphens=False, replace_whitespace=False)
    return "\n".join(lines)


def _stamps(files: list[Path]) -> dict[Path, int]:
    """Return when each file was written last; 0 for one that is not there."""
    seen: dict[Path, int] = {}
    for path in files:
        try:
            seen[path] = path.stat().st_mtime_ns
        except OSError:
            seen[path] = 0
    return seen


def _counter(tokenizer: str | None) -> tuple[Callable[[str], int], str]:
    """Return what counts tokens, and how that is called."""
    if tokenizer is None:
        return (lambda text: -(-len(text) // 4)), "characters / 4"
    try:
        import tiktoken  # an extra: few need exact numbers
    except ImportError:
        from instrc.problems.settings import MissingExtra

        raise CompileError([MissingExtra(feature="`--tokenizer`", extra="tokens", package="tiktoken")]) from None
    try:
        encoding = tiktoken.get_encoding(tokenizer)
    except Exception as error:  # noqa: BLE001  -- the library fetches the encoding, and fails in many ways
        from instrc.problems.settings import InvalidOption

        known = ", ".join(tiktoken.list_encoding_names())
        wanted = f"an encoding that tiktoken can load ({known})"
        raise CompileError([InvalidOption(option="--tokenizer", given=f"`{tokenizer}` ({error})"[:200], wanted=wanted)]) from None
    return (lambda text: len(encoding.encode(text, disallowed_special=()))), tokenizer


def _artefact(
    artefact: Artefact, target: str | None, given: str, report: Report, count: Callable[[str], int], by: str, *, full: bool
) -> str:
    from instrc.previewing import calls_of  # brings the interpreter

    calls = calls_of(artefact, given)
    lines = [f"{artefact.title or artefact.name}: {len(calls)} call{'' if len(calls) == 1 else 's'} of the model", ""]
    if not calls:
        lines.append("The model is not asked: all steps are of servers and people.")
    for call in calls:
        lines += _call(call, target, report, count, by, full=full)
    return "\n".join(lines) + "\n"


def _call(call: ModelCall, target: str | None, report: Report, count: Callable[[str], int], by: str, *, full: bool) -> list[str]:
    from instrc.draw.outline import outline

    payload: Json = call.schema
    if target is not None:
        from instrc.dialects.catalogue import dialect
        from instrc.ir.tool import Tool
        from instrc.lowering.lower import lower

        payload = lower(Tool(call.name, call.schema), dialect(target), report=report).payload
    schema_tokens = count(dumps(payload, indent=False))
    sent = call.message
    total = schema_tokens + (count(sent) if sent is not None else 0)
    lines = [f"── {call.chunk} ── about {total:,} tokens ({by})", ""]
    if sent is None:
        lines += ["message: not known, because the rehearsal did not reach this call", ""]
    else:
        lines += [f"message ({count(sent):,} tokens):", *(f"  {line}" for line in sent.rstrip("\n").split("\n")), ""]
    kind = f"payload for {target}" if target is not None else "schema, in order"
    lines.append(f"{kind} ({schema_tokens:,} tokens):")
    shown = dumps(payload).split("\n") if full or target is not None else outline(call.schema)
    lines += [f"  {line}" for line in shown]
    lines += ["", "kept back by the engine:"]
    kept = [f"  {step}: {dumps(facts, indent=False)}" for step, facts in call.kept.items() if facts]
    return [*lines, *(kept or ["  nothing"]), ""]
