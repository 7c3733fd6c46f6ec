"""From a record of TaskBench to a plan, with what is wrong in it and, if that is wished, repaired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from instrc.ir.bench import Bench, BenchTool
from instrc.ir.tasks import Reference, Task
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import pointer
from instrc.plans.check import check_read, tools_of
from instrc.plans.order import circles
from instrc.plans.taskbench.arrange import arranged, content_type, fits
from instrc.plans.taskbench.links import Links
from instrc.plans.taskbench.records import Record, Shape, read_record, shape_of
from instrc.plans.taskbench.tags import Tag, tags_in
from instrc.plans.taskbench.tools import tools_map
from instrc.plans.tools import ToolSet
from instrc.problems.plan_arguments import MissingArgument, UnknownArgument, WrongArgument
from instrc.problems.plans import InvalidPlan, PlanProblem
from instrc.problems.suggest import nearest, plain
from instrc.problems.taskbench import ArgumentOrder, OddArguments, RepairedPlan, StepsDiffer, SurplusArgument
from instrc.problems.taskbench_links import AmbiguousReference, CountedFromOne, OddReference, ReferenceInText, SeveralReferences


@dataclass(frozen=True, slots=True)
class ImportedPlan:
    """What became of a record."""

    plan: list[Json] | None
    """The tasks; `None` if an error is among the problems."""
    problems: tuple[PlanProblem, ...]
    """With repairs, as warnings of the name `repaired-plan`."""
    record: Record | None
    shape: Shape = "single"

    @property
    def repairs(self) -> tuple[RepairedPlan, ...]:
        """What was read as something else than what is written."""
        return tuple(problem for problem in self.problems if isinstance(problem, RepairedPlan))


class Given(NamedTuple):
    """One argument as it was written, and what it refers to."""

    key: str | None
    value: Json
    place: str
    tag: Tag | None = None
    target: str | None = None
    """The id of the task it stands for."""


class PlanImporter:
    """Reads records with the tools of one file."""

    def __init__(self, bench: Bench, *, repair: bool = False) -> None:
        self.bench = bench
        self.repair = repair
        self.tools: ToolSet = tools_of(tools_map(bench))
        self._known: dict[str, BenchTool | None] = {}
        self._ids = tuple(tool.id for tool in bench.tools)

    def read(self, value: Json) -> ImportedPlan:
        """Return the plan of one record; nothing is raised, whatever is given."""
        record = read_record(value)
        if record is None:
            return ImportedPlan(None, (InvalidPlan(reason="there are no `task_nodes` or `tool_nodes` here"),), None)
        reading = _Reading(self, record)
        tasks = reading.tasks()
        failed = any(problem.severity == "error" for problem in reading.problems)
        edges = frozenset(
            (int(need[1:]), number) for number, task in enumerate(tasks) for need in task.needs if need[1:].isdecimal()
        )
        shape = record.shape or shape_of(len(tasks), edges)
        return ImportedPlan(None if failed else [task.to_json() for task in tasks], tuple(reading.problems), record, shape)

    def nearest(self, word: str) -> BenchTool | None:
        """Return the tool that a misspelt name most likely means."""
        if word not in self._known:
            same = [tool for tool in self.bench.tools if _letters(tool.id) == _letters(word)]
            near = [] if same else nearest(word, self._ids)
            self._known[word] = same[0] if len(same) == 1 else self.bench.by_id[near[0]] if near else None
        return self._known[word]


class _Reading:
    """The reading of one record."""

    def __init__(self, importer: PlanImporter, record: Record) -> None:
        self.importer = importer
        self.bench = importer.bench
        self.repair = importer.repair
        self.record = record
        self.problems: list[PlanProblem] = []
        self.nodes_at = (*record.place, f"{record.prefix}_nodes")
        self._at = pointer(self.nodes_at)
        self.words: list[str] = []
        self.tools: list[BenchTool | None] = []
        self.places: dict[tuple[int, str], str] = {}

    def tasks(self) -> list[Task]:
        """Return the tasks, as far as they can be read."""
        nodes = self.record.nodes
        if nodes.__class__ is not list:
            self.problems.append(InvalidPlan(pointer=pointer(self.nodes_at), reason="the tasks are no list"))
            return []
        for number, node in enumerate(nodes):
            self._tool(node, number)
        given = [list(self._arguments(node, number)) for number, node in enumerate(nodes)]
        self._count(given)
        for number, each in enumerate(given):
            given[number] = [self._resolved(argument, number, given) for argument in each]
        tasks = [Task(self._name(number), f"n{number}", self._placed(number, each)) for number, each in enumerate(given)]
        links = Links(self.bench, self.record, self.words, self.tools, repair=self.repair, spelled=self._spelled)
        tasks = links.applied(tasks)
        self.problems += links.problems
        self._check(tasks, links)
        steps = self.record.steps
        if steps.__class__ is list and len(steps) != len(nodes):
            place = pointer((*self.record.place, f"{self.record.prefix}_steps"))
            self.problems.append(StepsDiffer(pointer=place, steps=len(steps), tasks=len(nodes)))
        return tasks

    def _name(self, number: int) -> str:
        tool = self.tools[number]
        return self.words[number] if tool is None else tool.name

    def _place(self, *steps: str | int) -> str:
        return "/".join((self._at, *map(str, steps)))  # words and numbers of ours: nothing in them is to be escaped

    def _tool(self, node: Json, number: int) -> None:
        word = node.get("task") if node.__class__ is dict else None
        if word.__class__ is not str:
            self.problems.append(InvalidPlan(pointer=self._place(number), reason="a task is an object with a text as its `task`"))
            word = ""
        tool = self.bench.by_id.get(word)
        if tool is None and word and self.repair and (tool := self.importer.nearest(word)) is not None:
            self._repaired("unknown-tool", self._place(number, "task"), word, tool.id)
            word = tool.id
        self.words.append(word)
        self.tools.append(tool)

    def _spelled(self, word: str, place: str) -> str:
        """Return the name of a tool in a link, in the spelling of the tool file if it is to be repaired."""
        if word in self.bench.by_id or not self.repair:
            return word
        tool = self.importer.nearest(word)
        if tool is None:
            return word
        self._repaired("unknown-tool", place, word, tool.id)
        return tool.id

    def _arguments(self, node: Json, number: int) -> Iterator[Given]:
        """Yield the arguments of a task as they are written."""
        tool = self.tools[number]
        written = node.get("arguments") if node.__class__ is dict else None
        if node.__class__ is dict and "task" in node and written is None and tool is not None and tool.slots:
            self._odd("there are no arguments", number)
        if written.__class__ is str:
            self._odd("the arguments are one text, no list", number)
            written = [written] if written else []
        if written.__class__ is dict:
            named = written.keys() == {"name", "value"}
            if tool is None or tool.kind == "resource" or named:
                self._odd("the arguments are an object, no list", number)
            written = [written] if named else [{"name": name, "value": value} for name, value in written.items()]
            if tool is not None and tool.kind == "temporal" and not named:
                self._odd("the arguments are an object by name, no list of `{name, value}`", number)
        if written is not None and written.__class__ is not list:
            self._odd("the arguments are no list", number)
            return
        for position, each in enumerate(written or ()):
            yield self._argument(each, number, position, tool)

    def _argument(self, each: Json, number: int, position: int, tool: BenchTool | None) -> Given:
        place = self._place(number, "arguments", position)
        by_name = tool is None or tool.kind != "resource"
        name: str | None = None
        if each.__class__ is dict and "value" in each and each.get("name").__class__ is str:
            name, value = each["name"], each["value"]
            if not by_name:
                self._odd("an argument is an object, where the tool takes a list of texts", number, position)
                name = None
        else:
            value = each
            if tool is not None and tool.kind == "temporal":
                self._odd("an argument is no object with a `name` and a `value`", number, position)
        return Given(name, value, place)

    def _resolved(self, argument: Given, number: int, given: list[list[Given]]) -> Given:
        """Return an argument with the task it stands for."""
        value = argument.value
        if value.__class__ is not str:
            return argument
        if argument.target is not None:
            return argument
        tool = self.tools[number]
        if (tool is None or tool.kind != "resource") and value in self.bench.by_id:
            return argument._replace(target=self._by_name(value, number, argument.place))
        found = tags_in(value)
        if not found:
            return argument
        tag = found[0]
        if len(found) > 1:
            self.problems.append(SeveralReferences(pointer=argument.place, count=len(found)))
            return argument
        if tag.text != value.strip():
            self.problems.append(ReferenceInText(pointer=argument.place, text=tag.text))
            return argument
        if not tag.is_exact or tag.text != value:
            return self._odd_tag(argument, tag, number, given)
        assert tag.node is not None
        return argument._replace(tag=tag, target=f"n{tag.node - self.base}")

    def _odd_tag(self, argument: Given, tag: Tag, number: int, given: list[list[Given]]) -> Given:
        if not self.repair:
            meaning = f"<node-{tag.node}>" if tag.node is not None and tag.argument is None else None
            self.problems.append(OddReference(pointer=argument.place, text=tag.text, meaning=meaning))
            return argument
        if tag.tool is not None:
            tool = self.bench.by_id.get(tag.tool) or self.importer.nearest(tag.tool)
            if tool is None or tool.id not in self.words:
                self.problems.append(OddReference(pointer=argument.place, text=tag.text))
                return argument
            target = self._by_name(tool.id, number, argument.place)
            self._repaired("odd-reference", argument.place, tag.text, f"<node-{target[1:]}>")
            return argument._replace(tag=tag, target=target)
        assert tag.node is not None
        node = tag.node - self.base
        if tag.argument is not None:  # what another task is given, not what it gives
            if not (0 <= node < len(given) and tag.argument < len(given[node])) or node == number:
                self.problems.append(OddReference(pointer=argument.place, text=tag.text))
                return argument
            copied = given[node][tag.argument]
            if copied.value.__class__ is str and tags_in(copied.value) and not tags_in(copied.value)[0].is_exact:
                self.problems.append(OddReference(pointer=argument.place, text=tag.text))
                return argument
            self._repaired("odd-reference", argument.place, tag.text, str(copied.value)[:60])
            return self._resolved(argument._replace(value=copied.value), number, given)
        self._repaired("odd-reference", argument.place, tag.text, f"<node-{tag.node}>")
        return argument._replace(tag=tag, target=f"n{node}")

    def _by_name(self, tool: str, number: int, place: str) -> str:
        """Return the id of the task that the name of a tool stands for, as seen from another task."""
        places = [each for each, word in enumerate(self.words) if word == tool]
        if not places:
            return f"n{len(self.words)}"  # nobody: the check says so
        if len(places) > 1:
            before = [each for each in places if each < number]
            chosen = before[-1] if before else next(each for each in places if each != number)
            if self.repair:
                self._repaired("ambiguous-reference", place, tool, f"<node-{chosen}>")
            else:
                self.problems.append(AmbiguousReference(pointer=place, tool=tool, count=len(places)))
            return f"n{chosen}"
        return f"n{places[0]}"

    base = 0

    def _count(self, given: list[list[Given]]) -> None:
        """Find out whether references count from 0 or from 1: from 1 if only that makes sense."""
        found = [
            (number, tags[0].node, argument.place)
            for number, each in enumerate(given)
            for argument in each
            if argument.value.__class__ is str and len(tags := tags_in(argument.value)) == 1 and tags[0].node is not None
        ]
        if not found or self._makes_sense([(number, node) for number, node, _ in found]):
            return
        if not self._makes_sense([(number, node - 1) for number, node, _ in found]):
            return
        self.base = 1
        if self.repair:
            for _, node, place in found:
                self._repaired("counted-from-one", place, f"<node-{node}>", f"<node-{node - 1}>")
        else:
            self.problems.append(CountedFromOne(pointer=found[0][2]))

    def _makes_sense(self, references: list[tuple[int, int]]) -> bool:
        needs: dict[str, list[str]] = {f"n{number}": [] for number in range(len(self.words))}
        for number, node in references:
            if not 0 <= node < len(self.words) or node == number:
                return False
            one, other = self.tools[node], self.tools[number]
            if one is None or other is None or other.kind != "resource":
                pass
            elif not any(fits(one.outputs, slot.type) for slot in other.slots):
                return False
            needs[f"n{number}"].append(f"n{node}")
        return next(circles({id_: Task("", id_, {}, tuple(each)) for id_, each in needs.items()}), None) is None

    def _placed(self, number: int, given: list[Given]) -> dict[str, Json | Reference]:
        """Return the arguments of a task by name."""
        tool = self.tools[number]
        made: dict[str, Json | Reference] = {}
        if tool is not None and tool.kind == "resource":
            for argument, key, slot in self._by_type(number, tool, given):
                made[key] = self._value(argument, slot)
                self.places[number, key] = argument.place
            return made
        for position, argument in enumerate(given):
            key = argument.key or ""
            if argument.key is None:
                in_place = tool is not None and position < len(tool.slots)
                key = tool.slots[position].key if tool is not None and in_place else f"argument{position + 1}"
            if key in made:
                self.problems.append(OddArguments(pointer=argument.place, reason=f"the argument `{key}` is given twice"))
                continue
            made[key] = self._value(argument, None)
            self.places[number, key] = argument.place
        return made

    def _by_type(self, number: int, tool: BenchTool, given: list[Given]) -> Iterator[tuple[Given, str, str]]:
        slots = [slot.type for slot in tool.slots]
        if len(given) > len(slots):
            place = self._place(number, "arguments")
            self.problems.append(SurplusArgument(pointer=place, callee=tool.id, takes=len(slots), given=len(given)))
            given = given[: len(slots)]
        way = arranged([(self._outputs(argument), argument.value) for argument in given], slots)
        if len(given) == len(slots) and way != tuple(range(len(given))):
            if self.repair:
                shown = [str(argument.value)[:40] for argument in given]
                ordered = [shown[way.index(slot)] for slot in range(len(slots))]
                self._repaired("argument-order", self._place(number, "arguments"), ", ".join(shown), ", ".join(ordered))
            else:
                self.problems.append(ArgumentOrder(pointer=self._place(number, "arguments"), callee=tool.id, types=tuple(slots)))
        for slot, argument in sorted(zip(way, given, strict=True), key=lambda pair: pair[0]):
            self._check_type(tool, argument, tool.slots[slot].type)
            yield argument, tool.slots[slot].key, tool.slots[slot].type

    def _outputs(self, argument: Given) -> tuple[str, ...] | None:
        """Return the types of what an argument refers to; `None` if it is a literal, or of a task that is not known."""
        source = self._source(argument)
        return None if source is None else source.outputs

    def _source(self, argument: Given) -> BenchTool | None:
        if argument.target is None or not argument.target[1:].isdecimal():
            return None
        index = int(argument.target[1:])
        return self.tools[index] if index < len(self.tools) else None

    def _check_type(self, tool: BenchTool, argument: Given, slot: str) -> None:
        source = self._source(argument)
        reason = None
        if source is not None and source.kind == "resource" and not fits(source.outputs, slot):
            reason = f"`{source.id}` gives {' and '.join(source.outputs) or 'nothing'}, not {slot}"
        elif argument.target is None and argument.value.__class__ is str:
            kind = content_type(argument.value)
            if kind != "text" and slot.lower() in {"image", "audio", "video"} and slot.lower() != kind:
                reason = f"it is {kind}, not {slot}"
        if reason is not None:
            self.problems.append(WrongArgument(pointer=argument.place, callee=tool.id, argument=slot, reason=reason))

    def _value(self, argument: Given, slot: str | None) -> Json | Reference:
        if argument.target is None:
            return argument.value
        source = self._source(argument)
        steps: tuple[str, ...] = ()
        if source is not None and len(source.outputs) > 1:
            chosen = next((kind for kind in source.outputs if slot is None or kind.lower() == slot.lower()), None)
            steps = () if chosen is None else (chosen,)
        return Reference("from", argument.target, steps)

    def _check(self, tasks: list[Task], links: Links) -> None:
        """Check the tasks as any plan is checked; places are those of the record."""
        told = {(problem.name, problem.pointer) for problem in self.problems}
        for problem in check_read(list(enumerate(tasks)), self.importer.tools):
            at = self._translated(problem.pointer, links)
            if isinstance(problem, InvalidPlan) or (problem.name, at) in told:
                continue  # a task without a name, which has been told; an argument of the wrong type
            if problem.name == "unknown-tool":
                number = int(problem.pointer.split("/")[1])
                if not self.words[number]:
                    continue
                near = nearest(self.words[number], self.importer._ids)  # noqa: SLF001  -- of this file
                problem = replace(problem, known=self.importer._ids, nearest=near)  # type: ignore[call-arg]  # noqa: PLW2901, SLF001
            if isinstance(problem, MissingArgument | UnknownArgument | WrongArgument) and problem.callee in self.bench.by_name:
                problem = replace(problem, callee=self.bench.by_name[problem.callee].id)  # noqa: PLW2901  -- in their words
            self.problems.append(replace(problem, pointer=at))

    def _translated(self, place: str, links: Links) -> str:
        _, number, *rest = place.split("/")
        if rest[:1] == ["arguments"] and len(rest) == 2:
            key = rest[1].replace("~1", "/").replace("~0", "~")
            return self.places.get((int(number), key), self._place(int(number)))
        if rest[:1] == ["after"]:
            return links.place(int(number), int(rest[1]))
        return self._place(int(number), *(["task"] if rest == ["tool"] else rest if rest == ["arguments"] else []))

    def _odd(self, reason: str, number: int, *rest: int) -> None:
        place = self._place(number, "arguments", *rest)
        self.problems.append(OddArguments(pointer=place, reason=reason))

    def _repaired(self, mistake: str, place: str, before: str, after: str) -> None:
        self.problems.append(RepairedPlan(pointer=place, mistake=mistake, before=before[:80], after=after[:80]))


def _letters(name: str) -> str:
    return "".join(letter for letter in plain(name) if letter.isalnum())
