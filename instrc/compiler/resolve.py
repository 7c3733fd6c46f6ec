"""Read the tools and vibes passed by a caller: a schema, a tool of a provider, a Python type or function, a process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from instrc.compiler.ir import instruction_kind
from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.importing import PropertyWithMeaning, ReadOtherwise
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.settings import InvalidOption
from instrc.text import arguments
from instrc.text.arguments import model_as_json
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json
from instrc.tools.class_checks import ClassCheck, class_checks
from instrc.tools.importers import Imported, read_tools
from instrc.tools.python_types import aliases_of, describes_values, schema_of_result
from instrc.tools.python_values import INSTRUCTION_NAME, instruction_name
from instrc.tools.sources import of_value
from instrc.tools.vibe_documents import with_meaning


def schema_in_memory(value: object, option: str, *, called: bool) -> tuple[Json, tuple[Problem, ...]]:
    """Return the schema of a vibe without a file, and notes: from a schema, a type, a function or a tool of any provider.

    If the vibe is `called` by the server, the parameters of a function or a tool are its arguments, and `output` is the
    result; a schema or a type is the result. Raise `CompileError`, which names the `option`, for a value without a schema.
    """
    from instrc.tools.foreign_documents import foreign

    known: object = value
    if isinstance(value, str):
        try:
            known = loads(value)
        except ValueError as error:
            raise _no_schema(value, option) from error
    known = model_as_json(known)
    if isinstance(known, dict):
        other = foreign(known, option)
        if other is not None and other.importer is not None:
            return _only_schema(read_tools(other.importer, of_value(known), "output" if called else "leave"), value, option)
        if known is value or isinstance(value, str):
            return known, ()
    if isinstance(known, bool):
        return known, ()
    from instrc.tools.given import tool_of  # most vibes in memory are plain schemas
    from instrc.tools.tool import schema_of

    try:
        tool = tool_of(value)
        if called and not describes_values(value):
            given: Json = {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": schema_of(tool),
                "outputSchema": schema_of_result(value),
            }
            made, notes = _only_schema(read_tools("mcp", of_value(given), "output"), value, option)
            own = [note.key for note in notes if isinstance(note, PropertyWithMeaning)]
            aliases = aliases_of(value) if own else frozenset()
            return made, tuple(note for note in notes if not isinstance(note, PropertyWithMeaning) or note.key in aliases)
    except TypeError as error:
        raise _no_schema(value, option, str(error)) from error
    schema = schema_of(tool)
    if tool.description and isinstance(schema, dict) and "description" not in schema:
        schema = {"description": tool.description, **schema}
    keys = [str(path[-1]) for path in with_meaning(schema) if path[-1] != "output"]
    aliases = aliases_of(value) if keys else frozenset()
    return schema, tuple(PropertyWithMeaning(key=key) for key in keys if key in aliases)


def _no_schema(value: object, option: str, reason: str = "") -> CompileError:
    wanted = "a JSON Schema, a tool, or a type that pydantic can describe (a model, a dataclass, a `TypedDict`)"
    given = f"{arguments.excerpt(value)}: {reason}" if reason else arguments.excerpt(value)
    return CompileError([InvalidOption(option=option, given=given, wanted=wanted)])


def _only_schema(imported: Imported, value: object, option: str) -> tuple[Json, tuple[Problem, ...]]:
    if errors := [problem for problem in imported.problems if problem.severity == "error"]:
        raise CompileError(errors)
    if len(imported.vibes) != 1:
        raise _no_schema(value, option, f"it holds {len(imported.vibes)} tools")
    losses = tuple(problem for problem in imported.problems if not isinstance(problem, ReadOtherwise))  # lossless
    return imported.vibes[0].document, losses


InMemory: TypeAlias = Mapping[str, object] | Sequence[object]
"""Vibes in memory: by name, or as named classes and functions."""
_T = TypeVar("_T")


def instruction(*, name: str) -> Callable[[_T], _T]:
    """Set the name by which programs call a class or a function in a list of `vibes`.

        @instrc.instruction(name="Send_Activity")
        def send(text: str) -> str:
            return f"sent: {text}"

        run = instrc.run("Send_Activity(text: prompt)", "Hello", vibes=[send], activities=[send])

    A name that ends in `_User` is a human step, one that ends in `_Activity` a step of the server.
    Without it, the name is that of the class or function itself.
    """
    name = arguments.as_plain(arguments.text("name", name))
    if not name.strip():
        raise TypeError("an instruction needs a name")

    def mark(value: _T) -> _T:
        try:
            setattr(value, INSTRUCTION_NAME, name)
        except Exception as error:
            raise TypeError(f"{arguments.excerpt(value)} cannot be given a name: give it by name, as `vibes={{…}}`") from error
        return value

    return mark


def schemas_in_memory(vibes: InMemory, report: Report) -> dict[str, Json]:
    """Return the schemas of in-memory vibes, with notes in the report; those without one are raised as a single error."""
    found: dict[str, Json] = {}
    wrong: list[Problem] = []
    for name, value in _by_name(vibes).items():
        word, _, _ = name.rpartition("/")[2].partition("@")
        try:
            found[name], notes = schema_in_memory(value, f'vibes["{name}"]', called=instruction_kind(word) == "server")
            report.problems += notes
        except InstrcError as error:
            wrong += error.problems
    if wrong:
        raise CompileError(wrong)
    return found


def classes_in_memory(vibes: InMemory) -> dict[str, ClassCheck]:
    """Return the checks of in-memory vibes that are classes, by vibe name without folder and version."""
    checks = class_checks(_by_name(vibes))
    return {name.rpartition("/")[2].partition("@")[0]: check for name, check in checks.items()}


def _by_name(vibes: InMemory) -> Mapping[str, object]:
    """Return in-memory vibes by name; raise `CompileError` for one without a name, and for duplicate names."""
    if isinstance(vibes, Mapping) and all(isinstance(name, str) for name in vibes):
        return vibes
    wanted = "a mapping from names to schemas, or a list of classes and functions"
    if isinstance(vibes, str | bytes | Mapping) or not isinstance(vibes, Iterable):
        raise CompileError([InvalidOption(option="vibes", given=arguments.excerpt(vibes), wanted=wanted)])
    found: dict[str, object] = {}
    for place, value in enumerate(vibes):
        name = instruction_name(value)
        if name is None or name in found:
            wanted = "a class or a function with a name of its own; give others by name, as `vibes={…}`"
            said = arguments.excerpt(value) if name is None else f"a second `{name}`"
            raise CompileError([InvalidOption(option=f"vibes[{place}]", given=said, wanted=wanted)])
        found[name] = value
    return found
