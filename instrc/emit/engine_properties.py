"""What is for the engine beside a step: what it reads, its arguments, the tools of a plan, what there is to choose from."""

from __future__ import annotations

from instrc.emit.parts import beside_property
from instrc.emit.paths import Paths
from instrc.ir.chunk_json import add_words
from instrc.ir.fusion import PlannableTool, Planned
from instrc.ir.graph import NO_TIMING, Graph, Step
from instrc.ir.paths import Path
from instrc.ir.reads import Listed, Named, written_value
from instrc.ir.steps import EngineProperties
from instrc.jsonvalue import JsonObject, as_object
from instrc.passes.compose.planned import RUN_PLAN, choices_of, plannable_tools


class EngineWriter:
    """Write what is for the engine in the steps of one graph."""

    def __init__(self, graph: Graph, paths: Paths) -> None:
        self.graph = graph
        self.paths = paths

    def beside(self, schema: JsonObject, step: Step, references: list[str], item: int | None) -> JsonObject:
        """Write what is for the engine beside the schema of a step, and return that; `references` are what it reads."""
        arguments = written_value(self.paths.arguments(step.arguments, item, step.number)) if step.arguments else None
        plan: JsonObject | None = None
        if step.activity == RUN_PLAN and step.executor != "model":
            tools = plannable_tools(self.graph, step) or ()
            plan = self._plan(tools, item)
            bound = [each.value for tool in tools for each in tool.bound if isinstance(each.value, Path)]
            references = self.paths.references((*step.reads, *bound), item)
        if step.executor == "model":
            timing = NO_TIMING if step.output else step.timing
            engine = EngineProperties(fail=step.fail, within=timing.within, delay=timing.delay)
        else:
            timing = step.timing
            engine = EngineProperties((), None, step.activity, plan, None, step.fail, timing.within, timing.delay)
        return add_words(schema, engine, references, arguments)

    def with_choices(self, number: int, schema: JsonObject, item: int | None) -> JsonObject:
        """Say at each property that is filled by choice what there is to choose from."""
        for names, engine in choices_of(self.graph.steps[number].content):
            if isinstance(engine, Planned):
                said = EngineProperties(plan=self._plan(engine.tools, item))
            else:
                said = EngineProperties(among=self.paths.read(engine.choices, item))
            schema = as_object(beside_property(schema, names, said))
        return schema

    def _plan(self, tools: tuple[PlannableTool, ...], item: int | None) -> JsonObject:
        """Return the tools of a plan by name."""
        made: JsonObject = {}
        for tool in tools:
            said: JsonObject = {tool.kind: tool.target, "arguments": tool.arguments, "output": tool.output}
            made[tool.name] = said
            if tool.bound:
                match self.paths.arguments(tool.bound, item):
                    case Named(members):
                        given = dict(members)
                    case Listed(items):
                        given = {str(place): each for place, each in enumerate(items)}
                    case value:
                        given = {"0": value}
                said["bound"] = {name: written_value(each) for name, each in given.items()}
        return made
