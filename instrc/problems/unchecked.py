"""Problems with what a check leaves out: what is too large or too much for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternTooLarge(Problem):
    """A pattern is too large to be compiled, so answers are not checked against it.

    A regular expression is compiled before it is used, and each repetition is written out: repetitions inside one another
    multiply.
    For each answer, `lift` reports that it could not be checked.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "code": { "type": "string", "pattern": "^(a{900}){900}$" } } }
    ```

    Use smaller counts, or `minLength` and `maxLength` beside a pattern of single characters.
    """

    name: ClassVar[str] = "pattern-too-large"
    severity: ClassVar[Severity] = "warning"

    why: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"answers are not checked against this pattern: {self.why}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "use smaller counts, or `minLength` and `maxLength`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UncheckedValues(Problem):
    """A schema has more defaults and examples than are checked.

    A few hundred of them are validated by the schema itself; more would make a check slow.

    ```json schemas/letter.vibe.json
    {
      "type": "object",
      "properties": { "pages": { "not": { "type": "string" }, "examples": [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0
      ] } }
    }
    ```

    Divide the schema into several vibes, or remove examples that show nothing new.
    """

    name: ClassVar[str] = "unchecked-values"
    severity: ClassVar[Severity] = "warning"

    count: int
    """How many are not checked."""
    limit: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        said = f"this value and {self.count - 1:,} more are" if self.count > 1 else "this value is"
        return f"{said} not checked by the schema: of defaults and examples only {self.limit:,} are"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "divide the schema into several vibes"


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherProblems(Problem):
    """A schema has more problems of one kind than are shown.

    Twenty of a kind are shown for each schema; often they have one cause.

    ```json schemas/letter.vibe.json
    {
      "type": "object",
      "u0": 1, "u1": 1, "u2": 1, "u3": 1, "u4": 1, "u5": 1, "u6": 1, "u7": 1, "u8": 1, "u9": 1,
      "u10": 1, "u11": 1, "u12": 1, "u13": 1, "u14": 1, "u15": 1, "u16": 1, "u17": 1, "u18": 1, "u19": 1, "u20": 1
    }
    ```

    Correct those that are shown, and check again.
    Keywords of your own can be listed in the settings: `[tool.instrc] keywords = ["unit"]`.
    """

    name: ClassVar[str] = "further-problems"
    severity: ClassVar[Severity] = "warning"

    kind: str
    """The name of the problem that is found here."""
    limit: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there are more problems `{self.kind}` from here on: only the first {self.limit} are shown"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "correct those that are shown, and check again"
