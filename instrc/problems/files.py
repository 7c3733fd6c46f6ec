"""Problems with files: unreadable, not JSON, too large."""

from __future__ import annotations

import re

from instrc.problems.problem import Problem, ProblemWarning, did_you_mean
from instrc.text.source import Span

A_FOLDER = "it is a folder"


class UnreadableFile(Problem):
    message = "`{path}` cannot be read: {reason}"

    path: str
    reason: str

    @property
    def hint(self) -> str | None:
        if self.reason == A_FOLDER:
            return "name the files in it; `instrc check` takes folders"
        if self.path.startswith(("http://", "https://")):
            return "URLs are not fetched: save the response as a file, and pass the file"
        return did_you_mean(self.nearest)


class UnwritableOutput(Problem):
    message = "`{path}` cannot be written: {reason}"

    path: str
    reason: str


class FileExists(Problem):
    message = "`{path}` exists already"

    path: str
    way_out: str = ""
    """What to do instead, if known."""

    @property
    def hint(self) -> str | None:
        return self.way_out or "choose another name, or remove the file"


class NothingToCheck(ProblemWarning):
    message = "there is no `.aug` or `.vibe.json` file in this folder"


class InvalidJson(Problem):
    reason: str

    @property
    def message(self) -> str:
        name = "" if self.at is None else self.at.source.name
        if name.endswith((".yaml", ".yml")):
            return f"this YAML cannot be read: {self.reason}"
        return f"this is not JSON: {self.reason}"

    @property
    def hint(self) -> str | None:
        name = "" if self.at is None else self.at.source.name
        if name.endswith(".aug"):
            return f"`{name}` is a program: `instrc compile {name}` writes its schema as JSON"
        return None if name.endswith((".yaml", ".yml")) else advice_for_json(self.at)


class Unformatted(Problem):
    message = "this file does not have the layout of `instrc fmt`; the first difference is here"
    hint = "run `instrc fmt` on it"


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
"""Patterns of invalid JSON, each with a hint."""


def advice_for_json(at: Span | None) -> str | None:
    """Return the advice for a mistake in JSON, or `None` if its place suggests none."""
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


class TooLarge(Problem):
    what: str
    """What is too large, as the subject of a sentence: `the source`, `the composed schema`."""
    limit: int
    unit: str
    """The unit that is counted, in the plural: `bytes`, `nodes`, `levels`."""
    size: int | None = None
    """The measured size; `None` if counting stopped at the limit."""
    setting: str | None = None
    """Key under `[tool.instrc] limits` that raises the limit."""

    @property
    def message(self) -> str:
        if self.size is None:
            return f"{self.what} has over {self.limit:,} {self.unit}"
        return f"{self.what} has {self.size:,} {self.unit}, over the limit of {self.limit:,}"

    @property
    def hint(self) -> str | None:
        if self.setting is None:
            return None
        return f"split it, or raise the limit: `[tool.instrc] limits = {{ {self.setting} = … }}`"


class PatternTooLarge(ProblemWarning):
    message = "answers are not checked against this pattern: {why}"
    hint = "use smaller counts, or `minLength` and `maxLength`"

    why: str


class UncheckedValues(ProblemWarning):
    hint = "divide the schema into several vibes"

    count: int
    """Number of values that are not checked."""
    limit: int

    @property
    def message(self) -> str:
        said = f"this value and {self.count - 1:,} more are" if self.count > 1 else "this value is"
        return f"{said} not checked by the schema: only {self.limit:,} defaults and examples are"


class FurtherProblems(ProblemWarning):
    message = "there are more problems `{kind}` from here on: only the first {limit} are shown"
    hint = "correct those that are shown, and check again"

    kind: str
    """Name of the problem."""
    limit: int
