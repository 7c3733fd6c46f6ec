"""Literals that a called program is given, where it needs a path: in lists, in `until`, and as what a choice is made from."""

from __future__ import annotations

from instrc.ir.blocks import Do, Region
from instrc.ir.graph import NO_TIMING, Step
from instrc.ir.paths import Path
from instrc.ir.reads import Constant
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.values import Data
from instrc.source import Span


def path_of_constant(ev: Evaluation, literal: Data, context: EvaluationContext, span: Span) -> Path:
    """Return a path to a literal: to a block that gives it, which stands where the program is called."""
    *_, root = context.scope.outwards()
    home = EvaluationContext(root, root.region)
    body = Region(ev.steps.open_region(root.region, span), (), Constant(literal.value), span)
    content = Do(body)
    step = Step(len(ev.steps.table), "do", None, "block", False, content, (), (), None, span)  # noqa: FBT003  # a block has no `output`
    signs = ev.steps.identities.of("block", "do", (ev.steps.identity(body),), NO_TIMING, None)
    number = ev.steps.one(step, signs, home)
    if number != step.number:
        ev.steps.drop([body.number])
    return Path(number)
