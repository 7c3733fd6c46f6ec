"""In a process that is kept as a vibe, each tool of a plan says what it takes: else nothing would be checked of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from objects import an_object as chunk

from instrc import Report
from instrc.compiler.lint.review import review  # one vibe by itself, without a folder
from instrc.problems.schemas import InvalidSchema
from instrc.text.jsontext import dumps
from instrc.vibes.registry import Registry

QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
SEARCH: Any = {"Search": {"activity": "Search_Activity", "arguments": QUERY}}


def faults(tools: Any, folder: Path) -> list[tuple[str, str]]:
    """Return the place and the reason of each problem of a process, of which one step is given other tools."""
    plan = {"type": "array", "plan": {"tools": SEARCH}}
    run = {"type": "array", "activity": "RunPlan_Activity", "arguments": "act.plan", "plan": {"tools": tools}}
    file = folder / "it.vibe.json"
    file.write_text(dumps(chunk(llmContext1=chunk(act=chunk(plan=plan)), serverContext1=chunk(run=run))), encoding="utf-8")
    report, registry = Report(), Registry([folder])
    review(registry.open(file), registry, report)
    assert all(isinstance(problem, InvalidSchema) for problem in report.problems)
    start = "/properties/serverContext1/properties/run/plan/tools"
    return [(each.pointer.removeprefix(start), each.reason) for each in report.problems if isinstance(each, InvalidSchema)]


@pytest.mark.parametrize("tools", [{}, SEARCH, {"Search": {}}, {"Search": {"process": "aug:search", "output": True}}])
def test_what_the_compiler_writes_and_less_is_sound(tools: Any, tmp_path: Path) -> None:
    assert faults(tools, tmp_path) == []


@pytest.mark.parametrize(
    ("tools", "place", "reason"),
    [
        ({"Search": QUERY}, "/Search", "the tool `Search` has no `arguments`: it is itself a schema"),
        ({**SEARCH, "a/b": 3}, "/a~1b", "the tool `a/b` is not an object in JSON"),
        ({"Search": {"arguments": ["query"]}}, "/Search", "the `arguments` of the tool `Search` are not a JSON Schema"),
        (["Search"], "", "the tools of a plan are an object, by their names"),
    ],
)
def test_what_is_no_tool_is_told_at_its_place(tools: Any, place: str, reason: str, tmp_path: Path) -> None:
    assert faults(tools, tmp_path) == [(place, reason)]
