"""Tell whether one schema accepts everything that another accepts, as far as `jsonschema-rs` can decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import ModuleType
from typing import Any, Literal

from instrc import problems
from instrc.flattening.flatten import flatten
from instrc.flattening.instances import instances, nodes
from instrc.jsonvalue import Json, equal
from instrc.limits.schemas import DECIDED_PROPERTIES, DECIDED_SCHEMAS, INSTANCES_AT_ONCE
from instrc.problems.problem import CompileError
from instrc.schema.comparable import comparable
from instrc.schema.relations import implies
from instrc.schema.upgrade import upgrade


@dataclass(frozen=True, slots=True)
class Subsumption:
    """Whether one schema accepts all that another does, and an instance that shows it if not."""

    verdict: Literal["yes", "no", "unknown"]
    witness: Json = None
    """With `no`: an instance that the second schema accepts and the first rejects."""


def subsumes(a: Json, b: Json, documents: Mapping[str, Json] | None = None) -> Subsumption:
    """Return whether `a` accepts every instance that `b` accepts, as `instrc.subsumes` in `public.py` describes."""
    engine = _engine()
    wide, narrow = _flat(a, documents), _flat(b, documents)
    if wide is narrow or equal(wide, narrow) or (comparable(narrow, wide) and implies(narrow, wide)):
        return Subsumption("yes")
    try:
        accepts_wide, accepts_narrow = _judge(engine, wide), _judge(engine, narrow)
    except Exception:  # noqa: BLE001  -- no judge, no witness
        return Subsumption("yes" if _covers(engine, wide, narrow) else "unknown")
    for instance in islice(instances(narrow, wide), INSTANCES_AT_ONCE):
        if accepts_narrow(instance) and not accepts_wide(instance):
            return Subsumption("no", instance)
    if _covers(engine, wide, narrow):
        return Subsumption("yes")
    for instance in _candidates(engine, narrow, wide):
        if accepts_narrow(instance) and not accepts_wide(instance):
            return Subsumption("no", instance)
    return Subsumption("unknown")


def _flat(schema: Json, documents: Mapping[str, Json] | None) -> Json:
    """Return a flat schema in the words of 2020-12; what has nothing to fold leaves `flatten` in the words of its own draft."""
    return upgrade(flatten(schema, documents), documents)


def _covers(engine: ModuleType, wide: Json, narrow: Json) -> bool:
    """Tell whether the engine proves that one schema accepts all that another does; its effort grows fast with properties."""
    if not (_decidable(wide) and _decidable(narrow)):
        return False
    try:
        verdict = _canonical(engine, wide).covers(_canonical(engine, narrow))
    except Exception:  # noqa: BLE001  -- what the engine cannot put into its form it cannot decide, for whatever reason
        return False
    return bool(verdict == engine.canonical.Containment.YES)


def _canonical(engine: ModuleType, schema: Json) -> Any:  # noqa: ANN401  -- the engine has no types for what it makes
    """Return a schema in the engine's own form; a format says nothing, whatever the draft: the engine asserts it in old ones."""
    return engine.canonicalize(schema, retriever=_refuse, validate_formats=False)


def _decidable(schema: Json) -> bool:
    """Tell whether a schema is small enough for the engine's own form."""
    for count, node in enumerate(nodes(schema), 1):
        named = sum(len(found) for word in ("properties", "patternProperties") if isinstance(found := node.get(word), dict))
        if count > DECIDED_SCHEMAS or named > DECIDED_PROPERTIES:
            return False
    return True


def _candidates(engine: ModuleType, narrow: Json, wide: Json) -> Iterator[Json]:
    """Yield instances to try: first those that the difference of the schemas suggests, as the engine writes it."""
    difference: Json = False
    if _decidable(wide) and _decidable(narrow):
        try:
            difference = _canonical(engine, narrow).subtract(_canonical(engine, wide)).to_json_schema()
        except Exception:  # noqa: BLE001  -- what the engine cannot write suggests nothing
            difference = False
    yield from instances(difference, narrow, wide)
    yield from instances(narrow, wide)
    yield from instances(wide, narrow)


def _judge(engine: ModuleType, schema: Json) -> Callable[[Json], bool]:
    dialect = schema.get("$schema") if isinstance(schema, dict) else None
    make = engine.Draft202012Validator if dialect is None else engine.validator_for
    judge: Callable[[Json], bool] = make(schema, retriever=_refuse, validate_formats=False).is_valid
    return judge


def _refuse(uri: str) -> Json:
    """Stand in for the engine's own retrieval, which would open files and addresses."""
    message = f"nothing is ever fetched: {uri}"
    raise LookupError(message)


def _engine() -> ModuleType:
    try:
        import jsonschema_rs  # an optional extra
    except ImportError:
        raise CompileError(
            [problems.settings.MissingExtra(feature="subsumption", extra="subsume", package="jsonschema-rs")]
        ) from None
    return jsonschema_rs
