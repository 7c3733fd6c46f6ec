"""Let the objects of one union begin with keys that differ, or tell them apart: OpenAI refuses others."""

from __future__ import annotations

from typing import Any

from instrc.ir.codec import RefCodec
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze
from instrc.lowering.variants import Variant, listed_values
from instrc.lowering.walk import Walk


def led_apart(lowerer: Walk, forms: list[Variant]) -> list[Variant]:
    """Let objects of one union begin with keys that differ or discriminate; return those that have none to begin with."""
    for index, form in enumerate(forms):
        if form.kind == "ref" and isinstance(form.codec, RefCodec):
            body = lowerer.definitions.get(form.codec.name)
            if isinstance(body, dict) and body.get("type") == "object":
                copy = {name: value for name, value in body.items() if name not in {"title", "description"}}
                forms[index] = Variant(
                    "object",
                    copy,
                    lowerer.codecs[form.codec.name],
                    form.notes,
                    form.text or body.get("description"),
                    form.title,
                    form.codec.name,
                    form.node,
                )
    objects = [form for form in forms if form.kind == "object" and form.body.get("properties")]
    for _ in objects:  # what is led by another key may meet objects that begin with it
        led = [group for group in _alike(objects) if _led(lowerer, group)]
        if not led:
            break
    under_way = [form for form in forms if form.kind == "ref" and lowerer.under_way(form)]
    if under_way:  # nobody knows yet with which key they will begin
        return [*objects, *under_way] if len(under_way) > 1 else objects
    return [form for group in _alike(objects) for form in group]


def _alike(objects: list[Variant]) -> list[list[Variant]]:
    """Return the groups of objects that begin with one key which does not tell them apart."""
    groups: dict[str, list[Variant]] = {}
    for form in objects:
        groups.setdefault(next(iter(form.body["properties"])), []).append(form)
    return [group for first, group in groups.items() if len(group) > 1 and not _discriminates(group, first)]


def _led(lowerer: Walk, group: list[Variant]) -> bool:
    """Let the objects of a group begin with a key that tells them apart; `False` if they have none in common."""
    shared = [name for name in group[0].body["properties"] if all(name in form.body["properties"] for form in group[1:])]
    leader = next((name for name in shared if _discriminates(group, name)), None)
    if leader is None:
        return False
    for form in group:
        form.body = leading(form.body, leader, form.body["properties"][leader])
        if isinstance(form.node, dict):
            lowerer.lose(form.node, "properties", "annotation", f"begins with {leader!r}, which tells the alternatives apart")
    return True


def _discriminates(group: list[Variant], name: str) -> bool:
    """Say whether a property has constant values that differ in all objects of a group."""
    seen: set[Any] = set()
    for form in group:
        schema = form.body["properties"].get(name)
        if not isinstance(schema, dict) or not schema.keys() & {"const", "enum"} or name not in form.body.get("required", ()):
            return False
        values = {freeze(value) for value in listed_values(schema)}
        if values & seen:
            return False
        seen |= values
    return True


def leading(body: dict[str, Any], name: str, schema: Json) -> dict[str, Any]:
    """Return an object with a property in front of the others."""
    rest = {key: value for key, value in body["properties"].items() if key != name}
    result = {**body, "properties": {name: schema, **rest}}
    result["required"] = [name, *(key for key in body.get("required", ()) if key != name)]
    if "propertyOrdering" in result:
        result["propertyOrdering"] = list(result["properties"])
    return result
