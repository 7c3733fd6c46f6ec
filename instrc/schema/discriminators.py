"""The discriminator of OpenAPI, spelt out: each alternative says itself which value of the property tells it apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from instrc.jsonvalue import Json, Location, equal
from instrc.schema.members import conjuncts, definition_named_by
from instrc.schema.walk import map_schemas, walk

KEYWORD = "discriminator"


def expand_discriminators(
    schema: Json, definitions: Mapping[str, Json], written: Mapping[str, str], tell: Callable[[Location], None]
) -> Json:
    """Return a schema without discriminators.

    `definitions` are what `#/$defs/…` leads to, `written` what each of them is called in the document.
    `tell` is called with the path of each discriminator whose meaning no keyword can hold: that of a parent, for one.
    """
    made = spelt_out(schema, definitions, written)
    for path, node in walk(made):
        if isinstance(node, dict) and KEYWORD in node:
            tell((*path, KEYWORD))
    return map_schemas(made, _without)


def spelt_out(schema: Json, definitions: Mapping[str, Json], written: Mapping[str, str]) -> Json:
    """Return a schema in which only those discriminators stand whose meaning no keyword can hold."""
    return map_schemas(schema, _Discriminators(definitions, written).spell)


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
        """Return an alternative that says its value; `None` if it has no name to be told by, or says other values."""
        parts = list(conjuncts(branch, self.definitions))
        said = next((found for part in parts if (found := _values(part, name))), [])
        target = definition_named_by(branch)
        own = self.written.get(target, target)
        values: list[Json] = [
            value for value, leads_to in mapping.items() if own and str(leads_to).rpartition("/")[2].partition(".")[0] == own
        ]
        if said and not all(any(equal(value, each) for each in said) for value in values):
            return None
        if said and len(values) in {0, len(said)}:
            is_required = any(isinstance(listed := part.get("required"), list) and name in listed for part in parts)
            return branch if is_required else {"allOf": [branch, {"type": "object", "required": [name]}]}
        if not own:
            return None
        wanted: Json = {"const": own} if not values else {"const": values[0]} if len(values) == 1 else {"enum": values}
        return {"allOf": [branch, {"type": "object", "properties": {name: wanted}, "required": [name]}]}


def _values(part: dict[str, Json], name: str) -> list[Json]:
    """Return the values that a schema lets a property have, if it lists them."""
    match part.get("properties"):
        case {**properties}:
            match properties.get(name):
                case {"const": value}:
                    return [value]
                case {"enum": [*values]}:
                    return values
    return []
