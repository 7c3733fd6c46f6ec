"""Say in one table what each target keeps, rewrites and reports, computed from the `Dialect` values."""

from __future__ import annotations

from typing import NamedTuple

from instrc.dialects.catalogue import targets
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json

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


class Row(NamedTuple):
    """One target in the table."""

    target: str
    kept: str
    rewritten: str
    reported: str


def rows() -> list[Row]:
    """Return the table, one row a target."""
    return [
        Row(name, ", ".join(_kept(aimed)), ", ".join(_rewritten(aimed)), ", ".join(_reported(aimed)))
        for name, aimed in targets().items()
    ]


def table() -> str:
    """Return the table as Markdown."""
    lines = ["| target | kept | rewritten | said in words and reported |", "|---|---|---|---|"]
    lines += [f"| `{row.target}` | {row.kept or '–'} | {row.rewritten or '–'} | {row.reported or '–'} |" for row in rows()]
    return "\n".join(lines) + "\n"


def _names(keywords: list[str]) -> list[str]:
    return list(dict.fromkeys(_SHORT.get(keyword, keyword) for keyword in keywords))


def _kept(aimed: Dialect) -> list[str]:
    if aimed.structure == "kept":
        return ["everything"]
    kept = ["types", "enum"]
    if "const" in aimed.keywords:
        kept.append("const")
    if aimed.unions == "anyOf":
        kept.append("anyOf")
    if aimed.recursion == "keep":
        kept.append("recursion")
    if aimed.maps == "keep":
        kept.append("maps")
    if aimed.tuples == "keep":
        kept.append("tuples")
    return kept + _names([keyword for keyword in _CONSTRAINTS if keyword in aimed.keywords])


def _rewritten(aimed: Dialect) -> list[str]:
    changes = []
    if aimed.key is not None:
        changes.append(
            "keys of the root"
            if aimed.keys_at_root_only
            else "keys outside the alphabet"
            if aimed.key.first != '^\\x00-\\x1f\\x7f\\"\\\\'
            else "unprintable keys"
        )
    if aimed.root != "any":
        changes.append("a root that is no object")
    if aimed.structure == "kept":
        return changes
    if aimed.every_required:
        changes.append("optional → null")
    elif aimed.reorders:
        changes.append("optional → null where order matters")
    changes.append("oneOf → anyOf" if aimed.unions == "anyOf" else "unions → one object with a choice")
    if "const" not in aimed.keywords:
        changes.append("const → enum")
    if not {"integer", "boolean"} <= aimed.enums:
        changes.append("enum values → text")
    if aimed.maps == "pairs":
        changes.append("maps → pairs")
    if aimed.tuples == "object":
        changes.append("tuples → objects")
    if aimed.anything == "text":
        changes.append("any value → JSON text")
    if aimed.recursion == "unroll":
        changes.append("recursion → unrolled")
    if not aimed.null:
        changes.append("null → left out")
    return changes


def _reported(aimed: Dialect) -> list[str]:
    if aimed.structure == "kept":
        return []
    return _names([keyword for keyword in _CONSTRAINTS if keyword not in aimed.keywords])


def listing() -> list[dict[str, Json]]:
    """Return each target with its limits and facts, as `instrc targets` shows them."""
    return [
        {
            "name": aimed.name,
            "title": aimed.title,
            "enforced": aimed.enforced,
            "order": aimed.order,
            "tool name": f"[{aimed.tool_name.first}][{aimed.tool_name.rest}]*, at most {aimed.tool_name.most}"
            if aimed.named
            else None,
            "keys": None if aimed.key is None else f"[{aimed.key.first}][{aimed.key.rest}]*, at most {aimed.key.most}",
            "limits": {name: value for name in _LIMITS if (value := getattr(aimed.limits, name)) is not None},
            "facts": [fact._asdict() for fact in aimed.facts],
        }
        for aimed in targets().values()
    ]


_LIMITS = ("properties", "depth", "enum_values", "long_enum", "characters", "description", "tools", "optional", "unions")
