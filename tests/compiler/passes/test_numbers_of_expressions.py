"""Expressions that are written alike are one, wherever they stand: whatever tells them apart counts."""

from __future__ import annotations

import pytest

from instrc import Report, Source
from instrc.compiler.bind.identities import Identities  # no program shows which two expressions have one number
from instrc.language.parser import parse
from instrc.language.surface import Anonymous


def numbers(*texts: str) -> list[int]:
    """Return the numbers of expressions as one program gives them."""
    identities, found = Identities(), []
    for text in texts:
        parsed = parse(Source("t.aug", text), Report())
        assert parsed is not None
        [statement] = parsed.statements
        assert isinstance(statement, Anonymous)
        found.append(identities.expression(statement.value))
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A(b)", "A(c)"),
        ("A(b)", "A(x: b)"),
        ("A(b.c)", "A(b.d)"),
        ('A("b")', 'A("c")'),
        ("{ a: A }", "{ b: A }"),
        ("{ a }", "{ a: a }"),
        ('A @ "one"', 'A @ "two"'),
        ("A | B", "B | A"),
        ("@{ type: 'object' }".replace("'", '"'), "@{ minProperties: 1 }"),
        ("when a.b { A }", "when a.c { A }"),
        ("when a.b { A }", "when a.b is null { A }"),
        ('when a.b is "x" { A }', 'when a.b is "y" { A }'),
        ("when a.b @ { minimum: 1 } { A }", "when a.b @ { minimum: 2 } { A }"),
        ("when a.b { A }", "when a.b { A } else { A }"),
        ("each x in 3 { A }", "each x in 4 { A }"),
        ("each x in a.b { A }", "each y in a.b { A }"),
        ("each x in a.b max 2 { A }", "each x in a.b max 3 { A }"),
        ("repeat { A } until a.b max 2", "repeat { A } until a.b max 3"),
        ("repeat { A } until a.b", "repeat { A } until a.c"),
        ("repeat { A } until a.b", "repeat { A } until a.b is true"),
        ("repeat { A } until a.b keep 2", "repeat { A } until a.b keep 3"),
        ("repeat x in a.b { A }", "repeat y in a.b { A }"),
        ("do { A }", "try { A } else { A }"),
        ("do { const a = A; a }", "do { const b = A; a }"),
    ],
)
def test_what_is_written_otherwise_has_a_number_of_its_own(one: str, other: str) -> None:
    first, second, again = numbers(one, other, "\n " + one)
    assert first != second
    assert first == again
