"""Problems with what a tool says and a vibe cannot, or says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Problem):
    """A part of a tool cannot be said in a vibe and is left out.

    What is left out either is no JSON Schema (a bound that is no number, a reference that leads nowhere),
    or has no place in one (how a provider is to cache the tool).

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

    If it matters, say it in another way in the vibe, for example in a description.
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
    """A part of a tool is written in a way that JSON Schema does not know, and is read as what it most likely means.

    ```json tools.json
    [{ "name": "find_slot", "input_schema": { "type": "dict", "properties": { "day": { "type": "str" } } } }]
    ```
    ```console
    $ instrc import anthropic tools.json
    ```

    Look at the vibe; if it was meant otherwise, mend it there or in the source.
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
    """A parameter of a tool has a name that means something in a vibe.

    A property `output` makes an instruction a call of the server, which fills it in.
    A name that begins with `_` is a thought of the model and one with `$` a measurement: the result leaves both out.
    The parameter is imported as it is, so the tool stays exact.

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

    Rename the property in the vibe if a program is to use the tool as a step that the model fills in.
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
    """Tools say what they give back, which a vibe for the model has no place for.

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

    With `--results activity` each tool gets a second vibe, `NAME_Activity`, the call of the server that gives it back;
    with `--results output` it stands in the property `output` of the tool itself.
    """

    name: ClassVar[str] = "results-left-out"
    severity = "warning"

    count: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        who = "one tool says" if self.count == 1 else f"{self.count} tools say"
        return f"{who} what comes back, which is left out"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "`--results activity` or `--results output` keeps it"


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

    Mend its schema in the source.
    """

    name: ClassVar[str] = "unusable-tool"
    severity = "warning"

    tool: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the tool `{self.tool}` is left out: {self.reason}"
