"""What the blocks of a process give, as far as its own schemas say; anything where they do not."""

from __future__ import annotations

from collections.abc import Mapping

from instrc.ir.flow import Body, Do, Each, Repeat, Try, When
from instrc.ir.reads import Constant, Listed, Named, Read, Value
from instrc.jsonvalue import Json, JsonObject


def given_by(block: When | Each | Repeat | Try | Do, steps: Mapping[str, Json]) -> Json:
    """Return the schema of a block's value; `steps` are the schemas of all steps by key."""
    match block:
        case When(branches=branches):
            made = [_value(branch.body, steps) for branch in branches]
            return _one_of(made if branches[-1].condition is None else [*made, {"type": "null"}])
        case Try(body=body, otherwise=otherwise):
            return _one_of([_value(body, steps), _value(otherwise, steps)])
        case Each(body=body):
            return {"type": "array", "items": _value(body, steps)}
        case Repeat(body=body, source=source):
            return _value(body, steps) if source is None else {"type": "array", "items": _value(body, steps)}
        case Do(body=body):
            return _value(body, steps)


def _one_of(schemas: list[Json]) -> Json:
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    return {} if {} in distinct else distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _value(body: Body, steps: Mapping[str, Json]) -> Json:
    return {} if body.value is None else _schema(body.value, steps)


def _schema(value: Value, steps: Mapping[str, Json]) -> Json:
    match value:
        case Constant(constant):
            return {"const": constant}
        case Named(members):
            properties: JsonObject = {name: _schema(member, steps) for name, member in members.items()}
            return {"type": "object", "properties": properties, "required": list(properties)}
        case Listed():
            return {"type": "array"}
        case Read(segments):
            schema = steps.get(segments[0].name, {})
            for segment in segments[1:]:
                properties_of = schema.get("properties") if isinstance(schema, dict) else None
                schema = properties_of.get(segment.name, {}) if isinstance(properties_of, dict) else {}
            return schema
