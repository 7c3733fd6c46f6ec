"""Judge a payload by the rules of its target, for the many targets that have no public engine.

Written from the facts of a `Dialect`, apart from the code that rewrites schemas, so that it finds the mistakes of that.
"""

from __future__ import annotations

from collections.abc import Iterator

from instrc.dialects.catalogue import dialect
from instrc.dialects.envelopes import schema_in
from instrc.ir.dialect import Dialect
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, Location, listing, mapping, pointer
from instrc.lowering import budgets
from instrc.lowering.node_rules import Breach, NodeRules, payload_schemas, type_of
from instrc.lowering.spelling import standard


def breaches(payload: Json, target: str | Dialect) -> list[Breach]:
    """Return the rules of a target that a payload breaks; an empty list says that none is known to be."""
    rules = dialect(target)
    strict = _is_strict(rules, payload)
    template = rules.envelope if strict else rules.plain
    return [*_of_envelope(rules, template, payload, ()), *_of_schema(rules, payload, strict=strict)]


def _is_strict(dialect: Dialect, payload: Json) -> bool:
    """Say whether a payload is to be judged as a strict one: unless only the envelope without strictness fits it."""
    if dialect.plain is None or not any(_of_envelope(dialect, dialect.envelope, payload, ())):
        return True
    return any(_of_envelope(dialect, dialect.plain, payload, ()))


def _of_schema(dialect: Dialect, payload: Json, *, strict: bool) -> Iterator[Breach]:
    """Yield what is wrong with the schema in a payload."""
    here = pointer(dialect.where)
    try:
        schema = schema_in(payload, dialect)
    except LookupError:
        return
    except ValueError:
        yield Breach("schema", here, "the text is not JSON")
        return
    if not dialect.rooted:
        yield from _of_inputs(dialect, schema)
        return
    rules = NodeRules(dialect, schema)
    yield from _of_root(dialect, schema)
    for place, node, role in payload_schemas(schema, dialect.where):
        yield from rules.node(place, node, role)
    if strict and isinstance(schema, dict):
        for over in budgets.exceeded(standard(schema, dialect.spelling), dialect, "schema"):
            yield Breach("budget", here, over.message)


def _of_envelope(dialect: Dialect, template: Json, value: Json, path: Location) -> Iterator[Breach]:
    """Yield what is wrong with a part of a payload by the part of the envelope that it should fill."""
    here = pointer(path)
    if template == "@name":
        if not isinstance(value, str) or not dialect.tool_name.allows(value):
            yield Breach("tool-name", here, f"{dumps(value, indent=False)} is not a name for a tool")
    elif template == "@description":
        most = dialect.limits.description
        if not isinstance(value, str) or (most is not None and len(value) > most):
            yield Breach("description", here, "the description is too long or not a text")
    elif template in ("@schema", "@schema-text", "@map", "@examples"):
        return
    elif isinstance(template, dict):
        if not isinstance(value, dict):
            yield Breach("envelope", here, "an object is expected")
            return
        optional = {key for key, item in template.items() if _may_be_left_out(item)}
        if not dialect.empty_schema:
            optional |= {key for key, item in template.items() if item == "@schema"}
        for key in template.keys() - value.keys() - optional:
            yield Breach("envelope", here, f"{dumps(key, indent=False)} is missing")
        for key in value.keys() - template.keys():
            yield Breach("envelope", here, f"{dumps(key, indent=False)} is not known")
        for key in template.keys() & value.keys():
            yield from _of_envelope(dialect, template[key], value[key], (*path, key))
    elif template != value:
        yield Breach("envelope", here, f"{dumps(template, indent=False)} is expected")


def _may_be_left_out(template: Json) -> bool:
    """Say whether a part of an envelope has nothing to say for some tools."""
    if isinstance(template, dict):
        return bool(template) and all(map(_may_be_left_out, template.values()))
    return template in ("@description", "@map", "@examples")


def _of_root(dialect: Dialect, schema: Json) -> Iterator[Breach]:
    here = pointer(dialect.where)
    if dialect.root == "any":
        return
    if not isinstance(schema, dict) or type_of(schema) != "object":
        yield Breach("root", here, "the root must be an object")
    elif dialect.root == "plain" and schema.keys() & {"anyOf", "oneOf", "allOf"}:
        yield Breach("root", here, "no combinator may stand at the root")


def _of_inputs(dialect: Dialect, inputs: Json) -> Iterator[Breach]:
    """Judge the properties of a root, where they stand for the schema."""
    rules = NodeRules(dialect, inputs)
    for name, child in mapping(inputs).items():
        here = pointer((*dialect.where, name))
        if dialect.key is not None and not dialect.key.allows(name):
            yield Breach("key", here, f"{dumps(name, indent=False)} is not an identifier")
        if not isinstance(child, dict) or not isinstance(child.get("description"), str) or not child["description"]:
            yield Breach("description", here, "an input needs a description")
            continue
        types = child.get("type")
        named: list[Json] = [types] if isinstance(types, str) else listing(types)
        if not named or not all(isinstance(each, str) and each in dialect.spelling.inputs for each in named):
            yield Breach("type", here, f"{dumps(types, indent=False)} is not a type of an input")
        if child.get("nullable", True) is not True:
            yield Breach("nullable", here, "nullable is true or absent")
        for place, node, role in payload_schemas(child, (*dialect.where, name)):
            if role or place != here:
                yield from rules.node(place, node, role)


__all__ = ["Breach", "breaches"]
