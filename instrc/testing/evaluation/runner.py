"""Run the cases of a data set: concurrently, within a budget, and reusing completed results."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from inspect import isclass, isfunction, ismodule
from pathlib import Path
from time import monotonic
from typing import Final, cast

import msgspec
from msgspec import Struct, field, structs

from instrc import problems
from instrc.engines.equip import TELEMETRY, LocalObjects
from instrc.engines.launch import Launcher, new_id
from instrc.engines.memory import LiveRun
from instrc.engines.prepare import Prepared, called_activities, reach_of
from instrc.problems.errors import AnswerError, CompileError, InstrcError, SettingsError, unusable
from instrc.problems.problem import Problem, did_you_mean
from instrc.problems.suggest import nearest
from instrc.process.request_settings import WordsLevel
from instrc.providers.targets import dialect
from instrc.runtime.activities import ONCE, Activities, Activity, ActivityError, current_call
from instrc.runtime.effects import Effects
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import ActivityCommand, UserCommand, bare_name, spellings, tokens_of
from instrc.runtime.interpreter.versions import program_of
from instrc.runtime.models.budget import require_prices
from instrc.runtime.models.cache import AnswerCache
from instrc.runtime.models.catalogue import provider_of
from instrc.runtime.models.model import Model, ModelError, Reply, Request
from instrc.runtime.models.provider import usual_words
from instrc.runtime.models.settings import RequestTable, joined
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import describe_outcome, step_values
from instrc.runtime.secrets import redacted
from instrc.runtime.telemetry import CAPTURE
from instrc.runtime.traces import Event, join_sinks, steps_of, written_to
from instrc.schema.strip import split
from instrc.testing.cases import CaseScript
from instrc.testing.evaluation.checks import KINDS, Ask, AskJudge, CheckFunction, CheckKind, CheckPlace, EvalCheck, checks_of
from instrc.testing.evaluation.dataset import DataSet, EvalCase
from instrc.testing.evaluation.results import CaseResult, CheckResult, EvaluationResult, RunFacts, StepUse
from instrc.text.arguments import is_on
from instrc.text.files import make_unversioned, read_whole
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object
from instrc.text.names import file_name
from instrc.vibes.find_files import writing

CONCURRENCY: Final = 4
"""Default number of concurrent cases."""
RUNS: Final = 1_000_000
"""Maximum runs of one evaluation."""
SILENCE: Final = 8
"""Consecutive cases without an answer from the provider after which no further case begins."""
_FORMAT: Final = 2
"""Version of the storage format, which is part of each key, so that other formats are not read."""
_FINAL: Final = frozenset({"refused", "context", "check", "no-answer", "no-json", "400", "413"})
"""Codes of model failures that a retry would not fix: they are results of the case."""
_SPENT: Final = "budget"


class Budget(Struct):
    """The limits of an evaluation, and its usage so far: requests, tokens, US dollars."""

    requests: int | None = None
    tokens: int | None = None
    cost: float | None = None
    until: float | None = None
    """Time at which it ends, by the monotonic clock."""
    used_requests: int = 0
    used_tokens: int = 0
    used_cost: float = 0.0
    counted: set[str] | None = None
    """Keys of the runs in its usage, so that runs of an interrupted search count once; `None` if stored runs are free."""

    def spent(self) -> str | None:
        """Return the exhausted budget, or `None`."""
        limits = (("requests", self.requests, self.used_requests), ("tokens", self.tokens, self.used_tokens))
        used_up = next((f"{limit:,} {name}" for name, limit, used in limits if limit is not None and used >= limit), None)
        if used_up is None and self.cost is not None and self.used_cost >= self.cost:
            used_up = f"${self.cost:,.2f}"
        if used_up is None and self.until is not None and monotonic() >= self.until:
            used_up = "time"
        return used_up and f"the budget of {used_up} is used up"

    def saw(self, event: Event) -> None:
        """Count the usage of an answer, also of a refused one."""
        if "usage" in event and not event.get("cached"):
            self.used_tokens += tokens_of(event["usage"])
            self.used_cost += event["cost"] or 0.0

    def reuse(self, key: str, run: RunFacts) -> bool:
        """Return whether a stored run can be used, after counting it where stored runs are not free."""
        if self.counted is None or key in self.counted:
            return True
        if self.spent() is not None:
            return False
        self.counted.add(key)
        for use in run.uses:
            self.used_requests += use.requests
            self.used_tokens += use.input_tokens + use.output_tokens
            self.used_cost += use.cost or 0.0
        return True


class Metered(Struct, frozen=True):
    """A model that is not called once the budget is used up."""

    model: Model
    budget: Budget

    async def answer(self, request: Request) -> Reply:
        """Answer a request, or raise a `ModelError` with the code `budget`."""
        if (spent := self.budget.spent()) is not None:
            raise ModelError(spent, code=_SPENT)
        self.budget.used_requests += 1
        reply = await self.model.answer(request)
        if reply.cached:
            self.budget.used_requests -= 1
        return reply


class KeptRuns:
    """Completed runs in a file, one per line, written as soon as they end."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._known: dict[str, RunFacts] = {}
        for line in self._lines():
            try:
                entry = as_object(loads(line))
                self._known[str(entry["key"])] = structs.replace(msgspec.convert(entry["run"], RunFacts), kept=True)
            except (ValueError, TypeError, KeyError):
                continue  # a partially written line, or one of another release

    def _lines(self) -> list[bytes]:
        try:
            return [] if self.file is None else read_whole(str(self.file)).split(b"\n")
        except (OSError, ValueError):
            return []

    def find(self, key: str) -> RunFacts | None:
        """Return a completed run, or `None`."""
        return self._known.get(key)

    def keep(self, key: str, run: RunFacts) -> None:
        """Store a run; raise `SettingsError` on failure."""
        self._known[key] = structs.replace(run, kept=True)
        result: JsonObject = {"key": key, "run": msgspec.to_builtins(run)}
        line = dumps(result, indent=False)
        if self.file is None or dumps(redacted(result), indent=False) != line:
            return
        with writing(str(self.file)), self.file.open("a+b") as file:
            whole = file.seek(0, 2) == 0 or (file.seek(-1, 2) >= 0 and file.read(1) == b"\n")
            file.write((b"" if whole else b"\n") + line.encode() + b"\n")


class EvalOptions(Struct, frozen=True):
    """The options of an evaluation."""

    model: str | Model | None = None
    repeats: int | None = None
    """Repetitions of each case; `None` for the data set's number."""
    concurrency: int = CONCURRENCY
    settings: Mapping[str, object] = field(default_factory=dict)
    """Request settings, such as `{"temperature": 0}`."""
    activities: Activities = field(default_factory=Activities)
    """Functions of the caller that are called."""
    calls: bool = True
    """Whether they are called for a data set that says nothing of activities."""
    limits: tuple[int | None, int | None, str | None] = None, None, None
    """Limits of each run: requests, tokens, and an amount of money."""
    checks: Mapping[str, CheckFunction] = field(default_factory=dict)
    kinds: Mapping[str, CheckKind] = field(default_factory=lambda: KINDS)
    budget: Budget = field(default_factory=Budget)
    folder: Path | None = None
    """Folder for finished runs and traces; `None` to store nothing."""
    fresh: bool = False
    """Whether to ignore results that were finished before."""
    progress: Callable[[CaseResult], object] | None = None
    """Called with each result as it arrives."""
    version: str = ""

    @property
    def asks(self) -> str | None:
        """The words of its model, for which a program may have a form."""
        return self.model if self.model is None or isinstance(self.model, str) else "a model of Python"


class ProgramRunner:
    """Runs one program for many cases; the program is compiled once, and its model created once."""

    def __init__(self, prepared: Prepared, options: EvalOptions, *, real: bool = False) -> None:
        """`real` activities are called; results of others are generated from schemas, unless a case provides them."""
        self.prepared, self.options, self.real = prepared, options, real
        chosen = options.model or prepared.settings.run.get("model")
        words = chosen if isinstance(chosen, str) else None
        local = LocalObjects(None if chosen is None or isinstance(chosen, str) else chosen, options.activities or None)
        requests, tokens, budget = options.limits
        limited = partial(Launcher, requests=requests, tokens=tokens, budget=budget)
        self.launcher = limited(prepared, model=words, local=local, rehearse=not real, given=options.settings)
        reach = reach_of(self.launcher.plan, self.launcher.activities, prepared.processes)
        if chosen is None and None in reach.models:
            file, rehearsal = prepared.settings.file, '`--model sample` (`model="sample"`)'
            named = None if file is None else file.as_posix()
            raise SettingsError([problems.runs.NoModel(step=reach.models[None], settings=named, rehearsal=rehearsal)])
        self.model = ", ".join(sorted({(words or "own") if item is None else item for item in reach.models}))
        if options.budget.cost is not None:
            require_prices((one.strip() for one in self.model.split(",")), prepared.settings.prices)
        self.effects: Effects = self.launcher.effects("eval", None)
        costs = words is not None or chosen is None
        keeps = costs and not re.search(r"(^|,)\s*(sample|scripted|own)\b", self.model)  # the others cost nothing to repeat
        folder = options.folder if keeps else None
        self.kept = KeptRuns(None if folder is None else folder / f"{file_name(prepared.name)}.jsonl")
        if options.folder is not None:
            with writing(str(options.folder)):
                make_unversioned(options.folder)
        self._answers = None if folder is None or options.fresh else folder / "answers.sqlite"
        if self._answers is not None:
            AnswerCache(self._answers).require()
        self._steps, self._activities = _names_of(self.launcher)
        called = map(self.effects.activities.find, self._activities) if real else ()
        functions = [*self.effects.checks.values(), *(item.handler for item in called if item is not None)]
        self._code = _code_of(functions, prepared.folder)

    @property
    def words(self) -> WordsLevel | None:
        """The level of words in its messages; `None` if these do not describe the schema."""
        provider, table = provider_of(self.effects.model), self.effects.table
        target = None if provider is None else dialect(next(iter(provider.forms.values())))
        if target is None or target.shown_to_model:
            return None
        return joined(table.of_model(self.model), table.given).get("words") or usual_words(target)

    def invented(self, cases: Iterable[EvalCase]) -> tuple[str, ...]:
        """Return the generated results: those of activities for which some case provides none."""
        result = not self.real and any(len(self._given(case)) < len(self._activities) for case in cases)
        results = ("results",) if result else ()
        return tuple(item for item in self.effects.invented if item != "results") + results

    def launch_of(self, case: EvalCase, repeat: int) -> Launch:
        """Return the launch of a case; raise `CompileError` if its input does not fit, or an answer has no question."""
        wrong: list[Problem] = []
        known = list(dict.fromkeys([*self._steps, *(name for names in self._activities.values() for name in names)]))
        for name in case.answers:
            if bare_name(name) not in map(bare_name, known):
                hint = did_you_mean(nearest(name, known)) or f"there are {', '.join(f'`{item}`' for item in known) or 'none'}"
                wrong.append(case.refused(f"`{name}` is neither an activity nor a question to a person: {hint}"))
        try:
            launch = self.launcher.launch(case.input)
        except InstrcError as error:
            wrong += [case.refused(problem.message) for problem in error.problems]
        if wrong:
            raise CompileError(wrong)
        name = f"{launch.name}-{file_name(case.id)}"[:60].strip("-.") if case.id.isascii() else launch.name
        return structs.replace(launch, run=new_id(f"{name}-{repeat}"))

    def key(self, launch: Launch, case: EvalCase, repeat: int) -> str:
        """Return the key under which a run is stored: everything that determines its result."""
        settings = self.prepared.settings
        set_ = (
            as_object(cast("Json", self.launcher.set)),
            settings.run,
            settings.requests,
            msgspec.to_builtins(settings.sentences),
            settings.checks,
            settings.activities if self.real else None,
            self._code,
        )
        servers = {name: value for name, value in os.environ.items() if name.endswith("_BASE_URL") or name == "OLLAMA_HOST"}
        about = _FORMAT, launch.plan["digest"], self.prepared.processes, self.model, servers, *set_
        identity = [*about, launch.inputs, case.answers, repeat, self.real]
        return sha256(dumps(identity, indent=False).encode()).hexdigest()

    async def run(self, case: EvalCase, repeat: int = 1) -> RunFacts:
        """Return the result of a run of a case, possibly from an earlier evaluation."""
        launch = self.launch_of(case, repeat)
        key, budget = self.key(launch, case, repeat), self.options.budget
        if not self.options.fresh and (result := self.kept.find(key)) is not None and budget.reuse(key, result):
            return result
        if (spent := budget.spent()) is not None:
            return RunFacts(error=spent, unanswered=True)
        traces = None if self.options.folder is None else written_to(self.options.folder)
        script, others = CaseScript(case.answers, self.prepared.step), self.effects.others
        effects = structs.replace(
            self.effects,
            run=launch.run,
            table=_with_own_seed(self.effects.table, launch, repeat),
            model=Metered(self.effects.model, budget),
            others=None if others is None else lambda words: Metered(others(words), budget),
            activities=self.effects.activities.with_those_of(self._stand_ins(case, script)),
            sink=join_sinks(budget.saw, traces, self.effects.sink),
            cache=None if self._answers is None else AnswerCache(self._answers, repeat - 1),
        )

        began = monotonic()
        live = LiveRun(launch.plan, versions.begin(launch.plan, launch.inputs), effects)
        await live.resume_async()
        with suppress(AnswerError):  # the question stays open
            while (answer := _answer_of(live, script)) is not None:
                await live.answer_async(*answer)
        facts = _facts(live, monotonic() - began)
        if not facts.unanswered and not _failed_codes(live.events, real=self.real):
            self.kept.keep(key, facts)
            if budget.counted is not None:
                budget.counted.add(key)
        return facts

    def _stand_ins(self, case: EvalCase, script: CaseScript) -> Activities:
        """Return activities that return the results in a case."""
        result = Activities()
        for name in self._given(case):
            result.add(name, Activity(name, partial(_stand_in, script, name), None, ONCE))
        return result

    def _given(self, case: EvalCase) -> list[str]:
        """Return the activities whose results a case provides."""
        given = {bare_name(name) for name in case.answers}
        return [name for name, names in self._activities.items() if given & {bare_name(item) for item in names}]


def _names_of(launcher: Launcher) -> tuple[list[str], dict[str, list[str]]]:
    """Return the steps that people complete, and the names under which a case can provide the results of each activity."""
    units = [unit for region in program_of(launcher.plan).regions for unit in region.units]
    people = [bare_name(step.key) for unit in units if unit.kind == "user" for step in unit.steps]
    activities: dict[str, list[str]] = {name: [name] for name, _ in called_activities(launcher.plan)}
    for unit in units:
        if unit.kind in {"activity", "fire"}:
            activities.setdefault(unit.steps[0].engine.activity or unit.steps[0].key, []).append(bare_name(unit.steps[0].key))
    return people, activities


def _code_of(functions: Iterable[object], folder: Path) -> list[str]:
    """Return digests of the project modules that define functions, and of modules that these import: new code, new results."""
    left = [str(getattr(function, "__module__", "")) for function in functions]
    result: dict[str, str] = {}
    while left:
        module = sys.modules.get(left.pop())
        file = Path(getattr(module, "__file__", None) or "").resolve()
        if (
            str(file) in result
            or file.suffix != ".py"
            or not file.is_relative_to(folder.resolve())
            or "site-packages" in file.parts
        ):
            continue
        with suppress(OSError):
            result[str(file)] = sha256(file.read_bytes()).hexdigest()
        members = list(vars(module).values())
        left += [value.__name__ for value in members if ismodule(value)]
        left += [str(value.__module__) for value in members if isfunction(value) or isclass(value)]
    return sorted(result.values())


def _with_own_seed(table: RequestTable, launch: Launch, repeat: int) -> RequestTable:
    """Return the request settings of a case: a configured seed gives each run of each case its own.

    With one seed for all, cases would share their draws and not be independent. Two versions share the seeds of a case.
    """
    seed = table.given.get("seed", table.general.get("seed"))
    if seed is None:
        return table
    drawn = sha256(dumps([seed, launch.inputs, repeat], indent=False).encode()).digest()
    return structs.replace(table, given={**table.given, "seed": int.from_bytes(drawn[:4], "big") >> 1})


def _answer_of(live: LiveRun, script: CaseScript) -> tuple[str, Json] | None:
    """Return the id of an open question and the answer of a case to it, or `None` if the case answers none."""
    for question in live.questions:
        chunk = question.id.rpartition("/")[2].rpartition(".")[2]
        about = UserCommand(kind="user", id=question.id, chunk=chunk, steps=[*question.steps], show=None, schema=question.schema)
        answer = (script.find(about) or {}).get("ok") if question.by == "person" else None
        if answer is not None:
            return question.id, answer
    return None


def _facts(live: LiveRun, seconds: float) -> RunFacts:
    outcome, trouble = live.outcome, _failed_codes(live.events)
    error = None
    if _SPENT in trouble:
        error = "the budget is used up"
    elif outcome is None:
        asked = ", ".join(f"`{step}`" for question in live.questions for step in question.steps)
        error = f"it waits for an answer to {asked or 'somebody'}: give it under `answers`"
    elif outcome["status"] != "done":
        error = describe_outcome(outcome)
    steps = step_values(live.record, live.only_step)
    return RunFacts(
        value=outcome["value"] if outcome is not None and outcome["status"] == "done" else None,
        steps={key: split(value)["output"] for key, value in steps.items()},
        metrics=live.metrics,
        error=error,
        unanswered=error is not None and bool(trouble),
        uses=_uses(live.events, live.only_step),
        seconds=seconds,
        trace=live.id,
    )


def _failed_codes(events: Iterable[Event], *, real: bool = False) -> set[str]:
    """Return the codes of failures of models, and of `real` activities, that another attempt may avoid."""
    asked = {event["id"] for event in events if event["event"] == "asked"}
    failed = (event for event in events if event["event"] == "failed" and (real or event.get("id") in asked))
    return {str(event.get("code")) for event in failed} - _FINAL


def _uses(events: Iterable[Event], only: str | None) -> tuple[StepUse, ...]:
    """Return the usage of answers for each step, or for the steps of a chunk."""
    names: dict[tuple[str, str], str] = {}
    result: dict[str, StepUse] = {}
    rejected: set[tuple[str, str]] = set()
    for event in events:
        key = (event["run"], event.get("id", ""))
        if event["event"] == "asked":
            names[key] = ", ".join(spellings(step)[1] for step in steps_of(event)) or (only or event["chunk"])
        if key not in names:
            continue
        before = result.setdefault(names[key], StepUse(step=names[key]))
        if event["event"] in {"answered", "failed"}:
            usage, cost = event.get("usage", {}), event.get("cost")
            before = StepUse(
                step=before.step,
                requests=before.requests + (not event.get("cached")),
                rejected=before.rejected,
                input_tokens=before.input_tokens + usage.get("input_tokens", 0),
                output_tokens=before.output_tokens + usage.get("output_tokens", 0),
                seconds=before.seconds + event.get("seconds", 0.0),
                cost=before.cost if cost is None else (before.cost or 0.0) + cost,
            )
        if event.get("complaints") and "#" not in key[1] and key not in rejected:
            rejected.add(key)
            before = msgspec.structs.replace(before, rejected=before.rejected + 1)
        result[names[key]] = before
    return tuple(result.values())


def _stand_in(script: CaseScript, name: str, given: Json) -> Json:
    command = current_call().key.partition("/")[2].partition("~")[0]
    asked: ActivityCommand = {
        "kind": "activity",
        "id": command,
        "activity": name,
        "called": name,
        "step": command.rpartition(".")[2],
        "input": given,
        "schema": True,
        "process": None,
    }
    result = script.find(asked) or {}
    if "error" in result:
        error = as_object(result["error"])
        raise ActivityError(str(error.get("message", "it has failed")), code=str(error.get("code", "failed")), retry=False)
    return result.get("ok")


async def evaluated(
    prepared: Prepared, data: DataSet, options: EvalOptions, judging: EvalOptions | None = None
) -> EvaluationResult:
    """Return the results of a program for every case of a data set; raise `CompileError` for unusable cases.

    They are detected before any model is called.  A case whose run fails counts as failed in all of its checks.
    `judging` are the options of judges, if they are others.
    """
    began = monotonic()
    calls = data.activities is None and options.calls and bool(options.activities)
    runner = ProgramRunner(prepared, options, real=data.activities == "real" or calls)
    checks = checks_of(
        data,
        options.checks,
        options.kinds,
        CheckPlace(data.folder, asking(judging or options), prepared.settings.file),
        prepared.names,
    )
    repeats = options.repeats or data.repeat
    _require_sound(runner, data, repeats)
    pairs = [(case, repeat) for repeat in range(1, repeats + 1) for case in data.cases]
    matches: dict[tuple[str, int], CaseResult] = {}
    silent: list[str] = []
    gate = asyncio.Semaphore(options.concurrency)

    async def work(case: EvalCase, repeat: int) -> None:
        async with gate:
            if len(silent) >= SILENCE:
                return
            with _span(prepared.name, runner.model, case, repeat) as reported:
                result = await _checked(case, repeat, await runner.run(case, repeat), checks)
                reported(result)
            if result.unanswered:
                silent.append(result.error or "")
            elif len(silent) < SILENCE:  # else the other cases are already given up
                silent.clear()
            if result.unanswered and options.budget.spent() is not None:
                return  # not run, but it may be with a larger budget
            matches[case.id, repeat] = result
            if options.progress is not None:
                options.progress(result)

    with single_error():
        async with asyncio.TaskGroup() as group:
            for case, repeat in pairs:
                group.create_task(work(case, repeat))
    order = [(case.id, repeat) for case in data.cases for repeat in range(1, repeats + 1)]
    results = tuple(matches[key] for key in order if key in matches)
    why = options.budget.spent() or (f"the model gave no answer: {silent[-1]}" if silent else None)
    return EvaluationResult(
        program=prepared.name,
        model=runner.model,
        version=options.version,
        results=results,
        cases=len(data.cases),
        repeats=repeats,
        seconds=monotonic() - began,
        stopped=why if len(results) < len(pairs) else None,
        invented=runner.invented(data.cases),
    )


@contextmanager
def single_error() -> Iterator[None]:
    """Raise the first error of a group in place of the group."""
    try:
        yield
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


def _require_sound(runner: ProgramRunner, data: DataSet, repeats: int) -> None:
    """Raise for too many runs, and for cases that cannot run, all at once, before any model is called."""
    if repeats * len(data.cases) > RUNS:
        reason = f"{len(data.cases)} cases so often are more than {RUNS:,} runs"
        raise unusable("number of repetitions", str(repeats)[:40], reason)
    wrong: list[Problem] = []
    for case in data.cases:
        try:
            runner.launch_of(case, 1)
        except InstrcError as error:
            wrong += error.problems
    if wrong:
        raise CompileError(wrong)


@contextmanager
def _span(program: str, model: str, case: EvalCase, repeat: int) -> Iterator[Callable[[CaseResult], None]]:
    """Record the result of a case: its span gets an event per check, by OpenTelemetry's conventions for evaluations."""
    if not is_on(TELEMETRY):
        yield lambda _result: None
        return
    from opentelemetry import trace  # the extra is loaded only on request

    about: dict[str, str | int | list[str]] = {"instrc.program": program, "gen_ai.request.model": model}
    about |= {"instrc.eval.case": case.id, "instrc.eval.repeat": repeat, "instrc.eval.tags": list(case.tags)}
    with trace.get_tracer("instrc").start_as_current_span(f"evaluate {program}", attributes=about) as span:

        def tell(result: CaseResult) -> None:
            span.set_attributes(
                {"instrc.eval.passed": result.passed, "instrc.run": result.trace, "instrc.eval.kept": result.kept}
            )
            if result.error is not None:
                span.set_attribute("error.type", "unanswered" if result.unanswered else "failed")
            for check in result.checks:
                attributes: dict[str, str | float] = {
                    "gen_ai.evaluation.name": check.name,
                    "gen_ai.evaluation.score.value": check.score,
                }
                attributes["gen_ai.evaluation.score.label"] = "pass" if check.passed else "fail"
                attributes |= {"gen_ai.evaluation.explanation": check.reason} if check.reason and is_on(CAPTURE) else {}
                span.add_event("gen_ai.evaluation.result", attributes)

        yield tell


async def _checked(case: EvalCase, repeat: int, facts: RunFacts, checks: Iterable[EvalCheck]) -> CaseResult:
    """Return a run of a case with the results of the checks."""
    applying = [check for check in checks if check.applies(case)]
    try:
        return result_of(case, repeat, facts, [await check.result(case, facts) for check in applying])
    except UnansweredError as error:
        facts = msgspec.structs.replace(facts, error=str(error), unanswered=True)
        return result_of(case, repeat, facts, [await check.result(case, facts) for check in applying])


def asking(options: EvalOptions) -> Ask:
    """Return a runner of other programs, such as judges, within the same budget."""

    def made(prepared: Prepared, model: str | None) -> AskJudge:
        runner = ProgramRunner(prepared, structs.replace(options, model=model or options.model))

        async def ask(value: Json) -> RunFacts:
            facts = await runner.run(EvalCase(id="judged", input=value))
            if facts.unanswered:
                raise UnansweredError(facts.error)
            return facts

        return ask

    return made


class UnansweredError(Exception):
    """The model of a check gave no answer, or the budget was used up."""


def result_of(case: EvalCase, repeat: int, facts: RunFacts, checks: Iterable[CheckResult]) -> CaseResult:
    """Return a run of a case with the results of its checks."""
    return CaseResult(
        case=case.id,
        repeat=repeat,
        checks=tuple(checks),
        tags=case.tags,
        weight=case.weight,
        input=case.input,
        expected=case.expected,
        value=facts.value,
        error=facts.error,
        unanswered=facts.unanswered,
        steps=facts.uses,
        seconds=facts.seconds,
        trace=facts.trace,
        kept=facts.kept,
    )
