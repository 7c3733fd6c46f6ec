"""Common parts of the public functions for runs and evaluations: argument types, and programs ready to run."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

from msgspec.structs import replace

from instrc.api.programs import AnyPath, project_of
from instrc.compiler.resolve import InMemory, classes_in_memory
from instrc.engines.equip import LocalObjects
from instrc.engines.prepare import Prepared, prepare
from instrc.problems.errors import CompileWarning
from instrc.problems.report import Report
from instrc.runtime.activities import Activities
from instrc.runtime.effects import Check
from instrc.runtime.interpreter.documents import bare_name
from instrc.runtime.models.model import Model
from instrc.runtime.run import run_to_end
from instrc.text import arguments
from instrc.text.arguments import attribute, source_or_path
from instrc.text.callers import warn_caller
from instrc.text.jsonvalue import Json
from instrc.text.source import Source
from instrc.tools.class_checks import ClassCheck

ProgramLike: TypeAlias = str | os.PathLike[str] | Source | dict[str, Json]
Handlers: TypeAlias = Activities | Mapping[str, object] | Iterable[object]
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def prepared_program(
    program: ProgramLike,
    export: str | None,
    roots: Iterable[AnyPath],
    shared: Iterable[AnyPath],
    vibes: InMemory | None,
    model: object = None,
) -> Prepared:
    """Return a program ready to run; suspicious places, and unsupported parts of vibes, become Python warnings."""
    report = Report()
    named = program if isinstance(program, dict) else source_or_path(program)
    prepared = prepare(
        named,
        export=export,
        project=project_of(roots, shared, vibes, report),
        model=model if model is None or isinstance(model, str) else "a model of Python",
    )
    report.problems.extend(prepared.warnings)
    for problem in report.once():
        warn_caller(CompileWarning(problem))
    return prepared if vibes is None else replace(prepared, classes=classes_of(vibes))


def classes_of(vibes: InMemory | None) -> dict[str, ClassCheck]:
    """Return the checks of the vibes that are classes, by the bare names of their steps."""
    return {} if vibes is None else {bare_name(name): check for name, check in classes_in_memory(vibes).items()}


def require_types(model: object, export: object, id: object, requests: object, tokens: object, **functions: object) -> None:  # noqa: A002  -- its name
    """Raise for options of a wrong type."""
    answers = callable(attribute(model, "answer")) and not isinstance(model, type)
    if not (model is None or isinstance(model, str) or answers):
        arguments.instance("model", model, str, "words or an object with the method of `instrc.Model`")
    arguments.text_or_none("export", export)
    arguments.text_or_none("id", id)
    arguments.natural_or_none("requests", requests)
    arguments.natural_or_none("tokens", tokens)
    for name, function in functions.items():
        if function is not None and not callable(function):
            arguments.instance(name, function, type(None), "a function")


def local_objects(model: Model | str | None, activities: Handlers, checks: Mapping[str, Check] | None) -> LocalObjects:
    """Return the Python objects that a caller passes to its runs."""
    given = activities if isinstance(activities, Activities) else Activities(activities)
    return LocalObjects(None if isinstance(model, str) else model, given or None, {} if checks is None else _checks(checks))


def _checks(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Return checks by step name."""
    found = arguments.mapping("checks", checks)
    for name, check in found.items():
        arguments.text("checks", name)
        if not callable(check):
            arguments.instance("checks", check, type(None), "functions by the names of steps")
    return dict(found)


def blocking(
    function: Callable[_Given, Coroutine[object, object, _Result]],
) -> Callable[[Callable[[], object]], Callable[_Given, _Result]]:
    """Return a decorator that makes a function the synchronous form of an asynchronous one, keeping its name and docstring."""

    def decorate(described: Callable[[], object]) -> Callable[_Given, _Result]:
        @wraps(described)
        def call(*given: _Given.args, **named: _Given.kwargs) -> _Result:
            return run_to_end(function(*given, **named))

        call.__dict__["__signature__"] = inspect.signature(function)
        call.__annotations__ = function.__annotations__
        del call.__dict__["__wrapped__"]
        return call

    return decorate


def require_mode(rehearse: object) -> None:
    """Raise for an unknown rehearsal mode."""
    if rehearse != "with-activities" and not isinstance(rehearse, bool):
        arguments.instance("rehearse", rehearse, bool, '`True`, `False` or `"with-activities"`')
