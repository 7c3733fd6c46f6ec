"""The syntax tree of a program, and the children of its nodes."""

from __future__ import annotations

from typing import TypeAlias, assert_never, final

import msgspec

from instrc.text.jsonvalue import Json
from instrc.text.source import Source, Span

# True of this form: it is well-formed text, every node knows its place, comments are kept, names are NFC-normalised.
# Nothing is looked up yet: a name may mean anything or nothing.


@final
class Name(msgspec.Struct, frozen=True, gc=False):
    """A bare name: a local name, an input or an instruction."""

    text: str
    span: Span


class Uri(msgspec.Struct, frozen=True, gc=False):
    """An `aug:` reference, as written."""

    text: str
    span: Span


class Literal(msgspec.Struct, frozen=True, gc=False):
    """A string, a number, a boolean or null."""

    value: str | int | float | bool | None
    span: Span


class Inline(msgspec.Struct, frozen=True, gc=False):
    """An instruction written on the spot: `@ { … }` with nothing before it; `schema` is plain JSON."""

    schema: dict[str, Json]
    span: Span


class Field(msgspec.Struct, frozen=True, gc=False):
    """One member of an object; `value` is `None` for the short form `{ a }`."""

    key: str
    key_span: Span
    value: Expression | None


class Object(msgspec.Struct, frozen=True, gc=False):
    """`{ a: A, b: B(x), c }`."""

    fields: tuple[Field, ...]
    span: Span


class Array(msgspec.Struct, frozen=True, gc=False):
    """`[a, b]`: data only."""

    items: tuple[Expression, ...]
    span: Span


class Argument(msgspec.Struct, frozen=True, gc=False):
    """What stands between the brackets of a call, with its label if it has one (`slot: FindSlot(x)`)."""

    label: str | None
    label_span: Span | None
    value: Expression


@final
class Call(msgspec.Struct, frozen=True, gc=False):
    """`Name(…)` or `aug:…(…)`."""

    callee: Name | Uri
    arguments: tuple[Argument, ...]
    span: Span


class Annotated(msgspec.Struct, frozen=True, gc=False):
    """An expression with one `@`: a string is a description, an object raw keywords. Several `@` nest, first innermost."""

    value: Expression
    annotation: str | dict[str, Json]
    annotation_span: Span
    span: Span


class Pipe(msgspec.Struct, frozen=True, gc=False):
    """Two or more stages joined by `|`; a string as the first one is the goal."""

    stages: tuple[Expression, ...]
    span: Span


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One member of a path, as a word or in quotes."""

    text: str
    span: Span


class Access(msgspec.Struct, frozen=True, gc=False):
    """A path: `people.organizer`, `Draft(x).text.$score`."""

    base: Name | Call
    members: tuple[Segment, ...]
    span: Span


class Truth(msgspec.Struct, frozen=True, gc=False):
    """A condition that holds if what is read is `true`."""

    subject: Name | Access
    span: Span


class Equals(msgspec.Struct, frozen=True, gc=False):
    """`PATH is SCALAR`."""

    subject: Name | Access
    value: Literal
    span: Span


class Matches(msgspec.Struct, frozen=True, gc=False):
    """`PATH @ { … }`: what is read satisfies this JSON Schema."""

    subject: Name | Access
    schema: dict[str, Json]
    schema_span: Span
    span: Span


Test: TypeAlias = Truth | Equals | Matches


class Condition(msgspec.Struct, frozen=True, gc=False):
    """One test or several joined by `or`: it holds if one of them does."""

    tests: tuple[Test, ...]
    span: Span


class Body(msgspec.Struct, frozen=True, gc=False):
    """What stands in the braces of a block: statements, then an expression, its value."""

    statements: tuple[Binding | Anonymous, ...]
    value: Expression
    span: Span
    """With its braces."""


class Branch(msgspec.Struct, frozen=True, gc=False):
    """One `when COND { … }` of a chain."""

    condition: Condition
    body: Body


class When(msgspec.Struct, frozen=True, gc=False):
    """`when COND { … } else when COND { … } else { … }`."""

    branches: tuple[Branch, ...]
    otherwise: Body | None
    span: Span


class Each(msgspec.Struct, frozen=True, gc=False):
    """`each NAME in PATH max N { … }`; `source` is a number literal in `each i in 3`."""

    name: Name
    source: Name | Access | Literal
    most: Literal | None
    body: Body
    span: Span


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """`repeat NAME in PATH { … } until COND max N keep N else { … }`, of which most may be missing."""

    name: Name | None
    source: Name | Access | None
    body: Body
    until: Condition | None
    most: Literal | None
    keep: Literal | None
    otherwise: Body | None
    span: Span


class Try(msgspec.Struct, frozen=True, gc=False):
    """`try { … } else { … }`."""

    body: Body
    otherwise: Body
    span: Span


class Do(msgspec.Struct, frozen=True, gc=False):
    """`do { … }`."""

    body: Body
    span: Span


Block: TypeAlias = When | Each | Repeat | Try | Do
Expression: TypeAlias = Name | Uri | Literal | Inline | Object | Array | Call | Annotated | Pipe | Access | Block


class Binding(msgspec.Struct, frozen=True, gc=False):
    """`const NAME = …`, `let NAME = …` or `tool NAME = …`; `exported` where `tool` stands."""

    name: Name
    value: Expression
    exported: bool
    span: Span


@final
class Input(msgspec.Struct, frozen=True, gc=False):
    """`input NAME @ "…"`: a further request beside `prompt`."""

    name: Name
    annotation: str | dict[str, Json] | None
    span: Span


class Anonymous(msgspec.Struct, frozen=True, gc=False):
    """An expression that stands alone: an export without a name."""

    value: Expression
    span: Span


Valued: TypeAlias = Binding | Anonymous
"""A statement with a value."""
Statement: TypeAlias = Binding | Input | Anonymous


class Program(msgspec.Struct, frozen=True, gc=False):
    """A whole file; comments are the spans of `// …` and `/* … */` in order of place."""

    source: Source
    statements: tuple[Statement, ...]
    comments: tuple[Span, ...]


def children(node: Expression) -> list[Expression]:
    """Return the expressions directly inside another, in order of place."""
    match node:
        case Call(callee, arguments):
            return [callee, *[argument.value for argument in arguments]]
        case Name() | Uri() | Literal() | Inline():
            return []
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
            return [each for part in parts(node) for each in (*part.before, *part.inside, *part.after)]
        case _:
            assert_never(node)


class WrittenPart(msgspec.Struct, frozen=True, gc=False):
    """A body of a block with what belongs to it; every block is a row of these, in order of place."""

    body: Body
    names: tuple[tuple[str, Span | None], ...] = ()
    """The names that the block gives to what is in the body, and where they are written."""
    before: tuple[Expression, ...] = ()
    """What is read outside of the body: a condition, a list."""
    after: tuple[Expression, ...] = ()
    """What is read with the names of the body, behind it: when the rounds end."""

    @property
    def inside(self) -> list[Expression]:
        """The expressions of the body."""
        return [*[statement.value for statement in self.body.statements], self.body.value]


def parts(block: Block) -> list[WrittenPart]:
    """Return the parts of a block: the one place that knows what each block consists of."""
    match block:
        case Do(body):
            return [WrittenPart(body)]
        case When(branches, otherwise):
            found = [WrittenPart(branch.body, before=subjects(branch.condition)) for branch in branches]
            return found if otherwise is None else [*found, WrittenPart(otherwise)]
        case Each(name, source, _, body):
            return [WrittenPart(body, ((name.text, name.span),), (source,))]
        case Repeat():
            element = () if block.name is None else ((block.name.text, block.name.span),)
            outside = () if block.source is None else (block.source,)
            until = () if block.until is None else subjects(block.until)
            rounds = WrittenPart(block.body, (*element, ("round", None), ("previous", None), ("rounds", None)), outside, until)
            return [rounds] if block.otherwise is None else [rounds, WrittenPart(block.otherwise, (("rounds", None),))]
        case Try(body, otherwise):
            return [WrittenPart(body), WrittenPart(otherwise, (("error", None),))]
        case _:
            assert_never(block)


def bodies(block: Block) -> list[Body]:
    """Return the bodies of a block, in order of place."""
    return [part.body for part in parts(block)]


def subjects(condition: Condition) -> tuple[Name | Access, ...]:
    """Return what a condition reads."""
    return tuple([test.subject for test in condition.tests])
