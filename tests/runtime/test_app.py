"""What the runs of an application share: clients of models, compiled programs, a store."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from standins import FILLED, SHAPES, Standin

import instrc
from instrc.api import app as app_module  # how often it looks at files
from instrc.runtime.models import catalogue, clients  # what is shared by an event loop

PROGRAM = '@{ title: "Read", type: "object", properties: { asks: { type: "string" } }, required: ["asks"] }'
ASKING = 'const draft = @{ title: "Draft", type: "object" }; Approve_User(draft)'
APPROVE = {"Approve_User": {"type": "object", "properties": {"decision": {"type": "string"}}, "required": ["decision"]}}


def descriptors() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("kind", ["openai", "anthropic"], indirect=True)
@pytest.mark.parametrize("shared", [True, False])
def test_all_runs_of_a_loop_share_one_client(
    kind: str,
    shared: bool,  # noqa: FBT001  -- a parameter
    standin: Standin,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new client for each run kept two descriptors and 0.8 MiB."""
    standin.answers += [(200, SHAPES[kind](FILLED, "Read"))] * 15
    adapter = catalogue.adapter_of(kind)
    connect, connected = adapter.connect, []
    monkeypatch.setattr(adapter, "connect", lambda *given: connected.append(client := connect(*given)) or client)

    async def work() -> list[int]:
        app = instrc.App(model=f"{kind}:m-1")
        counted = []
        for _ in range(3):
            for _ in range(5):
                begun = app.run(PROGRAM, "x") if shared else instrc.run_async(PROGRAM, "x", model=f"{kind}:m-1")
                assert (await begun).status == "done"
            counted.append(descriptors())
        return counted

    before = descriptors()
    counted = asyncio.run(work())
    assert len(connected) == 1
    assert max(counted) - min(counted) < 5  # not two for each of five runs; the stand-in, too, has sockets in this process
    assert descriptors() <= before + 1  # the loop is gone, and the client with it
    assert not clients._clients


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_the_end_of_an_application_closes_its_clients(kind: str, standin: Standin) -> None:
    standin.answers += [(200, SHAPES[kind](FILLED, "Read"))] * 2

    async def work() -> None:
        loop = asyncio.get_running_loop()
        async with instrc.App(model=f"{kind}:m-1") as app:
            await app.run(PROGRAM, "x")
            [[(_, client)]] = clients._clients[loop].values()
        assert client.is_closed()
        assert (await app.run(PROGRAM, "x")).status == "done"  # it connects again

    asyncio.run(work())


async def until(done: Callable[[], bool]) -> None:
    """Wait for what another event loop may do."""
    for _ in range(2_000):
        if done():
            return
        await asyncio.sleep(0.01)
    raise AssertionError


class Slow:
    """Keeps a request open until the end of another application."""

    def __init__(self) -> None:
        self.ended = self.asked = False  # an engine may have an event loop of its own

    async def answer(self, _: instrc.Request) -> instrc.Reply:
        client = clients.client_of_loop("slow", "key", Closed)
        self.asked = True
        await until(lambda: self.ended)
        assert not client.closed
        return instrc.Reply(FILLED)


class Closed:
    closed = False

    async def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_the_end_of_one_application_closes_nothing_that_another_one_uses(engine: Any, tmp_path: Path) -> None:
    """As where each request makes an application of its own."""
    if engine == "durable":
        pytest.importorskip("dbos")

    async def work() -> None:
        model = Slow()
        given: Any = {"engine": engine, "store": tmp_path / "kept"} if engine == "durable" else {}
        going = asyncio.create_task(instrc.run_async(PROGRAM, "x", model=model, **given))
        await until(lambda: model.asked)
        async with instrc.App(model=instrc.Scripted([FILLED]), **given) as app:
            assert (await app.run(PROGRAM, "x")).status == "done"
        model.ended = True
        assert (await going).status == "done"
        await app.close()
        assert not clients._clients
        assert not app_module._users

    asyncio.run(work())


def test_a_loop_that_nobody_has_closed_well_is_forgotten() -> None:
    loops = [asyncio.new_event_loop() for _ in range(3)]
    for loop in loops:

        async def work() -> Any:
            return clients.client_of_loop("openai", "key", object)

        loop.run_until_complete(work())
        loop.close()
    assert len(clients._clients) == 1  # the last one
    asyncio.run(_shut())
    assert not [loop for loop in clients._clients if loop in loops]


async def _shut() -> None:
    clients.client_of_loop("openai", "key", object)


def test_a_program_is_compiled_once_and_again_when_its_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "LOOK_SECONDS", 0.0)
    prepared: list[object] = []
    prepare = app_module.prepared_program
    monkeypatch.setattr(app_module, "prepared_program", lambda *given: prepared.append(given) or prepare(*given))
    file = tmp_path / "read.aug"
    file.write_text(PROGRAM)

    async def work() -> None:
        app = instrc.App(project=tmp_path, model=instrc.Scripted({"read": FILLED, "other": {}}))
        for _ in range(3):
            assert (await app.run("read.aug", "x")).value == FILLED
        assert len(prepared) == 1
        await app.run("read.aug", "x", rehearse=True)
        assert len(prepared) == 2
        file.write_text('@{ title: "Other", type: "object" }')
        assert (await app.run("read.aug", "x")).step("other") == {}

    asyncio.run(work())


def test_programs_and_settings_are_those_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"read": {"asks": "a date"}}')
    (tmp_path / "pyproject.toml").write_text('[tool.instrc.run]\nmodel = "scripted:script.json"\n')
    (tmp_path / "read.aug").write_text(PROGRAM)

    async def work() -> None:
        async with instrc.App(project=tmp_path) as app:
            for program in ("read.aug", PROGRAM):
                assert (await app.run(program, "x")).value == {"asks": "a date"}

    asyncio.run(work())


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_runs_are_found_answered_and_listed(engine: Any, tmp_path: Path) -> None:
    if engine == "durable":
        pytest.importorskip("dbos")

    async def work() -> None:
        model = instrc.Scripted({"draft": {}})
        async with instrc.App(model=model, vibes=APPROVE, engine=engine, store=tmp_path / "kept") as app:
            run = await app.run(ASKING, "x", id="friday")
            assert run.status == "waiting"
            assert [each.id for each in await app.runs(status="waiting")] == ["friday"]
            found = await app.find("friday")
            assert (await found.answer_async("approve", {"decision": "Yes"})).value == {"decision": "Yes"}
            with pytest.raises(instrc.NotFoundError):
                await app.find("monday")
        async with instrc.App(engine=engine, store=tmp_path / "kept") as other:  # the store was released
            assert (await other.find("friday")).status == "done"

    asyncio.run(work())


def test_an_application_streams_and_evaluates() -> None:
    async def work() -> None:
        app = instrc.App(model=instrc.Scripted({"read": FILLED}))
        stream = app.stream(PROGRAM, "x")
        assert [part.value async for part in stream] == [FILLED]
        assert stream.run.status == "done"
        result = await app.evaluate(PROGRAM, [{"input": "x", "expected": FILLED}])
        assert result.scores() == {"case 1": 1.0}

    asyncio.run(work())


@pytest.mark.parametrize(("said", "sent"), [("invented", 0), (None, 0), ("real", 5)])
def test_an_evaluation_calls_what_an_application_does_only_if_the_data_set_says_so(said: str | None, sent: int) -> None:
    called: list[object] = []
    program = f"{PROGRAM} | Send_Activity"
    given = {"Send_Activity": called.append}
    vibes = {"Send_Activity": {"type": "object"}}
    cases = [*([] if said is None else [{"activities": said}]), *({"input": str(at)} for at in range(5))]
    model = instrc.Scripted({"read": FILLED})
    found = asyncio.run(instrc.App(model=model, activities=given, vibes=vibes).evaluate(program, cases))
    assert (len(called), found.invented) == (sent, () if sent else ("results",))
    called.clear()
    instrc.evaluate(program, cases, model=instrc.Scripted({"read": FILLED}), activities=given, vibes=vibes)
    assert len(called) == (0 if said == "invented" else 5)


def test_limits_of_an_application_hold_for_each_run_of_an_evaluation() -> None:
    cases = [{"input": str(at)} for at in range(5)]
    vibes = {"Save_Activity": {"type": "object"}}
    app = instrc.App(model=instrc.Scripted({"read": FILLED, "draft": {}}), requests=1, vibes=vibes)
    found = asyncio.run(app.evaluate(PROGRAM, cases))
    assert (len(found.results), found.stopped, {result.passed for result in found.results}) == (5, None, {True})
    program = f'{PROGRAM} | Save_Activity | @{{ title: "Draft", type: "object" }}'
    found = asyncio.run(app.evaluate(program, cases))
    assert (len(found.results), {result.passed for result in found.results}) == (5, {False})
    assert "the run may spend 1 request" in str(found.results[0].error)
    assert len(asyncio.run(app.evaluate(PROGRAM, cases, concurrency=1, requests=2)).results) == 2


def test_a_found_run_goes_on_with_the_model_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("first.json").write_text("[]")
    Path("second.json").write_text('{"read": {"asks": "a date"}}')
    program = f"Approve_User(prompt) | {PROGRAM}"
    given: Any = {"store": "kept", "engine": "memory"}
    instrc.run(program, "x", id="friday", model="scripted:first.json", vibes=APPROVE, **given)
    run = instrc.find_run("friday", model="scripted:second.json", store="kept")
    assert run.answer("approve", {"decision": "Yes"}).value == {"asks": "a date"}
    instrc.run(program, "x", id="monday", model="scripted:first.json", vibes=APPROVE, **given)
    with pytest.raises(instrc.SettingsError, match="opnai"):
        instrc.find_run("monday", model="opnai:gpt", store="kept")


def test_runs_are_found_where_they_are_begun() -> None:
    """`run`, `find_run` and `runs` have the same default."""
    from inspect import signature

    assert {signature(function).parameters["engine"].default for function in (instrc.run, instrc.find_run, instrc.runs)} == {
        "memory"
    }
    assert signature(instrc.App).parameters["engine"].default == "memory"


@pytest.mark.parametrize("given", [{"model": 3}, {"roots": "x"}, {"requests": -1}, {"engine": 3}, {"watch": 3}, {"budget": 2}])
def test_arguments_of_another_type_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=next(iter(given))):
        instrc.App(**given)


@pytest.mark.parametrize("project", ["nowhere", "\0", "a" * 5000])
def test_a_project_is_a_folder_that_exists(project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(instrc.SettingsError, match="`project` must be a folder that exists, not "):
        instrc.App(project=project)


def test_parts_and_classes_reach_every_way_to_run(tmp_path: Path) -> None:
    parts: list[object] = []

    async def work() -> None:
        model = instrc.Scripted({"read": FILLED})
        app = instrc.App(model=model, store=tmp_path, parts=lambda part: parts.append(part.value))
        run = await app.run(PROGRAM, "x", id="a", as_=dict[str, object])
        assert run.value == (await run.fork_async("read")).value == FILLED
        assert (await app.find("a", as_=list[int])).status == "done"
        with pytest.raises(instrc.AnswerError):
            _ = (await app.find("a", as_=list[int])).value
        assert [item.value async for item in app.map(PROGRAM, ["x"], as_=dict[str, object])] == [FILLED]
        stream = app.stream(PROGRAM, "x", as_=TypeAdapter(int))
        assert [part.value async for part in stream] == [FILLED]
        with pytest.raises(instrc.AnswerError):
            _ = stream.run.value

    asyncio.run(work())
    assert parts == [FILLED] * 4


@pytest.mark.parametrize("model", [instrc.Scripted, 5, lambda _: None])
def test_a_model_is_an_object_that_answers(model: Any) -> None:
    with pytest.raises(TypeError, match=r"`model` takes words or an object with the method of `instrc.Model`"):
        instrc.App(model=model)
