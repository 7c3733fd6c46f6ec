"""A tool: a schema with the name and the description under which a model is shown it."""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import NamedTuple

from instrc.jsonvalue import Json


class Example(NamedTuple):
    """A value as a model should write it, and the request that it answers."""

    value: Json
    request: str | None = None


class Tool(NamedTuple):
    """A schema with the name and the description under which a model is shown it."""

    name: str
    schema: Json | type | UnionType | Callable[..., object]
    """Of its arguments: JSON, or what pydantic says the schema of, as a model or an annotated function."""
    description: str | None = None
    strict: bool | None = None
    """Whether it is sent in the provider's strict envelope; `None` where the provider and its budgets decide."""
    priority: int = 0
    """Of several tools that together exceed a budget, those of the greatest number stay strict."""
    examples: tuple[Example, ...] = ()
    """Values to show the model, where a provider has a field for them."""
