"""What the parts of a process say of themselves, as texts and schemas that can be compared."""

from __future__ import annotations

from instrc.comparing.pairs import Outline, Pairs, PlacedBlock, PlacedStep
from instrc.ir.flow import Block, Condition, Each, Repeat, When, bodies_of
from instrc.ir.process import Process
from instrc.ir.reads import Constant, Listed, Named, Read, Value, reads_of
from instrc.ir.steps import Step
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.schema.reached import reached_definitions
from instrc.schema.walk import refers


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


def plans(step: Step) -> Json:
    """Return the tools of the plans that a step carries out or asks for."""
    asked: list[Json] = [[list(each.place), each.tools] for each in step.plans]
    return [step.plan, *asked]


def plannable_tools_of(step: Step) -> set[str]:
    """Return what the plans of a step may call."""
    found: set[str] = set()
    for tools in (step.plan, *(each.tools for each in step.plans)):
        for tool in tools.values() if isinstance(tools, dict) else ():
            called = tool.get("activity", tool.get("process")) if isinstance(tool, dict) else None
            if isinstance(called, str):
                found.add(called)
    return found


def facts(block: Block, pairs: Pairs | None = None) -> dict[str, str]:
    """Return what a block says of itself, by the name of the change."""
    facts: dict[str, str] = {}
    match block:
        case When(branches=branches):
            for number, branch in enumerate(branches, 1):
                facts[f"condition of branch {number}"] = _condition(branch.condition, pairs)
        case Each(item=item, source=source, most=most):
            facts |= {"element": item, "list": value_as_text(source, pairs), "max": str(most)}
        case Repeat(item=item, source=source, most=most):
            facts |= {"element": item or "", "list": value_as_text(source, pairs), "max": str(most)}
            facts |= {"until": _condition(block.until, pairs) if block.until else "", "keep": str(block.keep or "")}
        case _:
            pass
    for number, body in enumerate(bodies_of(block), 1):
        facts[f"value of branch {number}"] = value_as_text(body.value, pairs)
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


def value_as_text(value: Value | None, pairs: Pairs | None = None) -> str:
    """Return a value as text, in the order of names in objects."""
    match value:
        case None:
            return ""
        case Read():
            return _path(value, pairs)
        case Constant(value=constant):
            return dumps(constant, indent=False)
        case Listed(items=items):
            return f"[{', '.join(value_as_text(item, pairs) for item in items)}]"
        case Named(members=members):
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
    return f"branch {placed.branch + 1} of {block.name}" if len(bodies_of(block)) > 1 else block.name


def direct_steps(outline: Outline, block: int) -> str:
    """Return the keys of the steps that stand directly in a block."""
    return ", ".join(placed.step.key for placed in outline.steps if placed.parent == block)


def described_without_reads(step: Step) -> str:
    """Return the description of a step without the line that lists what it reads."""
    said = step.schema.get("description") if isinstance(step.schema, dict) else None
    return "\n".join(line for line in said.splitlines() if not line.startswith("Use ")) if isinstance(said, str) else ""


def answer_schema(step: Step, process: Process) -> Json:
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
