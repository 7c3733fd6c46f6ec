"""Judge a payload by the rules of its target, for the many targets that have no public engine.

Written from the facts of a `Dialect`, apart from the code that rewrites schemas, so that it finds the mistakes of that.
"""

from __future__ import annotations

from collections.abc import Iterator

from instrc.dialects.catalogue import dialect
from instrc.dialects.envelopes import schema_in
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, pointer
from instrc.lowering import budgets
from instrc.lowering.breach import Breach
from instrc.lowering.node_rules import TYPES, NodeRules, nodes, type_of
from instrc.lowering.spelling import standard
from instrc.schema.members import mapping

_SMOLAGENTS_TYPES = frozenset({*TYPES, "image", "audio", "any"})


def breaches(payload: Json, target: str | Dialect) -> list[Breach]:
    """Return the rules of a target that a payload breaks; an empty list says that none is known to be."""
    return list(_Judge(dialect(target), payload).breaches())


class _Judge:
    """One payload under judgement."""

    def __init__(self, dialect: Dialect, payload: Json) -> None:
        self.dialect = dialect
        self.payload = payload
        self.strict = True

    def breaches(self) -> Iterator[Breach]:
        """Yield what is wrong with the envelope, with the names, with the schema."""
        template = self.dialect.envelope
        if (
            self.dialect.plain is not None
            and not self._fits(template, self.payload)
            and self._fits(self.dialect.plain, self.payload)
        ):
            self.strict = False
            template = self.dialect.plain
        yield from self._envelope(template, self.payload, ())
        try:
            schema = schema_in(self.payload, self.dialect)
        except LookupError:
            return
        except ValueError:
            yield Breach("schema", pointer(self.dialect.where), "the text is no JSON")
            return
        if self.dialect.spelling.inputs:
            yield from self._inputs(schema)
            return
        rules = NodeRules(self.dialect, schema)
        yield from self._root(schema)
        for place, node, role in nodes(schema, self.dialect.where):
            yield from rules.node(place, node, role)
        if self.strict and isinstance(schema, dict):
            for over in budgets.exceeded(standard(schema, self.dialect.spelling), self.dialect, "schema"):
                yield Breach("budget", pointer(self.dialect.where), over.message)

    def _fits(self, template: Json, value: Json) -> bool:
        return not any(True for _ in self._envelope(template, value, ()))

    def _envelope(self, template: Json, value: Json, path: tuple[str | int, ...]) -> Iterator[Breach]:
        here = pointer(path)
        if template == "@name":
            if not isinstance(value, str) or not self.dialect.tool_name.allows(value):
                yield Breach("tool-name", here, f"{value!r} is no name for a tool")
        elif template == "@description":
            most = self.dialect.limits.description
            if not isinstance(value, str) or (most is not None and len(value) > most):
                yield Breach("description", here, "the description is no text or too long")
        elif template in ("@schema", "@schema-text", "@map", "@examples"):
            return
        elif isinstance(template, dict):
            if not isinstance(value, dict):
                yield Breach("envelope", here, "an object is expected")
                return
            left_out = ("@description", "@map", "@examples", {"dev.instrc/map": "@map"})
            optional = {key for key, item in template.items() if item in left_out}
            if not self.dialect.empty_schema:
                optional |= {key for key, item in template.items() if item == "@schema"}
            for key in template.keys() - value.keys() - optional:
                yield Breach("envelope", here, f"{key!r} is missing")
            for key in value.keys() - template.keys():
                yield Breach("envelope", here, f"{key!r} is not known")
            for key in template.keys() & value.keys():
                yield from self._envelope(template[key], value[key], (*path, key))
        elif template != value:
            yield Breach("envelope", here, f"{template!r} is expected")

    def _root(self, schema: Json) -> Iterator[Breach]:
        here = pointer(self.dialect.where)
        if self.dialect.root == "any":
            return
        if not isinstance(schema, dict) or type_of(schema) != "object":
            yield Breach("root", here, "the root must be an object")
        elif self.dialect.root == "plain" and schema.keys() & {"anyOf", "oneOf", "allOf"}:
            yield Breach("root", here, "no combinator may stand at the root")

    def _inputs(self, inputs: Json) -> Iterator[Breach]:
        """Judge the inputs of a smolagents tool."""
        for name, child in mapping(inputs).items():
            here = pointer((*self.dialect.where, name))
            if self.dialect.key is not None and not self.dialect.key.allows(name):
                yield Breach("key", here, f"{name!r} is no identifier")
            if not isinstance(child, dict) or not isinstance(child.get("description"), str) or not child["description"]:
                yield Breach("description", here, "an input needs a description")
                continue
            types = child.get("type")
            types = [types] if isinstance(types, str) else types
            if not isinstance(types, list) or not types or not set(types) <= _SMOLAGENTS_TYPES:
                yield Breach("type", here, f"{child.get('type')!r} is no type of an input")
            if child.get("nullable", True) is not True:
                yield Breach("nullable", here, "nullable is true or absent")
            for place, node, role in nodes(child, (*self.dialect.where, name)):
                if role or place != here:
                    yield from NodeRules(self.dialect, inputs).node(place, node, role)


__all__ = ["Breach", "breaches"]
