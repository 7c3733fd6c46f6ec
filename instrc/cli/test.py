"""`instrc test`: the cases next to programs."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.options import LockedFolderGroup
from instrc.cli.output import FINE, PROBLEMS, Format, report_written, show, try_to_write
from instrc.cli.terminal import write_error, write_report
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.language.lexer import decode_source
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.files import MOST_BYTES
from instrc.vibes.find_files import beside, files_at, is_folder, program_beside, read_data, readable

if TYPE_CHECKING:
    from instrc.compiler.ir import Artefact
    from instrc.testing.cases import Case, Difference


def _test(files: list[Path], workspace: Workspace, chosen: str, report: Report, *, update: bool) -> int:
    """Run the cases of files, print the outcome, and return the exit code."""
    from instrc.testing.cases import ENDINGS  # not needed for the help of commands

    passed = failed = known = 0
    changed: dict[Path, str] = {}
    for file in files:
        data = read_data(str(file), report)
        source = None if data is None else decode_source(str(file), data, report, MOST_BYTES)
        if source is None:
            continue
        text = source.text
        there = _cases(file, text)
        known += len(there)
        cases = [case for case in there if chosen.lower() in f"{file} {case.title}".lower()]
        found = Report()
        artefacts = workspace.compile(program_beside(file, ENDINGS), OptionOverrides(), found) if cases else ()
        problems: list[Problem] = [problem for problem in found.once() if problem.severity == "error"]
        report.problems += problems
        good, bad, edits = _judged(file, [] if problems else cases, artefacts, update=update)
        passed += good
        failed += bad
        if edits and update:
            changed[file] = _edited(text, edits)
        failed += len(cases) if problems else 0
    unwritten = try_to_write(changed)
    report.problems += unwritten
    if not unwritten:
        report_written(changed, Format.TEXT)
    show(report.once(), Format.TEXT)
    return _conclude(passed, failed, report, _nothing_tested(chosen, known))


def _cases(file: Path, text: str) -> list[Case]:
    """Return the cases of a file; a file without cases is reported."""
    from instrc.testing.cases import read_cases  # as above

    cases = list(read_cases(text))
    if not cases:
        write_error(f"{file.as_posix()} has no cases: a case is a heading `## …`, and blocks below it such as `json answer`\n")
    return cases


def _judged(file: Path, cases: list[Case], artefacts: tuple[Artefact, ...], *, update: bool) -> tuple[int, int, list[Difference]]:
    """Return the number of passed and failed cases of a file, and the differences; failures are printed."""
    from instrc.testing.cases import BadCaseError, judge  # as above

    passed = failed = 0
    edits: list[Difference] = []
    for case in cases:
        try:
            differences = judge(case, artefacts)
        except BadCaseError as error:
            failed += 1
            write_report(f"{file.as_posix()}:{case.line}: {case.title}: {error}\n")
            continue
        edits += differences
        if differences and not update:
            failed += 1
            write_report(f"{file.as_posix()}:{case.line}: {case.title}\n{''.join(map(_difference_as_text, differences))}")
        else:
            passed += 1
    return passed, failed, edits


def _difference_as_text(difference: Difference) -> str:
    lines = unified_diff(
        difference.expected.splitlines(),
        difference.actual.splitlines(),
        f"expected {difference.block.word}",
        "came",
        lineterm="",
    )
    return "".join(f"  {line}\n" for line in lines)


def _edited(text: str, edits: list[Difference]) -> str:
    """Return a file of cases with the current results, keeping its line ends."""
    ending = "\r\n" if "\r\n" in text else "\n"
    for edit in sorted(edits, key=lambda each: each.block.start, reverse=True):
        text = text[: edit.block.start] + edit.actual.replace("\n", ending) + text[edit.block.end :]
    return text


NO_CASES = 5
"""Exit code if there is nothing to test, as in pytest."""


def _conclude(passed: int, failed: int, report: Report, nothing: str) -> int:
    """Print how many cases passed, or why there were none, and return the exit code."""
    if not passed and not failed and not report.failed:
        write_error(nothing)
        return NO_CASES
    write_error(f"{passed} passed, {failed} failed\n" if failed else f"{passed} passed\n")
    return PROBLEMS if failed or report.failed else FINE


def _nothing_tested(chosen: str, known: int) -> str:
    """Return why no case was run."""
    if known:
        return f"none of the {known:,} cases contains `{chosen}` in its title or file\n"
    return "there are no cases: write some into NAME.cases.md beside NAME.aug (`instrc test -h` shows one)\n"


def cases_command(
    folders: LockedFolderGroup,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Programs, files of cases, folders; by default the current folder.")
    ] = None,
    chosen: Annotated[str, typer.Option("-k", metavar="TEXT", help="Only cases whose title or file contains this text.")] = "",
    update: Annotated[bool, typer.Option("--update", help="Write the actual results into the cases.")] = False,
) -> None:
    """Run the test cases in NAME.cases.md next to NAME.aug.

    A case is a single answer or a whole run; the exit code is 5 if there are none.

    A case is a heading and blocks of JSON, for example:

    \b
    ## Thoughts are no part of the output
    ```json answer
    { "text": "On Monday.", "_why": "It is free." }
    ```
    ```json output
    { "text": "On Monday." }
    ```

    A case of a single answer has `answer` (or `answer openai`: as that provider returns it), and what is expected of it:
    `output`, `thoughts`, `metrics`, `problems`.
    A case of a whole run has `answers` (by step or activity, in lists if there are several) and `input`,
    and what is expected of it: `value`, `output`, `error`.
    In `answers`, `{"fail": "why"}` makes a step fail, and `{"fail": {"kind": "timeout"}}` lets its deadline pass.
    If a program has several exports, choose one after the word of a block: `answer export=NAME`.
    """  # noqa: D301  -- the mark that preserves the line breaks of the example
    report = Report()
    files = _files(["."] if paths is None else paths, report)
    raise typer.Exit(_test(files, Workspace(folders.project), chosen, report, update=update))


def _files(paths: list[str], report: Report) -> list[Path]:
    """Return the case files for paths; a path that is not a file, and a program without cases, are reported."""
    from instrc.testing.cases import ENDINGS  # as above

    found: dict[Path, None] = {}
    for path in paths:
        there = files_at(path, ENDINGS)
        found |= dict.fromkeys(there)
        if not there and not is_folder(path) and readable(path, report):
            write_error(f"{path} has no cases: there is no {beside(path, ENDINGS)[0].name} beside it\n")
    return list(found)
