"""Find suspicious keywords in a valid schema: unknown ones, ones without effect, and values that the schema rejects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct
from msgspec.structs import asdict

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import first_of
from instrc.problems.suggest import is_a_slip_of, nearest
from instrc.process.process import Process
from instrc.schema import vocabulary
from instrc.schema.drafts import NULLABLE, Draft, dialect_of_uri, ignored_words, modern, silences_neighbours
from instrc.schema.formats import CHECKS, has_format
from instrc.schema.impossible import impossible_parts, may_hold_impossible
from instrc.schema.kinds import (
    ALL,
    has_type,
    is_number,
    kind_of_value,
    kinds_of_types,
    kinds_spoken_of,
    listed_values,
    own_kinds,
    types_of,
)
from instrc.schema.laws.numbers import empty_ranges
from instrc.schema.patterns import patterns_in, too_large
from instrc.schema.walk import in_place, subschemas, with_parts
from instrc.text.durations import is_duration, is_no_time
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, Location, at, is_amount, listing, pointer
from instrc.text.source import Span
from instrc.text.visible import shortened

if TYPE_CHECKING:
    from instrc.problems.schemas import Cause
    from instrc.schema.validation import Violation

SHOWN_VALUE: Final = 120
"""Maximum characters of a value shown in a warning."""
TOLD_OF_A_KIND: Final = 20
"""Maximum problems of each kind about suspicious keywords reported for one schema."""
JUDGED_VALUES: Final = 200
"""Maximum defaults and examples of one schema validated fully, among those not obviously valid."""


class SpanOf(Protocol):
    """Returns the place of a part of a document."""

    def __call__(self, pointer: str, /, *, key: bool = False) -> Span | None:
        """Return the place of what a JSON Pointer refers to: its key or its value."""


class ReadNode(Struct, frozen=True):
    """A schema that is an object, and how it is read."""

    path: Location
    schema: dict[str, Json]
    dialect: Draft
    above: frozenset[str]
    """Types that the enclosing schemas allow here."""
    of_process: bool
    """Whether the document is a process, whose blocks have additional keywords."""

    def kinds(self) -> frozenset[str]:
        """Return the kinds of values allowed by this schema, its `allOf` members and the schemas around it, each by itself."""
        if silences_neighbours(self.schema, self.dialect):
            return self.above
        if "allOf" not in self.schema:
            return self.above & own_kinds(self.schema)
        parts = [own_kinds(part) for part in listing(self.schema["allOf"]) if isinstance(part, dict)]
        return reduce(frozenset.intersection, parts, self.above & own_kinds(self.schema))


def read_nodes(schema: Json) -> Iterator[ReadNode]:
    """Yield the schemas of a document that are objects, in source order."""
    parts = (
        in_place([schema], schema) if isinstance(schema, dict) and not schema.keys().isdisjoint({"$ref", "allOf"}) else (schema,)
    )
    of_process = any(map(Process.describes, parts))
    stack: list[tuple[Location, Json, Draft, frozenset[str]]] = [((), schema, NULLABLE, ALL)]
    while stack:
        path, node, dialect, above = stack.pop()
        if node.__class__ is not dict or (of_process and "of" in node and path[-1:] == ("else",)):  # of a `repeat`: no schema
            continue
        if "$schema" in node:
            dialect = dialect_of_uri(node["$schema"]) or dialect
        read = ReadNode(path, node, dialect, above, of_process)
        yield read
        if vocabulary.HOLDERS.isdisjoint(node):  # most schemas are at the end of their path
            continue
        within = ALL if vocabulary.IN_PLACE.isdisjoint(node) else read.kinds()
        below = [
            ((*path, *step), child, dialect, within if step[0] in vocabulary.IN_PLACE else ALL)
            for step, child in subschemas(node)
            if child.__class__ is dict
        ]
        stack.extend(reversed(below))


_NEEDS = {
    "then": ("if",),
    "else": ("if",),
    "if": ("then", "else"),
    "minContains": ("contains",),
    "maxContains": ("contains",),
}
"""Keywords that have no effect without one of certain others."""
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_KINDS = {word: kinds_spoken_of(types) for word, types in vocabulary.SPEAKS_OF.items()}
_TELLING = _KINDS.keys() | _NEEDS.keys() | vocabulary.DRAFT_3 | vocabulary.removed_keywords(2020) | {"format", "nullable"}
"""Keywords without which a schema in the current dialect contains nothing idle."""
_LIMIT = "(min|max)(imum|Length|Items|Properties)"  # compiled on first use
_LIMITED = {"number": "imum", "integer": "imum", "string": "Length", "array": "Items", "object": "Properties"}
"""Second half of the keywords that limit the values of each type."""


def idle_keywords(nodes: Sequence[ReadNode], span_of: SpanOf, allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield the keywords of a valid schema that have no effect, in source order; `allowed` are those that a project permits."""
    is_asked = any(not _UNEVALUATED.isdisjoint(node.schema) for node in nodes)
    """Whether it matters what even a lone `if` has evaluated."""
    for node in nodes:
        old = node.dialect.old and node.dialect is not NULLABLE
        telling = node.schema.keys() if old else node.schema.keys() & _TELLING
        if not telling or telling <= allowed:
            continue
        kinds = node.kinds()
        for word in node.schema:
            if word not in telling or word in allowed or (not old and _applies(word, kinds)):
                continue
            idle = _by_dialect(word, node) or _alone(word, node) or _by_type(word, node, kinds)
            if idle is None or (word == "if" and is_asked):
                continue
            yield problems.schemas.IdleKeyword(at=span_of(pointer((*node.path, word)), key=True), word=word, **asdict(idle))


def _applies(word: str, kinds: frozenset[str]) -> bool:
    """Return whether a keyword, like most, depends on no other keyword and applies to some kinds of values."""
    return word in _KINDS and word not in _NEEDS and not kinds.isdisjoint(_KINDS[word])


class _Idle(Struct, frozen=True):
    """Why a keyword has no effect, as its problem states it."""

    cause: Cause
    applies_to: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    dialect: str = ""
    instead: str | None = None


def _by_dialect(word: str, node: ReadNode) -> _Idle | None:
    """Find words that are not part of the dialect, and values that make a word meaningless."""
    if word == "nullable":
        if not isinstance(node.schema[word], bool):
            return _Idle("value")
        return None if node.dialect.nullable or node.schema[word] is False else _Idle("dialect", dialect=_shown(node.dialect))
    if word in vocabulary.DRAFT_3:
        return _Idle("dialect", dialect=_shown(node.dialect))
    if word not in ignored_words(node.schema, node.dialect):
        return None
    beside = silences_neighbours(node.schema, node.dialect) and word not in node.dialect.unknown
    return _Idle("reference" if beside else "dialect", dialect=_shown(node.dialect))


def _shown(dialect: Draft) -> str:
    return "JSON Schema 2020-12" if dialect is NULLABLE else dialect.name if dialect.nullable else f"JSON Schema {dialect.name}"


def _alone(word: str, node: ReadNode) -> _Idle | None:
    """Find keywords that depend on another, absent one."""
    if word == "additionalItems" and not isinstance(node.schema.get("items"), list):
        return _Idle("items")
    needed = _NEEDS.get(word)
    if needed is None or not node.schema.keys().isdisjoint(needed) or (word == "else" and node.of_process):
        return None
    return _Idle("alone", needed)


def _by_type(word: str, node: ReadNode, kinds: frozenset[str]) -> _Idle | None:
    """Find words that apply only to types of values that cannot occur here."""
    kinds_of_word = _KINDS.get(word)
    if word == "format" and node.schema[word] in CHECKS:
        kinds_of_word = frozenset({"string"})
    if kinds_of_word is None or not kinds or not kinds.isdisjoint(kinds_of_word):
        return None
    allowed, limit = _types(kinds), re.fullmatch(_LIMIT, word)
    instead = None
    if limit is not None and len(allowed) == 1 and allowed[0] in _LIMITED:
        instead = limit[1] + _LIMITED[allowed[0]]
    return _Idle("type", _types(kinds_of_word), allowed, instead=None if instead in node.schema else instead)


def _types(kinds: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the types of some kinds, in alphabetical order."""
    whole = {"number" if kind == "fraction" else kind for kind in kinds}
    return tuple(sorted(whole - {"integer"} if "number" in whole else whole))


def impossible(schema: Json, nodes: Sequence[ReadNode], span_of: SpanOf) -> Iterator[Problem]:
    """Yield the innermost schemas of a valid document that nothing satisfies, in source order.

    Excluded are those reported as an empty range, as an `enum` without members, or as one of the wrong type.
    """
    if not may_hold_impossible(node.schema for node in nodes):
        return
    root, read = _of_today(schema, nodes)
    told = frozenset(node.path for node in nodes if _is_told(node))
    for found in impossible_parts(root, read, told):
        written = next(node.schema for node in nodes if node.path == found.path)
        words = [word for word in written if word in found.words] or list(written)[:1]
        places = [span_of(pointer((*found.path, word)), key=True) for word in words]
        yield problems.schemas.ImpossibleSchema(
            at=places[-1],
            words=tuple(words),
            names=found.names,
            others=tuple(place for place in places[:-1] if place is not None),
        )


def _of_today(schema: Json, nodes: Sequence[ReadNode]) -> tuple[Json, list[tuple[Location, Json]]]:
    """Return a schema and its subschemas by their source paths, converted to the current dialect."""
    if all(node.dialect is NULLABLE and "nullable" not in node.schema for node in nodes):
        return schema, [(node.path, node.schema) for node in nodes]
    done: dict[int, Json] = {}
    for node in reversed(nodes):
        with_today = with_parts(node.schema, done)
        done[id(node.schema)] = modern(with_today, node.dialect) if isinstance(with_today, dict) else with_today
    return done.get(id(schema), schema), [(node.path, done[id(node.schema)]) for node in nodes]


def _is_told(node: ReadNode) -> bool:
    """Return whether another problem already reports that a schema is unsatisfiable."""
    schema = node.schema
    if any(empty_ranges(schema)):
        return True
    values = listed_values(schema) if not {"enum", "const"} & ignored_words(schema, node.dialect) else None
    return values is not None and not own_kinds(schema)


_SAMPLES = ("default", "examples", "example")
_VALUES_TELLING = frozenset({*_SAMPLES, "enum", "const"})
_NO_VERDICT = frozenset({"schema", "json"})
"""Violations that mean that a value could not be checked: a reference leads to another file."""


def refused_values(schema: Json, nodes: Sequence[ReadNode], span_of: SpanOf, allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield the values in a valid schema that it rejects, in source order; `allowed` are keywords that a project permits."""
    doubtful: list[tuple[Location, Json]] = []
    for read in nodes:
        path, node, dialect = read.path, read.schema, read.dialect
        if _VALUES_TELLING.isdisjoint(node):
            continue
        excluded = list(_excluded(path, node, span_of, ignored_words(node, dialect)))
        yield from excluded
        if excluded or any(empty_ranges(node)):
            continue  # a rejected default would only repeat the report
        for word in _SAMPLES:
            if word in node and word not in allowed:
                samples: list[tuple[Location, Json]] = [((), node[word])]
                if word == "examples":
                    samples = [((index,), value) for index, value in enumerate(listing(node[word]))]
                doubtful += [((*path, word, *step), value) for step, value in samples if not _fits_at_sight(value, node)]
    if len(doubtful) > JUDGED_VALUES:
        at_first = span_of(pointer(doubtful[JUDGED_VALUES][0]))
        yield problems.files.UncheckedValues(at=at_first, count=len(doubtful) - JUDGED_VALUES, limit=JUDGED_VALUES)
    if doubtful:
        yield from _judged(schema, doubtful[:JUDGED_VALUES], span_of)


_AT_SIGHT = vocabulary.ANNOTATIONS | {"type", "enum"}


def _fits_at_sight(value: Json, node: dict[str, Json]) -> bool:
    """Return whether a schema with only types and descriptions certainly accepts a scalar, without calling a validator."""
    if isinstance(value, dict | list) or not _AT_SIGHT.issuperset(node) or not has_type(value, types_of(node.get("type")) or ()):
        return False
    return "enum" not in node or (isinstance(value, str) and value in listing(node["enum"]))


def _excluded(path: Location, node: dict[str, Json], span_of: SpanOf, ignored: frozenset[str]) -> Iterator[Problem]:
    """Yield each empty `enum`, and each `const` or member of an `enum` whose type `type` excludes."""
    for word in ("const", "enum"):
        if word in ignored:
            continue
        listed = [node[word]] if word == "const" and word in node else node.get(word)
        place = pointer((*path, word))
        if word == "enum" and listed == []:
            yield problems.schemas.EmptyEnum(at=span_of(place))
        if isinstance(listed, list):
            yield from _repeated(listed, path, span_of) if word == "enum" else ()
            yield from _without_format(word, listed, path, node, span_of) if "format" not in ignored else ()
        types = None if "type" in ignored else types_of(node.get("type"))
        if types is None or not isinstance(listed, list):
            continue
        kinds = kinds_of_types(node["type"]) | (frozenset({"null"}) if node.get("nullable") is True else frozenset())
        wrong = [value for value in listed if kind_of_value(value) not in kinds]
        if wrong:
            yield problems.schemas.ExcludedValue(
                at=span_of(place),
                word=word,
                values=tuple(_shortened(value) for value in wrong[:5]),
                types=tuple(sorted(types)),
                every=len(wrong) == len(listed),
            )


def _repeated(listed: list[Json], path: Location, span_of: SpanOf) -> Iterator[Problem]:
    """Yield the members of an `enum` that equal an earlier one."""
    seen: set[tuple[str, Json]] = set()
    for index, value in enumerate(listed):
        key = (value.__class__.__name__, dumps(value)) if not is_number(value) else ("number", value)
        if key in seen:
            yield problems.schemas.RepeatedValue(at=span_of(pointer((*path, "enum", index))), value=_shortened(value))
        seen.add(key)


def _shortened(value: Json) -> str:
    return shortened(dumps(value, indent=False), 30)


def _without_format(word: str, listed: list[Json], path: Location, node: dict[str, Json], span_of: SpanOf) -> Iterator[Problem]:
    """Yield the listed strings that do not have the format of their schema."""
    written = node.get("format")
    if not isinstance(written, str) or written not in CHECKS:
        return
    wrong = [(index, value) for index, value in enumerate(listed) if not has_format(written, value)]
    for index, value in wrong:
        place = pointer((*path, word) if word == "const" else (*path, word, index))
        every = len(wrong) == len(listed)
        yield problems.schemas.FormatExcludesValue(
            at=span_of(place), word=word, value=_shortened(value), format=written, every=every
        )


def _judged(schema: Json, doubtful: list[tuple[Location, Json]], span_of: SpanOf) -> Iterator[Problem]:
    """Yield those of some values, given with their places, that the surrounding schemas certainly reject."""
    from instrc.schema.upgrade import upgrade  # as heavy as the next one, and few schemas need them
    from instrc.schema.validation import SchemaValidator

    try:
        today = upgrade(schema, nullable=True)
    except CompileError:  # the dialect is not known, or a reference leads nowhere: others report that
        return
    validator = SchemaValidator(today)
    for path, value in doubtful:
        word = next(part for part in reversed(path) if part in _SAMPLES)
        holder = path[: len(path) - 1 - path[::-1].index(word)]
        try:
            if at(today, pointer(path)) != value:
                continue
        except (LookupError, ValueError):  # current keywords have it elsewhere
            continue
        violations = validator.validate_part(value, pointer(holder))
        if violations and violations[0].keyword not in _NO_VERDICT:
            place = span_of(pointer(path))
            yield problems.schemas.RefusedDefault(at=place, word=str(word), reason=_reason(violations[0]), null=value is None)


def _reason(violation: Violation) -> str:
    where = f"at `{violation.instance}` " if violation.instance else ""
    text = f"{where}{violation.message}"
    return text if len(text) <= SHOWN_VALUE else f"{text[:50]} … {text[-65:]}"


def suspicious_words(schema: Json, span_of: SpanOf, allowed: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yield unknown keywords and formats, empty ranges, keywords without effect and rejected values, each in source order.

    `allowed` are the project's own keywords.
    """
    nodes = list(read_nodes(schema))
    found = (
        _unknown(nodes, span_of, allowed),
        _of_engines(nodes, span_of, allowed),
        idle_keywords(nodes, span_of, allowed),
        refused_values(schema, nodes, span_of, allowed),
    )
    for kind in (*found, impossible(schema, nodes, span_of)):
        yield from first_of(kind, TOLD_OF_A_KIND)


_OF_PATTERNS = frozenset({"pattern", "patternProperties"})


def _unknown(nodes: list[ReadNode], span_of: SpanOf, allowed: frozenset[str]) -> Iterator[Problem]:
    for read in nodes:
        path, node = read.path, read.schema
        known = vocabulary.KNOWN if read.of_process else vocabulary.OF_VIBES
        if not node.keys() <= known:
            for keyword in node:
                if read.of_process and not path and keyword in {"inputs", "value"}:
                    continue
                if keyword not in known and keyword not in allowed and not vocabulary.is_extension(keyword):
                    at = span_of(pointer((*path, keyword)), key=True)
                    if keyword in vocabulary.ENGINE:
                        yield problems.schemas.UnknownKeyword(at=at, word=keyword, lost=problems.schemas.OF_PROGRAMS)
                    else:
                        meant = tuple(word for word in _OF_OTHERS.get(keyword, ()) if word in known)
                        yield problems.schemas.UnknownKeyword(
                            at=at, word=keyword, nearest=meant or nearest(keyword, vocabulary.OFFERED)
                        )
        written = node.get("format")
        if (
            written.__class__ is str
            and written not in vocabulary.FORMATS
            and written not in allowed
            and not vocabulary.is_extension(written)
        ):
            close = nearest(written, tuple(sorted(vocabulary.FORMATS)))
            yield problems.schemas.UnknownFormat(at=span_of(pointer((*path, "format"))), word=written, nearest=close)
        yield from _ranges(path, node, span_of)
        if _OF_PATTERNS.isdisjoint(node):
            continue
        for below, pattern in patterns_in(node):
            if (why := too_large(pattern)) is not None:
                yield problems.files.PatternTooLarge(at=span_of(pointer((*path, *below))), why=why)


_OF_OTHERS = {
    "min": ("minimum", "minLength", "minItems"),
    "max": ("maximum", "maxLength", "maxItems"),
    "regex": ("pattern",),
    "match": ("pattern",),
    **dict.fromkeys(("values", "choices", "allowed"), ("enum",)),
    **dict.fromkeys(("fields", "props", "attributes"), ("properties",)),
    "reference": ("references",),
    "activty": ("activity",),
    "argument": ("arguments",),
}
"""Equivalents of keywords from other systems and from this engine."""


def _ranges(path: Location, node: dict[str, Json], span_of: SpanOf) -> Iterator[Problem]:
    """Yield pairs of bounds that leave nothing between them."""
    for lower, upper, _ in empty_ranges(node):
        yield problems.schemas.EmptyRange(
            at=span_of(pointer((*path, lower))),
            lower=lower,
            upper=upper,
            low=str(node[lower])[:40],
            high=str(node[upper])[:40],
            other=span_of(pointer((*path, upper))),
        )


def _are_names(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(name, str) for name in value))


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_span(value: Json) -> bool:
    return isinstance(value, str) and is_duration(value) and not is_no_time(value)


_LOST = {vocabulary.TEMPERATURE: "does not set a temperature", vocabulary.WORDINGS: "names no other wordings"}
_RULES: Final[Mapping[str, tuple[Callable[[Json], bool], str, str]]] = {
    "x-approvers": (lambda value: bool(value) and _are_names(value), "a name or a list of names", "no one can answer this step"),
    "x-not": (_are_names, "a name or a list of names", "no one can answer this step"),
    "x-needed": (_is_count, "a whole number of at least 1", "no one can answer this step"),
    "x-veto": (lambda value: isinstance(value, bool), "`true` or `false`", "one refusal decides"),
    "x-claim": (_is_span, 'a duration such as "PT2H"', "a claim lasts as long as the settings say"),
    "x-links": (lambda value: isinstance(value, bool), "`true` or `false`", "links are for candidates only"),
    vocabulary.TEMPERATURE: (is_amount, "a number of at least 0", ""),
    vocabulary.WORDINGS: (lambda value: isinstance(value, list) and _are_names(value), "a list of texts", ""),
}
"""Values of engine keywords that can be read, and what follows from any other value."""


def _of_engines(nodes: list[ReadNode], span_of: SpanOf, allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield unreadable and misspelt engine keywords, which nothing else would report, since any name may begin with `x-`."""
    for read in nodes:
        for word, value in read.schema.items():
            accepts, wanted, follows = _RULES.get(word, (bool, "", ""))
            if word in vocabulary.APPROVAL and not accepts(value):
                at = span_of(pointer((*read.path, word)))
                yield problems.schemas.InvalidApprovalRule(at=at, word=word, wanted=wanted, follows=follows)
            is_read = word in vocabulary.APPROVAL or (word in _RULES and accepts(value))
            if is_read or not vocabulary.is_extension(word) or word in allowed:
                continue
            beside = any(each in read.schema for each in vocabulary.APPROVAL)
            approval = vocabulary.APPROVAL if beside else vocabulary.APPROVAL[:2]  # `x-note` and `x-vote` are ordinary keywords
            known = (*approval, vocabulary.TEMPERATURE, vocabulary.WORDINGS)
            meant = tuple(each for each in known if is_a_slip_of(word.lower(), each) or word.lower() == each)
            if meant:
                lost = f"is not {wanted}" if word in _RULES else _LOST.get(meant[0], "does not say who approves")
                at = span_of(pointer((*read.path, word)), key=True)
                yield problems.schemas.UnknownKeyword(at=at, word=word, nearest=() if word in meant else meant, lost=lost)
