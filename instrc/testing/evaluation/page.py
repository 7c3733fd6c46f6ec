"""An evaluation, or two versions side by side, as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import Final, cast

from instrc.runtime.traces import Event, read_trace, steps_of
from instrc.testing.evaluation.report import WORST_CASES, ReportTable, heading, remarks, totals, why
from instrc.testing.evaluation.results import CaseResult, EvaluationResult
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.page_style import page_style
from instrc.text.visible import shortened, visible_lines

TRACES: Final = 200
"""Maximum failed runs whose traces are shown."""
_LONGEST: Final = 20_000
"""Maximum characters of a part of a trace."""
_EXCERPT: Final = 160
"""Maximum characters of a value in the table."""


def page_of(found: Sequence[tuple[Sequence[EvaluationResult], Sequence[str], Sequence[ReportTable]]], folder: Path) -> str:
    """Return the page: for each program its conclusion, its tables, and its cases, with two versions side by side.

    `found` has the versions of each program, earlier one first, the lines of its conclusion, and its tables; a folder has the
    traces of runs.
    """
    runs = (result for versions, _, _ in found for each in versions for result in each.results)
    failed = islice((result.trace for result in runs if result.trace and not result.passed), TRACES)
    traces = {run: read_trace(folder, run) for run in failed}
    parts = "".join(_program(versions, lines, tables, traces) for versions, lines, tables in found)
    style, script = page_style(Path(__file__).with_suffix(".css")), Path(__file__).with_suffix(".js").read_text("utf-8")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Evaluation</title>'
        f'<meta name="viewport" content="width=device-width"><style>\n{style}</style></head><body><main>'
        f"<h1>Evaluation</h1>{parts}</main><script>\n{script}</script></body></html>\n"
    )


def _program(
    versions: Sequence[EvaluationResult],
    lines: Sequence[str],
    tables: Sequence[ReportTable],
    traces: Mapping[str, Sequence[Event]],
) -> str:
    about = "".join(f"<p>{_text(line)}</p>" for line in lines)
    for item in versions:
        about += f"<h2>{_text(heading(item))}</h2>"
        about += "".join(f'<p class="sub">{_text(said)}</p>' for said in (*remarks(item), totals(item)))
    shown = "".join(_table(table) for table in tables if table.title != WORST_CASES)  # listed among all cases below
    return f"<section>{about}{shown}{_cases(versions, traces)}</section>"


def _text(text: str) -> str:
    return escape(visible_lines(text), quote=True)


def _table(table: ReportTable) -> str:
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in table.header)
    rows = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return (
        f'<h2>{_text(table.title)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _cases(versions: Sequence[EvaluationResult], traces: Mapping[str, Sequence[Event]]) -> str:
    """Return the table of all cases, which the page's script sorts and filters; without scripts all are shown."""
    names = [item.version or item.model for item in versions] if len(versions) > 1 else ["result"]
    header = ["case", "tags", "input", "expected"]
    for name in names:
        header += [name, "tokens", "seconds"]
    head = "".join(f'<th scope="col"><button type="button">{_text(name)}</button></th>' for name in header)
    by_case = [item.by_case() for item in versions]
    order = dict.fromkeys(case for results in by_case for case in results)
    rows = "".join(_row(case, [results.get(case, []) for results in by_case], traces) for case in order)
    kinds = {"failed": "only failed", **({"changed": "only changed"} if len(versions) > 1 else {})}
    boxes = "".join(f'<label><input type="checkbox" value="{kind}"> {label}</label>' for kind, label in kinds.items())
    tools = (
        f'<div class="tools"><input type="search" placeholder="Find" aria-label="Find in cases">{boxes}<output></output></div>'
    )
    table = f'<div class="wide"><table class="cases"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    return f"<h2>Cases</h2>{tools}{table}"


def _row(case: str, versions: Sequence[Sequence[CaseResult]], traces: Mapping[str, Sequence[Event]]) -> str:
    first = next(results[0] for results in versions if results)
    shares = [sum(result.passed for result in results) / len(results) if results else 0.0 for results in versions]
    kinds = " ".join([*(["failed"] if min(shares) < 1 else []), *(["changed"] if len(set(shares)) > 1 else [])])
    expected = "" if first.expected is None else _folded(first.expected)
    cells = f"<td>{_text(case)}</td><td>{_text(', '.join(first.tags))}</td><td>{_folded(first.input)}</td><td>{expected}</td>"
    for results, share in zip(versions, shares, strict=True):
        cells += _result(results, share, traces) if results else '<td data-sort="-1">not run</td><td></td><td></td>'
    return f'<tr data-is="{kinds}">{cells}</tr>'


def _folded(value: Json) -> str:
    """Return a value: short ones unchanged, long ones folded after their beginning."""
    short, whole = _excerpt(value), value if isinstance(value, str) else dumps(value)
    return (
        f"<details><summary>{_text(short)}</summary><pre>{_text(whole)}</pre></details>" if short.endswith("…") else _text(short)
    )


def _excerpt(value: Json) -> str:
    return shortened(value if isinstance(value, str) else dumps(value, indent=False), _EXCERPT)


def _result(results: Sequence[CaseResult], share: float, traces: Mapping[str, Sequence[Event]]) -> str:
    """Return the cells of one version: the number of passed runs, the result of the worst run, and its checks."""
    shown = min(results, key=lambda result: result.passed)
    count = "" if len(results) == 1 else f" {sum(result.passed for result in results)}/{len(results)}"
    mark = f'<span class="good">✓ passed{count}</span>' if share == 1 else f'<span class="bad">✗ failed{count}</span>'
    value = f"<pre>{_text(dumps(shown.value))}</pre>" if shown.error is None else ""
    wrong = "" if shown.passed else f"<div>{_text(why(shown))}</div>"
    events = "".join(map(_event, traces.get(shown.trace, ())))
    inside = f"<h3>Value</h3>{value}{events}" if value or events else ""
    details = f"<details><summary>{_text(_excerpt(shown.value))}</summary>{inside}</details>" if inside else ""
    tokens, seconds = sum(result.tokens for result in results), sum(result.seconds for result in results)
    return f'<td data-sort="{share}">{mark}{wrong}{details}</td><td>{tokens}</td><td>{seconds:.2f}</td>'


_SHOWN: Final = {
    "asked": (("sent", "Asked"),),
    "answered": (("answer", "Answered"), ("complaints", "Not accepted, because")),
    "called": (("input", "Called with"),),
    "returned": (("output", "Returned"),),
    "failed": (("error", "Failed"),),
}


def _event(event: Event) -> str:
    said: Mapping[str, object] = event
    parts = [(title, said[name]) for name, title in _SHOWN.get(event["event"], ()) if said.get(name) not in (None, [], "")]
    texts = [(title, value if isinstance(value, str) else dumps(cast("Json", value))) for title, value in parts]
    about = ", ".join(steps_of(event)) or event.get("activity", "")
    return "".join(f"<h3>{title} {_text(about)}</h3><pre>{_text(text[:_LONGEST])}</pre>" for title, text in texts)
