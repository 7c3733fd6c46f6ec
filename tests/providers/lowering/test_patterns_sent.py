"""Which regular expressions are sent, by their parts: an escaped sign is a sign, whatever stands behind it."""

from __future__ import annotations

from every_case import every_case

from instrc import lift, lower
from instrc.providers.lowering.target_patterns import pattern_for  # one pattern without a schema around it
from instrc.providers.targets import dialect


@every_case("pattern", [r"\\b", r"\*+", r"^a\}+$", r"[+*]+", r"[{}]", "[,9}]", "^(a|b)$", "^a|b$", "(^a|b)c", "a|(^b)"])
def test_what_every_engine_reads_is_sent(pattern: str) -> None:
    assert pattern_for(pattern, dialect("mistral")) == pattern


@every_case(
    ("pattern", "sent"),
    [
        (r"^\x41\u0042+$", "^AB+$"),
        (r"[\x61-\x7a]", "[a-z]"),
        (r"[\u4e00-\u9fa5]+", "[一-龥]+"),
        (r"\\x41", r"\\x41"),
    ],
)
def test_letters_by_number_are_sent_as_letters(pattern: str, sent: str) -> None:
    assert pattern_for(pattern, dialect("mistral")) == sent


@every_case("pattern", [r"\x2e", r"a{\x31}", r"\1\x31", r"\c\x41", r"\ud83d", r"\x4", r"(?\x50<n>a)"])
def test_other_characters_by_number_are_not_sent(pattern: str) -> None:
    assert pattern_for(pattern, dialect("mistral")) is None


def test_a_target_that_takes_all_patterns_gets_numbers_as_they_are() -> None:
    assert pattern_for(r"^\x41$", dialect("mistral"), "any") == r"^\x41$"


@every_case(
    "pattern",
    [
        r"^\a$",
        r"[\a]",
        r"\—",
        r"\N{DIGIT ONE}",
        r"\U00000041",
        r"\bb",
        "a++",
        "a{2}+",
        "(?=a)",
        "(?<n>a)",
        "(?i)a",
        "a{,3}",
        r"[\b]",
        "[a--b]",
        "a^",
        "$a",
        "x(^a|b)",
        "(a|b$)x",
        "(^a)*",
        "(a$){2}",
    ],
)
def test_what_some_engine_reads_otherwise_is_not_sent(pattern: str) -> None:
    assert pattern_for(pattern, dialect("mistral")) is None


@every_case(
    ("pattern", "sent"),
    [
        (r"^\d+\.[a-z]+$", r"^[0-9]+[\x2e][a-z]+$"),
        (r"^[\w.-]+@[\w-]+$", r"^[A-Za-z0-9_.-]+[@][A-Za-z0-9_-]+$"),
        (r"^(?:\+7|8)\d{10}$", r"^(?:[\x2b]7|8)[0-9]{10}$"),
        (r"^[\]\^a]$", r"^[\x5d\x5ea]$"),
        ("^é{2}-?$", r"^[é]{2}[-]?$"),
        ("^(a|bc){2,3}$", "^(a|bc){2,3}$"),
    ],
)
def test_an_engine_that_reads_the_text_of_json_gets_each_character_by_name(pattern: str, sent: str) -> None:
    assert pattern_for(pattern, dialect("llamacpp")) == sent
    assert pattern_for(sent, dialect("llamacpp")) == sent


@every_case(
    "pattern",
    [
        *("a", "^a|b$", "^.$", "^[^a]$", "^[^]$", "^[]a]$", r"^\s$", r"^\\$", '^"$', "^[ -~]$", "^[A-z]$", r"^[\t]$", "^[+--]$"),
        *(
            "^$",
            "^()$",
            "^(a|)$",
            "^(|a)$",
            "^a{0}$",
            "^a{0,0}$",
            "^a+?$",
            "^a{2}{3}$",
            "^(?=a)b$",
            "^(?<n>a)$",
            "^a{2001}$",
            "^(+)$",
        ),
    ],
)
def test_what_may_break_the_text_of_json_is_said_in_words(pattern: str) -> None:
    assert pattern_for(pattern, dialect("llamacpp")) is None


def test_a_pattern_that_is_too_large_is_lost_and_no_answer_passes_unchecked() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a{900}){900}$"}}, "required": ["a"]}
    lowering = lower(schema, "openai")
    assert [loss.reason for loss in lowering.losses if loss.keyword == "pattern"] == [
        "is too large to be read, so no answer can be checked by it"
    ]
    assert "pattern" not in lowering.schema["properties"]["a"]
    [violation] = lift({"a": "zzz"}, lowering.map).calls[0].violations
    assert "too large" in violation.message


def test_a_pattern_that_nobody_reads_is_left_out_behind_one_that_is_too_large_too() -> None:
    keys = {"type": "object", "patternProperties": {"^(a{900}){900}$": {"type": "string"}, "a**": {"type": "integer"}}}
    lowering = lower({"type": "object", "properties": {"a": keys, "b": {"type": "string", "nullable": True}}}, "ollama")
    told = [(loss.pointer, loss.reason) for loss in lowering.losses if loss.kind == "annotation"]
    assert told == [("/properties/a", "is left out: it is not a regular expression that can be read")]
