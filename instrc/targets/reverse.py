"""The way back from an answer to our names and shapes, as plain JSON.

A *codec* is `None` (the value is the same on both sides) or an object whose `as` says what is undone:

* `object`: `keys` by sent name: `key` is our name, `codec` its value's, `absent` says that null means left out
  (`also`: as leaving out does), `null` is the word for a real null, `missing` says that a missing key means null,
  `unsaid` that null cannot be said; `more` is the array that holds undeclared properties;
  `other` is the codec of undeclared properties, `by` those of the ones that match a pattern;
  `tag` is a key that only tells alternatives apart.
* `array`: `items` and, by position, `prefix`.
* `pairs`: an array of `{key, value}` objects is an object; `by` has the codecs of entries by the patterns of their keys.
   `tuple`: an object is an array.
* `text`: JSON written into a string; `kinds`, where given, are the types it can be.
  With `null`, there and beside `ref`, null is sent as itself.
* `values`: literals by what is sent for them; `fold` says that case may differ.
* `union`: the first alternative of `of` whose `when` (a schema of the payload) accepts the answer.
* `choice`: the key `choice` names the alternative that another key holds.
* `box`: the one key of an object, a `tag` aside.  `ref`: a recursive definition of the map's `codecs`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from instrc.jsonvalue import Json

Codec: TypeAlias = dict[str, Any] | None

VERSION = 1

NULL_WORD = "<null>"
"""What says null where null itself says that a property is left out."""


def wrapped(text: str, word: str) -> int | None:
    """Return how many pairs of angle brackets stand around a word; `None` if the text is something else."""
    extra, odd = divmod(len(text) - len(word), 2)
    if odd or extra < 0 or text != "<" * extra + word + ">" * extra:
        return None
    return extra


def array_codec(prefix: list[Codec], items: Codec) -> Codec:
    """Return the codec of an array, `None` if nothing in it changes."""
    while prefix and prefix[-1] == items:
        prefix = prefix[:-1]
    if items is None and not any(prefix):
        return None
    codec: dict[str, Any] = {"as": "array"}
    if prefix:
        codec["prefix"] = prefix
    if items is not None:
        codec["items"] = items
    return codec


def children(codec: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return the places (container, key) of the codecs directly inside a codec."""
    places: list[tuple[Any, Any]] = []
    match codec["as"]:
        case "object":
            places += [(entry, "codec") for entry in codec.get("keys", {}).values()]
            places += [(codec[part], "codec") for part in ("more",) if part in codec]
            places.append((codec, "other"))
            places += [(entry, "codec") for entry in codec.get("by", ())]
        case "array":
            places += [(codec.get("prefix", []), index) for index in range(len(codec.get("prefix", [])))]
            places.append((codec, "items"))
        case "pairs" | "tuple":
            places.append((codec, "item"))
            places += [(entry, "codec") for entry in codec.get("by", ())]
        case "union":
            places += [(branch, "codec") for branch in codec["of"]]
        case "choice":
            places += [(entry, "codec") for entry in codec["of"].values()]
        case "box":
            places.append((codec, "codec"))
        case _:
            pass
    return places


def _get(place: tuple[Any, Any]) -> Codec:
    container, key = place
    found: Codec = container.get(key) if isinstance(container, dict) else container[key]
    return found


def prune(codec: Codec, definitions: dict[str, Codec]) -> tuple[Codec, dict[str, Codec]]:
    """Drop references to definitions in which nothing changes; return what is left of the codec and of the definitions."""
    trivial = set(definitions)
    while True:
        busy = {name for name in trivial if _does_something(definitions[name], trivial)}
        if not busy:
            break
        trivial -= busy
    used: dict[str, Codec] = {}
    result = _without(codec, trivial)
    pending = [name for name in definitions if name not in trivial]
    for name in pending:
        used[name] = _without(definitions[name], trivial)
    return result, used


def _does_something(codec: Codec, trivial: set[str]) -> bool:
    """Say whether a codec changes anything if the definitions named `trivial` change nothing."""
    stack = [codec]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        kind = node["as"]
        if kind == "ref":
            if node["name"] not in trivial:
                return True
        elif kind == "object":
            if "more" in node or "tag" in node:
                return True
            for entry in node.get("keys", {}).values():
                if entry.keys() - {"codec"}:
                    return True
        elif kind not in {"array", "union"}:
            return True
        stack.extend(_get(place) for place in children(node))
    return False


def _without(codec: Codec, trivial: set[str]) -> Codec:
    """Return a codec in which everything that changes nothing is gone."""
    if codec is None or not _does_something(codec, trivial):
        return None
    copy: dict[str, Json] = dict(codec)
    match copy["as"]:
        case "object":
            keys = {}
            for sent, entry in copy.get("keys", {}).items():
                entry = {**entry, "codec": _without(entry.get("codec"), trivial)}  # noqa: PLW2901  -- a pruned copy of it
                if entry["codec"] is None:
                    del entry["codec"]
                keys[sent] = entry
            copy["keys"] = keys
            if "more" in copy:
                copy["more"] = {**copy["more"], "codec": _without(copy["more"].get("codec"), trivial)}
            if "other" in copy:
                copy["other"] = _without(copy["other"], trivial)
            if "by" in copy:
                copy["by"] = [{**entry, "codec": _without(entry.get("codec"), trivial)} for entry in copy["by"]]
        case "array":
            if "prefix" in copy:
                copy["prefix"] = [_without(item, trivial) for item in copy["prefix"]]
            if "items" in copy:
                copy["items"] = _without(copy["items"], trivial)
        case "pairs" | "tuple":
            copy["item"] = _without(copy.get("item"), trivial)
            if "by" in copy:
                copy["by"] = [{**entry, "codec": _without(entry.get("codec"), trivial)} for entry in copy["by"]]
        case "union":
            copy["of"] = [{**branch, "codec": _without(branch.get("codec"), trivial)} for branch in copy["of"]]
        case "choice":
            copy["of"] = {label: {**entry, "codec": _without(entry.get("codec"), trivial)} for label, entry in copy["of"].items()}
        case "box":
            copy["codec"] = _without(copy.get("codec"), trivial)
        case _:
            pass
    return copy
