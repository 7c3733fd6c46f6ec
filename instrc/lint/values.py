"""Find values in a schema that the schema itself refuses: defaults, examples, members of an `enum`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, Location, at, pointer
from instrc.limits.programs import SHOWN_VALUE
from instrc.limits.schemas import JUDGED_VALUES
from instrc.lint.reading import ReadNode, SpanOf
from instrc.problems.problem import CompileError, Problem
from instrc.schema.drafts import ignored_words
from instrc.schema.formats import CHECKS, has_format
from instrc.schema.kinds import is_number, kind_of_value, kinds_of_types, types_of
from instrc.schema.laws.bounds import empty_ranges
from instrc.schema.plainly import satisfies_plainly

if TYPE_CHECKING:
    from instrc.schema.validation import Violation

_SAMPLES = ("default", "examples", "example")
_TELLING = frozenset({*_SAMPLES, "enum", "const"})
_NO_VERDICT = frozenset({"schema", "json"})
"""Keywords of violations that say that a value could not be judged: a reference leads to another file."""


def refused_values(schema: Json, nodes: Sequence[ReadNode], span_of: SpanOf, allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield the values in a sound schema that it refuses, in written order; `allowed` are keywords that a project permits."""
    doubtful: list[tuple[Location, Json]] = []
    for read in nodes:
        path, node, dialect = read.path, read.schema, read.dialect
        if _TELLING.isdisjoint(node):
            continue
        excluded = list(_excluded(path, node, span_of, ignored_words(node, dialect)))
        yield from excluded
        if excluded or any(empty_ranges(node)):
            continue  # that a default is refused would only say it again
        for word in _SAMPLES:
            if word in node and word not in allowed:
                samples = list(_samples(word, node[word]))
                doubtful += [((*path, word, *step), value) for step, value in samples if not satisfies_plainly(value, node)]
    if len(doubtful) > JUDGED_VALUES:
        from instrc.problems.files import UncheckedValues  # only where there are so many

        at_first = span_of(pointer(doubtful[JUDGED_VALUES][0]))
        yield UncheckedValues(at=at_first, count=len(doubtful) - JUDGED_VALUES, limit=JUDGED_VALUES)
    if doubtful:
        yield from _judged(schema, doubtful[:JUDGED_VALUES], span_of)


def _samples(word: str, held: Json) -> Iterator[tuple[Location, Json]]:
    if word != "examples":
        yield (), held
    elif isinstance(held, list):
        yield from (((index,), value) for index, value in enumerate(held))


def _excluded(path: Location, node: dict[str, Json], span_of: SpanOf, ignored: frozenset[str]) -> Iterator[Problem]:
    """Yield an `enum` without members, and a `const` and members of an `enum` that have a type which `type` excludes."""
    for word in ("const", "enum"):
        if word in ignored:
            continue
        listed = [node[word]] if word == "const" and word in node else node.get(word)
        place = pointer((*path, word))
        if word == "enum" and listed == []:
            from instrc.problems.schemas import EmptyEnum  # only where there is one, as the problems below

            yield EmptyEnum(at=span_of(place))
        if isinstance(listed, list):
            yield from _repeated(listed, path, span_of) if word == "enum" else ()
            yield from _without_format(word, listed, path, node, span_of) if "format" not in ignored else ()
        types = None if "type" in ignored else types_of(node.get("type"))
        if types is None or not isinstance(listed, list):
            continue
        kinds = kinds_of_types(node["type"]) | (frozenset({"null"}) if node.get("nullable") is True else frozenset())
        wrong = [value for value in listed if kind_of_value(value) not in kinds]
        if wrong:
            from instrc.problems.schemas import ExcludedValue

            yield ExcludedValue(
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
            from instrc.problems.schemas import RepeatedValue  # only where there is one

            yield RepeatedValue(at=span_of(pointer((*path, "enum", index))), value=_shortened(value))
        seen.add(key)


def _without_format(word: str, listed: list[Json], path: Location, node: dict[str, Json], span_of: SpanOf) -> Iterator[Problem]:
    """Yield the listed texts that do not have the format of their schema."""
    written = node.get("format")
    if not isinstance(written, str) or written not in CHECKS:
        return
    wrong = [(index, value) for index, value in enumerate(listed) if not has_format(written, value)]
    for index, value in wrong:
        from instrc.problems.schemas import FormatExcludesValue  # only where there is one

        place = pointer((*path, word) if word == "const" else (*path, word, index))
        every = len(wrong) == len(listed)
        yield FormatExcludesValue(at=span_of(place), word=word, value=_shortened(value), format=written, every=every)


def _shortened(value: Json) -> str:
    text = dumps(value, indent=False)
    return text if len(text) <= 30 else text[:29] + "…"


def _judged(schema: Json, doubtful: list[tuple[Location, Json]], span_of: SpanOf) -> Iterator[Problem]:
    """Yield those of some values, given with their places, that the schemas around them refuse for certain."""
    from instrc.schema.upgrade import upgrade  # heavy as the next one, and few schemas need them
    from instrc.schema.validation import PartValidator

    try:
        today = upgrade(schema, nullable=True)
    except CompileError:  # the dialect is not known, or a reference leads nowhere: that is told by others
        return
    validator = PartValidator(today)
    for path, value in doubtful:
        word = next(part for part in reversed(path) if part in _SAMPLES)
        holder = path[: len(path) - 1 - path[::-1].index(word)]
        try:
            if at(today, pointer(path)) != value:
                continue
        except (LookupError, ValueError):  # it stands elsewhere in the words of today
            continue
        violations = validator.validate(value, pointer(holder))
        if violations and violations[0].keyword not in _NO_VERDICT:
            from instrc.problems.schemas import RefusedDefault

            place = span_of(pointer(path))
            yield RefusedDefault(at=place, word=str(word), reason=_reason(violations[0]), null=value is None)


def _reason(violation: Violation) -> str:
    where = f"at `{violation.instance}` " if violation.instance else ""
    text = f"{where}{violation.message}"
    return text if len(text) <= SHOWN_VALUE else f"{text[:50]} … {text[-65:]}"
