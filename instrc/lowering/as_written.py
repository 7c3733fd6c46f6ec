"""Name what is lost as it was written: flattening says some things in other words, and some contradictions as `false`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from instrc.jsonvalue import Json, at, pointer
from instrc.limits.payloads import LOSSES_LOOKED_FOR, USUAL_POINTER
from instrc.lowering.losses import Loss, constraints, mentions
from instrc.problems.problem import CompileError
from instrc.schema.maybe_impossible import is_written_false

if TYPE_CHECKING:
    from instrc.flattening.provenance import Flat

_FLAT_FOR = {"unevaluatedProperties": "additionalProperties", "unevaluatedItems": "items"}
"""What flattening turns keywords into: a loss of the one is a loss of the other."""

_WHOLE = frozenset({"false", "schema"})
"""What a loss names that is about a schema and not about one of its keywords."""


def losses_as_written(
    losses: tuple[Loss, ...], flat: Json, schema: Json, documents: Mapping[str, Json] | None
) -> tuple[Loss, ...]:
    """Return losses with the keywords of the schema as it was written beside those of the flat one."""
    told = losses if flat is schema else _with_what_was_written(losses, flat, schema, documents)
    return tuple([loss for loss in told if loss.kind != "contradiction" or not _was_forbidden(loss, schema)])


def _was_forbidden(loss: Loss, schema: Json) -> bool:
    """Say whether a property is left out that its author has forbidden."""
    try:
        written = at(schema, loss.pointer)
    except (LookupError, ValueError, TypeError):
        written = loss.value
    return is_written_false(written)


def _with_what_was_written(
    losses: tuple[Loss, ...], flat: Json, schema: Json, documents: Mapping[str, Json] | None
) -> tuple[Loss, ...]:
    more = [*_formerly(losses, schema)]
    if any(loss.value is False and loss.keyword != "strict" for loss in losses):
        more += _contradictory(losses, flat, schema, documents)
    known = {_key(loss) for loss in losses}
    return (*losses, *{_key(loss): loss for loss in more if _key(loss) not in known}.values()) if more else losses


def _key(loss: Loss) -> tuple[str, str, str]:
    return loss.pointer, loss.keyword, "unenforced" if loss.kind == "part" else loss.kind


def _formerly(losses: tuple[Loss, ...], schema: Json) -> Iterator[Loss]:
    lost = {loss.keyword for loss in losses}
    for keyword, flat in _FLAT_FOR.items():
        if flat in lost and mentions(schema, keyword):
            for loss in losses:
                if loss.keyword == flat:
                    yield replace(loss, keyword=keyword, kind="part" if loss.kind == "unenforced" else loss.kind)


def _contradictory(losses: tuple[Loss, ...], flat: Json, schema: Json, documents: Mapping[str, Json] | None) -> Iterator[Loss]:
    """Yield the parts of contradictions: which of them an answer breaks cannot be told beforehand.

    Of a schema with very many contradictions, each of many or very deep parts, the last ones are told without theirs.
    """
    from instrc.flattening.flatten import flatten

    traced: Flat | None = None
    looked_at = 0
    for loss in losses:
        if loss.value is not False or loss.keyword == "strict":
            continue
        place = loss.pointer if loss.keyword in _WHOLE else loss.pointer + pointer((loss.keyword,))
        if place and _value_at(schema, place) is False and _value_at(flat, place) is False:
            continue
        if traced is None:
            try:
                traced = flatten(schema, documents, trace=True)
            except CompileError:  # it was flattened before: only the trace of a very deep one is too long
                return
        looked_at += len(traced.origins.get(_nearest(traced, place), ()))
        if looked_at > LOSSES_LOOKED_FOR:
            return
        for here, found in _origins(traced, place, schema, documents):
            for part, keyword, value in _with_what_it_refers_to(here, found, schema):
                looked_at += 1 + len(part) // USUAL_POINTER
                if looked_at > LOSSES_LOOKED_FOR:
                    return
                yield Loss(part, keyword, value, "part", "is part of a contradiction")


def _with_what_it_refers_to(place: str, schema: Json, root: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield the constraints of a schema and of the schemas it leads to; all of the document where a reference is no pointer."""
    from urllib.parse import unquote

    pending, seen = [(place, schema)], {place}
    while pending:
        here, found = pending.pop()
        for below, keyword, value in constraints(found, falsity=True):
            yield here + below, keyword, value
            if keyword in {"$ref", "$dynamicRef"} and isinstance(value, str):
                target = unquote(value.removeprefix("#"))
                target_and_part = (target, part) if (part := _value_at(root, target)) is not None else ("", root)
                if target_and_part[0] not in seen:
                    seen.add(target_and_part[0])
                    pending.append(target_and_part)


def _origins(traced: Flat, place: str, schema: Json, documents: Mapping[str, Json] | None) -> Iterable[tuple[str, Json]]:
    """Return the schemas, with their places, that came together in a place of the flat schema; all of it if nobody knows."""
    if not place:
        return [("", schema)]
    inside = _nearest(traced, place)
    below = place.removeprefix(inside)
    found = [
        (origin.pointer, _value_at((documents or {}).get(origin.uri) if origin.uri else schema, origin.pointer))
        for origin in traced.origins.get(inside, ())
    ]
    exact = [(here + below, part) for here, whole in found if (part := _value_at(whole, below)) is not None]
    return exact or [(here, whole) for here, whole in found if whole is not None] or [("", schema)]


def _nearest(traced: Flat, place: str) -> str:
    """Return the innermost place around one of which the origins are known."""
    while place and not traced.origins.get(place):
        place, _, _ = place.rpartition("/")
    return place


def _value_at(schema: Json, place: str) -> Json:
    """Return what stands in a place; `None` if nothing does."""
    try:
        return at(schema, place)
    except (LookupError, ValueError, TypeError):
        return None
