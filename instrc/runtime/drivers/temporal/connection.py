"""How workers and clients reach the server: by the settings that all tools of Temporal share (`TEMPORAL_ADDRESS` and so on)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client, WorkflowQueryFailedError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError, RPCStatusCode

from instrc import problems
from instrc.problems.problem import CompileError
from instrc.runtime.drivers.temporal import names
from instrc.runtime.drivers.temporal.blobs import converter
from instrc.runtime.engine import UnreachableError
from instrc.runtime.secrets import redacted

ADDRESS = "localhost:7233"


def address() -> str:
    """Return the address of the server."""
    return ClientConfig.load_client_connect_config().get("target_host") or ADDRESS


_TOLD = re.compile(r'message: "([^"]+)"')


async def connected(folder: Path) -> Client:
    """Return a client; large values lie in a folder. An `UnreachableError` if no server answers."""
    with trouble():
        config = {"target_host": ADDRESS, **ClientConfig.load_client_connect_config()}
    try:
        with trouble():
            return await Client.connect(**config, data_converter=converter(folder / "blobs"))  # type: ignore[arg-type]  # as its docs say
    except CompileError as error:
        raise UnreachableError(error.problems) from None


@contextmanager
def trouble() -> Iterator[None]:
    """Turn what the connection complains of into a problem."""
    try:
        yield
    except (RPCError, RuntimeError, OSError, WorkflowQueryFailedError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        if isinstance(error, RPCError) and error.status == RPCStatusCode.NOT_FOUND:
            raise
        raise CompileError([problems.runs.UnusableStore(store=f"temporal at {address()}", reason=_reason(error))]) from None


def _reason(error: Exception) -> str:
    """Say in a few words what the connection complains of: of a chain of errors of the library's core the last one."""
    text = redacted(str(error)).splitlines()[0]
    told = _TOLD.findall(text)
    return str(told[-1])[:200].lower() if told else text[:200]


async def has_search_attributes(client: Client) -> bool:
    """Make sure that the server knows the search attributes of runs; `False` if it has none."""
    wanted = (names.PLAN_ATTRIBUTE, names.STATUS_ATTRIBUTE)
    try:
        known = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace=client.namespace))
        missing = [name for name in wanted if name not in known.custom_attributes]
        if missing:
            kinds = dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
            request = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
            await client.operator_service.add_search_attributes(request)
    except RPCError:
        return False
    return True
