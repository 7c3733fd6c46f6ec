"""`Process` and its contexts: a process that is cut by hand."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.ir.executors import EXECUTORS, Executor
from instrc.ir.graph import Context
from instrc.ir.surface import Annotated, Call, Do, Each, Expression, Field, Name, Object, Repeat, Try, When
from instrc.ir.surface import Argument as Written
from instrc.jsonvalue import Json
from instrc.passes.bind import braces
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.idle_keys import idle_keys
from instrc.passes.bind.literals import refuse_annotations
from instrc.passes.bind.lookup import callee_of
from instrc.passes.bind.names import CONTEXTS, Special
from instrc.passes.bind.regions import PROGRAM
from instrc.passes.bind.scopes import Scope
from instrc.passes.bind.timing import timing_words
from instrc.passes.bind.values import BoundValue, BraceNames, Cut, Inner, Members, StepResult
from instrc.passes.trampoline import Task
from instrc.source import Span


def process(
    ev: Evaluation, called: Special, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> Task[BoundValue | None]:
    """Make a process cut by hand: its contexts in order, each with the steps that are new in it."""
    if called.name != "Process" or not context.exported or context.own:
        ev.report.add(problems.calls.MisplacedContext(at=span, word=called.name))
        return None
    refuse_annotations(ev, span, context)
    contexts: list[Context] = []
    keys = BraceNames.within(context.keys)
    later = _keys_of(ev, written, context.scope)
    placing: set[int] = set()
    for index, each in enumerate(written):
        inside = replace(context.inside(), by_hand=True, keys=keys, braces=ev.braces(context, index))
        block, _ = _open_up(ev, each.value, context.scope)
        if isinstance(block, When | Each | Repeat | Try | Do):
            chunk = yield _block(ev, each, inside)
        else:
            chunk = yield _context(ev, each, inside, later)
        if chunk is None:
            keys.fields.update(_unknown(ev, each, keys, context.scope))
            continue
        if not chunk.units and not _awaits(ev, each, chunk, keys, context.scope):
            ev.report.add(problems.steps.NothingToDo(at=each.value.span))
            continue
        contexts.append(chunk)
        placing |= {index} if chunk.units else set()
    opened = [_open_up(ev, each.value, context.scope)[0] for each in written]
    for field in idle_keys(ev, opened, placing, context):
        ev.report.add(problems.steps.IdleKey(at=field.key_span, word=field.key))
    return Cut(tuple(contexts)) if len(contexts) == len(written) else None


def _awaits(ev: Evaluation, written: Written, chunk: Context, keys: BraceNames, scope: Scope) -> bool:
    """Tell whether a context of the server names calls only whose `output` it is to give: `Server_Context({ found })`."""
    expression, _ = _open_up(ev, written.value, scope)
    if chunk.executor != "server" or not isinstance(expression, Call):
        return False
    named = [field for each in expression.arguments if isinstance(each.value, Object) for field in each.value.fields]
    values = [keys.find(field.key) for field in named if field.value is None or isinstance(field.value, Name)]
    steps = [
        ev.steps.table[each.path.origin] for each in values if isinstance(each, StepResult) and isinstance(each.path.origin, int)
    ]
    return bool(named) and len(steps) == len(named) and all(step.output and step.executor == "model" for step in steps)


def _unknown(ev: Evaluation, written: Written, keys: BraceNames, scope: Scope) -> dict[str, BoundValue]:
    """Return the names that a context with a mistake would have given, so that the later ones are read for their own mistakes."""
    names = [*_keys_of(ev, (written,), scope), *([written.label] if written.label else [])]
    return {name: Inner(mistaken=True) for name in names if name not in keys.fields}


def _block(ev: Evaluation, written: Written, context: EvaluationContext) -> Task[Context | None]:
    """Read a block that stands among the contexts; its label is its key, and a name for the contexts after it."""
    first = len(ev.steps.table)
    value = yield ev.value(written.value, replace(context, by_hand=False, key=written.label))
    if not isinstance(value, StepResult) or not isinstance(value.path.origin, int):
        return None
    number = value.path.origin
    if number < first:  # it stands among the contexts already
        ev.report.add(problems.steps.NothingToDo(at=written.value.span))
        return None
    beside = [each for each in ev.steps.among(0) if each >= first and each != number]
    if beside:
        step = ev.steps.table[beside[0]]
        reason = "stands in no context"
        ev.report.add(problems.steps.CutAgainstDataFlow(at=step.span, word=step.key or step.base_name, reason=reason))
        return None
    if written.label is not None and context.keys is not None:
        context.keys.fields[written.label] = value
    return Context("block", (number,), (), written.value.span)


def _context(ev: Evaluation, written: Written, context: EvaluationContext, later: dict[str, Span]) -> Task[Context | None]:
    """Read one context; the keys in its braces go on being names in the contexts after it."""
    expression, annotations = _open_up(ev, written.value, context.scope)
    special = (
        callee_of(ev, expression.callee, context)
        if isinstance(expression, Call) and isinstance(expression.callee, Name)
        else None
    )
    if isinstance(expression, Call) and isinstance(expression.callee, Name) and special is None:
        return None  # that it is unknown has been reported
    if not isinstance(expression, Call) or not isinstance(special, Special) or special.name not in CONTEXTS:
        held = isinstance(expression, Object) and any(isinstance(field.value, Call) for field in expression.fields)
        ev.report.add(problems.calls.MisplacedContext(at=written.value.span, word=written.value.span.text, held=held))
        return None
    executor: Executor = CONTEXTS[special.name]  # type: ignore[assignment]  # the table holds executors only
    start = len(ev.steps.table)
    for each in expression.arguments:
        if each.label is None and isinstance(each.value, Object):
            for early in _early(each.value.fields, context, later):
                ev.report.add(
                    problems.steps.CutAgainstDataFlow(
                        at=early.span, word=early.text, reason="comes in a later context", other=later[early.text]
                    )
                )
                return None
            value = yield braces.object_of_values(ev, each.value, replace(context, placing=True))
            if isinstance(value, Members) and context.keys is not None:
                context.keys.fields.update(value.fields)
                for _, member in value.fields:
                    context.keys.parts.update(ev.steps.parts(member))
        else:
            value = yield ev.value(each.value, context)
            if isinstance(value, Members) and context.keys is not None:  # of what a mixin holds
                context.keys.fields.update(value.fields)
        if value is None:
            return None
    own = set(ev.steps.regions.steps[PROGRAM])
    new = range(start, len(ev.steps.table))
    for number in new:
        step = ev.steps.table[number]
        if number not in own:
            continue
        if step.executor == "block":
            ev.report.add(problems.calls.MisplacedBlock(at=step.span))
            return None
        if number not in ev.steps.dissolved and step.executor != executor:
            reason = f"is for {EXECUTORS[step.executor]}, not for {EXECUTORS[executor]}"
            ev.report.add(
                problems.steps.CutAgainstDataFlow(
                    at=step.span, word=step.key or step.base_name, reason=reason, other=expression.callee.span
                )
            )
            return None
    return Context(executor, ev.steps.units(new), annotations, expression.span)


def _open_up(ev: Evaluation, expression: Expression, scope: Scope) -> tuple[Expression, tuple[Json, ...]]:
    """Return the call behind annotations and local names, and the annotations."""
    annotations: list[Json] = []
    seen: set[tuple[int, str]] = set()
    while True:
        if isinstance(expression, Annotated):
            added = expression.annotation
            for word in timing_words(added):
                ev.report.add(problems.blocks.MisplacedDeadline(at=expression.annotation_span, word=word, place="context"))
            annotations.insert(0, {"description": added} if isinstance(added, str) else added)
            expression = expression.value
        elif isinstance(expression, Name) and (found := scope.find(expression.text)) and found.key not in seen:
            seen.add(found.key)
            ev.note_read(expression.text, scope)
            expression, scope = found.binding.value, found.scope
        else:
            return expression, tuple(annotations)


def _keys_of(ev: Evaluation, written: tuple[Written, ...], scope: Scope) -> dict[str, Span]:
    """Return the keys of all contexts with their places."""
    found: dict[str, Span] = {}
    for each in written:
        expression, _ = _open_up(ev, each.value, scope)
        if isinstance(expression, Call):
            for argument in expression.arguments:
                if isinstance(argument.value, Object):
                    for field in argument.value.fields:
                        found.setdefault(field.key, field.key_span)
    return found


def _early(fields: tuple[Field, ...], context: EvaluationContext, later: dict[str, Span]) -> list[Name]:
    """Return names in the calls of some fields that are keys of this or a later context and not given yet."""
    found: list[Name] = []
    known: set[str] = set()
    given = context.keys.fields if context.keys else {}
    for field in fields:
        waiting: list[Expression | None] = [field.value]
        while waiting:
            each = waiting.pop()
            match each:
                case Name(text) if text in later and text not in known and text not in given:
                    found.append(each)
                case Call(_, arguments):
                    waiting.extend(argument.value for argument in arguments)
                case Annotated(value):
                    waiting.append(value)
                case Object(inner):
                    waiting.extend(x.value or Name(x.key, x.key_span) for x in inner)
                case _:
                    pass
        known.add(field.key)
    return found
