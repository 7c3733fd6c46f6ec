"""Read the codecs of a map, which is plain JSON that anybody may have written."""

from __future__ import annotations

from dataclasses import dataclass

from instrc.codecs.codec_json import Damaged, codecs_inside
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
from instrc.jsonvalue import Json, JsonObject, as_array, as_object, as_text, as_texts, listing, mapping


@dataclass(frozen=True, slots=True)
class Codecs:
    """The codecs of one map."""

    root: Codec
    named: dict[str, Codec]


def codecs_of(record: JsonObject) -> Codecs:
    """Return the codecs of the map of one tool; `Damaged` says what is wrong with them."""
    root, named = record.get("codec"), mapping(record.get("codecs"))
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
            inside = codecs_inside(codec, named)
            stack.append((codec, inside))
            stack.extend((inner, None) for inner in inside)
        else:
            done[id(codec)] = _build_codec(as_object(codec), done)
    return Codecs(_finished_codec(root, done), {name: _finished_codec(codec, done) for name, codec in named.items()})


def _finished_codec(codec: Json, done: dict[int, Codec]) -> Codec:
    return None if codec is None else done[id(codec)]


def _build_codec(codec: JsonObject, done: dict[int, Codec]) -> Codec:
    """Return one codec for its JSON, which has been looked at; those inside are built already."""

    def at(holder: JsonObject, name: str) -> Codec:
        return _finished_codec(holder.get(name), done)

    by = tuple(ByPattern(_text(entry.get("pattern")), at(entry, "codec")) for entry in _objects(codec.get("by")))
    match codec["as"]:
        case "object":
            members = {sent: _member(entry, at(entry, "codec")) for sent, entry in _named_objects(codec.get("keys"))}
            more, declared = codec.get("more"), codec.get("declared")
            names = None if declared is None else _names_in(declared, "declared")
            last = _more(more, at(more, "codec")) if isinstance(more, dict) else None
            return ObjectCodec(members, last, at(codec, "other"), by, names, _tag(codec.get("tag")))
        case "array":
            return ArrayCodec(tuple(_finished_codec(item, done) for item in listing(codec.get("prefix"))), at(codec, "items"))
        case "pairs":
            return PairsCodec(at(codec, "item"), by)
        case "tuple":
            return TupleCodec(tuple(as_texts(codec["keys"])), at(codec, "item"), _text(codec.get("more")))
        case "text":
            kinds = codec.get("kinds")
            return TextCodec(None if kinds is None else _names_in(kinds, "kinds"), bool(codec.get("null")))
        case "values":
            pairs = [as_array(pair) for pair in as_array(codec["values"])]
            return ValuesCodec(tuple((sent, original) for sent, original in pairs), bool(codec.get("fold")))
        case "union":
            return UnionCodec(tuple(Alternative(entry["when"], at(entry, "codec")) for entry in _objects(codec["of"])))
        case "choice":
            return ChoiceCodec({label: _choice(entry, at(entry, "codec")) for label, entry in _named_objects(codec["of"])})
        case "box":
            return BoxCodec(as_text(codec["key"]), at(codec, "codec"), _tag(codec.get("tag")))
        case "plan":
            raw = {tool: _names_in(names, "raw") for tool, names in as_object(codec["raw"]).items()}
            return PlanCodec(raw, at(codec, "codec"))
        case "ref":
            return RefCodec(as_text(codec["name"]), bool(codec.get("null")))
        case _:
            keys = {sent: as_text(name) for sent, name in mapping(codec.get("keys")).items()}
            return NamesCodec(keys, bool(codec.get("fold")))


def _objects(held: Json) -> list[JsonObject]:
    """Return the entries of a codec, in which nothing but objects was found."""
    return [as_object(entry) for entry in (held.values() if isinstance(held, dict) else listing(held))]


def _named_objects(held: Json) -> list[tuple[str, JsonObject]]:
    return [(name, as_object(entry)) for name, entry in mapping(held).items()]


def _text(held: Json) -> str | None:
    return None if held is None else as_text(held)


def _names_in(held: Json, member: str) -> tuple[str, ...]:
    """Return a list of texts; `Damaged` if there is anything else in it."""
    names = tuple(name for name in listing(held) if isinstance(name, str))
    if len(names) < len(listing(held)):
        message = f"the `{member}` are not texts"
        raise Damaged(message)
    return names


def _member(entry: JsonObject, codec: Codec) -> Member:
    absent = entry.get("absent")
    return Member(
        _text(entry.get("key")),
        "also" if absent == "also" else bool(absent),
        _text(entry.get("null")),
        bool(entry.get("missing")),
        bool(entry.get("unsaid")),
        codec,
    )


def _more(more: JsonObject, codec: Codec) -> More:
    declared = _names_in(more.get("declared"), "declared")
    return More(as_text(more["at"]), codec, declared, bool(more.get("asked")))


def _choice(entry: JsonObject, codec: Codec) -> Choice:
    return Choice(None if entry.get("null") else _text(entry.get("key")), codec, entry.get("when", True))


def _tag(tag: Json) -> Tag | None:
    return Tag(as_text(tag["key"]), tag.get("value")) if isinstance(tag, dict) else None
