"""The service of runs: the same on every engine, whoever asks."""

from __future__ import annotations

from typing import Any

import pytest
from serving import ANN, ANSWER, BOB, BOSS, RunService, on, service, settled

from instrc import CompileError

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.mark.long
def test_a_run_is_started_found_and_answered_on_every_engine(store: tuple[str, Any]) -> None:
    name, place = store

    async def body(made: RunService) -> None:
        began = await made.start(ANN, "letter", "write", key="k", metadata={"case": "7"}, wait=30)
        run = began.report.run
        assert (began.report.status, began.starter, began.metadata) == ("waiting", "ann", {"case": "7"})
        assert [row.run for row in (await made.runs(ANN, metadata={"case": "7"})).rows] == [run]  # type: ignore[union-attr]
        [asked] = (await made.questions(BOB, mine=True)).rows
        assert (asked.run, asked.question.steps) == (run, ("step2_approve",))  # type: ignore[union-attr]
        again = await made.start(ANN, "letter", "write", key="k", metadata={"case": "7"}, wait=30)
        assert again.report.run == run
        done = await made.answer(BOB, run, asked.question.id, ANSWER, comment="fine")  # type: ignore[union-attr]
        assert (await settled(made, run, "done")).report.outcome["status"] == "done", done
        assert (await made.questions(BOB)).rows == ()
        kinds = [change.kind for change in made.records.feed(0)]
        assert kinds[0] == "run.started"
        assert {"question.opened", "question.answered", "run.done"} <= {*kinds}
        await made.delete(BOSS, run)
        with pytest.raises(CompileError):
            await made.run(BOSS, run)

    on(service(place, name=name), body)
