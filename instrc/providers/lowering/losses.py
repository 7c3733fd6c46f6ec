"""The losses of a lowering, with the places where the lost keywords were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, assert_never

from msgspec.structs import replace

from instrc.problems.errors import CompileError
from instrc.providers.lowering.context import (
    Built,
    Contradicted,
    Derived,
    LedgerEntry,
    Loss,
    LossKind,
    Lost,
    LostAll,
    constraints,
    mentions,
    target_of,
)
from instrc.providers.lowering.uniform_plans import branches_of, is_output_reference, tool_name_of
from instrc.schema.impossible import is_written_false
from instrc.schema.vocabulary import HOLDERS, KEYWORDS, MANY, NAMED, NO_ASSERTIONS, ONE
from instrc.schema.walk import subschemas, walk
from instrc.text.jsonvalue import Json, JsonObject, Location, at_or, pointer, tokens

if TYPE_CHECKING:
    from instrc.schema.flattening.provenance import Flat


def losses(root: Json, entries: Sequence[LedgerEntry]) -> list[Loss]:
    """Return the losses in the order of their recording, without duplicates."""
    if not entries:
        return []
    table = _LossTable(root, [entry for entry in entries if entry.__class__ is Derived])
    for entry in entries:
        match entry:
            case Lost():
                table.lose(entry.node, entry.keyword, entry.kind, entry.reason, parts=entry.parts)
            case LostAll():
                place = table.places.of(entry.of, str(entry.below[0])) + pointer(entry.below) if entry.below else ""
                table.lose_all(entry.node, entry.reason, entry.kind, place)
            case Contradicted():
                table.contradict(entry.node, entry.name, entry.schema)
            case Derived():
                pass
            case _:
                assert_never(entry)
    return list(table.losses.values())


_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "additionalItems"})
"""Keywords that, if `false`, are reported as violated instead of the `false` inside."""
TOLD_LOSSES: Final = 400
"""Maximum schema objects whose constraints are reported one by one when a whole schema is lost."""
LOSSES_LOOKED_FOR: Final = 20_000
"""Maximum schema objects examined for all losses of one lowering; beyond it a lost schema is reported as a whole."""


class _LossTable:
    """The losses of one lowering, computed from its ledger."""

    def __init__(self, root: Json, derived: Sequence[Derived]) -> None:
        self.root = root
        self.places = _Places(root, derived)
        self.losses: dict[tuple[str, str, LossKind], Loss] = {}
        self._told: dict[LossKind, set[int]] = {}
        self._looked_at = 0
        self._invented = {id(entry.new) for entry in derived if entry.invented}

    def lose(self, node: Json, keyword: str, kind: LossKind, reason: str, *, parts: bool = True) -> None:
        """Record the loss of a keyword and its contents; a generated object's `additionalProperties` is not a loss."""
        if keyword in _CLOSING and id(node) in self._invented and kind == "unenforced":
            return
        value = node.get(keyword) if isinstance(node, dict) else node
        place = self.places.of(node, keyword)
        loss = (place, keyword, kind)
        if loss not in self.losses:
            self.losses[loss] = Loss(place, keyword, value, kind, reason)
            if kind == "unenforced" and parts and keyword in HOLDERS:
                self._lose_parts(keyword, value, place)

    def contradict(self, node: Json, name: str, schema: Json) -> None:
        """Record that a property is left out because no value satisfies its schema."""
        place = self.places.of(node, "properties") + pointer(("properties", name))
        reason = "no value satisfies it, so the property is left out"
        self.losses.setdefault((place, "schema", "contradiction"), Loss(place, "schema", schema, "contradiction", reason))

    def _lose_parts(self, keyword: str, value: Json, place: str) -> None:
        """Record the contents of a lost keyword that answers may violate."""
        parts: Iterable[tuple[Location, Json]]
        if keyword in ONE:
            parts = [((keyword,), value)] if value is not False or keyword not in _CLOSING else []
        elif keyword in MANY and isinstance(value, list):
            parts = (((keyword, index), part) for index, part in enumerate(value))
        elif keyword in NAMED and keyword != "properties" and isinstance(value, dict):
            parts = (((keyword, name), part) for name, part in value.items())
        else:
            return
        for path, part in parts:
            self.lose_all(part, f"is part of {keyword}", "part", place + pointer(path))

    def lose_all(self, node: Json, reason: str, kind: LossKind, place: str) -> None:
        """Record every constraint of a schema and of its references; `place` locates a schema that is `false`."""
        reported = self._told.setdefault(kind, set())
        stack: list[tuple[Json, str]] = [(node, place)]
        seen: set[int] = set()
        while stack:
            here, place = stack.pop()
            if here is False and (place, "false", kind) not in self.losses:
                self.losses[place, "false", kind] = Loss(place, "false", False, kind, reason)  # noqa: FBT003  -- the schema
            if not isinstance(here, dict) or id(here) in seen or id(here) in reported:
                continue
            seen.add(id(here))
            self._looked_at += 1
            if len(seen) > TOLD_LOSSES or self._looked_at > LOSSES_LOOKED_FOR:
                self.lose(here, "schema", kind, f"{reason}, with all that is below it", parts=False)
                return
            for keyword in here:
                if keyword not in NO_ASSERTIONS and keyword in KEYWORDS:
                    self.lose(here, keyword, kind, reason, parts=False)
            stack += self._below(here)
        reported |= seen  # including their subschemas, which need not be visited again

    def _below(self, node: JsonObject) -> Iterable[tuple[Json, str]]:
        """Yield the schemas that a schema contains or refers to, with the places of `false` ones."""
        if "$ref" in node:
            yield target_of(self.root, node["$ref"]), str(node["$ref"]).removeprefix("#")
        for path, child in subschemas(node):
            if child is False and path[0] not in _CLOSING:
                yield child, self.places.of(node, str(path[0])) + pointer(path)
            elif isinstance(child, dict) and path[0] not in {"$defs", "definitions"}:
                yield child, ""


PathChain: TypeAlias = "tuple[PathChain, Location] | None"
"""A path as a linked list from its last segments to its first, since few paths are ever written out."""
LOSS_SOURCES: Final = 200
"""Maximum schemas searched for the origin of a lost keyword; beyond it the root is reported."""


class _Places:
    """The places of schemas, including those of derived ones."""

    def __init__(self, root: Json, derived: Sequence[Derived]) -> None:
        self._root = root
        self._written: Mapping[int, PathChain] | None = None
        self._pointers: dict[int, str] = {}
        self._derived = {id(entry.new): entry for entry in reversed(derived)}

    def of(self, node: Json, keyword: str) -> str:
        """Return the pointer of the schema that a node's keyword comes from."""
        if node is self._root:
            return ""
        if (known := self._pointers.get(id(node))) is not None:
            return known
        if self._written is None:
            self._written = places(self._root)
        if (path := self._written.get(id(node))) is not None:
            self._pointers[id(node)] = result = pointer_of(path)
            return result
        pending = [node]
        for _ in range(LOSS_SOURCES):
            if not pending:
                break
            here = id(pending.pop())
            if here in self._written:
                self._pointers[here] = result = pointer_of(self._written[here])
                return result
            if (derived := self._derived.get(here)) is not None:
                sources = [source for source in derived.sources if isinstance(source, dict)]
                sources.sort(key=lambda source: keyword in source)
                pending.extend(sources)
        return ""


USUAL_POINTER: Final = 500
"""Length of a JSON Pointer that counts as one loss; longer ones count as several, since they grow quadratically with depth."""


def pointer_of(path: PathChain) -> str:
    """Return the JSON Pointer of a path chain."""
    if path is not None and path[0] is None:
        return pointer(path[1])
    steps: list[Location] = []
    while path is not None:
        path, node = path
        steps.append(node)
    return pointer(chain.from_iterable(reversed(steps)))


def places(root: Json) -> dict[int, PathChain]:
    """Return the paths of all schema objects of a document by identity; the first one for a shared object."""
    result: dict[int, PathChain] = {}
    stack: list[tuple[Json, PathChain]] = [(root, None)]
    while stack:
        node, here = stack.pop()
        if node.__class__ is not dict or id(node) in result:
            continue
        result[id(node)] = here
        for keyword, value in node.items():
            if keyword not in HOLDERS:
                continue
            if value.__class__ is dict and keyword in NAMED:
                stack += [(child, (here, (keyword, name))) for name, child in value.items()]
            elif value.__class__ is list and keyword in MANY:
                stack += [(child, (here, (keyword, index))) for index, child in enumerate(value)]
            else:
                stack.append((value, (here, (keyword,))))
    return result


def place_of(root: Json, entries: Sequence[LedgerEntry], node: Json, keyword: str) -> str:
    """Return the pointer of the schema that a node's keyword comes from."""
    return _Places(root, [entry for entry in entries if entry.__class__ is Derived]).of(node, keyword)


_FLAT_FOR = {"unevaluatedProperties": "additionalProperties", "unevaluatedItems": "items"}
"""Keywords with their flattened form: a loss of one is a loss of the other."""
_WHOLE = frozenset({"false", "schema"})
"""Stand-ins for a keyword in losses of whole schemas."""


def losses_as_written(
    losses: tuple[Loss, ...], flat: Json, schema: Json, documents: Mapping[str, Json] | None
) -> tuple[Loss, ...]:
    """Return losses in terms of the schema as written instead of the flat one."""
    reported = losses if flat is schema else _with_what_was_written(losses, flat, schema, documents)
    return tuple([loss for loss in reported if loss.kind != "contradiction" or not _was_forbidden(loss, schema)])


def _with_what_was_written(
    losses: tuple[Loss, ...], flat: Json, schema: Json, documents: Mapping[str, Json] | None
) -> tuple[Loss, ...]:
    more = [*_formerly(losses, schema)]
    if any(loss.value is False and loss.keyword != "strict" for loss in losses):
        more += _contradictory(losses, flat, schema, documents)
    known = {_key(loss) for loss in losses}
    return (*losses, *{_key(loss): loss for loss in more if _key(loss) not in known}.values()) if more else losses


def _formerly(losses: tuple[Loss, ...], schema: Json) -> Iterator[Loss]:
    lost = {loss.keyword for loss in losses}
    for keyword, flat in _FLAT_FOR.items():
        if flat in lost and mentions(schema, keyword):
            for loss in losses:
                if loss.keyword == flat:
                    yield replace(loss, keyword=keyword, kind="part" if loss.kind == "unenforced" else loss.kind)


def _contradictory(losses: tuple[Loss, ...], flat: Json, schema: Json, documents: Mapping[str, Json] | None) -> Iterator[Loss]:
    """Yield the parts of contradictions: which of them an answer violates is not known in advance.

    For a schema with very many contradictions, or very large ones, the last are reported without their parts.
    """
    from instrc.schema.flattening.flatten import flatten

    traced: Flat | None = None
    looked_at = 0
    for loss in losses:
        if loss.value is not False or loss.keyword == "strict":
            continue
        place = loss.pointer if loss.keyword in _WHOLE else loss.pointer + pointer((loss.keyword,))
        if place and at_or(schema, place) is False and at_or(flat, place) is False:
            continue
        if traced is None:
            try:
                traced = flatten(schema, documents, trace=True)
            except CompileError:  # it was flattened before: only the trace of a very deep one is too long
                return
        looked_at += len(traced.origins.get(_nearest(traced, place), ()))
        if looked_at > LOSSES_LOOKED_FOR:
            return
        for node, result in _origins(traced, place, schema, documents):
            for part, keyword, value in _with_what_it_refers_to(node, result, schema):
                looked_at += 1 + len(part) // USUAL_POINTER
                if looked_at > LOSSES_LOOKED_FOR:
                    return
                yield Loss(part, keyword, value, "part", "is part of a contradiction")


def _nearest(traced: Flat, place: str) -> str:
    """Return the innermost enclosing place with known origins."""
    while place and not traced.origins.get(place):
        place, _, _ = place.rpartition("/")
    return place


def _origins(traced: Flat, place: str, schema: Json, documents: Mapping[str, Json] | None) -> Iterable[tuple[str, Json]]:
    """Return the schemas, with their places, that were merged at a place of the flat schema; otherwise the whole schema."""
    if not place:
        return [("", schema)]
    inside = _nearest(traced, place)
    below = place.removeprefix(inside)
    result = [
        (origin.pointer, at_or((documents or {}).get(origin.uri) if origin.uri else schema, origin.pointer))
        for origin in traced.origins.get(inside, ())
    ]
    exact = [(node + below, part) for node, whole in result if (part := at_or(whole, below)) is not None]
    return exact or [(node, whole) for node, whole in result if whole is not None] or [("", schema)]


def _with_what_it_refers_to(place: str, schema: Json, root: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield the constraints of a schema and of those it refers to; of the whole document if a reference is not a pointer."""
    from urllib.parse import unquote

    pending, seen = [(place, schema)], {place}
    while pending:
        node, result = pending.pop()
        for below, keyword, value in constraints(result, falsity=True):
            yield node + below, keyword, value
            if keyword in {"$ref", "$dynamicRef"} and isinstance(value, str):
                target = unquote(value.removeprefix("#"))
                target_and_part = (target, part) if (part := at_or(root, target)) is not None else ("", root)
                if target_and_part[0] not in seen:
                    seen.add(target_and_part[0])
                    pending.append(target_and_part)


def _key(loss: Loss) -> tuple[str, str, str]:
    return loss.pointer, loss.keyword, "unenforced" if loss.kind == "part" else loss.kind


def _was_forbidden(loss: Loss, schema: Json) -> bool:
    """Return whether an omitted property was forbidden by its author."""
    return is_written_false(at_or(schema, loss.pointer, loss.value))


class Account(NamedTuple):
    """Everything from which the losses of a lowering are computed."""

    own: str
    """Name of the tool."""
    sent: str
    """Name under which it is sent."""
    written: Json
    """Schema in JSON Schema 2020-12."""
    flat: Json
    built: Built
    unread: tuple[Loss, ...]
    """Losses of normalization: keywords that were not read as written."""
    of_examples: tuple[Loss, ...]
    documents: Mapping[str, Json] | None

    def losses(self) -> tuple[Loss, ...]:
        """Return the losses."""
        built = self.built
        of_keywords = (*built.losses, *losses(self.flat, built.entries))
        reported = (*self.unread, *of_keywords, *self.of_examples, *built.given_up)
        named = Loss.of_name(self.own, self.sent)
        return (*named, *losses_as_written(reported, self.flat, self.written, self.documents))


_Branches: TypeAlias = list[JsonObject] | None
"""Alternatives of a plan, one for each tool; `None` if the schema is not a plan."""


def grouped_losses(losses: Iterable[Loss], schema: Json) -> list[tuple[Loss, tuple[str, ...]]]:
    """Return losses in order, each with the tools of a plan that share it at the same place of their tasks; none outside plans.

    All references to another task's output share its losses, wherever in the arguments they occur.
    """
    plans: dict[tuple[str, ...], _Branches] = {}
    result: dict[tuple[object, ...], tuple[Loss, dict[str, None]]] = {}
    for number, loss in enumerate(losses):
        path = tuple(tokens(loss.pointer))
        place = _alternative_of_plan(path, schema, plans)
        branches = None if place is None else plans[path[:place]]
        if place is None or branches is None:
            result[number,] = loss, {}
            continue
        own = branches[int(path[place + 2])]
        inside, reference = _reference_on(path[place + 3 :], own)
        alike = path[:place], reference is not None, inside, loss.keyword, loss.kind, loss.reason, loss.tool
        if alike not in result:
            sharing = [] if reference is None else [tool for tool in branches if any(reference == part for _, part in walk(tool))]
            result[alike] = loss, dict.fromkeys(map(tool_name_of, sharing))
        result[alike][1][tool_name_of(own)] = None
    return [(loss, tuple(tools)) for loss, tools in result.values()]


def _alternative_of_plan(path: tuple[str, ...], schema: Json, plans: dict[tuple[str, ...], _Branches]) -> int | None:
    """Return the index on a path at which it enters an alternative of a plan, or `None`."""
    for place in range(len(path) - 2):
        if path[place : place + 2] != ("items", "anyOf") or not path[place + 2].isdecimal():
            continue
        if path[:place] not in plans:
            plans[path[:place]] = branches_of(at_or(schema, pointer(path[:place])))
        branches = plans[path[:place]]
        if branches is not None and int(path[place + 2]) < len(branches):
            return place
    return None


def _reference_on(path: tuple[str, ...], node: Json) -> tuple[tuple[str, ...], Json]:
    """Return the first schema on a path that is another task's output, and the path inside it.

    Without one, return the path unchanged and `None`.
    """
    for place in range(len(path) + 1):
        passed = at_or(node, pointer(path[:place]))
        if is_output_reference(passed):
            return path[place:], passed
    return path, None
