"""Problems with targets: schemas that a provider cannot use, and maps that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity

_MODELS = {
    "anthropic": ("claude", "sonnet", "opus", "haiku"),
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4", "azure", "codex"),
    "gemini": ("google", "vertex", "gemma", "palm"),
    "bedrock": ("aws", "amazon", "nova"),
    "mistral": ("mixtral", "codestral", "ministral"),
    "gigachat": ("sber", "giga"),
    "ollama": ("llama", "qwen", "deepseek", "phi"),
}
"""The beginnings of names of models and companies, by the target that is theirs."""

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
_TOOLS_SHOWN = 10


def _target_of(name: str) -> str:
    """Return the target of a model or a company; nothing for what is not known."""
    return next((target for target, names in _MODELS.items() if name.casefold().startswith(names)), "")


def _lost(keyword: str, pointer: str, tool: str | None) -> str:
    """Name a keyword and its place, with the tool where there are several."""
    return f"`{keyword}` at `{pointer or '/'}`" + ("" if tool is None else f" of `{tool}`")


def _tools(names: tuple[str, ...]) -> str:
    """List tools by their names; of very many the first."""
    shown = ", ".join(f"`{name}`" for name in names[:_TOOLS_SHOWN])
    return shown if len(names) <= _TOOLS_SHOWN else f"{shown} and {len(names) - _TOOLS_SHOWN} more"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownTarget(Problem):
    """There is no target of this name.

    `--target` takes one of the names that `instrc targets` lists.

    ```console
    $ instrc compile draft.aug --target opneai
    ```
    ```aug draft.aug
    tool draft = @{ type: "object", properties: { text: { type: "string" } }, required: ["text"] }
    ```

    Look at `instrc targets`, or pass your own `Dialect` value to `instrc.lower`.
    """

    name: ClassVar[str] = "unknown-target"

    target: str
    nearest: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no target `{self.target}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if "," in self.target or " " in self.target:
            return "name one target; run the command once for each"
        if self.nearest:
            return "did you mean " + " or ".join(f"`{name}`" for name in self.nearest) + "?"
        if (target := _target_of(self.target)) in self.known:
            return f"did you mean `{target}`?"
        return "the targets are " + ", ".join(self.known)


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
    """The tools of a plan of which the same is lost at the same place; `pointer` is that of the first."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        lost = _lost(self.keyword, self.pointer, self.tool)
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
    planned: bool = False
    """Whether the tool has a plan in it, which grows with every tool that it names."""

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
        way = _WAYS_WITHIN_A_BUDGET.get(self.what, "split the tool")
        return f"name fewer tools in `Plan(…)`, or {way}" if self.planned else way


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveForTarget(Problem):
    """A recursive schema is lowered for a target that refuses recursion, and unrolling is turned off.

    ```console
    $ instrc compile schemas/tree.vibe.json --target anthropic-strict --recursion refuse
    ```
    ```json schemas/tree.vibe.json
    {
      "type": "object",
      "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } },
      "required": ["name"]
    }
    ```

    Allow unrolling, or use a target that keeps recursion (see `instrc targets`).
    """

    name: ClassVar[str] = "recursive-for-target"

    target: str
    reference: str
    pointer: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.target}` takes no recursion, and `{self.reference}` at `{self.pointer or '/'}` is recursive"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "allow unrolling to a depth, or use a target that keeps recursion"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableMap(Problem):
    """A document is not a reverse map.

    A map is the JSON that `instrc compile --target` writes next to a payload, or an MCP tool that contains it in `_meta`.

    ```console
    $ instrc lift --map notes.json answer.json
    ```
    ```json answer.json
    { "text": "Hello" }
    ```
    ```json notes.json
    { "remember": "the milk" }
    ```

    Give the map of the payload that was sent to the model.
    """

    name: ClassVar[str] = "unreadable-map"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this is not a reverse map: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "give the map that was written with the payload"
