"""One test for many generated cases: a test of its own for each would cost more than most of them do."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest


def every_case(
    names: str | Sequence[str], values: Iterable[Any], *, ids: Callable[[Any], object] | Iterable[object] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test for each of the values, as `pytest.mark.parametrize` does, but within one test; each failure is shown.

    Folders, patches and output are fresh in each case; other fixtures are shared by all.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = [_case(arguments, value) for value in values]
    if callable(ids):
        cases = [(label or "-".join(str(ids(each)) for each in given.values()), given) for label, given in cases]
    elif ids is not None:
        cases = [(str(label), given) for label, (_, given) in zip(ids, cases, strict=True)]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        inner: list[_Case] = getattr(test, "cases", [("", {})])
        products = [(f"{outer}-{label}".strip("-"), {**more, **given}) for label, more in inner for outer, given in cases]
        return _looped(getattr(test, "called", test), products)

    return decorate


_Case = tuple[str, dict[str, Any]]
"""What it is called, and its arguments."""


def _case(arguments: list[str], value: Any) -> _Case:
    label, values = "", [value] if len(arguments) == 1 else value
    if isinstance(value, type(pytest.param())):
        assert not value.marks, "a case has no marks: give it a test of its own"
        label, values = str(value.id or ""), value.values
    return label, dict(zip(arguments, values, strict=True))


def _looped(called: Callable[..., None], cases: list[_Case]) -> Callable[..., None]:
    def run(subtests: pytest.Subtests, **fixtures: Any) -> None:
        for number, (label, given) in enumerate(cases):
            try:
                with _fresh(fixtures, number) as fresh:
                    called(**given, **fresh)
            except (Exception, pytest.fail.Exception, pytest.skip.Exception):
                with subtests.test(label or f"case {number}", **_shown(given)):  # only here, as each makes a report
                    raise

    signature = inspect.signature(called)
    others = [parameter for name, parameter in signature.parameters.items() if not any(name in given for _, given in cases)]
    subtests = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    run.__signature__ = signature.replace(parameters=[subtests, *others])  # type: ignore[attr-defined]  # what pytest reads
    run.cases, run.called = cases, called  # type: ignore[attr-defined]  # read where another list of cases stands above
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(run, name, getattr(called, name))
    if hasattr(called, "pytestmark"):
        run.pytestmark = called.pytestmark  # type: ignore[attr-defined]  # where pytest keeps marks
    return run


@contextmanager
def _fresh(fixtures: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Give each case a folder, patches and output of its own."""
    fresh = dict(fixtures)
    if "tmp_path" in fresh:
        fresh["tmp_path"] = fixtures["tmp_path"] / str(number)
        fresh["tmp_path"].mkdir()
    if "capsys" in fresh:
        fresh["capsys"].readouterr()
    if "monkeypatch" in fresh:
        with fixtures["monkeypatch"].context() as fresh["monkeypatch"]:
            yield fresh
    else:
        yield fresh


def _shown(given: dict[str, Any]) -> dict[str, str]:
    """Return the arguments as they fit into a heading."""
    return {name: f"{value:.60}" for name, value in given.items() if isinstance(value, str)}
