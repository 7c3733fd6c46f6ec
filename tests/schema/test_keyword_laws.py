"""The laws of single keywords, one row a case."""

# ruff: noqa: FBT001, FBT003  -- booleans are schemas and instances here

from __future__ import annotations

from importlib import import_module
from typing import Any

from every_case import every_case

from instrc.schema.flattening.flatten import flatten
from instrc.schema.kinds import EqualityKeys, has_type, is_number, types_of, unique  # the equality that laws share
from instrc.schema.laws.law import NO_LAW, UNSATISFIABLE, KeywordLaws  # the laws of one keyword by themselves
from instrc.schema.laws.numbers import empty_range, empty_ranges, redundant_bound  # the laws of one keyword by themselves
from instrc.schema.laws.table import LAWS  # the laws of every keyword by themselves
from instrc.schema.vocabulary import KEYWORDS, Keyword  # a keyword is made here
from instrc.text.jsonvalue import equal

ROWS: list[tuple[str, Any, Any, Any]] = [
    ("type", "string", "string", "string"),
    ("type", "integer", "number", "integer"),
    ("type", "number", "integer", "integer"),
    ("type", "string", "number", UNSATISFIABLE),
    ("type", ["array", "boolean"], ["integer", "number"], UNSATISFIABLE),
    ("type", ["array", "string"], "string", "string"),
    ("type", ["integer", "null"], ["number", "string"], "integer"),
    ("type", ["number", "null"], ["integer", "null"], ["integer", "null"]),
    ("type", ["number", "integer"], "integer", "integer"),
    ("type", ["number", "integer"], ["number", "integer"], ["number", "integer"]),
    ("type", ["number", "integer"], ["number"], ["number", "integer"]),
    ("type", ["string", "null"], ["null", "string"], ["string", "null"]),
    ("type", ["string", "null"], "null", "null"),
    ("type", "null", ["string", "null"], "null"),
    ("type", ["boolean"], "boolean", ["boolean"]),
    ("type", "text", "string", NO_LAW),
    ("type", "string", 3, NO_LAW),
    ("type", [3], "string", NO_LAW),
    ("type", "string", ["string", "text"], NO_LAW),
    ("enum", [1, 2], [2.0, 3], [2]),
    ("enum", [1, "a"], [True, "a"], ["a"]),
    ("enum", [{"a": 1, "b": 2}], [{"b": 2, "a": 1.0}], [{"a": 1, "b": 2}]),
    ("enum", [1], [2], UNSATISFIABLE),
    ("enum", [0], [False], UNSATISFIABLE),
    ("enum", 1, [2], NO_LAW),
    ("enum", [2], 1, NO_LAW),
    ("const", 1, 1.0, 1),
    ("const", 1, True, UNSATISFIABLE),
    ("const", None, None, None),
    ("const", [], {}, UNSATISFIABLE),
    ("minimum", 1, 2, 2),
    ("minimum", 2, 1, 2),
    ("minimum", 2, 2.0, 2),
    ("minimum", 2, "3", NO_LAW),
    ("minimum", None, 3, NO_LAW),
    ("minimum", True, 3, NO_LAW),
    ("exclusiveMinimum", 1, 2, 2),
    ("maximum", 1, 2, 1),
    ("maximum", 2, 1, 1),
    ("maximum", 1, 1.0, 1),
    ("maximum", 1, "a", NO_LAW),
    ("maximum", "a", 1, NO_LAW),
    ("exclusiveMaximum", 3, 2, 2),
    ("multipleOf", 2, 3, 6),
    ("multipleOf", 4, 6, 12),
    ("multipleOf", 6, 3, 6),
    ("multipleOf", 3, 6.0, 6.0),
    ("multipleOf", 6.0, 3, 6.0),
    ("multipleOf", 0.1, float("0.1"), 0.1),
    ("multipleOf", 0.75, 0.5, 1.5),
    ("multipleOf", 1.5, 0.5, 1.5),
    ("multipleOf", 0.5, 1.5, 1.5),
    ("multipleOf", 2, 2.0, 2),
    ("multipleOf", 0.1, 0.1, 0.1),
    ("multipleOf", 0.1, 0.3, NO_LAW),
    ("multipleOf", 0.1, 1, NO_LAW),
    ("multipleOf", 1, 0.1, NO_LAW),
    ("multipleOf", 1 / 1024, 1, 1),
    ("multipleOf", 1 / 2048, 1, NO_LAW),
    ("multipleOf", 2**53, 1, 2**53),
    ("multipleOf", 2**53, 3, NO_LAW),
    ("multipleOf", 2**52 + 1, 3, NO_LAW),
    ("multipleOf", 2**42 + 1 / 1024, 1, NO_LAW),  # written 4398046511104.001
    ("multipleOf", 10**400, 3, NO_LAW),
    ("multipleOf", 0, 1, NO_LAW),
    ("multipleOf", 1, 0, NO_LAW),
    ("multipleOf", -2, 3, NO_LAW),
    ("multipleOf", "2", 3, NO_LAW),
    ("multipleOf", 2, "3", NO_LAW),
    ("pattern", "a", "a", "a"),
    ("pattern", "a", "b", NO_LAW),
    ("format", "date", "date", "date"),
    ("format", "date", "email", NO_LAW),
    ("$ref", "#/$defs/a", "#/$defs/b", NO_LAW),
    ("minLength", 1, 2, 2),
    ("maxLength", 1, 2, 1),
    ("minItems", 1, 2, 2),
    ("maxItems", 1, 2, 1),
    ("minProperties", 1, 2, 2),
    ("maxProperties", 1, 2, 1),
    ("uniqueItems", True, False, True),
    ("uniqueItems", False, True, True),
    ("uniqueItems", False, False, False),
    ("uniqueItems", True, 1, NO_LAW),
    ("uniqueItems", 1, True, NO_LAW),
    ("required", ["b", "a"], ["a", "c"], ["b", "a", "c"]),
    ("required", ["a"], ["a"], ["a"]),
    ("required", ["a", 3], [None], ["a"]),
    ("required", "a", ["b"], NO_LAW),
    ("required", ["b"], "a", NO_LAW),
    ("dependentRequired", {"a": ["b"]}, {"a": ["c"], "d": ["e"]}, {"a": ["b", "c"], "d": ["e"]}),
    ("dependentRequired", {"a": "b"}, {"a": ["c"]}, NO_LAW),
    ("dependentRequired", {"a": ["b"]}, {"a": "c"}, NO_LAW),
    ("dependentRequired", [], {"a": ["c"]}, NO_LAW),
]


def intersect(keyword: str, left: Any, right: Any) -> Any:
    law = LAWS[keyword].intersect
    assert law is not None
    return law(left, right)


def intersect_all(keyword: str, values: list[Any]) -> Any:
    law = LAWS[keyword].intersect_all
    assert law is not None
    return law(values)


@every_case("row", KEYWORDS.values(), ids=lambda row: row.name)
def test_the_file_that_the_vocabulary_names_has_the_laws_of_a_keyword(row: Keyword) -> None:
    """Only references that depend on the way, what is unevaluated and what 2020-12 has no more have none."""
    if row.laws is None:
        assert row.role in {"annotation", "identifier"} or row.group in {"older", "unevaluated"} or row.name == "$dynamicRef"
        assert LAWS[row.name] == KeywordLaws()
    else:
        assert import_module(f"instrc.schema.laws.{row.laws}").LAWS[row.name] is LAWS[row.name]
        assert LAWS[row.name].satisfied is not None or row.name == "format"


def test_an_unknown_word_has_no_laws() -> None:
    assert LAWS["x-order"] == KeywordLaws()
    assert "x-order" not in LAWS


@every_case(("keyword", "left", "right", "both"), ROWS)
def test_two_occurrences_say_together(keyword: str, left: Any, right: Any, both: Any) -> None:
    said = intersect(keyword, left, right)
    if both is UNSATISFIABLE or both is NO_LAW:
        assert said is both
    else:
        assert repr(said) == repr(both)


@every_case(("keyword", "left", "right", "both"), ROWS)
def test_the_other_order_says_the_same(keyword: str, left: Any, right: Any, both: Any) -> None:
    said = intersect(keyword, right, left)
    if both is UNSATISFIABLE or both is NO_LAW:
        assert said is both
    elif keyword == "type":
        names = types_of(both)
        assert names is not None
        assert {name for name in types_of(said) or () if name != "integer"} == {name for name in names if name != "integer"}
    elif isinstance(both, list):
        assert sorted(map(repr, said)) == sorted(map(repr, both)) or said == both
    elif isinstance(both, dict):
        assert {key: sorted(names) for key, names in said.items()} == {key: sorted(names) for key, names in both.items()}
    else:
        assert said == both


def test_a_list_that_gains_nothing_stays_the_same_object() -> None:
    names, values, kinds = ["a", "b"], [1, 2], ["string", "null"]
    many = list(range(300))
    assert intersect("required", names, ["b"]) is names
    assert intersect("enum", many, many[::-1]) is many
    assert intersect("enum", values, [3, 2, 1]) is values
    assert intersect("type", kinds, ["null", "string"]) is kinds


def test_every_law_keeps_a_value_that_is_twice_the_same() -> None:
    values = {"type": "string", "enum": [1, "a"], "required": ["a"], "dependentRequired": {"a": ["b"]}, "uniqueItems": True}
    for keyword in (name for name in KEYWORDS if LAWS[name].intersect is not None):
        value = values.get(keyword, 3 if keyword.startswith(("m", "e")) else "x")
        assert intersect(keyword, value, value) == value


def test_what_many_places_ask_for_beside_a_name_is_united_at_once() -> None:
    asked = [{"a": ["b"]}, {"c": ["d", "d"]}, {"a": ["e", "b"]}, {"a": ["f"]}]
    assert intersect_all("dependentRequired", asked) == {"a": ["b", "e", "f"], "c": ["d", "d"]}
    assert asked[0] == {"a": ["b"]}
    assert intersect_all("dependentRequired", [*asked, {"a": "b"}]) is NO_LAW


def test_many_lists_of_names_are_united_at_once() -> None:
    assert intersect_all("required", [["b", "a"], ["a", 3, "c"], ["d"]]) == ["b", "a", "c", "d"]
    assert intersect_all("required", [["a"], "b"]) is NO_LAW


@every_case(
    ("value", "names"),
    [
        (None, {"null"}),
        (True, {"boolean"}),
        (1, {"integer", "number"}),
        (1.0, {"integer", "number"}),
        (1.5, {"number"}),
        ("", {"string"}),
        ([], {"array"}),
        ({}, {"object"}),
    ],
)
def test_a_value_has_its_types_and_no_others(value: Any, names: set[str]) -> None:
    every = ("null", "boolean", "integer", "number", "string", "array", "object")
    assert {name for name in every if has_type(value, (name,))} == names


def test_names_of_types() -> None:
    assert types_of("string") == ("string",)
    assert types_of(["null", "array"]) == ("null", "array")
    assert types_of([]) == ()
    assert types_of("text") is None
    assert types_of(["string", 1]) is None
    assert types_of(["string", "text"]) is None
    assert types_of(None) is None


def test_booleans_are_no_numbers() -> None:
    assert is_number(0)
    assert is_number(0.5)
    assert not is_number(False)
    assert not is_number("0")


@every_case(
    ("inclusive", "exclusive", "upper", "redundant"),
    [
        (5, 5, False, "inclusive"),
        (5, 6, False, "inclusive"),
        (5, 4, False, "exclusive"),
        (5, 5, True, "inclusive"),
        (5, 4, True, "inclusive"),
        (5, 6, True, "exclusive"),
        (5, True, True, None),
        ("5", 3, True, None),
    ],
)
def test_of_two_bounds_the_stricter_stays(inclusive: Any, exclusive: Any, upper: bool, redundant: str | None) -> None:
    assert redundant_bound(inclusive, exclusive, upper=upper) == redundant


@every_case(
    ("schema", "bounds"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 1}, ("minLength", "maxLength")),
        ({"type": "string", "minLength": 1, "maxLength": 1}, None),
        ({"type": "array", "minItems": 2, "maxItems": 1}, ("minItems", "maxItems")),
        ({"type": "object", "minProperties": 2, "maxProperties": 1}, ("minProperties", "maxProperties")),
        ({"type": ["integer", "number"], "minimum": 2, "maximum": 1}, ("minimum", "maximum")),
        ({"type": "integer", "minimum": 2, "maximum": 2}, None),
        ({"type": "integer", "minimum": 2, "exclusiveMaximum": 2}, ("minimum", "exclusiveMaximum")),
        ({"type": "integer", "exclusiveMinimum": 2, "maximum": 2}, ("exclusiveMinimum", "maximum")),
        ({"type": "integer", "exclusiveMinimum": 2, "maximum": 2.0}, ("exclusiveMinimum", "maximum")),
        ({"type": "number", "exclusiveMinimum": 2, "exclusiveMaximum": 2}, ("exclusiveMinimum", "exclusiveMaximum")),
        ({"type": "number", "exclusiveMinimum": 2, "exclusiveMaximum": 2.5}, None),
        ({"type": ["integer", "null"], "minimum": 2, "maximum": 1}, None),
        ({"type": "string", "minimum": 2, "maximum": 1}, None),
        ({"minimum": 2, "maximum": 1}, None),
        ({"type": "integer", "maximum": 1}, None),
        ({"type": [], "minimum": 2, "maximum": 1}, None),
        ({"type": "integer", "minimum": "2", "maximum": 1}, None),
        ({"type": "integer", "minimum": 2, "maximum": "1"}, None),
    ],
)
def test_a_range_is_empty_for_its_own_type_only(schema: Any, bounds: tuple[str, str] | None) -> None:
    assert empty_range(schema) == bounds


def test_empty_ranges_come_in_one_order_however_they_are_written() -> None:
    schema = {"exclusiveMaximum": 1, "exclusiveMinimum": 2, "maximum": 1, "minimum": 2, "maxLength": 1, "minLength": 2}
    assert [(lower, upper) for lower, upper, _ in empty_ranges(schema)] == [
        ("minLength", "maxLength"),
        ("minimum", "maximum"),
        ("minimum", "exclusiveMaximum"),
        ("exclusiveMinimum", "maximum"),
        ("exclusiveMinimum", "exclusiveMaximum"),
    ]


@every_case(("texts", "joined"), [(["a", "b", "a", ""], "a\nb"), (["a", 3], 3), (["a", 3, "b"], "b"), (["a\nb", "b"], "a\nb\nb")])
def test_descriptions_are_joined_equal_ones_once_and_empty_ones_not_at_all(texts: list[Any], joined: Any) -> None:
    assert flatten({"allOf": [{"description": text} for text in texts]}) == {"description": joined}


def test_values_are_told_apart_as_json_tells_them() -> None:
    assert unique([1, True, 1.0, "1", [1], [1.0], {"a": 1, "b": 2}, {"b": 2, "a": 1}]) == [1, True, "1", [1], {"a": 1, "b": 2}]
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    key_of = EqualityKeys()
    assert key_of(deep) == key_of([*deep])
    assert key_of(deep) != key_of([deep])


def test_keys_and_comparisons_of_shared_parts_are_found_at_once() -> None:
    def doubled() -> Any:
        value: Any = {"a": 1}
        for _ in range(60):
            value = {"left": value, "right": value}
        return value

    key_of = EqualityKeys()
    one, other = doubled(), doubled()
    assert key_of(one) == key_of(other)
    assert key_of(one) != key_of(one["left"])
    assert equal(one, other)
    assert not equal(one, one["left"])


def test_verdicts_have_names() -> None:
    assert repr(UNSATISFIABLE) == "UNSATISFIABLE"
    assert repr(NO_LAW) == "NO_LAW"
