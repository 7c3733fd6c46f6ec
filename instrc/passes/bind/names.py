"""The names that a program defines, and what a name can stand for."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from instrc import problems
from instrc.ir.fusion import Instruction
from instrc.ir.surface import Binding, Input
from instrc.ir.surface import Program as Parsed
from instrc.passes.bind.scopes import LocalName, ProgramNames
from instrc.passes.bind.survey import GIVEN, survey
from instrc.passes.bind.timing import timing_words
from instrc.passes.instructions import InstructionTable
from instrc.problems.report import Report
from instrc.source import Span
from instrc.vibes.programs import ProgramFile

CONTEXTS = {"LLM_Context": "model", "Server_Context": "server", "User_Context": "user"}
SPECIAL = frozenset({"Process", "LaunchProcess", "Fail", "Plan", "OneOf", "RunPlan_Activity", *CONTEXTS})
RESERVED = frozenset({"StartProcess", "prompt", *SPECIAL})


class InputName(Struct, frozen=True):
    """A name that stands for the request or a declared input."""

    name: str


class Special(Struct, frozen=True):
    """One of the names with a meaning of their own: `Process` and its contexts, `LaunchProcess`, `Fail`."""

    name: str


class CalledProgram(Struct, frozen=True):
    """A program of the registry, which is called like an instruction."""

    file: ProgramFile
    export: str | None
    """The name of the export, where one is chosen."""
    instructions: InstructionTable
    """What its own roots hold."""

    @property
    def reference(self) -> str:
        """The reference to it."""
        return self.file.uri if self.export is None else f"{self.file.uri}#{self.export}"


Called: TypeAlias = Instruction | Special | CalledProgram
Meaning: TypeAlias = LocalName | InputName | Called


def define(program: Parsed, report: Report, instructions: InstructionTable, calls: tuple[ProgramFile, ...] = ()) -> ProgramNames:
    """Return the names of a program; what is defined twice or reserved is reported and left out."""
    locals_: dict[str, Binding] = {}
    inputs: dict[str, Span | None] = {"prompt": None}
    declared: list[Input] = []
    refused: set[str] = set()
    for statement in program.statements:
        if not isinstance(statement, Binding | Input):
            continue
        name = statement.name
        if name.text in RESERVED:
            report.add(problems.names.ReservedName(at=name.span, word=name.text))
            refused.add(name.text)
            continue
        first = inputs.get(name.text) or (locals_[name.text].name.span if name.text in locals_ else None)
        if first is not None:
            report.add(problems.names.RepeatedName(at=name.span, word=name.text, first=first))
        elif isinstance(statement, Input):
            for word in timing_words(statement.annotation):
                report.add(problems.blocks.MisplacedDeadline(at=statement.span, word=word, place="input"))
            inputs[name.text] = name.span
            declared.append(statement)
        else:
            locals_[name.text] = statement
    known = {**{name: each.name.span for name, each in locals_.items()}, **inputs}
    surveyed = survey(program, known, RESERVED, report)
    surveyed.refused |= refused
    taken = frozenset().union(known, SPECIAL, GIVEN, surveyed.elements, *surveyed.locals.values())
    return ProgramNames(program, locals_, inputs, tuple(declared), surveyed, taken, instructions, calls)
