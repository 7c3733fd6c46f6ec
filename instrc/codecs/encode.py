"""Write a value in a target's words, and read it back: the interpreter of codecs, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from instrc.arguments import text_or_none
from instrc.codecs.carry import Carrier
from instrc.codecs.decode import DEEPEST, Decoder, entry_codec, from_text, other_codec
from instrc.codecs.maps import record_of, records_in
from instrc.codecs.planned import to_uniform
from instrc.codecs.reverse import Codec, wrapped
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import equal, freeze
from instrc.problems.answers import InvalidAnswer
from instrc.problems.problem import CompileError
from instrc.problems.targets import UnreadableMap
from instrc.schema.validation import validate


class Inexpressible(ValueError):  # noqa: N818  -- what the value is, not what went wrong
    """A value that a target has no words for; the losses of the lowering say which part of the schema that is."""


class Interpreter(Decoder):
    """The codecs of one map, both ways."""

    def __init__(self, record: Json, *, fold: bool = True, texts: bool = False) -> None:
        """Take a map, as a `Decoder` does."""
        super().__init__(record, fold=fold, texts=texts)
        self._written: dict[tuple[int, int], tuple[Codec, Json, list[Json]]] = {}
        """Objects and lists that were written as unions, with the words for them, if any."""

    def normal(self, codec: Codec, value: Json, level: int) -> Json:
        """Return a value as it would be sent if nothing but the case of words were wrong with it."""
        try:
            return self.encode(codec, self.decode(codec, value, level), level)
        except Inexpressible:
            return value

    def encode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Return what stands for a value in the payload; `Inexpressible` if nothing does."""
        codec = self._seen_through(codec, value)
        if codec is None or level > DEEPEST or (value is None and codec.get("null")):
            return value
        match codec["as"]:
            case "object" if isinstance(value, dict):
                return self._object_out(codec, value, level)
            case "array" if isinstance(value, list):
                prefix = codec.get("prefix", [])
                return [
                    self.encode(prefix[index] if index < len(prefix) else codec.get("items"), item, level + 1)
                    for index, item in enumerate(value)
                ]
            case "pairs" if isinstance(value, dict):
                pairs = ({"key": key, "value": item} for key, item in value.items())
                return [self.encode(entry_codec(codec, pair), pair, level + 1) for pair in pairs]
            case "tuple" if isinstance(value, list):
                keys = codec["keys"]
                found: dict[str, Json] = dict(zip(keys, value, strict=False))
                if len(value) > len(keys):
                    if "more" not in codec:
                        message = "the array has more places than the target was told of"
                        raise Inexpressible(message)
                    found[codec["more"]] = value[len(keys) :]
                return self.encode(codec.get("item"), found, level + 1)
            case "text":
                return _to_text(codec, value)
            case "values":
                sought = freeze(value)
                for sent, meant in codec["values"]:
                    if freeze(meant) == sought:
                        return sent
                return value
            case "union" | "choice":
                return self._alternative(codec, value, level)
            case "box":
                tag = codec.get("tag")
                head = {} if tag is None else {tag["key"]: tag["value"]}
                return {**head, codec["key"]: self.encode(codec.get("codec"), value, level + 1)}
            case "plan":
                return self.encode(codec.get("codec"), to_uniform(value, codec["raw"]), level)
            case "names":
                names = {ours: sent for sent, ours in (codec.get("keys") or {}).items()}
                return Carrier(self._schema, lambda name: names.get(name, name)).carry(value, [self._schema])
            case _:
                return value

    def _alternative(self, codec: dict[str, Any], value: Json, level: int) -> Json:
        """Write a value as the first alternative that has words for it; objects and lists once each, failures as well."""
        known = self._written.get((id(codec), id(value)))
        if known is None:
            known = codec, value, list(islice(self._alternatives(codec, value, level), 1))
            if isinstance(value, dict | list):
                self._written[id(codec), id(value)] = known
        if not known[2]:
            message = "no alternative of the union has words for it"
            raise Inexpressible(message)
        return known[2][0]

    def _alternatives(self, codec: dict[str, Any], value: Json, level: int) -> Iterator[Json]:
        """Yield what a value is written as, for each alternative by which it comes back."""
        named = codec["as"] == "choice"
        for label, entry in codec["of"].items() if named else enumerate(codec["of"]):
            if entry.get("null"):
                if value is None:
                    yield {"choice": label}
                continue
            try:
                sent = self.encode(entry.get("codec"), value, level + 1)
            except Inexpressible:
                continue
            if not self._judge.accepts(entry["when"], sent):
                continue
            if equal(self.decode(entry.get("codec") if named else codec, sent, level), value):
                yield {"choice": label, entry["key"]: sent} if named else sent

    def _object_out(self, codec: dict[str, Any], value: dict[str, Json], level: int) -> Json:
        keys, more, tag = codec.get("keys") or {}, codec.get("more"), codec.get("tag")
        sent_as = {entry.get("key", sent): sent for sent, entry in keys.items()}
        result: dict[str, Json] = {} if tag is None else {tag["key"]: tag["value"]}
        extra: dict[str, Json] = {}
        for ours, item in value.items():
            if more is not None and ours not in more["declared"]:
                extra[ours] = item
                continue
            sent = sent_as.get(ours)
            if sent is None:
                escaped = "key" in keys.get(ours.rstrip("_"), ())  # the name stands for another key
                result[f"{ours}_" if escaped else ours] = self.encode(other_codec(codec, ours), item, level + 1)
                continue
            entry = keys[sent]
            word = entry.get("null")
            if item is None and entry.get("missing"):
                continue
            if item is None and entry.get("unsaid"):
                message = f"null at {ours!r} cannot be told from leaving it out"
                raise Inexpressible(message)
            if item is None and word is not None:
                result[sent] = word
            elif word is not None and isinstance(item, str) and wrapped(item, word) is not None:
                result[sent] = f"<{item}>"
            else:
                result[sent] = self.encode(entry.get("codec"), item, level + 1)
                if result[sent] is None and entry.get("absent"):
                    message = f"null at {ours!r} means that it is left out"
                    raise Inexpressible(message)
        for sent, entry in keys.items():
            if entry.get("absent") is True and sent not in result:
                result[sent] = None
        if more is not None and (extra or more.get("asked")):
            result[more["at"]] = self.encode(more.get("codec"), extra, level + 1)
        return result


def _to_text(codec: dict[str, Any], value: Json) -> str:
    """Write a value so that reading it gives it back: a string as it is if that is unmistakable."""
    if isinstance(value, str) and (read := from_text(codec, value)).__class__ is str and read == value:
        return value
    text = dumps(value, indent=False)
    if not equal(from_text(codec, text), value):
        message = "its JSON text would be read as another value"
        raise Inexpressible(message)
    return text


def encode(value: Json, map: Json, name: str | None = None, *, check: bool = True) -> Json:  # noqa: A002  -- the word for it everywhere else
    """Return a value as a model would write it for the target: what `lift` turns back into it.

    `name` says which tool, where the map is that of several.
    With `check`, a value that does not satisfy the schema it was lowered from is a `CompileError` with `invalid-answer` problems.

    For examples in prompts, such as `few_shot_examples` of GigaChat.  `Inexpressible` if the target has no words for it.
    """
    records = records_in(map)
    record = record_of(text_or_none("name", name), records)
    if record is None:
        raise CompileError([UnreadableMap(reason=f"it knows no tool `{name}`")])
    if check and (wrong := validate(value, record["schema"])):
        raise CompileError([InvalidAnswer(pointer=each.instance, reason=each.message) for each in wrong])
    return Interpreter(record).encode(record.get("codec"), value)
