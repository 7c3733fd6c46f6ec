"""Visit the codecs inside of codecs, and change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from msgspec.structs import replace

from instrc.ir.codec import (
    ArrayCodec,
    BoxCodec,
    ChoiceCodec,
    Codec,
    NamesCodec,
    ObjectCodec,
    PairsCodec,
    PlanCodec,
    RefCodec,
    SomeCodec,
    TextCodec,
    TupleCodec,
    UnionCodec,
    ValuesCodec,
)


def parts(codec: SomeCodec) -> Iterator[Codec]:
    """Yield what stands in the places of codecs directly inside a codec."""
    match codec:
        case ObjectCodec():
            for member in codec.members.values():
                yield member.codec
            if codec.more is not None:
                yield codec.more.codec
            yield codec.other
            for entry in codec.by:
                yield entry.codec
        case ArrayCodec():
            yield from codec.prefix
            yield codec.items
        case PairsCodec():
            yield codec.item
            for entry in codec.by:
                yield entry.codec
        case TupleCodec():
            yield codec.item
        case UnionCodec():
            for alternative in codec.of:
                yield alternative.codec
        case ChoiceCodec():
            for choice in codec.of.values():
                yield choice.codec
        case BoxCodec() | PlanCodec():
            yield codec.codec
        case TextCodec() | ValuesCodec() | RefCodec() | NamesCodec():
            pass
        case _:
            assert_never(codec)


def with_parts(codec: SomeCodec, change: Callable[[Codec], Codec]) -> SomeCodec:
    """Return a codec in which something else stands in the places of the codecs directly inside."""
    match codec:
        case ObjectCodec():
            return replace(
                codec,
                members={sent: replace(member, codec=change(member.codec)) for sent, member in codec.members.items()},
                more=None if codec.more is None else replace(codec.more, codec=change(codec.more.codec)),
                other=change(codec.other),
                by=tuple(replace(entry, codec=change(entry.codec)) for entry in codec.by),
            )
        case ArrayCodec():
            return ArrayCodec(tuple(map(change, codec.prefix)), change(codec.items))
        case PairsCodec():
            by = tuple(replace(entry, codec=change(entry.codec)) for entry in codec.by)
            return PairsCodec(change(codec.item), by)
        case TupleCodec():
            return replace(codec, item=change(codec.item))
        case UnionCodec():
            return UnionCodec(tuple(replace(each, codec=change(each.codec)) for each in codec.of))
        case ChoiceCodec():
            return ChoiceCodec({label: replace(each, codec=change(each.codec)) for label, each in codec.of.items()})
        case BoxCodec() | PlanCodec():
            return replace(codec, codec=change(codec.codec))
        case TextCodec() | ValuesCodec() | RefCodec() | NamesCodec():
            return codec
        case _:
            assert_never(codec)


def each(codecs: Iterable[Codec]) -> Iterator[SomeCodec]:
    """Yield codecs and all that are inside of them; one that stands in several places once."""
    stack = list(codecs)
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(parts(node))


def changed(codecs: Iterable[Codec], change: Callable[[SomeCodec, SomeCodec], Codec]) -> list[Codec]:
    """Return codecs with each one in them changed, from the inside out; one that stands in several places stays one.

    `change` is given a codec as it was, and with the codecs in it changed already.
    """
    roots = list(codecs)
    done: dict[int, Codec] = {}

    def become(codec: Codec) -> Codec:
        return None if codec is None else done[id(codec)]

    stack = [(codec, False) for codec in roots]
    while stack:
        node, entered = stack.pop()
        if node is None or id(node) in done:
            continue
        if entered:
            done[id(node)] = change(node, with_parts(node, become))
        else:
            stack.append((node, True))
            stack.extend((inner, False) for inner in parts(node))
    return [become(codec) for codec in roots]


def prune(codec: Codec, definitions: Mapping[str, Codec]) -> tuple[Codec, dict[str, Codec]]:
    """Drop references to definitions in which nothing changes; return what is left of the codec and of the definitions."""
    if not definitions:
        return codec, {}  # what changes nothing is not made, and only a reference may turn out to lead to such
    trivial = set(definitions)
    while busy := {name for name in trivial if any(_acts(part, trivial) for part in each([definitions[name]]))}:
        trivial -= busy

    def left(_: SomeCodec, new: SomeCodec) -> Codec:
        """Return a codec without what changes nothing; `None` if that is all of it."""
        return new if _acts(new, trivial) or any(part is not None for part in parts(new)) else None

    names = [name for name in definitions if name not in trivial]
    result, *used = changed([codec, *(definitions[name] for name in names)], left)
    return result, dict(zip(names, used, strict=True))


def _acts(codec: SomeCodec, trivial: set[str]) -> bool:
    """Say whether a codec changes anything, the codecs inside of it aside, if the definitions named `trivial` change nothing."""
    match codec:
        case RefCodec():
            return codec.name not in trivial
        case ObjectCodec():
            return codec.more is not None or codec.tag is not None or any(member.acts for member in codec.members.values())
        case ArrayCodec() | UnionCodec():
            return False
        case PairsCodec() | TupleCodec() | TextCodec() | ValuesCodec() | ChoiceCodec() | BoxCodec() | PlanCodec() | NamesCodec():
            return True
        case _:
            assert_never(codec)
