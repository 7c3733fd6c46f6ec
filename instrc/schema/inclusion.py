"""Decide whether a schema accepts everything that another does: proven, refuted by an instance, or unknown.

Refuting instances are generated from the roots, and from parts and branches that differ.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain, islice
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from instrc.schema.flattening.flatten import flatten
from instrc.schema.kinds import types_of
from instrc.schema.patterns import time_limit
from instrc.schema.relations import Answering, disjoint, implies
from instrc.schema.samples import instances, sample, text_of
from instrc.schema.upgrade import upgrade
from instrc.schema.validation import SchemaValidator
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import dereferenced, nodes, of_item, of_property, refers, subschemas, without
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, equal, listing, mapping
from instrc.text.limits import BRANCHES_OF_A_PLACE, COMPARED_LEVELS

INSTANCES_COMPARED: Final = 400
"""Maximum instances tried in one comparison of two vibes, and again for their parts."""
COMPARED_PARTS: Final = 60
"""Maximum pairs of parts of two vibes, or of their branches, for which instances are generated."""
INSTANCES_OF_A_PART: Final = 40
"""Maximum number of instances generated for one pair of parts."""
SCHEMAS_ASKED: Final = 20_000
"""Maximum schemas that the instances of one comparison are checked against; with very many branches fewer are tried."""
UNIONS = ("anyOf", "oneOf")


def union_of(schema: Json) -> str:
    """Return the keyword of the union that a schema consists of, or the empty string."""
    return next((word for word in UNIONS if listing(mapping(schema).get(word))), "")


def paired(old: list[Json], new: list[Json]) -> list[tuple[int, int]]:
    """Return the indexes of corresponding old and new branches: equal ones, then those with equal identifying constants."""
    result: dict[int, int] = {}
    taken: set[int] = set()
    for sign in _SIGNS:
        before, after = _by_sign(old, sign, taken), _by_sign(new, sign, result.keys())
        for mark, places in after.items():
            if mark and len(places) == len(before[mark]) == 1:
                result[places[0]] = before[mark][0]
                taken.add(before[mark][0])
    return sorted((was, now) for now, was in result.items())


def _written(branch: Json) -> str:
    return dumps(branch, indent=False)


def _constants(branch: Json) -> str:
    result = constants_of(branch)
    return dumps({name: result[name] for name in sorted(result)}, indent=False) if result else ""


def _named(branch: Json) -> str:
    result = mapping(branch)
    return str(result.get("$ref") or result.get("title") or "")


def _typed(branch: Json) -> str:
    return " ".join(types_of(mapping(branch).get("type")) or ())


_SIGNS: tuple[Callable[[Json], str], ...] = (_written, _constants, _named, _typed)


def _by_sign(branches: list[Json], sign: Callable[[Json], str], taken: Collection[int]) -> defaultdict[str, list[int]]:
    result: defaultdict[str, list[int]] = defaultdict(list)
    for place, branch in enumerate(branches):
        if place not in taken:
            result[sign(branch)].append(place)
    return result


def constants_of(branch: Json) -> dict[str, Json]:
    """Return the constant properties of an object, which identify its branch."""
    properties = mapping(mapping(branch).get("properties"))
    return {name: item["const"] for name, item in properties.items() if isinstance(item, dict) and "const" in item}


_Place: TypeAlias = tuple[str | int, Json]
"""Name or index of a part, and a sample of the value that contains it."""


def differing_in_a_part(narrow: Json, wide: Json) -> Iterator[Json]:
    """Yield instances that `narrow` may accept and `wide` may refuse because of a part or a branch."""
    search = _PartSearch(narrow, wide)
    waiting = deque([_Pair(narrow, wide)])
    for number in range(COMPARED_PARTS):
        if not waiting:
            return
        pair = waiting.popleft()
        parts = search.alone(pair)
        yield _in_place(sample(parts.narrow), pair.way)
        if number:  # the roots have been compared
            for value in islice(instances(parts.narrow, parts.wide), INSTANCES_OF_A_PART):
                yield _in_place(value, pair.way)
        waiting += search.below(pair)


class _Pair(NamedTuple):
    """Two schemas for the same place, and the path to it."""

    narrow: Json
    wide: Json
    way: tuple[_Place, ...] = ()


class _PartSearch:
    """The search from the roots of two documents for differing parts, visiting each pair once."""

    def __init__(self, narrow: Json, wide: Json) -> None:
        self.roots = mapping(narrow), mapping(wide)
        self.definitions = tuple(mapping(root.get("$defs")) for root in self.roots)
        self.same_definitions = equal(*self.definitions)
        self.answering = Answering(None)
        """Caches answers about parts obtained while answering about their surroundings."""
        self.seen: dict[tuple[int, int], _Pair] = {}
        """By the `id`s of the schemas, which are kept alive."""

    def below(self, pair: _Pair) -> Iterator[_Pair]:
        """Yield the pairs of parts and branches in which two schemas may differ."""
        for part in self._parts(self._followed(pair)):
            found = self._followed(part)
            key = id(found.narrow), id(found.wide)
            if key not in self.seen and len(found.way) <= COMPARED_LEVELS and self._differs(found):
                self.seen[key] = found
                yield found

    def alone(self, pair: _Pair) -> _Pair:
        """Return two schemas as documents of their own."""
        narrow, wide = (
            {**schema, "$defs": named} if isinstance(schema, dict) and named and refers(schema) else schema
            for schema, named in zip(pair[:2], self.definitions, strict=True)
        )
        return _Pair(narrow, wide)

    def _differs(self, pair: _Pair) -> bool:
        """Return whether it is uncertain that one schema accepts everything that the other does."""
        self.answering.steps = 0
        certain = self.answering.implies(pair.narrow, pair.wide, 0)
        return not certain or not (self.same_definitions or not refers(pair.narrow))

    def _followed(self, pair: _Pair) -> _Pair:
        """Return the targets of two schemas that are references without sibling assertions."""
        narrow, wide = map(dereferenced, pair[:2], self.roots)
        return _Pair(narrow, wide, pair.way)

    def _parts(self, pair: _Pair) -> Iterator[_Pair]:
        narrow, wide, way = pair
        branches, others = _branches(narrow), _branches(wide)
        if branches or others:
            yield from (_Pair(branch, other, way) for branch, other in _pairs_of_branches(branches or [narrow], others or [wide]))
        left, right = mapping(narrow), mapping(wide)
        names = dict.fromkeys([*_names(left), *_names(right)])
        if not names and "items" not in left and "prefixItems" not in left:
            return
        kind = "object" if names else "array"
        around = sample({**mapping(self.alone(pair).narrow), "type": kind})
        if isinstance(around, dict):
            for name in names:
                yield _Pair(_member(left, name), _member(right, name), (*way, (name, around)))
        elif isinstance(around, list):
            for number in range(len(listing(left.get("prefixItems"))) + 1):
                yield _Pair(of_item(left, number), of_item(right, number), (*way, (number, around)))


def _branches(schema: Json) -> list[Json]:
    """Return the schemas one of which every instance satisfies."""
    return [branch for word in UNIONS for branch in listing(mapping(schema).get(word))]


def _pairs_of_branches(branches: list[Json], others: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield pairs of corresponding branches; the first remaining one with all that overlap with it."""
    pairs = paired(others, branches)
    yield from ((branches[now], others[was]) for was, now in pairs)
    known, taken = {now for _, now in pairs}, {was for was, _ in pairs}
    rest = [branch for place, branch in enumerate(branches) if place not in known][:BRANCHES_OF_A_PLACE]
    left = [other for place, other in enumerate(others) if place not in taken][:BRANCHES_OF_A_PLACE]
    for branch in rest:
        near = [other for other in left if not disjoint(branch, other)]
        yield from ((branch, other) for other in near or [False])


def _names(schema: JsonObject) -> Iterator[str]:
    """Yield property names mentioned in a schema, and one for each pattern."""
    yield from mapping(schema.get("properties"))
    for pattern in mapping(schema.get("patternProperties")):
        name = text_of({"pattern": pattern})
        if name.sure:
            yield name.value


def _member(schema: JsonObject, name: str) -> Json:
    """Return the schema of a property."""
    result = of_property(schema, name)
    return {"allOf": result} if len(result) > 1 else result[0] if result else True


def _in_place(value: Json, way: tuple[_Place, ...]) -> Json:
    """Return the enclosing sample of a path's first part, with a value at its end."""
    for name, around in reversed(way):
        if isinstance(around, dict):
            value = {**around, str(name): value}
        elif isinstance(around, list) and isinstance(name, int):
            value = [*around[:name], value, *around[name + 1 :]]
    return value


_INTO_DEFINITIONS = "#/$defs/"
_ROOT = "#"
_ELSEWHERE = frozenset({"$dynamicRef", "$recursiveRef"})
_AGAINST = frozenset({"not", "oneOf", "if", "contains", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"})
"""Keywords under which a narrower schema can make the whole wider."""


def comparable(narrow: Json, wide: Json) -> bool:
    """Return whether each reference in two schemas leads to equal definitions, to a narrower one in `narrow`, or to the root.

    That a root or definition is narrower may be assumed inductively while it is being proven,
    since values are finite: if it holds for all smaller values, it holds for the next.  This requires that nothing negates a
    schema.
    """
    of_narrow, of_wide = _References(narrow), _References(wide)
    references = of_narrow.references | of_wide.references
    if not all(reference.startswith(_INTO_DEFINITIONS) or reference == _ROOT for reference in references):
        return False
    turned = of_narrow.turned or of_wide.turned
    if _ROOT in references and turned:
        return False
    named = (of_narrow.references & of_wide.references) - {_ROOT}  # targets referenced by only one of them are unknown
    left, right = mapping(mapping(narrow).get("$defs")), mapping(mapping(wide).get("$defs"))
    if not named or equal(left, right):
        return True
    return not turned and all(_narrower(left, right, reference.removeprefix(_INTO_DEFINITIONS)) for reference in named)


class _References:
    """The targets of a schema's references, and whether it has a keyword that makes a narrower part into a wider whole."""

    def __init__(self, schema: Json) -> None:
        self.references: set[str] = set()
        self.turned = False
        for node in nodes(schema):
            self.references |= {str(node["$ref"])} if "$ref" in node else set()
            self.references |= {word for word in _ELSEWHERE if word in node}
            self.turned = self.turned or not _AGAINST.isdisjoint(node)


def _narrower(left: dict[str, Json], right: dict[str, Json], name: str) -> bool:
    """Return whether a definition of one schema implies that of the same name in another, if all their references do."""
    return name in left and name in right and implies(left[name], right[name])


Inclusion: TypeAlias = Literal["yes", "no", "unknown"]
WORDS = frozenset({"title", "description", "examples", "default", "$comment", "deprecated", "$schema"})
"""Keywords that do not constrain instances."""


@time_limit()
def includes(wide: Json, narrow: Json) -> tuple[Inclusion, Json]:
    """Return whether a schema accepts everything that another does, with a counterexample if it does not."""
    if certainly_includes(wide, narrow):
        return "yes", None
    narrow_validator, wide_validator = SchemaValidator(narrow, formats=False), SchemaValidator(wide, formats=False)
    most = _tried(narrow, wide)
    for instance in chain(islice(instances(narrow, wide), most), islice(differing_in_a_part(narrow, wide), most)):
        if narrow_validator.is_valid(instance, unsure=False) and not wide_validator.is_valid(instance, unsure=True):
            return "no", instance
    return "unknown", None


def _tried(*schemas: Json) -> int:
    """Return how many instances are tried: fewer if each is checked against very many branches."""
    return min(INSTANCES_COMPARED, 1 + SCHEMAS_ASKED // max(map(_most_about_a_place, schemas)))


def _most_about_a_place(schema: Json) -> int:
    """Return the maximum number of schemas that apply to one value."""
    about: dict[int, int] = {}
    for node in reversed(list(nodes(schema))):
        about[id(node)] = 1 + sum(about.get(id(branch), 1) for _, branch in subschemas(node, IN_PLACE))
    return max(about.values(), default=1)


def certainly_includes(wide: Json, narrow: Json) -> bool:
    """Return whether it is proven that a schema accepts everything that another does."""
    return equal(without_words(wide), without_words(narrow)) or (comparable(narrow, wide) and implies(narrow, wide))


def without_words(schema: Json) -> Json:
    """Return a schema without its top-level annotations."""
    return without(schema, *WORDS)


class Subsumption(Struct, frozen=True):
    """Whether one schema accepts everything that another does, with a counterexample if not."""

    verdict: Literal["yes", "no", "unknown"]
    witness: Json = None
    """Instance that the second schema accepts and the first rejects, if the answer is `no`."""


def subsumes(a: Json, b: Json, documents: Mapping[str, Json] | None = None) -> Subsumption:
    """Return whether `a` accepts every instance that `b` accepts, as `instrc.subsumes` in `public.py` describes."""
    return Subsumption(*includes(_flat(a, documents), _flat(b, documents)))


def _flat(schema: Json, documents: Mapping[str, Json] | None) -> Json:
    """Return a flat schema in the keywords of 2020-12; `flatten` keeps the draft of one with nothing to fold."""
    return upgrade(flatten(schema, documents), documents)
