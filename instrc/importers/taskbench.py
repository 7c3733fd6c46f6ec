"""TaskBench: tool files with inputs by type or with parameters; each tool becomes an activity with its preparation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from instrc.importers.given import Given
from instrc.importers.tools import ImportedTool
from instrc.jsonvalue import Json, Location
from instrc.plans.taskbench.tools import arguments_schema, output_schema, read_bench
from instrc.problems.importing import NotATool


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the tools; types become texts of their media type, and what a tool gives back is its output."""

    def refuse(path: Location, reason: str) -> None:
        given.problems.append(NotATool(at=given.locate(path), reason=reason))

    bench = read_bench(given.value, refuse)
    value: Json = given.value
    holder: Location = () if value.__class__ is not dict else ("nodes" if "nodes" in value else "tools",)
    nodes: Json = value if not isinstance(value, dict) else value.get("nodes" if "nodes" in value else "tools")
    if nodes.__class__ is not list:
        return
    ids = [node.get("id") if node.__class__ is dict else None for node in nodes]
    places = [ids.index(tool.id) for tool in bench.tools]
    for tool, place in zip(bench.tools, places, strict=True):
        schema: Json = {"properties": {}, **arguments_schema(tool)}
        yield ImportedTool(
            name=tool.id,
            at=(*holder, place),
            schema=schema,
            schema_at=(*holder, place),
            description=tool.description or None,
            result=partial(output_schema, tool),
        )
