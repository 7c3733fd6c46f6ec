"""The syntax tree of a program, and the children of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never, final, get_args

import msgspec

from instrc.text.jsonvalue import Json
from instrc.text.source import Source, Span


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
    """An inline instruction: `@ { … }` with nothing before it; `schema` is plain JSON."""

    schema: dict[str, Json]
    span: Span


class Object(msgspec.Struct, frozen=True, gc=False):
    """`{ a: A, b: B(x), c }`."""

    fields: tuple[Field, ...]
    span: Span


class Array(msgspec.Struct, frozen=True, gc=False):
    """`[a, b]`: data only."""

    items: tuple[Expression, ...]
    span: Span


class Argument(msgspec.Struct, frozen=True, gc=False):
    """An argument of a call, with its label if any (`slot: FindSlot(x)`)."""

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
    """An expression with one `@`: a string is a description, an object raw keywords. Several `@` nest, first one innermost."""

    value: Expression
    annotation: str | dict[str, Json]
    annotation_span: Span
    span: Span


class Pipe(msgspec.Struct, frozen=True, gc=False):
    """Two or more stages joined by `|`; a string as the first one is the goal."""

    stages: tuple[Expression, ...]
    span: Span


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A member of a path, as a word or in quotes."""

    text: str
    span: Span


class Access(msgspec.Struct, frozen=True, gc=False):
    """A path: `people.organizer`, `Draft(x).text.$score`."""

    base: Name | Call
    members: tuple[Segment, ...]
    span: Span


class Truth(msgspec.Struct, frozen=True, gc=False):
    """A condition that holds if the value is `true`."""

    subject: Name | Access
    span: Span


class Equals(msgspec.Struct, frozen=True, gc=False):
    """`PATH is SCALAR`, `PATH is PATH`, and both with `is not`."""

    subject: Name | Access
    value: Literal | Name | Access
    span: Span
    negated: bool = False


class Compares(msgspec.Struct, frozen=True, gc=False):
    """`PATH >= NUMBER`, `PATH >= PATH`; `sign` is `<`, `<=`, `>` or `>=`."""

    subject: Name | Access
    sign: str
    value: Literal | Name | Access
    span: Span


class Matches(msgspec.Struct, frozen=True, gc=False):
    """`PATH @ { … }`: the value satisfies this JSON Schema."""

    subject: Name | Access
    schema: dict[str, Json]
    schema_span: Span
    span: Span


Test: TypeAlias = Truth | Equals | Compares | Matches


class Condition(msgspec.Struct, frozen=True, gc=False):
    """Tests joined by `and` and `or`: holds if one of the tests holds, together with those that `and` joins to it."""

    tests: tuple[Test, ...]
    span: Span
    joined: tuple[int, ...] = ()
    """Indexes of tests that `and` joins to the previous one."""


class Binding(msgspec.Struct, frozen=True, gc=False):
    """`const NAME = …`, `let NAME = …` or `tool NAME = …`; `exported` for `tool`."""

    name: Name
    value: Expression
    exported: bool
    span: Span


class Anonymous(msgspec.Struct, frozen=True, gc=False):
    """A lone expression: an export without a name."""

    value: Expression
    span: Span


class Body(msgspec.Struct, frozen=True, gc=False):
    """The contents of a block's braces: statements, then an expression, its value."""

    statements: tuple[Binding | Anonymous, ...]
    value: Expression
    span: Span
    """Span including the braces."""


class Branch(msgspec.Struct, frozen=True, gc=False):
    """One `when COND { … }` of a chain."""

    condition: Condition
    body: Body


class When(msgspec.Struct, frozen=True, gc=False):
    """`when COND { … } else when COND { … } else { … }`."""

    branches: tuple[Branch, ...]
    otherwise: Body | None
    span: Span


class Selection(msgspec.Struct, frozen=True, gc=False):
    """`when COND max N` or `when COND first N` after a list: the elements that a block runs for."""

    condition: Condition | None = None
    most: Literal | Name | Access | None = None
    """Maximum number of elements; more are a failure."""
    first: Literal | Name | Access | None = None
    """Number of elements to take; further ones are omitted."""


class Each(msgspec.Struct, frozen=True, gc=False):
    """`each NAME in PATH when COND max N { … } until COND`; `source` is a number literal in `each i in 3`."""

    name: Name
    source: Name | Access | Literal
    selection: Selection
    body: Body
    span: Span
    until: Condition | None = None


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """`repeat NAME in PATH { … } from { … } until COND max N keep N else { … }`; most parts are optional."""

    name: Name | None
    source: Name | Access | Literal | None
    body: Body
    until: Condition | None
    most: Literal | None
    keep: Literal | None
    otherwise: Body | None
    span: Span
    first: Object | None = None
    """Value of `previous` in the first round."""
    selection: Selection = Selection()


class Try(msgspec.Struct, frozen=True, gc=False):
    """`try { … } else { … }`."""

    body: Body
    otherwise: Body
    span: Span


class Race(msgspec.Struct, frozen=True, gc=False):
    """`race { … } or { … }`."""

    branches: tuple[Body, ...]
    span: Span


class Do(msgspec.Struct, frozen=True, gc=False):
    """`do { … }`."""

    body: Body
    span: Span


Block: TypeAlias = When | Each | Repeat | Try | Race | Do
Expression: TypeAlias = Name | Uri | Literal | Inline | Object | Array | Call | Annotated | Pipe | Access | Block


class Field(msgspec.Struct, frozen=True, gc=False):
    """A member of an object; `value` is `None` for the short form `{ a }`."""

    key: str
    key_span: Span
    value: Expression | None

    @property
    def content(self) -> Expression:
        """The value; in the short form, the name that is also the key."""
        return self.value or Name(self.key, self.key_span)


BLOCKS: tuple[type[Block], ...] = get_args(Block)


@final
class Input(msgspec.Struct, frozen=True, gc=False):
    """`input NAME @ "…"`: an input in addition to `prompt`."""

    name: Name
    annotation: str | dict[str, Json] | None
    span: Span


Valued: TypeAlias = Binding | Anonymous
"""A statement with a value."""
Statement: TypeAlias = Binding | Input | Anonymous


class Program(msgspec.Struct, frozen=True, gc=False):
    """A whole file; comments are the spans of `// …` and `/* … */`, in text order."""

    source: Source
    statements: tuple[Statement, ...]
    comments: tuple[Span, ...]
    version: Literal | None = None
    """Language version that the program declares."""


def children(node: Expression) -> list[Expression]:
    """Return the expressions directly inside another one, in text order."""
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
        case _ if isinstance(node, Block):
            return [each for part in parts(node) for each in (*part.before, *part.inside, *part.after)]
        case _:
            assert_never(node)


def rows(program: Program) -> Iterator[tuple[Statement, ...]]:
    """Yield the statements of a program, and those of each body in it with its value as the last one."""
    pending: list[tuple[Statement, ...]] = [program.statements]
    while pending:
        row = pending.pop()
        yield row
        nodes: list[Expression] = [each.value for each in row if not isinstance(each, Input)]
        for node in nodes:  # grows during iteration
            if isinstance(node, Block):
                pending += [(*body.statements, Anonymous(body.value, body.value.span)) for body in bodies(node)]
            else:
                nodes += children(node)


class WrittenPart(msgspec.Struct, frozen=True, gc=False):
    """A body of a block with its parts; every block is a sequence of these, in text order."""

    body: Body
    names: tuple[tuple[str, Span | None], ...] = ()
    """Names that the block defines for its body, with the spans of their definitions."""
    source: Name | Access | Literal | None = None
    """List or number whose elements the body runs for."""
    condition: Condition | None = None
    """Condition for running the body."""
    until: Condition | None = None
    """Condition that ends the rounds; evaluated after the body, with its names."""
    first: Object | None = None
    """Values for the round before the first one."""
    selection: Selection = Selection()
    """Elements that the body runs for."""

    @property
    def before(self) -> tuple[Expression, ...]:
        """The expressions read outside of the body."""
        first = () if self.first is None else tuple([each.content for each in self.first.fields])
        chosen = self.selection
        counts = [each for each in (self.source, chosen.most, chosen.first) if each is not None]
        return (*subjects(self.condition), *counts, *subjects(chosen.condition), *first)

    @property
    def after(self) -> tuple[Expression, ...]:
        """The expressions evaluated after the body, with its names."""
        return subjects(self.until)

    @property
    def inside(self) -> list[Expression]:
        """The expressions of the body."""
        return [*[statement.value for statement in self.body.statements], self.body.value]


def parts(block: Block) -> list[WrittenPart]:
    """Return the parts of a block; only this function knows them."""
    match block:
        case Do(body):
            return [WrittenPart(body)]
        case When(branches, otherwise):
            found = [WrittenPart(branch.body, condition=branch.condition) for branch in branches]
            return found if otherwise is None else [*found, WrittenPart(otherwise)]
        case Each(name, source, selection, body):
            return [WrittenPart(body, ((name.text, name.span),), source, until=block.until, selection=selection)]
        case Repeat():
            element = () if block.name is None else ((block.name.text, block.name.span),)
            names = (*element, ("round", None), ("previous", None), ("rounds", None))
            rounds = WrittenPart(block.body, names, block.source, until=block.until, first=block.first, selection=block.selection)
            return [rounds] if block.otherwise is None else [rounds, WrittenPart(block.otherwise, (("rounds", None),))]
        case Race(branches):
            return [WrittenPart(body) for body in branches]
        case Try(body, otherwise):
            return [WrittenPart(body), WrittenPart(otherwise, (("error", None),))]
        case _:
            assert_never(block)


def bodies(block: Block) -> list[Body]:
    """Return the bodies of a block, in text order."""
    return [part.body for part in parts(block)]


def word_of(block: Block) -> str:
    """Return the keyword of a block."""
    return type(block).__name__.lower()


def numbers_of(block: Block) -> tuple[object, ...]:
    """Return the numbers written in a block, `None` for each omitted one."""
    chosen = block.selection if isinstance(block, Each | Repeat) else Selection()
    fields = [*(getattr(block, name) for name in block.__struct_fields__), chosen.most, chosen.first]
    return tuple([field.value if isinstance(field, Literal) else None for field in fields])


def subjects(condition: Condition | None) -> tuple[Name | Access, ...]:
    """Return the expressions read by a condition."""
    tests = () if condition is None else condition.tests
    return tuple([each for test in tests for each in (test.subject, *_compared(test))])


def _compared(test: Test) -> tuple[Name | Access, ...]:
    return (test.value,) if isinstance(test, Equals | Compares) and not isinstance(test.value, Literal) else ()
