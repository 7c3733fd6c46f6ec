"""Sort the inputs of a call into arguments and slots; evaluate literals."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from instrc import problems
from instrc.compiler.bind.evaluation import Evaluation, property_names
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Brackets, Data, Inner, Members, StepResult, paths_read, slot_reads
from instrc.compiler.ir import NO_TIMING, Argument, Instruction, Path, Slot
from instrc.language.surface import Array, Expression, Literal, Object
from instrc.problems.suggest import nearest
from instrc.process.flow import Constant
from instrc.text.jsonvalue import Json
from instrc.text.source import Span


class CallInputs(msgspec.Struct, gc=False):
    """The sorted inputs of a call."""

    arguments: list[Argument] = msgspec.field(default_factory=list)
    slots: list[Slot] = msgspec.field(default_factory=list)
    labels: dict[str, Span] = msgspec.field(default_factory=dict)
    has_value: bool = False
    """Whether something is read, so that neither the pipe nor `prompt` is."""
    needs: tuple[Path, ...] = ()
    """Values that must exist first without being shown."""
    chosen: tuple[Path, ...] = ()
    """Lists from which elements are chosen."""
    named: dict[str, tuple[Path | Constant, Span]] = msgspec.field(default_factory=dict)
    """Named arguments with their spans, including members of objects that are read."""
    constants: dict[int, str] = msgspec.field(default_factory=dict)
    """Inputs replaced by constant arguments, by position: a program called with a literal reads the literal."""
    complete: bool = True
    """Whether all arguments can be passed."""
    literal: bool = False
    """Whether an argument is a constant."""
    unchecked: list[tuple[str, Path | Constant]] = msgspec.field(default_factory=list)
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
                    self.constants[len(self.arguments)] = label or name
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
            self.unchecked.append((label, value))

    def reads(self) -> list[Path]:
        """Return all values read, those of fused calls included."""
        direct = [argument.value for argument in self.arguments if isinstance(argument.value, Path)]
        return list(dict.fromkeys((*direct, *self.chosen, *slot_reads(self.slots))))


def take_label(ev: Evaluation, given: CallInputs, label: str, span: Span) -> bool:
    """Record the name of an argument, and return whether it is valid; a name used twice, or `const`, is reported."""
    if label == "const":
        ev.report.add(problems.names.ReservedName(at=span, word=label))
        return False
    if label in given.labels:
        ev.report.add(problems.names.RepeatedName(at=span, word=label, first=given.labels[label]))
        return False
    given.labels[label] = span
    return True


def check_names(ev: Evaluation, given: CallInputs, span: Span) -> None:
    """Report an unnamed argument whose name equals that of an earlier one: only one of them could be passed on."""
    new, given.unchecked = given.unchecked, []
    for label, value in new:
        known, first = given.named.setdefault(label, (value, span))
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
    if isinstance(expression, Object):
        return all(field.value is not None and is_data(field.value) for field in expression.fields)
    return isinstance(expression, Literal | Array)


def data_of(ev: Evaluation, expression: Expression) -> Json:
    """Return the JSON of a literal, an array or an object of literals; report anything else in it."""
    match expression:
        case Literal(value):
            return value
        case Array(items):
            if wrong := next((item for item in items if not isinstance(item, Literal | Array | Object)), None):
                return data_of(ev, wrong)
            return [data_of(ev, item) for item in items]
        case Object(fields):
            return {field.key: data_of(ev, field.content) for field in fields}
        case _:
            ev.report.add(problems.calls.NotData(at=expression.span))
            return None


def refuse_annotations(ev: Evaluation, span: Span, context: EvaluationContext) -> None:
    """Report annotations on a value that is not a step."""
    if context.annotations or context.timing != NO_TIMING:
        ev.report.add(problems.calls.MisplacedAnnotation(at=span))
