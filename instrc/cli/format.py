"""The commands `fmt` and `explain`."""

from __future__ import annotations

import re
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer

from instrc import problems
from instrc.cli.options import ProblemFormat, one_stdin, refuse_use
from instrc.cli.output import PROBLEMS, WRONG_USE, Format, show, try_to_write, verdict
from instrc.cli.terminal import write, write_error
from instrc.language.lexer import decode_source
from instrc.problems.report import Report
from instrc.text.limits import PROGRAM_BYTES
from instrc.text.source import Source, Span
from instrc.text.visible import visible
from instrc.vibes.find_files import STDIN, find_files, read_bytes, shown_path

_BOM = "\ufeff"
"""Byte order mark, which the canonical layout omits."""


def fmt_command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Programs (.aug), JSON files, folders, or - for the standard input; by default the current folder.",
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print the changes; exit 1 if there are any.")] = False,
    name: Annotated[
        str, typer.Option("--stdin-filename", metavar="NAME", help="Assumed name of standard input, which sets its kind.")
    ] = "",
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Format programs and vibes.

    Meaning, comments and the order of keys are kept.
    """
    paths = paths or ["."]
    one_stdin(*paths)
    if name and STDIN not in paths:
        refuse_use("--stdin-filename belongs to the standard input (-)")
    from instrc.language.formatter import format_source  # not needed for the help of commands

    report = Report()
    differs = False
    for path in find_files(paths, report):
        source, mark = _read(path, name, report)
        if source is None or (text := format_source(source, report)) is None:
            differs = True  # not in the canonical layout, whatever the reason
            continue
        if len(text) > PROGRAM_BYTES >= len(source.text):  # nested too deeply to be parsed again
            report.add(problems.files.TooLarge(at=source.whole(), what="the formatted file", limit=PROGRAM_BYTES, unit="bytes"))
            continue
        if 0 < source.text.count("\n") == source.text.count("\r\n"):
            text = re.sub(r"\r?\n", "\r\n", text)  # line endings stay as they are in the file
        written = mark + source.text
        if diff:
            write(_difference(source.name, written, text))
            differs = differs or text != written
        elif path == STDIN and not check:
            write(text)
        elif text != written and not check:
            _write(path, text, report)  # at once, so that nothing that is saved while others are read is lost
        if check and text != written:
            report.add(problems.files.Unformatted(at=source.span(0, 0) if mark else _first_difference(source, text)))
    found = report.once()
    show(found, shape)
    raise typer.Exit(verdict(found) or (PROBLEMS if differs else 0))


def _read(path: str, name: str, report: Report) -> tuple[Source | None, str]:
    """Return a source without its byte order mark, and the mark."""
    data = read_bytes(path, PROGRAM_BYTES, report)
    shown = name or shown_path(path) if path == STDIN else path
    if data is None:
        return None, ""
    return decode_source(shown, data, report), _BOM if data.startswith(_BOM.encode()) else ""


def _difference(name: str, old: str, new: str) -> str:
    rows = unified_diff(_lines(old), _lines(new), name, name)
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; other separators known to Python are ordinary characters in a string."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _first_difference(source: Source, text: str) -> Span:
    at = next((at for at, (old, new) in enumerate(zip(source.text, text, strict=False)) if old != new), None)
    start = min(len(source.text), len(text)) if at is None else at
    return source.span(start, min(start + 1, len(source.text)))


def _write(path: str, text: str, report: Report) -> None:
    unwritten = try_to_write({Path(path): text})
    report.problems += unwritten
    if not unwritten:
        write_error(f"formatted {visible(path)}\n")


def explain_command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The name of a problem, such as `unknown-name`.")] = None,
) -> None:
    """Explain a problem: its meaning, an example and a solution. Without a name, list all problems."""
    from instrc.problems import catalogue  # reads every module of problems

    classes = catalogue.classes()
    if name is None:
        width = max(map(len, classes))
        for known, problem in classes.items():
            write(f"{known:{width}}  {catalogue.page(problem).partition(chr(10))[0]}\n")
        return
    asked = name.strip().strip("[]")  # copied from a message, including the brackets
    if asked in classes:
        write(f"# {asked}\n\n{catalogue.page(classes[asked]).rstrip()}\n")
        return
    from instrc.problems.suggest import nearest

    close = nearest(asked, tuple(classes))
    hint = f"Did you mean {' or '.join(f'`{each}`' for each in close)}?" if close else "`instrc explain` lists all problems."
    write_error(f"instrc explain: there is no problem named `{asked[:100]}`. {hint}\n")
    raise typer.Exit(WRONG_USE)
