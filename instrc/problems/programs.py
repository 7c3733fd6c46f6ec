"""Problems with programs that call programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity
from instrc.problems.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class CircularProgram(Problem):
    """A program calls itself, directly or through others.

    A call of a program is replaced by what the program exports, so a program that calls itself would never end.

    ```aug letter.aug
    Polish(prompt)
    ```

    ```aug schemas/polish.aug
    Polish(prompt)
    ```

    To repeat steps until the result is good, write `repeat { … } until …`.
    """

    name: ClassVar[str] = "circular-program"

    uris: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a program calls itself: " + " calls ".join(f"`{uri}`" for uri in self.uris)

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "to repeat steps until the result is good, write `repeat { … } until …`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchosenExport(Problem):
    """A called program exports several values, or none.

    A call of a program is replaced by its export; if there are several, the reference names one: `aug:letters#Formal`.

    ```aug letter.aug
    Letters(prompt)
    ```

    ```aug schemas/letters.aug
    tool Formal = Write(prompt) @ "Be formal.";
    tool Friendly = Write(prompt) @ "Be friendly.";
    ```

    ```json schemas/write.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Name the export: `aug:letters#Formal(prompt)`.
    """

    name: ClassVar[str] = "unchosen-export"

    known: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return (
            f"this program has {len(self.known)} exports, and a call needs one" if self.known else "this program exports nothing"
        )

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        names = [name for name in self.known if not name.startswith("(")]
        if names:
            return f"name one after the reference: {', '.join(f'`#{name}`' for name in names)}"
        if self.known:
            return "give the one that is meant a name there, `tool NAME = …`, and write `#NAME` after the reference"
        return "write what it gives as its last line"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownExport(Problem):
    """A reference names an export that the program does not have.

    ```aug letter.aug
    aug:letters#Formel(prompt)
    ```

    ```aug schemas/letters.aug
    tool Formal = Write(prompt) @ "Be formal.";
    tool Friendly = Write(prompt) @ "Be friendly.";
    ```

    ```json schemas/write.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write one of the names after `tool`: `aug:letters#Formal`.
    """

    name: ClassVar[str] = "unknown-export"

    word: str
    known: tuple[str, ...]
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the program exports nothing called `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest or tuple(name for name in self.known if not name.startswith("("))[:5])


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramWithSuffix(Problem):
    """The name of a program ends with a suffix that names an executor.

    `_Mixin`, `_Activity`, `_User` and `_Human` name the executor of an instruction; a program has no executor.

    ```aug letter.aug
    Send_Activity(prompt)
    ```

    ```aug schemas/send_Activity.aug
    Write(prompt)
    ```

    ```json schemas/write.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Rename the file: `schemas/send.aug`.
    """

    name: ClassVar[str] = "program-with-suffix"

    word: str
    path: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is a program, and a program has no executor"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"rename `{self.path}`: a name with this suffix is the name of an instruction"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignProcess(Problem):
    """A called program plans with a process that the compiled document cannot name.

    A plan names its processes by address, and a compiled document is read in the roots of the program that was compiled.
    There, an address of the called program's own project leads to another file, or to none.
    The source itself runs correctly: each address is looked up in the roots of the program that contains it.

    ```aug letter.aug
    Review(prompt)
    ```

    ```toml pyproject.toml
    [tool.instrc]
    shared = ["library/shared"]
    ```

    ```toml library/pyproject.toml
    [tool.instrc]
    roots = ["private", "shared"]
    ```

    ```aug library/shared/review.aug
    const act = Act(prompt, { plan: Plan(aug:weigh) });
    RunPlan_Activity(act.plan)
    ```

    ```json library/shared/act.vibe.json
    { "type": "object", "properties": { "plan": { "type": "array" } }, "required": ["plan"] }
    ```

    ```aug library/private/weigh.aug
    when prompt is true { Act(prompt) }
    ```

    Add the other root to `shared` in the settings of the caller, or run the source instead of the compiled document.
    """

    name: ClassVar[str] = "foreign-process"
    severity: ClassVar[Severity] = "warning"

    word: str
    path: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"from the program that is compiled, `{self.word}` does not lead to `{self.path}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "to run the compiled document, add the root of that file to `shared` in the settings; the source runs without it"
