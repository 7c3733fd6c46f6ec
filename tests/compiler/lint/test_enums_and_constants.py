from __future__ import annotations

from typing import Any

from every_case import every_case

from instrc import Source, Span
from instrc.compiler.lint.keywords import TOLD_OF_A_KIND, suspicious_words  # one finding without those of the others

ANYWHERE = Span(Source("letter.vibe.json", " "), 0, 0)


def names(**keywords: Any) -> list[str]:
    return [problem.name for problem in suspicious_words(keywords, lambda *_, **__: ANYWHERE)]


@every_case("listed", [["a", "b", "a"], [1, 1.0], [{"a": 1}, {"a": 1}], [None, None]])
def test_a_value_that_an_enum_has_twice_is_told(listed: list[Any]) -> None:
    assert names(enum=listed) == ["repeated-value"]


@every_case("listed", [["a", "b"], [1, True, "1"], [0, False, None, ""], [{"a": 1}, {"a": 2}]])
def test_different_values_are_not_told(listed: list[Any]) -> None:
    assert names(enum=listed) == []


def test_a_constant_without_its_format_is_told() -> None:
    assert names(type="string", format="date", const="today") == ["format-excludes-value"]
    assert names(type="string", format="date", enum=["2026-01-01", "today"]) == ["format-excludes-value"]
    assert names(type="string", format="date", const="2026-01-01") == []
    assert names(format="date", const=5) == ["idle-keyword"]


@every_case(
    "keywords",
    [
        {"pattern": r"^\d{5}$", "maxLength": 4},
        {"pattern": "abc", "maxLength": 2},
        {"pattern": "^(a|bc)$", "minLength": 3},
        {"allOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
        {"pattern": "^[a-f]", "allOf": [{"pattern": "^[0-9]+$"}]},
        {"pattern": "^.{2}$", "allOf": [{"pattern": "^.{3}$"}]},
        {"maxLength": 2, "allOf": [{"pattern": "^.{3}$"}]},
    ],
)
def test_a_pattern_that_leaves_no_text_is_told(keywords: dict[str, Any]) -> None:
    assert names(type="string", **keywords) == ["impossible-schema"]


@every_case(
    "keywords",
    [
        {"pattern": r"^\d{5}$", "maxLength": 5},
        {"pattern": r"\d{5}", "minLength": 50},
        {"pattern": "^a|b", "minLength": 5},
        {"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]},
        {"allOf": [{"pattern": "^a?"}, {"pattern": "^b"}]},
        {"allOf": [{"pattern": "^[^a]"}, {"pattern": "^\u00e9"}]},
        {"pattern": "^(?=a)b$", "maxLength": 1},
    ],
)
def test_a_pattern_that_leaves_texts_is_not_told(keywords: dict[str, Any]) -> None:
    assert names(type="string", **keywords) == []


def test_values_that_are_not_checked_are_told() -> None:
    samples = [0] * 250
    assert names(**{"not": {"type": "string"}, "examples": samples}) == ["unchecked-values"]


def test_what_is_not_shown_of_many_problems_is_told() -> None:
    found = names(**{f"u{index}": 1 for index in range(TOLD_OF_A_KIND + 5)})
    assert found == [*["unknown-keyword"] * TOLD_OF_A_KIND, "further-problems"]
