"""Problems with names that hide what another one means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenName(Problem):
    """A block reads `round`, `previous`, `rounds` or `error` of an outer block, but has the same name itself.

    These names always refer to the innermost block that has them, also when they are read through another name:
    a local name, an argument of a program or what is piped in may be the `rounds` of the outer block.

    ```aug letter.aug
    repeat {
      const earlier = rounds;
      repeat { Draft(earlier) } until round is 2
    } until round is 2
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Give the outer value a name that inner blocks can read, through a block of its own: `const earlier = do { rounds };`.
    """

    name: ClassVar[str] = "hidden-name"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this reads `{self.word}` of the outer block, but `{self.word}` here belongs to the inner block"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"make it the value of a block: `const earlier = do {{ {self.word} }};`"


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSlot(Problem):
    """An instruction and an earlier slot have the same name, so the name calls the instruction.

    A name reads a slot only if nothing else has this name. Here the instruction is called once more:
    the model fills it in a second time, and nothing reads the slot.

    ```aug letter.aug
    { page: Page({ header: Header }), summary: Summarise(header) }
    ```

    ```json schemas/page.vibe.json
    { "type": "object", "properties": { "header": { "type": "object" }, "text": { "type": "string" } } }
    ```

    ```json schemas/header.vibe.json
    { "type": "object", "properties": { "title": { "type": "string" } } }
    ```

    ```json schemas/summarise.vibe.json
    { "type": "object", "properties": { "summary": { "type": "string" } } }
    ```

    To read the slot, write the path to it: `page.header`. To call the instruction, write brackets: `header()`.
    """

    name: ClassVar[str] = "hidden-slot"
    severity: ClassVar[Severity] = "warning"

    word: str
    path: str
    """The path to the slot, as far as names in braces lead to it: `page.header`, or only `header`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` calls the instruction, it does not read the slot `{self.path}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        called = f"`{self.word}()` to call the instruction without this warning"
        if self.path == self.word:
            return f"rename the slot, or write {called}"
        return f"write `{self.path}` to read the slot, or {called}"
