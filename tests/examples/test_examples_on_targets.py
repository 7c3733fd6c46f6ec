"""Every tool of the examples goes to every target and back, and keeps what a reader of the payload relies on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from every_case import every_case
from jsonschema import Draft202012Validator
from judges import written_out

import instrc
from instrc.schema.samples import sample

ROOT = Path(__file__).parents[2] / "examples"
MAP = Draft202012Validator(json.loads((ROOT.parent / "schemas/meta/map.schema.json").read_text("utf-8")))
TOOLS: dict[str, Any] = {
    f"{path.relative_to(ROOT).parts[0]}/{path.name}": json.loads(path.read_text("utf-8"))
    for path in sorted(ROOT.rglob("expected/**/*.tool.json"))
}
CONSTRAINTS = {
    *("format", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "uniqueItems"),
    *("enum", "required", "additionalProperties", "minProperties", "maxProperties"),
}


class Trip(NamedTuple):
    """A tool that was lowered for a target."""

    schema: Any
    target: str
    name: str
    payload: Any
    map: Any
    losses: tuple[Any, ...]


def trip(schema: Any, target: str, name: str) -> Trip:
    lowered = instrc.lower(schema, target, name)
    return Trip(schema, target, name, lowered.payload, lowered.map, tuple(lowered.losses))


def objects(node: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a document, outermost first; Bedrock takes the schema of an output as a text."""
    if isinstance(node, str) and node.startswith("{"):
        node = json.loads(node)
    if isinstance(node, Mapping):
        yield node
    for held in node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ():
        yield from objects(held)


def declared(node: Any) -> list[list[str]]:
    """Return the names that each object of a schema declares, in their order."""
    return [list(each["properties"]) for each in objects(node) if isinstance(each.get("properties"), Mapping)]


def breaks_a_rule(tool: Trip) -> list[Any]:
    return list(instrc.verify(tool.payload, tool.target).breaches)


def changes_the_order(tool: Trip) -> list[Any]:
    """Return the objects whose names stand in another order than in the schema, though no loss tells of it."""
    if any(loss.kind == "order" for loss in tool.losses):
        return []
    sources = declared(tool.map["schema"])
    return [
        names
        for names in declared(tool.payload)
        if (same := [source for source in sources if set(source) == set(names)]) and names not in same
    ]


def loses_in_silence(tool: Trip) -> list[Any]:
    """Return the constraints of the schema that the payload does not have and no loss names."""

    def constraints(node: Any) -> Counter[str]:
        return Counter(word for each in objects(node) for word in each.keys() & CONSTRAINTS)

    lost = constraints(tool.map["schema"])
    lost.subtract(constraints(written_out(tool.payload)))
    told = {loss.keyword for loss in tool.losses}
    if tool.target == "smolagents":
        told |= {"required", "additionalProperties"}  # its inputs are all there are, and `nullable` where they may be left out
    return [word for word, count in lost.items() if count > 0 and word not in told]


def does_not_come_back(tool: Trip) -> list[Any]:
    value = sample(tool.schema)
    try:
        lifted = instrc.lift(instrc.encode(value, tool.map), tool.map)
    except instrc.InstrcError as error:
        return [error]
    return [] if (lifted.status, lifted.value) == ("ok", value) else [(lifted.status, value, lifted.value)]


def has_a_map_that_is_no_json(tool: Trip) -> list[Any]:
    return [] if json.loads(json.dumps(tool.map)) == tool.map else [tool.map]


def has_a_map_of_another_form(tool: Trip) -> list[Any]:
    return [error.message for error in MAP.iter_errors(tool.map)]


def has_an_illegal_name(tool: Trip) -> list[Any]:
    dialect = instrc.targets()[tool.target]
    sent = tool.map["tool"]["sent"]
    named = any(sent in each.values() for each in objects(tool.payload))
    names = [sent] if named and not dialect.tool_name.allows(sent) else []
    keys = tool.payload["inputs"] if tool.target == "smolagents" else [key for keys in declared(tool.payload) for key in keys]
    return names + [key for key in keys if dialect.key is not None and not dialect.key.allows(key)]


def differs_the_second_time(tool: Trip) -> list[Any]:
    again = trip(tool.schema, tool.target, tool.name)
    return [] if again == tool else [again]


def rewritten(node: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return a document with every object in it changed, the innermost first."""
    if isinstance(node, Mapping):
        return change({key: rewritten(held, change) for key, held in node.items()})
    return [rewritten(each, change) for each in node] if isinstance(node, list) else node


def backwards(payload: Any) -> Any:
    return rewritten(payload, lambda each: dict(reversed(each.items())))


def without(payload: Any, word: str) -> Any:
    return rewritten(payload, lambda each: {key: held for key, held in each.items() if key != word})


PLANTED: dict[Callable[[Trip], list[Any]], Callable[[Trip], Trip]] = {
    breaks_a_rule: lambda tool: tool._replace(payload=tool.payload | {"name": "not a name"}),
    changes_the_order: lambda tool: tool._replace(payload=backwards(tool.payload), losses=()),
    loses_in_silence: lambda tool: tool._replace(payload=without(tool.payload, "format"), losses=()),
    does_not_come_back: lambda tool: tool._replace(map=tool.map | {"schema": {"type": "string"}}),
    has_a_map_that_is_no_json: lambda tool: tool._replace(map=tool.map | {1: "a key of JSON is a text"}),
    has_a_map_of_another_form: lambda tool: tool._replace(map=tool.map | {"codec": {"as": "nothing"}}),
    has_an_illegal_name: lambda tool: tool._replace(map=tool.map | {"tool": {"sent": "a b"}}, payload={"name": "a b"}),
    differs_the_second_time: lambda tool: tool._replace(name=tool.name + "_"),
}
"""Each law, and a fault that it has to find."""


def test_there_are_examples() -> None:
    assert len(TOOLS) > 15


@every_case(("place", "target"), [*product(TOOLS, instrc.targets())][::3])
def test_an_example_on_a_target_keeps_every_law(place: str, target: str) -> None:
    keeps_every_law(place, target)


@pytest.mark.long
@every_case("target", instrc.targets())
@every_case("place", TOOLS)
def test_every_example_on_every_target_keeps_every_law(place: str, target: str) -> None:
    keeps_every_law(place, target)


def keeps_every_law(place: str, target: str) -> None:
    before = deepcopy(TOOLS[place])
    tool = trip(TOOLS[place], target, Path(place).name.split(".")[0])
    assert {law.__name__: law(tool) for law in PLANTED if law(tool)} == {}
    assert before == TOOLS[place], "the schema is not changed in place"


@every_case("law", PLANTED, ids=lambda law: law.__name__)
def test_a_law_finds_a_planted_fault(law: Callable[[Trip], list[Any]]) -> None:
    tool = trip(TOOLS["schedule-meeting/schedule_a_meeting.tool.json"], "openai", "schedule_a_meeting")
    assert law(tool) == []
    assert law(PLANTED[law](tool)) != []
