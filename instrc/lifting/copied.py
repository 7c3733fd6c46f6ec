"""Copies of a value with one place changed: only the containers on the way to it are copied, the value itself stays as it is."""

from __future__ import annotations

from collections.abc import Callable

from instrc.jsonvalue import Json, JsonArray, JsonObject, Location, put


def remove_member(value: Json, path: Location) -> Json:
    """Return a copy of a value without the member at a place; what is no longer there is left alone."""
    return _rewrite(value, path, lambda key, item: () if key == path[-1] else ((key, item),))


def rename_member(value: Json, path: Location, name: str) -> Json:
    """Return a copy of a value with the member at a place under another name, where it stands."""
    return _rewrite(value, path, lambda key, item: ((name if key == path[-1] else key, item),))


def _rewrite(value: Json, path: Location, change: Callable[[str, Json], tuple[tuple[str, Json], ...]]) -> Json:
    """Return a copy of a value in which the object around a place has other members: for each, those that `change` gives."""

    def written(holder: Json) -> Json:
        return dict(new for old in holder.items() for new in change(*old)) if isinstance(holder, dict) else holder

    return replace_at(value, path[:-1], written)


def replace_at(value: Json, path: Location, change: Callable[[Json], Json]) -> Json:
    """Return a copy of a value with one place changed; what is no longer there is left alone."""
    copied = _copy_path(value, path)
    if copied is None:
        return value
    root, holder = copied
    if isinstance(holder, dict):
        name = str(path[-1])
        holder[name] = change(holder[name])
    else:
        index = int(path[-1]) if path else 0
        holder[index] = change(holder[index])
    return root[0]


def _copy_path(value: Json, path: Location) -> tuple[list[Json], JsonArray | JsonObject] | None:
    """Copy the containers on the way to a place: a list of the new root, and the container of the place."""
    root: list[Json] = [value]
    holder: JsonArray | JsonObject = root
    key: str | int = 0
    for step in path:
        inner = holder[str(key)] if isinstance(holder, dict) else holder[int(key)]
        copy: JsonArray | JsonObject
        if isinstance(inner, dict) and step in inner:
            copy = dict(inner)
        elif isinstance(inner, list) and isinstance(step, int) and step < len(inner):
            copy = list(inner)
        else:
            return None
        put(holder, key, copy)
        holder, key = copy, step
    return root, holder
