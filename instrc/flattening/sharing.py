"""Keep what stands in many places of a result once, under `$defs`.

References that are written out can make a schema of some kilobytes one of megabytes.  A result that would grow so far keeps the
parts that stand in several places as definitions instead, and refers to them.  It accepts the same instances.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from instrc.flattening.definitions import ascii_name, free_name
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.limits.schemas import SHARED_PART
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import Path, objects_below, schemas_under, subschemas, with_parts


def sizes(schema: JsonObject) -> dict[int, int]:
    """Return by `id` how many schemas each part of a result has when it is written out, shared ones counted each time."""
    found: dict[int, int] = {}
    stack: list[JsonObject] = [schema]
    pop, push, holds_none = stack.pop, stack.append, HOLDERS.isdisjoint
    while stack:
        node = stack[-1]
        if id(node) in found:
            pop()
            continue
        count, waiting = 1, False
        for keyword, value in node.items():
            if keyword not in HOLDERS:
                continue
            for child in schemas_under(keyword, value):
                if child.__class__ is not dict or holds_none(child):
                    count += 1
                elif (known := found.get(id(child))) is not None:
                    count += known
                else:
                    waiting = True
                    push(child)
        if not waiting:
            pop()
            found[id(node)] = count
    return found


def share(schema: dict[str, Json], note: Callable[[Json, Json], None]) -> dict[str, Json]:
    """Return a flat schema whose repeated parts are definitions; `note` is told of each schema that is made and what it was."""
    root = _united(schema, note)
    tops: JsonObject = {
        "": {keyword: value for keyword, value in root.items() if keyword != "$defs"},
        **as_object(root.get("$defs", {})),
    }
    note(tops[""], root)
    names = _names(tops)
    done: dict[int, Json] = {}
    made: dict[str, Json] = {}
    for node in _below_first(list(tops.values())):
        new = with_parts(node, done)
        if new is not node:
            note(new, node)
        if id(node) in names:
            made[names[id(node)]] = new
            done[id(node)] = {"$ref": f"#/$defs/{names[id(node)]}"}
        else:
            done[id(node)] = new
    bodies = {name: with_parts(top, done) for name, top in tops.items()}
    body = as_object(bodies.pop(""))
    note(body, root)
    for name, made_of in bodies.items():
        note(made_of, tops[name])
    out = {**body, "$defs": {**bodies, **{name: made[name] for name in names.values()}}}
    note(out, root)
    return out


def _names(tops: dict[str, Json]) -> dict[int, str]:
    """Return names, by `id`, for the parts that stand in several places, in the order in which they first stand."""
    counts: Counter[int] = Counter()
    first: dict[int, tuple[Json, Path]] = {}
    size: dict[int, int] = {}
    for top in tops.values():
        if top.__class__ is not dict:
            continue
        size |= sizes(top)
        stack: list[tuple[Path, Json]] = list(subschemas(top))[::-1]
        while stack:
            path, node = stack.pop()
            if node.__class__ is not dict:
                continue
            counts[id(node)] += 1
            if counts[id(node)] == 1:
                first[id(node)] = (node, path)
                stack += list(subschemas(node))[::-1]
    taken: dict[str, Json] = dict(tops)
    numbers: dict[str, int] = {}
    names: dict[int, str] = {}
    for key, (node, path) in first.items():
        if counts[key] > 1 and size.get(key, 1) >= SHARED_PART:
            names[key] = free_name(_word(as_object(node), path), taken, numbers)
            taken[names[key]] = node
    return names


def _word(node: dict[str, Json], path: Path) -> str:
    """Return a readable name for a part: its title, else the name it stands under."""
    title = node.get("title")
    for text in (title, path[-1]):
        if text.__class__ is str and (word := ascii_name(text)):
            return word
    return "shared"


def _below_first(roots: list[Json]) -> Iterator[dict[str, Json]]:
    """Yield all schema objects below some schemas, each once, after those below it."""
    done: set[int] = set()
    for root in roots:
        stack: list[tuple[JsonObject, bool]] = [(child, False) for child in objects_below(root)]
        while stack:
            node, entered = stack.pop()
            if id(node) in done:
                continue
            if entered:
                done.add(id(node))
                yield node
            else:
                stack.append((node, True))
                stack += [(child, False) for child in objects_below(node)]


def _united(schema: dict[str, Json], note: Callable[[Json, Json], None]) -> dict[str, Json]:
    """Return a schema in which equal parts, their order included, are one object."""
    done: dict[int, Json] = {}
    pool: dict[tuple[object, ...], Json] = {}
    for node in _below_first([{"allOf": [schema]}]):
        new = as_object(with_parts(node, done))
        if new is not node:
            note(new, node)
        key = tuple(
            (keyword, tuple(value) if value.__class__ is dict else (), _parts(keyword, value)) for keyword, value in new.items()
        )
        done[id(node)] = pool.setdefault(key, new)
    return as_object(done[id(schema)])


def _parts(keyword: str, value: Json) -> object:
    """Return a key for what a keyword holds: schemas by identity, since they are united already, and data as text."""
    below = tuple(schemas_under(keyword, value)) if keyword in HOLDERS else ()
    if not below:
        return value if value.__class__ is str else dumps(value, indent=False)
    return tuple(id(child) if child.__class__ is dict else dumps(child, indent=False) for child in below)
