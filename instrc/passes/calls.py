"""Calls: what is given to them in brackets flows, what is given in braces is composed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from instrc import problems
from instrc.ir.graph import (
    Application,
    Argument,
    Block,
    Constant,
    Fusion,
    Group,
    Instruction,
    Path,
    Slot,
)
from instrc.ir.surface import Annotated, Array, Call, Expression, Field, Literal, Name, Object, Uri
from instrc.ir.surface import Argument as Written
from instrc.jsonvalue import Json
from instrc.passes.holding import Frame
from instrc.passes.steps import PRIVATE, slot_reads
from instrc.passes.trampoline import Task
from instrc.passes.values import Data, Inner, Keys, Members, Place, Result, Value, paths
from instrc.problems.suggest import nearest
from instrc.source import Span

if TYPE_CHECKING:
    from instrc.passes.evaluate import Evaluator


@dataclass(slots=True)
class Given:
    """What a call is given, sorted."""

    arguments: list[Argument] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    labels: dict[str, Span] = field(default_factory=dict)
    has_value: bool = False
    """Something is read, so the pipe or `prompt` is not."""
    complete: bool = True

    def add(self, label: str | None, value: Value) -> None:
        """Take a value as an argument; an object stands for its members under their names."""
        match value:
            case Result(path):
                self.arguments.append(Argument(label, path))
                self.has_value = True
            case Inner():
                self.has_value = True
            case Members(members):
                for key, member in members:
                    self.add(key if label is None else f"{label}.{key}", member)
            case Data(constant):
                self.arguments.append(Argument(label, Constant(constant)))
            case _:
                self.complete = False

    def reads(self) -> list[Path]:
        """Return all that is read, fused calls included."""
        direct = [argument.value for argument in self.arguments if isinstance(argument.value, Path)]
        return list(dict.fromkeys((*direct, *slot_reads(tuple(self.slots)))))


def call(ev: Evaluator, instruction: Instruction, written: tuple[Written, ...], span: Span, place: Place) -> Task[Value | None]:
    """Come to the step of a call."""
    given = yield collect(ev, instruction, written, place)
    schema = ev.flat(instruction, span)
    if schema is None or not given.complete or not ev.spend(len(given.arguments), span):
        return None
    properties = _properties(schema, place.annotations)
    constants = [argument for argument in given.arguments if isinstance(argument.value, Constant)]
    if instruction.kind == "model":
        for argument in constants:  # for a model, a constant is a property with one value
            given.slots.append(Slot(argument.label or "", argument.value, (), given.labels.get(argument.label or "", span)))
        given.arguments = [argument for argument in given.arguments if not isinstance(argument.value, Constant)]
        if not check_slots(ev, instruction, schema, given.slots, place.annotations):
            return None
    if not given.has_value:
        ev.reads_pipe(place)
        given.add(None, place.piped if place.piped is not None else Result(Path("prompt")))
    if instruction.kind == "server" and not place.by_hand:
        _prepare(ev, instruction, given, span, place)
    executor = "server" if instruction.kind == "server" else "user" if instruction.kind == "user" else "model"
    output = "output" in properties and executor != "user"
    if output and list(properties) == ["output"]:
        executor = "server"  # nothing is left for the model to fill in
    number = ev.steps.add(
        place,
        stem=instruction.stem,
        executor=executor,  # type: ignore[arg-type]  # one of the three, by the lines above
        output=output,
        content=Fusion(instruction, tuple(given.slots), place.annotations, (), span),
        arguments=tuple(given.arguments),
        reads=given.reads(),
        activity=instruction.name if executor == "server" or output else None,
        span=span,
    )
    return Result(Path(number))


def _properties(schema: Json, annotations: tuple[Json, ...]) -> dict[str, None]:
    """Return the names of the top-level properties in order, those that annotations add included."""
    found: dict[str, None] = {}
    for part in (schema, *annotations):
        if isinstance(part, dict) and isinstance(part.get("properties"), dict):
            found.update(dict.fromkeys(part["properties"]))
    return found


def _prepare(ev: Evaluator, instruction: Instruction, given: Given, span: Span, place: Place) -> None:
    """Insert the step that prepares a server call, if there is one and it is not there already."""
    found = ev.library.named(instruction.stem)
    if not found:
        return
    preparation = ev.names.instruction(Name(instruction.stem, span))
    if preparation is None or preparation.kind != "model":
        return
    for argument in given.arguments:
        if isinstance(argument.value, Path) and isinstance(argument.value.origin, int):
            content = ev.steps.table[argument.value.origin].content
            if isinstance(content, Fusion) and content.instruction == preparation:
                return
    schema = ev.flat(preparation, span)
    known = _properties(schema, ())
    kept = [each for each in given.arguments if isinstance(each.value, Constant) and each.label not in known]
    fused = [
        Slot(each.label or "", each.value, (), span)
        for each in given.arguments
        if isinstance(each.value, Constant) and each.label in known
    ]
    output = "output" in known
    number = ev.steps.add(
        replace(place.inside(), keys=None),
        stem=preparation.stem,
        executor="model",
        output=output,
        content=Fusion(preparation, tuple(fused), (), (), span),
        arguments=tuple(each for each in given.arguments if isinstance(each.value, Path)),
        reads=given.reads(),
        activity=preparation.name if output else None,
        span=span,
    )
    given.arguments = [Argument(None, Path(number)), *kept]


def collect(ev: Evaluator, instruction: Instruction, written: tuple[Written, ...], place: Place) -> Task[Given]:
    """Evaluate what stands in the brackets of a call, left to right; a piped value is its first plain argument."""
    given = Given()
    if place.own and place.piped is not None:
        given.add(None, place.piped)
    inside = place.inside()
    for each in written:
        if each.label is None and isinstance(each.value, Object):
            scoped = replace(place, scope=ev.scope(place, ev.steps.identities.written(written)))
            yield _braces(ev, instruction, each.value.fields, given, scoped)
        elif each.label is not None and is_data(each.value):
            label = Field(each.label, each.label_span or each.value.span, each.value)
            yield _braces(ev, instruction, (label,), given, place)
        else:
            if each.label is not None and not _take_label(ev, given, each.label, each.label_span or each.value.span):
                continue
            value = yield ev.value(each.value, inside)
            if value is None:
                given.complete = False
            elif isinstance(value, Data) and each.label is None:
                ev.report.add(problems.program.MisplacedData(at=each.value.span))
                given.complete = False
            else:
                given.add(each.label, value)
    return given


def _braces(ev: Evaluator, instruction: Instruction, fields: tuple[Field, ...], given: Given, place: Place) -> Task[None]:
    """Read the fields of braces: names of values are read, constants and calls are composed into the slot of their key."""
    keys = Keys.within(place.keys)
    inside = replace(place.inside(), keys=keys)
    for each in fields:
        if not _take_label(ev, given, each.key, each.key_span):
            continue
        expression = each.value or Name(each.key, each.key_span)
        if is_data(expression):
            given.arguments.append(Argument(each.key, Constant(ev.data(expression))))
        elif ev.is_reference(expression, inside) or instruction.kind != "model":
            value = yield ev.value(expression, inside)
            if value is None:
                given.complete = False
            else:
                given.add(each.key, value)
        else:
            slot = yield fuse(ev, instruction, each, expression, replace(inside, scope=ev.scope(inside, each.key)))
            if slot is None:
                given.complete = False
            else:
                given.slots.append(slot)
                keys.fields[each.key] = Inner()


def fuse(ev: Evaluator, holder: Instruction, written: Field, expression: Expression, place: Place) -> Task[Slot | None]:
    """Compose what an expression calls into a slot: its arguments flow, its schema becomes the slot's."""
    frame = frame_at(ev, place)
    if isinstance(expression, Object):
        block = yield ev.block(expression, place, frame, ())
        return None if block is None else slot_of(ev, written, block[0])
    value = yield ev.value(expression, replace(place, frame=frame, key=PRIVATE))
    if value is None:
        return None
    if isinstance(value, Members) and frame.inner:  # a mixin around an object
        units = tuple({id(taken.unit): taken.unit for taken in frame.inner.values()}.values())
        return slot_of(ev, written, ev.take(units, frame, place, expression.span, ()))
    number = value.path.origin if isinstance(value, Result) else None
    step = ev.steps.table[number] if isinstance(number, int) else None
    if step is None or step.executor != "model" or step.output:
        word = expression.span.text if step is None else step.activity or step.stem
        ev.report.add(problems.program.MisplacedCall(at=expression.span, word=word, holder=holder.name))
        return None
    taken = frame.inner.get(step.number)
    if taken is not None and isinstance(taken.unit, Group):
        return slot_of(ev, written, ev.take((taken.unit,), frame, place, expression.span, ()))
    return dissolve(ev, written, step.number, frame, place)


def dissolve(ev: Evaluator, written: Field, number: int, frame: Frame, place: Place) -> Slot:
    """Turn a step into the content of a slot."""
    ev.steps.dissolve(number, frame)
    if place.frame is not None:
        frame.hand_to(place.frame)
    step = ev.steps.table[number]
    return Slot(written.key, step.content, step.reads, written.key_span)


def slot_of(ev: Evaluator, written: Field, block: Block) -> Slot:
    """Return a slot filled with an object of steps."""
    from instrc.passes.evaluate import outside_reads

    return Slot(written.key, block, tuple(dict.fromkeys(outside_reads(ev.steps, block))), written.key_span)


def mix(ev: Evaluator, mixin: Instruction, written: tuple[Written, ...], span: Span, place: Place) -> Task[Value | None]:
    """Put a mixin around the model steps written in its brackets; its value is the value of what it is given."""
    frame = frame_at(ev, place)
    given = Given()
    within = replace(place.given_to(frame), own=place.own, placing=True)
    filling: Expression | None = None
    fields: list[Field] = []
    for each in written:
        if each.label is None and not isinstance(each.value, Object):
            if filling is not None:
                ev.report.add(problems.program.TooManyArguments(at=each.value.span, mixin=mixin.name, first=filling.span))
                return None
            filling = each.value
        elif each.label is None and isinstance(each.value, Object):
            fields.extend(each.value.fields)
        else:
            fields.append(Field(each.label or "", each.label_span or each.value.span, each.value))
    value: Value | None = None
    if filling is not None:
        value = yield ev.value(filling, _unkeyed(ev, filling, within))
        if value is None:
            return None
    keys = Keys.within(place.keys)
    scope = ev.scope(place, ev.steps.identities.written(written)) if fields else place.scope
    within = replace(within, scope=scope)
    for slot_field in fields:
        expression = slot_field.value or Name(slot_field.key, slot_field.key_span)
        if not _take_label(ev, given, slot_field.key, slot_field.key_span):
            continue
        if slot_field.key == "default":
            if filling is not None:
                ev.report.add(problems.program.TooManyArguments(at=expression.span, mixin=mixin.name, first=filling.span))
                return None
            filling = expression
            value = yield ev.value(expression, _unkeyed(ev, expression, within))
        elif is_data(expression):
            given.slots.append(Slot(slot_field.key, Constant(ev.data(expression)), (), slot_field.key_span))
            continue
        else:
            slot = yield fuse(
                ev,
                mixin,
                slot_field,
                expression,
                replace(place.inside(), keys=keys, frame=frame, direct=True, scope=ev.scope(within, slot_field.key)),
            )
            if slot is not None:
                given.slots.append(slot)
                keys.fields[slot_field.key] = Inner()
            else:
                given.complete = False
            continue
        if value is None:
            return None
    if isinstance(value, Data):
        ev.report.add(problems.program.MisplacedData(at=filling.span if filling else span))
        return None
    schema = ev.flat(mixin, span)
    if schema is None or not given.complete or not check_slots(ev, mixin, schema, given.slots, ()):
        return None
    for slot in given.slots:
        if _stands_before(slot.name, schema):  # what it reads comes before all that the mixin holds
            frame.barriers.update(path.origin for path in slot.reads if isinstance(path.origin, int))
    application = Application(mixin, tuple(given.slots), place.annotations, span)
    whole = isinstance(value, Members)
    taken = ev.steps.apply(application, frame, whole=whole)
    if not taken:
        ev.report.add(problems.program.EmptyMixin(at=span, mixin=mixin.name))
        return None
    if whole and place.key not in {None, PRIVATE}:
        return ev.under_key(ev.take(taken, frame, place, span, ()), place, span)
    if place.frame is not None:
        frame.hand_to(place.frame)
    return value


def _stands_before(name: str, schema: Json) -> bool:
    """Tell whether a property of a mixin stands before what is put into it."""
    names = list(_properties(schema, ()))
    return "default" not in names or name not in names or names.index(name) < names.index("default")


def _unkeyed(ev: Evaluator, filling: Expression, place: Place) -> Place:
    """Return the place of what fills a mixin; the key of the mixin's call goes on to a call, but is not that of an object."""
    while isinstance(filling, Annotated | Name):
        if isinstance(filling, Annotated):
            filling = filling.value
        elif filling.text in ev.names.locals and place.find(filling.text) is None and not ev.names.is_circular(filling.text):
            filling = ev.names.locals[filling.text].value
        else:
            break
    return replace(place, key=None) if isinstance(filling, Object) else place


def frame_at(ev: Evaluator, place: Place) -> Frame:
    """Return brackets that place steps; they cannot hold what is piped to where they open."""
    ev.reads_pipe(place)
    if place.piped is None:
        return Frame(frozenset())
    return Frame(frozenset(path.origin for path in paths(place.piped) if isinstance(path.origin, int)))


def check_slots(ev: Evaluator, holder: Instruction, schema: Json, slots: Iterable[Slot], annotations: tuple[Json, ...]) -> bool:
    """Report slots that name no property, of the schema or of annotations, unless the schema is open."""
    if not isinstance(schema, dict):
        return True
    names = tuple(_properties(schema, annotations))
    open_ = holder.kind != "mixin" and ("properties" not in schema or schema.get("additionalProperties", False) is not False)
    unknown = [] if open_ else [slot for slot in slots if slot.name not in names]
    for slot in unknown:
        ev.report.add(
            problems.program.SlotNotFound(
                at=slot.span, word=slot.name, holder=holder.name, nearest=nearest(slot.name, names), slots=names
            )
        )
    return not unknown


def _take_label(ev: Evaluator, given: Given, label: str, span: Span) -> bool:
    """Note the name of an argument; a name given twice, or `const`, is reported."""
    if label == "const":
        ev.report.add(problems.program.ReservedName(at=span, word=label))
        given.complete = False
        return False
    if label in given.labels:
        ev.report.add(problems.program.RepeatedName(at=span, word=label, first=given.labels[label]))
        given.complete = False
        return False
    given.labels[label] = span
    return True


def is_data(expression: Expression) -> bool:
    """Tell whether an expression is a literal, an array, or an object of nothing else."""
    waiting: list[Expression | None] = [expression]
    while waiting:
        each = waiting.pop()
        match each:
            case Literal() | Array():
                pass
            case Object(fields):
                waiting.extend(field.value for field in fields)
            case None | Name() | Uri() | Call() | Annotated() | _:
                return False
    return True
