"""Ask the grammar engines that targets run on whether they take a payload and hold its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import islice, pairwise
from typing import Final, NamedTuple, TypeAlias

from instrc.providers.lowering.lower import Lowering
from instrc.providers.lowering.spelling import standard  # engines read JSON Schema, whatever the target's spelling
from instrc.schema.samples import SAMPLE_LEVELS, sample  # how deep the swaps go
from instrc.schema.validation import accepts
from instrc.schema.walk import local_target
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping, pointer

ENGINES_OF: Final = {"mistral": ("llguidance",), "vllm": ("llguidance", "xgrammar")}
"""The engines on which targets run."""


def opinions(lowering: Lowering) -> list[Opinion]:
    """Return what each installed engine says of a lowered schema, those first on which its target runs."""
    schema = dumps(standard(lowering.schema, lowering.dialect.spelling))
    return [_opinion(name, engine, schema) for name, engine in _ENGINES.items() if find_spec(name) is not None]


def binding(lowering: Lowering) -> list[Opinion]:
    """Return what the installed engines of the target say of a lowered schema."""
    return [opinion for opinion in opinions(lowering) if opinion.engine in ENGINES_OF.get(lowering.dialect.name, ())]


class Opinion(NamedTuple):
    """The verdict of one engine."""

    engine: str
    accepted: bool
    """Whether the schema compiles."""
    reason: str | None = None
    answers: bool | None = None
    """Whether a sample answer is accepted; `None` if no sample exists (a pattern without a text) or none could be tested."""
    ordered: bool | None = None
    """Whether that answer is rejected after any swap of two declared neighbours; `None` if there are none."""
    loose: str | None = None
    """Swap that was accepted nevertheless: its keys and its place."""


Matcher: TypeAlias = Callable[[str], bool]
"""Returns whether a text is a complete answer under a grammar."""
VERIFIED_ORDERS: Final = 40
"""Maximum reordered answers tested with an engine."""


@cache
def _opinion(name: str, engine: Callable[[Json], Matcher], text: str) -> Opinion:
    """Run one engine on a schema as JSON, which several targets may get."""
    schema = loads(text)
    try:
        matcher = engine(schema)
    except Exception as error:  # noqa: BLE001  -- engines may raise anything
        return Opinion(name, accepted=False, reason=f"{type(error).__name__}: {error}"[:500])
    value = sample(schema)
    if not accepts(schema, value):
        return Opinion(name, accepted=True)
    ordered, loose = None, None
    try:
        answers = matcher(dumps(value, indent=False))
        for swap in islice(swaps(value, schema), VERIFIED_ORDERS if answers else 0):
            ordered = not matcher(dumps(swap.value, indent=False))
            if not ordered:
                loose = f"{dumps(swap.keys[1], indent=False)} before {dumps(swap.keys[0], indent=False)} at {swap.place or '/'}"
                break
    except Exception as error:  # noqa: BLE001  -- as above
        return Opinion(name, accepted=False, reason=f"{type(error).__name__}: {error}"[:500])
    return Opinion(name, accepted=True, answers=answers, ordered=ordered, loose=loose)


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
    compiled = LLMatcher(tokens, grammar)

    def accepts_text(text: str) -> bool:
        matcher = compiled.deep_copy()
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
