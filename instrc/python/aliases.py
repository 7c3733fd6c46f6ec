"""The names of a class's members: a class of pydantic may be made from other names than it is written with."""

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


_OF_USERS = frozenset({"config", "default", "expected", "members", "metadata"})
"""Members of what pydantic makes of a type that hold values of users, which may have any shape."""


def field_of_path(core: object) -> tuple[str, list[object]] | None:
    """Return a field in what pydantic makes of a type that is read by an `AliasPath` only, with the path; `None` without one."""
    waiting: list[tuple[object, bool]] = [(core, False)]
    while waiting:
        here, by_name = waiting.pop()
        if isinstance(here, dict):
            config = here.get("config")
            if isinstance(config, dict):
                by_name = bool(config.get("validate_by_name", config.get("populate_by_name", False)))
            fields = here.get("fields")
            named = fields.items() if isinstance(fields, dict) else _named(fields)
            for name, field in named if not by_name else ():
                alias = field.get("validation_alias") if isinstance(field, dict) else None
                if not isinstance(alias, list) or not alias:
                    continue
                choices = alias if isinstance(alias[0], list) else [alias]
                if all(len(choice) > 1 for choice in choices):
                    return str(name), choices[0]
            waiting += [(part, by_name) for word, part in here.items() if word not in _OF_USERS]
        elif isinstance(here, list | tuple):
            waiting += [(part, by_name) for part in here]
    return None


def _named(fields: object) -> list[tuple[object, object]]:
    """Return the fields of a dataclass, which are in a list, with their names."""
    return [(each.get("name"), each) for each in fields if isinstance(each, dict)] if isinstance(fields, list) else []
