"""Find slots of mixins that must be filled and are not: what stands there then is anything at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from instrc.ir.blocks import regions_of
from instrc.ir.fusion import Application, Fusion, Instruction, MixinGroup, StepObject, Unit
from instrc.ir.graph import Graph
from instrc.jsonvalue import Json, mapping
from instrc.problems.problem import Problem
from instrc.schema.members import required_names

_SAYS_NOTHING = frozenset({"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"})


def empty_slots(graph: Graph, schema_of: Callable[[Instruction], Json]) -> Iterator[Problem]:
    """Yield the required slots of mixins that a program leaves empty; `schema_of` gives the flat schema of an instruction."""
    for application in _applications(graph):
        schema = schema_of(application.mixin)
        for name in _slots(schema):
            filled = any(slot.name == name for slot in application.slots)
            if not filled and not any(_names(annotation, name) for annotation in application.annotations):
                from instrc.problems.schemas import EmptySlot  # only where there is one

                yield EmptySlot(at=application.span, word=name, mixin=application.mixin.name)


def _slots(schema: Json) -> list[str]:
    """Return the required properties of a mixin, `default` aside, that say nothing about what stands in them."""
    if not isinstance(schema, dict):
        return []
    properties, required = mapping(schema.get("properties")), required_names(schema)
    return [name for name, part in properties.items() if name in required and name != "default" and _is_open(part)]


def _is_open(schema: Json) -> bool:
    if not isinstance(schema, dict):
        return schema is True
    return schema.keys() - {"type"} <= _SAYS_NOTHING and schema.get("type", "object") == "object"


def _names(annotation: Json, name: str) -> bool:
    properties = annotation.get("properties") if isinstance(annotation, dict) else None
    return isinstance(properties, dict) and name in properties


def _applications(graph: Graph) -> Iterator[Application]:
    """Yield every use of a mixin in a graph, once each."""
    seen: set[int] = set()
    contents = [step.content for step in graph.compounds()]
    groups = _groups(graph.units)
    while contents or groups:
        found: tuple[Application, ...] = ()
        if groups:
            group = groups.pop()
            found = (group.application,)
            groups += _groups(group.members)
        else:
            match contents.pop():
                case Fusion(slots=slots, mixins=mixins):
                    contents.extend(slot.content for slot in slots)
                    found = mixins
                case StepObject(units=inner):
                    groups += _groups(inner)
                case block:
                    for region in regions_of(block):
                        groups += _groups(region.units)
        for application in found:
            if id(application) not in seen:
                seen.add(id(application))
                contents.extend(slot.content for slot in application.slots)
                yield application


def _groups(units: tuple[Unit, ...]) -> list[MixinGroup]:
    return [unit for unit in units if not isinstance(unit, int)]
