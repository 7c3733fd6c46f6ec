"""What the arguments of a record refer to: other tasks, by number or by the name of their tool."""

from __future__ import annotations

from instrc.ir.tasks import PlanTask
from instrc.plans.order import circles
from instrc.plans.taskbench.arrange import fits
from instrc.plans.taskbench.named_record import NamedRecord, brief, repaired
from instrc.plans.taskbench.tags import ReferenceTag
from instrc.plans.taskbench.written import WrittenArgument
from instrc.problems.plans import (
    AmbiguousReference,
    CountedFromOne,
    OddReference,
    PlanProblem,
    ReferenceInText,
    SeveralReferences,
)


def resolve(record: NamedRecord, given: list[list[WrittenArgument]]) -> tuple[list[list[WrittenArgument]], list[PlanProblem]]:
    """Return the arguments of all tasks, each with the task it stands for, and what is wrong with the references."""
    referring = _Referring(record, list(given))
    for number, each in enumerate(given):
        referring.given[number] = [referring.resolved(argument) for argument in each]
    return referring.given, referring.problems


class _Referring:
    """The references of one record."""

    def __init__(self, record: NamedRecord, given: list[list[WrittenArgument]]) -> None:
        self.record = record
        self.given = given
        self.problems: list[PlanProblem] = []
        self.base = self._counted_from()

    def resolved(self, argument: WrittenArgument) -> WrittenArgument:
        """Return an argument with the task it stands for."""
        value, found = argument.value, argument.tags
        if not isinstance(value, str):
            return argument
        tool = self.record.tools[argument.number]
        if (tool is None or tool.kind != "resource") and value in self.record.bench.by_id:
            return argument._replace(target=self._by_name(value, argument))
        if not found:
            return argument
        tag = found[0]
        if len(found) > 1:
            self.problems.append(SeveralReferences(pointer=self._place(argument), count=len(found)))
            return argument
        if tag.text != value.strip():
            self.problems.append(ReferenceInText(pointer=self._place(argument), text=tag.text))
            return argument
        if tag.node is None or not tag.is_exact or tag.text != value:
            return self._odd(argument, tag)
        return argument._replace(target=f"n{tag.node - self.base}")

    def _place(self, argument: WrittenArgument) -> str:
        return self.record.place(argument.number, "arguments", argument.position)

    def _odd(self, argument: WrittenArgument, tag: ReferenceTag) -> WrittenArgument:
        """Return what a reference in another spelling stands for, if it is to be repaired."""
        place = self._place(argument)
        if not self.record.repair:
            meaning = f"<node-{tag.node}>" if tag.node is not None and tag.argument is None else None
            self.problems.append(OddReference(pointer=place, text=tag.text, meaning=meaning))
            return argument
        if tag.tool is not None:
            tool = self.record.bench.by_id.get(tag.tool) or self.record.names.nearest(tag.tool)
            if tool is None or tool.id not in self.record.words:
                self.problems.append(OddReference(pointer=place, text=tag.text))
                return argument
            target = self._by_name(tool.id, argument)
            self.problems.append(repaired("odd-reference", place, tag.text, f"<node-{target[1:]}>"))
            return argument._replace(target=target)
        node = (tag.node or 0) - self.base
        if tag.argument is not None:
            return self._copied(argument, tag, node, tag.argument)
        self.problems.append(repaired("odd-reference", place, tag.text, f"<node-{tag.node}>"))
        return argument._replace(target=f"n{node}")

    def _copied(self, argument: WrittenArgument, tag: ReferenceTag, node: int, position: int) -> WrittenArgument:
        """Return what another task is given, where a reference names that, not what the task gives."""
        place = self._place(argument)
        if not (0 <= node < len(self.given) and position < len(self.given[node])) or node == argument.number:
            self.problems.append(OddReference(pointer=place, text=tag.text))
            return argument
        copied = self.given[node][position]
        if copied.tags and not copied.tags[0].is_exact:
            self.problems.append(OddReference(pointer=place, text=tag.text))
            return argument
        self.problems.append(repaired("odd-reference", place, tag.text, brief(copied.value)))
        return self.resolved(argument._replace(value=copied.value, tags=copied.tags))

    def _by_name(self, tool: str, argument: WrittenArgument) -> str:
        """Return the id of the task that the name of a tool stands for, as seen from another task."""
        places = [number for number, word in enumerate(self.record.words) if word == tool]
        if not places:
            return f"n{len(self.record.words)}"  # nobody: the check says so
        if len(places) == 1:
            return f"n{places[0]}"
        before = [number for number in places if number < argument.number]
        chosen = before[-1] if before else next(number for number in places if number != argument.number)
        if self.record.repair:
            self.problems.append(repaired("ambiguous-reference", self._place(argument), tool, f"<node-{chosen}>"))
        else:
            self.problems.append(AmbiguousReference(pointer=self._place(argument), tool=tool, count=len(places)))
        return f"n{chosen}"

    def _counted_from(self) -> int:
        """Return whether references count from 0 or from 1: from 1 if only that makes sense."""
        found = [
            (argument, node)
            for each in self.given
            for argument in each
            if len(argument.tags) == 1 and (node := argument.tags[0].node) is not None
        ]
        if not found or self._makes_sense([(argument.number, node) for argument, node in found]):
            return 0
        if not self._makes_sense([(argument.number, node - 1) for argument, node in found]):
            return 0
        if self.record.repair:
            for argument, node in found:
                self.problems.append(repaired("counted-from-one", self._place(argument), f"<node-{node}>", f"<node-{node - 1}>"))
        else:
            self.problems.append(CountedFromOne(pointer=self._place(found[0][0])))
        return 1

    def _makes_sense(self, references: list[tuple[int, int]]) -> bool:
        tools = self.record.tools
        for number, node in references:
            if not 0 <= node < len(tools) or node == number:
                return False
            one, other = tools[node], tools[number]
            if one is None or other is None or other.kind != "resource":
                continue
            if not any(fits(one.outputs, slot.type) for slot in other.slots):
                return False
        if all(node < number for number, node in references):
            return True
        needs: dict[int, list[str]] = {}
        for number, node in references:
            needs.setdefault(number, []).append(f"n{node}")
        waiting = {f"n{number}": PlanTask("", f"n{number}", {}, tuple(needs.get(number, ()))) for number in range(len(tools))}
        return next(circles(waiting), None) is None
