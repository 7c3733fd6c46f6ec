"""The links of a record: what they say must be what the arguments say, or the order of tasks where arguments do not say it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from instrc.ir.tasks import PlanTask
from instrc.jsonvalue import Json, pointer
from instrc.plans.taskbench.named_record import NamedRecord, spelled
from instrc.problems.plans import AmbiguousReference, ContradictingLinks, DanglingTask, InvalidPlan, PlanProblem, RepairedPlan


@dataclass(frozen=True, slots=True)
class Linked:
    """The tasks of a record with the order that its links say, where each such order is said, and what is wrong."""

    tasks: list[PlanTask]
    places: dict[tuple[int, int], str]
    """The link for a task by its number, and the position in its `after`."""
    problems: tuple[PlanProblem, ...]


def link_tasks(record: NamedRecord, tasks: list[PlanTask]) -> Linked:
    """Return the tasks with what the links of their record add to their order."""
    links = _Links(record)
    made = links.applied(tasks)
    return Linked(made, links.places, (*links.repairs, *links.problems))


class _Links:
    """The links of one record."""

    def __init__(self, record: NamedRecord) -> None:
        self.problems: list[PlanProblem] = []
        self.repairs: list[PlanProblem] = []
        """Of names."""
        self.places: dict[tuple[int, int], str] = {}
        self._record = record
        self._repair = record.repair
        self._words = record.words
        self._by_arguments = record.bench.is_resource
        self._at = (*record.record.place, f"{record.record.prefix}_links")
        self._given = record.record.links is not None
        self._pairs = list(self._read(record.record.links))

    def applied(self, tasks: list[PlanTask]) -> list[PlanTask]:
        """Return the tasks with what the links add to their order."""
        if not self._given:
            return tasks
        said = {
            (self._words[int(need[1:])], self._words[number])
            for number, task in enumerate(tasks)
            for need in task.needs
            if int(need[1:]) < len(tasks) and int(need[1:]) != number
        }
        written = {pair for pair, _ in self._pairs}
        for source, target in sorted(said - written):
            self._contradiction(source, target, missing=True, place=pointer(self._at))
        if self._by_arguments:
            for (source, target), place in self._pairs:
                if (source, target) not in said:
                    self._contradiction(source, target, missing=False, place=place)
            return tasks
        return self._order_tasks(tasks, said)

    def _read(self, links: Json) -> list[tuple[tuple[str, str], str]]:
        if links is None:
            return []
        if not isinstance(links, list):
            self.problems.append(InvalidPlan(pointer=pointer(self._at), reason="the links are not a list"))
            return []
        found: list[tuple[tuple[str, str], str]] = []
        at = pointer(self._at)
        for number, link in enumerate(links):
            place = f"{at}/{number}"
            ends = [link.get("source"), link.get("target")] if isinstance(link, dict) else []
            words = [end for end in ends if isinstance(end, str)]
            if len(words) != 2:
                self.problems.append(
                    InvalidPlan(pointer=place, reason="a link is an object with the texts `source` and `target`")
                )
                continue
            source, target = (self._spelled(end, f"{place}/{key}") for end, key in zip(words, ("source", "target"), strict=True))
            found.append(((source, target), place))
        return found

    def _spelled(self, word: str, place: str) -> str:
        spelling, repair = spelled(self._record, word, place)
        self.repairs += [] if repair is None else [repair]
        return spelling

    def _contradiction(self, source: str, target: str, *, missing: bool, place: str) -> None:
        if self._repair:
            link = f"{source} → {target}"
            before, after = ("no link", link) if missing else (link, "no link")
            self.problems.append(RepairedPlan(pointer=place, mistake="contradicting-links", before=before, after=after))
        else:
            self.problems.append(ContradictingLinks(pointer=place, source=source, target=target, missing=missing))

    def _order_tasks(self, tasks: list[PlanTask], said: set[tuple[str, str]]) -> list[PlanTask]:
        """Return the tasks with the order that links say and no argument does."""
        after: list[list[str]] = [list(task.after) for task in tasks]
        places: dict[str, list[int]] = {}
        for number, word in enumerate(self._words):
            places.setdefault(word, []).append(number)
        met: Counter[tuple[str, str]] = Counter()
        for pair, place in self._pairs:
            met[pair] += 1
            if pair in said:
                continue
            ends = [places.get(word, []) for word in pair]
            if not all(ends):
                for word, key, found in zip(pair, ("source", "target"), ends, strict=True):
                    if not found:
                        self.problems.append(DanglingTask(pointer=f"{place}/{key}", id=word))
                continue
            source, target = self._chosen(pair, ends[0], ends[1], met[pair], place)
            if f"n{source}" not in after[target]:
                self.places[target, len(after[target])] = place
                after[target].append(f"n{source}")
        return [task if not each else replace(task, after=tuple(each)) for task, each in zip(tasks, after, strict=True)]

    def _chosen(self, pair: tuple[str, str], sources: list[int], targets: list[int], time: int, place: str) -> tuple[int, int]:
        """Return which tasks a link joins: where a name stands for several, the next one, and the nearest before it."""
        target = targets[min(time, len(targets)) - 1]
        before = [each for each in sources if each < target]
        source = before[-1] if before else next((each for each in sources if each != target), sources[0])
        for word, found, chosen in ((pair[0], sources, source), (pair[1], targets, target)):
            if len(found) > 1:
                if self._repair:
                    made = RepairedPlan(pointer=place, mistake="ambiguous-reference", before=word, after=f"<node-{chosen}>")
                    self.problems.append(made)
                else:
                    self.problems.append(AmbiguousReference(pointer=place, tool=word, count=len(found)))
        return source, target
