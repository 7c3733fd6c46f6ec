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
from instrc.schema.walk import map_schemas, nodes, redirected, refers, without
from instrc.text.jsonvalue import Json, JsonObject, as_object, equal
from instrc.text.names import free_name
from instrc.text.source import Span

_LOCAL = r"(?s)#/\$defs/([^/]*)(.*)"  # compiled on first use


class DocumentDefinitions:
    """The `$defs` of one document; equal definitions are stored once, unequal ones of the same name get `_2`, `_3`."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.schemas: dict[str, Json] = {}
        self._names_taken = taken
        self._plain: dict[int, JsonObject] = {}
        """Schemas without definitions and references, by identity: many blocks give the same."""
        self._hoisted: dict[frozenset[str], list[tuple[JsonObject, dict[str, str]]]] = {}
        """Definitions that were hoisted together, with their final names, by the original ones."""

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
        body, found = without(schema, "$defs"), as_object(schema.get("$defs", {}))
        if any(node.get("$ref") == "#" for node in nodes(schema)):
            whole = free_name(name, found.__contains__)
            moved = {"#": f"#/$defs/{whole}"}
            body = as_object(redirected(body, moved))
            found = {**{old: redirected(each, moved) for old, each in found.items()}, whole: body}
        names = self._names(found)

        def rename(node: Json) -> Json:
            reference = node.get("$ref") if isinstance(node, dict) else None
            match = re.fullmatch(_LOCAL, reference) if isinstance(reference, str) else None
            if match is None or not isinstance(node, dict):
                return node
            return {**node, "$ref": f"#/$defs/{names.get(match[1], match[1])}{match[2]}"}

        for old, definition in found.items():
            self.schemas[names[old]] = map_schemas(definition, rename)
        return map_schemas(body, rename)

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
        """Return the final names of definitions: those of equal ones; else, if each is new or equal, the original ones."""
        alike = self._hoisted.setdefault(frozenset(found), [])
        known = next((names for one, names in alike if equal(one, found)), None)
        if known is not None:
            return known
        fits = self._taken.isdisjoint(found) and all(
            equal(self.schemas.get(name, result), result) for name, result in found.items()
        )
        names = {old: old if fits else self._free(old, found) for old in found}
        alike.append((found, names))
        return names

    def _free(self, old: str, found: dict[str, Json]) -> str:
        return free_name(old, lambda name: name in self._taken or name in self.schemas or (name != old and name in found))
