"""What is known of a record while it is made a plan: the tools it names, and what is wrong so far."""

from __future__ import annotations

from instrc.arguments import excerpt
from instrc.ir.bench import Bench, BenchTool
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, pointer
from instrc.limits.runs import SHOWN_REPAIR
from instrc.plans.taskbench.records import Record
from instrc.problems.plans import InvalidPlan, PlanProblem
from instrc.problems.suggest import comparable, nearest
from instrc.problems.taskbench import OddArguments, RepairedPlan


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


class Draft:
    """One record."""

    def __init__(self, names: ToolNames, record: Record, *, repair: bool) -> None:
        self.names = names
        self.bench: Bench = names.bench
        self.record = record
        self.repair = repair
        self.problems: list[PlanProblem] = []
        self.words: list[str] = []
        """The tool of each task as it is called; empty where nothing is said."""
        self.tools: list[BenchTool | None] = []
        self._at = pointer((*record.place, f"{record.prefix}_nodes"))

    def place(self, *steps: str | int) -> str:
        """Return the place of a part of the tasks; the steps are words and numbers of ours."""
        return "/".join((self._at, *map(str, steps)))

    def name_tools(self, nodes: list[Json]) -> None:
        """Find the tools of the tasks."""
        for number, node in enumerate(nodes):
            word = node.get("task") if isinstance(node, dict) else None
            if not isinstance(word, str) or not word:
                reason = "a task is an object with a text as its `task`"
                self.problems.append(InvalidPlan(pointer=self.place(number), reason=reason))
                word = ""
            tool = self.bench.by_id.get(word)
            if tool is None and word:
                word = self.spelled(word, self.place(number, "task"))
                tool = self.bench.by_id.get(word)
            self.words.append(word)
            self.tools.append(tool)

    def spelled(self, word: str, place: str) -> str:
        """Return the name of a tool, in the spelling of the tool file if it is to be repaired."""
        if word in self.bench.by_id or not self.repair:
            return word
        tool = self.names.nearest(word)
        if tool is None:
            return word
        self.repaired("unknown-tool", place, word, tool.id)
        return tool.id

    def odd(self, reason: str, number: int, *rest: int) -> None:
        """Tell that arguments are not written as they should be."""
        self.problems.append(OddArguments(pointer=self.place(number, "arguments", *rest), reason=reason))

    def repaired(self, mistake: str, place: str, before: str, after: str) -> None:
        """List a repair."""
        self.problems.append(
            RepairedPlan(pointer=place, mistake=mistake, before=before[:SHOWN_REPAIR], after=after[:SHOWN_REPAIR])
        )


def brief(value: Json) -> str:
    """Return a value as a repair shows it."""
    try:
        return (value if isinstance(value, str) else dumps(value, indent=False))[:60]
    except (TypeError, ValueError):  # no JSON
        return excerpt(value)


def _letters(name: str) -> str:
    return "".join(letter for letter in comparable(name) if letter.isalnum())
