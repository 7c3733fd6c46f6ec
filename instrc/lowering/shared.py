"""Say each part of a map once, in however many places it stands.

The alternatives of a union are told apart by whole schemas, and the schemas of a union inside are parts of those outside;
the codecs of a map's entries stand beside the one for all of them.  Written out, a small recursive schema would have
a map of megabytes.  What stands in several places is a definition instead, and the places refer to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from msgspec.structs import replace

from instrc.codecs.inside import changed, each, parts
from instrc.codecs.writing import one_to_json, to_json
from instrc.ir.codec import ChoiceCodec, Codec, RefCodec, SomeCodec, UnionCodec
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.limits.payloads import SHARED_PART_OF_MAP, SMALL_CODEC
from instrc.lowering.names import unique_name
from instrc.schema.reached import reached_definitions
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import subschemas, with_parts

PartT = TypeVar("PartT")

_BELOW = "#/$defs/"
_CODEC = re.compile(r'\{"as":"')
_CHOOSING = re.compile(r'"as":"(?:union|choice)"')


def shared_members(codec: Codec, codecs: Mapping[str, Codec], definitions: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members `codec`, `codecs` and `definitions` of a map.

    `definitions` are those of the payload, of which the ones that no codec asks for are left out.
    """
    if not codecs:
        if codec is None:
            return {"codec": None}
        written = to_json(codec)
        text = dumps(written, indent=False)
        if len(text) < 2 * SHARED_PART_OF_MAP or (len(text) < SMALL_CODEC and not _shares(codec, text)):
            return {"codec": written}
    short, schemas = _schemas_shared([codec, *codecs.values()], definitions)
    pool: dict[str, Codec] = {}
    result, *others = changed(short, lambda _, new: pool.setdefault(_key(new), new))
    known: dict[str, Codec] = dict(zip(codecs, others, strict=True))
    names = _Names[SomeCodec]([result, *others], known, parts, "part", RefCodec, to_json)
    result, *others = changed([result, *others], names)
    record: dict[str, Json] = {"codec": to_json(result)}
    named = {**dict(zip(codecs, others, strict=True)), **names.said}
    if named:
        record["codecs"] = {name: to_json(each) for name, each in named.items()}
    if schemas:
        record["definitions"] = schemas
    return record


def _shares(codec: Codec, text: str) -> bool:
    """Say whether a codec holds schemas, or a part that stands in several places; `text` is all of it."""
    begun = [text[place.start() : place.start() + SHARED_PART_OF_MAP] for place in _CODEC.finditer(text)]
    if len(set(begun)) == len(begun) and not _CHOOSING.search(text):
        return False  # nor is there need to look closer
    return any(_choice_schemas([codec])) or _repeats(codec)


def _repeats(codec: Codec) -> bool:
    """Say whether a part that is worth a name stands in several places."""
    seen: set[str] = set()
    stack = [codec]
    while stack:
        part = stack.pop()
        if part is None or len(text := dumps(to_json(part), indent=False)) < SHARED_PART_OF_MAP:
            continue  # nor is anything in it
        if text in seen:
            return True
        seen.add(text)
        stack.extend(parts(part))
    return False


def _key(codec: SomeCodec) -> str:
    """Return what is the same for codecs that say the same, if the codecs inside are one object wherever they are equal."""
    return dumps(one_to_json(codec, lambda inner: None if inner is None else {"id": id(inner)}), indent=False)


def _schemas_shared(codecs: list[Codec], definitions: Mapping[str, Json]) -> tuple[list[Codec], dict[str, Json]]:
    """Shorten the schemas by which codecs tell alternatives apart, and return the codecs and what they refer to."""
    asked = list(_choice_schemas(codecs))
    needed = reached_definitions({"anyOf": asked}, definitions)
    known = {name: schema for name, schema in definitions.items() if name in needed}
    pool: dict[object, Json] = {}

    def one_of_each(_: Json, schema: Json) -> Json:
        if not isinstance(schema, dict):
            return schema
        own = {keyword: None if keyword in HOLDERS else value for keyword, value in schema.items()}
        below = tuple((path, id(child) if isinstance(child, dict) else child) for path, child in subschemas(schema))
        return pool.setdefault((dumps(own, indent=False), below), schema)

    roots = _all_mapped([*known.values(), *asked], one_of_each)
    bodies = dict(zip(known, roots, strict=False))
    names = _Names[Json](roots, bodies, _inside_schema, "when", lambda name: {"$ref": f"{_BELOW}{name}"}, lambda part: part)
    short = _all_mapped(roots, names)
    for_each = {id(when): new for when, new in zip(asked, short[len(known) :], strict=True)}
    found = changed(codecs, lambda _, codec: _asking(codec, for_each))
    return found, {**dict(zip(known, short, strict=False)), **names.said}


def _choice_schemas(codecs: Iterable[Codec]) -> Iterator[Json]:
    """Yield the schemas by which alternatives are chosen."""
    for codec in each(codecs):
        if isinstance(codec, UnionCodec):
            yield from (alternative.when for alternative in codec.of)
        elif isinstance(codec, ChoiceCodec):
            yield from (choice.when for choice in codec.of.values() if choice.key is not None)


def _asking(codec: SomeCodec, whens: Mapping[int, Json]) -> SomeCodec:
    """Return a codec that chooses by other schemas."""
    if isinstance(codec, UnionCodec):
        return UnionCodec(tuple(replace(one, when=whens[id(one.when)]) for one in codec.of))
    if isinstance(codec, ChoiceCodec):
        of = {label: one if one.key is None else replace(one, when=whens[id(one.when)]) for label, one in codec.of.items()}
        return ChoiceCodec(of)
    return codec


def _inside_schema(schema: Json) -> Iterator[Json]:
    return (child for _, child in subschemas(schema) if isinstance(child, dict))


def _all_mapped(schemas: list[Json], change: Callable[[Json, Json], Json]) -> list[Json]:
    """Return schemas with each schema in them changed, from the inside out; what they have in common stays one object.

    `change` is given a schema as it was, and with the schemas in it changed already.
    """
    done: dict[int, Json] = {}
    stack: list[tuple[Json, bool]] = [(schema, False) for schema in schemas]
    while stack:
        node, entered = stack.pop()
        if not isinstance(node, dict) or id(node) in done:
            continue
        if entered:
            done[id(node)] = change(node, with_parts(node, done))
        else:
            stack.append((node, True))
            stack.extend((child, False) for _, child in subschemas(node))
    return [done.get(id(schema), schema) for schema in schemas]


class _Names(Generic[PartT]):
    """Names for what stands in several places, where parts that are equal are one object."""

    def __init__(
        self,
        roots: Iterable[PartT | None],
        definitions: Mapping[str, PartT | None],
        below: Callable[[PartT], Iterable[PartT | None]],
        word: str,
        reference: Callable[[str], PartT],
        written: Callable[[PartT], Json],
    ) -> None:
        """`definitions` have their names already, `below` yields the parts of a part, and new names begin with `word`."""
        self.said: dict[str, PartT] = {}
        """What got a name, or has had it and is referred to."""
        self._word = word
        self._reference = reference
        self._written = written
        self._taken = set(definitions)
        self._own = {id(part): name for name, part in reversed(list(definitions.items()))}
        self._places: Counter[int] = Counter()
        stack = list(roots)
        while stack:
            part = stack.pop()
            if part is not None and not isinstance(part, bool):
                self._places[id(part)] += 1
                if self._places[id(part)] == 1:
                    stack.extend(below(part))

    def __call__(self, before: PartT, part: PartT) -> PartT:
        """Return a part, or a reference to it if it has a name; what is inside of `part` has been seen to."""
        if self._places[id(before)] < 2 or len(dumps(self._written(part), indent=False)) < SHARED_PART_OF_MAP:
            return part
        name = self._own.get(id(before))
        if name is None:
            name = unique_name(f"{self._word}_{len(self.said) + 1}", self._taken, 60)
            self._taken.add(name)
        self.said[name] = part
        return self._reference(name)
