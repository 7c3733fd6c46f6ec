"""The table of the page of targets: what each keeps, rewrites and reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from instrc.providers.dialect import Dialect
from instrc.providers.targets import targets

_CONSTRAINTS = (
    "minimum",
    "exclusiveMinimum",
    "multipleOf",
    "minLength",
    "pattern",
    "format",
    "minItems",
    "uniqueItems",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
)
_SHORT = {
    "exclusiveMinimum": "exclusive bounds",
    "minimum": "bounds",
    "minLength": "lengths",
    "minItems": "numbers of items",
    "minProperties": "numbers of properties",
    "if": "if/then/else",
    "dependentRequired": "dependent…",
    "dependentSchemas": "dependent…",
}
_ORDINARY = "Имя $1"
"""A key of letters of another script, signs and a blank: where it is allowed, only keys that cannot be printed change."""


class TargetRow(NamedTuple):
    """One target in the table."""

    target: str
    kept: str
    rewritten: str
    reported: str


def rows(known: Iterable[Dialect] | None = None) -> list[TargetRow]:
    """Return the table, one row for each target: by default of all that the package has."""
    return [
        TargetRow(
            dialect.name,
            ", ".join(_kept_keywords(dialect)),
            ", ".join(_rewritten_keywords(dialect)),
            ", ".join(_reported_keywords(dialect)),
        )
        for dialect in known or targets().values()
    ]


def _kept_keywords(dialect: Dialect) -> list[str]:
    if dialect.structure == "pass_through":
        return ["everything"]
    kept = ["types", "enum"]
    if "const" in dialect.keywords:
        kept.append("const")
    if dialect.unions == "anyOf":
        kept.append("anyOf")
    if dialect.recursion == "keep":
        kept.append("recursion")
    if dialect.maps == "keep":
        kept.append("maps")
    if dialect.tuples == "keep":
        kept.append("tuples")
    return kept + _names([keyword for keyword in _CONSTRAINTS if keyword in dialect.keywords])


def _names(keywords: list[str]) -> list[str]:
    return list(dict.fromkeys(_SHORT.get(keyword, keyword) for keyword in keywords))


def _rewritten_keywords(dialect: Dialect) -> list[str]:
    changes = []
    if dialect.key is not None:
        changes.append(
            "keys of the root"
            if dialect.keys_at_root_only
            else "keys outside the alphabet"
            if not dialect.key.allows(_ORDINARY)
            else "unprintable keys"
        )
    if dialect.root != "any":
        changes.append("a root that is not an object")
    if dialect.structure == "pass_through":
        return changes
    if dialect.every_required:
        changes.append("optional → null")
    elif dialect.reorders:
        changes.append("optional → null where order matters")
    changes.append("oneOf → anyOf" if dialect.unions == "anyOf" else "unions → one object with a choice")
    if "const" not in dialect.keywords:
        changes.append("const → enum")
    if not {"integer", "boolean"} <= dialect.enums:
        changes.append("enum values → text")
    if dialect.maps == "pairs":
        changes.append("maps → pairs")
    if dialect.tuples == "object":
        changes.append("tuples → objects")
    if dialect.anything == "text":
        changes.append("any value → JSON text")
    if dialect.recursion == "unroll":
        changes.append("recursion → unrolled")
    if not dialect.null:
        changes.append("null → left out")
    return changes


def _reported_keywords(dialect: Dialect) -> list[str]:
    if dialect.structure == "pass_through":
        return []
    return _names([keyword for keyword in _CONSTRAINTS if keyword not in dialect.keywords])


def table() -> str:
    """Return the table as Markdown, with one row for all targets that are served alike; what is in no cell is reported."""
    alike: dict[tuple[str, str], list[str]] = {}
    for row in rows():
        alike.setdefault((row.kept or "–", row.rewritten or "–"), []).append(f"`{row.target}`")
    lines = ["| target | kept | rewritten |", "|---|---|---|"]
    lines += [f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in alike.items()]
    return "\n".join(lines) + "\n"


def reported() -> str:
    """Return the constraints that a target may leave to words, as the page lists them."""
    return ", ".join(_names(list(_CONSTRAINTS)))
