"""Problems inside well-formed vibes: names and paths without a target, and solutions that are not valid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.misspelt import MisspeltWord
from instrc.problems.problem import Fix, Label, Problem, Severity
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFromProperties(MisspeltWord):
    """`required` names something that `properties` does not describe.

    A model would have to write a property that is not described.
    Properties from `allOf`, `$ref` and the like count as described. A schema with
    `additionalProperties: true`, or with a schema as its value, may require any property.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "string" } }, "required": ["boddy"] }
    ```

    Use one name in both places, or describe the property.
    """

    name: ClassVar[str] = "missing-from-properties"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is required, but it is not one of the properties"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest) or "describe it under `properties`, or remove it from `required`"


@dataclass(frozen=True, slots=True, kw_only=True)
class DanglingReference(Problem):
    """A path in `references` or `arguments` has no target.

    A path names a result that a step reads: the key of a step, or of a chunk and a step in it, then properties, joined by dots;
    or `prompt`.

    ```json schemas/meeting.vibe.json
    {
      "type": "object",
      "properties": {
        "llmContext1": {
          "type": "object",
          "properties": {
            "identify": { "type": "object", "properties": { "who": { "type": "string" } } },
            "invite": { "type": "object", "properties": { "text": { "type": "string" } }, "references": ["identfy.who"] }
          }
        }
      }
    }
    ```

    Write the key of the step as it is spelled under `properties`.
    """

    name: ClassVar[str] = "dangling-reference"

    path: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the path `{self.path}` leads to no step"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.path, self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardReference(Problem):
    """A step reads the result of a later step.

    Steps run in the order in which they are written, chunk by chunk, so a path may name only an earlier step.

    ```json schemas/meeting.vibe.json
    {
      "type": "object",
      "properties": {
        "llmContext1": {
          "type": "object",
          "properties": {
            "invite": { "type": "object", "properties": { "text": { "type": "string" } }, "references": ["identify"] },
            "identify": { "type": "object", "properties": { "who": { "type": "string" } } }
          }
        }
      }
    }
    ```

    Move the step that is read before the one that reads it.
    """

    name: ClassVar[str] = "forward-reference"

    path: str
    step: str
    """The step that reads."""
    target: Span | None = None
    """The place of the step that is read."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.step}` reads `{self.path}`, which comes later"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"move `{self.step}` after the step that it reads"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.target is None else (Label(self.target, "this comes later"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidSolution(Problem):
    """The `solution` of a vibe does not satisfy its schema.

    A solution is an example of a good answer, so the schema, with everything that it refers to, must accept it.

    ```json schemas/letter.vibe.json
    {
      "schema": { "type": "object", "properties": { "body": { "type": "string" } }, "required": ["body"] },
      "solution": { "body": 42 }
    }
    ```

    Correct the solution, or the schema.
    """

    name: ClassVar[str] = "invalid-solution"

    pointer: str
    """The JSON Pointer of the part of the solution that is not valid."""
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        where = f"`{self.pointer}` of the solution" if self.pointer else "the solution"
        return f"the schema does not accept {where}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownPart(MisspeltWord):
    """A record has a part that is not known, so it has no effect.

    A record has a `schema` and, optionally, an `input` and a `solution`; a title and a description may be beside them.

    ```json schemas/letter.vibe.json
    { "schema": { "type": "object", "properties": { "body": { "type": "string" } } }, "solutoin": { "body": "Hello" } }
    ```

    Correct the name, or begin that of a part of your own with `x-`.
    """

    name: ClassVar[str] = "unknown-part"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not a part of a record: it has no effect"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest) or "a record has a `schema`, an `input` and a `solution`; begin your own part with `x-`"
