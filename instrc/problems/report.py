"""Collect the problems of a run, and leave out those that only follow from another mistake."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Final, TypeAlias

from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.problem import Problem
from instrc.text.source import Source, Span


class Report:
    """A list to which passes add problems; only the driver decides whether to stop."""

    __slots__ = ("problems",)

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self.problems.append(problem)

    def change(self, start: int, made: Callable[[Problem], Problem]) -> None:
        """Replace the problems from index `start` on."""
        self.problems[start:] = [made(problem) for problem in self.problems[start:]]

    @property
    def failed(self) -> bool:
        """Whether an error, not only warnings, has been added."""
        return any(problem.severity == "error" for problem in self.problems)

    def ordered(self) -> tuple[Problem, ...]:
        """Return the problems by file and place, those without a place first; repeated problems are left out."""
        return tuple(sorted(without_echoes(self.problems), key=_place))

    def once(self) -> tuple[Problem, ...]:
        """Return the problems in order without duplicates: programs that use the same invalid vibe report the same ones."""
        kept: dict[tuple[object, ...], Problem] = {}
        for problem in self.ordered():
            kept.setdefault((problem.name, *_place(problem), problem.message), problem)
        return tuple(kept.values())

    def take(self, error: InstrcError) -> None:
        """Add the problems of a failure that are not in the list already."""
        known = set(map(id, self.problems))
        self.problems.extend(problem for problem in error.problems if id(problem) not in known)

    def stop_if_failed(self, error: type[InstrcError] = CompileError) -> None:
        """Raise an error with all problems so far, without duplicates, unless they are only warnings."""
        if self.failed:
            raise error(self.once())


def first_of(found: Iterator[Problem], limit: int) -> Iterator[Problem]:
    """Yield up to `limit` problems of one kind, and a warning if there are more, without computing the rest."""
    yield from islice(found, limit)
    if (further := next(found, None)) is not None:
        from instrc.problems.files import FurtherProblems  # a command that finds nothing starts without it

        yield FurtherProblems(at=further.at, kind=further.name, limit=limit)


def _place(problem: Problem) -> tuple[str, int, int]:
    return ("", -1, -1) if problem.at is None else (problem.at.source.name, problem.at.start, problem.at.end)


LIST_BEFORE_CALL: Final = 1_000
"""Maximum characters between a slot's name and a call in its list for both to be one mistake."""


_ByName: TypeAlias = Mapping[str, Sequence[Problem]]

_ECHOES = frozenset(
    {
        "unused-binding",
        "missing-separator",
        "empty-range",
        "impossible-schema",
        "bare-fail",
        "placeholder",
        "not-a-value",
        "slot-not-found",
    }
)
_OF_NOTHING = ("impossible-schema", "empty-enum", "excluded-value", "empty-range")
"""Problems that explain why no value is left, so that an error about the enclosing schema is redundant."""
_WORDS = re.compile(r"\w+"), re.compile(r"[^\s!-/:-@\[-^`{-~]+")
"""Patterns of names: identifiers may contain marks that Python does not count as letters."""
_LIST_OPENS = re.compile(r"\s*:\s*\[[^\])]*")
"""Text between a slot's name and a call in its list."""


def without_echoes(problems: list[Problem]) -> list[Problem]:
    """Return the problems that do not merely follow from others."""
    by_name: dict[str, list[Problem]] = {}
    for problem in problems:
        by_name.setdefault(problem.name, []).append(problem)
    if not by_name.keys() & _ECHOES:
        return problems
    left_out = {id(problem) for rule in _RULES for problem in rule(by_name, problems)}
    return [problem for problem in problems if id(problem) not in left_out]


def _read_where_the_mistake_is(by_name: _ByName, problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the unused names that an error shows, or suggests for another name."""
    unused = [(problem, problem.at) for problem in by_name.get("unused-binding", ()) if problem.at]
    if not unused:
        return
    errors = [(problem, problem.at) for problem in problems if problem.severity == "error" and problem.at]
    offered = {(at.source, name) for error, at in errors for name in getattr(error, "nearest", ())}
    texts = list(_outermost(at for _, at in errors))
    shown = {(at.source, word.lower()) for at in texts for words in _WORDS for word in words.findall(at.text)}
    for problem, at in unused:
        if (at.source, at.text) in offered or (at.source, at.text.lower()) in shown:
            yield problem


def _of_contradictions(by_name: _ByName, _problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the problems at places that a contradiction shows."""
    contradictions = by_name.get("contradiction", ())
    shown = {label.span for problem in contradictions for label in problem.labels}
    yield from (problem for problem in by_name.get("empty-range", ()) if problem.at in shown)
    sources = {span.source for span in shown} | {problem.at.source for problem in contradictions if problem.at}
    for problem in by_name.get("impossible-schema", ()):
        joined = not {"allOf", "$ref"}.isdisjoint(problem.words)  # type: ignore[attr-defined]  # facts of this class alone
        if joined and problem.at and problem.at.source in sources:
            yield problem


def _inside_of_nothing(by_name: _ByName, _problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield warnings about unsatisfiable parts of a schema that an error already reports as unsatisfiable."""
    whole = _PlacesOfProblems(problem for problem in by_name.get("impossible-schema", ()) if problem.severity == "error")
    for problem in (each for name in _OF_NOTHING for each in by_name.get(name, ())):
        if problem.severity == "warning" and problem.at and whole.have_around(problem.at):
            yield problem


def _slots_of_no_data(by_name: _ByName, _problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield unknown slots of lists that hold a call, `needs: [Draft]`: the problem of the call explains the list."""
    calls = sorted((problem.at for problem in by_name.get("not-data", ()) if problem.at), key=lambda call: call.start)
    starts = [call.start for call in calls]
    for problem in by_name.get("slot-not-found", ()) if calls else ():
        if problem.at is None:
            continue
        place, source = bisect_left(starts, problem.at.end), problem.at.source
        call = calls[place] if place < len(calls) else None
        if call is None or call.source is not source or call.start - problem.at.end > LIST_BEFORE_CALL:
            continue
        if _LIST_OPENS.fullmatch(source.text, problem.at.end, call.start):
            yield problem


def _beside_unknown_names(by_name: _ByName, problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield missing separators before a mistake, or after an unknown name, which may be a word of another language."""
    missing = by_name.get("missing-separator", ())
    if not missing:
        return
    errors = {(each.at.source, each.at.start) for each in problems if each.at and each.severity == "error"}
    unknown = {problem.at for problem in by_name.get("unknown-name", ())}
    for problem in missing:
        before, at = problem.before, problem.at  # type: ignore[attr-defined]  # facts of this class alone
        if before in unknown or (at and (at.source, at.start) in errors):
            yield problem


def _of_one_name(by_name: _ByName, _problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield repeated problems of a name without a value: the mistake is in its definition."""
    told: set[Span] = set()
    for problem in by_name.get("not-a-value", ()):
        if (named := getattr(problem, "named", None)) is not None:
            if named in told:
                yield problem
            told.add(named)


def _in_mistakes(by_name: _ByName, _problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield problems inside a misplaced text, and those of a `Fail` used as a value."""
    texts = by_name.get("misplaced-data", ())
    if texts and (told := by_name.get("placeholder")):
        places = _PlacesOfProblems(texts)
        yield from (problem for problem in told if problem.at is not None and places.have_around(problem.at))
    failing = {
        problem.at.source for problem in by_name.get("not-a-value", ()) if problem.at and getattr(problem, "failing", False)
    }
    yield from (problem for problem in by_name.get("bare-fail", ()) if problem.at is not None and problem.at.source in failing)


_RULES = (
    _read_where_the_mistake_is,
    _of_contradictions,
    _inside_of_nothing,
    _slots_of_no_data,
    _beside_unknown_names,
    _of_one_name,
    _in_mistakes,
)


def _outermost(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans that are inside no other, whose total length never exceeds their sources."""
    ends: dict[Source, int] = {}
    for span in sorted(set(spans), key=lambda each: (each.start, -each.end)):
        if span.end > ends.get(span.source, -1):
            ends[span.source] = span.end
            yield span


class _PlacesOfProblems:
    """The places of some problems, sorted for lookup in logarithmic time."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        spans: dict[Source, list[tuple[int, int]]] = {}
        for problem in problems:
            if problem.at:
                spans.setdefault(problem.at.source, []).append((problem.at.start, problem.at.end))
        self._starts = {source: sorted(start for start, _ in each) for source, each in spans.items()}
        self._furthest = {source: list(accumulate((end for _, end in sorted(each)), max)) for source, each in spans.items()}
        """How far those go that start at a place or before it."""

    def have_around(self, at: Span) -> bool:
        """Return whether one of these contains a place."""
        count = bisect_right(self._starts.get(at.source, ()), at.start)
        return count > 0 and at.end <= self._furthest[at.source][count - 1]
