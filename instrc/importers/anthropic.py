"""Anthropic: tools of the Messages API, alone or in a whole request."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.importers.functions import Form, functions
from instrc.importers.given import Given
from instrc.importers.tools import Tool

FORM = Form(kept={"input_examples": "examples"})


def tools(given: Given) -> Iterator[Tool]:
    """Yield the tools with an input schema; tools that Anthropic runs itself are noted."""
    return functions(given, FORM)
