"""Problems with parts of a tool that a vibe cannot express, or that a vibe expresses differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Problem):
    """A part of a tool cannot be expressed in a vibe and is left out.

    Such a part is not valid JSON Schema (a bound that is not a number, a reference without a target),
    or does not belong in a schema (how a provider should cache the tool).

    ```json tools.json
    [
      {
        "name": "find_slot",
        "input_schema": { "type": "object", "properties": { "day": { "type": "string", "maxLength": "short" } } }
      }
    ]
    ```
    ```console
    $ instrc import anthropic tools.json
    ```

    If you need it, express it in the vibe in another way, for example in a description.
    """

    name: ClassVar[str] = "left-out"
    severity = "warning"

    what: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.what}` is left out: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOtherwise(Problem):
    """A part of a tool is not written as in JSON Schema, and is read with its most likely meaning.

    ```json tools.json
    [{ "name": "find_slot", "input_schema": { "type": "dict", "properties": { "day": { "type": "str" } } } }]
    ```
    ```console
    $ instrc import anthropic tools.json
    ```

    Look at the vibe; if the meaning is wrong, correct it there or in the source.
    """

    name: ClassVar[str] = "read-otherwise"
    severity = "warning"

    what: str
    meaning: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.what}` is read as {self.meaning}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyWithMeaning(Problem):
    """A parameter of a tool has a name with a special meaning in a vibe.

    A property `output` makes an instruction a step of the server, which fills in that property.
    A name that begins with `_` is a thought of the model, and one that begins with `$` is a measurement: results contain neither.
    The parameter is imported unchanged, so the tool is exact.

    ```json tools.json
    [
      {
        "name": "convert",
        "input_schema": {
          "type": "object",
          "properties": { "input": { "type": "string" }, "output": { "type": "string" } }
        }
      }
    ]
    ```
    ```console
    $ instrc import anthropic tools.json
    ```

    Rename the property in the vibe if a program should use the tool as a step that the model fills in.
    """

    name: ClassVar[str] = "property-with-meaning"
    severity = "warning"

    key: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.key == "output":
            return "a property `output` is filled in by the server, not by the model"
        what = "a thought" if self.key.startswith("_") else "a measurement"
        return f"`{self.key}` is {what} by its name, so results leave it out"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsLeftOut(Problem):
    """Tools declare what they return, but a vibe for the model cannot contain that.

    ```json tools.json
    {
      "tools": [
        {
          "name": "find_slot",
          "inputSchema": { "type": "object", "properties": {} },
          "outputSchema": { "type": "object", "properties": { "slot": { "type": "string" } } }
        }
      ]
    }
    ```
    ```console
    $ instrc import mcp tools.json
    ```

    With `--results activity` each tool gets a second vibe, `NAME_Activity`, for the step of the server that returns it;
    with `--results output` it becomes the property `output` of the tool itself.
    """

    name: ClassVar[str] = "results-left-out"
    severity = "warning"

    count: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        who = "one tool declares" if self.count == 1 else f"{self.count} tools declare"
        return f"{who} results, which are left out"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "`--results activity` or `--results output` keeps them"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableTool(Problem):
    """A tool cannot become a vibe, so it is left out; the others are imported.

    ```json tools.json
    [
      {
        "name": "find_slot",
        "input_schema": {
          "type": "object",
          "properties": { "day": { "type": "string", "allOf": [{ "type": "integer" }] } }
        }
      },
      { "name": "draft", "input_schema": { "type": "object", "properties": {} } }
    ]
    ```
    ```console
    $ instrc import anthropic tools.json
    ```

    Correct its schema in the source.
    """

    name: ClassVar[str] = "unusable-tool"
    severity = "warning"

    tool: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the tool `{self.tool}` is left out: {self.reason}"
