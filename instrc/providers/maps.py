"""Read and write the maps that lowerings leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, Protocol, TypeAlias, assert_never

from instrc.problems.problem import CompileError
from instrc.problems.targets import UnreadableMap
from instrc.providers.codec import (
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
    SomeCodec,
    Tag,
    TextCodec,
    TupleCodec,
    UnionCodec,
    ValuesCodec,
)
from instrc.schema.plain_checks import doubtful
from instrc.schema.walk import is_schema
from instrc.schema.wellformed import problems_of
from instrc.text.arguments import attribute, excerpt
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object, as_text, as_texts, is_deeper, listing, mapping

# What the JSON of a codec may hold, and the codecs directly inside of one.


RESULT_LEVELS: Final = 20
"""Levels of the message that brings a result to a model; those of providers have five."""

PythonTypes: TypeAlias = type | tuple[type, ...]
_MEMBERS: dict[str, dict[str, PythonTypes]] = {
    "object": {"keys": dict, "tag": dict, "more": dict, "by": list, "other": dict, "declared": list},
    "array": {"prefix": list, "items": dict},
    "pairs": {"item": dict, "by": list},
    "tuple": {"item": dict, "keys": list, "more": str},
    "text": {"kinds": list, "codec": dict},
    "values": {"values": list},
    "union": {"of": list},
    "choice": {"of": dict},
    "box": {"key": str, "codec": dict, "tag": dict},
    "plan": {"raw": dict, "codec": dict},
    "ref": {"name": str},
    "names": {"keys": dict},
}
"""What each codec may hold, by the word that says which it is."""
_FLAGS: dict[str, tuple[str, ...]] = {"text": ("null",), "values": ("fold",), "ref": ("null",), "names": ("fold",)}
"""What it may hold besides, which is true or absent."""
_NEEDED: dict[str, tuple[str, ...]] = {
    "values": ("values",),
    "union": ("of",),
    "choice": ("of",),
    "box": ("key",),
    "plan": ("raw",),
    "ref": ("name",),
    "tuple": ("keys",),
}
_ENTRIES: dict[str, dict[str, PythonTypes]] = {
    "keys": {"key": str, "codec": dict, "null": str},
    "more": {"at": str, "codec": dict, "declared": list},
    "tag": {"key": str},
    "by": {"pattern": str, "codec": dict},
    "of": {"when": (dict, bool), "codec": dict, "key": str},
}
_FLAGS_OF_ENTRIES: dict[str, tuple[str, ...]] = {
    "keys": ("absent", "missing", "unsaid"),
    "more": ("asked",),
    "tag": ("value",),
    "of": ("null",),
}
_NEEDED_IN_ENTRIES: dict[str, tuple[str, ...]] = {"more": ("at",), "tag": ("key",), "union": ("when",)}


class Damaged(ValueError):  # noqa: N818  -- what the map is
    """A map whose codecs cannot be read."""


def wrong_member(holder: JsonObject, members: dict[str, PythonTypes]) -> str | None:
    """Return the first member that is of another type than it may be; what is null is as if it were not there."""
    return next(
        (name for name, kind in members.items() if holder.get(name) is not None and not isinstance(holder[name], kind)), None
    )


def codecs_inside(codec: Json, codecs: JsonObject) -> list[Json]:
    """Return the codecs directly inside of one; `Damaged` says what is wrong with it.  `codecs` are those with a name."""
    kind = codec.get("as") if isinstance(codec, dict) else None
    if not isinstance(codec, dict) or not isinstance(kind, str) or kind not in _MEMBERS:
        message = "it says no known `as`"
        raise Damaged(message)
    if (fault := _fault(kind, codec, codecs)) is not None:
        raise Damaged(fault)
    inside = [codec[name] for name in ("other", "items", "item", "codec") if name in codec]
    inside += listing(codec.get("prefix"))
    for part in () if kind in {"tuple", "names"} else ("keys", "more", "tag", "by", "of"):
        for entry in _entries(codec.get(part), part):
            if (fault := _fault_of_entry(kind, part, entry)) is not None:
                raise Damaged(fault)
            inside.append(mapping(entry).get("codec"))
    return inside


def _fault(kind: str, codec: JsonObject, codecs: JsonObject) -> str | None:
    """Return what is wrong with the members of a codec, its entries aside."""
    if (wrong := wrong_member(codec, _MEMBERS[kind])) is not None:
        return f"the `{wrong}` of `{kind}`"
    unknown = codec.keys() - _MEMBERS[kind].keys() - {"as", *_FLAGS.get(kind, ())}
    if unknown:
        return f"`{kind}` holds {excerpt(min(unknown))}, which nobody knows"
    if any(codec.get(name) is None for name in _NEEDED.get(kind, ())):
        return f"`{kind}` is not whole"
    if kind == "ref" and codec["name"] not in codecs:
        return f"`{codec['name']}` is not defined"
    wrong = _wrong_inside(kind, codec)
    return None if wrong is None else f"the `{wrong}` of `{kind}`"


def _fault_of_entry(kind: str, part: str, entry: Json) -> str | None:
    """Return what is wrong with an entry in one part of a codec: of a property, a pattern, an alternative."""
    place = f"an entry in the `{part}` of `{kind}`"
    if not isinstance(entry, dict) or wrong_member(entry, _ENTRIES[part]) or (part == "by" and "pattern" not in entry):
        return place
    if any(name not in _ENTRIES[part] and name not in _FLAGS_OF_ENTRIES.get(part, ()) for name in entry):
        return f"{place} holds what nobody knows"
    needed = (*_NEEDED_IN_ENTRIES.get(part, ()), *(_NEEDED_IN_ENTRIES.get(kind, ()) if part == "of" else ()))
    return place if any(entry.get(name) is None for name in needed) else None


def _wrong_inside(kind: str, codec: JsonObject) -> str | None:
    """Return the member of a codec whose entries are not what they must be; `None` if all are."""
    match kind:
        case "values" if not all(isinstance(pair, list) and len(pair) == 2 for pair in listing(codec["values"])):
            return "values"
        case "plan" if not all(isinstance(names, list) for names in mapping(codec["raw"]).values()):
            return "raw"
        case "names" if not all(isinstance(key, str) for key in mapping(codec.get("keys")).values()):
            return "keys"
        case "tuple" if not all(isinstance(key, str) for key in listing(codec["keys"])):
            return "keys"
        case _:
            return None


def _entries(held: Json, part: str) -> list[Json]:
    """Return the entries in one part of a codec: some parts are one entry."""
    if held is None:
        return []
    if part in {"more", "tag"}:
        return [held]
    return list(held.values()) if isinstance(held, dict) else listing(held)


# Read the codecs of a map, which is plain JSON that anybody may have written.


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


# Write codecs as the plain JSON that maps hold.
#
# A codec is `null` (the value is the same on both sides) or an object whose `as` says what is undone, in the words of this
# file.
# What else it holds is said at the classes of `instrc.providers.codec`.


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
            return {"as": "choice", "of": {label: _writing_choice(each, inner) for label, each in choices.items()}}
        case BoxCodec(key, held, tag):
            return {"as": "box", "key": key, "codec": inner(held), **_writing_tag(tag)}
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
        written["keys"] = {sent: _writing_member(member, inner) for sent, member in codec.members.items()}
    if codec.other is not None or codec.by:
        written["other"] = inner(codec.other)
    if codec.by:
        written["by"] = _pattern_entries(codec.by, inner)
    if codec.declared is not None:
        written["declared"] = list(codec.declared)
    if codec.more is not None:
        more = codec.more
        written["more"] = {"at": more.at, "codec": inner(more.codec), "declared": list(more.declared), "asked": more.asked}
    return written | _writing_tag(codec.tag)


def _writing_member(member: Member, inner: WriteInner) -> dict[str, Json]:
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


def _writing_choice(choice: Choice, inner: WriteInner) -> dict[str, Json]:
    if choice.key is None:
        return {"null": True}
    return {"key": choice.key, "codec": inner(choice.codec), "when": choice.when}


def _writing_tag(tag: Tag | None) -> dict[str, Json]:
    return {} if tag is None else {"tag": {"key": tag.key, "value": tag.value}}


# Read the maps that lowerings leave: one of a tool, of a set of tools, or the one an MCP tool carries.


VERSION = 1
"""Of maps."""
META_KEY = "dev.instrc/map"
"""Where a tool for MCP carries its map, below `_meta`."""

Records: TypeAlias = dict[str, JsonObject]
"""The maps of tools, by the names under which they were sent."""

_NO_SCHEMA = "it holds no schema to check answers by"
_OF_A_RECORD: dict[str, PythonTypes] = {
    "target": str,
    "codec": dict,
    "codecs": dict,
    "definitions": dict,
    "keys": list,
    "tool": dict,
    "result": dict,
}
_OF_A_TOOL = frozenset(
    {"function", "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "toolSpec"}
    | {"properties", "json_schema", "functionDeclarations", "function_declarations"}
)
"""Members of a tool as it is sent, or of a schema, either of which is easily taken for its map."""


def records_in(map: object) -> Records:  # noqa: A002  -- the word for it everywhere else
    """Return the maps of all tools by the names they were sent under.

    `map` is a map, what has one as its `map` (a lowering, what `lower_all` gave), an MCP tool, a list of such or a mapping from
    names to them, the result of `tools/list`, or the JSON text of any; a `CompileError` says what is wrong with it.
    A tool of MCP that carries no map was given to the model as it is.
    """
    found: Records = {}
    for each in _maps(map, 0):
        found |= _records(each)
    if not found:
        _refuse("there is no map in it")
    return found


def _maps(value: object, level: int) -> Iterator[JsonObject]:
    """Yield the maps in what a program has at hand."""
    if level > 5:  # a tool in a list of tools in a result in an answer of MCP, and a level to spare
        _refuse("there is no map in it")
    if not isinstance(value, Mapping | list | tuple) and (inside := attribute(value, "map")) is not None:
        value = inside
    elif (
        not isinstance(value, Mapping | list | tuple)
        and attribute(value, "model_dump") is not None
        and hasattr(value, "model_dump")
    ):
        value = _dumped(value)
    if isinstance(value, str | bytes | bytearray):
        value = _read(value)
    if isinstance(value, list | tuple):
        for each in value:
            yield from _maps(each, level + 1)
        return
    if not isinstance(value, Mapping):
        _refuse(f"it is of the type {type(value).__name__}")
    inner = value.get("_meta", value.get("meta"))
    if isinstance(inner, Mapping) and META_KEY in inner:
        yield from _maps(inner[META_KEY], level + 1)
    elif "instrc" in value:
        yield dict(value)
    elif "jsonrpc" in value and isinstance(value.get("result"), Mapping):
        yield from _maps(value["result"], level + 1)
    elif isinstance(value.get("tools"), list | tuple):
        yield from _maps(value["tools"], level + 1)
    elif (record := _as_sent(value)) is not None:
        yield record
    elif value and all(map(_carries_a_map, value.values())):
        yield from _maps([*value.values()], level + 1)
    elif not _OF_A_TOOL.isdisjoint(value):
        _refuse("it is a tool or a schema: give what `lower` or `lower_all` returned")
    else:
        _refuse("the member `instrc` is missing")


def _read(text: str | bytes | bytearray) -> object:
    """Return what a JSON text holds."""
    try:
        return loads(text if isinstance(text, str) else bytes(text))
    except (ValueError, RecursionError):
        _refuse("it is a text, and no JSON: give what `lower` returned, or the text of the file that holds its map")


def _carries_a_map(value: object) -> bool:
    """Say whether a value is a map or has one, as lowerings that are kept by their names."""
    if isinstance(value, Mapping):
        return "instrc" in value
    return isinstance(inside := attribute(value, "map"), Mapping) and "instrc" in inside


def _as_sent(tool: Mapping[str, Json]) -> JsonObject | None:
    """Return the map of a tool of MCP that carries none, which a model was given as it is; `None` for what is no such tool."""
    name, schema = tool.get("name"), tool.get("inputSchema", tool.get("input_schema"))
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    keys: Json = [*mapping(schema.get("properties"))]
    return {
        "instrc": VERSION,
        "target": "mcp",
        "tool": {"name": name, "sent": name},
        "keys": keys,
        "codec": None,
        "schema": schema,
    }


class _Model(Protocol):
    """What writes itself as pydantic's models do."""

    def model_dump(self, *, mode: str, by_alias: bool) -> object:
        """Return what it says as plain values."""


def _dumped(model: _Model) -> object:
    try:
        return model.model_dump(mode="json", by_alias=True)
    except Exception:  # noqa: BLE001  -- an object of somebody's that looks like a model
        return None


def _records(map: JsonObject) -> Records:  # noqa: A002  -- as above
    if map["instrc"] != VERSION or isinstance(map["instrc"], bool):
        _refuse(f"it is of version `{str(map['instrc'])[:20]}`, and this program reads {VERSION}")
    records = map["tools"] if "tools" in map else {_sent_name(map): map}
    if not isinstance(records, dict):
        _refuse(_NO_SCHEMA)
    found: Records = {}
    for name, record in records.items():
        if not isinstance(record, dict) or "schema" not in record:
            _refuse(_NO_SCHEMA)
        found[name] = record
    for name, record in found.items():
        if not isinstance(name, str):
            _refuse("the name of a tool in it is not a text")
        if (damage := _damage(record)) is not None:
            _refuse(damage)
    return found


def _refuse(reason: str) -> NoReturn:
    raise CompileError([UnreadableMap(reason=reason)])


def _sent_name(record: JsonObject) -> str:
    tool = record.get("tool")
    return str(tool.get("sent", "")) if isinstance(tool, dict) else ""


def _damage(record: JsonObject) -> str | None:
    """Return what is wrong with the map of one tool; `None` if a codec can be run by it."""
    if not is_schema(record["schema"]) or (next(doubtful(record["schema"]), None) is not None and problems_of(record["schema"])):
        return "its `schema` is not a schema"
    if "codec" not in record:
        return "its `codec` is missing"
    if (wrong := wrong_member(record, _OF_A_RECORD)) is not None:
        return f"its `{wrong}` is damaged"
    if not all(isinstance(key, str) for key in listing(record.get("keys"))):
        return "its `keys` is damaged"
    if is_deeper(record.get("result"), RESULT_LEVELS):
        return "its `result` is damaged"
    tool = record.get("tool")
    if isinstance(tool, dict) and not (isinstance(tool.get("name"), str) and isinstance(tool.get("sent", ""), str)):
        return "its `tool` is damaged"
    try:
        codecs_of(record)
    except Damaged as damage:
        return f"a codec in it is damaged: {damage}"
    return None


def map_of(name: str | None, records: Records) -> JsonObject | None:
    """Return the map of the tool of a name, ours or the sent one; `None` if there is none, or no name and several tools."""
    if name is None:
        return next(iter(records.values())) if len(records) == 1 else None
    if name in records:
        return records[name]
    return next((record for record in records.values() if mapping(record.get("tool")).get("name") == name), None)
