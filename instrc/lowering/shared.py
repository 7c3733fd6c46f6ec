"""Say each part of a map once, in however many places it stands.

The alternatives of a union are told apart by whole schemas, and the schemas of a union inside are parts of those outside;
the codecs of a map's entries stand beside the one for all of them.  Written out, a small recursive schema would have
a map of megabytes.  What stands in several places is a definition instead, and the places refer to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from instrc.codecs.positions import MANY, NAMED, ONE, mapped, subschemas
from instrc.codecs.reverse import Codec, changed, each, inside, with_inside
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.names import unique

_WORTH = 120
"""Characters of JSON from which on a part that stands in several places gets a name."""
_BELOW = "#/$defs/"
_APPLYING = ONE | MANY | NAMED


def shared(codec: Codec, codecs: Mapping[str, Codec], definitions: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members `codec`, `codecs` and `definitions` of a map.

    `definitions` are those of the payload, of which the ones that no codec asks for are left out.
    """
    result, *others = changed([codec, *codecs.values()], lambda _, copy: copy)
    schemas = _schemas_shared([result, *others], definitions)
    pool: dict[str, dict[str, Any]] = {}
    result, *others = changed([result, *others], lambda _, copy: pool.setdefault(_key(copy), copy))
    known = dict(zip(codecs, others, strict=True))
    names = _Names([result, *others], known, inside, "part", lambda name: {"as": "ref", "name": name})
    result, *others = changed([result, *others], names)
    record: dict[str, Json] = {"codec": result}
    if all_codecs := {**dict(zip(codecs, others, strict=True)), **names.said}:
        record["codecs"] = all_codecs
    if schemas:
        record["definitions"] = schemas
    return record


def _key(codec: dict[str, Any]) -> str:
    """Return what is the same for codecs that say the same, if the codecs inside are one object wherever they are equal."""
    return dumps(with_inside(codec, lambda inner: {"id": id(inner)}), indent=False)


def _schemas_shared(codecs: list[Codec], definitions: Mapping[str, Json]) -> dict[str, Json]:
    """Shorten the schemas by which codecs tell alternatives apart, in place, and return what they refer to."""
    asking = [entry for codec in each(codecs) for entry in _asking(codec)]
    known = _reached([entry["when"] for entry in asking], definitions)
    pool: dict[Any, dict[str, Any]] = {}

    def one_of_each(_: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        own = {keyword: None if keyword in _APPLYING else value for keyword, value in schema.items()}
        below = tuple((path, id(child) if isinstance(child, dict) else child) for path, child in subschemas(schema))
        return pool.setdefault((dumps(own, indent=False), below), schema)

    roots = _all_mapped([*known.values(), *(entry["when"] for entry in asking)], one_of_each)
    bodies = dict(zip(known, roots, strict=False))
    names = _Names(roots, bodies, _inside_schema, "when", lambda name: {"$ref": f"{_BELOW}{name}"})
    short = _all_mapped(roots, names)
    for entry, when in zip(asking, short[len(known) :], strict=True):
        entry["when"] = when
    return {**dict(zip(known, short, strict=False)), **names.said}


def _asking(codec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the alternatives of a codec that are chosen by a schema."""
    if codec["as"] in {"union", "choice"}:
        yield from (entry for entry in (codec["of"] if codec["as"] == "union" else codec["of"].values()) if "when" in entry)


def _inside_schema(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (child for _, child in subschemas(schema) if isinstance(child, dict))


def _all_mapped(schemas: list[Json], change: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]) -> list[Json]:
    """Map several schemas as one, so that what they have in common stays one object."""
    holder = {"anyOf": schemas}
    result: list[Json] = mapped(holder, lambda node, fresh: fresh if node is holder else change(node, fresh))["anyOf"]
    return result


def _reached(schemas: list[Json], definitions: Mapping[str, Json]) -> dict[str, Json]:
    """Return the definitions that schemas refer to, and those that these refer to, in the order of the payload."""
    reached: set[str] = set()
    seen: set[int] = set()
    stack = list(schemas)
    while stack:
        node = stack.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        name = str(node.get("$ref", "")).removeprefix(_BELOW)
        if name in definitions and name not in reached:
            reached.add(name)
            stack.append(definitions[name])
        stack.extend(_inside_schema(node))
    return {name: schema for name, schema in definitions.items() if name in reached}


class _Names:
    """Names for what stands in several places, where parts that are equal are one object."""

    def __init__(
        self,
        roots: Iterable[Json],
        definitions: Mapping[str, Json],
        below: Callable[[dict[str, Any]], Iterable[dict[str, Any]]],
        word: str,
        reference: Callable[[str], dict[str, Any]],
    ) -> None:
        """`definitions` have their names already, `below` yields the parts of a part, and new names begin with `word`."""
        self.said: dict[str, Json] = {}
        """What got a name, or has had it and is referred to."""
        self._word = word
        self._reference = reference
        self._taken = set(definitions)
        self._own = {id(part): name for name, part in reversed(list(definitions.items()))}
        self._places: Counter[int] = Counter()
        stack = list(roots)
        while stack:
            part = stack.pop()
            if isinstance(part, dict):
                self._places[id(part)] += 1
                if self._places[id(part)] == 1:
                    stack.extend(below(part))

    def __call__(self, before: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
        """Return a part, or a reference to it if it has a name; what is inside of `part` has been seen to."""
        if self._places[id(before)] < 2 or len(dumps(part, indent=False)) < _WORTH:
            return part
        name = self._own.get(id(before))
        if name is None:
            name = unique(f"{self._word}_{len(self.said) + 1}", self._taken, 60)
            self._taken.add(name)
        self.said[name] = part
        return self._reference(name)
