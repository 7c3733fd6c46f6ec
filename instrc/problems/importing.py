"""Problems with the import of tools: sources that cannot be read, entries that are not tools, names that collide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownImporter(Problem):
    """Tools of this kind cannot be imported.

    ```json tools.json
    [{ "name": "find_slot", "input_schema": { "type": "object", "properties": {} } }]
    ```
    ```console
    $ instrc import antropic tools.json
    ```

    A kind is a format for tools, such as that of a provider; `instrc import --help` lists the kinds.
    """

    name: ClassVar[str] = "unknown-importer"

    kind: str
    known: tuple[str, ...]
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"tools of the kind `{self.kind}` are not known"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest) or f"the kinds are {', '.join(f'`{kind}`' for kind in self.known)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTools(Problem):
    """There are no tools in the source.

    ```json tools.json
    { "tools": [] }
    ```
    ```console
    $ instrc import openai tools.json
    ```

    Check that it is the right file, and that it is of the kind you named.
    """

    name: ClassVar[str] = "no-tools"

    kind: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there are no tools of the kind `{self.kind}` here"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotATool(Problem):
    """An entry in a list of tools is left out, because it is not a function with a schema.

    Such a list may also contain tools of the provider, such as a search: they have a name but no schema to compose.

    ```json tools.json
    [
      { "type": "web_search" },
      { "type": "function", "function": { "name": "find_slot", "parameters": { "type": "object", "properties": {} } } }
    ]
    ```
    ```console
    $ instrc import openai tools.json
    ```

    If it is such a tool, do nothing; otherwise give it a name and a schema.
    """

    name: ClassVar[str] = "not-a-tool"
    severity = "warning"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this is left out: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamelessTool(Problem):
    """A tool has no name, so it was given one.

    ```json tools.json
    [{ "description": "Find a free hour.", "input_schema": { "type": "object", "properties": {} } }]
    ```
    ```console
    $ instrc import anthropic tools.json
    ```

    Write its name in the source and import it again, or rename the file of the vibe.
    """

    name: ClassVar[str] = "nameless-tool"
    severity = "warning"

    given: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this tool has no name and becomes `{self.given}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedTool(Problem):
    """Two different tools would become vibes with the same name.

    Names of vibes are compared without case and separators, so `findSlot` and `find_slot` are one name.
    The later tool gets a number. Tools that are equal in everything are imported once.

    ```json tools.json
    [
      { "name": "findSlot", "input_schema": { "type": "object", "properties": { "day": { "type": "string" } } } },
      { "name": "find_slot", "input_schema": { "type": "object", "properties": {} } }
    ]
    ```
    ```console
    $ instrc import anthropic tools.json
    ```

    Rename one of them, or import the two lists into separate folders.
    """

    name: ClassVar[str] = "repeated-tool"
    severity = "warning"

    word: str
    given: str
    first: Span | None = None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the vibe of another tool has the name that `{self.word}` would get; this one becomes `{self.given}`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.first is None else (Label(self.first, "the first one"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class VibeExists(Problem):
    """The folder already has a vibe of this name with other contents.

    ```json tools.json
    [{ "name": "find_slot", "input_schema": { "type": "object", "properties": { "day": { "type": "string" } } } }]
    ```
    ```json schemas/find-slot.vibe.json
    { "type": "object", "properties": { "slot": { "type": "string" } } }
    ```
    ```console
    $ instrc import anthropic tools.json -o schemas
    ```

    Write into another folder, remove the vibe, or replace it with `--force`.
    """

    name: ClassVar[str] = "vibe-exists"

    path: str
    """The file that exists."""
    same_file: bool = True
    """Whether it would be overwritten; else its name is only spelled differently."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.same_file:
            return f"`{self.path}` exists and has other contents"
        return f"`{self.path}` has the same name, spelled differently"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "replace it with `--force`" if self.same_file else "rename it or remove it: a name must find exactly one vibe"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnloadableObject(Problem):
    """A Python object that contains tools cannot be loaded.

    The source is `module:Name` or `path/to/file.py:Name`: the module is imported, and the name is looked up in it.

    ```python models.py
    class Draft:
        pass
    ```
    ```console
    $ instrc import pydantic models.py:Draught
    ```

    Check the spelling, and check that the module can be imported alone.
    """

    name: ClassVar[str] = "unloadable-object"

    reference: str
    reason: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.reference}` cannot be loaded: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingLibrary(Problem):
    """A Python library that the source needs is not installed.

    ```python models.py
    import a_library_that_is_not_installed
    ```
    ```console
    $ instrc import pydantic models.py:Draft
    ```

    Install it in the environment in which `instrc` runs.
    """

    name: ClassVar[str] = "missing-library"

    library: str
    extra: str | None = None
    """The extra of `instrc` that installs it, if there is one."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the Python library `{self.library}` is not installed"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.extra is not None:
            return f'install it: `pip install "instrc[{self.extra}]"`'
        return "install it in the environment in which `instrc` runs"
