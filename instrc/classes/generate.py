"""Let `datamodel-code-generator` write the classes of schemas.

The classes say what a value is made of: names, order, types, choices, bounds.
Whether a value is valid is decided by its schema, in `lift`, before it becomes an instance.
So the classes leave out what two libraries read differently: patterns, formats other than dates, what no type of Python can say.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, as_array, as_object
from instrc.limits.schemas import CLASS_NUMBER
from instrc.problems.problem import CompileError
from instrc.problems.settings import MissingExtra
from instrc.schema.kinds import is_number
from instrc.schema.vocabulary import COUNTS
from instrc.schema.walk import map_schemas, walk
from instrc.visible import visible, visible_lines

_KEPT = frozenset(
    """
    $ref $defs type properties required items prefixItems additionalProperties anyOf oneOf allOf enum const title description
    minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems
    """.split()  # noqa: SIM905  -- a table of words
)
_FORMATS = frozenset({"date"})
_PROTECTED = ("model_dump", "model_validate")
_TYPES = frozenset(
    "Annotated Any BaseModel ConfigDict Field Literal RootModel bool date dict float int list str tuple".split()  # noqa: SIM905  -- as above
)
_HEAD = '"""{title}\n\nWritten by `instrc types`; do not edit.\n"""\n\n'


def module(title: str, parts: Mapping[str, Json]) -> str:
    """Return the text of a module with a class for each definition, by name.

    `CompileError` with a `missing-extra` problem if the generator is not installed.
    """
    try:
        from datamodel_code_generator import generate  # an extra: few need it, and none at run time
        from datamodel_code_generator.enums import DataModelType, InputFileType
        from datamodel_code_generator.format import Formatter, PythonVersion
        from datamodel_code_generator.parser import LiteralType
    except ImportError:
        raise CompileError([MissingExtra(feature="`instrc types`", extra="types", package="datamodel-code-generator")]) from None
    definitions = {name: _with_title(expressible(schema), name) for name, schema in parts.items()}
    text = generate(
        dumps({"$defs": definitions}),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        formatters=[Formatter.BUILTIN],
        aliases=_aliases(definitions),
        allow_remote_refs=False,  # nothing is ever fetched
        allow_population_by_field_name=True,
        custom_file_header=_HEAD.format(title=_in_docstring(title)).rstrip(),
        disable_timestamp=True,
        enum_field_as_literal=LiteralType.All,
        remove_special_field_name_prefix=True,
        settings_path=Path(os.path.abspath(os.sep)),  # noqa: PTH100  -- it reads the nearest `pyproject.toml`, which is about other texts
        skip_root_model=True,
        use_annotated=True,
        use_double_quotes=True,
        use_field_description=True,
        use_schema_description=True,
        use_standard_collections=True,
        use_union_operator=True,
    )
    if not isinstance(text, str):
        message = f"the generator wrote no module: {type(text).__name__}"
        raise TypeError(message)
    ast.parse(text)
    return f"{text.rstrip()}\n"


def expressible(schema: Json) -> Json:
    """Return what classes can say of a schema."""

    def change(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        kept = {key: value for key, value in node.items() if key in _KEPT}
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
    """Tell whether a keyword holds a number that the libraries do not read; no text or list is longer than `sys.maxsize`."""
    return is_number(value) and abs(value) >= (sys.maxsize if keyword in COUNTS else CLASS_NUMBER)


def _aliases(definitions: Mapping[str, Json]) -> dict[str, str]:
    """Return other names for fields that would hide a method of pydantic or a type; the generator knows the others."""
    nodes: list[dict[str, Json]] = [node for schema in definitions.values() for _, node in walk(schema) if isinstance(node, dict)]
    names = {name for node in nodes for name in as_object(node.get("properties", {}))}
    found: dict[str, str] = {}
    for name in sorted(names):
        if name.startswith(_PROTECTED) or name in _TYPES:
            other = f"field_{name}"
            while other in names:
                other += "_"
            found[name] = other
    return found


def _with_title(schema: Json, name: str) -> Json:
    """Return a schema under the title of its class: the generator names by it."""
    return {**schema, "title": name} if isinstance(schema, dict) else schema


def _in_docstring(text: str) -> str:
    return visible(" ".join(text.split())).replace("\\", "\\\\").replace('"', "'")
