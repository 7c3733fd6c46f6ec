"""Behind a mistake the fast pass reads on, and finds what the slow one finds."""

from __future__ import annotations

import pytest
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc import Report, Source
from instrc.language import recovery  # counted, replaced or built anew here
from instrc.language.lexer import Token
from instrc.language.parser import parse
from instrc.language.recovery import Stack  # counts how much the slow way reads

LINES = [
    "const a = Draft(prompt);",
    "tool b = { x: Draft, y: Draft };",
    "input people",
    "// a note",
    'let c = "goal" | Draft({ text: Draft("x") })',
    'when a.b is "c" { Draft } else { Draft }',
]
SLIPS = ["(", ")", "{", "}", '"', "`", ";", "const ", "=", "->", "/*", "/", "é", "💥", "x-y", "\n", "  "]


def read(text: str) -> tuple[list[str], list[str], list[tuple[str, str, int]]]:
    """Return what is read of a text: statements, comments, mistakes with their places."""
    report = Report()
    program = parse(Source("a.aug", text), report)
    told = [(problem.name, str(problem), problem.at.start if problem.at else -1) for problem in report.problems]
    return [repr(each) for each in program.statements], [repr(each) for each in program.comments], told


@examples(150)
@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 400), st.sampled_from(SLIPS)), max_size=4),
)
def test_both_ways_read_the_same_statements_and_name_no_mistake_less(lines: list[str], slips: list[tuple[int, str]]) -> None:
    text = "\n".join(lines)
    for place, slip in slips:
        text = text[:place] + slip + text[place:]
    statements, comments, told = read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recovery.RecoveringAutomaton, "_hand_over", lambda _machine, _token: False)
        slow_statements, slow_comments, slow_told = read(text)
    assert statements == slow_statements
    assert comments == slow_comments
    assert set(told) >= set(slow_told)


def test_two_mistakes_far_from_each_other_are_named_and_all_between_is_read() -> None:
    good = "".join(f"// note {number}\nconst s{number} = Draft(prompt);\n" for number in range(50))
    statements, comments, told = read(f"const x(= Draft;\n{good}const y = = Draft;\n{good}")
    assert (len(comments), len(told)) == (100, 2)
    assert len(statements) >= 100


def test_the_slow_parser_reads_little_of_a_long_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an editor asks for while a line is typed costs what the line costs, and one quick pass."""
    fed = 0
    feed = Stack.feed

    def counted(stack: Stack, token: Token) -> bool:
        nonlocal fed
        fed += 1
        return feed(stack, token)

    monkeypatch.setattr(Stack, "feed", counted)
    lines = [f"const s{number} = Draft(prompt);" for number in range(2000)]
    lines[1000] = "const s1000( = Draft(prompt);"
    statements, _, told = read("\n".join(lines))
    assert len(told) == 1
    assert len(statements) >= 1999
    assert fed < 200
