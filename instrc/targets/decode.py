"""Undo a lowering on a value, and do it: the interpreter of codecs."""

from __future__ import annotations

from typing import Any

from instrc.jsonvalue import Json, dumps, equal, freeze, loads
from instrc.targets.carry import Carrier, folded
from instrc.targets.forms import kind_of
from instrc.targets.judge import accepts
from instrc.targets.reverse import Codec, wrapped
from instrc.targets.rewrites.meet import matches

_DEEPEST = 200


class Inexpressible(ValueError):  # noqa: N818  -- what the value is, not what went wrong
    """A value that a target has no words for; the losses of the lowering say which part of the schema that is."""


class Interpreter:
    """The codecs of one map."""

    def __init__(self, record: Json, *, fold: bool = True) -> None:
        self._codecs: dict[str, Codec] = record.get("codecs") or {}
        self._definitions: Json = record.get("definitions")
        self._schema: Json = record.get("schema", True)
        self._fold = fold

    # from the target's words to ours

    def decode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Return what a value of the payload stands for; what does not look like one is left as it is."""
        if codec is None or value is None or level > _DEEPEST:
            return value
        match codec["as"]:
            case "ref":
                return self.decode(self._codecs.get(codec["name"]), value, level + 1)
            case "object":
                return self._object(codec, value, level) if isinstance(value, dict) else value
            case "array" if isinstance(value, list):
                prefix = codec.get("prefix", [])
                return [
                    self.decode(prefix[index] if index < len(prefix) else codec.get("items"), item, level + 1)
                    for index, item in enumerate(value)
                ]
            case "pairs" if isinstance(value, list):
                entries = [self.decode(_entry(codec, item), item, level + 1) for item in value]
                if all(isinstance(item, dict) and isinstance(item.get("key"), str) and "value" in item for item in entries):
                    return {item["key"]: item["value"] for item in entries}
                return value
            case "tuple" if isinstance(value, dict):
                return self._tuple(codec, value, level)
            case "text" if isinstance(value, str):
                return _from_text(codec, value)
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
            case "names":
                back = codec.get("keys") or {}
                return Carrier(self._schema, back=back, fold=self._fold and bool(codec.get("fold"))).carry(value, [self._schema])
            case _:
                return value

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
                other = None if sent in codec.get("declared", ()) else codec.get("other")
                escaped = sent[-1:] == "_" and "key" in keys.get(sent.rstrip("_"), ())
                result[sent[:-1] if escaped else sent] = self.decode(other, item, level + 1)
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
        if codec.get("fold") and isinstance(value, str):
            near = folded(value, [sent for sent, _ in codec["values"] if isinstance(sent, str)])
            return next((meant for sent, meant in codec["values"] if sent == near), value)
        return value

    def _union(self, codec: dict[str, Any], value: Json, level: int) -> Json:
        fitting = [branch for branch in codec["of"] if accepts(branch["when"], value, self._definitions)]
        if fitting:
            chosen = next((branch for branch in fitting if _covers(branch["when"], value)), fitting[0])
            return self.decode(chosen.get("codec"), value, level + 1)
        for branch in codec["of"]:  # the case of a value may be all that is wrong
            inner = branch.get("codec")
            if inner is None:
                continue
            try:
                again = self.encode(inner, self.decode(inner, value, level + 1), level + 1)
            except Inexpressible:
                continue
            if accepts(branch["when"], again, self._definitions):
                return self.decode(inner, value, level + 1)
        kind = kind_of(value)
        likely = next((branch for branch in codec["of"] if branch.get("codec") and kind == branch["when"].get("type")), None)
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

    # from our words to the target's

    def encode(self, codec: Codec, value: Json, level: int = 0) -> Json:
        """Return what stands for a value in the payload; `Inexpressible` if nothing does."""
        if codec is None or level > _DEEPEST:
            return value
        match codec["as"]:
            case "ref":
                return self.encode(self._codecs.get(codec["name"]), value, level + 1)
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
                return [self.encode(_entry(codec, pair), pair, level + 1) for pair in pairs]
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
                return None if value is None and codec.get("null") else _to_text(codec, value)
            case "values":
                sought = freeze(value)
                for sent, meant in codec["values"]:
                    if freeze(meant) == sought:
                        return sent
                return value
            case "union":
                for branch in codec["of"]:
                    try:
                        sent = self.encode(branch.get("codec"), value, level + 1)
                    except Inexpressible:
                        continue
                    if accepts(branch["when"], sent, self._definitions) and equal(self.decode(codec, sent, level), value):
                        return sent
                message = "no alternative of the union has words for it"
                raise Inexpressible(message)
            case "choice":
                for label, entry in codec["of"].items():
                    if entry.get("null"):
                        if value is None:
                            return {"choice": label}
                        continue
                    try:
                        sent = self.encode(entry.get("codec"), value, level + 1)
                    except Inexpressible:
                        continue
                    if accepts(entry["when"], sent, self._definitions) and equal(
                        self.decode(entry.get("codec"), sent, level), value
                    ):
                        return {"choice": label, entry["key"]: sent}
                message = "no alternative of the union has words for it"
                raise Inexpressible(message)
            case "box":
                tag = codec.get("tag")
                head = {} if tag is None else {tag["key"]: tag["value"]}
                return {**head, codec["key"]: self.encode(codec.get("codec"), value, level + 1)}
            case "names":
                names = {ours: sent for sent, ours in (codec.get("keys") or {}).items()}
                return Carrier(self._schema, lambda name: names.get(name, name)).carry(value, [self._schema])
            case _:
                return value

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
                other = None if ours in codec.get("declared", ()) else codec.get("other")
                escaped = "key" in keys.get(ours.rstrip("_"), ())  # the name stands for another key
                result[f"{ours}_" if escaped else ours] = self.encode(other, item, level + 1)
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


def _covers(schema: dict[str, Any], value: Json) -> bool:
    """Say whether a schema declares all keys of an object, which matters where objects cannot be closed."""
    return not isinstance(value, dict) or "properties" not in schema or value.keys() <= schema["properties"].keys()


def _entry(codec: dict[str, Any], pair: Json) -> Codec:
    """Return the codec of an entry of a map, which may hang on its key."""
    found: Codec = codec.get("item")
    if "by" in codec and isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
        for entry in codec["by"]:
            if entry["pattern"] is None or matches(entry["pattern"], key):
                return entry.get("codec")  # type: ignore[no-any-return]  # JSON
    return found


def _from_text(codec: dict[str, Any], text: str) -> Json:
    """Read a value written as JSON text; text that is none, or of another type than may be, is the string itself."""
    kinds = codec.get("kinds")
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return text
    if kinds is None or kind_of(value) in kinds or (kind_of(value) == "integer" and "number" in kinds):
        return value
    return text if "string" in kinds else value


def _to_text(codec: dict[str, Any], value: Json) -> str:
    """Write a value so that reading it gives it back: a string as it is if that is unmistakable."""
    if isinstance(value, str) and (read := _from_text(codec, value)).__class__ is str and read == value:
        return value
    text = dumps(value, indent=False)
    if not equal(_from_text(codec, text), value):
        message = "its JSON text would be read as another value"
        raise Inexpressible(message)
    return text
