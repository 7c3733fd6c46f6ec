"""The arguments of a record: the tool input for each, and the references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import Final, NamedTuple

from msgspec import Struct, structs

from instrc.problems import plans
from instrc.text.jsonvalue import Json, pointer
from instrc.tools.plan_check import circles
from instrc.tools.taskbench import BenchTool, NamedRecord, brief, ends_of, repaired, spelled
from instrc.tools.tasks import PlanTask, Reference

_EXACT = re.compile(r"<node-(\d{1,18})>")


class ReferenceTag(NamedTuple):
    """A reference as it was written."""

    text: str
    node: int | None
    """Number of the task as written."""
    argument: int | None = None
    """Number of an argument of that task, if it is referenced instead of the output."""
    tool: str | None = None
    """Name of the tool, if the task is referenced by it."""

    @property
    def is_exact(self) -> bool:
        """Whether it is written correctly."""
        return _EXACT.fullmatch(self.text) is not None


class WrittenArgument(NamedTuple):
    """An argument as written, and its reference."""

    key: str | None
    value: Json
    number: int
    """Number of its task."""
    position: int
    tags: tuple[ReferenceTag, ...] = ()
    """References in it."""
    target: str | None = None
    """Id of the referenced task."""


class TaskArguments(Struct, frozen=True):
    """The arguments of a task by name, their places in its list, and their problems."""

    values: dict[str, Json | Reference]
    positions: dict[str, int]
    problems: tuple[plans.PlanProblem, ...]


def arguments(record: NamedRecord, number: int, given: list[WrittenArgument]) -> TaskArguments:
    """Return the arguments of a task by name."""
    tool = record.tools[number]
    if tool is not None and tool.kind == "resource":
        return _by_type(record, number, tool, given)
    values: dict[str, Json | Reference] = {}
    positions: dict[str, int] = {}
    problems: list[plans.PlanProblem] = []
    for position, argument in enumerate(given):
        key = argument.key or ""
        if argument.key is None:
            in_place = tool is not None and position < len(tool.slots)
            key = tool.slots[position].key if tool is not None and in_place else f"argument{position + 1}"
        if key in values:
            problems.append(record.odd(f"the argument `{key}` is given twice", number, argument.position))
            continue
        values[key] = _value(record, argument, None)
        positions[key] = argument.position
    return TaskArguments(values, positions, tuple(problems))


def _by_type(record: NamedRecord, number: int, tool: BenchTool, given: list[WrittenArgument]) -> TaskArguments:
    """Return the arguments of a tool whose parameters have types instead of names."""
    slots = [slot.type for slot in tool.slots]
    place = record.place(number, "arguments")
    problems: list[plans.PlanProblem] = []
    if len(given) > len(slots):
        problems.append(plans.SurplusArgument(pointer=place, callee=tool.id, takes=len(slots), given=len(given)))
        given = given[: len(slots)]
    sources = [_source(record, argument) for argument in given]
    outputs = [None if source is None else source.outputs for source in sources]
    way = arranged([(item, argument.value) for item, argument in zip(outputs, given, strict=True)], slots)
    moved = way != tuple(range(len(given)))
    if moved and len(given) == len(slots):
        shown = [brief(argument.value)[:40] for argument in given]
        ordered = [shown[way.index(slot)] for slot in range(len(slots))]
        problem = plans.ArgumentOrder(pointer=place, callee=tool.id, types=tuple(slots))
        problems.append(record.mistake(problem, ", ".join(shown), ", ".join(ordered)))
    result = list(zip(way, given, sources, strict=True))
    values: dict[str, Json | Reference] = {}
    positions: dict[str, int] = {}
    for slot, argument, source in sorted(result, key=lambda entry: entry[0]) if moved else result:
        key, kind = tool.slots[slot].key, tool.slots[slot].type
        if (reason := _wrong_type(argument, source, kind)) is not None:
            at = record.place(number, "arguments", argument.position)
            problems.append(plans.WrongArgument(pointer=at, callee=tool.id, argument=kind, reason=reason))
        values[key] = _value(record, argument, kind)
        positions[key] = argument.position
    return TaskArguments(values, positions, tuple(problems))


def _source(record: NamedRecord, argument: WrittenArgument) -> BenchTool | None:
    """Return the tool of the task that an argument refers to, or `None` for a literal or an unknown task."""
    if argument.target is None or not argument.target[1:].isdecimal():
        return None
    number = int(argument.target[1:])
    return record.tools[number] if number < len(record.tools) else None


_MEDIA = frozenset({"image", "audio", "video"})


def _wrong_type(argument: WrittenArgument, source: BenchTool | None, slot: str) -> str | None:
    """Return why an argument does not have a type, or `None` if it does."""
    if source is not None and source.kind == "resource" and not fits(source.outputs, slot):
        return f"`{source.id}` gives {' and '.join(source.outputs) or 'nothing'}, not {slot}"
    if argument.target is None and isinstance(argument.value, str) and slot.lower() in _MEDIA:
        kind = content_type(argument.value)
        if kind not in {"text", slot.lower()}:
            return f"it is {kind}, not {slot}"
    return None


def _value(record: NamedRecord, argument: WrittenArgument, slot: str | None) -> Json | Reference:
    """Return the value of an argument: a reference to the result of a task, or a part of it."""
    if argument.target is None:
        return argument.value
    source = _source(record, argument)
    steps: tuple[str, ...] = ()
    if source is not None and len(source.outputs) > 1:
        chosen = next((kind for kind in source.outputs if slot is None or kind.lower() == slot.lower()), None)
        steps = () if chosen is None else (chosen,)
    return Reference("from", argument.target, steps)


ORDERED_ARGUMENTS: Final = 6
"""Maximum arguments of which all orders are tried."""
_ENDINGS = {
    "image": (".jpg", ".png", ".jpeg", ".gif", ".bmp", ".tiff", ".svg", ".ico"),
    "audio": (".mp3", ".wav", ".wma", ".ogg", ".aac", ".flac", ".aiff", ".au"),
    "video": (".mp4", ".avi", ".mov", ".flv", ".wmv", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg"),
}


def content_type(text: str) -> str:
    """Return the media type that a text names: the first of image, audio and video whose ending occurs in it, else text."""
    if "." not in text:
        return "text"
    return next((kind for kind, endings in _ENDINGS.items() if any(ending in text for ending in endings)), "text")


def fits(kinds: Sequence[str] | None, slot: str) -> bool:
    """Return whether an argument may fill an input: `kinds` are the output types of a task, `None` means a literal."""
    return kinds is None or slot.lower() in {kind.lower() for kind in kinds}


def arranged(given: Sequence[tuple[Sequence[str] | None, Json]], slots: Sequence[str]) -> tuple[int, ...]:
    """Return the input of each argument: in the given order, unless another assignment fits better."""
    order = tuple(range(len(given)))
    if len(given) > len(slots) or len(slots) > ORDERED_ARGUMENTS or len(slots) < 2:
        return order
    scores = [[_score(kinds, value, slot) for slot in slots] for kinds, value in given]
    if all(scores[number][number] for number in order):
        return order
    return max(
        permutations(range(len(slots)), len(given)), key=lambda way: sum(scores[item][slot] for item, slot in enumerate(way))
    )


def _score(kinds: Sequence[str] | None, value: Json, slot: str) -> bool:
    """Return whether an argument certainly has the type of an input."""
    if kinds is not None:
        return fits(kinds, slot)
    kind = content_type(value) if value.__class__ is str else "text"
    return kind == slot.lower() or (kind == "text" and slot.lower() not in _ENDINGS)


_NODE = r"<\s*(?:node|task|step|generated)[-_#:\s]*\[?(\d{1,18})\]?(?:\.\w+)*\s*>(?:\.\w+)*"
_GENERATED = r"<\s*generated\s*>[-_\s]*(\d{1,18})"
_MEMBER = r"<\s*(?:task|tool)_nodes\[(\d{1,18})\](?:\.arguments\[(\d{1,18})\](?:\.value)?|\.\w+)*\s*>"
_NAMED = r"<\s*(?:output|result)s?[-_\s](?:of|from)[-_\s]([^<>]{1,200})>"
# no two adjacent repetitions may match the same space, or a hostile text would cause backtracking
_ANY = re.compile(f"{_NODE}|{_GENERATED}|{_MEMBER}|{_NAMED}", re.IGNORECASE)


def tags_in(text: str) -> list[ReferenceTag]:
    """Return the references in a text, in order."""
    return [_tag(result) for result in _ANY.finditer(text)] if "<" in text else []


def _tag(found: re.Match[str]) -> ReferenceTag:
    node, generated, member, argument, tool = found.groups()
    number = next((item for item in (node, generated, member) if item is not None), None)
    return ReferenceTag(
        found.group(), None if number is None else int(number), None if argument is None else int(argument), tool and tool.strip()
    )


def arguments_of(record: NamedRecord, node: Json, number: int) -> tuple[list[WrittenArgument], list[plans.PlanProblem]]:
    """Return the arguments of a task as written, and their problems."""
    tool = record.tools[number]
    problems: list[plans.PlanProblem] = []
    written = node.get("arguments") if isinstance(node, dict) else None
    if isinstance(node, dict) and "task" in node and written is None and tool is not None and tool.slots:
        problems.append(record.odd("there are no arguments", number))
    if isinstance(written, str):
        problems.append(record.odd("the arguments are one text, no list", number))
        written = [written] if written else []
    if isinstance(written, dict):
        named = written.keys() == {"name", "value"}
        if tool is None or tool.kind == "resource" or named:
            problems.append(record.odd("the arguments are an object, no list", number))
        elif tool.kind == "temporal":
            problems.append(record.odd("the arguments are an object by name, not a list of `{name, value}`", number))
        written = [written] if named else [{"name": name, "value": value} for name, value in written.items()]
    if written is not None and not isinstance(written, list):
        return [], [*problems, record.odd("the arguments are not a list", number)]
    result: list[WrittenArgument] = []
    for position, item in enumerate(written or ()):
        argument, reason = _argument(tool, item, number, position)
        result.append(argument)
        problems += [] if reason is None else [record.odd(reason, number, position)]
    return result, problems


def _argument(tool: BenchTool | None, each: Json, number: int, position: int) -> tuple[WrittenArgument, str | None]:
    """Return an argument, and its problems."""
    name: str | None = None
    reason: str | None = None
    value = each
    if isinstance(each, dict) and "value" in each and isinstance(said := each.get("name"), str):
        value = each["value"]
        if tool is not None and tool.kind == "resource":
            reason = "an argument is an object, where the tool takes a list of texts"
        else:
            name = said
    elif tool is not None and tool.kind == "temporal":
        reason = "an argument is not an object with a `name` and a `value`"
    tags = tuple(tags_in(value)) if isinstance(value, str) and "<" in value else ()
    return WrittenArgument(name, value, number, position, tags), reason


def resolve(
    record: NamedRecord, given: list[list[WrittenArgument]]
) -> tuple[list[list[WrittenArgument]], list[plans.PlanProblem]]:
    """Return the arguments of all tasks, each with the task it refers to, and the problems of the references."""
    referring = _Referring(record, list(given))
    for number, item in enumerate(given):
        referring.given[number] = [referring.resolved(argument) for argument in item]
    return referring.given, referring.problems


class _Referring:
    """Resolves the references of one record."""

    def __init__(self, record: NamedRecord, given: list[list[WrittenArgument]]) -> None:
        self.record = record
        self.given = given
        self.problems: list[plans.PlanProblem] = []
        self.base = self._counted_from()

    def resolved(self, argument: WrittenArgument) -> WrittenArgument:
        """Return an argument with the task it refers to."""
        value, result = argument.value, argument.tags
        if not isinstance(value, str):
            return argument
        tool = self.record.tools[argument.number]
        if (tool is None or tool.kind != "resource") and value in self.record.bench.by_id:
            return argument._replace(target=self._by_name(value, argument))
        if not result:
            return argument
        tag = result[0]
        if len(result) > 1:
            self.problems.append(plans.SeveralReferences(pointer=self._place(argument), count=len(result)))
            return argument
        if tag.text != value.strip():
            self.problems.append(plans.ReferenceInText(pointer=self._place(argument), text=tag.text))
            return argument
        if tag.node is None or not tag.is_exact or tag.text != value:
            return self._odd(argument, tag)
        return argument._replace(target=f"n{tag.node - self.base}")

    def _place(self, argument: WrittenArgument) -> str:
        return self.record.place(argument.number, "arguments", argument.position)

    def _odd(self, argument: WrittenArgument, tag: ReferenceTag) -> WrittenArgument:
        """Return the meaning of a reference in another spelling, if it can be repaired."""
        place = self._place(argument)
        if not self.record.repair:
            meaning = f"<node-{tag.node}>" if tag.node is not None and tag.argument is None else None
            self.problems.append(plans.OddReference(pointer=place, text=tag.text, meaning=meaning))
            return argument
        if tag.tool is not None:
            tool = self.record.bench.by_id.get(tag.tool) or self.record.names.nearest(tag.tool)
            if tool is None or tool.id not in self.record.words:
                self.problems.append(plans.OddReference(pointer=place, text=tag.text))
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
        """Return the argument of another task, if a reference names that instead of the task's output."""
        place = self._place(argument)
        if not (0 <= node < len(self.given) and position < len(self.given[node])) or node == argument.number:
            self.problems.append(plans.OddReference(pointer=place, text=tag.text))
            return argument
        copied = self.given[node][position]
        if copied.tags and not copied.tags[0].is_exact:
            self.problems.append(plans.OddReference(pointer=place, text=tag.text))
            return argument
        self.problems.append(repaired("odd-reference", place, tag.text, brief(copied.value)))
        return self.resolved(argument._replace(value=copied.value, tags=copied.tags))

    def _by_name(self, tool: str, argument: WrittenArgument) -> str:
        """Return the id of the task that a tool name refers to, seen from another task."""
        places = [number for number, word in enumerate(self.record.words) if word == tool]
        if not places:
            return f"n{len(self.record.words)}"  # nobody, which the check reports
        if len(places) == 1:
            return f"n{places[0]}"
        before = [number for number in places if number < argument.number]
        chosen = before[-1] if before else next(number for number in places if number != argument.number)
        problem = plans.AmbiguousReference(pointer=self._place(argument), tool=tool, count=len(places))
        self.problems.append(self.record.mistake(problem, tool, f"<node-{chosen}>"))
        return f"n{chosen}"

    def _counted_from(self) -> int:
        """Return whether references count from 0 or 1: from 1 if only that makes sense."""
        result = [
            (argument, node)
            for item in self.given
            for argument in item
            if len(argument.tags) == 1 and (node := argument.tags[0].node) is not None
        ]
        if not result or self._makes_sense([(argument.number, node) for argument, node in result]):
            return 0
        if not self._makes_sense([(argument.number, node - 1) for argument, node in result]):
            return 0
        if self.record.repair:
            for argument, node in result:
                self.problems.append(repaired("counted-from-one", self._place(argument), f"<node-{node}>", f"<node-{node - 1}>"))
        else:
            self.problems.append(plans.CountedFromOne(pointer=self._place(result[0][0])))
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


class Linked(Struct, frozen=True):
    """The tasks of a record in the order of its links, the place of each such link, and the problems."""

    tasks: list[PlanTask]
    places: dict[tuple[int, int], str]
    """Links by task number and position in its `after`."""
    problems: tuple[plans.PlanProblem, ...]


def link_tasks(record: NamedRecord, tasks: list[PlanTask]) -> Linked:
    """Return the tasks with the order that only the links of their record define."""
    links = _Links(record)
    result = links.applied(tasks)
    return Linked(result, links.places, (*links.repairs, *links.problems))


class _Links:
    """The links of one record."""

    def __init__(self, record: NamedRecord) -> None:
        self.problems: list[plans.PlanProblem] = []
        self.repairs: list[plans.PlanProblem] = []
        """Of names."""
        self.places: dict[tuple[int, int], str] = {}
        self._record = record
        self._words = record.words
        self._by_arguments = record.bench.is_resource
        self._at = (*record.record.place, f"{record.record.prefix}_links")
        self._given = record.record.links is not None
        self._pairs = list(self._read(record.record.links))

    def applied(self, tasks: list[PlanTask]) -> list[PlanTask]:
        """Return the tasks with the order that only the links define."""
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
            self.problems.append(plans.InvalidPlan(pointer=pointer(self._at), reason="the links are not a list"))
            return []
        result: list[tuple[tuple[str, str], str]] = []
        at = pointer(self._at)
        for number, link in enumerate(links):
            place = f"{at}/{number}"
            if (ends := ends_of(link)) is None:
                self.problems.append(
                    plans.InvalidPlan(pointer=place, reason="a link is an object with the texts `source` and `target`")
                )
                continue
            source, target = (self._spelled(end, f"{place}/{key}") for end, key in zip(ends, ("source", "target"), strict=True))
            result.append(((source, target), place))
        return result

    def _spelled(self, word: str, place: str) -> str:
        spelling, repair = spelled(self._record, word, place)
        self.repairs += [] if repair is None else [repair]
        return spelling

    def _contradiction(self, source: str, target: str, *, missing: bool, place: str) -> None:
        link = f"{source} → {target}"
        problem = plans.ContradictingLinks(pointer=place, source=source, target=target, missing=missing)
        self.problems.append(self._record.mistake(problem, *(("no link", link) if missing else (link, "no link"))))

    def _order_tasks(self, tasks: list[PlanTask], said: set[tuple[str, str]]) -> list[PlanTask]:
        """Return the tasks with `after` for each link that no argument implies."""
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
                for word, key, result in zip(pair, ("source", "target"), ends, strict=True):
                    if not result:
                        self.problems.append(plans.DanglingTask(pointer=f"{place}/{key}", id=word))
                continue
            source, target = self._chosen(pair, ends[0], ends[1], met[pair], place)
            if f"n{source}" not in after[target]:
                self.places[target, len(after[target])] = place
                after[target].append(f"n{source}")
        return [task if not item else structs.replace(task, after=tuple(item)) for task, item in zip(tasks, after, strict=True)]

    def _chosen(self, pair: tuple[str, str], sources: list[int], targets: list[int], time: int, place: str) -> tuple[int, int]:
        """Return the tasks joined by a link: if a name is ambiguous, the next one, and the nearest before it."""
        target = targets[min(time, len(targets)) - 1]
        before = [item for item in sources if item < target]
        source = before[-1] if before else next((item for item in sources if item != target), sources[0])
        for word, result, chosen in ((pair[0], sources, source), (pair[1], targets, target)):
            if len(result) > 1:
                problem = plans.AmbiguousReference(pointer=place, tool=word, count=len(result))
                self.problems.append(self._record.mistake(problem, word, f"<node-{chosen}>"))
        return source, target
