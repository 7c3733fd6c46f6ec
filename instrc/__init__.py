"""A compiler for LLM instructions.

Compile a program, or check files:

    import instrc
    vibes = {"Draft": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}
    program = '"Write a letter" | Introspect_Mixin(Draft)'
    [tool] = instrc.compile(program, vibes=vibes)
    [artefact] = instrc.artefacts(program, vibes=vibes)
    problems = instrc.check(".")
    seen = instrc.registry(".")
    module = instrc.types(program, vibes=vibes)  # classes of Python, as text

Fit a schema to a provider, and bring its answer back:

    lowered = instrc.lower(tool, target="openai", name="write_a_letter")
    several = instrc.lower_all([("write", tool), ("again", tool)], target="anthropic")
    answer = instrc.lift({"text": "Dear Ann", "_considerations": "short", "_feedback": "none"}, lowered.map)
    assert answer.status == "ok"
    sent = instrc.encode({"text": "Dear Bob", "_considerations": "-", "_feedback": "-"}, lowered)
    assert not instrc.verify(lowered.payload, "openai").breaches
    names = list(instrc.targets())

Work with schemas and answers:

    flat = instrc.flatten({"allOf": [{"type": "integer"}, {"minimum": 1}]})
    result = instrc.strip(tool, {"all"})
    parts = instrc.split({"text": "Dear Ann", "_note": "short"})
    assert instrc.subsumes({"type": "number"}, {"type": "integer"}) is not None

Take what others have:

    imported = instrc.import_tools("openai", [lowered.payload])

Run a program; `Scripted` answers for the model here:

    run = instrc.run('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{}]))
    assert run.status == "done"

`await instrc.run_async(…)` is the same for asynchronous code.  With `engine="durable"` or `"temporal"` and an `id`, a later
process finds the run: `instrc.find_run(id)`, `await instrc.find_run_async(id)`.  `instrc.close_stores()` closes what was opened.

    rehearsal = instrc.rehearse('when prompt is "a" { @{ title: "Draft", type: "object" } }')
    assert not rehearsal.missed

    @instrc.activity("Send_Activity")
    def send(mail: dict) -> str:
        return "sent"

Check, convert and compare what a model plans to do:

    arguments = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tools = {"Find_Activity": {"activity": "Find_Activity", "arguments": arguments, "output": {"type": "string"}}}
    plan = [{"tool": "Find_Activity", "id": "found", "arguments": {"text": "a bank"}}]
    assert not instrc.check_plan(plan, tools)
    uniform = instrc.uniform_plan(plan, tools)  # for models that take no schema of this size
    assert instrc.typed_plan(uniform, tools) == plan
    # `import_plan`, `export_plan`, `score_plans` and `sample_plans` speak the form of TaskBench

What is wrong is an `instrc.CompileError` with `problems`; what is only suspicious is an `instrc.CompileWarning`.

Everything here is loaded when it is first used, so that a program that needs one part does not wait for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc.version import __version__

if TYPE_CHECKING:
    from instrc.api import artefacts, check, compile, registry, types  # noqa: A004  -- `instrc.compile` is its name
    from instrc.codecs.transcode import Inexpressible
    from instrc.dialects.catalogue import targets
    from instrc.flattening.provenance import Flat
    from instrc.flattening.public import flatten, split, strip, subsumes
    from instrc.importing.import_tools import import_tools
    from instrc.ir.artefact import Artefact
    from instrc.ir.dialect import Dialect
    from instrc.ir.tool import Example, Tool
    from instrc.lifting.lift import Lifted, lift
    from instrc.lowering.encode import encode
    from instrc.lowering.lower import Lowering, lower
    from instrc.lowering.toolset import LoweredTools, lower_all
    from instrc.lowering.verify import Verification, verify
    from instrc.plans.check import check_plan
    from instrc.plans.convert import typed_plan, uniform_plan
    from instrc.plans.taskbench.functions import export_plan, import_plan, sample_plans, score_plans
    from instrc.problems.problem import CompileError, CompileWarning, Label, Problem
    from instrc.problems.report import Report
    from instrc.rehearsing.rehearsal import Rehearsal
    from instrc.running import close_stores, find_run, find_run_async, rehearse, run, run_async
    from instrc.runtime.activities import PENDING, Activities, ActivityError, activity, current_call
    from instrc.runtime.handle import Run, RunFailedError
    from instrc.runtime.models.model import Model, ModelError, Reply, Request
    from instrc.runtime.models.sampling import Sample
    from instrc.runtime.models.scripted import Scripted
    from instrc.runtime.questions import Question
    from instrc.runtime.retrying import Retry
    from instrc.source import Source, Span

__all__ = [
    "PENDING",
    "Activities",
    "ActivityError",
    "Artefact",
    "CompileError",
    "CompileWarning",
    "Dialect",
    "Example",
    "Flat",
    "Inexpressible",
    "Label",
    "Lifted",
    "LoweredTools",
    "Lowering",
    "Model",
    "ModelError",
    "Problem",
    "Question",
    "Rehearsal",
    "Reply",
    "Report",
    "Request",
    "Retry",
    "Run",
    "RunFailedError",
    "Sample",
    "Scripted",
    "Source",
    "Span",
    "Tool",
    "Verification",
    "__version__",
    "activity",
    "artefacts",
    "check",
    "check_plan",
    "close_stores",
    "compile",
    "current_call",
    "encode",
    "export_plan",
    "find_run",
    "find_run_async",
    "flatten",
    "import_plan",
    "import_tools",
    "lift",
    "lower",
    "lower_all",
    "registry",
    "rehearse",
    "run",
    "run_async",
    "sample_plans",
    "score_plans",
    "split",
    "strip",
    "subsumes",
    "targets",
    "typed_plan",
    "types",
    "uniform_plan",
    "verify",
]

_HOMES = {
    "Artefact": "instrc.ir.artefact",
    "CompileError": "instrc.problems.problem",
    "CompileWarning": "instrc.problems.problem",
    "Label": "instrc.problems.problem",
    "Problem": "instrc.problems.problem",
    "Report": "instrc.problems.report",
    "Source": "instrc.source",
    "Span": "instrc.source",
    "artefacts": "instrc.api",
    "check": "instrc.api",
    "compile": "instrc.api",
    "registry": "instrc.api",
    "types": "instrc.api",
    "Flat": "instrc.flattening.provenance",
    "flatten": "instrc.flattening.public",
    "split": "instrc.flattening.public",
    "strip": "instrc.flattening.public",
    "subsumes": "instrc.flattening.public",
    "Dialect": "instrc.ir.dialect",
    "Lifted": "instrc.lifting.lift",
    "Lowering": "instrc.lowering.lower",
    "Tool": "instrc.ir.tool",
    "Example": "instrc.ir.tool",
    "LoweredTools": "instrc.lowering.toolset",
    "Inexpressible": "instrc.codecs.transcode",
    "encode": "instrc.lowering.encode",
    "targets": "instrc.dialects.catalogue",
    "Verification": "instrc.lowering.verify",
    "verify": "instrc.lowering.verify",
    "import_tools": "instrc.importing.import_tools",
    "lift": "instrc.lifting.lift",
    "lower": "instrc.lowering.lower",
    "check_plan": "instrc.plans.check",
    "export_plan": "instrc.plans.taskbench.functions",
    "import_plan": "instrc.plans.taskbench.functions",
    "sample_plans": "instrc.plans.taskbench.functions",
    "score_plans": "instrc.plans.taskbench.functions",
    "typed_plan": "instrc.plans.convert",
    "uniform_plan": "instrc.plans.convert",
    "lower_all": "instrc.lowering.toolset",
    "close_stores": "instrc.running",
    "find_run": "instrc.running",
    "find_run_async": "instrc.running",
    "Rehearsal": "instrc.rehearsing.rehearsal",
    "rehearse": "instrc.running",
    "run": "instrc.running",
    "run_async": "instrc.running",
    "PENDING": "instrc.runtime.activities",
    "Activities": "instrc.runtime.activities",
    "ActivityError": "instrc.runtime.activities",
    "activity": "instrc.runtime.activities",
    "current_call": "instrc.runtime.activities",
    "Model": "instrc.runtime.models.model",
    "ModelError": "instrc.runtime.models.model",
    "Reply": "instrc.runtime.models.model",
    "Request": "instrc.runtime.models.model",
    "Sample": "instrc.runtime.models.sampling",
    "Scripted": "instrc.runtime.models.scripted",
    "Retry": "instrc.runtime.retrying",
    "Question": "instrc.runtime.questions",
    "Run": "instrc.runtime.handle",
    "RunFailedError": "instrc.runtime.handle",
}
"""Where each public name is defined."""


def __getattr__(name: str) -> object:
    """Load a public name from its module and keep it."""
    if name not in _HOMES:
        message = f"module 'instrc' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
