"""Problems with schemas that no value satisfies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.limits.programs import NAMED_VALUES
from instrc.problems.problem import Label
from instrc.problems.schema_problem import SchemaProblem
from instrc.problems.wording import one_of
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpossibleSchema(SchemaProblem):
    """Nothing satisfies a schema.

    Each keyword is valid, but together they exclude every value: an object cannot have four properties if only one is allowed,
    and a text that matches `^.{9}$` cannot be shorter than nine characters.
    A property with such a schema can never be given; if it is required, neither can the object.
    In a program it is an error, because nobody can fill in the step.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": {} }, "required": ["body"], "maxProperties": 0 }
    ```

    Correct one of the keywords.
    To forbid a property on purpose, write `false` as its schema: that is not reported.
    """

    name: ClassVar[str] = "impossible-schema"

    words: tuple[str, ...]
    """The keywords that leave nothing together."""
    names: tuple[str, ...] = ()
    """The required properties that it is about."""
    endless: bool = False
    """Whether each value had to hold another one of its kind."""
    others: tuple[Span, ...] = ()
    """Where the other keywords are written."""
    inside: str = ""
    """The place in the schema of a step, as a JSON Pointer, where the keywords come from more than one place."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        where = f" at `{self.inside}`" if self.inside else ""
        if self.endless:
            what = (
                f"each value needs a further one in {one_of(self.names)}"
                if self.names
                else "each value needs a further one inside"
            )
            return f"nothing satisfies this schema{where}: {what}, without end"
        if len(self.words) == 1:
            return f"nothing satisfies this schema{where}: its `{self.words[0]}` excludes every value"
        shown = ", ".join(f"`{word}`" for word in self.words[:-1]) + f" and `{self.words[-1]}`"
        about = f" (of `{'`, `'.join(self.names)}`)" if 0 < len(self.names) <= NAMED_VALUES else ""
        return f"nothing satisfies this schema{where}: {shown} exclude each other{about}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.endless:
            return "remove the name from `required`, or allow `null` there"
        if self.words == ("pattern",):
            return "write the pattern without `/` around it"
        if self.words == ("oneOf",):
            return "each value that satisfies one of its schemas satisfies another one too: write `anyOf`"
        return "correct one of them"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(span, "together with this") for span in self.others)
