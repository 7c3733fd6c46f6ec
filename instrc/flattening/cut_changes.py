"""What has changed in the cut of a process: for those who start it, and for those who serve its activities and its people.

As with schemas, `yes` is proven, `no` is shown, and everything else is `unknown`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from instrc.flattening.changes import Verdict, accepts, compare
from instrc.flattening.cut_pairs import Outline, Pairs, PlacedBlock, PlacedStep, ascending, pair
from instrc.ir.flow import Block, Condition, Each, Repeat, Step, When, bodies_of
from instrc.ir.process import Process
from instrc.ir.reads import Constant, Listed, Named, Read, Value, reads_of
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, equal
from instrc.schema.walk import rebuild, refers, walk

EXECUTORS = {"model": "the model", "server": "the server", "user": "a person"}
_ENGINE = frozenset({"references", "arguments", "activity", "within", "delay", "fail", "among", "plan"})
_HARMLESS = frozenset({"described", "split", "joined", "reordered", "removed", "reads", "reads no longer", "arguments"})
"""Changes after which those who serve the process get nothing new; of their own steps, what is read is looked at apart."""
_OF_SCHEMAS = frozenset({"narrowed", "widened", "changed", "added", "required", "optional"})
"""Changes of a step's schema; the verdicts on the schemas say what they mean."""


@dataclass(frozen=True, slots=True)
class CutChange:
    """One difference: at a step, a context or a block."""

    at: str
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether something still holds, and why not or why nobody knows."""

    verdict: Verdict
    why: str = ""


@dataclass(frozen=True, slots=True)
class CutComparison:
    """All differences between two processes, what is needed anew, and for whom it breaks."""

    changes: tuple[CutChange, ...]
    needed: tuple[str, ...]
    """Activities, and `person: STEP`, that the new process needs and the old one did not."""
    spared: tuple[str, ...]
    """Those that nobody needs any more."""
    start: Claim
    """Whether all that started the old process starts the new one."""
    serve: Claim
    """Whether all that served the old process serves the new one."""


def compare_processes(old: Process, new: Process) -> CutComparison:
    """Return what has changed from one process to another."""
    return _Comparing(old, new).result()


class _Comparing:
    """One comparison; the verdicts on schemas are gathered while the changes are."""

    def __init__(self, old: Process, new: Process) -> None:
        self.processes = old, new
        self.pairs: Pairs = pair(old, new)
        self.kept = frozenset(self.pairs.blocks.values())
        """The old blocks that are still there."""
        self.refused = ""
        """An answer that was accepted from a person or an activity and is refused."""
        self.unproven = ""
        """A step of which it is not proven that it gives and takes what it did."""

    def result(self) -> CutComparison:
        changes = (*self.steps(), *self.contexts(), *self.blocks())
        before, after = needs(self.pairs.old), needs(self.pairs.new)
        needed = tuple(name for name in after if name not in before)
        start = self.start()
        return CutComparison(
            changes, needed, tuple(name for name in before if name not in after), start, self.serve(needed, changes, start)
        )

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
        if was.executor != now.executor:
            yield CutChange(key, "moved", f"from {EXECUTORS[was.executor]} to {EXECUTORS[now.executor]}")
        if self.moved(was.parent, was.branch, now.parent, now.branch):
            yield CutChange(key, "moved", f"from {_place(self.pairs.old, was)} to {_place(self.pairs.new, now)}")
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
        if not equal(_plans(old), _plans(new)):
            yield CutChange(key, "tools of the plan", ", ".join(sorted(_tools(new))))
        yield from self.schema(was, now)

    def reading(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        """Say what a step reads now and did not read before, and what fills its arguments."""
        key = now.step.key
        before, after = {self.pairs.path(read) for read in was.step.references}, {read.text for read in now.step.references}
        yield from (CutChange(key, "reads no longer", path) for path in sorted(before - after))
        yield from (CutChange(key, "reads", path) for path in sorted(after - before))
        filled, fills = self.value(was.step.arguments), _written(now.step.arguments)
        if filled != fills and (before == after or now.executor != "model"):
            yield CutChange(key, "arguments", f"{_said(filled)} → {_said(fills)}")
        if now.executor != "model" and (before, filled) != (after, fills):
            self.unproven = self.unproven or f"`{key}` gets other arguments"

    def moved(self, was: int | None, branch: int, now: int | None, branch_now: int) -> bool:
        """Tell whether a part stands in another block; one that is added or removed says itself what it holds."""
        if was is None or now is None:
            lone = now if was is None else was
            return lone is not None and lone in (self.pairs.blocks if was is None else self.kept)
        if now not in self.pairs.blocks or was not in self.kept:
            return False
        return self.pairs.blocks[now] != was or branch != branch_now

    def schema(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        """Say what has changed in the schema of a step, and remember what that means."""
        old, new = _bare(was.step, self.processes[0]), _bare(now.step, self.processes[1])
        if dumps(old) == dumps(new):  # the order of properties counts: the model answers in it
            return
        found = compare(old, new)
        for change in found.changes:
            if change.what != "described" or change.pointer or _words(was.step) != _words(now.step):
                yield CutChange(f"{now.step.key}{change.pointer}", change.what, change.detail)
        served = was.executor == now.executor != "model"
        if served and found.writers == "no" and not self.refused:
            self.refused = f"`{now.step.key}` refuses {dumps(found.refused, indent=False)}"
        if (served and found.writers != "yes") or found.readers != "yes":
            self.unproven = self.unproven or f"`{now.step.key}` has another schema"

    def value(self, value: Value | None) -> str:
        """Return a value of the old process as the new one writes it."""
        return _written(value, self.pairs)

    # --- contexts -----------------------------------------------------------------------------------------------------------

    def contexts(self) -> Iterator[CutChange]:
        """Say which chunks were split, joined, or put in another order, by the steps that stayed with their executor."""
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
                yield CutChange(placed.block.name, "block removed", _held(self.pairs.old, index))
        for index, placed in enumerate(self.pairs.new.blocks):
            was = self.pairs.blocks.get(index)
            if was is None:
                yield CutChange(placed.block.name, "block added", _held(self.pairs.new, index))
                continue
            other = self.pairs.old.blocks[was]
            if self.moved(other.parent, other.branch, placed.parent, placed.branch):
                yield CutChange(
                    placed.block.name, "moved", f"from {_place(self.pairs.old, other)} to {_place(self.pairs.new, placed)}"
                )
            yield from self.block(other.block, placed.block)
        before, after = self.processes[0].body.value, self.processes[1].body.value
        if self.value(before) != _written(after):
            yield CutChange("process", "gives", f"{_said(self.value(before))} → {_said(_written(after))}")

    def block(self, old: Block, new: Block) -> Iterator[CutChange]:
        before, after = _facts(old, self.pairs), _facts(new)
        for name in dict.fromkeys([*before, *after]):
            was, now = before.get(name), after.get(name)
            if was != now:
                yield CutChange(new.name, name, f"{was or 'none'} → {now or 'none'}")
        yield from _timing(new.name, old, new)

    # --- verdicts -----------------------------------------------------------------------------------------------------------

    def start(self) -> Claim:
        """Say whether the inputs that started the old process start the new one."""
        old, new = (process.inputs for process in self.processes)
        if new is None:
            fresh = sorted(_free(self.pairs.new) - (_free(self.pairs.old) if old is None else set(old)))
            return Claim("unknown", f"it reads `{fresh[0]}`, which nobody gave before") if fresh else Claim("yes")
        unknown = "" if old is not None else "the old process does not list its inputs"
        known = _free(self.pairs.old) if old is None else set(old)
        for name in sorted({*new, *known}):
            if name == "prompt":  # a run starts with and without it
                unknown = unknown or ("" if name in known or name not in _free(self.pairs.new) else "it reads `prompt` now")
            elif name not in known:
                return Claim("no", f"the input `{name}` is new")
            if name not in new:
                return Claim("no", f"the input `{name}` is gone")
        for name, schema in new.items():
            verdict, instance = accepts(schema, (old or {}).get(name, {}))
            if verdict == "no":
                return Claim("no", f"the input `{name}` refuses {dumps(instance, indent=False)}")
            if verdict == "unknown":
                unknown = unknown or f"the input `{name}` has another schema"
        return Claim("unknown", unknown) if unknown else Claim("yes")

    def serve(self, needed: tuple[str, ...], changes: tuple[CutChange, ...], start: Claim) -> Claim:
        """Say whether activities and people that served the old process serve the new one."""
        if needed:
            return Claim("no", f"needed anew: {', '.join(needed)}")
        if self.refused:
            return Claim("no", self.refused)
        unknown = self.unproven
        for change in changes:
            if change.what not in _HARMLESS and not (change.what in _OF_SCHEMAS and not self.unproven):
                unknown = unknown or f"`{change.at}`: {change.what} {change.detail}".rstrip()
        old, new = (process.inputs or {} for process in self.processes)
        if not unknown and not equal(dict(old), dict(new)):
            unknown = "the inputs have changed"
        if not unknown and start.verdict != "yes":
            unknown = start.why
        return Claim("unknown", unknown) if unknown else Claim("yes")


def needs(outline: Outline) -> list[str]:
    """Return the activities of a process and its questions to people, in order."""
    found: dict[str, None] = {}
    for placed in outline.steps:
        step = placed.step
        if placed.executor == "user":
            found[f"person: {placed.name}"] = None
        elif placed.executor == "server" and not step.fail and (step.activity or step.output):
            found[step.activity or step.key] = None
        found.update(dict.fromkeys(sorted(_tools(step))))
    return list(found)


def _plans(step: Step) -> Json:
    return [step.plan, *([list(each.place), each.tools] for each in step.plans)]


def _tools(step: Step) -> set[str]:
    """Return what the plans of a step may call."""
    found: set[str] = set()
    for tools in (step.plan, *(each.tools for each in step.plans)):
        for tool in tools.values() if isinstance(tools, dict) else ():
            called = tool.get("activity", tool.get("process")) if isinstance(tool, dict) else None
            if isinstance(called, str):
                found.add(called)
    return found


def _facts(block: Block, pairs: Pairs | None = None) -> dict[str, str]:
    """Return what a block says of itself, by the name of the change."""
    facts: dict[str, str] = {}
    match block:
        case When(branches=branches):
            for number, branch in enumerate(branches, 1):
                facts[f"condition of branch {number}"] = _condition(branch.condition, pairs)
        case Each(item=item, source=source, most=most):
            facts |= {"element": item, "list": _written(source, pairs), "max": str(most)}
        case Repeat(item=item, source=source, most=most):
            facts |= {"element": item or "", "list": _written(source, pairs), "max": str(most)}
            facts |= {"until": _condition(block.until, pairs) if block.until else "", "keep": str(block.keep or "")}
        case _:
            pass
    for number, body in enumerate(bodies_of(block), 1):
        facts[f"value of branch {number}"] = _written(body.value, pairs)
    return facts


def _condition(condition: Condition | None, pairs: Pairs | None) -> str:
    if condition is None:
        return "else"
    return " or ".join(f"{_path(read, pairs)} is {_test(schema)}" for read, schema in condition.tests)


def _test(schema: Json) -> str:
    const = isinstance(schema, dict) and list(schema) == ["const"]
    return dumps(schema["const"] if const and isinstance(schema, dict) else schema, indent=False)


def _path(read: Read, pairs: Pairs | None) -> str:
    return (pairs.path(read) if pairs else read.text) + ("?" if read.optional else "")


def _written(value: Value | None, pairs: Pairs | None = None) -> str:
    """Return a value as text, in the order of names in objects."""
    match value:
        case None:
            return ""
        case Read():
            return _path(value, pairs)
        case Constant(value=constant):
            return dumps(constant, indent=False)
        case Listed(items=items):
            return f"[{', '.join(_written(item, pairs) for item in items)}]"
        case Named(members=members):
            inner = ", ".join(f"{name}: {_written(members[name], pairs)}" for name in sorted(members))
            return f"{{ {inner} }}" if inner else "{}"


def _said(text: str) -> str:
    return text or "none"


def _timing(at: str, old: Step | Block, new: Step | Block) -> Iterator[CutChange]:
    for name, what in (("within", "deadline"), ("delay", "delay")):
        was, now = getattr(old, name, None), getattr(new, name, None)
        if was != now:
            yield CutChange(at, what, f"{was or 'none'} → {now or 'none'}")


def _place(outline: Outline, placed: PlacedStep | PlacedBlock) -> str:
    if placed.parent is None:
        return "the top"
    block = outline.blocks[placed.parent].block
    return f"branch {placed.branch + 1} of {block.name}" if len(bodies_of(block)) > 1 else block.name


def _held(outline: Outline, block: int) -> str:
    return ", ".join(placed.step.key for placed in outline.steps if placed.parent == block)


def _words(step: Step) -> str:
    """Return the description of a step without the line that lists what it reads."""
    said = step.schema.get("description") if isinstance(step.schema, dict) else None
    return "\n".join(line for line in said.splitlines() if not line.startswith("Use ")) if isinstance(said, str) else ""


def _bare(step: Step, process: Process) -> Json:
    """Return what the answer of a step must be: its schema without engine properties, with the definitions it refers to."""
    schema: Json = rebuild(step.schema, _without_engine)
    definitions = process.document.get("$defs")
    if not refers(schema) or not isinstance(schema, dict) or not isinstance(definitions, dict):
        return schema
    used: dict[str, Json] = {}
    waiting: list[Json] = [schema]
    while waiting:
        for _, part in walk(waiting.pop()):
            reference = part.get("$ref") if isinstance(part, dict) else None
            name = reference.removeprefix("#/$defs/").partition("/")[0] if isinstance(reference, str) else ""
            if name in definitions and name not in used:
                used[name] = definitions[name]
                waiting.append(definitions[name])
    return {**schema, "$defs": dict(sorted(used.items()))}


def _without_engine(node: Json) -> Json:
    if not isinstance(node, dict) or _ENGINE.isdisjoint(node):
        return node
    return {keyword: value for keyword, value in node.items() if keyword not in _ENGINE}


def _free(outline: Outline) -> set[str]:
    """Return the names that steps read and that no step, no block and no element has."""
    bound = {"rounds", "previous", "error", "round"} | {placed.step.key for placed in outline.steps}
    for placed in outline.blocks:
        bound |= {name for name in (getattr(placed.block, "key", None), getattr(placed.block, "item", None)) if name}
    values: list[Value | None] = []
    for placed_step in outline.steps:
        step = placed_step.step
        values += [*step.references, step.arguments, *(each.choices for each in step.among)]
    for placed in outline.blocks:
        values += _read_by(placed.block)
    return {read.first for value in values for read in reads_of(value)} - bound


def _read_by(block: Block) -> list[Value | None]:
    """Return what a block itself reads: its conditions, its list, and what its bodies give."""
    found: list[Value | None] = [body.value for body in bodies_of(block)]
    conditions: list[Condition | None] = []
    match block:
        case When(branches=branches):
            conditions += [branch.condition for branch in branches]
        case Each(source=source):
            found.append(source)
        case Repeat(source=source, until=until):
            found.append(source)
            conditions.append(until)
        case _:
            pass
    return found + [read for condition in conditions if condition for read, _ in condition.tests]
