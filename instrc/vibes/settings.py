"""Settings: what the table `[tool.instrc]` of a project says, as a noun."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypedDict

from msgspec import Struct, field


class RunSettings(TypedDict, total=False):
    """How programs are run, where nothing else is said."""

    model: str
    engine: str
    store: str
    asks: int
    elements: int
    requests: int
    tokens: int


class Settings(Struct, frozen=True):
    """What a project has set; `None` and empty where it has not."""

    roots: tuple[Path, ...] = ()
    """Workspace folders, earlier ones first, as they are shown."""
    shared: tuple[Path, ...] = ()
    hint: str | None = None
    naming: Literal["step", "camel"] | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    keywords: frozenset[str] = frozenset()
    """Keywords and formats of schemas that the project has for itself."""
    templates: bool = False
    """Texts of programs are templates that other code fills in."""
    activities: Mapping[str, object] = field(default_factory=dict)
    """By name: `package.module:function`, the address of a process, or a table."""
    models: Mapping[str, str] = field(default_factory=dict)
    """The model that answers, by name or pattern of a vibe."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What models cost, by name or pattern of a model: `input` and `output`, in US dollars for a million tokens."""
    checks: Mapping[str, str] = field(default_factory=dict)
    """`package.module:function` by name of a vibe."""
    run: RunSettings = field(default_factory=RunSettings)
    """How programs are run, where nothing else is said."""
    file: Path | None = None
    """The `pyproject.toml` they are from."""


def readable_path(path: Path) -> Path:
    """Return a path as a person would write it here: relative if it lies below the working folder."""
    below = os.path.relpath(path)
    return path if below.startswith("..") else Path(below)
