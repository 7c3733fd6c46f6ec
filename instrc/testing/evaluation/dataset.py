"""Data sets of evaluations: cases with inputs and expected results, from JSON Lines, YAML or Python."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, cast

from msgspec import Struct, field

from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.problem import did_you_mean
from instrc.problems.report import Report
from instrc.problems.runs import InvalidDataSet
from instrc.problems.suggest import nearest
from instrc.runtime.boundary import guarded, said_by
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, Location, is_amount, listing
from instrc.text.source import Source, Span
from instrc.tools.python_values import json_of
from instrc.tools.sources import Given, of_text, of_value
from instrc.tools.yaml_text import of_yaml
from instrc.vibes.find_files import beside, files_at, is_folder, program_beside, read_text, readable


class EvalCase(Struct, frozen=True, kw_only=True):
    """A case: the input of a program, and its expected result."""

    id: str
    input: Json = None
    expected: Json = None
    """Expected value of the program or a part of it; for an object the listed members count, also steps by name."""
    expects: bool = False
    """Whether a value is expected, which may be `null`."""
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    answers: JsonObject = field(default_factory=dict)
    """Results of activities and answers of people, by name."""
    at: Span | None = None

    def refused(self, reason: str) -> InvalidDataSet:
        """Return the problem of an unusable case."""
        return InvalidDataSet(at=self.at, what=f"case `{self.id}`", reason=reason)


class DataSet(Struct, frozen=True, kw_only=True):
    """The cases of one program, and their common settings."""

    cases: tuple[EvalCase, ...]
    checks: JsonObject = field(default_factory=dict)
    """Checks by name: the kind of a check, or an object with `check` and its options."""
    activities: Literal["invented", "real"] | None = None
    """Whether activities are called; otherwise results missing from a case are generated from schemas.  `None` if not said."""
    repeat: int = 1
    minimum: Mapping[str, float] = field(default_factory=dict)
    """Rates required by the gate, by check; `pass` for all checks together."""
    folder: Path = Path()
    """Folder in which files named by a check are looked up."""
    at: Span | None = None


ENDINGS: Final = (".eval.jsonl", ".eval.yaml", ".eval.yml")
"""Extensions of data sets that are discovered next to programs; Python ones run only when named."""
_PYTHON: Final = ".eval.py"
_OF_CASE: Final = ("id", "input", "expected", "tags", "weight", "answers", "metadata")
_OF_SET: Final = ("name", "checks", "activities", "repeat", "min", "evaluators", "report_evaluators")
_MOST_ROWS: Final = 1_000
"""Maximum different checks, rates, tags, and expected members: each is a row of the report."""
_PYDANTIC: Final = {"name": "id", "inputs": "input", "expected_output": "expected"}
"""Names of a case's members in pydantic-evals."""


def read_data_set(path: str, report: Report) -> DataSet | None:
    """Return the data set in a file, or `None` with its problems.

    A Python file is run: its function `cases` yields the cases as dictionaries.
    """
    given = _given(path, report)
    return None if given is None else data_set_of(given, Path(path).parent, report)


def _given(path: str, report: Report) -> Given | None:
    try:
        if path.endswith(".py"):
            return of_value(_made_by(path)) if readable(path, report) else None
        source = read_text(path, report)
        if source is None:
            return None
        if not source.text.strip():
            return of_value([])
        return of_yaml(source) if path.endswith((".yaml", ".yml")) else of_text(source)
    except InstrcError as error:
        report.take(error)
        return None


def _made_by(path: str) -> object:
    """Return the result of a file's function `cases`."""
    try:
        with guarded():
            result = runpy.run_path(path).get("cases")
            if not callable(result):
                raise TypeError("it has no function `cases`")  # noqa: TRY301  -- reported below with the others
            return json_of([*result()])
    except Exception as error:
        at = Source(path, "").whole()
        raise CompileError([InvalidDataSet(at=at, what="the file", reason=said_by(getattr(error, "error", error)))]) from error


def data_set_of(given: Given, folder: Path, report: Report) -> DataSet | None:
    """Return the data set in a value: a list of cases, or an object with `cases`; return `None` and problems otherwise."""
    wrong: list[InvalidDataSet] = []
    value = given.value
    head: JsonObject = {}
    place: Location = ()
    if isinstance(value, dict) and "cases" in value:
        head, place = {key: part for key, part in value.items() if key not in {"cases", "$schema"}}, ("cases",)
        items = list(enumerate(listing(value["cases"])))
    else:
        items = list(enumerate(value if isinstance(value, list) else [value]))
        first = items[0][1] if items else None
        if (
            isinstance(first, dict)
            and first.keys().isdisjoint({"input", "inputs"})
            and any(key in _OF_SET or nearest(key, _OF_SET) for key in first)
        ):
            head, items = first, items[1:]
    cases = [_case(item, number, given.locate((*place, number)), wrong) for number, item in items]
    ids: set[str] = set()
    for case in cases:
        if case.id in ids:
            wrong.append(case.refused("another case has this id"))
        ids.add(case.id)
    at = given.locate(())
    if not cases:
        wrong.append(InvalidDataSet(at=at, what="the file", reason="it has no cases"))
    result = _set(head, tuple(cases), folder, at, wrong)
    report.problems += [*given.problems, *wrong]
    return None if wrong or any(problem.severity == "error" for problem in given.problems) else result


def _case(item: Json, number: int, at: Span | None, wrong: list[InvalidDataSet]) -> EvalCase:
    members = {_PYDANTIC.get(key, key): value for key, value in item.items()} if isinstance(item, dict) else {}
    name = members.get("id")
    name = dumps(name) if isinstance(name, int) and not isinstance(name, bool) else name
    written = name if isinstance(name, str) and name else f"case {number + 1}"

    def refuse(reason: str) -> None:
        wrong.append(InvalidDataSet(at=at, what=f"case `{written}`", reason=reason))

    if not isinstance(item, dict):
        refuse('it has no `input`, for it is not an object (a table of pandas gives its rows as `table.to_dict("records")`)')
    elif "input" not in members:
        refuse("it has no `input`")
    if members.pop("evaluators", None):
        refuse("it has evaluators of its own: write them as `checks` of the set")
    _refuse_unknown(members, _OF_CASE, refuse)
    meta = members.get("metadata")
    about: JsonObject = {key: meta[key] for key in ("tags", "weight") if key in meta} if isinstance(meta, dict) else {}
    about |= members
    tags, weight, answers = about.get("tags", []), about.get("weight", 1), members.get("answers", {})
    tags = [tags] if isinstance(tags, str) else tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag for tag in tags):
        refuse("`tags` is a list of texts")
        tags = []
    if not is_amount(weight) or not 1e-6 <= weight <= 1e6:
        refuse("`weight` is a number from 0.000001 to 1,000,000")
        weight = 1
    if not isinstance(answers, dict):
        refuse("`answers` is an object: what activities give back and people answer, by their names")
        answers = {}
    expects = "expected" in members and not (isinstance(item, dict) and item.get("expected_output", 0) is None)
    return EvalCase(
        id=written,
        input=members.get("input"),
        expected=members.get("expected"),
        expects=expects,
        tags=tuple(map(str, tags)),
        weight=float(weight),
        answers=answers,
        at=at,
    )


def _refuse_unknown(said: Mapping[str, object], known: tuple[str, ...], refuse: Callable[[str], None]) -> None:
    for key in said:
        if key not in known:
            refuse(f"`{key}` has no meaning here: {did_you_mean(nearest(key, known)) or 'there are ' + ', '.join(known)}")


def _set(head: JsonObject, cases: tuple[EvalCase, ...], folder: Path, at: Span | None, wrong: list[InvalidDataSet]) -> DataSet:
    def refuse(reason: str) -> None:
        wrong.append(InvalidDataSet(at=at, what="what it says of all cases", reason=reason))

    _refuse_unknown(head, _OF_SET, refuse)
    if head.get("report_evaluators"):
        refuse("it has evaluators of reports, which only pydantic-evals carries out: leave them out")
    checks, repeat, minimum = head.get("checks", {}), head.get("repeat", 1), head.get("min", {})
    if not isinstance(checks, dict):
        refuse("`checks` is an object: what is checked, by name")
        checks = {}
    for evaluator in listing(head.get("evaluators")):
        if evaluator == "EqualsExpected" or (isinstance(evaluator, dict) and evaluator.keys() == {"EqualsExpected"}):
            checks = {**checks, "EqualsExpected": {"check": "equal", "at": "", "whole": True}}
        else:
            refuse(f"the evaluator {dumps(evaluator, indent=False)[:60]} is not known: write a check of ours under `checks`")
    if not isinstance(repeat, int) or isinstance(repeat, bool) or not 1 <= repeat <= 1000:
        refuse("`repeat` is a whole number from 1 to 1,000")
        repeat = 1
    activities = cast("Literal['invented', 'real'] | None", head.get("activities"))
    if "activities" in head and activities not in ("invented", "real"):
        refuse("`activities` is `invented` or `real`")
    try:
        least = minimum_of(minimum if isinstance(minimum, dict) else {"pass": minimum})
    except ValueError as error:
        refuse(f"`min` {error}")
        least = {}
    tags = {tag for case in cases for tag in case.tags}
    expected = {key for case in cases if isinstance(case.expected, dict) for key in case.expected}
    if any(len(rows) > _MOST_ROWS for rows in (checks, least, tags, expected)):
        refuse(f"it has over {_MOST_ROWS:,} checks, rates, tags or expected members")
    return DataSet(cases=cases, checks=checks, activities=activities, repeat=repeat, minimum=least, folder=folder, at=at)


def minimum_of(given: Mapping[str, object]) -> dict[str, float]:
    """Return the rates required by a gate; raise `ValueError` for an invalid rate."""
    for name, value in given.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            raise ValueError(f"of `{name}` is a number from 0 to 1")
    return {name: float(cast("float", value)) for name, value in given.items()}


def data_sets_at(path: str, report: Report) -> Iterator[tuple[str, str]]:
    """Yield the programs and their data sets that a path leads to: a program, a data set, or a folder of them."""
    found = [Path(path)] if path.endswith(_PYTHON) else files_at(path, ENDINGS)
    if not found and not is_folder(path) and readable(path, report):
        reason = f"there is no `{beside(path, ENDINGS)[0].name}` beside it"
        report.add(InvalidDataSet(at=Source(path, "").whole(), what=f"the data set of `{path}`", reason=reason))
    named = path.endswith((*ENDINGS, _PYTHON)) or is_folder(path)
    yield from ((program_beside(file, (*ENDINGS, _PYTHON)) if named else path, str(file)) for file in found)


def cases_of(values: Iterable[object]) -> Given:
    """Return cases passed in Python, as a value without places."""
    return of_value(json_of([*values], as_input=True))
