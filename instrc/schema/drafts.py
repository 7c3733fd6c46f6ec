"""Read the drafts of JSON Schema and the dialects of OpenAPI as 2020-12.

`modern` rewrites the keywords of one schema and leaves its subschemas unchanged, so that references into an
old document still resolve.  Module `upgrade` rewrites whole documents.
"""

from __future__ import annotations

import re

from msgspec import Struct, structs

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.schema import vocabulary
from instrc.schema.kinds import TYPES
from instrc.text.jsonvalue import LATEST_DRAFT, Json

RECURSIVE = "$recursiveAnchor"
"""Dynamic anchor that represents `$recursiveAnchor: true`; it is not a valid `$dynamicAnchor`."""


class Draft(Struct, frozen=True):
    """A dialect: its names, and the keywords of 2020-12 that it lacks."""

    name: str
    year: int
    """Year or number of the draft: 4, 6, 7, 2019, 2020; OpenAPI 3.0 counts as 4."""
    unknown: frozenset[str] = frozenset()
    """Keywords of 2020-12 that have no meaning in this draft and must not gain one."""
    nullable: bool = False
    references: frozenset[str] = frozenset({"$ref"})
    """Keywords that hold references."""
    old: bool = False
    """Whether schemas of this dialect must be rewritten; derived from the other fields."""

    def __post_init__(self) -> None:
        structs.force_setattr(self, "old", self.year < 2020 or self.nullable or bool(self.unknown))


_STATIC_AND_DYNAMIC = frozenset({"$ref", "$dynamicRef"})
LATEST = Draft("2020-12", 2020, references=_STATIC_AND_DYNAMIC)
NULLABLE = Draft("2020-12 with nullable", 2020, nullable=True, references=_STATIC_AND_DYNAMIC)
FLAT = Draft("flat", 2020, references=frozenset())
"""Dialect of schemas that are already flat: their references point into the result and stay."""
DRAFT_2019 = Draft("2019-09", 2019, vocabulary.unknown_before(2019), references=frozenset({"$ref", "$recursiveRef"}))
DRAFT_7 = Draft("draft-07", 7, vocabulary.unknown_before(7))
DRAFT_6 = Draft("draft-06", 6, vocabulary.unknown_before(6))
DRAFT_4 = Draft("draft-04", 4, vocabulary.unknown_before(4))
OPENAPI_3_0 = Draft("OpenAPI 3.0", 4, vocabulary.unknown_before(4), nullable=True)
_BY_NAME = {
    "draft-04": DRAFT_4,
    "draft-05": DRAFT_4,
    "draft-06": DRAFT_6,
    "draft-07": DRAFT_7,
    "draft/2019-09": DRAFT_2019,
    "draft/2020-12": LATEST,
    "": LATEST,
}
_JSON_SCHEMA = r"https?://json-schema\.org/(?:(draft-0[4-7]|draft/20(?:19-09|20-12))/)?(?:hyper-)?schema#?"
_OPENAPI = r"https://spec\.openapis\.org/oas/3\.([01])/(?:dialect|schema)(?:/[\w.-]+)?#?"


def dialect_of_uri(uri: Json) -> Draft | None:
    """Return the dialect of a `$schema`, or `None` if it is not supported."""
    if uri.__class__ is not str:
        return None
    if uri == LATEST_DRAFT:
        return LATEST
    if match := re.fullmatch(_JSON_SCHEMA, uri):
        return _BY_NAME[match[1] or ""]
    if match := re.fullmatch(_OPENAPI, uri):
        return LATEST if match[1] == "1" else OPENAPI_3_0
    return None


def unknown(uri: Json) -> CompileError:
    """Return the error for a `$schema` that names no known dialect."""
    return CompileError([problems.schemas.UnknownDialect(uri=str(uri))])


_VOCABULARIES = {group: vocabulary.of_group(group) for group in ("applicator", "unevaluated", "validation")}
_PREFIX = r"https://json-schema\.org/draft/20(?:19-09|20-12)/vocab/([a-z-]+)"


def left_out_by(vocabularies: dict[str, Json], uri: Json) -> frozenset[str]:
    """Return the keywords that a `$vocabulary` leaves out; raise `CompileError` if it requires an unknown one."""
    present = set()
    for name, needed in vocabularies.items():
        match = re.fullmatch(_PREFIX, name)
        if match:
            present.add(match[1])
        elif needed is not False:
            raise unknown(uri)
    if "applicator" in present and not any("2020-12" in name for name in vocabularies):
        present.add("unevaluated")  # in 2019-09 it is part of the applicators
    return frozenset().union(*(words for name, words in _VOCABULARIES.items() if name not in present))


def without_keywords(dialect: Draft, words: frozenset[str]) -> Draft:
    """Return a dialect without some keywords."""
    return structs.replace(dialect, unknown=dialect.unknown | words)


_BESIDE_REF = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "definitions", "$schema"}
)
"""Keywords kept next to an old `$ref`, which disables its siblings: annotations do not affect validity."""
_GONE_AFTER = {year: vocabulary.removed_keywords(year) for year in (4, 6, 7, 2019, 2020)}


def ignored_words(node: dict[str, Json], dialect: Draft) -> frozenset[str]:
    """Return the assertion keywords that the dialect of a schema ignores, though another dialect applies them."""
    other = dialect.unknown | _GONE_AFTER[dialect.year]
    alone = silences_neighbours(node, dialect)
    if not alone and other.isdisjoint(node):
        return frozenset()
    words = node.keys() & vocabulary.KEYWORDS.keys() - vocabulary.NO_ASSERTIONS
    return frozenset(word for word in words if word in other or (alone and word != "$ref"))


def silences_neighbours(node: dict[str, Json], dialect: Draft) -> bool:
    """Return whether a schema has an old-style `$ref`, next to which no other keyword applies."""
    return dialect.year < 2019 and node.get("$ref").__class__ is str


_HELD_BY: dict[str, type] = {"values": list, "text": str, "flag": bool}
_WORDS = {
    name: (vocabulary.KEYWORDS[name].since, _HELD_BY[vocabulary.KEYWORDS[name].shape])
    for name in vocabulary.ANNOTATIONS - vocabulary.HOLDERS
    if vocabulary.KEYWORDS[name].since > 4  # the oldest draft that is read
}
"""Annotations that older drafts lack and that may hold anything there: the draft that added them, and their type."""


def modern(node: dict[str, Json], dialect: Draft) -> dict[str, Json]:
    """Convert one schema to the keywords of 2020-12, but not its subschemas; unchanged schemas are returned as such."""
    year = dialect.year
    if silences_neighbours(node, dialect):
        out = {
            f"x-{key}" if _own_word(key, value, year) else key: value
            for key, value in node.items()
            if key == "$ref" or key in _BESIDE_REF
        }
        return node if out.keys() == node.keys() else out
    out = {}
    changed = False
    for key, value in node.items():
        if key in dialect.unknown:
            changed = True
        elif year == 2020:
            out[key] = value
        elif _own_word(key, value, year):
            out[f"x-{key}"] = value
            changed = True
        elif key == "items" and value.__class__ is list:
            out["prefixItems"] = value
            changed = True
            if "additionalItems" in node:
                out["items"] = node["additionalItems"]
        elif key == "additionalItems":
            changed = True
        elif key == "dependencies" and year < 2019 and value.__class__ is dict:
            out |= split_dependencies(value)
            changed = True
        elif key == "$recursiveAnchor":
            changed = True
        elif year == 4 and key in {"exclusiveMinimum", "exclusiveMaximum"}:
            changed = True
            bound = "m" + key[10:]
            if value is True and bound in node:
                out[key] = node[bound]
        elif (year == 4 and key in {"minimum", "maximum"} and node.get("exclusiveM" + key[1:]) is True) or (
            year == 4 and key == "id"
        ):
            changed = True
        else:
            out[key] = value
    if dialect.nullable and "nullable" in out:
        out = _nullable(out)
        changed = True
    return out if changed else node


def _own_word(key: str, value: Json, year: int) -> bool:
    """Return whether a keyword is an extension that 2020-12 would misread as one of its keywords."""
    since, kind = _WORDS.get(key, (0, object))
    return year < since and not isinstance(value, kind)


def split_dependencies(value: dict[str, Json]) -> dict[str, Json]:
    """Return the keywords of 2020-12 in place of an old `dependencies`: one for lists of names, one for schemas."""
    lists: dict[str, Json] = {
        name: [needs] if needs.__class__ is str else needs for name, needs in value.items() if needs.__class__ in {list, str}
    }
    schemas: dict[str, Json] = {name: needs for name, needs in value.items() if needs.__class__ in {dict, bool}}
    result: dict[str, Json] = {"dependentRequired": lists, "dependentSchemas": schemas}
    return {keyword: value for keyword, value in result.items() if value}


_LETS_NULL_IN = vocabulary.NO_ASSERTIONS | {"nullable", "type", "enum", "const", "format"} | vocabulary.SPEAKS_OF.keys()
"""Keywords that allow `null`, or are changed to allow it."""


def _nullable(node: dict[str, Json]) -> dict[str, Json]:
    """Interpret `nullable: true` as this schema or null.

    A `type`, an `enum` and a `const` next to it are extended by null.  Where other keywords may refuse null (`anyOf`, `$ref`) and
    there is no `type`, the schema becomes an alternative next to `null`, as in OpenAPI 3.0.0; in 3.0.3 it has no effect there.
    """
    rest = {key: value for key, value in node.items() if key != "nullable"}
    if node["nullable"] is not True:
        return rest
    if "type" not in node and not _LETS_NULL_IN.issuperset(node):
        words = {key: value for key, value in rest.items() if key in vocabulary.ANNOTATIONS}
        body = {key: value for key, value in rest.items() if key not in vocabulary.NO_ASSERTIONS}
        names = {key: value for key, value in rest.items() if key in vocabulary.IDENTIFIERS}
        if body.keys() == {"anyOf"} and body["anyOf"].__class__ is list:
            return {**names, **words, "anyOf": [*body["anyOf"], {"type": "null"}]}
        return {**names, **words, "anyOf": [body, {"type": "null"}]}
    return with_null(rest)


def with_null(node: dict[str, Json]) -> dict[str, Json]:
    """Return a schema with null added to its `type`, `enum` and `const`."""
    out: dict[str, Json] = {}
    for key, value in node.items():
        out[key] = value
        if key == "type":
            names_of: list[Json] = [value] if value.__class__ is str else list(value) if value.__class__ is list else []
            if names_of and all(name in TYPES for name in names_of if name.__class__ is str):
                out[key] = names_of if "null" in names_of else [*names_of, "null"]
        elif key == "enum" and value.__class__ is list:
            out[key] = value if None in value else [*value, None]
    if out.get("const") is not None:
        out = {("enum" if key == "const" else key): ([value, None] if key == "const" else value) for key, value in out.items()}
    return out


_MIXIN = r"aug:[^#?]*_Mixin(?::[^/#?]*)?(?:\?[^#/]*)?#?"


def is_mixin(reference: Json) -> bool:
    """Return whether a reference applies a mixin: the document's name ends in `_Mixin`, and there is no fragment."""
    if reference.__class__ is not str or not reference.startswith("aug:"):
        return False
    return "_Mixin" in reference and re.fullmatch(_MIXIN, reference) is not None


def join(base: str, reference: str) -> str:
    """Return a reference as an absolute URI; `aug:` is never joined."""
    if not base or reference.startswith("aug:") or not reference:
        return reference or base
    if base.startswith("aug:"):
        return reference
    from urllib.parse import urljoin  # rare: most references are fragments

    joined: str = urljoin(base, reference)
    return joined


def metaschema(uri: str) -> Json:
    """Return a meta-schema of JSON Schema itself, or `None` for another URI."""
    if "json-schema.org/" not in uri:
        return None
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no types; read when referred to

    for name in (uri, uri + "#"):
        found = REGISTRY.get(name)
        if found is not None:
            contents: Json = found.contents
            return contents
    return None
