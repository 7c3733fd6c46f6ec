"""Say as problems why an answer cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_never

from instrc.problems.answers import AmbiguousAnswer, CutAnswer, FailedAnswer, InvalidAnswer, NoAnswer, RefusedAnswer
from instrc.problems.problem import Problem
from instrc.source import Span

if TYPE_CHECKING:
    from instrc.lifting.lifted import Lifted


def problems_of(lifted: Lifted, at: Span | None = None) -> Iterator[Problem]:
    """Yield what is wrong with an answer, nothing if it may be used; `at` is its place."""
    match lifted.status:
        case "ok":
            return
        case "failed":
            yield FailedAnswer(at=at, words=lifted.failure or "")
        case "refused":
            yield RefusedAnswer(at=at, words=lifted.refusal or "")
        case "cut":
            yield CutAnswer(at=at)
        case "ambiguous":
            yield AmbiguousAnswer(at=at, readings=tuple(reading.status for reading in lifted.readings))
        case "empty" | "malformed":
            yield NoAnswer(at=at, said=lifted.malformed or lifted.text)
        case "invalid":
            for violation in lifted.invalid:
                yield InvalidAnswer(at=at, pointer=violation.instance, reason=violation.message)
        case other:
            assert_never(other)
