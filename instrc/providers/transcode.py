"""Encode values for a target, and decode answers, with the codecs of a map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice, repeat, takewhile
from typing import Final, assert_never

from instrc.providers.codec import (
    ArrayCodec,
    BoxCodec,
    ByPattern,
    ChoiceCodec,
    Codec,
    Member,
    NamesCodec,
    ObjectCodec,
    PairsCodec,
    PlanCodec,
    RefCodec,
    SomeCodec,
    TextCodec,
    ToolMap,
    TupleCodec,
    UnionCodec,
    ValuesCodec,
    wrapped,
)
from instrc.providers.key_renaming import KeyRenamer, ReadText, folded, is_one_of, likeness, shaped, types_named
from instrc.schema.patterns import may_match
from instrc.schema.validation import DefinitionsValidator
from instrc.schema.walk import without
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_text, equal, freeze, kind_of, mapping
from instrc.tools.tasks import argument_text, argument_value

CODEC_LEVELS: Final = 200
"""Maximum nesting of a value that codecs convert; deeper parts stay unchanged."""
CODECS_FOLLOWED: Final = 50
"""Maximum chained references that are followed."""


def entry_for(name: str, entries: Sequence[ByPattern]) -> ByPattern | None:
    """Return the first entry for a name: one with a matching pattern, or without a pattern."""
    return next((item for item in entries if item.pattern is None or may_match(item.pattern, name)), None)


Raw = Mapping[str, Sequence[str]]
_PARTS = ("name", "is", "text")
_REFERENCES = ("from", "each")


def to_typed(plan: Json, raw: Raw) -> Json:
    """Return a plan with each task's arguments as an object; other items are unchanged."""
    return _with_arguments(plan, _arguments_as_object, raw)


def _with_arguments(plan: Json, change: Callable[[Json, Sequence[str]], Json], raw: Raw) -> Json:
    """Return a plan with the arguments of each task changed, unless `change` returns `None`."""

    def changed(task: Json) -> Json:
        tool = mapping(task).get("tool")
        built = change(mapping(task).get("arguments"), raw.get(tool, ()) if isinstance(tool, str) else ())
        return task if built is None else {**mapping(task), "arguments": built}

    return [*map(changed, plan)] if isinstance(plan, list) else plan


def _arguments_as_object(entries: Json, texts: Sequence[str]) -> JsonObject | None:
    """Return the arguments as an object, or `None` if malformed, which the check of the plan reports."""
    if not isinstance(entries, list):
        return None
    result: dict[str, Json] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(part), str) for part in _PARTS):
            return None
        name, kind, text = (as_text(entry[part]) for part in _PARTS)
        if name in result or kind not in {"value", *_REFERENCES}:
            return None
        result[name] = argument_value(text, raw=name in texts) if kind == "value" else {kind: text}
    return result


def to_uniform(plan: Json, raw: Raw) -> Json:
    """Return a plan with each task's arguments as a list; other items are unchanged."""
    return _with_arguments(plan, _uniform, raw)


def _uniform(arguments: Json, texts: Sequence[str]) -> list[Json] | None:
    if not isinstance(arguments, dict):
        return None
    return [_entry(name, value, raw=name in texts) for name, value in arguments.items()]


def _entry(name: str, value: Json, *, raw: bool) -> Json:
    if isinstance(value, dict) and len(value) == 1:
        [(kind, text)] = value.items()
        if kind in _REFERENCES and isinstance(text, str):
            return {"name": name, "is": kind, "text": text}
    return {"name": name, "is": "value", "text": argument_text(value, raw=raw)}


LIKENED: Final = 300
"""Maximum values of an answer that are none of their unions, and are compared with each alternative."""


class Transcoder:
    """Applies the codecs of one map in both directions."""

    def __init__(self, record: ToolMap, *, fold: bool = True, read: ReadText | None = None) -> None:
        """`fold` repairs the case of listed strings where a codec allows it.

        With `read`, which parses the JSON in a text, objects and lists are converted to the expected shape.
        """
        self.codec = record.codec
        self._codecs = record.codecs
        self._definitions = DefinitionsValidator(record.definitions)
        self._schema = record.schema
        self._fold = fold
        self._text_reader = read
        self.repeated: dict[str, None] = {}
        """Keys that a list of pairs had twice, of which the last one counts, or beside a property of this name, which counts."""
        self._read: dict[tuple[int, int], tuple[Codec, Json, Json]] = {}
        """Objects and lists that were read as unions, with their meanings: to try each alternative of unions in unions
        would double the work at each level."""

        self._unlike = 0
        """Values that were none of their unions."""
        self._written: dict[tuple[int, int], tuple[Codec, Json, list[Json]]] = {}
        """Objects and lists that were written as unions, with their encodings, if any."""

    def read(self, answer: Json) -> Json:
        """Decode a whole answer."""
        return self.decode(self.codec, answer)

    def decode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Decode a value of the payload; other values are unchanged."""
        codec = self._dereference(codec, value)
        if codec is None or value is None or level > CODEC_LEVELS:
            return value
        if self._text_reader is not None and (types := _shape_of(codec)):
            value = shaped(value, types, self._text_reader)[0]
        match codec:
            case ObjectCodec():
                return self._object(codec, value, level) if isinstance(value, dict) else value
            case ArrayCodec():
                return self._items(self.decode, codec, value, level) if isinstance(value, list) else value
            case PairsCodec():
                pairs: Json = [value] if isinstance(value, dict) and value.keys() == {"key", "value"} else value
                return self._pairs(codec, pairs, level) if isinstance(pairs, list) else value
            case TupleCodec():
                return self._tuple(codec, value, level) if isinstance(value, dict) else value
            case TextCodec():
                return from_text(codec, value) if isinstance(value, str) else value
            case ValuesCodec():
                return self._value(codec, value)
            case UnionCodec():
                return self._union(codec, value, level)
            case ChoiceCodec():
                return self._choice(codec, value, level) if isinstance(value, dict) else value
            case BoxCodec():
                if not isinstance(value, dict) or codec.key not in value:
                    return value
                return self.decode(codec.codec, value[codec.key], level + 1)
            case PlanCodec():
                return to_typed(self.decode(codec.codec, value, level), codec.raw)
            case NamesCodec():
                fold = self._fold and codec.fold
                renamer = KeyRenamer(self._schema, back=dict(codec.keys), fold=fold, read=self._text_reader)
                return renamer.converted(value, [self._schema])
            case RefCodec():
                return value  # cyclic
            case _:
                assert_never(codec)

    def _dereference(self, codec: Codec, value: Json) -> Codec:
        """Return the target of a codec reference, or `None` for a null that is sent unchanged."""
        for _ in range(CODECS_FOLLOWED):
            if not isinstance(codec, RefCodec):
                return codec
            codec = None if value is None and codec.null else self._codecs.get(codec.name)
        return None

    def _items(self, convert: Callable[[Codec, Json, int], Json], codec: ArrayCodec, value: list[Json], level: int) -> list[Json]:
        """Decode or encode the items of a list, each with the codec of its place."""
        codecs = chain(codec.prefix, repeat(codec.items))
        return [convert(inner, item, level + 1) for inner, item in zip(codecs, value, strict=False)]

    def _pairs(self, codec: PairsCodec, value: list[Json], level: int) -> Json:
        entries = [self.decode(entry_codec(codec, item), item, level + 1) for item in value]
        result: JsonObject = {}
        for item in entries:
            key = item.get("key") if isinstance(item, dict) else None
            if not isinstance(item, dict) or not isinstance(key, str) or "value" not in item:
                return value
            if key in result:
                self.repeated[key] = None
            result[key] = item["value"]
        return result

    def _object(self, codec: ObjectCodec, value: dict[str, Json], level: int) -> Json:
        members, more, tag = codec.members, codec.more, codec.tag
        own = {member.key: sent for sent, member in members.items() if member.key is not None and member.key not in members}
        result: dict[str, Json] = {}
        for sent, item in value.items():
            if (tag is not None and sent == tag.key) or (more is not None and sent == more.at):
                continue
            member = members.get(sent)
            if member is None and sent in own:  # a model that knows our name for it
                if own[sent] in value:
                    continue
                member = members[own[sent]]
                sent = own[sent]  # noqa: PLW2901  -- continue as if it had been sent this way
            if member is None:
                stands_for = members.get(sent.rstrip("_"))
                escaped = sent[-1:] == "_" and stands_for is not None and stands_for.key is not None
                ours = sent[:-1] if escaped else sent
                result[ours] = self.decode(other_codec(codec, ours), item, level + 1)
            else:
                self._member(sent, member, item, result, level)
        for sent, member in members.items():
            if member.missing and sent not in value:
                result[sent if member.key is None else member.key] = None
        if more is not None:
            extra = self.decode(more.codec, value.get(more.at), level + 1)
            for key, item in extra.items() if isinstance(extra, dict) else ():
                if key in result:  # the property itself counts
                    self.repeated[key] = None
                else:
                    result[key] = item
            if not isinstance(extra, dict | None):
                result[more.at] = extra
        return result

    def _member(self, sent: str, member: Member, item: Json, result: dict[str, Json], level: int) -> None:
        """Decode a declared property into the result."""
        if item is None and member.absent:
            return
        ours = sent if member.key is None else member.key
        word = member.null
        if word is not None and isinstance(item, str) and (depth := wrapped(item, word)) is not None:
            result[ours] = None if depth == 0 else item[1:-1]
        else:
            result[ours] = self.decode(member.codec, item, level + 1)

    def _tuple(self, codec: TupleCodec, value: dict[str, Json], level: int) -> Json:
        found = self.decode(codec.item, value, level + 1)
        if not isinstance(found, dict):
            return value
        result = [found[key] for key in takewhile(found.__contains__, codec.keys)]
        following = None if codec.more is None else found.get(codec.more)
        if len(result) < len(codec.keys) and (following or any(key in found for key in codec.keys[len(result) :])):
            return value  # an item is missing before others
        return [*result, *following] if isinstance(following, list) else result

    def _value(self, codec: ValuesCodec, value: Json) -> Json:
        sought = freeze(value)
        for sent, original in codec.values:
            if freeze(sent) == sought:
                return original
        if self._fold and isinstance(value, str):
            near = folded(value, [sent for sent, _ in codec.values if isinstance(sent, str)])
            return next((original for sent, original in codec.values if sent == near), value)
        return value

    def _union(self, codec: UnionCodec, value: Json, level: int) -> Json:
        known = self._read.get((id(codec), id(value)))
        if known is not None:
            return known[2]
        result = self._chosen(codec, value, level)
        if isinstance(value, dict | list):
            self._read[id(codec), id(value)] = codec, value, result  # both are kept, so that no other object gets their id
        return result

    def _chosen(self, codec: UnionCodec, value: Json, level: int) -> Json:
        fitting = [each for each in codec.of if self._definitions.accepts(each.when, value)]
        if fitting:
            chosen = next((each for each in fitting if self._covers(each.when, value)), fitting[0])
            return self.decode(chosen.codec, value, level + 1)
        if self._text_reader is not None:
            types = frozenset(kind for each in codec.of for kind in self._types(each.when))
            result, steps = shaped(value, types, self._text_reader)
            if steps:
                return self._chosen(codec, result, level)
        self._unlike += 1
        if self._unlike > LIKENED:
            return value
        alike = [each for each in codec.of if not (types := self._types(each.when)) or is_one_of(value, types)]
        for each in alike:  # the value may differ only in case
            if each.codec is not None and self._definitions.accepts(each.when, self.normal(each.codec, value, level + 1)):
                return self.decode(each.codec, value, level + 1)
        likely = max(alike, key=lambda each: likeness(self._definitions.dereferenced(each.when), value), default=None)
        return value if likely is None else self.decode(likely.codec, value, level + 1)

    def _choice(self, codec: ChoiceCodec, value: dict[str, Json], level: int) -> Json:
        label = value.get("choice")
        named = codec.of.get(label) if isinstance(label, str) else None
        if named is not None and named.key is None:
            return None
        for choice in ([] if named is None else [named], codec.of.values()):
            for item in choice:
                if item.key is not None and item.key in value:
                    return self.decode(item.codec, value[item.key], level + 1)
        if named is None or "object" not in self._types(named.when):
            return value
        return self.decode(named.codec, without(value, "choice"), level + 1)

    def _covers(self, schema: Json, value: Json) -> bool:
        """Return whether a schema declares all keys of an object."""
        schema = self._definitions.dereferenced(schema)
        declared = schema.get("properties") if isinstance(schema, dict) else None
        return not isinstance(value, dict) or not isinstance(declared, dict) or value.keys() <= declared.keys()

    def _types(self, schema: Json) -> frozenset[str]:
        """Return the types that a schema names directly."""
        schema = self._definitions.dereferenced(schema)
        return frozenset(types_named(schema, "") if isinstance(schema, dict) else ()) - {""}

    def write(self, value: Json) -> Json:
        """Encode a whole value; raise `Inexpressible` if impossible."""
        return self.encode(self.codec, value)

    def normal(self, codec: Codec, value: Json, level: int) -> Json:
        """Return a value in its sent form, with the case of words corrected."""
        try:
            return self.encode(codec, self.decode(codec, value, level), level)
        except Inexpressible:
            return value

    def encode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Encode a value; raise `Inexpressible` if impossible."""
        codec = self._dereference(codec, value)
        if codec is None or level > CODEC_LEVELS or (value is None and isinstance(codec, TextCodec) and codec.null):
            return value
        match codec:
            case ObjectCodec():
                return self._object_out(codec, value, level) if isinstance(value, dict) else value
            case ArrayCodec():
                return self._items(self.encode, codec, value, level) if isinstance(value, list) else value
            case PairsCodec():
                return self._pairs_out(codec, value, level) if isinstance(value, dict) else value
            case TupleCodec():
                return self._tuple_out(codec, value, level) if isinstance(value, list) else value
            case TextCodec():
                return _to_text(codec, value)
            case ValuesCodec():
                sought = freeze(value)
                return next((sent for sent, original in codec.values if freeze(original) == sought), value)
            case UnionCodec() | ChoiceCodec():
                return self._alternative(codec, value, level)
            case BoxCodec(key, held, tag):
                head = {} if tag is None else {tag.key: tag.value}
                return {**head, key: self.encode(held, value, level + 1)}
            case PlanCodec():
                return self.encode(codec.codec, to_uniform(value, codec.raw), level)
            case NamesCodec():
                names = {ours: sent for sent, ours in codec.keys.items()}
                renamer = KeyRenamer(self._schema, lambda name: names.get(name, name))
                return renamer.converted(value, [self._schema])
            case RefCodec():
                return value  # cyclic
            case _:
                assert_never(codec)

    def _pairs_out(self, codec: PairsCodec, value: dict[str, Json], level: int) -> Json:
        pairs = ({"key": key, "value": item} for key, item in value.items())
        return [self.encode(entry_codec(codec, pair), pair, level + 1) for pair in pairs]

    def _tuple_out(self, codec: TupleCodec, value: list[Json], level: int) -> Json:
        result: dict[str, Json] = dict(zip(codec.keys, value, strict=False))
        if len(value) > len(codec.keys):
            if codec.more is None:
                raise Inexpressible("the array has more places than the target was told of")
            result[codec.more] = value[len(codec.keys) :]
        return self.encode(codec.item, result, level + 1)

    def _alternative(self, codec: UnionCodec | ChoiceCodec, value: Json, level: int) -> Json:
        """Encode a value as the first alternative that can express it; objects and lists once each, failures included."""
        known = self._written.get((id(codec), id(value)))
        if known is None:
            result = (
                self._of_union(codec, value, level) if isinstance(codec, UnionCodec) else self._of_choice(codec, value, level)
            )
            known = codec, value, list(islice(result, 1))
            if isinstance(value, dict | list):
                self._written[id(codec), id(value)] = known
        if not known[2]:
            raise Inexpressible("no alternative of the union has words for it")
        return known[2][0]

    def _of_union(self, codec: UnionCodec, value: Json, level: int) -> Iterator[Json]:
        """Yield the encodings of a value by the alternatives that decode to it again."""
        for item in codec.of:
            for sent in self._encode_alternative(item.codec, item.when, value, level):
                if equal(self.decode(codec, sent, level), value):
                    yield sent

    def _of_choice(self, codec: ChoiceCodec, value: Json, level: int) -> Iterator[Json]:
        for label, item in codec.of.items():
            if item.key is None:
                if value is None:
                    yield {"choice": label}
                continue
            for sent in self._encode_alternative(item.codec, item.when, value, level):
                if equal(self.decode(item.codec, sent, level), value):
                    yield {"choice": label, item.key: sent}

    def _encode_alternative(self, codec: Codec, when: Json, value: Json, level: int) -> Iterator[Json]:
        """Yield a value encoded by one alternative, if the alternative accepts the result."""
        try:
            sent = self.encode(codec, value, level + 1)
        except Inexpressible:
            return
        if self._definitions.accepts(when, sent):
            yield sent

    def _object_out(self, codec: ObjectCodec, value: dict[str, Json], level: int) -> Json:
        members, more, tag = codec.members, codec.more, codec.tag
        sent_as = {sent if member.key is None else member.key: sent for sent, member in members.items()}
        result: dict[str, Json] = {} if tag is None else {tag.key: tag.value}
        extra: dict[str, Json] = {}
        for ours, item in value.items():
            sent = sent_as.get(ours)
            if more is not None and ours not in more.declared:
                extra[ours] = item
            elif sent is None:
                stands_for = members.get(ours.rstrip("_"))
                escaped = stands_for is not None and stands_for.key is not None  # the name already stands for another key
                result[f"{ours}_" if escaped else ours] = self.encode(other_codec(codec, ours), item, level + 1)
            elif item is not None or not members[sent].missing:
                result[sent] = self._member_out(ours, members[sent], item, level)
        for sent, member in members.items():
            if member.absent is True and sent not in result:
                result[sent] = None
        if more is not None and (extra or more.asked):
            result[more.at] = self.encode(more.codec, extra, level + 1)
        return result

    def _member_out(self, ours: str, member: Member, item: Json, level: int) -> Json:
        """Encode the value of a declared property."""
        if item is None and member.unsaid:
            raise Inexpressible(f"null at {dumps(ours, indent=False)} cannot be told from leaving it out")
        word = member.null
        if item is None and word is not None:
            return word
        if word is not None and isinstance(item, str) and wrapped(item, word) is not None:
            return f"<{item}>"
        sent = self.encode(member.codec, item, level + 1)
        if sent is None and member.absent:
            raise Inexpressible(f"null at {dumps(ours, indent=False)} means that it is left out")
        return sent


def _shape_of(codec: SomeCodec) -> AbstractSet[str]:
    """Return the types that a codec reads and produces, or none if they depend on the value."""
    match codec:
        case ObjectCodec() | ChoiceCodec() | BoxCodec():
            return {"object"}
        case ArrayCodec() | PlanCodec():
            return {"array"}
        case PairsCodec() | TupleCodec():
            return {"array", "object"}
        case _:
            return frozenset()


def other_codec(codec: ObjectCodec, name: str) -> Codec:
    """Return the codec of an undeclared property, which may depend on its name."""
    if codec.declared is not None and name in codec.declared:
        return None
    result = entry_for(name, codec.by)
    return codec.other if result is None else result.codec


def entry_codec(codec: PairsCodec, pair: Json) -> Codec:
    """Return the codec of a map's entry, which may depend on its key."""
    if codec.by and isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
        result = entry_for(key, codec.by)
        return codec.item if result is None else result.codec
    return codec.item


def from_text(codec: TextCodec, text: str) -> Json:
    """Parse a value from JSON text; other texts, and values of other types, are returned as the string itself."""
    kinds = codec.kinds
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return text
    if kinds is None or kind_of(value) in kinds or (kind_of(value) == "integer" and "number" in kinds):
        return value
    return text if "string" in kinds else value


class Inexpressible(ValueError):  # noqa: N818  -- this names the value, not the error
    """A value that a target cannot express; the losses of the lowering show the part of the schema."""


def _to_text(codec: TextCodec, value: Json) -> str:
    """Return the text of a value such that reading restores it: a string unchanged if that is unambiguous."""
    if isinstance(value, str) and (read := from_text(codec, value)).__class__ is str and read == value:
        return value
    text = dumps(value, indent=False)
    if not equal(from_text(codec, text), value):
        raise Inexpressible("its JSON text would be read as another value")
    return text
