"""Every public function with arguments that it takes, read from `instrc.__all__`: what is new has to be given some."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import instrc
from instrc import lower

LETTER = {"type": "object", "properties": {"a": {"type": "string"}, "role": {}}, "required": ["a"]}
RECORD = lower(LETTER, "gemini").map
BENCH = {"nodes": [{"id": "Cut", "desc": "Cut a picture", "input-type": ["image"], "output-type": ["image"]}]}
TASKS = {"id": "1", "task_steps": ["Cut it"], "task_nodes": [{"task": "Cut", "arguments": ["a.png"]}], "task_links": []}
TOOLS = [{"name": "cut", "description": "Cut", "parameters": LETTER}]
PLAN = [{"tool": "cut", "arguments": {"a": "x"}}]
PROGRAM = '"Write" | @ { title: "Draft", type: "object", properties: { a: { type: "string" } } }'

SOUND: dict[str, tuple[object, ...]] = {
    "a": (LETTER, True, {"$ref": "#"}),
    "activities": ({}, {"Send": len}),
    "answer": ({"a": "x"}, {"choices": [{"message": {"content": '{"a": "x"}'}}]}),
    "b": (LETTER, {}),
    "base": ("", "aug:a"),
    "batch": (1, 3),
    "cases": ([{"input": "a letter"}],),
    "count": (1, 2),
    "description": ("A letter",),
    "documents": ({}, {"aug:b": {"type": "object"}}),
    "emit": ("auto", "tool", "process"),
    "envelope": ("openai-responses",),
    "examples": ([], [{"a": "x"}]),
    "gold": ([TASKS],),
    "id": ("run-1",),
    "input": ("a letter", {"prompt": "a letter"}),
    "kind": ("openai", "anthropic", "mcp", "openapi", "bfcl", "taskbench"),
    "largest": (8, 2),
    "limit": (1000,),
    "map": (RECORD,),
    "model": ("sample", instrc.Scripted([{"a": "x"}])),
    "name": ("write", "Send_Activity"),
    "naming": ("step", "camel", "plain"),
    "path": (".",),
    "paths": (".",),
    "payload": (lower(LETTER, "gemini").payload,),
    "people": (None,),
    "plan": (PLAN, [{"task": "Cut", "arguments": ["a.png"]}]),
    "predictions": ([TASKS],),
    "program": (PROGRAM, "const a = A(prompt); B(a)", '@{ title: "Go_Activity" }', instrc.Source("x.aug", PROGRAM)),
    "record": (TASKS,),
    "results": ("leave", "output", "activity"),
    "roots": ((), ["."]),
    "schema": (LETTER, {"allOf": [LETTER, {"minProperties": 1}]}),
    "seed": (0, 5),
    "shape": ("single", "chain", "dag"),
    "shared": ((), ["."]),
    "source": ({"type": "function", "function": {"name": "f", "parameters": LETTER}}, TOOLS),
    "target": ("openai", "gemini", "anthropic"),
    "tools": (BENCH, TOOLS),
    "unroll": (3, 0),
    "value": ({"a": "x"},),
    "vibes": ({}, {"A": LETTER, "B": LETTER}),
    "which": ({"thoughts", "metrics"}, ["all"]),
}
"""What suits a parameter, by its name; one that is not here is true or false, or is given nothing."""


def public() -> dict[str, Callable[..., Any]]:
    """Return every public function by its name."""
    found = {name: getattr(instrc, name) for name in instrc.__all__}
    del found["current_call"]  # it takes nothing, and outside of a call it is a `LookupError`
    functions = {name: value for name, value in found.items() if callable(value) and not isinstance(value, type)}
    return functions | {"App": in_application}


def in_application(**options: Any) -> instrc.Run:
    """Run a program in an application with some options."""
    return asyncio.run(instrc.App(**{"model": "sample", **options}).run(PROGRAM, "a letter"))


in_application.__signature__ = inspect.signature(instrc.App)  # type: ignore[attr-defined]  # the options of an application


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return what a function takes."""
    return list(inspect.signature(function).parameters.values())


def required(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return what a function has to be given."""
    return [each for each in parameters(function) if each.default is each.empty]


def call(function: Callable[..., Any], given: dict[str, Any]) -> object:
    """Call a function with arguments by their names, in the way that it takes each."""
    plain: list[Any] = []
    named: dict[str, Any] = {}
    for each in parameters(function):
        if each.name not in given:
            continue
        if each.kind is each.VAR_POSITIONAL:
            plain.append(given[each.name])
        else:
            named[each.name] = given[each.name]
    result = function(*plain, **named)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def ends_well(work: Callable[[], object]) -> object:
    """Run what may end well or in an error of ours; a `TypeError` must be raised on purpose, in our own code."""
    wrong: TypeError | None = None
    try:
        return work()
    except TypeError as error:
        wrong = error
    except (instrc.InstrcError, instrc.Inexpressible) as error:
        return error
    if wrong is not None and wrong.__traceback__ is not None:
        raised = inspect.getinnerframes(wrong.__traceback__)[-1]
        assert "instrc" in raised.filename, wrong
        assert any("raise " in line for line in raised.code_context or ()), wrong
    return wrong
