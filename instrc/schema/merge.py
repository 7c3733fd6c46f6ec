"""Merge the pieces of a conjunction keyword by keyword.

Laws for single keywords come from the table in `keywords`; groups have modules or functions of their own.
What has no exact law goes into further branches, which end up in a residual `allOf`.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from instrc.jsonvalue import Json, equal
from instrc.schema import arrays, objects
from instrc.schema.contradictions import report_contradiction, report_lost
from instrc.schema.evaluated import evaluated
from instrc.schema.keywords import (
    ANNOTATIONS_OF_CONTENT,
    APART,
    LAWS,
    NOTHING,
    both_bounds,
    description,
    empty_range,
    has_type,
    is_number,
    types_of,
)
from instrc.schema.pieces import STRIPPED, Expansion, Frame, Piece, Settle, Term

if TYPE_CHECKING:
    from instrc.schema.fold import Folder  # the folder calls the merger and is handed to it

PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
ITEMS = frozenset({"prefixItems", "items", "unevaluatedItems"})
_FOLLOWERS = frozenset({"then", "else", "minContains", "maxContains"})
"""Keywords that mean something beside their leader only: `if`, `contains`."""
TRIVIAL = (True, {})


def merge(folder: Folder, terms: list[Term], expansion: Expansion) -> Frame | bool:
    """Return the frame of a conjunction of several pieces, or `False` if nothing satisfies it."""
    fold, opened = False, 0
    while True:
        groups = group(expansion)
        if not fold and any(_some_single(expansion.pieces, groups.get(keyword)) for keyword in ("anyOf", "oneOf")):
            fold = True
        elif not opened and expansion.units and (unit := _unit_to_open(folder, expansion)):
            opened = unit
        else:
            break
        again = folder.expand(terms, fold=fold, opened=opened)
        if again is None:
            return False
        expansion = again
    merger = _Merger(folder, expansion.pieces, groups)
    if not merger.merge():
        return False
    for term in expansion.units:
        units = merger.frame.settle.units  # type: ignore[union-attr]  # the merger has set it
        merger.frame.pending.append((units, len(units), [term]))
        units.append(None)
    return merger.frame


def group(expansion: Expansion) -> dict[str, list[int]]:
    """Return the places of the pieces that have each keyword, keywords by first appearance."""
    groups: dict[str, list[int]] = {}
    for place, keywords in expansion.written:
        for keyword in keywords:
            if keyword in groups:
                groups[keyword].append(place)
            elif keyword not in STRIPPED:
                groups[keyword] = [place]
    return groups


def _some_single(pieces: list[Piece], places: list[int] | None) -> bool:
    if places is None or len(places) < 2:
        return False
    return any(
        len(value) == 1
        for place in places
        for keyword in ("anyOf", "oneOf")
        if (value := pieces[place].view.get(keyword)).__class__ is list
    )


def _unit_to_open(folder: Folder, expansion: Expansion) -> int | None:
    """Return the `id` of a schema with `unevaluated…` that may be merged, since all others look at nothing it does not."""
    for node, scope in expansion.units:
        own, _ = evaluated(folder.library, node, scope)
        others = [(piece.node, piece.scope) for piece in expansion.pieces]
        others += [term for term in expansion.units if term[0] is not node]
        for other, where in others:
            certain, possible = evaluated(folder.library, other, where, skip_own=False)
            if not (own.covers_properties(certain) and own.covers_properties(possible)):
                break
            if not (own.covers_items(certain) and own.covers_items(possible)):
                break
        else:
            return id(node)
    return None


class _Merger:
    """The merging of one conjunction."""

    def __init__(self, folder: Folder, pieces: list[Piece], groups: dict[str, list[int]]) -> None:
        self.folder = folder
        self.pieces = pieces
        self.groups = groups
        self.out: dict[str, Json] = {}
        self.frame = Frame(self.out)
        self.settle = self.frame.settle = Settle()
        self.frame.pieces = pieces
        self.pending = self.frame.pending
        self.watched_properties = False
        self.watched_items = False
        """Whether an `unevaluated…` stays, so that what only marks things as evaluated has to stay too."""

    def merge(self) -> bool:
        """Fill the frame; false if nothing satisfies the conjunction."""
        out, groups, pieces = self.out, self.groups, self.pieces
        if "unevaluatedProperties" in groups or "unevaluatedItems" in groups:
            self.watch()
        properties = items = content = False
        for keyword, places in groups.items():
            law = LAWS.get(keyword)
            if law is not None:
                first = pieces[places[0]].view[keyword]
                if len(places) == 1:
                    out[keyword] = first
                elif not self.by_law(keyword, places):
                    return False
            elif keyword in PROPERTIES:
                out[keyword] = None
                properties = True
            elif keyword in ITEMS:
                out[keyword] = None
                items = True
            elif keyword in _BY_KEYWORD:
                _BY_KEYWORD[keyword](self, keyword, places)
            elif keyword in _FOLLOWERS:
                pass
            elif keyword in ANNOTATIONS_OF_CONTENT:
                if not content:
                    content = True
                    self.content()
            else:
                out[keyword] = pieces[places[-1]].view[keyword]  # an annotation or unknown: the last wins
        if properties:
            self.properties()
        if items:
            self.items()
        return self.reconcile()

    def watch(self) -> None:
        """See which `unevaluated…` stay, since what they are about depends on the instance."""
        for keyword in ("unevaluatedProperties", "unevaluatedItems"):
            for place in self.groups.get(keyword, ()):
                piece = self.pieces[place]
                if piece.view[keyword] in TRIVIAL:
                    continue
                certain, possible = evaluated(self.folder.library, piece.node, piece.scope)
                if keyword == "unevaluatedProperties":
                    self.watched_properties |= not certain.covers_properties(possible)
                else:
                    self.watched_items |= not certain.covers_items(possible)

    def by_law(self, keyword: str, places: list[int]) -> bool:
        """Merge a keyword by its law; what stays apart becomes further branches."""
        law = LAWS[keyword]
        kept: list[Json] = []
        since: list[int] = []
        for place in places:
            value = self.pieces[place].view[keyword]
            for index, other in enumerate(kept):
                if other is value:
                    break
                result = law(other, value)
                if result is NOTHING:
                    report_contradiction(self.folder, (self.pieces[since[index]], keyword), (self.pieces[place], keyword))
                    return False
                if result is not APART:
                    if result is not other:
                        since[index] = place
                    kept[index] = result
                    break
            else:
                kept.append(value)
                since.append(place)
        self.out[keyword] = kept[0]
        if len(kept) > 1:
            self.settle.apart[keyword] = [{keyword: value} for value in kept[1:]]
        return True

    def place_child(self, container: Json, slot: str | int, terms: list[Term]) -> None:
        """Put the schema of a conjunction into its place, now if it is known, else later."""
        if len(terms) == 1:
            node, scope = terms[0]
            if node.__class__ is not dict or id(node) not in self.folder.library.dirty:
                container[slot] = node
                return
        container[slot] = None
        self.pending.append((container, slot, terms))

    def description(self, keyword: str, places: list[int]) -> None:
        """Join descriptions."""
        self.out[keyword] = description([self.pieces[place].view[keyword] for place in places])

    def title(self, keyword: str, places: list[int]) -> None:
        """Keep the outermost title, the last of several that are equally far out."""
        pieces = self.pieces
        outermost = min(pieces[place].depth for place in places)
        self.out[keyword] = next(pieces[place].view[keyword] for place in reversed(places) if pieces[place].depth == outermost)

    def one_schema(self, keyword: str, places: list[int]) -> None:
        """Let all schemas of a keyword hold together."""
        self.place_child(self.out, keyword, [(self.pieces[place].view[keyword], self.pieces[place].scope) for place in places])

    def named(self, keyword: str, places: list[int]) -> None:
        """Let the schemas of each name hold together."""
        values = [self.pieces[place].view[keyword] for place in places]
        if not all(value.__class__ is dict for value in values):
            self.set_apart(keyword, places)
            return
        by_name: dict[str, list[Term]] = {}
        for place, value in zip(places, values, strict=True):
            for name, schema in value.items():
                by_name.setdefault(name, []).append((schema, self.pieces[place].scope))
        if any(len(found) > 1 and any(schema.__class__ is list for schema, _ in found) for found in by_name.values()):
            self.set_apart(keyword, places)  # `dependencies` of old may hold lists
            return
        self.out[keyword] = together = {}
        for name, terms in by_name.items():
            self.place_child(together, name, terms)

    def set_apart(self, keyword: str, places: list[int]) -> None:
        """Keep the first occurrence of a keyword here and each further one in a branch of its own."""
        for number, place in enumerate(places):
            container = self.out
            if number:
                container = {}
                self.settle.apart.setdefault(keyword, []).append(container)
            self.copy(container, keyword, self.pieces[place])

    def copy(self, container: dict[str, Json], keyword: str, piece: Piece) -> None:
        """Copy a keyword with the schemas it holds."""
        value = piece.view[keyword]
        if value.__class__ is list:
            container[keyword] = items = value.copy()
            for index, schema in enumerate(value):
                self.place_child(items, index, [(schema, piece.scope)])
        elif value.__class__ is dict and keyword in {"dependencies", "dependentSchemas"}:
            container[keyword] = schemas = value.copy()
            for name, schema in value.items():
                self.place_child(schemas, name, [(schema, piece.scope)])
        else:
            self.place_child(container, keyword, [(value, piece.scope)])

    def alternatives(self, keyword: str, places: list[int]) -> None:
        """Keep `anyOf` and `oneOf` apart; multiply `anyOf` out if asked to."""
        limit = self.folder.options.distribute
        lists = [self.pieces[place].view[keyword] for place in places]
        if keyword == "anyOf" and limit and len(places) > 1 and all(value.__class__ is list for value in lists):
            size = 1
            for value in lists:
                size *= len(value)
            if size <= limit:
                pairs = [
                    [(schema, self.pieces[place].scope) for schema in value] for place, value in zip(places, lists, strict=True)
                ]
                branches: list[Json] = []
                for chosen in product(*pairs):
                    branches.append(None)
                    self.place_child(branches, len(branches) - 1, list(chosen))
                self.out[keyword] = branches
                return
        self.set_apart(keyword, places)

    def negations(self, keyword: str, places: list[int]) -> None:
        """Take negations together: neither A nor B is not any of A and B."""
        if len(places) == 1:
            self.one_schema(keyword, places)
            return
        branches: list[Json] = []
        for place in places:
            value, scope = self.pieces[place].view[keyword], self.pieces[place].scope
            inside = value["anyOf"] if value.__class__ is dict and len(value) == 1 and "anyOf" in value else [value]
            for schema in inside if inside.__class__ is list else [value]:
                branches.append(None)
                self.place_child(branches, len(branches) - 1, [(schema, scope)])
        self.out[keyword] = {"anyOf": branches}
        self.settle.new_not = True

    def conditions(self, keyword: str, places: list[int]) -> None:
        """Keep each `if` with its own `then` and `else`; one without both says nothing."""
        container: dict[str, Json] = self.out
        for place in places:
            piece = self.pieces[place]
            follow = [word for word in ("then", "else") if word in piece.view and piece.view[word] not in TRIVIAL]
            if not follow and not self.watched_properties and not self.watched_items:
                continue
            for word in piece.view:
                if word == "if" or word in {"then", "else"}:
                    self.place_child(container, word, [(piece.view[word], piece.scope)])
            container = {}
            self.settle.apart.setdefault("if", []).append(container)
        if "if" in self.settle.apart:
            self.settle.apart["if"].pop()

    def contains(self, keyword: str, places: list[int]) -> None:
        """Keep each `contains` with its own bounds; one that may be absent says nothing."""
        container: dict[str, Json] = self.out
        for place in places:
            piece = self.pieces[place]
            view = piece.view
            if view.get("minContains") == 0 and view.get("minContains") is not False and "maxContains" not in view:
                if not self.watched_items:
                    continue
            for word in view:
                if word == "contains":
                    self.place_child(container, word, [(view[word], piece.scope)])
                elif word in {"minContains", "maxContains"}:
                    container[word] = view[word]
            container = {}
            self.settle.apart.setdefault("contains", []).append(container)
        if "contains" in self.settle.apart:
            self.settle.apart["contains"].pop()

    def content(self) -> None:
        """Take what is said about encoded content from the last place that says any of it."""
        last = max(place for keyword in ANNOTATIONS_OF_CONTENT for place in self.groups.get(keyword, ()))
        piece = self.pieces[last]
        for keyword in piece.view:
            if keyword == "contentSchema":
                self.place_child(self.out, keyword, [(piece.view[keyword], piece.scope)])
            elif keyword in ANNOTATIONS_OF_CONTENT:
                self.out[keyword] = piece.view[keyword]

    def properties(self) -> None:
        """Join what is said about properties."""
        objects_of: list[objects.Group] = []
        order = sorted(
            {place for keyword in PROPERTIES for place in self.groups.get(keyword, ())},
            key=lambda place: self.first_place(place, "properties"),
        )
        kept_unevaluated: list[Term] = []
        open_extra: Json = None
        for place in order:
            piece = self.pieces[place]
            view, scope = piece.view, piece.scope
            found = objects.Group(origin=place)
            for keyword, into in (("properties", found.properties), ("patternProperties", found.patterns)):
                value = view.get(keyword)
                if value.__class__ is dict:
                    for name, schema in value.items():
                        into[name] = [(schema, scope)]
            if "additionalProperties" in view:
                extra = view["additionalProperties"]
                if extra in TRIVIAL:
                    open_extra = extra
                else:
                    found.extra = [(extra, scope)]
                    found.closed = extra is False
            objects_of.append(found)
            if "unevaluatedProperties" in view:
                value = view["unevaluatedProperties"]
                certain, possible = evaluated(self.folder.library, piece.node, scope)
                if value in TRIVIAL:
                    if open_extra is None:
                        open_extra = value
                elif certain.all_properties:
                    pass
                elif certain.covers_properties(possible):
                    objects_of.append(
                        objects.Group(
                            {name: [] for name in certain.names},
                            {regex: [] for regex in certain.patterns},
                            [(value, scope)],
                            value is False,
                            place,
                        )
                    )
                else:
                    kept_unevaluated.append((value, scope))
        lost: list[objects.Lost] = []
        main = objects_of[0]
        apart: list[objects.Group] = []
        for further in objects_of[1:]:
            if objects.join(main, further, lost):
                continue
            if not any(objects.join(other, further, lost) for other in apart):
                apart.append(further)
        while any([objects.join(main, other, lost) and not apart.remove(other) for other in apart.copy()]):
            pass  # what has been added may have made room
        for item in lost:
            report_lost(self.folder, self.pieces, item)
        self.write(self.out, main, open_extra)
        for other in apart:
            container: dict[str, Json] = {}
            self.settle.apart.setdefault("properties", []).append(container)
            self.write(container, other, None)
        if kept_unevaluated:
            self.place_child(self.out, "unevaluatedProperties", kept_unevaluated)
        else:
            self.out.pop("unevaluatedProperties", None)

    def first_place(self, place: int, keyword: str) -> int:
        """Return the rank of a piece by where it has a keyword, else by where it begins."""
        ranks = self.groups.get(keyword, ())
        return ranks.index(place) if place in ranks else len(self.pieces) + place

    def write(self, container: dict[str, Json], found: objects.Group, open_extra: Json) -> None:
        """Write a group of property keywords."""
        for keyword, by_name in (("properties", found.properties), ("patternProperties", found.patterns)):
            if by_name or (keyword in container and not any(self.pieces[place].view[keyword] for place in self.groups[keyword])):
                container[keyword] = schemas = {}
                for name, terms in by_name.items():
                    self.place_child(schemas, name, terms)
            else:
                container.pop(keyword, None)
        if found.extra is not None:
            self.rename(container, "unevaluatedProperties", "additionalProperties")
            self.place_child(container, "additionalProperties", found.extra)
        elif open_extra is not None:
            self.rename(container, "unevaluatedProperties", "additionalProperties")
            container["additionalProperties"] = open_extra
        else:
            container.pop("additionalProperties", None)

    def rename(self, container: dict[str, Json], old: str, new: str) -> None:
        """Give a place in the order of keywords to another keyword, if that has none."""
        if old in container and new not in container:
            items = [(new if key == old else key, value) for key, value in container.items()]
            container.clear()
            container.update(items)

    def items(self) -> None:
        """Join what is said about items."""
        parts: list[arrays.Part] = []
        kept: list[Term] = []
        trivial: Json = None
        for place in dict.fromkeys(place for keyword in ITEMS for place in self.groups.get(keyword, ())):
            piece = self.pieces[place]
            view, scope = piece.view, piece.scope
            prefix = view.get("prefixItems")
            parts.append(
                arrays.Part(
                    [(schema, scope) for schema in prefix] if prefix.__class__ is list else [],
                    (view["items"], scope) if "items" in view else None,
                )
            )
            if "unevaluatedItems" in view:
                value = view["unevaluatedItems"]
                certain, possible = evaluated(self.folder.library, piece.node, scope)
                if value in TRIVIAL:
                    trivial = value
                elif certain.all_items:
                    pass
                elif certain.covers_items(possible):
                    parts.append(arrays.Part([(True, scope)] * certain.items, (value, scope)))
                else:
                    kept.append((value, scope))
        prefix_terms, items_terms = arrays.join(parts)
        out = self.out
        if prefix_terms or "prefixItems" in self.groups:
            if "prefixItems" not in out:
                self.rename(out, "items", "prefixItems")
            out["prefixItems"] = schemas = [None] * len(prefix_terms)
            for index, terms in enumerate(prefix_terms):
                self.place_child(schemas, index, terms)
            if not schemas:
                del out["prefixItems"]
        if items_terms:
            self.rename(out, "unevaluatedItems", "items")
            self.place_child(out, "items", items_terms)
        else:
            out.pop("items", None)
        if kept:
            self.place_child(out, "unevaluatedItems", kept)
        elif trivial is not None and "items" not in out:
            out["unevaluatedItems"] = trivial
        else:
            out.pop("unevaluatedItems", None)

    def reconcile(self) -> bool:
        """Let keywords that speak of the same things agree; false if nothing satisfies them."""
        out, groups = self.out, self.groups
        if "const" in out and "enum" in out and out["enum"].__class__ is list:
            if not any(equal(out["const"], value) for value in out["enum"]):
                self.contradiction("const", "enum")
                return False
            del out["enum"]
        names = types_of(out["type"]) if "type" in out else None
        if names is not None:
            if "const" in out and not has_type(out["const"], names):
                self.contradiction("type", "const")
                return False
            if out.get("enum").__class__ is list and out["enum"]:
                values = [value for value in out["enum"] if has_type(value, names)]
                if not values:
                    self.contradiction("type", "enum")
                    return False
                if len(values) < len(out["enum"]):
                    out["enum"] = values
        for inclusive, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if inclusive in out and exclusive in out:
                redundant = both_bounds(out[inclusive], out[exclusive], upper=inclusive == "maximum")
                if redundant is not None:
                    del out[inclusive if redundant == "inclusive" else exclusive]
        if names is not None and (bounds := empty_range(out)):
            self.contradiction(*bounds)
            return False
        wanted = out.get("required")
        if wanted.__class__ is list and out.get("properties").__class__ is dict and len(wanted) > 1:
            rank = {name: index for index, name in enumerate(out["properties"])}
            last = len(rank)
            ordered = sorted(wanted, key=lambda name: rank.get(name, last) if name.__class__ is str else last)
            if ordered != wanted:
                out["required"] = ordered
        return bool(groups) or True

    def contradiction(self, left: str, right: str) -> None:
        """Report two keywords that leave nothing, each from the piece that has it last."""
        report_contradiction(
            self.folder,
            (self.pieces[self.groups[left][-1]], left),
            (self.pieces[self.groups[right][-1]], right),
        )


_BY_KEYWORD = {
    "description": _Merger.description,
    "title": _Merger.title,
    "propertyNames": _Merger.one_schema,
    "dependentSchemas": _Merger.named,
    "dependencies": _Merger.named,
    "anyOf": _Merger.alternatives,
    "oneOf": _Merger.alternatives,
    "not": _Merger.negations,
    "if": _Merger.conditions,
    "contains": _Merger.contains,
}

_GROUP_OF = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}


def settle(folder: Folder, frame: Frame) -> Json:
    """Finish a merged schema whose parts are done: put together what stays apart, and see what has become impossible."""
    out: dict[str, Json] = frame.out
    todo = frame.settle
    if todo is None:
        return out
    if todo.new_not:
        branches: list[Json] = []
        for branch in out["not"]["anyOf"]:
            inside = branch["anyOf"] if branch.__class__ is dict and len(branch) == 1 and "anyOf" in branch else [branch]
            branches += [schema for schema in inside if not any(equal(schema, other) for other in branches)]
        branches = [branch for branch in branches if branch is not False] or [False]
        out["not"] = {"anyOf": branches} if len(branches) > 1 else branches[0]
    rest: list[Json] = []
    for keyword, others in todo.apart.items():
        _keep_apart(out, keyword, others, rest)
    for unit in todo.units:
        if unit is False:
            return False
        if unit is not True and not any(equal(unit, other) for other in rest):
            rest.append(unit)
    if rest:
        if not out and len(rest) == 1:
            return rest[0]
        out["allOf"] = rest
    if _impossible(out):
        return False
    return out


def _keep_apart(out: dict[str, Json], keyword: str, others: list[dict[str, Json]], rest: list[Json]) -> None:
    """Spread further groups of a keyword over the residual branches, equal ones once."""
    words = _GROUP_OF.get(keyword, ())
    main = {word: out[word] for word in words if word in out} if words else {word: out[word] for word in others[0] if word in out}
    kept = [main]
    for other in others:
        if any(equal(other, one) for one in kept):
            continue
        if keyword == "contains" and _same_contains(kept, other, out):
            continue
        kept.append(other)
    for level, other in enumerate(kept[1:]):
        if level == len(rest):
            rest.append({})
        rest[level].update(other)


def _same_contains(kept: list[dict[str, Json]], other: dict[str, Json], out: dict[str, Json]) -> bool:
    """Join two `contains` of the same schema by their bounds."""
    for number, one in enumerate(kept):
        if not equal(one["contains"], other["contains"]):
            continue
        target = out if number == 0 else one
        low, high = (one.get("minContains", 1), other.get("minContains", 1)), (one.get("maxContains"), other.get("maxContains"))
        if not all(is_number(value) for value in low) or not all(value is None or is_number(value) for value in high):
            return False
        if "minContains" in one or "minContains" in other:
            target["minContains"] = one["minContains"] = max(low)
        limits = [value for value in high if value is not None]
        if limits:
            target["maxContains"] = one["maxContains"] = min(limits)
        return True
    return False


def _impossible(out: dict[str, Json]) -> bool:
    """Tell whether an object schema requires a property that it forbids."""
    if out.get("type") != "object" or out.get("required").__class__ is not list:
        return False
    properties = out.get("properties", {})
    closed = out.get("additionalProperties") is False and not out.get("patternProperties")
    for name in out["required"]:
        if name.__class__ is not str:
            continue
        if name in properties:
            if properties[name] is False:
                return True
        elif closed:
            return True
    return False
