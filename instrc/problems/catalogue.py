"""All problems by name, collected from the modules of this folder."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import instrc.problems
from instrc.problems.problem import Problem


@cache
def classes() -> dict[str, type[Problem]]:
    """Return the class of each problem by name, in alphabetical order, without base classes."""
    result = {}
    for module in iter_modules(instrc.problems.__path__, "instrc.problems."):
        for value in vars(import_module(module.name)).values():
            own = isinstance(value, type) and issubclass(value, Problem) and value.__module__ == module.name
            if own and value is not Problem and not value.__subclasses__():
                result[value.name] = value
    return dict(sorted(result.items()))


def page(problem: type[Problem]) -> str:
    """Return the explanation of a problem as Markdown: its meaning, an example and a solution."""
    return (Path(__file__).parent / "pages" / f"{problem.name}.md").read_text(encoding="utf-8").removesuffix("\n")
