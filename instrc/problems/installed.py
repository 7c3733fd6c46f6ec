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
        return f"{self.feature} needs the package `{self.package}`, which is not installed"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f'install it: `pip install "instrc[{self.extra}]"`'
