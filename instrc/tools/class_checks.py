"""Validate values by Python classes: their own validators, in addition to their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Final, NamedTuple, cast

from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, pointer
from instrc.tools.python_types import Adapter, describes_values, is_adapter, with_readable_dicts

_SHAPES: Final = frozenset({"missing", "extra_forbidden"})
"""Pydantic errors that the schema reports too; a program may have added members to it or removed some."""
_OWN: Final = frozenset({"value_error", "assertion_error"})
_PREFIXES: Final = ("Value error, ", "Assertion failed, ")
"""Prefixes that pydantic adds to the message of a validator."""


class ClassFault(NamedTuple):
    """A part of a value that a class refuses."""

    pointer: str
    message: str
    own: bool
    """Whether a validator of the class raised it; the types of fields are also checked by the schema."""


class ClassCheck:
    """The validators of a pydantic model, a dataclass or a `TypedDict`."""

    def __init__(self, kind: object) -> None:
        self.kind = kind

    @cached_property
    def _adapter(self) -> Adapter[object] | None:
        """The type adapter of the class; `None` for one with a schema but without pydantic 2 validators."""
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError

        if is_adapter(self.kind):
            return self.kind
        with suppress(PydanticUserError):
            return TypeAdapter(cast("type[object]", with_readable_dicts(self.kind)))
        return None

    def __call__(self, value: Json) -> list[ClassFault]:
        """Return the faults that the class finds in a value."""
        from pydantic import ValidationError

        if self._adapter is None:
            return []
        try:
            self._adapter.validate_json(dumps(value, indent=False))
        except ValidationError as error:
            return [
                ClassFault(_place(value, item["loc"]), _message(item["msg"]), item["type"] in _OWN)
                for item in error.errors()
                if item["type"] not in _SHAPES
            ]
        return []


def class_checks(vibes: Mapping[str, object]) -> dict[str, ClassCheck]:
    """Return the checks of the vibes that are classes, by name."""
    return {name: ClassCheck(value) for name, value in vibes.items() if describes_values(value)}


def _place(value: Json, location: tuple[int | str, ...]) -> str:
    """Return the pointer of a location, without the names that pydantic adds for union members and validators."""
    path: list[int | str] = []
    for name in location:
        if (isinstance(value, dict) and isinstance(name, str) and name in value) or (
            isinstance(value, list) and isinstance(name, int) and 0 <= name < len(value)
        ):
            value = value[name]  # type: ignore[index]  # each library uses another kind of key
            path.append(name)
    return pointer(path)


def _message(text: str) -> str:
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    return text
