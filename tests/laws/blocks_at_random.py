"""Programs with blocks, drawn at random over the vocabulary of `meaning`, and written as source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from hypothesis import strategies as st

from instrc.jsonvalue import Json

CALLS = ("Ma", "Mb", "Mc", "Fetch_Activity", "Log_Activity", "Get_Activity", "FindUser", "Confirm_User")


MEMBERS = {
    "Ma": "a",
    "Mb": "b",
    "Mc": "c",
    "Fetch_Activity": "slots",
    "Log_Activity": "id",
    "FindUser": "output",
    "Confirm_User": "decision",
    "Act": "plan",
}
"""A member of what each call gives."""
TOOLS = ("Fetch_Activity", "Log_Activity", "Get_Activity")
"""What plans may use, beside `Use_Activity`, which takes anything that the program gives."""


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[str, ...]
    """Names, `prompt` among them, and paths."""
    tools: tuple[Call, ...] = ()
    """What the plan that it makes may use, each with the arguments that the program gives."""


@dataclass(frozen=True)
class Body:
    statements: tuple[tuple[str, Expression], ...]
    value: Expression


@dataclass(frozen=True)
class Block:
    opening: str
    """`when prompt is "a"`, `each x in prompt`, …"""
    bodies: tuple[Body, ...]
    closing: str = ""


Expression: TypeAlias = Call | Block | str
"""A string is a name."""


@st.composite
def bodies(
    draw: st.DrawFn,
    visible: tuple[str, ...] = (),
    depth: int = 2,
    at: str = "n",
    *,
    rounds: bool = False,
    plans: bool = False,
    again: list[tuple[frozenset[str], Expression]] | None = None,
) -> Body:
    """Draw a body whose calls are given what is `visible` there; with `rounds` what blocks give, with `plans` plans, too.

    With `again`, where all expressions are kept with the names that they need, it repeats such as have been drawn before.
    """
    statements: list[tuple[str, Expression]] = []
    for number in range(draw(st.integers(0, 3))):
        name = f"{at}{number}"
        value = draw(expressions(visible, depth, name, rounds=rounds, plans=plans, again=again))
        statements.append((name, value))
        member = MEMBERS.get(value.name) if isinstance(value, Call) else None
        visible = (*visible, name, *([f"{name}.{member}"] if member else []))
    value = draw(expressions(visible, depth, f"{at}v", rounds=rounds, plans=plans, again=again))
    return Body(tuple(statements), value)


@st.composite
def repeating(draw: st.DrawFn, depth: int = 3) -> Body:
    """Draw a program in which few expressions are written again and again, in other blocks and under other names."""
    first, second = Call("Ma", ("prompt",)), Call("Mb", ("prompt",))
    block = Block("do", (Body((("s", first),), Call("Mb", ("s",))),))
    known = [first, second, block, Block("do", (Body((), block),)), Block("do", (Body((("t", second),), Call("Ma", ("t",))),))]
    inside = draw(bodies(depth=depth, again=[(frozenset(("prompt",)), each) for each in known]))
    return Body((), Block("do", (inside,)))


@st.composite
def expressions(
    draw: st.DrawFn,
    visible: tuple[str, ...],
    depth: int,
    at: str,
    *,
    rounds: bool,
    plans: bool,
    again: list[tuple[frozenset[str], Expression]] | None = None,
) -> Expression:
    fit = [each for needed, each in again or () if needed <= {*visible, "prompt"}]
    if fit and draw(st.booleans()):
        return _under_other_names(draw(st.sampled_from(fit)), at)
    made = draw(_new(visible, depth, at, rounds=rounds, plans=plans, again=again))
    if again is not None:
        again.append((_needed(made), made))
    return made


def _needed(expression: Expression) -> frozenset[str]:
    """Return the names that an expression reads from outside of it, as they are written."""
    match expression:
        case Call(_, arguments, tools):
            return frozenset(arguments).union(*map(_needed, tools))
        case Block(opening, inside):
            found = frozenset[str]().union(*(_needed(value) for body in inside for value in _expressions(body)))
            own = {name for body in inside for name, _ in body.statements} | {opening.partition(" in ")[0].rpartition(" ")[2]}
            return frozenset(each for each in found if each.partition(".")[0] not in own)
        case _:
            return frozenset((expression,))


def _expressions(body: Body) -> list[Expression]:
    return [*(value for _, value in body.statements), body.value]


def _under_other_names(expression: Expression, at: str) -> Expression:
    """Return an expression with other names for what is defined in it."""
    inside = expression.bodies if isinstance(expression, Block) else ()
    own = {name for body in inside for each in walk(body) for name, _ in each.statements}
    return change_in(expression, lambda name: f"{name}_{at}" if name in own else name, lambda statements, _: statements)


@st.composite
def _new(
    draw: st.DrawFn,
    visible: tuple[str, ...],
    depth: int,
    at: str,
    *,
    rounds: bool,
    plans: bool,
    again: list[tuple[frozenset[str], Expression]] | None,
) -> Expression:
    if plans and (planned := draw(st.sampled_from((None, None, "Act", *(each for each in visible if each.endswith(".plan")))))):
        return draw(_planners(visible)) if planned == "Act" else Call("RunPlan_Activity", (planned,))
    if depth == 0 or draw(st.integers(0, 2 if again is None else 1)):
        arguments = draw(st.lists(st.sampled_from((*visible, "prompt")), min_size=1, max_size=3 if again is None else 2))
        return Call(draw(st.sampled_from(CALLS if again is None else CALLS[:2])), tuple(arguments))
    kinds = ["when", "when else", "each", "count", "repeat", "over", "try", "do"]
    kind = draw(st.sampled_from(kinds if again is None else [*kinds[:2], "do", "do"]))
    inside = (*visible, f"{at}e") if kind in {"each", "over"} else visible
    if rounds and kind in {"repeat", "over"}:
        inside = (*inside, "round", "previous", "rounds")
    made = [draw(bodies(inside, depth - 1, f"{at}_0", rounds=rounds, plans=plans, again=again))]
    if kind in {"when else", "try"}:
        beside = (*visible, "error") if rounds and kind == "try" else visible
        made.append(draw(bodies(beside, depth - 1, f"{at}_1", rounds=rounds, plans=plans, again=again)))
    match kind:
        case "when" | "when else":
            return Block('when prompt is "a"', tuple(made))
        case "each":
            return Block(f"each {at}e in prompt", tuple(made))
        case "count":
            return Block(f"each {at}c in 2", tuple(made))
        case "repeat":
            return Block("repeat", tuple(made), " until round is 2 max 4")
        case "over":
            return Block(f"repeat {at}e in prompt", tuple(made))
        case _:
            return Block(kind, tuple(made))


@st.composite
def _planners(draw: st.DrawFn, visible: tuple[str, ...]) -> Call:
    """Draw a call whose model plans with some tools; one of them may be given something by the program."""
    seen = st.sampled_from((*visible, "prompt"))
    tools = [Call(name, ()) for name in draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2, unique=True))]
    if draw(st.booleans()):
        tools.append(Call("Use_Activity", (draw(seen),)))
    return Call("Act", tuple(draw(st.lists(seen, min_size=1, max_size=2))), tuple(tools))


def write(body: Body, *, top: bool = False) -> str:
    lines = [f"const {name} = {written(value)};" for name, value in body.statements]
    whole = f"{' '.join(lines)} {written(body.value)}".strip()
    return whole if top else f"{{ {whole} }}"


def written(expression: Expression | tuple[str, ...]) -> str:
    match expression:
        case str():
            return expression
        case Call(name, arguments, tools):
            planned = f"{{ plan: Plan({', '.join(map(_bound, tools))}) }}"
            return f"{name}({', '.join((*arguments, planned) if tools else arguments)})"
        case Block(opening, inside, closing):
            return f"{opening} {' else '.join(map(write, inside))}{closing}"
    raise TypeError(expression)


def _bound(tool: Call) -> str:
    """Write a tool, with what the program gives to it under a name."""
    return f"{tool.name}(given: {tool.arguments[0]})" if tool.arguments else tool.name


def walk(body: Body) -> Iterator[Body]:
    yield body
    for expression in (*(value for _, value in body.statements), body.value):
        if isinstance(expression, Block):
            for inner in expression.bodies:
                yield from walk(inner)


def changed(body: Body, name: Json, change: Json) -> Body:
    """Return a body in which names are changed and the order of statements, everywhere."""
    statements = [(name(key), change_in(value, name, change)) for key, value in body.statements]
    return Body(tuple(change(statements, body)), change_in(body.value, name, change))


def change_in(expression: Expression, name: Json, change: Json) -> Expression:
    match expression:
        case str():
            return name(expression)
        case Call(callee, arguments, tools):
            given = tuple(name(head) + dot + rest for head, dot, rest in (each.partition(".") for each in arguments))
            return Call(callee, given, tuple(change_in(each, name, change) for each in tools))
        case Block(_, inside, _):
            return replace(expression, bodies=tuple(changed(each, name, change) for each in inside))
    raise TypeError(expression)


def read_in(body: Body) -> set[str]:
    found: set[str] = set()
    for each in walk(body):
        for expression in (*(value for _, value in each.statements), each.value):
            if isinstance(expression, Call):
                calls = (expression, *expression.tools)
                found |= {given.partition(".")[0] for call in calls for given in call.arguments}
    return found


def used(body: Body) -> Body:
    """Return a program whose own names are all read: what nothing reads at the top is not carried out."""
    read = read_in(body)
    return replace(body, statements=tuple((name, value) for name, value in body.statements if name in read))


def settled(body: Body) -> Body:
    while (less := used(body)) != body:
        body = less
    return body
