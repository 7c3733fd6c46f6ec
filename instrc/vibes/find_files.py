"""Find the files named by a command's arguments, and read a path or standard input (`-`) within limits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from instrc import problems
from instrc.problems.errors import SettingsError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.files import MOST_BYTES, is_regular, read_regular, reason
from instrc.text.source import Source

if TYPE_CHECKING:
    from subprocess import CompletedProcess

STDIN = "-"
_GIT: Final = "git -c safe.bareRepository=explicit -c core.fsmonitor=false -c core.hooksPath=/dev/null -c fetch.bundleURI="
_GIT_ENVIRONMENT: Final = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
"""Fetch nothing: `protocol.allow` would yield to the setting of one protocol, and older releases know only the second."""


def find_files(paths: Sequence[str], report: Report) -> list[str]:
    """Return the files to check: the given ones, and the programs and vibes in and below each folder, sorted by name."""
    found: dict[str, None] = {}
    for path in paths:
        if path != STDIN and is_folder(path):
            below = list(_below(path, report))
            if not below:
                report.add(problems.files.NothingToCheck(at=Source(path, "").whole()))
            found |= dict.fromkeys(below)
        else:
            found[path] = None
    return list(found)


_ENDINGS = (".aug", ".vibe.json")
"""Extensions of the files that are searched for in folders."""


def _below(folder: str, report: Report) -> Iterator[str]:
    """Yield the files to check below a folder, without hidden folders, links to folders, and links that leave it."""
    inside = os.path.realpath(folder).rstrip(os.sep) + os.sep

    def closed(error: OSError) -> None:
        report.add(unreadable(str(error.filename), reason(error)))

    for where, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.endswith(_ENDINGS):
                continue
            file = os.path.normpath(os.path.join(where, name))  # noqa: PTH118  -- names with odd bytes stay as they are
            if os.path.islink(file) and not os.path.realpath(file).startswith(inside):  # noqa: PTH114  -- as above
                report.add(unreadable(file, "it is a link that leads out of the folder"))
            else:
                yield file


def files_at(path: str, endings: tuple[str, ...]) -> list[Path]:
    """Return the files with one of endings that a path leads to: itself, those in a folder, or those beside a program."""
    place = Path(path)
    if is_folder(path):
        found = {file for ending in endings for file in place.rglob(f"*{ending}")}
        return sorted(file for file in found if not any(part.startswith(".") for part in file.relative_to(place).parts))
    return [place] if path.endswith(endings) else [file for file in beside(path, endings) if is_regular(str(file))]


def beside(path: str, endings: tuple[str, ...]) -> list[Path]:
    """Return the places of files with the endings that belong to a program."""
    place = Path(path)
    return [place.parent / (program_name(path) + ending) for ending in endings]


def program_name(path: str) -> str:
    """Return the name of a program, a vibe or a compiled document (`NAME.KIND.json`) by its path."""
    name = Path(path).name.removesuffix(".json")
    return name.rpartition(".")[0] or name


def program_beside(file: Path, endings: tuple[str, ...]) -> str:
    """Return the program, or the vibe if there is none, that a file with one of endings belongs to."""
    stem = min((file.name.removesuffix(ending) for ending in endings), key=len)
    vibe, program = file.with_name(f"{stem}.vibe.json"), file.with_name(f"{stem}.aug")
    return str(vibe if is_regular(str(vibe)) and not is_regular(str(program)) else program)


def run_git(*words: str, given: bytes = b"") -> CompletedProcess[bytes]:
    """Run a git command that reads: it fetches nothing, and runs no hook and no command that the settings of a repository name.

    It is one of git's plumbing, which obeys no alias or setting of `diff`, `log` and `pager`, and leaves the work tree unread.
    Raise `OSError` if there is no git, or it takes too long.
    """
    import subprocess  # most commands do not use git

    command, environment = [*_GIT.split(), *words], {**os.environ, **_GIT_ENVIRONMENT}
    try:
        return subprocess.run(command, input=given, capture_output=True, check=False, timeout=60, env=environment)  # noqa: S603  -- a list
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from None


LISTED_NAMES: Final = 10_000
"""Maximum files of a folder compared with a missing name; in a larger folder no suggestion is made."""
STDIN_NAME = "<stdin>"


def shown_path(path: str) -> str:
    """Return the display name of a path."""
    return STDIN_NAME if path == STDIN else path


def read_bytes(path: str, limit: int, report: Report) -> bytes | None:
    """Return the content of a file or standard input (`-`), at most one byte over the limit; `None` with a problem."""
    try:
        if path == STDIN:
            if sys.stdin is None:  # `None` where a shell has closed it (`<&-`)
                report.add(unreadable(path, "it is closed"))
                return None
            stream: IO[bytes] | IO[str] = getattr(sys.stdin, "buffer", sys.stdin)
            data = stream.read(limit + 1)
            return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        return read_regular(path, limit + 1)
    except (OSError, ValueError) as error:  # no such file, no rights; a NUL in the name, a closed stream
        report.add(unreadable(path, _reason(error), _nearest(path, error)))
        return None


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return reason(error)


def _nearest(path: str, error: OSError | ValueError) -> tuple[str, ...]:
    """Return similarly named files of the same kind next to a missing one, or none if the folder is very large."""
    if not isinstance(error, FileNotFoundError):
        return ()
    from instrc.problems.suggest import nearest  # only needed to report a problem

    folder, name = os.path.split(path)
    try:
        with os.scandir(folder or ".") as found:
            names = [each.name for each in islice(found, LISTED_NAMES + 1) if each.is_file()]
    except (OSError, ValueError):
        return ()
    if len(names) > LISTED_NAMES:
        return ()
    stem, dot, ending = name.partition(".")
    by_stem = {each.partition(".")[0]: each for each in names if each.endswith(dot + ending)}
    return tuple(os.path.join(folder, by_stem[each]) for each in nearest(stem, by_stem))  # noqa: PTH118  -- the path as it was given


def read_data(path: str, report: Report, limit: int = MOST_BYTES) -> bytes | None:
    """Return the content of a file or standard input (`-`); `None` with a problem if it is unreadable or too large."""
    data = read_bytes(path, limit, report)
    if data is None or len(data) <= limit:
        return data
    at = Source(shown_path(path), data[:200].decode("utf-8", "replace")).whole()
    report.add(problems.files.TooLarge(at=at, what="the file", limit=limit, unit="bytes"))
    return None


def read_text(path: str, report: Report, limit: int = MOST_BYTES) -> Source | None:
    """Return the text of a file or standard input (`-`); `None` with a problem if it is unreadable or not UTF-8."""
    data = read_data(path, report, limit)
    if data is None:
        return None
    name = shown_path(path)
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        start = len(data[: error.start].decode("utf-8-sig", "replace"))
        source = Source(name, data.decode("utf-8-sig", "replace"))
        report.add(problems.files.InvalidJson(at=source.span(start, start + 1), reason="a byte here is not UTF-8"))
        return None


def readable(path: str, report: Report) -> bool:
    """Return whether a path is a file that can be opened; report the problem otherwise."""
    try:
        read_regular(path, 0)
    except (OSError, ValueError) as error:
        report.add(unreadable(path, _reason(error), _nearest(path, error)))
        return False
    return True


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Raise `SettingsError` for a file or folder that cannot be written in the context."""
    try:
        yield
    except OSError as error:
        raise SettingsError([problems.files.UnwritableOutput(path=path, reason=reason(error))]) from None


is_folder: Final = os.path.isdir
"""Return whether a path is a folder; an inaccessible path is not, nor one with a NUL."""
is_there: Final = os.path.exists
"""Return whether a file or folder exists at a path."""


def unreadable(path: str, why: str, nearest: tuple[str, ...] = ()) -> Problem:
    """Return the problem, with the file as its place, so that machines see it."""
    name = shown_path(path)
    return problems.files.UnreadableFile(at=Source(name, "").whole(), path=name, reason=why, nearest=nearest)


def tuned_file(program: Path) -> Path:
    """Return where the form of a program is that `instrc tune` writes."""
    return program.with_name(f"{program.name.removesuffix('.aug')}.tuned.toml")
