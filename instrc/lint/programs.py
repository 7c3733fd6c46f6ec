"""What is suspicious in a program: before its names are looked up, and after, in the vibes that it uses."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.ir.options import CompileOptions
from instrc.ir.surface import Program
from instrc.lint.annotations import review_annotations
from instrc.lint.placeholders import placeholders
from instrc.lint.slips import slips
from instrc.lint.used_vibes import review_used
from instrc.passes.instructions import InstructionTable
from instrc.problems.problem import Problem
from instrc.problems.report import Report


def review_program(program: Program, options: CompileOptions) -> Iterator[Problem]:
    """Yield what is wrong with the schemas and the texts in a program, and what was hardly meant as it is written."""
    yield from review_annotations(program, options.keywords)
    yield from slips(program)
    if not options.templates:
        yield from placeholders(program)


def review_vibes(instructions: InstructionTable, report: Report) -> None:
    """Report what is wrong with the vibes that a program uses, and with those of the programs that it calls."""
    for table in instructions.tables:
        review_used(table.uris(), table.registry, report)
