"""Lower a schema to a target: the payload in its envelope, the way back, and what was lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias, cast

from msgspec import Struct, structs

from instrc.problems.errors import AnswerError, CompileError, CompileWarning
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.targets import InvalidAnswer, LossyStrict, LossyTarget, UnreadableMap
from instrc.providers import targets
from instrc.providers.arrange import Arranger
from instrc.providers.dialect import Dialect, fill_envelope, in_envelope, relaxed
from instrc.providers.lowering.build import build
from instrc.providers.lowering.context import WHOLE, Built, Loss, LoweringOptions, Recursion, join_notes, legal
from instrc.providers.lowering.intake import flat_survey, read, survey
from instrc.providers.lowering.losses import Account
from instrc.providers.lowering.spelling import respell
from instrc.providers.lowering.uniform_plans import branches_of, is_output_reference, tool_name_of
from instrc.providers.maps import VERSION, map_of, records_in
from instrc.providers.targets import TargetName, known_target
from instrc.providers.transcode import Inexpressible, KeyRenamer, Transcoder, undeclared_key
from instrc.schema.validation import json_fault, validate
from instrc.schema.walk import map_schemas, walk
from instrc.text import arguments
from instrc.text.arguments import takes_plain_values, text_or_none, truth
from instrc.text.callers import warn_caller
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, Payload, at, equal, mapping, pointer, tokens
from instrc.text.limits import UNROLL
from instrc.text.sentences import EN
from instrc.tools.given import ToolLike, tool_of
from instrc.tools.python_values import json_of, why_unwritten
from instrc.tools.tool import Example, Hint, Tool, checked_json, schema_of


@dataclass(frozen=True, eq=False, repr=False)
class Lowering:  # noqa: PLW1641  -- it holds lists and objects, which have no hash
    """What a schema becomes for a target."""

    payload: Payload
    """The schema in the exact envelope of the target, ready to be sent."""
    map: JsonObject
    """The way back for answers, as plain JSON: give it to `lift`."""
    schema: Json
    """The payload's schema in standard JSON Schema, whatever the target's spelling.

    What a large payload sends once, as a definition, is written out in it.
    """
    dialect: Dialect
    """The rules that the payload follows, with its envelope."""
    account: Account | tuple[Loss, ...] = field(repr=False)
    """The losses, or what they are told of."""
    over_budget: tuple[Problem, ...] = ()
    """The budgets that were exceeded, and what was done about it."""
    strict: bool = False
    """Whether each grave loss is an error."""

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Whatever the payload does not say as the schema said it.

        It is told when it is first asked for: leave the schema that was given as it is until then.
        """
        return self.account.losses() if isinstance(self.account, Account) else self.account

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings: grave losses, budgets that were exceeded and what was done about it."""
        kind = LossyStrict if self.strict else LossyTarget
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
        said = f"payload={self.payload!r}, map={self.map!r}, losses={self.losses!r}, problems={self.problems!r}"
        return f"Lowering({said})"

    def __reduce__(self) -> tuple[object, ...]:
        """Give copies the losses and not what they are told of."""
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
    """Fit a JSON Schema to a target.

        lowered = instrc.lower({"type": "object", "properties": {"text": {"type": "string"}}}, "openai", "write_reply")
        tools = [lowered.payload]  # for the provider
        answer = instrc.lift({"text": "Dear Ann"}, lowered)  # what it returned

    `schema` may also be a tool as a provider takes it, a compiled artefact or process (its entry is sent), a model of pydantic,
    a typed dict, a dataclass or an annotated function.  `TypeError` for anything else.
    `target` is a name that `targets()` lists, or a `Dialect` of your own.
    `envelope` names another target whose envelope is filled: `lower(Letter, "anthropic-strict", envelope="openai")` keeps
    Anthropic's rules for a gateway that speaks OpenAI's language, such as LiteLLM.
    `examples` are values to show the model where the target has a field for them; JSON, or
    instances of a model or a dataclass; they must satisfy the schema.
    `ordered` keeps the order of properties where the target would move optional ones.
    `unroll` says how often a recursive reference is written out where the target keeps none;
    `recursion` overrides what the target does about it.
    With `strict` each grave loss is an error.  Problems go to `report`; without one, errors raise a `CompileError`.
    What is no valid schema raises a `CompileError` with `invalid-schema` problems.
    """
    tool = tool_of(schema, arguments.text_or_none("name", name))
    arguments.truth("strict", strict)
    told = None if report is None else arguments.instance("report", report, Report, "an `instrc.Report`")
    if arguments.text_or_none("description", description) is not None:
        tool = tool._replace(description=description)
    if not (isinstance(examples, tuple) and not examples) and (given := _lower_examples(examples)):
        tool = tool._replace(examples=given)
    dialect = targets.dialect(target)
    if envelope is not None:
        dialect = in_envelope(dialect, targets.dialect(envelope))
    options = LoweringOptions(ordered, unroll, recursion)
    return report_losses(lower_tool(tool, dialect, options, documents), strict=strict, report=told)


def _lower_examples(examples: Iterable[Example | Json]) -> tuple[Example, ...]:
    if isinstance(examples, Example):  # a tuple to Python, so its members would be taken for examples
        message = "`examples` takes a list: put the `Example` in one"
        raise TypeError(message)
    given = arguments.several("examples", examples)
    return tuple(each if isinstance(each, Example) else Example(checked_json(json_of(each, as_input=True))) for each in given)


@takes_plain_values
def encode(value: object, map: object, name: str | None = None, *, check: bool = True) -> Json:  # noqa: A002  -- the word for it everywhere else
    """Return a value as a model would write it for the target: what `lift` turns back into it.

        lowered = instrc.lower({"type": "object", "properties": {"days": {"type": "object"}}}, "openai")
        sent = instrc.encode({"days": {"Monday": 1}}, lowered)
        assert instrc.lift(sent, lowered).call.value == {"days": {"Monday": 1}}

    `value` is JSON, or an instance of a model of pydantic or a dataclass.  `map` is a lowering or its map, as for `lift`.
    `name` says which tool, where the map is that of several.
    With `check`, a value that does not satisfy the schema it was lowered from is an `AnswerError` with `invalid-answer` problems.

    A `format` counts as well, as it does for `lift`: a time needs a zone where the format is `time` or `date-time`,
    which pydantic says of every `time` and `datetime` but not of a `NaiveDatetime`.

    For examples in prompts, such as `few_shot_examples` of GigaChat.  `Inexpressible` if the target has no words for it;
    where null is the default of a property and cannot be told from leaving it out, it is left out, with a `CompileWarning`
    if it was given in JSON.  Keys are in the order of the payload, as a model writes them.
    """
    records = records_in(map)
    record = map_of(text_or_none("name", name), records)
    if record is None:
        raise CompileError([UnreadableMap(reason=f"it knows no tool `{name}`")])
    sent, left_out = _encoded(value, record, _payload_schema(map, record), check=truth("check", check))
    known = known_target(record["target"])
    if left_out and isinstance(value, dict | list) and known is not None and not known.null:  # others are sent null for it
        reason = "is null, which cannot be told from leaving a property out: what is null is left out"
        problem = LossyTarget(target=str(record["target"]), keyword="default", pointer="", reason=reason)
        warn_caller(CompileWarning(problem))
    return sent


def _encoded(value: object, record: JsonObject, schema: Json, *, check: bool = True) -> tuple[Json, bool]:
    """Return a value as it is sent, in the order of the payload's schema, and whether nulls had to be left out."""
    written = cast("Json", json_of(value, as_input=True))
    if (fault := json_fault(written)) is not None:
        reason = why_unwritten(value) if not fault[0] else ""
        raise AnswerError([InvalidAnswer(pointer=fault[0], reason=f"{fault[1]}: {reason}" if reason else fault[1])])
    own = record["schema"]
    if check:
        if wrong := validate(written, own):
            raise AnswerError([InvalidAnswer(pointer=each.instance, reason=each.message) for each in wrong])
        _refuse_undeclared(written, record)
    try:
        sent, left_out = Transcoder(record).write(Arranger(own).arranged(written, [own])), False
    except Inexpressible:
        spared = KeyRenamer(own, spare=True).converted(written, [own])
        if equal(spared, written):
            raise
        sent, left_out = Transcoder(record).write(spared), True
    return Arranger(schema).arranged(sent, [schema]), left_out


def _refuse_undeclared(value: Json, record: JsonObject) -> None:
    """Raise `Inexpressible` for a key that the schema leaves open, and that the closed objects of the payload forbid."""
    dialect = known_target(record["target"])
    if dialect is None or not dialect.closed:
        return
    place = undeclared_key(value, record["schema"], levels=dialect.limits.depth)
    if place is not None:
        key, where = dumps(place[-1], indent=False), pointer(place[:-1]) or "/"
        message = (
            f"the key {key} at {where} is not declared, and `{dialect.name}` closes objects: "
            "declare it in `properties`, or let `additionalProperties` say what else there may be"
        )
        raise Inexpressible(message)


def _payload_schema(given: object, record: JsonObject) -> Json:
    """Return the schema that is sent by a map: that of its lowering, or of the same lowering done again."""
    for each in (given, *getattr(given, "lowerings", ())):
        if isinstance(each, Lowering) and each.map == record:
            return each.schema
    dialect = known_target(record["target"])
    if dialect is None or record.get("codec") is None:
        return True  # in our order, which is that of a payload of the same shape
    again = lower_tool(Tool("tool", record["schema"]), dialect, LoweringOptions())
    return again.schema if again.map.get("codec") == record["codec"] else True


_Branches: TypeAlias = list[JsonObject] | None
"""The alternatives of a plan, one for each tool; `None` for what is no plan."""


class LossOfTools(NamedTuple):
    """A loss, with the tools of a plan that have it in the same place of their own tasks: none if it is of no plan.

    All that can read the output of another task have what is lost of that in common, wherever in their arguments it stands.
    """

    loss: Loss
    tools: tuple[str, ...] = ()


def grouped_losses(losses: Iterable[Loss], schema: Json) -> list[LossOfTools]:
    """Return losses in their order, the first for each that the tools of a plan have in common."""
    plans: dict[tuple[str, ...], _Branches] = {}
    found: dict[tuple[object, ...], tuple[Loss, dict[str, None]]] = {}
    for number, loss in enumerate(losses):
        path = tuple(tokens(loss.pointer))
        place = _alternative_of_plan(path, schema, plans)
        branches = None if place is None else plans[path[:place]]
        if place is None or branches is None:
            found[number,] = loss, {}
            continue
        own = branches[int(path[place + 2])]
        inside, reference = _reference_on(path[place + 3 :], own)
        alike = path[:place], reference is not None, inside, loss.keyword, loss.kind, loss.reason, loss.tool
        if alike not in found:
            found[alike] = loss, {} if reference is None else dict.fromkeys(_tools_with(reference, branches))
        found[alike][1][tool_name_of(own)] = None
    return [LossOfTools(loss, tuple(tools)) for loss, tools in found.values()]


def _alternative_of_plan(path: tuple[str, ...], schema: Json, plans: dict[tuple[str, ...], _Branches]) -> int | None:
    """Return where on a path a plan stands of which the path leads into one alternative; `None` if it leads into none."""
    for place in range(len(path) - 2):
        if path[place : place + 2] != ("items", "anyOf") or not path[place + 2].isdecimal():
            continue
        if path[:place] not in plans:
            plans[path[:place]] = _branches_at(path[:place], schema)
        branches = plans[path[:place]]
        if branches is not None and int(path[place + 2]) < len(branches):
            return place
    return None


def _branches_at(path: tuple[str, ...], schema: Json) -> _Branches:
    try:
        return branches_of(mapping(at(schema, pointer(path))))
    except LookupError:
        return None


def _reference_on(path: tuple[str, ...], node: Json) -> tuple[tuple[str, ...], Json]:
    """Return the first schema on a path that stands for the output of another task, and the path inside it.

    Without one, return the path as it is and `None`.
    """
    for place in range(len(path) + 1):
        try:
            passed = at(node, pointer(path[:place]))
        except LookupError:
            break
        if is_output_reference(passed):
            return path[place:], passed
    return path, None


def _tools_with(reference: Json, branches: list[JsonObject]) -> list[str]:
    """Return the tools of which an argument may be the output of another task."""
    return [tool_name_of(branch) for branch in branches if any(part == reference for _, part in walk(branch))]


def report_losses(result: Lowering, *, strict: bool, report: Report | None) -> Lowering:
    """Make problems of grave losses, and raise or report them."""
    if strict:
        result = replace(result, strict=True)
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and any(loss.grave for loss in result.losses):
        raise CompileError(result.problems)
    return result


_USUAL_HINT = re.compile(r"^Use .+\.$", re.MULTILINE)
"""Hints in a schema of which nobody knows the hints, as in one that was read from a file."""
_QUOTES = "`\"'«»“”„"


class Mentions:
    """The names that are sent in place of others, found in texts."""

    def __init__(self, sent: Mapping[str, str], hints: Sequence[Hint] | None = None) -> None:
        """`sent` is what is sent for each name that changes, `hints` are those in the texts, `None` if nobody knows them."""
        self._sent = dict(sent)
        words = sorted((name for name in sent if name), key=len, reverse=True)
        self._any = _matching(words)
        self._sure = _matching([name for name in words if not name.isalpha()])
        changed = {hint.text: new for hint in hints or () if (new := self._in_hint(hint)) != hint.text}
        longest_first = "|".join(map(re.escape, sorted(changed, key=len, reverse=True)))
        self._hints = _USUAL_HINT if hints is None else re.compile(longest_first or r"(?!)")
        self._changed_hints = changed

    def in_text(self, text: str) -> str:
        """Return a text that names properties as they are sent."""
        if not any(name in text for name in self._sent):
            return text
        text = self._hints.sub(self._hint_replaced, text)
        text = self._any.sub(self._quoted, text)
        return self._sure.sub(self._replaced, text)

    def in_schema(self, schema: Json) -> Json:
        """Return a schema whose descriptions do; what does not change stays the same object."""
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
        """Return the text of a hint with the names in its paths as they are sent."""
        made, end = [], 0
        for start, stop in hint.paths:
            made += [hint.text[end:start], self._any.sub(self._replaced, hint.text[start:stop])]
            end = stop
        return "".join([*made, hint.text[end:]])

    def _quoted(self, match: re.Match[str]) -> str:
        text, start, end = match.string, match.start(), match.end()
        quoted = start > 0 and end < len(text) and text[start - 1] in _QUOTES and text[end] in _QUOTES
        return self._sent[match.group()] if quoted or _in_path(text, start, end) else match.group()


def _matching(words: list[str]) -> re.Pattern[str]:
    """Return what matches each of the words where it stands for itself."""
    if not words:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, words))})(?!\w)")


def _in_path(text: str, start: int, end: int) -> bool:
    """Say whether a word is joined to another one by a dot."""
    after, before = text[end : end + 2], text[max(start - 2, 0) : start]
    return (after[:1] == "." and after[1:].isidentifier()) or (before[1:] == "." and f"_{before[:1]}".isidentifier())


SHARED_FROM: Final = 8_000
"""Characters of a schema from which on what stands in several places of it is sent once."""
SHARED_GAIN: Final = 0.8
"""What has to be left of such a schema at most: a definition is harder to read than what it stands for."""
_OBJECT = re.compile(r'\{"')
_BEGINNING = 100
"""Characters that objects have in common if they are taken for the same at first."""
_REPEATED = 0.1
"""How many of the objects begin as another one does where much is repeated."""


class Written(Struct, frozen=True, eq=False, gc=False):
    """A payload, and all that is kept of how it came about."""

    payload: Json
    map: JsonObject
    schema: Json
    """The payload's schema in standard JSON Schema."""
    losses: tuple[Loss, ...]
    """Of its examples."""


def write(built: Built, flat: Json, tool: Tool, name: str, dialect: Dialect) -> Written:
    """Write a schema into the envelope, the one without strictness where that is given up; `name` is the name that is sent."""
    if not built.strict:
        dialect = replace(dialect, envelope=dialect.plain)
    said, schema = _with_description(built, flat, tool, dialect)
    keys: list[Json] = list(mapping(schema.get("properties"))) if isinstance(schema, dict) else []
    record: JsonObject = {"instrc": VERSION, "target": dialect.name, "tool": {"name": tool.name, "sent": name}, "keys": keys}
    if (known := known_target(dialect.name)) is None or known.result != dialect.result:
        record["result"] = dialect.result  # of another envelope, or of rules that nobody else knows
    record |= built.record
    record["schema"] = flat
    left_out = not dialect.empty_schema and not keys and _asks_nothing(schema)
    sent = None if left_out else respell(_shared(schema) if dialect.shares else schema, dialect.spelling)
    examples, more = _examples(tool, record, schema, dialect)
    words: JsonObject = {"@name": name, "@description": said, "@schema": sent, "@map": record, "@examples": examples}
    if "@schema-text" in dialect.words:
        words["@schema-text"] = dumps(sent, indent=False)
    return Written(fill_envelope(dialect.envelope, words), record, schema, tuple(more))


def _with_description(built: Built, flat: Json, tool: Tool, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the description of the tool, within its limit, and the schema with what does not go there."""
    said, schema = _said_once(built.schema, tool, flat, dialect)
    if built.back:
        mentions = Mentions({name: sent for sent, name in built.back.items()}, tool.hints)
        said, schema = None if said is None else mentions.in_text(said), mentions.in_schema(schema)
    most = dialect.limits.description
    if said is not None and most is not None and len(said) > most:
        said, overflow = _cut(said, most)
        if isinstance(schema, dict):
            here = schema.get("description")
            schema = {**schema, "description": join_notes(overflow, here if isinstance(here, str) else None)}
    return said, schema


def _said_once(schema: Json, tool: Tool, flat: Json, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the tool's description and the schema without what would say the same twice.

    A title speaks for a tool that has no description: providers show a model the one, and some demand it.
    A hint says what a step reads, not what a tool is for: it stays in the schema, where that has a place for it.
    """
    description = tool.description
    own = _said(flat, "description") if isinstance(flat, dict) else None
    if own is not None and dialect.rooted:
        own = Hint.split(own, tool.hints)[0]
    own = own or (_said(flat, "title") if isinstance(flat, dict) else None)
    if not isinstance(schema, dict) or (dialect.structure == "pass_through" and not dialect.describable):
        return description, schema
    if not dialect.describable:
        text = description or _said(schema, "description") or own
        return None, {
            "description": text,
            **{key: value for key, value in schema.items() if key != "description"},
        } if text else schema
    if not dialect.rooted:  # there is no place for it
        return join_notes(description or own, _said(schema, "description")) or "", schema
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


def _said(schema: JsonObject, keyword: str) -> str | None:
    """Return a text of a schema; `None` if it is empty or none."""
    text = schema.get(keyword)
    return text if isinstance(text, str) and text else None


def _cut(text: str, most: int) -> tuple[str, str]:
    """Cut a description at the end of a sentence or of a word; the whole of it goes into the schema, where no limit is known."""
    end = max(text.rfind(mark, 0, most - 1) + 1 for mark in (". ", ".\n", "! ", "? ", "\n"))
    if end < most // 2:
        end = text.rfind(" ", 0, most - 1)
    if end < most // 2:
        end = most - 1
    return text[:end].rstrip() + ("" if text[:end].rstrip().endswith((".", "!", "?")) else "…"), text


def _asks_nothing(schema: Json) -> bool:
    """Say whether a schema is that of a tool without parameters."""
    return isinstance(schema, dict) and schema.get("type") == "object" and not schema.get("properties")


def _shared(schema: Json) -> Json:
    """Return a large schema in which what stands in several places is a definition; the same object if that gains little."""
    size = len(text := dumps(schema, indent=False))
    if size < SHARED_FROM or not isinstance(schema, dict):
        return schema
    begun = [text[place.start() : place.start() + _BEGINNING] for place in _OBJECT.finditer(text)]
    if len(begun) - len(set(begun)) < _REPEATED * len(begun):
        return schema  # nor is there need to look closer
    from instrc.schema.flattening.flatten import share  # few schemas are as large

    short = share(schema, described=False)
    return short if len(dumps(short, indent=False)) <= SHARED_GAIN * size else schema


def _examples(tool: Tool, record: JsonObject, schema: Json, dialect: Dialect) -> tuple[list[Json] | None, list[Loss]]:
    """Return the examples of a tool for their field of the envelope, `None` if there are none, and what is left out.

    `AnswerError` with `invalid-answer` problems for an example that does not satisfy the schema.
    """
    if not tool.examples:
        return None, []
    if dialect.example is None:
        for example in tool.examples:
            with suppress(Inexpressible):
                _encoded(example.value, record, schema)  # a wrong one is told wherever it goes
        return None, [Loss("", "examples", None, "annotation", "have no field in the envelope of the target")]
    found: list[Json] = []
    losses: list[Loss] = []
    for number, example in enumerate(tool.examples):
        try:
            value, _ = _encoded(example.value, record, schema)
        except Inexpressible as error:
            losses.append(Loss("", "examples", example.value, "annotation", f"number {number + 1} is left out: {error}"))
            continue
        found.append(fill_envelope(dialect.example, {"@value": value, "@request": example.request or ""}))
    return found or None, losses


def lower_tool(tool: Tool, dialect: Dialect, options: LoweringOptions, documents: Mapping[str, Json] | None = None) -> Lowering:
    """Fit one tool to a target; of its grave losses no problems are made yet."""
    if tool.strict is not None:
        dialect = replace(dialect, plain=None) if tool.strict else relaxed(dialect)
    if tool.sentences is not EN:
        options = structs.replace(options, sentences=tool.sentences)
    name = legal(tool.name, dialect.tool_name, "tool") if dialect.named else tool.name
    written = survey(schema_of(tool))
    readable, unread = read(written)
    flat = flat_survey(readable, documents, sharing=(options.recursion or dialect.recursion) != "refuse")
    built = build(flat, dialect, options, name)
    sent = write(built, flat.schema, tool, name, dialect)
    account = Account(tool.name, name, readable.schema, flat.schema, built, tuple(unread), sent.losses, documents)
    told = account if documents is None else account.losses()  # documents may be gone when somebody asks
    return Lowering(sent.payload, sent.map, sent.schema, dialect, told, built.problems)


__all__ = ["Lowering", "LoweringOptions", "Tool", "encode", "lower", "lower_tool", "report_losses"]
