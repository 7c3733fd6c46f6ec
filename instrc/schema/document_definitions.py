"""Move the definitions of recursive schemas to the root of the document that they become part of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.schema.flattening.flatten import flatten
from instrc.schema.impossible import may_be_impossible
from instrc.schema.relations import disjoint
from instrc.schema.walk import map_schemas, refers, without
from instrc.text.jsonvalue import Json, JsonObject, as_object, equal
from instrc.text.names import free_name
from instrc.text.source import Span

_LOCAL = r"(?s)#(?:/\$defs/([^/]+)(.*))?"  # compiled on first use


class DocumentDefinitions:
    """The `$defs` of one document; equal definitions are stored once, unequal ones of the same name get `_2`, `_3`."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.schemas: dict[str, Json] = {}
        self._names_taken = taken
        self._plain: dict[int, JsonObject] = {}
        """Schemas without definitions and references, by identity: many blocks give the same."""

    @cached_property
    def _taken(self) -> frozenset[str]:
        """Names that the document uses for other definitions; most have none."""
        return frozenset(self._names_taken)

    def hoist(self, schema: Json, name: str) -> Json:
        """Return a schema without `$defs` whose references lead to this document's; `name` is for one that refers to itself."""
        if not isinstance(schema, dict) or id(schema) in self._plain:
            return schema
        if not ("$defs" in schema or refers(schema)):
            self._plain[id(schema)] = schema
            return schema
        if "$defs" not in schema:  # the value of a block is put together from schemas that bring their own
            schema = as_object(
                map_schemas(schema, lambda node: self.hoist(node, name) if isinstance(node, dict) and "$defs" in node else node)
            )
        body = without(schema, "$defs")
        found = as_object(schema.get("$defs", {}))
        names = self._names(found)
        used_root = False

        def rename(node: Json) -> Json:
            nonlocal used_root
            if not isinstance(node, dict):
                return node
            reference = node.get("$ref")
            match = re.fullmatch(_LOCAL, reference) if isinstance(reference, str) else None
            if match is None:
                return node
            if match[1] is None:
                used_root = True
                return {**node, "$ref": f"#/$defs/{name}"}
            return {**node, "$ref": f"#/$defs/{names.get(match[1], match[1])}{match[2]}"}

        for old, definition in found.items():
            self.schemas[names[old]] = map_schemas(definition, rename)
        body = as_object(map_schemas(body, rename))
        if used_root:
            self.schemas[name] = body
        return body

    def intersect(self, schemas: list[Json]) -> Json:
        """Return the conjunction of parts of this document, which may refer to its definitions."""
        defined: JsonObject = {"$defs": self.schemas} if self.schemas else {}
        result = flatten({"allOf": schemas, **defined})
        return self.hoist(result, "")

    @staticmethod
    def fillable(schema: Json, steps: JsonObject, at: Span | None) -> JsonObject:
        """Return the schema around an object of steps written at `at`; raise `CompileError` if nothing satisfies the two."""
        if not isinstance(schema, dict) or (may_be_impossible(schema) and disjoint(schema, schema)):
            raise CompileError([problems.steps.Unsatisfiable(at=at, keys=tuple(as_object(steps.get("properties", {}))))])
        return schema

    def _names(self, found: dict[str, Json]) -> dict[str, str]:
        """Return the final names of definitions: the original ones, by which they refer to each other, if new or equal."""
        if self._taken.isdisjoint(found) and all(equal(self.schemas.get(name, result), result) for name, result in found.items()):
            return dict(zip(found, found, strict=True))
        return {old: self._free(old, result, found) for old, result in found.items()}

    def _free(self, old: str, definition: Json, found: dict[str, Json]) -> str:
        def is_taken(name: str) -> bool:
            kept = self.schemas.get(name)
            return name in self._taken or (name in self.schemas and not (len(found) == 1 and equal(kept, definition)))

        return free_name(old, is_taken)
