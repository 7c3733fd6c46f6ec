"""How the runs of a store stand, from what is recorded of them; nothing is written."""

from __future__ import annotations

from dbos import DBOSClient, WorkflowStatus

from instrc.jsonvalue import JsonObject
from instrc.runtime.drivers.dbos.journal import entries_of, rebuild_journal
from instrc.runtime.engine import Launch, LaunchDocument, RunReport
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import Command
from instrc.runtime.interpreter.documents import Outcome, State
from instrc.runtime.questions import Question, RunStatus, question_of
from instrc.runtime.secrets import redacted

_ENDED = {"CANCELLED", "ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"}


def launch_json(launch: Launch) -> LaunchDocument:
    """Return what is kept of the beginning of a run."""
    inputs = redacted(launch.inputs)
    return {"run": launch.run, "name": launch.name, "plan": launch.plan, "inputs": inputs, "how": launch.how}


def launch_of(row: WorkflowStatus) -> LaunchDocument:
    """Return what a run began with."""
    assert row.input is not None
    launch: LaunchDocument = row.input["args"][0]
    return launch


def state_of(client: DBOSClient, row: WorkflowStatus) -> tuple[State, list[Question]]:
    """Return the state of a run, and what it waits for."""
    launch = launch_of(row)
    steps = client.list_workflow_steps(row.workflow_id)
    plan = launch["plan"]
    journal = rebuild_journal(plan, launch["inputs"], entries_of(steps))
    if row.status in _ENDED or versions.outcome(plan, journal.state) is not None:
        return journal.state, []
    versions.issue(plan, journal.state)
    open_: list[Command] = versions.pending(plan, journal.state)
    return journal.state, [
        question_of(command) for command in open_ if command["kind"] == "user" or command["id"] in journal.later
    ]


def report_of(client: DBOSClient, row: WorkflowStatus, *, children: list[WorkflowStatus] | None = None, whole: bool) -> RunReport:
    """Return how a run stands; with its record if the `whole` is asked for."""
    launch = launch_of(row)
    outcome: Outcome | None = row.output if row.status == "SUCCESS" else None
    record: JsonObject | None = None
    questions: list[Question] = []
    if whole or outcome is None:
        state, questions = state_of(client, row)
        outcome = versions.outcome(launch["plan"], state) if row.status not in _ENDED else None
        record = versions.record(launch["plan"], state) if whole else None
        for child in children or ():
            below = child.workflow_id.removeprefix(f"{row.workflow_id}/")
            if row.status not in _ENDED and child.status not in _ENDED | {"SUCCESS"}:
                for asked in state_of(client, child)[1]:
                    questions.append(Question(f"{below}/{asked.id}", asked.steps, asked.show, asked.schema, asked.by))
    status: RunStatus
    if row.status in _ENDED:
        status = "cancelled"
    else:
        status = outcome["status"] if outcome is not None else "waiting" if questions else "running"
    ended = row.completed_at / 1000 if row.completed_at else None
    began = row.created_at / 1000 if row.created_at else None
    return RunReport(launch["run"], launch["name"], status, outcome, tuple(questions), began, ended, launch["how"], record)
