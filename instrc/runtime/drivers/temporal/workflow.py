"""The workflow: one type that interprets every plan."""

from __future__ import annotations

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

from instrc.runtime.drive import drive
from instrc.runtime.drivers.temporal import names
from instrc.runtime.drivers.temporal.documents import AnswerMessage, Ended, Launched, Standing
from instrc.runtime.drivers.temporal.port import TemporalPort
from instrc.runtime.drivers.temporal.telling import tell
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import Complaint
from instrc.runtime.interpreter.documents import State
from instrc.runtime.questions import question_of

_PLAN = SearchAttributeKey.for_keyword(names.PLAN_ATTRIBUTE)
_STATUS = SearchAttributeKey.for_keyword(names.STATUS_ATTRIBUTE)


@workflow.defn(name=names.WORKFLOW)
class RunWorkflow:
    """A run."""

    @workflow.init
    def __init__(self, launch: Launched) -> None:
        carried = launch.get("carried")
        self.launch = launch
        self.state: State = carried["state"] if carried else versions.begin(launch["plan"], launch["inputs"])
        self.port: TemporalPort = TemporalPort(launch, carried)
        self.status: str = ""

    @workflow.run
    async def run(self, launch: Launched) -> Ended:
        """Carry the run to its end, or on into a new history."""
        port = _Watched(self)
        outcome = await drive(launch["plan"], self.state, port)
        if outcome is None:
            again = launch.copy()
            again["inputs"], again["carried"] = {}, {"state": self.state, **self.port.carried()}
            workflow.continue_as_new(again)
        await self.port.drain()
        self.note(outcome["status"])
        tell(launch["run"], "ended", outcome=outcome)
        return {"outcome": outcome, "record": versions.record(launch["plan"], self.state)}

    @workflow.update(name=names.ANSWER)
    def answer(self, letter: AnswerMessage) -> None:
        """Take an answer in."""
        self._take(letter)

    @answer.validator
    def refuse(self, letter: AnswerMessage) -> None:
        """Refuse what is not asked, or does not fit: the question stays open."""
        wrong = self._faults(letter)
        if wrong is None:
            raise ApplicationError(letter["answer"], type=names.NO_QUESTION)
        if wrong:
            raise ApplicationError(wrong[0]["message"], wrong[0]["pointer"], type=names.REJECTED)

    @workflow.signal(name=f"{names.ANSWER}-signal")
    def told(self, letter: AnswerMessage) -> None:
        """Take an answer in where the server knows no updates; a wrong one is left out, and the question stays open."""
        if self._faults(letter) == []:
            self._take(letter)

    @workflow.query(name=names.REPORT)
    def report(self) -> Standing:
        """Return how the run stands."""
        plan, state = self.launch["plan"], self.state
        outcome = versions.outcome(plan, state)
        open_ = [] if outcome is not None else versions.pending(plan, state)
        questions = [
            question_of(command)
            for command in open_
            if command["id"] not in self.port.unread and (command["kind"] == "user" or command["id"] in self.port.later)
        ]
        return {
            "outcome": outcome,
            "idle": self.port.idle,
            "flying": self.port.flying,
            "due": min(self.port.due.values(), default=None),
            "questions": [(each.id, list(each.steps), each.show, each.schema, each.by) for each in questions],
            "children": sorted(self.port.children),
            "record": versions.record(plan, state),
        }

    def note(self, status: str) -> None:
        """Say on the server how the run stands, where it can be searched for."""
        if self.launch.get("attributes") and status != self.status:
            self.status = status
            plan = self.launch["plan"]["digest"]
            workflow.upsert_search_attributes([_PLAN.value_set(plan), _STATUS.value_set(status)])

    def _faults(self, letter: AnswerMessage) -> list[Complaint] | None:
        if letter["answer"] in self.port.unread or self.port.is_late(letter["answer"]):
            return None
        return versions.faults(self.launch["plan"], self.state, letter["answer"], letter["data"])

    def _take(self, letter: AnswerMessage) -> None:
        tell(self.launch["run"], "told", letter["answer"], answer=letter["data"])
        self.port.give(letter["answer"], {"ok": letter["data"]})
        self.note("running")


class _Watched:
    """The port of a workflow, which notes on the way how the run stands."""

    def __init__(self, flow: RunWorkflow) -> None:
        self.flow = flow
        port = flow.port
        self.start, self.wait_first, self.fire = port.start, port.wait_first, port.fire

    def want_handoff(self) -> bool:
        self.flow.note("waiting" if self.flow.port.idle else "running")
        return self.flow.port.want_handoff()
