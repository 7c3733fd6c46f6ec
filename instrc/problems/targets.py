"""Problems with targets: names that none has, schemas that one refuses, and maps that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem
from instrc.problems.suggest import did_you_mean

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


def _target_of(name: str) -> str:
    """Return the target of a model or a company; nothing for what is not known."""
    return next((target for target, names in _MODELS.items() if name.casefold().startswith(names)), "")


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
            return did_you_mean(self.nearest)
        if (target := _target_of(self.target)) in self.known:
            return f"did you mean `{target}`?"
        return "the targets are " + ", ".join(self.known)


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
