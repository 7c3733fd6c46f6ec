"""Which step and block of one process stands for which of another, and what can be compared of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from instrc.process import flow
from instrc.process.chunk_json import write_step
from instrc.process.process import Process
from instrc.schema.walk import reached_definitions, refers
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object

# Which step and which block of one process stands for which of another: steps by their names, blocks by the steps in them.
#
# True of this form: a pair is one of each side.  Keys are numbered anew when a step is added: their numbers say nothing.


_NUMBER = re.compile(r"\bstep\d+_")
_ELSEWHERE = frozenset({"title", "description", "references", "arguments"})
"""What is told of a step by itself, or by its name."""


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step with the chunk and the branch in which it stands."""

    step: flow.Step
    executor: flow.Executor
    chunk: int
    parent: int | None
    """The block around it, by its place in the outline; `None` at the top."""
    branch: int

    @property
    def name(self) -> str:
        """Its key without the number."""
        return _NUMBER.sub("", self.step.key, count=1)


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block with the branch in which it stands."""

    block: flow.Block
    parent: int | None
    branch: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The steps, chunks and blocks of a process, each block before what is in it."""

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
        """Yield a block and the blocks around it, from inside out."""
        while block is not None:
            yield block
            block = self.blocks[block].parent


def _within(bodies: tuple[flow.Body, ...], parent: int | None) -> Iterator[tuple[flow.Context, int | None, int]]:
    """Yield the contexts of bodies, the last first."""
    for branch in reversed(range(len(bodies))):
        for context in reversed(bodies[branch].contexts):
            yield context, parent, branch


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two outlines, and what stands for what: places in the old one by places in the new one."""

    old: Outline
    new: Outline
    steps: dict[int, int]
    """New steps to old ones."""
    blocks: dict[int, int]
    """New blocks to old ones."""
    keys: dict[str, str]
    """Old keys to new ones."""

    def path(self, read: flow.Read) -> str:
        """Return a path of the old process as the new one writes it."""
        first = self.keys.get(read.first)
        return read.text if first is None else ".".join((first, *filter(None, [read.text.removeprefix(read.first)[1:]])))


def pair(old: Process, new: Process) -> Pairs:
    """Return which part of one process stands for which part of another."""
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
    """Pair steps of one name in order: first those that say the same, then those of one executor, then the rest."""
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
    """Pair the steps that differ in their names alone: what they say is the same, and no other step that is left says it."""
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
    """Return the places of steps that say enough, by what they say, and whether that refers to definitions."""
    found: dict[tuple[str, bool], list[int]] = {}
    for index, placed in steps:
        schema = placed.step.schema
        if isinstance(schema, dict) and schema.get("properties"):
            written = {word: value for word, value in as_object(write_step(placed.step)).items() if word not in _ELSEWHERE}
            said = [line for line in str(schema.get("description") or "").splitlines() if not line.startswith("Use ")]
            content = _NUMBER.sub("", dumps([placed.executor, placed.step.activity, said, written], indent=False))
            found.setdefault((content, refers(schema)), []).append(index)
    return found


def _blocks(old: Outline, new: Outline, steps: dict[int, int]) -> dict[int, int]:
    """Pair blocks of one kind, from inside out: an old block is the one that most of what it holds stood in."""
    votes: defaultdict[int, Counter[int]] = defaultdict(Counter)

    def vote(now: int | None, was: int | None) -> None:
        """Let the innermost block around `now` that is of the kind of a block around `was` be its heir."""
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
    """Tell whether places stand in their order."""
    return all(left < right for left, right in pairwise(places))


# What the parts of a process say of themselves, as texts and schemas that can be compared.


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
    """Return the tools of the plans that a step carries out or asks for."""
    asked: list[Json] = [[list(each.place), each.tools] for each in step.plans]
    return [step.plan, *asked]


def plannable_tools_of(step: flow.Step) -> set[str]:
    """Return what the plans of a step may call."""
    found: set[str] = set()
    for tools in (step.plan, *(each.tools for each in step.plans)):
        for tool in tools.values() if isinstance(tools, dict) else ():
            called = tool.get("activity", tool.get("process")) if isinstance(tool, dict) else None
            if isinstance(called, str):
                found.add(called)
    return found


def facts(block: flow.Block, pairs: Pairs | None = None) -> dict[str, str]:
    """Return what a block says of itself, by the name of the change."""
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
    for number, body in enumerate(flow.bodies_of(block), 1):
        facts[f"value of branch {number}"] = value_as_text(body.value, pairs)
    return facts


def _condition(condition: flow.Condition | None, pairs: Pairs | None) -> str:
    if condition is None:
        return "else"
    return condition.as_text(lambda read: _path(read, pairs), lambda schema: f" is {_test(schema)}")


def _test(schema: Json) -> str:
    const = isinstance(schema, dict) and list(schema) == ["const"]
    return dumps(schema["const"] if const and isinstance(schema, dict) else schema, indent=False)


def _path(read: flow.Read, pairs: Pairs | None) -> str:
    return (pairs.path(read) if pairs else read.text) + ("?" if read.optional else "")


def value_as_text(value: flow.Value | None, pairs: Pairs | None = None) -> str:
    """Return a value as text, in the order of names in objects."""
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
    """Return a text; `none` for an empty one."""
    return text or "none"


def place(outline: Outline, placed: PlacedStep | PlacedBlock) -> str:
    """Return where a part stands: the top, a block, or a branch of one."""
    if placed.parent is None:
        return "the top"
    block = outline.blocks[placed.parent].block
    return f"branch {placed.branch + 1} of {block.name}" if len(flow.bodies_of(block)) > 1 else block.name


def direct_steps(outline: Outline, block: int) -> str:
    """Return the keys of the steps that stand directly in a block."""
    return ", ".join(placed.step.key for placed in outline.steps if placed.parent == block)


def described_without_reads(step: flow.Step) -> str:
    """Return the description of a step without the line that lists what it reads."""
    said = step.schema.get("description") if isinstance(step.schema, dict) else None
    return "\n".join(line for line in said.splitlines() if not line.startswith("Use ")) if isinstance(said, str) else ""


def answer_schema(step: flow.Step, process: Process) -> Json:
    """Return what the answer of a step must be: its schema, with the definitions it refers to."""
    schema = step.schema
    if not refers(schema) or not isinstance(schema, dict):
        return schema
    return {**schema, "$defs": dict(sorted(reached_definitions(schema, process.definitions).items()))}


def free_names(outline: Outline) -> set[str]:
    """Return the names that steps read and that no step, no block and no element has."""
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
