"""Turn a value into an instance of a class: a model of pydantic, a dataclass, a `TypedDict`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from instrc import arguments
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, pointer
from instrc.problems.problem import CompileError
from instrc.problems.settings import InvalidOption, MissingExtra
from instrc.problems.targets import InvalidAnswer
from instrc.python.typed_dicts import with_readable_dicts
from instrc.python.types import Adapter, is_adapter, why_undescribed
from instrc.schema.validation import Violation


def as_instance(value: Json, output: Json, violations: Sequence[Violation], model: object, step: str | None = None) -> object:
    """Return a value, or that of one step in it, as an instance of a class, or what a `TypeAdapter` makes of it.

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
    if isinstance(model, str | dict):
        kind = "a text" if isinstance(model, str) else "a dict"
        message = f"{arguments.excerpt(model)} is {kind}, not a pydantic model, dataclass or TypedDict: give the class itself"
        raise TypeError(message)
    name = "TypeAdapter" if is_adapter(model) else getattr(model, "__name__", model)
    refusals: list[InvalidAnswer] = []
    try:
        adapter = model if is_adapter(model) else TypeAdapter[object](cast("type[object]", with_readable_dicts(model)))
        for said in (value, output):
            try:
                made = adapter.validate_json(_text(said))
            except ValidationError as error:
                refusals = [
                    InvalidAnswer(pointer=pointer((*around, *each["loc"])), reason=f"`{name}` refuses it: {each['msg']}")
                    for each in error.errors()
                ]
            else:
                if said and _is_empty(made) and step is None and (steps := _steps_of(output, adapter)):
                    raise CompileError([_step_needed(steps, name)])
                return made
        steps = _steps_of(output, adapter) if step is None else []
    except PydanticUserError as error:
        message = f"{model!r} is not a pydantic model, dataclass or TypedDict ({why_undescribed(error, model)})"
        raise TypeError(message) from error
    raise CompileError([_step_needed(steps, name)] if steps else refusals)


def _text(value: Json) -> str:
    """Return a value as JSON, in which a date is a text and a tuple a list."""
    return dumps(value, indent=False)


def _is_empty(made: object) -> bool:
    """Say whether a model has taken nothing of what it was made from: each of its properties has a default."""
    taken = getattr(made, "model_fields_set", made)
    return isinstance(taken, set | dict) and not taken


def _steps_of(value: Json, adapter: Adapter[object]) -> list[str]:
    """Return the members of a value that a model takes, and takes something of."""
    from pydantic import ValidationError

    found = []
    for step, part in value.items() if isinstance(value, dict) else ():
        try:
            if isinstance(part, dict) and not _is_empty(adapter.validate_json(_text(part))):
                found.append(step)
        except ValidationError:
            continue
    return found


def _step_needed(steps: list[str], name: object) -> InvalidOption:
    named = " or ".join(f"`{step}`" for step in steps)
    return InvalidOption(option="step", given="None", wanted=f"{named} (the whole value is no `{name}`)")


def _of_step(value: Json, step: str) -> Json:
    """Return the value of one step; a `CompileError` lists the steps if there is none of that name."""
    if isinstance(value, dict) and step in value:
        return value[step]
    steps = ", ".join(f"`{name}`" for name in value) if isinstance(value, dict) else ""
    wanted = f"one of {steps}" if steps else "left out: the value has no steps"
    raise CompileError([InvalidOption(option="step", given=arguments.excerpt(step), wanted=wanted)])
