"""The service over the Model Context Protocol: standard input and output, or streamable HTTP."""

from __future__ import annotations

from typing import Any

import mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from instrc.jsontext import dumps
from instrc.mcp.offers import Offers, RefusedError
from instrc.version import __version__


def server_of(service: Offers, name: str = "instrc") -> Server[Any]:
    """Return a server that lists the tools of a service and calls them; their arguments are checked by the service."""

    async def list_tools(_context: Any, _params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[_tool(offer.lowering.payload) for offer in service.offers.values()])

    async def call_tool(_context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        try:
            value = await service.call(params.name, params.arguments or {})
        except RefusedError as error:
            return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=str(error))], is_error=True)
        text = mcp_types.TextContent(type="text", text=dumps(value))
        return mcp_types.CallToolResult(
            content=[text], structured_content=value if isinstance(value, dict) else {"result": value}
        )

    return Server(name, version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio(service: Offers) -> None:
    """Serve one client over standard input and output, until it goes."""
    server = server_of(service)
    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    finally:
        await service.close()


async def serve_http(service: Offers, host: str, port: int) -> None:
    """Serve many clients over streamable HTTP at `/mcp`, until interrupted."""
    import uvicorn  # comes with the protocol's library

    app = server_of(service).streamable_http_app(host=host)
    try:
        await uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning")).serve()
    finally:
        await service.close()


def _tool(payload: dict[str, Any]) -> mcp_types.Tool:
    return mcp_types.Tool.model_validate({key: value for key, value in payload.items() if key != "_meta"})
