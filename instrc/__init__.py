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

Adapt a schema to a provider, and convert its answer back:

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

Import foreign tools:

    imported = instrc.import_tools("openai", [lowered.payload])

Run a program; `Scripted` replaces the model here:

    run = instrc.run('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{}]))
    assert run.status == "done"

An application creates one `instrc.App`, whose runs share models, activities and a store: `await app.run(…)`.

`await instrc.run_async(…)` is the equivalent for asynchronous code, as `evaluate_async` is for `evaluate`;
`async for part in instrc.stream(…)` yields model answers while they are written: `stream` returns an
`instrc.RunStream`, each part an `instrc.AnswerPart`.
With `engine="durable"` or `"temporal"` and an `id`, a later process finds the run with the same `engine`:
`instrc.find_run(id)`, `await instrc.find_run_async(id)`, or all: `instrc.runs(status="held")`.
`Run.retry()` continues a failed run, `Run.fork()` starts another one with its results.
`instrc.close_stores()` closes all open stores.

    rehearsal = instrc.rehearse('when prompt is "a" { @{ title: "Draft", type: "object" } }')
    assert not rehearsal.missed

Evaluate a program on cases with expected results, as `instrc eval` does:

    cases = [{"input": "a letter", "expected": {"text": "Dear Ann"}}]
    found = instrc.evaluate('@{ title: "Draft", type: "object" }', cases, model=instrc.Scripted([{"text": "Dear Ann"}]))
    assert found.scores() == {"case 1": 1.0}
    # a check function receives an `instrc.CheckedRun`; the result is an `instrc.EvaluationResult`

    @instrc.activity("Send_Activity")
    def send(mail: dict) -> str:
        return "sent"

`@instrc.instruction(name="Approve_User")` names a class or a function in a list of `vibes`.

Check, convert and compare the plans of a model:

    arguments = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tools = {"Find_Activity": {"activity": "Find_Activity", "arguments": arguments, "output": {"type": "string"}}}
    plan = [{"tool": "Find_Activity", "id": "found", "arguments": {"text": "a bank"}}]
    assert not instrc.check_plan(plan, tools)
    uniform = instrc.uniform_plan(plan, tools)  # for models that take no schema of this size
    assert instrc.typed_plan(uniform, tools) == plan
    # `import_plan`, `export_plan`, `score_plans` and `sample_plans` use the TaskBench format

Every error is an `instrc.InstrcError` with `problems`: `CompileError` of a program or a vibe, `InputError` of a run's input,
`AnswerError` of a model's or a person's answer, `SettingsError` of an option, `NotFoundError`, `ConflictError`,
`UnavailableError`; and a `RunError` (`RunFailedError`, `RunWaitingError`, `RunCancelledError`) where a run has no result.
A warning is an `instrc.CompileWarning`.

Everything here is loaded on first use, so that a program that needs one part does not wait for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc.version import __version__

if TYPE_CHECKING:
    from instrc.api.app import App
    from instrc.api.batch import ItemResult
    from instrc.api.evaluation import evaluate, evaluate_async
    from instrc.api.programs import (
        artefacts,
        check,
        compile,  # noqa: A004  -- `instrc.compile` is its name
        registry,
        types,
    )
    from instrc.api.runs import find_run, find_run_async, rehearse, run, run_async, runs, stream
    from instrc.api.schemas import flatten, split, strip, subsumes
    from instrc.compiler.importing import import_tools
    from instrc.compiler.ir import Artefact
    from instrc.compiler.resolve import instruction
    from instrc.engines.hosts import close_stores
    from instrc.problems.errors import (
        AnswerError,
        CompileError,
        CompileWarning,
        ConflictError,
        InputError,
        InstrcError,
        NotFoundError,
        RunCancelledError,
        RunError,
        RunFailedError,
        RunWaitingError,
        SettingsError,
        UnavailableError,
    )
    from instrc.problems.problem import Label, Problem
    from instrc.problems.report import Report
    from instrc.providers.dialect import Dialect
    from instrc.providers.lifting.lift import Lifted, lift
    from instrc.providers.lowering.encode import encode
    from instrc.providers.lowering.lower import Lowering, lower
    from instrc.providers.lowering.toolset import LoweredTools, lower_all
    from instrc.providers.lowering.verify import Verification, verify
    from instrc.providers.targets import targets
    from instrc.providers.transcode import Inexpressible
    from instrc.runtime.activities import PENDING, Activities, ActivityError, Retry, activity, current_call
    from instrc.runtime.models.model import Model, ModelError, Reply, Request, Sample, Scripted
    from instrc.runtime.models.partial import AnswerPart
    from instrc.runtime.questions import Question
    from instrc.runtime.run import Run
    from instrc.runtime.stream import RunStream
    from instrc.schema.flattening.provenance import Flat
    from instrc.taskbench.convert import export_plan, import_plan
    from instrc.taskbench.sample import sample_plans
    from instrc.taskbench.score import score_plans
    from instrc.testing.evaluation.checks import CheckedRun
    from instrc.testing.evaluation.results import EvaluationResult
    from instrc.testing.rehearsal import Rehearsal
    from instrc.text.source import Source, Span
    from instrc.tools.plan_check import check_plan, typed_plan, uniform_plan
    from instrc.tools.tool import Example, Tool

__all__ = [
    "PENDING",
    "Activities",
    "ActivityError",
    "AnswerError",
    "AnswerPart",
    "App",
    "Artefact",
    "CheckedRun",
    "CompileError",
    "CompileWarning",
    "ConflictError",
    "Dialect",
    "EvaluationResult",
    "Example",
    "Flat",
    "Inexpressible",
    "InputError",
    "InstrcError",
    "ItemResult",
    "Label",
    "Lifted",
    "LoweredTools",
    "Lowering",
    "Model",
    "ModelError",
    "NotFoundError",
    "Problem",
    "Question",
    "Rehearsal",
    "Reply",
    "Report",
    "Request",
    "Retry",
    "Run",
    "RunCancelledError",
    "RunError",
    "RunFailedError",
    "RunStream",
    "RunWaitingError",
    "Sample",
    "Scripted",
    "SettingsError",
    "Source",
    "Span",
    "Tool",
    "UnavailableError",
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
    "evaluate",
    "evaluate_async",
    "export_plan",
    "find_run",
    "find_run_async",
    "flatten",
    "import_plan",
    "import_tools",
    "instruction",
    "lift",
    "lower",
    "lower_all",
    "registry",
    "rehearse",
    "run",
    "run_async",
    "runs",
    "sample_plans",
    "score_plans",
    "split",
    "stream",
    "strip",
    "subsumes",
    "targets",
    "typed_plan",
    "types",
    "uniform_plan",
    "verify",
]

_NAMES = {
    "instrc.api.app": "App",
    "instrc.api.batch": "ItemResult",
    "instrc.api.evaluation": "evaluate evaluate_async",
    "instrc.api.programs": "artefacts check compile registry types",
    "instrc.api.runs": "find_run find_run_async rehearse run run_async runs stream",
    "instrc.api.schemas": "flatten split strip subsumes",
    "instrc.compiler.importing": "import_tools",
    "instrc.compiler.ir": "Artefact",
    "instrc.compiler.resolve": "instruction",
    "instrc.engines.hosts": "close_stores",
    "instrc.problems.errors": "AnswerError CompileError CompileWarning ConflictError InputError InstrcError NotFoundError "
    "RunCancelledError RunError RunFailedError RunWaitingError SettingsError UnavailableError",
    "instrc.problems.problem": "Label Problem",
    "instrc.problems.report": "Report",
    "instrc.providers.dialect": "Dialect",
    "instrc.providers.lifting.lift": "Lifted lift",
    "instrc.providers.lowering.encode": "encode",
    "instrc.providers.lowering.lower": "Lowering lower",
    "instrc.providers.lowering.toolset": "LoweredTools lower_all",
    "instrc.providers.lowering.verify": "Verification verify",
    "instrc.providers.targets": "targets",
    "instrc.providers.transcode": "Inexpressible",
    "instrc.runtime.activities": "Activities ActivityError PENDING Retry activity current_call",
    "instrc.runtime.models.model": "Model ModelError Reply Request Sample Scripted",
    "instrc.runtime.models.partial": "AnswerPart",
    "instrc.runtime.questions": "Question",
    "instrc.runtime.run": "Run",
    "instrc.runtime.stream": "RunStream",
    "instrc.schema.flattening.provenance": "Flat",
    "instrc.taskbench.convert": "export_plan import_plan",
    "instrc.taskbench.sample": "sample_plans",
    "instrc.taskbench.score": "score_plans",
    "instrc.testing.evaluation.checks": "CheckedRun",
    "instrc.testing.evaluation.results": "EvaluationResult",
    "instrc.testing.rehearsal": "Rehearsal",
    "instrc.text.source": "Source Span",
    "instrc.tools.plan_check": "check_plan typed_plan uniform_plan",
    "instrc.tools.tool": "Example Tool",
}
"""Public names that each module defines."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name from its module and cache it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'instrc' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
