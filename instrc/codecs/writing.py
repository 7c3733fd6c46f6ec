"""Write codecs as the plain JSON that maps hold.

A codec is `null` (the value is the same on both sides) or an object whose `as` says what is undone, in the words of this file.
What else it holds is said at the classes of `instrc.ir.codec`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from instrc.ir.codec import (
    ArrayCodec,
    BoxCodec,
    ByPattern,
    Choice,
    ChoiceCodec,
    Codec,
    Member,
    NamesCodec,
    ObjectCodec,
    PairsCodec,
    PlanCodec,
    RefCodec,
    SomeCodec,
    Tag,
    TextCodec,
    TupleCodec,
    UnionCodec,
    ValuesCodec,
)
from instrc.jsonvalue import Json

WriteInner = Callable[[Codec], Json]


def to_json(codec: Codec) -> Json:
    """Return a codec as plain JSON."""
    return None if codec is None else one_to_json(codec, to_json)


def one_to_json(codec: SomeCodec, inner: WriteInner) -> dict[str, Json]:
    """Return a codec as plain JSON; `inner` writes those directly inside."""
    match codec:
        case ObjectCodec():
            return _object(codec, inner)
        case ValuesCodec(values, fold):
            return {"as": "values", "values": [list(pair) for pair in values], **({"fold": True} if fold else {})}
        case ArrayCodec(prefix, items):
            before = {"prefix": [inner(each) for each in prefix]} if prefix else {}
            return {"as": "array", **before, **({} if items is None else {"items": inner(items)})}
        case PairsCodec(item, by):
            return {"as": "pairs", "item": inner(item), **({"by": _pattern_entries(by, inner)} if by else {})}
        case TupleCodec(keys, item, more):
            return {"as": "tuple", "keys": list(keys), "item": inner(item), **({} if more is None else {"more": more})}
        case TextCodec(kinds, null):
            return {"as": "text", **({} if kinds is None else {"kinds": list(kinds)}), **({"null": True} if null else {})}
        case UnionCodec(of):
            return {"as": "union", "of": [{"when": each.when, "codec": inner(each.codec)} for each in of]}
        case ChoiceCodec(choices):
            return {"as": "choice", "of": {label: _choice(each, inner) for label, each in choices.items()}}
        case BoxCodec(key, held, tag):
            return {"as": "box", "key": key, "codec": inner(held), **_tag(tag)}
        case PlanCodec(raw, held):
            return {
                "as": "plan",
                "raw": {tool: list(names) for tool, names in raw.items()},
                **({} if held is None else {"codec": inner(held)}),
            }
        case RefCodec(name, null):
            return {"as": "ref", "name": name, **({"null": True} if null else {})}
        case NamesCodec(names, fold):
            return {"as": "names", "keys": dict(names), **({"fold": True} if fold else {})}
        case _:
            assert_never(codec)


def _object(codec: ObjectCodec, inner: WriteInner) -> dict[str, Json]:
    written: dict[str, Json] = {"as": "object"}
    if codec.members or codec.declared is not None or codec.more is not None or codec.tag is not None:
        written["keys"] = {sent: _member(member, inner) for sent, member in codec.members.items()}
    if codec.other is not None or codec.by:
        written["other"] = inner(codec.other)
    if codec.by:
        written["by"] = _pattern_entries(codec.by, inner)
    if codec.declared is not None:
        written["declared"] = list(codec.declared)
    if codec.more is not None:
        more = codec.more
        written["more"] = {"at": more.at, "codec": inner(more.codec), "declared": list(more.declared), "asked": more.asked}
    return written | _tag(codec.tag)


def _member(member: Member, inner: WriteInner) -> dict[str, Json]:
    written: dict[str, Json] = {} if member.key is None else {"key": member.key}
    if member.absent:
        written["absent"] = member.absent
    if member.null is not None:
        written["null"] = member.null
    if member.missing:
        written["missing"] = True
    if member.unsaid:
        written["unsaid"] = True
    return written if member.codec is None else {**written, "codec": inner(member.codec)}


def _pattern_entries(entries: tuple[ByPattern, ...], inner: WriteInner) -> list[Json]:
    return [{"pattern": entry.pattern, "codec": inner(entry.codec)} for entry in entries]


def _choice(choice: Choice, inner: WriteInner) -> dict[str, Json]:
    if choice.key is None:
        return {"null": True}
    return {"key": choice.key, "codec": inner(choice.codec), "when": choice.when}


def _tag(tag: Tag | None) -> dict[str, Json]:
    return {} if tag is None else {"tag": {"key": tag.key, "value": tag.value}}
