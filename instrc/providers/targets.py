"""All targets of the package, by name, and a table of what each keeps, rewrites and reports."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple, TypeAlias, cast

from instrc.problems.errors import SettingsError
from instrc.problems.targets import UnknownTarget
from instrc.providers.dialect import Dialect
from instrc.providers.dialects import anthropic, exchange, gigachat, google, mistral, open_weights, openai
from instrc.text.arguments import text
from instrc.text.jsonvalue import Json

TargetName: TypeAlias = Literal[
    "jsonschema",
    "openai",
    "openai-responses",
    "openai-output",
    "openai-responses-output",
    "anthropic",
    "anthropic-strict",
    "anthropic-output",
    "gemini",
    "gemini-schema",
    "gemini-output",
    "mistral",
    "mistral-output",
    "gigachat",
    "gigachat-output",
    "bedrock",
    "bedrock-strict",
    "bedrock-output",
    "mcp",
    "smolagents",
    "ollama",
    "ollama-output",
    "llamacpp",
    "vllm",
    "vllm-output",
]
"""The names of the targets, for those who check types."""
_TARGETS = (
    exchange.jsonschema,
    openai.openai,
    openai.openai_responses,
    openai.openai_output,
    openai.openai_responses_output,
    anthropic.anthropic,
    anthropic.anthropic_strict,
    anthropic.anthropic_output,
    google.gemini,
    google.gemini_schema,
    google.gemini_output,
    mistral.mistral,
    mistral.mistral_output,
    gigachat.gigachat,
    gigachat.gigachat_output,
    anthropic.bedrock,
    anthropic.bedrock_strict,
    anthropic.bedrock_output,
    exchange.mcp,
    exchange.smolagents,
    open_weights.ollama,
    open_weights.ollama_output,
    open_weights.llamacpp,
    open_weights.vllm,
    open_weights.vllm_output,
)


@cache
def targets() -> dict[TargetName, Dialect]:
    """Return all targets by name.

        assert "openai" in instrc.targets()

    They are in the order in which they are listed to people.
    """
    return {cast("TargetName", dialect.name): dialect for dialect in (make() for make in _TARGETS)}


def known_target(name: object) -> Dialect | None:
    """Return the target of a name, or `None` if no target has it."""
    return targets().get(cast("TargetName", name)) if isinstance(name, str) else None


def dialect(target: str | Dialect) -> Dialect:
    """Return a target by its name, or the value itself; an unknown name is an `unknown-target` problem."""
    if isinstance(target, Dialect):
        return target
    result = known_target(text("target", target))
    if result is None:
        from instrc.problems.suggest import nearest

        raise SettingsError([UnknownTarget(target=target, nearest=tuple(nearest(target, targets())), known=tuple(targets()))])
    return result


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
    """Return the table as Markdown, with one row for all targets that are served alike."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for row in rows():
        alike.setdefault((row.kept or "–", row.rewritten or "–", row.reported or "–"), []).append(f"`{row.target}`")
    lines = ["| target | kept | rewritten | said in words and reported |", "|---|---|---|---|"]
    lines += [f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in alike.items()]
    return "\n".join(lines) + "\n"


_LIMITS = (
    "properties",
    "depth",
    "enum_values",
    "long_enum",
    "items",
    "characters",
    "description",
    "tools",
    "strict_tools",
    "optional",
    "unions",
)


def target_facts(known: Iterable[Dialect] | None = None) -> list[dict[str, Json]]:
    """Return each target with its limits and facts, as `instrc targets` shows them."""
    return [
        {
            "name": dialect.name,
            "title": dialect.title,
            "enforced": dialect.enforced,
            "order": dialect.order,
            "tool name": f"[{dialect.tool_name.first}][{dialect.tool_name.rest}]*, at most {dialect.tool_name.most}"
            if dialect.named
            else None,
            "keys": None if dialect.key is None else f"[{dialect.key.first}][{dialect.key.rest}]*, at most {dialect.key.most}",
            "limits": {name: value for name in _LIMITS if (value := getattr(dialect.limits, name)) is not None},
            "facts": [fact._asdict() for fact in dialect.facts],
        }
        for dialect in known or targets().values()
    ]
