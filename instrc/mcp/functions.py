"""Serve functions of Python over MCP: an annotated function is a tool, or a function beside the schema that it is called with."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from instrc.jsonvalue import Json
from instrc.lowering.given import ToolLike
from instrc.mcp.offers import AnyCall, Offers
from instrc.python.calls import PythonCall
from instrc.python.values import json_of

Served: TypeAlias = Callable[..., object] | tuple[ToolLike, Callable[[Any], object]]  # it takes the type that somebody chose
"""An annotated function, called with arguments of its names; or a schema, tool or model, and what is called with the value."""


def offers_of(*functions: Served) -> Offers:
    """Return the tools that functions are, by their names.

    A value is checked before its function is called; a model of pydantic, dataclass or `TypedDict` is called with an instance.
    """
    offers = Offers()
    for each in functions:
        if isinstance(each, tuple):
            schema, function = each
            offers.offer(None if isinstance(schema, type) else function.__name__, schema, _with_value(schema, function))
        else:
            offers.offer(None, each, _with_arguments(each))
    return offers


def serve(*functions: Served) -> None:
    """Serve functions to one client over standard input and output, until it goes.

    serve(look_up, (Reply, send))
    """
    from instrc.mcp.server import serve_stdio  # the library of the protocol is an extra

    asyncio.run(serve_stdio(offers_of(*functions)))


def _with_arguments(function: Callable[..., object]) -> AnyCall:
    called = PythonCall(function)

    async def call(value: dict[str, Json]) -> Json:
        return await _as_json(function(**called.by_name(value)))

    return call


def _with_value(schema: ToolLike, function: Callable[[object], object]) -> AnyCall:
    async def call(value: dict[str, Json]) -> Json:
        given: object = value
        if isinstance(schema, type):
            from instrc.lifting.models import as_instance  # pydantic is an extra

            given = as_instance(value, value, (), schema)
        return await _as_json(function(given))

    return call


async def _as_json(result: object) -> Json:
    """Return what a function has returned, or will, as JSON; whoever sends it says where it is none."""
    return cast("Json", json_of(await result if inspect.isawaitable(result) else result))
