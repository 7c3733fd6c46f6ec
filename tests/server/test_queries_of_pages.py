"""Each page of a list costs the same queries, however many rows it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from serving import client, on, service

from instrc.engines.service_tables import CANDIDATES, CLAIMS, METADATA, QUESTIONS, RUNS, VOTES  # rows, written as by carriers
from instrc.server.inbox import Inbox  # the room behind its commands
from instrc.server.run_service import RunService  # the room behind its commands

PAGES = {
    "/v1/runs": 3,
    "/v1/runs?status=waiting": 3,
    "/v1/runs?metadata.team=red": 3,
    "/v1/questions": 5,
    "/v1/questions?candidate=me": 5,
    "/v1/questions?assignee=me": 5,
    "/v1/schedules": 1,
    "/v1/workers": 1,
    "/metrics": 6,
    "/inbox": 8,
    "/inbox/runs": 6,
}
"""Pages, and how many queries each may cost."""


def fill(made: RunService, count: int) -> None:
    """Write runs that each ask something, which somebody has claimed and answered in part."""
    runs = [{"run": f"r{n}", "program": "letter", "status": "waiting", "began": float(n), "seen": 0.0} for n in range(count)]
    asked = [{"run": f"r{n}", "question": "q", "program": "letter", "by": "person", "opened": float(n)} for n in range(count)]
    shown = {"steps": ["step2_approve"], "show": {"text": "x"}, "schema": {"type": "object"}}
    vote = {"who": "ann", "means": "key", "at": 1e9, "data": {"decision": "Approve"}}
    with made.records.engine.begin() as connection:
        connection.execute(sa.insert(RUNS), runs)
        connection.execute(sa.insert(METADATA), [{"run": each["run"], "key": "team", "value": "red"} for each in runs])
        connection.execute(sa.insert(QUESTIONS), [{**each, **shown} for each in asked])
        place = [{"run": each["run"], "question": "q"} for each in asked]
        connection.execute(sa.insert(CANDIDATES), [{**each, "who": "*", "opened": float(n)} for n, each in enumerate(place)])
        connection.execute(sa.insert(CLAIMS), [{**each, "who": "local", "until": 4e9} for each in place])
        connection.execute(sa.insert(VOTES), [{**each, **vote} for each in place])


@contextmanager
def counted() -> Iterator[list[str]]:
    """Yield the statements that are sent to databases meanwhile, those that only ask whether a connection lives left out."""
    said: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        said.append(statement)

    sa.event.listen(sa.engine.Engine, "before_cursor_execute", note)
    try:
        yield said
    finally:
        sa.event.remove(sa.engine.Engine, "before_cursor_execute", note)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_costs_as_many_queries_for_fifty_rows_as_for_one(page: str, tmp_path: Path) -> None:
    costs: dict[int, list[str]] = {}
    for count in (1, 50):
        made = service(tmp_path / str(count), name="durable", records=str(tmp_path / str(count)))
        fill(made, count)

        async def asked(made: RunService, count: int = count) -> None:
            async with client(made, routes=Inbox(made).routes) as http:
                assert (await http.get(page)).status_code == 200
                with counted() as said:
                    response = await http.get(page)
                assert response.status_code == 200
                costs[count] = said
                if "items" in response.text:
                    assert len(response.json()["items"]) == (count if page.startswith(("/v1/runs", "/v1/questions")) else 0)

        on(made, asked)
    assert len(costs[50]) == len(costs[1]), "\n".join(costs[50])
    assert len(costs[50]) <= PAGES[page], "\n".join(costs[50])


@pytest.mark.parametrize("damage", ["{", "null", '"text"'])
def test_an_unreadable_question_is_left_out_and_all_others_are_listed(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A schema read as `{}` would name no approvers, so that anybody could decide."""
    made = service(tmp_path, name="durable", records=str(tmp_path))
    fill(made, 7)
    with made.records.engine.begin() as connection:
        connection.execute(sa.text("UPDATE instrc_questions SET schema = :damage WHERE run IN ('r1', 'r2')"), {"damage": damage})

    async def body(made: RunService) -> list[str]:
        listed, more = [], ""
        async with client(made) as http:
            while True:
                page = (await http.get(f"/v1/questions?limit=2{more}")).json()
                listed += [each["run"] for each in page["items"]]
                if page.get("next") is None:
                    return listed
                more = f"&cursor={page['next']}"

    assert on(made, body) == ["r0", "r3", "r4", "r5", "r6"]
    assert "left out, by their first column: ['r1', 'r2']" in caplog.text
    assert made.records.question("r1", "q") is None


@pytest.mark.parametrize("damage", ["'soon'", "x'fffe'", "-1e308", "9e18"])
@pytest.mark.parametrize(
    ("table", "column", "page"),
    [
        ("instrc_index", "began", "/v1/runs"),
        ("instrc_index", "ended", "/v1/runs"),
        ("instrc_questions", "due", "/v1/questions"),
        ("instrc_audit", "at", "/v1/audit"),
    ],
)
def test_a_column_of_the_wrong_type_hides_its_row_alone(
    table: str, column: str, page: str, damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite keeps any value in any column, as another program may have written it."""
    made = service(tmp_path, name="durable", records=str(tmp_path))
    fill(made, 4)
    made.records.audit("ann", "key", "start", "r0", "r1", "r2", "r3")
    with made.records.engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE {table} SET {column} = {damage} WHERE run = 'r1'"))  # noqa: S608  -- of this module

    async def body(made: RunService) -> list[str]:
        listed, more = [], ""
        async with client(made) as http:
            while True:
                answer = await http.get(f"{page}?limit=2{more}")
                assert answer.status_code == 200, answer.text
                listed += [each["run"] for each in answer.json()["items"]]
                if answer.json().get("next") is None:
                    return listed
                more = f"&cursor={answer.json()['next']}"

    assert sorted(on(made, body)) == ["r0", "r2", "r3"]
    assert "rows that cannot be read are left out" in caplog.text
