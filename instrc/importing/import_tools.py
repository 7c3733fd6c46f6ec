"""Tools of a source as vibes: read it, read the tools in it, keep those that pass the check."""

from __future__ import annotations

from typing import get_args

from instrc import arguments
from instrc.importers.read_tools import Imported, known_kind, read_tools
from instrc.importers.vibes import Results
from instrc.importing.sound import sound_vibes
from instrc.importing.sources import read_source
from instrc.plain_values import takes_shared_parts
from instrc.problems.problem import CompileError
from instrc.problems.report import Report


@takes_shared_parts
def import_tools(kind: str, source: object, *, results: Results = "leave") -> Imported:
    """Return the tools of a source as vibes.

        imported = instrc.import_tools("mcp", {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]})
        vibes = {vibe.name: vibe.document for vibe in imported.vibes}

    `kind` is `openai`, `anthropic`, `mcp`, `openapi`, `pydantic`, `smolagents`, `bfcl` or `taskbench`.
    `source` is a path or `-`, a `Source`, JSON as text or as Python values; for pydantic and smolagents also `module:Name`,
    `path/to/file.py:Name`, or the objects themselves.
    `results` says what becomes of what a tool gives back: `leave` it out, an `output` property, or an `activity` of its own.
    Nothing is raised for bad input: the problems say what is wrong, and where.
    """
    arguments.known_word("results", results, get_args(Results))
    report = Report()
    try:
        given = read_source(known_kind(kind), source, report)
    except CompileError as error:
        report.take(error)
        given = None
    if given is None:
        return Imported((), report.once())
    return sound_vibes(read_tools(kind, given, results))
