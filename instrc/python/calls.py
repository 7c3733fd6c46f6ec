"""Call a function of Python with JSON: arguments by name, each as what its annotation says."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial, wraps
from types import UnionType
from typing import TYPE_CHECKING, cast

from instrc.jsonvalue import Json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class WrongArgumentsError(ValueError):
    """A function cannot be called with what it is given; the text says why, and begins with a verb."""


def called_with_json(function: Callable[..., object]) -> Callable[[Json], object]:
    """Return what calls a function with one value of JSON; the function itself, if it takes just that.

    The members of an object are arguments where they are its parameters, as in `def find(who: str, days: int = 3)`.
    One parameter that may be any object (`given`, `given: dict`) takes the whole value, and so does the first of several
    that has no annotation, where the members are no parameters.  A coroutine function stays one.
    """
    called = PythonCall(function)
    if called.takes_whole_value:
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


def _numbered(values: list[Json]) -> Iterator[tuple[str, Json]]:
    return ((str(place), value) for place, value in enumerate(values))


class PythonCall:
    """How a function is called: its parameters, and what their annotations say."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        try:
            found = inspect.signature(function).parameters.values()
        except Exception:  # noqa: BLE001  -- a function in C that does not say, or somebody's object that raises
            found = None
        self._known = found is not None
        self._parameters = tuple(found or ())
        self._named = {each.name: each for each in self._parameters if each.kind in _BY_NAME}
        self._adapters: dict[str, TypeAdapter[object]] = {}

    @property
    def takes_whole_value(self) -> bool:
        """Whether its one parameter may be any object, or it does not say what it takes, as a wrapper with `*args`."""
        if not self._known or (not self._named and any(each.kind is each.VAR_POSITIONAL for each in self._parameters)):
            return True
        [first, *others] = self._parameters or (None,)
        return first is not None and not others and first.kind is first.POSITIONAL_OR_KEYWORD and self._is_any_object(first.name)

    def arguments(self, given: Json) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return the arguments, by place and by name, of a call with a value; a `WrongArgumentsError` if there are none."""
        if not self._parameters:
            return (), {}
        if isinstance(given, dict):
            given = self._placed(given)
        if isinstance(given, dict) and self._takes(given):
            return (), self.by_name(given)
        first = self._parameters[0]
        alone = all(each.default is not each.empty or each.kind not in _BY_NAME for each in self._parameters[1:])
        if isinstance(given, list) and not alone and self._takes(named := self._placed(dict(_numbered(given)))):
            return (), self.by_name(named)
        if first.kind is first.KEYWORD_ONLY or first.kind is first.VAR_KEYWORD or not alone:
            raise WrongArgumentsError(self._mismatch(given))
        if isinstance(given, dict) and not self._is_any_object(first.name) and ("0" in given or len(self._parameters) > 1):
            raise WrongArgumentsError(self._mismatch(given))
        return (self._converted(first.name, given),), {}

    def _placed(self, given: dict[str, Json]) -> dict[str, Json]:
        """Name the arguments without names, `"0"` and `"1"`, as the parameters in order that are not named already."""
        free = [each.name for each in self._parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name not in given]
        places = {str(place): name for place, name in enumerate(free) if str(place) in given}
        return {places.get(name, name): value for name, value in given.items()} if places else given

    def by_name(self, given: Mapping[str, Json]) -> dict[str, object]:
        """Return the members of an object as arguments, each as its annotation says."""
        return {name: self._converted(name, value) for name, value in given.items()}

    def _takes(self, given: dict[str, Json]) -> bool:
        """Tell whether the members of an object are the arguments of a call."""
        if any(each.kind is each.POSITIONAL_ONLY for each in self._parameters):
            return False
        is_open = any(each.kind is each.VAR_KEYWORD for each in self._parameters)
        if not self._named and not is_open:
            return False
        required = {name for name, each in self._named.items() if each.default is each.empty}
        return required <= given.keys() and (is_open or given.keys() <= self._named.keys())

    def _mismatch(self, given: Json) -> str:
        takes = ", ".join(f"`{name}`" for name in self._named) or "arguments by name"
        if not isinstance(given, dict):
            return f"takes {takes} by name, and is given a value without names"
        return f"takes {takes}, and is given {', '.join(f'`{name}`' for name in given) or 'nothing'}"

    @cached_property
    def _hints(self) -> dict[str, object]:
        inner = self._function.func if isinstance(self._function, partial) else self._function
        if not inspect.isroutine(inner) and not isinstance(inner, type):
            inner = type(inner).__call__  # an object that is called as a function
        try:
            return typing.get_type_hints(inner, include_extras=True)
        except Exception:  # noqa: BLE001  -- a name in an annotation that means nothing here: then it says nothing
            return {}

    def _is_any_object(self, name: str) -> bool:
        """Tell whether an annotation allows any object: there is none, or it is `dict`, a mapping, or a union with one."""
        return _allows_any_object(self._hints.get(name, object))

    def _converted(self, name: str, value: Json) -> object:
        """Return a value as what an annotation says; as it is, where pydantic is not installed or cannot read that."""
        hint = self._hints.get(name, object)
        if _allows_any_object(hint):
            return value
        try:
            from pydantic import TypeAdapter, ValidationError  # optional: whoever has such types has it
            from pydantic.errors import PydanticUserError
        except ImportError:
            return value
        try:
            if name not in self._adapters:
                self._adapters[name] = TypeAdapter(cast("type[object]", hint))
            return self._adapters[name].validate_python(value)
        except ValidationError as error:
            [first, *_] = error.errors(include_url=False, include_input=False)
            place = "/".join(map(str, (name, *first["loc"])))
            message = f"is given what does not fit, at `/{place}`: {first['msg']}"
            raise WrongArgumentsError(message) from error
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
