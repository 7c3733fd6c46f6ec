"""The brackets that place what they are given, and the slots that it goes to."""

from __future__ import annotations

from collections.abc import Sequence

from instrc import problems
from instrc.ir.fusion import Instruction, Slot
from instrc.jsonvalue import Json
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.holding import Brackets
from instrc.passes.bind.signature import property_names
from instrc.passes.bind.values import paths_read
from instrc.problems.suggest import nearest


def brackets_at(ev: Evaluation, context: EvaluationContext) -> Brackets:
    """Return brackets that place steps; they cannot hold what is piped to where they open."""
    ev.reads_pipe(context)
    if context.piped is None:
        return Brackets(frozenset())
    return Brackets(frozenset(path.origin for path in paths_read(context.piped) if isinstance(path.origin, int)))


def check_slots(ev: Evaluation, holder: Instruction, schema: Json, slots: Sequence[Slot], annotations: tuple[Json, ...]) -> bool:
    """Report slots that name no property, of the schema or of annotations, unless the schema is open."""
    if not slots or not isinstance(schema, dict):
        return True
    names = tuple(property_names(schema, annotations))
    open_ = holder.kind != "mixin" and ("properties" not in schema or schema.get("additionalProperties", False) is not False)
    unknown = [] if open_ else [slot for slot in slots if slot.name not in names]
    for slot in unknown:
        ev.report.add(
            problems.calls.SlotNotFound(
                at=slot.span, word=slot.name, holder=holder.name, nearest=nearest(slot.name, names), slots=names
            )
        )
    return not unknown
