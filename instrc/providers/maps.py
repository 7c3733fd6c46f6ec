"""Read and write the maps that lowerings leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeAlias

from instrc.problems.problem import CompileError
from instrc.problems.targets import UnreadableMap
from instrc.providers import codec as nouns
from instrc.providers.codec import Codec, SomeCodec
from instrc.schema.plain_checks import doubtful
from instrc.schema.walk import is_schema
from instrc.schema.wellformed import problems_of
from instrc.text.arguments import attribute, excerpt
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, is_deeper, listing, mapping
from instrc.tools.definitions import AS_SENT, definition

META_KEY = "dev.instrc/map"
"""Where a tool for MCP carries its map, below `_meta`."""
_OF_A_TOOL = AS_SENT | {"properties", "json_schema"}
"""Members of a tool as it is sent, or of a schema, either of which is easily taken for its map."""


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
        yield from ({**each, **_output_of(value)} for each in _maps(inner[META_KEY], level + 1))
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


def _refuse(reason: str) -> NoReturn:
    raise CompileError([UnreadableMap(reason=reason)])


class _Model(Protocol):
    """What writes itself as pydantic's models do."""

    def model_dump(self, *, mode: str, by_alias: bool) -> object:
        """Return what it says as plain values."""


def _dumped(model: _Model) -> object:
    try:
        return model.model_dump(mode="json", by_alias=True)
    except Exception:  # noqa: BLE001  -- an object of somebody's that looks like a model
        return None


def _read(text: str | bytes | bytearray) -> object:
    """Return what a JSON text holds."""
    try:
        return loads(text if isinstance(text, str) else bytes(text))
    except (ValueError, RecursionError):
        _refuse("it is a text, and no JSON: give what `lower` returned, or the text of the file that holds its map")


def _output_of(tool: Mapping[str, Json]) -> JsonObject:
    """Return what the map of a tool of MCP says of its results."""
    output = tool.get("outputSchema", tool.get("output_schema"))
    return {"output": output} if isinstance(output, dict) else {}


VERSION = 1
"""Of maps."""


def _as_sent(tool: Mapping[str, Json]) -> JsonObject | None:
    """Return the map of a tool of MCP that carries none, which a model was given as it is; `None` for what is no such tool."""
    name, said = tool.get("name"), definition({**tool})
    schema = said.schema if said.schema_at[:1] in {("inputSchema",), ("input_schema",)} else None
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
        **_output_of(tool),
    }


def _carries_a_map(value: object) -> bool:
    """Say whether a value is a map or has one, as lowerings that are kept by their names."""
    if isinstance(value, Mapping):
        return "instrc" in value
    return isinstance(inside := attribute(value, "map"), Mapping) and "instrc" in inside


RESULT_LEVELS: Final = 20
"""Levels of the message that brings a result to a model; those of providers have five."""
PythonTypes: TypeAlias = type | tuple[type, ...]
ReadInner: TypeAlias = Callable[[Json], Codec]
WriteInner: TypeAlias = Callable[[Codec], Json]


class _Field(NamedTuple):
    """A member of a codec, or of an entry in one."""

    name: str
    kind: _Kind
    needed: bool = False
    said: Callable[[Any], object] = lambda _: False  # a codec, or an entry in one
    """Whether it is written though there is nothing in it."""
    attribute: str = ""
    """Its name in Python, where that is another one."""


class _Form:
    """The JSON of one class of codecs, or of entries in them."""

    def __init__(self, make: Callable[..., object], *fields: _Field) -> None:
        self.make = make
        self.fields = fields
        self.names = frozenset(field.name for field in fields)

    def read(self, holder: JsonObject, inner: ReadInner) -> Any:  # noqa: ANN401  -- what `make` returns
        """Return what JSON that was checked stands for."""
        held = [(field, holder[field.name]) for field in self.fields if holder.get(field.name) is not None]
        return self.make(**{field.attribute or field.name: field.kind.read(value, inner) for field, value in held})

    def write(self, value: object, inner: WriteInner) -> JsonObject:
        """Return a codec or an entry as JSON."""
        written: JsonObject = {}
        for field in self.fields:
            held = getattr(value, field.attribute or field.name)
            empty = held is None or held is False or (field.kind.blank and not held)
            if not empty or field.needed or field.said(value):
                written[field.name] = field.kind.write(held, inner)
        return written

    def wrong(self, holder: JsonObject) -> str | None:
        """Return the first member of another type than it may have; `None` if there is none."""
        return wrong_member(holder, {field.name: field.kind.types for field in self.fields})

    def whole(self, holder: JsonObject) -> bool:
        """Say whether no member is missing."""
        return all(holder.get(field.name) is not None for field in self.fields if field.needed)


class _Kind(NamedTuple):
    """What a field holds; the functions are given JSON of its types."""

    types: PythonTypes
    read: Callable[[Any, ReadInner], object] = lambda held, _: held  # JSON of its types
    write: Callable[[Any, WriteInner], Json] = lambda held, _: held  # as above
    valid: Callable[[Any], bool] = lambda _: True  # as above
    """Whether what is in it is what it must be."""
    each: Callable[[Any], Iterable[Json]] = lambda _: ()  # as above
    """The codecs in it, or the entries that hold them."""
    entry: _Form | None = None
    blank: bool = False
    """Whether an empty one is left out."""


_TEXT = _Kind(str)
_FLAG = _Kind(object, lambda held, _: bool(held))
_ABSENT = _Kind(object, lambda held, _: "also" if held == "also" else bool(held))
_JSON = _Kind(object)
_SCHEMA = _Kind((dict, bool))
_CODEC = _Kind(dict, lambda held, inner: inner(held), lambda codec, inner: inner(codec), each=lambda held: [held])
_CODECS = _Kind(
    list,
    lambda held, inner: tuple(map(inner, held)),
    lambda codecs, inner: list(map(inner, codecs)),
    each=listing,
    blank=True,
)


def _are_texts(items: Iterable[Json]) -> bool:
    return all(isinstance(item, str) for item in items)


_TEXTS = _Kind(list, lambda held, _: tuple(held), lambda names, _: list(names), _are_texts)
_PLACES = _TEXTS._replace(blank=False)
_PAIRS = _Kind(
    list,
    lambda held, _: tuple((sent, original) for sent, original in held),
    lambda pairs, _: [list(pair) for pair in pairs],
    lambda held: all(isinstance(pair, list) and len(pair) == 2 for pair in held),
)
_NAMES = _Kind(dict, lambda held, _: dict(held), lambda names, _: dict(names), lambda held: _are_texts(held.values()))
_TEXTS_BY_NAME = _Kind(
    dict,
    lambda held, _: {name: tuple(texts) for name, texts in held.items()},
    lambda names, _: {name: list(texts) for name, texts in names.items()},
    lambda held: all(isinstance(texts, list) and _are_texts(texts) for texts in held.values()),
)
_INNER = _Field("codec", _CODEC)


def _always(_: object) -> bool:
    return True


_SAID_INNER = _Field("codec", _CODEC, said=_always)
_NULL = _Field("null", _FLAG)
_FOLD = _Field("fold", _FLAG)
_MEMBER = _Form(
    nouns.Member,
    _Field("key", _TEXT),
    _Field("absent", _ABSENT),
    _Field("null", _TEXT),
    _Field("missing", _FLAG),
    _Field("unsaid", _FLAG),
    _INNER,
)
_MORE = _Form(
    nouns.More,
    _Field("at", _TEXT, needed=True),
    _SAID_INNER,
    _Field("declared", _TEXTS, said=_always),
    _Field("asked", _FLAG, said=_always),
)


def _one(entry: _Form) -> _Kind:
    """Return the kind of a field that holds one entry."""
    return _Kind(dict, entry.read, entry.write, each=lambda held: [held], entry=entry)


_TAG = _Field("tag", _one(_Form(nouns.Tag, _Field("key", _TEXT, needed=True), _Field("value", _JSON, said=_always))))


def _list_of(entry: _Form) -> _Kind:
    return _Kind(
        list,
        lambda held, inner: tuple([entry.read(each, inner) for each in held]),
        lambda held, inner: [entry.write(each, inner) for each in held],
        each=listing,
        entry=entry,
        blank=True,
    )


_BY = _Field("by", _list_of(_Form(nouns.ByPattern, _Field("pattern", _TEXT, said=_always), _SAID_INNER)))
_ALTERNATIVE = _Form(nouns.Alternative, _Field("when", _SCHEMA, needed=True), _SAID_INNER)


def _choice(key: str | None = None, codec: Codec = None, when: Json = True, *, null: bool = False) -> nouns.Choice:  # noqa: FBT002  -- a schema
    return nouns.Choice(None if null else key, codec, when)


_CHOICE = _Form(_choice, _Field("key", _TEXT), _SAID_INNER, _Field("when", _SCHEMA, said=_always))
_CHOICE_OR_NULL = _Form(_choice, *_CHOICE.fields, _NULL)


def _by_name(entry: _Form, write: Callable[[Any, WriteInner], Json]) -> _Kind:  # an object of entries
    return _Kind(
        dict,
        lambda held, inner: {name: entry.read(each, inner) for name, each in held.items()},
        lambda held, inner: {name: write(each, inner) for name, each in held.items()},
        each=lambda held: held.values(),
        entry=entry,
        blank=True,
    )


_CHOICES = _by_name(_CHOICE_OR_NULL, lambda each, inner: {"null": True} if each.key is None else _CHOICE.write(each, inner))


def _lists_members(codec: nouns.ObjectCodec) -> bool:
    return codec.more is not None or codec.tag is not None or codec.declared is not None


_FORMS: dict[str, _Form] = {
    "object": _Form(
        nouns.ObjectCodec,
        _Field("keys", _by_name(_MEMBER, _MEMBER.write), said=_lists_members, attribute="members"),
        _Field("other", _CODEC, said=lambda it: it.by),
        _BY,
        _Field("declared", _TEXTS),
        _Field("more", _one(_MORE)),
        _TAG,
    ),
    "array": _Form(nouns.ArrayCodec, _Field("prefix", _CODECS), _Field("items", _CODEC)),
    "pairs": _Form(nouns.PairsCodec, _Field("item", _CODEC, said=_always), _BY),
    "tuple": _Form(
        nouns.TupleCodec, _Field("keys", _PLACES, needed=True), _Field("item", _CODEC, said=_always), _Field("more", _TEXT)
    ),
    "text": _Form(nouns.TextCodec, _Field("kinds", _TEXTS), _NULL),
    "values": _Form(nouns.ValuesCodec, _Field("values", _PAIRS, needed=True), _FOLD),
    "union": _Form(nouns.UnionCodec, _Field("of", _list_of(_ALTERNATIVE), needed=True)),
    "choice": _Form(nouns.ChoiceCodec, _Field("of", _CHOICES, needed=True)),
    "box": _Form(nouns.BoxCodec, _Field("key", _TEXT, needed=True), _SAID_INNER, _TAG),
    "plan": _Form(nouns.PlanCodec, _Field("raw", _TEXTS_BY_NAME, needed=True), _INNER),
    "ref": _Form(nouns.RefCodec, _Field("name", _TEXT, needed=True), _NULL),
    "names": _Form(nouns.NamesCodec, _Field("keys", _NAMES), _FOLD),
}
"""What each codec may hold, by the word that says which it is."""
_WORDS = {form.make: word for word, form in _FORMS.items()}


def to_json(codec: Codec) -> Json:
    """Return a codec as plain JSON."""
    return None if codec is None else one_to_json(codec, to_json)


def one_to_json(codec: SomeCodec, inner: WriteInner) -> JsonObject:
    """Return a codec as plain JSON; `inner` writes those directly inside."""
    word = _WORDS[codec.__class__]
    return {"as": word, **_FORMS[word].write(codec, inner)}


class Damaged(ValueError):  # noqa: N818  -- what the map is
    """A map whose codecs cannot be read."""


def wrong_member(holder: JsonObject, members: dict[str, PythonTypes]) -> str | None:
    """Return the first member that is of another type than it may be; what is null is as if it were not there."""
    return next(
        (name for name, kind in members.items() if holder.get(name) is not None and not isinstance(holder[name], kind)), None
    )


def codecs_inside(codec: Json, codecs: JsonObject) -> list[Json]:
    """Return the codecs directly inside of one; `Damaged` says what is wrong with it.  `codecs` are those with a name."""
    word = codec.get("as") if isinstance(codec, dict) else None
    form = _FORMS.get(word) if isinstance(word, str) else None
    if not isinstance(codec, dict) or form is None:
        message = "it says no known `as`"
        raise Damaged(message)
    if (fault := _fault(str(word), form, codec, codecs)) is not None:
        raise Damaged(fault)
    inside: list[Json] = []
    for name, kind, *_ in form.fields:
        for each in () if codec.get(name) is None else kind.each(codec[name]):
            if kind.entry is None:
                inside.append(each)
            elif (fault := _fault_of_entry(kind.entry, each, f"an entry in the `{name}` of `{word}`")) is not None:
                raise Damaged(fault)
            else:
                inside.append(mapping(each).get("codec"))
    return inside


def _fault(word: str, form: _Form, codec: JsonObject, codecs: JsonObject) -> str | None:
    """Return what is wrong with the members of a codec, its entries aside."""
    if (wrong := form.wrong(codec)) is not None:
        return f"the `{wrong}` of `{word}`"
    if unknown := codec.keys() - form.names - {"as"}:
        return f"`{word}` holds {excerpt(min(unknown))}, which nobody knows"
    if not form.whole(codec):
        return f"`{word}` is not whole"
    if word == "ref" and codec["name"] not in codecs:
        return f"`{codec['name']}` is not defined"
    for name, kind, *_ in form.fields:
        if codec.get(name) is not None and not kind.valid(codec[name]):
            return f"the `{name}` are not texts" if kind is _TEXTS else f"the `{name}` of `{word}`"
    return None


def _fault_of_entry(form: _Form, entry: Json, place: str) -> str | None:
    """Return what is wrong with an entry in one part of a codec: of a property, a pattern, an alternative."""
    if not isinstance(entry, dict) or form.wrong(entry) or (form.make is nouns.ByPattern and "pattern" not in entry):
        return place
    if not entry.keys() <= form.names:
        return f"{place} holds what nobody knows"
    if not all(kind.valid(entry[name]) for name, kind, *_ in form.fields if entry.get(name) is not None):
        return f"{place} is damaged"
    return None if form.whole(entry) else place


@dataclass(frozen=True, slots=True)
class Codecs:
    """The codecs of one map."""

    root: Codec
    named: dict[str, Codec]


def codecs_of(record: JsonObject) -> Codecs:
    """Return the codecs of the map of one tool; `Damaged` says what is wrong with them."""
    root, named = record.get("codec"), mapping(record.get("codecs"))
    done: dict[int, Codec] = {}
    entered: set[int] = set()

    def finished(codec: Json) -> Codec:
        return None if codec is None else done[id(codec)]

    stack: list[tuple[Json, bool]] = [(each, False) for each in (root, *named.values())]
    while stack:
        codec, looked_at = stack.pop()
        if codec is None or id(codec) in done:
            continue
        if looked_at and isinstance(codec, dict):
            done[id(codec)] = _FORMS[str(codec["as"])].read(codec, finished)
            continue
        if id(codec) in entered:
            message = "it holds itself"
            raise Damaged(message)
        entered.add(id(codec))
        stack.append((codec, True))
        stack.extend((inner, False) for inner in codecs_inside(codec, named))
    return Codecs(finished(root), {name: finished(codec) for name, codec in named.items()})


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


def _sent_name(record: JsonObject) -> str:
    tool = record.get("tool")
    return str(tool.get("sent", "")) if isinstance(tool, dict) else ""


def _damage(record: JsonObject) -> str | None:
    """Return what is wrong with the map of one tool; `None` if a codec can be run by it."""
    for word in ("schema", "output"):
        schema = record.get(word, True)
        if not is_schema(schema) or (next(doubtful(schema), None) is not None and problems_of(schema)):
            return f"its `{word}` is not a schema"
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


def of_results(records: Records) -> Records:
    """Return the maps for what tools give, where these say what that is; else those for what they take."""
    return {
        name: {**record, "schema": output, "keys": [*mapping(output.get("properties"))], "codec": None}
        if isinstance(output := record.get("output"), dict)
        else record
        for name, record in records.items()
    }


def map_of(name: str | None, records: Records) -> JsonObject | None:
    """Return the map of the tool of a name, ours or the sent one; `None` if there is none, or no name and several tools."""
    if name is None:
        return next(iter(records.values())) if len(records) == 1 else None
    if name in records:
        return records[name]
    return next((record for record in records.values() if mapping(record.get("tool")).get("name") == name), None)
