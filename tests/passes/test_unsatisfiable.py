"""What a program puts together must be fillable: a schema that refuses everything is one problem, at its place."""

from __future__ import annotations

import pytest

import instrc

VIBES = {
    "Draft": {"type": "object", "properties": {"text": {"type": "string"}}},
    "Page": {"type": "object", "properties": {"body": {"type": "object"}}},
}


@pytest.mark.parametrize(
    ("program", "where", "keys"),
    [
        ('Page({ body: { text: Draft } @ { additionalProperties: false, required: ["tone"] } })', "{ text:", "`text`"),
        ("Process(LLM_Context({ a: Draft, b: Draft }) @ { properties: { a: false } })", "Draft, b:", "`a`, `b`"),
    ],
)
def test_steps_beside_what_refuses_them_are_one_problem(program: str, where: str, keys: str) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.artefacts(program, vibes=VIBES)
    [problem] = caught.value.problems
    assert problem.name == "unsatisfiable"
    assert keys in problem.message
    assert problem.at is not None
    assert program[problem.at.start :].startswith(where)
