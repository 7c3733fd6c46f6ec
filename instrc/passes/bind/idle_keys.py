"""Find keys in the contexts of a process that place nothing and that nothing reads: other names for what is there already."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.ir.children import children
from instrc.ir.surface import Access, Call, Expression, Field, Name, Object
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.lookup import names_a_value


def idle_keys(ev: Evaluation, contexts: list[Expression], placing: set[int], context: EvaluationContext) -> list[Field]:
    """Return such fields, in order; `placing` are the contexts that place steps, and `context` is where the process stands."""
    found: list[Field] = []
    known: set[str] = set()
    last_read = {name: index for index, expression in enumerate(contexts) for name in _names(expression)}
    for index, expression in enumerate(contexts):
        for field in _fields(expression):
            if index in placing and field.value is not None and _is_known(ev, field.value, known, context):
                found += [field] if last_read.get(field.key, index) <= index else []
            known.add(field.key)
    return found


def _fields(expression: Expression) -> list[Field]:
    arguments = expression.arguments if isinstance(expression, Call) else ()
    return [field for each in arguments if each.label is None and isinstance(each.value, Object) for field in each.value.fields]


def _is_known(ev: Evaluation, value: Expression, known: set[str], context: EvaluationContext) -> bool:
    """Tell whether a value is only the name of something that is there already, or braces around such names or nothing."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Object):
            waiting.extend(field.value or Name(field.key, field.key_span) for field in each.fields)
        elif not (
            isinstance(each, Access) or (isinstance(each, Name) and each.text in known) or names_a_value(ev, each, context)
        ):
            return False
    return True


def _names(expression: Expression) -> Iterator[str]:
    """Yield the names that stand anywhere in an expression."""
    waiting = [expression]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Name):
            yield each.text
        elif isinstance(each, Object):
            yield from (field.key for field in each.fields if field.value is None)
        waiting.extend(children(each))
