"""Trace every keyword of a flat schema to the places it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.schema.flattening.conjunction import Conjunct, Merging
from instrc.schema.flattening.run import Flattening, FlattenOptions
from instrc.schema.references import SchemaStore
from instrc.schema.walk import subschemas
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, as_object, listing, pointer

TRACED_CHARACTERS: Final = 50_000_000
"""Maximum characters of the JSON Pointers in a trace: those of 2,800 nested lists, or of a million keywords near the top."""
RecordedSources: TypeAlias = dict[int, tuple[Json, dict[str, list[tuple[Conjunct, str]]]]]
"""For the `id` of a result schema: the schema, and the source conjuncts and keywords of each of its keywords."""


class KeywordOrigin(NamedTuple):
    """Where a keyword was written: the URI of the document (empty for the schema itself) and the JSON Pointer in it."""

    uri: str
    pointer: str

    def __str__(self) -> str:
        return f"{self.uri}#{self.pointer}"


class Flat(NamedTuple):
    """A flat schema, and the origins of each of its keywords by JSON Pointer, in written order."""

    schema: Json
    origins: dict[str, tuple[KeywordOrigin, ...]]

    def then(self, later: Flat) -> Flat:
        """Return the result of a later pass over this schema, with the origins from this one."""
        result = {
            place: tuple(dict.fromkeys(first for origin in origins for first in self.origins.get(origin.pointer, ())))
            for place, origins in later.origins.items()
        }
        return Flat(later.schema, result)


_FORMERLY = {
    "prefixItems": ("items",),
    "items": ("additionalItems",),
    "dependentRequired": ("dependencies",),
    "dependentSchemas": ("dependencies",),
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "type": ("nullable",),
    "additionalProperties": ("unevaluatedProperties",),
}
"""Former names of a keyword."""


def origins(schema: Json, root: Json, store: SchemaStore, recorded: RecordedSources) -> dict[str, tuple[KeywordOrigin, ...]]:
    """Return the origins of each keyword of a result; `root` is the schema that was flattened.

    Derived keywords (`$defs`, a reference to a definition) have no origin.
    Raise a `CompileError` if the pointers would be too long in total: in a deep schema they grow quadratically.
    """
    result: dict[str, tuple[KeywordOrigin, ...]] = {}
    characters = 0
    stack: list[tuple[Json, tuple[str | int, ...]]] = [(schema, ())]
    while stack:
        node, path = stack.pop()
        if node.__class__ is not dict:
            continue
        _, by_keyword = recorded.get(id(node), (None, {}))
        own = store.where(node)
        for keyword in node:
            here = pointer((*path, keyword))
            characters += len(here)
            if characters > TRACED_CHARACTERS:
                unit = "characters of JSON Pointers"
                raise CompileError([problems.files.TooLarge(what="the trace", limit=TRACED_CHARACTERS, unit=unit)])
            if keyword in by_keyword:
                result[here] = _written_origins(by_keyword[keyword], store, recorded)
            elif own is not None:
                result[here] = (KeywordOrigin(own[0], f"{own[1]}{pointer((keyword,))}"),)
            elif not path and isinstance(root, dict) and keyword in root and keyword != "$defs":
                result[here] = (_origin(root, keyword, store),)
            else:
                result[here] = ()
        stack.extend((child, (*path, *step)) for step, child in reversed(list(subschemas(node))))
    return result


def _written_origins(
    conjuncts: list[tuple[Conjunct, str]], store: SchemaStore, recorded: RecordedSources
) -> tuple[KeywordOrigin, ...]:
    """Return where the keywords of conjuncts were written, following results that were folded again."""
    result: dict[KeywordOrigin, None] = {}
    stack = conjuncts[::-1]
    seen: set[tuple[int, str]] = set()
    while stack:
        conjunct, word = stack.pop()
        if (id(conjunct.node), word) in seen:
            continue
        seen.add((id(conjunct.node), word))
        if store.where(conjunct.node) is not None:
            result[_origin(conjunct.node, word, store)] = None
        else:
            _, by_keyword = recorded.get(id(conjunct.node), (None, {}))
            stack += by_keyword.get(word, [])[::-1]
    return tuple(result)


def _origin(node: JsonObject, keyword: str, store: SchemaStore) -> KeywordOrigin:
    """Return the place of a keyword of an original schema, under its original name."""
    uri, path = store.where(node) or ("", "")
    word = (
        keyword
        if keyword in node
        else next((old for old in (*_FORMERLY.get(keyword, ()), keyword.removeprefix("x-")) if old in node), keyword)
    )
    return KeywordOrigin(uri, path + pointer((word,)))


class Tracing(Flattening):
    """A run that records origins if `trace` is on."""

    def __init__(self, store: SchemaStore, options: FlattenOptions) -> None:
        super().__init__(store, options)
        self.origins: dict[int, tuple[Json, dict[str, list[tuple[Conjunct, str]]]]] = {}
        """For `trace`: the conjuncts and keywords that each keyword of a result comes from."""

    def record(self, out: dict[str, Json], frame: Merging) -> None:
        """Record, for `trace`, the source conjuncts of each keyword of a merged schema."""
        found: dict[str, list[tuple[Conjunct, str]]] = {}
        for keyword in out:
            words = [keyword]
            if keyword in {"additionalProperties", "items"} or (keyword == "prefixItems"):
                words.append("unevaluatedProperties" if keyword == "additionalProperties" else "unevaluatedItems")
            found[keyword] = [(conjunct, word) for conjunct in frame.conjuncts for word in words if word in conjunct.view]
        self.origins[id(out)] = (out, found)
        self._record_branches(listing(out.get("allOf")), frame.conjuncts)

    def _record_branches(self, branches: JsonArray, conjuncts: Sequence[Conjunct]) -> None:
        """Record the source conjuncts of the residual `allOf` of a merged schema."""
        new = [branch for branch in branches if branch.__class__ is dict and id(branch) not in self.origins]
        if not new:
            return
        holding: dict[str, list[tuple[Conjunct, str]]] = {}
        exactly: dict[tuple[str, int], list[tuple[Conjunct, str]]] = {}
        for conjunct in conjuncts:
            for keyword, value in conjunct.view.items():
                holding.setdefault(keyword, []).append((conjunct, keyword))
                exactly.setdefault((keyword, id(value)), []).append((conjunct, keyword))
        for branch in new:
            own = {
                keyword: exactly.get((keyword, id(value))) or holding.get(keyword, [])
                for keyword, value in as_object(branch).items()
            }
            self.origins[id(branch)] = (branch, own)

    def note_copy(self, copy: Json, original: Json) -> None:
        """Record, for `trace`, that a schema is a copy of another one with the same keywords."""
        if self.options.trace and isinstance(copy, dict) and isinstance(original, dict):
            _, known = self.origins.get(id(original), (None, None))
            conjunct = Conjunct(original, original, self.flat, 0, (id(original), id(self.flat)))
            self.origins[id(copy)] = (copy, known or {keyword: [(conjunct, keyword)] for keyword in original})
