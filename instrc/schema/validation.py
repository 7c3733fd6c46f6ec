"""Validate untrusted values by untrusted schemas, and describe each violation.

* Nothing is retrieved: a reference that leads out of the schema is reported.
* Regular expressions are matched in linear time (see `patterns`), and formats are checked on demand.
* `uniqueItems` is linear in the items; endless recursion, depth and malformed schemas end in a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from itertools import islice
from math import isfinite
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing.jsonschema import DRAFT202012

from instrc.schema.kinds import EqualityKeys, as_decimal, has_type, is_number, listed_values, types_of
from instrc.schema.patterns import search, time_limit, why_unreadable
from instrc.schema.violation_words import UNIONS, in_words, names_as_json, of_intended_branch, value_in_words
from instrc.schema.walk import dereferenced, map_schemas, without
from instrc.text.jsontext import dumps, is_writable, loads
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object, freeze, listing, mapping, optional_text, pointer, size_of
from instrc.text.sentences import filled

CACHED_SCHEMA: Final = 200_000
"""Characters from which a schema is not cached: choices are part of one, and differ in each run."""
TOLD_WORDS: Final = 500
"""Maximum characters of a validator's message about one violation."""
TOLD_HEAD: Final = 200
"""Maximum characters of a message: those of the library contain the whole value."""
INSTANCE_LEVELS: Final = 2_000
"""Maximum nesting of a validated value; deeper values are refused."""
REFERRED_ERRORS: Final = 300
"""Maximum errors of a value that are kept for one reference."""
INSTANCE_CONTAINERS: Final = 2_000_000
"""Maximum objects and lists of a validated value; larger values are refused."""
CHECKS: Final = 500_000
"""Maximum checks of a small value in one validation: a thousand branches for each of five hundred parts."""
CHECKS_OF_A_CHARACTER: Final = 3
"""Further checks for each character of a value, as `size_of` counts them."""
REMEMBERED_VALUE: Final = 20_000
"""Minimum characters of a value that is remembered as valid: a run validates its answers whenever it is read."""
_MOST_VALID: Final = 500
_VALID: Final[set[bytes]] = set()
"""Digests of valid values with their schemas."""


class Validator(Protocol):
    """The library's validator: the methods used here and in the custom keywords."""

    schema: Json
    _resolver: Any  # there is no public function from a reference to its schema

    def iter_errors(self, instance: Json) -> Iterator[ValidationError]:
        """Yield the errors of a value."""

    def descend(
        self, instance: Json, schema: Json, path: str | int | None = None, schema_path: str | int | None = None
    ) -> Iterator[ValidationError]:
        """Yield the errors of a part."""

    def evolve(self, *, schema: Json, _resolver: object = ...) -> Validator:
        """Return a copy of the validator for another schema."""


@lru_cache(maxsize=1)
def validator_class() -> Callable[..., Validator]:
    """Return the class of the validators."""
    result = extend(  # type: ignore[no-untyped-call]  # the library's own function has no types
        Draft202012Validator,
        {
            "$ref": _reference,
            "$dynamicRef": _reference,
            "anyOf": partial(_of_branches, several=True),
            "oneOf": partial(_of_branches, several=False),
            "enum": _enum,
            "required": _required,
            "dependentRequired": _dependent_required,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "unevaluatedItems": _unevaluated_items,
            "unevaluatedProperties": _unevaluated_properties,
            "multipleOf": _multiple_of,
            "uniqueItems": _unique_items,
            "not": _not,
            **{word: partial(_unwritten, Draft202012Validator.VALIDATORS[word]) for word in _UNWRITTEN},
        },
    )
    result.is_valid = lambda part, instance: _holds(part, instance, part.schema)
    result.descend = _descend
    return cast("Callable[..., Validator]", result)


_Check: TypeAlias = Callable[[Validator, Json, Json, Json], Iterator[ValidationError]]
_KNOWN: ContextVar[dict[tuple[object, ...], Any]] = ContextVar("_KNOWN")  # errors, and what is evaluated
"""What was found out about values and the targets of references, in one call of `errors_of`."""
_LEFT: Final = ("left",)
"""Key of the number of checks that are left."""
_KEYS: Final = ("keys",)
"""Key of the function whose results for two values are equal if these are."""
_SEARCH: Final = ("search",)
"""Key of the message about an undecided search on which the result depends."""
_UNDECIDED: Final = ValueError("a search is undecided")
"""Cause of an error that another result of a search might not have."""


def _reference(validator: Validator, reference: str, instance: Json, _: Json) -> Iterator[ValidationError]:
    below = _followed(validator, reference)
    if (key := (id(instance), id(below))) not in (known := _KNOWN.get()):
        known[key] = None
        known[key] = list(islice(below.iter_errors(instance), REFERRED_ERRORS))
    if known[key] is None:
        raise RecursionError  # the check of this value by this target leads to itself
    yield from map(ValidationError.create_from, known[key])


def _descend(validator: Validator, instance: Json, schema: Json, **place: str | int) -> Iterator[ValidationError]:
    """Validate a part as the library does, with one validator for each part of the schema, and within `CHECKS`."""
    _count(10)
    known, here = _KNOWN.get(), validator._resolver  # noqa: SLF001  -- as in `_followed`
    if (key := ("part", id(schema), id(here))) not in known:
        known[key] = validator.evolve(schema=schema, _resolver=here.in_subresource(DRAFT202012.create_resource(schema)))

    def placed(error: ValidationError) -> ValidationError:
        for name, step in place.items():
            getattr(error, name).appendleft(step)
        return error

    return map(placed, known[key].iter_errors(instance))  # a generator more for each level would halve the possible depth


def _count(checks: int) -> None:
    """Subtract from the checks that are left; if none are, the value is undecided."""
    known = _KNOWN.get({_LEFT: checks})
    known[_LEFT] -= checks
    if known[_LEFT] < 0:
        known[_SEARCH] = "checking it takes too long: make it smaller, or use a schema with fewer branches"
        raise TimeoutError


def _followed(validator: Validator, reference: str) -> Validator:
    """Return the validator of the target of a reference: the same one for the same reference in the same dynamic scope."""
    known, here = _KNOWN.get(), validator._resolver  # noqa: SLF001  -- there is no public function from a reference to its schema
    if (key := ("target", id(here), reference)) not in known:
        found = here.lookup(reference)
        scope = dict.fromkeys(reversed([uri for uri, _ in found.resolver.dynamic_scope()]))
        resolver = known.setdefault(("scope", found.resolver._base_uri, *scope), found.resolver)  # noqa: SLF001  -- as above
        known[key] = validator.evolve(schema=found.contents, _resolver=resolver)
    return cast("Validator", known[key])


def _of_branches(
    validator: Validator, branches: list[Json], instance: Json, _: Json, *, several: bool
) -> Iterator[ValidationError]:
    """Validate as the library does, but try the branches that `_rules_out` excludes last, and only for their errors."""
    _count(len(branches))
    found: dict[int, list[ValidationError]] = {}
    fits, out = False, [_rules_out(branch, instance) or _rules_out(_target(validator, branch), instance) for branch in branches]
    for number in sorted(range(len(branches)), key=out.__getitem__):
        if fits and out[number]:
            return
        errors = [*islice(validator.descend(instance, branches[number], schema_path=number), REFERRED_ERRORS)]
        if not several:
            _note_undecided(errors)  # of two that fit, neither would do
        if fits and not errors:
            yield ValidationError(" is valid under more than one of the given schemas")
        if not errors and (fits or several):
            return
        fits, found[number] = fits or not errors, errors
    if not fits:
        told = (each for _, errors in sorted(found.items()) for each in errors)
        unsure = any(map(_are_undecided, found.values()))
        cause = _UNDECIDED if unsure else None
        yield ValidationError(" is not valid under any of the given schemas", context=[*told], cause=cause)


def _target(validator: Validator, schema: Json) -> Json:
    """Return the target of the reference in a schema, looked up once; `True` without one, or if it cannot be looked up."""
    with suppress(Exception):  # the check of the branch reports it
        return _followed(validator, str(mapping(schema)["$ref"])).schema
    return True


def _rules_out(schema: Json, value: Json) -> bool:
    """Return whether a quick look at types, constants, members and branches shows that a value is invalid."""
    if not isinstance(schema, dict):
        return schema is False
    if (types := types_of(schema.get("type"))) is not None and not has_type(value, types):
        return True
    if not isinstance(value, dict | list):
        values = listed_values(schema)
        return values is not None and len(values) == 1 and freeze(values[0]) != freeze(value)
    members = mapping(schema.get("properties"))
    if isinstance(value, dict):
        is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        has_all = all(map(value.__contains__, listing(schema.get("required"))))
        if not has_all or (is_closed and not value.keys() <= members.keys()):
            return True
    key = ("out", id(schema), id(value))
    if key not in (known := _KNOWN.get({})):  # asked anew at each level of nested unions
        unions = [branches for word in UNIONS if (branches := listing(schema.get(word)))]
        around = mapping(value).items()
        scalars = [(members[name], part) for name, part in around if name in members and not isinstance(part, dict | list)]
        _count(len(scalars) + sum(map(len, unions)))
        known[key] = any(_rules_out(*each) for each in scalars) or any(
            all(_rules_out(branch, value) for branch in branches) for branches in unions
        )
    return cast("bool", known[key])


def _enum(_validator: Validator, values: list[Json], instance: Json, _: Json) -> Iterator[ValidationError]:
    """Look up a value in an `enum`; the library compares it with each of the values."""
    known, key = _KNOWN.get(), ("enum", id(values))
    if key not in known and not isinstance(instance, str):
        known[key] = set(map(known[_KEYS], values))
    if instance not in values if isinstance(instance, str) else known[_KEYS](instance) not in known[key]:
        yield ValidationError("it is not one of the values")  # `violation_words` names them on request


def _required(_validator: Validator, names: Json, instance: Json, _: Json) -> Iterator[ValidationError]:
    for name in as_array(names) if isinstance(instance, dict) else ():
        if name not in mapping(instance):
            yield ValidationError(f"{value_in_words(name)} is a required property")


def _dependent_required(_validator: Validator, needs: Json, instance: Json, _: Json) -> Iterator[ValidationError]:
    members = mapping(instance)
    for given, names in as_object(needs).items():
        for name in as_array(names) if given in members else ():
            if name not in members:
                yield ValidationError(f"{value_in_words(name)} is required beside {value_in_words(given)}")


def _pattern(_validator: Validator, pattern: str, instance: Json, _: Json) -> Iterator[ValidationError]:
    found = search(pattern, instance) if isinstance(instance, str) else True
    if found is None:
        yield _undecided(pattern)
    elif not found:
        yield ValidationError(f"{value_in_words(instance)} does not match {value_in_words(pattern)}")


def _undecided(pattern: str, path: Sequence[str] = ()) -> ValidationError:
    why = why_unreadable(pattern)
    said = (
        f"the regular expression {value_in_words(pattern)} cannot be read: {why}"
        if why
        else f"matching {value_in_words(pattern)} takes too long on this text"
    )
    return ValidationError(said, path=path, cause=_UNDECIDED)


def _are_undecided(errors: Sequence[ValidationError]) -> bool:
    """Return whether another result of a search might leave none of the errors."""
    return bool(errors) and all(error.cause is _UNDECIDED for error in errors)


def _note_undecided(errors: Sequence[ValidationError]) -> None:
    """Note errors that are undecided, so that a keyword such as `not` cannot turn them into acceptance."""
    if _are_undecided(errors):
        error = errors[0]
        while error.context:
            error = next(each for each in error.context if each.cause is _UNDECIDED)
        _KNOWN.get().setdefault(_SEARCH, error.message)


def _pattern_properties(validator: Validator, patterns: dict[str, Json], instance: Json, _: Json) -> Iterator[ValidationError]:
    for pattern, inner in patterns.items():
        for key, part in mapping(instance).items():
            found = search(pattern, key)
            if found is None:
                yield _undecided(pattern, (key,))
                if why_unreadable(pattern) is None:  # the time for the others is over as well
                    return
            elif found:
                yield from validator.descend(part, inner, path=key, schema_path=pattern)


def _additional_properties(validator: Validator, extra: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    around = as_object(schema)
    names, patterns = as_object(around.get("properties", {})), as_object(around.get("patternProperties", {}))
    left = _unmatched(patterns, [key for key in mapping(instance) if key not in names])
    return _not_described(validator, "Additional", extra, mapping(instance), left)


def _unmatched(patterns: Iterable[str], keys: list[str]) -> list[str]:
    """Return the keys that match none of several patterns; an undecided match is reported at the patterns."""
    for pattern in patterns:
        keys = [key for key in keys if search(pattern, key) is False]
    return keys


def _unevaluated_properties(validator: Validator, rest: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return iter(())
    evaluated = _evaluated(validator, instance, without(schema, "unevaluatedProperties"))
    return _not_described(validator, "Unevaluated", rest, instance, [key for key in instance if key not in evaluated])


def _not_described(
    validator: Validator, word: str, rest: Json, instance: JsonObject, left: list[str]
) -> Iterator[ValidationError]:
    """Check the members of an object that other keywords leave."""
    if isinstance(rest, dict):
        for key in left:
            yield from validator.descend(instance[key], rest, path=key)
    elif rest is False and left:
        listed = f"{names_as_json(left[:TOLD_HEAD])} {'was' if len(left) == 1 else 'were'}"
        yield ValidationError(f"{word} properties are not allowed ({listed} unexpected)", validator_value=left)


def _unevaluated_items(validator: Validator, rest: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if isinstance(instance, list):
        evaluated = _evaluated(validator, instance, without(schema, "unevaluatedItems"))
        if not all(index in evaluated or _holds(validator, item, rest) for index, item in enumerate(instance)):
            yield ValidationError("it has more items than are described")


def _evaluated(validator: Validator, instance: dict[str, Json] | list[Json], schema: Json) -> set[str | int]:
    """Return the keys or indexes that a schema evaluates, as in JSON Schema 2020-12, 11.2 and 11.3."""
    if not isinstance(schema, dict):
        return set()
    seen: set[str | int] = set()
    if isinstance(instance, list):
        if "items" in schema or "unevaluatedItems" in schema:
            return set(range(len(instance)))
        seen |= set(range(len(as_array(schema.get("prefixItems", [])))))
        seen |= {index for index, item in enumerate(instance) if _holds(validator, item, schema.get("contains", False))}
    else:
        if "additionalProperties" in schema or "unevaluatedProperties" in schema:
            return set(instance)
        names, patterns = as_object(schema.get("properties", {})), as_object(schema.get("patternProperties", {}))
        seen |= set(instance).difference(_unmatched(patterns, [key for key in instance if key not in names]))
    for keyword in {"$ref", "$dynamicRef"} & schema.keys():
        below = _followed(validator, str(schema[keyword]))
        if (key := ("evaluated", id(instance), id(below))) not in (known := _KNOWN.get()):
            known[key] = _evaluated(below, instance, below.schema)
        seen |= known[key]
    for branch in _branches(validator, instance, schema):
        seen |= _evaluated(validator, instance, branch)
    return seen


def _branches(validator: Validator, instance: Json, schema: dict[str, Json]) -> Iterator[Json]:
    """Yield the in-place subschemas that hold; if one that must hold does not, its own error is enough."""
    yield from as_array(schema.get("allOf", []))
    yield from (branch for name, branch in as_object(schema.get("dependentSchemas", {})).items() if name in mapping(instance))
    for keyword in ("anyOf", "oneOf"):
        yield from (branch for branch in as_array(schema.get(keyword, [])) if _holds(validator, instance, branch))
    if "if" in schema:
        holds = _holds(validator, instance, schema["if"])
        yield from (schema["if"], schema.get("then", True)) if holds else (schema.get("else", True),)


def _holds(validator: Validator, instance: Json, schema: Json) -> bool:
    """Return whether a value satisfies a part of the schema; the result is remembered, since nested parts ask for it again."""
    if _rules_out(schema, instance):
        return False
    key = ("holds", id(instance), id(schema), id(validator._resolver))  # noqa: SLF001  -- as in `_followed`
    if key not in (known := _KNOWN.get()):
        errors: list[ValidationError] = []
        for error in islice(validator.descend(instance, schema), REFERRED_ERRORS):
            errors.append(error)
            if error.cause is not _UNDECIDED:
                break
        _note_undecided(errors)
        known[key] = not errors
    return cast("bool", known[key])


def _multiple_of(_validator: Validator, step: float, instance: Json, _: Json) -> Iterator[ValidationError]:
    if is_number(instance) and as_decimal(instance) % as_decimal(step):
        yield ValidationError(f"{value_in_words(instance)} is not a multiple of {value_in_words(step)}")


def _unique_items(_validator: Validator, unique: Json, instance: Json, _: Json) -> Iterator[ValidationError]:
    if unique is True and isinstance(instance, list) and len(set(map(_KNOWN.get()[_KEYS], instance))) < len(instance):
        yield ValidationError(" has non-unique elements")


def _not(validator: Validator, unwanted: Json, instance: Json, _: Json) -> Iterator[ValidationError]:
    if _holds(validator, instance, unwanted):
        yield ValidationError(" should not be valid")  # `in_words` says under what


_UNWRITTEN: Final = ("type", "minItems", "maxItems", "minProperties", "maxProperties", "contains")
"""Keywords whose messages would hold the whole value; there may be one at each of its levels."""


_MuteList, _MuteObject = (type(kind.__name__, (kind,), {"__repr__": lambda _: ""}) for kind in (list, dict))


def _unwritten(check: _Check, validator: Validator, wanted: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    """Let the library check a value that it cannot write."""
    if isinstance(instance, list | dict):
        instance = (_MuteObject if isinstance(instance, dict) else _MuteList)(instance)
    yield from check(validator, wanted, instance, schema)


RAISED_ON_PURPOSE = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""Exceptions that pass through; others mean a failed check: deep recursion may surface as a Rust panic, not an `Exception`."""


class Violation(NamedTuple):
    """A way in which a value violates a schema."""

    instance: str
    """JSON Pointer into the value."""
    keyword: str
    schema: str
    """JSON Pointer to the keyword in the schema."""
    message: str

    def to_json(self) -> Json:
        """Return the violation as plain JSON."""
        return self._asdict()


def validate(
    value: Json, schema: Json, *, formats: bool = True, most: int = 50, faults: Mapping[str, str] | None = None
) -> tuple[Violation, ...]:
    """Return the first `most` violations of a value.

    Formats are asserted unless `formats` is false.  `faults` has alternative sentences by keyword, or by keyword and value.
    A value that is not JSON (an infinite float, a Python object) is a violation, and so is an unusable schema.
    """
    return _validated(value, lambda: validator(schema, formats=formats), most, (schema, formats), faults=faults)


def _validated(
    value: Json,
    made: Callable[[], Validator],
    most: int,
    by: tuple[Json, bool] | None = None,
    *,
    is_json: bool = False,
    faults: Mapping[str, str] | None = None,
) -> tuple[Violation, ...]:
    """Return the violations of a value; remember a large valid one, with `by`: the schema, and whether formats are asserted."""
    if not is_json and (place := json_fault(value)) is not None:
        return (Violation(place[0], "json", "", place[1]),)
    try:
        digest = None if by is None or not isinstance(value, dict | list) else _digest_of_large(value, by)
        found = [] if digest in _VALID else errors_of(made(), value, most)
        if digest is not None and not found:
            if len(_VALID) >= _MOST_VALID:
                _VALID.clear()
            _VALID.add(digest)
        return tuple(_violation(error, faults or {}) for error in found)
    except RAISED_ON_PURPOSE:
        raise
    except BaseException as error:  # noqa: BLE001  -- any error of the library; report it here
        return (Violation("", "schema", "", f"the schema cannot be applied: {_reason(error)}"[:TOLD_WORDS]),)


def _digest_of_large(value: Json, by: tuple[Json, bool]) -> bytes | None:
    text = dumps(value, indent=False)
    return sha256(f"{dumps([*by], indent=False)}\n{text}".encode()).digest() if len(text) > REMEMBERED_VALUE else None


def errors_of(validator: Validator, value: Json, most: int) -> list[ValidationError]:
    """Return the first `most` errors of the library for a value; it may raise any error that the schema provokes.

    A value is invalid if that depends on an undecided search, also where a keyword such as `not` inverts its part.
    """
    token = _KNOWN.set({_KEYS: EqualityKeys(), _LEFT: CHECKS + CHECKS_OF_A_CHARACTER * size_of(value)})
    found: list[ValidationError] = []
    try:
        with time_limit(), suppress(TimeoutError):
            found.extend(islice(validator.iter_errors(value), most))
        return found if found or _SEARCH not in _KNOWN.get() else [ValidationError(_KNOWN.get()[_SEARCH], validator="schema")]
    finally:
        _KNOWN.reset(token)


def _violation(error: ValidationError, faults: Mapping[str, str]) -> Violation:
    error = of_intended_branch(error)
    keyword = error.validator if isinstance(error.validator, str) else "false"
    detail, wanted = _detail(keyword, cast("Json", error.validator_value))
    words = ("propertyNames",) if "propertyNames" in error.absolute_schema_path else (f"{keyword} {detail}", keyword)
    sentence = next((faults[word] for word in words if word in faults), None)
    message = in_words(error) if sentence is None else _in_language(error, sentence, wanted, faults)
    # the end of a message names the error
    told = message if len(message) <= TOLD_WORDS else f"{message[:TOLD_HEAD]} … {message[TOLD_HEAD + 3 - TOLD_WORDS :]}"
    return Violation(pointer(error.absolute_path), keyword, pointer(error.absolute_schema_path), told)


def _detail(keyword: str, wanted: Json) -> tuple[object, Json]:
    """Return what tells the sentences of a keyword apart, and the value or the names in its sentence."""
    if keyword in {"contains", "not"} and isinstance(wanted, dict) and len(wanted) == 1:
        return next(iter(wanted.items()))
    if keyword in UNIONS and all(isinstance(branch, dict) and branch.keys() == {"required"} for branch in as_array(wanted)):
        return "required", [name for branch in as_array(wanted) for name in as_array(as_object(branch)["required"])]
    return wanted, wanted


def _in_language(error: ValidationError, sentence: str, wanted: Json, faults: Mapping[str, str]) -> str:
    """Return the text of an error in the given sentence, with the titles of members and the decimal sign of its language."""
    value, known = cast("Json", error.instance), mapping(mapping(cast("Json", error.schema)).get("properties"))
    listed = [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []
    names = [name for name in listed if name not in mapping(value)] or listed
    titles = [optional_text(mapping(known.get(name)).get("title")) or name for name in names]
    number = value_in_words(wanted).replace(".", faults.get("decimal", ".")) if isinstance(wanted, float) else None
    return filled(sentence, value=value_in_words(value), wanted=number or value_in_words(wanted), names=names_as_json(titles))


def _reason(error: BaseException) -> str:
    from referencing.exceptions import Unresolvable

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, Unresolvable):
            return f"it refers to `{cause.ref}`, which is not in it, and nothing is fetched"
        cause = cause.__cause__
    if isinstance(error, ValueError) and "digits" in str(error):
        return "a number in it or in the value is too long to be shown"
    if isinstance(error, RecursionError):
        return "it is cyclic, or is nested too deeply"
    return f"{type(error).__name__}: {error}"


class SchemaValidator:
    """Validates many values by one schema, which must not change meanwhile: the validator is built once."""

    def __init__(self, schema: Json, *, formats: bool = True) -> None:
        """Assert formats unless `formats` is false."""
        self.schema = schema
        self._formats = formats

    @cached_property
    def _validator(self) -> Validator:
        text = dumps(self.schema, indent=False)
        make = validator if len(text) < CACHED_SCHEMA or '"$schema"' in text else of
        return make(self.schema, formats=self._formats)

    def validate(self, value: Json, *, most: int = 50, is_json: bool = False) -> tuple[Violation, ...]:
        """Return the violations of a value, as `validate` does; with `is_json` it is known to be JSON."""
        return _validated(value, lambda: self._validator, most, (self.schema, self._formats), is_json=is_json)

    def validate_part(self, value: Json, place: str) -> tuple[Violation, ...]:
        """Return the first violation of a value under the part of the schema at a JSON Pointer, or none."""
        from urllib.parse import quote

        part: Json = {"$ref": "#" + quote(place, safe="/~")}  # the library follows it, and knows the intermediate addresses
        return _validated(value, lambda: self._validator.evolve(schema=part), 1)

    def is_valid(self, value: Json, *, unsure: bool = True) -> bool:
        """Return whether a value satisfies the schema; `unsure` is the result for an unusable schema."""
        return _is_valid(value, self.schema, lambda: self._validator, unsure=unsure)


def _is_valid(value: Json, schema: Json, made: Callable[[], Validator], *, unsure: bool) -> bool:
    if isinstance(schema, bool):
        return schema
    try:
        return not errors_of(made(), value, 1)
    except RAISED_ON_PURPOSE:
        raise
    except BaseException:  # noqa: BLE001  -- as above
        return unsure


def is_valid(value: Json, schema: Json, *, formats: bool = False, unsure: bool = True) -> bool:
    """Return whether a value satisfies a schema; `unsure` is the result for an unusable schema."""
    return _is_valid(value, schema, lambda: validator(schema, formats=formats), unsure=unsure)


def validator(schema: Json, *, formats: bool) -> Validator:
    """Return a JSON Schema 2020-12 validator of a schema, for callers that need the library's own errors.

    It may raise any error that the schema provokes; callers must catch it.
    """
    return (_cached if len(text := dumps(schema, indent=False)) < CACHED_SCHEMA else _cached.__wrapped__)(text, formats)


@lru_cache(maxsize=512)
def _cached(text: str, formats: bool) -> Validator:  # noqa: FBT001  -- part of the key
    schema = loads(text)
    if '"$schema"' in text:
        # otherwise the library uses its own validator for subschemas
        schema = map_schemas(schema, lambda node: without(node, "$schema"))
    return of(schema, formats=formats)


def of(schema: Json, *, formats: bool) -> Validator:
    """Return a validator of the given schema object, without a copy; the schema must contain no `$schema`."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # 100 ms with the library: only for values

    from instrc.schema.formats import checker

    return validator_class()(schema, registry=REGISTRY, format_checker=checker() if formats else None)


_HALF = "half of a surrogate pair, which no JSON can hold"


def json_fault(value: Json) -> tuple[str, str] | None:
    """Return where a value is not JSON and why, or `None` if it is."""
    stack: list[tuple[Json, tuple[str | int, ...]]] = [(value, ())]
    left = INSTANCE_CONTAINERS
    while stack:
        item, path = stack.pop()
        if (left := left - 1) < 0:
            return "", f"it holds more than {INSTANCE_CONTAINERS:,} objects and lists, or one of them very often"
        if isinstance(item, dict | list):
            if len(path) > INSTANCE_LEVELS:
                return pointer(path[:20]), f"it is nested deeper than {INSTANCE_LEVELS} levels, or contains itself"
            for key in item if isinstance(item, dict) else ():
                if not isinstance(key, str):
                    return pointer(path), f"a key in it is not a text but of the type {type(key).__name__}"
                if not is_writable(key):
                    return pointer(path), f"a key in it holds {_HALF}"
            parts = item.items() if isinstance(item, dict) else enumerate(item)
            stack.extend((inner, (*path, key)) for key, inner in parts if not _is_plain(inner))
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


def accepts(schema: Json, value: Json, definitions: Json = None) -> bool:
    """Return whether a value satisfies a schema; an unusable schema accepts everything."""
    return is_valid(value, {**schema, "$defs": definitions} if definitions and isinstance(schema, dict) else schema)


class DefinitionsValidator:
    """Validates values by schemas with common definitions, which are prepared once."""

    def __init__(self, definitions: Json) -> None:
        """`definitions` are schemas by name for references that begin with `#/$defs/`; `None` if there are none."""
        self._document: Json = {"$defs": definitions if isinstance(definitions, dict) else {}}

    @cached_property
    def _validator(self) -> Validator:
        return of(self._document, formats=False)

    def accepts(self, schema: Json, value: Json) -> bool:
        """Return whether a value satisfies a schema; an unusable schema accepts everything."""
        return not _rules_out(self.dereferenced(schema), value) and _is_valid(
            value, schema, lambda: self._validator.evolve(schema=schema), unsure=True
        )

    def dereferenced(self, schema: Json) -> Json:
        """Return the target of a schema that only refers to a definition."""
        return dereferenced(schema, self._document)
