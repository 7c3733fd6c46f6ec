"""Rename the keys of a value where the alphabet of a target needs other ones; everything else stays as it is.

Which keys of a value are names and which are data is told by the schemas that apply at its place, so a map may hold any key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from instrc.jsonvalue import Json, JsonObject, at, listing, mapping
from instrc.limits.payloads import RENAMED_LEVELS
from instrc.schema.expressions import may_match
from instrc.schema.members import required_names
from instrc.schema.pattern_sets import candidates
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import subschemas


class KeyRenamer:
    """Rename the keys of a value, and repair the case of its strings, by the schemas that apply to it."""

    def __init__(
        self,
        root: Json,
        rename: Callable[[str], str] = str,
        back: dict[str, str] | None = None,
        *,
        fold: bool = False,
        spare: bool = False,
    ) -> None:
        """`rename` is applied to declared names; with `back`, sent names of declared ones are turned into them instead.

        With `spare`, null is left out where it is the default of a property that may be left out.
        """
        self._root = root
        self._rename = rename
        self._back = back
        self._fold = fold
        self._spare = spare

    def converted(self, value: Json, schemas: list[Json], level: int = 0) -> Json:
        """Return the value as the other side writes it."""
        if level > RENAMED_LEVELS:
            return value
        if isinstance(value, dict):
            nodes = list(self.applying(schemas))
            declared = {name for node in nodes for name in _names(node)}
            renamed_here = {self._back[key] for key in value if self._back.get(key) in declared} if self._back else set()
            result: JsonObject = {}
            for key, item in value.items():
                if key in renamed_here:
                    continue  # our name for what is there under the name that was sent
                if self._spare and item is None and _is_null_by_default(nodes, key):
                    continue
                ours, sent = key, key
                if self._back is not None:
                    if self._back.get(key) in declared:
                        ours = self._back[key]
                    elif key[-1:] == "_" and key not in declared and self._back.get(key.rstrip("_")) in declared:
                        ours = key[:-1]
                    sent = ours
                elif key in declared:
                    sent = self._rename(key)
                elif any(key.rstrip("_") == self._rename(name) != name for name in declared):
                    sent = f"{key}_"  # what it would be called stands for another key
                result[sent] = self.converted(item, list(schemas_of_key(nodes, ours)), level + 1)
            return result
        if isinstance(value, list):
            nodes = list(self.applying(schemas))
            return [self.converted(item, list(schemas_of_item(nodes, index)), level + 1) for index, item in enumerate(value)]
        if self._fold and isinstance(value, str):
            return folded(value, [item for node in self.applying(schemas) for item in _strings(node)])
        return value

    def applying(self, schemas: list[Json]) -> Iterator[JsonObject]:
        """Yield the schema objects that speak of the same place as the given ones."""
        stack: list[Json] = list(reversed(schemas))
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            if isinstance(ref := node.get("$ref"), str) and ref.startswith("#"):
                from urllib.parse import unquote

                with suppress(LookupError, ValueError):
                    stack.append(at(self._root, unquote(ref[1:])))
            stack.extend(schema for _, schema in subschemas(node, IN_PLACE))


def _names(node: JsonObject) -> Iterator[str]:
    yield from mapping(node.get("properties"))
    yield from required_names(node)
    for name, needs in mapping(node.get("dependentRequired")).items():
        yield name
        yield from (needed for needed in listing(needs) if isinstance(needed, str))
    yield from mapping(node.get("dependentSchemas"))


def schemas_of_key(nodes: list[JsonObject], name: str) -> Iterator[Json]:
    """Yield the schemas of a property, by all that is said of its object."""
    for node in nodes:
        properties = mapping(node.get("properties"))
        by_pattern = mapping(node.get("patternProperties"))
        patterns = [by_pattern[pattern] for pattern in candidates(by_pattern, name) if may_match(pattern, name)]
        yield from patterns
        if name in properties:
            yield properties[name]
        elif not patterns:
            yield from _held(node, "additionalProperties")
        yield from _held(node, "unevaluatedProperties")


def _is_null_by_default(nodes: list[JsonObject], name: str) -> bool:
    """Say whether leaving a property out means null, by all that is said of it."""
    declared = [mapping(properties[name]) for node in nodes if name in (properties := mapping(node.get("properties")))]
    needed = any(name in required_names(node) for node in nodes)
    return bool(declared) and not needed and all("default" in each and each["default"] is None for each in declared)


def schemas_of_item(nodes: list[JsonObject], index: int) -> Iterator[Json]:
    """Yield the schemas of an item, by all that is said of its array."""
    for node in nodes:
        prefix = listing(node.get("prefixItems"))
        yield from [prefix[index]] if index < len(prefix) else _held(node, "items")
        yield from _held(node, "contains")
        yield from _held(node, "unevaluatedItems")


def _held(node: JsonObject, keyword: str) -> list[Json]:
    return [node[keyword]] if keyword in node else []


def _strings(node: JsonObject) -> Iterator[str]:
    values = [*listing(node.get("enum")), *([node["const"]] if "const" in node else [])]
    yield from (value for value in values if isinstance(value, str))


def folded(value: str, known: list[str]) -> str:
    """Return the one known string that differs from a value in case only, or the value itself."""
    if value in known:
        return value
    plain = value.casefold()
    matching = {item for item in known if item.casefold() == plain}
    return matching.pop() if len(matching) == 1 else value
