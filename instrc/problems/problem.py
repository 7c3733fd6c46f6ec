"""The base class of all problems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Literal, NamedTuple, TypeAlias, dataclass_transform

from msgspec import Struct, StructMeta

from instrc.text.limits import SHOWN_NAME
from instrc.text.source import Span


class _ProblemMeta(StructMeta):
    """Metaclass of problems: derives the name, compiles template texts, and makes all fields frozen keyword fields."""

    def __new__(  # noqa: PYI034  -- `Self` means nothing in a metaclass
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], *, frozen: bool = True, kw_only: bool = True
    ) -> _ProblemMeta:
        namespace["name"] = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
        for text in ("message", "hint"):
            template = namespace.get(text)
            if isinstance(template, str):
                namespace[text] = property(partial(filled, template))
        return super().__new__(cls, name, bases, namespace, frozen=frozen, kw_only=kw_only)


Severity: TypeAlias = Literal["error", "warning"]


class Label(NamedTuple):
    """A secondary place of a problem, with a short text (`first defined here`)."""

    span: Span
    text: str


class Edit(Struct, frozen=True):
    """A change of a source: `text` replaces the span; if the span is empty, `text` is inserted there."""

    span: Span
    text: str


class Fix(Struct, frozen=True):
    """A correction that a program can make."""

    title: str
    r"""Title shown in a menu: `replace by \`Draft\``."""
    edits: tuple[Edit, ...]
    safe: bool = False
    """Whether the fix is certainly what the author intended, so that no confirmation is needed."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Problem(Struct, metaclass=_ProblemMeta, frozen=True, kw_only=True):
    """One mistake in the input.

    A subclass has the facts as fields, and texts computed from them.
    A text is a template, ``message = "`{word}` is not defined"``, or a property where that is not enough.
    Its name is that of the class in kebab case: `UnknownTarget` is the problem `unknown-target`.
    The page `pages/NAME.md` explains it to newcomers, with an example that causes it.
    """

    name: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    marks: ClassVar[tuple[str, str] | None] = None
    """The field with a further place, or several of them, and the text shown there; `{}` is replaced by the text of the place."""

    at: Span | None = None
    """Smallest span that shows the mistake; `None` without source text, as in library use."""
    calls: tuple[Span, ...] = ()
    """Calls of programs that led to the problem, innermost first."""
    nearest: tuple[str, ...] = ()
    """Known names similar to an unknown one."""

    @property
    def message(self) -> str:
        """A short sentence that says what is wrong."""
        raise NotImplementedError

    @property
    def hint(self) -> str | None:
        """A short sentence with the solution; by default the similar names."""
        return did_you_mean(self.nearest)

    @property
    def with_hint(self) -> str:
        """The message and the hint on one line, for displays with a single text."""
        return f"{self.message}; {self.hint}" if self.hint else self.message

    @property
    def characters(self) -> str:
        """The characters at the problem's place, or `?` if there are none."""
        return self.at.text if self.at and self.at.text else "?"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Further places that belong to the problem."""
        if self.marks is None:
            return ()
        field, text = self.marks
        marked: Span | tuple[Span, ...] | None = getattr(self, field)
        places = marked if isinstance(marked, tuple) else () if marked is None else (marked,)
        return tuple(Label(place, text.replace("{}", place.text)) for place in places)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Automatic corrections, the most likely first."""
        return ()

    def __str__(self) -> str:
        """Return the message with long values shortened."""
        return shorten_values(self.message)


def did_you_mean(names: tuple[str, ...]) -> str | None:
    """Return the hint that suggests similar names, or `None`."""
    if not names:
        return None
    *others, last = (f"`{name}`" for name in names)
    return f"did you mean {', '.join(others) + ' or ' if others else ''}{last}?"


def listed(names: Sequence[str], most: int) -> str:
    """Return the first names for a sentence; `…` stands for the others."""
    return ", ".join([*(f"`{name}`" for name in names[:most]), *(["…"] if len(names) > most else [])])


class ProblemWarning(Problem):
    """A mistake that leaves the program usable."""

    severity = "warning"


FACT = r"\{(\w+)(?::(,|/|and|or))?\}"
"""A fact in a template: `{word}`; all other braces are literal.

`{count:,}` has thousands separators, `{pointer:/}` is `/` if empty, and `{words:and}` lists names in backquotes.
"""


def shorten_values(text: str) -> str:
    """Return a sentence with the middle of each value over a hundred characters removed."""
    return text if len(text) <= SHOWN_NAME else re.sub(r"`[^`]*`", _shortened, text)


def _shortened(value: re.Match[str]) -> str:
    written = value[0]
    return written if len(written) - 2 <= SHOWN_NAME else f"{written[:41]}…{written[-21:]}"


def filled(template: str, problem: Problem) -> str:
    """Return a template filled with the facts of a problem."""

    def text_of(fact: re.Match[str]) -> str:
        value = getattr(problem, fact[1])
        match fact[2]:
            case "and" | "or":
                return f" {fact[2]} ".join(f"`{name}`" for name in value)
            case "/":
                return value or "/"
            case form:
                return format(value, form or "")

    return re.sub(FACT, text_of, template)
