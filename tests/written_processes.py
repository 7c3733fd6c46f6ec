"""Processes written by hand, in few words: contexts of steps and blocks as `instrc compile` writes them."""

from __future__ import annotations

from typing import Any

from objects import an_object

from instrc import Reply, Request

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
DECISION = {"type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}, "required": ["decision"]}
LOOP = {
    "type": "object",
    "properties": {
        "_iteration": {"type": "integer", "maximum": 3},
        "text": {"type": "string"},
        "_continue": {"type": "boolean"},
    },
    "required": ["_iteration", "text", "_continue"],
}


def chunk(**steps: Any) -> dict[str, Any]:
    return {**an_object(**steps)}


def process(**contexts: Any) -> dict[str, Any]:
    return chunk(**contexts)


def step(schema: Any, *reads: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    made = {**schema, **({"references": list(reads)} if reads else {}), **more}
    return made if arguments is None else {**made, "arguments": arguments}


def call(activity: str, arguments: Any, schema: Any = TEXT, *reads: str, **more: Any) -> dict[str, Any]:
    return step(schema, *reads, arguments=arguments, activity=activity, **more)


def each(item: str, source: Any, body: dict[str, Any], *, most: int = 1000, **engine: Any) -> dict[str, Any]:
    return {"type": "array", "items": body, "maxItems": most, "each": {"item": item, "in": source, **engine}}


def repeat(body: dict[str, Any], *, until: Any = None, most: int = 3, **engine: Any) -> dict[str, Any]:
    said = {**({"until": until} if until else {}), **engine}
    return {"type": "array", "items": body, "minItems": 0 if "in" in engine else 1, "maxItems": most, "repeat": said}


def otherwise(body: dict[str, Any], of: str = "repeatContext1", **engine: Any) -> dict[str, Any]:
    return {"anyOf": [{**body, "else": {"of": of, **engine}}, {"type": "null"}]}


def when(*branches: tuple[Any, dict[str, Any], Any], key: str | None = None) -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    for index, (condition, body, value) in enumerate(branches):
        inside = chunk(branch={"const": index}, **body["properties"])
        made.append({**inside, "when": {**(condition or {}), **({} if value is None else {"value": value})}})
    if branches[-1][0] is not None:
        made.append({"type": "null"})
    return {"anyOf": made, "when": {} if key is None else {"key": key}}


def attempt(
    first: dict[str, Any], second: dict[str, Any], values: tuple[Any, Any] = (None, None), **engine: Any
) -> dict[str, Any]:
    branches = [
        {**chunk(branch={"const": index}, **body["properties"]), "try": {} if value is None else {"value": value}}
        for index, (body, value) in enumerate(zip((first, second), values, strict=True))
    ]
    return {"anyOf": branches, "try": engine}


def race(*bodies: tuple[dict[str, Any], Any], **engine: Any) -> dict[str, Any]:
    branches = [
        {**chunk(branch={"const": index}, **body["properties"]), "race": {"value": value}}
        for index, (body, value) in enumerate(bodies)
    ]
    return {"anyOf": branches, "race": engine}


def do(body: dict[str, Any], **engine: Any) -> dict[str, Any]:
    return {**body, "do": engine}


def is_(path: str, value: Any) -> dict[str, Any]:
    return {"path": path, "schema": {"const": value}}


ASK = process(
    userContext1=chunk(step1_confirm=step(DECISION, "prompt")), serverContext1=chunk(step2_send=call("Send", "step1_confirm"))
)
"""A person is asked, then something is sent."""


class HalfTold:
    """A model that tells a part of its answer before it gives the whole."""

    async def answer(self, request: Request) -> Reply:
        assert request.partial is not None
        request.partial({"_why": "so", "text": "De"}, ["_why"])
        return Reply({"text": "Dear"})
