"""Problems with input that is too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLarge(Problem):
    """Something is larger than the limit that keeps the compiler fast and its memory small.

    Sources, vibes and composed schemas each have a limit, which is far larger than what a model can use.

    ```aug letter.aug
    const text = @{ type: "object", properties: { body: { type: "string" } } };
    ```
    ```toml pyproject.toml
    [tool.instrc]
    limits = { source = 40 }
    ```

    Split the file, or raise the limit under `[tool.instrc] limits`.
    """

    name: ClassVar[str] = "too-large"

    what: str
    """What is too large, as the subject of a sentence: `the source`, `the composed schema`."""
    limit: int
    unit: str
    """What is counted, in the plural: `bytes`, `nodes`, `levels`."""
    size: int | None = None
    """The size; `None` if counting stopped at the limit."""
    setting: str | None = None
    """The key under `[tool.instrc] limits` that raises the limit."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.size is None:
            return f"{self.what} has over {self.limit:,} {self.unit}"
        return f"{self.what} has {self.size:,} {self.unit}, over the limit of {self.limit:,}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.setting is None:
            return None
        return f"split it, or raise the limit: `[tool.instrc] limits = {{ {self.setting} = … }}`"
