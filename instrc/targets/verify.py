"""Ask the engines that are installed whether they take a payload, and whether they hold answers to its order.

Engines are optional (`pip install instrc[verify]`): llguidance decides for Mistral and, with xgrammar, for vLLM;
outlines-core is asked for its opinion.  Targets without a public engine are judged by our own rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

from instrc.jsonvalue import Json, at, dumps, pointer
from instrc.targets.catalogue import dialect
from instrc.targets.dialect import Dialect
from instrc.targets.rules import Breach, breaches
from instrc.targets.sample import reordered, sample
from instrc.targets.spelling import standard

Matcher: TypeAlias = Callable[[str], bool]
"""Says whether a text is a whole answer that a grammar accepts."""


class Opinion(NamedTuple):
    """What one engine says."""

    engine: str
    binding: bool
    """Whether the target runs on this engine."""
    accepted: bool | None
    """Whether the schema compiles; `None` if the engine is not installed."""
    reason: str | None = None
    answers: bool | None = None
    """Whether a sample answer is accepted; `None` if it was not tried."""
    ordered: bool | None = None
    """Whether that answer is rejected when two of its properties are swapped; `None` if there is nothing to swap."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What the rules of a target and the engines say of a payload."""

    target: str
    breaches: tuple[Breach, ...]
    opinions: tuple[Opinion, ...]

    @property
    def accepted(self) -> bool:
        """Whether no rule is broken and no engine of the target refuses."""
        return not self.breaches and not any(opinion.binding and opinion.accepted is False for opinion in self.opinions)

    @property
    def ordered(self) -> bool | None:
        """Whether order is enforced by every engine of the target that was asked; `None` if none could tell."""
        said = [opinion.ordered for opinion in self.opinions if opinion.binding and opinion.ordered is not None]
        return all(said) if said else None

    def to_json(self) -> Json:
        """Return the whole as plain JSON."""
        return {
            "target": self.target,
            "accepted": self.accepted,
            "ordered": self.ordered,
            "breaches": [breach._asdict() for breach in self.breaches],
            "engines": [opinion._asdict() for opinion in self.opinions],
        }


def verify(payload: Json, target: str | Dialect = "openai") -> Verification:
    """Check a payload of a target, or a schema in its words alone, against its rules and the installed engines."""
    aimed = dialect(target)
    try:
        schema = at(payload, pointer(aimed.where))
        broken = breaches(payload, aimed)
    except (LookupError, TypeError):
        schema = payload
        wrapped = _wrapped(payload, aimed)
        broken = breaches(wrapped, aimed)
    plain = standard(schema, aimed.spelling)
    binding = {"mistral": {"llguidance"}, "vllm": {"llguidance", "xgrammar"}}.get(aimed.name, set())
    opinions = [_opinion(name, engine, plain, binding=name in binding) for name, engine in _ENGINES.items()]
    return Verification(aimed.name, tuple(broken), tuple(opinions))


def _wrapped(schema: Json, aimed: Dialect) -> Json:
    """Put a schema alone into the envelope of a target."""
    from instrc.targets.envelopes import filled

    return filled(aimed.envelope, {"@name": "tool", "@description": None, "@schema": schema, "@map": None})


def _opinion(name: str, engine: Callable[[Json], Matcher], schema: Json, *, binding: bool) -> Opinion:
    """Ask one engine."""
    if find_spec(name) is None:
        return Opinion(name, binding, None, "is not installed")
    try:
        matcher = engine(schema)
    except Exception as error:  # noqa: BLE001  -- engines raise what they like
        return Opinion(name, binding, accepted=False, reason=f"{type(error).__name__}: {error}"[:500])
    value = sample(schema)
    try:
        answers = matcher(dumps(value, indent=False))
        swapped = reordered(value, schema)
        ordered = None if swapped is None or not answers else not matcher(dumps(swapped, indent=False))
    except Exception as error:  # noqa: BLE001  -- as above
        return Opinion(name, binding, accepted=False, reason=f"{type(error).__name__}: {error}"[:500])
    return Opinion(name, binding, accepted=True, answers=answers, ordered=ordered)


def _llguidance(schema: Json) -> Matcher:
    """Compile as Mistral and vLLM's guidance backend do."""
    from llguidance import LLMatcher, LLTokenizer

    grammar = LLMatcher.grammar_from_json_schema(dumps(schema, indent=False))
    if message := LLMatcher.validate_grammar(grammar):
        raise ValueError(message)
    tokens = LLTokenizer("byte")

    def accepts(text: str) -> bool:
        matcher = LLMatcher(tokens, grammar)
        wanted = tokens.tokenize_str(text)
        return matcher.try_consume_tokens(wanted) == len(wanted) and bool(matcher.is_accepting())

    return accepts


def _xgrammar(schema: Json) -> Matcher:
    """Compile as vLLM's and SGLang's default backend does."""
    import xgrammar

    vocabulary: Any = [bytes([byte]) for byte in range(256)] + [b"<end>"]
    info = xgrammar.TokenizerInfo(vocabulary, vocab_type=xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[256])
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(dumps(schema, indent=False))

    def accepts(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(256) and matcher.is_terminated())

    return accepts


def _outlines_core(schema: Json) -> Matcher:
    """Compile as outlines does: into one regular expression."""
    import re

    from outlines_core.json_schema import build_regex_from_schema

    expression = re.compile(build_regex_from_schema(dumps(schema, indent=False)))
    return lambda text: expression.fullmatch(text) is not None


_ENGINES: dict[str, Callable[[Json], Matcher]] = {
    "llguidance": _llguidance,
    "xgrammar": _xgrammar,
    "outlines_core": _outlines_core,
}
