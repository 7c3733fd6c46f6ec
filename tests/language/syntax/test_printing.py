from __future__ import annotations

from hypothesis import given
from printing import print_program
from programs import bare, programs

from instrc import Report, Source
from instrc.language.parser import parse
from instrc.language.surface import Program


def parsed(text: str) -> Program:
    report = Report()
    program = parse(Source("printed.aug", text), report)
    assert [problem.name for problem in report.problems] == []
    return program


@given(programs())
def test_what_is_printed_reads_back_as_the_same_program(program: Program) -> None:
    assert bare(parsed(print_program(program))) == bare(program)


@given(programs())
def test_printing_is_canonical(program: Program) -> None:
    printed = print_program(program)
    assert print_program(parsed(printed)) == printed


def test_layout_comments_and_idle_brackets_do_not_reach_the_canonical_text() -> None:
    text = """
    // how a letter is written
    tool  Letter=( "Write a letter"|Draft( tone :'warm',) )@ "politely" ;
    input language @ { "enum": ["en", "ru"], }
    let a = (((B)))
    """
    assert print_program(parsed(text)) == (
        'tool Letter = ("Write a letter" | Draft(tone: "warm")) @ "politely";\n'
        'input language @ { enum: ["en", "ru"] };\n'
        "const a = B;\n"
    )


def test_brackets_that_matter_stay() -> None:
    text = 'A | (B | C) | f((D | E) @ "x");\n'
    assert print_program(parsed(text)) == 'A | (B | C) | f((D | E) @ "x");\n'


def test_a_program_as_deep_as_may_be_prints() -> None:
    text = "f(" * 128 + "{ a: [" * 64 + "x" + "] }" * 64 + ")" * 128 + ";\n"
    assert print_program(parsed(text)) == text
