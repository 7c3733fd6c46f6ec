"""The engine without a store: a run lives as long as its process."""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, NotRequired, TypedDict

from msgspec.structs import replace

from instrc import problems
from instrc.problems.errors import ConflictError
from instrc.runtime import answers
from instrc.runtime.boundary import copy_of
from instrc.runtime.effects import Effects, Invention
from instrc.runtime.interpreter import documents, versions
from instrc.runtime.journal import Again, Hold, Journal, JournalEntry, begun, rebuild_journal
from instrc.runtime.models.catalogue import require_other
from instrc.runtime.models.settings import joined
from instrc.runtime.plan import child_inputs, child_result, drive, has_pauses, plan_of, step_keys
from instrc.runtime.questions import Question, open_questions, read_shown_id
from instrc.runtime.retry import ForkOptions, ForkOrigin, ProgramVersion, RetryOptions, fork_of, origin_of, retry_of
from instrc.runtime.run import Run
from instrc.runtime.run_report import RunReport, RunStatus, status_of
from instrc.runtime.traces import Event
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, JsonObject, as_object
from instrc.tools.python_values import JsonLike

if TYPE_CHECKING:
    from instrc.engines.launch import Launcher
from instrc.engines.equip import given_settings
from instrc.engines.memory_port import MemoryPort


class StoredRun(TypedDict):
    """The stored state of a waiting run: plain JSON."""

    plan: documents.PinnedPlan
    state: documents.State
    due: dict[str, float]
    """End times of timers."""
    later: list[str]
    """Started commands that are completed from outside later."""
    children: dict[str, StoredRun]
    failed: NotRequired[dict[str, StoredRun]]
    """Failed children, by command."""
    held: NotRequired[dict[str, Json]]
    """Commands that hold the run, with their errors."""
    keys: NotRequired[dict[str, int]]
    entries: NotRequired[list[JournalEntry] | None]
    """Journal of the run; `null` for a run from an earlier release without one."""
    chosen: NotRequired[str | None]
    """Model chosen by a retry."""
    stopped: NotRequired[float | None]
    """When it ended, in seconds since 1970."""


class LiveRun(Run):
    """A run in this process: its plan and state are plain JSON, so that it can be stored and continued."""

    def __init__(
        self,
        plan: documents.PinnedPlan,
        state: documents.State,
        effects: Effects,
        *,
        holds: bool = False,
    ) -> None:
        """Create the handle of a run; one that `holds` does not fail for transient reasons."""
        self.plan = plan
        self.holds = holds
        self.state = state
        self.effects = replace(effects, sink=self._note, child=self._child)
        self.events: list[Event] = []
        self.due: dict[str, float] = {}
        self.later: set[str] = set()
        """Commands that were begun and are answered later."""
        self.held: dict[str, Json] = {}
        """Commands that hold the run, with their errors."""
        self.entries: list[JournalEntry] | None = []
        """The journal; `None` if its beginning is not known."""
        self.children: dict[str, LiveRun] = {}
        """Processes that serve activities and wait for people, by their commands."""
        self.failed: dict[str, LiveRun] = {}
        """Failed ones, which a retry continues."""
        self.cancelled: bool = False
        self.stopped: float | None = None
        """When it ended, in seconds since 1970."""
        self.origin: ForkOrigin | None = None
        """What it was forked from."""
        self.version: Callable[[ProgramVersion], Launcher] | None = None
        """Reads another version of its program."""
        self._unfired: list[documents.FireCommand] = []
        self._sink = effects.sink

    def _note(self, event: Event) -> None:
        self.events.append(event)
        if self._sink is not None:
            self._sink(event)

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.effects.run

    @property
    def only_step(self) -> str | None:
        """The name of the only step of a program, which has no key in its record."""
        return self.plan["options"].get("step")

    @property
    def invented(self) -> tuple[Invention, ...]:
        """The results that were generated from schemas."""
        return self.effects.invented

    @property
    def forked(self) -> ForkOrigin | None:
        """The run that it was forked from."""
        return copy_of(self.origin)

    @property
    def trace(self) -> list[Event]:
        """The events, in order."""
        return copy_of(self.events)

    @property
    def outcome(self) -> documents.Outcome | None:
        """The outcome; `None` while the run has not ended."""
        return copy_of(self._outcome)

    @property
    def _outcome(self) -> documents.Outcome | None:
        return versions.outcome(self.plan, self.state)

    @property
    def status(self) -> RunStatus:
        """The status of the run."""
        outcome = self._outcome
        if outcome is not None:
            return outcome["status"]
        return "cancelled" if self.cancelled else status_of(self._questions)

    @property
    def record(self) -> JsonObject:
        """The record so far, in the shape of the process."""
        return copy_of(versions.record(self.plan, self.state))

    @property
    def steps(self) -> tuple[str, ...]:
        """The keys of all steps of its program."""
        return step_keys(self.plan)

    @property
    def report(self) -> RunReport:
        """The state of the run, without its configuration."""
        record = versions.record(self.plan, self.state)
        return RunReport(self.id, "", self.status, self._outcome, tuple(self._questions), record=record)

    @property
    def _questions(self) -> list[Question]:
        if self._outcome is not None or self.cancelled:
            return []
        return questions_of(self.stored())

    async def answer_async(self, step: str, data: JsonLike) -> LiveRun:
        """Answer a question and continue the run."""
        if self.overdue:
            await self.resume_async()
        self.accept(step, data)
        return await self.resume_async()

    async def resume_async(self) -> LiveRun:
        """Continue until the run ends or waits."""
        if self._outcome is None and not self.cancelled:
            await self._resume_children()
            open_ = self.state["open"]
            self.due = {name: at for name, at in self.due.items() if name in open_}
            self.held = {name: error for name, error in self.held.items() if name in open_}
            hold = Hold(self.plan, self.state) if self.holds else None
            port = MemoryPort(self.effects, self.state, due=self.due, later=self.later, held=self.held, hold=hold)
            port.entries = self.entries
            with self.effects.carried():
                while self._unfired:
                    await port.fire(self._unfired.pop())
                if await drive(self.plan, self.state, port) is not None:
                    self._tell_end()
                await port.drain()
        return self

    async def _resume_children(self) -> None:
        """Continue child runs that serve activities and wait for people; apply the results of those that end."""
        commands = {command["id"]: command for command in versions.pending(self.plan, self.state, self.children)}
        for name, child in list(self.children.items()):
            command = commands.get(name)
            if command is None or command["kind"] != "activity":
                del self.children[name]  # nothing waits for it any more
            elif (ended := (await child.resume_async()).outcome) is not None:
                self._end_child(name, child)
                result = child_result(ended, command)
                if self.holds and Hold(self.plan, self.state).takes(name, result):
                    self.held[name] = result["error"]
                else:
                    self._apply(name, result)

    def _end_child(self, command: str, child: LiveRun) -> None:
        """Record that a child run has ended; a failed one is kept for a retry."""
        self.children.pop(command, None)
        self.later.discard(command)
        if child.status == "failed":
            self.failed[command] = child

    def _apply(self, command: str, result: documents.Result) -> None:
        """Apply the result of a command, and record it."""
        if self.entries is not None:
            self.entries.append({"results": [(command, result)]})
        self.later.discard(command)
        self.held.pop(command, None)
        versions.apply(self.plan, self.state, command, result)
        if self._outcome is not None:
            self._tell_end()

    def _tell_end(self) -> None:
        self.stopped = time()
        self.effects.tell("ended", outcome=self._outcome)

    @property
    def overdue(self) -> bool:
        """Return whether a timer ended while the run was suspended: its questions cannot be answered any more."""
        open_ = {command["id"] for command in versions.pending(self.plan, self.state, self.due)}
        passed = any(name in open_ and at <= time() for name, at in self.due.items())
        return passed or any(child.overdue for child in self.children.values())

    async def cancel_async(self) -> LiveRun:
        """Cancel the run."""
        self.cancelled = self._outcome is None
        return self

    def accept(self, step: str, answer: JsonLike, by: documents.Author | None = None) -> None:
        """Accept an answer without continuing."""
        data = answers.copy_answer(step, answer)
        question = answers.find_question(self._questions, step, self.id, self.report)
        step = read_shown_id(step)[0]
        below, slash, asked = question.id.partition("/")
        if slash:
            self.children[below].accept(asked, data, by)
            return
        if question.by == "operator":
            answers.require_acceptable(answers.operator_faults(question, data), step)
            self._decide(question.id, as_object(data), by)
            return
        answers.require_acceptable(versions.faults(self.plan, self.state, question.id, data), step)
        self.effects.tell("told", question.id, **answers.answer_facts(data, by, question.steps))
        self._apply(question.id, answers.answer_result(data, by))

    def _decide(self, command: str, data: JsonObject, by: documents.Author | None) -> None:
        """Apply the operator's decision about what holds the run."""
        again = answers.decision(command, data)
        self.effects.tell("told", command, **answers.answer_facts(data, by))
        if again is not None:
            self.begin_again(again)
        else:
            self._apply(command, answers.answer_result(data["result"], by) if "result" in data else {"error": self.held[command]})

    async def _retry_async(self, options: RetryOptions) -> LiveRun:
        """Retry a run that has failed or is held."""
        if options.budget and self.effects.budget is not None:
            self.effects.budget.raise_for(self.id, options.budget)
        if options.model is not None:
            self._require(options.model)
        self.mend(options)
        return await self.resume_async()

    def _require(self, model: str) -> None:
        """Raise if the run could not continue with another model."""
        effects = self.effects
        require_other(
            self.id,
            model,
            None if "answers" in effects.invented else effects.others,
            None if effects.budget is None else effects.prices,
        )

    async def _fork_async(self, options: ForkOptions) -> LiveRun:
        """Start another run with the recorded results of this one."""
        if options.model is not None:
            self._require(options.model)
        plan, inputs, effects = self.plan, self.state["inputs"], self.effects
        run = options.run or f"{self.id}-{token_hex(3)}"
        if options.program is not None:
            assert self.version is not None, "a run that can be forked needs a way to load its versions"
            launcher = self.version(options.program)
            launch = launcher.launch(inputs)
            plan, inputs, effects = launch.plan, launch.inputs, launcher.effects(run, None)
        made = fork_of(self.id, self.journal(), options, plan, inputs)
        cache = effects.cache if options.step is None else None  # another answer is wanted
        model = options.model or self.effects.chosen
        table = replace(effects.table, given=joined(effects.table.given, given_settings(options.settings)))
        effects = replace(effects, run=run, keys={}, chosen=model, sink=self._sink, cache=cache, parts=self.effects.parts)
        effects = replace(effects, table=table)
        live = LiveRun(plan, begun(plan, inputs, holds=self.holds), effects, holds=self.holds)
        live.entries, live.origin, live.version = [*made.entries], origin_of(self.id, options, made), self.version
        live.enter()
        return await live.resume_async()

    async def delete_async(self) -> None:
        """Do the same as `delete`: an in-process run ends with its handle."""

    def mend(self, options: RetryOptions) -> None:
        """Continue a run that has failed or is held; deadlines move by the time since it failed."""
        idle = max(time() - self.stopped, 0.0) if self.stopped is not None and self._outcome is not None else 0.0
        self.begin_again(retry_of(self.id, self.journal(), options, ended=self.cancelled, idle=idle))

    def journal(self) -> Journal:
        """Return the journal of the run."""
        return journal_of(self.id, self.stored(), holds=self.holds)

    def enter(self) -> None:
        """Load the journal of a forked run."""
        self._take_up(self.journal())

    def begin_again(self, again: Again) -> None:
        """Record a retry, and apply its consequences."""
        self.journal()  # there is one
        assert self.entries is not None
        others = {*again.get("anew", ())}.intersection({*self.failed, *self.children}).difference(again.get("fresh", ()))
        again = {**again, "fresh": [*again.get("fresh", ()), *sorted(others)]} if others else again
        self.entries += [_waiting(self.stored()), {"again": again}]
        journal = rebuild_journal(self.plan, self.state["inputs"], self.entries, holds=self.holds)
        self.effects.tell("again", steps=again.get("drop", []))
        self._take_up(journal)
        self.postpone(again.get("shift", 0.0))
        for command in again.get("drop", ()):
            if (child := self.failed.pop(command, None)) is not None and command not in again.get("fresh", ()):
                child.mend(RetryOptions(model=again.get("model")))
                self.children[command] = child
                self.later.add(command)

    def postpone(self, idle: float) -> None:
        """Move the deadlines of the processes that wait below it."""
        for child in self.children.values():
            child.due = {name: at + idle if name.endswith("!within") else at for name, at in child.due.items()}
            child.postpone(idle)

    def _take_up(self, journal: Journal) -> None:
        self.state = journal.state
        self.due, self.later, self.held = journal.due, journal.later, journal.held
        self.effects = replace(self.effects, keys=journal.keys, chosen=journal.model or self.effects.chosen)
        issued = versions.issue(self.plan, self.state)  # so that it is known who waits for a child
        self._unfired = [*journal.unfired.values(), *(command for command in issued if command["kind"] == "fire")]

    async def _child(self, run: str, process: Json, command: documents.ActivityCommand) -> documents.Result | None:
        """Run a process for an activity to its end in this process, or return `None` if it waits for a person."""
        pauses = has_pauses(self.plan)
        plan = plan_of(process, activities=self.effects.activities.names(), pauses=pauses)
        child = self._below(run, plan, versions.begin(plan, child_inputs(command, process)))
        if (ended := (await child.resume_async()).outcome) is not None:
            self._end_child(command["id"], child)
            return child_result(ended, command)
        self.children[command["id"]] = child
        return None

    def _below(self, run: str, plan: documents.PinnedPlan, state: documents.State) -> LiveRun:
        return LiveRun(plan, state, replace(self.effects, run=run, of=digest_of(plan["process"])))

    def stored(self) -> StoredRun:
        """Return the state needed to continue the run later: plain JSON."""
        return {
            "plan": self.plan,
            "state": self.state,
            "due": self.due,
            "later": sorted(self.later),
            "children": {name: child.stored() for name, child in self.children.items()},
            "failed": {name: child.stored() for name, child in self.failed.items()},
            "held": self.held,
            "keys": dict(self.effects.keys),
            "entries": self.entries,
            "chosen": self.effects.chosen,
            "stopped": self.stopped,
        }

    def restore(self, stored: StoredRun) -> None:
        """Load the stored state of the run."""
        self.due, self.later, self.held = stored["due"], set(stored["later"]), stored.get("held", {})
        self.entries, self.stopped = stored.get("entries"), stored.get("stopped")
        self.effects = replace(self.effects, keys=stored.get("keys", {}), chosen=stored.get("chosen", self.effects.chosen))
        for children, kept in ((self.children, stored.get("children", {})), (self.failed, stored.get("failed", {}))):
            for name, child in kept.items():
                children[name] = self._below(self.effects.key(name), child["plan"], child["state"])
                children[name].restore(child)


def _waiting(stored: StoredRun) -> JournalEntry:
    """Return the events that are stored with the run instead of being recorded as they happen."""
    return {"held": stored.get("held", {}), "due": stored["due"], "later": stored["later"]}


def journal_of(run: str, stored: StoredRun, *, holds: bool) -> Journal:
    """Return the journal of a run."""
    entries = stored.get("entries")
    if entries is None:
        raise ConflictError([problems.runs.NoJournal(run=run)])
    return rebuild_journal(stored["plan"], stored["state"]["inputs"], [*entries, _waiting(stored)], holds=holds)


def questions_of(stored: StoredRun) -> list[Question]:
    """Return the open questions of a run and its children."""
    children, later = stored.get("children", {}), set(stored["later"])
    found: list[Question] = []
    for asked in open_questions(stored["plan"], stored["state"], later | children.keys(), stored.get("held", {})):
        found += [below.below(asked.id) for below in questions_of(children[asked.id])] if asked.id in children else [asked]
    return found
