"""Problems with targets, and with the answers of models."""

from __future__ import annotations

from instrc.problems.problem import Problem, ProblemWarning, did_you_mean

_MODELS = {
    "anthropic": ("claude", "sonnet", "opus", "haiku"),
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4", "azure", "codex"),
    "gemini": ("google", "vertex", "gemma", "palm"),
    "bedrock": ("aws", "amazon", "nova"),
    "mistral": ("mixtral", "codestral", "ministral"),
    "gigachat": ("sber", "giga"),
    "ollama": ("llama", "qwen", "deepseek", "phi"),
}
"""Prefixes of model and company names, by target."""


class UnknownTarget(Problem):
    message = "there is no target `{target}`"

    target: str
    known: tuple[str, ...] = ()

    @property
    def hint(self) -> str | None:
        if "," in self.target or " " in self.target:
            return "name one target; run the command once for each"
        if self.nearest:
            return did_you_mean(self.nearest)
        if (target := _target_of(self.target)) in self.known:
            return f"did you mean `{target}`?"
        return "the targets are " + ", ".join(self.known)


def _target_of(name: str) -> str:
    """Return the target of a model or a company, or the empty string if unknown."""
    return next((target for target, names in _MODELS.items() if name.casefold().startswith(names)), "")


class RecursiveForTarget(Problem):
    hint = "allow unrolling to a depth, or use a target that keeps recursion"
    message = "`{target}` does not support recursion, and `{reference}` at `{pointer:/}` is recursive"

    target: str
    reference: str
    pointer: str


class UnreadableMap(Problem):
    message = "this is not a reverse map: {reason}"
    hint = "pass the map that was written with the payload"

    reason: str


_TOOLS_SHOWN = 10


class _Loss(Problem):
    """A part of a schema that a target cannot express."""

    target: str
    keyword: str
    pointer: str
    reason: str
    tool: str | None = None
    """Name of the tool, where there are several."""
    tools_of_plan: tuple[str, ...] = ()
    """Tools of a plan with the same loss; `pointer` belongs to one of them."""
    whole: bool = False
    """Whether the schema is lost with all its contents."""

    @property
    def message(self) -> str:
        lost = _lost("" if self.whole else self.keyword, self.pointer, self.tool)
        if self.tools_of_plan:
            lost += f" (in a plan, of {_tools(self.tools_of_plan)})"
        return f"{lost} is not kept by `{self.target}`: it {self.reason}"


class LossyTarget(_Loss):
    severity = "warning"

    first: bool = True
    """Whether it is the first loss of its kind in a run; the others omit the hint."""

    @property
    def hint(self) -> str | None:
        if self.whole and self.tools_of_plan:
            return (
                "make this argument simpler, give it in the program, as in `Plan(Book_Activity(person))`, or leave the tool out"
            )
        if not self.first:
            return None
        return "`lift` validates answers against the whole schema; another target may keep more (see `instrc targets`)"


class LossyTargetStrict(_Loss):
    hint = "remove the keyword, or compile without `--strict` and let `lift` check it"


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
"""Hints for an exceeded budget, by the counted unit."""


class BudgetExceeded(ProblemWarning):
    target: str
    what: str
    """The counted unit, in the plural: `properties`, `strict tools`."""
    count: int
    limit: int
    offender: str
    """Tool or place that adds most to the count or is the first over the limit."""
    consequence: str = ""
    """The consequence, as a clause."""

    @property
    def excess(self) -> str:
        """The number of items, and the limit."""
        return f"{self.count} {self.what}, and `{self.target}` takes at most {self.limit}"

    @property
    def message(self) -> str:
        end = f"; {self.consequence}" if self.consequence else ""
        return f"with `{self.offender}` there are {self.excess}{end}"

    @property
    def hint(self) -> str | None:
        return _WAYS_WITHIN_A_BUDGET.get(self.what, "split the tool")


class InvalidAnswer(Problem):
    message = "the answer is wrong at `{pointer:/}`: {reason}"

    pointer: str
    """JSON Pointer into the lifted value."""
    reason: str


class RefusedAnswer(Problem):
    message = "the model declined: {words}"

    words: str


class CutAnswer(Problem):
    message = "the answer was cut off before its end"
    hint = "raise the limit on tokens, or ask for less at once"


class FailedAnswer(Problem):
    message = "the provider sent an error instead of an answer: {words}"

    words: str


class NoAnswer(Problem):
    hint = "require the tool in the request, for example with `tool_choice`, or send the format of the target"

    said: str | None = None

    @property
    def message(self) -> str:
        return "the model called no tool" if self.said is None else f"the model called no tool but said: {self.said}"


class AmbiguousAnswer(Problem):
    readings: tuple[str, ...]
    """Result of each reading, in one word."""

    @property
    def message(self) -> str:
        return f"the answer may be the arguments ({self.readings[0]}) or an envelope around them ({self.readings[1]})"


class PayloadRefused(Problem):
    message = "`{target}` would refuse `{tool}`: {reason}"

    tool: str
    target: str
    reason: str


def _lost(keyword: str, pointer: str, tool: str | None) -> str:
    """Return the name of a keyword, or of the whole schema, and its place, with the tool if there are several."""
    what = f"`{keyword}`" if keyword else "the schema"
    return f"{what} at `{pointer or '/'}`" + ("" if tool is None else f" of `{tool}`")


def _tools(names: tuple[str, ...]) -> str:
    """Return the names of tools as a list, shortened to the first ones."""
    shown = ", ".join(f"`{name}`" for name in names[:_TOOLS_SHOWN])
    return shown if len(names) <= _TOOLS_SHOWN else f"{shown} and {len(names) - _TOOLS_SHOWN} more"
