"""Reading JSON: exact values whatever their size and depth, and the same mistakes at the same places on every way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc.text import jsontext  # JSON text in and out, as the package writes it
from instrc.text.jsontext import digest_of, dumps, loads, parse_json, read_value, repeated_keys
from instrc.text.jsonvalue import JsonSyntaxError, equal

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def failure(reader: Any, text: str) -> int | None:
    try:
        reader(text)
    except JsonSyntaxError as error:
        return error.offset
    return None


@given(json_values)
def test_what_is_written_reads_back_on_every_way(value: Any) -> None:
    for text in (dumps(value), dumps(value, indent=False), json.dumps(value)):
        assert equal(loads(text), value)
        assert equal(parse_json(text).value, value)


@examples(300)
@given(st.text('{}[]":,.\\ntruefalsenul0123456789eE+- \n\t', max_size=20) | json_values.map(json.dumps), st.data())
def test_both_readers_find_the_same_mistakes(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    broken = text[:cut] + data.draw(st.sampled_from(["", ",", "}", '"', "1", "]", ":"])) + text[cut:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsontext, "_LONG", -1)
        found = failure(read_value, broken)
        exact = failure(parse_json, broken)
    assert (found is None) == (exact is None)
    assert exact is None or equal(failure(loads, broken), exact)


@every_case(
    "text",
    [
        "NaN",
        "[Infinity]",
        "[1e999]",
        '"\\ud800"',
        "[01]",
        "[1.]",
        "[+1]",
        "['a']",
        "[1,]",
        '{"a":1,}',
        "\ufeff1",
        "",
        "1٢",
        "[1.٣]",
    ],
)
def test_what_only_resembles_json_is_refused_however_long_the_text(text: str) -> None:
    for padded in (text, text + " " * 200_000):
        with pytest.raises(JsonSyntaxError):
            loads(padded)


def test_a_long_text_with_a_mistake_is_answered_with_its_place() -> None:
    text = '{"a": [' + "1, " * 200_000
    with pytest.raises(JsonSyntaxError) as caught:
        loads(text)
    assert (caught.value.offset, caught.value.reason) == (len(text), "the text ends before its value does")


def test_integers_have_no_limit() -> None:
    for value in (2**64, -(10**30), 10**5000):
        assert loads(dumps([value])) == [value]
        assert loads(" " * 200_000 + dumps(value)) == value


@pytest.mark.long
def test_depth_has_one_limit_and_no_crash() -> None:
    deep = loads("[" * 100_000 + "]" * 100_000)
    assert isinstance(deep, list)
    with pytest.raises(JsonSyntaxError, match="nested more than"):
        loads("[" * 1_000_000)


def test_repeated_keys_are_noticed_with_their_places() -> None:
    text = '{"a": 1, "b": {"a": 2, "a": 3}, "a": 4}'
    found = parse_json(text)
    assert [(key, text[start:end]) for key, start, end in found.repeated] == [("a", '"a"'), ("a", '"a"')]
    assert found.value == {"a": 4, "b": {"a": 3}}


@every_case(
    ("text", "twice"),
    [
        ('{"a": 1, "b": "\\"", "c": {"a": ""}}', ()),
        ('{"a": "\\u0022", "b": 1}', ()),
        ('{"b": 1, "b": 2, "a": "\\u0022"}', ("b",)),
        ('{"b": 1, "b": "\\u0022\\u0022", "a": 2}', ("b",)),
        ('{"b": [], "b": 123456789012345678901234567890}', ("b",)),
        ('{"b": 123456789012345678901234567890, "a": []}', ()),
    ],
)
def test_a_key_is_written_twice_whatever_stands_beside_it(text: str, twice: tuple[str, ...]) -> None:
    assert repeated_keys(text, loads(text)) == twice


@every_case(
    ("pointer", "shown"),
    [
        ("", "whole"),
        ("/a", "[10, {}]"),
        ("/a/0", "10"),
        ("/a/1", "{}"),
        ("/b~1c/d~0e", "null"),
        ("/a/7", "[10, {}]"),
        ("/zzz", "whole"),
    ],
)
def test_every_value_has_its_place(pointer: str, shown: str) -> None:
    text = '{"a": [10, {}], "b/c": {"d~e": null}}'
    member = parse_json(text).place(pointer)
    assert text[member.start : member.end] == (text if shown == "whole" else shown)


@pytest.mark.long
def test_what_is_deep_is_written_in_proportion_to_its_size() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    text = dumps(value)
    assert len(text) < 10_000_000
    assert equal(loads(text), value)


def pointers(value: Any, base: str = "") -> list[str]:
    found = [base, f"{base}/nobody", f"{base}/7"]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        token = str(key).replace("~", "~0").replace("/", "~1")
        found += pointers(part, f"{base}/{token}")
    return found


def test_a_digest_ignores_the_order_of_keys_at_any_depth() -> None:
    def nested(innermost: Any) -> Any:
        value = innermost
        for _ in range(10_000):
            value = {"b": [value], "a": 1}
        return value

    assert digest_of(nested({"x": 1, "y": 2})) == digest_of(nested({"y": 2, "x": 1})) != digest_of(nested({"x": 2, "y": 1}))
