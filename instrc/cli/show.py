"""Show problems in the format that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path, PurePath

from instrc.cli.terminal import coloured, write, write_error
from instrc.limits.programs import LISTED_FILES
from instrc.problems.problem import Problem

FINE, PROBLEMS, WRONG_USE = 0, 1, 2
"""Exit codes."""


STYLES = {
    "path": "bold",
    "error": "bold red",
    "warning": "bold yellow",
    "name": "dim",
    "gutter": "blue",
    "mark": "bold cyan",
    "hint": "bold green",
}
"""How a terminal shows the styles of `instrc.problems.render`."""


class Format(StrEnum):
    """How problems are written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def show(problems: Sequence[Problem], shape: Format, *, product: bool = False) -> None:
    """Write problems: frames for people to the standard error, machine formats there too, or out if they are the product."""
    if shape is Format.TEXT:
        write_error(_for_people(problems), exact=True)
    elif product:
        write(_for_machines(problems, shape))
    else:
        write_error(_for_machines(problems, shape), exact=True)


def deliver_text(text: str, output: Path | None, sources: Callable[[], Iterable[object]] = tuple) -> Sequence[Problem]:
    """Print what a command has made, or write it to a file, but over none of its sources; return what is wrong with the file."""
    if output is None:
        write(text)
        return ()
    from instrc.cli.outputs import try_to_write  # not needed to print

    return try_to_write({output: text}, [str(each) for each in sources()])


def report_written(paths: Iterable[PurePath], shape: Format) -> None:
    """Say on the standard error which files were written; machine formats are alone there."""
    names = [path.as_posix() for path in paths]
    if shape is not Format.TEXT or not names:
        return
    shown = names if len(names) <= LISTED_FILES else [*names[: LISTED_FILES - 1], f"… {len(names)} files in all"]
    write_error("".join(f"wrote {name}\n" for name in shown))


def verdict(problems: Iterable[Problem], *, strict: bool = False) -> int:
    """Return the exit code: problems if there is an error, or with `strict` even a warning."""
    return PROBLEMS if any(strict or problem.severity == "error" for problem in problems) else FINE


def refuse(path: str, reason: str) -> int:
    """Show that something cannot be written, and return the exit code."""
    from instrc.problems.files import UnwritableOutput  # rarely needed

    show([UnwritableOutput(path=path, reason=reason)], Format.TEXT)
    return PROBLEMS


def _for_machines(problems: Sequence[Problem], shape: Format) -> str:
    from instrc.jsontext import dumps
    from instrc.problems import machine

    if shape is Format.GITHUB:
        return machine.to_github(problems)
    if shape is Format.JSON:
        return f"{dumps(machine.to_json(problems))}\n"
    from instrc.problems.catalogue import pages

    return f"{dumps(machine.to_sarif(problems, pages()))}\n"


def _for_people(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    from instrc.problems.render import first_of_each, render_text, summary  # only where something is wrong

    first, more = first_of_each(problems)
    counts = f"{more}{summary(problems)}\n"
    return _in_colour(first, counts) if coloured(sys.stderr) else render_text(first) + counts


def _in_colour(problems: Iterable[Problem], counts: str) -> str:
    from rich.console import Console
    from rich.text import Text

    from instrc.problems.render import frame

    console = Console(force_terminal=True, color_system="standard", highlight=False, soft_wrap=True, no_color=False)
    with console.capture() as captured:
        for problem in problems:
            for line in frame(problem):
                console.print(Text.assemble(*((part.text, STYLES.get(part.style, "")) for part in line)))
        console.print(Text(counts, style="bold"), end="")
    return captured.get()
