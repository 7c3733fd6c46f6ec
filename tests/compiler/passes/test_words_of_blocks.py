"""The words of a block, such as `error`, mean its own value, whatever steps, elements and inputs are called."""

from __future__ import annotations

from typing import Any

from every_case import every_case

import instrc

VIBES: dict[str, Any] = {
    "Pay_Activity": {"properties": {"to": {}, "output": {}}},
    "Tell_Activity": {"properties": {"why": {}, "said": {}, "output": {}}},
    "Explain": {"type": "object", "properties": {"message": {"type": "string"}}},
    "Error": {"type": "object", "properties": {"message": {"type": "string"}}},
}

KEYED = "{ error: Explain(error) }"


def told(program: str, given: Any, naming: Any = None) -> list[Any]:
    """Return what the activity `Tell` is given while `Pay` fails and a model answers `a model`."""
    said: list[Any] = []

    def pay(**_: Any) -> None:
        raise ValueError("no money")

    answers = {name: {"message": "a model"} for name in ("explain", "error", "error_2", "step2_error")}
    activities = {"Pay_Activity": pay, "Tell_Activity": lambda **given: said.append(given)}
    [document] = instrc.compile(program, vibes=VIBES, naming=naming, report=instrc.Report())
    run = instrc.run(document, given, model=instrc.Scripted(answers), activities=activities)
    assert run.status == "done", run.outcome
    return said


@every_case(
    ("value", "naming"),
    [
        ("{ error: Explain(error) }", None),
        ("{ error: Explain(error) }", "plain"),
        ("Error(error)", "camel"),
        ("Error(error)", None),
    ],
)
def test_a_step_is_not_taken_for_the_error(value: str, naming: Any) -> None:
    path = "o.error.message" if value == KEYED else "o.message"
    for body in ("{}", 'when error.step is not "x" {{ {} }}'):
        inner = f"const o = {value}; Tell_Activity(why: error.message, said: {path})"
        program = f"input x; try {{ Pay_Activity(to: x) }} else {{ {body.format(inner)} }}"
        assert told(program, {"x": 1}, naming) == [{"why": "ValueError: no money", "said": "a model"}]


def test_an_element_is_not_taken_for_the_error() -> None:
    program = """
        input errors;
        each error in errors {
          const code = error.code;
          try { Pay_Activity(to: code) } else { Tell_Activity(said: code, why: error.message) }
        }
    """
    assert told(program, {"errors": [{"code": "E1", "message": "m"}]}) == [{"said": "E1", "why": "ValueError: no money"}]


@every_case(
    ("condition", "value", "holds"),
    [
        ('{ anyOf: [{ type: "null" }, { minimum: 5 }] }', None, True),
        ("{ oneOf: [{ const: null }, { const: 3 }] }", None, True),
        ("{ anyOf: [{ enum: [1, null] }, { minimum: 5 }] }", None, True),
        ('{ "$ref": "#/$defs/none", "$defs": { none: { type: ["string", "null"] } } }', None, True),
        ("{ anyOf: [{ minimum: 5 }, { maxLength: 3 }] }", None, False),
        ('{ allOf: [{ not: { type: "null" } }] }', None, False),
    ],
)
def test_a_condition_holds_for_null_where_its_schema_names_it(condition: str, value: Any, *, holds: bool) -> None:
    said = told(f"input x; when x @ {condition} {{ Tell_Activity(said: 1) }}", {"x": value})
    assert bool(said) is holds
