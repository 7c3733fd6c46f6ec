"""Paths: what a name or a call stands for, and a member of that."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.ir.graph import Reached
from instrc.ir.paths import Local, Path
from instrc.ir.surface import Access, Name, Object, Segment
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.lookup import find_in_context, find_instruction, knows
from instrc.passes.bind.scopes import Definition
from instrc.passes.bind.suggestions import similar_values
from instrc.passes.bind.values import Data, Inner, Members, Result, Value
from instrc.passes.trampoline import Task
from instrc.problems.suggest import nearest

LONGEST = 100
"""Members of a path."""


def access(ev: Evaluation, written: Access, context: EvaluationContext) -> Task[Value | None]:
    """Evaluate the member that a path leads to."""
    if context.annotations or context.timing.within or context.timing.delay:
        ev.report.add(problems.misplaced.MisplacedAnnotation(at=written.span))
        return None
    if len(written.members) > LONGEST:
        ev.report.add(problems.text.TooDeep(at=written.members[LONGEST].span, limit=LONGEST))
        return None
    if isinstance(written.base, Name):
        value = yield subject(ev, written.base, context)
    else:
        value = yield ev.value(written.base, replace(context.inside(), own=context.own))
    for segment in written.members:
        if value is None:
            return None
        value = member(ev, value, segment, context)
    return value


def subject(ev: Evaluation, name: Name, context: EvaluationContext) -> Task[Value | None]:
    """Evaluate the value that the name at the head of a path stands for; an instruction's name is no value."""
    found = find_in_context(name, context)
    if found is not None:
        return found
    scope = context.scope
    definition = scope.find(name.text)
    if definition is not None and not ev.ends.is_alias(definition):
        return (yield ev.local(name, definition, context.inside()))
    if scope.is_input(name.text):
        ev.note_read(name.text, scope)
        return Result(Path(name.text))
    if definition is not None or knows(name.text, scope) or find_instruction(ev, name, scope, reading=True) is not None:
        near = similar_values(name, scope.visible(), scope.inputs)
        ev.report.add(problems.paths.NotAValue(at=name.span, word=name.text, nearest=near))
    return None


def member(ev: Evaluation, value: Value, segment: Segment, context: EvaluationContext) -> Value | None:
    """Return a member of a value."""
    match value:
        case Members(fields):
            known = dict(fields)
            if segment.text in known:
                return known[segment.text]
            _unknown(ev, segment, tuple(known))
            return None
        case Result(Path(origin, tail)):
            if isinstance(origin, Local) and origin.kind == "previous" and not tail:
                return _of_previous(ev, origin, segment, context)
            if isinstance(origin, int) and ev.steps.table[origin].output and not tail:
                tail = ("output",)
                if segment.text == "output":
                    return Result(Path(origin, tail))
            return _reached(ev, Path(origin, (*tail, segment.text)), segment)
        case Inner():
            return value
        case Data():
            _unknown(ev, segment, ())
    return None


def _of_previous(ev: Evaluation, origin: Local, segment: Segment, context: EvaluationContext) -> Value | None:
    """Return the value that a name of the block had in the round before."""
    home = next(scope for scope in context.scope.outwards() if scope.region == origin.block)
    known = tuple(name for name, each in home.locals.items() if not ev.ends.is_alias(Definition(each, home)))
    if segment.text not in known:
        _unknown(ev, segment, known)
        return None
    stands_for, _ = ev.ends.end(home.locals[segment.text].value, home)
    if isinstance(stands_for, Object) and stands_for.fields:  # an object of values stands for its members
        fields = tuple((field.key, _reached(ev, Path(origin, (segment.text, field.key)), segment)) for field in stands_for.fields)
        return Members(fields, len(fields))
    return _reached(ev, Path(origin, (segment.text,)), segment)


def _reached(ev: Evaluation, path: Path, segment: Segment) -> Result:
    """Return what a path leads to, which is looked for when the schemas are known."""
    ev.accesses.append(Reached(path, segment.span))
    return Result(path)


def _unknown(ev: Evaluation, segment: Segment, known: tuple[str, ...]) -> None:
    near = nearest(segment.text, known)
    ev.report.add(problems.paths.UnknownMember(at=segment.span, word=segment.text, known=known, nearest=near))
