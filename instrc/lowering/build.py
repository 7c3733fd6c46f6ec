"""Build the schema of a payload, and stay within the budgets of the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, mapping
from instrc.lowering import budgets
from instrc.lowering.built import Built
from instrc.lowering.losses import Loss
from instrc.lowering.options import LoweringOptions
from instrc.lowering.pass_through import pass_through
from instrc.lowering.rebuild import rebuild
from instrc.lowering.rewrites.plans import holds_plan
from instrc.lowering.survey import Survey
from instrc.problems.targets import BudgetExceeded
from instrc.schema.members import required_names


def build(flat: Survey, dialect: Dialect, options: LoweringOptions, name: str) -> Built:
    """Build a schema for a target; where a budget asks for it, give up order, typed plans, then strictness."""
    most = dialect.limits.unions
    if most is not None and len(flat.names) > most and _moves_optional(options, dialect) and _optional(flat.schema) > most:
        last = _with_optional_last(flat, dialect, options)
        if _optional(last.schema) > most and not budgets.exceeded(last.schema, dialect, name):
            return last  # with order each of them would be a union
    first = _built(flat, dialect, options)
    over = budgets.exceeded(first.schema, dialect, name)
    if not over:
        return first
    for less in easier(options, dialect, flat.schema, over):
        again = _built(flat, dialect, less) if less.ordered == options.ordered else _with_optional_last(flat, dialect, less)
        left = budgets.exceeded(again.schema, dialect, name)
        if not left:
            return again
        over = min(over, left, key=_excess)
    if dialect.plain is None:
        return structs.replace(first, problems=tuple(over))
    reason = "is given up, because a budget of the target is exceeded"
    told = tuple(structs.replace(problem, consequence="it is sent without strictness") for problem in over)
    return structs.replace(
        first, given_up=(Loss("", "strict", value=True, kind="unenforced", reason=reason),), problems=told, strict=False
    )


def _excess(over: Sequence[BudgetExceeded]) -> tuple[int, int]:
    """Measure by how much budgets are exceeded: what is nearest to them is told, as that much has to be left out."""
    return len(over), sum(problem.count - problem.limit for problem in over)


def easier(options: LoweringOptions, dialect: Dialect, flat: Json, over: Sequence[BudgetExceeded]) -> Iterator[LoweringOptions]:
    """Yield what is tried in turn where budgets are exceeded: optional properties last, then plans in their uniform spelling."""
    movable = _moves_optional(options, dialect)
    if movable:
        yield structs.replace(options, ordered=False)
    if dialect.structure != "pass_through" and not options.uniform and holds_plan(flat):
        uniform = "; ".join(problem.excess for problem in over)
        yield structs.replace(options, uniform=uniform)
        if movable:
            yield structs.replace(options, uniform=uniform, ordered=False)


def _moves_optional(options: LoweringOptions, dialect: Dialect) -> bool:
    """Say whether optional properties may come last, where they stay out of the budget of unions."""
    return dialect.order == "required-first" and options.ordered


def _optional(schema: Json) -> int:
    """Count the optional properties of one type in objects inside one another: no less become unions where all are asked for."""
    count = 0
    stack = [schema]
    while stack:
        node = mapping(stack.pop())
        required = required_names(node)
        for name, child in mapping(node.get("properties")).items():
            if mapping(child).get("type").__class__ is str:
                count += name not in required
                stack.append(child)
    return count


def _with_optional_last(flat: Survey, dialect: Dialect, options: LoweringOptions) -> Built:
    """Build a schema whose optional properties come last, and say so."""
    reason = "would ask for more union-typed parameters than are taken, so optional properties come last"
    built = _built(flat, dialect, structs.replace(options, ordered=False))
    return structs.replace(built, given_up=(Loss("", "properties", None, "order", reason),))


def _built(flat: Survey, dialect: Dialect, options: LoweringOptions) -> Built:
    return pass_through(flat, dialect) if dialect.structure == "pass_through" else rebuild(flat, dialect, options)
