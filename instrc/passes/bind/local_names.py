"""What local names stand for.

Often each is the first thing that the call of the next one is given: `const b = Draft(a); const c = Draft(b);`.
Such names are followed in a loop to one that is known or stands for something else, and the calls become steps on the way back.
So no task waits for each of them, however many they are.
"""

from __future__ import annotations

from functools import partial

from instrc.ir.surface import Call, Name
from instrc.passes.bind.arguments import CallArguments, arguments_of
from instrc.passes.bind.calls import is_plain, step_of
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation, Reading
from instrc.passes.bind.lookup import known_instruction
from instrc.passes.bind.scopes import LocalName
from instrc.passes.bind.values import BoundValue
from instrc.passes.trampoline import PENDING, Then, Work


def read_local(ev: Evaluation, name: Name, found: LocalName, context: EvaluationContext) -> Work[BoundValue | None]:
    """Evaluate what a local name stands for; in brackets that place steps, what a call there needs stays outside."""
    waiting: list[Reading | CallArguments] = []
    """The names that are being read, and between them the calls that are given them."""
    while True:
        reading = ev.begin(name, found, context)
        if type(reading) is not Reading:
            return _go_back(ev, waiting, reading)
        waiting.append(reading)
        expression, context = reading.binding.value, reading.inside
        first = _first_given(ev, expression, context) if type(expression) is Call else None
        if first is None:
            return _go_back(ev, waiting, ev.value(expression, context))
        call, name, found = first
        waiting.append(call)
        context = call.inside


def _go_back(ev: Evaluation, waiting: list[Reading | CallArguments], value: Work[BoundValue | None]) -> Work[BoundValue | None]:
    """Give a value to what waits for it, that to what waits for this, and so on, until something has to wait itself."""
    while waiting:
        if type(value) in PENDING:
            return Then(value, partial(_go_back, ev, waiting))
        last = waiting.pop()
        value = ev.end(last, value) if type(last) is Reading else last.give(step_of, value)  # type: ignore[arg-type]  # not pending
    return value


def _first_given(ev: Evaluation, written: Call, context: EvaluationContext) -> tuple[CallArguments, Name, LocalName] | None:
    """Return a call with the local name that it is given first, if it is a call as most are."""
    instruction = known_instruction(written.callee, context)
    if instruction is None or not written.arguments or not is_plain(instruction):
        return None
    first = written.arguments[0]
    if first.label is not None or type(first.value) is not Name:
        return None
    found = context.scope.look_up(first.value.text)
    if type(found) is not LocalName or ev.ends.is_alias(found):
        return None
    return arguments_of(ev, instruction, written.arguments, written.span, context), first.value, found
