"""What lies directly inside an expression, a block or a condition of a program as it is written."""

from __future__ import annotations

from typing import assert_never

from instrc.ir.surface import (
    Access,
    Annotated,
    Array,
    Block,
    Body,
    Call,
    Condition,
    Do,
    Each,
    Expression,
    Inline,
    Literal,
    Name,
    Object,
    Pipe,
    Repeat,
    Try,
    Uri,
    When,
)


def children(node: Expression) -> list[Expression]:
    """Return the expressions directly inside another, in order of place."""
    match node:
        case Call(callee, arguments):
            return [callee, *[argument.value for argument in arguments]]
        case Name() | Uri() | Literal() | Inline():
            return []
        case Object(fields):
            return [field.value for field in fields if field.value is not None]
        case Array(items):
            return list(items)
        case Annotated(value):
            return [value]
        case Pipe(stages):
            return list(stages)
        case Access(base):
            return [base]
        case When() | Each() | Repeat() | Try() | Do():
            return _inside_block(node)
        case _:
            assert_never(node)


def bodies(block: Block) -> list[Body]:
    """Return the bodies of a block, in order of place."""
    match block:
        case When(branches, otherwise):
            return [*(branch.body for branch in branches), *([] if otherwise is None else [otherwise])]
        case Repeat():
            return [block.body, *([] if block.otherwise is None else [block.otherwise])]
        case Try(body, otherwise):
            return [body, otherwise]
        case Each() | Do():
            return [block.body]
        case _:
            assert_never(block)


def _inside_block(block: Block) -> list[Expression]:
    found: list[Expression] = []
    if isinstance(block, When):
        for branch in block.branches:
            found += [*subjects(branch.condition), *_inside_body(branch.body)]
        if block.otherwise is not None:
            found += _inside_body(block.otherwise)
        return found
    if isinstance(block, Each | Repeat) and block.source is not None:
        found.append(block.source)
    found += _inside_body(block.body)
    if isinstance(block, Repeat) and block.until is not None:
        found += subjects(block.until)
    if isinstance(block, Repeat | Try) and block.otherwise is not None:
        found += _inside_body(block.otherwise)
    return found


def _inside_body(body: Body) -> list[Expression]:
    return [*[statement.value for statement in body.statements], body.value]


def subjects(condition: Condition) -> list[Name | Access]:
    """Return what a condition reads."""
    return [test.subject for test in condition.tests]
