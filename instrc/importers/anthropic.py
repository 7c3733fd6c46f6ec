"""Anthropic: tools of the Messages API, alone or in a whole request."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.importers.functions import ListFormat, functions
from instrc.importers.given import Given
from instrc.importers.tools import ImportedTool

FORMAT = ListFormat(keywords={"input_examples": "examples"})


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the tools with an input schema; tools that Anthropic runs itself are noted."""
    return functions(given, FORMAT)
