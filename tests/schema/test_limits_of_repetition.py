"""What a pattern repeats is not written out without a limit: engines do so, and nested counts multiply."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest

import instrc
from instrc.schema.patterns import REGEX_WRITTEN_OUT, search, why_unreadable, written_out  # one expression without a schema


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        ("", 0),
        ("abc", 3),
        ("a{3}", 3),
        ("a{3,}b", 4),
        ("a{0,9}", 1),
        ("[a-z{]{4}", 4),
        (r"\d{4}-\d{2}", 7),
        ("^(ab{3}){10}$", 42),
        ("((a{9}){9}){9}", 729),
        ("(?:a|b{2}){2}", 8),
        ("(?=a{2})a", 3),
        ("){2}", 2),
    ],
)
def test_counts_multiply(pattern: str, length: int) -> None:
    assert written_out(pattern) == length


GREEDY = [
    "^((a{900}){900}){900}$",
    "^a{2000000}$",
    "(" * 30 + "a" + "{900})" * 30,
    "^((a?){2000}){2000}$",
    "a{" + "1" * 5000 + "}",
]


@pytest.mark.parametrize("pattern", GREEDY, ids=lambda pattern: pattern[:24])
def test_a_pattern_that_would_fill_the_memory_is_refused_soon(pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]}
    begun = process_time()
    tracemalloc.start()
    try:
        if why_unreadable(pattern) is None:  # braces with too many digits are signs like others
            assert "{1111" in pattern
        for target in ("vllm", "openai", "gemini"):
            assert "pattern" in {loss.keyword for loss in instrc.lower(schema, target=target, name="it").losses}
        instrc.compile("Draft(prompt)", vibes={"Draft": schema})
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert process_time() - begun < 10


def test_counts_that_real_patterns_have_are_read() -> None:
    name = r"^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.){1,126}[a-z]{2,63}$"
    assert search(name, "docs.python.org")
    assert search(r"^(?=a)a{1,100000}$", "aaa")
    assert search(f"^(?=a)a{{{REGEX_WRITTEN_OUT // 2}}}$", "aaa") is False
