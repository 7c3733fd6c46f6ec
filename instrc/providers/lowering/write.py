"""Write a schema into the envelope of a target, with its description, examples and map."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

from msgspec import Struct

from instrc.providers.dialect import Dialect, fill_envelope
from instrc.providers.lowering.context import Built, Loss, join_notes
from instrc.providers.lowering.encoding import encoded
from instrc.providers.lowering.mentions import Mentions
from instrc.providers.lowering.spelling import respell
from instrc.providers.maps import VERSION
from instrc.providers.targets import known_target
from instrc.providers.transcode import Inexpressible
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, mapping
from instrc.tools.tool import Hint, Tool

SHARED_FROM: Final = 8_000
"""Characters of a schema from which on repeated parts are sent once."""
SHARED_GAIN: Final = 0.8
"""Share of such a schema that may be left at most: a definition is harder to read than its body."""
_OBJECT = re.compile(r'\{"')
_BEGINNING = 100
"""Characters that objects have in common if they are taken for the same at first."""
_REPEATED = 0.1
"""How many of the objects begin as another one does where much is repeated."""


class Written(Struct, frozen=True, eq=False, gc=False):
    """A payload, its map and its schema."""

    payload: Json
    map: JsonObject
    schema: Json
    """The payload's schema in standard JSON Schema."""
    losses: tuple[Loss, ...]
    """Of its examples."""


def write(built: Built, flat: Json, tool: Tool, name: str, dialect: Dialect) -> Written:
    """Write a schema into the envelope, the one without strictness where that is given up; `name` is the name that is sent."""
    if not built.strict:
        dialect = replace(dialect, envelope=dialect.plain)
    said, schema = _with_description(built, flat, tool, dialect)
    keys: list[Json] = list(mapping(schema.get("properties"))) if isinstance(schema, dict) else []
    record: JsonObject = {"instrc": VERSION, "target": dialect.name, "tool": {"name": tool.name, "sent": name}, "keys": keys}
    if (known := known_target(dialect.name)) is None or known.result != dialect.result:
        record["result"] = dialect.result  # of another envelope, or of rules that nobody else knows
    record |= built.record
    record["schema"] = flat
    left_out = not dialect.empty_schema and not keys and _asks_nothing(schema)
    sent = None if left_out else respell(_shared(schema) if dialect.shares else schema, dialect.spelling)
    examples, more = _examples(tool, record, schema, dialect)
    words: JsonObject = {"@name": name, "@description": said, "@schema": sent, "@map": record, "@examples": examples}
    if "@schema-text" in dialect.words:
        words["@schema-text"] = dumps(sent, indent=False)
    return Written(fill_envelope(dialect.envelope, words), record, schema, tuple(more))


def _with_description(built: Built, flat: Json, tool: Tool, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the description of the tool, within its limit, and the schema with the rest."""
    said, schema = _said_once(built.schema, tool, flat, dialect)
    if built.back:
        mentions = Mentions({name: sent for sent, name in built.back.items()}, tool.hints)
        said, schema = None if said is None else mentions.in_text(said), mentions.in_schema(schema)
    most = dialect.limits.description
    if said is not None and most is not None and len(said) > most:
        said, overflow = _cut(said, most)
        if isinstance(schema, dict):
            node = schema.get("description")
            schema = {**schema, "description": join_notes(overflow, node if isinstance(node, str) else None)}
    return said, schema


def _said_once(schema: Json, tool: Tool, flat: Json, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the tool's description and the schema without repeating text.

    A title speaks for a tool that has no description: providers show a model the one, and some demand it.
    A hint says what a step reads, not what a tool is for: it stays in the schema, where that has a place for it.
    """
    description = tool.description
    own = _said(flat, "description") if isinstance(flat, dict) else None
    if own is not None and dialect.rooted:
        own = Hint.split(own, tool.hints)[0]
    own = own or (_said(flat, "title") if isinstance(flat, dict) else None)
    if not isinstance(schema, dict) or (dialect.structure == "pass_through" and not dialect.describable):
        return description, schema
    if not dialect.describable:
        text = description or _said(schema, "description") or own
        return None, {
            "description": text,
            **{key: value for key, value in schema.items() if key != "description"},
        } if text else schema
    if not dialect.rooted:  # there is no place for it
        return join_notes(description or own, _said(schema, "description")) or "", schema
    node = schema.get("description")
    if not isinstance(node, str):
        return description or own, schema
    if description is None or description == own:
        rest = "\n".join(line for line in [node.removeprefix(own or "").lstrip("\n")] if line)
        schema = (
            {**schema, "description": rest} if rest else {key: value for key, value in schema.items() if key != "description"}
        )
        return own or description or None, schema
    return description, schema


def _said(schema: JsonObject, keyword: str) -> str | None:
    """Return a text of a schema; `None` if it is missing or empty."""
    text = schema.get(keyword)
    return text if isinstance(text, str) and text else None


def _cut(text: str, most: int) -> tuple[str, str]:
    """Cut a description at the end of a sentence or of a word; the whole of it goes into the schema, where no limit is known."""
    end = max(text.rfind(mark, 0, most - 1) + 1 for mark in (". ", ".\n", "! ", "? ", "\n"))
    if end < most // 2:
        end = text.rfind(" ", 0, most - 1)
    if end < most // 2:
        end = most - 1
    return text[:end].rstrip() + ("" if text[:end].rstrip().endswith((".", "!", "?")) else "…"), text


def _asks_nothing(schema: Json) -> bool:
    """Return whether a schema is that of a tool without parameters."""
    return isinstance(schema, dict) and schema.get("type") == "object" and not schema.get("properties")


def _shared(schema: Json) -> Json:
    """Return a large schema with repeated parts as definitions; the same object if that gains little."""
    size = len(text := dumps(schema, indent=False))
    if size < SHARED_FROM or not isinstance(schema, dict):
        return schema
    begun = [text[place.start() : place.start() + _BEGINNING] for place in _OBJECT.finditer(text)]
    if len(begun) - len(set(begun)) < _REPEATED * len(begun):
        return schema  # nor is there need to look closer
    from instrc.schema.flattening.flatten import share  # few schemas are as large

    short = share(schema, described=False)
    return short if len(dumps(short, indent=False)) <= SHARED_GAIN * size else schema


def _examples(tool: Tool, record: JsonObject, schema: Json, dialect: Dialect) -> tuple[list[Json] | None, list[Loss]]:
    """Return the examples of a tool for their field of the envelope, `None` if there are none, and what is left out.

    `AnswerError` with `invalid-answer` problems for an example that does not satisfy the schema.
    """
    if not tool.examples:
        return None, []
    if dialect.example is None:
        for example in tool.examples:
            with suppress(Inexpressible):
                encoded(example.value, record, schema)  # a wrong one is told wherever it goes
        return None, [Loss("", "examples", None, "annotation", "have no field in the envelope of the target")]
    result: list[Json] = []
    losses: list[Loss] = []
    for number, example in enumerate(tool.examples):
        try:
            value, _ = encoded(example.value, record, schema)
        except Inexpressible as error:
            losses.append(Loss("", "examples", example.value, "annotation", f"number {number + 1} is left out: {error}"))
            continue
        result.append(fill_envelope(dialect.example, {"@value": value, "@request": example.request or ""}))
    return result or None, losses
