"""The output of commands: files, problems, exit codes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path, PurePath
from stat import S_IMODE, S_ISLNK
from typing import Final, TypeVar

from instrc import problems
from instrc.cli.terminal import coloured, write, write_error, write_report
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.files import is_inherited_stream, reason, refuse_irregular
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import JsonObject
from instrc.text.source import Source
from instrc.text.visible import visible

PROGRAMS_LISTED_FILES: Final = 20
"""Maximum written files that are listed individually."""
_SCRATCH = re.compile(r"\.instrc-[0-9a-f]{16}\.tmp")


def write_files(files: Mapping[Path, str], sources: Collection[str] = ()) -> None:
    """Write texts as UTF-8, creating folders; an `OSError` during preparation leaves all files unchanged.

    An existing file must be regular: links, pipes and devices are refused,
    and so are the `sources` of this run.  Streams of the shell (`/dev/stdout`) are allowed.
    """
    with ExitStack() as scratch:
        staged, streams = [], []
        for place, text in files.items():
            if is_inherited_stream(str(place)):
                streams.append((place, text))
                continue
            refuse_place(place, sources)
            if not place.parent.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
            staged.append((_stage(place, text.encode("utf-8", "surrogatepass"), scratch), place))
        for temporary, place in staged:
            temporary.replace(place)
        for stream, text in streams:
            if is_standard_output(stream):
                write(text)
                continue
            with stream.open("a", encoding="utf-8") as file:  # what is in the file that it leads to stays
                file.write(text)


def is_standard_output(place: Path) -> bool:
    """Return whether a path is the standard output, which has another descriptor while foreign code runs."""
    return str(place) in {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}


def _stage(place: Path, data: bytes, scratch: ExitStack) -> Path:
    """Write the new content next to its target, with the permissions of the existing file."""
    temporary = place.with_name(f".instrc-{os.urandom(8).hex()}.tmp")  # short, as file names may not exceed 255 bytes
    with open(temporary, "xb") as file:  # noqa: PTH123  -- exclusive creation, in binary mode
        scratch.callback(temporary.unlink, missing_ok=True)
        file.write(data)
    with suppress(FileNotFoundError):
        temporary.chmod(S_IMODE(place.stat().st_mode))
    return temporary


_Row = TypeVar("_Row")


def write_rows(
    rows: Sequence[_Row], document: Callable[[_Row], JsonObject], line: Callable[[_Row], str], none: str, *, as_json: bool
) -> None:
    """Print rows as JSON Lines, or as lines for people, who are also told that there are none."""
    for row in rows:
        if as_json:
            write(f"{dumps(document(row), indent=False)}\n")
        else:
            write_report(f"{visible(line(row))}\n")
    if not rows and not as_json:
        write_error(f"{none}\n")


def moment_text(at: float) -> str:
    """Format a time for people, in UTC, which the `Z` says."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def try_to_write(files: Mapping[Path, str], sources: Collection[str] = ()) -> list[Problem]:
    """Write files like `write_files`, and return the problem instead of raising it."""
    try:
        write_files(files, sources)
    except OSError as error:
        return [unwritable(error, next(iter(files), ""))]
    return []


def unwritable(error: OSError, otherwise: object) -> Problem:
    """Return the problem of a write error; it names the error's path, if that is one of the user's."""
    path = str(error.filename2 or error.filename or "")
    if not path or _SCRATCH.fullmatch(Path(path).name):
        path = str(otherwise)
    return problems.files.UnwritableOutput(at=Source(path, "").whole(), path=path, reason=reason(error))


def refuse_place(place: Path, sources: Collection[str]) -> None:
    """Raise `OSError` if a path exists and must not be replaced."""
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return
    except ValueError:
        raise OSError(0, "there is a NUL in its name", str(place)) from None
    if S_ISLNK(mode):
        raise OSError(0, "it is a link, and links are not written through", str(place))
    refuse_irregular(str(place), mode)
    if any(_is_same(source, place) for source in sources):
        raise OSError(0, "it is a source of this run", str(place))


def _is_same(source: str, place: Path) -> bool:
    try:
        return os.path.samefile(source, place)  # noqa: PTH121  -- as the user wrote it
    except (OSError, ValueError):
        return False


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
"""Terminal styles for those of `instrc.problems.render`."""


def formatted_files(files: Mapping[Path, str]) -> dict[Path, str]:
    """Return files with programs and vibes in the layout of `instrc fmt`."""
    from instrc.language.formatter import format_source  # only needed to write such files

    formatted = dict(files)
    for path, text in files.items():
        if path.name.endswith((".aug", ".vibe.json")):
            formatted[path] = format_source(Source(path.as_posix(), text), Report()) or text
    return formatted


class Format(StrEnum):
    """The output format of problems."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


def show(problems: Sequence[Problem], shape: Format, *, product: bool = False) -> None:
    """Write problems: frames for people to the standard error, machine formats there too, or out if they are the product."""
    if shape is Format.TEXT:
        write_error(_for_people(problems), exact=True)
    elif product:
        write(_for_machines(problems, shape))
    else:
        write_error(_for_machines(problems, shape), exact=True)


def _for_people(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    from instrc.problems.render import first_of_each, render_text, summary  # only needed to report a problem

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


def _for_machines(problems: Sequence[Problem], shape: Format) -> str:
    from instrc.problems import machine

    if shape is Format.GITHUB:
        return machine.to_github(problems)
    return f"{dumps(machine.to_json(problems))}\n"


def deliver_text(text: str, output: Path | None, sources: Callable[[], Iterable[object]] = tuple) -> Sequence[Problem]:
    """Print the output of a command, or write it to a file that is not one of its sources; return the problem with the file."""
    if output is None:
        write(text)
        return ()

    return try_to_write({output: text}, [str(each) for each in sources()])


def report_written(paths: Iterable[PurePath], shape: Format) -> None:
    """List the written files on standard error, unless the format is for machines."""
    names = [path.as_posix() for path in paths]
    if shape is not Format.TEXT or not names:
        return
    shown = (
        names if len(names) <= PROGRAMS_LISTED_FILES else [*names[: PROGRAMS_LISTED_FILES - 1], f"… {len(names)} files in all"]
    )
    write_error("".join(f"wrote {visible(name)}\n" for name in shown))


def verdict(problems: Iterable[Problem], *, strict: bool = False) -> int:
    """Return the exit code: problems if there is an error, or with `strict` even a warning."""
    return PROBLEMS if any(strict or problem.severity == "error" for problem in problems) else FINE


def refuse(path: str, reason: str) -> int:
    """Show that something cannot be written, and return the exit code."""
    show([problems.files.UnwritableOutput(path=path, reason=reason)], Format.TEXT)
    return PROBLEMS
