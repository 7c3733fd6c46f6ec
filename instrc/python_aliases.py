"""The names of an instance's members: a class of pydantic may be made from other names than it is written with."""

from __future__ import annotations

from collections.abc import Mapping

from instrc.jsonvalue import Json


def with_input_names(value: object, written: Json) -> Json:
    """Return what pydantic has written of an instance, with the names that its class is made from, and its schema has.

    `validation_alias` instead of `serialization_alias`, at each level.  What a serializer of the class has given another
    shape stays as it is.
    """
    if getattr(type(value), "__pydantic_root_model__", False):
        return with_input_names(getattr(value, "root", None), written)
    fields = getattr(type(value), "__pydantic_fields__", None) or getattr(type(value), "__dataclass_fields__", None)
    if isinstance(written, dict) and isinstance(fields, Mapping):
        names = {_written_name(name, field): (name, _input_name(name, field)) for name, field in fields.items()}
        return {
            names[key][1] if key in names else key: with_input_names(getattr(value, names[key][0], None), item)
            if key in names
            else item
            for key, item in written.items()
        }
    if isinstance(written, dict) and isinstance(value, Mapping) and len(value) == len(written):
        return {key: with_input_names(item, written[key]) for key, item in zip(written, value.values(), strict=True)}
    if isinstance(written, list) and isinstance(value, list | tuple | set | frozenset) and len(value) == len(written):
        return [with_input_names(item, below) for item, below in zip(value, written, strict=True)]
    return written


def _written_name(name: str, field: object) -> str:
    alias = getattr(field, "serialization_alias", None) or getattr(field, "alias", None)
    return alias if isinstance(alias, str) else name


def _input_name(name: str, field: object) -> str:
    """Return the name that the schema of a class has for a field: of several choices the first that is one name."""
    alias = getattr(field, "validation_alias", None) or getattr(field, "alias", None)
    choices = getattr(alias, "choices", [alias])
    return next((choice for choice in choices if isinstance(choice, str)), name)
