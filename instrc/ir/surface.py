"""A program as it is written.

True of this form: it is well-formed text, every node knows its place, comments are kept, names are NFC-normalised.
Nothing is looked up yet: a name may mean anything or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from instrc.jsonvalue import AnyJson as Json
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


@dataclass(frozen=True, slots=True)
class Segment:
    """One member of a path, as a word or in quotes."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Access:
    """A path: `people.organizer`, `Draft(x).text.$score`."""

    base: Name | Call
    members: tuple[Segment, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition that holds if what is read is `true`."""

    subject: Name | Access
    span: Span


@dataclass(frozen=True, slots=True)
class Equals:
    """`PATH is SCALAR`."""

    subject: Name | Access
    value: Literal
    span: Span


@dataclass(frozen=True, slots=True)
class Matches:
    """`PATH @ { … }`: what is read satisfies this JSON Schema."""

    subject: Name | Access
    schema: dict[str, Json]
    schema_span: Span
    span: Span


Test: TypeAlias = Truth | Equals | Matches


@dataclass(frozen=True, slots=True)
class Condition:
    """One test or several joined by `or`: it holds if one of them does."""

    tests: tuple[Test, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Body:
    """What stands in the braces of a block: statements, then an expression, its value."""

    statements: tuple[Binding | Anonymous, ...]
    value: Expression
    span: Span
    """With its braces."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One `when COND { … }` of a chain."""

    condition: Condition
    body: Body


@dataclass(frozen=True, slots=True)
class When:
    """`when COND { … } else when COND { … } else { … }`."""

    branches: tuple[Branch, ...]
    otherwise: Body | None
    span: Span


@dataclass(frozen=True, slots=True)
class Each:
    """`each NAME in PATH max N { … }`; `source` is a number literal in `each i in 3`."""

    name: Name
    source: Name | Access | Literal
    most: Literal | None
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Repeat:
    """`repeat NAME in PATH { … } until COND max N keep N else { … }`, of which most may be missing."""

    name: Name | None
    source: Name | Access | None
    body: Body
    until: Condition | None
    most: Literal | None
    keep: Literal | None
    otherwise: Body | None
    span: Span


@dataclass(frozen=True, slots=True)
class Try:
    """`try { … } else { … }`."""

    body: Body
    otherwise: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Do:
    """`do { … }`."""

    body: Body
    span: Span


Block: TypeAlias = When | Each | Repeat | Try | Do
Expression: TypeAlias = Name | Uri | Literal | Inline | Object | Array | Call | Annotated | Pipe | Access | Block


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


def children(node: Expression) -> list[Expression]:
    """Return the expressions directly inside another, in order of place."""
    match node:
        case Name() | Uri() | Literal() | Inline():
            return []
        case Call(callee, arguments):
            return [callee, *(argument.value for argument in arguments)]
        case Object(fields):
            return [field.value for field in fields if field.value is not None]
        case Array(items):
            return list(items)
        case Annotated(value):
            return [value]
        case Pipe(stages):
            return list(stages)
        case Access(base):
            return [base]
        case When() | Each() | Repeat() | Try() | Do():
            return _inside_block(node)
        case _:
            assert_never(node)


def bodies(block: Block) -> list[Body]:
    """Return the bodies of a block, in order of place."""
    match block:
        case When(branches, otherwise):
            return [*(branch.body for branch in branches), *([] if otherwise is None else [otherwise])]
        case Repeat():
            return [block.body, *([] if block.otherwise is None else [block.otherwise])]
        case Try(body, otherwise):
            return [body, otherwise]
        case Each() | Do():
            return [block.body]
        case _:
            assert_never(block)


def _inside_block(block: Block) -> list[Expression]:
    found: list[Expression] = []
    if isinstance(block, When):
        for branch in block.branches:
            found += [*subjects(branch.condition), *_inside_body(branch.body)]
        if block.otherwise is not None:
            found += _inside_body(block.otherwise)
        return found
    if isinstance(block, Each | Repeat) and block.source is not None:
        found.append(block.source)
    found += _inside_body(block.body)
    if isinstance(block, Repeat) and block.until is not None:
        found += subjects(block.until)
    if isinstance(block, Repeat | Try) and block.otherwise is not None:
        found += _inside_body(block.otherwise)
    return found


def _inside_body(body: Body) -> list[Expression]:
    return [*(statement.value for statement in body.statements), body.value]


def subjects(condition: Condition) -> list[Name | Access]:
    """Return what a condition reads."""
    return [test.subject for test in condition.tests]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole file; comments are the spans of `// …` and `/* … */` in order of place."""

    source: Source
    statements: tuple[Statement, ...]
    comments: tuple[Span, ...]
