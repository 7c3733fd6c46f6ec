"""The discriminator of OpenAPI, spelt out: each alternative says itself which value of the property tells it apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import equal
from instrc.schema.walk import Path, rebuild, walk

KEYWORD = "discriminator"
_BRANCHES = ("oneOf", "anyOf")
_DEPTH = 20


def spell_out(schema: Json, definitions: Mapping[str, Json], written: Mapping[str, str], tell: Callable[[Path], None]) -> Json:
    """Return a schema without discriminators.

    `definitions` are what `#/$defs/…` leads to, `written` what each of them is called in the document.
    `tell` is called with the path of each discriminator whose meaning no keyword can hold: that of a parent, for one.
    """
    reader = _Discriminators(definitions, written)
    made = rebuild(schema, reader.spell)
    for path, node in walk(made):
        if node.__class__ is dict and KEYWORD in node:
            tell((*path, KEYWORD))
    return rebuild(made, _without)


def _without(node: Json) -> Json:
    if node.__class__ is not dict or KEYWORD not in node:
        return node
    return {keyword: value for keyword, value in node.items() if keyword != KEYWORD}


class _Discriminators:
    """What the definitions of one document say about the properties that tell them apart."""

    def __init__(self, definitions: Mapping[str, Json], written: Mapping[str, str]) -> None:
        self.definitions = definitions
        self.written = written

    def spell(self, node: Json) -> Json:
        """Return one schema with its discriminator spelt out; the same where that is not possible."""
        said = node.get(KEYWORD) if node.__class__ is dict else None
        name = said.get("propertyName") if said.__class__ is dict else None
        keyword = next((each for each in _BRANCHES if node.__class__ is dict and node.get(each).__class__ is list), None)
        if name.__class__ is not str or keyword is None:
            return node
        found = said["mapping"] if said is not None and "mapping" in said else {}
        mapping = found if found.__class__ is dict else {}
        branches = [self._branch(branch, name, mapping) for branch in node[keyword]]
        return node if any(branch is None for branch in branches) else {**_without(node), keyword: branches}

    def _branch(self, branch: Json, name: str, mapping: Mapping[str, Json]) -> Json:
        """Return an alternative that says its value; `None` if it has no name to be told by, or says another value."""
        reference = branch.get("$ref") if branch.__class__ is dict else None
        if reference.__class__ is not str or not reference.startswith("#/$defs/"):
            return None
        target = reference.removeprefix("#/$defs/")
        own = self.written.get(target, target)
        values = [value for value, leads_to in mapping.items() if str(leads_to).rpartition("/")[2].partition(".")[0] == own]
        said = list(self._said(self.definitions.get(target), name, _DEPTH))
        if said:
            return branch if all(any(equal(value, each) for each in said) for value in values) else None
        wanted: Json = {"const": own} if not values else {"const": values[0]} if len(values) == 1 else {"enum": values}
        return {"allOf": [branch, {"type": "object", "properties": {name: wanted}, "required": [name]}]}

    def _said(self, schema: Json, name: str, depth: int) -> Iterator[Json]:
        """Yield the values that a definition itself lets the property have, if it names them."""
        if schema.__class__ is not dict or depth == 0:
            return
        properties = schema.get("properties")
        part = properties.get(name) if properties.__class__ is dict else None
        if part.__class__ is dict and "const" in part:
            yield part["const"]
        elif part.__class__ is dict and part.get("enum").__class__ is list and len(part["enum"]) == 1:
            yield from part["enum"]
        for each in schema["allOf"] if schema.get("allOf").__class__ is list else ():
            yield from self._said(each, name, depth - 1)
        reference = schema.get("$ref")
        if reference.__class__ is str:
            yield from self._said(self.definitions.get(reference.removeprefix("#/$defs/")), name, depth - 1)
