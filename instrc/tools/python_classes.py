"""Generate typed Python classes for schemas with `datamodel-code-generator`.

A class accepts and preserves every value that the schema accepts; `null` also stands for a missing property, and a schema with
`properties` or `items` but no `type` is an object or a list.  Constraints that a class relaxes are listed in
`examples/guides/commands.md`; `lift` validates a value by its schema before it becomes an instance.
There is one class per document and per step; equal steps, and equal definitions of one name, share a class.
A step whose result differs because thoughts are stripped has a second class that ends in `Result`.
"""

from __future__ import annotations

import ast
import keyword
import os
import re
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from instrc.problems.errors import CompileError, SettingsError
from instrc.problems.files import TooLarge
from instrc.problems.settings import MissingExtra
from instrc.schema.kinds import is_number, types_of
from instrc.schema.vocabulary import COUNTS
from instrc.schema.walk import every_schema, map_schemas, redirected, without
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object, mapping
from instrc.text.names import free_name, pascal
from instrc.text.visible import visible, visible_lines

CLASS_NUMBER: Final = 10**300
"""Largest number written into generated classes: their libraries do not read larger ones."""
TYPED_SCHEMAS: Final = 5_000
"""Maximum schemas of a module, which take milliseconds each.

A branch counts as three, ten values of an `enum` as one, branches of an `allOf` and thousands of characters of a text as squares.
"""
SHARED_DEFINITIONS: Final = 500
"""Maximum definitions of a document that share their classes with equal ones: each is compared with all that it refers to."""
_KEPT = frozenset(
    """
    $ref $defs type properties required items prefixItems additionalProperties anyOf oneOf allOf enum const title description
    minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems
    """.split()  # noqa: SIM905  -- a list of word forms
)
_FORMATS = frozenset({"date"})
_PROTECTED = ("model_dump", "model_validate")
_TYPES = frozenset(
    "Annotated Any BaseModel ConfigDict Field Literal RootModel bool date dict float int list str tuple".split()  # noqa: SIM905  -- as above
)
_IMPORTS = ["datetime.date", "pydantic.BeforeValidator", "pydantic.Field", "typing.Annotated"]
_DATE = """
# pydantic reads numbers, and texts like "0", as seconds
date = Annotated[
    day,
    Field(strict=True),
    BeforeValidator(
        lambda value: day.fromisoformat(value) if isinstance(value, str) else value
    ),
]"""
"""Definition of the type of `date` fields in a generated module."""
_HEAD = '"""{title}\n\nWritten by `instrc types`; do not edit.\n"""\n\n'


def module(title: str, parts: Mapping[str, Json]) -> str:
    """Return the text of a module with a class for each definition.

    Raise `CompileError` with a `missing-extra` problem if the generator is not installed.
    """
    try:
        from datamodel_code_generator import generate  # an extra, not needed at run time
        from datamodel_code_generator.enums import DataModelType, InputFileType
        from datamodel_code_generator.format import Formatter, PythonVersion
        from datamodel_code_generator.parser import LiteralType
    except ImportError:
        raise SettingsError([MissingExtra(feature="`instrc types`", extra="types", package="datamodel-code-generator")]) from None
    sayable = {name: expressible(schema) for name, schema in parts.items()}
    definitions = {name: {**schema, "title": name} if isinstance(schema, dict) else schema for name, schema in sayable.items()}
    nodes = [mapping(node) for schema in sayable.values() for node in every_schema(schema)]
    document = dumps({"$defs": definitions})
    size = sum(1 + 2 * _branches(node) + len(as_array(node.get("enum", []))) // 10 for node in nodes)
    size += sum(sum(_branches(mapping(part)) for part in as_array(node.get("allOf", []))) ** 2 for node in nodes)
    size += sum((len(part) // 2_000) ** 2 for part in document.split('"'))
    _require_few(size)
    dated = any(node.get("format") == "date" for node in nodes)
    heading = visible(" ".join(title.split())).replace("\\", "\\\\").replace('"', "'")
    text = generate(
        document,
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        formatters=[Formatter.BUILTIN],
        aliases=_aliases(definitions),
        allow_remote_refs=False,  # nothing is ever fetched
        additional_imports=_IMPORTS if dated else None,
        custom_file_header=_HEAD.format(title=heading).rstrip(),
        disable_timestamp=True,
        enum_field_as_literal=LiteralType.All,
        remove_special_field_name_prefix=True,
        settings_path=Path(os.path.abspath(os.sep)),  # noqa: PTH100  -- it reads the nearest `pyproject.toml`, which is unrelated
        skip_root_model=True,
        use_annotated=True,
        use_double_quotes=True,
        use_field_description=True,
        use_schema_description=True,
        use_standard_collections=True,
        use_union_operator=True,
    )
    if not isinstance(text, str):
        raise TypeError(f"the generator wrote no module: {type(text).__name__}")
    if dated:
        text = text.replace("from datetime import date\n", "from datetime import date as day\n", 1)
        text = text.replace("\n\n\nclass ", f"\n{_DATE}\n\n\nclass ", 1)
    ast.parse(text)
    return f"{text.rstrip()}\n"


def _require_few(size: int) -> None:
    if size > TYPED_SCHEMAS:
        raise CompileError([TooLarge(what="the module of classes", size=size, limit=TYPED_SCHEMAS, unit="schemas")])


def _branches(node: JsonObject) -> int:
    return sum(len(as_array(node.get(word, []))) for word in ("anyOf", "oneOf"))


def _aliases(definitions: Mapping[str, Json]) -> dict[str, str]:
    """Return aliases for fields that would hide a pydantic method or a type; the generator handles the others."""
    nodes = [mapping(node) for schema in definitions.values() for node in every_schema(schema)]
    names = {name for node in nodes for name in as_object(node.get("properties", {}))}
    result: dict[str, str] = {}
    for name in sorted(names):
        if name.startswith(_PROTECTED) or name in _TYPES:
            other = f"field_{name}"
            while other in names:
                other += "_"
            result[name] = other
    return result


def expressible(schema: Json) -> Json:
    """Return the part of a schema that classes can express."""

    def change(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        kept = {key: value for key, value in node.items() if key in _KEPT}
        if "patternProperties" in node if "additionalProperties" in kept else "properties" in kept:
            kept["additionalProperties"] = True
        if "number" in (kinds := types_of(kept.get("type")) or ()):  # a float does not hold every integer
            kept["type"] = [*dict.fromkeys(("integer", *kinds))]
        if node.get("format") in _FORMATS:
            kept["format"] = node["format"]
        if isinstance(said := kept.get("description"), str):
            kept["description"] = visible_lines(said)
        if not all(map(_plain, as_array(kept.get("enum", [])))):
            del kept["enum"]
        if not _plain(kept.get("const")):
            del kept["const"]
        return {keyword: value for keyword, value in kept.items() if not _is_too_large(keyword, value)}

    return map_schemas(schema, change)


def _plain(value: Json) -> bool:
    return value is None or isinstance(value, str | bool) or (isinstance(value, int) and abs(value) < CLASS_NUMBER)


def _is_too_large(keyword: str, value: Json) -> bool:
    """Return whether a keyword holds a number too large for the libraries; no text or list is longer than `sys.maxsize`."""
    return is_number(value) and abs(value) >= (sys.maxsize if keyword in COUNTS else CLASS_NUMBER)


_STEP = re.compile(r"step\d+_(.+)")
_IN_USE = frozenset({"Annotated", "Any", "AwareDatetime", "BaseModel", "ConfigDict", "Field", "Literal", "RootModel", "Union"})
"""Names imported by the generated module; `True` and the like are keywords anyway."""
RESULT = "Result"


class Parts:
    """The definitions of one module, by the names of their classes, in order."""

    def __init__(self) -> None:
        """Create an empty collection."""
        self.found: dict[str, Json] = {}
        self._shared: dict[str, str] = {}
        """Classes of definitions, by their contents including everything they refer to."""

    def take(self, name: str, schema: Json, suffix: str = "") -> str:
        """Add a document, its definitions and its steps; return the name of its class."""
        own = self._reserved(class_name(name) + suffix)
        definitions = as_object(schema.get("$defs", {})) if isinstance(schema, dict) else {}
        _require_few(len(definitions))
        moved, new = {"#": f"#/$defs/{own}"}, {}
        for key in definitions:
            whole = _whole(key, definitions) if len(definitions) <= SHARED_DEFINITIONS else None
            name_of_class = None if whole is None else self._shared.get(whole)
            if name_of_class is None:
                name_of_class = new[key] = self._reserved(class_name(key))
            if whole is not None:
                self._shared[whole] = name_of_class
            moved[f"#/$defs/{_pointer(key)}"] = f"#/$defs/{name_of_class}"
        for key, name_of_class in new.items():
            self.found[name_of_class] = redirected(definitions[key], moved)
        self.found[own] = self._with_steps(redirected(without(schema, "$defs"), moved), suffix)
        return own

    def _with_steps(self, schema: Json, suffix: str) -> Json:
        """Replace the steps of a document by references to their own classes."""
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict):
            return schema
        steps: JsonObject = {}
        for key, step in properties.items():
            named = _STEP.fullmatch(key)
            steps[key] = step if named is None else self._step(class_name(named[1]), step, suffix)
        return {**schema, "properties": steps}

    def _step(self, name: str, step: Json, suffix: str) -> Json:
        """Return a reference to the class of a step; for a repeated step, the class of its elements."""
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
        """Reserve and return a free name."""
        free = free_name(name, lambda each: each in self.found or each in _IN_USE, joint="")
        self.found[free] = {}
        return free


def _whole(key: str, definitions: Mapping[str, Json]) -> str | None:
    """Return a definition with everything that it refers to, as a digest, or `None` if it has other references."""
    by_pointer = {f"#/$defs/{_pointer(definition)}": definition for definition in definitions}
    reached = {key: definitions[key]}
    waiting = [definitions[key]]
    while waiting:
        for node in every_schema(waiting.pop()):
            reference = node.get("$ref") if isinstance(node, dict) else None
            if not isinstance(reference, str):
                continue
            if reference not in by_pointer:
                return None
            name = by_pointer[reference]
            if name not in reached:
                reached[name] = definitions[name]
                waiting.append(definitions[name])
    return sha256(dumps(reached, indent=False).encode("utf-8", "surrogatepass")).hexdigest()


def _pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def module_parts(documents: Mapping[str, tuple[Mapping[str, Json], Json]], *, partial: bool = False) -> dict[str, Json]:
    """Return the definitions for tools by name: of each, the input from the model by name, and its result.

    With `partial`, each has a second one, `PartialNAME`, without required members, for values that still grow.
    """
    parts = Parts()
    for name, (filled_in, result) in documents.items():
        for item, schema in filled_in.items():
            parts.take(item, schema)
        parts.take(name, result, RESULT)
    return {**parts.found, **_partial(parts.found)} if partial else parts.found


def _partial(parts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the definitions of partial values, which refer to each other."""
    names: dict[str, str] = {}
    for name in parts:
        names[name] = free_name(f"Partial{name}", lambda other: other in parts or other in names.values(), joint="")
    moved = {f"#/$defs/{name}": f"#/$defs/{partial}" for name, partial in names.items()}
    return {
        names[name]: map_schemas(redirected(schema, moved), lambda node: without(node, "required"))
        for name, schema in parts.items()
    }


def class_name(name: str) -> str:
    """Return a name in the style of classes: `FindSlot` for `find_slot`."""
    text = "".join(sign for sign in pascal(name) if sign == "_" or sign.isalnum())
    text = text if text.isidentifier() else f"Class{text}"
    text = text if text.isidentifier() else "Class"
    return f"{text}_" if keyword.iskeyword(text) else text
