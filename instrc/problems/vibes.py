"""Problems inside vibes that are well-formed: names and paths in them that lead nowhere, solutions that solve nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFromProperties(Problem):
    """`required` names something that `properties` does not describe.

    A model would be told to write a property of which it is told nothing.
    Properties that come from `allOf`, `$ref` and the like count as described, and a schema that says
    `additionalProperties: true`, or a schema there, may require what it likes.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "string" } }, "required": ["boddy"] }
    ```

    Use one name in both places, or describe the property.
    """

    name: ClassVar[str] = "missing-from-properties"

    word: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is required, but not one of the properties"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest) or "describe it under `properties`, or take it out of `required`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.word, self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class DanglingReference(Problem):
    """A path in `references` or `arguments` has no target.

    Paths say which results a step reads: the key of a step, or of a chunk and a step in it, then properties, joined by dots;
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
    """A step reads something that does not exist yet when its turn comes.

    Steps run in the order in which they are written, chunk by chunk, so a path may only lead back.

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
    """Where the step that is read is written."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.step}` reads `{self.path}`, which comes later"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"move `{self.step}` behind what it reads"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.target is None else (Label(self.target, "this comes later"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidSolution(Problem):
    """The `solution` of a vibe does not satisfy its schema.

    A solution is an example of a good answer, so the schema, with all that it refers to, has to accept it.

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
    """The JSON Pointer of the part of the solution that is refused."""
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        where = f"`{self.pointer}` of the solution" if self.pointer else "the solution"
        return f"the schema does not accept {where}: {self.reason}"
