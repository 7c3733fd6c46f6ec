"""The application of the FastAPI page under load: descriptors and memory do not grow with the runs that it has carried."""

from __future__ import annotations

import asyncio
import gc
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import instrc

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("dbos")
PAGE = Path(__file__).parents[2] / "examples" / "guides" / "fastapi.md"
BATCH, BATCHES = 100, 10


class Model:
    """Writes each letter; every seventh draft is refused by the class first."""

    asked = 0

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        Model.asked += 1
        draft = {"text": "You are stupid." if Model.asked % 7 == 0 else "Thank you!"}
        return instrc.Reply({"step1_draft": draft} if "step1_draft" in str(request.schema) else draft)


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the list of descriptors of Linux")
def test_a_thousand_runs_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of them are approved, the others go on waiting; some readers of a growing draft go away."""
    shop = re.search(r'```py title="shop.py"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shop is not None
    (tmp_path / "shop.py").write_text(shop[1], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    from shop import api_of, letters_of  # type: ignore[import-not-found]

    async def settled() -> tuple[int, int]:
        """Return descriptors and blocks of memory once every run that waits is left."""
        least = sys.maxsize
        for _ in range(12):
            await asyncio.sleep(1)
            gc.collect()
            least = min(least, sys.getallocatedblocks())
        return descriptors(), least

    async def work() -> list[tuple[int, int]]:
        letters: Any = letters_of(Model(), str(tmp_path / "store"))
        api, gate, counted = api_of(letters), asyncio.Semaphore(20), []
        async with letters, httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://shop", timeout=120) as http:

            async def one(number: int) -> None:
                async with gate:
                    assert (await http.post(f"/letters/n{number}?about=cake")).json() == "waiting"
                    if number % 2:
                        done = await http.post(f"/letters/n{number}/answer", json={"decision": "Approve"})
                        assert done.json() == "done"
                        assert (await http.get(f"/letters/n{number}")).json() == ["sent: Thank you!"]
                    if number % 10 == 0:
                        async with http.stream("GET", "/drafts?about=cake") as response:
                            assert response.status_code == 200  # and away

            for batch in range(BATCHES):
                await asyncio.gather(*[one(number) for number in range(batch * BATCH, (batch + 1) * BATCH)])
                if batch in {2, BATCHES - 1}:
                    counted.append(await settled())
        return counted

    early, late = asyncio.run(work())
    assert late[0] <= early[0] + 2
    assert late[1] < early[1] * 1.02
