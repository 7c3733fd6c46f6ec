"""Apply the safe fixes of problems to the files they are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from instrc.cli.outputs import write_files
from instrc.files import read_bytes
from instrc.limits.programs import FIX_ROUNDS
from instrc.problems.problem import Fix, Problem
from instrc.problems.report import Report
from instrc.problems.suggest import applied


def fix_files(files: Sequence[str], check: Callable[[], Sequence[Problem]]) -> dict[str, int]:
    """Fix what is surely meant otherwise in these files, until nothing is left of it; return how many fixes each got.

    `check` returns the problems as the files stand now.  `OSError` if a file cannot be written.
    """
    counts: dict[str, int] = {}
    for _ in range(FIX_ROUNDS):
        texts: dict[str, str] = {}
        by_file: dict[str, list[Fix]] = {}
        for problem in check():
            safe = next((fix for fix in problem.fixes if fix.safe), None)
            if safe and problem.at and all(edit.span.source.name in files for edit in safe.edits):
                by_file.setdefault(problem.at.source.name, []).append(safe)
                texts[problem.at.source.name] = problem.at.source.text
        changed: dict[Path, str] = {}
        for name, fixes in by_file.items():
            fixed, count = applied(texts[name], fixes)
            if count and fixed != texts[name] and _is_still(name, texts[name]):
                changed[Path(name)] = fixed
                counts[name] = counts.get(name, 0) + count
        if not changed:
            break
        write_files(changed)
    return counts


def _is_still(name: str, text: str) -> bool:
    """Tell whether a file holds the text that the places are of; line ends count, a byte order mark does not."""
    data = read_bytes(name, 4 * len(text) + 3, Report())
    return data is not None and data.removeprefix(b"\xef\xbb\xbf") == text.encode("utf-8", "surrogatepass")
