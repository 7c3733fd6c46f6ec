"""Differences between two processes, and whom they affect."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from instrc.process import flow
from instrc.process.chunk_json import write_step
from instrc.process.flow import EXECUTORS, Block, Step, Value
from instrc.process.process import Process
from instrc.schema.differences import compare
from instrc.schema.inclusion import Inclusion, includes
from instrc.schema.walk import reached_definitions, refers
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object, equal

_NUMBER = re.compile(r"\bstep\d+_")
_ELSEWHERE = frozenset({"title", "description", "references", "arguments"})
"""Keywords whose changes are reported with the step itself or by its name."""


class PlacedStep(Struct, frozen=True):
    """A step with its chunk and branch."""

    step: flow.Step
    executor: flow.Executor
    chunk: int
    parent: int | None
    """Enclosing block, as its index in the outline; `None` at the top."""
    branch: int

    @property
    def name(self) -> str:
        """Its key without the step number."""
        return _NUMBER.sub("", self.step.key, count=1)


class PlacedBlock(Struct, frozen=True):
    """A block with its branch."""

    block: flow.Block
    parent: int | None
    branch: int


class Outline(Struct, frozen=True):
    """The steps, chunks and blocks of a process, each block before its contents."""

    steps: tuple[PlacedStep, ...]
    chunks: tuple[flow.Chunk, ...]
    blocks: tuple[PlacedBlock, ...]

    @classmethod
    def of(cls, process: Process) -> Outline:
        """Return the outline of a process."""
        steps: list[PlacedStep] = []
        chunks: list[flow.Chunk] = []
        blocks: list[PlacedBlock] = []
        waiting = list(_within((process.body,), None))
        while waiting:
            context, parent, branch = waiting.pop()
            if isinstance(context, flow.Chunk):
                steps += [PlacedStep(step, context.executor, len(chunks), parent, branch) for step in context.steps]
                chunks.append(context)
            else:
                waiting.extend(_within(flow.bodies_of(context), len(blocks)))
                blocks.append(PlacedBlock(context, parent, branch))
        return cls(tuple(steps), tuple(chunks), tuple(blocks))

    def around(self, block: int | None) -> Iterator[int]:
        """Yield a block and its enclosing blocks, from inside out."""
        while block is not None:
            yield block
            block = self.blocks[block].parent


def _within(bodies: tuple[flow.Body, ...], parent: int | None) -> Iterator[tuple[flow.Context, int | None, int]]:
    """Yield the contexts of bodies, last first."""
    for branch in reversed(range(len(bodies))):
        for context in reversed(bodies[branch].contexts):
            yield context, parent, branch


class Pairs(Struct, frozen=True):
    """Two outlines and their correspondence: indexes in the old one by indexes in the new one."""

    old: Outline
    new: Outline
    steps: dict[int, int]
    """Old steps by new steps."""
    blocks: dict[int, int]
    """Old blocks by new blocks."""
    keys: dict[str, str]
    """New keys by old keys."""

    def path(self, read: flow.Read) -> str:
        """Return a path of the old process in the names of the new one."""
        first = self.keys.get(read.first)
        return read.text if first is None else ".".join((first, *filter(None, [read.text.removeprefix(read.first)[1:]])))


def pair(old: Process, new: Process) -> Pairs:
    """Match the parts of one process with those of another."""
    before, after = Outline.of(old), Outline.of(new)
    steps = _steps(before, after)
    steps |= _renamed(before, after, steps, (dumps(dict(old.definitions)), dumps(dict(new.definitions))))
    blocks = _blocks(before, after, steps)
    keys = {before.steps[was].step.key: after.steps[now].step.key for now, was in steps.items()}
    for now, was in blocks.items():
        was_key, now_key = getattr(before.blocks[was].block, "key", None), getattr(after.blocks[now].block, "key", None)
        if was_key and now_key:
            keys[was_key] = now_key
    return Pairs(before, after, steps, blocks, keys)


_ROUNDS: tuple[Callable[[PlacedStep], object], ...] = (
    lambda placed: (placed.executor, placed.step.activity, _NUMBER.sub("", dumps(write_step(placed.step), indent=False))),
    lambda placed: (placed.executor, placed.step.activity),
    lambda _: None,
)


def _steps(old: Outline, new: Outline) -> dict[int, int]:
    """Pair steps of the same name in order: equal ones first, then those with the same executor, then the rest."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    for sign in _ROUNDS:
        free: defaultdict[tuple[str, object], list[int]] = defaultdict(list)
        for index in reversed(range(len(old.steps))):
            if index not in taken:
                free[old.steps[index].name, sign(old.steps[index])].append(index)
        for index, placed in enumerate(new.steps):
            if index not in found and (same := free.get((placed.name, sign(placed)))):
                found[index] = same.pop()
                taken.add(found[index])
    return found


def _renamed(old: Outline, new: Outline, paired: dict[int, int], definitions: tuple[str, str]) -> dict[int, int]:
    """Pair steps that differ only in their names: equal contents that no other unpaired step has."""
    left, fresh = (
        _by_content((index, placed) for index, placed in enumerate(outline.steps) if index not in taken)
        for outline, taken in ((old, set(paired.values())), (new, paired.keys()))
    )
    found: dict[int, int] = {}
    for (content, refers_on), places in fresh.items():
        others = left.get((content, refers_on), ())
        if len(places) == len(others) == 1 and (not refers_on or definitions[0] == definitions[1]):
            found[places[0]] = others[0]
    return found


def _by_content(steps: Iterable[tuple[int, PlacedStep]]) -> dict[tuple[str, bool], list[int]]:
    """Return the indexes of steps with distinctive contents, by content and whether it refers to definitions."""
    found: dict[tuple[str, bool], list[int]] = {}
    for index, placed in steps:
        schema = placed.step.schema
        if isinstance(schema, dict) and schema.get("properties"):
            written = {word: value for word, value in as_object(write_step(placed.step)).items() if word not in _ELSEWHERE}
            description = [line for line in str(schema.get("description") or "").splitlines() if not line.startswith("Use ")]
            content = _NUMBER.sub("", dumps([placed.executor, placed.step.activity, description, written], indent=False))
            found.setdefault((content, refers(schema)), []).append(index)
    return found


def _blocks(old: Outline, new: Outline, steps: dict[int, int]) -> dict[int, int]:
    """Pair blocks of one kind, from inside out: an old block matches the one that contains most of its steps."""
    votes: defaultdict[int, Counter[int]] = defaultdict(Counter)

    def vote(now: int | None, was: int | None) -> None:
        """Pair the innermost block around `now` with a block of the same kind around `was`."""
        for block in new.around(now):
            for other in old.around(was):
                if type(old.blocks[other].block) is type(new.blocks[block].block):
                    votes[block][other] += 1
                    return

    for now, was in steps.items():
        vote(new.steps[now].parent, old.steps[was].parent)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for now in reversed(range(len(new.blocks))):
        for was, _ in votes[now].most_common():
            if was not in taken:
                found[now] = was
                taken.add(was)
                vote(new.blocks[now].parent, old.blocks[was].parent)
                break
    return found


def ascending(places: list[int]) -> bool:
    """Return whether indexes are in ascending order."""
    return all(left < right for left, right in pairwise(places))


def needs(outline: Outline) -> list[str]:
    """Return the activities of a process and its questions to people, in order."""
    found: dict[str, None] = {}
    for placed in outline.steps:
        step = placed.step
        if placed.executor == "user":
            found[f"person: {placed.name}"] = None
        elif placed.executor == "server" and not step.fail and (step.activity or step.output):
            found[step.activity or step.key] = None
        found.update(dict.fromkeys(sorted(plannable_tools_of(step))))
    return list(found)


def plans(step: flow.Step) -> Json:
    """Return the tools of the plans that a step carries out or requests."""
    asked: list[Json] = [[list(each.place), each.tools] for each in step.plans]
    return [step.plan, *asked]


def plannable_tools_of(step: flow.Step) -> set[str]:
    """Return the tools that the plans of a step may call."""
    found: set[str] = set()
    for tools in (step.plan, *(each.tools for each in step.plans)):
        for tool in tools.values() if isinstance(tools, dict) else ():
            called = tool.get("activity", tool.get("process")) if isinstance(tool, dict) else None
            if isinstance(called, str):
                found.add(called)
    return found


def facts(block: flow.Block, pairs: Pairs | None = None) -> dict[str, str]:
    """Return the properties of a block, by the name of the change."""
    facts: dict[str, str] = {}
    parts = flow.parts_of(block)
    if any(part.condition for part in parts):
        facts |= {f"condition of branch {number}": _condition(part.condition, pairs) for number, part in enumerate(parts, 1)}
    match block:
        case flow.Each(item=item, source=source, most=most):
            facts |= {"element": item, "list": value_as_text(source, pairs), "max": str(most)}
            facts |= {"until": _condition(block.until, pairs) if block.until else ""}
        case flow.Repeat(item=item, source=source, most=most):
            facts |= {"element": item or "", "list": value_as_text(source, pairs), "max": str(most)}
            facts |= {"until": _condition(block.until, pairs) if block.until else "", "keep": str(block.keep or "")}
        case _:
            pass
    if isinstance(block, flow.Each | flow.Repeat) and (chosen := block.selection) is not None:
        numbers = [value_as_text(value, pairs) if value is not None else "" for value in (chosen.most, chosen.first)]
        facts |= {
            "when": _condition(chosen.condition, pairs) if chosen.condition else "",
            "limit": numbers[0],
            "first": numbers[1],
        }
    for number, body in enumerate(flow.bodies_of(block), 1):
        facts[f"value of branch {number}"] = value_as_text(body.value, pairs)
    return facts


def _condition(condition: flow.Condition | None, pairs: Pairs | None) -> str:
    if condition is None:
        return "else"
    return condition.as_text(lambda read: _path(read, pairs), lambda schema: f" is {_test(schema)}")


def _path(read: flow.Read, pairs: Pairs | None) -> str:
    return (pairs.path(read) if pairs else read.text) + ("?" if read.optional else "")


def _test(schema: Json) -> str:
    const = isinstance(schema, dict) and list(schema) == ["const"]
    return dumps(schema["const"] if const and isinstance(schema, dict) else schema, indent=False)


def value_as_text(value: flow.Value | None, pairs: Pairs | None = None) -> str:
    """Return a value as text, with object members in order."""
    match value:
        case None:
            return ""
        case flow.Read():
            return _path(value, pairs)
        case flow.Constant(value=constant):
            return dumps(constant, indent=False)
        case flow.Listed(items=items):
            return f"[{', '.join(value_as_text(item, pairs) for item in items)}]"
        case flow.Named(members=members):
            inner = ", ".join(f"{name}: {value_as_text(members[name], pairs)}" for name in sorted(members))
            return f"{{ {inner} }}" if inner else "{}"


def shown_text(text: str) -> str:
    """Return a text, or `none` for an empty one."""
    return text or "none"


def place(outline: Outline, placed: PlacedStep | PlacedBlock) -> str:
    """Return the place of a part: the top, a block, or a branch of one."""
    if placed.parent is None:
        return "the top"
    block = outline.blocks[placed.parent].block
    return f"branch {placed.branch + 1} of {block.name}" if len(flow.bodies_of(block)) > 1 else block.name


def direct_steps(outline: Outline, block: int) -> str:
    """Return the keys of the steps directly in a block."""
    return ", ".join(placed.step.key for placed in outline.steps if placed.parent == block)


def described_without_reads(step: flow.Step) -> str:
    """Return the description of a step without the line that lists the paths it reads."""
    said = step.schema.get("description") if isinstance(step.schema, dict) else None
    return "\n".join(line for line in said.splitlines() if not line.startswith("Use ")) if isinstance(said, str) else ""


def answer_schema(step: flow.Step, process: Process) -> Json:
    """Return the schema that the answer of a step must satisfy, with the definitions it refers to."""
    schema = step.schema
    if not refers(schema) or not isinstance(schema, dict):
        return schema
    return {**schema, "$defs": dict(sorted(reached_definitions(schema, process.definitions).items()))}


def free_names(outline: Outline) -> set[str]:
    """Return the names that steps read without any step, block or element defining them."""
    bound = {"rounds", "previous", "error", "round"} | {placed.step.key for placed in outline.steps}
    for placed in outline.blocks:
        bound |= {name for name in (getattr(placed.block, "key", None), getattr(placed.block, "item", None)) if name}
    values: list[flow.Value | None] = []
    for placed_step in outline.steps:
        step = placed_step.step
        values += [*step.references, step.arguments, *(each.choices for each in step.among)]
    for placed in outline.blocks:
        values += flow.reads_before(placed.block)
        for part in flow.parts_of(placed.block):
            values += [part.body.value, *(read for read, _ in (part.until.tests if part.until else ()))]
    return {read.first for value in values for read in flow.reads_of(value)} - bound


class CutChange(Struct, frozen=True):
    """One difference: at a step, a context or a block."""

    at: str
    what: str
    detail: str = ""


class CutChanges(Struct, frozen=True):
    """All differences between two processes, and their effect on those who serve them."""

    changes: tuple[CutChange, ...]
    refused: str
    """Formerly accepted answer of a person or activity that is now refused; empty if none."""
    unproven: str
    """Step whose inputs and outputs are not proven compatible; empty if none."""


def cut_changes(old: Process, new: Process, pairs: Pairs) -> CutChanges:
    """Return the differences between two processes whose steps and blocks are paired."""
    differ = _Differ(old, new, pairs)
    changes = (*differ.steps(), *differ.contexts(), *differ.blocks())
    return CutChanges(changes, differ.refused, differ.unproven)


class _Differ:
    """Finds the differences and collects their effects."""

    def __init__(self, old: Process, new: Process, pairs: Pairs) -> None:
        self.processes = old, new
        self.pairs = pairs
        self.kept = frozenset(pairs.blocks.values())
        """The old blocks that are still there."""
        self.refused = ""
        self.unproven = ""

    # --- steps --------------------------------------------------------------------------------------------------------------

    def steps(self) -> Iterator[CutChange]:
        kept = set(self.pairs.steps.values())
        for index, placed in enumerate(self.pairs.old.steps):
            if index not in kept:
                yield CutChange(placed.step.key, "removed", EXECUTORS[placed.executor])
        for index, placed in enumerate(self.pairs.new.steps):
            was = self.pairs.steps.get(index)
            if was is None:
                yield CutChange(placed.step.key, "added", self.added(placed))
            else:
                yield from self.step(self.pairs.old.steps[was], placed)

    def added(self, placed: PlacedStep) -> str:
        if placed.executor != "model" and not placed.step.fail:
            self.unproven = self.unproven or f"`{placed.step.key}` is new"
        return EXECUTORS[placed.executor]

    def step(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        key, old, new = now.step.key, was.step, now.step
        if was.name != now.name:
            yield CutChange(key, "renamed", f"from `{old.key}`")
        if was.executor != now.executor:
            yield CutChange(key, "moved", f"from {EXECUTORS[was.executor]} to {EXECUTORS[now.executor]}")
        if self.moved(was.parent, was.branch, now.parent, now.branch):
            yield CutChange(key, "moved", f"from {place(self.pairs.old, was)} to {place(self.pairs.new, now)}")
        if old.activity != new.activity:
            yield CutChange(key, "activity", f"{old.activity or 'none'} → {new.activity or 'none'}")
        yield from self.reading(was, now)
        yield from _timing(key, old, new)
        if old.fail != new.fail:
            yield CutChange(key, "fails" if new.fail else "fails no longer")
        if [(each.place, self.pairs.path(each.choices)) for each in old.among] != [
            (each.place, each.choices.text) for each in new.among
        ]:
            yield CutChange(key, "choices", ", ".join(each.choices.text for each in new.among))
        if not equal(plans(old), plans(new)):
            yield CutChange(key, "tools of the plan", ", ".join(sorted(plannable_tools_of(new))))
        yield from self.schema(was, now)

    def reading(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        """Describe the paths that a step newly reads, and the sources of its arguments."""
        key = now.step.key
        before, after = {self.pairs.path(read) for read in was.step.references}, {read.text for read in now.step.references}
        yield from (CutChange(key, "reads no longer", path) for path in sorted(before - after))
        yield from (CutChange(key, "reads", path) for path in sorted(after - before))
        filled, fills = self.value(was.step.arguments), value_as_text(now.step.arguments)
        if filled != fills and (before == after or now.executor != "model"):
            yield CutChange(key, "arguments", f"{shown_text(filled)} → {shown_text(fills)}")
        if now.executor != "model" and (before, filled) != (after, fills):
            self.unproven = self.unproven or f"`{key}` gets other arguments"

    def moved(self, was: int | None, branch: int, now: int | None, branch_now: int) -> bool:
        """Return whether a part is in another block; an added or removed block reports its contents itself."""
        if was is None or now is None:
            lone = now if was is None else was
            return lone is not None and lone in (self.pairs.blocks if was is None else self.kept)
        if now not in self.pairs.blocks or was not in self.kept:
            return False
        return self.pairs.blocks[now] != was or branch != branch_now

    def schema(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        """Describe the changes of a step's schema, and record their effect."""
        old, new = answer_schema(was.step, self.processes[0]), answer_schema(now.step, self.processes[1])
        if dumps(old) == dumps(new):  # the order of properties counts: the model answers in it
            return
        found = compare(old, new)
        for change in found.changes:
            if (
                change.what != "described"
                or change.pointer
                or described_without_reads(was.step) != described_without_reads(now.step)
            ):
                yield CutChange(f"{now.step.key}{change.pointer}", change.what, change.detail)
        served = was.executor == now.executor != "model"
        if served and found.writers == "no" and not self.refused:
            self.refused = f"`{now.step.key}` refuses {dumps(found.refused, indent=False)}"
        if (served and found.writers != "yes") or found.readers != "yes":
            self.unproven = self.unproven or f"`{now.step.key}` has another schema"

    def value(self, value: Value | None) -> str:
        """Return a value of the old process in the names of the new one."""
        return value_as_text(value, self.pairs)

    # --- contexts -----------------------------------------------------------------------------------------------------------

    def contexts(self) -> Iterator[CutChange]:
        """Describe which chunks were split, joined or reordered, by the steps that kept their executor."""
        heirs: defaultdict[int, dict[int, None]] = defaultdict(dict)
        origins: defaultdict[int, dict[int, None]] = defaultdict(dict)
        orders: defaultdict[int, list[int]] = defaultdict(list)
        for index, now in enumerate(self.pairs.new.steps):
            was = self.pairs.steps.get(index)
            if was is None or self.pairs.old.steps[was].executor != now.executor:
                continue
            heirs[self.pairs.old.steps[was].chunk][now.chunk] = None
            origins[now.chunk][self.pairs.old.steps[was].chunk] = None
            orders[now.chunk].append(was)
        old, new = self.pairs.old.chunks, self.pairs.new.chunks
        for chunk, parts in heirs.items():
            if len(parts) > 1:
                yield CutChange(old[chunk].name, "split", ", ".join(new[each].name for each in parts))
        for chunk, parts in origins.items():
            if len(parts) > 1:
                yield CutChange(new[chunk].name, "joined", ", ".join(old[each].name for each in parts))
            elif not ascending(orders[chunk]):
                yield CutChange(new[chunk].name, "reordered", ", ".join(step.key for step in new[chunk].steps))

    # --- blocks -------------------------------------------------------------------------------------------------------------

    def blocks(self) -> Iterator[CutChange]:
        for index, placed in enumerate(self.pairs.old.blocks):
            if index not in self.kept:
                yield CutChange(placed.block.name, "block removed", direct_steps(self.pairs.old, index))
        for index, placed in enumerate(self.pairs.new.blocks):
            was = self.pairs.blocks.get(index)
            if was is None:
                yield CutChange(placed.block.name, "block added", direct_steps(self.pairs.new, index))
                continue
            other = self.pairs.old.blocks[was]
            if self.moved(other.parent, other.branch, placed.parent, placed.branch):
                yield CutChange(
                    placed.block.name, "moved", f"from {place(self.pairs.old, other)} to {place(self.pairs.new, placed)}"
                )
            yield from self.block(other.block, placed.block)
        before, after = self.processes[0].body.value, self.processes[1].body.value
        if self.value(before) != value_as_text(after):
            yield CutChange("process", "gives", f"{shown_text(self.value(before))} → {shown_text(value_as_text(after))}")

    def block(self, old: Block, new: Block) -> Iterator[CutChange]:
        before, after = facts(old, self.pairs), facts(new)
        for name in dict.fromkeys([*before, *after]):
            was, now = before.get(name), after.get(name)
            if was != now:
                yield CutChange(new.name, name, f"{was or 'none'} → {now or 'none'}")
        yield from _timing(new.name, old, new)


def _timing(at: str, old: Step | Block, new: Step | Block) -> Iterator[CutChange]:
    for name, what in (("within", "deadline"), ("delay", "delay")):
        was, now = getattr(old, name, None), getattr(new, name, None)
        if was != now:
            yield CutChange(at, what, f"{was or 'none'} → {now or 'none'}")
    was, now = (", ".join(getattr(each, "after", ())) for each in (old, new))
    if was != now:
        yield CutChange(at, "after", f"{was or 'none'} → {now or 'none'}")


_HARMLESS = frozenset(
    {
        *(
            "described",
            "default",
            "renamed",
            "split",
            "joined",
            "reordered",
            "removed",
            "reads",
            "reads no longer",
            "arguments",
            "after",
        ),
    }
)
"""Changes that bring nothing new to those who serve the process; the reads of their own steps are checked separately."""
_OF_SCHEMAS = frozenset({"narrowed", "widened", "changed", "equivalent", "added", "required", "optional"})
"""Changes of a step's schema, whose effect the schema verdicts state."""


class Claim(Struct, frozen=True):
    """Whether a property still holds, with the reason if it does not or is unknown."""

    verdict: Inclusion
    why: str = ""


def start_claim(old_process: Process, new_process: Process, pairs: Pairs) -> Claim:
    """Return whether the inputs that started the old process start the new one."""
    old, new = old_process.inputs, new_process.inputs
    if new is None:
        fresh = sorted(free_names(pairs.new) - (free_names(pairs.old) if old is None else set(old)))
        return Claim("unknown", f"it reads `{fresh[0]}`, which nobody gave before") if fresh else Claim("yes")
    unknown = "" if old is not None else "the old process does not list its inputs"
    known = free_names(pairs.old) if old is None else set(old)
    for name in sorted({*new, *known}):
        if name == "prompt":  # a run starts with and without it
            unknown = unknown or ("" if name in known or name not in free_names(pairs.new) else "it reads `prompt` now")
        elif name not in known:
            return Claim("no", f"the input `{name}` is new")
        if name not in new:
            return Claim("no", f"the input `{name}` is gone")
    for name, schema in new.items():
        verdict, instance = includes(schema, (old or {}).get(name, {}))
        if verdict == "no":
            return Claim("no", f"the input `{name}` refuses {dumps(instance, indent=False)}")
        if verdict == "unknown":
            unknown = unknown or f"the input `{name}` has another schema"
    return Claim("unknown", unknown) if unknown else Claim("yes")


def serve_claim(old: Process, new: Process, needed: tuple[str, ...], found: CutChanges, start: Claim) -> Claim:
    """Return whether activities and people that served the old process serve the new one."""
    if needed:
        return Claim("no", f"needed anew: {', '.join(needed)}")
    if found.refused:
        return Claim("no", found.refused)
    unknown = found.unproven
    for change in found.changes:
        if change.what not in _HARMLESS and not (change.what in _OF_SCHEMAS and not found.unproven):
            unknown = unknown or f"`{change.at}`: {change.what} {change.detail}".rstrip()
    if not unknown and not equal(dict(old.inputs or {}), dict(new.inputs or {})):
        unknown = "the inputs have changed"
    if not unknown and start.verdict != "yes":
        unknown = start.why
    return Claim("unknown", unknown) if unknown else Claim("yes")


class CutComparison(Struct, frozen=True):
    """All differences between two processes, the new requirements, and whom they affect."""

    changes: tuple[CutChange, ...]
    needed: tuple[str, ...]
    """Activities, and `person: STEP`, that only the new process needs."""
    spared: tuple[str, ...]
    """Activities and steps of people that are no longer needed."""
    start: Claim
    """Whether all inputs that started the old process start the new one."""
    serve: Claim
    """Whether all who served the old process can serve the new one."""


def compare_processes(old: Process, new: Process) -> CutComparison:
    """Return the differences between two processes."""
    pairs = pair(old, new)
    found = cut_changes(old, new, pairs)
    before, after = needs(pairs.old), needs(pairs.new)
    needed = tuple(name for name in after if name not in before)
    start = start_claim(old, new, pairs)
    return CutComparison(
        changes=found.changes,
        needed=needed,
        spared=tuple(name for name in before if name not in after),
        start=start,
        serve=serve_claim(old, new, needed, found, start),
    )
