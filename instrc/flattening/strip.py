"""Take out of a schema what is not for its reader: thoughts, metrics, engine properties."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from instrc import problems
from instrc.arguments import excerpt, texts
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import map_schemas, schemas_under

ENGINE = ("references", "arguments", "activity", "when", "each")
"""Keywords beside a schema that are for the engine alone, in the order in which they are written."""
KINDS = frozenset({"all", "engine", "metrics", "thoughts", *ENGINE})
"""What `strip` takes out: `thoughts` are properties that begin with `_`, `metrics` with `$`.

Engine keywords go together, whichever of them is named: one without the others says nothing to an engine."""


def strip(schema: Json, which: Collection[str]) -> Json:
    """Return a schema without the kinds named, as `instrc.strip` in `public.py` describes."""
    wanted = {which} if isinstance(which, str) else set(texts("which", which))
    unknown = sorted(wanted - KINDS)
    if unknown:
        known = ", ".join(f"`{kind}`" for kind in sorted(KINDS))
        raise CompileError(
            [problems.settings.InvalidOption(option="which", given=excerpt(unknown[0]), wanted=f"one or several of {known}")]
        )
    everything = "all" in wanted
    signs = ("_" if everything or "thoughts" in wanted else "") + ("$" if everything or "metrics" in wanted else "")
    keywords = frozenset(ENGINE) if everything or not wanted.isdisjoint({"engine", *ENGINE}) else frozenset()
    change = partial(_strip_node, signs=tuple(signs), keywords=keywords) if signs else partial(_without, keywords)
    return schema if _stays(schema, change) else map_schemas(schema, change)


def is_meta(name: str) -> bool:
    """Tell whether a property name is that of a thought or a metric."""
    return name.startswith(("_", "$"))


def _stays(schema: Json, change: Callable[[Json], Json]) -> bool:
    """Tell whether a change leaves every schema in one as it is: most have nothing that goes, and this is seen quickly."""
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if node.__class__ is not dict or id(node) in seen:
            continue
        seen.add(id(node))
        if change(node) is not node:
            return False
        if not HOLDERS.isdisjoint(node):
            for keyword, value in node.items():
                waiting.extend(schemas_under(keyword, value) if keyword in HOLDERS else ())
    return True


def _without(keywords: frozenset[str], node: Json) -> Json:
    """Return one schema without some keywords; the same object if it has none of them."""
    if node.__class__ is not dict or keywords.isdisjoint(node):
        return node
    return {keyword: value for keyword, value in node.items() if keyword not in keywords}


def _strip_node(node: Json, *, signs: tuple[str, ...], keywords: frozenset[str]) -> Json:
    """Return one schema without what goes; the same object if there is nothing of it."""
    if node.__class__ is not dict:
        return node
    changes: dict[str, Json] = {}
    for keyword, value in node.items():
        if value.__class__ is dict:
            if keyword in {"properties", "dependentSchemas"}:
                if [name for name in value if name.startswith(signs)]:
                    changes[keyword] = {name: schema for name, schema in value.items() if not name.startswith(signs)}
            elif keyword == "dependentRequired":
                kept = {name: _names(names, signs) for name, names in value.items() if not name.startswith(signs)}
                if len(kept) < len(value) or any(kept[name] is not names for name, names in value.items()):
                    changes[keyword] = {name: names for name, names in kept.items() if names or value[name] == names}
        elif keyword == "required" and value.__class__ is list:
            names = _names(value, signs)
            if names is not value:
                changes[keyword] = names
    if not changes and keywords.isdisjoint(node):
        return node
    emptied = {keyword for keyword in ("required", "dependentRequired", "dependentSchemas") if changes.get(keyword) in ([], {})}
    return {keyword: changes.get(keyword, value) for keyword, value in node.items() if keyword not in keywords | emptied}


def _names(names: Json, signs: tuple[str, ...]) -> Json:
    if names.__class__ is not list or not [name for name in names if name.__class__ is str and name.startswith(signs)]:
        return names
    return [name for name in names if not (name.__class__ is str and name.startswith(signs))]
