"""Let the objects of one union begin with keys that differ, or tell them apart: OpenAI refuses others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from instrc.ir.codec import RefCodec
from instrc.jsontext import dumps
from instrc.jsonvalue import JsonObject, freeze, mapping
from instrc.lowering.context import Progress
from instrc.lowering.definitions import PayloadDefinitions
from instrc.lowering.tags import leading
from instrc.lowering.variants import Variant, listed_values
from instrc.schema.members import required_names


class Led(NamedTuple):
    """The variants of a union, each beginning with a key that differs or discriminates where it has one."""

    variants: list[Variant]
    alike: list[int]
    """Those that have none to begin with."""
    progress: Progress


def with_distinct_first_keys(variants: Sequence[Variant], progress: Progress) -> Led:
    """Let objects of one union begin with keys that differ or discriminate."""
    definitions = progress.definitions
    found = [_copied(variant, definitions) for variant in variants]
    objects = [number for number, variant in enumerate(found) if variant.kind == "object" and variant.body.get("properties")]
    for _ in objects:  # what is led by another key may meet objects that begin with it
        leaders = [(group, _leader([found[number] for number in group])) for group in _alike(found, objects)]
        leaders = [(group, leader) for group, leader in leaders if leader is not None]
        if not leaders:
            break
        for group, leader in leaders:
            for number in group:
                found[number], progress = _led(found[number], leader or "", progress)
    under_way = [number for number, variant in enumerate(found) if variant.kind == "ref" and definitions.under_way(variant)]
    if under_way:  # nobody knows yet with which key they will begin
        return Led(found, [*objects, *under_way] if len(under_way) > 1 else objects, progress)
    return Led(found, [number for group in _alike(found, objects) for number in group], progress)


def _copied(variant: Variant, definitions: PayloadDefinitions) -> Variant:
    """Return an object that is referred to as it is written out."""
    body = definitions.bodies.get(variant.codec.name) if variant.kind == "ref" and isinstance(variant.codec, RefCodec) else None
    if body is None or body.get("type") != "object" or not isinstance(variant.codec, RefCodec):
        return variant
    copy: JsonObject = {name: value for name, value in body.items() if name not in {"title", "description"}}
    name, text = variant.codec.name, body.get("description")
    text = variant.text or (text if isinstance(text, str) else None)
    return replace(variant, kind="object", body=copy, codec=definitions.codecs[name], text=text, definition=name)


def _alike(variants: Sequence[Variant], objects: Sequence[int]) -> list[list[int]]:
    """Return the groups of objects that begin with one key which does not tell them apart."""
    groups: dict[str, list[int]] = {}
    for number in objects:
        groups.setdefault(next(iter(mapping(variants[number].body["properties"]))), []).append(number)
    return [
        group
        for first, group in groups.items()
        if len(group) > 1 and not _discriminates([variants[number] for number in group], first)
    ]


def _leader(group: Sequence[Variant]) -> str | None:
    """Return a key that tells the objects of a group apart; `None` if they have none in common."""
    properties = [mapping(variant.body["properties"]) for variant in group]
    shared = [name for name in properties[0] if all(name in others for others in properties[1:])]
    return next((name for name in shared if _discriminates(group, name)), None)


def _led(variant: Variant, leader: str, progress: Progress) -> tuple[Variant, Progress]:
    """Let an object begin with one of its keys."""
    body = leading(variant.body, leader, mapping(variant.body["properties"])[leader])
    if isinstance(variant.node, dict):
        reason = f"begins with {dumps(leader, indent=False)}, which tells the alternatives apart"
        progress = progress.lose(variant.node, "properties", "annotation", reason)
    return replace(variant, body=body), progress


def _discriminates(group: Sequence[Variant], name: str) -> bool:
    """Say whether a property has constant values that differ in all objects of a group."""
    seen: set[Hashable] = set()
    for variant in group:
        schema = mapping(variant.body["properties"]).get(name)
        if not isinstance(schema, dict) or not schema.keys() & {"const", "enum"} or name not in required_names(variant.body):
            return False
        values = {freeze(value) for value in listed_values(schema)}
        if values & seen:
            return False
        seen |= values
    return True
