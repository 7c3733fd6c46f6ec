"""`instrc fmt`: the one layout of programs and vibes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from instrc import problems
from instrc.cli.options import ProblemFormat, one_stdin
from instrc.cli.outputs import try_to_write
from instrc.cli.progress import with_progress
from instrc.cli.show import PROBLEMS, Format, show, verdict
from instrc.cli.terminal import write, write_error
from instrc.files import STDIN, read_bytes, shown_path
from instrc.finding import find_files
from instrc.limits.incoming import PROGRAM_BYTES
from instrc.problems.report import Report
from instrc.source import Source, Span
from instrc.syntax.lexer import decode_source

_BOM = "\ufeff"
"""The byte order mark, which the canonical layout does not have."""


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Programs (.aug), JSON files, folders, or - for the standard input; by default the current folder.",
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; the exit code is 1 if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print the changes; exit 1 if there are any.")] = False,
    name: Annotated[
        str, typer.Option("--stdin-filename", metavar="NAME", help="The file name of the standard input, which decides its kind.")
    ] = "",
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Format programs and vibes.

    Meaning, comments and the order of keys are kept.
    """
    paths = paths or ["."]
    one_stdin(*paths)
    if name and STDIN not in paths:
        message = "--stdin-filename belongs to the standard input (-)"
        raise typer.BadParameter(message)
    from instrc.format.formatter import format_source  # the help of all commands does without it

    report = Report()
    changed: dict[Path, str] = {}
    differs = False
    for path in with_progress(find_files(paths, report), "Formatting"):
        source, mark = _read(path, name, report)
        if source is None or (text := format_source(source, report)) is None:
            differs = True  # it is not in the canonical layout, whether errors or warnings say why
            continue
        if len(text) > PROGRAM_BYTES >= len(source.text):  # what is nested so deeply could not be read again
            report.add(problems.files.TooLarge(at=source.whole(), what="the formatted file", limit=PROGRAM_BYTES, unit="bytes"))
            continue
        written = mark + source.text
        if diff:
            write(_difference(source.name, written, text))
            differs = differs or text != written
        elif path == STDIN and not check:
            write(text)
        elif text != written:
            changed[Path(path)] = text
        if check and text != written:
            report.add(problems.files.Unformatted(at=source.span(0, 0) if mark else _first_difference(source, text)))
    if changed and not check:
        _write(changed, report)
    found = report.once()
    show(found, shape)
    raise typer.Exit(verdict(found) or (PROBLEMS if differs else 0))


def _read(path: str, name: str, report: Report) -> tuple[Source | None, str]:
    """Return a source without the byte order mark before it, and the mark."""
    data = read_bytes(path, PROGRAM_BYTES, report)
    shown = name or shown_path(path) if path == STDIN else path
    if data is None:
        return None, ""
    return decode_source(shown, data, report), _BOM if data.startswith(_BOM.encode()) else ""


def _write(changed: dict[Path, str], report: Report) -> None:
    for path, text in changed.items():
        found = try_to_write({path: text})
        for problem in found:
            report.add(problem)
        if not found:
            write_error(f"formatted {path}\n")


def _difference(name: str, old: str, new: str) -> str:
    from difflib import unified_diff  # only here

    rows = unified_diff(_lines(old), _lines(new), name, name)
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; what else ends a line for Python is a character like others in a string."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _first_difference(source: Source, text: str) -> Span:
    at = next((at for at, (old, new) in enumerate(zip(source.text, text, strict=False)) if old != new), None)
    start = min(len(source.text), len(text)) if at is None else at
    return source.span(start, min(start + 1, len(source.text)))
