"""The checks of an evaluation, by name, and their results for a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from inspect import isawaitable
from math import isfinite
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, TypeGuard

from msgspec import Struct, structs

from instrc.engines.prepare import Prepared
from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.problem import Problem, did_you_mean
from instrc.problems.runs import InvalidDataSet
from instrc.problems.suggest import nearest
from instrc.runtime.boundary import copy_of, guarded, said_by
from instrc.runtime.interpreter.documents import bare_name, spellings
from instrc.schema.validation import validate
from instrc.schema.wellformed import problems_of
from instrc.testing.evaluation.dataset import DataSet, EvalCase
from instrc.testing.evaluation.results import CheckResult, RunFacts
from instrc.text.arguments import excerpt
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, equal, freeze, is_amount
from instrc.text.source import Span
from instrc.text.visible import shortened


class CheckedRun(Struct, frozen=True, kw_only=True):
    """The argument of a check function: a case, and the program's outcome for it."""

    case: EvalCase
    run: RunFacts

    @property
    def input(self) -> Json:
        """The input of the program."""
        return self.case.input

    @property
    def expected(self) -> Json:
        """The expected value of the case."""
        return self.case.expected

    @property
    def value(self) -> Json:
        """The value of the last step."""
        return self.run.value

    def step(self, name: str) -> Json:
        """Return the value of a step, by its key or its name in the program; raise `LookupError` if there is no such step."""
        steps = self.run.steps
        key = name if name in steps else next((key for key in steps if bare_name(key) == bare_name(name)), None)
        if key is None:
            raise LookupError(name)
        return steps[key]


class CheckScore(NamedTuple):
    """The result of a check."""

    score: float
    """Score from 0 to 1."""
    passed: bool
    reason: str = ""


AskJudge: TypeAlias = Callable[[Json], Awaitable[RunFacts]]
"""Runs another program within the evaluation's budget, on an input."""
Ask: TypeAlias = Callable[[Prepared, str | None], AskJudge]
"""Takes another program and its model."""
Looked: TypeAlias = "CheckScore | Awaitable[CheckScore]"


class CheckPlace(NamedTuple):
    """The place of a result that a check reads."""

    folder: Path
    """Folder of the data set, where files are looked up."""
    ask: Ask
    settings: Path | None
    """Settings of the evaluated program, also those of programs that a check names."""


class CheckKind(NamedTuple):
    """A kind of check, by name."""

    make: Callable[[JsonObject, CheckPlace], Callable[[CheckedRun, Json, Json], Looked]]
    """Takes the options and returns a function of a run, its relevant part, and the expected part."""
    options: tuple[str, ...] = ()
    expects: bool = False
    """Whether it compares with an expected value, and skips cases without one."""


class EvalCheck(NamedTuple):
    """A check of a data set."""

    name: str
    look: Callable[[CheckedRun, Json, Json], Looked]
    at: str = ""
    expects: bool = False

    def applies(self, case: EvalCase) -> bool:
        """Return whether the check applies to a case."""
        return not self.expects or expected_part(case, self.at) is not None

    async def result(self, case: EvalCase, run: RunFacts) -> CheckResult:
        """Return the check's result for a run; an incomplete run has failed."""
        if run.error is not None:
            return CheckResult(name=self.name, score=0.0, passed=False, reason=run.error)
        seen = CheckedRun(case=case, run=run)
        try:
            part = part_of(seen, self.at)
            wanted = expected_part(case, self.at)
            looked = self.look(seen, part, None if wanted is None else wanted[0])
            score = await looked if isawaitable(looked) else looked
        except LookupError as error:
            score = CheckScore(0.0, passed=False, reason=str(error.args[0]))
        return CheckResult(name=self.name, score=score.score, passed=score.passed, reason="" if score.passed else score.reason)


def part_of(seen: CheckedRun, at: str) -> Json:
    """Return a part of what a run has brought: a member of its value, else of a step; `LookupError` with a sentence if none."""
    value = seen.run.value
    if not at or (isinstance(value, dict) and at in value):
        return as_object(value)[at] if at else value
    first, *rest = at.split(".")
    if isinstance(value, dict) and first in value:
        rest = [first, *rest]
    else:
        try:
            value = seen.step(first)
        except LookupError:
            steps = seen.run.steps
            deeper = tuple(
                f"{spellings(key)[1]}.{at}" for key, value in steps.items() if isinstance(value, dict) and first in value
            )
            known = [*(value if isinstance(value, dict) else ()), *steps]
            raise LookupError(_missing(first, known, deeper)) from None
    for token in rest:
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and len(token) < 10 and int(token) < len(value):
            value = value[int(token)]
        else:
            raise LookupError(_missing(token, value if isinstance(value, dict) else ()))
    return value


def _missing(name: str, known: Iterable[str], deeper: tuple[str, ...] = ()) -> str:
    there = list(known)
    hint = (
        did_you_mean(deeper or nearest(name, there)) or f"there is {', '.join(f'`{item}`' for item in there[:10]) or 'nothing'}"
    )
    return f"there is no `{name}`: {hint}"


def expected_part(case: EvalCase, at: str) -> tuple[Json] | None:
    """Return the expected value of a case at a path, or `None`."""
    if not case.expects:
        return None
    if not at:
        return (case.expected,)
    value = case.expected
    if isinstance(value, dict) and at in value:
        return (value[at],)
    for token in at.split("."):
        if not isinstance(value, dict) or token not in value:
            return None
        value = value[token]
    return (value,)


def bare_path(path: str) -> str:
    """Return a path of a metric with bare names of steps."""
    return ".".join(token if "$" in token else bare_name(token) for token in path.split("."))


def _equal(options: JsonObject, _place: CheckPlace) -> Callable[[CheckedRun, Json, Json], Looked]:
    whole = _truth(options, "whole")

    def look(_seen: CheckedRun, part: Json, expected: Json) -> CheckScore:
        where = _difference(expected, part, whole=whole)
        return CheckScore(float(where is None), where is None, where or "")

    return look


def _schema(options: JsonObject, _place: CheckPlace) -> Callable[[CheckedRun, Json, Json], Looked]:
    schema = options.get("schema")
    if not isinstance(schema, dict | bool):
        raise ValueError("`schema` is a JSON Schema")  # noqa: TRY004  -- reported with the name of the check
    if wrong := problems_of(schema):
        raise CompileError(wrong)

    def look(_seen: CheckedRun, part: Json, _expected: Json) -> CheckScore:
        faults = validate(part, schema, most=1)
        return CheckScore(
            float(not faults), not faults, f"at `{faults[0].instance or '/'}`: {faults[0].message}" if faults else ""
        )

    return look


def _number(options: JsonObject, _place: CheckPlace) -> Callable[[CheckedRun, Json, Json], Looked]:
    within, relative = _float(options, "within", 0.0), _float(options, "relative", 0.0)

    def look(_seen: CheckedRun, part: Json, expected: Json) -> CheckScore:
        if not _is_number(part) or not _is_number(expected):
            return CheckScore(0.0, passed=False, reason=f"{_short(part)} instead of a number near {_short(expected)}")
        near = abs(part - expected) <= max(within, relative * abs(expected))
        return CheckScore(float(near), near, f"{_short(part)} is not near {_short(expected)}")

    return look


def _set(options: JsonObject, _place: CheckPlace) -> Callable[[CheckedRun, Json, Json], Looked]:
    least = _float(options, "precision", 1.0), _float(options, "recall", 1.0)

    def look(_seen: CheckedRun, part: Json, expected: Json) -> CheckScore:
        if not isinstance(part, list) or not isinstance(expected, list):
            return CheckScore(0.0, passed=False, reason=f"{_short(part)} and {_short(expected)} are not both lists")
        said, right = {freeze(item) for item in part}, {freeze(item) for item in expected}
        both = len(said & right)
        precision, recall = (both / len(said) if said else 1.0), (both / len(right) if right else 1.0)
        score = 2 * both / (len(said) + len(right)) if said or right else 1.0
        passed = precision >= least[0] and recall >= least[1]
        return CheckScore(
            score, passed, f"precision {precision:.2f}, recall {recall:.2f}: {_short(part)} instead of {_short(expected)}"
        )

    return look


def _metric(options: JsonObject, _place: CheckPlace) -> Callable[[CheckedRun, Json, Json], Looked]:
    name = options.get("metric")
    if not isinstance(name, str) or "$" not in name:
        raise ValueError("`metric` is the name of a metric, as `$score` or `draft.$score`")
    least, most = _float(options, "min", -float("inf")), _float(options, "max", float("inf"))

    def look(seen: CheckedRun, _part: Json, _expected: Json) -> CheckScore:
        result = [value for path, value in seen.run.metrics.items() if bare_path(path).endswith(f".{bare_path(name)}")]
        outside = [value for value in result if not _is_number(value) or not least <= value <= most]
        passed = bool(result) and not outside
        return CheckScore(float(passed), passed, f"`{name}` is {_short(outside[0])}" if outside else f"no answer has `{name}`")

    return look


KINDS: Mapping[str, CheckKind] = {
    "equal": CheckKind(_equal, ("whole",), expects=True),
    "schema": CheckKind(_schema, ("schema",)),
    "number": CheckKind(_number, ("within", "relative"), expects=True),
    "set": CheckKind(_set, ("precision", "recall"), expects=True),
    "metric": CheckKind(_metric, ("metric", "min", "max")),
}
"""Check kinds by name; later rooms add more."""


def _truth(options: JsonObject, name: str) -> bool:
    value = options.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` is true or false")  # noqa: TRY004  -- reported with the name of the check
    return value


def _difference(expected: Json, actual: Json, *, whole: bool, at: str = "") -> str | None:
    """Return where a value differs from the expected one; additional members count only if `whole`."""
    if isinstance(expected, dict) and isinstance(actual, dict) and not whole:
        for key, value in expected.items():
            if key not in actual:
                return f"`{at}{key}` is missing, instead of {_short(value)}"
            if (result := _difference(value, actual[key], whole=whole, at=f"{at}{key}.")) is not None:
                return result
        return None
    if equal(expected, actual):
        return None
    where = f"`{at.removesuffix('.')}` is " if at else ""
    return f"{where}{_short(actual)} instead of {_short(expected)}"


def _short(value: Json) -> str:
    return shortened(dumps(value, indent=False), 120)


def _float(options: JsonObject, name: str, otherwise: float) -> float:
    value = options.get(name, otherwise)
    if not _is_number(value) or value != value:  # noqa: PLR0124  -- NaN
        raise ValueError(f"`{name}` is a number")
    return value


def _is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether a value is a number that fits into a float."""
    return isinstance(value, float) or (isinstance(value, int) and is_amount(abs(value)) and not isinstance(value, bool))


class CheckFunction(Protocol):
    """Checks a run; returns true, false, a number from 0 to 1 (0.5 and above passes), or a text that describes the fault."""

    def __call__(self, run: CheckedRun, /) -> object:
        """Check one run."""


def check_of_function(name: str, function: CheckFunction) -> EvalCheck:
    """Return a caller's function as a check; a run for which it raises has not passed."""

    async def look(seen: CheckedRun, _part: Json, _expected: Json) -> CheckScore:
        try:
            with guarded():
                result = function(_apart(seen))
                said = await result if isawaitable(result) else result
        except Exception as error:  # noqa: BLE001  -- user code may raise anything
            return CheckScore(0.0, passed=False, reason=f"the check raised {said_by(getattr(error, 'error', error))}")
        if said is None or isinstance(said, str):
            return CheckScore(float(not said), not said, said or "")
        if isinstance(said, bool | int | float) and 0 <= said <= 1 and isfinite(said):
            return CheckScore(float(said), float(said) >= 0.5, f"{name} is {said:g}" if not isinstance(said, bool) else "")
        reason = f"the check gave {excerpt(said)}: it gives true, false, a number from 0 to 1, or a text of what is wrong"
        return CheckScore(0.0, passed=False, reason=reason)

    return EvalCheck(name, look)


def _apart(seen: CheckedRun) -> CheckedRun:
    """Return a copy of a run that shares nothing with the original."""
    case, run = seen.case, seen.run
    return CheckedRun(
        case=structs.replace(case, input=copy_of(case.input), expected=copy_of(case.expected)),
        run=structs.replace(run, value=copy_of(run.value), steps=copy_of(run.steps), metrics=copy_of(run.metrics)),
    )


def checks_of(
    data: DataSet,
    functions: Mapping[str, CheckFunction],
    kinds: Mapping[str, CheckKind],
    place: CheckPlace,
    names: Collection[str] = (),
) -> tuple[EvalCheck, ...]:
    """Return the checks of a data set: its own, the given functions, and equality for everything else that is expected.

    Raise `CompileError` with all errors.  `names` are those in the program, for detecting misspellings.
    """
    result: list[EvalCheck] = []
    wrong: list[Problem] = []
    for name, said in data.checks.items():
        options: Json = {"check": said} if isinstance(said, str) else said
        try:
            result.append(_made(name, options, kinds, place))
        except ValueError as error:
            wrong.append(InvalidDataSet(at=data.at, what=f"check `{name}`", reason=str(error)))
        except InstrcError as error:
            reason = error.problems[0].message
            wrong.append(InvalidDataSet(at=data.at, what=f"check `{name}`", reason=reason))
    reason = "a function that is given has the same name"
    twice = [name for name in functions if name in data.checks]
    wrong += [InvalidDataSet(at=data.at, what=f"check `{name}`", reason=reason) for name in twice]
    expected = _expected_paths(data)
    known = ("pass", *data.checks, *functions, *(at or "value" for at in expected))
    for name in data.minimum:
        if name not in known:
            reason = f"there is no such check: {did_you_mean(nearest(name, known)) or 'there are ' + ', '.join(known)}"
            wrong.append(InvalidDataSet(at=data.at, what=f"the rate that is demanded of `{name}`", reason=reason))
    compared = {bare_name(item) for item in names}
    for at, where in {**{check.at: data.at for check in result}, **expected}.items():
        first = at.partition(".")[0]
        if first and bare_name(first) not in compared and (near := nearest(first, sorted(names))):
            reason = f"the program has no such name: {did_you_mean(near)}"
            wrong.append(InvalidDataSet(at=where, what=f"`{at}`, which is expected", reason=reason))
    if wrong:
        raise CompileError(wrong)
    result += [check_of_function(name, function) for name, function in functions.items()]
    named, covered = {check.name for check in result}, {check.at for check in result if check.expects}
    others = [at for at in expected if "" not in covered and at not in covered and (at or "value") not in named]
    result += [EvalCheck(at or "value", _equal({}, place), at, expects=True) for at in others]
    return tuple(result) or (EvalCheck("done", lambda *_: CheckScore(1.0, passed=True)),)


def _made(name: str, options: Json, kinds: Mapping[str, CheckKind], place: CheckPlace) -> EvalCheck:
    word = options.get("check") if isinstance(options, dict) else None
    if not isinstance(options, dict) or not isinstance(word, str) or word not in kinds:
        hint = did_you_mean(nearest(str(word), kinds)) or f"there are {', '.join(f'`{kind}`' for kind in kinds)}"
        if word == "function":
            hint = f"functions are given on the command line, `--check {name}=module:function`, or by `checks=` in Python"
        raise ValueError(f"no check is called `{word}`: {hint}")
    kind = kinds[word]
    for key in options:
        if key not in {"check", "at", *kind.options}:
            hint = did_you_mean(nearest(key, ("at", *kind.options))) or f"there are {', '.join(('at', *kind.options))}"
            raise ValueError(f"`{word}` has no option `{key}`: {hint}")
    at = options.get("at", name if kind.expects else "")
    if not isinstance(at, str):
        raise ValueError("`at` is a path, such as `label` or `decide.label`")  # noqa: TRY004  -- reported with the name of the check
    return EvalCheck(name, kind.make(options, place), at, kind.expects)


def _expected_paths(data: DataSet) -> dict[str, Span | None]:
    """Return the members that cases expect, with the first case of each; `""` for an expected value that is not an object."""
    result: dict[str, Span | None] = {}
    for case in data.cases:
        if case.expects:
            for path in case.expected if isinstance(case.expected, dict) else [""]:
                result.setdefault(path, case.at)
    return result
