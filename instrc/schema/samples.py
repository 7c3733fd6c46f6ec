"""Generate instances of schemas: one small sample, or many that may distinguish two schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, field

from instrc.problems.errors import CompileError
from instrc.schema.flattening.flattener import intersect
from instrc.schema.kinds import as_decimal, is_number, types_of, unique
from instrc.schema.laws.numbers import bound
from instrc.schema.patterns import REGEX_SECONDS, in_time, search, time_limit
from instrc.schema.validation import DefinitionsValidator, is_valid
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import local_target, nodes, required_names, subschemas, without
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, freeze, listing, mapping
from instrc.text.limits import BRANCHES_OF_A_PLACE

if TYPE_CHECKING:
    from fractions import Fraction

SAMPLE_LEVELS: Final = 120
"""Maximum nesting of a sample value."""
SAMPLE_OPTIONAL_LEVELS: Final = 4
"""Maximum levels of a sample with optional properties and items; deeper ones have only what is required."""
SAMPLE_VALUES: Final = 5000
"""Maximum values in one sample: a schema that requires itself has no complete sample."""
SAMPLE_JOINED: Final = 20
"""Number of schemas in a conjunction that count as one value; more than `SAMPLE_VALUES` count more than once."""
SAMPLE_TRIES: Final = 12
"""Maximum values tried for one schema in a sample."""
SAMPLE_TEXTS: Final = 50
"""Number of distinct texts in a sample for one pattern or format."""
SAMPLE_CHARACTERS: Final = 20_000
"""Maximum characters of a text in a sample; a schema that requires more has no sample."""
_OF_FORMATS = {
    "date": ("2026-01-02", "2026-01-03", "2026-02-01"),
    "date-time": ("2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z", "2026-02-01T03:04:05Z"),
    "duration": ("P1D", "PT1H", "P2W"),
    "email": ("a@example.org", "b@example.org", "c@example.org"),
    "hostname": ("example.org", "a.example.org", "b.example.org"),
    "idn-email": ("a@example.org", "b@example.org", "c@example.org"),
    "idn-hostname": ("example.org", "a.example.org", "b.example.org"),
    "ipv4": ("192.0.2.1", "192.0.2.2", "192.0.2.3"),
    "ipv6": ("2001:db8::1", "2001:db8::2", "2001:db8::3"),
    "iri": ("https://example.org/a", "https://example.org/b", "https://example.org/c"),
    "iri-reference": ("https://example.org/a", "/b", "c"),
    "json-pointer": ("/a", "/b", ""),
    "regex": ("a", "b", "^c$"),
    "relative-json-pointer": ("0", "1/a", "2/b"),
    "time": ("03:04:05Z", "04:04:05Z", "05:04:05Z"),
    "uri": ("https://example.org/a", "https://example.org/b", "https://example.org/c"),
    "uri-reference": ("https://example.org/a", "/b", "c"),
    "uri-template": ("https://example.org/{a}", "https://example.org/{b}", "c"),
    "uuid": (
        "123e4567-e89b-12d3-a456-426614174000",
        "123e4567-e89b-12d3-a456-426614174001",
        "123e4567-e89b-12d3-a456-426614174002",
    ),
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class MadeText(NamedTuple):
    """A text, and whether it satisfies its schema."""

    value: str
    sure: bool


def text_of(schema: JsonObject, nth: int = 0) -> MadeText:
    """Return a text for a schema; texts for different numbers `nth` differ where the schema allows it."""
    pattern, named = schema.get("pattern"), str(schema.get("format"))
    plain = _plain(schema, nth)
    if not isinstance(pattern, str) and named not in _OF_FORMATS:
        return MadeText(plain, _fits(schema, plain))
    found = in_time(lambda: list(islice(_texts(schema, named, pattern), min(nth, SAMPLE_TEXTS) + 1)))
    return MadeText(found[min(nth, len(found) - 1)], sure=True) if found else MadeText(plain, sure=False)


def _plain(schema: JsonObject, nth: int) -> str:
    """Return a text of one repeated letter with the required length, or the empty text if that is too long."""
    least, most = bound(schema, "minLength"), bound(schema, "maxLength")
    length = max(1 if least is None else int(min(least, SAMPLE_CHARACTERS)), 1)
    length += nth // len(_LETTERS) * (most is None)
    return _LETTERS[nth % len(_LETTERS)] * length if most is None or length <= most else ""


def _fits(schema: JsonObject, text: str) -> bool:
    least, most = bound(schema, "minLength"), bound(schema, "maxLength")
    return (least is None or least <= len(text)) and (most is None or len(text) <= most)


def _texts(schema: JsonObject, named: str, pattern: Json) -> Iterator[str]:
    """Yield texts that satisfy a schema with a pattern or a known format."""
    for text in _OF_FORMATS.get(named) or (*(_plain(schema, number) for number in range(len(_LETTERS))), ""):
        if _fits(schema, text) and (not isinstance(pattern, str) or search(pattern, text) is not False):
            yield text
    least, most = bound(schema, "minLength") or 0, bound(schema, "maxLength")
    if isinstance(pattern, str) and least <= SAMPLE_CHARACTERS:
        from instrc.schema.formats import CHECKS
        from instrc.schema.patterns import matching_texts

        longest = None if most is None else int(min(most, SAMPLE_CHARACTERS))
        for text in matching_texts(pattern, max(int(least), 1), longest):
            if named not in CHECKS or CHECKS[named](text):
                yield text


_JUDGED = frozenset(
    {
        *("not", "if", "enum", "contains", "uniqueItems", "unevaluatedItems", "maxProperties", "propertyNames"),
        *("patternProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
    }
)
"""Keywords that a generated value may violate although it satisfies the others."""
_CHOICES = ("anyOf", "oneOf")
_TYPES: JsonArray = ["string", "integer", "object", "array", "boolean", "null"]
"""Types in the order in which they are tried if a schema names none."""
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
"""Keywords that depend on their siblings, so they are checked last."""


def sample(schema: Json) -> Json:
    """Return an instance, with optional properties near the root and without them further down.

    If no sample satisfies the schema, the result is the first attempt.
    """
    with time_limit(REGEX_SECONDS):
        return _Making(schema).made(schema, 0).value


class _Made(NamedTuple):
    """A value, and whether it is known to satisfy its schema."""

    value: Json
    sure: bool


class _Making:
    """Generates a sample within a limited number of schemas of one document."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self.left = SAMPLE_VALUES
        self.judge = DefinitionsValidator(mapping(root).get("$defs"))

    def made(self, schema: Json, level: int, nth: int = 0) -> _Made:
        """Return an instance of a schema somewhere in the document, or null once it has become too large.

        Instances for different numbers `nth` differ where the schema allows it.
        """
        self.left -= 1
        if self.left < 0 or level > SAMPLE_LEVELS:
            return _Made(None, sure=False)
        if not isinstance(schema, dict):
            return _Made(text_of({}, nth).value, schema is not False)
        first: _Made | None = None
        for made in islice(self._tries(schema, level, nth), SAMPLE_TRIES):
            if made.sure and (_JUDGED.isdisjoint(schema) or self.judge.accepts(schema, made.value)):
                return made
            first = first or made
        return first._replace(sure=False) if first else _Made(None, sure=False)

    def _joined(self, *schemas: Json) -> Json:
        """Return one schema for a conjunction, or the first schema if others are malformed; large ones count as many values."""
        asking = [each for each in schemas if each is not True and each is not None and each != {}]
        if len(asking) < 2:
            return asking[0] if asking else True
        count = sum(1 for _ in islice(nodes(*asking), SAMPLE_VALUES * SAMPLE_JOINED))
        self.left -= count // SAMPLE_JOINED * (1 + count // SAMPLE_VALUES)
        try:
            return intersect(asking) if self.left >= 0 else asking[0]
        except CompileError:
            return asking[0]

    def _tries(self, schema: JsonObject, level: int, nth: int) -> Iterator[_Made]:
        """Yield values for a schema, likeliest first."""
        if "$ref" in schema:
            yield self.made(self._joined(without(schema, "$ref"), local_target(self.root, schema["$ref"])), level + 1, nth)
        elif "const" in schema:
            yield _Made(schema["const"], sure=True)
        elif listed := listing(schema.get("enum")):
            yield from (_Made(listed[(nth + number) % len(listed)], sure=True) for number in range(len(listed)))
        elif choice := next((word for word in _CHOICES if listing(schema.get(word))), None):
            yield from self._of_branches(schema, choice, level, nth)
        elif joined := listing(schema.get("allOf")):
            self.left -= len(joined)
            yield self.made(self._joined(without(schema, "allOf", *_UNEVALUATED), *joined), level + 1, nth)
        else:
            yield from self._of_types(schema, level, nth)
            for word, part in (("then", schema.get("if", True)), ("else", True)):
                if "if" in schema and word in schema:
                    yield self.made(
                        self._joined(without(schema, "if", "then", "else", *_UNEVALUATED), part, schema[word]), level + 1, nth
                    )

    def _of_branches(self, schema: JsonObject, choice: str, level: int, nth: int) -> Iterator[_Made]:
        beside = without(schema, choice, *_UNEVALUATED)
        branches = listing(schema[choice])
        if level > SAMPLE_OPTIONAL_LEVELS:
            branches = sorted(branches, key=_holds_others)
        for branch in branches:
            made = self.made(self._joined(beside, branch), level + 1, nth)
            alone = choice == "anyOf" or len(branches) == 1 or self.judge.accepts({choice: branches}, made.value)
            yield made._replace(sure=made.sure and alone)
        if choice == "oneOf":
            for number, branch in enumerate(branches):
                others: JsonArray = [*branches[:number], *branches[number + 1 :]]
                yield self.made(self._joined(beside, branch, {"not": {"anyOf": others}}), level + 1, nth)

    def _of_types(self, schema: JsonObject, level: int, nth: int) -> Iterator[_Made]:
        types = schema.get("type", ["object", "string"] if "properties" in schema else _TYPES)
        for name in listing(types) if isinstance(types, list) else [types]:
            match name:
                case "object":
                    yield self._object(schema, level, nth, optional=level < SAMPLE_OPTIONAL_LEVELS)
                    yield self._object(schema, level, nth, optional=False)
                case "array":
                    yield self._array(schema, level, nth)
                case "integer" | "number":
                    yield from _numbers({**schema, "type": name}, nth)
                case "boolean":
                    yield from (_Made(value, sure=True) for value in ((True, False) if nth % 2 == 0 else (False, True)))
                case "null":
                    yield _Made(None, sure=True)
                case _:
                    for number in range(3):
                        text = text_of(schema, nth + number)
                        yield _Made(text.value, text.sure)

    def _object(self, schema: JsonObject, level: int, nth: int, *, optional: bool) -> _Made:
        required = dict.fromkeys(required_names(schema))
        result: JsonObject = {}
        sure = True
        properties = mapping(schema.get("properties"))
        for name in (*properties, *(name for name in required if name not in properties)):
            if name in required or optional:
                made = self.made(self._member(schema, name), level + 1, nth)
                if name in required or made.sure:
                    result[name] = made.value
                    sure = sure and made.sure
        wanted = _count(schema, "minProperties")
        for number in range(wanted - len(result)):
            name = self._name(schema, number)
            made = self.made(self._member(schema, name), level + 1, nth)
            result[name] = made.value
            sure = sure and made.sure
        return _Made(result, sure and len(result) >= wanted)

    def _member(self, schema: JsonObject, name: str) -> Json:
        """Return the schema of the value of a key."""
        if name in (properties := mapping(schema.get("properties"))):
            return properties[name]
        from instrc.schema.patterns import may_match

        patterns = mapping(schema.get("patternProperties"))
        self.left -= len(patterns) // SAMPLE_JOINED
        named = [each for pattern, each in (patterns if self.left >= 0 else {}).items() if may_match(pattern, name)]
        return self._joined(*named) if named else schema.get("additionalProperties", True)

    def _name(self, schema: JsonObject, number: int) -> str:
        """Return an additional key for an object."""
        if isinstance(rule := schema.get("propertyNames"), dict):
            return str(self.made({"type": "string", **rule}, 0, number).value)
        pattern = next(iter(mapping(schema.get("patternProperties"))), None)
        if pattern is not None and schema.get("additionalProperties") is False:
            return text_of({"pattern": pattern}, number).value
        return f"k{number}"

    def _array(self, schema: JsonObject, level: int, nth: int) -> _Made:
        prefix = listing(schema.get("prefixItems"))
        least, most = _count(schema, "minItems"), bound(schema, "maxItems")
        items: JsonArray = []
        sure = True

        def add(item: Json) -> None:
            nonlocal sure
            made = self.made(item, level + 1, nth + len(items))
            items.append(made.value)
            sure = sure and made.sure

        for child in prefix[: max(least, len(prefix))]:
            add(child)
        rest = schema.get("items", {})
        if "contains" in schema:
            for _ in range(_count(schema, "minContains") or 1):
                add(self._joined(rest, schema["contains"]))
        wanted = max(least, 1 if level < SAMPLE_OPTIONAL_LEVELS and not items and (most is None or most > 0) else 0)
        while len(items) < wanted and rest is not False:
            add(rest)
        return _Made(items, sure and len(items) >= least)


def _holds_others(branch: Json) -> bool:
    """Return whether values of a schema may contain other values."""
    return isinstance(branch, dict) and ("$ref" in branch or branch.get("type") in ("object", "array"))


def _numbers(schema: JsonObject, nth: int) -> Iterator[_Made]:
    """Yield integers or multiples near the lower bound, then one between the bounds."""
    for number in range(nth, nth + 3):
        yield _number_of(schema, _multiple(schema, number))
    if schema.get("type") != "integer" and "multipleOf" not in schema:
        lows, highs = _bounds(schema, "minimum", "exclusiveMinimum"), _bounds(schema, "maximum", "exclusiveMaximum")
        low = max(lows, default=min(highs, default=as_decimal(1)) - 1)
        yield _number_of(schema, (low + min(highs, default=low + 1)) / 2)


_OF_NUMBERS = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _number_of(schema: JsonObject, value: Fraction) -> _Made:
    whole = value.denominator == 1 or abs(value) >= _WHOLE_FROM
    number: Json = int(value) if whole else float(value)  # llguidance does not accept `2.0`
    return _Made(number, is_valid(number, {word: schema[word] for word in _OF_NUMBERS if word in schema}))


def _multiple(schema: JsonObject, nth: int) -> Fraction:
    """Return the nth multiple above the lower bound, or near zero if there is none."""
    step = as_decimal(bound(schema, "multipleOf") or 1)
    step = as_decimal(step.numerator) if schema.get("type") == "integer" else step  # an integer is one of 3/2 if it is one of 3
    above, below = bound(schema, "exclusiveMinimum"), bound(schema, "exclusiveMaximum")
    lows, highs = _bounds(schema, "minimum", "exclusiveMinimum"), _bounds(schema, "maximum", "exclusiveMaximum")
    if lows:
        value = -(-max(lows) // step) * step
        value += step if above is not None and value <= as_decimal(above) else 0
    else:
        value = min([*highs, as_decimal(0)]) // step * step
        value -= step if below is not None and value >= as_decimal(below) else 0
    return value + nth * step if not highs or value + nth * step <= min(highs) else value


def _bounds(schema: JsonObject, *keywords: str) -> list[Fraction]:
    return [as_decimal(limit) for keyword in keywords if (limit := bound(schema, keyword)) is not None]


def _count(schema: JsonObject, keyword: str) -> int:
    return int(min(bound(schema, keyword) or 0, SAMPLE_VALUES))


INSTANCES: Final = 4000
"""Maximum instances that are tried."""
INSTANCES_AT_A_PLACE: Final = 12
"""Maximum values tried at one place inside a larger value."""
INSTANCE_DEPTH: Final = 6
"""Maximum nesting of an instance."""
LARGEST_INSTANCE: Final = 100
"""Maximum properties or items of an instance generated for its size."""
NAMED_DEPTH: Final = 2
"""Maximum nesting at which names from elsewhere in the schema are tried."""
INSTANCE_NODES: Final = 200
"""Maximum schemas searched for values and names of witnesses."""
_OF_TYPE: dict[str, list[Json]] = {
    "null": [None],
    "boolean": [True, False],
    "integer": [0, 1, -1, 7],
    "number": [0.5, 0, 1, -1.5],
    "string": ["", "a", "0", "2026-01-01", "a@example.org"],
    "array": [[]],
    "object": [{}],
}


def instances(*schemas: Json) -> Iterator[Json]:
    """Yield instances suggested by schemas, likelier ones first; the first schema is primary, the others add values to try."""
    extra = unique(value for schema in schemas for node in islice(nodes(schema), INSTANCE_NODES) for value in _values(node))
    seen: set[object] = set()
    for value in islice(_of(schemas[0], schemas, _Search(schemas[0], extra), 0), INSTANCES):
        key = freeze(value)
        if key not in seen:
            seen.add(key)
            yield value


_WHOLE_FROM = 2**53
"""Number from which a float has no fractional part; far beyond it, not every integer has a float."""


def _values(node: JsonObject) -> list[Json]:
    """Return values near those named in a schema."""
    found: list[Json] = []
    if "const" in node:
        found.append(node["const"])
    if isinstance(pattern := node.get("pattern"), str):
        found += _texts_of_pattern(pattern)
    found += listing(node.get("enum"))
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        bound = node.get(keyword)
        if is_number(bound):
            found += [bound, bound + 1, bound - 1]
            if abs(bound) < _WHOLE_FROM:
                found.append(bound + 0.5)
    if is_number(factor := node.get("multipleOf")) and factor < _WHOLE_FROM:
        found += [factor * times for times in (0.5, 1.5, 30.5)]
    for keyword in ("minLength", "maxLength"):
        length = node.get(keyword)
        if is_number(length) and 0 <= length <= 1000:
            found += ["a" * int(length), "a" * (int(length) + 1), "a" * max(int(length) - 1, 0)]
    return found


_OF_CLASS = {"d": "1", "w": "a", "s": " ", "S": "a", "D": "a", "W": "-"}
_SHORT = ["a", "b", "1", "A", "-", " ", "", "aa", "0"]


def _texts_of_pattern(pattern: str) -> list[str]:
    """Return a few texts that match a pattern, built from its letters."""
    plain = re.sub(r"\\(.)", lambda match: _OF_CLASS.get(match[1], match[1]), pattern)
    words = [*re.findall(r"\w+", plain), *_SHORT]
    spread = [*words, *(one + other for one in words[:4] for other in words[:4])]
    return list(islice((text for text in spread if search(pattern, text)), 3))


class _Search(Struct, frozen=True, eq=False):
    """The state shared by all places of one search."""

    root: Json
    extra: list[Json]
    """Values to try at any place."""
    known: dict[tuple[int, ...], list[Json]] = field(default_factory=dict)
    """Candidates by level and the `id`s of the schemas at a place, reused in recursion."""

    def values_of(self, schema: Json, others: list[Json], depth: int) -> list[Json]:
        """Return the first instances of a schema nested in another one."""
        key = (depth, id(schema), *map(id, others))
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = list(islice(_of(schema, others, self, depth), INSTANCES_AT_A_PLACE))
        return found


def _of(schema: Json, holders: Iterable[Json], search: _Search, depth: int) -> Iterator[Json]:
    """Yield instances of one schema; `holders` are all schemas known to apply to the same place."""
    if schema is False:
        return
    node = mapping(schema)
    target = local_target(search.root, node.get("$ref"))
    if target is not None:
        node = {**mapping(target), **without(node, "$ref")}
    names = types_of(node.get("type")) or tuple(_OF_TYPE)
    around = _in_place(node, *holders)
    yield from _values(node)
    for holder in around[1:]:
        yield from _values(holder)
    yield from [_OF_TYPE[name][0] for name in names if name not in {"array", "object"}]
    if depth < INSTANCE_DEPTH:
        objects = _objects(node, around, search, depth) if "object" in names else iter(())
        arrays = _arrays(node, around, search, depth) if "array" in names else iter(())
        yield from _in_turn(objects, arrays)
    for name in names:
        yield from _OF_TYPE[name]
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in listing(node.get(keyword)) if depth < INSTANCE_DEPTH else ():
            yield from _of(branch, around, search, depth + 1)
    yield from search.extra


def _in_place(node: JsonObject, *holders: Json) -> list[JsonObject]:
    """Return schemas for one place, including their in-place subschemas."""
    found = [node, *(holder for holder in holders if isinstance(holder, dict))]
    for holder in found[:BRANCHES_OF_A_PLACE]:
        below = [child for _, child in subschemas(holder, IN_PLACE) if isinstance(child, dict)]
        found += below[:BRANCHES_OF_A_PLACE]
    return found


def _objects(node: JsonObject, around: list[JsonObject], search: _Search, depth: int) -> Iterator[Json]:
    """Yield objects: the smallest valid one, then variations of one property at a time, then all properties."""
    properties: dict[str, list[Json]] = {}
    names = _names(*around) if depth < NAMED_DEPTH else []
    further: list[Json] = []
    for holder in around:
        further += [holder[keyword] for keyword in ("additionalProperties", "unevaluatedProperties") if keyword in holder]
        further += mapping(holder.get("patternProperties")).values()
        for name, schema in mapping(holder.get("properties")).items():
            properties.setdefault(name, []).append(schema)
    required = dict.fromkeys(required_names(node))
    listed = mapping(node.get("properties"))
    choices: dict[str, list[Json]] = {}
    for name in dict.fromkeys([*required, *properties, *names, "another", ""]):
        own = listed.get(name)
        lead = own if own is not None else node.get("additionalProperties", True)
        others = [*properties.get(name, []), *further]
        choices[name] = search.values_of(lead, others, depth + 1)
    least = {name: choices[name][0] for name in required if choices[name]}
    yield least
    for count in _sizes(around, "minProperties", "maxProperties"):
        yield {**least, **{f"p{number}": None for number in range(count - len(least))}}
    for name, values in choices.items():
        for value in values:
            yield {**least, name: value}
    for name in required:
        yield {key: value for key, value in least.items() if key != name}
    yield {name: values[0] for name, values in choices.items() if values}


def _names(*schemas: Json) -> list[str]:
    """Return property names mentioned anywhere in schemas, and names that match their patterns."""
    found: dict[str, None] = {}
    for node in islice(nodes(*schemas), INSTANCE_NODES):
        for keyword in ("properties", "dependentSchemas", "dependentRequired"):
            found.update(dict.fromkeys(mapping(node.get(keyword))))
        for regex in mapping(node.get("patternProperties")):
            found.update(dict.fromkeys(_texts_of_pattern(regex)))
    return list(found)[:20]


def _sizes(around: list[JsonObject], *keywords: str) -> Iterator[int]:
    """Yield sizes just within and just beyond the bounds of schemas."""
    sizes = {size for holder in around for keyword in keywords if is_number(size := holder.get(keyword))}
    for size in sorted(sizes)[:4]:
        yield from (each for each in (int(size) + 1, int(size)) if 0 < size <= LARGEST_INSTANCE)


def _arrays(node: JsonObject, around: list[JsonObject], search: _Search, depth: int) -> Iterator[Json]:
    """Yield arrays: an empty one, one item and a few items of each kind."""
    yield []
    others = [holder[word] for word in ("items", "contains", "unevaluatedItems") for holder in around if word in holder]
    others += [schema for holder in around for schema in listing(holder.get("prefixItems"))]
    prefix = listing(node.get("prefixItems"))
    firsts = [next(iter(search.values_of(schema, [], depth + 1)), None) for schema in prefix[:50]]
    items = search.values_of(node.get("items", True), others, depth + 1)
    least = node.get("minItems")
    count = int(least) if is_number(least) and 0 <= least <= 100 else 0
    for count in _sizes(around, "minItems", "maxItems"):
        yield [*firsts, *items, *range(count)][:count]
    for item in items:
        yield [*firsts, item]
        if count:
            yield [item] * count
        yield [item, item]
    yield items
    yield firsts


def _in_turn(one: Iterator[Json], other: Iterator[Json]) -> Iterator[Json]:
    """Yield from two iterators alternately, then the rest of the longer one."""
    while True:
        try:
            yield next(one)
        except StopIteration:
            yield from other
            return
        one, other = other, one
