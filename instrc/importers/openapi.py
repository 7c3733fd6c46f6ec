"""OpenAPI 3 and Swagger 2.0: each operation becomes a tool whose arguments are its parameters and its body, side by side."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.importers.components import Components
from instrc.importers.given import Given
from instrc.importers.operation import Operation
from instrc.importers.swagger import SwaggerOperation
from instrc.importers.tools import ImportedTool
from instrc.jsonvalue import Json, Location, as_object
from instrc.problems.importing import NotATool
from instrc.schema.notes import describe_value

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the operations of a document in the order in which it lists them."""
    document = given.value
    if document.__class__ is not dict or document.get("paths", {}).__class__ is not dict:
        given.problems.append(NotATool(at=given.locate(()), reason="it is not an OpenAPI document"))
        return
    kind = _kind(document, given)
    if kind is None:
        return
    if document.get("webhooks"):
        given.left_out(("webhooks",), "webhooks", "they are calls that come in")
    for route, item in as_object(document.get("paths", {})).items():
        path: Location = ("paths", route)
        if route.startswith("x-"):
            continue
        if item.__class__ is dict and "$ref" in item:
            item, path = Components(given).follow(item, path)  # noqa: PLW2901  -- the same thing, found elsewhere
        if item.__class__ is not dict:
            if item is not None:
                given.problems.append(NotATool(at=given.locate(path), reason=f"{describe_value(item)} is not a path item"))
            continue
        for method in item:
            if method in METHODS and item[method].__class__ is dict:
                yield kind(given, route, method, item, path).tool()
            elif method in METHODS:
                given.problems.append(NotATool(at=given.locate((*path, method)), reason="it is not an operation"))


def _kind(document: dict[str, Json], given: Given) -> type[Operation] | None:
    """Return what the operations of a document are read as; `None` if its version is not known."""
    version, older = document.get("openapi"), document.get("swagger")
    if version.__class__ is str and version.startswith("3."):
        return Operation
    if version is None and str(older) == "2.0":  # YAML takes it for a number
        return SwaggerOperation
    said = (
        f"version {describe_value(version or older)}"
        if version or older
        else "a document without `openapi: 3…` or `swagger: 2.0`"
    )
    member = "openapi" if version is not None else "swagger"
    given.problems.append(NotATool(at=given.locate((member,)), reason=f"{said} is not read, only OpenAPI 3 and Swagger 2.0"))
    return None
