"""Whom a change of a process affects: those who start it, and the activities and people that serve it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from instrc.process import flow
from instrc.process.process import Process
from instrc.schema.differences import compare
from instrc.schema.inclusion import Inclusion, includes
from instrc.schema.walk import reached_definitions, refers
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, equal


class Claim(Struct, frozen=True):
    """Whether a property still holds, with the reason if it does not or is unknown."""

    verdict: Inclusion
    why: str = ""


class ProcessComparison(Struct, frozen=True):
    """The new requirements of a process, and whom its change affects."""

    needed: tuple[str, ...]
    """Activities, and `person: STEP`, that only the new process needs."""
    spared: tuple[str, ...]
    """Activities and steps of people that are no longer needed."""
    start: Claim
    """Whether all inputs that started the old process start the new one."""
    serve: Claim
    """Whether all who served the old process can serve the new one."""


def compare_processes(old: Process, new: Process) -> ProcessComparison:
    """Return whom the change from one process to another affects."""
    before, after = dict(_needs(old)), dict(_needs(new))
    needed = tuple(name for name in after if name not in before)
    spared = tuple(name for name in before if name not in after)
    start = _start_claim(old, new)
    return ProcessComparison(needed, spared, start, _serve_claim(old, new, needed, start))


_NUMBER = re.compile(r"\bstep\d+_")


def _needs(process: Process) -> Iterator[tuple[str, list[tuple[str, Json]]]]:
    """Yield the activities of a process and its questions to people, each with its steps and their answers, in order."""
    served: dict[str, list[tuple[str, Json]]] = {}
    for step in process.steps():
        name = None
        if step.executor == "user":
            name = f"person: {_NUMBER.sub('', step.key, count=1)}"
        elif step.executor == "server" and not step.engine.fail and (step.engine.activity or step.output):
            name = step.engine.activity or step.key
        if name is not None:
            served.setdefault(name, []).append((step.key, _answer_schema(step, process)))
        for tools in (step.plan, *(planned.tools for planned in step.plans)):
            for tool in tools.values() if isinstance(tools, dict) else ():
                called = tool.get("activity", tool.get("process")) if isinstance(tool, dict) else None
                if isinstance(called, str):
                    served.setdefault(called, [])
    yield from served.items()


def _answer_schema(step: flow.Step, process: Process) -> Json:
    """Return the schema that the answer of a step must satisfy, with the definitions it refers to."""
    schema = step.schema
    if not refers(schema) or not isinstance(schema, dict):
        return schema
    return {**schema, "$defs": dict(sorted(reached_definitions(schema, process.definitions).items()))}


def _start_claim(old_process: Process, new_process: Process) -> Claim:
    """Return whether the inputs that started the old process start the new one."""
    old, new = old_process.inputs, new_process.inputs
    if new is None:
        fresh = sorted(_free_names(new_process) - (_free_names(old_process) if old is None else set(old)))
        return Claim("unknown", f"it reads `{fresh[0]}`, which was not passed before") if fresh else Claim("yes")
    unknown = "" if old is not None else "the old process does not list its inputs"
    known = _free_names(old_process) if old is None else set(old)
    for name in sorted({*new, *known}):
        if name == "prompt":  # a run starts with and without it
            unknown = unknown or ("" if name in known or name not in _free_names(new_process) else "it reads `prompt` now")
        elif name not in known:
            return Claim("no", f"the input `{name}` is new")
        if name not in new:
            return Claim("no", f"the input `{name}` is gone")
    for name, schema in new.items():
        verdict, instance = includes(schema, (old or {}).get(name, {}))
        if verdict == "no":
            return Claim("no", f"the input `{name}` refuses {dumps(instance, indent=False)}")
        if verdict == "unknown":
            unknown = unknown or f"the input `{name}` has another schema"
    return Claim("unknown", unknown) if unknown else Claim("yes")


def _free_names(process: Process) -> set[str]:
    """Return the names that steps read without any step, block or element defining them."""
    bound = {"rounds", "previous", "error", "round"}
    bound.update(step.key for step in process.steps())
    for block in process.contexts():
        bound |= {name for name in (getattr(block, "key", None), getattr(block, "item", None)) if name}
    return {read.first for read in process.reads()} - bound


def _serve_claim(old: Process, new: Process, needed: tuple[str, ...], start: Claim) -> Claim:
    """Return whether activities and people that served the old process serve the new one."""
    if needed:
        return Claim("no", f"needed anew: {', '.join(needed)}")
    before = dict(_needs(old))
    for name, steps in _needs(new):
        for (_, was), (key, now) in zip(before[name], steps, strict=False):
            if (found := compare(was, now)).writers == "no":
                return Claim("no", f"`{key}` refuses {dumps(found.refused, indent=False)}")
    if _content(old) != _content(new):
        return Claim("unknown", "steps of the process have changed")
    if not equal(dict(old.inputs or {}), dict(new.inputs or {})):
        return Claim("unknown", "the inputs have changed")
    return start


_UNUSED = frozenset({"title", "description", "definition"})
"""Members that name or describe a part."""


def _content(process: Process) -> str:
    """Return the steps, blocks and definitions of a process as text, without names, descriptions and numbers of steps."""
    parts: Json = msgspec.to_builtins([process.body, dict(process.definitions)])
    return _NUMBER.sub("", dumps(_undescribed(parts)))


def _undescribed(value: Json) -> Json:
    if isinstance(value, list | tuple):
        return [_undescribed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _undescribed(item) for key, item in value.items() if key not in _UNUSED or isinstance(item, dict | bool)}
