"""Take a tool of others to a target and back, and say what breaks."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from generate import Instances
from grammar_engines import binding
from jsonschema import Draft202012Validator
from judges import breaches, keywords

from instrc import CompileWarning, Inexpressible, encode, import_tools, lift, lower
from instrc.problems.errors import InstrcError
from instrc.providers.lowering.intake import read, survey  # what a schema is read as, before it is lowered
from instrc.schema.samples import sample
from instrc.schema.walk import map_schemas
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import equal

ENDINGS = (".json", ".jsonl", ".yaml", ".yml")


class Find(NamedTuple):
    """Something that broke."""

    kind: str
    tool: str
    detail: str


def kind_of(text: str) -> str:
    """Return the kind of importer that a file asks for, by what is in it."""
    head = text[:200_000]
    for mark, kind in (
        ('"openapi"', "openapi"),
        ("openapi:", "openapi"),
        ('"swagger"', "openapi"),
        ("swagger:", "openapi"),
        ('"inputSchema"', "mcp"),
        ('"input_schema"', "anthropic"),
        ('"output_type"', "smolagents"),
        ('"type": "function"', "openai"),
    ):
        if mark in head:
            return kind
    return "bfcl"


def tools(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the tools in a file: name and schema."""
    kind = kind_of(path.read_text(encoding="utf-8", errors="replace"))
    for vibe in import_tools(kind, str(path)).vibes:
        yield f"{path.name}:{vibe.document.get('title', vibe.name)}", vibe.document


def readable(schema: Any) -> Any:
    """Return what a schema says, as Python reads it."""
    return for_python(read(survey(schema))[0].schema)


def for_python(schema: Any) -> Any:
    """Return a schema without the patterns that ECMA 262 reads and Python does not."""
    return map_schemas(schema, lambda node: {word: held for word, held in node.items() if word != "pattern" or _known(held)})


def _known(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def full(schema: Any, seed: int) -> list[Any]:
    """Return a few valid instances of a schema, the fullest first."""
    try:
        found = Instances(readable(schema), Random(seed)).some(8)  # noqa: S311  -- reproducible, not secret
    except (RecursionError, LookupError, TypeError, ValueError):
        return []
    return sorted(found, key=lambda value: -len(dumps(value)))[:3]


def tried(name: str, schema: Any, target: str, *, engines: bool = False) -> Iterator[Find]:
    """Yield what breaks when a tool goes to a target and back."""
    before = dumps(schema)
    try:
        result = lower(schema, target, name.rsplit(":", 1)[-1])
    except InstrcError as error:
        yield Find(f"{target}: refused", name, error.problems[0].message)
        return
    if dumps(schema) != before:
        yield Find(f"{target}: touched", name, "the schema was changed in place")
    told = any(problem.name == "budget-exceeded" for problem in result.problems)
    for breach in breaches(result.payload, target)[:2]:
        if told and breach.rule == "budget":
            continue  # an output has no form without strictness
        yield Find(f"{target}: rule {breach.rule}", name, str(breach))
    if engines and target in {"mistral", "vllm"}:
        for opinion in binding(result):
            if not opinion.accepted:
                yield Find(f"{target}: {opinion.engine} refuses", name, str(opinion.reason))
            elif opinion.answers is False and answer_fits(result.schema):
                yield Find(f"{target}: {opinion.engine} takes no sample", name, dumps(sample(result.schema), indent=False))
            elif opinion.ordered is False:
                yield Find(f"{target}: {opinion.engine} keeps no order", name, dumps(result.schema, indent=False)[:300])
    if loads(dumps(result.map)) != result.map:
        yield Find(f"{target}: map", name, "the map is no plain JSON")
    reported = {loss.keyword for loss in result.losses if loss.kind in {"unenforced", "part"}}
    judge = Draft202012Validator(readable(schema))
    for answer in [sample(result.schema), *full(result.schema, 1)]:
        if not Draft202012Validator(for_python(result.schema)).is_valid(answer):
            continue
        lifted = lift({"function": {"name": result.map["tool"]["sent"], "arguments": dumps(answer)}}, result.map)
        broken = {keyword for error in judge.iter_errors(lifted.value) for keyword in keywords(error)}
        if broken and not broken & reported:
            yield Find(f"{target}: not valid", name, f"{sorted(broken)} {dumps(answer, indent=False)[:300]}")
    narrowed = any(loss.kind in {"narrowed", "convention"} for loss in result.losses)
    for value in full(schema, 2):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CompileWarning)  # a null that is left out is told, and comes back as one
                answer = encode(value, result.map, check=False)
        except Inexpressible as error:
            if not narrowed:
                yield Find(f"{target}: no words", name, f"{error} {dumps(value, indent=False)[:300]}")
            continue
        back = lift({"function": {"name": result.map["tool"]["sent"], "arguments": dumps(answer)}}, result.map).value
        if not equal(back, value) and not narrowed:
            yield Find(
                f"{target}: not the same", name, f"{dumps(value, indent=False)[:300]} came back {dumps(back, indent=False)[:300]}"
            )
        elif not narrowed and not Draft202012Validator(for_python(result.schema)).is_valid(answer):
            yield Find(f"{target}: no answer", name, f"{dumps(answer, indent=False)[:300]}")


def answer_fits(schema: Any) -> bool:
    """Say whether the sample of a payload is one: a pattern may rule that no guess satisfies."""
    return bool(Draft202012Validator(schema).is_valid(sample(schema)))
