"""Generated programs: a hypothesis strategy over the surface, and its equality without places.

`programs()` draws well-formed programs whose names may mean nothing; every program prints and reads back.
Strategies are deferred because hypothesis shows them with a failure, and whole they would fill pages.
"""

from __future__ import annotations

import re
import string
from typing import Any

import msgspec
from hypothesis import strategies as st

from instrc import Source, Span
from instrc.language.surface import (  # programs are made of its nodes
    Access,
    Annotated,
    Anonymous,
    Argument,
    Array,
    Binding,
    Body,
    Branch,
    Call,
    Compares,
    Condition,
    Do,
    Each,
    Equals,
    Expression,
    Field,
    Inline,
    Input,
    Literal,
    Matches,
    Name,
    Object,
    Pipe,
    Program,
    Race,
    Repeat,
    Segment,
    Selection,
    Statement,
    Truth,
    Try,
    Uri,
    When,
)

NOWHERE = Span(Source("generated", ""), 0, 0)
KEYWORDS = ("const", "let", "tool", "input", "true", "false", "null", "when", "each", "repeat", "try", "do")
SOMETIMES = ("or", "and", "not", "else", "in", "is", "until", "max", "keep", "race", "from", "language")
"""Words only where they fit, names elsewhere."""

_COMMON = (
    "Draft",
    "Identify",
    "Fetch_Activity",
    "Confirm_User",
    "Introspect_Mixin",
    "prompt",
    "a",
    "b",
    "aug",
    "_",
    "Черновик",
    "ё",
    "名前",
)
_FIRST = string.ascii_letters + "_жЩñ字"


def words() -> st.SearchStrategy[str]:
    """Names: mostly common ones, some strange."""
    return st.deferred(_words)


def _words() -> st.SearchStrategy[str]:
    strange = st.builds(str.__add__, st.sampled_from(_FIRST), st.text(_FIRST + string.digits, max_size=6))
    return st.sampled_from((*_COMMON, *SOMETIMES)) | strange.map(lambda word: f"{word}_" if word in KEYWORDS else word)


def uris() -> st.SearchStrategy[str]:
    """References that are one token; whether they are good ones is for the registry to say."""
    return st.deferred(_uris)


def _uris() -> st.SearchStrategy[str]:
    rest = st.text(string.ascii_letters + string.digits + "/:#?~.-_%ж", min_size=1, max_size=12)
    return st.sampled_from(("aug:instructions/find-slot:2", "aug:/shared/x?1#/a/b", "aug:~branch/x")) | rest.map("aug:".__add__)


def scalars() -> st.SearchStrategy[Any]:
    """What a literal can be."""
    return st.deferred(_scalars)


def _scalars() -> st.SearchStrategy[Any]:
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    return st.none() | st.booleans() | numbers | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def _keys() -> st.SearchStrategy[str]:
    return words() | st.sampled_from(KEYWORDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def plain_objects() -> st.SearchStrategy[dict[str, Any]]:
    """What braces after `@` can say."""
    return st.deferred(_plain_objects)


def _plain_objects() -> st.SearchStrategy[dict[str, Any]]:
    values = st.recursive(
        scalars(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys(), inner, max_size=3), max_leaves=6
    )
    return st.dictionaries(_keys(), values, max_size=3)


def expressions() -> st.SearchStrategy[Expression]:
    """Any expression."""
    return st.deferred(_expressions)


def _expressions() -> st.SearchStrategy[Expression]:
    names = st.builds(Name, words(), st.just(NOWHERE))
    callees = names | st.builds(Uri, uris(), st.just(NOWHERE))
    leaves = callees | st.builds(Literal, scalars(), st.just(NOWHERE)) | st.builds(Inline, plain_objects(), st.just(NOWHERE))
    return st.recursive(leaves, lambda inner: _larger(callees, inner), max_leaves=12)


def _larger(callees: st.SearchStrategy[Any], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    here = st.just(NOWHERE)
    label = st.none() | words() | st.sampled_from(KEYWORDS)
    arguments = st.lists(st.builds(_argument, label, inner), max_size=3)
    fields = st.lists(st.builds(Field, words(), here, st.none()) | st.builds(Field, _keys(), here, inner), max_size=3)
    return (
        st.builds(Call, callees, arguments.map(_distinct), here)
        | st.builds(Object, fields.map(_distinct), here)
        | st.builds(Array, st.lists(inner, max_size=3).map(tuple), here)
        | st.builds(Pipe, st.lists(inner, min_size=2, max_size=4).map(tuple), here)
        | st.builds(Annotated, inner, st.text(max_size=8) | plain_objects(), here, here)
        | _paths(callees, inner)
        | _blocks(callees, inner)
    )


def _paths(callees: st.SearchStrategy[Any], inner: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    """Paths behind a name, or behind a call too."""
    here = st.just(NOWHERE)
    names = st.builds(Name, words(), here)
    base = names if inner is None else names | st.builds(Call, callees, st.just(()), here)
    metrics = st.sampled_from(("$score", "$ё", "$1"))
    members = st.lists(st.builds(Segment, _keys() | metrics, here), min_size=1, max_size=3).map(tuple)
    return st.builds(Access, base, members, here)


def _blocks(callees: st.SearchStrategy[Any], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    here = st.just(NOWHERE)
    names = st.builds(Name, words(), here)
    subjects = names | _paths(callees, None)
    numbers = st.builds(Literal, st.integers(0, 9), here)
    others = subjects.filter(lambda each: (each.base if isinstance(each, Access) else each).text != "not")  # `is not` negates
    test = (
        st.builds(Truth, subjects, here)
        | st.builds(Equals, subjects, st.builds(Literal, scalars(), here) | others, here, st.booleans())
        | st.builds(Compares, subjects, st.sampled_from(("<", "<=", ">", ">=")), numbers, here)
        | st.builds(Matches, subjects, plain_objects(), here, here)
    )
    tests = st.lists(st.tuples(st.booleans(), test), min_size=1, max_size=3)
    condition = tests.map(
        lambda pairs: Condition(
            tuple(each for _, each in pairs),
            NOWHERE,
            tuple(number for number, (joined, _) in enumerate(pairs) if joined and number),
        )
    )
    fields = st.lists(st.builds(Field, _keys(), here, subjects), min_size=1, max_size=2).map(_distinct)
    first = st.none() | st.builds(Object, fields, here)
    local = st.builds(Binding, names, inner, st.just(False), here) | st.builds(Anonymous, inner, here)  # noqa: FBT003  # no `tool` there
    body = st.builds(Body, st.lists(local, max_size=2).map(tuple), inner, here)
    branches = st.lists(st.builds(Branch, condition, body), min_size=1, max_size=3).map(tuple)
    amounts = st.tuples(st.none() | numbers | subjects, st.booleans())
    selections = st.builds(
        lambda condition, amount: Selection(condition, **{"first" if amount[1] else "most": amount[0]}),
        st.none() | condition,
        amounts,
    )
    rounds = st.builds(
        Repeat, st.none(), st.none(), body, condition, st.none() | numbers, st.none() | numbers, st.none() | body, here, first
    )
    over = st.builds(
        Repeat, names, subjects | numbers, body, st.none() | condition, st.none(), st.none(), st.none(), here, first, selections
    )
    return (
        st.builds(When, branches, st.none() | body, here)
        | st.builds(Each, names, subjects | numbers, selections, body, here, st.none() | condition)
        | st.builds(Race, st.lists(body, min_size=2, max_size=3).map(tuple), here)
        | rounds
        | over
        | st.builds(Try, body, body, here)
        | st.builds(Do, body, here)
    )


def _argument(label: str | None, value: Expression) -> Argument:
    return Argument(label, NOWHERE if label else None, value)


def _distinct(members: list[Any]) -> tuple[Any, ...]:
    """Leave out what repeats a key or a label; a filter would do, but it makes hypothesis draw again and again."""
    seen: set[str] = set()
    kept = []
    for member in members:
        key = member.key if isinstance(member, Field) else member.label
        if key not in seen:
            kept.append(member)
        if key is not None:
            seen.add(key)
    return tuple(kept)


def statements() -> st.SearchStrategy[Statement]:
    """Any statement."""
    names = st.builds(Name, words(), st.just(NOWHERE))
    return (
        st.builds(Binding, names, expressions(), st.booleans(), st.just(NOWHERE))
        | st.builds(Input, names, st.none() | st.text(max_size=8) | plain_objects(), st.just(NOWHERE))
        | st.builds(Anonymous, expressions(), st.just(NOWHERE))
    )


def programs(*, most: int = 5) -> st.SearchStrategy[Program]:
    """Any program of up to so many statements, without comments."""
    return st.builds(Program, st.just(NOWHERE.source), st.lists(statements(), max_size=most).map(tuple), st.just(()))


def bare(node: Any) -> Any:
    """Return a value that two nodes share exactly if they are the same up to places; `1`, `1.0` and `true` stay apart."""
    if isinstance(node, Span | Source):
        return None
    if isinstance(node, tuple):
        return tuple(map(bare, node))
    if isinstance(node, msgspec.Struct):
        return type(node).__name__, tuple(bare(getattr(node, name)) for name in node.__struct_fields__ if name != "comments")
    if isinstance(node, list):
        return [bare(item) for item in node]
    if isinstance(node, dict):
        return "{}", tuple((key, bare(item)) for key, item in node.items())
    return type(node).__name__, repr(node)


TOKENS = re.compile(r"""\s+|"(?:[^"\\]|\\.)*"|aug:[^\s()\[\]{},;|@"']+|\w+|.""", re.DOTALL)
PIECES = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "|",
    "=",
    "@",
    "a",
    "const",
    "tool",
    "when",
    '"x"',
    "1",
    "\n",
    "=>",
    "“",
    '"',
    "-",
]


def mutated(text: str, edits: list[tuple[str, int, str]]) -> str:
    """Return a text in which words and signs are doubled, left out and put in."""
    tokens = TOKENS.findall(text)
    for edit, number, piece in edits:
        place = number % (len(tokens) + 1)
        if edit == "insert" or place == len(tokens):
            tokens.insert(place, f"{piece} ")
        elif edit == "delete":
            del tokens[place]
        else:
            tokens.insert(place, tokens[place])
    return "".join(tokens)


def mutations() -> st.SearchStrategy[list[tuple[str, int, str]]]:
    """Edits for `mutated`."""
    edit = st.tuples(st.sampled_from(["insert", "delete", "double"]), st.integers(0, 500), st.sampled_from(PIECES))
    return st.lists(edit, min_size=1, max_size=3)
