"""Runs of an application of their own, for the options that belong to an application."""

from __future__ import annotations

import asyncio
from typing import Any

import instrc


def run_in_app(program: Any, value: Any = None, **options: Any) -> instrc.Run:
    """Run a program; the options are those of `instrc.App` and of `App.run`."""
    given = {name: options.pop(name) for name in ("id", "export", "rehearse") if name in options}
    value = options.pop("input", value)
    return asyncio.run(instrc.App(**options).run(program, value, **given))
