"""Problems with the layout of a file, which does not change its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Unformatted(Problem):
    """A file does not have the layout that `instrc fmt` gives it.

    The layout has no options, so files of different authors look alike and a change shows only what its author changed.
    The layout does not change the meaning of the file.

    ```aug greet.aug
    "Say hello"|Greet( tone:'warm' )
    ```
    ```console
    $ instrc fmt --check greet.aug
    ```

    Run `instrc fmt` without `--check`; `--diff` shows what it would change.
    """

    name: ClassVar[str] = "unformatted"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this file does not have the layout of `instrc fmt`; the first difference is here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "run `instrc fmt` on it"
