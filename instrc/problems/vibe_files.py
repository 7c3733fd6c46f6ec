"""Problems with the files of vibes: what is in them, and how a name finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.json_mistakes import advice_for_json
from instrc.problems.problem import Label, Problem, Severity
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenVersion(Problem):
    """A vibe has a numbered version and also a file without a version, which counts as the newest.

    A reference without a version finds the file without a version; the numbered file is found only by its number.

    ```json schemas/letter@2.vibe.json
    { "type": "object", "properties": { "body": { "type": "string" } } }
    ```
    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Give the file without a version its version, `letter@1.vibe.json`,
    or ask for the numbered one: `aug:letter:2`.
    """

    name: ClassVar[str] = "hidden-version"
    severity: ClassVar[Severity] = "warning"

    version: str
    found: str
    """The reference that finds the file without a version."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"version {self.version} is hidden by a file without a version, which counts as the newest"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"rename the file without a version, or ask for `{self.found}:{self.version}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfindableVibe(Problem):
    """The name of a file ends in `.json`, so no program finds it: the name of a vibe ends in `.vibe.json`.

    The file can be checked and compiled by its path, but nothing can refer to it.

    ```json letter.json
    { "type": "object", "properties": { "body": { "type": "string" } } }
    ```

    Rename it, as in `schemas/letter.vibe.json`: then a program can call it by `Letter`.
    """

    name: ClassVar[str] = "unfindable-vibe"
    severity: ClassVar[Severity] = "warning"

    file: str
    """The name of the file, without its folder."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"no program finds `{self.file}`: the name of a vibe ends in `.vibe.json`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"rename it to `{self.file.removesuffix('.json')}.vibe.json`"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuffixInAnotherCase(Problem):
    """A name has the suffix of an executor, but the file that it finds spells that suffix differently, so it has no effect.

    The name of its file says who fills in an instruction: `_Activity` is the server, `_User` and `_Human` are a person,
    `_Mixin` is a mixin; every other name is the model.

    ```aug save.aug
    prompt | Save_Activity
    ```
    ```json schemas/save_activity.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    `save-Activity` and `save-activity` have no effect either: the suffix begins with `_` and a capital letter.
    Rename the file, as in `save_Activity.vibe.json`; or, if the model should fill it in, write the name as the file spells it.
    """

    name: ClassVar[str] = "suffix-case"
    severity: ClassVar[Severity] = "warning"

    word: str
    suffix: str
    uri: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` finds `{self.uri}`, which does not end in `{self.suffix}`, so the model fills it in"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        alone = self.word.removesuffix(self.suffix) + self.suffix.lower()
        return f"end the name of the file in `{self.suffix}`; if the model should fill it in, write `{alone}`"


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
        return self.way_out or advice_for_json(self.at)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.referrer is None else (Label(self.referrer, "referred to here"),)
