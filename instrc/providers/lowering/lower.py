"""Lower a schema to a target: the payload in its envelope, the map for answers, and the losses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final

from msgspec import Struct, structs

from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.targets import LossyTarget, LossyTargetStrict
from instrc.providers import targets
from instrc.providers.dialect import Dialect, fill_envelope, in_envelope, relaxed
from instrc.providers.lowering.build import build
from instrc.providers.lowering.context import WHOLE, Built, Loss, LossKind, LoweringOptions, Recursion, join_notes, legal
from instrc.providers.lowering.encoding import encoded
from instrc.providers.lowering.intake import flat_survey, inheriting, read, survey
from instrc.providers.lowering.losses import Account, grouped_losses
from instrc.providers.lowering.spelling import respell
from instrc.providers.maps import VERSION, tool_map
from instrc.providers.targets import TargetName, known_target
from instrc.providers.transcode import Inexpressible
from instrc.schema.patterns import time_limit
from instrc.schema.walk import map_schemas, without
from instrc.text import arguments
from instrc.text.arguments import takes_plain_values
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, Payload, mapping, text_or_empty
from instrc.text.limits import UNROLL
from instrc.text.notebook import block, folded, table
from instrc.text.sentences import EN
from instrc.tools.definitions import OPTIONS
from instrc.tools.given import ToolLike, tool_of
from instrc.tools.python_values import json_of
from instrc.tools.tool import Example, Hint, Tool, checked_json, schema_of


class Lowering(Struct, frozen=True, eq=False, dict=True):  # noqa: PLW1641  -- it holds lists and objects, which have no hash
    """A schema lowered to a target."""

    payload: Payload
    """Schema in the exact envelope of the target, ready to be sent."""
    map: JsonObject
    """Reverse map for answers, as plain JSON: pass it to `lift`."""
    schema: Json
    """Schema of the payload in standard JSON Schema, whatever the target's spelling.

    Definitions that a large payload shares are expanded in it.
    """
    dialect: Dialect
    """Rules that the payload follows, with its envelope."""
    account: Account | tuple[Loss, ...]
    """The losses, or the account from which they are computed on first access."""
    over_budget: tuple[Problem, ...] = ()
    """Exceeded budgets, with the consequence of each."""
    strict: bool = False
    """Whether each grave loss is an error."""

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """The parts of the schema that the payload does not express as written.

        Computed on first access: do not change the schema before.
        """
        return self.account.losses() if isinstance(self.account, Account) else self.account

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings: grave losses and exceeded budgets, with the consequence of each."""
        kind = LossyTargetStrict if self.strict else LossyTarget
        lossy = [
            kind(
                target=self.dialect.name,
                keyword=loss.keyword,
                pointer=loss.pointer,
                reason=loss.reason,
                tool=loss.tool,
                tools_of_plan=tools,
                whole=loss.keyword == WHOLE and loss.kind == "unenforced",
            )
            for loss, tools in grouped_losses((loss for loss in self.losses if loss.grave), self.map["schema"])
        ]
        return (*self.over_budget, *lossy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lowering) and self._said() == other._said()

    def _said(self) -> tuple[object, ...]:
        return self.payload, self.map, self.losses, self.problems, self.schema

    def __repr__(self) -> str:
        return f"<lowering to {self.dialect.name}: {len(self.losses)} losses, {len(self.problems)} warnings>"

    def _repr_html_(self) -> str:
        """Return the losses and the payload, for a notebook."""
        rows = [(loss.pointer, loss.keyword, loss.kind, loss.reason) for loss in self.losses]
        losses = table(["place", "keyword", "kind", "reason"], rows)
        warnings = table(["warning"], [(problem.message,) for problem in self.problems])
        return block(repr(self)[1:-1], losses, warnings, folded("payload", self.payload), folded("map", self.map))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the computed losses instead of their source."""
        return Lowering, (self.payload, self.map, self.schema, self.dialect, self.losses, self.over_budget, self.strict)


@takes_plain_values
def lower(
    schema: ToolLike,
    target: TargetName | Dialect = "openai",
    name: str | None = None,
    *,
    envelope: TargetName | Dialect | None = None,
    description: str | None = None,
    examples: Iterable[Example | Json] = (),
    ordered: bool = True,
    unroll: int = UNROLL,
    recursion: Recursion | None = None,
    strict: bool = False,
    documents: Mapping[str, Json] | None = None,
    report: Report | None = None,
) -> Lowering:
    """Lower a JSON Schema to a target.

        lowered = instrc.lower({"type": "object", "properties": {"text": {"type": "string"}}}, "openai", "write_reply")
        tools = [lowered.payload]  # for the provider
        answer = instrc.lift({"text": "Dear Ann"}, lowered)  # the model's arguments

    `schema` may also be a tool in a provider's format, a compiled artefact or process (its entry is sent), a pydantic model,
    a typed dict, a dataclass or an annotated function.  Raise `TypeError` for anything else.
    `target` is a name listed by `targets()`, or a custom `Dialect`.
    `envelope` names another target whose envelope to use: `lower(Letter, "anthropic-strict", envelope="openai")` applies
    Anthropic's rules behind a gateway with OpenAI's API, such as LiteLLM.
    `examples` are values to show the model if the target has a field for them; JSON, or
    instances of a model or dataclass that satisfy the schema.
    `ordered` preserves the order of properties if the target would move optional ones.
    `unroll` is the number of times a recursive reference is expanded if the target does not support recursion;
    `recursion` overrides how the target handles it.
    With `strict`, each grave loss is an error.  Problems go to `report`; without one, errors raise a `CompileError`.
    An invalid schema raises a `CompileError` with `invalid-schema` problems.
    """
    tool = tool_of(schema, arguments.text_or_none("name", name))
    arguments.truth("strict", strict)
    reported = None if report is None else arguments.instance("report", report, Report, "an `instrc.Report`")
    if arguments.text_or_none("description", description) is not None:
        tool = tool._replace(description=description)
    if not (isinstance(examples, tuple) and not examples) and (given := _lower_examples(examples)):
        tool = tool._replace(examples=given)
    dialect = targets.dialect(target)
    if envelope is not None:
        dialect = in_envelope(dialect, targets.dialect(envelope))
    options = LoweringOptions(ordered, unroll, recursion)
    return report_losses(lower_tool(tool, dialect, options, documents), strict=strict, report=reported)


def _lower_examples(examples: Iterable[Example | Json]) -> tuple[Example, ...]:
    if isinstance(examples, Example):  # a tuple to Python, so its members would be taken for examples
        raise TypeError("`examples` takes a list: put the `Example` in one")
    given = arguments.several("examples", examples)
    return tuple(item if isinstance(item, Example) else Example(checked_json(json_of(item, as_input=True))) for item in given)


def report_losses(result: Lowering, *, strict: bool, report: Report | None) -> Lowering:
    """Convert grave losses to problems, and raise or report them."""
    if strict:
        result = structs.replace(result, strict=True)
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and any(loss.grave for loss in result.losses):
        raise CompileError(result.problems)
    return result


@time_limit()
def lower_tool(
    tool: Tool,
    dialect: Dialect,
    options: LoweringOptions,
    documents: Mapping[str, Json] | None = None,
    sent: str | None = None,
) -> Lowering:
    """Lower one tool to a target, without converting its grave losses to problems; `sent` is its name for the target."""
    tool, options_sent = _options_apart(tool, dialect)
    if tool.strict is not None:
        dialect = structs.replace(dialect, plain=None) if tool.strict else relaxed(dialect)
    if tool.sentences is not EN:
        options = structs.replace(options, sentences=tool.sentences)
    name = legal(sent or tool.name, dialect.tool_name, "tool") if dialect.named else sent or tool.name
    written = survey(schema_of(tool))
    readable, unread = read(written)
    documents = inheriting(documents, written.schema)
    flat = flat_survey(readable, documents, sharing=(options.recursion or dialect.recursion) != "refuse")
    built = build(flat, dialect, options, name)
    result = write(built, flat.schema, tool, name, dialect)
    payload = _with_options(dialect.envelope, result.payload, options_sent) if options_sent else result.payload
    account = Account(tool.name, name, readable.schema, flat.schema, built, tuple(unread), result.losses, documents)
    reported = account if documents is None else account.losses()  # the documents may no longer exist when the losses are read
    return Lowering(payload, result.map, result.schema, dialect, reported, built.problems)


def _options_apart(tool: Tool, dialect: Dialect) -> tuple[Tool, JsonObject]:
    """Return a tool without the options that belong in this target's envelope, and these options."""
    schema = schema_of(tool)
    given = mapping(mapping(schema).get(OPTIONS)) | (tool.options or {})
    own = mapping(given.get(dialect.name.partition("-")[0])) | mapping(given.get(dialect.name))
    if not own or not dialect.tool:
        return tool, {}
    if tool.strict is None and isinstance(own.get("strict"), bool) and dialect.plain is not None:
        tool = tool._replace(strict=own["strict"] is True)
    return (tool._replace(schema=without(schema, OPTIONS)) if isinstance(schema, dict) else tool), own


def _with_options(envelope: Json, payload: Json, options: JsonObject) -> Json:
    """Return a payload with options next to the tool's name; existing members of the envelope are kept."""
    if not isinstance(payload, dict) or not isinstance(envelope, dict):
        return payload
    if "@name" in envelope.values():
        return payload | {name: value for name, value in options.items() if name not in payload}
    return {key: _with_options(envelope.get(key), part, options) for key, part in payload.items()}


__all__ = ["Lowering", "LoweringOptions", "Tool", "lower", "lower_tool", "report_losses"]


SHARED_FROM: Final = 8_000
"""Minimum characters of a schema whose repeated parts are sent once."""
SHARED_GAIN: Final = 0.8
"""Maximum relative size after sharing, since a definition is harder to read than an inlined part."""
_OBJECT = re.compile(r'\{"')
_BEGINNING = 100
"""Number of leading characters by which objects are first compared."""
_REPEATED = 0.1
"""Minimum share of objects with equal beginnings for a schema to count as repetitive."""


class Written(Struct, frozen=True, eq=False, gc=False):
    """A payload, its map and its schema."""

    payload: Json
    map: JsonObject
    schema: Json
    """Schema of the payload in standard JSON Schema."""
    losses: tuple[Loss, ...]
    """Losses of its examples, and of what a root says that is sent as inputs."""


_OPEN = ("additionalProperties", "patternProperties")
_OF_ROOTS = (*_OPEN, "propertyNames", "minProperties", "maxProperties")
"""Keywords of an object that its properties alone do not say."""


def write(built: Built, flat: Json, tool: Tool, name: str, dialect: Dialect) -> Written:
    """Put a schema into the envelope, the non-strict one if strictness is dropped; `name` is the sent name."""
    if not built.strict:
        dialect = structs.replace(dialect, envelope=dialect.plain)
    said, schema = _with_description(built, flat, tool, dialect)
    keys: list[Json] = list(mapping(schema.get("properties"))) if isinstance(schema, dict) else []
    record: JsonObject = {"instrc": VERSION, "target": dialect.name, "tool": {"name": tool.name, "sent": name}, "keys": keys}
    if (known := known_target(dialect.name)) is None or known.result != dialect.result:
        record["result"] = dialect.result  # of another envelope, or with undocumented rules
    record |= built.record
    record["schema"] = flat
    left_out = not dialect.empty_schema and not keys and mapping(schema).get("type") == "object"
    sent = None if left_out else respell(_shared(schema) if dialect.shares else schema, dialect.spelling)
    examples, more = _examples(tool, record, schema, dialect)
    for keyword in _OF_ROOTS if not dialect.rooted else ():
        if keyword in mapping(flat) and mapping(schema).get(keyword, False) is not False:
            kind: LossKind = "narrowed" if keyword in _OPEN else "unenforced"
            more.append(Loss("", keyword, mapping(flat)[keyword], kind, "has no place beside the inputs"))
    words: JsonObject = {"@name": name, "@description": said, "@schema": sent, "@map": record, "@examples": examples}
    if "@schema-text" in dialect.words:
        words["@schema-text"] = dumps(sent, indent=False)
    return Written(fill_envelope(dialect.envelope, words), record, schema, tuple(more))


def _with_description(built: Built, flat: Json, tool: Tool, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the tool's description, shortened to its limit, and the schema with the rest."""
    said, schema = _said_once(built.schema, tool, flat, dialect)
    if built.back:
        mentions = Mentions({name: sent for sent, name in built.back.items()}, tool.hints)
        said, schema = None if said is None else mentions.in_text(said), mentions.in_schema(schema)
    most = dialect.limits.description
    if said is not None and most is not None and len(said) > most:
        said, overflow = _cut(said, most)
        if isinstance(schema, dict):
            node = schema.get("description")
            schema = {**schema, "description": join_notes(overflow, node if isinstance(node, str) else None)}
    return said, schema


def _said_once(schema: Json, tool: Tool, flat: Json, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the tool's description and the schema without repeated text.

    A title replaces a missing description: providers show a model only the description, and some require it.
    A hint lists the paths that a step reads, not the purpose of a tool: it stays in the schema if possible.
    """
    description = tool.description
    own: str | None = text_or_empty(mapping(flat).get("description"))
    if own and dialect.rooted:
        own = Hint.split(own, tool.hints)[0]
    own = own or text_or_empty(mapping(flat).get("title")) or None
    if not isinstance(schema, dict) or (dialect.structure == "pass_through" and not dialect.describable):
        return description, schema
    if not dialect.describable:
        text = description or text_or_empty(schema.get("description")) or own
        return None, {"description": text, **without(schema, "description")} if text else schema
    if not dialect.rooted:  # there is no place for it
        return join_notes(description or own, text_or_empty(schema.get("description"))) or "", schema
    node = schema.get("description")
    if not isinstance(node, str):
        return description or own, schema
    if description is None or description == own:
        rest = "\n".join(line for line in [node.removeprefix(own or "").lstrip("\n")] if line)
        schema = {**schema, "description": rest} if rest else without(schema, "description")
        return own or description or None, schema
    return description, schema


def _cut(text: str, most: int) -> tuple[str, str]:
    """Cut a description at the end of a sentence or word; the full text goes into the schema, which has no known limit."""
    end = max(text.rfind(mark, 0, most - 1) + 1 for mark in (". ", ".\n", "! ", "? ", "\n"))
    if end < most // 2:
        end = text.rfind(" ", 0, most - 1)
    if end < most // 2:
        end = most - 1
    return text[:end].rstrip() + ("" if text[:end].rstrip().endswith((".", "!", "?")) else "…"), text


def _shared(schema: Json) -> Json:
    """Return a large schema with repeated parts as definitions, or the same object if that saves little."""
    size = len(text := dumps(schema, indent=False))
    if size < SHARED_FROM or not isinstance(schema, dict):
        return schema
    begun = [text[place.start() : place.start() + _BEGINNING] for place in _OBJECT.finditer(text)]
    if len(begun) - len(set(begun)) < _REPEATED * len(begun):
        return schema  # no closer check is needed
    from instrc.schema.flattening.flatten import share  # few schemas are as large

    short = share(schema, described=False)
    return short if len(dumps(short, indent=False)) <= SHARED_GAIN * size else schema


def _examples(tool: Tool, record: JsonObject, schema: Json, dialect: Dialect) -> tuple[list[Json] | None, list[Loss]]:
    """Return the examples of a tool for their field in the envelope, or `None`, and those left out.

    Raise `AnswerError` with `invalid-answer` problems for an example that violates the schema.
    """
    if not tool.examples:
        return None, []
    own = tool_map(record)
    if dialect.example is None:
        for example in tool.examples:
            with suppress(Inexpressible):
                encoded(example.value, own, schema)  # an invalid one is reported at each use
        return None, [Loss("", "examples", None, "annotation", "have no field in the envelope of the target")]
    result: list[Json] = []
    losses: list[Loss] = []
    for number, example in enumerate(tool.examples):
        try:
            value, _ = encoded(example.value, own, schema)
        except Inexpressible as error:
            losses.append(Loss("", "examples", example.value, "annotation", f"number {number + 1} is left out: {error}"))
            continue
        result.append(fill_envelope(dialect.example, {"@value": value, "@request": example.request or ""}))
    return result or None, losses


_USUAL_HINT = re.compile(r"^Use .+\.$", re.MULTILINE)
"""Usual form of hints, for a schema whose hints are unknown, such as one read from a file."""
_QUOTES = "`\"'«»“”„"


class Mentions:
    """Replaces names in texts by the sent ones."""

    def __init__(self, sent: Mapping[str, str], hints: Sequence[Hint] | None = None) -> None:
        """`sent` has the changed names, `hints` are those in the texts; `None` if unknown."""
        self._sent = dict(sent)
        self._known: dict[str, str] = {}
        words = sorted((name for name in sent if name), key=len, reverse=True)
        self._any = _matching(words)
        self._sure = _matching([name for name in words if not name.isalpha()])
        changed = {hint.text: new for hint in hints or () if (new := self._in_hint(hint)) != hint.text}
        longest_first = "|".join(map(re.escape, sorted(changed, key=len, reverse=True)))
        self._hints = _USUAL_HINT if hints is None else re.compile(longest_first or r"(?!)")
        self._changed_hints = changed

    def in_text(self, text: str) -> str:
        """Return a text with the names of properties as sent; many descriptions are equal."""
        if text not in self._known:
            self._known[text] = self._in_text(text)
        return self._known[text]

    def _in_text(self, text: str) -> str:
        if not any(name in text for name in self._sent):
            return text
        text = self._hints.sub(self._hint_replaced, text)
        text = self._any.sub(self._quoted, text)
        return self._sure.sub(self._replaced, text)

    def in_schema(self, schema: Json) -> Json:
        """Return a schema with such descriptions, or the same object if nothing changes."""
        if not self._sent or not isinstance(schema, dict):
            return schema
        return map_schemas(schema, self._described)

    def _described(self, node: Json) -> Json:
        text = node.get("description") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(text, str) or (new := self.in_text(text)) == text:
            return node
        return {**node, "description": new}

    def _replaced(self, match: re.Match[str]) -> str:
        return self._sent[match.group()]

    def _hint_replaced(self, match: re.Match[str]) -> str:
        known = self._changed_hints.get(match.group())
        return self._any.sub(self._replaced, match.group()) if known is None else known

    def _in_hint(self, hint: Hint) -> str:
        """Return the text of a hint with the names in its paths as sent."""
        built, end = [], 0
        for start, stop in hint.paths:
            built += [hint.text[end:start], self._any.sub(self._replaced, hint.text[start:stop])]
            end = stop
        return "".join([*built, hint.text[end:]])

    def _quoted(self, match: re.Match[str]) -> str:
        text, start, end = match.string, match.start(), match.end()
        quoted = start > 0 and end < len(text) and text[start - 1] in _QUOTES and text[end] in _QUOTES
        return self._sent[match.group()] if quoted or _in_path(text, start, end) else match.group()


def _matching(words: list[str]) -> re.Pattern[str]:
    """Return a pattern for any of the words as a whole word."""
    if not words:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, words))})(?!\w)")


def _in_path(text: str, start: int, end: int) -> bool:
    """Return whether a word is joined to another one by a dot."""
    after, before = text[end : end + 2], text[max(start - 2, 0) : start]
    return (after[:1] == "." and after[1:].isidentifier()) or (before[1:] == "." and f"_{before[:1]}".isidentifier())
