"""The application of the FastAPI page in two processes of uvicorn, which share a PostgreSQL server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from postgres_server import postgres
from temporal_server import free_port

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("dbos")
PAGE = Path(__file__).parents[2] / "examples" / "guides" / "fastapi.md"
MAIN = """
import os
import instrc
from shop import api_of, letters_of

def api():
    model = instrc.Scripted({{"draft": {{"text": "Thank you!"}}}})
    made = api_of(letters_of(model, "{url}"))
    made.get("/process")(os.getpid)
    return made
"""


@pytest.mark.long
def test_two_processes_begin_and_answer_each_others_letters(tmp_path: Path) -> None:
    shop = re.search(r'```py title="shop.py"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shop is not None
    (tmp_path / "shop.py").write_text(shop[1], encoding="utf-8")
    with postgres() as database:
        (tmp_path / "main.py").write_text(MAIN.format(url=database.fresh()))
        port = free_port()
        line = [sys.executable, "-m", "uvicorn", "--factory", "main:api", "--workers", "2", "--port", str(port)]
        server = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def http(verb: str, path: str, **body: object) -> httpx.Response:
            return httpx.request(verb, f"http://127.0.0.1:{port}{path}", timeout=60, **body)  # either process answers

        try:
            seen: set[int] = set()
            end = monotonic() + 90
            while len(seen) < 2:
                assert monotonic() < end, "no two processes answer"
                try:
                    seen.add(http("GET", "/process").json())
                except httpx.TransportError:
                    sleep(0.2)
            for number in range(8):
                assert http("POST", f"/letters/n{number}?about=cake").json() == "waiting"
            for number in range(8):
                assert http("POST", f"/letters/n{number}/answer", json={"decision": "Approve"}).json() == "done"
            for number in range(8):
                assert http("GET", f"/letters/n{number}").json() == ["sent: Thank you!"]
        finally:
            server.terminate()
            server.wait(60)
