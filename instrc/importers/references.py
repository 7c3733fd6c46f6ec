"""The references of an imported schema: what leads nowhere inside it is left out, for nothing is fetched from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from instrc.importers.given import Given
from instrc.jsonvalue import Json, at
from instrc.schema.walk import Path, is_schema, walk


def settle_references(schema: Json, path: Path, given: Given) -> None:
    """Let each reference of a schema fresh from `mend`, which is nobody else's, lead to a part of it, or take it out."""
    if schema.__class__ is not dict:
        return
    nodes = [(step, node) for step, node in walk(schema) if node.__class__ is dict]
    if any("$id" in node for step, node in nodes if step):
        return  # documents within documents: the check of the finished vibe judges them
    identity = schema.pop("$id", None)
    anchors = {
        node[keyword] for _, node in nodes for keyword in ("$anchor", "$dynamicAnchor") if node.get(keyword).__class__ is str
    }
    for step, node in nodes:
        written = node.get("$ref")
        if written.__class__ is not str:
            continue
        local = written.removeprefix(identity) or "#" if identity.__class__ is str and identity else written
        reason = _fault(local, schema, anchors)
        if reason is None:
            node["$ref"] = local
        else:
            given.left_out((*path, *step, "$ref"), written, reason)
            del node["$ref"]


def _fault(reference: str, schema: Json, anchors: set[str]) -> str | None:
    """Return why a reference is not kept."""
    if not reference.startswith("#"):
        return "nothing is fetched from elsewhere"
    fragment = unquote(reference[1:])
    if not fragment:
        return None
    if not fragment.startswith("/"):
        return None if fragment in anchors else "it leads nowhere"
    try:
        return None if is_schema(at(schema, fragment)) else "it leads to no schema"
    except (LookupError, ValueError):
        return "it leads nowhere"


def embedded(schema: dict[str, Json], place: str, taken: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return a schema as a part of another, and the definitions it brings along under names that are not taken.

    `place` is the JSON Pointer at which it will stand.  The schema is our own, fresh from `mend`, and changed in place.
    """
    definitions = schema.pop("$defs", {})
    names: dict[str, str] = {}
    for name in definitions:
        free, count = name, 2
        while free in taken or free in names.values():
            free, count = f"{name}_{count}", count + 1
        names[name] = free
    for root in (schema, *definitions.values()):
        for _, node in walk(root):
            written = node.get("$ref") if node.__class__ is dict else None
            if written.__class__ is str and (written == "#" or written.startswith("#/")):
                node["$ref"] = _moved(written[1:], place, names)
    return schema, {names[name]: definition for name, definition in definitions.items()}


def _moved(fragment: str, place: str, names: Mapping[str, str]) -> str:
    head, _, rest = fragment.removeprefix("/$defs/").partition("/") if fragment.startswith("/$defs/") else ("", "", "")
    name = unquote(head).replace("~1", "/").replace("~0", "~")
    if name in names:
        escaped = names[name].replace("~", "~0").replace("/", "~1")
        return f"#/$defs/{escaped}" + (f"/{rest}" if rest else "")
    return f"#{place}{fragment}"
