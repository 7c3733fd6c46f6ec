"""What stands in the brackets of a call: arguments are evaluated, what is given in braces is sorted by what it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar, final

from msgspec import Struct
from msgspec.structs import replace

from instrc import problems
from instrc.ir.fusion import Instruction
from instrc.ir.surface import Argument as Written
from instrc.ir.surface import Field, Name, Object
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.given import CallInputs, check_names, take_label
from instrc.passes.bind.literals import data_of, is_data
from instrc.passes.bind.lookup import is_plan_or_one_of, reads_and_calls
from instrc.passes.bind.values import BoundValue, BraceNames, Data, Inner
from instrc.passes.trampoline import PENDING, Task, Then, Work
from instrc.source import Span

T = TypeVar("T")

FAIL = Instruction("Fail_Activity", None, {})
"""What `Fail` calls: the engine carries it out."""


@final
class CallArguments(Struct, gc=False):
    """What stands in the brackets of a call, while it is evaluated."""

    ev: Evaluation
    instruction: Instruction
    written: tuple[Written, ...]
    span: Span
    """The whole call."""
    context: EvaluationContext
    inside: EvaluationContext
    """The place of an argument."""
    given: CallInputs
    place: int = 0
    """The argument that is next."""

    def evaluate(self, then: Callable[[CallArguments], T]) -> Work[T]:
        """Evaluate the arguments that are left, and return what `then` makes of all of them."""
        written = self.written
        while self.place < len(written):
            each = written[self.place]
            label, value = each.label, each.value
            if (label is None and type(value) is Object) or (label is not None and is_data(value)):
                return Then(self._in_braces(each), partial(self._go_on, then))
            if label is not None and not take_label(self.ev, self.given, label, each.label_span or value.span):
                self.given.complete = False
                self.place += 1
                continue
            found = self.ev.value(value, self.inside)
            if type(found) in PENDING:
                return Then(found, partial(self.give, then))
            self._take(found)  # type: ignore[arg-type]  # it is not pending
        return then(self)

    def _in_braces(self, each: Written) -> Task[bool]:
        """Read an object as the arguments that it names, and data under a label like a field of one."""
        context = self.context
        fields: tuple[Field, ...] = (Field(each.label or "", each.label_span or each.value.span, each.value),)
        if each.label is None and isinstance(each.value, Object):
            context = replace(context, braces=self.ev.braces(context, self.ev.steps.identities.written(self.written)))
            fields = each.value.fields
        return _braces(self.ev, self.instruction, fields, self.given, context)

    def give(self, then: Callable[[CallArguments], T], value: BoundValue | None) -> Work[T]:
        """Take the value of the next argument, and continue with those after it."""
        self._take(value)
        return then(self) if self.place == len(self.written) else self.evaluate(then)

    def _take(self, value: BoundValue | None) -> None:
        """Take the value of the next argument; a literal alone is none."""
        each, given = self.written[self.place], self.given
        if type(value) is Data and each.label is None and not value.given:
            failing = self.instruction is FAIL
            self.ev.report.add(problems.calls.MisplacedData(at=each.value.span, failing=failing))
            value = None
        if value is None or not given.add(each.label, value):
            given.complete = False
        if given.unchecked:
            check_names(self.ev, given, each.value.span)
        self.place += 1

    def _go_on(self, then: Callable[[CallArguments], T], taken: bool) -> Work[T]:  # noqa: FBT001  -- it is handed over alone
        """Go on behind braces that were read."""
        given = self.given
        if not taken:
            given.complete = False
        if given.unchecked:
            check_names(self.ev, given, self.written[self.place].value.span)
        self.place += 1
        return self.evaluate(then)


def arguments_of(
    ev: Evaluation, instruction: Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> CallArguments:
    """Return the arguments of a call, of which none is evaluated yet; a piped value is the first plain one."""
    given = CallInputs()
    if context.own and context.piped is not None:
        given.complete = given.add(None, context.piped)
    return CallArguments(ev, instruction, written, span, context, context.inside(), given)


def collect(
    ev: Evaluation, instruction: Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> Work[CallInputs]:
    """Evaluate what stands in the brackets of a call, left to right."""
    return arguments_of(ev, instruction, written, span, context).evaluate(_given)


def _given(arguments: CallArguments) -> CallInputs:
    return arguments.given


def _braces(
    ev: Evaluation, instruction: Instruction, fields: tuple[Field, ...], given: CallInputs, context: EvaluationContext
) -> Task[bool]:
    """Read the fields of braces, and tell whether all of them can be given.

    Names of values are read, constants and calls are composed into the slot of their key.
    """
    keys = BraceNames.within(context.keys)
    inside = replace(context.inside(), keys=keys)
    complete = True
    for each in fields:
        if not take_label(ev, given, each.key, each.key_span):
            complete = False
            continue
        expression = each.value or Name(each.key, each.key_span)
        if is_data(expression):
            given.add_constant(each.key, data_of(ev, expression))
        elif instruction.kind in {"model", "user"} and is_plan_or_one_of(ev, expression, inside):
            from instrc.passes.bind.choices import choice_slot  # few steps leave one

            slot = yield choice_slot(ev, each, expression, inside, given, collect)
            if slot is None:
                complete = False
            else:
                given.add_slot(slot)
                keys.fields[each.key] = Inner()
        elif instruction.kind != "model" or (read := reads_and_calls(ev, expression, inside)) == (True, False):
            value = yield ev.value(expression, inside)
            complete = value is not None and given.add(each.key, value) and complete
        else:
            from instrc.passes.bind.filling import fuse  # most calls fill no slot

            slot = yield fuse(ev, instruction, each, expression, replace(inside, braces=ev.braces(inside, each.key)))
            if slot is None:
                complete = False
            else:
                given.add_slot(slot)
                given.has_value = given.has_value or read[0]
                keys.fields[each.key] = Inner()
    return complete
