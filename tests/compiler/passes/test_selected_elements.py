"""Elements of lists that a block runs for: `when`, `first`, `max`, and numbers from data."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from marked_mistakes import assert_one_problem, problems_of
from objects import an_object

import instrc
from instrc.process.process import Process

TEXT = {"type": "string"}
NUMBER, WHOLE = {"type": "number"}, {"type": "integer", "minimum": 0}
LINES = {"type": "array", "items": an_object(name=TEXT, price=NUMBER, ok={"type": "boolean"})}
VIBES: dict[str, Any] = {
    "Order": an_object(lines=LINES, limit=NUMBER, count=WHOLE, name=TEXT),
    "Check": an_object(text=TEXT),
}
ORDER = "const o = Order(prompt); "


def process(text: str) -> Any:
    [made] = instrc.artefacts(text, vibes=VIBES, report=instrc.Report())
    return made.documents["process"]


def block(text: str, word: str = "EACH_1") -> Any:
    return process(ORDER + text)["$defs"][word]


@every_case(
    ("head", "engine", "most"),
    [
        ("when x.ok", {"when": {"path": "x.ok", "schema": {"const": True}}}, 1000),
        ("when x.price >= o.limit", {"when": {"path": "x.price", "minimum": "step1_order.limit"}}, 1000),
        ("first 3", {"first": 3}, 3),
        ("first o.count", {"first": "step1_order.count"}, 1000),
        ("max o.count", {"max": "step1_order.count"}, 1_000_000),
        ("when x.ok first 2", {"when": {"path": "x.ok", "schema": {"const": True}}, "first": 2}, 2),
        ("when x.ok max 5", {"when": {"path": "x.ok", "schema": {"const": True}}}, 5),
    ],
)
def test_a_selection_stands_in_the_engine_property(head: str, engine: Any, most: int) -> None:
    made = block(f"each x in o.lines {head} {{ Check(x) }}")
    assert {word: each for word, each in made["each"].items() if word in {"when", "first", "max"}} == engine
    assert (made["maxItems"], made.get("minItems")) == (most, None)
    made = block(f"repeat x in o.lines {head} {{ Check(x) }}", "REPEAT_1")
    assert {word: each for word, each in made["repeat"].items() if word in {"when", "first", "max"}} == engine
    assert (made["maxItems"], made["minItems"]) == (most, 0)


def test_such_a_process_is_of_version_2() -> None:
    made = process(f"{ORDER}each x in o.lines first 3 {{ Check(x) }}")
    assert made["instrc"] == 2
    assert Process.from_json(made).to_json() == made
    assert "instrc" not in process(f"{ORDER}each x in o.lines max 3 {{ Check(x) }}")


def test_a_block_counts_to_an_integer_from_data() -> None:
    made = block("each i in o.count { Check(i) }")
    assert (made["each"]["in"], made["maxItems"], "minItems" in made) == ("step1_order.count", 1000, False)
    assert [problem.name for problem in problems_of(f"{ORDER}each i in o.count {{ Check(i.name) }}", vibes=VIBES)] == [
        "unknown-member"
    ]


def test_first_is_a_word_only_behind_a_list() -> None:
    text = "const first = Order(prompt); each x in first.lines first first.count { Check(x) }"
    assert process(text)["$defs"]["EACH_1"]["each"]["first"] == "step1_order.count"


def test_blocks_that_select_otherwise_are_two() -> None:
    text = (
        ORDER
        + "const a = each x in o.lines first {} {{ Check(x) }}; const b = each x in o.lines first {} {{ Check(x) }}; {{ a, b }}"
    )
    blocks = [sum(name.startswith("EACH") for name in process(text.format(*each))["$defs"]) for each in ((2, 2), (2, 3))]
    assert blocks == [1, 2]


@every_case(
    ("marked", "name", "advice"),
    [
        ("each x in o.lines first «o.name» { Check(x) }", "not-a-count", "whole number"),
        ("each x in o.lines max «o.lines» { Check(x) }", "not-a-count", "whole number"),
        ("each x in o.lines first «0» { Check(x) }", "bad-bound", ""),
        ("each x in o.lines when «x.prize» { Check(x) }".replace("«x.prize»", "x.«prize»"), "unknown-member", "price"),
        ("each x in o.lines when «y».ok { const y = Check(x); y }", "unknown-name", ""),
        ("repeat x in o.lines when «round» > 1 { Check(x) }", "unknown-name", ""),
        ('each x in o.lines when «x.ok is "yes"» { Check(x) }', "never-true", ""),
        ("each x in «o.name» { Check(x) }", "not-a-list", ""),
        ("each i in «o.limit» { Check(i) }", "not-a-list", ""),
    ],
)
def test_each_mistake_is_one_problem_at_its_place(marked: str, name: str, advice: str) -> None:
    assert_one_problem(ORDER + marked, name, advice, VIBES)


@pytest.mark.parametrize("head", ["when x.ok and x.price >= o.limit first o.count", "first o.count", "when x.ok or x.price > 3"])
def test_a_rehearsal_reaches_the_body(head: str) -> None:
    rehearsal = instrc.rehearse(f"{ORDER}each x in o.lines {head} {{ Check(x) }}", "go", vibes=VIBES)
    assert (rehearsal.missed, {run.outcome["status"] for run in rehearsal.runs}) == ((), {"done"})
