"""Make the objects of one union tell themselves apart.

OpenAI refuses objects that begin with the same key unless it discriminates; and two lists of which one stands for a map
could not be told apart when empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instrc.jsonvalue import Json, freeze
from instrc.targets.forms import Form, listed_values
from instrc.targets.names import unique

if TYPE_CHECKING:
    from instrc.targets.fit import Fitter


def untangle(fitter: Fitter, forms: list[Form]) -> None:
    """Box a map written as a list that stands beside another list, so that an empty one shows which it is."""
    lists = [form for form in forms if form.kind == "array"]
    if len(lists) < 2:
        return
    taken = {name for form in forms if form.kind == "object" for name in form.body.get("properties", {})}
    for form in lists:
        if form.codec is not None and form.codec["as"] == "pairs":
            key = unique("entries", taken, 60)
            box: dict[str, Any] = {"type": "object", "properties": {key: form.body}, "required": [key]}
            if fitter.dialect.closed:
                box["additionalProperties"] = False
            if "propertyOrdering" in fitter.dialect.keywords:
                box["propertyOrdering"] = [key]
            form.kind, form.body = "object", box
            form.codec = {"as": "box", "key": key, "codec": form.codec}


def told_apart(fitter: Fitter, forms: list[Form]) -> None:
    """Give objects of one union first keys that differ or discriminate."""
    for index, form in enumerate(forms):
        if form.kind == "ref" and form.codec is not None and form.codec["as"] == "ref":
            body = fitter.definitions.get(form.codec["name"])
            if isinstance(body, dict) and body.get("type") == "object":
                copy = {name: value for name, value in body.items() if name not in {"title", "description"}}
                forms[index] = Form(
                    "object",
                    copy,
                    fitter.codecs[form.codec["name"]],
                    form.notes,
                    form.text or body.get("description"),
                    form.title,
                    form.node,
                )
    objects = [form for form in forms if form.kind == "object" and form.body.get("properties")]
    for _ in objects:  # what is led by another key may meet objects that begin with it
        led = [group for group in _alike(objects) if _led(fitter, group)]
        if not led:
            break
    tag = unique("option", {name for form in objects for name in form.body["properties"]}, 64)
    labels: list[str] = []
    for number, form in enumerate([form for group in _alike(objects) for form in group], 1):
        label = unique(form.title or f"option_{number}", labels, 60)
        labels.append(label)
        _lead(form, tag, {"type": "string", "const": label})
        if form.codec is not None and form.codec["as"] == "box":
            form.codec = {**form.codec, "tag": {"key": tag, "value": label}}
        elif form.codec is None or form.codec["as"] == "object":
            form.codec = {"as": "object", "keys": {}, **(form.codec or {}), "tag": {"key": tag, "value": label}}
        else:  # a tuple: the tag belongs to the object it is written as
            item = form.codec.get("item") or {"as": "object", "keys": {}}
            form.codec = {**form.codec, "item": {**item, "tag": {"key": tag, "value": label}}}


def _alike(objects: list[Form]) -> list[list[Form]]:
    """Return the groups of objects that begin with one key which does not tell them apart."""
    groups: dict[str, list[Form]] = {}
    for form in objects:
        groups.setdefault(next(iter(form.body["properties"])), []).append(form)
    return [group for first, group in groups.items() if len(group) > 1 and not _discriminates(group, first)]


def _led(fitter: Fitter, group: list[Form]) -> bool:
    """Let the objects of a group begin with a key that tells them apart; `False` if they have none in common."""
    shared = [name for name in group[0].body["properties"] if all(name in form.body["properties"] for form in group[1:])]
    leader = next((name for name in shared if _discriminates(group, name)), None)
    if leader is None:
        return False
    for form in group:
        _lead(form, leader, form.body["properties"][leader])
        if isinstance(form.node, dict):
            fitter.lose(form.node, "properties", "annotation", f"begins with {leader!r}, which tells the alternatives apart")
    return True


def _discriminates(group: list[Form], name: str) -> bool:
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


def _lead(form: Form, name: str, schema: Json) -> None:
    """Put a property in front of the others."""
    body = dict(form.body)
    rest = {key: value for key, value in body["properties"].items() if key != name}
    body["properties"] = {name: schema, **rest}
    body["required"] = [name, *(key for key in body.get("required", ()) if key != name)]
    form.body = body
