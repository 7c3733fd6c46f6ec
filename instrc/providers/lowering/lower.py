"""Lower a schema to a target: the payload in its envelope, the map for answers, and the losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from msgspec import structs

from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.targets import LossyStrict, LossyTarget
from instrc.providers import targets
from instrc.providers.dialect import Dialect, in_envelope, relaxed
from instrc.providers.lowering.build import build
from instrc.providers.lowering.context import WHOLE, Loss, LoweringOptions, Recursion, legal
from instrc.providers.lowering.intake import flat_survey, read, survey
from instrc.providers.lowering.losses import Account, grouped_losses
from instrc.providers.lowering.write import write
from instrc.providers.targets import TargetName
from instrc.text import arguments
from instrc.text.arguments import takes_plain_values
from instrc.text.jsonvalue import Json, JsonObject, Payload
from instrc.text.limits import UNROLL
from instrc.text.sentences import EN
from instrc.tools.given import ToolLike, tool_of
from instrc.tools.python_values import json_of
from instrc.tools.tool import Example, Tool, checked_json, schema_of


@dataclass(frozen=True, eq=False, repr=False)
class Lowering:  # noqa: PLW1641  -- it holds lists and objects, which have no hash
    """A schema lowered to a target."""

    payload: Payload
    """The schema in the exact envelope of the target, ready to be sent."""
    map: JsonObject
    """The reverse map for answers, as plain JSON: pass it to `lift`."""
    schema: Json
    """The payload's schema in standard JSON Schema, whatever the target's spelling.

    Definitions that a large payload shares are expanded in it.
    """
    dialect: Dialect
    """The rules that the payload follows, with its envelope."""
    account: Account | tuple[Loss, ...] = field(repr=False)
    """The losses, or the account from which they are computed on first access."""
    over_budget: tuple[Problem, ...] = ()
    """The budgets that were exceeded, with the consequence of each."""
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
        """Pickle the losses and not their account."""
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
        answer = instrc.lift({"text": "Dear Ann"}, lowered)  # what it returned

    `schema` may also be a tool as a provider takes it, a compiled artefact or process (its entry is sent), a model of pydantic,
    a typed dict, a dataclass or an annotated function.  `TypeError` for anything else.
    `target` is a name that `targets()` lists, or a `Dialect` of your own.
    `envelope` names another target whose envelope is filled: `lower(Letter, "anthropic-strict", envelope="openai")` keeps
    Anthropic's rules for a gateway that speaks OpenAI's language, such as LiteLLM.
    `examples` are values to show the model where the target has a field for them; JSON, or
    instances of a model or a dataclass; they must satisfy the schema.
    `ordered` keeps the order of properties where the target would move optional ones.
    `unroll` is the number of times a recursive reference is expanded where the target supports none;
    `recursion` overrides what the target does about it.
    With `strict` each grave loss is an error.  Problems go to `report`; without one, errors raise a `CompileError`.
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
        message = "`examples` takes a list: put the `Example` in one"
        raise TypeError(message)
    given = arguments.several("examples", examples)
    return tuple(item if isinstance(item, Example) else Example(checked_json(json_of(item, as_input=True))) for item in given)


def report_losses(result: Lowering, *, strict: bool, report: Report | None) -> Lowering:
    """Convert grave losses to problems, and raise or report them."""
    if strict:
        result = replace(result, strict=True)
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and any(loss.grave for loss in result.losses):
        raise CompileError(result.problems)
    return result


def lower_tool(tool: Tool, dialect: Dialect, options: LoweringOptions, documents: Mapping[str, Json] | None = None) -> Lowering:
    """Lower one tool to a target, without converting its grave losses to problems."""
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
    reported = account if documents is None else account.losses()  # documents may be gone when somebody asks
    return Lowering(sent.payload, sent.map, sent.schema, dialect, reported, built.problems)


__all__ = ["Lowering", "LoweringOptions", "Tool", "lower", "lower_tool", "report_losses"]
