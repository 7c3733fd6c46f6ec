"""What a bare name means: a local name, an input, or an instruction of the registry, in this order."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from instrc import problems
from instrc.ir.graph import Instruction
from instrc.ir.surface import Binding, Input, Name, Uri
from instrc.ir.surface import Program as Parsed
from instrc.jsonvalue import AnyJson as Json
from instrc.passes.bind.scopes import Definition, Scope, is_value
from instrc.passes.bind.suggestions import misspelt_value, suggestions
from instrc.passes.bind.survey import survey
from instrc.passes.instructions import InstructionTable
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Span
from instrc.vibes.registry import ProgramFile

CONTEXTS = {"LLM_Context": "model", "Server_Context": "server", "User_Context": "user"}
SPECIAL = frozenset({"Process", "LaunchProcess", "Fail", "Plan", "OneOf", "RunPlan_Activity", *CONTEXTS})
RESERVED = frozenset({"StartProcess", "prompt", *SPECIAL})


class InputName(NamedTuple):
    """A name that stands for the request or a declared input."""

    name: str


class Special(NamedTuple):
    """One of the names with a meaning of their own: `Process` and its contexts, `LaunchProcess`, `Fail`."""

    name: str


class Program(NamedTuple):
    """A program of the registry, which is called like an instruction."""

    file: ProgramFile
    export: str | None
    """The name of the export, where one is chosen."""

    @property
    def reference(self) -> str:
        """The reference to it."""
        return self.file.uri if self.export is None else f"{self.file.uri}#{self.export}"


Called: TypeAlias = Instruction | Special | Program
Meaning: TypeAlias = Definition | InputName | Called


class Names:
    """The names of one program."""

    def __init__(self, program: Parsed, instructions: InstructionTable, report: Report) -> None:
        self.parsed = program
        self.instructions = instructions
        self.report = report
        self.calls: tuple[str, ...] = ()
        """The programs whose calls have led here."""
        self.locals: dict[str, Binding] = {}
        self.inputs: dict[str, Span | None] = {"prompt": None}
        self._inputs: list[Input] = []
        self.read: set[str] = set()
        """Local names and inputs of the program itself that were evaluated."""
        for statement in program.statements:
            if isinstance(statement, Binding | Input):
                self._define(statement)
        self.root = Scope(0, self.locals, self.inputs, self)
        known = {**{name: each.name.span for name, each in self.locals.items()}, **self.inputs}
        self.survey = survey(program, known, RESERVED, report)

    def _define(self, statement: Binding | Input) -> None:
        name = statement.name
        if name.text in RESERVED:
            self.report.add(problems.names.ReservedName(at=name.span, word=name.text))
            return
        first = self.inputs.get(name.text) or (self.locals[name.text].name.span if name.text in self.locals else None)
        if first is not None:
            self.report.add(problems.names.RepeatedName(at=name.span, word=name.text, first=first))
        elif isinstance(statement, Input):
            self.inputs[name.text] = name.span
            self._inputs.append(statement)
        else:
            self.locals[name.text] = statement

    def schemas(self) -> dict[str, Json]:
        """Return the schema of each input, in order; one without a schema takes anything."""
        found: dict[str, Json] = {"prompt": {}}
        for statement in self._inputs:
            said = statement.annotation
            found[statement.name.text] = {"description": said} if isinstance(said, str) else said or {}
        return found

    def meaning(self, name: Name, scope: Scope) -> Meaning | None:
        """Return what a name stands for; `None`, once it is reported, if for nothing or for too much."""
        if found := scope.find(name.text):
            return found
        if name.text in scope.inputs:
            self.read.add(name.text)
            return InputName(name.text)
        if name.text in SPECIAL:
            return Special(name.text)
        return self.instruction(name, scope)

    def knows(self, name: str, scope: Scope) -> bool:
        """Tell whether a name stands for something outside of braces."""
        known = is_value(name, scope) or name in RESERVED or bool(self.instructions.named(name))
        return known or bool(self.instructions.programs_named(name))

    def instruction(self, name: Name, scope: Scope) -> Instruction | Program | None:
        """Return the instruction of the registry that a name finds, else the program."""
        found = self.instructions.named(name.text) or self.instructions.programs_named(name.text)
        if len(found) == 1:
            return self.vibe(Uri(found[0], name.span))
        if found:
            self.report.add(problems.names.AmbiguousName(at=name.span, word=name.text, uris=found))
        elif self.instructions.sketch and not misspelt_value(name, scope.visible(), scope.inputs):
            return self.instructions.sketched(name.text)
        else:
            offered = suggestions(name, scope.visible(), scope.inputs, self.instructions.names(), RESERVED)
            self.report.add(
                problems.names.UnknownName(at=name.span, word=name.text, nearest=offered, searched=self.instructions.searched())
            )
        return None

    def vibe(self, uri: Uri) -> Instruction | Program | None:
        """Return the instruction that an `aug:` reference leads to, else the program."""
        try:
            file = self.instructions.program(uri.text, uri.span)
            if file is not None:
                return Program(file, uri.text.partition("#")[2] or None)
            return self.instructions.instruction(uri.text, uri.span)
        except CompileError as error:
            for problem in error.problems:
                self.report.add(problem)
            return None
