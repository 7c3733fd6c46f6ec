"""Vibes that a caller gives from memory, by name: their schemas, whatever form they are given in."""

from __future__ import annotations

from collections.abc import Mapping

from instrc import arguments, problems
from instrc.ir.fusion import instruction_kind
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report


def schemas_in_memory(vibes: Mapping[str, object] | None, report: Report) -> dict[str, Json] | None:
    """Return the schemas of what is given as vibes, with notes in the report; all that has none is raised at once."""
    if vibes is None:
        return None
    if not isinstance(vibes, Mapping) or not all(isinstance(name, str) for name in vibes):
        wanted = "a mapping from names to schemas"
        raise CompileError([problems.settings.InvalidOption(option="vibes", given=arguments.excerpt(vibes), wanted=wanted)])
    found: dict[str, Json] = {}
    wrong: list[Problem] = []
    for name, value in vibes.items():
        try:
            found[name] = _schema(name, value, report)
        except CompileError as error:
            wrong += error.problems
    if wrong:
        raise CompileError(wrong)
    return found


def _schema(name: str, value: object, report: Report) -> Json:
    from instrc.lint.other_documents import foreign  # few programs have vibes in memory

    option = f'vibes["{name}"]'
    if isinstance(value, dict) and foreign(value, option) is None:
        return value
    from instrc.importing.in_memory import schema_in_memory

    word, _, _ = name.rpartition("/")[2].partition("@")
    schema, notes = schema_in_memory(value, option, called=instruction_kind(word) == "server")
    report.problems += notes
    return schema
