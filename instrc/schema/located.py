"""Find where a schema stands, for the problems with what references lead to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from instrc import problems
from instrc.jsonvalue import Json, as_object, pointer
from instrc.problems.problem import CompileError
from instrc.schema.drafts import Draft
from instrc.schema.index import Index
from instrc.source import Span

Locate = Callable[[str, str], Span | None]
"""From a document's URI and a JSON Pointer in it to a place in a text."""


class Located(Index):
    """The documents that have been read, and where their parts stand in the texts that they come from."""

    def __init__(self, documents: Mapping[str, Json] | None, default: Draft, locate: Locate | None) -> None:
        super().__init__(documents, default)
        self.locate = locate
        self.holders: dict[int, dict[int, tuple[int, str | int] | None]] = {}
        """By the `id` of a document, which is kept: what holds each of its parts."""

    def place(self, uri: str, at: str) -> Span | None:
        """Return the place of a pointer in a text, if the caller knows it."""
        return self.locate(uri, at) if self.locate is not None else None

    def at(self, holder: Json) -> Span | None:
        """Return the place of the `$ref` of a schema."""
        if self.locate is None or holder is None:
            return None
        found = self.where(holder)
        if found is None:
            return None
        uri, path = found
        keyword = next((key for key in ("$ref", "$dynamicRef") if key in as_object(holder)), None)
        return self.locate(uri, path if keyword is None else f"{path}/{keyword}")

    def where(self, node: Json) -> tuple[str, str] | None:
        """Return the document and the pointer of a schema, by looking for it; for problems only."""
        for document in self.documents:
            above = self._above(document.root)
            if id(node) in above:
                path: list[str | int] = []
                at = above[id(node)]
                while at is not None:
                    path.append(at[1])
                    at = above[at[0]]
                return document.uri, pointer(path[::-1])
        return None

    def _above(self, root: Json) -> dict[int, tuple[int, str | int] | None]:
        """Return what holds each object and list of a document, and under which name; made once for all problems."""
        known = self.holders.get(id(root))
        if known is not None:
            return known
        above: dict[int, tuple[int, str | int] | None] = {}
        stack: list[tuple[Json, tuple[int, str | int] | None]] = [(root, None)]
        while stack:
            value, holder = stack.pop()
            if id(value) in above:
                continue
            above[id(value)] = holder
            if value.__class__ is dict:
                stack.extend((child, (id(value), key)) for key, child in value.items() if child.__class__ in {dict, list})
            elif value.__class__ is list:
                stack.extend((child, (id(value), key)) for key, child in enumerate(value) if child.__class__ in {dict, list})
        self.holders[id(root)] = above
        return above

    def unresolved(
        self,
        reference: str,
        holder: Json,
        names: tuple[str, ...] = (),
        word: str = "",
        spelled: Mapping[str, str] = MappingProxyType({}),
    ) -> CompileError:
        """Return the error for a reference that leads nowhere; `spelled` tells how some names are written in a reference."""
        near: tuple[str, ...] = ()
        if names:
            from instrc.problems.suggest import nearest  # for problems only

            word = word or reference.partition("#")[2]
            near = nearest(word, names) or tuple(name for name in names if word and name.lower().startswith(word.lower()))[:3]
            near = tuple(spelled.get(name, name) for name in near)
        return CompileError([problems.vibes.UnresolvedReference(at=self.at(holder), reference=reference, nearest=near)])

    def missing(self, uri: str, reference: str, holder: Json) -> CompileError:
        """Return the error for a document that is not there."""
        scheme = uri.partition(":")[0].lower() if ":" in uri else ""
        if scheme and scheme not in {"aug", "urn", "tag"}:
            reason = "nothing is fetched and no file is read; only documents that are given count"
            return CompileError([problems.vibes.ForbiddenReference(at=self.at(holder), reference=reference, reason=reason)])
        return self.unresolved(reference, holder)

    def not_a_schema(self, node: Json, reference: str, holder: Json) -> CompileError:
        """Return the error for a reference to something that is no schema."""
        path = reference.partition("#")[2] or ""
        reason = f"the reference `{reference}` leads to {kind_in_words(node)}, not to a schema"
        return CompileError([problems.schemas.InvalidSchema(at=self.at(holder), pointer=path, reason=reason)])


def kind_in_words(value: Json) -> str:
    """Say in words what a JSON value is."""
    if value is None:
        return "null"
    names: dict[type, str] = {
        str: "a string",
        int: "a number",
        float: "a number",
        bool: "a boolean",
        list: "a list",
        dict: "an object",
    }
    return names.get(value.__class__, f"an object of Python ({type(value).__name__})")
