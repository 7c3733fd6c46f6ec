"""Lower a schema to a target: the payload in its envelope, the way back, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from instrc import arguments
from instrc.codecs.encode import encode
from instrc.codecs.maps import VERSION
from instrc.dialects import catalogue
from instrc.dialects.catalogue import TargetName
from instrc.dialects.envelopes import in_envelope, relaxed
from instrc.ir.dialect import Dialect
from instrc.ir.tool import Example, Tool
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import at
from instrc.limits import LOWERED_SCHEMAS
from instrc.lowering import budgets
from instrc.lowering.as_written import as_written
from instrc.lowering.built import Built
from instrc.lowering.describe import cut, described
from instrc.lowering.envelopes import fill_envelope
from instrc.lowering.examples import examples_field
from instrc.lowering.given import ToolLike, tool_of
from instrc.lowering.losses import Loss
from instrc.lowering.mentions import Mentions
from instrc.lowering.names import legal
from instrc.lowering.notes import join_notes
from instrc.lowering.pass_through import pass_through
from instrc.lowering.plain import plain
from instrc.lowering.reading import read
from instrc.lowering.rebuild import rebuild
from instrc.lowering.rewrites.plans import holds_plan
from instrc.lowering.spelling import respell
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.size import TooLarge
from instrc.problems.targets import LossyStrict, LossyTarget
from instrc.python_values import json_of
from instrc.schema.members import mapping

UNROLL = 3
"""How often a recursive reference is written out where the target keeps none."""

Recursion: TypeAlias = Literal["keep", "unroll", "refuse"]


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


@dataclass(frozen=True, slots=True)
class Options:
    """How a schema is to be lowered."""

    ordered: bool = True
    unroll: int = UNROLL
    recursion: Recursion | None = None
    uniform: bool = False
    """Whether plans are sent in their uniform spelling."""

    def __post_init__(self) -> None:
        """Refuse what cannot be worked with."""
        arguments.whole_number("unroll", self.unroll)
        if self.recursion is not None:
            arguments.known_word("recursion", self.recursion, get_args(Recursion))


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
    told = None if report is None else arguments.instance("report", report, Report, "an `instrc.Report`")
    if arguments.text_or_none("description", description) is not None:
        tool = tool._replace(description=description)
    if given := tuple(
        each if isinstance(each, Example) else Example(plain(json_of(each))) for each in arguments.several("examples", examples)
    ):
        tool = tool._replace(examples=given)
    dialect = in_envelope(catalogue.dialect(target), None if envelope is None else catalogue.dialect(envelope))
    options = Options(ordered, unroll, recursion)
    return report_losses(lower_tool(tool, dialect, options, documents), dialect, strict=strict, report=told)


def lower_tool(tool: Tool, dialect: Dialect, options: Options, documents: Mapping[str, Json] | None = None) -> Lowering:
    """Fit one tool to a target; of its grave losses no problems are made yet."""
    if tool.strict is False:
        dialect = relaxed(dialect)
    elif tool.strict:
        dialect = replace(dialect, plain=None)
    readable, losses = read(tool.schema)
    flat = _flattened(readable, documents, sharing=(options.recursion or dialect.recursion) != "refuse")
    result = _lower_within_budgets(flat, losses, dialect, tool, options)
    if result.losses:
        told = as_written(result.losses, flat, readable, documents)
        kept = tuple(loss for loss in told if not _was_forbidden(loss, readable))
        result = result if kept == result.losses else replace(result, losses=kept)
    return result


def _flattened(schema: Json, documents: Mapping[str, Json] | None, *, sharing: bool) -> Json:
    """Return the flat schema, written out: a target shares in its own way; one that would be too large shares its parts."""
    from instrc.flattening.flatten import flatten

    try:
        return flatten(schema, documents, share=False, limit=LOWERED_SCHEMAS)
    except CompileError as error:
        if not sharing or not any(isinstance(problem, TooLarge) for problem in error.problems):
            raise
    return flatten(schema, documents, limit=LOWERED_SCHEMAS)


def _lower_within_budgets(flat: Json, read_losses: Sequence[Loss], dialect: Dialect, tool: Tool, options: Options) -> Lowering:
    """Build payload, map and losses; where a budget of the target asks for it, give up order, typed plans, then strictness."""
    first = _assembled(flat, read_losses, dialect, tool, options)
    over = budgets.exceeded(first.schema, dialect, first.map["tool"]["sent"])
    if not over:
        return first
    for less in easier(options, dialect, flat):
        again = _assembled(flat, read_losses, dialect, tool, less)
        if not budgets.exceeded(again.schema, dialect, again.map["tool"]["sent"]):
            reason = "would ask for more union-typed parameters than are taken, so optional properties come last"
            unordered = () if less.ordered == options.ordered else (Loss("", "properties", None, "order", reason),)
            return replace(again, losses=(*again.losses, *unordered))
    if dialect.plain is None:
        return replace(first, problems=tuple(over))
    reason = "is given up, because a budget of the target is exceeded"
    loss = Loss("", "strict", value=True, kind="unenforced", reason=reason)
    told = tuple(replace(problem, consequence="it is sent without strictness") for problem in over)
    loose = _assembled(flat, read_losses, replace(dialect, envelope=dialect.plain), tool, options)
    return replace(loose, losses=(*loose.losses, loss), problems=told)


def easier(options: Options, dialect: Dialect, flat: Json) -> Iterator[Options]:
    """Yield what is tried in turn where a budget is exceeded: optional properties last, then plans in their uniform spelling."""
    movable = dialect.order == "required-first" and options.ordered  # optional properties may stay out of the union budget
    if movable:
        yield replace(options, ordered=False)
    if dialect.structure != "kept" and not options.uniform and holds_plan(flat):
        yield replace(options, uniform=True)
        if movable:
            yield replace(options, uniform=True, ordered=False)


def _build(flat: Json, dialect: Dialect, options: Options) -> Built:
    if dialect.structure == "kept":
        return pass_through(flat, dialect)
    return rebuild(
        flat,
        dialect,
        ordered=options.ordered,
        unroll=options.unroll,
        recursion=options.recursion,
        uniform=options.uniform,
    )


def _assembled(flat: Json, read_losses: Sequence[Loss], dialect: Dialect, tool: Tool, options: Options) -> Lowering:
    """Put what is built of a schema into the envelope of a target, and note the way back."""
    built = _build(flat, dialect, options)
    losses = [*read_losses, *built.losses]
    sent_name = legal(tool.name, dialect.tool_name, "tool") if dialect.named else tool.name
    said, schema = described(built.schema, tool.description, flat, dialect)
    if built.back:
        mentions = Mentions({name: sent for sent, name in built.back.items()})
        said, schema = None if said is None else mentions.in_text(said), mentions.in_schema(schema)
    most = dialect.limits.description
    if said is not None and most is not None and len(said) > most:
        said, overflow = cut(said, most)
        if isinstance(schema, dict):
            here = schema.get("description")
            schema = {**schema, "description": join_notes(overflow, here if isinstance(here, str) else None)}
    record: dict[str, Json] = {"instrc": VERSION, "target": dialect.name, "tool": {"name": tool.name, "sent": sent_name}}
    record["keys"] = list(mapping(schema.get("properties"))) if isinstance(schema, dict) else []
    record |= built.record
    record["schema"] = flat
    sent = (
        None if not dialect.empty_schema and not record["keys"] and _asks_nothing(schema) else respell(schema, dialect.spelling)
    )
    examples, more = examples_field(tool, record, dialect)
    losses += more
    words = {"@name": sent_name, "@description": said, "@schema": sent, "@map": record, "@examples": examples}
    if "@schema-text" in dialect.words:
        words["@schema-text"] = dumps(sent, indent=False)
    return Lowering(fill_envelope(dialect.envelope, words), record, tuple(losses), (), schema)


def _asks_nothing(schema: Json) -> bool:
    """Say whether a schema is that of a tool without parameters."""
    return isinstance(schema, dict) and schema.get("type") == "object" and not schema.get("properties")


def _was_forbidden(loss: Loss, schema: Json) -> bool:
    """Say whether a property is left out that its author has forbidden."""
    if loss.kind != "contradiction":
        return False
    try:
        return at(schema, loss.pointer) is False
    except (LookupError, ValueError, TypeError):
        return loss.value is False


def report_losses(result: Lowering, dialect: Dialect, *, strict: bool, report: Report | None) -> Lowering:
    """Make problems of grave losses, and raise or report them."""
    kind = LossyStrict if strict else LossyTarget
    lossy = [
        kind(target=dialect.name, keyword=loss.keyword, pointer=loss.pointer, reason=loss.reason)
        for loss in result.losses
        if loss.grave
    ]
    if lossy:
        result = replace(result, problems=(*result.problems, *lossy))
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and lossy:
        raise CompileError(result.problems)
    return result


__all__ = ["UNROLL", "Lowering", "Options", "Tool", "encode", "lower", "lower_tool", "report_losses"]
