"""What others wrote is read as 2020-12, and nothing is read otherwise without a note."""

from __future__ import annotations

from typing import Any

from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.drafts import DRAFT_4, OPENAPI_3_0  # one draft by itself
from instrc.schema.normalize import (  # the list of its readers and notes
    READ_LEVELS,
    READERS,
    NoteKind,
    Rules,
    drop_invalid_keywords,
    normalize,
)
from instrc.schema.vocabulary import KEYWORDS
from instrc.schema.wellformed import problems_of
from instrc.text.jsonvalue import Json, equal

READ: list[tuple[Json, Json, list[tuple[str, NoteKind]]]] = [
    ({"minLength": "3"}, {"minLength": 3}, [("`3` is read as the number 3", "repair")]),
    ({"minimum": " 1.5 "}, {"minimum": 1.5}, [("`1.5` is read as the number 1.5", "repair")]),
    ({"minItems": 2.0}, {"minItems": 2}, [("`2.0` is read as the number 2", "repair")]),
    ({"uniqueItems": "True"}, {"uniqueItems": True}, [("`True` is read as `true`", "repair")]),
    ({"additionalProperties": "false"}, {"additionalProperties": False}, [("`false` is read as `false`", "repair")]),
    ({"items": " true "}, {"items": True}, [("`true` is read as `true`", "repair")]),
    ({"description": ["a", "b"]}, {"description": "a\nb"}, [("`description` is read as a text of several lines", "repair")]),
    ({"title": 3}, {"title": "3"}, [("`3` is read as a text", "repair")]),
    ({"examples": 3}, {"examples": [3]}, [("`examples` is read as a list of one", "repair")]),
    ({"anyOf": {"type": "null"}}, {"anyOf": [{"type": "null"}]}, [("`anyOf` is read as a list of one", "repair")]),
    ({"required": "a"}, {"required": ["a"]}, [("`required` is read as a list of one", "repair")]),
    ({"required": ["a", "a"]}, {"required": ["a"]}, [("`required` is read as each name once", "repair")]),
    ({"required": ["a", 3]}, {"required": ["a"]}, [("`required` is left out: not all in it is a name", "left-out")]),
    ({"required": 3}, {}, [("`required` is left out: it is not a list of names", "left-out")]),
    ({"required": None}, {}, [("`null` is left out: it is null", "left-out")]),
    ({"required": True}, {}, [("`true` is read as whether the property around it is required", "dialect")]),
    ({"type": ["string", "string"]}, {"type": ["string"]}, [("`type` is read as each type once", "repair")]),
    ({"type": ["string", "bigint"]}, {"type": ["string", "integer"]}, [("`[…]` is read as `string` or `integer`", "repair")]),
    ({"type": "uuid"}, {"type": "string", "format": "uuid"}, [("`uuid` is read as a schema of its own", "word")]),
    (
        {"type": "int[]"},
        {"type": "array", "items": {"type": "integer"}},
        [("`int[]` is read as a schema of its own", "word")],
    ),
    ({"type": "list[int]"}, {}, [('`type` is left out: "list[int]" is not a type', "left-out")]),
    ({"type": "record"}, {"type": "object"}, [("`record` is read as `object`", "word")]),
    ({"type": "varchar"}, {"type": "string"}, [("`varchar` is read as `string`", "word")]),
    ({"type": "strng"}, {}, [('`type` is left out: "strng" is not a type', "left-out")]),
    ({"type": None}, {}, [("`type` is left out: it is null, which is not a type", "left-out")]),
    ({"title": None}, {}, [("`title` is left out: it is null", "left-out")]),
    ({"properties": None}, {"properties": {}}, [("`null` is read as no properties", "repair")]),
    ({"properties": ["a"]}, {"properties": {}}, [("`properties` is left out: it is not an object of schemas", "left-out")]),
    (
        {"properties": [{"name": "a", "type": "int"}]},
        {"properties": {"a": {"type": "integer"}}},
        [("`properties` is read as properties by their names", "dialect"), ("`int` is read as `integer`", "word")],
    ),
    (
        {"nullable": True, "type": "string"},
        {"type": ["string", "null"]},
        [("`nullable` is read as whether `null` is allowed", "dialect")],
    ),
    (
        {"exclusiveMinimum": True, "minimum": 3},
        {"exclusiveMinimum": 3},
        [
            ("`exclusiveMinimum` is read as the bound of `minimum`, left out itself", "dialect"),
            ("`minimum` is read as a bound that is left out itself", "dialect"),
        ],
    ),
    (
        {"exclusiveMinimum": True, "minimum": "low"},
        {},
        [
            ("`exclusiveMinimum` is read as nothing beyond `minimum`", "dialect"),
            ("`minimum` is left out: it is not a number", "left-out"),
        ],
    ),
    ({"items": []}, {}, [("`items` is left out: it is an empty list", "left-out")]),
    (
        {"items": [{}], "prefixItems": [True]},
        {"prefixItems": [True]},
        [("`items` is left out: `prefixItems` is beside it", "left-out")],
    ),
    (
        {"items": [{"type": "int"}], "additionalItems": False},
        {"prefixItems": [{"type": "integer"}], "items": False},
        [
            ("`items` is read as `prefixItems`", "dialect"),
            ("`additionalItems` is read as `items` after a list of them, and ignored elsewhere", "dialect"),
            ("`int` is read as `integer`", "word"),
        ],
    ),
    (
        {"dependencies": {"a": "b", "c": 3}},
        {"dependentRequired": {"a": ["b"]}},
        [
            ("`dependencies` is read as `dependentRequired`", "dialect"),
            ("`c` is left out: it is neither a list of names nor a schema", "left-out"),
        ],
    ),
    ({"dependencies": 3}, {}, [("`dependencies` is left out: it is not an object", "left-out")]),
    ({"dependencies": {}}, {}, [("`dependencies` is read as nothing", "dialect")]),
    ({"example": 3, "examples": [4]}, {"examples": [4]}, [("`example` is read as one of `examples`", "dialect")]),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {},
        [
            ("`http://json-schema.org/draft-07/schema#` is read as what it says of the schema; the result is 2020-12", "dialect"),
        ],
    ),
    (
        {"$defs": [], "enum": 3, "pattern": 3, "minLength": -1, "deprecated": 3, "multipleOf": 0, "maximum": "x"},
        {},
        [
            ("`$defs` is left out: it is not an object of schemas", "left-out"),
            ("`enum` is left out: it lists no values", "left-out"),
            ("`pattern` is left out: it is not a text", "left-out"),
            ("`minLength` is left out: it is not a count", "left-out"),
            ("`deprecated` is left out: it is neither true nor false", "left-out"),
            ("`multipleOf` is left out: it is not above zero", "left-out"),
            ("`maximum` is left out: it is not a number", "left-out"),
        ],
    ),
    (None, {}, [("`null` is read as a schema that allows everything", "repair")]),
    (3, {}, [("`3` is left out: it is not a schema", "left-out")]),
    ("True", True, [("`True` is read as `true`", "repair")]),
    ("str", {"type": "string"}, [("`str` is read as a type", "word")]),
    ("The city.", {"description": "The city."}, [("`The city.` is read as a description", "repair")]),
    (["string", "null"], {"type": ["string", "null"]}, [("`a list of types` is read as a schema of these types", "repair")]),
    ([1, 2], {"enum": [1, 2]}, [("`a list of values` is read as the values to choose from", "repair")]),
    (
        {"type": "array", "enum": ["a"]},
        {"type": "array", "items": {"enum": ["a"]}},
        [("`enum` is read as what the items of the array are chosen from", "repair")],
    ),
    (
        {"type": ["array", "null"], "enum": ["a", None]},
        {"type": ["array", "null"], "items": {"enum": ["a"]}},
        [("`enum` is read as what the items of the array are chosen from", "repair")],
    ),
    (
        {"type": "array", "nullable": True, "enum": ["a"]},
        {"type": ["array", "null"], "items": {"enum": ["a"]}},
        [
            ("`nullable` is read as whether `null` is allowed", "dialect"),
            ("`enum` is read as what the items of the array are chosen from", "repair"),
        ],
    ),
    ({"type": ["array", "string"], "enum": ["a"]}, {"type": ["array", "string"], "enum": ["a"]}, []),
    ({"type": "integer", "enum": ["1"]}, {"enum": ["1"]}, [("`type` is left out: no value of `enum` has it", "left-out")]),
]


@every_case(("written", "schema", "notes"), READ)
def test_what_is_read_otherwise_is_noted(written: Json, schema: Json, notes: list[tuple[str, NoteKind]]) -> None:
    found = normalize(written)
    assert found.schema == schema
    assert [(note.message, note.kind) for note in found.notes] == notes


def test_older_dialects_are_read_by_their_own_words() -> None:
    found = normalize({"exclusiveMinimum": True, "minimum": 3, "const": 4}, Rules(dialect=DRAFT_4))
    assert found.schema == {"exclusiveMinimum": 3}
    assert [note.message for note in found.notes] == ["`this schema` is read as one of draft-04"]
    assert normalize({"type": "string", "nullable": True}, Rules(dialect=OPENAPI_3_0)).schema == {"type": ["string", "null"]}


def test_notes_have_the_place_of_what_they_are_about() -> None:
    found = normalize({"properties": {"a": {"anyOf": [{"minLength": "3"}]}}}, path=("parameters",))
    assert [note.path for note in found.notes] == [("parameters", "properties", "a", "anyOf", 0, "minLength")]


def test_there_is_a_reader_for_each_keyword_that_can_be_wrong() -> None:
    unread = {"const", "default", "dependentRequired", "properties", "$ref"}
    names = {name for name, row in KEYWORDS.items() if name not in READERS and row.role != "identifier"}
    assert names - unread == {"$dynamicRef", "$recursiveRef"}


def test_depth_has_a_bound() -> None:
    deep: Json = {"minLength": "3"}
    for _ in range(READ_LEVELS + 2):
        deep = {"not": deep}
    read = normalize(deep)
    assert [note.message for note in read.notes] == ["`this part` is left out: it is over 500 levels deep"]
    deepest: Json = {}
    for _ in range(READ_LEVELS + 1):
        deepest = {"not": deepest}
    assert equal(read.schema, deepest)


WORDS = st.sampled_from(sorted(KEYWORDS)) | st.sampled_from(["nullable", "optional", "a", "x-unit", "name"])
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-2, 2), st.text(max_size=3),
    st.sampled_from(["string", "dict", "true", "3", "List[int]", "#/$defs/a", "(", "bigint"]),
)  # fmt: skip
ANY = st.recursive(LEAVES, lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=4), max_leaves=20)


@examples(500)
@given(ANY)
def test_nothing_is_changed_without_a_note(schema: Any) -> None:
    found = normalize(schema)
    assert found.notes or equal(found.schema, schema)
    sound = drop_invalid_keywords(found.schema)
    assert not problems_of(sound.schema)
    assert sound.notes or equal(sound.schema, found.schema)


@examples(300)
@given(ANY)
def test_what_is_normalised_stays_as_it_is(schema: Any) -> None:
    once = normalize(schema, Rules(shorthand=False)).schema
    again = normalize(once, Rules(shorthand=False))
    assert all(note.kind == "dialect" for note in again.notes) or equal(again.schema, once), again.notes


A_TEXT: Json = {"type": "string"}


@every_case(
    ("written", "schema"),
    [
        (
            {
                "city": A_TEXT,
                "days": {"type": "integer", "default": 1},
                "a": {**A_TEXT, "optional": True},
                "b": {"type": "string, optional"},
            },
            {
                "type": "object",
                "properties": {"city": A_TEXT, "days": {"type": "integer", "default": 1}, "a": A_TEXT, "b": {}},
                "required": ["city"],
            },
        ),
        (
            {"properties": {"a": {**A_TEXT, "required": True}, "b": {**A_TEXT, "optional": True}}, "required": ["b"]},
            {"properties": {"a": A_TEXT, "b": A_TEXT}, "required": ["a"]},
        ),
        ({"properties": {"a": {}}, "required": ["a", "b"]}, {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}),
        ({"anyOf": [{"properties": {"a": {}}, "required": ["a", "b"]}]}, None),
        ({"properties": {"a": {}}, "required": ["b"], "patternProperties": {"^b": A_TEXT}}, None),
        ({"properties": {"a": {}}, "required": ["b"], "additionalProperties": A_TEXT}, None),
        ({"properties": {"a": {}}, "required": ["b"], "not": {"required": ["a"]}}, None),
        ({"required": ["a", 5]}, {"required": ["a"]}),
        ({"required": ["a", "a"]}, {"required": ["a"]}),
        ({"required": "a"}, {"required": ["a"]}),
        ({"required": None}, {}),
        ({"required": {"a": True}}, {}),
        ({"required": []}, None),
    ],
)
def test_what_is_required_is_read_from_wherever_it_is_said(written: Json, schema: Json) -> None:
    found = normalize(written)
    assert found.schema == (written if schema is None else schema)
    assert bool(found.notes) is (schema is not None)
