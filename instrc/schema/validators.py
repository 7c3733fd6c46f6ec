"""The keywords of JSON Schema 2020-12 that the library would evaluate in a way that hostile schemas can abuse."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Protocol, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from instrc.jsonvalue import Json, as_array, as_object, freeze
from instrc.schema.expressions import search, why_unreadable
from instrc.schema.pattern_sets import candidates, with_candidates
from instrc.schema.violation_words import names_as_json, value_in_words


class _Resolved(Protocol):
    """The schema that a reference leads to."""

    contents: Json
    resolver: object


class _Resolver(Protocol):
    """What looks references up."""

    def lookup(self, ref: Json) -> _Resolved:
        """Return what a reference leads to."""


class Validator(Protocol):
    """A validator of the library: what we ask of it, and what our keywords ask of it."""

    _resolver: _Resolver  # no public word leads from a reference to its schema

    def iter_errors(self, instance: Json) -> Iterator[ValidationError]:
        """Yield the errors of a value."""

    def is_valid(self, instance: Json) -> bool:
        """Tell whether a value has no error."""

    def descend(
        self, instance: Json, schema: Json, path: str | int | None = None, schema_path: str | int | None = None
    ) -> Iterator[ValidationError]:
        """Yield the errors of a part."""

    def evolve(self, *, schema: Json, _resolver: object = ...) -> Validator:
        """Return the same for another schema."""


class _MakeValidator(Protocol):
    """The class of our validators, as it is called."""

    def __call__(self, schema: Json, *, registry: object, format_checker: object) -> Validator: ...


@lru_cache(maxsize=1)
def validator_class() -> _MakeValidator:
    """Return the class of our validators."""
    made = extend(  # type: ignore[no-untyped-call]  # the library's own function has no types
        Draft202012Validator,
        {
            "enum": _enum,
            "properties": _properties,
            "required": _required,
            "dependentRequired": _dependent_required,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "unevaluatedProperties": _unevaluated_properties,
            "uniqueItems": _unique_items,
        },
    )
    return cast("_MakeValidator", made)


def _enum(validator: Validator, values: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    """Look for a text among very many values; how numbers and booleans are equal, the library knows."""
    if not (isinstance(instance, str) and isinstance(values, list)):
        yield from Draft202012Validator.VALIDATORS["enum"](validator, values, instance, schema)
    elif instance not in values:
        yield ValidationError("it is not one of the values")  # `violation_words` names them, where they are asked for


_PLAIN: dict[str, type] = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
"""Types whose values can be told by their class alone."""
_SAYS_NOTHING = frozenset({"type", "title", "description", "default", "examples", "$comment"})


def _properties(validator: Validator, properties: dict[str, Json], instance: Json, _: Json) -> Iterator[ValidationError]:
    """Look at each property that is there; most leaves only have a type, and need no validator of their own."""
    if not isinstance(instance, dict):
        return
    for name, schema in properties.items():
        if name not in instance:
            continue
        value = instance[name]
        if isinstance(schema, dict):
            kind = schema.get("type")
            if isinstance(kind, str) and value.__class__ is _PLAIN.get(kind) and schema.keys() <= _SAYS_NOTHING:
                continue
        yield from validator.descend(value, schema, path=name, schema_path=name)


def _required(_validator: Validator, names: Json, instance: Json, _: Json) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in as_array(names):
            if name not in instance:
                yield ValidationError(f"{value_in_words(name)} is a required property")


def _dependent_required(_validator: Validator, needs: Json, instance: Json, _: Json) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for given, names in as_object(needs).items():
            for name in as_array(names) if given in instance else ():
                if name not in instance:
                    yield ValidationError(f"{value_in_words(name)} is required beside {value_in_words(given)}")


def _pattern(_validator: Validator, pattern: str, instance: Json, _: Json) -> Iterator[ValidationError]:
    if not isinstance(instance, str):
        return
    found = search(pattern, instance)
    if not found:
        yield ValidationError(
            _undecided(pattern) if found is None else f"{value_in_words(instance)} does not match {value_in_words(pattern)}"
        )


def _undecided(pattern: str) -> str:
    why = why_unreadable(pattern)
    return (
        f"the regular expression {value_in_words(pattern)} cannot be read: {why}"
        if why
        else f"matching {value_in_words(pattern)} takes too long on this text"
    )


def _pattern_properties(validator: Validator, patterns: dict[str, Json], instance: Json, _: Json) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, keys in with_candidates(patterns, instance):
        for key in keys:
            found = search(pattern, key)
            if found is None:
                yield ValidationError(_undecided(pattern), path=(key,))
            elif found:
                yield from validator.descend(instance[key], patterns[pattern], path=key, schema_path=pattern)


def _additional_properties(validator: Validator, extra: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    around = as_object(schema)
    names, patterns = as_object(around.get("properties", {})), as_object(around.get("patternProperties", {}))
    left = [key for key in instance if key not in names and not _any_matches(patterns, key)]
    if isinstance(extra, dict):
        for key in left:
            yield from validator.descend(instance[key], extra, path=key)
    elif extra is False and left:
        yield ValidationError(f"Additional properties are not allowed ({_were_listed(left)} unexpected)")


def _were_listed(keys: list[str]) -> str:
    return f"{names_as_json(keys)} {'was' if len(keys) == 1 else 'were'}"


def _any_matches(patterns: Collection[str], key: str) -> bool:
    """Tell whether a key may belong to one of several patterns; an undecided one is told where the patterns stand."""
    return any(search(pattern, key) is not False for pattern in candidates(patterns, key))


def _unevaluated_properties(validator: Validator, rest: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    evaluated = _evaluated(
        validator, instance, {key: value for key, value in as_object(schema).items() if key != "unevaluatedProperties"}
    )
    left = [key for key in instance if key not in evaluated]
    if rest is False and left:
        yield ValidationError(f"Unevaluated properties are not allowed ({_were_listed(left)} unexpected)")
    elif isinstance(rest, dict):
        for key in left:
            yield from validator.descend(instance[key], rest, path=key)


def _evaluated(validator: Validator, instance: dict[str, Json], schema: Json) -> set[str]:
    """Return the keys that a schema looks at, by JSON Schema 2020-12, 11.3."""
    if not isinstance(schema, dict):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    seen = {key for key in instance if key in as_object(schema.get("properties", {}))}
    seen |= {key for key in instance if _any_matches(as_object(schema.get("patternProperties", {})), key)}
    for keyword in ("$ref", "$dynamicRef"):
        if keyword in schema:
            resolved = validator._resolver.lookup(schema[keyword])  # noqa: SLF001  -- no public word leads from a reference to its schema
            below = validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
            seen |= _evaluated(below, instance, resolved.contents)
    for branch in _branches(validator, instance, schema):
        if _holds(validator, instance, branch):
            seen |= _evaluated(validator, instance, branch)
    return seen


def _branches(validator: Validator, instance: dict[str, Json], schema: dict[str, Json]) -> Iterator[Json]:
    """Yield the schemas in place that count if they hold."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from as_array(schema.get(keyword, []))
    yield from (branch for name, branch in as_object(schema.get("dependentSchemas", {})).items() if name in instance)
    if "if" in schema:
        yield schema["if"]
        yield schema.get("then" if _holds(validator, instance, schema["if"]) else "else", True)


def _holds(validator: Validator, instance: Json, schema: Json) -> bool:
    return next(iter(validator.descend(instance, schema)), None) is None


def _unique_items(_validator: Validator, unique: Json, instance: Json, _: Json) -> Iterator[ValidationError]:
    if unique is True and isinstance(instance, list) and len(set(map(freeze, instance))) < len(instance):
        yield ValidationError(f"{value_in_words(instance)} has non-unique elements")
