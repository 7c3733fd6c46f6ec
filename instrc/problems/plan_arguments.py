"""Problems with the arguments of a task of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.limits.programs import LISTED_ARGUMENTS
from instrc.problems.plans import PlanProblem
from instrc.problems.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingArgument(PlanProblem):
    """A call lacks a required argument: the call of a tool in a plan, or of an activity or a program in a program.

    ```json tools.json
    {
      "Search": {
        "activity": "Search_Activity",
        "arguments": { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }
      }
    }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "t1", "arguments": {} }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Add the argument: `{ "query": "boats" }`; in a program, `Search_Activity(query: prompt)`.
    """

    name: ClassVar[str] = "missing-argument"

    callee: str
    """What is called."""
    argument: str
    others: tuple[str, ...] = ()
    """More arguments that the same call lacks."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        named = ", ".join(f"`{name}`" for name in (self.argument, *self.others))
        return f"`{self.callee}` needs the argument{'s' if self.others else ''} {named}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out, where the call stands in a program."""
        labels = ", ".join(f"{name}: …" for name in (self.argument, *self.others))
        return None if self.at is None else f"write {'them' if self.others else 'it'} in the brackets of the call: `{labels}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownArgument(PlanProblem):
    """A call has an argument that the called tool or program does not take.

    A plan also must not set the arguments that the program sets itself.

    ```json tools.json
    {
      "Search": {
        "activity": "Search_Activity",
        "arguments": { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }
      }
    }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "t1", "arguments": { "query": "boats", "limt": 3 } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Use the name that the tool defines, here `limit` if it has such an argument, or remove the argument.
    """

    name: ClassVar[str] = "unknown-argument"

    callee: str
    """What is called."""
    argument: str
    nearest: tuple[str, ...] = ()
    bound: bool = False
    """Whether the program sets this argument itself."""
    known: tuple[str, ...] = ()
    """The arguments that exist."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.bound:
            return f"the argument `{self.argument}` of `{self.callee}` is set by the program and cannot be changed"
        return f"`{self.callee}` has no argument `{self.argument}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.bound:
            return "leave it out"
        if self.nearest or not self.known:
            return did_you_mean(self.nearest)
        shown = ", ".join(f"`{name}`" for name in self.known[:LISTED_ARGUMENTS])
        return f"it has {shown}{', …' if len(self.known) > LISTED_ARGUMENTS else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongArgument(PlanProblem):
    """An argument of a task, or of a call in a program, can never be valid for what is called.

    A literal value is validated against the schema of the argument.
    For a result the two schemas are compared: it is a problem only if no result can be valid.
    In a program, the name of a step that gives an object is left alone: it may stand for any one of its values.

    ```json tools.json
    {
      "Search": {
        "activity": "Search_Activity",
        "arguments": { "type": "object", "properties": { "limit": { "type": "integer" } } }
      }
    }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "t1", "arguments": { "limit": "a few" } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Write a value that the schema of the argument allows, here `3`.
    """

    name: ClassVar[str] = "wrong-argument"

    callee: str
    """What is called."""
    argument: str
    """Its name; empty if the arguments are wrong as a whole."""
    reason: str
    instead: tuple[str, ...] = ()
    """What fits and was probably meant, as it is written in a program."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        which = f"the argument `{self.argument}`" if self.argument else "the arguments"
        return f"{which} of `{self.callee}` {'does' if self.argument else 'do'} not fit: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out, where the call stands in a program."""
        if self.at is None:
            return None
        if self.instead:
            return f"write {' or '.join(f'`{each}`' for each in self.instead)}"
        return f"write a value that the schema of `{self.argument}` allows, or a path to one: `{self.argument}: NAME.MEMBER`"
