"""Problems with the sizes that a provider limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity

_WAYS_WITHIN_A_BUDGET = {
    "properties": "declare fewer properties, or split the tool",
    "levels of nesting": "nest less, or split the tool",
    "enum values": "list fewer values, or split the tool",
    "characters of names and values": "shorten names and listed values, or split the tool",
    "optional parameters": "require more of them, split the tool, or send fewer tools in one request",
    "union-typed parameters": "require more of them, give them one type each, split the tool, or send fewer tools in one request",
    "strict tools": "send fewer tools in one request",
    "tools": "send fewer tools in one request",
}
"""What to do about a budget, by what it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetExceeded(Problem):
    """A tool, or the tools of one request, exceed a limit of the provider.

    Providers limit properties, levels, enum values, characters, strict tools, optional and union-typed parameters.
    A tool over the limit is sent without strict mode, so that the request is accepted;
    then the decoder does not enforce the schema, and only `lift` checks it.

    ```console
    $ instrc compile draft.aug --target anthropic-strict
    ```
    ```aug draft.aug
    tool draft = @{ type: "object", required: [], additionalProperties: false, properties: {
      a: { type: "string" }, b: { type: "string" }, c: { type: "string" }, d: { type: "string" }, e: { type: "string" },
      f: { type: "string" }, g: { type: "string" }, h: { type: "string" }, i: { type: "string" }, j: { type: "string" },
      k: { type: "string" }, l: { type: "string" }, m: { type: "string" }, n: { type: "string" }, o: { type: "string" },
      p: { type: "string" }, q: { type: "string" }, r: { type: "string" }, s: { type: "string" }, t: { type: "string" },
      u: { type: "string" }, v: { type: "string" }, w: { type: "string" }, x: { type: "string" }, y: { type: "string" }
    } }
    ```

    Require more properties, split the tool, or send fewer tools in one request.
    """

    name: ClassVar[str] = "budget-exceeded"
    severity: ClassVar[Severity] = "warning"

    target: str
    what: str
    """What is counted, in the plural: `properties`, `strict tools`."""
    count: int
    limit: int
    offender: str
    """The tool, or the place in it, that adds most to the count or is the first over the limit."""
    consequence: str = ""
    """The consequence, as a clause."""

    @property
    def excess(self) -> str:
        """How many there are, and how many may be."""
        return f"{self.count} {self.what}, and `{self.target}` takes at most {self.limit}"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        end = f"; {self.consequence}" if self.consequence else ""
        return f"with `{self.offender}` there are {self.excess}{end}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return _WAYS_WITHIN_A_BUDGET.get(self.what, "split the tool")
