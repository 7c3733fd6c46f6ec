"""Assign equal numbers to equal expressions, and to equal values of these."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from instrc.compiler import ir
from instrc.language import surface
from instrc.language.surface import Argument as Written
from instrc.process.flow import Constant
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.source import Span


class Identities:
    """The numbers of a program's expressions and their values."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.steps: list[int] = []
        """The numbers of the steps that there are, by the number that a step has among them."""
        self._written: dict[tuple[type, Span], int] = {}
        """The numbers of expressions by their kind and place, of which a source has one."""
        self._groups: dict[int, int] = {}
        """Those of groups, by the number of the group."""

    def restart(self) -> None:
        """Forget the steps before their expressions are evaluated again."""
        self.steps = []
        self._groups = {}

    def of(self, *parts: Hashable) -> int:
        """Return the number of a composite."""
        numbers = self._numbers
        return numbers.setdefault(parts, len(numbers))

    def json(self, value: Json) -> int:
        """Return the number of a JSON value."""
        return self.of("json", dumps(value, indent=False))

    def path(self, path: ir.Path) -> Hashable:
        """Return the identity of a path, independent of where its step was encountered."""
        origin = path.origin
        if type(origin) is int:
            step = self.steps[origin]
            return ("step", step, path.tail) if path.tail else step
        match origin:
            case ir.Local():  # ownership matters where two steps are compared
                return ("local", origin.kind, origin.name, path.tail)
            case name:
                return ("input", name, path.tail)

    def reading(self, reading: ir.Reading) -> Hashable:
        """Return the identity of the value of a block."""
        match reading:
            case ir.Path():
                return self.path(reading)
            case Constant():
                return self.content(reading)
            case ir.ObjectReading(members):
                return tuple((name, self.reading(member)) for name, member in members)

    def content(self, content: ir.Filling) -> int:
        """Return the number of a step's or slot's content; the contents of nested slots already have theirs."""
        match content:
            case ir.Fusion():
                called = self.instruction(content.instruction)
                if not (content.slots or content.annotations or content.mixins):
                    return called
                uses = tuple(map(self.application, content.mixins))
                return self.of(called, self._slots(content.slots), self._jsons(content.annotations), uses)
            case Constant(value):
                return self.of("constant", self.json(value))
            case ir.StepObject(units, annotations):
                return self.of("block", tuple(map(self.unit, units)), self._jsons(annotations))

    def slot(
        self,
        name: str,
        content: ir.Filling,
        span: Span,
        reads: tuple[ir.Path, ...] = (),
        engine: ir.Planned | ir.Among | None = None,
    ) -> ir.Slot:
        """Return a slot with the number of its content."""
        return ir.Slot(name, content, reads, span, self.content(content), engine)

    def application(self, application: ir.Application) -> int:
        """Return the number of a use of a mixin."""
        return self.of(
            "mixin", self.instruction(application.mixin), self._slots(application.slots), self._jsons(application.annotations)
        )

    def unit(self, unit: ir.Unit) -> Hashable:
        """Return the identity of a unit: the number of a step, or the steps of a group and what encloses them."""
        return self.steps[unit] if isinstance(unit, int) else ("group", self._groups[unit.number])

    def enter(self, group: ir.MixinGroup) -> None:
        """Assign a group its number; nested groups already have theirs."""
        self._groups[group.number] = self.of("group", self.application(group.application), tuple(map(self.unit, group.members)))

    def instruction(self, instruction: ir.Instruction) -> int:
        """Return the number of an instruction."""
        if instruction.uri is not None:
            return self.of(instruction.name, instruction.uri, instruction.home)
        return self.of(instruction.name, "inline", self.json(instruction.schema))

    def arguments(self, arguments: Iterable[ir.Argument]) -> tuple[Hashable, ...]:
        """Return the identity of arguments."""
        found: list[Hashable] = []
        for each in arguments:
            value, label = each.value, each.label
            sign = self.path(value) if type(value) is ir.Path else self.content(value)  # type: ignore[arg-type]  # a constant
            found.append(sign if label is None else (label, sign))
        return tuple(found)

    def written(self, arguments: tuple[Written, ...]) -> int:
        """Return the number of a call's arguments as written, independent of the call's place."""
        return self.of("arguments", *((each.label, self.expression(each.value)) for each in arguments))

    def expression(self, expression: surface.Expression) -> int:
        """Return the number of an expression as written, independent of its place."""
        key = type(expression), expression.span
        if key not in self._written:
            parts = [self.expression(part) for part in surface.children(expression)]
            self._written[key] = self.of(*self._signs(expression), *parts)
        return self._written[key]

    def _signs(self, node: surface.Expression) -> tuple[Hashable, ...]:
        """Return the identity of an expression without its parts."""
        match node:
            case surface.Name(text) | surface.Uri(text):
                return ("name", text)
            case surface.Literal(value):
                return ("literal", self.json(value))
            case surface.Inline(schema):
                return ("inline", self.json(schema))
            case surface.Annotated(_, annotation):
                return ("annotated", self.json(annotation))
            case surface.Call(_, arguments):
                return ("call", *(argument.label for argument in arguments))
            case surface.Object(fields):
                return ("object", *((field.key, field.value is None) for field in fields))
            case surface.Pipe():
                return ("pipe",)
            case surface.Array():
                return ("array",)
            case surface.Access(_, members):
                return ("access", *(member.text for member in members))
            case _ if isinstance(node, surface.Block):
                return ("block", *self._block_signs(node))

    def _block_signs(self, block: surface.Block) -> list[Hashable]:
        """Return the identity of a block without its expressions."""
        found: list[Hashable] = [surface.word_of(block), surface.numbers_of(block)]
        for part in surface.parts(block):
            found += [len(part.names), part.condition is None, *(name for name, span in part.names if span is not None)]
            found += [part.first and tuple((field.key, field.value is None) for field in part.first.fields)]
            for condition in filter(None, (part.condition, part.until)):
                found += [condition.joined, *map(self._test_signs, condition.tests)]
            statements = part.body.statements
            found.append(tuple(each.name.text if isinstance(each, surface.Binding) else None for each in statements))
        return found

    def _test_signs(self, test: surface.Test) -> Hashable:
        """Return the identity of a test without the values it reads."""
        match test:
            case surface.Truth():
                return "truth"
            case surface.Equals(_, value):
                return "is", self.json(value.value) if isinstance(value, surface.Literal) else "path", test.negated
            case surface.Compares(_, sign, value):
                return sign, self.json(value.value) if isinstance(value, surface.Literal) else "path"
            case surface.Matches(_, schema):
                return "matches", self.json(schema)

    def _slots(self, slots: Iterable[ir.Slot]) -> tuple[Hashable, ...]:
        return tuple((slot.name, slot.number, self._engine(slot.engine)) for slot in slots)

    def _engine(self, engine: ir.Planned | ir.Among | None) -> Hashable:
        match engine:
            case ir.Planned(tools):
                return tuple((tool.kind, tool.target, self.arguments(tool.bound)) for tool in tools)
            case ir.Among(choices):
                return self.path(choices)
            case None:
                return None

    def _jsons(self, values: Iterable[Json]) -> tuple[int, ...]:
        return tuple(map(self.json, values))
