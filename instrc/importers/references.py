"""The references of an imported schema: what leads nowhere inside it is left out, for nothing is fetched from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from instrc.importers.given import Given
from instrc.jsonvalue import Json, Location, as_object
from instrc.naming import free_name
from instrc.problems.problem import CompileError
from instrc.problems.vibes import ForbiddenReference
from instrc.schema.store import SchemaStore
from instrc.schema.walk import subschemas, walk

_REFERENCES = ("$ref", "$dynamicRef")


def localize_references(schema: Json, path: Location, given: Given) -> None:
    """Make each reference of a schema lead to a part of it, or take it out, in place: the schema is a copy of our own."""
    if schema.__class__ is not dict:
        return
    identity = schema.pop("$id", None)
    nodes = [(step, node) for step, node in walk(schema) if node.__class__ is dict]
    if not any(keyword in node for _, node in nodes for keyword in _REFERENCES):
        return
    if identity.__class__ is str and identity:
        for _, node in nodes:
            reference = node.get("$ref")
            if isinstance(reference, str) and reference.startswith(identity):
                node["$ref"] = reference.removeprefix(identity) or "#"
    store = SchemaStore(nullable=True)
    scope = store.add("aug:imported", schema)
    targets: dict[int, dict[str, Json]] = {}
    for step, node, within in store.walk(schema, scope):
        for keyword in _REFERENCES:
            if node.get(keyword).__class__ is not str:
                continue
            try:
                target = store.target(keyword, node, within).node
            except CompileError as error:
                outside = any(isinstance(problem, ForbiddenReference) for problem in error.problems)
                reason = "nothing is fetched from elsewhere" if outside else "it leads nowhere"
                given.left_out((*path, *step, keyword), node.pop(keyword), reason)
            else:
                targets.setdefault(id(node), {})[keyword] = target
    _open_circles(nodes, targets, path, given)


def _open_circles(
    nodes: list[tuple[Location, dict[str, Json]]], targets: dict[int, dict[str, Json]], path: Location, given: Given
) -> None:
    """Take out the references by which a schema would stand for itself, with no property in between."""
    places = {id(node): step for step, node in nodes}
    done: set[int] = set()
    for _, start in nodes:
        on_way: list[dict[str, Json]] = []
        stack: list[tuple[dict[str, Json], bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                done.add(id(on_way.pop()))
                continue
            if id(node) in done:
                continue
            on_way.append(node)
            stack.append((node, True))
            for keyword, target in targets.get(id(node), {}).items():
                if any(target is before for before in on_way):
                    written = node.pop(keyword)
                    given.left_out((*path, *places.get(id(node), ()), keyword), written, "it leads back to itself")
                elif target.__class__ is dict:
                    stack.append((target, False))
            branches = node.get("allOf")
            stack += [(branch, False) for branch in branches if branch.__class__ is dict] if branches.__class__ is list else []


def embedded(schema: dict[str, Json], place: str, taken: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return a schema as a part of another, and the definitions it brings along under names that are not taken.

    `place` is the JSON Pointer at which it will stand.  The schema is our own, fresh from `normalized`, and changed in place.
    """
    definitions = as_object(schema.pop("$defs", {}))
    names: dict[str, str] = {}
    for name in definitions:
        names[name] = free_name(name, lambda free: free in taken or free in names.values())
    stack: list[Json] = [schema, *definitions.values()]
    while stack:
        node = stack.pop()
        if node.__class__ is not dict or "$id" in node:
            continue  # within a document of its own, references are about that
        written = node.get("$ref")
        if written.__class__ is str and (written == "#" or written.startswith("#/")):
            node["$ref"] = _redirect(written[1:], place, names)
        stack += [child for _, child in subschemas(node)]
    return schema, {names[name]: definition for name, definition in definitions.items()}


def _redirect(fragment: str, place: str, names: Mapping[str, str]) -> str:
    head, _, rest = fragment.removeprefix("/$defs/").partition("/") if fragment.startswith("/$defs/") else ("", "", "")
    name = unquote(head).replace("~1", "/").replace("~0", "~")
    if name in names:
        escaped = names[name].replace("~", "~0").replace("/", "~1")
        return f"#/$defs/{escaped}" + (f"/{rest}" if rest else "")
    return f"#{place}{fragment}"
