"""Turn a value into an instance of a class: a model of pydantic, a dataclass, a `TypedDict`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from instrc import arguments
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, pointer
from instrc.problems.answers import InvalidAnswer
from instrc.problems.installed import MissingExtra
from instrc.problems.problem import CompileError
from instrc.problems.rim import InvalidOption
from instrc.python_types import readable
from instrc.schema.validation import Violation

T = TypeVar("T")


def instance(value: Json, output: Json, violations: Sequence[Violation], model: type[T], step: str | None = None) -> T:
    """Return a value, or that of one step in it, as an instance of a class.

    A `CompileError` says what its schema, or the class, does not take.
    `output` is the value without thoughts and metrics: what is read if the class does not take these.
    """
    if violations:
        raise CompileError([InvalidAnswer(pointer=each.instance, reason=each.message) for each in violations])
    around: tuple[str, ...] = ()
    if step is not None:
        value, output, around = _of_step(value, step), _of_step(output, step), (step,)
    try:
        from pydantic import TypeAdapter, ValidationError
        from pydantic.errors import PydanticUserError
    except ImportError:
        raise CompileError([MissingExtra(feature="models", extra="import", package="pydantic")]) from None
    if isinstance(model, str):
        message = f"no model of pydantic, dataclass or TypedDict: {model!r}, a text: give the class itself"
        raise TypeError(message)
    refusals: list[InvalidAnswer] = []
    try:
        adapter = TypeAdapter(readable(model))
        for said in (value, output):
            try:
                text = dumps(said, indent=False)  # as JSON, in which a date is a text and a tuple a list
                made: T = adapter.validate_json(text)
            except ValidationError as error:
                name = getattr(model, "__name__", model)
                refusals = [
                    InvalidAnswer(pointer=pointer((*around, *each["loc"])), reason=f"`{name}` refuses it: {each['msg']}")
                    for each in error.errors()
                ]
            else:
                return made
    except PydanticUserError as error:
        message = f"no model of pydantic, dataclass or TypedDict: {model!r} ({error.message})"
        raise TypeError(message) from error
    raise CompileError(refusals)


def _of_step(value: Json, step: str) -> Json:
    """Return the value of one step; a `CompileError` lists the steps if there is none of that name."""
    if isinstance(value, dict) and step in value:
        return value[step]
    steps = ", ".join(f"`{name}`" for name in value) if isinstance(value, dict) else ""
    wanted = f"one of {steps}" if steps else "left out: the value has no steps"
    raise CompileError([InvalidOption(option="step", given=arguments.excerpt(step), wanted=wanted)])
