"""A map brings values back as what they are, and is no larger than what it stands for asks of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from every_case import every_case
from msgspec.structs import replace
from objects import closed

from instrc import CompileError, Inexpressible, encode, lift, lower, lower_all, targets
from instrc.providers.key_renaming import KeyRenamer, schemas_of_key  # a value without the checks around it
from instrc.schema.validation import DefinitionsValidator
from instrc.text.jsontext import dumps, loads


@every_case("target", ["mistral", "vllm", "smolagents", "openai", "gemini", "gigachat"])
def test_values_are_read_by_the_pattern_that_their_keys_match(target: str) -> None:
    strange: Any = {"type": "object", "properties": {'quo"te': {"enum": [[1], {"a": 1}]}}, "required": ['quo"te']}
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "patternProperties": {"^x-": {"enum": [[], "[]"]}},
        "additionalProperties": {**strange, "additionalProperties": False},
    }
    result = lower({"type": "object", "properties": {"v": schema}, "required": ["v"], "additionalProperties": False}, target)
    value = {"v": {"id": 1, "x-a": [], "x-b": "[]", "b": {'quo"te': [1]}, "c": {'quo"te': {"a": 1}}}}
    assert lift(encode(value, result.map), result.map).value == value
    assert not [loss for loss in result.losses if loss.kind == "narrowed"]


NODE: Any = {"$ref": "#/$defs/node"}
NESTED: Any = {
    "type": "object",
    "properties": {"tree": NODE},
    "required": ["tree"],
    "additionalProperties": False,
    "$defs": {
        "node": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"left": NODE, "right": NODE, "$size": {"type": "integer"}},
                    "required": ["left"],
                    "additionalProperties": False,
                },
                {"type": "array", "items": NODE},
                {"type": "object", "patternProperties": {"^x": NODE}, "additionalProperties": NODE},
                {"enum": [1, "leaf", None]},
            ]
        }
    },
}
"""Unions in unions, and maps whose entries are of two kinds, both without end."""


@every_case("target", targets())
def test_a_map_of_unions_in_unions_is_at_most_twice_as_large_as_payload_and_schema(target: str) -> None:
    result = lower(NESTED, target)
    assert len(dumps(result.map)) <= 2 * (len(dumps(result.payload)) + len(dumps(NESTED)))


@pytest.mark.long
@every_case("target", targets())
def test_parts_that_a_map_says_once_are_read_wherever_they_stand(target: str) -> None:
    result = lower(NESTED, target)
    left: Any = {"left": [{"xa": "leaf", "b": [1]}, {"left": 1, "right": ["leaf", {"left": "leaf", "$size": 2}]}]}
    value = {"tree": [left, {"left": left, "right": [[left]], "$size": 1}]}
    assert lift(encode(value, result.map), result.map).value == value


def test_a_map_holds_only_definitions_that_tell_alternatives_apart() -> None:
    chain = {"type": "object", "properties": {"next": NODE, "$size": {"type": "integer"}}, "required": ["$size"]}
    result = lower({**NESTED, "$defs": {"node": chain}}, "openai")
    assert "$defs" in result.schema
    assert "codecs" in result.map
    assert "definitions" not in result.map
    asked = dumps([lower(NESTED, "openai").map[member] for member in ("codec", "codecs", "definitions")])
    assert set(re.findall(r'"#/\$defs/([^"]+)"', asked)) == lower(NESTED, "openai").map["definitions"].keys()


def test_a_map_holds_the_recursive_definitions_that_tell_alternatives_apart() -> None:
    ends = {"t": {"const": "end"}, "u": {"type": "integer"}}
    nodes = {
        name: {"type": "object", "properties": {"n": {"anyOf": [{"$ref": f"#/$defs/{name}"}, end]}}, "required": ["n"]}
        for name, end in ends.items()
    }
    union = {"anyOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/u"}]}
    schema = {"type": "object", "properties": {"x": union}, "required": ["x"], "$defs": nodes}
    assert lower(schema, "openai").map["definitions"].keys() == {"t", "u"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the values that an alternative was tried on."""
    asked: list[Any] = []
    accepts = DefinitionsValidator.accepts

    def counted(self: DefinitionsValidator, schema: Any, value: Any) -> bool:
        asked.append(value)
        return accepts(self, schema, value)

    monkeypatch.setattr(DefinitionsValidator, "accepts", counted)
    return asked


def test_what_is_wrong_deep_inside_unions_is_looked_for_once_at_each_level(asked: list[Any]) -> None:
    branches = [branch for branch in NESTED["$defs"]["node"]["anyOf"] if "patternProperties" not in branch]
    result = lower({**NESTED, "$defs": {"node": {"anyOf": branches}}}, "openai")

    def questions(levels: int) -> int:
        value: Any = "leaf"
        for _ in range(levels):
            value = [{"left": value}]
        answer = loads(dumps(encode({"tree": value}, result.map)).replace('"leaf"', '"wrong"'))
        asked.clear()
        assert lift(answer, result.map).status == "invalid"
        return len(asked)

    assert 0 < questions(10) <= 5 * questions(5)


def test_what_has_no_words_deep_inside_unions_is_tried_once_at_each_level(asked: list[Any]) -> None:
    result = lower(NESTED, "openai")

    def questions(levels: int) -> int:
        value: Any = "wrong"
        for _ in range(levels):
            value = [{"left": value}]
        asked.clear()
        with pytest.raises(Inexpressible):
            encode({"tree": value}, result.map, check=False)
        return len(asked)

    assert 0 < questions(8) <= 5 * questions(4)


@every_case("target", ["gemini", "anthropic-strict"])
def test_a_value_that_no_alternative_takes_is_read_by_the_first_of_its_type(target: str) -> None:
    days = closed(**{"day of week": {"type": "integer"}, "days": {"type": "integer"}})
    result = lower(closed(when={"anyOf": [{"type": "string"}, days]}), target)
    answer = loads(dumps(encode({"when": {"day of week": 7, "days": 2}}, result.map)).replace("7", '"Sunday"'))
    lifted = lift(answer, result.map)
    assert lifted.call.value == {"when": {"day of week": "Sunday", "days": 2}}
    assert [(each.instance, each.keyword) for each in lifted.call.violations] == [("/when/day of week", "type")]


def test_definitions_that_are_too_many_to_be_kept_are_written_as_text() -> None:
    nodes = {
        f"d{n}": {
            "type": "object",
            "properties": {"next": {"$ref": f"#/$defs/d{(n + 1) % 520}"}, "same": {"$ref": f"#/$defs/d{n}"}},
        }
        for n in range(520)
    }
    root: Any = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in nodes}, "$defs": nodes}
    definitions = lower(root, "mistral").schema["$defs"]
    assert len(definitions) == 500
    assert all(isinstance(schema, dict) for schema in definitions.values())


@every_case("target", ["anthropic", "gemini", "bedrock"])
def test_a_key_that_is_what_another_is_sent_as_is_told_from_it(target: str) -> None:
    result = lower({"type": "object", "properties": {"$a b": {"type": "integer"}}, "required": ["$a b"]}, target)
    sent: Any = next(iter(result.schema["properties"]))
    assert sent != "$a b"
    value: Any = {"$a b": 1, sent: 2, f"{sent}_": 3}
    answer = encode(value, result.map, check=False)
    assert answer == {sent: 1, f"{sent}_": 2, f"{sent}__": 3}
    assert lift(answer, result.map).value == value


@every_case("value", [None, {"k": "a"}, [1], ["x"], [], 5])
def test_null_among_objects_and_lists_is_a_choice_like_the_others(value: Any) -> None:
    texts, numbers = ({"type": "array", "items": {"type": kind}} for kind in ("string", "integer"))
    item = {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"k": {"const": "a"}}}, numbers, texts, {"const": 5}]}
    result = lower({"type": "object", "properties": {"all": {"type": "array", "items": item}}, "required": ["all"]}, "gigachat")
    answer = encode({"all": [value]}, result.map)
    assert lift(answer, result.map).value == {"all": [value]}


@every_case(
    ("value", "sent"),
    [
        (None, {"choice": "null"}),
        ({"x": "a"}, {"choice": "object", "object": {"x": "a"}}),
        ({"x": 1}, {"choice": "object_2", "object_2": {"x": 1}}),
    ],
)
def test_null_is_a_choice_without_a_value(value: Any, sent: Any) -> None:
    item = {"anyOf": [{"type": "null"}, closed(x={"type": "string"}), closed(x={"type": "integer"})]}
    result = lower(closed(all={"type": "array", "items": item}), "gigachat")
    assert encode({"all": [value]}, result.map) == {"all": [sent]}
    assert lift({"all": [sent]}, result.map).value == {"all": [value]}


def test_a_number_among_texts_is_written_as_text_and_a_text_like_a_number_in_quotes() -> None:
    result = lower(closed(all={"type": "array", "items": {"type": ["string", "number"]}}), "gigachat")
    value = {"all": ["x", 5, 1.5, "5", "true"]}
    answer = {"all": ["x", "5", "1.5", '"5"', "true"]}
    assert encode(value, result.map) == answer
    assert lift(answer, result.map).value == value


def test_a_schema_that_cannot_be_judged_accepts() -> None:
    validator = DefinitionsValidator({"a": {"type": "integer"}, "b": {"$ref": "#/$defs/a"}, "loop": {"$ref": "#/$defs/loop"}})
    assert validator.accepts({"$ref": "#/$defs/b"}, 1)
    assert not validator.accepts({"$ref": "#/$defs/b"}, "1")
    assert validator.accepts({"$ref": "#/$defs/nowhere"}, "1")
    assert validator.accepts({"$ref": "#/$defs/loop"}, "1")
    assert [validator.accepts(schema, 1) for schema in (True, False)] == [True, False]
    assert validator.dereferenced({"$ref": "#/$defs/b"}) == {"type": "integer"}
    assert validator.dereferenced({"$ref": "#/$defs/nowhere"}) is True


def test_a_map_of_several_tools_is_asked_for_one_by_a_name_that_it_has() -> None:
    maps = lower_all([("one", {"type": "object"}), ("two", {"type": "object"})], "openai").map
    assert encode({}, maps, "two") == {}
    with pytest.raises(CompileError) as raised:
        encode({}, maps, "three")
    assert "`three`" in raised.value.problems[0].message


@every_case("record", [{}, {"a": 1}])
def test_what_is_no_map_at_all_is_refused(record: Any) -> None:
    with pytest.raises(CompileError, match="this is not a reverse map: the member `instrc` is missing"):
        lift("{}", record)


@every_case("version", [0, 2, "1", True, None])
def test_a_map_of_another_version_is_refused(version: Any) -> None:
    record = lower({"type": "object"}, "openai").map | {"instrc": version}
    with pytest.raises(CompileError, match=f"it is of version `{version}`, and this program reads 1"):
        lift("{}", record)


def test_a_map_whose_message_is_no_message_is_refused() -> None:
    deep: Any = {}
    for _ in range(50):
        deep = {"a": deep}
    for result, reason in (
        (deep, "its `result` is nested too deeply"),
        ("@text", "Expected `object | null`, got `str` - at `$.result`"),
    ):
        with pytest.raises(CompileError, match=re.escape(reason)):
            lift("{}", {"instrc": 1, "schema": {"type": "object"}, "codec": None, "result": result})


@every_case(
    ("changed", "reason"),
    [
        ({"codec": ...}, "Object missing required field `codec`"),
        ({"target": "opnai"}, 'its `target` is "opnai", which is not a target'),
        ({"codec": {"as": "object", "keyz": {}}}, "it is damaged: Object contains unknown field `keyz` - at `$.codec`"),
        (
            {"codec": {"as": "object", "keys": {"a": {"codecs": None}}}},
            "it is damaged: Object contains unknown field `codecs` - at `$.codec.keys[...]`",
        ),
    ],
    ids=["no codec", "an unknown target", "a misspelt member", "a misspelt member of an entry"],
)
def test_a_map_with_a_misspelt_word_does_not_lift(changed: dict[str, Any], reason: str) -> None:
    record = lower({"type": "object", "properties": {"a": {"type": "string"}}}, "openai").map | changed
    with pytest.raises(CompileError, match=re.escape(reason)):
        lift({"a": "x"}, {name: value for name, value in record.items() if value is not ...})


def test_a_target_of_ones_own_may_have_any_name() -> None:
    own = replace(targets()["openai"], name="our-own")
    lowered = lower({"type": "object", "properties": {"a": {"type": "string"}}}, own)
    assert lift({"a": None}, lowered.map).output == {}


def test_a_map_that_names_no_target_is_read_in_both_directions() -> None:
    record = {"instrc": 1, "schema": {"type": "object"}, "codec": None}
    assert lift(encode({"a": 1}, record), record).value == {"a": 1}


@every_case(
    "codec",
    [
        {"as": "pairs", "by": [{"codec": None}]},
        {"as": "object", "more": {"at": None}},
        {"as": "object", "tag": {"key": None}},
        {"as": "text", "kinds": [1]},
        {"as": "object", "declared": ["a", 2]},
        {"as": "plan", "raw": {"tool": [None]}},
    ],
    ids=lambda codec: f"{codec['as']} {[*codec][1]}",
)
def test_a_map_in_which_a_codec_is_damaged_is_refused(codec: Any) -> None:
    with pytest.raises(CompileError) as caught:
        lift("{}", {"instrc": 1, "schema": {"type": "object"}, "codec": codec})
    assert [problem.name for problem in caught.value.problems] == ["unreadable-map"]


@every_case(("sent", "meant"), [("<null>", None), ("<<null>>", "<null>"), ("<<<null>>>", "<<null>>"), ("null", "null")])
def test_a_text_that_is_spelled_like_the_word_for_null_has_one_pair_of_brackets_more(sent: str, meant: str | None) -> None:
    lowered = lower({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}, "gemini", name="note")
    assert lift({"a": sent}, lowered.map).value == {"a": meant}
    assert lift({"a": None}, lowered.map).value == {}


@every_case(("key", "schema"), [("a", "own"), ("x-a", "pattern"), ("other", "rest")])
def test_a_key_is_read_by_the_schemas_that_speak_of_it(key: str, schema: str) -> None:
    node: Any = {
        "properties": {"a": {"title": "own"}},
        "patternProperties": {"^x-": {"title": "pattern"}},
        "additionalProperties": {"title": "rest"},
    }
    assert list(schemas_of_key([node], key)) == [{"title": schema}]


def test_a_reference_speaks_of_the_place_where_it_stands() -> None:
    text = {"type": "string"}
    root: Any = {"$ref": "#/$defs/text", "$defs": {"text": text}}
    assert KeyRenamer(root).place([root]).nodes == [root, text]
