"""Problems with vibes, their files, and references to them."""

from __future__ import annotations

from instrc.problems.files import advice_for_json
from instrc.problems.problem import Fix, Label, Problem, ProblemWarning, did_you_mean
from instrc.problems.suggest import MisspeltWord, one_of, renamings
from instrc.text.source import Span


class MissingFromProperties(MisspeltWord):
    message = "`{word}` is required, but it is not one of the properties"

    @property
    def hint(self) -> str | None:
        return did_you_mean(self.nearest) or "describe it under `properties`, or remove it from `required`"


class DanglingReference(Problem):
    message = "the path `{path}` leads to no step"

    path: str

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return renamings(self.at, self.path, self.nearest)


class ForwardReference(Problem):
    message = "`{step}` reads `{path}`, which comes later"
    hint = "move `{step}` after the step that it reads"
    marks = "target", "this comes later"

    path: str
    step: str
    """Step that reads the value."""
    target: Span | None = None
    """Span of the step that is read."""


class InvalidSolution(Problem):
    pointer: str
    """JSON Pointer to the invalid part of the solution."""
    reason: str

    @property
    def message(self) -> str:
        where = f"`{self.pointer}` of the solution" if self.pointer else "the solution"
        return f"the schema does not accept {where}: {self.reason}"


class UnknownPart(MisspeltWord):
    severity = "warning"
    message = "`{word}` is not a part of a record: it has no effect"

    @property
    def hint(self) -> str | None:
        return did_you_mean(self.nearest) or "a record has a `schema`, an `input` and a `solution`; begin your own part with `x-`"


class HiddenVersion(ProblemWarning):
    message = "version {version} is hidden by a file without a version, which counts as the newest"
    hint = "rename the file without a version, or ask for `{found}:{version}`"

    version: str
    found: str
    """Reference that resolves to the file without a version."""


class UnfindableVibe(ProblemWarning):
    message = "no program finds `{file}`: the name of a vibe ends in `.vibe.json`"

    file: str
    """File name without its folder."""

    @property
    def hint(self) -> str | None:
        return f"rename it to `{self.file.removesuffix('.json')}.vibe.json`"


class SuffixCase(ProblemWarning):
    message = "`{word}` finds `{uri}`, which does not end in `{suffix}`, so the model fills it in"

    word: str
    suffix: str
    uri: str

    @property
    def hint(self) -> str | None:
        alone = self.word.removesuffix(self.suffix) + self.suffix.lower()
        return f"end the name of the file in `{self.suffix}`; if the model should fill it in, write `{alone}`"


class InvalidVibe(Problem):
    message = "this is not a vibe: {reason}"
    marks = "referrer", "referred to here"

    reason: str
    referrer: Span | None = None
    """Reference to this file, if any."""
    way_out: str = ""
    """Command that converts the file to vibes, if any."""

    @property
    def hint(self) -> str | None:
        return self.way_out or advice_for_json(self.at)


class NewerVibe(Problem):
    message = "this vibe file has the form of version {version}, and this `instrc` knows version {known}"
    hint = "install a newer `instrc`, or write the file in the form of version {known}"

    version: int
    known: int


class UnresolvedReference(Problem):
    message = "the reference `{reference}` has no target"

    reference: str

    @property
    def hint(self) -> str | None:
        if not self.nearest and self.reference.startswith("#/") and self.at and self.at.source.name.endswith(".aug"):
            return "write the schema itself in the place of the reference, or refer to a vibe: `aug:NAME#/$defs/…`"
        return did_you_mean(self.nearest)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return renamings(self.at, self.reference, self.nearest)


class ForbiddenReference(Problem):
    message = "the reference `{reference}` is not allowed: {reason}"
    hint = "refer to a vibe of the registry as `aug:path/name`, or to a part of the same file as `#…`"

    reference: str
    reason: str


class AmbiguousFragment(Problem):
    reference: str
    pointers: tuple[str, ...]
    """JSON Pointers of the matching places, in order."""
    places: tuple[Span, ...] = ()
    """Their spans in the source, if known."""

    @property
    def message(self) -> str:
        return f"the reference `{self.reference}` matches {len(self.pointers)} properties"

    @property
    def hint(self) -> str | None:
        return f"write a JSON Pointer: {one_of(tuple(f'#{pointer}' for pointer in self.pointers[:3]))}"

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(Label(place, "matches") for place in self.places[:5])


class ReferenceCycle(Problem):
    hint = "put a property or a list between them, or give one of them a schema of its own"

    references: tuple[str, ...]
    """References of the cycle in order; the last refers to the first."""

    @property
    def message(self) -> str:
        if len(self.references) == 1:
            return f"the reference `{self.references[0]}` refers to itself"
        return "references form a cycle: " + " → ".join(f"`{reference}`" for reference in self.references)


class UnknownVersion(Problem):
    message = "there is no such version: `{reference}`"

    reference: str
    versions: tuple[str, ...]
    """Existing versions, oldest first; the empty string is the file without a version."""

    @property
    def hint(self) -> str | None:
        there = [f"`:{version}`" for version in self.versions if version]
        if "" in self.versions:
            there.append("a file without a version")
        return "there is " + ", ".join(there)


class MalformedReference(Problem):
    message = "`{reference}` is not an `aug:` reference: {reason}"
    hint = "write it like `aug:folder/name`, `aug:folder/name:1` or `aug:folder/name#part`"

    reference: str
    reason: str
