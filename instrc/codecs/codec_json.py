"""What the JSON of a codec may hold, and the codecs directly inside of one."""

from __future__ import annotations

from typing import TypeAlias

from instrc.arguments import excerpt
from instrc.jsonvalue import Json, JsonObject, listing, mapping

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
