"""Plans as people write them, in both spellings: each is judged as it should be, with all its faults at once."""

from __future__ import annotations

from typing import Any

from every_case import every_case

import instrc

BOOK, MAIL = "Book_Activity", "Mail_Activity"
TOOLS: Any = {
    BOOK: {
        "activity": BOOK,
        "arguments": {
            "type": "object",
            "properties": {"seats": {"type": "integer"}, "who": {"type": "string"}},
            "required": ["seats"],
        },
        "output": {
            "type": "object",
            "properties": {"id": {"type": "string"}, "list": {"type": "array", "items": {"type": "integer"}}},
            "required": ["id", "list"],
        },
    },
    MAIL: {
        "activity": MAIL,
        "arguments": {"type": "object", "properties": {"to": {"type": "string"}, "n": {"type": "integer"}}, "required": ["to"]},
        "output": {"type": "string"},
        "bound": {"n": {"const": 1}},
    },
}


def book(id_: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"tool": BOOK, "id": id_, "arguments": arguments, **more}


def mail(id_: str, arguments: Any) -> dict[str, Any]:
    return {"tool": MAIL, "id": id_, "arguments": arguments}


def entry(name: str, kind: str, text: str) -> dict[str, str]:
    return {"name": name, "is": kind, "text": text}


B = book("b", {"seats": 1})

SOUND: dict[str, Any] = {
    "none": [],
    "null": None,
    "one": [B],
    "a whole number written as a fraction": [book("a", {"seats": 1.0})],
    "a later task is read": [mail("a", {"to": {"from": "b.id"}}), B],
    "an item is read": [book("a", {"seats": {"from": "b.list.0"}}), B],
    "a copy for each item": [book("a", {"seats": {"each": "b.list"}}), B],
    "a member that is not described": [book("a", {"seats": {"from": "b.nope"}}), B],
    "waiting without reading": [book("a", {"seats": 2}, after=["b"]), B],
    "uniform": [book("a", [entry("seats", "value", "1")])],
    "uniform, digits for a text": [mail("a", [entry("to", "value", "12")])],
    "uniform, reading": [book("a", [entry("seats", "from", "b.list.0")]), B],
    "uniform, a copy for each": [book("a", [entry("seats", "each", "b.list")]), B],
    "both spellings": [book("a", [entry("seats", "value", "1")]), B],
}
FAULTY: dict[str, tuple[Any, list[str]]] = {
    "a text": ("x", ["invalid-plan"]),
    "a task alone": (B, ["invalid-plan"]),
    "a number as a task": ([3], ["invalid-plan"]),
    "no id": ([{"tool": BOOK, "arguments": {"seats": 1}}], ["invalid-plan"]),
    "an id that begins with a digit": ([book("1a", {"seats": 1})], ["invalid-plan"]),
    "after as a text": ([book("a", {"seats": 1}, after="b")], ["invalid-plan"]),
    "a key too many": ([book("a", {"seats": 1}, extra=1)], ["invalid-plan"]),
    "an argument given twice": ([book("a", [entry("seats", "value", "1")] * 2)], ["invalid-plan"]),
    "no arguments": ([{"tool": BOOK, "id": "a"}], ["missing-argument"]),
    "one is missing": ([book("a", {})], ["missing-argument"]),
    "a text for a number": ([book("a", {"seats": "1"})], ["wrong-argument"]),
    "true for a number": ([book("a", {"seats": True})], ["wrong-argument"]),
    "a word for a number, uniform": ([book("a", [entry("seats", "value", "one")])], ["wrong-argument"]),
    "from a number": ([book("a", {"seats": {"from": 1}})], ["wrong-argument"]),
    "a path with two dots": ([book("a", {"seats": {"from": "b..x"}}), B], ["wrong-argument"]),
    "a number where a text is taken": ([mail("a", {"to": {"from": "b.list.0"}}), B], ["wrong-argument"]),
    "each of a text": ([book("a", {"seats": {"each": "b.id"}}), B], ["wrong-argument"]),
    "an unknown argument": ([book("a", {"seats": 1, "x": 2})], ["unknown-argument"]),
    "an argument of the program": ([mail("a", {"to": "x", "n": 3})], ["unknown-argument"]),
    "a misspelt argument, uniform": ([book("a", [entry("sets", "value", "1")])], ["missing-argument", "unknown-argument"]),
    "reading no task": ([book("a", {"seats": {"from": "zz"}})], ["dangling-task"]),
    "waiting for no task": ([book("a", {"seats": 1}, after=["zz"])], ["dangling-task"]),
    "waiting for itself": ([book("a", {"seats": 1}, after=["a"])], ["circular-plan"]),
    "a circle": ([book("a", {"seats": 1}, after=["b"]), book("b", {"seats": 1}, after=["a"])], ["circular-plan"]),
    "an id twice": ([B, B], ["duplicate-task"]),
    "an unknown tool": ([{"tool": "Fly_Activity", "id": "a", "arguments": {}}], ["unknown-tool"]),
    "a tool without its ending": ([{"tool": "Book", "id": "a", "arguments": {"seats": 1}}], ["unknown-tool"]),
    "six faults": (
        [{"tool": "Fly", "id": "a", "arguments": {}}, book("b", {"sets": 1}), book("b", {"seats": None}, after=["q"])],
        ["dangling-task", "duplicate-task", "missing-argument", "unknown-argument", "unknown-tool", "wrong-argument"],
    ),
}


@every_case("plan", SOUND.values(), ids=SOUND)
def test_a_sound_plan_is_accepted(plan: Any) -> None:
    assert instrc.check_plan(plan, TOOLS) == ()


@every_case(("plan", "names"), FAULTY.values(), ids=FAULTY)
def test_each_fault_of_a_plan_is_told_and_no_other(plan: Any, names: list[str]) -> None:
    assert sorted(problem.name for problem in instrc.check_plan(plan, TOOLS)) == names


@every_case(
    "argument",
    [
        {"name": "query", "is": "valu", "text": "x"},
        {"name": "query", "is": "from", "text": "..x"},
        {"name": "query", "text": "x"},
        {"name": "query", "is": "value", "text": 1},
    ],
)
def test_an_argument_that_is_not_well_written_is_not_missing_as_well(argument: Any) -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    tools = {"Search": {"activity": "Search_Activity", "arguments": schema}}
    [problem] = instrc.check_plan([{"tool": "Search", "id": "t1", "arguments": [argument]}], tools)
    assert problem.name in {"invalid-plan", "wrong-argument"}
