"""YAML is read as YAML 1.2 with JSON's values, as another reader reads it."""

from __future__ import annotations

import time

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc.problems.errors import CompileError
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.source import Source
from instrc.tools.yaml_text import of_yaml

pytest.importorskip("yaml")
yaml12 = pytest.importorskip("yaml12")

SCALARS: dict[str, Json] = {
    **{
        text: text
        for text in ("de", "no", "on", "off", "yes", "y", "N", "12:30", "1:2:3", "2026-01-02", "1_000", "0b11", "0x_", "=")
    },
    **{text: text for text in ("nULL", "tRUE", ".", "+", "1e", "e5", "0o8", "1.2.3", "0X1F", "--1", "1__0", "a#b", "http://x")},
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "1e6": 1e6,
    "1.5E-3": 0.0015,
    "12e03": 12000.0,
    ".5": 0.5,
    "5.": 5.0,
    "-0.0": -0.0,
    "1e+2": 100.0,
    "0": 0,
    "-7": -7,
    "+12": 12,
    "017": 17,
    "0o17": 15,
    "0x1F": 31,
    "12345678901234567890123": 12345678901234567890123,
    "'no'": "no",
    '"1"': "1",
    "! 1": "1",
    "!!str no": "no",
    '!!int "1"': 1,
    "!!float 1": 1.0,
    "!!bool true": True,
    "!!null ''": None,
    "[de, no, on, 12:30, 1e6]": ["de", "no", "on", "12:30", 1e6],
    '{"a":[1,"\\/"]}': {"a": [1, "/"]},
    '"x\u2028y\x85z"': "x\u2028y\x85z",
}
UNLIKE = {"12345678901234567890123", "5.", '!!int "1"', "!!null ''", "! 1", '{"a":[1,"\\/"]}'}
"""What the other reader takes for a floating-point number, a text or a tag of its own."""


@every_case("text", SCALARS)
def test_scalars_have_the_values_of_the_core_schema(text: str) -> None:
    read = of_yaml(Source("a.yaml", f"a: {text}\n")).value
    assert dumps(read) == dumps({"a": SCALARS[text]})
    if text not in UNLIKE:
        assert dumps(read) == dumps(yaml12.parse_yaml(f"a: {text}\n"))


@every_case(
    ("text", "value"),
    [
        ("on: 1\nno: 2\n12:30: 3\n1.10: 4\n", {"on": 1, "no": 2, "12:30": 3, "1.10": 4}),
        ("\ufeffa: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        ("- &x {b: 1, c: 2}\n- {<<: [*x, {a: 3, b: 4}], d: 5}\n", [{"b": 1, "c": 2}, {"b": 1, "c": 2, "a": 3, "d": 5}]),
        ("- &x a\n- *x\n- &x b\n- *x\n", ["a", "a", "b", "b"]),
        ('a: {"<<": 1, b: [<<]}', {"a": {"<<": 1, "b": ["<<"]}}),
        ('{\n\t"a": "\\ud83d\\ude00"\n}', {"a": "\U0001f600"}),
        ("%YAML 1.1\n---\na: no\n", {"a": "no"}),
        ("a: |\n  b: no\n  # c\nd: >-\n  e\n  f\n", {"a": "b: no\n# c\n", "d": "e f"}),
    ],
    ids=lambda text: repr(text)[:20],
)
def test_documents_have_the_values_of_json(text: str, value: Json) -> None:
    assert dumps(of_yaml(Source("a.yaml", text)).value) == dumps(value)


PLAIN = st.text(st.sampled_from("019abeExo.:+-_~ nNyY"), min_size=1, max_size=6).map(str.strip)


@given(st.lists(PLAIN, max_size=5))
def test_what_has_no_quotes_is_read_as_another_reader_reads_it(texts: list[str]) -> None:
    text = "".join(f"- {text}\n" for text in texts)
    try:
        value = yaml12.parse_yaml(text)
        ours = of_yaml(Source("a.yaml", text)).value if texts else None
    except (ValueError, CompileError):
        return
    assert dumps(ours) == dumps(value)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abn0 :-", max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text("ab", min_size=1), VALUES, min_size=1, max_size=4))
def test_what_another_library_writes_is_read_back(value: dict[str, Json]) -> None:
    assert of_yaml(Source("a.yaml", yaml12.format_yaml(value))).value == value


@every_case("text", ["  <<: [" + "{k%s: 1}, " * 20_000 + "]\n", "  <<: {k%s: 1}\n" * 20_000])
def test_many_mappings_are_merged_in_one_pass(text: str) -> None:
    start = time.process_time()
    value = of_yaml(Source("a.yaml", "a:\n" + text % (*range(20_000),))).value
    assert time.process_time() - start < 4
    assert value == {"a": {f"k{n}": 1 for n in range(20_000)}}


def test_a_megabyte_is_read_in_seconds() -> None:
    text = "".join(
        f'p{n}:\n  enum: [de, no]\n  words: "ok, that is {n}"\n  at:\n  - {{name: a{n}, in: query}}\n' for n in range(12_000)
    )
    start = time.process_time()
    value = of_yaml(Source("a.yaml", text)).value
    assert time.process_time() - start < 4
    assert isinstance(value, dict)
    assert len(value) == 12_000
