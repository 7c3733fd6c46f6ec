"""The nouns of generated programs, and the ways to write and to change them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from instrc.text.jsonvalue import Json


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[str, ...]
    """Names, `prompt` among them, and paths."""
    tools: tuple[Call, ...] = ()
    """What the plan that it makes may use, each with the arguments that the program gives."""
    labelled: str = ""
    """Before its last argument: `who: ` of a called program."""
    among: str = ""
    """The path of the list of which its `id` is one."""
    annotation: str = ""
    """Its deadline or delay, or its description."""


@dataclass(frozen=True)
class Body:
    statements: tuple[tuple[str, Expression], ...]
    value: Expression


@dataclass(frozen=True)
class Block:
    opening: str
    """`when {} is "a"`, `each x in {}`, …"""
    bodies: tuple[Body, ...]
    closing: str = ""
    between: tuple[str, ...] = (" else ",)
    """What stands between the bodies."""
    over: str = "prompt"
    """The path that stands in the braces of the opening."""
    annotation: str = ""
    first: tuple[tuple[str, str], ...] = ()
    """What names of the body of a `repeat` are before the first round."""


Expression: TypeAlias = Call | Block | str
"""A string is a name."""


def write(body: Body, *, top: bool = False) -> str:
    lines = [f"const {name} = {written(value)};" for name, value in body.statements]
    whole = f"{' '.join(lines)} {written(body.value)}".strip()
    return whole if top else f"{{ {whole} }}"


def written(expression: Expression) -> str:
    match expression:
        case str():
            return expression
        case Call(name, arguments, tools):
            given = [*arguments[:-1], f"{expression.labelled}{arguments[-1]}"]
            if tools:
                given.append(f"{{ plan: Plan({', '.join(map(_bound, tools))}) }}")
            if expression.among:
                given.append(f"{{ id: OneOf({expression.among}) }}")
            call = f"{name}({', '.join(given)})"
            return f"{call} @ {{ {expression.annotation} }}" if expression.annotation else call
        case Block(opening, inside, closing, between):
            first = ", ".join(f"{name}: {path}" for name, path in expression.first)
            before = f" from {{ {first} }}" if first else ""
            bodies = (
                write(inside[0]) + before + "".join(joint + write(body) for joint, body in zip(between, inside[1:], strict=False))
            )
            block = f"{opening.format(expression.over)} {bodies}{closing}"
            return f"({block}) @ {{ {expression.annotation} }}" if expression.annotation else block
    raise TypeError(expression)


def _bound(tool: Call) -> str:
    """Write a tool, with what the program gives to it under a name."""
    return f"{tool.name}(given: {tool.arguments[0]})" if tool.arguments else tool.name


def walk(body: Body) -> Iterator[Body]:
    yield body
    for expression in expressions_of(body):
        if isinstance(expression, Block):
            for inner in expression.bodies:
                yield from walk(inner)


def expressions_of(body: Body) -> list[Expression]:
    return [*(value for _, value in body.statements), body.value]


def changed(body: Body, name: Json, change: Json) -> Body:
    """Return a body in which names are changed and the order of statements, everywhere."""
    statements = [(name(key), change_in(value, name, change)) for key, value in body.statements]
    return Body(tuple(change(statements, body)), change_in(body.value, name, change))


def change_in(expression: Expression, name: Json, change: Json) -> Expression:
    def path(each: str) -> str:
        head, dot, rest = each.partition(".")
        return str(name(head)) + dot + rest

    match expression:
        case str():
            return name(expression)
        case Call(_, arguments, tools, among=among):
            inside = tuple(change_in(each, name, change) for each in tools)
            return replace(expression, arguments=tuple(map(path, arguments)), tools=inside, among=path(among) if among else "")
        case Block(_, inside):
            first = tuple((str(name(key)), path(value)) for key, value in expression.first)
            bodies = tuple(changed(each, name, change) for each in inside)
            return replace(expression, bodies=bodies, over=path(expression.over), first=first)
    raise TypeError(expression)


def paths_of(expression: Expression) -> set[str]:
    """Return what an expression itself reads, without the bodies of a block."""
    match expression:
        case Call(_, arguments, tools):
            return {*arguments, *places_of(expression)}.union(*map(paths_of, tools))
        case Block():
            return places_of(expression)
        case _:
            return {expression}


def places_of(expression: Expression) -> set[str]:
    """Return what an expression reads where only a path may stand: in the opening of a block, in `OneOf`."""
    return {path for path in (getattr(expression, "among", ""), getattr(expression, "over", "")) if path}


def read_in(body: Body) -> set[str]:
    """Return the names that are read by calls, blocks and values in a body."""
    found = {path for each in walk(body) for expression in expressions_of(each) for path in paths_of(expression)}
    return {path.partition(".")[0] for path in found}


def used(body: Body) -> Body:
    """Return a program whose own names are all read: what nothing reads at the top is not carried out."""
    read = read_in(body)
    return replace(body, statements=tuple((name, value) for name, value in body.statements if name in read))


def settled(body: Body) -> Body:
    while (less := used(body)) != body:
        body = less
    return body
