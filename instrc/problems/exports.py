"""Problems with exports and their documents: what is asked for is not there, or not exactly one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchDocument(Problem):
    """The program does not have the requested document.

    Each program has a `tool` and a `result`.
    Only a program with steps of a server or a person has a `process` and its `flat` view,
    and only a program that ends in a step of the server for which nothing waits has a direct `call`.

    ```aug greet.aug
    "Greet the reader" | @{ title: "Greet", type: "object", properties: { text: { type: "string" } } }
    ```
    ```console
    $ instrc compile greet.aug --emit process
    ```

    Leave out `--emit` to get the document that suits the program, or ask for one that it has.
    """

    name: ClassVar[str] = "no-such-document"

    asked: str
    program: str
    """The name of the export."""
    present: tuple[str, ...]
    """What the program has instead."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.program}` has no `{self.asked}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"it has {' and '.join(f'`{kind}`' for kind in self.present)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchExport(Problem):
    """The program has no export with the requested name.

    The name of an export is its `tool` name, else its goal, else the name of its file.

    ```aug greet.aug
    tool greet = @{ type: "object", properties: { text: { type: "string" } } }
    ```
    ```console
    $ instrc graph greet.aug --export gret
    ```

    Ask for one that the program has.
    """

    name: ClassVar[str] = "no-such-export"

    asked: str
    present: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no export `{self.asked}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"there is {', '.join(f'`{name}`' for name in self.present)}" if self.present else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralExports(Problem):
    """The file to run exports several programs, or none with the requested name.

    ```aug two.aug
    tool first = @{ title: "A", type: "object", properties: { text: { type: "string" } } };
    tool second = @{ title: "B", type: "object", properties: { text: { type: "string" } } }
    ```
    ```console
    $ instrc run two.aug --input hello --model sample
    ```

    Choose one with `--export`.
    """

    name: ClassVar[str] = "several-exports"

    program: str
    names: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.program}` does not have exactly one export to run"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"`--export` takes {' or '.join(f'`{name}`' for name in self.names)}" if self.names else None
