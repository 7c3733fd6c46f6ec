"""Name the recursive parts of a flat schema: its `$defs`."""

from __future__ import annotations

import re

from instrc.schema.flattening.conjunction import Frame
from instrc.schema.scopes import Term
from instrc.schema.walk import definition_named_by, redirected, walk
from instrc.text.jsonvalue import Json, as_object, equal
from instrc.text.names import free_name

_NOT_IN_A_NAME = r"[^A-Za-z0-9_.]+"


class RecursiveDefinitions:
    """The recursive schemas of a result, by readable ASCII names."""

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}
        self.counts: dict[str, int] = {}
        self.root: Frame | None = None

    def recursion(self, frame: Frame, terms: list[Term]) -> Json:
        """Return a reference to an unfinished schema, and make that a definition."""
        if frame is self.root:
            return {"$ref": "#"}
        if frame.name is None:
            frame.name = self.free(name_of(terms))
            self.schemas[frame.name] = None
        return {"$ref": f"#/$defs/{frame.name}"}

    def define(self, name: str, schema: Json) -> Json:
        """Store a definition and return a reference to it."""
        self.schemas[name] = schema
        return {"$ref": f"#/$defs/{name}"}

    def body(self, schema: Json) -> Json:
        """Return the target of a reference to a finished definition; any other schema unchanged."""
        body = self.schemas.get(definition_named_by(schema)) if schema.__class__ is dict and schema.keys() == {"$ref"} else None
        return schema if body is None else body

    def free(self, name: str) -> str:
        """Return a name that is not taken."""
        return free_name(name, self.schemas.__contains__, tried=self.counts)


def name_of(terms: list[Term]) -> str:
    """Return a readable name for a conjunction, from its references or else its title."""
    words: list[str] = []
    for node, _ in terms:
        stack = [node]
        while stack and len(words) < 2:
            schema = stack.pop()
            if schema.__class__ is not dict:
                continue
            reference = schema.get("$ref") or schema.get("$dynamicRef")
            word = _last_word(reference) if reference.__class__ is str else ""
            if not word and isinstance(title := schema.get("title"), str):
                word = ascii_name(title)
            if word and word not in words:
                words.append(word)
            branches = schema.get("allOf")
            if branches.__class__ is list:
                stack.extend(reversed(branches))
    return "_".join(words) or "schema"


def _last_word(reference: str) -> str:
    """Return the most specific part of a reference: the last token of its fragment, or else the name of its document."""
    base, _, fragment = reference.partition("#")
    word = fragment.rpartition("/")[2].replace("~1", "_").replace("~0", "_")
    if not word:
        word = base.rpartition("/")[2].rpartition(":")[2].partition("?")[0].partition(".")[0]
    return ascii_name(word)


def ascii_name(text: str) -> str:
    """Return a text as an ASCII name, transliterating letters of other scripts; the result may be empty."""
    if not text.isascii():
        from anyascii import anyascii  # a table of a megabyte that most schemas never need

        text = anyascii(text)
    return re.sub(_NOT_IN_A_NAME, "_", text).strip("_")[:60]


def as_part(schema: Json, name: str) -> Json:
    """Return a flat schema for use inside another: one that refers to itself as a whole gets a definition.

    The definition is named by its title, or by `name` if it has none.
    """
    if not any(isinstance(node, dict) and node.get("$ref") == "#" for _, node in walk(schema)):
        return schema
    gathering = Gathering()
    return gathering.give(gathering.take(schema, name))


class Gathering:
    """Collects flat schemas that become parts of one: their `$defs` are merged and references updated."""

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}
        self.counts: dict[str, int] = {}

    def take(self, schema: Json, untitled: str = "schema") -> Json:
        """Return a flat schema without its `$defs`, which are collected; references to its root lead to a definition of it.

        Its title is the name of that definition; `untitled` is used for a schema without one.
        """
        if schema.__class__ is not dict:
            return schema
        given = schema.get("$defs")
        own: dict[str, Json] = given if given.__class__ is dict else {}
        body = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
        found = {node["$ref"] for _, node in walk(schema) if node.__class__ is dict and node.get("$ref").__class__ is str}
        moved: dict[str, str] = {}
        used = {name: definition for name, definition in own.items() if f"#/$defs/{name}" in found}
        same = all(equal(self.schemas.get(name, definition), definition) for name, definition in used.items())
        for name, definition in used.items():
            new = name if same else self.free(name)
            self.schemas[new] = definition
            if new != name:
                moved[f"#/$defs/{name}"] = f"#/$defs/{new}"
        if "#" in found:
            title = schema.get("title")
            name = self.free((ascii_name(title) if title.__class__ is str else "") or untitled)
            self.schemas[name] = None
            moved["#"] = f"#/$defs/{name}"
            body = as_object(redirected(body, moved))
            self.schemas[name] = {key: value for key, value in body.items() if key not in {"$schema", "$id"}}
        elif moved:
            body = as_object(redirected(body, moved))
        if moved:
            for name in used:
                new = moved.get(f"#/$defs/{name}", f"#/$defs/{name}").rpartition("/")[2]
                self.schemas[new] = redirected(self.schemas[new], moved)
        return body

    def free(self, name: str) -> str:
        """Return a name that is not taken."""
        return free_name(name, self.schemas.__contains__, tried=self.counts)

    def give(self, body: Json) -> Json:
        """Return a schema with the collected definitions."""
        return {**body, "$defs": self.schemas} if self.schemas and body.__class__ is dict else body
