"""OpenAI: tools of Chat Completions and Responses, functions of old, structured outputs, alone or in a whole request."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.importers.functions import ListFormat, functions
from instrc.importers.given import Given
from instrc.importers.tools import ImportedTool

FORMAT = ListFormat()


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the functions among OpenAI tools; tools that OpenAI runs itself are noted."""
    return functions(given, FORMAT)
