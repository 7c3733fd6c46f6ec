"""The discriminator of OpenAPI, spelt out: each alternative says itself which value of the property tells it apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from instrc.jsonvalue import Json, equal
from instrc.schema.walk import Path, rebuild, walk

KEYWORD = "discriminator"
_DEPTH = 20


def spell_out(schema: Json, definitions: Mapping[str, Json], written: Mapping[str, str], tell: Callable[[Path], None]) -> Json:
    """Return a schema without discriminators.

    `definitions` are what `#/$defs/…` leads to, `written` what each of them is called in the document.
    `tell` is called with the path of each discriminator whose meaning no keyword can hold: that of a parent, for one.
    """
    reader = _Discriminators(definitions, written)
    made = rebuild(schema, reader.spell)
    for path, node in walk(made):
        if isinstance(node, dict) and KEYWORD in node:
            tell((*path, KEYWORD))
    return rebuild(made, _without)


def _without(node: Json) -> Json:
    if not isinstance(node, dict) or KEYWORD not in node:
        return node
    return {keyword: value for keyword, value in node.items() if keyword != KEYWORD}


class _Discriminators:
    """What the definitions of one document say about the properties that tell them apart."""

    def __init__(self, definitions: Mapping[str, Json], written: Mapping[str, str]) -> None:
        self.definitions = definitions
        self.written = written

    def spell(self, node: Json) -> Json:
        """Return one schema with its discriminator spelt out; the same where that is not possible."""
        if not isinstance(node, dict):
            return node
        said = node.get(KEYWORD)
        name = said.get("propertyName") if isinstance(said, dict) else None
        mapping = said.get("mapping") if isinstance(said, dict) else None
        for keyword in ("oneOf", "anyOf"):
            branches = node.get(keyword)
            if isinstance(name, str) and isinstance(branches, list):
                values = mapping if isinstance(mapping, dict) else {}
                made = [self._branch(branch, name, values) for branch in branches]
                if None not in made:
                    return {**{key: value for key, value in node.items() if key != KEYWORD}, keyword: made}
        return node

    def _branch(self, branch: Json, name: str, mapping: Mapping[str, Json]) -> Json:
        """Return an alternative that says its value; `None` if it has no name to be told by, or says another value."""
        reference = branch.get("$ref") if isinstance(branch, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
            return None
        target = reference.removeprefix("#/$defs/")
        own = self.written.get(target, target)
        values: list[Json] = [
            value for value, leads_to in mapping.items() if str(leads_to).rpartition("/")[2].partition(".")[0] == own
        ]
        said = list(self._values(self.definitions.get(target), name, _DEPTH))
        if said:
            return branch if all(any(equal(value, each) for each in said) for value in values) else None
        wanted: Json = {"const": own} if not values else {"const": values[0]} if len(values) == 1 else {"enum": values}
        return {"allOf": [branch, {"type": "object", "properties": {name: wanted}, "required": [name]}]}

    def _values(self, schema: Json, name: str, depth: int) -> Iterator[Json]:
        """Yield the values that a definition itself lets the property have, if it names one."""
        if not isinstance(schema, dict) or depth == 0:
            return
        match schema.get("properties"):
            case {**properties}:
                match properties.get(name):
                    case {"const": value} | {"enum": [value]}:
                        yield value
        parts = schema.get("allOf")
        for each in parts if isinstance(parts, list) else ():
            yield from self._values(each, name, depth - 1)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield from self._values(self.definitions.get(reference.removeprefix("#/$defs/")), name, depth - 1)
