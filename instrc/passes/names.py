"""What a bare name means: a local name, an input, or an instruction of the registry, in this order."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from instrc import problems
from instrc.ir.graph import Instruction
from instrc.ir.surface import Binding, Expression, Input, Name, Program, Uri
from instrc.jsonvalue import Json
from instrc.passes.library import Library
from instrc.passes.scopes import Definition, Ends, Scope, is_value
from instrc.passes.suggestions import misspelt_value, suggestions
from instrc.passes.survey import survey
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Span

CONTEXTS = {"LLM_Context": "model", "Server_Context": "server", "User_Context": "user"}
SPECIAL = frozenset({"Process", "LaunchProcess", "Fail", "Plan", "OneOf", "RunPlan_Activity", *CONTEXTS})
RESERVED = frozenset({"StartProcess", "prompt", *SPECIAL})


class InputName(NamedTuple):
    """A name that stands for the request or a declared input."""

    name: str


class Special(NamedTuple):
    """One of the names with a meaning of their own: `Process` and its contexts, `LaunchProcess`, `Fail`."""

    name: str


Meaning: TypeAlias = Definition | InputName | Special | Instruction


class Names:
    """The names of one program."""

    def __init__(self, program: Program, library: Library, report: Report) -> None:
        self.library = library
        self.report = report
        self.locals: dict[str, Binding] = {}
        self.inputs: dict[str, Span | None] = {"prompt": None}
        self._inputs: list[Input] = []
        self.read: set[str] = set()
        """Local names and inputs of the program itself that were evaluated."""
        self.ends = Ends()
        for statement in program.statements:
            if isinstance(statement, Binding | Input):
                self._define(statement)
        self.root = Scope(0, self.locals, self.inputs)
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
        return is_value(name, scope) or name in RESERVED or bool(self.library.named(name))

    def instruction(self, name: Name, scope: Scope) -> Instruction | None:
        """Return the instruction of the registry that a name finds."""
        found = self.library.named(name.text)
        if len(found) == 1:
            return self.vibe(Uri(found[0], name.span))
        if found:
            self.report.add(problems.names.AmbiguousName(at=name.span, word=name.text, uris=found))
        elif self.library.sketch and not misspelt_value(name, scope.visible(), scope.inputs):
            return self.library.sketched(name.text)
        else:
            offered = suggestions(name, scope.visible(), scope.inputs, self.library.names(), RESERVED)
            self.report.add(
                problems.names.UnknownName(at=name.span, word=name.text, nearest=offered, searched=self.library.searched())
            )
        return None

    def vibe(self, uri: Uri) -> Instruction | None:
        """Return the instruction that an `aug:` reference leads to."""
        try:
            return self.library.instruction(uri.text, uri.span)
        except CompileError as error:
            for problem in error.problems:
                self.report.add(problem)
            return None

    def alias(self, expression: Expression, scope: Scope) -> Instruction | Special | None:
        """Return the instruction that an expression names, if it does nothing but name one, through any number of locals."""
        end, scope = self.ends.end(expression, scope)
        if isinstance(end, Name) and not is_value(end.text, scope):
            meaning = self.meaning(end, scope)
            return meaning if isinstance(meaning, Instruction | Special) else None
        return self.vibe(end) if isinstance(end, Uri) else None
