"""Undo a lowering on a value: the interpreter of codecs, from the target's words to ours."""

from __future__ import annotations

from typing import Any

from instrc.codecs.carry import Carrier, folded
from instrc.codecs.judge import Judge
from instrc.codecs.patterns import matches
from instrc.codecs.planned import to_typed
from instrc.codecs.reverse import Codec, wrapped
from instrc.jsontext import loads
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze, kind_of

DEEPEST = 200
_MOST_FOLLOWED = 50
"""References to references that are followed."""
_CONTAINERS = frozenset({"object", "array", "pairs", "tuple", "choice", "box", "plan"})
"""Codecs of values that are no text, so that a text in their place may be one that was written as JSON twice."""


class Decoder:
    """The codecs of one map, one way: from an answer."""

    def __init__(self, record: Json, *, fold: bool = True, texts: bool = False) -> None:
        """`fold` mends the case of listed strings where a codec allows it; `texts` reads text where a container should stand."""
        self._codecs: dict[str, Codec] = record.get("codecs") or {}
        self._judge = Judge(record.get("definitions"))
        self._schema: Json = record.get("schema", True)
        self._fold = fold
        self._texts = texts
        self._read: dict[tuple[int, int], tuple[Codec, Json, Json]] = {}
        """Objects and lists that were read as unions, with what they stand for: to try each alternative of unions in unions
        would double the work at each level."""

    def decode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Return what a value of the payload stands for; what does not look like one is left as it is."""
        codec = self._seen_through(codec, value)
        if codec is None or value is None or level > DEEPEST:
            return value
        if self._texts and isinstance(value, str) and codec["as"] in _CONTAINERS:
            value = _container(value)
        match codec["as"]:
            case "object":
                return self._object(codec, value, level) if isinstance(value, dict) else value
            case "array" if isinstance(value, list):
                prefix = codec.get("prefix", [])
                return [
                    self.decode(prefix[index] if index < len(prefix) else codec.get("items"), item, level + 1)
                    for index, item in enumerate(value)
                ]
            case "pairs" if isinstance(value, list):
                entries = [self.decode(entry_codec(codec, item), item, level + 1) for item in value]
                if all(isinstance(item, dict) and isinstance(item.get("key"), str) and "value" in item for item in entries):
                    return {item["key"]: item["value"] for item in entries}
                return value
            case "tuple" if isinstance(value, dict):
                return self._tuple(codec, value, level)
            case "text" if isinstance(value, str):
                return from_text(codec, value)
            case "values":
                return self._value(codec, value)
            case "union":
                return self._union(codec, value, level)
            case "choice" if isinstance(value, dict):
                return self._choice(codec, value, level)
            case "box":
                if isinstance(value, dict) and codec["key"] in value:
                    return self.decode(codec.get("codec"), value[codec["key"]], level + 1)
                return value
            case "plan":
                return to_typed(self.decode(codec.get("codec"), value, level), codec["raw"])
            case "names":
                back = codec.get("keys") or {}
                return Carrier(self._schema, back=back, fold=self._fold and bool(codec.get("fold"))).carry(value, [self._schema])
            case _:
                return value

    def _seen_through(self, codec: Codec, value: Json) -> Codec:
        """Return what a reference to a codec stands for: nothing for a null that is sent as itself."""
        for _ in range(_MOST_FOLLOWED):
            if codec is None or codec["as"] != "ref":
                return codec
            codec = None if value is None and codec.get("null") else self._codecs.get(codec["name"])
        return None

    def _object(self, codec: dict[str, Any], value: dict[str, Json], level: int) -> Json:
        keys, more, tag = codec.get("keys") or {}, codec.get("more"), codec.get("tag")
        own = {entry["key"]: sent for sent, entry in keys.items() if "key" in entry and entry["key"] not in keys}
        result: dict[str, Json] = {}
        for sent, item in value.items():
            if tag is not None and sent == tag["key"]:
                continue
            if more is not None and sent == more["at"]:
                continue
            entry = keys.get(sent)
            if entry is None and sent in own:  # a model that knows our name for it
                if own[sent] in value:
                    continue
                entry = keys[own[sent]]
                sent = own[sent]  # noqa: PLW2901  -- read on as if it had been sent so
            if entry is None:
                escaped = sent[-1:] == "_" and "key" in keys.get(sent.rstrip("_"), ())
                ours = sent[:-1] if escaped else sent
                result[ours] = self.decode(other_codec(codec, ours), item, level + 1)
                continue
            if item is None and entry.get("absent"):
                continue
            word = entry.get("null")
            if word is not None and isinstance(item, str) and (depth := wrapped(item, word)) is not None:
                result[entry.get("key", sent)] = None if depth == 0 else item[1:-1]
                continue
            result[entry.get("key", sent)] = self.decode(entry.get("codec"), item, level + 1)
        for sent, entry in keys.items():
            if entry.get("missing") and sent not in value:
                result[entry.get("key", sent)] = None
        if more is not None:
            extra = self.decode(more.get("codec"), value.get(more["at"]), level + 1)
            if isinstance(extra, dict):
                declared = set(more.get("declared", ()))
                result.update({key: item for key, item in extra.items() if key not in declared})
        return result

    def _tuple(self, codec: dict[str, Any], value: dict[str, Json], level: int) -> Json:
        found = self.decode(codec.get("item"), value, level + 1)
        if not isinstance(found, dict):
            return value
        result: list[Json] = []
        for key in codec["keys"]:
            if key not in found:
                return result
            result.append(found[key])
        following = found.get(codec["more"]) if "more" in codec else None
        return [*result, *following] if isinstance(following, list) else result

    def _value(self, codec: dict[str, Any], value: Json) -> Json:
        sought = freeze(value)
        for sent, meant in codec["values"]:
            if freeze(sent) == sought:
                return meant
        if self._fold and isinstance(value, str):
            near = folded(value, [sent for sent, _ in codec["values"] if isinstance(sent, str)])
            return next((meant for sent, meant in codec["values"] if sent == near), value)
        return value

    def _union(self, codec: dict[str, Any], value: Json, level: int) -> Json:
        known = self._read.get((id(codec), id(value)))
        if known is not None:
            return known[2]
        result = self._chosen(codec, value, level)
        if isinstance(value, dict | list):
            self._read[id(codec), id(value)] = codec, value, result  # both are kept, so that no other comes to their place
        return result

    def _chosen(self, codec: dict[str, Any], value: Json, level: int) -> Json:
        fitting = [branch for branch in codec["of"] if self._judge.accepts(branch["when"], value)]
        if fitting:
            chosen = next((branch for branch in fitting if self._covers(branch["when"], value)), fitting[0])
            return self.decode(chosen.get("codec"), value, level + 1)
        for branch in codec["of"]:  # the case of a value may be all that is wrong
            inner = branch.get("codec")
            if inner is None:
                continue
            if self._judge.accepts(branch["when"], self.normal(inner, value, level + 1)):
                return self.decode(inner, value, level + 1)
        kind = kind_of(value)
        likely = next((branch for branch in codec["of"] if branch.get("codec") and self._is_of(kind, branch["when"])), None)
        return self.decode(likely.get("codec"), value, level + 1) if likely else value

    def _choice(self, codec: dict[str, Any], value: dict[str, Json], level: int) -> Json:
        of = codec["of"]
        named = of.get(value.get("choice")) if isinstance(value.get("choice"), str) else None
        if named is not None and named.get("null"):
            return None
        if named is not None and named["key"] in value:
            return self.decode(named.get("codec"), value[named["key"]], level + 1)
        for entry in of.values():
            if entry.get("key") in value:
                return self.decode(entry.get("codec"), value[entry["key"]], level + 1)
        return value

    def normal(self, codec: Codec, value: Json, level: int) -> Json:  # noqa: ARG002  -- for those who know the other way too
        """Return a value as it would be sent if nothing but the case of words were wrong with it."""
        return value

    def _covers(self, schema: Json, value: Json) -> bool:
        """Say whether a schema declares all keys of an object, which matters where objects cannot be closed."""
        schema = self._judge.seen_through(schema)
        declared = schema.get("properties") if isinstance(schema, dict) else None
        return not isinstance(value, dict) or not isinstance(declared, dict) or value.keys() <= declared.keys()

    def _is_of(self, kind: str, schema: Json) -> bool:
        """Say whether a schema asks for values of one type."""
        schema = self._judge.seen_through(schema)
        return isinstance(schema, dict) and schema.get("type") == kind


def other_codec(codec: dict[str, Any], name: str) -> Codec:
    """Return the codec of a property that is not declared, which may hang on its name."""
    if name in codec.get("declared", ()):
        return None
    found = next((entry for entry in codec.get("by", ()) if matches(entry["pattern"], name)), None)
    return codec.get("other") if found is None else found.get("codec")


def entry_codec(codec: dict[str, Any], pair: Json) -> Codec:
    """Return the codec of an entry of a map, which may hang on its key."""
    found: Codec = codec.get("item")
    if "by" in codec and isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
        for entry in codec["by"]:
            if entry["pattern"] is None or matches(entry["pattern"], key):
                return entry.get("codec")  # type: ignore[no-any-return]  # JSON
    return found


def from_text(codec: dict[str, Any], text: str) -> Json:
    """Read a value written as JSON text; text that is none, or of another type than may be, is the string itself."""
    kinds = codec.get("kinds")
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return text
    if kinds is None or kind_of(value) in kinds or (kind_of(value) == "integer" and "number" in kinds):
        return value
    return text if "string" in kinds else value


def _container(text: str) -> Json:
    """Return the object or list that a text holds as JSON; the text itself if it holds none."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text
