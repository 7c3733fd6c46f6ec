"""Divide an answer into output, thoughts and metrics: what `strip` does to the schema, done to an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, TypedDict

from instrc.flattening.strip import is_meta
from instrc.jsonvalue import Json, JsonArray, JsonObject, require_tree
from instrc.limits.schemas import SPLIT_AT_ONCE
from instrc.plain_values import takes_plain_values
from instrc.schema.expressions import search


class Split(TypedDict):
    """An answer divided: the output proper, and thoughts and metrics by path."""

    output: Json
    thoughts: dict[str, Json]
    metrics: dict[str, Json]


@takes_plain_values
def split(answer: Json, schema: Json = None) -> Split:
    """Return an answer's output, thoughts and metrics, as `instrc.split` in `public.py` describes."""
    require_tree(answer)
    found = Split(output=None, thoughts={}, metrics={})
    root = _root(schema)
    box: list[Json] = [None]
    stack = [_Waiting(answer, None, [root] if root is not None else None, box, 0)]
    while stack:
        here = stack.pop()
        value = here.value
        made: Json
        if value.__class__ is dict:
            out: JsonObject = {}
            made = out
            seen = None if here.schemas is None else _applicable(here.schemas, schema)
            below = []
            for key, item in value.items():
                if is_meta(key) and (seen is None or any(key in properties for properties in seen.properties)):
                    (found["thoughts"] if key[0] == "_" else found["metrics"])[_path_as_text((here.path, key))] = item
                    continue
                out[key] = item
                if item.__class__ is dict or item.__class__ is list:
                    below.append(_Waiting(item, (here.path, key), None if seen is None else seen.for_key(key), out, key))
            stack.extend(reversed(below))
        elif value.__class__ is list:
            items = value.copy()
            made = items
            seen = None if here.schemas is None else _applicable(here.schemas, schema)
            stack.extend(
                _Waiting(
                    item,
                    (here.path, str(index)),
                    None if seen is None else seen.for_index(index),
                    items,
                    index,
                )
                for index, item in reversed(list(enumerate(value)))
                if item.__class__ is dict or item.__class__ is list
            )
        else:
            made = value
        here.container[here.slot] = made  # type: ignore[index]  # the slot was made for this container
    found["output"] = box[0]
    return found


def holds_meta(answer: Json) -> bool:
    """Tell whether an answer may hold thoughts or metrics: whether a key in it is called so; cheap, and right for small ones."""
    stack = [answer]
    for _ in range(SPLIT_AT_ONCE):
        if not stack:
            return False
        value = stack.pop()
        if value.__class__ is dict:
            if any(map(is_meta, value)):
                return True
            stack += [item for item in value.values() if item.__class__ is dict or item.__class__ is list]
        elif value.__class__ is list:
            stack += [item for item in value if item.__class__ is dict or item.__class__ is list]
    return True


def escaped(key: str) -> str:
    """Return a key as it stands in a path."""
    if not key:
        return "\\"
    return key.replace("\\", "\\\\").replace(".", "\\.") if "." in key or "\\" in key else key


_Steps: TypeAlias = "tuple[_Steps, str] | None"
"""The steps of a path, the last one first: paths are written where there is something to tell, as most have nothing."""


def _path_as_text(steps: _Steps) -> str:
    """Return a path as text."""
    words: list[str] = []
    while steps is not None:
        steps, key = steps
        words.append(escaped(key))
    return ".".join(reversed(words))


class _Waiting(NamedTuple):
    """A value still to be divided: where it goes, and the schemas that may apply to it (`None` if there are none to go by)."""

    value: Json
    path: _Steps
    schemas: list[Json] | None
    container: JsonArray | JsonObject
    slot: str | int


@dataclass(slots=True)
class _Seen:
    """What the schemas at one place say about keys and items, alternatives included."""

    properties: list[dict[str, Json]] = field(default_factory=list)
    patterns: list[dict[str, Json]] = field(default_factory=list)
    extra: list[Json] = field(default_factory=list)
    prefixes: list[list[Json]] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)

    def for_key(self, key: str) -> list[Json]:
        """Return the schemas that may apply to the value of a key."""
        schemas = [properties[key] for properties in self.properties if key in properties]
        for patterns in self.patterns:
            schemas += [schema for regex, schema in patterns.items() if search(regex, key)]
        return schemas + self.extra

    def for_index(self, index: int) -> list[Json]:
        """Return the schemas that may apply to an item."""
        return [prefix[index] for prefix in self.prefixes if index < len(prefix)] + self.items


def _applicable(schemas: list[Json], root: Json) -> _Seen:
    """Gather what schemas say, through references and every in-place alternative."""
    seen = _Seen()
    stack = list(reversed(schemas))
    done: set[int] = set()
    while stack:
        node = stack.pop()
        if node.__class__ is not dict or id(node) in done:
            continue
        done.add(id(node))
        for keyword, value in node.items():
            if isinstance(value, dict):
                if keyword == "properties":
                    seen.properties.append(value)
                elif keyword == "patternProperties":
                    seen.patterns.append(value)
                elif keyword in {"additionalProperties", "unevaluatedProperties"}:
                    seen.extra.append(value)
                elif keyword in {"items", "unevaluatedItems", "contains"}:
                    seen.items.append(value)
                elif keyword in {"if", "then", "else"}:
                    stack.append(value)
                elif keyword == "dependentSchemas":
                    stack.extend(value.values())
            elif isinstance(value, list):
                if keyword in {"prefixItems", "items"}:
                    seen.prefixes.append(value)
                elif keyword in {"allOf", "anyOf", "oneOf"}:
                    stack.extend(value)
            elif keyword == "$ref" and isinstance(value, str):
                stack.append(_target(value, root))
    return seen


def _root(schema: Json) -> Json:
    if schema is None:
        return None
    return schema if schema.__class__ is dict else {}


def _target(reference: str, root: Json) -> Json:
    """Return what a reference within a flat schema leads to, or `True` if it is no such reference."""
    from instrc.jsonvalue import at

    if not reference.startswith("#"):
        return True
    try:
        return at(root, reference[1:])
    except (LookupError, ValueError):
        return True
