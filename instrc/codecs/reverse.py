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
* `union`: the first alternative of `of` whose `when` (a schema of the payload) accepts the answer; it may refer to the map's
  `definitions`.
* `choice`: the key `choice` names the alternative that another key holds.
* `plan`: the uniform spelling of a plan is the typed one; `raw` has, by tool, the arguments that are texts whatever is in them.
* `box`: the one key of an object, a `tag` aside.  `ref`: a recursive definition of the map's `codecs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

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
        case "box" | "plan":
            places.append((codec, "codec"))
        case _:
            pass
    return places


def _get(place: tuple[Any, Any]) -> Codec:
    container, key = place
    found: Codec = container.get(key) if isinstance(container, dict) else container[key]
    return found


def inside(codec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the codecs directly inside a codec."""
    yield from (inner for place in children(codec) if (inner := _get(place)) is not None)


def each(codecs: Iterable[Codec]) -> Iterator[dict[str, Any]]:
    """Yield codecs and all that are inside of them; one that stands in several places once."""
    stack = list(codecs)
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(inside(node))


def changed(codecs: Iterable[Codec], change: Callable[[dict[str, Any], dict[str, Any]], Codec]) -> list[Codec]:
    """Return codecs with each one in them changed, from the inside out; one that stands in several places stays one.

    `change` is given a codec as it was, and a copy with the codecs in it changed already.
    """
    roots = list(codecs)
    done: dict[int, Codec] = {}
    stack = [(codec, False) for codec in roots]
    while stack:
        node, entered = stack.pop()
        if node is None or id(node) in done:
            continue
        if entered:
            copy = with_inside(node, lambda inner: done[id(inner)])
            done[id(node)] = change(node, copy)
        else:
            stack.append((node, True))
            stack.extend((inner, False) for inner in inside(node))
    return [None if codec is None else done[id(codec)] for codec in roots]


def with_inside(codec: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return a copy of a codec in which something else stands for each codec directly inside."""
    copy: dict[str, Any] = {}
    for part, value in codec.items():
        if part in {"keys", "of"} and isinstance(value, dict):
            copy[part] = {name: dict(entry) if isinstance(entry, dict) else entry for name, entry in value.items()}
        elif part in {"of", "by"}:
            copy[part] = [dict(entry) for entry in value]
        else:
            copy[part] = value.copy() if part in {"more", "prefix"} and isinstance(value, dict | list) else value
    for container, key in children(copy):
        if (inner := _get((container, key))) is not None:
            container[key] = change(inner)
    return copy


def prune(codec: Codec, definitions: dict[str, Codec]) -> tuple[Codec, dict[str, Codec]]:
    """Drop references to definitions in which nothing changes; return what is left of the codec and of the definitions."""
    trivial = set(definitions)
    while busy := {name for name in trivial if any(_acts(part, trivial) for part in each([definitions[name]]))}:
        trivial -= busy

    def left(_: dict[str, Any], copy: dict[str, Any]) -> Codec:
        """Return a codec without what changes nothing; `None` if that is all of it."""
        if not _acts(copy, trivial) and not any(inside(copy)):
            return None
        for entry in copy.get("keys", {}).values() if copy["as"] == "object" else ():
            if entry.get("codec", True) is None:
                del entry["codec"]
        return copy

    names = [name for name in definitions if name not in trivial]
    result, *used = changed([codec, *(definitions[name] for name in names)], left)
    return result, dict(zip(names, used, strict=True))


def _acts(codec: dict[str, Any], trivial: set[str]) -> bool:
    """Say whether a codec changes anything, the codecs inside of it aside, if the definitions named `trivial` change nothing."""
    match codec["as"]:
        case "ref":
            return codec["name"] not in trivial
        case "object":
            return "more" in codec or "tag" in codec or any(entry.keys() - {"codec"} for entry in codec.get("keys", {}).values())
        case kind:
            return kind not in {"array", "union"}
