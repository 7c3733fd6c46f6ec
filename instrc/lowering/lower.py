"""Lower a schema to a target: the payload in its envelope, the way back, and what was lost.

`lower_tool` is the picture of the stages: each hands the next what it has made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from instrc import arguments
from instrc.dialects import catalogue
from instrc.dialects.catalogue import TargetName
from instrc.dialects.envelopes import in_envelope, relaxed
from instrc.ir.dialect import Dialect
from instrc.ir.tool import Example, Tool
from instrc.jsonvalue import Json
from instrc.limits.payloads import UNROLL
from instrc.lowering.account import Account
from instrc.lowering.build import build
from instrc.lowering.checked_json import checked_json
from instrc.lowering.checked_tool import schema_of
from instrc.lowering.encode import encode
from instrc.lowering.given import ToolLike, tool_of
from instrc.lowering.lowered import Lowering, report_losses
from instrc.lowering.names import legal
from instrc.lowering.options import LoweringOptions, Recursion
from instrc.lowering.reading import flat_survey, read
from instrc.lowering.survey import survey
from instrc.lowering.write import write
from instrc.plain_values import takes_plain_values
from instrc.problems.report import Report
from instrc.python.values import json_of


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
    if not (isinstance(examples, tuple) and not examples) and (given := _examples(examples)):
        tool = tool._replace(examples=given)
    dialect = catalogue.dialect(target)
    if envelope is not None:
        dialect = in_envelope(dialect, catalogue.dialect(envelope))
    options = LoweringOptions(ordered, unroll, recursion)
    return report_losses(lower_tool(tool, dialect, options, documents), strict=strict, report=told)


def _examples(examples: Iterable[Example | Json]) -> tuple[Example, ...]:
    if isinstance(examples, Example):  # a tuple to Python, so its members would be taken for examples
        message = "`examples` takes a list: put the `Example` in one"
        raise TypeError(message)
    given = arguments.several("examples", examples)
    return tuple(each if isinstance(each, Example) else Example(checked_json(json_of(each, as_input=True))) for each in given)


def lower_tool(tool: Tool, dialect: Dialect, options: LoweringOptions, documents: Mapping[str, Json] | None = None) -> Lowering:
    """Fit one tool to a target; of its grave losses no problems are made yet."""
    if tool.strict is not None:
        dialect = replace(dialect, plain=None) if tool.strict else relaxed(dialect)
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
