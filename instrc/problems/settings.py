"""Problems with settings, options, locks and installed packages."""

from __future__ import annotations

from instrc.problems.problem import Problem, ProblemWarning, did_you_mean


class InvalidSettings(Problem):
    key: str
    """The setting, such as `limits.source`; empty if the whole file cannot be read."""
    reason: str

    @property
    def message(self) -> str:
        if not self.key:
            return f"the settings cannot be read: {self.reason}"
        return f"the setting `{self.key}` cannot be used: {self.reason}"


class IdleSetting(ProblemWarning):
    message = "the setting `{table}.{entry}` has no effect: no vibe has this name"

    table: str
    """`models` or `checks`."""
    entry: str

    @property
    def hint(self) -> str | None:
        return did_you_mean(self.nearest) or "correct the name, or remove the entry"


_RELOCK = "`instrc lock` writes it again; look at the difference before you commit it"


class InvalidLock(Problem):
    message = "the lock cannot be read: {reason}"
    hint = _RELOCK

    reason: str


class NotLocked(Problem):
    lock: str
    """Path of the lock, which need not exist."""
    reference: str | None = None
    """Reference missing from the lock; `None` if there is no lock."""

    @property
    def message(self) -> str:
        return f"there is no `{self.lock}`" if self.reference is None else f"`{self.reference}` is not in `{self.lock}`"

    @property
    def hint(self) -> str | None:
        return "`instrc lock` writes it" if self.reference is None else _RELOCK


class StaleLock(Problem):
    message = "`{reference}` is not what the lock records: {reason}"
    hint = _RELOCK

    reference: str
    reason: str


class NotTuned(ProblemWarning):
    message = "the form of `instrc tune` is not used: {reason}"
    hint = "run `instrc tune` again, or remove the file"

    reason: str


class InvalidOption(Problem):
    message = "`{option}` must be {wanted}, not {given}"

    option: str
    given: str
    """The value passed, in Python syntax."""
    wanted: str
    """Allowed values, such as `a whole number from 1`."""


class MissingExtra(Problem):
    hint = 'install it: `pip install "instrc[{extra}]"`'

    feature: str
    extra: str
    package: str

    @property
    def message(self) -> str:
        packages = " and ".join(f"`{each}`" for each in self.package.split(", "))
        needed = f"the packages {packages}, which are" if ", " in self.package else f"the package {packages}, which is"
        return f"{self.feature} needs {needed} not installed"


class SandboxNotStarted(Problem):
    message = "the workers for the code of agents cannot start: {reason}"

    reason: str
