"""Problems with settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity
from instrc.problems.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidSettings(Problem):
    """A setting under `[tool.instrc]` of the nearest `pyproject.toml` cannot be used.

    ```aug letter.aug
    @{ type: "object", properties: { body: { type: "string" } } }
    ```
    ```toml pyproject.toml
    [tool.instrc]
    root = ["vibes"]
    ```

    The settings are `roots` and `shared` (lists of folders), `hint` (a text), `naming` (`"step"` or `"camel"`),
    `limits` (a table of numbers), `keywords` (a list of your own keywords and formats), `templates` (`true` or `false`),
    and for runs the tables `activities`, `models`, `prices`, `checks` and `run`.
    """

    name: ClassVar[str] = "invalid-settings"

    key: str
    """The setting, as `limits.source`; empty where the whole file cannot be read."""
    reason: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if not self.key:
            return f"the settings cannot be read: {self.reason}"
        return f"the setting `{self.key}` cannot be used: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleSetting(Problem):
    """An entry of `[tool.instrc.models]` or `[tool.instrc.checks]` is for a vibe that does not exist.

    ```aug letter.aug
    Letter(prompt)
    ```
    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "string" } } }
    ```
    ```toml pyproject.toml
    [tool.instrc.models]
    leter = "openai:gpt-5-mini"
    ```

    Correct the name, or remove the entry.
    A name is compared without case, `_` and `-`; `judge-*` is for all vibes of such a name, `judges/*` for those of a folder.
    """

    name: ClassVar[str] = "idle-setting"
    severity: ClassVar[Severity] = "warning"

    table: str
    """`models` or `checks`."""
    entry: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the setting `{self.table}.{self.entry}` has no effect: no vibe has this name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest) or "correct the name, or remove the entry"
