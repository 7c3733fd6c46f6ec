"""Sort the inputs of a call into arguments and slots; evaluate literals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Never, TypeVar

import msgspec

from instrc import problems
from instrc.compiler.bind.evaluation import Evaluation, property_names
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Brackets, Data, Inner, Members, StepResult, paths_read, slot_reads
from instrc.compiler.ir import NO_TIMING, Argument, Instruction, Path, Slot
from instrc.language.surface import Annotated, Array, Call, Expression, Literal, Name, Object, Uri
from instrc.problems.suggest import nearest
from instrc.process.flow import Constant
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, put
from instrc.text.source import Span

_NONE: Mapping[Any, Never] = MappingProxyType({})  # not from a particular table
K = TypeVar("K")
V = TypeVar("V")


class CallInputs(msgspec.Struct, gc=False):
    """The sorted inputs of a call; lists and tables that most calls lack are created on demand."""

    arguments: list[Argument] = msgspec.field(default_factory=list)
    slots: Sequence[Slot] = ()
    labels: Mapping[str, Span] = _NONE
    has_value: bool = False
    """Whether something is read, so that neither the pipe nor `prompt` is."""
    needs: tuple[Path, ...] = ()
    """Values that must exist first without being shown."""
    chosen: tuple[Path, ...] = ()
    """Lists from which elements are chosen."""
    named: Mapping[str, tuple[Path | Constant, Span]] = _NONE
    """Named arguments with their spans, including members of objects that are read."""
    constants: Mapping[int, str] = _NONE
    """Inputs replaced by constant arguments, by position: a program called with a literal reads the literal."""
    complete: bool = True
    """Whether all arguments can be passed."""
    literal: bool = False
    """Whether an argument is a constant."""
    unchecked: Sequence[tuple[str, Path | Constant]] = ()
    """Named arguments not yet checked for duplicates, with their values."""

    def add(self, label: str | None, value: BoundValue) -> bool:
        """Add a value as an argument, and return whether it is valid; an object yields its members under their names."""
        match value:
            case StepResult():
                self._take(label, value.path)
                self.has_value = True
            case Inner():
                self.has_value = True
            case Members(members):
                added = [self.add(key if label is None else f"{label}.{key}", member) for key, member in members]
                return all(added)
            case Data(constant, name):
                if name:
                    self.constants = _with(self.constants, len(self.arguments), label or name)
                    self.has_value = True
                self.add_constant(label, constant)
            case _:
                return False
        return True

    def add_constant(self, label: str | None, value: Json) -> None:
        """Add a constant as an argument."""
        self._take(label, Constant(value))
        self.literal = True

    def _take(self, label: str | None, value: Path | Constant) -> None:
        self.arguments.append(Argument(label, value))
        if label is not None:
            self.unchecked = _behind(self.unchecked, (label, value))

    def add_slot(self, slot: Slot) -> None:
        """Add a composed slot."""
        self.slots = _behind(self.slots, slot)

    def reads(self) -> list[Path]:
        """Return all values read, those of fused calls included."""
        direct = [argument.value for argument in self.arguments if isinstance(argument.value, Path)]
        return list(dict.fromkeys((*direct, *self.chosen, *slot_reads(self.slots))))


def _with(table: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """Return a table with an added entry, modified in place unless it is the shared empty one."""
    if not isinstance(table, dict):
        return {key: value}
    table[key] = value
    return table


def _behind(items: Sequence[V], item: V) -> Sequence[V]:
    """Return a list with an item appended, in place unless it is the shared empty one."""
    if not isinstance(items, list):
        return [item]
    items.append(item)
    return items


def take_label(ev: Evaluation, given: CallInputs, label: str, span: Span) -> bool:
    """Record the name of an argument, and return whether it is valid; a name used twice, or `const`, is reported."""
    if label == "const":
        ev.report.add(problems.names.ReservedName(at=span, word=label))
        return False
    if label in given.labels:
        ev.report.add(problems.names.RepeatedName(at=span, word=label, first=given.labels[label]))
        return False
    given.labels = _with(given.labels, label, span)
    return True


def check_names(ev: Evaluation, given: CallInputs, span: Span) -> None:
    """Report an unnamed argument whose name equals that of an earlier one: only one of them could be passed on."""
    new, given.unchecked = given.unchecked, ()
    for label, value in new:
        if label not in given.named:
            given.named = _with(given.named, label, (value, span))
        known, first = given.named[label]
        if known != value:
            ev.report.add(problems.names.RepeatedName(at=span, word=label, first=first, argument=True))
            given.complete = False
            return


def brackets_at(ev: Evaluation, context: EvaluationContext) -> Brackets:
    """Return brackets that place steps; they cannot hold a value that was piped to their opening."""
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
        near = nearest(slot.name, names)
        said = isinstance(slot.content, Constant)
        ev.report.add(
            problems.calls.SlotNotFound(at=slot.span, word=slot.name, holder=holder.name, nearest=near, slots=names, said=said)
        )
    return not unknown


def is_data(expression: Expression) -> bool:
    """Return whether an expression is a literal, an array, or an object of nothing else."""
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


def data_of(ev: Evaluation, expression: Expression) -> Json:
    """Return the JSON of a literal, an array or an object of literals; report anything else in it."""
    top: list[Json] = [None]
    waiting: list[tuple[Expression, JsonArray | JsonObject, str | int]] = [(expression, top, 0)]
    while waiting:
        node, holder, key = waiting.pop()
        match node:
            case Literal(value):
                put(holder, key, value)
            case Array(items):
                listed: JsonArray = [None] * len(items)
                put(holder, key, listed)
                if wrong := next((item for item in items if not isinstance(item, Literal | Array | Object)), None):
                    ev.report.add(problems.calls.NotData(at=wrong.span))
                    continue
                waiting.extend((item, listed, index) for index, item in enumerate(items))
            case Object(fields):
                made: JsonObject = dict.fromkeys(field.key for field in fields)
                put(holder, key, made)
                members = ((field.value or Name(field.key, field.key_span), field.key) for field in fields)
                waiting.extend((member, made, name) for member, name in members)
            case _:
                ev.report.add(problems.calls.NotData(at=node.span))
    return top[0]


def refuse_annotations(ev: Evaluation, span: Span, context: EvaluationContext) -> None:
    """Report annotations on a value that is not a step."""
    if context.annotations or context.timing != NO_TIMING:
        ev.report.add(problems.calls.MisplacedAnnotation(at=span))
