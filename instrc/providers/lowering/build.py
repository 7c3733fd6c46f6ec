"""Build the schema of a payload within the budgets of the target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import structs

from instrc.problems.targets import BudgetExceeded
from instrc.providers.codec import BoxCodec, Codec, NamesCodec, to_json
from instrc.providers.dialect import Dialect
from instrc.providers.key_renaming import KeyRenamer
from instrc.providers.lowering.context import SAYING_NOTHING, Built, KeyNames, Loss, LoweringOptions, constraints, key_names
from instrc.providers.lowering.intake import Survey
from instrc.providers.lowering.losses import PathChain, pointer_of
from instrc.providers.lowering.rebuild import rebuild
from instrc.providers.lowering.uniform_plans import holds_plan
from instrc.schema.vocabulary import HOLDERS, is_extension
from instrc.schema.walk import map_schemas, redirected, required_names, schemas_under, subschemas
from instrc.text.jsonvalue import Json, JsonObject, as_texts, listing, mapping


def build(flat: Survey, dialect: Dialect, options: LoweringOptions, name: str) -> Built:
    """Build a schema for a target; if a budget requires it, give up order, then typed plans, then strictness."""
    most = dialect.limits.unions
    if most is not None and len(flat.names) > most and _moves_optional(options, dialect) and _optional(flat.schema) > most:
        last = _with_optional_last(flat, dialect, options)
        if _optional(last.schema) > most and not exceeded(last.schema, dialect, name):
            return last  # with a fixed order each of them would be a union
    first = _built(flat, dialect, options)
    over = exceeded(first.schema, dialect, name)
    if not over:
        return first
    for less in easier(options, dialect, flat.schema, over):
        again = _built(flat, dialect, less) if less.ordered == options.ordered else _with_optional_last(flat, dialect, less)
        left = exceeded(again.schema, dialect, name)
        if not left:
            return again
        over = min(over, left, key=_excess)
    if dialect.plain is None:
        return structs.replace(first, problems=tuple(over))
    reason = "is given up, because a budget of the target is exceeded"
    reported = tuple(structs.replace(problem, consequence="it is sent without strictness") for problem in over)
    return structs.replace(
        first, given_up=(Loss("", "strict", value=True, kind="unenforced", reason=reason),), problems=reported, strict=False
    )


def _moves_optional(options: LoweringOptions, dialect: Dialect) -> bool:
    """Return whether optional properties may be moved last, where they do not count against the budget of unions."""
    return dialect.order == "required-first" and options.ordered


def _optional(schema: Json) -> int:
    """Count the optional single-type properties of nested objects, a lower bound for unions if all properties are required."""
    count = 0
    stack = [schema]
    while stack:
        node = mapping(stack.pop())
        required = required_names(node)
        for name, child in mapping(node.get("properties")).items():
            if mapping(child).get("type").__class__ is str:
                count += name not in required
                stack.append(child)
    return count


def _with_optional_last(flat: Survey, dialect: Dialect, options: LoweringOptions) -> Built:
    """Build a schema whose optional properties come last, and record the change."""
    reason = "would ask for more union-typed parameters than are taken, so optional properties come last"
    built = _built(flat, dialect, structs.replace(options, ordered=False))
    return structs.replace(built, given_up=(Loss("", "properties", None, "order", reason),))


def _built(flat: Survey, dialect: Dialect, options: LoweringOptions) -> Built:
    return pass_through(flat, dialect) if dialect.structure == "pass_through" else rebuild(flat, dialect, options)


def _excess(over: Sequence[BudgetExceeded]) -> tuple[int, int]:
    """Return the excess over budgets; the smallest one is reported."""
    return len(over), sum(problem.count - problem.limit for problem in over)


_LEVELS = "levels of nesting"
_COUNTED = HOLDERS | {"enum", "const"}


class Counts(NamedTuple):
    """The sizes of one schema."""

    properties: int
    depth: int
    enum_values: int
    characters: int
    optional: int
    """Number of optional properties, without those behind a reference, as observed at Anthropic."""
    unions: int
    """Number of properties whose own schema is a union, counted in the same way."""


def count(schema: Json) -> Counts:
    """Count the parts of a payload's schema; each definition is counted once, and references are not followed."""
    properties = enum_values = characters = optional = unions = depth = 0
    stack: list[tuple[Json, int, bool]] = [(schema, 0, False)]
    while stack:
        node, level, defined = stack.pop()
        if not isinstance(node, dict):
            continue
        if _is_level(node):
            level += 1
            depth = max(level, depth)
        if _COUNTED.isdisjoint(node):
            continue
        for keyword, value in node.items():
            if keyword not in _COUNTED:
                continue
            if keyword == "properties" and isinstance(value, dict):
                properties += len(value)
                characters += len("".join(value))
                if not defined:
                    optional += len(value.keys() - set(required_names(node)))
                    unions += sum([_is_union(child) for child in value.values()])
            elif keyword == "enum" and isinstance(value, list):
                enum_values += len(value)
                characters += sum(len(item) for item in value if isinstance(item, str))
            elif keyword == "const":
                enum_values += "enum" in node
                characters += len(value) if isinstance(value, str) else 0
            elif keyword == "$defs" and isinstance(value, dict):
                characters += sum(map(len, value))
                stack.extend((child, 0, True) for child in value.values())
                continue
            stack.extend((child, level, defined) for child in schemas_under(keyword, value))
    return Counts(properties, depth, enum_values, characters, optional, unions)


def _is_level(node: JsonObject) -> bool:
    return node.get("type") in ("object", "array")


def _is_union(schema: Json) -> bool:
    return schema.__class__ is dict and ("anyOf" in schema or schema.get("type").__class__ is list)


def deepest(schema: Json) -> str:
    """Return the pointer of the deepest object or array."""
    depth, result = 0, ""
    stack: list[tuple[Json, int, PathChain]] = [(schema, 0, None)]
    while stack:
        node, level, place = stack.pop()
        if not isinstance(node, dict):
            continue
        level += _is_level(node)
        if level > depth:
            depth, result = level, pointer_of(place)
        stack.extend((child, 0 if path[0] == "$defs" else level, (place, path)) for path, child in subschemas(node))
    return result


def exceeded(schema: Json, dialect: Dialect, name: str) -> list[BudgetExceeded]:
    """Return the budgets of a target that one tool exceeds."""
    limits = dialect.limits
    if not dialect.budgeted:
        return []
    sizes = count(schema)
    over = _over(
        dialect,
        name,
        ("properties", sizes.properties, limits.properties),
        (_LEVELS, sizes.depth, limits.depth),
        ("enum values", sizes.enum_values, limits.enum_values),
        ("characters of names and values", sizes.characters, limits.characters),
        ("optional parameters", sizes.optional, limits.optional),
        ("union-typed parameters", sizes.unions, limits.unions),
    )
    return [structs.replace(each, offender=f"{name}{deepest(schema)}") if each.what == _LEVELS else each for each in over]


def _over(dialect: Dialect, offender: str, *uses: tuple[str, int, int | None]) -> list[BudgetExceeded]:
    """Return the uses, by name, that exceed their limit, if there is one."""
    return [
        BudgetExceeded(target=dialect.name, what=what, count=number, limit=limit, offender=offender)
        for what, number, limit in uses
        if limit is not None and number > limit
    ]


def too_many_tools(names: Sequence[str], dialect: Dialect) -> Iterator[BudgetExceeded]:
    """Yield a problem if a request has more tools than the target allows."""
    most = dialect.limits.tools
    if most is not None and len(names) > most:
        yield BudgetExceeded(target=dialect.name, what="tools", count=len(names), limit=most, offender=names[most])


class BudgetUse(NamedTuple):
    """The use of the budgets shared by the strict tools of a request."""

    strict_tools: int = 0
    optional: int = 0
    unions: int = 0

    def with_tool(self, schema: Json) -> BudgetUse:
        """Return the use after adding a tool."""
        sizes = count(schema)
        return BudgetUse(self.strict_tools + 1, self.optional + sizes.optional, self.unions + sizes.unions)

    def over(self, dialect: Dialect, name: str) -> list[BudgetExceeded]:
        """Return the exceeded budgets, with the last added tool as the offender."""
        limits = dialect.limits
        return _over(
            dialect,
            name,
            ("strict tools", self.strict_tools, limits.strict_tools),
            ("optional parameters", self.optional, limits.optional),
            ("union-typed parameters", self.unions, limits.unions),
        )


_OF_THE_REST = frozenset({"additionalProperties", "unevaluatedProperties"})
_LISTING = frozenset({"const", "enum"})
_COMBINATORS = frozenset({"anyOf", "oneOf", "allOf"})


def pass_through(seen: Survey, dialect: Dialect) -> Built:
    """Pass a schema through with new keys, and with an object at its root if the target requires one."""
    flat = schema = seen.schema
    losses: list[Loss] = []
    keys = key_names(dialect.key, seen.names)
    if not dialect.comments and any(map(_is_comment, seen.words)):
        losses += _of_comments(flat)
        schema = map_schemas(flat, _without_comments)
    codec: Codec = None
    back = keys.renamed()
    if back:
        schema = _with_names(schema, keys)
        losses += _of_names(flat)
    if back or (dialect.fold and _lists_words(seen.nodes)):
        codec = NamesCodec(back, dialect.fold)
    if dialect.root == "any":
        return Built(schema, {"codec": to_json(codec)}, losses, back=back)
    root = _object_at_root(schema, losses)
    if root is not None and root.get("type") == "object" and (dialect.root == "object" or root.keys().isdisjoint(_COMBINATORS)):
        if dialect.root == "plain" and "$schema" in root:
            root = {keyword: value for keyword, value in root.items() if keyword != "$schema"}
        return Built(root, {"codec": to_json(codec)}, losses, back=back)
    return Built(_boxed(schema if root is None else root), {"codec": to_json(BoxCodec("value", codec))}, losses, back=back)


def _is_comment(keyword: str) -> bool:
    """Return whether a keyword is written for people or programs."""
    return keyword == "$comment" or is_extension(keyword)


def _of_comments(flat: Json) -> Iterator[Loss]:
    """Yield the losses of keywords written for programs."""
    for place, keyword, value in constraints(flat):
        if is_extension(keyword):
            yield Loss(place, keyword, value, "annotation", "is not for models")


def _without_comments(node: Json) -> Json:
    if not isinstance(node, dict) or not any(map(_is_comment, node)):
        return node
    return {keyword: value for keyword, value in node.items() if not _is_comment(keyword)}


def _with_names(schema: Json, keys: KeyNames) -> Json:
    """Return a schema with the sent property names."""
    renamer = KeyRenamer(schema, keys.sent)

    def with_values(node: Json) -> Json:
        """Rename keys in listed values, while properties still have their declared names."""
        if not isinstance(node, dict):
            return node
        new: JsonObject = dict(node)
        for keyword, value in node.items():
            if keyword in {"const", "default", "example"}:
                new[keyword] = renamer.converted(value, [node])
            elif keyword in {"enum", "examples"} and isinstance(value, list):
                new[keyword] = [renamer.converted(item, [node]) for item in value]
        return new

    def with_names(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        new: JsonObject = {keyword: node[keyword] for keyword in node if keyword != "propertyNames"}  # it looks at names
        for keyword, value in new.items():
            if keyword in {"properties", "dependentSchemas"} and isinstance(value, dict):
                new[keyword] = {keys.sent(name): child for name, child in value.items()}
            elif keyword == "required" and isinstance(value, list):
                new[keyword] = [keys.sent(name) for name in as_texts(value)]
            elif keyword == "dependentRequired" and isinstance(value, dict):
                new[keyword] = {
                    keys.sent(name): [keys.sent(needed) for needed in as_texts(needs)] for name, needs in value.items()
                }
        return new

    return map_schemas(map_schemas(schema, with_values), with_names)


def _of_names(flat: Json) -> Iterator[Loss]:
    """Yield the losses of keywords about names, if some names are changed."""
    held = list(constraints(flat))
    patterned = {place for place, keyword, _ in held if keyword == "patternProperties"}
    for place, keyword, value in held:
        if keyword == "propertyNames":
            yield Loss(place, keyword, value, "unenforced", "is left out, because keys are sent under other names")
            yield Loss(place, keyword, value, "narrowed", "is left out, which narrows the schema inside a negation")
        elif keyword == "patternProperties":
            yield Loss(place, keyword, value, "unenforced", "does not see the names of keys that are sent under others")
            yield Loss(place, keyword, value, "narrowed", "sees other names where keys are sent under them")
        elif keyword in _OF_THE_REST and place in patterned:
            yield Loss(place, keyword, value, "unenforced", "looks at other names where keys are sent under them")
        else:
            continue
        inside = value if keyword == "propertyNames" else {"properties": value if keyword == "patternProperties" else {"": value}}
        for below, part, item in constraints(inside, falsity=True):
            if below or keyword == "propertyNames":
                yield Loss(place, part, item, "part", f"is part of {keyword}")


def _lists_words(nodes: Iterable[Json]) -> bool:
    """Return whether a string is listed whose case an answer might change."""
    return any(
        isinstance(node.get("const"), str) or any(isinstance(value, str) for value in listing(node.get("enum")))
        for node in nodes
        if isinstance(node, dict) and not _LISTING.isdisjoint(node)
    )


def _object_at_root(schema: Json, losses: list[Loss]) -> JsonObject | None:
    """Return a schema with an object at the root, if it accepts only objects, or `None` if it is not an object schema."""
    if schema is True or (isinstance(schema, dict) and not schema.keys() - SAYING_NOTHING):
        losses.append(Loss("", "type", None, "convention", "is not given: a tool's arguments are an object"))
        return {"type": "object", **mapping(schema)}
    if not isinstance(schema, dict):
        return None
    if "type" not in schema and "properties" in schema and schema.keys().isdisjoint(_COMBINATORS):
        losses.append(Loss("", "type", None, "convention", "is not given: what has properties is taken for an object"))
        return {"type": "object", **schema}
    return schema


def _boxed(schema: Json) -> Json:
    """Return an object schema with the value in one property."""
    inner: Json = schema
    if isinstance(schema, dict):
        inner = {key: value for key, value in schema.items() if key not in {"$defs", "$schema"}}
    boxed: JsonObject = {"type": "object", "properties": {"value": inner}, "required": ["value"], "additionalProperties": False}
    if isinstance(schema, dict) and "$defs" in schema:
        boxed["$defs"] = schema["$defs"]
    return redirected(boxed, {"#": "#/properties/value"})


def easier(options: LoweringOptions, dialect: Dialect, flat: Json, over: Sequence[BudgetExceeded]) -> Iterator[LoweringOptions]:
    """Yield the options to try in turn if budgets are exceeded: optional properties last, then uniform plans."""
    movable = _moves_optional(options, dialect)
    if movable:
        yield structs.replace(options, ordered=False)
    if dialect.structure != "pass_through" and not options.uniform and holds_plan(flat):
        uniform = "; ".join(problem.excess for problem in over)
        yield structs.replace(options, uniform=uniform)
        if movable:
            yield structs.replace(options, uniform=uniform, ordered=False)
