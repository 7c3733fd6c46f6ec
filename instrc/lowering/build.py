"""Build the schema of a payload, and stay within the budgets of the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json
from instrc.lowering import budgets
from instrc.lowering.built import Built
from instrc.lowering.losses import Loss
from instrc.lowering.options import LoweringOptions
from instrc.lowering.pass_through import pass_through
from instrc.lowering.rebuild import rebuild
from instrc.lowering.rewrites.plans import holds_plan
from instrc.lowering.survey import Survey


def build(flat: Survey, dialect: Dialect, options: LoweringOptions, name: str) -> Built:
    """Build a schema for a target; where a budget asks for it, give up order, typed plans, then strictness."""
    first = _built(flat, dialect, options)
    over = budgets.exceeded(first.schema, dialect, name)
    if not over:
        return first
    for less in easier(options, dialect, flat.schema):
        again = _built(flat, dialect, less)
        if not budgets.exceeded(again.schema, dialect, name):
            reason = "would ask for more union-typed parameters than are taken, so optional properties come last"
            unordered = () if less.ordered == options.ordered else (Loss("", "properties", None, "order", reason),)
            return structs.replace(again, given_up=unordered)
    if dialect.plain is None:
        return structs.replace(first, problems=tuple(over))
    reason = "is given up, because a budget of the target is exceeded"
    told = tuple(replace(problem, consequence="it is sent without strictness") for problem in over)
    return structs.replace(
        first, given_up=(Loss("", "strict", value=True, kind="unenforced", reason=reason),), problems=told, strict=False
    )


def easier(options: LoweringOptions, dialect: Dialect, flat: Json) -> Iterator[LoweringOptions]:
    """Yield what is tried in turn where a budget is exceeded: optional properties last, then plans in their uniform spelling."""
    movable = dialect.order == "required-first" and options.ordered  # optional properties may stay out of the union budget
    if movable:
        yield structs.replace(options, ordered=False)
    if dialect.structure != "pass_through" and not options.uniform and holds_plan(flat):
        yield structs.replace(options, uniform=True)
        if movable:
            yield structs.replace(options, uniform=True, ordered=False)


def _built(flat: Survey, dialect: Dialect, options: LoweringOptions) -> Built:
    return pass_through(flat, dialect) if dialect.structure == "pass_through" else rebuild(flat, dialect, options)
