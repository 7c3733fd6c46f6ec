"""Read the codecs of a map, which is plain JSON that anybody may have written, and say what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from instrc.ir.codec import (
    Alternative,
    ArrayCodec,
    BoxCodec,
    ByPattern,
    Choice,
    ChoiceCodec,
    Codec,
    Member,
    More,
    NamesCodec,
    ObjectCodec,
    PairsCodec,
    PlanCodec,
    RefCodec,
    Tag,
    TextCodec,
    TupleCodec,
    UnionCodec,
    ValuesCodec,
)
from instrc.jsonvalue import AnyJson as Json

Kinds: TypeAlias = type | tuple[type, ...]

_MEMBERS: dict[str, dict[str, Kinds]] = {
    "object": {"keys": dict, "tag": dict, "more": dict, "by": list, "other": dict, "declared": list},
    "array": {"prefix": list, "items": dict},
    "pairs": {"item": dict, "by": list},
    "tuple": {"item": dict, "keys": list, "more": str},
    "text": {"kinds": list, "codec": dict},
    "values": {"values": list},
    "union": {"of": list},
    "choice": {"of": dict},
    "box": {"key": str, "codec": dict},
    "plan": {"raw": dict, "codec": dict},
    "ref": {"name": str},
    "names": {"keys": dict},
}
"""What each codec may hold, by the word that says which it is."""
_NEEDED: dict[str, tuple[str, ...]] = {
    "values": ("values",),
    "union": ("of",),
    "choice": ("of",),
    "box": ("key",),
    "plan": ("raw",),
    "ref": ("name",),
    "tuple": ("keys",),
}
_ENTRIES: dict[str, dict[str, Kinds]] = {
    "keys": {"key": str, "codec": dict, "null": str},
    "more": {"at": str, "codec": dict, "declared": list},
    "tag": {"key": str},
    "by": {"pattern": str, "codec": dict},
    "of": {"when": (dict, bool), "codec": dict, "key": str},
}
_NEEDED_IN_ENTRIES: dict[str, tuple[str, ...]] = {"more": ("at",), "tag": ("key",), "union": ("when",)}


class Damaged(ValueError):  # noqa: N818  -- what the map is
    """A map whose codecs cannot be read."""


@dataclass(frozen=True, slots=True)
class Codecs:
    """The codecs of one map."""

    root: Codec
    named: dict[str, Codec]


def codecs_of(record: dict[str, Any]) -> Codecs:
    """Return the codecs of the map of one tool; `Damaged` says what is wrong with them."""
    root, named = record.get("codec"), record.get("codecs") or {}
    if root is None and not named:
        return Codecs(None, {})
    done: dict[int, Codec] = {}
    entered: set[int] = set()
    stack: list[tuple[Json, list[Json] | None]] = [(each, None) for each in (root, *named.values())]
    while stack:
        codec, inside = stack.pop()
        if codec is None or id(codec) in done:
            continue
        if inside is None:
            if id(codec) in entered:
                message = "it holds itself"
                raise Damaged(message)
            entered.add(id(codec))
            inside = _inside(codec, named)
            stack.append((codec, inside))
            stack.extend((inner, None) for inner in inside)
        else:
            done[id(codec)] = _build_codec(codec, done)
    return Codecs(_finished_codec(root, done), {name: _finished_codec(codec, done) for name, codec in named.items()})


def _finished_codec(codec: Json, done: dict[int, Codec]) -> Codec:
    return None if codec is None else done[id(codec)]


def _build_codec(codec: Json, done: dict[int, Codec]) -> Codec:
    """Return one codec for its JSON, which has been looked at; those inside are built already."""

    def at(holder: Json, name: str) -> Codec:
        return _finished_codec(holder.get(name), done)

    by = tuple(ByPattern(entry["pattern"], at(entry, "codec")) for entry in codec.get("by") or ())
    match codec["as"]:
        case "object":
            members = {sent: _member(entry, at(entry, "codec")) for sent, entry in (codec.get("keys") or {}).items()}
            more, tag, declared = codec.get("more"), codec.get("tag"), codec.get("declared")
            return ObjectCodec(
                members,
                None
                if more is None
                else More(more["at"], at(more, "codec"), tuple(more.get("declared") or ()), bool(more.get("asked"))),
                at(codec, "other"),
                by,
                None if declared is None else tuple(declared),
                _tag(tag),
            )
        case "array":
            return ArrayCodec(tuple(_finished_codec(item, done) for item in codec.get("prefix") or ()), at(codec, "items"))
        case "pairs":
            return PairsCodec(at(codec, "item"), by)
        case "tuple":
            return TupleCodec(tuple(codec["keys"]), at(codec, "item"), codec.get("more"))
        case "text":
            kinds = codec.get("kinds")
            return TextCodec(None if kinds is None else tuple(kinds), bool(codec.get("null")))
        case "values":
            return ValuesCodec(tuple((sent, meant) for sent, meant in codec["values"]), bool(codec.get("fold")))
        case "union":
            return UnionCodec(tuple(Alternative(entry["when"], at(entry, "codec")) for entry in codec["of"]))
        case "choice":
            choices = {
                label: Choice(None if entry.get("null") else entry.get("key"), at(entry, "codec"), entry.get("when", True))
                for label, entry in codec["of"].items()
            }
            return ChoiceCodec(choices)
        case "box":
            return BoxCodec(codec["key"], at(codec, "codec"), _tag(codec.get("tag")))
        case "plan":
            return PlanCodec({tool: tuple(names) for tool, names in codec["raw"].items()}, at(codec, "codec"))
        case "ref":
            return RefCodec(codec["name"], bool(codec.get("null")))
        case _:
            return NamesCodec(dict(codec.get("keys") or {}), bool(codec.get("fold")))


def _member(entry: dict[str, Any], codec: Codec) -> Member:
    absent = entry.get("absent")
    return Member(
        entry.get("key"),
        "also" if absent == "also" else bool(absent),
        entry.get("null"),
        bool(entry.get("missing")),
        bool(entry.get("unsaid")),
        codec,
    )


def _tag(tag: Json) -> Tag | None:
    return None if tag is None else Tag(tag["key"], tag.get("value"))


def wrong_member(holder: dict[str, Any], members: dict[str, Kinds]) -> str | None:
    """Return the first member that is of another type than it may be; what is null is as if it were not there."""
    return next(
        (name for name, kind in members.items() if holder.get(name) is not None and not isinstance(holder[name], kind)), None
    )


def _inside(codec: Json, codecs: dict[str, Any]) -> list[Json]:
    """Return the codecs directly inside of one; `Damaged` says what is wrong with it."""
    found = _looked_into(codec, codecs)
    if isinstance(found, str):
        raise Damaged(found)
    return found


def _looked_into(codec: Json, codecs: dict[str, Any]) -> list[Json] | str:
    """Return the codecs directly inside of one, or what is wrong with it."""
    kind = codec.get("as") if isinstance(codec, dict) else None
    if not isinstance(kind, str) or kind not in _MEMBERS:
        return "it says no known `as`"
    if (wrong := wrong_member(codec, _MEMBERS[kind])) is not None:
        return f"the `{wrong}` of `{kind}`"
    if any(codec.get(name) is None for name in _NEEDED.get(kind, ())):
        return f"`{kind}` is not whole"
    if kind == "ref" and codec["name"] not in codecs:
        return f"`{codec['name']}` is not defined"
    if kind == "values" and not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in codec["values"]):
        return "the `values` of `values`"
    if kind == "plan" and not all(isinstance(names, list) for names in codec["raw"].values()):
        return "the `raw` of `plan`"
    if kind == "names" and not all(isinstance(key, str) for key in (codec.get("keys") or {}).values()):
        return "the `keys` of `names`"
    if kind == "tuple" and not all(isinstance(key, str) for key in codec["keys"]):
        return "the `keys` of `tuple`"
    inside = [codec[name] for name in ("other", "items", "item", "codec") if name in codec]
    inside += codec.get("prefix") or ()
    for part in ("keys", "more", "tag", "by", "of"):
        if kind in {"tuple", "names"} or codec.get(part) is None:
            continue
        entries = _entries(codec[part], part)
        for entry in entries:
            needed = (*_NEEDED_IN_ENTRIES.get(part, ()), *(_NEEDED_IN_ENTRIES.get(kind, ()) if part == "of" else ()))
            if not isinstance(entry, dict) or wrong_member(entry, _ENTRIES[part]) or any(name not in entry for name in needed):
                return f"an entry in the `{part}` of `{kind}`"
            inside.append(entry.get("codec"))
    return inside


def _entries(held: Json, part: str) -> list[Json]:
    if part in {"more", "tag"}:
        return [held]
    return list(held.values()) if isinstance(held, dict) else list(held)
