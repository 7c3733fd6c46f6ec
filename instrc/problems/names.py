"""Problems with names that are given: twice, to two vibes, or although they are reserved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem
from instrc.problems.wording import one_of
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousName(Problem):
    """A name finds two vibes in one root.

    Names are compared without case, `_`, `-` and folders, so two vibes may have the same name.
    Of vibes in different roots, the one in the earlier root is used; within one root neither comes first.

    ```aug letter.aug
    Draft
    ```

    ```json schemas/mail/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/blog/Draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Choose one: `const Draft = aug:mail/draft`.
    """

    name: ClassVar[str] = "ambiguous-name"

    word: str
    uris: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` may be {one_of(self.uris)}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"choose one: `const {self.word} = {self.uris[0]}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedName(Problem):
    """A name is given twice.

    A file defines each local name and input once; the keys in one pair of braces differ, and so do the labels of one call.

    ```aug letter.aug
    const topic = Topic(prompt);
    const topic = Topic(prompt);
    Topic(topic)
    ```

    ```json schemas/topic.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Rename one of them.
    """

    name: ClassVar[str] = "repeated-name"

    word: str
    first: Span | None
    """`None` if the block around it defines the name."""
    argument: bool = False
    """Whether two arguments have it, of which one may be a member of an object that is read."""
    tool: bool = False
    """Whether it is a tool of a plan."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is given twice"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.tool:
            return "name each tool once: a plan can use it any number of times"
        return "give one of them a label of its own: `label: …`" if self.argument else "rename one of them"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.first is None else (Label(self.first, "first here"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedName(Problem):
    """A name that has a fixed meaning is used for something else.

    `prompt`, `Process`, `LLM_Context`, `Server_Context`, `User_Context`, `StartProcess`, `LaunchProcess`,
    `Plan`, `RunPlan_Activity`, `OneOf` and `Fail` cannot be local names; `const` cannot name an argument
    or a member of what a block gives, because `{ "const": … }` distinguishes constants from paths.

    ```aug letter.aug
    const prompt = Topic();
    ```

    ```json schemas/topic.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Choose another name.
    """

    name: ClassVar[str] = "reserved-name"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` has a fixed meaning"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "choose another name"
