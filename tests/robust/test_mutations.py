"""Programs, vibes and answers, changed at random: nothing is raised but errors of ours."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import instrc

ROOT = Path(__file__).parent.parent.parent
_WORDS = """
    ( ) { } [ ] | @ , ; . .. ' " = // /* */ -1 1e999 0x_ null true $ref / # ~1 : 999999999999999999999 é 😀
    const tool when each input repeat try do Process( aug: aug:x#/ prompt A B( _Mixin( _Activity _User(
"""
PIECES = [*_WORDS.split(), "const ", "tool ", "when ", "input ", "\0", "\n", "\t", "\u202e", "\ud800"]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**25,
    "",
    "object",
    "#",
    "#/$defs/a",
    "^(a+)+$",
    "(",
    [],
    {},
    [[]],
    [{}],
    {"type": 5},
]


def programs() -> list[str]:
    return sorted((file.read_text(encoding="utf-8") for file in (ROOT / "examples").rglob("*.aug")), key=len)[:40]


def documents() -> list[Any]:
    return [json.loads(file.read_bytes()) for file in sorted((ROOT / "examples").rglob("*.vibe.json"))]


def changed_text(text: str, chance: random.Random) -> str:
    """Return a text with up to six parts put in, taken out, doubled or moved."""
    for _ in range(chance.randint(1, 6)):
        at, size = chance.randint(0, len(text)), chance.choice([0, 1, 1, 2, 5, 20])
        piece = chance.choice([chance.choice(PIECES), text[at : at + size] * 2, "", text[: chance.randint(0, 20)]])
        text = text[:at] + piece + text[at + size :]
    return text


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every part with what holds it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def changed_value(value: Any, chance: random.Random) -> Any:
    """Return a value with up to four parts replaced, removed, moved or called otherwise."""
    box = [json.loads(json.dumps(value))]
    for _ in range(chance.randint(1, 4)):
        found = list(places(box))
        holder, key = chance.choice(found)
        other = chance.choice(found)
        match chance.randint(0, 4):
            case 0:
                holder[key] = json.loads(json.dumps(chance.choice(VALUES)))
            case 1:
                holder[key] = json.loads(json.dumps(other[0][other[1]]))
            case 2 if isinstance(holder, dict):
                holder[chance.choice(["$ref", "type", "allOf", "items", "default", "output", "_x", "enum", "references"])] = (
                    holder.pop(key)
                )
            case 3 if len(holder) > 1:
                del holder[key]
            case _:
                holder[key] = [holder[key]]
    return box[0] if box else None


def program(chance: random.Random) -> None:
    instrc.compile(changed_text(chance.choice(programs()), chance), sketch=True, report=instrc.Report())


def vibe(chance: random.Random) -> None:
    schema = changed_value(chance.choice(documents()), chance)
    name = chance.choice(["V", "V_Mixin", "V_Activity"])
    instrc.compile(chance.choice(["V(prompt)", "V_Mixin(W(prompt))", "V_Activity(W)", "Process({ a: LLM_Context({ V }) })"]),
                   vibes={name: schema, "W": {"type": "object"}}, report=instrc.Report())  # fmt: skip


TOOL = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "role": {"enum": ["x", "y"]}, "ключ": {"type": "array", "items": {"type": "number"}}},
}
LOWERED = {target: instrc.lower(TOOL, target) for target in ("openai", "gemini", "anthropic", "gigachat")}  # type: ignore[arg-type]  -- names
ANSWERS: list[Any] = [
    {
        "choices": [
            {"message": {"content": None, "tool_calls": [{"id": "1", "function": {"name": "tool", "arguments": '{"a": "x"}'}}]}}
        ]
    },
    {"content": [{"type": "tool_use", "id": "1", "name": "tool", "input": {"a": "x"}}], "stop_reason": "tool_use"},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "tool", "args": {"a": "x", "role": "X"}}}]}}]},
    {"output": [{"type": "function_call", "name": "tool", "arguments": '{"a": 1}'}], "error": None},
    {"message": {"role": "assistant", "function_call": {"name": "tool", "arguments": {"a": "x"}}}},
    [{"type": "response.function_call_arguments.delta", "delta": '{"a"'}, {"type": "response.completed"}],
    {"a": "x", "role": "x", "ключ": [1, 2.5]},
]


def answer(chance: random.Random) -> None:
    said = changed_value(chance.choice(ANSWERS), chance)
    record = LOWERED[chance.choice(list(LOWERED))].map
    text = json.dumps(said, ensure_ascii=False)
    lifted = instrc.lift(chance.choice([said, text, changed_text(text, chance)]), record)
    lifted.to_json()


KINDS: dict[str, Callable[[random.Random], None]] = {"program": program, "vibe": vibe, "answer": answer}


def tried(kind: str, seeds: range) -> None:
    for seed in seeds:
        try:
            KINDS[kind](random.Random(seed))  # noqa: S311  -- no secret: changes that can be made again
        except instrc.InstrcError:
            continue
        except Exception as error:
            error.add_note(f"{kind}, seed {seed}")
            raise


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_changed_at_random_ends_well_or_in_an_error_of_ours(kind: str) -> None:
    tried(kind, range(100))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_changes_of_each_kind(kind: str, part: int) -> None:
    tried(kind, range(part * 1000, part * 1000 + 1000))
