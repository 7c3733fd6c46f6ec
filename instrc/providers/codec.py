"""The way back from an answer to our names and shapes: a closed union of what can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from instrc.text.jsonvalue import Json

NULL_WORD = "<null>"
"""What says null where null itself says that a property is left out."""


class More(Struct, frozen=True, gc=False):
    """The list that holds undeclared properties as pairs."""

    at: str
    codec: Codec = None
    declared: tuple[str, ...] = ()
    asked: bool = False
    """Whether it is sent though it is empty."""


class ByPattern(Struct, frozen=True, gc=False):
    """The codec of what stands under keys that match a pattern; `None` matches every key."""

    pattern: str | None = None
    codec: Codec = None


class Tag(Struct, frozen=True, gc=False):
    """A key that only tells alternatives apart, and its value."""

    key: str
    value: Json = None


class ObjectCodec(Struct, frozen=True, gc=False):
    """An object is an object with other keys, or other values under them."""

    members: Mapping[str, Member] = MappingProxyType({})
    more: More | None = None
    other: Codec = None
    """The codec of undeclared properties."""
    by: tuple[ByPattern, ...] = ()
    declared: tuple[str, ...] | None = None
    """The names of which `other` and `by` do not speak."""
    tag: Tag | None = None


class ArrayCodec(Struct, frozen=True, gc=False):
    """A list is a list of other items."""

    prefix: tuple[Codec, ...] = ()
    items: Codec = None


class PairsCodec(Struct, frozen=True, gc=False):
    """A list of `{key, value}` objects is an object."""

    item: Codec = None
    by: tuple[ByPattern, ...] = ()
    """The codecs of entries by the patterns of their keys."""


class TupleCodec(Struct, frozen=True, gc=False):
    """An object is a list: its places by name, and the list of what follows them under the name `more`."""

    keys: tuple[str, ...]
    item: Codec = None
    more: str | None = None


class TextCodec(Struct, frozen=True, gc=False):
    """A text is a value written as JSON, or itself where it is none."""

    kinds: tuple[str, ...] | None = None
    """The types it can be; `None` for any."""
    null: bool = False
    """Whether null is sent as itself."""


class ValuesCodec(Struct, frozen=True, gc=False):
    """A literal is another one."""

    values: tuple[tuple[Json, Json], ...]
    """What is sent, and what it means."""
    fold: bool = False
    """Whether the case of what is sent may differ."""


class Alternative(Struct, frozen=True, gc=False):
    """One alternative of a union."""

    when: Json
    """A schema of the payload that accepts what is sent for it; it may refer to the map's `definitions`."""
    codec: Codec = None


class UnionCodec(Struct, frozen=True, gc=False):
    """A value is what the first alternative says that accepts it."""

    of: tuple[Alternative, ...]


class Choice(Struct, frozen=True, gc=False):
    """One alternative of a choice: the key that holds it, or null, which no key holds."""

    key: str | None
    codec: Codec = None
    when: Json = True


class ChoiceCodec(Struct, frozen=True, gc=False):
    """The key `choice` of an object names the alternative that another key holds."""

    of: Mapping[str, Choice]


class BoxCodec(Struct, frozen=True, gc=False):
    """The one key of an object, a tag aside, holds the value."""

    key: str
    codec: Codec = None
    tag: Tag | None = None


class PlanCodec(Struct, frozen=True, gc=False):
    """The uniform spelling of a plan is the typed one."""

    raw: Mapping[str, tuple[str, ...]]
    """By tool, the arguments that are texts whatever is in them."""
    codec: Codec = None


class RefCodec(Struct, frozen=True, gc=False):
    """A codec of the map's `codecs`, because it is recursive or stands in several places."""

    name: str
    null: bool = False
    """Whether null is sent as itself."""


class NamesCodec(Struct, frozen=True, gc=False):
    """A value is the same with other keys, wherever its schema speaks of them."""

    keys: Mapping[str, str] = MappingProxyType({})
    """Our names by those that are sent."""
    fold: bool = False
    """Whether the case of listed words may differ."""


SomeCodec: TypeAlias = (
    ObjectCodec
    | ArrayCodec
    | PairsCodec
    | TupleCodec
    | TextCodec
    | ValuesCodec
    | UnionCodec
    | ChoiceCodec
    | BoxCodec
    | PlanCodec
    | RefCodec
    | NamesCodec
)
Codec: TypeAlias = SomeCodec | None


class Member(Struct, frozen=True, gc=False):
    """A property of an object, by the name that is sent."""

    key: str | None = None
    """Our name, where it is another one."""
    absent: bool | Literal["also"] = False
    """Whether null means that it is left out; `also`: as leaving it out does."""
    null: str | None = None
    """The word for a real null."""
    missing: bool = False
    """Whether a missing key means null."""
    unsaid: bool = False
    """Whether null cannot be said."""
    codec: Codec = None

    @property
    def acts(self) -> bool:
        """Whether anything is undone besides what the codec of the value undoes."""
        return bool(self.key is not None or self.absent or self.null is not None or self.missing or self.unsaid)


def array_codec(prefix: tuple[Codec, ...], items: Codec) -> ArrayCodec | None:
    """Return the codec of an array, `None` if nothing in it changes."""
    while prefix and prefix[-1] == items:
        prefix = prefix[:-1]
    return None if items is None and not any(prefix) else ArrayCodec(prefix, items)


def wrapped(text: str, word: str) -> int | None:
    """Return how many pairs of angle brackets stand around a word; `None` if the text is something else."""
    extra, odd = divmod(len(text) - len(word), 2)
    if odd or extra < 0 or text != "<" * extra + word + ">" * extra:
        return None
    return extra


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
