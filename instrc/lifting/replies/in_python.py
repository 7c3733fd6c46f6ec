"""Read calls that a model writes as Python does: `[weather(city="Oslo"), time(zone="CET")]`, or one a line.

Llama 4, LFM2 and Olmo write so between marks, Gemma in a fence: `print(default_api.weather(city="Oslo"))`.
Nothing is evaluated: the text is parsed, and an argument that is no literal makes it no call.
"""

from __future__ import annotations

import ast
import warnings

from instrc.jsonvalue import LITERALS, Json
from instrc.lifting.replies.parallel import PARALLEL
from instrc.lifting.replies.reply import RawCall
from instrc.limits.payloads import SEARCHED_TEXT

"""What a model that thinks in JSON writes in place of `True`, `False`, `None`."""


def python_calls(text: str) -> list[RawCall]:
    """Return the calls that a text is, in a list or one a line; none if any of it is something else."""
    if len(text) > SEARCHED_TEXT:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a model's backslashes are nobody's business
            body = ast.parse(text.strip()).body
        written = [item for each in body for item in _items(each.value if isinstance(each, ast.Expr) else each)]
        return [_call(item) for item in written]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return []


def _items(node: ast.AST) -> list[ast.AST]:
    return [item for each in node.elts for item in _items(each)] if isinstance(node, ast.List) else [node]


def _call(node: ast.AST) -> RawCall:
    """Return the call that an expression is, its arguments all named; `print(…)` around it is only for show."""
    match node:
        case ast.Call(func=ast.Name(id="print"), args=[shown], keywords=[]):
            return _call(shown)
        case ast.Call(func=called, args=[], keywords=named):
            return RawCall(_name(called), {_key(each.arg): _literal(each.value) for each in named})
        case ast.Call(func=called, args=[ast.Dict() as one], keywords=[]):
            return RawCall(_name(called), _literal(one))
    raise ValueError(node)


_NAMESPACES = frozenset({"default_api", "functions", "tools"})


def _name(node: ast.AST) -> str:
    """Return the name of what is called: below a namespace that templates show, or with `.call` behind it as Llama 3 writes."""
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="call"):
            return name
        case ast.Attribute(value=ast.Name(id=namespace), attr=name) if namespace in _NAMESPACES:
            return name
        case ast.Attribute(value=ast.Name(id="multi_tool_use"), attr="parallel"):
            return PARALLEL
    raise ValueError(node)


def _key(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004  -- one class says "no call"
    return value


def _literal(node: ast.AST | None) -> Json:
    """Return the value of JSON that a literal is; `ValueError` if it is not one."""
    match node:
        case ast.Constant(value=None | str() | bool() | int() as value):
            return value
        case ast.Constant(value=float() as value) if value - value == 0:
            return value
        case ast.Name(id=word) if word in LITERALS:
            return LITERALS[word]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            made = {_key(_literal(key)): _literal(value) for key, value in zip(keys, values, strict=True)}
            if len(made) == len(keys):
                return made  # of a key that is written twice nobody knows which value counts
    raise ValueError(node)
