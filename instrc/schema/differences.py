"""List the differences of two flat schemas, place by place, and whom they affect.

A change breaks writers if an accepted instance is now refused; it breaks readers if new instances become possible.
`yes` is proven, `no` is shown by an instance, everything else is `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from msgspec import Struct, structs

from instrc.schema.inclusion import WORDS, Inclusion, certainly_includes, constants_of, includes, paired, union_of, without_words
from instrc.schema.kinds import EqualityKeys
from instrc.schema.upgrade import upgrade
from instrc.schema.vocabulary import IN_PLACE, NO_ASSERTIONS
from instrc.schema.walk import (
    definition_named_by,
    local_target,
    nodes,
    put_part,
    redirected,
    refers,
    required_names,
    subschemas,
    with_parts,
    without,
)
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, Location, equal, listing, mapping, pointer
from instrc.text.limits import COMPARED_LEVELS
from instrc.text.names import free_name

ChangeKind: TypeAlias = Literal[
    "added",
    "removed",
    "narrowed",
    "widened",
    "changed",
    "equivalent",
    "reordered",
    "required",
    "optional",
    "described",
    "default",
    "renamed",
]


class Change(Struct, frozen=True):
    """One difference, at the JSON Pointer of a property."""

    pointer: str
    what: ChangeKind
    detail: str = ""


def differences(old: Json, new: Json) -> Iterator[Change]:
    """Yield the differences of two schemas whose corresponding definitions have equal names."""
    yield from _Differences(old, new).of(old, new, (), 0)


_TOLD = ("title", "description", "examples", "$comment", "deprecated")


class _Differences:
    """The comparison of two documents, level by level."""

    def __init__(self, old: Json, new: Json) -> None:
        self.roots = old, new
        definitions = (mapping(mapping(root).get("$defs")) for root in self.roots)
        self.same_definitions = equal(*definitions, ordered=True)
        self.followed: set[tuple[int, int]] = {(id(old), id(new))}
        """Pairs of followed references, by the `id`s of their targets: each pair is compared once."""

    def of(self, old: Json, new: Json, path: tuple[str, ...], depth: int) -> Iterator[Change]:
        """Yield the differences of two schemas, those of the schema itself after those of its properties."""
        before, after = (_target(schema, root) for schema, root in zip((old, new), self.roots, strict=True))
        if before is not old or after is not new:
            if (id(before), id(after)) in self.followed:
                return
            self.followed.add((id(before), id(after)))
            before, after = _with_words(before, old), _with_words(after, new)
        if depth and self.are_same(before, after):
            return
        if depth >= COMPARED_LEVELS:
            yield from self.deeper(before, after, path)
        elif bool(union_of(before)) != bool(union_of(after)) and (found := self.of_union(before, after, path, depth)) is not None:
            yield from found
        else:
            yield from self.members(before, after, path)
            yield from self.below(before, after, path, depth)

    def are_same(self, old: Json, new: Json) -> bool:
        """Return whether two schemas are equal, including the order of their properties and all that they refer to."""
        return equal(old, new, ordered=True) and (self.same_definitions or not refers(old))

    def members(self, old: Json, new: Json, path: tuple[str, ...]) -> Iterator[Change]:
        """Yield changes of the names, the requirement and the order of properties."""
        before, after = _properties(old), _properties(new)
        old_names, new_names = (frozenset(required_names(mapping(schema))) for schema in (old, new))
        renamed = _renamed(before, after)
        for name in before:
            if name not in after and name not in renamed.values():
                yield Change(pointer((*path, name)), "removed")
        for name in after:
            needed: ChangeKind = "required" if name in new_names else "optional"
            if name not in before and name not in renamed:
                yield Change(pointer((*path, name)), "added", needed)
                continue
            if name in renamed:
                yield Change(pointer((*path, name)), "renamed", f"from `{renamed[name]}`")
            if (renamed.get(name, name) in old_names) != (name in new_names):
                yield Change(pointer((*path, name)), needed)
        if [name for name in before if name in after] != [name for name in after if name in before]:
            yield Change(pointer(path), "reordered", ", ".join(name for name in after if name in before))

    def below(self, old: Json, new: Json, path: tuple[str, ...], depth: int) -> Iterator[Change]:
        """Yield the differences of properties, items and branches, then those of the two schemas themselves."""
        before, after = _properties(old), _properties(new)
        for name, schema in before.items():
            if name in after:
                yield from self.of(schema, after[name], (*path, name), depth + 1)
        parts, others = _parts(old), _parts(new)
        both = [place for place in parts if place in others]
        for place in both:
            yield from self.of(parts[place], others[place], (*path, str(place[1]) if place[0] in _COUNTED else "*"), depth + 1)
        old, new = (_without(schema, both) for schema in (old, new))
        word, other = union_of(old), union_of(new)
        if word and other:
            branches, fresh = listing(mapping(old)[word]), listing(mapping(new)[other])
            as_they_are = list(branches)
            for was, now in paired(branches, fresh):
                yield from self.branch(branches[was], fresh[now], path, depth + 1)
                as_they_are[was] = fresh[now]
            old = {**mapping(old), word: as_they_are}
        yield from self.itself(old, new, path)

    def branch(self, old: Json, new: Json, path: tuple[str, ...], depth: int) -> Iterator[Change]:
        """Yield the differences of two branches, labelled with the constants that identify them."""
        known_by = " and ".join(f"`{name}` is {dumps(value, indent=False)}" for name, value in constants_of(new).items())
        for change in self.of(old, new, path, depth):
            details = [change.detail, f"where {known_by}" if known_by else ""]
            yield structs.replace(change, detail=", ".join(filter(None, details)))

    def of_union(self, old: Json, new: Json, path: tuple[str, ...], depth: int) -> Iterator[Change] | None:
        """Return the differences between a union and a schema that corresponds to one of its branches, or `None`."""
        became_one = not union_of(old)
        plain, union = (old, new) if became_one else (new, old)
        word = union_of(union)
        branches = listing(mapping(union)[word])
        pairs = paired([plain], branches) if _properties(plain) or _parts(plain) else []
        if not pairs:
            return None
        branch = _with_words(branches[pairs[0][1]], union)
        sides = (plain, branch, branch, union) if became_one else (branch, plain, union, branch)
        inside = self.of(sides[0], sides[1], path, depth + 1)
        whole = without_words(sides[2]), without_words(sides[3])
        return chain(inside, [_change_of_keywords(pointer(path), whole, self.roots, [word])])

    def deeper(self, old: Json, new: Json, path: tuple[str, ...]) -> Iterator[Change]:
        if not equal(*map(without_words, (old, new)), ordered=True):
            yield Change(pointer(path), "changed", "what is deeper")

    def itself(self, old: Json, new: Json, path: tuple[str, ...]) -> Iterator[Change]:
        """Yield the changes of the own keywords and annotations of two schemas."""
        here = pointer(path)
        bare_old, bare_new = _own_keywords(old), _own_keywords(new)
        if not equal(bare_old, bare_new, ordered=True):
            names = _different(bare_old, bare_new) if isinstance(bare_old, dict) and isinstance(bare_new, dict) else []
            yield _change_of_keywords(here, (bare_old, bare_new), self.roots, names)
        before, after = mapping(old), mapping(new)
        if not equal(*(_only(schema, "default") for schema in (before, after))):
            yield Change(here, "default", f"{_default(before)} → {_default(after)}")
        told = _different(*({word: schema[word] for word in _TOLD if word in schema} for schema in (before, after)))
        if told:
            yield Change(here, "described", ", ".join(told))


def _target(schema: Json, root: Json) -> Json:
    """Return the target of a reference without asserting siblings, or else the schema itself."""
    if not isinstance(schema, dict) or "$ref" not in schema or not schema.keys() <= {*WORDS, "$ref", "$defs"}:
        return schema
    result = local_target(root, schema["$ref"])
    return result if isinstance(result, dict) else schema


def _with_words(schema: Json, other: Json) -> Json:
    """Return a schema with the annotations of its reference, or of its union."""
    words = {word: value for word, value in mapping(other).items() if word in WORDS}
    return {**schema, **words} if words and schema is not other and isinstance(schema, dict) else schema


def _properties(schema: Json) -> JsonObject:
    return mapping(mapping(schema).get("properties"))


def _renamed(before: dict[str, Json], after: dict[str, Json]) -> dict[str, str]:
    """Map new names to old ones of renamed properties: their schemas are equal, and unique on both sides.

    Schemas with hardly more than a type are not matched.
    """
    gone, fresh = (
        {name: item for name, item in one.items() if name not in other} for one, other in ((before, after), (after, before))
    )
    if not gone or not fresh:
        return {}
    was, now = (_by_content(item) for item in (gone, fresh))
    return {names[0]: was[content][0] for content, names in now.items() if len(names) == 1 and len(was.get(content, ())) == 1}


def _by_content(properties: dict[str, Json]) -> dict[str, list[str]]:
    """Return the names of sufficiently specific properties, by their content."""
    result: dict[str, list[str]] = {}
    for name, schema in properties.items():
        if isinstance(schema, dict) and (schema.get("properties") or schema.get("description")):
            content = {word: value for word, value in schema.items() if word != "title"}
            result.setdefault(dumps(content, indent=False), []).append(name)
    return result


_PARTS = frozenset({"items", "additionalProperties", "prefixItems", "patternProperties"})
"""Keywords whose schemas are compared like properties."""


def _parts(schema: Json) -> dict[Location, Json]:
    """Return the subschemas that are compared like properties, by their paths."""
    return {place: part for place, part in subschemas(schema, _PARTS) if isinstance(part, dict)}


_COUNTED = frozenset({"prefixItems", "patternProperties"})


def _without(schema: Json, places: list[Location]) -> Json:
    """Return a schema with `true` in place of some subschemas."""
    result = dict(mapping(schema))
    for place in places:
        put_part(result, place, True, mapping(schema))  # noqa: FBT003  -- a schema
    return result if places else schema


def _change_of_keywords(here: str, schemas: tuple[Json, Json], roots: tuple[Json, Json], names: list[str]) -> Change:
    """Return the change of some keywords of a schema, except its properties."""
    narrow, wide = (
        {**schema, "$defs": mapping(root).get("$defs", {})} if isinstance(schema, dict) and refers(schema) else schema
        for schema, root in zip(schemas, roots, strict=True)
    )
    old, new = map(mapping, schemas)
    wider, narrower = certainly_includes(wide, narrow), certainly_includes(narrow, wide)
    detail = ", ".join(names)
    if wider and narrower:
        if not NO_ASSERTIONS.isdisjoint(names):
            return Change(here, "changed", detail)
        lists = all(_has_same_members(old.get(word), new.get(word)) for word in names)
        return Change(here, "reordered" if lists else "equivalent", detail)
    return Change(here, "widened" if wider else "narrowed" if narrower else "changed", detail)


def _has_same_members(old: Json, new: Json) -> bool:
    """Return whether two lists differ only in their order."""
    key = EqualityKeys()
    return isinstance(old, list) and isinstance(new, list) and {key(item) for item in old} == {key(item) for item in new}


def _own_keywords(schema: Json) -> Json:
    """Return the keywords of a schema without its properties and annotations."""
    return without(schema, *WORDS, "properties", "required", "$defs")


def _different(old: JsonObject, new: JsonObject) -> list[str]:
    """Return the keywords that differ."""
    return [word for word in dict.fromkeys([*old, *new]) if not equal(_only(old, word), _only(new, word))]


def _only(schema: JsonObject, word: str) -> JsonObject:
    return {word: schema[word]} if word in schema else {}


def _default(schema: JsonObject) -> str:
    return dumps(schema["default"], indent=False) if "default" in schema else "none"


_INTO = "#/$defs/"


def named_alike(old: Json, new: Json) -> Json:
    """Return the new schema with its definitions renamed to the old names that are used in the same places."""
    before, after = (mapping(mapping(schema).get("$defs")) for schema in (old, new))
    names = _old_names(old, new, before, after)
    if all(name == was for name, was in names.items()):
        return new
    taken = {*names.values(), *(after.keys() - names.keys())}
    for name in after.keys() - names.keys():
        if name in names.values():  # another definition has the name that this one gets
            names[name] = free_name(name, taken.__contains__)
            taken.add(names[name])
    result = mapping(redirected(new, {f"{_INTO}{name}": f"{_INTO}{other}" for name, other in names.items()}))
    return {**result, "$defs": {names.get(name, name): item for name, item in mapping(result["$defs"]).items()}}


def _old_names(old: Json, new: Json, before: JsonObject, after: JsonObject) -> dict[str, str]:
    """Map the names of new definitions to those of the corresponding old ones."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    stack = [(old, new)]
    seen: set[tuple[int, int]] = set()
    while stack:
        left, right = stack.pop()
        if not isinstance(left, dict) or not isinstance(right, dict) or (id(left), id(right)) in seen:
            continue
        seen.add((id(left), id(right)))
        was, name = definition_named_by(left), definition_named_by(right)
        if was in before and name in after and name not in names and was not in taken:
            names[name] = was
            taken.add(was)
            stack.append((before[was], after[name]))
        others = dict(subschemas(right))
        stack += [(part, others[path]) for path, part in subschemas(left) if path in others and path[0] != "$defs"][::-1]
    return names


_UNIONS = frozenset({"anyOf", "oneOf"})
_NAMING = frozenset({"properties", "additionalProperties", "unevaluatedProperties", "$ref"})
_OTHERS = IN_PLACE | (_NAMING - {"properties"})
"""Keywords that keep an object open, since they may describe further properties."""
_CLOSING_INTO = _UNIONS | {"properties", "additionalProperties", "items", "prefixItems", "$defs"}


def closed(schema: Json) -> Json:
    """Close the objects of a schema, so that only properties named at the same place are allowed.

    Objects stay open where closing is uncertain, and everywhere if patterns or references obscure the names.
    """
    found = list(nodes(schema))
    beside = {id(item) for node in found if not _is_choice(node) for item in _in_place(node)}
    refers = any("$ref" in node for node in found)
    if any("patternProperties" in node or ("$ref" in node and not node.keys() <= {*WORDS, "$ref", "$defs"}) for node in found):
        return schema
    if refers and beside:  # a referenced schema may have siblings
        return schema
    done: dict[int, Json] = {}
    for node in reversed(found):
        parts = with_parts(node, done, _CLOSING_INTO)
        is_open = "properties" in node and _OTHERS.isdisjoint(node) and id(node) not in beside
        done[id(node)] = {**parts, "additionalProperties": False} if is_open and isinstance(parts, dict) else parts
    return done.get(id(schema), schema)


def _is_choice(node: dict[str, Json]) -> bool:
    """Return whether only the branches of one union, if any, name properties."""
    return len(IN_PLACE & node.keys()) <= 1 and IN_PLACE & node.keys() <= _UNIONS and _NAMING.isdisjoint(node)


def _in_place(node: dict[str, Json]) -> list[Json]:
    """Return the in-place subschemas of a schema, at any depth."""
    result: list[Json] = [child for _, child in subschemas(node, IN_PLACE)]
    for child in result:
        result += [below for _, below in subschemas(child, IN_PLACE)]
    return result


class Comparison(Struct, frozen=True):
    """All differences, and whether each schema accepts everything that the other does."""

    changes: tuple[Change, ...]
    writers: Inclusion
    """Whether the new schema accepts everything that the old one accepts."""
    readers: Inclusion
    """Whether the old schema accepts everything that the new one accepts."""
    refused: Json = None
    """Instance that is no longer accepted, if `writers` is `no`."""
    surprising: Json = None
    """Instance that was not possible before, if `readers` is `no`."""
    refused_named: bool = False
    """Whether, if `writers` is `no`, a refused instance may consist only of properties that the old schema names."""
    surprising_named: bool = False
    """Whether, if `readers` is `no`, a new instance may consist only of properties that the new schema names."""


def compare(old: Json, new: Json) -> Comparison:
    """Compare two flat schemas, each in its own draft."""
    old, new = upgrade(old), upgrade(new)
    new = named_alike(old, new)
    changes = tuple(differences(old, new))
    writers, refused = includes(new, old)
    readers, surprising = includes(old, new)
    if not changes and not writers == readers == "yes":
        changes = (Change("", "changed"),)
    refused_named = writers == "no" and not certainly_includes(new, closed(old))
    surprising_named = readers == "no" and not certainly_includes(old, closed(new))
    return Comparison(changes, writers, readers, refused, surprising, refused_named, surprising_named)
