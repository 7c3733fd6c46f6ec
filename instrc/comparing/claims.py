"""For whom a new process breaks: those who start it, and those who serve its activities and its people.

As with schemas, `yes` is proven, `no` is shown, and everything else is `unknown`.
"""

from __future__ import annotations

from dataclasses import dataclass

from instrc.comparing.changes import CutChanges
from instrc.comparing.facts import free_names
from instrc.comparing.inclusion import Inclusion, includes
from instrc.comparing.pairs import Pairs
from instrc.ir.process import Process
from instrc.jsontext import dumps
from instrc.jsonvalue import equal

_HARMLESS = frozenset(
    {
        *("described", "default", "renamed", "split", "joined", "reordered", "removed", "reads", "reads no longer", "arguments"),
    }
)
"""Changes after which those who serve the process get nothing new; of their own steps, what is read is looked at apart."""
_OF_SCHEMAS = frozenset({"narrowed", "widened", "changed", "equivalent", "added", "required", "optional"})
"""Changes of a step's schema; the verdicts on the schemas say what they mean."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether something still holds, and why not or why nobody knows."""

    verdict: Inclusion
    why: str = ""


def start_claim(old_process: Process, new_process: Process, pairs: Pairs) -> Claim:
    """Say whether the inputs that started the old process start the new one."""
    old, new = old_process.inputs, new_process.inputs
    if new is None:
        fresh = sorted(free_names(pairs.new) - (free_names(pairs.old) if old is None else set(old)))
        return Claim("unknown", f"it reads `{fresh[0]}`, which nobody gave before") if fresh else Claim("yes")
    unknown = "" if old is not None else "the old process does not list its inputs"
    known = free_names(pairs.old) if old is None else set(old)
    for name in sorted({*new, *known}):
        if name == "prompt":  # a run starts with and without it
            unknown = unknown or ("" if name in known or name not in free_names(pairs.new) else "it reads `prompt` now")
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


def serve_claim(old: Process, new: Process, needed: tuple[str, ...], found: CutChanges, start: Claim) -> Claim:
    """Say whether activities and people that served the old process serve the new one."""
    if needed:
        return Claim("no", f"needed anew: {', '.join(needed)}")
    if found.refused:
        return Claim("no", found.refused)
    unknown = found.unproven
    for change in found.changes:
        if change.what not in _HARMLESS and not (change.what in _OF_SCHEMAS and not found.unproven):
            unknown = unknown or f"`{change.at}`: {change.what} {change.detail}".rstrip()
    if not unknown and not equal(dict(old.inputs or {}), dict(new.inputs or {})):
        unknown = "the inputs have changed"
    if not unknown and start.verdict != "yes":
        unknown = start.why
    return Claim("unknown", unknown) if unknown else Claim("yes")
