"""Strip thoughts, metrics and engine keywords from schemas, and split answers in the same way."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import NamedTuple, TypeAlias, TypedDict

from msgspec import Struct, field

from instrc import problems
from instrc.problems.errors import SettingsError
from instrc.schema.patterns import search
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import in_place, loosened, map_schemas, without
from instrc.text.arguments import excerpt, takes_plain_values, texts
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, as_object, require_tree

ENGINE = ("references", "arguments", "activity", "when", "each")
"""Keywords next to a schema that only the engine reads, in the order in which they are written."""
KINDS = frozenset({"all", "engine", "metrics", "thoughts", *ENGINE})
"""What `strip` can remove: `thoughts` are properties that begin with `_`, `metrics` with `$`.

Engine keywords are removed together, whichever is named: one without the others has no meaning."""


def strip(schema: Json, which: Collection[str]) -> Json:
    """Return a schema without the named kinds, as `instrc.strip` in `public.py` describes."""
    wanted = {which} if isinstance(which, str) else set(texts("which", which))
    unknown = sorted(wanted - KINDS)
    if unknown:
        known = ", ".join(f"`{kind}`" for kind in sorted(KINDS))
        raise SettingsError(
            [problems.settings.InvalidOption(option="which", given=excerpt(unknown[0]), wanted=f"one or several of {known}")]
        )
    everything = "all" in wanted
    signs = ("_" if everything or "thoughts" in wanted else "") + ("$" if everything or "metrics" in wanted else "")
    keywords = frozenset(ENGINE) if everything or not wanted.isdisjoint({"engine", *ENGINE}) else frozenset()
    if not signs:
        return map_schemas(schema, lambda node: without(node, *keywords))
    return loosened(schema, partial(_strip_node, signs=tuple(signs), keywords=keywords))


def _strip_node(node: JsonObject, *, signs: tuple[str, ...], keywords: frozenset[str]) -> tuple[JsonObject, bool]:
    """Return one schema without the removed parts, or the same object if there are none; and whether it accepts more."""
    changes: dict[str, Json] = {}
    for keyword, value in node.items():
        if value.__class__ is dict:
            if keyword in {"properties", "dependentSchemas"}:
                if [name for name in value if name.startswith(signs)]:
                    changes[keyword] = {name: schema for name, schema in value.items() if not name.startswith(signs)}
            elif keyword == "dependentRequired":
                kept = {name: _names(names, signs) for name, names in value.items() if not name.startswith(signs)}
                if len(kept) < len(value) or any(kept[name] is not names for name, names in value.items()):
                    changes[keyword] = {name: names for name, names in kept.items() if names or value[name] == names}
        elif keyword == "required" and value.__class__ is list:
            names = _names(value, signs)
            if names is not value:
                changes[keyword] = names
    if isinstance(least := node.get("minProperties"), int) and "properties" in changes:
        removed = len(as_object(node["properties"])) - len(as_object(changes["properties"]))
        changes["minProperties"] = max(0, least - removed)
    if not changes and keywords.isdisjoint(node):
        return node, False
    emptied = {keyword for keyword in ("required", "dependentRequired", "dependentSchemas") if changes.get(keyword) in ([], {})}
    made = {keyword: changes.get(keyword, value) for keyword, value in node.items() if keyword not in keywords | emptied}
    return made, bool(changes)


def _names(names: Json, signs: tuple[str, ...]) -> Json:
    if names.__class__ is not list or not [name for name in names if name.__class__ is str and name.startswith(signs)]:
        return names
    return [name for name in names if not (name.__class__ is str and name.startswith(signs))]


def is_meta(name: str) -> bool:
    """Return whether a property name is that of a thought or a metric."""
    return name.startswith(("_", "$"))


class Split(TypedDict):
    """An answer divided into the output proper, and thoughts and metrics by path."""

    output: Json
    thoughts: dict[str, Json]
    metrics: dict[str, Json]


@takes_plain_values
def split(answer: Json, schema: Json = None) -> Split:
    """Return an answer's output, thoughts and metrics, as `instrc.split` in `public.py` describes."""
    require_tree(answer)
    result = Split(output=None, thoughts={}, metrics={})
    root = _root(schema)
    box: list[Json] = [None]
    stack = [_Waiting(answer, None, [root] if root is not None else None, box, 0)]
    while stack:
        node = stack.pop()
        value = node.value
        made: Json
        seen = None if node.schemas is None else _applicable(node.schemas, schema)
        if value.__class__ is dict:
            out: JsonObject = {}
            made = out
            below = []
            for key, item in value.items():
                if is_meta(key) and (seen is None or any(key in properties for properties in seen.properties)):
                    (result["thoughts"] if key[0] == "_" else result["metrics"])[_path_as_text((node.path, key))] = item
                    continue
                out[key] = item
                if item.__class__ is dict or item.__class__ is list:
                    below.append(_Waiting(item, (node.path, key), None if seen is None else seen.for_key(key), out, key))
            stack.extend(reversed(below))
        elif value.__class__ is list:
            items = value.copy()
            made = items
            stack.extend(
                _Waiting(
                    item,
                    (node.path, str(index)),
                    None if seen is None else seen.for_index(index),
                    items,
                    index,
                )
                for index, item in reversed(list(enumerate(value)))
                if item.__class__ is dict or item.__class__ is list
            )
        else:
            made = value
        node.container[node.slot] = made  # type: ignore[index]  # the slot was made for this container
    result["output"] = box[0]
    return result


def _root(schema: Json) -> Json:
    if schema is None:
        return None
    return schema if schema.__class__ is dict else {}


_Steps: TypeAlias = "tuple[_Steps, str] | None"
"""Segments of a path, last one first; paths are built only if there is something to report."""


class _Waiting(NamedTuple):
    """A value still to be divided: its destination, and the schemas that may apply to it (`None` if none)."""

    value: Json
    path: _Steps
    schemas: list[Json] | None
    container: JsonArray | JsonObject
    slot: str | int


class _Seen(Struct):
    """The keywords of the schemas at one place that apply to keys and items, including alternatives."""

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
    """Collect the keywords of schemas, following references and every in-place alternative."""
    seen = _Seen()
    for node in in_place(schemas, root, IN_PLACE - {"not", "dependencies"}):
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
            elif isinstance(value, list) and keyword in {"prefixItems", "items"}:
                seen.prefixes.append(value)
    return seen


def _path_as_text(steps: _Steps) -> str:
    """Return a path as text."""
    words: list[str] = []
    while steps is not None:
        steps, key = steps
        words.append(escaped(key))
    return ".".join(reversed(words))


def escaped(key: str) -> str:
    """Return a key escaped for a path."""
    if not key:
        return "\\"
    return key.replace("\\", "\\\\").replace(".", "\\.") if "." in key or "\\" in key else key
