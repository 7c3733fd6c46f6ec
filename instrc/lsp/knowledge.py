"""What can be looked up about the names of a program: vibes, their flat schemas, the members of a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instrc.ir.executors import EXECUTORS
from instrc.ir.fusion import Instruction
from instrc.ir.surface import Access, Annotated, Call, Expression, Inline, Input, Name, Object, Pipe, Uri
from instrc.jsonvalue import Json
from instrc.limits.programs import NAME_STEPS
from instrc.lsp.scopes import Definition, SymbolIndex
from instrc.passes.instructions import InstructionTable
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Source, Span
from instrc.syntax.parser import parse
from instrc.vibes.programs import ProgramFile
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe

_ERROR: Json = {"properties": {name: {"type": "string"} for name in ("step", "kind", "code", "message")}}


def carried_out_by(instruction: Instruction) -> str:
    """Return who carries an instruction out, in words."""
    return "none: it is fused into what it holds" if instruction.kind == "mixin" else EXECUTORS[instruction.kind]


@dataclass(frozen=True, slots=True)
class KnownInstruction:
    """An instruction that has been looked up."""

    instruction: Instruction
    vibe: Vibe
    uri: str


class Knowledge:
    """The registry that one document sees, with what has been asked of it."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._library = InstructionTable(registry, Report())
        self._schemas: dict[str, Json] = {}

    def find(self, text: str) -> KnownInstruction | None:
        """Return what a name or an `aug:` reference finds; `None` for nothing or too much."""
        try:
            found = (text,) if text.startswith("aug:") else self.registry.lookup(text)
            if len(found) != 1:
                return None
            instruction = self._library.instruction(found[0], None)
            return KnownInstruction(instruction, self.registry.load(found[0].partition("#")[0]), instruction.uri or found[0])
        except CompileError:
            return None

    def program(self, text: str) -> ProgramFile | None:
        """Return the program that a name or an `aug:` reference finds."""
        try:
            found = (text,) if text.startswith("aug:") else self.registry.lookup_program(text)
            return self.registry.load_program(found[0].partition("#")[0]) if len(found) == 1 else None
        except CompileError:
            return None

    def schema(self, known: KnownInstruction) -> Json:
        """Return the flat schema of an instruction, `{}` if it has a mistake."""
        if known.uri not in self._schemas:
            try:
                self._schemas[known.uri] = self._library.schema(known.instruction)
            except CompileError:
                self._schemas[known.uri] = {}
        return self._schemas[known.uri]

    def place(self, known: KnownInstruction, member: str = "") -> Span:
        """Return where an instruction is written, or one of its properties."""
        _, _, fragment = known.uri.partition("#")
        pointer = fragment if fragment.startswith("/") else ""
        if member:
            return known.vibe.span(f"{pointer}/properties/{member.replace('~', '~0').replace('/', '~1')}", key=True)
        return known.vibe.span(pointer)

    def value(self, expression: Expression, index: SymbolIndex, depth: int = 0) -> Json:
        """Return the schema of what an expression stands for; `{}` if nothing is known about it."""
        if depth > NAME_STEPS:
            return {}
        match expression:
            case Name(text, span):
                mention = index.by_start.get(span.start)
                definition = mention.definition if mention else None
                return self.of_definition(definition, index, depth + 1) if definition else self._look_up(text)
            case Uri(text):
                return self._look_up(text)
            case Inline(schema):
                return schema
            case Call(callee):
                return self.value(callee, index, depth + 1)
            case Pipe(stages):
                return self.value(stages[-1], index, depth + 1)
            case Annotated(value, annotation):
                inner = self.value(value, index, depth + 1)
                return inner if isinstance(annotation, str) else _with_annotation(inner, annotation)
            case Access(base, members):
                way = [member.text for member in members]
                mention = index.by_start.get(base.span.start) if isinstance(base, Name) else None
                if mention is not None and mention.definition is not None:
                    return self.along(mention.definition, way, index, depth + 1)
                return _down(self.value(base, index, depth + 1), way)
            case Object(fields):
                named = {each.key: each.value for each in fields}
                return {
                    "properties": {
                        key: {} if value is None else self.value(value, index, depth + 1) for key, value in named.items()
                    }
                }
            case _:
                return {}

    def along(self, definition: Definition, way: Sequence[str], index: SymbolIndex, depth: int = 0) -> Json:
        """Return the schema of the member to which a way leads from a name; `previous.draft` is what `draft` is."""
        body = index.of_round(definition)
        found = body.names.get(way[0]) if body is not None and way else None
        if found is not None:
            return _down(self.of_definition(found, index, depth + 1), way[1:])
        return _down(self.of_definition(definition, index, depth + 1), way)

    def of_definition(self, definition: Definition, index: SymbolIndex, depth: int = 0) -> Json:
        """Return the schema of what a name stands for; of a round only the names of its members."""
        if (body := index.of_round(definition)) is not None:
            return {"properties": {name: {} for name, each in body.names.items() if each.kind != "round"}}
        if definition.value is None:
            return _ERROR if (definition.kind, definition.name) == ("round", "error") else {}
        schema = self.value(definition.value, index, depth + 1)
        if definition.of_list:
            return schema.get("items", {}) if isinstance(schema, dict) else {}
        return schema

    def _look_up(self, text: str) -> Json:
        known = self.find(text)
        return self.schema(known) if known else {}


def declared_inputs(program: ProgramFile) -> list[str]:
    """Return the names of the inputs that a program declares."""
    read = parse(Source(program.path, program.data.decode("utf-8", "replace")), Report())
    return [statement.name.text for statement in read.statements if isinstance(statement, Input)]


def members(schema: Json) -> dict[str, Json]:
    """Return the properties of a schema, those of a step with `output` being those of its output."""
    if not isinstance(schema, dict):
        return {}
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    output = properties.get("output")
    inner = members(output) if isinstance(output, dict) else {}
    return inner or properties


def _down(schema: Json, way: Sequence[str]) -> Json:
    for name in way:
        schema = member_of(schema, name)
    return schema


def member_of(schema: Json, name: str) -> Json:
    """Return the schema of a member; `{}` if it is not known."""
    found = members(schema).get(name)
    if found is None and isinstance(schema, dict) and isinstance(properties := schema.get("properties"), dict):
        found = properties.get(name)
    return {} if found is None else found


def _with_annotation(schema: Json, more: dict[str, Json]) -> Json:
    """Return a schema with the properties that an annotation adds."""
    if not isinstance(schema, dict) or not isinstance(added := more.get("properties"), dict):
        return schema
    properties = schema.get("properties")
    return {**schema, "properties": {**(properties if isinstance(properties, dict) else {}), **added}}
