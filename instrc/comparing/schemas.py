"""What has changed between two flat schemas, for those who write instances and for those who read them.

A change breaks a writer if something that was accepted no longer is; it breaks a reader if something comes that could not come.
`yes` is proven; `no` is shown by an instance; where neither is found the answer is `unknown`, and nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from instrc.flattening.instances import instances, nodes
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, equal, pointer
from instrc.limits.schemas import COMPARED_LEVELS, INSTANCES_COMPARED, SCHEMAS_ASKED
from instrc.schema.comparable import comparable
from instrc.schema.equality import Equality
from instrc.schema.relations import implies
from instrc.schema.upgrade import upgrade
from instrc.schema.validation import SchemaValidator
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import subschemas

Inclusion: TypeAlias = Literal["yes", "no", "unknown"]
ChangeKind: TypeAlias = Literal[
    "added", "removed", "narrowed", "widened", "changed", "reordered", "required", "optional", "described", "renamed"
]
_WORDS = frozenset({"title", "description", "examples", "default", "$comment", "deprecated", "$schema"})


@dataclass(frozen=True, slots=True)
class Change:
    """One difference, at the JSON Pointer of a property."""

    pointer: str
    what: ChangeKind
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences, and whether one schema accepts what the other does."""

    changes: tuple[Change, ...]
    writers: Inclusion
    """Whether all that the old schema accepts is accepted by the new one."""
    readers: Inclusion
    """Whether all that the new schema accepts is accepted by the old one."""
    refused: Json = None
    """With `no` for writers: an instance that was accepted."""
    surprising: Json = None
    """With `no` for readers: an instance that could not come before."""


def compare(old: Json, new: Json) -> Comparison:
    """Return what has changed from one flat schema to another; each is read in the words of its own draft."""
    old, new = upgrade(old), upgrade(new)
    changes = tuple(_Changes().of(old, new, (), 0))
    writers, refused = includes(new, old)
    readers, surprising = includes(old, new)
    return Comparison(changes, writers, readers, refused, surprising)


def includes(wide: Json, narrow: Json) -> tuple[Inclusion, Json]:
    """Tell whether a schema accepts all that another does, with an instance if it does not."""
    if equal(_plain(wide), _plain(narrow)) or (comparable(wide, narrow) and implies(narrow, wide)):
        return "yes", None
    narrow_validator, wide_validator = SchemaValidator(narrow, formats=False), SchemaValidator(wide, formats=False)
    for instance in islice(instances(narrow, wide), _tried(narrow, wide)):
        if narrow_validator.is_valid(instance, unsure=False) and not wide_validator.is_valid(instance, unsure=True):
            return "no", instance
    return "unknown", None


def _tried(*schemas: Json) -> int:
    """Return how many instances are tried: fewer where each is held against very many branches."""
    return min(INSTANCES_COMPARED, 1 + SCHEMAS_ASKED // max(map(_most_about_a_place, schemas)))


def _most_about_a_place(schema: Json) -> int:
    """Return how many schemas are about one value, where there are most of them."""
    about: dict[int, int] = {}
    for node in reversed(list(nodes(schema))):
        about[id(node)] = 1 + sum(about.get(id(branch), 1) for _, branch in subschemas(node, IN_PLACE))
    return max(about.values(), default=1)


def _plain(schema: Json) -> Json:
    """Return a schema without the words that say nothing about instances, at its top."""
    return {key: value for key, value in schema.items() if key not in _WORDS} if isinstance(schema, dict) else schema


class _Changes:
    """What has changed between two schemas, level by level."""

    def __init__(self) -> None:
        self.equal = Equality()

    def of(self, old: Json, new: Json, path: tuple[str, ...], depth: int) -> Iterator[Change]:
        """Yield the differences of two schemas, those of the schema itself after those of its properties."""
        if self.equal(old, new) and list(_properties(old)) == list(_properties(new)) and depth:
            return
        here = pointer(path)
        before, after = _properties(old), _properties(new)
        old_names, new_names = _required(old), _required(new)
        renamed = _renamed(before, after)
        for name in before:
            if name not in after and name not in renamed.values():
                yield Change(pointer((*path, name)), "removed")
        for name in after:
            if name in renamed:
                yield Change(pointer((*path, name)), "renamed", f"from `{renamed[name]}`")
                if (renamed[name] in old_names) != (name in new_names):
                    yield Change(pointer((*path, name)), "required" if name in new_names else "optional")
            elif name not in before:
                yield Change(pointer((*path, name)), "added", "required" if name in new_names else "optional")
            elif (name in old_names) != (name in new_names):
                yield Change(pointer((*path, name)), "required" if name in new_names else "optional")
        shared = [name for name in before if name in after]
        if shared != [name for name in after if name in before]:
            yield Change(here, "reordered", ", ".join(name for name in after if name in before))
        if depth < COMPARED_LEVELS:
            for name in shared:
                yield from self.of(before[name], after[name], (*path, name), depth + 1)
            old_items, new_items = _items(old), _items(new)
            if old_items is not None and new_items is not None:
                yield from self.of(old_items, new_items, (*path, "*"), depth + 1)
        elif not self.equal(_below(old, shared), _below(new, shared)):
            yield Change(here, "changed", "what is deeper")
        bare_old, bare_new = _own_keywords(old), _own_keywords(new)
        if not self.equal(bare_old, bare_new):
            yield Change(here, _direction(bare_old, bare_new), _keywords(bare_old, bare_new))
        if _title_and_description(old) != _title_and_description(new):
            yield Change(here, "described")


def _below(schema: Json, names: list[str]) -> Json:
    """Return the properties of some names and the items of a schema."""
    properties = _properties(schema)
    return [[properties[name] for name in names], _items(schema)]


def _renamed(before: dict[str, Json], after: dict[str, Json]) -> dict[str, str]:
    """Return new names with the old ones, where the schema under them is the same and no other property has it.

    A schema that is little more than a type says too little: a text that is gone and another that is new are two things.
    """
    gone, fresh = (
        {name: each for name, each in one.items() if name not in other} for one, other in ((before, after), (after, before))
    )
    if not gone or not fresh:
        return {}
    was, now = (_by_content(each) for each in (gone, fresh))
    return {names[0]: was[content][0] for content, names in now.items() if len(names) == 1 and len(was.get(content, ())) == 1}


def _by_content(properties: dict[str, Json]) -> dict[str, list[str]]:
    """Return the names of properties that say enough, by what they say."""
    found: dict[str, list[str]] = {}
    for name, schema in properties.items():
        if isinstance(schema, dict) and (schema.get("properties") or schema.get("description")):
            content = {word: value for word, value in schema.items() if word != "title"}
            found.setdefault(dumps(content, indent=False), []).append(name)
    return found


def _direction(old: Json, new: Json) -> ChangeKind:
    """Say what became of a schema by itself, its properties aside."""
    narrower, wider = includes(old, new)[0], includes(new, old)[0]
    if narrower == "yes" and wider != "yes":
        return "narrowed"
    if wider == "yes" and narrower != "yes":
        return "widened"
    return "changed"


def _keywords(old: Json, new: Json) -> str:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return ""
    names = [name for name in (*old, *(name for name in new if name not in old)) if not equal(old.get(name), new.get(name))]
    return ", ".join(names)


def _own_keywords(schema: Json) -> Json:
    """Return what a schema says by itself: without its properties, its items if they are compared, and its words."""
    if not isinstance(schema, dict):
        return schema
    left_out = _WORDS | {"properties", "required", "$defs", *(["items"] if isinstance(schema.get("items"), dict) else [])}
    return {keyword: value for keyword, value in schema.items() if keyword not in left_out}


def _items(schema: Json) -> Json:
    items = schema.get("items") if isinstance(schema, dict) else None
    return items if isinstance(items, dict) else None


def _title_and_description(schema: Json) -> tuple[Json, Json]:
    return (schema.get("title"), schema.get("description")) if isinstance(schema, dict) else (None, None)


def _properties(schema: Json) -> dict[str, Json]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _required(schema: Json) -> frozenset[str]:
    found = schema.get("required") if isinstance(schema, dict) else None
    return frozenset(name for name in found if isinstance(name, str)) if isinstance(found, list) else frozenset()
