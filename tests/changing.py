"""All the places of a file of Python where one small change makes a slip of it; `mutants.py` asks whether the tests notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    """One change: the bytes of a file from FIRST to LAST give way to others."""

    file: str
    line: int
    function: str
    kind: str
    first: int
    last: int
    before: str
    after: str


_OTHER = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def mutants(file: Path, root: Path) -> Iterator[Mutant]:
    """Yield all changes of a file."""
    text = file.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, names in _inside(ast.parse(text), ()):
        function = ".".join(names[:-1]) if names[-1:] == ("<locals>",) else ""
        for kind, place, after in _changes(node):
            first, last = starts[place.lineno - 1] + place.col_offset, starts[place.end_lineno - 1] + place.end_col_offset
            before = " ".join(text[first:last].decode().split())
            yield Mutant(str(file.relative_to(root)), place.lineno, function, kind, first, last, before, after)


def _inside(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[ast.AST, tuple[str, ...]]]:
    """Yield the nodes below, each with the qualified name of what it stands in.

    Left out are hints of types, which are never evaluated, and formatted strings, inside of which Python 3.11 gives wrong places.
    """
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns"}:
            continue
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, ast.AST) or isinstance(each, ast.JoinedStr):
                continue
            within = names
            if isinstance(each, ast.ClassDef):
                within = (*names, each.name)
            elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                within = (*names, each.name, "<locals>")
            yield each, within
            yield from _inside(each, within)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield what can be changed in a node: the kind, the node that gives way, and the text that stands for it."""
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                other = copy.deepcopy(node)
                other.ops[at] = _OTHER[type(operator)]()
                yield "comparison", node, f"({ast.unparse(other)})"
        case ast.BoolOp():
            yield "and/or", node, f"({ast.unparse(ast.BoolOp(_OTHER[type(node.op)](), node.values))})"
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            if not isinstance(test, ast.Constant) and ast.unparse(test) != "TYPE_CHECKING":
                yield "denied", test, f"(not ({ast.unparse(test)}))"
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield "denied", test, f"(not ({ast.unparse(test)}))"
        case ast.Return(value=ast.expr() as value):
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield "none", value, "None"
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield "more", node, str(value + 1)
        case ast.Break() | ast.Continue():
            yield "loop", node, "continue" if isinstance(node, ast.Break) else "break"
        case ast.AugAssign() | ast.Delete() | ast.Raise():
            yield "left out", node, "pass"
        case ast.Expr(value=value) if not isinstance(value, ast.Constant | ast.Yield | ast.YieldFrom):
            yield "left out", node, "pass"
