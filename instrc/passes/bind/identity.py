"""Tell equal expressions from different ones, however deep they nest and wherever they are written.

Everything that can be equal gets a number; equal things get equal ones.  A thing's number is looked up by those of its parts,
so nothing is compared deeply.  Objects are equal only with their members in the same order: order is meaning.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from instrc.ir import surface
from instrc.ir.children import bodies, children
from instrc.ir.executors import Executor
from instrc.ir.fusion import (
    Among,
    Application,
    Argument,
    Filling,
    Fusion,
    Instruction,
    MixinGroup,
    Planned,
    Slot,
    StepObject,
    Unit,
)
from instrc.ir.paths import Local, ObjectReading, Path, Reading
from instrc.ir.reads import Constant
from instrc.ir.surface import (
    Access,
    Annotated,
    Array,
    Call,
    Expression,
    Inline,
    Literal,
    Name,
    Object,
    Pipe,
    Uri,
)
from instrc.ir.surface import Argument as Written
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.source import Span


class Identities:
    """The numbers of one program's expressions and of their values."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.steps: list[int] = []
        """The numbers of the steps that there are, by the number that a step has among them."""
        self._written: dict[tuple[type, Span], int] = {}
        """The numbers of expressions by their kind and place, of which a source has one."""
        self._groups: dict[int, int] = {}
        """Those of groups, by the number of the group."""

    def restart(self) -> None:
        """Forget the steps, as their expressions are going to be evaluated once more."""
        self.steps = []
        self._groups = {}

    def of(self, *parts: Hashable) -> int:
        """Return the number of something made of parts."""
        numbers = self._numbers
        return numbers.setdefault(parts, len(numbers))

    def kind(self, base_name: str, executor: Executor, activity: str | None, content: int) -> int:
        """Return the number that steps share which differ only in what they are given and in what they wait for."""
        return self.of(base_name, executor, activity, content)

    def json(self, value: Json) -> int:
        """Return the number of a JSON value."""
        return self.of("json", dumps(value, indent=False))

    def path(self, path: Path) -> Hashable:
        """Return what tells a path from others, wherever the step that it leads to has been met."""
        origin = path.origin
        if type(origin) is int:
            step = self.steps[origin]
            return ("step", step, path.tail) if path.tail else step
        match origin:
            case Local():  # whose it is, is asked where two steps are compared
                return ("local", origin.kind, origin.name, path.tail)
            case name:
                return ("input", name, path.tail)

    def reading(self, reading: Reading) -> Hashable:
        """Return what tells a value of a block from others."""
        match reading:
            case Path():
                return self.path(reading)
            case Constant():
                return self.content(reading)
            case ObjectReading(members):
                return tuple((name, self.reading(member)) for name, member in members)

    def content(self, content: Filling) -> int:
        """Return the number of what fills a step or a slot; what fills the slots in it has its own already."""
        match content:
            case Fusion():
                called = self.instruction(content.instruction)
                if not (content.slots or content.annotations or content.mixins):
                    return called
                uses = tuple(map(self.application, content.mixins))
                return self.of(called, self._slots(content.slots), self._jsons(content.annotations), uses)
            case Constant(value):
                return self.of("constant", self.json(value))
            case StepObject(units, annotations):
                return self.of("block", tuple(map(self.unit, units)), self._jsons(annotations))

    def slot(
        self,
        name: str,
        content: Filling,
        span: Span,
        reads: tuple[Path, ...] = (),
        engine: Planned | Among | None = None,
    ) -> Slot:
        """Return a slot with the number of its content."""
        return Slot(name, content, reads, span, self.content(content), engine)

    def application(self, application: Application) -> int:
        """Return the number of a use of a mixin."""
        return self.of(
            "mixin", self.instruction(application.mixin), self._slots(application.slots), self._jsons(application.annotations)
        )

    def unit(self, unit: Unit) -> Hashable:
        """Return what tells a unit from others: a step's own number; a group is known by its steps and what lies around them."""
        return self.steps[unit] if isinstance(unit, int) else ("group", self._groups[unit.number])

    def enter(self, group: MixinGroup) -> None:
        """Give a group its number; those in it have theirs."""
        self._groups[group.number] = self.of("group", self.application(group.application), tuple(map(self.unit, group.members)))

    def instruction(self, instruction: Instruction) -> int:
        """Return the number of an instruction."""
        if instruction.uri is not None:
            return self.of(instruction.name, instruction.uri, instruction.home)
        return self.of(instruction.name, "inline", self.json(instruction.schema))

    def arguments(self, arguments: Iterable[Argument]) -> tuple[Hashable, ...]:
        """Return what tells arguments from others."""
        found: list[Hashable] = []
        for each in arguments:
            value, label = each.value, each.label
            sign = self.path(value) if type(value) is Path else self.content(value)  # type: ignore[arg-type]  # a constant
            found.append(sign if label is None else (label, sign))
        return tuple(found)

    def written(self, arguments: tuple[Written, ...]) -> int:
        """Return the number of the arguments of a call as they are written, wherever that is."""
        return self.of("arguments", *((each.label, self.expression(each.value)) for each in arguments))

    def expression(self, expression: Expression) -> int:
        """Return the number of an expression as it is written, wherever that is."""
        known = self._written
        waiting = [expression]
        while waiting:
            node = waiting[-1]
            parts = children(node) if _key(node) not in known else ()
            open_ = [part for part in parts if _key(part) not in known]
            if open_:
                waiting.extend(open_)
                continue
            waiting.pop()
            if _key(node) not in known:
                known[_key(node)] = self.of(*self._signs(node), *(known[_key(part)] for part in parts))
        return known[_key(expression)]

    def _signs(self, node: Expression) -> tuple[Hashable, ...]:
        """Return what tells an expression from others besides its parts."""
        match node:
            case Name(text) | Uri(text):
                return ("name", text)
            case Literal(value):
                return ("literal", self.json(value))
            case Inline(schema):
                return ("inline", self.json(schema))
            case Annotated(_, annotation):
                return ("annotated", self.json(annotation))
            case Call(_, arguments):
                return ("call", *(argument.label for argument in arguments))
            case Object(fields):
                return ("object", *((field.key, field.value is None) for field in fields))
            case Pipe():
                return ("pipe",)
            case Array():
                return ("array",)
            case Access(_, members):
                return ("access", *(member.text for member in members))
            case surface.When() | surface.Each() | surface.Repeat() | surface.Try() | surface.Do():
                return ("block", *self._block_signs(node))

    def _block_signs(self, block: surface.Block) -> list[Hashable]:
        """Return what tells a block from others besides the expressions in it."""
        found: list[Hashable] = [type(block).__name__]
        conditions: list[surface.Condition] = []
        match block:
            case surface.When(branches):
                conditions += [branch.condition for branch in branches]
            case surface.Each(name, source, most):
                found += [name.text, source.value if isinstance(source, Literal) else None, most and most.value]
            case surface.Repeat(name, _, _, until, most, keep):
                found += [name and name.text, most and most.value, keep and keep.value]
                conditions += [] if until is None else [until]
            case _:
                pass
        for condition in conditions:
            for test in condition.tests:
                match test:
                    case surface.Truth():
                        found.append("truth")
                    case surface.Equals(_, value):
                        found.append(("is", self.json(value.value)))
                    case surface.Matches(_, schema):
                        found.append(("matches", self.json(schema)))
        for body in bodies(block):
            found.append(tuple(each.name.text if isinstance(each, surface.Binding) else None for each in body.statements))
        return found

    def _slots(self, slots: Iterable[Slot]) -> tuple[Hashable, ...]:
        return tuple((slot.name, slot.number, self._engine(slot.engine)) for slot in slots)

    def _engine(self, engine: Planned | Among | None) -> Hashable:
        match engine:
            case Planned(tools):
                return tuple((tool.kind, tool.target, self.arguments(tool.bound)) for tool in tools)
            case Among(choices):
                return self.path(choices)
            case None:
                return None

    def _jsons(self, values: Iterable[Json]) -> tuple[int, ...]:
        return tuple(map(self.json, values))


def _key(node: Expression) -> tuple[type, Span]:
    return type(node), node.span
