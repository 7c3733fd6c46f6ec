"""The application of the FastAPI page under load: descriptors and memory do not grow with the runs that it has carried."""

from __future__ import annotations

import asyncio
import gc
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import instrc
from instrc.runtime.models.catalogue import Fallback  # two objects in order, as the words of two models name them

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")
pytest.importorskip("dbos")
PAGE = Path(__file__).parents[2] / "examples" / "guides" / "fastapi.md"
RUNS = 1000


class Model:
    """Writes each letter; every seventh draft is refused by the class first."""

    asked = 0

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        Model.asked += 1
        is_rude = Model.asked % 7 == 0 and "#" not in request.key  # a run fails if it meets three in a row
        draft = {"text": "You are stupid." if is_rude else "Thank you!"}
        return instrc.Reply({"step1_draft": draft} if "step1_draft" in str(request.schema) else draft)


class Down:
    """Refuses every third request, as a provider that has too much to do."""

    asked = 0

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        Down.asked += 1
        if Down.asked % 3 == 0:
            raise instrc.ModelError("overloaded", retry=True)
        return await Model().answer(request)


@asynccontextmanager
async def served(api: Any) -> AsyncIterator[str]:
    """Serve an application on a free port of this process, so that a reader who goes away closes a connection."""
    server = uvicorn.Server(uvicorn.Config(api, port=0, log_level="warning"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        assert not serving.done()
        await asyncio.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await serving


def descriptors(store: Path) -> tuple[int, int]:
    """Return the number of open descriptors, and that of the store's files, which pools of connections keep open."""
    opened = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that of the listing itself
            opened.append(number.readlink())
    pooled = sum(path.is_relative_to(store) for path in opened)
    return len(opened) - pooled, pooled


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the list of descriptors of Linux")
def test_a_thousand_runs_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of them are approved, the others go on waiting; some readers of a growing draft go away,
    and every third request to the first provider fails over."""
    shop = re.search(r'```py title="shop.py"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shop is not None
    (tmp_path / "shop.py").write_text(shop[1], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    from shop import api_of, letters_of  # type: ignore[import-not-found]

    async def settled(before: tuple[int, int, int] | None = None) -> tuple[int, int, int]:
        """Return descriptors and blocks of memory once what has ended is gone: about as few as `before`, or no fewer any more."""
        least = sys.maxsize
        for _ in range(60):
            await asyncio.sleep(1)
            gc.collect()
            last, least = least, min(least, sys.getallocatedblocks())
            now = (*descriptors(tmp_path), least)
            if least > last * 0.999 if before is None else now[0] <= before[0] and least <= before[2] * 1.02:
                break
        return now

    async def work() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        letters: Any = letters_of(Fallback({"first": Down(), "second": Model()}), str(tmp_path / "store"))
        api, gate = api_of(letters), asyncio.Semaphore(20)
        async with served(api) as address:

            async def one(http: Any, number: int) -> None:
                async with gate:
                    assert (await http.post(f"/letters/n{number}?about=cake")).json() == "waiting"
                    if number % 2:
                        done = await http.post(f"/letters/n{number}/answer", json={"decision": "Approve"})
                        assert done.json() == "done"
                        assert (await http.get(f"/letters/n{number}")).json() == ["sent: Thank you!"]
                    if number % 10 == 0:
                        async with http.stream("GET", "/drafts?about=cake") as response:
                            assert response.status_code == 200  # and away

            async def batch(numbers: range) -> None:
                async with httpx.AsyncClient(base_url=address, timeout=120) as http:
                    await asyncio.gather(*[one(http, number) for number in numbers])

            await batch(range(RUNS // 4))
            early = await settled()
            await batch(range(RUNS // 4, RUNS))
            return early, await settled(early)

    early, late = asyncio.run(work())
    assert Down.asked >= RUNS
    assert Model.asked > RUNS
    assert late[0] <= early[0]
    assert late[1] < RUNS // 10, "as many as work at the same time, not as many as there were runs"
    assert late[2] <= early[2] * 1.02
