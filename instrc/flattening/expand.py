"""Expand a conjunction to its conjuncts: follow `allOf` and references, in written order."""

from __future__ import annotations

from instrc import problems
from instrc.flattening.conjunction import STRIPPED, Conjunct, Expansion, Term
from instrc.flattening.evaluated import evaluated
from instrc.flattening.mixing import applies_mixins
from instrc.flattening.run import Run
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.schema.resources import Scope
from instrc.schema.store import SchemaStore, kind_of


def expand(
    run: Run, terms: list[Term], *, fold: frozenset[str] = frozenset(), opened: frozenset[int] = frozenset()
) -> Expansion | None:
    """Return the conjuncts that terms come to; `None` if one of the schemas is `false`.

    `fold` names those of `anyOf` and `oneOf` whose single branches are taken for what they hold;
    `opened` are the `id`s of schemas with `unevaluated…` that are merged although these depend on the instance.
    """
    store = run.store
    indexed, needs_flattening = store.indexed, store.needs_flattening
    found = Expansion()
    conjuncts, written = found.conjuncts, found.written
    seen: set[tuple[int, int]] = set()
    entered: set[tuple[int, int]] = set()
    """Schemas whose parts are being followed: one of these that is met again leads in a circle."""
    calm = not fold and not store.unevaluated
    # (schema, scope, depth, way here), (place of a conjunct, its keywords) or (what has been followed to its end)
    stack: list[tuple[Json, ...]] = [(node, scope, 0, None) for node, scope in reversed(terms)]
    while stack:
        entry = stack.pop()
        if len(entry) == 2:
            written.append(entry)
            continue
        if len(entry) == 1:
            entered.discard(entry[0])
            continue
        node, scope, depth, way = entry
        key = id(node)
        mark = (key, id(scope))
        if calm and key in indexed and key not in needs_flattening and "allOf" not in node:  # there is nothing to follow
            if mark not in seen and not node.keys() <= STRIPPED:
                seen.add(mark)
                written.append((len(conjuncts), node))
                conjuncts.append(Conjunct(node, node, scope, depth, mark))
            continue
        if node.__class__ is not dict:
            if node is True:
                continue
            if node is False:
                return None
            raise invalid(store, node, way)
        if store.nested:
            scope = store.below(node, scope)
            mark = (id(node), id(scope))
        if store.mixins and mark not in seen and applies_mixins(node, scope):
            if mark not in run.mixed:
                found.applied.append((node, scope))
                continue
            node, scope = run.mixed[mark], run.flat
            if node is False:
                return None
            mark = (id(node), id(scope))
        if mark in seen:
            if mark in entered:
                _tell_circle(run, mark, way)
            continue
        seen.add(mark)
        dialect = scope.resource.dialect
        references = dialect.references
        view = store.view(node, scope) if dialect.old else node
        composite = "allOf" in view or not references.isdisjoint(view)
        if fold and not composite:
            composite = any(_single(view, keyword) for keyword in fold)
        if store.unevaluated and (
            ("unevaluatedProperties" in view or "unevaluatedItems" in view)
            and not (depth == 0 and len(terms) == 1)
            and id(node) not in opened
            and _apart(store, node, view, scope)
        ):
            found.units.append((node, scope))
            continue
        if not composite:
            if not view.keys() <= STRIPPED:
                written.append((len(conjuncts), view))
                conjuncts.append(Conjunct(node, view, scope, depth, mark))
            continue
        entered.add(mark)
        stack.append((mark,))
        place = len(conjuncts)
        parts: list[tuple[Json, ...]] = []
        keywords: list[str] = []
        whole = False
        for keyword, value in view.items():
            if keyword in STRIPPED:
                if keyword != "$recursiveRef" or keyword not in references:
                    continue
            elif keyword == "allOf":
                if value.__class__ is not list:
                    raise invalid(store, node, (mark, way, node), "allOf", value)
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
                found.shares = True
                target = store.target(keyword, view, scope)
                calm = calm and not store.unevaluated  # a document may have been read
                parts.append((target.node, target.scope, depth + 1, further))
        if keywords:
            parts.append((place, keywords))
            whole = True
        if whole:
            conjuncts.append(Conjunct(node, view, scope, depth, mark))
        parts.reverse()
        stack += parts
    return found


def _apart(store: SchemaStore, node: Json, view: dict[str, Json], scope: Scope) -> bool:
    """Tell whether what a schema leaves unevaluated depends on the instance."""
    certain, possible = evaluated(store, node, scope)
    return (view.get("unevaluatedProperties", True) not in (True, {}) and not certain.covers_properties(possible)) or (
        view.get("unevaluatedItems", True) not in (True, {}) and not certain.covers_items(possible)
    )


def _tell_circle(run: Run, mark: tuple[int, int], way: tuple[Json, ...]) -> None:
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
            if run.options.report is not None:
                found = problems.references.ReferenceCycle(at=run.store.at(way[2]), references=tuple(reversed(references)))
                if found not in run.options.report.problems:
                    run.options.report.add(found)
            return


def _single(view: dict[str, Json], keyword: str) -> bool:
    value = view.get(keyword)
    return value.__class__ is list and len(value) == 1


def invalid(store: SchemaStore, node: Json, way: tuple[Json, ...] | None, keyword: str = "", value: Json = None) -> CompileError:
    """Return the error for something that stands where a schema must."""
    holder = way[2] if way is not None else None
    found = store.where(holder) if holder is not None else None
    path = (found[1] if found else "") + (f"/{keyword}" if keyword else "/allOf")
    reason = f"it is {kind_of(value)}, not a list of schemas" if keyword else f"it holds {kind_of(node)}, which is no schema"
    return CompileError([problems.schemas.InvalidSchema(at=store.at(holder), pointer=path, reason=reason)])
