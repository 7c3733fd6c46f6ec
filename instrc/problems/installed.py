"""Problems with what is not installed, or cannot be started because of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingExtra(Problem):
    """A feature needs a package that is not installed.

    The package is optional, because most programs do not need it.

    Install it with the extra that the message names: `pip install "instrc[subsume]"`.
    """

    name: ClassVar[str] = "missing-extra"

    feature: str
    extra: str
    package: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        packages = " and ".join(f"`{each}`" for each in self.package.split(", "))
        needed = f"the packages {packages}, which are" if ", " in self.package else f"the package {packages}, which is"
        return f"{self.feature} needs {needed} not installed"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f'install it: `pip install "instrc[{self.extra}]"`'


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxNotStarted(Problem):
    """The process that runs the code of an agent cannot start.

    A module that its limits allow to be imported is not installed, or the machine does not let another process start.
    A mistake in the code of the agent is not this problem: it is an observation, and the agent continues.

    Install the module, or remove it from `Limits(imports=…)`.
    """

    name: ClassVar[str] = "sandbox-not-started"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the process for the code of agents cannot start: {self.reason}"
