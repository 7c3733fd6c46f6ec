"""pydantic: models, dataclasses, typed dicts and any other type that pydantic can describe, or such a schema as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from instrc.importers.functions import settled, text_of
from instrc.importers.given import Given, of_value
from instrc.importers.tools import Tool
from instrc.jsonvalue import Json
from instrc.problems.imported import UnusableTool
from instrc.problems.importing import MissingLibrary, NotATool
from instrc.problems.problem import CompileError, Problem
from instrc.schema.normalize import Rules
from instrc.schema.notes import shown
from instrc.schema.walk import Path

RULES = Rules(shorthand=False)
_NAME = "x-imported-name"
"""Between `given` and `tools`: the name of the type, which its title need not be."""


def given(values: Any) -> Given:
    """Return the schemas that types have by pydantic."""
    found: list[Json] = []
    problems: list[Problem] = []
    for value in values:
        name = getattr(value, "__name__", "") or shown(value)
        try:
            found.append({_NAME: name, **of_value(described(value)).value})
        except CompileError as error:
            problems.extend(error.problems)
        except Exception as error:  # noqa: BLE001  -- the code is not ours, nor is what it raises
            reason = f"pydantic cannot describe it ({type(error).__name__}: {shown(str(error))})"
            problems.append(UnusableTool(tool=name, reason=reason))
    made = Given(found)
    made.problems += problems
    return made


def described(value: Any) -> Any:
    """Return the schema of a type as pydantic describes it; what it raises is the fault of the type."""
    for method in ("model_json_schema", "json_schema", "schema"):  # a model, a `TypeAdapter`, a model of pydantic 1
        describe = getattr(value, method, None)
        if callable(describe):
            return describe()
    try:
        from pydantic import TypeAdapter  # optional: only who has such types has it
    except ImportError:
        raise CompileError([MissingLibrary(library="pydantic", extra="import")]) from None
    return TypeAdapter(_readable(value)).json_schema()


def _readable(value: Any) -> Any:
    """Return a type as pydantic reads it: before Python 3.12 it takes only the `TypedDict` of `typing_extensions`."""
    from typing import get_args, get_origin, get_type_hints, is_typeddict

    if sys.version_info >= (3, 12):
        return value
    if get_origin(value) in {list, dict, tuple}:
        return get_origin(value)[tuple(_readable(part) for part in get_args(value))]
    if not is_typeddict(value) or value.__class__.__module__ == "typing_extensions":
        return value
    from typing import NotRequired  # comes with pydantic

    from typing_extensions import TypedDict

    hints = get_type_hints(value, include_extras=True)
    optional = value.__optional_keys__
    members = {name: NotRequired[_readable(hint)] if name in optional else _readable(hint) for name, hint in hints.items()}
    return TypedDict(value.__name__, members)  # type: ignore[operator]  # made at run time


def objects(value: Any) -> list[Any]:
    """Return the types that an object of a program is or holds."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [each for item in value if item is not value for each in objects(item)]
    return [value]


def is_model(value: Any) -> bool:
    """Tell whether an object of a module is a model, for modules that are imported whole."""
    return isinstance(value, type) and callable(getattr(value, "model_json_schema", None)) and value.__module__ != "pydantic.main"


def tools(given: Given) -> Iterator[Tool]:
    """Yield one tool a type."""
    value = given.value
    entries: list[tuple[Json, Path]] = (
        [(item, (index,)) for index, item in enumerate(value)] if value.__class__ is list else [(value, ())]
    )
    for entry, path in entries:
        if entry.__class__ is not dict:
            given.problems.append(NotATool(at=given.locate(path), reason=f"{shown(entry)} is no schema"))
            continue
        rest = {key: part for key, part in entry.items() if key not in {_NAME, "title", "description"}}
        title = entry.get("title") if entry.get("title").__class__ is str else None
        name = entry.get(_NAME, title)
        yield Tool(
            name=name,
            at=path,
            schema=settled(rest, path, given, RULES),
            schema_at=path,
            title=title if title != name else None,
            description=text_of(entry.get("description"), (*path, "description"), given),
        )
