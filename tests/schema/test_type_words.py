"""Words for types in other languages mean what they mean in JSON Schema."""

from __future__ import annotations

from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.type_words import any_of, schema_of  # one word without a tool
from instrc.schema.wellformed import problems_of
from instrc.text.jsonvalue import Json

WORDS: dict[str, Json] = {
    "str": {"type": "string"},
    "String": {"type": "string"},
    "dict": {"type": "object"},
    "HashMap": {"type": "object"},
    "Hashtable": {"type": "object"},
    "ArrayList": {"type": "array"},
    "Queue": {"type": "array"},
    "Bigint": {"type": "integer"},
    "float": {"type": "number"},
    "char": {"type": "string"},
    "any": {},
    "tuple": {"type": "array"},
    "None": {"type": "null"},
    "set": {"type": "array", "uniqueItems": True},
    "datetime": {"type": "string", "format": "date-time"},
    "string[]": {"type": "array", "items": {"type": "string"}},
}


@every_case("word", WORDS)
def test_a_word_means_a_schema(word: str) -> None:
    assert schema_of(word) == WORDS[word]


@every_case(
    "text",
    [
        "",
        "foo",
        "the name of a city",
        "Callable[[int], str]",
        "List[",
        "List[int]",
        "int | str",
        "[]",
        "a: b",
        "[" * 900,
        "list[" * 300,
        "x" * 5000,
        "(int",
    ],
)
def test_other_texts_mean_nothing(text: str) -> None:
    assert schema_of(text) is None


def test_a_schema_belongs_to_who_asked() -> None:
    first = schema_of("int[]")
    assert first is not None
    first["items"]["type"] = "changed"
    assert schema_of("int[]") == {"type": "array", "items": {"type": "integer"}}


def test_alternatives_keep_booleans_apart_from_numbers() -> None:
    assert any_of([{"const": 1}, {"const": True}, {"const": 1}]) == {"enum": [1, True]}


PIECES = st.sampled_from(
    ["int", "str", "list", "Dict", "any", "[", "]", ",", "<", ">", "|", "(", ")", "?", "[]", "...", "'a'", "3", " ", "optional"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_is_read_is_sound(text: str) -> None:
    schema = schema_of(text)
    assert schema is None or not problems_of(schema)
