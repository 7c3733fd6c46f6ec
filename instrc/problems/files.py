"""Problems with files: ones that cannot be read or written, and texts that are not JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.json_mistakes import advice_for_json
from instrc.problems.problem import Problem
from instrc.problems.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableFile(Problem):
    """A file or folder cannot be read.

    It does not exist, is a folder where a file is expected, or the operating system refuses to open it.

    ```console
    $ instrc check meeting.aug
    ```

    Check the path and the folder in which the command runs.
    `instrc check` also takes folders; `instrc compile` takes files, or `-` for the standard input.
    """

    name: ClassVar[str] = "unreadable-file"

    path: str
    reason: str
    nearest: tuple[str, ...] = ()
    """Files of the same folder with similar names, if there is no such file."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.path}` cannot be read: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.reason == A_FOLDER:
            return "name the files in it; `instrc check` takes folders"
        if self.path.startswith(("http://", "https://")):
            return "nothing is fetched from an address: save what it answers as a file, and give the file"
        return did_you_mean(self.nearest)


A_FOLDER = "it is a folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnwritableOutput(Problem):
    """The output cannot be written.

    The output folder is a file, may not be written to, or the disk is full.
    Either all files of one run are written or none: the files from before are unchanged.

    ```aug greet.aug
    "Greet the reader" | @{ title: "Greet", type: "object", properties: { text: { type: "string" } } }
    ```
    ```console
    $ instrc compile greet.aug -o greet.aug
    ```

    Give `-o` a folder that may be written to; it is created if it does not exist.
    """

    name: ClassVar[str] = "unwritable-output"

    path: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.path}` cannot be written: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists(Problem):
    """A file that should be created exists already.

    `instrc init` and `instrc new` never overwrite anything.

    ```json schemas/find-slot.vibe.json
    { "type": "object", "properties": { "slot": { "type": "string" } } }
    ```
    ```console
    $ instrc new instruction FindSlot
    ```

    Choose another name or another folder, or remove the file.
    """

    name: ClassVar[str] = "file-exists"

    path: str
    way_out: str = ""
    """What to do instead, where that is known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.path}` exists already"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return self.way_out or "choose another name, or remove the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingToCheck(Problem):
    """A folder contains no file that can be checked.

    `instrc check FOLDER` looks for `.aug` and `.vibe.json` files in it and below, except in hidden folders.

    ```console
    $ instrc check .
    ```

    Check the path; to check a file with another ending, give its own path.
    """

    name: ClassVar[str] = "nothing-to-check"
    severity = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "there is no `.aug` or `.vibe.json` file in this folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidJson(Problem):
    """A file that should contain JSON does not.

    It has an extra comma, a key without quotes or a comment, or it ends too early.

    ```json letter.json
    { "type": "object", }
    ```
    ```console
    $ instrc flatten letter.json
    ```

    Correct the text at the place that is shown; JSON allows no comments and no comma after the last member.
    """

    name: ClassVar[str] = "invalid-json"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        name = "" if self.at is None else self.at.source.name
        if name.endswith((".yaml", ".yml")):
            return f"this YAML cannot be read: {self.reason}"
        return f"this is not JSON: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out, where a program is given or the place shows it."""
        name = "" if self.at is None else self.at.source.name
        if name.endswith(".aug"):
            return f"`{name}` is a program: `instrc compile {name}` writes its schema as JSON"
        return None if name.endswith((".yaml", ".yml")) else advice_for_json(self.at)
