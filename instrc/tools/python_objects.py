"""Tools that are Python objects: pydantic models, smolagents tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib import import_module, util
from pathlib import Path
from types import ModuleType

from instrc.problems.errors import CompileError, InstrcError, SettingsError
from instrc.problems.importing import MissingLibrary, NotATool, UnloadableObject, UnusableTool
from instrc.problems.settings import MissingExtra
from instrc.problems.suggest import nearest
from instrc.schema.normalize import Rules, describe_value
from instrc.text.jsonvalue import Json, JsonObject, Location, as_object
from instrc.tools.definitions import inputs_schema
from instrc.tools.python_types import UndescribedError, pydantic_schema
from instrc.tools.sources import Given, ImportedTool, description_text, normalize_schema, of_value

RULES = Rules(shorthand=False)
_NAME = "x-imported-name"
"""Keyword that passes the name of a type from `given` to `tools`, since its title may differ."""


def read_pydantic(values: Iterable[object]) -> Given:
    """Return the pydantic schemas of types."""
    found: list[Json] = []
    given = Given(found)
    for value in values:
        name = getattr(value, "__name__", "") or describe_value(value)
        try:
            found.append({_NAME: name, **as_object(of_value(pydantic_schema(value)).value)})
        except InstrcError as error:
            given.problems.extend(error.problems)
        except UndescribedError as error:
            given.problems.append(UnusableTool(tool=name, reason=str(error)))
        except Exception as error:  # noqa: BLE001  -- foreign code may raise anything
            reason = f"pydantic cannot describe it ({type(error).__name__}: {describe_value(str(error))})"
            given.problems.append(UnusableTool(tool=name, reason=reason))
    return given


def pydantic_objects(value: object) -> list[object]:
    """Return the types in an object of a program."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [entry for item in value if item is not value for entry in pydantic_objects(item)]
    return [value]


def is_model(value: object) -> bool:
    """Return whether an object of a module is a model, for imports of whole modules."""
    return isinstance(value, type) and callable(getattr(value, "model_json_schema", None)) and value.__module__ != "pydantic.main"


def pydantic_tools(given: Given) -> Iterator[ImportedTool]:
    """Yield one tool per type."""
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


SMOLAGENTS_RULES = Rules(plain_words=True, shorthand=False)
_MEMBERS = ("name", "description", "inputs", "output_type", "output_schema")


def read_smolagents(values: Iterable[object]) -> Given:
    """Return the metadata of tools."""
    found: list[Json] = []
    given = Given(found)
    for value in values:
        members = {name: getattr(value, name, None) for name in _MEMBERS}
        try:
            found.append(of_value({name: part for name, part in members.items() if part is not None}).value)
        except InstrcError as error:
            given.problems.extend(error.problems)
    return given


def smolagents_objects(value: object) -> list[object]:
    """Return the tools in an object of a program, or none."""
    if isinstance(getattr(value, "inputs", None), dict) and isinstance(getattr(value, "name", None), str):
        return [value]
    listed = getattr(value, "tools", value)
    listed = list(listed.values()) if isinstance(listed, dict) else listed
    if isinstance(listed, list | tuple):
        return [tool for item in listed if item is not value for tool in smolagents_objects(item)]
    return []


def smolagents_tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the tools; optional inputs are `nullable`, and their other keywords are JSON Schema."""
    value = given.value
    entries: list[tuple[Json, Location]] = [(value, ())]
    if isinstance(value, dict) and "inputs" not in value and isinstance(listed := value.get("tools"), list):
        entries = [(item, ("tools", index)) for index, item in enumerate(listed)]
    elif value.__class__ is list:
        entries = [(item, (index,)) for index, item in enumerate(value)]
    for entry, path in entries:
        if entry.__class__ is dict and entry.get("inputs", {}).__class__ is dict and entry.keys() & {"name", "inputs"}:
            yield _tool(entry, path, given)
        elif entry.__class__ is dict and entry.get("code").__class__ is str:
            given.problems.append(
                NotATool(at=given.locate(path), reason="it is a program; name the tool in it as `file.py:Name`")
            )
        else:
            given.problems.append(NotATool(at=given.locate(path), reason=f"{describe_value(entry)} has no inputs"))


def _tool(entry: dict[str, Json], path: Location, given: Given) -> ImportedTool:
    inputs, own = as_object(entry.get("inputs", {})), entry.get("name")
    output = entry.get("output_type")
    result = entry.get("output_schema")
    if result.__class__ is not dict and output.__class__ is str:
        result = {} if output == "any" else {"type": output}
    for key, part in entry.items():
        if key not in _MEMBERS and part is not None:
            given.left_out((*path, key), key, "a vibe has no place for it")
    properties: JsonObject = {
        name: normalize_schema(value, (*path, "inputs", name), given, SMOLAGENTS_RULES) for name, value in inputs.items()
    }
    return ImportedTool(
        name=own if isinstance(own, str) else None,
        at=path,
        schema={**inputs_schema(inputs), "properties": properties, "additionalProperties": False},
        schema_at=path,
        description=description_text(entry.get("description"), (*path, "description"), given),
        result=partial(normalize_schema, result, (*path, "output_type"), given, SMOLAGENTS_RULES)
        if result.__class__ is dict
        else None,
    )


def load(reference: str) -> tuple[object, bool]:
    """Return the object of a reference, and whether it is a whole module; raise `CompileError` if it does not exist."""
    place, mark, name = reference.rpartition(":")
    if not mark or (len(place) == 1 and name[:1] in {"\\", "/"}):  # `C:\models.py`
        place, name = reference, ""
    with redirect_stdout(sys.stderr), _path_to(place):  # standard output is not for foreign code
        module = _module(place, reference)
        value: object = module
        for word in name.split(".") if name else ():
            try:
                value = getattr(value, word)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  -- foreign code may raise anything
                known = tuple(item for item in vars(value) if not item.startswith("_")) if hasattr(value, "__dict__") else ()
                reason = f"there is no `{word}` in it" if isinstance(error, AttributeError) else _words(error)
                raise CompileError([UnloadableObject(reference=reference, reason=reason, nearest=nearest(word, known))]) from None
    return value, not name


@contextmanager
def _path_to(place: str) -> Iterator[None]:
    """Make the neighbours of a file, and modules in the working folder, importable."""
    before = list(sys.path)
    sys.path.insert(0, str(Path(place).resolve().parent if place.endswith(".py") else Path.cwd()))
    try:
        yield
    finally:
        sys.path[:] = before


def _module(place: str, reference: str) -> ModuleType:
    try:
        if place.endswith(".py"):
            return _run_file(Path(place), reference)
        return import_module(place)
    except InstrcError:
        raise
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not missing or missing == place.partition(".")[0]:
            raise CompileError([UnloadableObject(reference=reference, reason="there is no such module")]) from None
        extra = MissingExtra(feature="`instrc import pydantic`", extra="import", package="pydantic")
        raise SettingsError([extra if missing == "pydantic" else MissingLibrary(library=missing)]) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  -- foreign code may raise anything
        reason = f"running it ends in {type(error).__name__}: {_words(error)}"
        raise CompileError([UnloadableObject(reference=reference, reason=reason)]) from None


def _run_file(path: Path, reference: str) -> ModuleType:
    if not os.path.isfile(path):  # noqa: PTH113  -- no error for a NUL
        raise CompileError([UnloadableObject(reference=reference, reason="there is no such file")])
    name = f"instrc_imported_{path.stem}"
    spec = util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[name] = module  # types look up names there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _words(error: BaseException) -> str:
    """Return the text of an error, or the name of its class."""
    try:
        return describe_value(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  -- as above
        return "it does not say why"
