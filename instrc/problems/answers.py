"""Problems with what is sent to models and with what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidAnswer(Problem):
    """An answer breaks the schema that the model was asked to fill in.

    Targets do not enforce every keyword, and some enforce none; so the answer is validated when it is lifted.

    Mistakes that models often make are repaired, and `repairs` in the output lists their places:

    - `null` for an optional property that must not be null (`null-left-out`);
    - JSON written as a text where the schema excludes a text (`text-read`);
    - a value of an `enum` in another case or with other spaces and dashes (`case`, `spelling`), a number for a listed text
      (`as-text`), a key in another spelling (`key`);
    - one value in place of a list of it, or a list of one in place of a value (`listed`, `unlisted`);
    - arguments that stand one level too deep (`unwrapped`), a tool under another spelling of its name (`tool-name`);
    - text that is JSON except for single quotes, comments, commas before a closing bracket and the like (`loose-json`).

    Only invalid values are repaired, and only if fewer errors remain afterwards; everything else is this problem.
    A key that is written twice in one object is listed in `repairs` too (`repeated-key`): the last one counts.

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

    Ask the model again with the message, or use a target that enforces the keyword (`instrc targets`).
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

    Read the reason that it gives, and change the request; the schema is not the cause.
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

    The model reached a limit on the length. Use the incomplete values only to show progress.

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

    Raise the limit on tokens, or ask for less at once.
    """

    name: ClassVar[str] = "cut-answer"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "the answer was cut off before its end"

    @property
    def hint(self) -> str:
        """One short sentence: the way out."""
        return "raise the limit on tokens, or ask for less at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAnswer(Problem):
    """The provider, or an MCP tool, returned an error instead of an answer.

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

    Its message says whether to wait, to change the request, or to repair the server.
    An error about the schema should not happen: `instrc verify` checks the tool against the known rules of the target.
    """

    name: ClassVar[str] = "failed-answer"

    words: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the provider sent an error instead of an answer: {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer(Problem):
    """The response of the model contains no value: no tool call and no JSON.

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

    Let the request require a call of the tool (`tool_choice`).
    """

    name: ClassVar[str] = "no-answer"

    said: str | None = None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "the model called no tool" if self.said is None else f"the model called no tool but said: {self.said}"

    @property
    def hint(self) -> str:
        """One short sentence: the way out."""
        return "let the request require the tool, as by `tool_choice`, or send the format of the target"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousAnswer(Problem):
    """An answer can be read in two ways: as the arguments of the tool, or as a provider's envelope around them.

    The tool has properties with names that are also used in envelopes (`error`, `choices`, `role` and `content`).
    Both readings are tried, and the one with a valid value is used; here both values are valid, or neither is.

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
    """The result of each reading, in one word."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the answer may be the arguments ({self.readings[0]}) or an envelope around them ({self.readings[1]})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadRefused(Problem):
    """A target, or the engine that it runs on, would refuse a tool.

    `instrc verify` asks the grammar engines that are installed (`pip install 'instrc[verify]'`)
    and checks the payload against the known rules of the target.
    A payload that `instrc compile --target` writes should pass: if it does not, please report it.

    Write the named part of the schema in another way, or use another target.
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
