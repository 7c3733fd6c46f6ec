"""Lower a schema to a target: the payload in its envelope, the way back, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from instrc.jsonvalue import Json, at, pointer
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.targets import BudgetExceeded, LossyStrict, LossyTarget
from instrc.targets import budgets
from instrc.targets.carry import renamed
from instrc.targets.catalogue import dialect
from instrc.targets.dialect import Dialect
from instrc.targets.envelopes import filled
from instrc.targets.fit import Fitter
from instrc.targets.losses import Loss
from instrc.targets.names import KeyNames, legal
from instrc.targets.notes import joined
from instrc.targets.positions import ANNOTATIONS, subschemas
from instrc.targets.reading import read
from instrc.targets.reverse import VERSION, prune
from instrc.targets.spelling import spelled

UNROLL = 3
"""How often a recursive reference is written out where the target keeps none."""

META_KEY = "dev.instrc/map"
"""Where a tool for MCP carries its map, below `_meta`."""


@dataclass(frozen=True, slots=True)
class Lowering:
    """What a schema becomes for a target."""

    payload: Json
    """The schema in the exact envelope of the target, ready to be sent."""
    map: Json
    """The way back for answers, as plain JSON: give it to `lift`."""
    losses: tuple[Loss, ...]
    """Whatever the payload does not say as the schema said it."""
    problems: tuple[Problem, ...] = ()
    """Warnings: grave losses, budgets that were exceeded and what was done about it."""
    schema: Json = field(default=True, repr=False)
    """The payload's schema in standard JSON Schema, whatever the target's spelling."""


class Tool(NamedTuple):
    """A schema with the name and the description under which a model is shown it."""

    name: str
    schema: Json
    description: str | None = None


def lower(
    schema: Json,
    target: str | Dialect = "openai",
    name: str = "tool",
    *,
    description: str | None = None,
    ordered: bool = True,
    unroll: int = UNROLL,
    recursion: str | None = None,
    strict: bool = False,
    documents: Mapping[str, Json] | None = None,
    report: Report | None = None,
) -> Lowering:
    """Fit a JSON Schema to a target.

    `target` is a name that `targets()` lists, or a `Dialect` of your own.
    `ordered` keeps the order of properties where the target would move optional ones.
    `unroll` says how often a recursive reference is written out where the target keeps none;
    `recursion` overrides what the target does about it: `keep`, `unroll` or `refuse`.
    With `strict` each grave loss is an error.  Problems go to `report`; without one, errors raise a `CompileError`.
    """
    aimed = dialect(target)
    usable, losses = _usable(schema, documents)
    result = _lowered(usable, losses, aimed, name, description, ordered=ordered, unroll=unroll, recursion=recursion)
    result = _as_written(result, schema)
    return _reported(result, aimed, strict=strict, report=report)


_FLAT_FOR = {"unevaluatedProperties": "additionalProperties", "unevaluatedItems": "items"}
"""What flattening turns keywords into: a loss of the one is a loss of the other."""


def _as_written(result: Lowering, schema: Json) -> Lowering:
    """Name the keywords of the schema as it was written beside those of the flat one."""
    lost = {loss.keyword for loss in result.losses}
    if "false" in lost:  # flattening found a contradiction; which of its parts an answer breaks cannot be told beforehand
        parts = (
            Loss(place, keyword, value, "part", "is part of a contradiction") for place, keyword, value in _constraints(schema)
        )
        return replace(result, losses=(*result.losses, *parts))
    if lost.isdisjoint(_FLAT_FOR.values()):
        return result
    written = {keyword for keyword, flat in _FLAT_FOR.items() if flat in lost and _mentions(schema, keyword)}
    if not written:
        return result
    more = [
        replace(loss, keyword=keyword, kind="part" if loss.kind == "unenforced" else loss.kind)
        for keyword in sorted(written)
        for loss in result.losses
        if loss.keyword == _FLAT_FOR[keyword]
    ]
    return replace(result, losses=(*result.losses, *more))


def _constraints(schema: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield the constraints of a schema and their places."""
    stack: list[tuple[str, Json]] = [("", schema)]
    while stack:
        place, node = stack.pop()
        if isinstance(node, dict):
            yield from ((place, keyword, value) for keyword, value in node.items() if keyword not in ANNOTATIONS)
            stack.extend((place + pointer(path), child) for path, child in subschemas(node))


def _mentions(schema: Json, keyword: str) -> bool:
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if keyword in node:
                return True
            stack.extend(child for _, child in subschemas(node))
    return False


def _usable(schema: Json, documents: Mapping[str, Json] | None) -> tuple[Json, list[Loss]]:
    """Return a flat schema in the words of 2020-12."""
    from instrc.schema.flatten import flatten

    readable, losses = read(schema)
    return flatten(readable, documents), losses


def _lowered(
    flat: Json,
    read_losses: Iterable[Loss],
    aimed: Dialect,
    name: str,
    description: str | None,
    *,
    ordered: bool,
    unroll: int,
    recursion: str | None = None,
    relaxed: tuple[Problem, ...] = (),
) -> Lowering:
    """Build payload, map and losses; `relaxed` are the exceeded budgets for which strictness was given up."""
    if aimed.structure == "kept":
        built = _kept(flat, aimed)
    else:
        built = _fitted(flat, aimed, ordered=ordered, unroll=unroll, recursion=recursion)
    sent_name = legal(name, aimed.tool_name, "tool") if aimed.envelope != "@schema" else name
    schema = built.schema
    said, schema = _description(schema, description, flat, aimed)
    overflow = None
    if said is not None and aimed.limits.description is not None and len(said) > aimed.limits.description:
        said, overflow = _cut(said, aimed.limits.description)
        schema = {**schema, "description": joined(overflow, schema.get("description"))}
    record: dict[str, Json] = {"instrc": VERSION, "target": aimed.name, "tool": {"name": name, "sent": sent_name}}
    record["keys"] = list(schema.get("properties", ())) if isinstance(schema, dict) else []
    record |= built.record
    record["schema"] = flat
    losses = [*read_losses, *built.losses]
    problems: list[Problem] = list(relaxed)
    envelope = aimed.plain if relaxed and aimed.plain is not None else aimed.envelope
    if relaxed:
        losses.append(
            Loss("", "strict", value=True, kind="unenforced", reason="is given up, because a budget of the target is exceeded")
        )
    elif aimed.plain is not None:
        over = budgets.exceeded(schema, aimed, sent_name)
        if over:
            if aimed.order == "required-first" and ordered:  # optional properties may stay out of the union budget
                again = _lowered(flat, read_losses, aimed, name, description, ordered=False, unroll=unroll, recursion=recursion)
                if not any(isinstance(problem, BudgetExceeded) for problem in again.problems):
                    reason = "would ask for more union-typed parameters than are taken, so optional properties come last"
                    return replace(again, losses=(*again.losses, Loss("", "properties", None, "order", reason)))
            told = tuple(replace(problem, consequence="it is sent without strictness") for problem in over)
            return _lowered(
                flat, read_losses, aimed, name, description, ordered=ordered, unroll=unroll, recursion=recursion, relaxed=told
            )
    else:
        problems += budgets.exceeded(schema, aimed, sent_name)
    payload = filled(
        envelope, {"@name": sent_name, "@description": said, "@schema": spelled(schema, aimed.spelling), "@map": record}
    )
    return Lowering(payload, record, tuple(losses), tuple(problems), schema)


class _Built(NamedTuple):
    schema: Json
    record: dict[str, Json]
    losses: list[Loss]


def _fitted(flat: Json, aimed: Dialect, *, ordered: bool, unroll: int, recursion: str | None) -> _Built:
    """Rebuild a schema of a target's own words, with an object at its root."""
    level = 1
    while True:
        fitter = Fitter(aimed, flat, ordered=ordered, unroll=unroll, recursion=recursion)
        schema, codec = fitter.fit(_rooted(flat, fitter), level)
        if isinstance(schema, dict) and schema.get("type") == "object":
            break
        if isinstance(schema, dict) and "$ref" in schema:
            inner = fitter.definitions[schema["$ref"].rsplit("/", 1)[-1]]
            if isinstance(inner, dict) and inner.get("type") == "object":
                schema, codec = inner, fitter.codecs[schema["$ref"].rsplit("/", 1)[-1]]
                break
        if schema is None:
            fitter.lose(flat, "false", reason="nothing satisfies the schema; the answer is found wrong when it is lifted")
            fitter.lose_all(flat, "cannot be satisfied", "part")
            schema, codec = _shut(aimed), None
            break
        if level == 1:  # the box is one level more
            level = 2
            continue
        schema = _boxed(schema, aimed)
        codec = {"as": "box", "key": "value", "codec": codec}
        break
    pruned, codecs = prune(codec, fitter.codecs)
    record: dict[str, Json] = {"codec": pruned}
    if codecs:
        record["codecs"] = codecs
    if fitter.definitions:
        definitions = fitter.definitions
        schema = {**schema, "$defs": definitions}
        if codecs:
            record["definitions"] = definitions
    return _Built(schema, record, list(fitter.losses.values()))


def _rooted(flat: Json, fitter: Fitter) -> Json:
    """Read a tool's schema that says nothing as that of a tool without parameters."""
    if not fitter.dialect.tool or not (flat is True or (isinstance(flat, dict) and not flat.keys() - _SAYING_NOTHING)):
        return flat
    fitter.lose(flat, "type", "convention", "is not given: a tool without parameters")
    return {**(flat if isinstance(flat, dict) else {}), "type": "object", "properties": {}, "additionalProperties": False}


_SAYING_NOTHING = frozenset({"$schema", "$id", "$comment", "title", "description", "$defs", "definitions"})


def _shut(aimed: Dialect) -> Json:
    schema: dict[str, Json] = {"type": "object", "properties": {}}
    if aimed.every_required:
        schema["required"] = []
    if aimed.closed:
        schema["additionalProperties"] = False
    if "propertyOrdering" in aimed.keywords:
        schema["propertyOrdering"] = []
    return schema


def _boxed(schema: Json, aimed: Dialect) -> Json:
    """Put a schema that is no object into one, because a tool's arguments are one."""
    if aimed.described and "description" not in schema:
        schema = {"description": "The value.", **schema}
    box = _shut(aimed)
    box["properties"] = {"value": schema}
    box["required"] = ["value"]
    if "propertyOrdering" in box:
        box["propertyOrdering"] = ["value"]
    return box


def _kept(flat: Json, aimed: Dialect) -> _Built:
    """Carry a schema over with new keys, and with an object at its root if the target asks for one."""
    losses: list[Loss] = []
    keys = KeyNames(aimed.key, flat)
    schema = flat
    record: dict[str, Json] = {"codec": None}
    back = keys.renamed()
    if back:
        schema = renamed(flat, keys, flat)
        losses += _of_names(flat)
    if back or (aimed.fold and _lists_words(flat)):
        record["codec"] = {"as": "names", "keys": back}
        if aimed.fold:
            record["codec"]["fold"] = True
    if aimed.root == "any":
        return _Built(schema, record, losses)
    if isinstance(schema, dict) and "$ref" in schema and not schema.keys() - _SAYING_NOTHING - {"$ref"}:
        schema = _opened(schema)
    if schema is True or schema == {} or (isinstance(schema, dict) and not schema.keys() - _SAYING_NOTHING):
        losses.append(Loss("", "type", None, "convention", "is not given: a tool's arguments are an object"))
        schema = {"type": "object", **(schema if isinstance(schema, dict) else {})}
    elif isinstance(schema, dict) and "type" not in schema and "properties" in schema and schema.keys().isdisjoint(_COMBINATORS):
        losses.append(Loss("", "type", None, "convention", "is not given: what has properties is taken for an object"))
        schema = {"type": "object", **schema}
    plain = isinstance(schema, dict) and schema.get("type") == "object"
    if plain and (aimed.root == "object" or schema.keys().isdisjoint(_COMBINATORS)):
        schema = (
            {keyword: value for keyword, value in schema.items() if keyword != "$schema"} if aimed.root == "plain" else schema
        )
        return _Built(schema, record, losses)
    inner = (
        {key: value for key, value in schema.items() if key not in {"$defs", "$schema"}} if isinstance(schema, dict) else schema
    )
    definitions = {"$defs": schema["$defs"]} if isinstance(schema, dict) and "$defs" in schema else {}
    boxed = {
        "type": "object",
        "properties": {"value": inner},
        "required": ["value"],
        "additionalProperties": False,
        **definitions,
    }
    record["codec"] = {"as": "box", "key": "value", "codec": record["codec"]}
    return _Built(_moved(boxed), record, losses)


def _of_names(flat: Json) -> Iterator[Loss]:
    """Yield what is lost of the keywords that look at names, when some are sent under another one."""
    for place, keyword, value in _constraints(flat):
        if keyword == "propertyNames":
            yield Loss(place, keyword, value, "unenforced", "is left out, because keys are sent under other names")
            yield Loss(place, keyword, value, "narrowed", "is left out, which inside of a negation narrows")
        elif keyword == "patternProperties":
            yield Loss(place, keyword, value, "unenforced", "does not see the names of keys that are sent under others")
            yield Loss(place, keyword, value, "narrowed", "sees other names where keys are sent under them")
        else:
            continue
        for below, part, item in _constraints(value if keyword == "propertyNames" else {"properties": value}):
            if below or keyword == "propertyNames":
                yield Loss(place, part, item, "part", f"is part of {keyword}")


_COMBINATORS = frozenset({"anyOf", "oneOf", "allOf"})


def _opened(schema: dict[str, Any]) -> Json:
    """Replace a reference at the root by what it stands for."""
    for _ in range(20):
        if "$ref" not in schema or not str(schema["$ref"]).startswith("#/"):
            break
        try:
            target = at(schema, schema["$ref"][1:])
        except LookupError:
            break
        if not isinstance(target, dict) or schema.keys() - _SAYING_NOTHING - {"$ref"}:
            break
        rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        schema = {**target, **rest}
    return schema


def _moved(boxed: Json) -> Json:
    """Let references to the old root lead to its new place."""
    if '"$ref"' not in (text := _text(boxed)):
        return boxed
    from instrc.jsonvalue import loads

    text = text.replace('"$ref":"#"', '"$ref":"#/properties/value"')
    del boxed
    return loads(text)


def _text(value: Json) -> str:
    from instrc.jsonvalue import dumps

    return dumps(value, indent=False)


def _lists_words(schema: Json) -> bool:
    """Say whether any string is listed whose case an answer might change."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        if isinstance(node.get("const"), str) or any(isinstance(value, str) for value in node.get("enum") or ()):
            return True
        stack.extend(child for _, child in subschemas(node))
    return False


def _description(schema: Json, description: str | None, flat: Json, aimed: Dialect) -> tuple[str | None, Json]:
    """Return the tool's description and the schema without what would say the same twice."""
    own = flat.get("description") if isinstance(flat, dict) and isinstance(flat.get("description"), str) else None
    if aimed.envelope == "@schema" or not isinstance(schema, dict):
        return description, schema
    if aimed.spelling == "smolagents":  # the inputs have no place for it
        return joined(description or own, schema.get("description")) or "", schema
    here = schema.get("description")
    if not isinstance(here, str):
        return description or own, schema
    if description is None or description == own:
        rest = "\n".join(line for line in [here.removeprefix(own or "").lstrip("\n")] if line)
        schema = (
            {**schema, "description": rest} if rest else {key: value for key, value in schema.items() if key != "description"}
        )
        return own or description or None, schema
    return description, schema


def _cut(text: str, most: int) -> tuple[str, str]:
    """Cut a description at the end of a sentence or of a word; the whole of it goes into the schema, where no limit is known."""
    end = max(text.rfind(mark, 0, most - 1) + 1 for mark in (". ", ".\n", "! ", "? ", "\n"))
    if end < most // 2:
        end = text.rfind(" ", 0, most - 1)
    if end < most // 2:
        end = most - 1
    return text[:end].rstrip() + ("" if text[:end].rstrip().endswith((".", "!", "?")) else "…"), text


def _reported(result: Lowering, aimed: Dialect, *, strict: bool, report: Report | None) -> Lowering:
    """Make problems of grave losses, and raise or report them."""
    kind = LossyStrict if strict else LossyTarget
    lossy = [
        kind(target=aimed.name, keyword=loss.keyword, pointer=loss.pointer, reason=loss.reason)
        for loss in result.losses
        if loss.grave
    ]
    result = replace(result, problems=(*result.problems, *lossy))
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and lossy:
        raise CompileError(result.problems)
    return result
