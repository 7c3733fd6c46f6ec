"""Problems with what is sent to models and with what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidAnswer(Problem):
    """An answer breaks the schema that the model was asked to fill in.

    Targets do not enforce every keyword, and some enforce none; what they let through is found when the answer is lifted.

    Three mistakes that models often make are repaired, and `mended` in the output names their places:
    `null` for a property that may be left out and may not be null; JSON written into a text where no text may stand;
    a listed word in another case.
    Only what was invalid is repaired, and only if it is less wrong afterwards; everything else is this problem.
    A key that is written twice in one object is in `mended` too: the last one counts.

    ```console
    $ instrc lift --map draft.map.json answer.json
    ```
    ```json answer.json
    { "text": 5 }
    ```
    ```json draft.map.json
    {
      "instrc": 1, "target": "openai", "tool": { "name": "draft", "sent": "draft" }, "keys": ["text"], "codec": null,
      "schema": { "type": "object", "properties": { "text": { "type": "string" } } }
    }
    ```

    Ask the model again with the message, or take a target that enforces the keyword (`instrc targets`).
    """

    name: ClassVar[str] = "invalid-answer"

    pointer: str
    """Where in the lifted value, as a JSON Pointer."""
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the answer is wrong at `{self.pointer or '/'}`: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAnswer(Problem):
    """The model, or its provider, declined to answer.

    ```console
    $ instrc lift --map draft.map.json answer.json
    ```
    ```json answer.json
    { "choices": [{ "message": { "role": "assistant", "content": null, "refusal": "I cannot help with that." } }] }
    ```
    ```json draft.map.json
    {
      "instrc": 1, "target": "openai", "tool": { "name": "draft", "sent": "draft" }, "keys": ["text"], "codec": null,
      "schema": { "type": "object", "properties": { "text": { "type": "string" } } }
    }
    ```

    Read what it says; the request, not the schema, is to be changed.
    """

    name: ClassVar[str] = "refused-answer"

    words: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the model declined: {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CutAnswer(Problem):
    r"""An answer ends before it is complete.

    The model reached a limit of length; what there is of the values may be used for nothing but showing progress.

    ```console
    $ instrc lift --map draft.map.json answer.json
    ```
    ```json answer.json
    {
      "choices": [{ "finish_reason": "length", "message": { "role": "assistant", "tool_calls": [
        { "id": "1", "type": "function", "function": { "name": "draft", "arguments": "{\"text\": \"Hel" } }
      ] } }]
    }
    ```
    ```json draft.map.json
    {
      "instrc": 1, "target": "openai", "tool": { "name": "draft", "sent": "draft" }, "keys": ["text"], "codec": null,
      "schema": { "type": "object", "properties": { "text": { "type": "string" } } }
    }
    ```

    Raise the limit of tokens, or ask for less at once.
    """

    name: ClassVar[str] = "cut-answer"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "the answer was cut off before its end"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAnswer(Problem):
    """What came back is an error of the provider, or of a tool of MCP, instead of an answer.

    ```console
    $ instrc lift --map draft.map.json answer.json
    ```
    ```json answer.json
    { "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }
    ```
    ```json draft.map.json
    {
      "instrc": 1, "target": "anthropic", "tool": { "name": "draft", "sent": "draft" }, "keys": ["text"], "codec": null,
      "schema": { "type": "object", "properties": { "text": { "type": "string" } } }
    }
    ```

    Its words say whether to wait, to change the request, or to look after the server.
    A complaint about a schema should not happen: `instrc verify` holds the tool to the rules that are known.
    """

    name: ClassVar[str] = "failed-answer"

    words: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the provider sent an error instead of an answer: {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer(Problem):
    """There is no value in what the model answered: no call of a tool, no JSON.

    ```console
    $ instrc lift --map draft.map.json answer.json
    ```
    ```json answer.json
    { "choices": [{ "finish_reason": "stop", "message": { "role": "assistant", "content": "Gladly! What about?" } }] }
    ```
    ```json draft.map.json
    {
      "instrc": 1, "target": "openai", "tool": { "name": "draft", "sent": "draft" }, "keys": ["text"], "codec": null,
      "schema": { "type": "object", "properties": { "text": { "type": "string" } } }
    }
    ```

    Let the request demand a call of the tool (`tool_choice`).
    """

    name: ClassVar[str] = "no-answer"

    said: str | None = None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "the model called no tool" if self.said is None else f"the model called no tool but said: {self.said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousAnswer(Problem):
    """An answer can be read in two ways: as the arguments of the tool, or as a provider's envelope around them.

    The properties of the tool have names that envelopes have (`error`, `choices`, `role` and `content`).
    Both readings are tried, and the one whose value is valid counts; here both are, or neither.

    ```console
    $ instrc lift --map report.map.json answer.json
    ```
    ```json answer.json
    { "error": "the disk is full" }
    ```
    ```json report.map.json
    {
      "instrc": 1, "target": "openai", "tool": { "name": "report", "sent": "report" }, "keys": ["error", "code"], "codec": null,
      "schema": { "type": "object", "properties": { "error": {}, "code": {} }, "required": ["error", "code"] }
    }
    ```

    Give the whole response of the provider to `lift`; `readings` in the output shows both.
    """

    name: ClassVar[str] = "ambiguous-answer"

    readings: tuple[str, ...]
    """What came of each reading, in one word."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the answer may be the arguments ({self.readings[0]}) or an envelope around them ({self.readings[1]})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadRefused(Problem):
    """A target, or an engine it runs on, would not take a tool.

    `instrc verify` asks the grammar engines that are installed (`pip install 'instrc[verify]'`)
    and holds the payload to the rules that are known of the target.
    A payload that `instrc compile --target` makes is meant to pass: if it does not, please report it.

    Say the part of the schema that is named in another way, or take another target.
    """

    name: ClassVar[str] = "payload-refused"

    tool: str
    target: str
    judge: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.target}` would refuse `{self.tool}` ({self.judge}): {self.reason}"
