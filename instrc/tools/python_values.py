"""Convert Python values to JSON and back, and call functions with JSON."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import inspect
import operator
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial, wraps
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast

from instrc.problems.errors import AnswerError, InputError, SettingsError
from instrc.problems.settings import InvalidOption, MissingExtra
from instrc.problems.targets import InvalidAnswer
from instrc.schema.validation import Violation
from instrc.text import arguments
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, pointer
from instrc.tools.python_types import Adapter, LibraryTool, is_adapter, why_undescribed, with_input_names, with_readable_dicts

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]  # Any: as typeshed has it, for instances of all dataclasses


JsonLike: TypeAlias = (
    Json
    | Mapping[str, object]
    | Sequence[object]
    | LibraryTool
    | _Dataclass
    | dt.date
    | dt.time
    | dt.timedelta
    | decimal.Decimal
    | uuid.UUID
    | enum.Enum
)
"""JSON, or values that convert to JSON: pydantic models, dataclasses, dates and others, also nested in lists and objects."""
_PLAIN = (str, int, float, bool, type(None))
_KNOWN = (enum.Enum, dt.date, dt.time, dt.timedelta, decimal.Decimal, uuid.UUID)


def json_of(value: object, *, as_input: bool = False) -> object:
    """Return a typed instance, or a container of such, as JSON; any other value unchanged.

    With `as_input` the result is valid input for the class: without computed fields.

    Members that are null by default are left out if null: providers that mark missing members by null
    could not distinguish the two, and for the class they are equal.
    """
    try:
        return _read(value, as_input=as_input)
    except RecursionError:  # too deep, or a cycle: the caller reports it
        return value


def _read(value: object, *, as_input: bool) -> object:
    if type(value) in _PLAIN:
        return value
    if type(value) in {list, tuple} and isinstance(value, list | tuple):
        items = [_read(item, as_input=as_input) for item in value]
        return value if type(value) is list and all(map(operator.is_, items, value)) else items
    if type(value) is dict and isinstance(value, dict):
        members = {key: _read(item, as_input=as_input) for key, item in value.items()}
        return value if all(members[key] is item for key, item in value.items()) else members
    return value if isinstance(value, Mapping | type) else _dumped(value, as_input=as_input)


def _dumped(value: object, *, as_input: bool) -> object:
    try:
        from pydantic import TypeAdapter  # optional, but installed if such values exist
        from pydantic.errors import PydanticUserError
    except ImportError:
        return value
    if not _is_typed(value):
        return value
    try:
        adapter = TypeAdapter(type(value))
        dump = partial(adapter.dump_python, value, mode="json", by_alias=True, round_trip=as_input, warnings=False)
        whole: Json = dump()
        said: Json = dump(exclude_defaults=True)
    except (PydanticUserError, ValueError, TypeError, RecursionError):
        return value  # it has no JSON form: the caller reports it
    result = _without_null_defaults(whole, said)
    return with_input_names(value, result) if as_input else result


def _is_typed(value: object) -> bool:
    """Return whether pydantic handles the class of a value natively or by its annotations."""
    kind = type(value)
    described = hasattr(kind, "model_fields") or dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
    return described or isinstance(value, _KNOWN)


def _without_null_defaults(whole: Json, said: Json) -> Json:
    """Return a dump without the nulls that the dump without defaults leaves out."""
    if isinstance(whole, dict):
        other = said if isinstance(said, dict) else {}
        return {
            key: _without_null_defaults(item, other.get(key, item))
            for key, item in whole.items()
            if item is not None or key in other or not isinstance(said, dict)
        }
    if isinstance(whole, list) and isinstance(said, list) and len(whole) == len(said):
        return [_without_null_defaults(item, other) for item, other in zip(whole, said, strict=True)]
    return whole


def why_unwritten(value: object) -> str:
    """Return why pydantic cannot serialize an instance, on one line, or the empty string without a reason."""
    if not _is_typed(value):
        return ""
    try:
        from pydantic import TypeAdapter  # installed, as it was tried before

        TypeAdapter(type(value)).dump_python(value, mode="json", warnings=False)
    except Exception as error:  # noqa: BLE001  -- whatever pydantic or the class raises
        return " ".join(str(error).split())[:200]
    return ""


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


INSTRUCTION_NAME = "__instruction_name__"
"""Attribute that holds the instruction name of a class or function."""


def instruction_name(value: object) -> str | None:
    """Return the instruction name of a class, function or tool; a subclass does not inherit it."""
    declared = vars(value).get(INSTRUCTION_NAME) if isinstance(value, type) else arguments.attribute(value, INSTRUCTION_NAME)
    names = (declared, *(arguments.attribute(value, word) for word in ("activity_name", "__name__", "name")))
    return next((name for name in names if isinstance(name, str)), None)


class WrongArgumentsError(ValueError):
    """A function cannot be called with the given arguments; the text is the reason, and begins with a verb."""


class WrongParametersError(WrongArgumentsError):
    """The parameters of a function have names other than its arguments."""


def called_with_json(function: Callable[..., object], *, whole: bool = False) -> Callable[[Json], object]:
    """Return a function of one JSON value that calls a function, or the function itself if it has no signature.

    The members of an object become arguments if the parameters have their names, as in `def find(who: str, days: int = 3)`.
    A single parameter for any object (`given`, `given: dict`) receives the whole value if no label has its name, and so does
    the first of several unannotated ones if the members match no parameters.  With `whole` the value has no labels:
    a single parameter for an object receives it, whatever its members.  Coroutine functions stay coroutine functions.
    """
    called = PythonCall(function, whole=whole)
    if called.says_nothing:
        return function
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def wait(given: Json) -> object:
            values, members = called.arguments(given)
            return await function(*values, **members)

        return wait

    def call(given: Json) -> object:
        values, members = called.arguments(given)
        return function(*values, **members)

    return wraps(function)(call) if hasattr(function, "__name__") else call


class PythonCall:
    """Calls a function according to its parameters and their annotations."""

    def __init__(self, function: Callable[..., object], *, whole: bool = False) -> None:
        self._function, self._whole = function, whole
        try:
            found = inspect.signature(function).parameters.values()
        except Exception:  # noqa: BLE001  -- a C function without a signature, or an object that raises
            found = None
        self._known = found is not None
        self._parameters = tuple(found or ())
        self._named = {parameter.name: parameter for parameter in self._parameters if parameter.kind in _BY_NAME}
        self._adapters: dict[str, TypeAdapter[object]] = {}

    @property
    def says_nothing(self) -> bool:
        """Whether it has no useful signature, like a wrapper with `*args`."""
        return not self._known or (
            not self._named and any(parameter.kind is parameter.VAR_POSITIONAL for parameter in self._parameters)
        )

    @cached_property
    def _is_open(self) -> bool:
        """Whether it has one parameter, which may be any object, or if it gets a whole one an object of its own type."""
        [first, *others] = self._parameters
        if others or first.kind is not first.POSITIONAL_OR_KEYWORD:
            return False
        return self._is_any_object(first.name) or (self._whole and _is_class_of_objects(self._hints[first.name]))

    def arguments(self, given: Json) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return the positional and keyword arguments of a call with a value; raise `WrongArgumentsError` if they do not fit."""
        if not self._parameters:
            return (), {}
        first = self._parameters[0]
        if self._is_open and (self._whole or not isinstance(given, dict) or first.name not in given):
            return (self._converted(first.name, given),), {}
        if isinstance(given, dict):
            given = self._placed(given)
        if isinstance(given, dict) and self._takes(given):
            return (), self.by_name(given)
        if self._is_open:
            raise WrongArgumentsError(self._mismatch(given))
        alone = all(item.default is not item.empty or item.kind in _ANY_NUMBER for item in self._parameters[1:])
        if (
            isinstance(given, list)
            and not (alone or self._whole)
            and self._takes(named := self._placed({str(place): value for place, value in enumerate(given)}))
        ):
            return (), self.by_name(named)
        if first.kind is first.KEYWORD_ONLY or first.kind is first.VAR_KEYWORD or not alone:
            raise WrongParametersError(self._mismatch(given))
        if isinstance(given, dict) and not self._is_any_object(first.name) and ("0" in given or len(self._parameters) > 1):
            raise WrongParametersError(self._mismatch(given))
        return (self._converted(first.name, given),), {}

    def _placed(self, given: dict[str, Json]) -> dict[str, Json]:
        """Assign unnamed arguments, `"0"` and `"1"`, to the remaining parameters in order."""
        free = [
            parameter.name
            for parameter in self._parameters
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name not in given
        ]
        places = {str(place): name for place, name in enumerate(free) if str(place) in given}
        return {places.get(name, name): value for name, value in given.items()} if places else given

    def by_name(self, given: Mapping[str, Json]) -> dict[str, object]:
        """Return the members of an object as arguments, each converted by its annotation."""
        return {name: self._converted(name, value) for name, value in given.items()}

    def _takes(self, given: dict[str, Json]) -> bool:
        """Return whether the members of an object are the arguments of a call."""
        if any(parameter.kind is parameter.POSITIONAL_ONLY for parameter in self._parameters):
            return False
        is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in self._parameters)
        if not self._named and not is_open:
            return False
        required = {name for name, parameter in self._named.items() if parameter.default is parameter.empty}
        return required <= given.keys() and (is_open or given.keys() <= self._named.keys())

    def _mismatch(self, given: Json) -> str:
        takes = ", ".join(f"`{name}`" for name in self._named) or "arguments"
        if any(parameter.kind is parameter.POSITIONAL_ONLY for parameter in self._parameters):
            return "takes arguments without names, before a `/`, and is given names"
        if not isinstance(given, dict):
            return f"takes {takes} by name, and is given a value without names"
        return f"takes {takes}, and is given {', '.join(f'`{name}`' for name in given) or 'nothing'}"

    @cached_property
    def _hints(self) -> dict[str, object]:
        inner = self._function.func if isinstance(self._function, partial) else self._function
        if not inspect.isroutine(inner) and not isinstance(inner, type):
            inner = type(inner).__call__  # an object that is called as a function
        try:
            return typing.get_type_hints(inner, include_extras=True) | {"return": object}
        except Exception:  # noqa: BLE001  -- an undefined name in an annotation, which is then ignored
            return {}

    def _is_any_object(self, name: str) -> bool:
        """Return whether an annotation allows any object: it is missing, `dict`, a mapping, or a union with one."""
        return _allows_any_object(self._hints.get(name, object))

    def _converted(self, name: str, value: Json) -> object:
        """Return a value converted by an annotation, or unchanged if pydantic is missing or cannot read the annotation."""
        hint = self._hints.get(name, object)
        if _allows_any_object(hint):
            return value
        try:
            from pydantic import TypeAdapter, ValidationError  # optional, but installed if such types exist
            from pydantic.errors import PydanticUserError
        except ImportError:
            return value
        try:
            if name not in self._adapters:
                self._adapters[name] = TypeAdapter(cast("type[object]", hint))
            return self._adapters[name].validate_json(dumps(value, indent=False))
        except ValidationError as error:
            [first, *_] = error.errors(include_url=False, include_input=False)
            place = "/".join(map(str, (name, *first["loc"])))
            raise WrongArgumentsError(f"is given what does not fit, at `/{place}`: {first['msg']}") from error
        except PydanticUserError:
            return value


def _allows_any_object(hint: object) -> bool:
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return _allows_any_object(typing.get_args(hint)[0])
    if origin in {typing.Union, UnionType}:
        return any(map(_allows_any_object, typing.get_args(hint)))
    kind = origin or hint
    return kind in {typing.Any, object} or (
        isinstance(kind, type) and issubclass(kind, Mapping) and not typing.is_typeddict(kind)
    )


def _is_class_of_objects(hint: object) -> bool:
    kind = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    return typing.is_typeddict(kind) or dataclasses.is_dataclass(kind) or hasattr(kind, "model_fields")


def as_instance(value: Json, output: Json, violations: Sequence[Violation], model: object, step: str | None = None) -> object:
    """Return a value, or the value of one step, as an instance of a class or the result of a `TypeAdapter`.

    Raise `AnswerError` if its schema or the class refuses it.
    `output` is the value without thoughts and metrics, used if the class does not accept these.
    """
    if violations:
        raise AnswerError([InvalidAnswer(pointer=violation.instance, reason=violation.message) for violation in violations])
    around: tuple[str, ...] = ()
    if step is not None:
        value, output, around = _of_step(value, step), _of_step(output, step), (step,)
    try:
        from pydantic import TypeAdapter, ValidationError
        from pydantic.errors import PydanticUserError
    except ImportError:
        raise SettingsError([MissingExtra(feature="models", extra="import", package="pydantic")]) from None
    if isinstance(model, str | dict):
        kind = "a text" if isinstance(model, str) else "a dict"
        message = f"{arguments.excerpt(model)} is {kind}, not a pydantic model, dataclass or TypedDict: give the class itself"
        raise TypeError(message)
    refusals: list[InvalidAnswer] = []
    try:
        adapter = model if is_adapter(model) else TypeAdapter[object](cast("type[object]", with_readable_dicts(model)))
        name = "TypeAdapter" if adapter is model else getattr(model, "__name__", arguments.excerpt(model))
    except PydanticUserError as error:
        message = f"{arguments.excerpt(model)} is not a pydantic model, dataclass or TypedDict ({why_undescribed(error, model)})"
        raise TypeError(message) from error
    except Exception as error:  # whatever the code of a foreign value raises when it is looked at
        raise TypeError(f"{arguments.excerpt(model)} is not a pydantic model, dataclass or TypedDict") from error
    try:
        for said in (value, output):
            try:
                result = adapter.validate_json(dumps(said, indent=False))
            except ValidationError as error:
                refusals = [
                    InvalidAnswer(
                        pointer=pointer((*around, *violation["loc"])), reason=f"`{name}` refuses it: {violation['msg']}"
                    )
                    for violation in error.errors()
                ]
            else:
                if said and _is_empty(result) and step is None and (steps := _steps_of(output, adapter)):
                    raise InputError([_step_needed(steps, name)])
                if said is not output and _holds_thoughts(result):
                    continue
                return result
        steps = _steps_of(output, adapter) if step is None else []
    except PydanticUserError as error:
        message = f"{arguments.excerpt(model)} is not a pydantic model, dataclass or TypedDict ({why_undescribed(error, model)})"
        raise TypeError(message) from error
    if steps:
        raise InputError([_step_needed(steps, name)])
    raise AnswerError(refusals)


def _of_step(value: Json, step: str) -> Json:
    """Return the value of one step; raise `InputError` with the list of steps for an unknown name."""
    if isinstance(value, dict) and step in value:
        return value[step]
    steps = ", ".join(f"`{name}`" for name in value) if isinstance(value, dict) else ""
    wanted = f"one of {steps}" if steps else "left out: the value has no steps"
    raise InputError([InvalidOption(option="step", given=arguments.excerpt(step), wanted=wanted)])


def _is_empty(made: object) -> bool:
    """Return whether a model used nothing of its input, because each of its properties has a default."""
    taken = getattr(made, "model_fields_set", made)
    return isinstance(taken, set | dict) and not taken


def _holds_thoughts(made: object) -> bool:
    """Return whether a model keeps thoughts or metrics among its extra properties."""
    stack = [made]
    while stack:
        item = stack.pop()
        if any(name.startswith(("_", "$")) for name in getattr(item, "model_extra", None) or ()):
            return True
        if isinstance(item, list | tuple):
            stack += item
        elif isinstance(item, dict):
            stack += item.values()
        elif dataclasses.is_dataclass(item) or hasattr(type(item), "model_fields"):  # an enum is neither, and refers to itself
            stack += getattr(item, "__dict__", {}).values()
    return False


def _steps_of(value: Json, adapter: Adapter[object]) -> list[str]:
    """Return the members of a value that are valid input for a model, and used by it."""
    from pydantic import ValidationError

    result = []
    for step, part in value.items() if isinstance(value, dict) else ():
        try:
            if isinstance(part, dict) and not _is_empty(adapter.validate_json(dumps(part, indent=False))):
                result.append(step)
        except ValidationError:
            continue
    return result


def _step_needed(steps: list[str], name: object) -> InvalidOption:
    named = " or ".join(f"`{step}`" for step in steps)
    return InvalidOption(option="step", given="None", wanted=f"{named} (the whole value is no `{name}`)")
