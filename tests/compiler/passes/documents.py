"""Read cases from Markdown: a document is a chapter, a heading of the second level begins a case.

Blocks before the first such heading belong to every case of the document.  A case holds, in any order,

* ```` ```aug ````: the program; `naming=camel`, `batch=2`, `hints=no`, `sketch` may follow.  A further one,
  ```` ```aug same ````, must compile to the same bytes, and ```` ```aug other ```` to different ones;
* ```` ```compile ````: instead of a program the `aug:` reference of a vibe that is compiled itself;
* ```` ```vibes ````: a vibe a line, `find_slot: slot why` for an object of two required strings
  (`default` is an object, a name with `?` is not required, a name with `[]` is a list of strings);
* ```` ```json schemas/x.vibe.json ````: a vibe in full; ```` ```program schemas/x.aug ````: a program that others call;
* ```` ```outline ````, ```` ```outline flat ````: what comes out, shortened as `outline` below says;
* ```` ```json tool ````: what comes out, in full;
* ```` ```problems ````: what is reported, a line each: `line:column name`.

`UPDATE_CASES=1 pytest tests/compiler/passes` writes outlines and problems anew; the diff is the review.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

_BLOCK = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1 *$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)


@dataclass(slots=True)
class Block:
    info: tuple[str, ...]
    text: str
    start: int
    end: int
    """Where its text stands in the document."""


@dataclass(slots=True)
class Case:
    path: Path
    title: str
    blocks: list[Block] = field(default_factory=list)
    shared: list[Block] = field(default_factory=list)

    def of(self, *info: str) -> list[Block]:
        return [block for block in self.blocks if block.info[: len(info)] == info]

    def vibes(self) -> dict[str, str]:
        """Return the files of the registry: path below the folder to text."""
        files: dict[str, str] = {}
        for block in (*self.shared, *self.blocks):
            if block.info == ("vibes",):
                for line in filter(None, map(str.strip, block.text.splitlines())):
                    name, _, properties = line.partition(":")
                    files[f"schemas/{name.strip()}.vibe.json"] = dumps(_vibe(properties.split()))
            elif len(block.info) > 1 and block.info[1].startswith("schemas/"):
                files[block.info[1]] = block.text
        return files


def cases_of(path: Path) -> list[Case]:
    text = path.read_text(encoding="utf-8")
    blocks = [Block(tuple(m[2].split()) or ("",), m[3], m.start(3), m.end(3)) for m in _BLOCK.finditer(text)]
    inside = [(block.start, block.end) for block in blocks]
    heads = [m for m in _HEADING.finditer(text) if not any(start <= m.start() < end for start, end in inside)]
    first = heads[0].start() if heads else len(text)
    shared = [block for block in blocks if block.start < first]
    found = []
    for head, after in zip(heads, [*(each.start() for each in heads[1:]), len(text)], strict=True):
        found.append(Case(path, head[1], [block for block in blocks if head.start() < block.start < after], shared))
    return found


def _vibe(names: list[str]) -> Json:
    properties: dict[str, Json] = {}
    required = []
    for written in names:
        name = written.rstrip("?[]")
        plain: Json = {"type": "object"} if name in {"default", "output"} else {"type": "string"}
        properties[name] = {"type": "array", "items": plain} if "[]" in written else plain
        if not written.endswith("?"):
            required.append(name)
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def outline(document: Json, kind: str) -> str:
    """Return a document as an outline: a line a step, indented under its chunk.

    `key { property, property? } activity <- paths` with `given …` where `arguments` is not just those paths;
    `= 5` is a constant, `| null` a schema that admits null, a mark `?` a property that is not required; a description follows
    unless it is the sentence that names the paths.
    """
    lines: list[str] = []
    if kind == "call":
        lines.append(f"{document['activity']} given {dumps(document['arguments'], indent=False)}")
        lines += _steps(document["tool"])
    elif kind == "process" and "$defs" not in document:
        for context, chunk in document["properties"].items():
            lines.append(f"{context}{_about(chunk)}")
            lines += ["  " + line for line in _steps(chunk)]
    elif kind == "process":
        lines += _contexts(document["properties"], document["$defs"])
    else:
        lines += _steps(document)
    return "\n".join(lines)


def _contexts(properties: Json, definitions: Json) -> list[str]:
    """Return the lines of contexts; a block says its engine property, its branches are marked by `-`."""
    lines: list[str] = []
    for context, reference in properties.items():
        if context == "branch":
            continue
        name = reference["$ref"].rpartition("/")[2]
        schema = definitions[name]
        kind = context.partition("Context")[0]
        if kind in {"llm", "server", "user"}:
            lines.append(f"{context} {name}{_about(schema)}")
            lines += ["  " + line for line in _steps(schema)]
            continue
        bounds = "".join(f" {word} {schema[word]}" for word in ("minItems", "maxItems") if word in schema)
        said = f" {dumps(schema[kind], indent=False)}" if kind in schema else ""
        lines.append(f"{context} {name}{_about(schema)}{bounds}{said}")
        for part in schema.get("anyOf", [schema.get("items", schema)]):
            if part == {"type": "null"}:
                lines.append("  - null")
                continue
            if "anyOf" in schema:
                lines.append(f"  - {dumps(part[kind], indent=False)}")
            lines += ["    " + line for line in _contexts(part["properties"], definitions)]
    return lines


def _about(schema: Json) -> str:
    said = "".join(f" {word} {dumps(schema[word], indent=False)}" for word in ("title", "description") if word in schema)
    return said.replace("\n", " / ")


def _steps(schema: Json) -> list[str]:
    required = schema.get("required", ())
    return [
        f"{name}{'' if name in required else '?'}{_schema(each)}{_engine(each)}"
        for name, each in schema.get("properties", {}).items()
    ]


def _schema(schema: Json) -> str:
    if not isinstance(schema, dict):
        return f" {dumps(schema, indent=False)}"
    made = ""
    if "const" in schema:
        made += f" = {dumps(schema['const'], indent=False)}"
    if "$ref" in schema:
        made += f" -> {schema['$ref']}"
    if "anyOf" in schema:
        made += " anyOf" + ",".join(map(_schema, schema["anyOf"]))
    if "properties" in schema:
        inner = _steps(schema)
        made += " { " + ", ".join(inner) + " }"
        if schema.get("additionalProperties") is False:
            made += " closed"
    for word in ("minimum", "maximum", "maxProperties", "format"):
        if word in schema:
            made += f" {word} {schema[word]}"
    if isinstance(schema.get("type"), list) and "null" in schema["type"]:
        made += " | null"
    return made


def _engine(schema: Json) -> str:
    if not isinstance(schema, dict):
        return ""
    made = f" {schema['activity']}" if "activity" in schema else ""
    if "references" in schema:
        made += " <- " + ", ".join(schema["references"])
    arguments = schema.get("arguments")
    references = schema.get("references", [])
    if "arguments" in schema and arguments != (references[0] if len(references) == 1 else references):
        made += " given " + dumps(arguments, indent=False)
    elif "references" in schema and "arguments" not in schema:
        made += " given nothing"
    description = schema.get("description")
    if description is not None and description != f"Use {', '.join(references)}.":
        made += " " + dumps(description, indent=False).replace("\\n", " / ")
    return made
