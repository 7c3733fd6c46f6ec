"""Lower the tools of one request together, with distinct names and shared budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, structs

from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.targets import BudgetExceeded
from instrc.providers import targets
from instrc.providers.dialect import Dialect, in_envelope, relaxed
from instrc.providers.lowering import build
from instrc.providers.lowering.build import easier
from instrc.providers.lowering.context import Loss, LoweringOptions, Recursion, legal, unique_name
from instrc.providers.lowering.lower import Lowering, lower_tool, report_losses
from instrc.providers.maps import VERSION
from instrc.providers.targets import TargetName
from instrc.text import arguments
from instrc.text.arguments import takes_plain_values
from instrc.text.jsonvalue import Json, JsonObject, Payload
from instrc.text.limits import UNROLL
from instrc.tools.given import ToolLike, each_of
from instrc.tools.tool import Tool


class LoweredTools(Struct, frozen=True):
    """The tools of one request, lowered to a target."""

    payload: list[Payload]
    """The tools in order, each in its envelope."""
    map: JsonObject
    """Reverse map for answers to the request, parallel calls included."""
    lowerings: tuple[Lowering, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of all tools, in order."""
        return tuple(loss for lowering in self.lowerings for loss in lowering.losses)


ToolsLike: TypeAlias = Iterable[ToolLike | tuple[str, ToolLike] | tuple[str, ToolLike, str | None]] | Mapping[str, object]
"""What `lower` accepts, optionally with a name and a description; or a request, or the response to `tools/list`.

A mapping from names to models, other types and functions is a list of tools with these names."""


@takes_plain_values
def lower_all(
    tools: ToolsLike,
    target: TargetName | Dialect = "openai",
    *,
    envelope: TargetName | Dialect | None = None,
    ordered: bool = True,
    unroll: int = UNROLL,
    recursion: Recursion | None = None,
    strict: bool = False,
    documents: Mapping[str, Json] | None = None,
    report: Report | None = None,
) -> LoweredTools:
    """Lower several tools for one request.

        text = {"type": "object", "properties": {"text": {"type": "string"}}}
        lowered = instrc.lower_all([("draft", text), instrc.Tool("send", text, strict=False)], "anthropic")
        call = {"type": "tool_use", "id": "1", "name": "send", "input": {"text": "Dear Ann"}}
        assert instrc.lift([call], lowered).call.name == "send"

    Equal names get numbers, in answers too.  Tools beyond the limit of a request are reported as a `budget-exceeded` problem,
    but sent like the others.  A tool that would exceed a budget of the whole request is sent without strictness
    if the target has such an envelope, and reported as a `budget-exceeded` problem; `Tool.priority` decides which stay strict,
    and `Tool.strict` decides for a single one.  Otherwise the same as `lower`.
    """
    arguments.truth("strict", strict)
    reported = None if report is None else arguments.instance("report", report, Report, "an `instrc.Report`")
    dialect = targets.dialect(target)
    if envelope is not None:
        dialect = in_envelope(dialect, targets.dialect(envelope))
    given = [*each_of(tools)]
    wanted = _name_tools(given, dialect)
    options = LoweringOptions(ordered, unroll, recursion)
    spent = build.BudgetUse()
    done: dict[int, _Joined] = {}
    for index, (tool, sent) in sorted(enumerate(wanted), key=lambda item: -item[1][0].priority):
        done[index] = _lower_member(tool, sent, dialect, options, documents, spent)
        spent = done[index].spent
    results = [done[index] for index in range(len(wanted))]
    lowerings = tuple(
        report_losses(_with_tool_in_losses(each.lowering, own.name, tool.name), strict=strict, report=reported)
        for each, own, (tool, _) in zip(results, given, wanted, strict=True)
    )
    too_many = build.too_many_tools([tool.name for tool, _ in wanted], dialect)
    problems = [*too_many, *(problem for each in results for problem in each.problems)]
    if reported is not None:
        for problem in problems:
            reported.add(problem)
    everything = tuple(dict.fromkeys([*problems, *(problem for lowering in lowerings for problem in lowering.problems)]))
    records: JsonObject = {sent: lowering.map for lowering, (_, sent) in zip(lowerings, wanted, strict=True)}
    merged: JsonObject = {"instrc": VERSION, "target": dialect.name, "tools": records}
    return LoweredTools([lowering.payload for lowering in lowerings], merged, lowerings, everything)


def _name_tools(tools: Sequence[Tool], dialect: Dialect) -> list[tuple[Tool, str]]:
    """Return each tool with its sent name; the first tool of a name keeps it, and is sent under it if it is valid."""
    taken, named = set[str](), set[str]()
    own = {tool.name for tool in tools if dialect.tool_name.allows(tool.name)}
    result = []
    for tool in tools:
        if tool.name in own and tool.name not in taken:
            sent = tool.name
        else:
            sent = unique_name(
                legal(tool.name, dialect.tool_name, "tool"), taken | own, dialect.tool_name.most, dialect.tool_name.joint
            )
        taken.add(sent)
        result.append((tool._replace(name=sent) if tool.name in named else tool, sent))
        named.add(tool.name)
    return result


class _Joined(Struct, frozen=True):
    """A tool of a request, and the budget use including it."""

    lowering: Lowering
    spent: build.BudgetUse
    problems: tuple[BudgetExceeded, ...] = ()


def _lower_member(
    tool: Tool,
    sent: str,
    dialect: Dialect,
    options: LoweringOptions,
    documents: Mapping[str, Json] | None,
    spent: build.BudgetUse,
) -> _Joined:
    """Lower a tool; if it exceeds the remaining budget, give up the order of its optional properties, then its strictness."""
    lowering = lower_tool(tool, dialect, options, documents, sent)
    joined = spent.with_tool(lowering.schema)
    over = tuple(joined.over(dialect, tool.name))
    loose = tool.strict is False or any(loss.keyword == "strict" for loss in lowering.losses)
    if loose and dialect.plain is not None:  # it is already sent without strict mode, and does not count towards the limits
        return _Joined(lowering, spent)
    for less in easier(options, dialect, lowering.map["schema"], over) if over else ():
        other = lower_tool(tool, dialect, less, documents, sent)
        again = spent.with_tool(other.schema)  # there may be too many optional properties for unions, yet few enough to omit
        if not list(again.over(dialect, tool.name)):
            reason = "is kept for required properties only, to stay within the request's unions"
            unordered = () if less.ordered == options.ordered else (Loss("", "properties", None, "order", reason),)
            return _Joined(structs.replace(other, account=(*other.losses, *unordered)), again)
    if not over or dialect.plain is None or tool.strict:
        return _Joined(lowering, joined, over)
    reported = tuple(structs.replace(problem, consequence="it is sent without strictness") for problem in over)
    plain = relaxed(structs.replace(dialect, limits=structs.replace(dialect.limits, optional=None, unions=None)))
    lowering = lower_tool(tool, plain, options, documents, sent)
    loss = Loss("", "strict", value=True, kind="unenforced", reason="is given up, because a budget of the request is exceeded")
    return _Joined(
        structs.replace(lowering, account=(*lowering.losses, loss), over_budget=(*lowering.over_budget, *reported)),
        spent,
        reported,
    )


def _with_tool_in_losses(lowering: Lowering, own: str, name: str) -> Lowering:
    """Return a lowering that names its tool in each loss, with that of its own name if an earlier tool has the same."""
    losses = (*lowering.losses, *Loss.of_name(own, name))
    return structs.replace(lowering, account=tuple(structs.replace(loss, tool=name) for loss in losses))


__all__ = ["LoweredTools", "lower_all"]
