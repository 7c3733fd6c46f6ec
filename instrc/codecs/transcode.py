"""Write a value in a target's words, and read it back: codecs carried out, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import assert_never

from instrc.codecs.decode import Decoder, entry_codec, from_text, other_codec
from instrc.codecs.planned import to_uniform
from instrc.codecs.rename_keys import KeyRenamer
from instrc.ir.codec import (
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
    TextCodec,
    TupleCodec,
    UnionCodec,
    ValuesCodec,
    wrapped,
)
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, equal, freeze
from instrc.limits.payloads import CODEC_LEVELS


class Inexpressible(ValueError):  # noqa: N818  -- what the value is, not what went wrong
    """A value that a target has no words for; the losses of the lowering say which part of the schema that is."""


class Transcoder(Decoder):
    """The codecs of one map, both ways."""

    def __init__(self, record: JsonObject, *, fold: bool = True, texts: bool = False) -> None:
        """Take a map, as a `Decoder` does."""
        super().__init__(record, fold=fold, texts=texts)
        self._written: dict[tuple[int, int], tuple[Codec, Json, list[Json]]] = {}
        """Objects and lists that were written as unions, with the words for them, if any."""

    def write(self, value: Json) -> Json:
        """Return what stands for a whole value; `Inexpressible` if nothing does."""
        return self.encode(self.codec, value)

    def normal(self, codec: Codec, value: Json, level: int) -> Json:
        """Return a value as it would be sent if nothing but the case of words were wrong with it."""
        try:
            return self.encode(codec, self.decode(codec, value, level), level)
        except Inexpressible:
            return value

    def encode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Return what stands for a value in the payload; `Inexpressible` if nothing does."""
        codec = self._dereference(codec, value)
        if codec is None or level > CODEC_LEVELS or (value is None and isinstance(codec, TextCodec) and codec.null):
            return value
        match codec:
            case ObjectCodec():
                return self._object_out(codec, value, level) if isinstance(value, dict) else value
            case ArrayCodec():
                return self._array_out(codec, value, level) if isinstance(value, list) else value
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
                return value  # it leads to itself
            case _:
                assert_never(codec)

    def _array_out(self, codec: ArrayCodec, value: list[Json], level: int) -> Json:
        known = len(codec.prefix)
        return [
            self.encode(codec.prefix[index] if index < known else codec.items, item, level + 1)
            for index, item in enumerate(value)
        ]

    def _pairs_out(self, codec: PairsCodec, value: dict[str, Json], level: int) -> Json:
        pairs = ({"key": key, "value": item} for key, item in value.items())
        return [self.encode(entry_codec(codec, pair), pair, level + 1) for pair in pairs]

    def _tuple_out(self, codec: TupleCodec, value: list[Json], level: int) -> Json:
        found: dict[str, Json] = dict(zip(codec.keys, value, strict=False))
        if len(value) > len(codec.keys):
            if codec.more is None:
                message = "the array has more places than the target was told of"
                raise Inexpressible(message)
            found[codec.more] = value[len(codec.keys) :]
        return self.encode(codec.item, found, level + 1)

    def _alternative(self, codec: UnionCodec | ChoiceCodec, value: Json, level: int) -> Json:
        """Write a value as the first alternative that has words for it; objects and lists once each, failures as well."""
        known = self._written.get((id(codec), id(value)))
        if known is None:
            found = self._of_union(codec, value, level) if isinstance(codec, UnionCodec) else self._of_choice(codec, value, level)
            known = codec, value, list(islice(found, 1))
            if isinstance(value, dict | list):
                self._written[id(codec), id(value)] = known
        if not known[2]:
            message = "no alternative of the union has words for it"
            raise Inexpressible(message)
        return known[2][0]

    def _of_union(self, codec: UnionCodec, value: Json, level: int) -> Iterator[Json]:
        """Yield what a value is written as, for each alternative by which it comes back."""
        for each in codec.of:
            for sent in self._encode_alternative(each.codec, each.when, value, level):
                if equal(self.decode(codec, sent, level), value):
                    yield sent

    def _of_choice(self, codec: ChoiceCodec, value: Json, level: int) -> Iterator[Json]:
        for label, each in codec.of.items():
            if each.key is None:
                if value is None:
                    yield {"choice": label}
                continue
            for sent in self._encode_alternative(each.codec, each.when, value, level):
                if equal(self.decode(each.codec, sent, level), value):
                    yield {"choice": label, each.key: sent}

    def _encode_alternative(self, codec: Codec, when: Json, value: Json, level: int) -> Iterator[Json]:
        """Yield a value as one alternative writes it, if the alternative can express it and accepts the result."""
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
                escaped = stands_for is not None and stands_for.key is not None  # the name stands for another key
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
        """Return what stands for the value of a declared property."""
        if item is None and member.unsaid:
            message = f"null at {dumps(ours, indent=False)} cannot be told from leaving it out"
            raise Inexpressible(message)
        word = member.null
        if item is None and word is not None:
            return word
        if word is not None and isinstance(item, str) and wrapped(item, word) is not None:
            return f"<{item}>"
        sent = self.encode(member.codec, item, level + 1)
        if sent is None and member.absent:
            message = f"null at {dumps(ours, indent=False)} means that it is left out"
            raise Inexpressible(message)
        return sent


def _to_text(codec: TextCodec, value: Json) -> str:
    """Write a value so that reading it gives it back: a string as it is if that is unmistakable."""
    if isinstance(value, str) and (read := from_text(codec, value)).__class__ is str and read == value:
        return value
    text = dumps(value, indent=False)
    if not equal(from_text(codec, text), value):
        message = "its JSON text would be read as another value"
        raise Inexpressible(message)
    return text
