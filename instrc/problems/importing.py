"""Problems with imported tools."""

from __future__ import annotations

from instrc.problems.problem import Problem, ProblemWarning, did_you_mean
from instrc.text.source import Span


class UnknownImporter(Problem):
    message = "tools of the kind `{kind}` are not known"

    kind: str
    known: tuple[str, ...]

    @property
    def hint(self) -> str | None:
        return did_you_mean(self.nearest) or f"the kinds are {', '.join(f'`{kind}`' for kind in self.known)}"


class NoTools(Problem):
    message = "there are no tools of the kind `{kind}` here"

    kind: str


class NotATool(ProblemWarning):
    message = "this is left out: {reason}"

    reason: str


class NamelessTool(ProblemWarning):
    message = "this tool has no name and becomes `{given}`"

    given: str


class RepeatedTool(ProblemWarning):
    message = "the vibe of another tool has the name that `{word}` would get; this one becomes `{given}`"
    marks = "first", "the first one"

    word: str
    given: str
    first: Span | None = None


class VibeExists(Problem):
    path: str
    """Path of the existing file."""
    same_file: bool = True
    """Whether that file would be overwritten; otherwise its name differs only in spelling."""

    @property
    def message(self) -> str:
        if self.same_file:
            return f"`{self.path}` exists and has other contents"
        return f"`{self.path}` has the same name, spelled differently"

    @property
    def hint(self) -> str | None:
        return "replace it with `--force`" if self.same_file else "rename it or remove it: a name must find exactly one vibe"


class UnloadableObject(Problem):
    message = "`{reference}` cannot be loaded: {reason}"

    reference: str
    reason: str


class MissingLibrary(Problem):
    message = "the Python library `{library}` is not installed"

    library: str
    extra: str | None = None
    """Extra of `instrc` that installs the library, if any."""

    @property
    def hint(self) -> str | None:
        if self.extra is not None:
            return f'install it: `pip install "instrc[{self.extra}]"`'
        return "install it in the environment in which `instrc` runs"


class LeftOut(ProblemWarning):
    message = "`{what}` is left out: {reason}"

    what: str
    reason: str


class ReadOtherwise(ProblemWarning):
    message = "`{what}` is read as {meaning}"

    what: str
    meaning: str


class PropertyWithMeaning(ProblemWarning):
    key: str

    @property
    def message(self) -> str:
        if self.key == "output":
            return "a property `output` is filled in by the server, not by the model"
        what = "a thought" if self.key.startswith("_") else "a measurement"
        return f"`{self.key}` is {what} by its name, so results leave it out"


class ResultsLeftOut(ProblemWarning):
    hint = "`--results activity` or `--results output` keeps them"

    count: int

    @property
    def message(self) -> str:
        who = "one tool declares" if self.count == 1 else f"{self.count} tools declare"
        return f"{who} results, which are left out"


class UnusableTool(ProblemWarning):
    message = "the tool `{tool}` is left out: {reason}"

    tool: str
    reason: str
