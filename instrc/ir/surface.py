"""A program as it is written.

True of this form: it is well-formed text, every node knows its place, comments are kept, names are NFC-normalised.
Nothing is looked up yet: a name may mean anything or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from instrc.jsonvalue import Json
from instrc.source import Source, Span


@dataclass(frozen=True, slots=True)
class Name:
    """A bare name: a local name, an input or an instruction."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Uri:
    """An `aug:` reference, as written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, a number, a boolean or null."""

    value: str | int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Inline:
    """An instruction written on the spot: `@ { … }` with nothing before it; `schema` is plain JSON."""

    schema: dict[str, Json]
    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """One member of an object; `value` is `None` for the short form `{ a }`."""

    key: str
    key_span: Span
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Object:
    """`{ a: A, b: B(x), c }`."""

    fields: tuple[Field, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Array:
    """`[a, b]`: data only."""

    items: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Argument:
    """What stands between the brackets of a call, with its label if it has one (`slot: FindSlot(x)`)."""

    label: str | None
    label_span: Span | None
    value: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """`Name(…)` or `aug:…(…)`."""

    callee: Name | Uri
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Annotated:
    """An expression with one `@`: a string is a description, an object raw keywords. Several `@` nest, first innermost."""

    value: Expression
    annotation: str | dict[str, Json]
    annotation_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Pipe:
    """Two or more stages joined by `|`; a string as the first one is the goal."""

    stages: tuple[Expression, ...]
    span: Span


Expression: TypeAlias = Name | Uri | Literal | Inline | Object | Array | Call | Annotated | Pipe


@dataclass(frozen=True, slots=True)
class Binding:
    """`const NAME = …`, `let NAME = …` or `tool NAME = …`; `exported` where `tool` stands."""

    name: Name
    value: Expression
    exported: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Input:
    """`input NAME @ "…"`: a further request beside `prompt`."""

    name: Name
    annotation: str | dict[str, Json] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Anonymous:
    """An expression that stands alone: an export without a name."""

    value: Expression
    span: Span


Statement: TypeAlias = Binding | Input | Anonymous


@dataclass(frozen=True, slots=True)
class Program:
    """A whole file; comments are the spans of `// …` and `/* … */` in order of place."""

    source: Source
    statements: tuple[Statement, ...]
    comments: tuple[Span, ...]
