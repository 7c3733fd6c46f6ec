"""The facts of a file of source that tests of layout and style ask for, read once for all of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "instrc").rglob("*.py"))
"""Of the package."""


class Facts(NamedTuple):
    """Parts of a file; its tree is not kept, as those of all files fill the memory."""

    text: str
    imports: list[ast.Import]
    imports_from: list[ast.ImportFrom]
    classes: list[str]
    functions: list[tuple[int, str]]
    """Lines and name of each."""
    any_lines: list[int]
    """Where `Any` is written."""
    names: set[str]
    strings: set[str]
    members: set[tuple[str, str]]
    """`a.b` as `a` and `b`."""


@cache
def facts(file: Path) -> Facts:
    """Read a file."""
    known = Facts(file.read_text(encoding="utf-8"), [], [], [], [], [], set(), set(), set())
    for node in ast.walk(ast.parse(known.text)):
        match node:
            case ast.Import():
                known.imports.append(node)
            case ast.ImportFrom():
                known.imports_from.append(node)
            case ast.ClassDef():
                known.classes.append(node.name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                known.functions.append(((node.end_lineno or node.lineno) - node.lineno + 1, node.name))
            case ast.Name(id=name):
                known.names.add(name)
                known.any_lines.extend([node.lineno] if name == "Any" else [])
            case ast.Constant(value=str(text)):
                known.strings.add(text)
            case ast.Attribute(value=ast.Name(id=name), attr=member):
                known.members.add((name, member))
            case _:
                pass
    return known
