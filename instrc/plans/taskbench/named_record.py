"""The tools that the tasks of a record name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from instrc.arguments import excerpt
from instrc.ir.bench import Bench, BenchTool
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, pointer
from instrc.limits.runs import SHOWN_REPAIR
from instrc.plans.taskbench.records import TaskRecord
from instrc.problems.plans import InvalidPlan, OddArguments, PlanProblem, RepairedPlan
from instrc.problems.suggest import comparison_key, nearest


class ToolNames:
    """The names of the tools of a file, and which of them a misspelt one most likely means."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.ids: tuple[str, ...] = tuple(tool.id for tool in bench.tools)
        self._known: dict[str, BenchTool | None] = {}

    def nearest(self, word: str) -> BenchTool | None:
        """Return the tool that a misspelt name most likely means."""
        if word not in self._known:
            same = [tool for tool in self.bench.tools if _letters(tool.id) == _letters(word)]
            near = [] if same else nearest(word, self.ids)
            self._known[word] = same[0] if len(same) == 1 else self.bench.by_id[near[0]] if near else None
        return self._known[word]


@dataclass(frozen=True, slots=True)
class NamedRecord:
    """A record with the tools that its tasks name."""

    names: ToolNames
    record: TaskRecord
    repair: bool
    """Whether known mistakes are repaired."""
    words: tuple[str, ...] = ()
    """The tool of each task as it is called; empty where nothing is said."""
    tools: tuple[BenchTool | None, ...] = ()

    @property
    def bench(self) -> Bench:
        """The tools of the file."""
        return self.names.bench

    def place(self, *steps: str | int) -> str:
        """Return the place of a part of the tasks; the steps are words and numbers of ours."""
        return "/".join((pointer((*self.record.place, f"{self.record.prefix}_nodes")), *map(str, steps)))

    def odd(self, reason: str, number: int, *rest: int) -> OddArguments:
        """Return the problem that arguments are not written as they should be."""
        return OddArguments(pointer=self.place(number, "arguments", *rest), reason=reason)


def name_tools(record: NamedRecord, nodes: list[Json]) -> tuple[NamedRecord, list[PlanProblem]]:
    """Return a record with the tools of its tasks, and what is wrong with their names."""
    problems: list[PlanProblem] = []
    words: list[str] = []
    for number, node in enumerate(nodes):
        word = node.get("task") if isinstance(node, dict) else None
        if not isinstance(word, str) or not word:
            reason = "a task is an object with a text as its `task`"
            problems.append(InvalidPlan(pointer=record.place(number), reason=reason))
            words.append("")
            continue
        spelling, repair = spelled(record, word, record.place(number, "task"))
        words.append(spelling)
        problems += [] if repair is None else [repair]
    return replace(record, words=tuple(words), tools=tuple(map(record.bench.by_id.get, words))), problems


def spelled(record: NamedRecord, word: str, place: str) -> tuple[str, RepairedPlan | None]:
    """Return the name of a tool in the spelling of the tool file if mistakes are repaired, and the repair."""
    if word in record.bench.by_id or not record.repair:
        return word, None
    tool = record.names.nearest(word)
    if tool is None:
        return word, None
    return tool.id, repaired("unknown-tool", place, word, tool.id)


def repaired(mistake: str, place: str, before: str, after: str) -> RepairedPlan:
    """Return a repair, with as much of the texts as is shown."""
    return RepairedPlan(pointer=place, mistake=mistake, before=before[:SHOWN_REPAIR], after=after[:SHOWN_REPAIR])


def brief(value: Json) -> str:
    """Return a value as a repair shows it."""
    try:
        return (value if isinstance(value, str) else dumps(value, indent=False))[:60]
    except (TypeError, ValueError):  # no JSON
        return excerpt(value)


def _letters(name: str) -> str:
    return "".join(letter for letter in comparison_key(name) if letter.isalnum())
