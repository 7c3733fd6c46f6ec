"""Make every `jsonschema` validator of the project: validate values safely, whoever wrote the schema and the value.

* Nothing is retrieved: a reference that leads out of the schema is told, never opened or fetched.
* Regular expressions are matched in linear time (see `expressions`), and formats are checked where that is asked for.
* `uniqueItems` costs what the items cost, and endless recursion, depth and odd schemas end in a violation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from instrc.jsontext import dumps, is_writable, loads
from instrc.jsonvalue import Json, pointer
from instrc.limits.schemas import INSTANCE_CONTAINERS, INSTANCE_LEVELS, TOLD_HEAD, TOLD_WORDS
from instrc.schema.expressions import time_limit
from instrc.schema.plainly import satisfies_plainly
from instrc.schema.violation_words import in_words, of_intended_branch
from instrc.schema.walk import map_schemas

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

    from instrc.schema.validators import Validator

RAISED_ON_PURPOSE = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""All else is a verdict that failed: endless recursion may surface as a panic of the library's maps, which is no `Exception`."""


class Violation(NamedTuple):
    """One way in which a value does not satisfy a schema."""

    instance: str
    """Where in the value, as a JSON Pointer."""
    keyword: str
    schema: str
    """Where the keyword stands, as a JSON Pointer into the schema."""
    message: str

    def to_json(self) -> Json:
        """Return the violation as plain JSON."""
        return self._asdict()


def validate(value: Json, schema: Json, *, formats: bool = True, most: int = 50) -> tuple[Violation, ...]:
    """Return what is wrong with a value: the first `most` violations, none for a value that satisfies the schema.

    Formats are asserted unless `formats` is false.
    A value that is not JSON (an infinite float, an object of Python) is a violation, and so is a schema that cannot be applied.
    """
    return _validated(value, schema, lambda: validator(schema, formats=formats), most)


class SchemaValidator:
    """Validates many values by one schema, which nobody changes meanwhile: the validator is made once."""

    def __init__(self, schema: Json, *, formats: bool = True) -> None:
        """Assert formats unless `formats` is false."""
        self.schema = schema
        self._formats = formats
        self._made: Validator | None = None

    def validate(self, value: Json, *, most: int = 50) -> tuple[Violation, ...]:
        """Return what is wrong with a value, as `validate` does."""
        return _validated(value, self.schema, self._validator, most)

    def is_valid(self, value: Json, *, unsure: bool = True) -> bool:
        """Tell whether a value satisfies the schema; `unsure` is the answer for a schema that cannot be applied."""
        return _is_valid(value, self.schema, self._validator, unsure=unsure)

    def _validator(self) -> Validator:
        if self._made is None:
            schema = self.schema
            names_dialect = '"$schema"' in dumps(schema, indent=False)
            make = validator if names_dialect else of
            self._made = make(schema, formats=self._formats)
        return self._made


def _validated(value: Json, schema: Json, made: Callable[[], Validator], most: int) -> tuple[Violation, ...]:
    if (place := json_fault(value)) is not None:
        return (Violation(place[0], "json", "", place[1]),)
    if satisfies_plainly(value, schema):
        return ()
    try:
        with time_limit():
            return tuple(map(_violation, islice(made().iter_errors(value), most)))
    except RAISED_ON_PURPOSE:
        raise
    except BaseException as error:  # noqa: BLE001  -- whatever the schema does to the library; here it must be said
        return (Violation("", "schema", "", f"the schema cannot be applied: {_reason(error)}"[:TOLD_WORDS]),)


def is_valid(value: Json, schema: Json, *, formats: bool = False, unsure: bool = True) -> bool:
    """Tell whether a value satisfies a schema; `unsure` is the answer for a schema that cannot be applied."""
    return _is_valid(value, schema, lambda: validator(schema, formats=formats), unsure=unsure)


def _is_valid(value: Json, schema: Json, made: Callable[[], Validator], *, unsure: bool) -> bool:
    if isinstance(schema, bool):
        return schema
    try:
        with time_limit():
            return made().is_valid(value)
    except RAISED_ON_PURPOSE:
        raise
    except BaseException:  # noqa: BLE001  -- as above
        return unsure


class PartValidator:
    """Validates values by single schemas of one document, which nobody changes meanwhile; formats are asserted."""

    def __init__(self, document: Json) -> None:
        """Make the validator of the document only when the first value comes."""
        self.document = document
        self._made: Validator | None = None

    def validate(self, value: Json, place: str, *, most: int = 1) -> tuple[Violation, ...]:
        """Return what is wrong with a value by the schema at a JSON Pointer, as `validate` does."""
        from urllib.parse import quote

        part: Json = {"$ref": "#" + quote(place, safe="/~")}  # the library follows it, and knows the addresses on the way
        return _validated(value, part, lambda: self._validator().evolve(schema=part), most)

    def _validator(self) -> Validator:
        if self._made is None:
            self._made = validator(self.document, formats=True)
        return self._made


def validator(schema: Json, *, formats: bool) -> Validator:
    """Return a validator of a schema by JSON Schema 2020-12, for those who need the library's own errors.

    It may raise whatever the schema provokes: whoever calls it catches that.
    """
    return _cached(dumps(schema, indent=False), formats)


@lru_cache(maxsize=512)
def _cached(text: str, formats: bool) -> Validator:  # noqa: FBT001  -- a part of the key
    schema = loads(text)
    if '"$schema"' in text:
        schema = map_schemas(schema, _without_dialect)  # else the library takes a validator of its own for what is below
    return of(schema, formats=formats)


def of(schema: Json, *, formats: bool) -> Validator:
    """Return a validator of a schema as it is given, without a copy; the schema must hold no `$schema`."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # 100 ms with the library: only for values

    from instrc.schema.formats import checker
    from instrc.schema.validators import validator_class

    return validator_class()(schema, registry=REGISTRY, format_checker=checker() if formats else None)


def _without_dialect(node: Json) -> Json:
    if not isinstance(node, dict) or "$schema" not in node:
        return node
    return {key: item for key, item in node.items() if key != "$schema"}


def _violation(error: ValidationError) -> Violation:
    error = of_intended_branch(error)
    keyword = error.validator if isinstance(error.validator, str) else "false"
    return Violation(
        pointer(error.absolute_path), keyword, pointer(error.absolute_schema_path), _shorten_message(in_words(error))
    )


def _shorten_message(message: str) -> str:
    """Return a message without the middle of a long value: what is wrong with it stands at the end."""
    return message if len(message) <= TOLD_WORDS else f"{message[:TOLD_HEAD]} … {message[TOLD_HEAD + 3 - TOLD_WORDS :]}"


def _reason(error: BaseException) -> str:
    from referencing.exceptions import Unresolvable

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, Unresolvable):
            return f"it refers to `{cause.ref}`, which is not in it, and nothing is ever fetched"
        cause = cause.__cause__
    if isinstance(error, ValueError) and "digits" in str(error):
        return "a number in it or in the value is too long to be shown"
    if isinstance(error, RecursionError):
        return "it leads in a circle, or is nested too deeply"
    return f"{type(error).__name__}: {error}"


_HALF = "half of a surrogate pair, which no JSON can hold"


def json_fault(value: Json) -> tuple[str, str] | None:
    """Return where a value is not JSON and why; `None` if it is."""
    stack: list[tuple[Json, tuple[str | int, ...]]] = [(value, ())]
    left = INSTANCE_CONTAINERS
    while stack:
        item, path = stack.pop()
        if (left := left - 1) < 0:
            return "", f"it holds more than {INSTANCE_CONTAINERS:,} objects and lists, or one of them very often"
        if isinstance(item, dict | list):
            if len(path) > INSTANCE_LEVELS:
                return pointer(path[:20]), f"it is nested deeper than {INSTANCE_LEVELS} levels, or holds itself"
            if isinstance(item, dict):
                for key, inner in item.items():
                    if not isinstance(key, str):
                        return pointer(path), f"a key in it is not a text but of the type {type(key).__name__}"
                    if not is_writable(key):
                        return pointer(path), f"a key in it holds {_HALF}"
                    if not _is_plain(inner):
                        stack.append((inner, (*path, key)))
            else:
                stack.extend((inner, (*path, index)) for index, inner in enumerate(item) if not _is_plain(inner))
        elif isinstance(item, float) and not isfinite(item):
            return pointer(path), f"JSON has no number {item}"
        elif isinstance(item, str) and not is_writable(item):
            return pointer(path), f"it holds {_HALF}"
        elif not _is_plain(item):
            return pointer(path), f"it is not a JSON value but of the type {type(item).__name__}"
    return None


def _is_plain(value: Json) -> bool:
    if isinstance(value, str):
        return is_writable(value)
    return value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value))
