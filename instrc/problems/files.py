"""Problems with versions and files of the registry, and with its settings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownVersion(Problem):
    """A vibe exists, but not in the requested version.

    `:1` asks for exactly that version and `?1` for the newest that begins with 1.
    A file without a version in its name is found only by a reference without a version.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "$ref": "aug:tone:2" } } }
    ```
    ```json schemas/tone@1.vibe.json
    { "type": "string" }
    ```

    Ask for a version that exists, or leave the version out to use the newest.
    """

    name: ClassVar[str] = "unknown-version"

    reference: str
    versions: tuple[str, ...]
    """The versions that exist, oldest first; the empty string is a file without a version."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no such version: `{self.reference}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        there = [f"`:{version}`" for version in self.versions if version]
        if "" in self.versions:
            there.append("a file without a version")
        return "there is " + ", ".join(there)


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedReference(Problem):
    """An `aug:` reference is not written correctly.

    The form is `aug:folder/name`, then `:1` or `?1` for a version, then `#part` for a part.
    With a leading `/`, as in `aug:/folder/name`, only the shared library is searched.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "$ref": "aug:tone:latest" } } }
    ```

    Versions are numbers joined by dots; leave the version out to use the newest.
    """

    name: ClassVar[str] = "malformed-reference"

    reference: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.reference}` is not an `aug:` reference: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write it like `aug:folder/name`, `aug:folder/name:1` or `aug:folder/name#part`"


_NOT_JSON = (
    (r"//|/\*|#", "remove the comment: JSON has none"),
    ("```", "remove the fences of Markdown"),
    ("[\u201c\u201d\u201e\u00ab\u00bb]", 'write straight quotes, `"`'),
    ("'", 'write double quotes, `"`'),
    (r"True\b", "write `true`"),
    (r"False\b", "write `false`"),
    (r"(?:None|undefined|NaN|nil)\b", "write `null`"),
    (r"[A-Za-z_]\w*\s*:", "write the key in double quotes"),
)
"""What stands in a file that is nearly JSON, and what to do about it."""


def _of_json(at: Span | None) -> str | None:
    """Return the way out of a mistake in JSON, by what stands at its place."""
    if at is None:
        return None
    text = at.source.text
    rest = text[at.start : at.start + 100]
    if rest[:1] in {"}", "]"} and text[: at.start].rstrip().endswith(","):
        return "remove the `,` before it"
    if rest.strip() in {"", "{", "[", ",", ":"} and text.strip():
        return "close the brackets that are open"
    if re.match(r"[A-Za-z_]\w*:\s", rest) and not text[: at.start].strip():
        return "write it as JSON: this looks like YAML"
    return next((advice for pattern, advice in _NOT_JSON if re.match(pattern, rest)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidVibe(Problem):
    """A file is not a vibe.

    A vibe file contains one JSON object in UTF-8: a JSON Schema, or a record whose `schema` is a JSON Schema.
    Each key occurs once.

    ```json schemas/letter.vibe.json
    ["type", "object"]
    ```

    Correct the file at the place shown.
    """

    name: ClassVar[str] = "invalid-vibe"

    reason: str
    referrer: Span | None = None
    """The reference to this file, if there is one."""
    way_out: str = ""
    """The command that converts it to vibes, if there is one."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this is not a vibe: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return self.way_out or _of_json(self.at)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.referrer is None else (Label(self.referrer, "referred to here"),)


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
