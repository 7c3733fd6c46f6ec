"""Turn a value into an instance of a class: a model of pydantic, a dataclass, a `TypedDict`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, pointer
from instrc.problems.answers import InvalidAnswer
from instrc.problems.installed import MissingExtra
from instrc.problems.problem import CompileError
from instrc.schema.validation import Violation

T = TypeVar("T")


def instance(value: Json, output: Json, violations: Sequence[Violation], model: type[T]) -> T:
    """Return a value as an instance of a class; a `CompileError` says what its schema, or the class, does not take.

    `output` is the value without thoughts and metrics: what is read if the class does not take these.
    """
    if violations:
        raise CompileError([InvalidAnswer(pointer=each.instance, reason=each.message) for each in violations])
    try:
        from pydantic import TypeAdapter, ValidationError
        from pydantic.errors import PydanticUserError
    except ImportError:
        raise CompileError([MissingExtra(feature="models", extra="import", package="pydantic")]) from None
    try:
        adapter = TypeAdapter(model)
    except PydanticUserError as error:
        message = f"no model of pydantic, dataclass or TypedDict: {model!r} ({error.message})"
        raise TypeError(message) from error
    refusals: list[InvalidAnswer] = []
    for said in (value, output):
        try:
            return adapter.validate_json(dumps(said, indent=False))  # as JSON, in which a date is a text and a tuple a list
        except ValidationError as error:
            refusals = [
                InvalidAnswer(pointer=pointer(each["loc"]), reason=f"the model refuses it: {each['msg']}")
                for each in error.errors()
            ]
    raise CompileError(refusals)
