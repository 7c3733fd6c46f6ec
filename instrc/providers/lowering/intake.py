"""Survey the schema of a tool once, normalize it and flatten it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from instrc.problems.errors import CompileError
from instrc.problems.files import TooLarge
from instrc.problems.schemas import InvalidSchema
from instrc.providers.lowering.context import Loss, LossKind
from instrc.schema.drafts import LATEST, dialect_of_uri, unknown
from instrc.schema.kinds import types_of
from instrc.schema.normalize import Note, Rules, drop_invalid_keywords, normalize, parameters
from instrc.schema.patterns import too_large, why_unreadable
from instrc.schema.references import FOLDED
from instrc.schema.upgrade import KEYWORD as DISCRIMINATOR
from instrc.schema.upgrade import spelt_out, upgrade
from instrc.schema.vocabulary import KEYWORDS, MANY, NAMED, NO_ASSERTIONS, ONE
from instrc.schema.walk import every_schema, is_schema, walk
from instrc.schema.wellformed import SOUND, has_sound_keywords, problems_of
from instrc.text.jsonvalue import LATEST_DRAFT, Json, JsonObject, Location, as_object, at_or, mapping, pointer

LOWERED_SCHEMAS: Final = 100_000
"""Maximum schemas of a flat schema that is lowered; a larger one shares parts under `$defs` or is `too-large`."""
NAMES_AND_PATTERNS: Final = 100_000
"""Maximum pairs of a listed property and a sibling pattern in a lowered schema, about one second; beyond it `too-large`."""
_OF_OTHERS = frozenset({"nullable", "x-nullable", "optional", "example", "additionalItems"})
"""Keywords of older drafts and of OpenAPI that 2020-12 ignores but that have a meaning."""
PATTERNS = frozenset({"pattern", "patternProperties"})
_NAMING = frozenset({"properties", "dependentSchemas", "dependentRequired", "required"})
"""Keywords that hold names of properties."""


class Survey(Struct, frozen=True, eq=False, gc=False):
    """The result of one pass over a schema."""

    schema: Json
    modern: bool
    """Whether it is certainly JSON Schema 2020-12, without keywords of other dialects."""
    words: set[str]
    """Keywords that occur anywhere in it, unknown ones included."""
    names: Mapping[str, None]
    """Names of all properties mentioned, without duplicates."""
    nodes: Sequence[Json]
    """Every schema in it, itself included."""


def survey(schema: Json) -> Survey:
    """Return the survey of a schema."""
    nodes = every_schema(schema)
    words: set[str] = set()
    names: dict[str, None] = {}
    for node in nodes:
        if node.__class__ is dict:
            words.update(node)
            if not _NAMING.isdisjoint(node):
                _add_names(node, names)
    return Survey(schema, _is_modern(nodes, words), words, names, nodes)


def _add_names(node: JsonObject, names: dict[str, None]) -> None:
    """Add the property names mentioned in one schema."""
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if (members := node.get(keyword)).__class__ is dict:
            names.update(dict.fromkeys(members))
    if (required := node.get("required")).__class__ is list:
        names.update(dict.fromkeys([name for name in required if name.__class__ is str]))
    if (dependent := node.get("dependentRequired")).__class__ is dict:
        for needed in dependent.values():
            if needed.__class__ is list:
                names.update(dict.fromkeys(name for name in needed if name.__class__ is str))


def _is_modern(nodes: Sequence[Json], words: set[str]) -> bool:
    """Return whether schemas use only keywords of 2020-12, with valid values."""
    if not _OF_OTHERS.isdisjoint(words) or not all(map(is_schema, nodes)):
        return False
    lists, matches = "enum" in words, not PATTERNS.isdisjoint(words)
    for node in nodes:
        if node.__class__ is not dict:
            continue
        if not has_sound_keywords(node) or (SOUND.keys().isdisjoint(node) and parameters(node)):
            return False
        if lists and "enum" in node and "array" in (types_of(node.get("type", [])) or ()):
            return False
        if matches and any(unreadable_in(keyword, node[keyword]) for keyword in PATTERNS.intersection(node)):
            return False
    return True


def unreadable_in(keyword: str, value: Json) -> list[str]:
    """Return the regular expressions of a keyword that no engine can read."""
    patterns = [value] if keyword == "pattern" else list(as_object(value))
    return [pattern for pattern in patterns if isinstance(pattern, str) and why_unreadable(pattern) is not None]


_SPARED = frozenset({"count", "number", "step", "flag", "value", "values", "text", "pattern", "schemas"})
"""Shapes of keywords whose unreadable values are omitted."""
_NO_SCHEMA = "it is not a schema"
_NULL = "it is null"


def read(seen: Survey) -> tuple[Survey, list[Loss]]:
    """Return a schema as JSON Schema 2020-12, and the losses of the conversion.

    Raise `CompileError` with `invalid-schema` problems for an unreadable schema.
    """
    schema, losses = (seen.schema, []) if seen.modern else _normalized(seen.schema)
    if DISCRIMINATOR in seen.words:  # the alternatives, which every model reads, say the same
        definitions = schema.get("$defs") if isinstance(schema, dict) else None
        schema = spelt_out(schema, as_object(definitions) if isinstance(definitions, dict) else {}, {})
    return (seen if schema is seen.schema else survey(schema)), losses


def _normalized(schema: Json) -> tuple[Json, list[Loss]]:
    named = schema.get("$schema") if isinstance(schema, dict) else None
    dialect = LATEST if named is None else dialect_of_uri(named)
    if dialect is None and isinstance(named, str):
        raise unknown(named)
    dialect = dialect or LATEST
    if dialect is not LATEST and not problems_of(schema):
        return upgrade(schema), []
    result = normalize(schema, Rules(dialect=dialect))
    sound = drop_invalid_keywords(result.schema)
    notes = [*result.notes, *sound.notes]
    _refuse(schema, notes)
    return sound.schema, _losses([*notes, *_without_unreadable(sound.schema)], schema)


def inheriting(documents: Mapping[str, Json] | None, schema: Json) -> Mapping[str, Json] | None:
    """Return documents in the dialect of the schema that refers to them, unless they name their own, as `flatten` reads them."""
    named = mapping(schema).get("$schema", LATEST_DRAFT)
    if documents.__class__ is not dict or named == LATEST_DRAFT:
        return documents
    return {uri: {"$schema": named, **each} if isinstance(each, dict) else each for uri, each in documents.items()}


def _refuse(schema: Json, notes: Iterable[Note]) -> None:
    """Raise the problems of unreadable parts: an unknown type, a value that is not a schema."""
    refused = [note for note in notes if note.kind == "left-out" and _is_needed(note)]
    if not refused:
        return
    places = tuple(pointer(note.path) for note in refused)
    reported = tuple(
        problem
        for problem in problems_of(schema)
        if any(problem.pointer == place or problem.pointer.startswith(f"{place}/") for place in places)
    )
    raise CompileError(reported or [InvalidSchema(pointer=pointer(note.path), reason=note.reason) for note in refused])


def _is_needed(note: Note) -> bool:
    """Return whether omitting the unreadable part would change the tool."""
    place, keyword = _split_path(note.path)
    if keyword is None or note.reason == _NO_SCHEMA:
        return True
    row = KEYWORDS.get(keyword)
    if row is None or note.reason == _NULL:
        return False
    if keyword == "type":
        return "is not a type" in note.reason
    if keyword == "required":
        return bool(place)
    return row.role in {"identifier", "reference"} or row.shape not in _SPARED


def _split_path(path: Location) -> tuple[Location, str | None]:
    """Return the path of the schema that a path leads to or into, and its keyword, or `None` for the schema itself."""
    node = 0
    while node < len(path):
        keyword = path[node]
        if keyword not in KEYWORDS:
            break
        more = path[node + 1 : node + 2]
        if (keyword in NAMED and more) or (keyword in MANY and more and isinstance(more[0], int)):
            node += 2
        elif keyword in ONE and more:
            node += 1
        else:
            break
    return path[:node], str(path[node]) if node < len(path) else None


def _losses(notes: Iterable[Note], schema: Json) -> list[Loss]:
    """Return notes as losses; spellings of older drafts and of OpenAPI are not losses."""
    losses: list[Loss] = []
    for note in notes:
        if note.kind == "dialect":
            continue
        place, keyword = _split_path(note.path)
        reason = f"is left out: {note.reason}" if note.kind == "left-out" else f"is read as {note.reason}".replace("`", "")
        word = keyword if keyword is not None else "type" if note.kind == "word" else "schema"
        asserted = word not in NO_ASSERTIONS and (note.kind == "repair" or word == "type")
        kind: LossKind = "repaired" if asserted else "annotation"
        losses.append(Loss(pointer(place), word, at_or(schema, pointer(note.path), note.what), kind, reason))
    return losses


def _without_unreadable(schema: Json) -> list[Note]:
    """Remove the regular expressions that no engine reads, in place: the schema is fresh from `normalize`.

    Those that are too large stay: they are lost for the target, and `lift` reports that it cannot check them.
    """
    notes: list[Note] = []
    for path, node in walk(schema):
        if not isinstance(node, dict):
            continue
        for keyword in PATTERNS.intersection(node):
            for pattern in unreadable_in(keyword, node[keyword]):
                if too_large(pattern) is not None:
                    continue
                notes.append(Note((*path, keyword), pattern, "left-out", "it is not a regular expression that can be read"))
                if keyword == "pattern":
                    del node[keyword]
                else:
                    del as_object(node[keyword])[pattern]
    return notes


def flat_survey(seen: Survey, documents: Mapping[str, Json] | None, *, sharing: bool) -> Survey:
    """Return the survey of the flattened schema, or the same survey if nothing needs flattening."""
    if documents is None and seen.modern and seen.words.isdisjoint(FOLDED):
        result = seen
    else:
        flat = _flattened(seen.schema, documents, sharing=sharing)
        result = seen if flat is seen.schema else survey(flat)
    if "patternProperties" in result.words:
        _refuse_too_many_matches(result)
    return result


def _flattened(schema: Json, documents: Mapping[str, Json] | None, *, sharing: bool) -> Json:
    """Return the flat schema, expanded, since targets share parts differently; an oversized one shares its parts."""
    from instrc.schema.flattening.flatten import flatten

    try:
        whole: Json = flatten(schema, documents, share=False, limit=LOWERED_SCHEMAS)
    except CompileError as error:
        if not sharing or not any(isinstance(problem, TooLarge) for problem in error.problems):
            raise
        whole = flatten(schema, documents, limit=LOWERED_SCHEMAS)
    return whole


def _refuse_too_many_matches(seen: Survey) -> None:
    """Raise a `CompileError` for objects with very many names and patterns, as every pair is matched."""
    nodes = map(mapping, seen.nodes)
    matches = sum(len(mapping(node.get("properties"))) * len(mapping(node.get("patternProperties"))) for node in nodes)
    if matches > NAMES_AND_PATTERNS:
        what, unit = "the schema", "pairs of a property and a pattern beside it"
        raise CompileError([TooLarge(what=what, size=matches, limit=NAMES_AND_PATTERNS, unit=unit)])
