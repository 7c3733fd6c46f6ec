"""Expand a conjunction to its pieces: follow `allOf` and references, in written order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc import problems
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.schema.evaluated import evaluated
from instrc.schema.mixing import applies_mixins
from instrc.schema.pieces import STRIPPED, Expansion, Piece, Term
from instrc.schema.refs import Library, kind_of
from instrc.schema.resources import Scope

if TYPE_CHECKING:
    from instrc.schema.fold import Folder  # it calls us with itself


def expand(
    folder: Folder, terms: list[Term], *, fold: frozenset[str] = frozenset(), opened: frozenset[int] = frozenset()
) -> Expansion | None:
    """Return the pieces that terms come to; `None` if one of the schemas is `false`.

    `fold` names those of `anyOf` and `oneOf` whose single branches are taken for what they hold;
    `opened` are the `id`s of schemas with `unevaluated…` that are merged although these depend on the instance.
    """
    library = folder.library
    indexed, dirty = library.indexed, library.dirty
    found = Expansion()
    pieces, written = found.pieces, found.written
    seen: set[tuple[int, int]] = set()
    calm = not fold and not library.unevaluated
    # (schema, scope, depth, way here) or (place of a piece, its keywords)
    stack: list[tuple[Json, ...]] = [(node, scope, 0, None) for node, scope in reversed(terms)]
    while stack:
        entry = stack.pop()
        if len(entry) == 2:
            written.append(entry)
            continue
        node, scope, depth, way = entry
        key = id(node)
        mark = (key, id(scope))
        if calm and key in indexed and key not in dirty and "allOf" not in node:  # there is nothing to follow
            if mark not in seen and not node.keys() <= STRIPPED:
                seen.add(mark)
                written.append((len(pieces), node))
                pieces.append(Piece(node, node, scope, depth, mark))
            continue
        if node.__class__ is not dict:
            if node is True:
                continue
            if node is False:
                return None
            raise invalid(library, node, way)
        if library.nested:
            scope = library.below(node, scope)
            mark = (id(node), id(scope))
        if library.mixins and mark not in seen and applies_mixins(node, scope):
            if mark not in folder.mixed:
                found.applied.append((node, scope))
                continue
            node, scope = folder.mixed[mark], folder.flat
            if node is False:
                return None
            mark = (id(node), id(scope))
        if mark in seen:
            if way is not None:
                _tell_circle(folder, mark, way)
            continue
        seen.add(mark)
        dialect = scope.resource.dialect
        references = dialect.references
        view = library.view(node, scope) if dialect.old else node
        composite = "allOf" in view or not references.isdisjoint(view)
        if fold and not composite:
            composite = any(_single(view, keyword) for keyword in fold)
        if library.unevaluated and (
            ("unevaluatedProperties" in view or "unevaluatedItems" in view)
            and not (depth == 0 and len(terms) == 1)
            and id(node) not in opened
            and _apart(library, node, view, scope)
        ):
            found.units.append((node, scope))
            continue
        if not composite:
            if not view.keys() <= STRIPPED:
                written.append((len(pieces), view))
                pieces.append(Piece(node, view, scope, depth, mark))
            continue
        place = len(pieces)
        parts: list[tuple[Json, ...]] = []
        keywords: list[str] = []
        whole = False
        for keyword, value in view.items():
            if keyword in STRIPPED:
                if keyword != "$recursiveRef" or keyword not in references:
                    continue
            elif keyword == "allOf":
                if value.__class__ is not list:
                    raise invalid(library, node, (mark, way, node), "allOf", value)
            elif keyword in fold and _single(view, keyword):
                pass
            elif keyword not in references or value.__class__ is not str:
                keywords.append(keyword)
                continue
            if keywords:
                parts.append((place, keywords))
                whole = True
                keywords = []
            further = (mark, way, view)
            if value.__class__ is list:
                parts += [(branch, scope, depth + 1, further) for branch in value]
            else:
                folder.shared = True
                target = library.target(keyword, view, scope)
                calm = calm and not library.unevaluated  # a document may have been read
                parts.append((target.node, target.scope, depth + 1, further))
        if keywords:
            parts.append((place, keywords))
            whole = True
        if whole:
            pieces.append(Piece(node, view, scope, depth, mark))
        parts.reverse()
        stack += parts
    return found


def _apart(library: Library, node: Json, view: dict[str, Json], scope: Scope) -> bool:
    """Tell whether what a schema leaves unevaluated depends on the instance."""
    certain, possible = evaluated(library, node, scope)
    return (view.get("unevaluatedProperties", True) not in (True, {}) and not certain.covers_properties(possible)) or (
        view.get("unevaluatedItems", True) not in (True, {}) and not certain.covers_items(possible)
    )


def _tell_circle(folder: Folder, mark: tuple[int, int], way: tuple[Json, ...]) -> None:
    """Report a schema that is one of those that led to it; one that is merely met twice says nothing new.

    Such a schema says of itself only that it is what it is, so it adds nothing, which is also what validators make of it.
    """
    references: list[str] = []
    step: tuple[Json, ...] | None = way
    while step is not None:
        here, step, view = step
        reference = view.get("$ref") or view.get("$dynamicRef") or view.get("$recursiveRef")
        if reference.__class__ is str:
            references.append(reference)
        if here == mark:
            if folder.options.report is not None:
                found = problems.references.ReferenceCycle(at=folder.library.at(way[2]), references=tuple(reversed(references)))
                if found not in folder.options.report.problems:
                    folder.options.report.add(found)
            return


def _single(view: dict[str, Json], keyword: str) -> bool:
    value = view.get(keyword)
    return value.__class__ is list and len(value) == 1


def invalid(library: Library, node: Json, way: tuple[Json, ...] | None, keyword: str = "", value: Json = None) -> CompileError:
    """Return the error for something that stands where a schema must."""
    holder = way[2] if way is not None else None
    found = library.where(holder) if holder is not None else None
    path = (found[1] if found else "") + (f"/{keyword}" if keyword else "/allOf")
    reason = f"it is {kind_of(value)}, not a list of schemas" if keyword else f"it holds {kind_of(node)}, which is no schema"
    return CompileError([problems.schemas.InvalidSchema(at=library.at(holder), pointer=path, reason=reason)])
