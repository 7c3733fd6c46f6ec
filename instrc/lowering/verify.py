"""Ask the engines that are installed whether they take a payload, and whether they hold answers to its order.

Engines are optional (`pip install instrc[verify]`): llguidance decides for Mistral and, with xgrammar, for vLLM;
outlines-core is asked for its opinion.  Targets without a public engine are judged by our own rules.

Order is tried out: a sample answer in which two declared neighbours have changed places must be rejected, each pair by itself.
Keys that nobody declared, of maps and open objects, have no order, and none is demanded.
xgrammar 0.2.8 keeps declared keys out of the undeclared ones of an open object if they are ASCII, and else does not:
a Cyrillic key may come late there (`ordered` is false and `loose` names it), or twice, with any value, as `lift` finds.
No way of writing the schema avoids that but other keys; closed objects are not affected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import NamedTuple, TypeAlias

from instrc.arguments import excerpt
from instrc.codecs.acceptance import accepts
from instrc.dialects import catalogue
from instrc.dialects.envelopes import schema_in
from instrc.ir.dialect import Dialect
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, is_deeper, pointer
from instrc.limits.payloads import LOWERED_LEVELS, VERIFIED_ORDERS, VERIFIED_PATTERN
from instrc.lowering.expanded_size import expanded_size
from instrc.lowering.lowered import Lowering
from instrc.lowering.rules import Breach, breaches
from instrc.lowering.sample import sample
from instrc.lowering.spelling import standard
from instrc.lowering.swaps import swaps
from instrc.plain_values import takes_plain_values
from instrc.problems.files import TooLarge
from instrc.problems.problem import CompileError
from instrc.schema.validation import json_fault
from instrc.schema.wellformed import problems_of

Matcher: TypeAlias = Callable[[str], bool]
"""Says whether a text is a whole answer that a grammar accepts."""


class Unasked(Exception):  # noqa: N818  -- nobody erred
    """An engine would not come back in time, or not with the memory there is."""


class Opinion(NamedTuple):
    """What one engine says."""

    engine: str
    binding: bool
    """Whether the target runs on this engine."""
    accepted: bool | None
    """Whether the schema compiles; `None` if the engine is not installed, or was not asked."""
    reason: str | None = None
    answers: bool | None = None
    """Whether a sample answer is accepted; `None` if none was found, as for a pattern without a text, or none could be shown."""
    ordered: bool | None = None
    """Whether that answer is rejected whichever two declared neighbours in it are swapped; `None` if there are none."""
    loose: str | None = None
    """A swap that was accepted all the same: its keys and its place."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What the rules of a target and the engines say of a payload."""

    target: str
    breaches: tuple[Breach, ...]
    opinions: tuple[Opinion, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        """The engines that have said something."""
        return tuple(opinion.engine for opinion in self.opinions if opinion.accepted is not None)

    @property
    def accepted(self) -> bool | None:
        """Whether no rule is broken and no engine of the target refuses; `None` if none of its engines could be asked."""
        binding = [opinion.accepted for opinion in self.opinions if opinion.binding]
        if self.breaches or False in binding:
            return False
        return None if binding and True not in binding else True

    @property
    def ordered(self) -> bool | None:
        """Whether order is enforced by every engine of the target that was asked; `None` if none could tell."""
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
    """Check a payload of a target, or a schema in its words alone, against its rules and the installed engines.

        lowered = instrc.lower({"type": "object", "properties": {"text": {"type": "string"}}}, "anthropic-strict")
        assert not instrc.verify(lowered).breaches

    Without a `target`, a lowering is checked by the target it was made for, and a payload as one of `openai`.
    """
    if isinstance(payload, Lowering):
        dialect = payload.dialect if target is None else catalogue.dialect(target)
        return _verified(payload.payload, dialect)
    return _verified(payload, catalogue.dialect("openai" if target is None else target))


def _verified(payload: Json, dialect: Dialect) -> Verification:
    if is_deeper(payload, LOWERED_LEVELS):
        raise CompileError([TooLarge(what="the payload", limit=LOWERED_LEVELS, unit="levels")])
    if json_fault(payload) is not None:
        message = f"{excerpt(payload)} is not a payload: `verify` takes what `lower` returns, or its `payload`"
        raise TypeError(message)
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


def _refused(schema: Json, dialect: Dialect) -> list[Breach]:
    """Return what keeps a schema, in the words of JSON Schema, from being one; the rules of a target speak of schemas alone."""
    return [Breach("schema", pointer(dialect.where) + problem.pointer, problem.reason) for problem in problems_of(schema)]


def _in_envelope(schema: Json, dialect: Dialect) -> Json:
    """Put a schema alone into the envelope of a target."""
    from instrc.dialects.envelopes import fill_envelope

    words = {"@name": "tool", "@description": None, "@schema": schema, "@schema-text": dumps(schema, indent=False), "@map": None}
    return fill_envelope(dialect.envelope, words)


def _opinion(name: str, engine: Callable[[Json], Matcher | None], schema: Json, *, binding: bool) -> Opinion:
    """Ask one engine."""
    if find_spec(name) is None:
        return Opinion(name, binding, None, "is not installed")
    try:
        matcher = engine(schema)
    except Unasked:
        return Opinion(name, binding, None, "is not asked: what it would write out is too large")
    except Exception as error:  # noqa: BLE001  -- engines raise what they like
        return Opinion(name, binding, accepted=False, reason=f"{type(error).__name__}: {error}"[:500])
    value = sample(schema)
    if matcher is None or not accepts(schema, value):
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
    """Compile as Mistral and vLLM's guidance backend do."""
    from llguidance import LLMatcher

    return _guided(LLMatcher.grammar_from_json_schema(dumps(schema, indent=False)))


def _guided(grammar: str) -> Matcher:
    """Return what matches texts against a grammar of llguidance."""
    from llguidance import LLMatcher, LLTokenizer

    if message := LLMatcher.validate_grammar(grammar):
        raise ValueError(message)
    tokens = LLTokenizer("byte")

    def accepts_text(text: str) -> bool:
        matcher = LLMatcher(tokens, grammar)
        wanted = tokens.tokenize_str(text)
        return matcher.try_consume_tokens(wanted) == len(wanted) and bool(matcher.is_accepting())

    return accepts_text


def _xgrammar(schema: Json) -> Matcher:
    """Compile as vLLM's and SGLang's default backend does."""
    import xgrammar

    vocabulary = [*(bytes([byte]) for byte in range(256)), b"<end>"]
    info = xgrammar.TokenizerInfo(vocabulary, vocab_type=xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[256])
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(dumps(schema, indent=False))

    def accepts_text(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(256) and matcher.is_terminated())

    return accepts_text


def _outlines_core(schema: Json) -> Matcher | None:
    """Compile as outlines does: into one regular expression.

    Python would take for ever to match some of these, and outlines half a minute to make a table of them;
    llguidance walks them as fast as its own grammars.
    """
    from outlines_core.json_schema import build_regex_from_schema

    if expanded_size(schema) > VERIFIED_PATTERN * 20:
        raise Unasked
    expression = build_regex_from_schema(dumps(schema, indent=False))
    if find_spec("llguidance") is None or len(expression) > VERIFIED_PATTERN:
        return None
    from llguidance import LLMatcher

    try:
        return _guided(LLMatcher.grammar_from_regex(expression))
    except ValueError:
        return None  # what one engine writes the other need not read


_ENGINES: dict[str, Callable[[Json], Matcher | None]] = {
    "llguidance": _llguidance,
    "xgrammar": _xgrammar,
    "outlines_core": _outlines_core,
}
