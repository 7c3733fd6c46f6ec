"""The index of the names of a program, and the schemas of their values."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from instrc.compiler.instructions import InstructionTable
from instrc.compiler.ir import Instruction
from instrc.compiler.recursion import deep_calls
from instrc.language import surface
from instrc.language.parser import parse
from instrc.problems.errors import InstrcError
from instrc.problems.report import Report
from instrc.process.flow import EXECUTORS
from instrc.text.jsonvalue import Json, mapping
from instrc.text.source import Source, Span
from instrc.vibes.registry import ProgramFile, Registry
from instrc.vibes.vibe import Vibe


class KnownInstruction(Struct, frozen=True):
    """An instruction that has been looked up."""

    instruction: Instruction
    vibe: Vibe
    uri: str

    @property
    def path(self) -> str:
        """The file that it is written in."""
        return self.vibe.source.name

    @property
    def segment(self) -> str:
        """Its name, as files spell it."""
        return self.vibe.segment


DefinitionKind: TypeAlias = Literal["const", "tool", "input", "element", "key", "round"]


class Definition(Struct, frozen=True, gc=False):
    """A name that a program defines: its place, and its value."""

    name: str
    kind: DefinitionKind
    span: Span
    whole: Span
    value: surface.Expression | None = None
    of_list: bool = False
    """Whether it refers to one element of its value."""


class Mention(Struct, frozen=True, gc=False):
    """A name or reference that is read; without a definition it is an instruction, `prompt`, or a mistake."""

    text: str
    span: Span
    called: bool
    definition: Definition | None
    short: bool = False
    """Whether it is also a key: `{ a }`."""


VisibleNames: TypeAlias = ChainMap[str, Definition]
"""The names that are visible in one place; those of the innermost body or braces are in the first map."""


class SymbolIndex(Struct):
    """The names of one program."""

    definitions: list[Definition] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    by_start: dict[int, Mention] = field(default_factory=dict)
    """Mentions by their start offset."""
    rounds: dict[int, VisibleNames] = field(default_factory=dict)
    """Names visible in the bodies of loops, such as `previous` and `rounds`, by start offset."""
    scopes: list[tuple[Span, VisibleNames]] = field(default_factory=list)
    """Ranges with the names visible in them, outer ones first."""
    calls: list[surface.Call] = field(default_factory=list)
    accesses: list[surface.Access] = field(default_factory=list)

    def scope(self, offset: int) -> VisibleNames:
        """Return the names visible at an offset."""
        found = self.scopes[0][1]
        for span, scope in self.scopes:
            if span.start <= offset <= span.end:
                found = scope
        return found

    def mention(self, offset: int) -> Mention | None:
        """Return the name that is read at an offset."""
        return next((each for each in self.mentions if each.span.start <= offset <= each.span.end), None)

    def definition(self, offset: int) -> Definition | None:
        """Return the definition of the name at an offset, whether it is defined or read there."""
        here = next(
            (each for each in self.definitions if each.kind != "round" and each.span.start <= offset <= each.span.end), None
        )
        mention = self.mention(offset)
        return here or (mention.definition if mention else None)

    def of_round(self, definition: Definition | None) -> VisibleNames | None:
        """Return the names of the body that `previous`, or an element of `rounds`, has as members."""
        word = "previous"
        if definition is not None and definition.kind == "element" and isinstance(definition.value, surface.Name):
            mention = self.by_start.get(definition.value.span.start)
            definition = mention.definition if mention else None
            word = "rounds"
        if definition is None or definition.kind != "round" or definition.name != word:
            return None
        return self.rounds.get(definition.span.start)

    def places(self, definition: Definition) -> list[Mention]:
        """Return where a definition is read."""
        return [mention for mention in self.mentions if mention.definition is definition]


NAME_STEPS: Final = 40
"""Maximum steps from a name to its schema: names of names, members of members."""
_ERROR: Json = {"properties": {name: {"type": "string"} for name in ("step", "kind", "code", "message")}}


class Knowledge:
    """The registry that one document sees, with its cached lookups."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._library = InstructionTable(registry, Report())
        self._schemas: dict[str, Json] = {}

    def find(self, text: str) -> KnownInstruction | None:
        """Return the target of a name or an `aug:` reference, or `None` if there is none or several."""
        try:
            found = (text,) if text.startswith("aug:") else self.registry.lookup(text)
            if len(found) != 1:
                return None
            instruction = self._library.instruction(found[0], None)
            return KnownInstruction(instruction, self.registry.load(found[0].partition("#")[0]), instruction.uri or found[0])
        except InstrcError:
            return None

    def program(self, text: str) -> ProgramFile | None:
        """Return the program that a name or an `aug:` reference finds."""
        try:
            found = (text,) if text.startswith("aug:") else self.registry.lookup_program(text)
            return self.registry.load_program(found[0].partition("#")[0]) if len(found) == 1 else None
        except InstrcError:
            return None

    def schema(self, known: KnownInstruction) -> Json:
        """Return the flat schema of an instruction, `{}` if it has a mistake."""
        if known.uri not in self._schemas:
            try:
                self._schemas[known.uri] = self._library.schema(known.instruction)
            except InstrcError:
                self._schemas[known.uri] = {}
        return self._schemas[known.uri]

    def place(self, known: KnownInstruction, member: str = "") -> Span:
        """Return where an instruction is written, or one of its properties."""
        _, _, fragment = known.uri.partition("#")
        pointer = fragment if fragment.startswith("/") else ""
        if member:
            return known.vibe.span(f"{pointer}/properties/{member.replace('~', '~0').replace('/', '~1')}", key=True)
        return known.vibe.span(pointer)

    def value(self, expression: surface.Expression, index: SymbolIndex, depth: int = 0) -> Json:
        """Return the schema of the value of an expression, or `{}` if it is unknown."""
        if depth > NAME_STEPS:
            return {}
        match expression:
            case surface.Name(text, span):
                mention = index.by_start.get(span.start)
                definition = mention.definition if mention else None
                return self.of_definition(definition, index, depth + 1) if definition else self._look_up(text)
            case surface.Uri(text):
                return self._look_up(text)
            case surface.Inline(schema):
                return schema
            case surface.Call(callee):
                return self.value(callee, index, depth + 1)
            case surface.Pipe(stages):
                return self.value(stages[-1], index, depth + 1)
            case surface.Annotated(value, annotation):
                inner = self.value(value, index, depth + 1)
                return inner if isinstance(annotation, str) else _with_annotation(inner, annotation)
            case surface.Access(base, members):
                way = [member.text for member in members]
                mention = index.by_start.get(base.span.start) if isinstance(base, surface.Name) else None
                if mention is not None and mention.definition is not None:
                    return self.along(mention.definition, way, index, depth + 1)
                return down(self.value(base, index, depth + 1), way)
            case surface.Object(fields):
                named = {each.key: each.value for each in fields}
                return {
                    "properties": {
                        key: {} if value is None else self.value(value, index, depth + 1) for key, value in named.items()
                    }
                }
            case _:
                return {}

    def along(self, definition: Definition, way: Sequence[str], index: SymbolIndex, depth: int = 0) -> Json:
        """Return the schema of the member at the end of a path from a name; `previous.draft` has that of `draft`."""
        body = index.of_round(definition)
        found = body.maps[0].get(way[0]) if body is not None and way else None
        if found is not None:
            return down(self.of_definition(found, index, depth + 1), way[1:])
        return down(self.of_definition(definition, index, depth + 1), way)

    def of_definition(self, definition: Definition, index: SymbolIndex, depth: int = 0) -> Json:
        """Return the schema of the value of a name; for a round only the names of its members."""
        if (body := index.of_round(definition)) is not None:
            return {"properties": {name: {} for name, each in body.maps[0].items() if each.kind != "round"}}
        if definition.value is None:
            return _ERROR if (definition.kind, definition.name) == ("round", "error") else {}
        schema = self.value(definition.value, index, depth + 1)
        if definition.of_list:
            return mapping(schema).get("items", {})
        return schema

    def _look_up(self, text: str) -> Json:
        known = self.find(text)
        return self.schema(known) if known else {}


def _with_annotation(schema: Json, more: dict[str, Json]) -> Json:
    """Return a schema with the properties that an annotation adds."""
    if not isinstance(schema, dict) or not isinstance(added := more.get("properties"), dict):
        return schema
    return {**schema, "properties": {**mapping(schema.get("properties")), **added}}


_PLACES = frozenset({"Process", "LLM_Context", "Server_Context", "User_Context", "StartProcess"})
"""Calls whose keys are names for the code after them."""


def index_of(program: surface.Program) -> SymbolIndex:
    """Return the names of a program."""
    index = SymbolIndex()
    root: VisibleNames = ChainMap()
    index.scopes.append((program.source.span(0, len(program.source.text)), root))
    with deep_calls():
        _Walk(index).statements(program.statements, root)
    return index


class _Walk:
    """Walks through a program, and records its names."""

    def __init__(self, index: SymbolIndex) -> None:
        self.index = index
        self._bound: set[Span] = set()
        """Names in the brackets of a tool of a plan, which are also the names of its arguments."""

    def statements(self, statements: Iterable[surface.Statement], scope: VisibleNames) -> None:
        values: list[surface.Expression] = []
        for statement in statements:
            match statement:
                case surface.Binding(name, value, exported, span):
                    self._define(scope, Definition(name.text, "tool" if exported else "const", name.span, span, value))
                    values.append(value)
                case surface.Input(name, _, span):
                    self._define(scope, Definition(name.text, "input", name.span, span))
                case surface.Anonymous(value):
                    values.append(value)
        for value in values:
            self._visit(value, scope)

    def _define(self, scope: VisibleNames, definition: Definition) -> None:
        scope.maps[0].setdefault(definition.name, definition)
        self.index.definitions.append(definition)

    def _visit(self, node: surface.Expression, scope: VisibleNames) -> None:
        match node:
            case surface.Name(text, span) | surface.Uri(text, span):
                self._mention(text, span, scope, called=False, short=span in self._bound)
            case surface.Literal() | surface.Inline():
                pass
            case surface.Call(callee, arguments):
                self.index.calls.append(node)
                self._mention(callee.text, callee.span, scope, called=True)
                shares = isinstance(callee, surface.Name) and callee.text in _PLACES
                tools = [each.value for each in arguments if callee.text == "Plan" and isinstance(each.value, surface.Call)]
                self._bound |= {each.value.span for tool in tools for each in tool.arguments if each.label is None}
                for argument in arguments:
                    inner = argument.value
                    if isinstance(inner, surface.Object):
                        self._fields(inner.fields, scope if shares else self._inside(inner.span, scope))
                    else:
                        self._visit(inner, scope)
            case surface.Object(fields, span):
                self._fields(fields, self._inside(span, scope))
            case surface.Array() | surface.Annotated() | surface.Pipe():
                for child in surface.children(node):
                    self._visit(child, scope)
            case surface.Access(base, members):
                self.index.accesses.append(node)
                self._visit(base, scope)
                body = self.index.of_round(scope.get(base.text)) if isinstance(base, surface.Name) else None
                found = body.maps[0].get(members[0].text) if body is not None else None
                if found is not None and found.kind == "const":  # `previous.draft` is `draft`, one round before
                    span = members[0].span
                    self.index.mentions.append(Mention(found.name, span, called=False, definition=found))
            case _ if isinstance(node, surface.Block):
                self._block(node, scope)

    def _mention(self, text: str, span: Span, scope: VisibleNames, *, called: bool, short: bool = False) -> None:
        mention = Mention(text, span, called, scope.get(text), short)
        self.index.mentions.append(mention)
        self.index.by_start[span.start] = mention

    def _inside(self, span: Span, outer: VisibleNames) -> VisibleNames:
        scope = outer.new_child()
        self.index.scopes.append((span, scope))
        return scope

    def _fields(self, fields: tuple[surface.Field, ...], scope: VisibleNames) -> None:
        for each in fields:
            if each.value is None:
                self._mention(each.key, each.key_span, scope, called=False, short=True)
            elif isinstance(each.value, surface.Call):
                whole = each.key_span.to(each.value.span)
                self._define(scope, Definition(each.key, "key", each.key_span, whole, each.value))
        for each in fields:
            if each.value is not None:
                self._visit(each.value, scope)

    def _block(self, node: surface.Block, scope: VisibleNames) -> None:
        first = surface.parts(node)[0].body.span
        whole = first if isinstance(node, surface.Try) else node.span
        for part in surface.parts(node):
            inner = scope.new_child()
            for name, span in part.names:
                if span is not None:
                    self._define(inner, Definition(name, "element", span, node.span, part.before[0], of_list=True))
                else:
                    self._define(inner, Definition(name, "round", first, whole))
                if name == "previous":
                    self.index.rounds[first.start] = inner
            for each in part.before:
                self._visit(each, scope)
            self.index.scopes.append((part.body.span, inner))
            self.statements(part.body.statements, inner)
            self._visit(part.body.value, inner)
            for given in node.first.fields if isinstance(node, surface.Repeat) and node.first is not None else ():
                if given.value is not None:  # its key is a name of the body
                    self._mention(given.key, given.key_span, inner, called=False)
            if part.after:
                self.index.scopes.append((Span(node.span.source, part.body.span.end, node.span.end), inner))
            for each in part.after:
                self._visit(each, inner)


def carried_out_by(instruction: Instruction) -> str:
    """Return the executor of an instruction, as text."""
    return "none: it is fused into what it holds" if instruction.kind == "mixin" else EXECUTORS[instruction.kind]


def declared_inputs(program: ProgramFile) -> list[str]:
    """Return the names of the inputs that a program declares."""
    read = parse(Source(program.path, program.data.decode("utf-8", "replace")), Report())
    return [statement.name.text for statement in read.statements if isinstance(statement, surface.Input)]


def members(schema: Json) -> dict[str, Json]:
    """Return the properties of a schema, those of a step with `output` being those of its output."""
    properties = mapping(mapping(schema).get("properties"))
    return (members(properties["output"]) if "output" in properties else {}) or properties


def down(schema: Json, way: Sequence[str]) -> Json:
    """Return the schema of the member to which a way of names leads; `{}` if it is not known."""
    for name in way:
        schema = member_of(schema, name)
    return schema


def member_of(schema: Json, name: str) -> Json:
    """Return the schema of a member; `{}` if it is not known."""
    return members(schema).get(name, mapping(mapping(schema).get("properties")).get(name, {}))
