"""Undo a lowering on a value: the interpreter of codecs, from the target's words to ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import assert_never

from instrc.codecs.acceptance import DefinitionsValidator
from instrc.codecs.patterns import entry_for
from instrc.codecs.planned import to_typed
from instrc.codecs.reading import codecs_of
from instrc.codecs.rename_keys import KeyRenamer, folded
from instrc.ir.codec import (
    Alternative,
    ArrayCodec,
    BoxCodec,
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
    TupleCodec,
    UnionCodec,
    ValuesCodec,
    wrapped,
)
from instrc.jsontext import loads
from instrc.jsonvalue import Json, JsonObject, freeze, kind_of
from instrc.limits.payloads import CODEC_LEVELS, CODECS_FOLLOWED


class Decoder(ABC):
    """The codecs of one map, one way: from an answer; a `Transcoder` knows the other way too."""

    def __init__(self, record: JsonObject, *, fold: bool = True, texts: bool = False) -> None:
        """`fold` repairs the case of listed strings where a codec allows it; `texts` reads text in place of a container."""
        codecs = codecs_of(record)
        self.codec: Codec = codecs.root
        self._codecs = codecs.named
        self._definitions = DefinitionsValidator(record.get("definitions"))
        self._schema: Json = record.get("schema", True)
        self._fold = fold
        self._texts = texts
        self._read: dict[tuple[int, int], tuple[Codec, Json, Json]] = {}
        """Objects and lists that were read as unions, with what they stand for: to try each alternative of unions in unions
        would double the work at each level."""

    def read(self, answer: Json) -> Json:
        """Return what an answer stands for."""
        return self.decode(self.codec, answer)

    def decode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Return what a value of the payload stands for; what does not look like one is left as it is."""
        codec = self._dereference(codec, value)
        if codec is None or value is None or level > CODEC_LEVELS:
            return value
        if self._texts and isinstance(value, str) and _is_container(codec):
            value = _container(value)
        match codec:
            case ObjectCodec():
                return self._object(codec, value, level) if isinstance(value, dict) else value
            case ArrayCodec():
                return self._array(codec, value, level) if isinstance(value, list) else value
            case PairsCodec():
                return self._pairs(codec, value, level) if isinstance(value, list) else value
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
                return KeyRenamer(self._schema, back=dict(codec.keys), fold=fold).converted(value, [self._schema])
            case RefCodec():
                return value  # it leads to itself
            case _:
                assert_never(codec)

    def _dereference(self, codec: Codec, value: Json) -> Codec:
        """Return what a reference to a codec stands for: nothing for a null that is sent as itself."""
        for _ in range(CODECS_FOLLOWED):
            if not isinstance(codec, RefCodec):
                return codec
            codec = None if value is None and codec.null else self._codecs.get(codec.name)
        return None

    def _array(self, codec: ArrayCodec, value: list[Json], level: int) -> Json:
        known = len(codec.prefix)
        return [
            self.decode(codec.prefix[index] if index < known else codec.items, item, level + 1)
            for index, item in enumerate(value)
        ]

    def _pairs(self, codec: PairsCodec, value: list[Json], level: int) -> Json:
        entries = [self.decode(entry_codec(codec, item), item, level + 1) for item in value]
        found: JsonObject = {}
        for item in entries:
            key = item.get("key") if isinstance(item, dict) else None
            if not isinstance(item, dict) or not isinstance(key, str) or "value" not in item:
                return value
            found[key] = item["value"]
        return found

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
                sent = own[sent]  # noqa: PLW2901  -- read on as if it had been sent so
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
            if isinstance(extra, dict):
                result.update({key: item for key, item in extra.items() if key not in set(more.declared)})
        return result

    def _member(self, sent: str, member: Member, item: Json, result: dict[str, Json], level: int) -> None:
        """Put what a declared property stands for into the result."""
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
        result: list[Json] = []
        for key in codec.keys:
            if key not in found:
                return result
            result.append(found[key])
        following = None if codec.more is None else found.get(codec.more)
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
        for each in codec.of:  # the case of a value may be all that is wrong
            if each.codec is not None and self._definitions.accepts(each.when, self.normal(each.codec, value, level + 1)):
                return self.decode(each.codec, value, level + 1)
        kind = kind_of(value)
        likely: Alternative | None = next(
            (each for each in codec.of if each.codec is not None and self._is_of(kind, each.when)), None
        )
        return value if likely is None else self.decode(likely.codec, value, level + 1)

    def _choice(self, codec: ChoiceCodec, value: dict[str, Json], level: int) -> Json:
        label = value.get("choice")
        named = codec.of.get(label) if isinstance(label, str) else None
        if named is not None and named.key is None:
            return None
        for choice in ([] if named is None else [named], codec.of.values()):
            for each in choice:
                if each.key is not None and each.key in value:
                    return self.decode(each.codec, value[each.key], level + 1)
        return value

    @abstractmethod
    def normal(self, codec: Codec, value: Json, level: int) -> Json:
        """Return a value as it would be sent if nothing but the case of words were wrong with it."""

    def _covers(self, schema: Json, value: Json) -> bool:
        """Say whether a schema declares all keys of an object."""
        schema = self._definitions.dereferenced(schema)
        declared = schema.get("properties") if isinstance(schema, dict) else None
        return not isinstance(value, dict) or not isinstance(declared, dict) or value.keys() <= declared.keys()

    def _is_of(self, kind: str, schema: Json) -> bool:
        """Say whether a schema asks for values of one type."""
        schema = self._definitions.dereferenced(schema)
        return isinstance(schema, dict) and schema.get("type") == kind


def other_codec(codec: ObjectCodec, name: str) -> Codec:
    """Return the codec of a property that is not declared, which may hang on its name."""
    if codec.declared is not None and name in codec.declared:
        return None
    found = entry_for(name, codec.by)
    return codec.other if found is None else found.codec


def entry_codec(codec: PairsCodec, pair: Json) -> Codec:
    """Return the codec of an entry of a map, which may hang on its key."""
    if codec.by and isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
        found = entry_for(key, codec.by)
        return codec.item if found is None else found.codec
    return codec.item


def from_text(codec: TextCodec, text: str) -> Json:
    """Read a value written as JSON text; text that is none, or of another type than may be, is the string itself."""
    kinds = codec.kinds
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return text
    if kinds is None or kind_of(value) in kinds or (kind_of(value) == "integer" and "number" in kinds):
        return value
    return text if "string" in kinds else value


def _is_container(codec: SomeCodec) -> bool:
    """Say whether a codec is of values that are no text, so that a text in their place may be one written as JSON twice."""
    return isinstance(codec, ObjectCodec | ArrayCodec | PairsCodec | TupleCodec | ChoiceCodec | BoxCodec | PlanCodec)


def _container(text: str) -> Json:
    """Return the object or list that a text holds as JSON; the text itself if it holds none."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text
