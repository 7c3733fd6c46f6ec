"""Literals: JSON that is written in a program."""

from __future__ import annotations

from instrc import problems
from instrc.ir.graph import NO_TIMING
from instrc.ir.surface import Annotated, Array, Call, Expression, Literal, Name, Object, Uri
from instrc.jsonvalue import Json, JsonArray, JsonObject, put
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.source import Span


def is_data(expression: Expression) -> bool:
    """Tell whether an expression is a literal, an array, or an object of nothing else."""
    waiting: list[Expression | None] = [expression]
    while waiting:
        each = waiting.pop()
        match each:
            case Literal() | Array():
                pass
            case Object(fields):
                waiting.extend(field.value for field in fields)
            case None | Name() | Uri() | Call() | Annotated() | _:
                return False
    return True


def data_of(ev: Evaluation, expression: Expression) -> Json:
    """Return the JSON of a literal, an array or an object of literals; anything else in it is reported."""
    top: list[Json] = [None]
    waiting: list[tuple[Expression, JsonArray | JsonObject, str | int]] = [(expression, top, 0)]
    while waiting:
        node, holder, key = waiting.pop()
        match node:
            case Literal(value):
                put(holder, key, value)
            case Array(items):
                listed: JsonArray = [None] * len(items)
                put(holder, key, listed)
                if wrong := next((item for item in items if not isinstance(item, Literal | Array | Object)), None):
                    ev.report.add(problems.calls.NotData(at=wrong.span))
                    continue
                waiting.extend((item, listed, index) for index, item in enumerate(items))
            case Object(fields):
                made: JsonObject = dict.fromkeys(field.key for field in fields)
                put(holder, key, made)
                members = ((field.value or Name(field.key, field.key_span), field.key) for field in fields)
                waiting.extend((member, made, name) for member, name in members)
            case _:
                ev.report.add(problems.calls.NotData(at=node.span))
    return top[0]


def refuse_annotations(ev: Evaluation, span: Span, context: EvaluationContext) -> None:
    """Report annotations of what is no step."""
    if context.annotations or context.timing != NO_TIMING:
        ev.report.add(problems.calls.MisplacedAnnotation(at=span))
