"""Lower a schema to a target: the payload in its envelope, the way back, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from instrc.codecs.reverse import VERSION
from instrc.dialects.catalogue import dialect
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, at
from instrc.lowering import budgets
from instrc.lowering.as_written import as_written
from instrc.lowering.describe import cut, described
from instrc.lowering.envelopes import filled
from instrc.lowering.fitted import fitted
from instrc.lowering.kept import kept
from instrc.lowering.losses import Loss
from instrc.lowering.mentions import Mentions
from instrc.lowering.names import legal
from instrc.lowering.notes import joined
from instrc.lowering.reading import read
from instrc.lowering.spelling import spelled
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.targets import BudgetExceeded, LossyStrict, LossyTarget

UNROLL = 3
"""How often a recursive reference is written out where the target keeps none."""


@dataclass(frozen=True, slots=True)
class Lowering:
    """What a schema becomes for a target."""

    payload: Json
    """The schema in the exact envelope of the target, ready to be sent."""
    map: Json
    """The way back for answers, as plain JSON: give it to `lift`."""
    losses: tuple[Loss, ...]
    """Whatever the payload does not say as the schema said it."""
    problems: tuple[Problem, ...] = ()
    """Warnings: grave losses, budgets that were exceeded and what was done about it."""
    schema: Json = field(default=True, repr=False)
    """The payload's schema in standard JSON Schema, whatever the target's spelling."""


class Tool(NamedTuple):
    """A schema with the name and the description under which a model is shown it."""

    name: str
    schema: Json
    description: str | None = None


def lower(
    schema: Json,
    target: str | Dialect = "openai",
    name: str = "tool",
    *,
    description: str | None = None,
    ordered: bool = True,
    unroll: int = UNROLL,
    recursion: str | None = None,
    strict: bool = False,
    documents: Mapping[str, Json] | None = None,
    report: Report | None = None,
) -> Lowering:
    """Fit a JSON Schema to a target.

    `target` is a name that `targets()` lists, or a `Dialect` of your own.
    `ordered` keeps the order of properties where the target would move optional ones.
    `unroll` says how often a recursive reference is written out where the target keeps none;
    `recursion` overrides what the target does about it: `keep`, `unroll` or `refuse`.
    With `strict` each grave loss is an error.  Problems go to `report`; without one, errors raise a `CompileError`.
    """
    aimed = dialect(target)
    from instrc.flattening.flatten import flatten

    readable, losses = read(schema)
    flat = flatten(readable, documents, share=False)  # a target shares in its own way
    result = _lowered(flat, losses, aimed, name, description, ordered=ordered, unroll=unroll, recursion=recursion)
    if result.losses:
        told = as_written(result.losses, flat, readable, documents)
        result = replace(result, losses=tuple(loss for loss in told if not _was_forbidden(loss, readable)))
    return _reported(result, aimed, strict=strict, report=report)


def _lowered(
    flat: Json,
    read_losses: Iterable[Loss],
    aimed: Dialect,
    name: str,
    description: str | None,
    *,
    ordered: bool,
    unroll: int,
    recursion: str | None = None,
    relaxed: tuple[Problem, ...] = (),
) -> Lowering:
    """Build payload, map and losses; `relaxed` are the exceeded budgets for which strictness was given up."""
    if aimed.structure == "kept":
        built = kept(flat, aimed)
    else:
        built = fitted(flat, aimed, ordered=ordered, unroll=unroll, recursion=recursion)
    sent_name = legal(name, aimed.tool_name, "tool") if aimed.envelope != "@schema" else name
    said, schema = described(built.schema, description, flat, aimed)
    if built.back:
        mentions = Mentions({name: sent for sent, name in built.back.items()})
        said, schema = None if said is None else mentions.in_text(said), mentions.in_schema(schema)
    overflow = None
    if said is not None and aimed.limits.description is not None and len(said) > aimed.limits.description:
        said, overflow = cut(said, aimed.limits.description)
        schema = {**schema, "description": joined(overflow, schema.get("description"))}
    record: dict[str, Json] = {"instrc": VERSION, "target": aimed.name, "tool": {"name": name, "sent": sent_name}}
    record["keys"] = list(schema.get("properties", ())) if isinstance(schema, dict) else []
    record |= built.record
    record["schema"] = flat
    losses = [*read_losses, *built.losses]
    problems: list[Problem] = list(relaxed)
    envelope = aimed.plain if relaxed and aimed.plain is not None else aimed.envelope
    if relaxed:
        losses.append(
            Loss("", "strict", value=True, kind="unenforced", reason="is given up, because a budget of the target is exceeded")
        )
    elif aimed.plain is not None:
        over = budgets.exceeded(schema, aimed, sent_name)
        if over:
            if aimed.order == "required-first" and ordered:  # optional properties may stay out of the union budget
                again = _lowered(flat, read_losses, aimed, name, description, ordered=False, unroll=unroll, recursion=recursion)
                if not any(isinstance(problem, BudgetExceeded) for problem in again.problems):
                    reason = "would ask for more union-typed parameters than are taken, so optional properties come last"
                    return replace(again, losses=(*again.losses, Loss("", "properties", None, "order", reason)))
            told = tuple(replace(problem, consequence="it is sent without strictness") for problem in over)
            return _lowered(
                flat, read_losses, aimed, name, description, ordered=ordered, unroll=unroll, recursion=recursion, relaxed=told
            )
    else:
        problems += budgets.exceeded(schema, aimed, sent_name)
    shown = None if not aimed.empty_schema and not record["keys"] and _asks_nothing(schema) else spelled(schema, aimed.spelling)
    payload = filled(envelope, {"@name": sent_name, "@description": said, "@schema": shown, "@map": record})
    return Lowering(payload, record, tuple(losses), tuple(problems), schema)


def _was_forbidden(loss: Loss, schema: Json) -> bool:
    """Say whether a property is left out that its author has forbidden."""
    if loss.kind != "contradiction":
        return False
    try:
        return at(schema, loss.pointer) is False
    except (LookupError, ValueError, TypeError):
        return loss.value is False


def _asks_nothing(schema: Json) -> bool:
    """Say whether a schema is that of a tool without parameters."""
    return isinstance(schema, dict) and schema.get("type") == "object" and not schema.get("properties")


def _reported(result: Lowering, aimed: Dialect, *, strict: bool, report: Report | None) -> Lowering:
    """Make problems of grave losses, and raise or report them."""
    kind = LossyStrict if strict else LossyTarget
    lossy = [
        kind(target=aimed.name, keyword=loss.keyword, pointer=loss.pointer, reason=loss.reason)
        for loss in result.losses
        if loss.grave
    ]
    result = replace(result, problems=(*result.problems, *lossy))
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and lossy:
        raise CompileError(result.problems)
    return result
