"""The names that code of a model binds, by which a tool cannot be replaced."""

from __future__ import annotations

from collections.abc import Mapping


class Names(dict[str, object]):
    """What names stand for; one of a tool is refused: by `def`, `class` or `import`, as smolagents refuses it by `=`.

    A copy is a plain dictionary: within a function of its own, code may call its variables as it likes.
    """

    def __init__(self, first: Mapping[str, object], tools: frozenset[str]) -> None:
        super().__init__(first)
        self.tools = tools

    def __setitem__(self, name: str, value: object) -> None:
        """Bind a name; `InterpreterError` of smolagents, in its own words, if it is that of a tool."""
        if name in self.tools:
            from smolagents.local_python_executor import InterpreterError

            message = f"Cannot assign to name '{name}': doing this would erase the existing tool!"
            raise InterpreterError(message)
        super().__setitem__(name, value)
