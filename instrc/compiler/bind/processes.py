"""`Process` and its contexts, and the tools that start a process."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind import braces, called_programs, calls
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.given import CallInputs, brackets_at, check_slots, data_of, is_data, refuse_annotations
from instrc.compiler.bind.lookup import alias, callee_of, find_instruction, names_a_value
from instrc.compiler.bind.scopes import CONTEXTS, CalledProgram, Scope, Special, timing_words
from instrc.compiler.bind.steps import PRIVATE, PROGRAM, EvaluationContext
from instrc.compiler.bind.values import BoundValue, BraceNames, Cut, Inner, Members, StepResult, step_numbers
from instrc.compiler.ir import Argument, Context, Fusion, Instruction, Path, Slot
from instrc.language import surface
from instrc.language.surface import Argument as Written
from instrc.problems.errors import InstrcError
from instrc.process.flow import EXECUTORS, Constant, Executor
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.names import pascal
from instrc.text.source import Span


def idle_keys(
    ev: Evaluation, contexts: list[surface.Expression], placing: set[int], context: EvaluationContext
) -> list[surface.Field]:
    """Return keyed fields without new steps, in order; `placing` lists the contexts that place steps."""
    found: list[surface.Field] = []
    known: set[str] = set()
    last_read = {name: index for index, expression in enumerate(contexts) for name in _names(expression)}
    for index, expression in enumerate(contexts):
        for field in _fields(expression):
            if index in placing and field.value is not None and _is_known(ev, field.value, known, context):
                found += [field] if last_read.get(field.key, index) <= index else []
            known.add(field.key)
    return found


def _names(expression: surface.Expression) -> Iterator[str]:
    """Yield the names anywhere in an expression."""
    waiting = [expression]
    while waiting:
        each = waiting.pop()
        if isinstance(each, surface.Name):
            yield each.text
        elif isinstance(each, surface.Object):
            yield from (field.key for field in each.fields if field.value is None)
        waiting.extend(surface.children(each))


def _fields(expression: surface.Expression) -> list[surface.Field]:
    """Return the fields in the braces of a context."""
    arguments = expression.arguments if isinstance(expression, surface.Call) else ()
    return [field for each in arguments if isinstance(each.value, surface.Object) for field in each.value.fields]


def _is_known(ev: Evaluation, value: surface.Expression, known: set[str], context: EvaluationContext) -> bool:
    """Return whether a value only names existing values, or is braces around such names or nothing."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, surface.Object):
            waiting.extend(field.content for field in each.fields)
        elif not (
            isinstance(each, surface.Access)
            or (isinstance(each, surface.Name) and each.text in known)
            or names_a_value(ev, each, context)
        ):
            return False
    return True


def process(
    ev: Evaluation, called: Special, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> BoundValue | None:
    """Create a process divided by hand: its contexts in order, each with its new steps."""
    if called.name != "Process" or not context.exported or context.own:
        ev.report.add(problems.calls.MisplacedContext(at=span, word=called.name))
        return None
    refuse_annotations(ev, span, context)
    contexts: list[Context] = []
    keys = BraceNames(context.keys)
    later = _keys_of(ev, written, context.scope)
    placing: set[int] = set()
    for index, each in enumerate(written):
        inside = replace(context.inside(), by_hand=True, keys=keys, braces=ev.braces(context, index))
        block, _ = _open_up(ev, each.value, context.scope)
        chunk = _block(ev, each, inside) if isinstance(block, surface.Block) else _context(ev, each, inside, later)
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


def _keys_of(ev: Evaluation, written: tuple[Written, ...], scope: Scope) -> dict[str, Span]:
    """Return the keys of all contexts with their places."""
    found: dict[str, Span] = {}
    for each in written:
        expression, _ = _open_up(ev, each.value, scope)
        for field in _fields(expression):
            found.setdefault(field.key, field.key_span)
    return found


def _open_up(ev: Evaluation, expression: surface.Expression, scope: Scope) -> tuple[surface.Expression, tuple[Json, ...]]:
    """Return the call behind annotations and local names, and the annotations."""
    annotations: list[Json] = []
    seen: set[tuple[int, str]] = set()
    while True:
        if isinstance(expression, surface.Annotated):
            added = expression.annotation
            for word in timing_words(added):
                ev.report.add(problems.blocks.MisplacedDeadline(at=expression.annotation_span, word=word, place="context"))
            annotations.insert(0, {"description": added} if isinstance(added, str) else added)
            expression = expression.value
        elif isinstance(expression, surface.Name) and (found := scope.find(expression.text)) and found.key not in seen:
            seen.add(found.key)
            ev.note_read(expression.text, scope)
            expression, scope = found.binding.value, found.scope
        else:
            return expression, tuple(annotations)


def _block(ev: Evaluation, written: Written, context: EvaluationContext) -> Context | None:
    """Evaluate a block among the contexts; its label is its key, and a name for later contexts."""
    first = len(ev.steps.table)
    value = ev.value(written.value, replace(context, by_hand=False, key=written.label))
    if not isinstance(value, StepResult) or not isinstance(value.path.origin, int):
        return None
    number = value.path.origin
    if number < first:  # it is already among the contexts
        ev.report.add(problems.steps.NothingToDo(at=written.value.span))
        return None
    beside = [each for each in ev.steps.among(0) if each >= first and each != number]
    if beside:
        step = ev.steps.table[beside[0]]
        reason = "is in no context"
        ev.report.add(problems.steps.CutAgainstDataFlow(at=step.span, word=step.key or step.base_name, reason=reason))
        return None
    if written.label is not None and context.keys is not None:
        context.keys.fields[written.label] = value
    return Context("block", (number,), (), written.value.span)


def _context(ev: Evaluation, written: Written, context: EvaluationContext, later: dict[str, Span]) -> Context | None:
    """Evaluate one context; the keys in its braces remain names in later contexts."""
    expression, annotations = _open_up(ev, written.value, context.scope)
    special = None
    if isinstance(expression, surface.Call) and isinstance(expression.callee, surface.Name):
        special = callee_of(ev, expression.callee, context)
        if special is None:
            return None  # already reported as unknown
    if not isinstance(expression, surface.Call) or not isinstance(special, Special) or special.name not in CONTEXTS:
        held = isinstance(expression, surface.Object) and any(
            isinstance(field.value, surface.Call) for field in expression.fields
        )
        ev.report.add(problems.calls.MisplacedContext(at=written.value.span, word=written.value.span.text, held=held))
        return None
    executor: Executor = CONTEXTS[special.name]  # type: ignore[assignment]  # the table holds executors only
    start = len(ev.steps.table)
    for each in expression.arguments:
        if each.label is None and isinstance(each.value, surface.Object):
            for early in _early(each.value.fields, context, later):
                ev.report.add(
                    problems.steps.CutAgainstDataFlow(
                        at=early.span, word=early.text, reason="comes in a later context", other=later[early.text]
                    )
                )
                return None
            value = braces.object_of_values(ev, each.value, replace(context, placing=True))
            if isinstance(value, Members) and context.keys is not None:
                context.keys.fields.update(value.fields)
                for _, member in value.fields:
                    context.keys.parts.update(ev.steps.parts(member))
        else:
            value = ev.value(each.value, context)
            if isinstance(value, Members) and context.keys is not None:  # of the content of a mixin
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


def _early(fields: tuple[surface.Field, ...], context: EvaluationContext, later: dict[str, Span]) -> list[surface.Name]:
    """Return names in the calls of some fields that are keys of this or a later context and not yet defined."""
    found: list[surface.Name] = []
    known: set[str] = set()
    given = context.keys.fields if context.keys else {}
    for field in fields:
        waiting: list[surface.Expression | None] = [field.value]
        while waiting:
            each = waiting.pop()
            match each:
                case surface.Name(text) if text in later and text not in known and text not in given:
                    found.append(each)
                case surface.Call(_, arguments):
                    waiting.extend(argument.value for argument in arguments)
                case surface.Annotated(value):
                    waiting.append(value)
                case surface.Object(inner):
                    waiting.extend(x.content for x in inner)
                case _:
                    pass
        known.add(field.key)
    return found


def _unknown(ev: Evaluation, written: Written, keys: BraceNames, scope: Scope) -> dict[str, BoundValue]:
    """Return the names that an invalid context would have defined, so that later contexts are still checked."""
    names = [*_keys_of(ev, (written,), scope), *([written.label] if written.label else [])]
    return {name: Inner(mistaken=True) for name in names if name not in keys.fields}


def _awaits(ev: Evaluation, written: Written, chunk: Context, keys: BraceNames, scope: Scope) -> bool:
    """Return whether a server context only names calls whose `output` it provides: `Server_Context({ found })`."""
    expression, _ = _open_up(ev, written.value, scope)
    named = _fields(expression) if chunk.executor == "server" else []
    values = [keys.find(field.key) for field in named if field.value is None or isinstance(field.value, surface.Name)]
    steps = [
        ev.steps.table[each.path.origin] for each in values if isinstance(each, StepResult) and isinstance(each.path.origin, int)
    ]
    return bool(named) and len(steps) == len(named) and all(step.output and step.executor == "model" for step in steps)


def start(
    ev: Evaluation, instruction: Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> BoundValue | None:
    """Create the step that starts a process, with the arguments of its contexts in place."""
    schema = ev.flat(instruction, span)
    slots: list[Slot] = []
    unnamed = [each for each in written if calls.is_filling(each)]
    for each in unnamed:  # it has no slot
        ev.report.add(problems.calls.TooManyArguments(at=each.value.span, mixin=instruction.name, first=None))
    keys = BraceNames(context.keys)
    inside = replace(context.inside(), keys=keys, braces=ev.braces(context, ev.steps.identities.written(written)))
    for field in calls.fields_of(written):
        expression = field.content
        if is_data(expression):
            slots.append(ev.steps.identities.slot(field.key, Constant(data_of(ev, expression)), field.key_span))
            continue
        slot = _place_slot(ev, instruction, field, expression, replace(inside, braces=ev.braces(inside, field.key)))
        if slot is None:
            return None
        slots.append(slot)
    if schema is None or unnamed or not check_slots(ev, instruction, schema, slots, context.annotations):
        return None
    return StepResult(Path(_add(ev, instruction, tuple(slots), context, span)))


def _place_slot(
    ev: Evaluation, holder: Instruction, field: surface.Field, expression: surface.Expression, context: EvaluationContext
) -> Slot | None:
    """Place the model steps of an expression in a slot: one becomes the slot, several are put in it under their keys."""
    brackets = brackets_at(ev, context)
    if isinstance(expression, surface.Object):
        block = braces.block(ev, expression, context, brackets, ())
        return None if block is None else calls.slot_of(ev, field, block[0])
    value = ev.value(expression, replace(context.given_to(brackets), key=PRIVATE))
    if value is None:
        return None
    units = ev.steps.fill(brackets, context)
    if not units or not isinstance(value, StepResult | Members):
        ev.report.add(problems.calls.MisplacedCall(at=expression.span, word=expression.span.text, holder=holder.name))
        return None
    if isinstance(value, StepResult) and units == (value.path.origin,):
        return calls.dissolve(ev, field, step_numbers(units)[0], brackets, context)
    return calls.slot_of(ev, field, braces.take(ev, units, brackets, context, expression.span, ()))


def _add(ev: Evaluation, instruction: Instruction, slots: tuple[Slot, ...], context: EvaluationContext, span: Span) -> int:
    """Add the step of a reserved instruction; it reads the piped value, or else `prompt`, besides the values in its slots."""
    given = CallInputs(slots=list(slots))
    ev.reads_pipe(context)
    given.add(None, context.piped if context.piped is not None else StepResult(Path("prompt")))
    return ev.steps.add(
        context,
        base_name=instruction.base_name,
        executor="model",
        content=Fusion(instruction, slots, context.annotations, (), span),
        arguments=tuple(each for each in given.arguments if isinstance(each, Argument)),
        reads=given.reads(),
        span=span,
    )


def launch(ev: Evaluation, written: tuple[Written, ...], span: Span, context: EvaluationContext) -> BoundValue | None:
    """Create the tool that launches a process vibe: its name as a constant, and its entry to complete."""
    launcher = find_instruction(ev, surface.Name("LaunchProcess", span), context.scope)
    if not isinstance(launcher, Instruction):
        return None
    target = None
    if len(written) == 1 and written[0].label is None and isinstance(written[0].value, surface.Name | surface.Uri):
        reported = len(ev.report.problems)
        target = alias(ev, written[0].value, context.scope)
        if target is None and len(ev.report.problems) > reported:
            return None
    if isinstance(target, CalledProgram):
        at = written[0].value.span
        if called_programs.input_schemas(ev, target, at, context) is None:
            return None
        entry = target.instructions.launched(target.file, target.export)
        if entry is None:
            ev.report.add(problems.calls.CircularProgram(at=at, uris=(target.file.uri,)))
            return None
        return _launching(ev, launcher, target.file.segment, entry, {}, context, span)
    if not isinstance(target, Instruction) or target.uri is None:
        shown = written[0].value.span if written else span
        named = len(written) == 1 and not isinstance(written[0].value, surface.Literal)
        at = written[1].value.span if len(written) > 1 else shown
        ev.report.add(problems.calls.NotAProcess(at=at, word=shown.text if named else "LaunchProcess()"))
        return None
    try:
        entry = ev.instructions.entry(target)
    except InstrcError as error:
        for problem in error.problems:
            if not isinstance(problem, problems.runs.UnreadableProcess):  # reported with its place when the vibe is reviewed
                ev.report.add(problem)
        return None
    if entry is None:
        ev.report.add(problems.calls.NotAProcess(at=written[0].value.span, word=target.name))
        return None
    vibe = ev.flat(target, span)
    about: dict[str, Json] = {key: vibe[key] for key in ("title", "description") if isinstance(vibe, dict) and key in vibe}
    return _launching(ev, launcher, target.name, entry, about, context, span)


def _launching(
    ev: Evaluation,
    launcher: Instruction,
    name: str,
    entry: JsonObject,
    about: dict[str, Json],
    context: EvaluationContext,
    span: Span,
) -> StepResult:
    identities = ev.steps.identities
    slots = (
        identities.slot("name", Constant(pascal(name)), span),
        identities.slot("llmContext1", Fusion(Instruction("entry", None, entry), (), (), (), span), span),
    )
    annotations = (about, *context.annotations) if about or not context.annotations else context.annotations
    return StepResult(Path(_add(ev, launcher, slots, replace(context, annotations=annotations), span)))
