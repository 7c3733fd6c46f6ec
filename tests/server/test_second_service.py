"""A second service on a store: on a folder it says soon who carries the runs; on a database it works beside the first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from socket import gethostname
from time import monotonic, sleep
from typing import NoReturn

import httpx
import pytest
from postgres_server import Database
from temporal_server import free_port

from instrc.problems.errors import UnavailableError
from instrc.server import asgi  # what uvicorn is given
from instrc.server.records import Records  # what a service writes


@pytest.mark.long
def test_a_second_service_of_a_folder_names_the_first(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "tutorial" / "1-one-prompt"
    shutil.copytree(example, tmp_path, dirs_exist_ok=True)
    line = [sys.executable, "-m", "instrc", "serve", "--engine", "durable", "--store", "kept", "--rehearse"]
    first = subprocess.Popen([*line, "--port", "0"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert first.stderr is not None
        while "serving" not in (said := first.stderr.readline()):
            assert said, "it has ended"
        holder = tmp_path / "kept" / "runner.txt"
        while not holder.exists():
            assert first.poll() is None
        # It gives up after five seconds; the rest is what Python takes to start on a machine that is busy.
        second = subprocess.run([*line, "--port", "0"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert second.returncode == 1
        assert f"process {first.pid} on {gethostname()} already carries out the runs" in second.stderr
    finally:
        first.terminate()
        first.communicate(timeout=60)


class Uvicorn:
    """Two workers of `uvicorn` that serve a project with one key."""

    def __init__(self, folder: Path, store: str) -> None:
        example = Path(__file__).parents[2] / "examples" / "tutorial" / "1-one-prompt"
        shutil.copytree(example, folder, dirs_exist_ok=True)
        (folder / "pyproject.toml").write_text(f'[tool.instrc.run]\nmodel = "sample"\nstore = "{store}"\n', encoding="utf-8")
        line = [sys.executable, "-m", "instrc", "serve", "--new-key", "ann", "--role", "admin"]
        self.key = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
        self.port, self.log = free_port(), folder / "log"
        line = [sys.executable, "-m", "uvicorn", "--factory", "instrc.server.asgi:application", "--workers", "2"]
        line += ["--http", "instrc.server.connections:BoundedProtocol", "--ws", "none", "--backlog", "100"]
        line += ["--timeout-graceful-shutdown", "1"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*line, "--port", str(self.port)], cwd=folder, stdout=log, stderr=log)

    def until(self, word: str, times: int) -> None:
        """Wait until its log has a word so often."""
        end = monotonic() + 60
        while self.log.read_text().count(word) < times:
            assert monotonic() < end, self.log.read_text()
            sleep(0.1)

    def listed(self) -> int:
        """Return the status of a list of runs."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.get(f"http://127.0.0.1:{self.port}/v1/runs", headers=headers, timeout=60).status_code

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def test_workers_of_uvicorn_keep_traces_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(Path(__file__).parents[2] / "examples" / "tutorial" / "1-one-prompt", tmp_path, dirs_exist_ok=True)
    settings = '[tool.instrc.run]\nmodel = "sample"\nengine = "temporal"\ntraces = "postgresql://host/name"\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    told: list[object] = []

    def engine_of(name: str, _store: Path, **options: object) -> NoReturn:
        told.extend([name, options["traces"]])
        raise InterruptedError

    monkeypatch.setattr(asgi, "engine_of", engine_of)
    with pytest.raises(InterruptedError):
        asgi.application()
    assert told == ["temporal", "postgresql://host/name"]


def test_a_standby_is_a_store_that_cannot_be_used(postgres_server: Database) -> None:
    url = postgres_server.fresh()
    Records(url).close()  # it has the tables
    standby = Records(f"{url}{'&' if '?' in url else '?'}options=-c%20default_transaction_read_only%3Don")
    with pytest.raises(UnavailableError, match="read-only"):
        standby.audit("ann", "key", "cancel", "r1")
    standby.close()


@pytest.mark.long
def test_two_workers_of_uvicorn_share_a_database(tmp_path: Path, postgres_server: Database) -> None:
    served = Uvicorn(tmp_path, postgres_server.fresh())
    try:
        served.until("Application startup complete", 2)
        assert [served.listed() for _ in range(6)] == [200] * 6
        log = served.log.read_text()
        assert "Traceback" not in log
        assert "/v1/runs" not in log  # an access log would have the words of links
        headers = {"Authorization": f"Bearer {served.key}"}
        with httpx.stream("GET", f"http://127.0.0.1:{served.port}/v1/events", headers=headers, timeout=60) as stream:
            assert stream.status_code == 200
            served.end()  # although somebody still listens
    finally:
        served.end()


@pytest.mark.long
def test_the_second_of_two_workers_of_uvicorn_on_a_folder_names_the_first(tmp_path: Path) -> None:
    served = Uvicorn(tmp_path, "kept")
    try:
        served.until("Application startup complete", 1)
        served.until(f"on {gethostname()} already carries out the runs of `kept`", 1)
    finally:
        served.end()
