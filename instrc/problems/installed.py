"""Problems with packages that are not installed."""

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
