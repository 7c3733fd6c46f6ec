"""Codecs, which convert an answer back to the names and shapes of its schema: a closed union, and its JSON format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never, cast

from msgspec import Struct, field, structs, to_builtins

from instrc.text.jsontext import dumps, loads

if TYPE_CHECKING:
    from instrc.text.jsonvalue import Json
else:
    Json = Any  # msgspec reads no alias that refers to itself

NULL_WORD = "<null>"
"""String for a real null where null means that a property is absent."""


class More(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The list that holds undeclared properties as pairs."""

    at: str
    codec: Codec = None
    declared: tuple[str, ...] = ()
    asked: bool = False
    """Whether it is sent even if empty."""


class ByPattern(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The codec of the values under keys that match a pattern; `None` matches every key."""

    pattern: str | None
    codec: Codec = None


class Tag(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """A key that only distinguishes alternatives, and its value."""

    key: str
    value: Json = None


class ObjectCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="object"):
    """Decodes an object with other keys or values."""

    members: dict[str, Member] = field(default_factory=dict, name="keys")
    other: Codec = None
    """Codec of undeclared properties."""
    by: tuple[ByPattern, ...] = ()
    declared: tuple[str, ...] | None = None
    """Names to which `other` and `by` do not apply."""
    more: More | None = None
    tag: Tag | None = None


class ArrayCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="array"):
    """Decodes a list item by item."""

    prefix: tuple[Codec, ...] = ()
    items: Codec = None


class PairsCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="pairs"):
    """Decodes a list of `{key, value}` objects to an object."""

    item: Codec = None
    by: tuple[ByPattern, ...] = ()
    """Codecs of entries by the patterns of their keys."""


class TupleCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="tuple"):
    """Decodes an object to a list: its positions by name, and the list of further items under the name `more`."""

    keys: tuple[str, ...]
    item: Codec = None
    more: str | None = None


class TextCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="text"):
    """Decodes a text as JSON; a text that is not JSON is left as is."""

    kinds: tuple[str, ...] | None = None
    """Possible types; `None` for any."""
    null: bool = False
    """Whether null is sent unchanged."""


class ValuesCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="values"):
    """Replaces literals by others."""

    values: tuple[tuple[Json, Json], ...]
    """Pairs of sent and original value."""
    fold: bool = False
    """Whether sent values are compared without case."""


class Alternative(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """One alternative of a union."""

    when: dict[str, Json] | bool
    """Schema of the payload that accepts the sent form; it may refer to the map's `definitions`."""
    codec: Codec = None


class UnionCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="union"):
    """Decodes with the first alternative that accepts the value."""

    of: tuple[Alternative, ...]


class Choice(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """One alternative of a choice: the key that holds it, or null, which has no key."""

    key: str | None = None
    codec: Codec = None
    when: dict[str, Json] | bool = True
    null: bool = False
    """Whether it is the alternative for null, which has no key."""


class ChoiceCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="choice"):
    """Decodes an object whose key `choice` names the alternative that another key holds."""

    of: dict[str, Choice]


class BoxCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="box"):
    """Decodes an object with one key, besides a tag, to the value of the key."""

    key: str
    codec: Codec = None
    tag: Tag | None = None


class PlanCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="plan"):
    """Decodes the uniform spelling of a plan to the typed one."""

    raw: dict[str, tuple[str, ...]]
    """Arguments that are always texts, by tool."""
    codec: Codec = None


class RefCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="ref"):
    """Refers to a codec of the map's `codecs`, which is recursive or shared."""

    name: str
    null: bool = False
    """Whether null is sent unchanged."""


class NamesCodec(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, tag_field="as", tag="names"):
    """Renames keys wherever the schema declares them."""

    keys: dict[str, str] = {}
    """Original names by sent name."""
    fold: bool = False
    """Whether listed words are compared without case."""


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


class Member(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """A property of an object, by its sent name."""

    key: str | None = None
    """Original name, if different."""
    absent: bool | Literal["also"] = False
    """Whether null means that the property is absent; `also`: both forms do."""
    null: str | None = None
    """String for a real null."""
    missing: bool = False
    """Whether a missing key means null."""
    unsaid: bool = False
    """Whether null cannot be expressed."""
    codec: Codec = None

    @property
    def acts(self) -> bool:
        """Whether it does anything besides applying the codec of its value."""
        return bool(self.key is not None or self.absent or self.null is not None or self.missing or self.unsaid)


def array_codec(prefix: tuple[Codec, ...], items: Codec) -> ArrayCodec | None:
    """Return the codec of an array, or `None` if it is an identity."""
    while prefix and prefix[-1] == items:
        prefix = prefix[:-1]
    return None if items is None and not any(prefix) else ArrayCodec(prefix, items)


def wrapped(text: str, word: str) -> int | None:
    """Return how many pairs of angle brackets surround a word, or `None` for any other text."""
    extra, odd = divmod(len(text) - len(word), 2)
    if odd or extra < 0 or text != "<" * extra + word + ">" * extra:
        return None
    return extra


_HOLDING = frozenset({"codec", "members", "more", "other", "by", "prefix", "items", "item", "of"})
"""Fields that hold codecs, or entries with a codec."""


def parts(codec: SomeCodec) -> list[SomeCodec]:
    """Return the codecs directly inside a codec."""
    result: list[SomeCodec] = []
    with_codecs(codec, result.append)
    return result


def with_codecs(codec: SomeCodec, change: Callable[[SomeCodec], Codec]) -> SomeCodec:
    """Return a codec with its direct inner codecs changed."""

    def changed_in(value: object) -> object:
        match value:
            case Member() | More() | ByPattern() | Alternative() | Choice():
                return structs.replace(value, codec=changed_in(value.codec))
            case tuple():
                return tuple(map(changed_in, value))
            case dict():
                return {name: changed_in(entry) for name, entry in value.items()}
            case Struct():
                return change(cast("SomeCodec", value))
            case _:  # nothing, or the name of the list behind a tuple
                return value

    return structs.replace(
        codec, **{name: changed_in(getattr(codec, name)) for name in codec.__struct_fields__ if name in _HOLDING}
    )


def each(codecs: Iterable[Codec]) -> Iterator[SomeCodec]:
    """Yield codecs and all codecs nested in them, without duplicates."""
    stack = list(codecs)
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(parts(node))


def changed(codecs: Iterable[Codec], change: Callable[[SomeCodec, SomeCodec], Codec]) -> list[Codec]:
    """Return codecs with each nested one changed, from the inside out; shared ones stay shared.

    `change` is called with the original codec, and with the one whose inner codecs are already changed.
    """
    roots = list(codecs)
    done: dict[int, Codec] = {}

    def become(codec: SomeCodec) -> Codec:
        return done[id(codec)]

    stack = [(codec, False) for codec in roots]
    while stack:
        node, entered = stack.pop()
        if node is None or id(node) in done:
            continue
        if entered:
            done[id(node)] = change(node, with_codecs(node, become))
        else:
            stack.append((node, True))
            stack.extend((inner, False) for inner in parts(node))
    return [None if codec is None else done[id(codec)] for codec in roots]


def prune(codec: Codec, definitions: Mapping[str, Codec]) -> tuple[Codec, dict[str, Codec]]:
    """Return a codec and its definitions without identities."""
    if not definitions:
        return codec, {}  # codecs that change nothing are not created, and only a reference may lead to one
    trivial = set(definitions)
    while busy := {name for name in trivial if any(_acts(part, trivial) for part in each([definitions[name]]))}:
        trivial -= busy

    def left(_: SomeCodec, new: SomeCodec) -> Codec:
        """Return the codec, or `None` if it is an identity."""
        return new if _acts(new, trivial) or any(parts(new)) else None

    names = [name for name in definitions if name not in trivial]
    result, *used = changed([codec, *(definitions[name] for name in names)], left)
    return result, dict(zip(names, used, strict=True))


def _acts(codec: SomeCodec, trivial: set[str]) -> bool:
    """Return whether a codec is not an identity, provided that the `trivial` definitions are."""
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


def to_json(codec: Codec) -> Json:
    """Return a codec as plain JSON, with lists for tuples, and without what is its default."""
    return loads(dumps(to_builtins(codec), indent=False))


class SentName(Struct, frozen=True, gc=False):
    """The names of a tool in its map."""

    name: str = ""
    sent: str = ""


class ToolMap(Struct, frozen=True, kw_only=True):
    """The map of one tool: how its answers are decoded, and what they are validated by."""

    target: str | None = None
    tool: SentName = SentName()
    keys: tuple[str, ...] = ()
    """Properties of the payload."""
    result: dict[str, Json] | None = None
    """Template of the message with a result; `None` for that of the target."""
    codec: Codec
    codecs: dict[str, Codec] = {}
    """Named codecs that others refer to."""
    definitions: dict[str, Json] | None = None
    """Definitions for the schemas that distinguish alternatives."""
    schema: Json = True
    output: Json = True
    """Schema of the results of an MCP tool."""
