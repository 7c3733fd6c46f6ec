"""The docstring of a function describes its parameters, in three styles; what is about none of them stays with the tool."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

import instrc


def google(city: str, nights: int = 1) -> str:
    """Find hotels.

    Only those that are open.

    Args:
        city: Where to look,
            in any language.
        nights (int): How long.

    Returns:
        Names of hotels.

    Raises:
        ValueError: There is no such city.
    """
    return city * nights


def numpy(city: str, nights: int = 1) -> str:
    """Find hotels.

    Only those that are open.

    Parameters
    ----------
    city : str
        Where to look,
        in any language.
    nights : int
        How long.

    Returns
    -------
    str
        Names of hotels.

    Raises
    ------
    ValueError
        There is no such city.
    """
    return city * nights


def sphinx(city: str, nights: int = 1) -> str:
    """Find hotels.

    Only those that are open.

    :param city: Where to look,
        in any language.
    :param int nights: How long.
    :returns: Names of hotels.
    :raises ValueError: There is no such city.
    """
    return city * nights


def tool_of(function: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """Return the description of a tool, and those of its parameters by name."""
    made: Any = instrc.lower(function, target="mcp").payload
    properties = made["inputSchema"]["properties"]
    return made["description"], {name: each.get("description") for name, each in properties.items()}


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_parameters_are_described_by_the_docstring(function: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    description, parameters = tool_of(function)
    assert {name: " ".join(text.split()) for name, text in parameters.items()} == {
        "city": "Where to look, in any language.",
        "nights": "How long.",
    }
    assert description.startswith("Find hotels.\n\nOnly those that are open.")
    assert "Returns: Names of hotels." in description
    assert "Raises ValueError: There is no such city." in description
    assert "How long" not in description
    assert caplog.records == []


def test_what_has_no_place_in_the_schema_stays_in_the_text() -> None:
    def book(city: Annotated[str, Field(description="A city.")], room: int) -> None:
        """Book.

        Args:
            city: The place.
            hotel: Nobody takes it.
        """

    assert tool_of(book) == ("Book.\n\ncity: The place.\n\nhotel: Nobody takes it.", {"city": "A city.", "room": None})


def test_a_docstring_with_other_sections_stays_whole() -> None:
    def book(city: str) -> None:
        """Book.

        Args:
            city: The place.

        Examples:
            >>> book("Ulm")
        """

    description, parameters = tool_of(book)
    assert '>>> book("Ulm")' in description
    assert parameters == {"city": "The place."}


def test_without_the_library_the_docstring_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "griffe", None)
    description, parameters = tool_of(google)
    assert "city: Where to look" in description
    assert parameters == {"city": None, "nights": None}
