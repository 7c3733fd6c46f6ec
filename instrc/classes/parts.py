"""Name the schemas that become classes: one for each document, one for each step in it.

Equal steps share one class, and so do equal definitions of one name.
A step that differs in the result, where thoughts are stripped, has a second class there, with `Result` at its end.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.naming import free_name, pascal
from instrc.schema.walk import map_schemas, walk

_STEP = re.compile(r"step\d+_(.+)")
_IN_USE = frozenset({"Annotated", "Any", "AwareDatetime", "BaseModel", "ConfigDict", "Field", "Literal", "RootModel", "Union"})
"""Names that the generated module imports; `True` and its like are keywords."""
RESULT = "Result"


class Parts:
    """The definitions of one module, by the names of their classes, in order."""

    def __init__(self) -> None:
        """Begin without any."""
        self.found: dict[str, Json] = {}
        self._shared: dict[str, str] = {}
        """The classes of definitions, by what they say with all that they refer to."""

    def take(self, name: str, schema: Json, suffix: str = "") -> str:
        """Add a document, its definitions and its steps; return the name of its class."""
        own = self._reserved(class_name(name) + suffix)
        definitions = as_object(schema.get("$defs", {})) if isinstance(schema, dict) else {}
        moved, new = {"#": own}, {}
        for key in definitions:
            whole = _whole(key, definitions)
            name_of_class = None if whole is None else self._shared.get(whole)
            if name_of_class is None:
                name_of_class = new[key] = self._reserved(class_name(key))
            if whole is not None:
                self._shared[whole] = name_of_class
            moved[f"#/$defs/{_pointer(key)}"] = name_of_class
        for key, name_of_class in new.items():
            self.found[name_of_class] = _redirected(definitions[key], moved)
        self.found[own] = self._with_steps(_redirected(_without_definitions(schema), moved), suffix)
        return own

    def _with_steps(self, schema: Json, suffix: str) -> Json:
        """Replace the steps of a document by references to classes of their own."""
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict):
            return schema
        steps: JsonObject = {}
        for key, step in properties.items():
            named = _STEP.fullmatch(key)
            steps[key] = step if named is None else self._step(class_name(named[1]), step, suffix)
        return {**schema, "properties": steps}

    def _step(self, name: str, step: Json, suffix: str) -> Json:
        """Return the reference to the class of a step; of a step that repeats, its elements have the class."""
        if not isinstance(step, dict):
            return step
        if isinstance(step.get("items"), dict) and "prefixItems" not in step:
            return {**step, "items": self._step(name, step["items"], suffix)}
        if not isinstance(step.get("properties"), dict):
            return step
        kinds = step.get("type")
        reference: Json = {"$ref": f"#/$defs/{self._class_of_step(name, {**step, 'type': 'object'}, suffix)}"}
        if isinstance(kinds, list) and "null" in kinds:
            return {"anyOf": [reference, {"type": "null"}]}
        return reference

    def _class_of_step(self, name: str, step: Json, suffix: str) -> str:
        """Return the class of a step: that of an equal one of the same name, or a new one."""
        for known in (name, name + suffix):
            if self.found.get(known) == step:
                return known
        fresh = self._reserved(name if name not in self.found else name + suffix)
        self.found[fresh] = step
        return fresh

    def _reserved(self, name: str) -> str:
        """Return a name that is free, and keep it."""
        free = free_name(name, lambda each: each in self.found or each in _IN_USE, joint="")
        self.found[free] = {}
        return free


def module_parts(documents: Mapping[str, tuple[Mapping[str, Json], Json]]) -> dict[str, Json]:
    """Return the definitions for tools by name, each with what the model fills in, by name, and its result."""
    parts = Parts()
    for name, (filled_in, result) in documents.items():
        for each, schema in filled_in.items():
            parts.take(each, schema)
        parts.take(name, result, RESULT)
    return parts.found


def class_name(name: str) -> str:
    """Return a name as that of a class: `FindSlot` for `find_slot`."""
    text = "".join(sign for sign in pascal(name) if sign == "_" or sign.isalnum())
    text = text if text.isidentifier() else f"Class{text}"
    text = text if text.isidentifier() else "Class"
    return f"{text}_" if keyword.iskeyword(text) else text


def _whole(key: str, definitions: Mapping[str, Json]) -> str | None:
    """Return a definition with all that it refers to, as text; `None` if it refers to something else than definitions."""
    by_pointer = {f"#/$defs/{_pointer(each)}": each for each in definitions}
    reached = {key: definitions[key]}
    waiting = [definitions[key]]
    while waiting:
        for _, node in walk(waiting.pop()):
            reference = node.get("$ref") if isinstance(node, dict) else None
            if not isinstance(reference, str):
                continue
            if reference not in by_pointer:
                return None
            name = by_pointer[reference]
            if name not in reached:
                reached[name] = definitions[name]
                waiting.append(definitions[name])
    return dumps(reached, indent=False)


def _pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _without_definitions(schema: Json) -> Json:
    return {key: value for key, value in schema.items() if key != "$defs"} if isinstance(schema, dict) else schema


def _redirected(schema: Json, moved: Mapping[str, str]) -> Json:
    """Return a schema with its references pointing to where definitions stand now."""

    def change(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        return {**node, "$ref": f"#/$defs/{moved[reference]}"} if isinstance(reference, str) and reference in moved else node

    return map_schemas(schema, change)
