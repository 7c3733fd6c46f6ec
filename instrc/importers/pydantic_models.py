"""pydantic: models, dataclasses, typed dicts and any other type that pydantic can describe, or such a schema as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from instrc.importers.functions import description_text, normalize_schema
from instrc.importers.given import Given, of_value
from instrc.importers.tools import ImportedTool
from instrc.jsonvalue import Json, Location, as_object
from instrc.problems.importing import NotATool, UnusableTool
from instrc.problems.problem import CompileError, Problem
from instrc.python.functions import UndescribedError
from instrc.python.types import pydantic_schema
from instrc.schema.normalize import Rules
from instrc.schema.notes import describe_value

RULES = Rules(shorthand=False)
_NAME = "x-imported-name"
"""Between `given` and `tools`: the name of the type, which its title need not be."""


def read_objects(values: Iterable[object]) -> Given:
    """Return the schemas that types have by pydantic."""
    found: list[Json] = []
    problems: list[Problem] = []
    for value in values:
        name = getattr(value, "__name__", "") or describe_value(value)
        try:
            found.append({_NAME: name, **as_object(of_value(pydantic_schema(value)).value)})
        except CompileError as error:
            problems.extend(error.problems)
        except UndescribedError as error:
            problems.append(UnusableTool(tool=name, reason=str(error)))
        except Exception as error:  # noqa: BLE001  -- the code is not ours, nor is what it raises
            reason = f"pydantic cannot describe it ({type(error).__name__}: {describe_value(str(error))})"
            problems.append(UnusableTool(tool=name, reason=reason))
    made = Given(found)
    made.problems += problems
    return made


def objects(value: object) -> list[object]:
    """Return the types that an object of a program is or holds."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [each for item in value if item is not value for each in objects(item)]
    return [value]


def is_model(value: object) -> bool:
    """Tell whether an object of a module is a model, for modules that are imported whole."""
    return isinstance(value, type) and callable(getattr(value, "model_json_schema", None)) and value.__module__ != "pydantic.main"


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield one tool a type."""
    value = given.value
    entries: list[tuple[Json, Location]] = (
        [(item, (index,)) for index, item in enumerate(value)] if value.__class__ is list else [(value, ())]
    )
    for entry, path in entries:
        if entry.__class__ is not dict:
            given.problems.append(NotATool(at=given.locate(path), reason=f"{describe_value(entry)} is not a schema"))
            continue
        rest = {key: part for key, part in entry.items() if key not in {_NAME, "title", "description"}}
        title, name = (said if isinstance(said := entry.get(key), str) else None for key in ("title", _NAME))
        yield ImportedTool(
            name=name if _NAME in entry else title,
            at=path,
            schema=normalize_schema(rest, path, given, RULES),
            schema_at=path,
            title=title if _NAME in entry and title != name else None,
            description=description_text(entry.get("description"), (*path, "description"), given),
        )
