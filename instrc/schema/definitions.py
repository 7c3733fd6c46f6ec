"""Name what is recursive: the `$defs` of a flat schema."""

from __future__ import annotations

import re

from instrc.jsonvalue import Json
from instrc.schema.pieces import Frame, Term

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.]+")


class Definitions:
    """The recursive schemas of a result, by readable ASCII names."""

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}
        self.root: Frame | None = None

    def recursion(self, frame: Frame, terms: list[Term]) -> Json:
        """Return a reference to a schema that is still being done, and see to it that it becomes a definition."""
        if frame is self.root:
            return {"$ref": "#"}
        if frame.name is None:
            frame.name = self.free(name_of(terms))
            self.schemas[frame.name] = None
        return {"$ref": f"#/$defs/{frame.name}"}

    def define(self, name: str, schema: Json) -> Json:
        """Keep a definition; return a reference to it."""
        self.schemas[name] = schema
        return {"$ref": f"#/$defs/{name}"}

    def free(self, name: str) -> str:
        """Return a name that is not taken."""
        count, free = 2, name
        while free in self.schemas:
            free = f"{name}_{count}"
            count += 1
        return free


def name_of(terms: list[Term]) -> str:
    """Return a readable name for a conjunction, from the references in it, else its title."""
    words: list[str] = []
    for node, _ in terms:
        stack = [node]
        while stack and len(words) < 2:
            schema = stack.pop()
            if schema.__class__ is not dict:
                continue
            reference = schema.get("$ref") or schema.get("$dynamicRef")
            word = _last_word(reference) if reference.__class__ is str else ""
            if not word and schema.get("title").__class__ is str:
                word = ascii_name(schema["title"])
            if word and word not in words:
                words.append(word)
            branches = schema.get("allOf")
            if branches.__class__ is list:
                stack.extend(reversed(branches))
    return "_".join(words) or "schema"


def _last_word(reference: str) -> str:
    """Return the most telling part of a reference: the last token of its fragment, else the name of its document."""
    base, _, fragment = reference.partition("#")
    word = fragment.rpartition("/")[2].replace("~1", "_").replace("~0", "_")
    if not word:
        word = base.rpartition("/")[2].rpartition(":")[2].partition("?")[0].partition(".")[0]
    return ascii_name(word)


def ascii_name(text: str) -> str:
    """Return a text as an ASCII name, empty if nothing of it is left."""
    if not text.isascii():
        from unicodedata import normalize  # rare

        text = normalize("NFKD", text)
    return _NOT_IN_A_NAME.sub("_", text).strip("_")[:60]
