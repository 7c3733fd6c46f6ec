"""Problems with what a target cannot express."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity

_TOOLS_SHOWN = 10


def _lost(keyword: str, pointer: str, tool: str | None) -> str:
    """Name a keyword, or the whole schema, and its place, with the tool where there are several."""
    what = f"`{keyword}`" if keyword else "the schema"
    return f"{what} at `{pointer or '/'}`" + ("" if tool is None else f" of `{tool}`")


def _tools(names: tuple[str, ...]) -> str:
    """List tools by their names; of very many the first."""
    shown = ", ".join(f"`{name}`" for name in names[:_TOOLS_SHOWN])
    return shown if len(names) <= _TOOLS_SHOWN else f"{shown} and {len(names) - _TOOLS_SHOWN} more"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss(Problem):
    """A part of a schema that a target cannot express."""

    target: str
    keyword: str
    pointer: str
    reason: str
    tool: str | None = None
    """The tool whose schema it is, where there are several."""
    tools_of_plan: tuple[str, ...] = ()
    """The tools of a plan of which the same is lost; `pointer` is that of one of them."""
    whole: bool = False
    """Whether the schema is lost with all that is in it."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        lost = _lost("" if self.whole else self.keyword, self.pointer, self.tool)
        if self.tools_of_plan:
            lost += f" (in a plan, of {_tools(self.tools_of_plan)})"
        return f"{lost} is not kept by `{self.target}`: it {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LossyTarget(_Loss):
    """A target cannot express a part of the schema.

    The constraint is written into the description instead, and an answer is validated against it when it is lifted.
    With `--strict` such a loss is an error, so that nobody relies on a decoder for a constraint that it does not enforce.

    ```console
    $ instrc compile draft.aug --target openai
    ```
    ```aug draft.aug
    tool draft = @{
      type: "object",
      properties: { tags: { type: "array", items: { type: "string" }, uniqueItems: true } },
      required: ["tags"],
      additionalProperties: false
    }
    ```

    Remove the keyword, express it in another way, or use a target that keeps it.
    """

    name: ClassVar[str] = "lossy-target"
    severity: ClassVar[Severity] = "warning"

    first: bool = True
    """Whether it is the first of its kind in a run; the others do not repeat the hint."""

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.whole and self.tools_of_plan:
            return (
                "make this argument simpler, give it in the program, as in `Plan(Book_Activity(person))`, or leave the tool out"
            )
        if not self.first:
            return None
        return "`lift` validates answers against the whole schema; another target may keep more (see `instrc targets`)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LossyStrict(_Loss):
    """A target cannot express a part of the schema, and `--strict` requires it.

    Without `--strict` this is the warning `lossy-target`.

    ```console
    $ instrc compile draft.aug --target openai --strict
    ```
    ```aug draft.aug
    tool draft = @{
      type: "object",
      properties: { tags: { type: "array", items: { type: "string" }, uniqueItems: true } },
      required: ["tags"],
      additionalProperties: false
    }
    ```

    Remove the keyword, express it in another way, or compile without `--strict`.
    """

    name: ClassVar[str] = "lossy-target-strict"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove the keyword, or compile without `--strict` and let `lift` check it"
