"""A new target is a value and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from every_case import every_case
from judges import breaches
from msgspec.structs import fields, replace
from table_of_targets import rows

from instrc import Dialect, encode, lift, lower, lower_all, targets, verify
from instrc.providers.dialect import Fact, Limits, NameRule, Spelling  # a dialect is made here

TOY = Dialect(
    name="toy",
    title="A target made up here",
    envelope={"call": "@name", "says": "@description", "takes": "@schema", "v": 7},
    where=("takes",),
    tool_name=NameRule("a-z", "a-z", 8),
    key=NameRule("a-z", "a-z0-9", 6),
    keywords=frozenset({"type", "enum", "anyOf", "properties", "required", "items", "additionalProperties"}),
    every_required=True,
    maps="pairs",
    tuples="object",
    anything="text",
    recursion="unroll",
    enums=frozenset({"string"}),
    limits=Limits(depth=9),
    facts=(Fact("it takes no descriptions of properties", "this test", "2026-11-21"),),
)

SCHEMA = {
    "type": "object",
    "properties": {
        "$metric": {"type": "integer", "minimum": 3},
        "Кто": {"type": "string"},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False, "minItems": 2},
        "ages": {"type": "object", "additionalProperties": {"type": "integer"}},
        "which": {"enum": ["a", 1, None]},
        "more": {"type": "array", "items": {"$ref": "#/$defs/more"}},
        "free": {},
    },
    "required": ["$metric", "Кто"],
    "additionalProperties": False,
    "$defs": {"more": {"type": "object", "properties": {"next": {"$ref": "#/$defs/more"}, "n": {"type": "integer"}}}},
}


def test_a_schema_fits_a_target_made_up_on_the_spot() -> None:
    result = lower(SCHEMA, TOY, "Draft_It", description="Drafts.")
    assert result.payload.keys() == {"call", "says", "takes", "v"}
    assert TOY.tool_name.allows(result.payload["call"])
    assert not [breach for breach in breaches(result.payload, TOY) if breach.message != '"description" is not known']


def test_its_answers_come_back() -> None:
    result = lower(SCHEMA, TOY)
    for value in (
        {"$metric": 3, "Кто": "я"},
        {"$metric": 4, "Кто": "", "pair": ["x", True], "ages": {"Кто": 1, "$metric": 2}, "which": None, "free": {"a": [1, "2"]}},
        {"$metric": 4, "Кто": "", "which": 1, "more": [{"next": {"next": {"next": {"next": {"n": 1}}}}}], "free": "text"},
    ):
        answer = encode(value, result.map)
        lifted = lift(answer, result.map)
        assert lifted.value == value
        assert not lifted.invalid


def test_what_it_cannot_say_is_reported() -> None:
    lost = {(loss.pointer, loss.keyword) for loss in lower(SCHEMA, TOY).losses}
    assert ("/properties/$metric", "minimum") in lost


STRANGE = Dialect(
    name="strange",
    title="A provider unlike all others",
    envelope={
        "kind": "ability",
        "spec": {"id": "@name", "hint": "@description", "in": {"of": "@schema"}},
        "samples": "@examples",
    },
    plain={"kind": "wish", "spec": {"id": "@name", "hint": "@description", "in": {"of": "@schema"}}, "samples": "@examples"},
    example={"said": "@request", "gives": "@value"},
    where=("spec", "in", "of"),
    result={"of": "@id", "gave": "@text"},
    tool_name=NameRule("A-Z", "A-Z0-9", 12, frozenset({"STOP"})),
    key=NameRule(r"^\W\d_", r"^aeiou\s\"", 9),
    keywords=frozenset({"type", "enum", "properties", "required", "items", "additionalProperties", "maxItems", "minimum"}),
    order="required-first",
    closed=True,
    maps="pairs",
    tuples="object",
    anything="text",
    recursion="unroll",
    unions="choice",
    null=False,
    type_lists=False,
    enums=frozenset({"string"}),
    empty_words=False,
    described=False,
    most_bound=100,
    most_count=3,
    fold=True,
    spelling=Spelling(capitals=True),
    limits=Limits(strict_tools=2, properties=40, depth=6, description=12, enum_values=4),
    facts=(Fact("nothing about it is as elsewhere", "this test", "2026-11-22"),),
)
VALUES: list[dict[str, Any]] = [
    {"$metric": 3, "Кто": "я"},
    {"$metric": 4, "Кто": "", "pair": ["x", True], "ages": {"Кто": 1, "$metric": 2}, "free": {"a": [1, "2"]}},
    {"$metric": 4, "Кто": "", "which": 1, "more": [{"next": {"next": {"n": 1}}}], "free": "text"},
]


def test_a_provider_unlike_all_others_is_lowered_to_and_lifted_from() -> None:
    result = lower(SCHEMA, STRANGE, "Stop it!", description="Does something, and says so at length.", examples=VALUES[:1])
    assert result.payload.keys() == {"kind", "spec", "samples"}
    assert result.payload["spec"]["in"]["of"]["type"] == "OBJECT"
    assert len(result.payload["spec"]["hint"]) <= 12
    assert [sample["gives"].keys() for sample in result.payload["samples"]]
    assert STRANGE.tool_name.allows(result.payload["spec"]["id"])
    assert not [breach for breach in breaches(result.payload, STRANGE) if breach.message != '"description" is not known']
    for value in VALUES:
        lifted = lift(encode(value, result.map), result.map)
        assert lifted.value == value
        assert not lifted.invalid


def test_it_is_listed_as_what_it_is() -> None:
    [row] = rows([STRANGE])
    assert "unions → one object with a choice" in row.rewritten
    assert "keys outside the alphabet" in row.rewritten
    assert "pattern" in row.reported


def test_a_set_of_tools_keeps_its_budgets() -> None:
    tools = lower_all([(f"tool {number}", SCHEMA) for number in range(3)], STRANGE)
    assert [payload["kind"] for payload in tools.payload] == ["ability", "ability", "wish"]
    assert {problem.name for problem in tools.problems} >= {"budget-exceeded"}
    assert len({payload["spec"]["id"] for payload in tools.payload}) == 3


@every_case("dialect", targets().values(), ids=list(targets()))
def test_each_fact_has_a_source_and_a_date(dialect: Dialect) -> None:
    assert dialect.facts
    for fact in dialect.facts:
        assert fact.what
        assert fact.source
        assert re.fullmatch(r"20\d\d(-\d\d){1,2}", fact.date)


PACKAGE = Path(__file__).parents[3] / "instrc"
WALKERS = [
    file for part in ("schema", "flattening", "codecs", "lowering", "lifting") for file in sorted((PACKAGE / part).rglob("*.py"))
]


@every_case("file", WALKERS, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_nothing_is_decided_by_the_name_of_a_target(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    asked = [node for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.match_case)]
    constants = (each for node in asked for each in ast.walk(node.pattern if isinstance(node, ast.match_case) else node))
    assert [each.value for each in constants if isinstance(each, ast.Constant) and each.value in targets()] == []


@every_case("file", WALKERS, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_only_one_file_decides_by_how_a_target_spells_schemas(file: Path) -> None:
    """The rules hold the types of inputs against those that the target lists, which decides nothing."""
    names = {field.name for field in fields(Spelling)} - ({"inputs"} if file.name == "rules.py" else set())
    tree = ast.parse(file.read_text(encoding="utf-8"))
    asks = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in names]
    assert file.name == "spelling.py" or [ask for ask in asks if "spelling." in ask] == []


INPUTS = replace(
    STRANGE,
    name="of inputs",
    spelling=Spelling(inputs=frozenset({"string", "object", "array", "voice", "any"})),
    unions="anyOf",
    limits=Limits(),
    anything="keep",
)


def test_a_provider_of_inputs_names_their_types_itself() -> None:
    def payload(type_: str) -> Any:
        inputs = {"a": {"type": type_, "description": "What is said."}}
        return {"kind": "ability", "spec": {"id": "SAY", "hint": "Says.", "in": {"of": inputs}}, "samples": []}

    assert breaches(payload("voice"), INPUTS) == []
    assert [breach.message for breach in breaches(payload("image"), INPUTS)] == ['"image" is not a type of an input']
    assert verify(payload("voice"), INPUTS).breaches == ()
