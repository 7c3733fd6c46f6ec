"""What a bare name means: a local name, an input, or an instruction of the registry, in this order."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from instrc import problems
from instrc.ir.graph import Instruction
from instrc.ir.surface import Annotated, Binding, Expression, Input, Literal, Name, Program, Uri
from instrc.passes.library import Library
from instrc.passes.suggestions import misspelt_value, suggestions
from instrc.problems.problem import CompileError, Label
from instrc.problems.report import Report
from instrc.source import Span

CONTEXTS = {"LLM_Context": "model", "Server_Context": "server", "User_Context": "user"}
RESERVED = frozenset({"Process", "StartProcess", "LaunchProcess", "prompt", *CONTEXTS})


class InputName(NamedTuple):
    """A name that stands for the request or a declared input."""

    name: str


class Special(NamedTuple):
    """One of the names that place what they are given: `Process` and its contexts, `LaunchProcess`."""

    name: str


Meaning: TypeAlias = Binding | InputName | Special | Instruction


class Names:
    """The names of one program."""

    def __init__(self, program: Program, library: Library, report: Report) -> None:
        self.library = library
        self.report = report
        self.locals: dict[str, Binding] = {}
        self.inputs: dict[str, Span | None] = {"prompt": None}
        self.read: set[str] = set()
        """Local names and inputs that were evaluated."""
        self._ends: dict[str, Expression] = {}
        for statement in program.statements:
            if isinstance(statement, Binding | Input):
                self._define(statement)

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
        else:
            self.locals[name.text] = statement

    def meaning(self, name: Name) -> Meaning | None:
        """Return what a name stands for; `None`, once it is reported, if for nothing or for too much."""
        if binding := self.locals.get(name.text):
            return binding
        if name.text in self.inputs:
            self.read.add(name.text)
            return InputName(name.text)
        if name.text in CONTEXTS or name.text in {"Process", "LaunchProcess"}:
            return Special(name.text)
        return self.instruction(name)

    def knows(self, name: str) -> bool:
        """Tell whether a name stands for something outside of braces."""
        return name in self.locals or name in self.inputs or name in RESERVED or bool(self.library.named(name))

    def instruction(self, name: Name) -> Instruction | None:
        """Return the instruction of the registry that a name finds."""
        found = self.library.named(name.text)
        if len(found) == 1:
            return self.vibe(Uri(found[0], name.span))
        if found:
            self.report.add(problems.names.AmbiguousName(at=name.span, word=name.text, uris=found))
        elif self.library.sketch and not misspelt_value(name, self.locals, self.inputs):
            return self.library.sketched(name.text)
        else:
            offered = suggestions(name, self.locals, self.inputs, self.library.names())
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

    def alias(self, expression: Expression) -> Instruction | Special | None:
        """Return the instruction that an expression names, if it does nothing but name one, through any number of locals."""
        end = self._end(expression)
        if isinstance(end, Name) and end.text not in self.inputs and end.text not in self.locals:
            meaning = self.meaning(end)
            return meaning if isinstance(meaning, Instruction | Special) else None
        return self.vibe(end) if isinstance(end, Uri) else None

    def is_circular(self, name: str) -> bool:
        """Tell whether a local name is only another name of itself."""
        end = self._end(self.locals[name].value)
        return isinstance(end, Name) and end.text in self.locals

    def is_alias(self, binding: Binding) -> bool:
        """Tell whether a local name is another name of an instruction, without looking that up."""
        end = self._end(binding.value)
        return isinstance(end, Uri) or (isinstance(end, Name) and end.text not in self.inputs and end.text not in self.locals)

    def _end(self, expression: Expression) -> Expression:
        """Return what an expression leads to through names of nothing but names; one of its names if it goes round."""
        way: list[str] = []
        while isinstance(expression, Name) and expression.text in self.locals and expression.text not in self.inputs:
            known = self._ends.get(expression.text)
            if known is not None:
                expression = known
                break
            way.append(expression.text)
            self._ends[expression.text] = expression  # until we know better: who comes here again has gone round
            expression = self.locals[expression.text].value
        self._ends.update(dict.fromkeys(way, expression))
        return expression

    def goal(self, expression: Expression) -> str | None:
        """Return the goal that an expression states as the first stage of a pipe: a string, or a local name of one."""
        seen: set[str] = set()
        while True:
            match expression:
                case Annotated(value):
                    expression = value
                case Literal(value):
                    return value if isinstance(value, str) else None
                case Name(text) if text in self.locals and text not in seen:
                    seen.add(text)
                    expression = self.locals[text].value
                case _:
                    return None

    def defined_here(self, name: str, words: str = "defined here") -> tuple[Label, ...]:
        """Return the place where a local name is defined, as a label."""
        return (Label(self.locals[name].name.span, words),) if name in self.locals else ()
