"""Test a payload with the installed engines: whether they accept it, and whether they enforce its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice, pairwise
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from instrc.problems.errors import CompileError
from instrc.problems.files import TooLarge
from instrc.providers import targets
from instrc.providers.dialect import Dialect, schema_in
from instrc.providers.lowering.lower import Lowering
from instrc.providers.lowering.rules import Breach, breaches
from instrc.providers.lowering.spelling import standard
from instrc.schema.samples import sample
from instrc.schema.validation import accepts, json_fault
from instrc.schema.walk import local_target
from instrc.schema.wellformed import problems_of
from instrc.text.arguments import excerpt, takes_plain_values
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, is_deeper, listing, mapping, pointer
from instrc.text.limits import SAMPLE_LEVELS


class Opinion(NamedTuple):
    """The verdict of one engine."""

    engine: str
    binding: bool
    """Whether the target runs on this engine."""
    accepted: bool | None
    """Whether the schema compiles; `None` if the engine is not installed or was not run."""
    reason: str | None = None
    answers: bool | None = None
    """Whether a sample answer is accepted; `None` if no sample exists (a pattern without a text) or none could be tested."""
    ordered: bool | None = None
    """Whether that answer is rejected after any swap of two declared neighbours; `None` if there are none."""
    loose: str | None = None
    """Swap that was accepted nevertheless: its keys and its place."""


class Verification(Struct, frozen=True):
    """The verdicts of a target's rules and of the engines on a payload."""

    target: str
    breaches: tuple[Breach, ...]
    opinions: tuple[Opinion, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        """The engines with a result."""
        return tuple(opinion.engine for opinion in self.opinions if opinion.accepted is not None)

    @property
    def accepted(self) -> bool | None:
        """Whether no rule is violated and no engine of the target refuses, or `None` if none of its engines could run."""
        binding = [opinion.accepted for opinion in self.opinions if opinion.binding]
        if self.breaches or False in binding:
            return False
        return None if binding and True not in binding else True

    @property
    def ordered(self) -> bool | None:
        """Whether every tested engine of the target enforces order, or `None` if unknown."""
        said = [opinion.ordered for opinion in self.opinions if opinion.binding and opinion.ordered is not None]
        return all(said) if said else None

    def to_json(self) -> JsonObject:
        """Return the whole as plain JSON."""
        return {
            "target": self.target,
            "accepted": self.accepted,
            "asked": list(self.asked),
            "ordered": self.ordered,
            "breaches": [breach._asdict() for breach in self.breaches],
            "engines": [opinion._asdict() for opinion in self.opinions],
        }


@takes_plain_values
def verify(payload: Lowering | Json, target: str | Dialect | None = None) -> Verification:
    """Check a payload, or a bare schema in the target's form, against the target's rules and the installed engines.

        lowered = instrc.lower({"type": "object", "properties": {"text": {"type": "string"}}}, "anthropic-strict")
        assert not instrc.verify(lowered).breaches

    Without a `target`, a lowering is checked by its own target, and a payload by `openai`.
    """
    if isinstance(payload, Lowering):
        dialect = payload.dialect if target is None else targets.dialect(target)
        return _verified(payload.payload, dialect)
    return _verified(payload, targets.dialect("openai" if target is None else target))


LOWERED_LEVELS: Final = 2000
"""Maximum nesting of a payload that is verified, else `too-large`; no target accepts a tenth of that."""


def _verified(payload: Json, dialect: Dialect) -> Verification:
    if is_deeper(payload, LOWERED_LEVELS):
        raise CompileError([TooLarge(what="the payload", limit=LOWERED_LEVELS, unit="levels")])
    if json_fault(payload) is not None:
        raise TypeError(f"{excerpt(payload)} is not a payload: `verify` takes what `lower` returns, or its `payload`")
    try:
        schema, whole = schema_in(payload, dialect), payload
    except (LookupError, TypeError, ValueError):
        if not dialect.empty_schema and not breaches(payload, dialect):
            return Verification(dialect.name, (), ())  # a tool without parameters, whose schema is left out
        schema, whole = payload, _in_envelope(payload, dialect)
    plain = standard(schema, dialect.spelling)
    broken = _refused(plain, dialect) or breaches(whole, dialect)
    opinions = [_opinion(name, engine, plain, binding=name in dialect.engines) for name, engine in _ENGINES.items()]
    return Verification(dialect.name, tuple(broken), tuple(opinions))


def _in_envelope(schema: Json, dialect: Dialect) -> Json:
    """Put a bare schema into the envelope of a target."""
    from instrc.providers.dialect import fill_envelope

    words = {"@name": "tool", "@description": None, "@schema": schema, "@schema-text": dumps(schema, indent=False), "@map": None}
    return fill_envelope(dialect.envelope, words)


def _refused(schema: Json, dialect: Dialect) -> list[Breach]:
    """Return why a value is not a JSON Schema; the target's rules apply only to schemas."""
    return [Breach("schema", pointer(dialect.where) + problem.pointer, problem.reason) for problem in problems_of(schema)]


Matcher: TypeAlias = Callable[[str], bool]
"""Returns whether a text is a complete answer under a grammar."""
VERIFIED_ORDERS: Final = 40
"""Maximum reordered answers tested with an engine."""


def _opinion(name: str, engine: Callable[[Json], Matcher], schema: Json, *, binding: bool) -> Opinion:
    """Run one engine."""
    if find_spec(name) is None:
        return Opinion(name, binding, None, "is not installed")
    try:
        matcher = engine(schema)
    except Exception as error:  # noqa: BLE001  -- engines raise what they like
        return Opinion(name, binding, accepted=False, reason=f"{type(error).__name__}: {error}"[:500])
    value = sample(schema)
    if not accepts(schema, value):
        return Opinion(name, binding, accepted=True)
    ordered, loose = None, None
    try:
        answers = matcher(dumps(value, indent=False))
        for swap in islice(swaps(value, schema), VERIFIED_ORDERS if answers else 0):
            ordered = not matcher(dumps(swap.value, indent=False))
            if not ordered:
                loose = f"{dumps(swap.keys[1], indent=False)} before {dumps(swap.keys[0], indent=False)} at {swap.place or '/'}"
                break
    except Exception as error:  # noqa: BLE001  -- as above
        return Opinion(name, binding, accepted=False, reason=f"{type(error).__name__}: {error}"[:500])
    return Opinion(name, binding, accepted=True, answers=answers, ordered=ordered, loose=loose)


def _llguidance(schema: Json) -> Matcher:
    """Compile like Mistral and vLLM's guidance backend."""
    from llguidance import LLMatcher

    return _guided(LLMatcher.grammar_from_json_schema(dumps(schema, indent=False)))


def _xgrammar(schema: Json) -> Matcher:
    """Compile like vLLM's and SGLang's default backend."""
    import xgrammar

    vocabulary = [*(bytes([byte]) for byte in range(256)), b"<end>"]
    info = xgrammar.TokenizerInfo(vocabulary, vocab_type=xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[256])
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(dumps(schema, indent=False))

    def accepts_text(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(256) and matcher.is_terminated())

    return accepts_text


_ENGINES: dict[str, Callable[[Json], Matcher]] = {
    "llguidance": _llguidance,
    "xgrammar": _xgrammar,
}


def _guided(grammar: str) -> Matcher:
    """Return a matcher of texts by an llguidance grammar."""
    from llguidance import LLMatcher, LLTokenizer

    if message := LLMatcher.validate_grammar(grammar):
        raise ValueError(message)
    tokens = LLTokenizer("byte")

    def accepts_text(text: str) -> bool:
        matcher = LLMatcher(tokens, grammar)
        wanted = tokens.tokenize_str(text)
        return matcher.try_consume_tokens(wanted) == len(wanted) and bool(matcher.is_accepting())

    return accepts_text


class Swap(NamedTuple):
    """An instance in which two adjacent declared keys are swapped."""

    value: Json
    place: str
    """JSON Pointer to the object in the instance."""
    keys: tuple[str, str]


def swaps(value: Json, schema: Json) -> Iterator[Swap]:
    """Yield an instance for each pair of adjacent declared keys, with that pair swapped; undeclared keys have no order."""
    yield from _swaps(value, schema, schema, (), 0)


def _swaps(value: Json, schema: Json, root: Json, path: tuple[str | int, ...], level: int) -> Iterator[Swap]:
    if not isinstance(schema, dict) or level > SAMPLE_LEVELS:
        return
    if "$ref" in schema:
        yield from _swaps(value, local_target(root, schema["$ref"]), root, path, level + 1)
    elif "anyOf" in schema:
        definitions = mapping(mapping(root).get("$defs"))
        fitting = (branch for branch in listing(schema["anyOf"]) if accepts(branch, value, definitions))
        yield from _swaps(value, next(fitting, None), root, path, level + 1)
    elif isinstance(value, dict):
        properties = mapping(schema.get("properties"))
        names = list(value)
        for first, second in pairwise(names):
            if first in properties and second in properties:
                order = [second if name == first else first if name == second else name for name in names]
                swapped: JsonObject = {name: value[name] for name in order}
                yield Swap(swapped, pointer(path), (first, second))
        for name, item in value.items():
            child = properties.get(name, schema.get("additionalProperties"))
            for result in _swaps(item, child, root, (*path, name), level + 1):
                around: JsonObject = {**value, name: result.value}
                yield result._replace(value=around)
    elif isinstance(value, list):
        prefix = listing(schema.get("prefixItems"))
        for index, item in enumerate(value):
            child = prefix[index] if index < len(prefix) else schema.get("items")
            for result in _swaps(item, child, root, (*path, index), level + 1):
                yield result._replace(value=[*value[:index], result.value, *value[index + 1 :]])
