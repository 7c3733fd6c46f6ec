"""Find the description of a tool, and keep it within its limit."""

from __future__ import annotations

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject
from instrc.lowering.notes import join_notes


def described(schema: Json, description: str | None, flat: Json, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the tool's description and the schema without what would say the same twice.

    A title speaks for a tool that has no description: providers show a model the one, and some demand it.
    """
    own = _said(flat, "description") or _said(flat, "title") if isinstance(flat, dict) else None
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
    here = schema.get("description")
    if not isinstance(here, str):
        return description or own, schema
    if description is None or description == own:
        rest = "\n".join(line for line in [here.removeprefix(own or "").lstrip("\n")] if line)
        schema = (
            {**schema, "description": rest} if rest else {key: value for key, value in schema.items() if key != "description"}
        )
        return own or description or None, schema
    return description, schema


def _said(schema: JsonObject, keyword: str) -> str | None:
    """Return a text of a schema; `None` if it is empty or none."""
    text = schema.get(keyword)
    return text if isinstance(text, str) and text else None


def cut(text: str, most: int) -> tuple[str, str]:
    """Cut a description at the end of a sentence or of a word; the whole of it goes into the schema, where no limit is known."""
    end = max(text.rfind(mark, 0, most - 1) + 1 for mark in (". ", ".\n", "! ", "? ", "\n"))
    if end < most // 2:
        end = text.rfind(" ", 0, most - 1)
    if end < most // 2:
        end = most - 1
    return text[:end].rstrip() + ("" if text[:end].rstrip().endswith((".", "!", "?")) else "…"), text
