"""Processes to draw: of any size, with blocks, with words that break what does not quote them."""

from __future__ import annotations

import random
from typing import Any

WORDS = [
    "identify_participants",
    "найти_слот",
    "fetch_availability",
    "составить_приглашение_для_участников",
    "draft",
    "会議を予定する",
]


def step(reads: list[str], **more: Any) -> dict[str, Any]:
    properties = {"text": {"type": "string"}, "_why": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": ["text"], "references": reads, **more}


def straight(count: int, seed: int = 1) -> dict[str, Any]:
    """Return a process of chunks in any order of executors, whose steps read earlier ones."""
    dice = random.Random(seed)  # noqa: S311  -- no secret
    contexts: dict[str, Any] = {}
    keys: list[str] = []
    while len(keys) < count:
        kind = dice.choice(["llm", "llm", "server", "user"])
        steps: dict[str, Any] = {}
        for _ in range(min(dice.randint(1, 4), count - len(keys))):
            reads = dice.sample(keys[-12:], min(len(keys), dice.randint(1, 3))) + (dice.sample(keys, 1) if keys else ["prompt"])
            key = f"step{len(keys) + 1}_{dice.choice(WORDS)}"
            more = {"activity": "Fetch_Activity"} if kind == "server" else {}
            steps[key] = step([f"{each}.участники" if dice.random() < 0.3 else each for each in dict.fromkeys(reads)], **more)
            keys.append(key)
        contexts[f"{kind}Context{len(contexts) + 1}"] = {"type": "object", "properties": steps, "required": list(steps)}
    return {"title": f"Назначить встречу: {count} шагов", "type": "object", "properties": contexts}


def chunk(**steps: Any) -> dict[str, Any]:
    return {"type": "object", "properties": steps}


def blocks() -> dict[str, Any]:
    """Return a process with every kind of block."""
    sends = {
        "anyOf": [
            {
                **chunk(branch={"const": 0}, serverContext3=chunk(step9_send=step(["person"], activity="Send_Activity"))),
                "try": {"value": "step9_send"},
            },
            {
                **chunk(branch={"const": 1}, serverContext4=chunk(step10_note=step(["person", "error"]))),
                "try": {"value": "step10_note"},
            },
        ],
        "try": {"key": "step11_try", "within": "PT30S"},
    }
    each = {
        "type": "array",
        "items": chunk(tryContext1=sends),
        "maxItems": 1000,
        "each": {"item": "person", "in": "step1_identify.attendees", "value": "step11_try", "key": "step12_each"},
    }
    when = {
        "anyOf": [
            {
                **chunk(branch={"const": 0}, eachContext1=each),
                "when": {"path": "step8_confirm.decision", "schema": {"const": "Approve"}, "value": "step12_each"},
            },
            {
                **chunk(branch={"const": 1}, llmContext4=chunk(step13_thank=step(["step8_confirm.comment"]))),
                "when": {"value": "step13_thank"},
            },
        ],
        "when": {"key": "step14_when"},
    }
    repeat = {
        "type": "array",
        "items": chunk(llmContext2=chunk(step4_act=step(["prompt", "rounds"]))),
        "minItems": 1,
        "maxItems": 8,
        "repeat": {"until": {"path": "step4_act.answer", "schema": {"type": "string"}}, "value": "step4_act", "key": "step6_act"},
    }
    last = {
        "anyOf": [
            {
                **chunk(llmContext3=chunk(step7_answer=step(["rounds"]))),
                "else": {"of": "repeatContext1", "value": "step7_answer"},
            },
            {"type": "null"},
        ]
    }
    done = {**chunk(llmContext5=chunk(step15_judge=step(["step14_when"]))), "do": {"value": "step15_judge", "key": "step16_do"}}
    contexts = chunk(
        llmContext1=chunk(step1_identify=step(["prompt"])),
        repeatContext1=repeat,
        elseContext1=last,
        userContext1=chunk(step8_confirm=step(["step6_act"])),
        whenContext1=when,
        doContext1=done,
        llmContext6=chunk(step17_report=step(["step14_when", "step12_each", "step16_do"])),
    )
    return {"title": "All blocks", "inputs": {"prompt": {}, "lang": {}}, **contexts}


def hostile() -> dict[str, Any]:
    """Return a process whose names end scripts, strings, tags and labels."""
    names = [
        "</script><script>alert(1)</script>",
        "a\"b'c",
        "<b>&amp;",
        "x\x00\x1b[31m\ud800",
        "]] --> end",
        "`|#;{}()",
        "\u202egnp.exe",
        "a\nb",
    ]
    return {"title": "".join(names), **chunk(llmContext1=chunk(**{name: step([names[0], "prompt"]) for name in names}))}
