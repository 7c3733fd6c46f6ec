"""`instrc flatten`: one JSON Schema in, the flat equivalent out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.inputs import read_schema
from instrc.cli.options import ProblemFormat, Roots, Shared, Strict
from instrc.cli.show import FINE, Format, show, verdict
from instrc.cli.terminal import write
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.workspace import Workspace

if TYPE_CHECKING:
    from instrc.flattening.provenance import Flat


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A JSON Schema, or - for the standard input.")],
    trace: Annotated[bool, typer.Option("--trace", help="Also print the origin of each part.")] = False,
    distribute: Annotated[
        int, typer.Option("--distribute", min=0, metavar="N", help="Multiply anyOf with anyOf out, up to N branches.")
    ] = 0,
    strict: Strict = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Merge allOf and references of a JSON Schema into one schema.

    It accepts the same instances.
    """
    report = Report()
    flat: Json = None
    try:
        workspace = Workspace(root or (), shared or ())
        given = read_schema(file, workspace.registry(file), report)
        if given is not None:
            from instrc.flattening.flatten import flatten  # the algebra is not small

            documents, base = workspace.registry(file).documents, given.base
            if trace:
                found = flatten(
                    given.value, documents, base=base, trace=True, distribute=distribute, report=report, locate=given.locate
                )
                flat = _traced(found)
            else:
                flat = flatten(given.value, documents, base=base, distribute=distribute, report=report, locate=given.locate)
    except CompileError as error:
        report.take(error)
    problems = report.once()
    code = verdict(problems, strict=strict)
    if code == FINE:
        write(f"{dumps(flat)}\n")
    show(problems, shape)
    raise typer.Exit(code)


def _traced(found: Flat) -> Json:
    """Return the schema with the origins of its keywords: by JSON Pointer, references to where each was written."""
    origins: JsonObject = {pointer: [str(each) for each in written] for pointer, written in found.origins.items()}
    return {"schema": found.schema, "origins": origins}
