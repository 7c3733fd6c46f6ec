"""`instrc targets`: the providers that a tool can be lowered for."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.terminal import write
from instrc.jsontext import dumps
from instrc.jsonvalue import Json

if TYPE_CHECKING:
    from instrc.ir.dialect import Dialect, Limits

ORDERS = {
    "schema": "answers keep the order of the schema",
    "required-first": "answers give required properties first",
    "hinted": "answers follow a hint about their order",
    "free": "answers come in any order",
}


class TargetsFormat(StrEnum):
    """How the list is written."""

    TEXT = "text"
    JSON = "json"


def command(
    shape: Annotated[TargetsFormat, typer.Option("--format", help="How the list is written.")] = TargetsFormat.TEXT,
) -> None:
    """List the targets of `instrc compile --target` with their limits."""
    from instrc.dialects.catalogue import targets

    if shape is TargetsFormat.JSON:
        write(f"{dumps([_facts(dialect) for dialect in targets().values()])}\n")
        return
    width = max(map(len, targets()))
    for name, dialect in targets().items():
        write(f"{name:{width}}  {dialect.title}\n")
        for line in _lines(dialect):
            write(f"{'':{width}}    {line}\n")


def _lines(dialect: Dialect) -> list[str]:
    force = "the decoder enforces the schema" if dialect.enforced else "the schema is shown to the model, not enforced"
    counts = ", ".join(f"{value:,} {word}" for word, value in _limits(dialect.limits).items())
    told = [fact.what for fact in dialect.facts if not fact.fields]
    return [f"{force}; {ORDERS[dialect.order]}", *([f"at most {counts}"] if counts else []), *told]


def _limits(limits: Limits) -> dict[str, int]:
    """Return the known limits by what they count."""
    counted = {
        "properties": limits.properties,
        "levels": limits.depth,
        "enum values": limits.enum_values,
        "characters of names and values": limits.characters,
        "characters of description": limits.description,
        "tools a request": limits.tools,
        "strict tools a request": limits.strict_tools,
        "optional parameters a request": limits.optional,
        "union-typed parameters a request": limits.unions,
    }
    return {word: value for word, value in counted.items() if value is not None}


def _facts(dialect: Dialect) -> Json:
    return {
        "name": dialect.name,
        "title": dialect.title,
        "enforced": dialect.enforced,
        "order": dialect.order,
        "every_property_required": dialect.every_required,
        "limits": dict(_limits(dialect.limits)),
        "facts": [fact._asdict() for fact in dialect.facts],
    }
