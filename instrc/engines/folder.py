"""The engine `memory`: the state of a run is kept in a folder, so that another process can continue it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Unpack, cast

from msgspec import structs

from instrc import problems
from instrc.engines.deletion import forget_beside, require_deletable
from instrc.engines.memory import LiveRun, StoredRun, journal_of, questions_of
from instrc.problems.errors import ConflictError, NotFoundError, SettingsError
from instrc.runtime.answers import find_question
from instrc.runtime.engine_protocol import EngineOptions, Equip, TracedEngine
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import Author
from instrc.runtime.journal import Journal, begun
from instrc.runtime.plan import step_keys
from instrc.runtime.retry import RetryOptions, refuse_cancelled
from instrc.runtime.run_config import Launch, RunConfig
from instrc.runtime.run_report import RunFilter, RunReport, RunStatus, status_of
from instrc.text.files import make_private, private_opener, read_whole, reason
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")


class RunFile(StoredRun):
    """The contents of a run's file."""

    run: str
    name: str
    began: float
    ended: float | None
    how: JsonObject
    cancelled: bool


def keeps(folder: Path, run: str) -> bool:
    """Return whether a folder contains a run of that id."""
    return _NAME.fullmatch(run) is not None and (folder / "runs" / f"{run}.json").is_file()


class FolderEngine(TracedEngine):
    """Keeps runs as files of a folder, `runs/ID.json`, or only in memory if the folder is `None`.

    With `keep="open"` only runs that wait for people are written, without traces.
    """

    def __init__(self, folder: Path | None, equip: Equip, **options: Unpack[EngineOptions]) -> None:
        super().__init__(folder, equip, options)
        self._live: dict[str, tuple[asyncio.Task[LiveRun], RunFile]] = {}
        """Runs that this process carries on."""

    async def start(self, launch: Launch) -> RunReport:
        """Begin a run and carry it until it ends or waits for a person; a run that began in the same way continues."""
        _, before = self._live.get(launch.run, (None, None))
        await self._left(launch.run)  # the same request, sent again before the first response
        if before is None and self.folder is not None and self.keep == "all" and keeps(self.folder, launch.run):
            before = self._load(launch.run)
        if before is not None:
            there = before["plan"], before["state"]["inputs"], before["how"].get("forked")
            if there != (launch.plan, launch.inputs, launch.config.to_json().get("forked")):
                raise ConflictError([problems.runs.RunExists(run=launch.run)])
            return _report(before) if before["cancelled"] else await self._proceed(before)
        saved: RunFile = {
            "run": launch.run,
            "name": launch.name,
            "began": time(),
            "ended": None,
            "how": launch.config.to_json(),
            "plan": launch.plan,
            "state": begun(launch.plan, launch.inputs, holds=launch.config.holds),
            "due": {},
            "later": [],
            "children": {},
            "entries": [*launch.entries],
            "cancelled": False,
        }
        return await self._proceed(saved, (lambda live: live.enter()) if launch.entries else None)

    async def runs(self, chosen: RunFilter | None = None) -> list[RunReport]:
        """Return the stored runs that match a filter, latest first."""
        if self.folder is None or not (self.folder / "runs").is_dir():
            return []
        began = 0.0 if chosen is None or chosen.began is None else chosen.began
        files = (self.folder / "runs").glob("*.json")
        found = [_report(saved) for file in files if (saved := _read(file, since=began)) is not None]
        found = [report for report in found if chosen is None or chosen.takes(report)]
        return sorted(found, key=lambda report: -(report.began or 0))

    async def show(self, run: str, *, whole: bool = True) -> RunReport:  # noqa: ARG002  -- required by the protocol
        """Return the state of a run."""
        return _report(self._load(run))

    async def answer(self, run: str, step: str, data: Json, by: Author | None = None) -> RunReport:
        """Answer a question of a run and carry it on."""
        await self._left(run)
        saved = self._load(run)
        if _overdue(saved):
            await self._proceed(saved)
            await self._left(run)
            saved = self._load(run)
        question = find_question(list((report := _report(saved)).questions), step, run, report)
        return await self._proceed(saved, lambda live: live.accept(question.id, data, by))

    async def cancel(self, run: str) -> RunReport:
        """Cancel a run."""
        if run in self._live:
            self._live[run][0].cancel()
            await self._left(run)
        saved = self._load(run)
        if saved["state"]["outcome"] is None and not saved["cancelled"]:
            saved["cancelled"], saved["ended"] = True, time()
            self._save(saved)
        return _report(saved)

    async def resume(self, run: str) -> RunReport:
        """Go on with a run."""
        await self._left(run)
        return await self._proceed(self._load(run))

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Go on with a run that has failed, or that is held."""
        await self._left(run)
        saved = self._load(run)
        return await self._proceed(saved, lambda live: live.mend(options), again=True)

    async def launch(self, run: str) -> Launch:
        """Return the beginning of a run."""
        saved = self._load(run)
        return Launch(run, saved["name"], saved["plan"], saved["state"]["inputs"], RunConfig.from_json(saved["how"]))

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return the launch of a run and its journal."""
        launch = await self.launch(run)
        return launch, journal_of(run, self._load(run), holds=launch.config.holds)

    async def delete(self, run: str) -> None:
        """Delete a run that has ended."""
        await require_deletable(self.show(run), run, self.folder)
        if self.folder is not None:
            (self.folder / "runs" / f"{run}.json").unlink(missing_ok=True)
            await asyncio.to_thread(forget_beside, run, self.folder, self.folder)

    async def _left(self, run: str) -> None:
        """Wait until no task here continues a run, and its file is written: two tasks would repeat each other's steps."""
        while run in self._live:
            await asyncio.wait({self._live[run][0]})
            await asyncio.sleep(0)

    async def _proceed(self, saved: RunFile, first: Callable[[LiveRun], None] | None = None, *, again: bool = False) -> RunReport:
        if saved["cancelled"] and not again:
            refuse_cancelled(saved["run"])
        if versions.outcome(saved["plan"], saved["state"]) is not None and not again:
            return _report(saved)
        config = RunConfig.from_json(saved["how"])
        effects = structs.replace(self.equip(saved["run"], saved["plan"], config, self.sink()), program=saved["name"])
        live = LiveRun(saved["plan"], saved["state"], effects, holds=config.holds)
        live.restore(saved)
        live.cancelled, live.stopped = saved["cancelled"], live.stopped or saved["ended"]
        if first is not None:
            first(live)
        if again:
            saved["ended"] = None
        self._keep(saved, live)
        task = asyncio.ensure_future(live.resume_async())
        self._live[saved["run"]] = task, saved
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            self._keep(saved, live)  # an interrupted run continues from here
            raise
        finally:
            task.cancel()
            del self._live[saved["run"]]
        if task.cancelled():
            saved["cancelled"], saved["ended"] = True, time()
        else:
            task.result()
        self._keep(saved, live)
        return _report(saved)

    def _keep(self, saved: RunFile, live: LiveRun) -> None:
        saved.update(cast("RunFile", live.stored()))
        if live.outcome is not None and saved["ended"] is None:
            saved["ended"] = time()
        self._save(saved)

    def _load(self, run: str) -> RunFile:
        file = None if self.folder is None or not _NAME.fullmatch(run) else self.folder / "runs" / f"{run}.json"
        saved = _read(file) if file is not None else None
        if saved is None:
            raise NotFoundError([problems.runs.NoSuchRun(run=run, store="" if self.folder is None else self.folder.as_posix())])
        return saved

    def _save(self, saved: RunFile) -> None:
        """Write the whole file, and replace the old one atomically."""
        if self.folder is None or (self.keep == "open" and _report(saved).status not in {"waiting", "held"}):
            return
        try:
            make_private(self.folder)
            make_private(self.folder / "runs")
            file = self.folder / "runs" / f"{saved['run']}.json"
            beside = file.with_suffix(f".{os.getpid()}.part")
            with open(beside, "w", encoding="utf-8", opener=private_opener) as file_beside:
                file_beside.write(dumps(saved))
            beside.replace(file)
        except OSError as error:
            with suppress(OSError, UnboundLocalError):
                beside.unlink()
            where = self.folder.as_posix()
            raise SettingsError([problems.files.UnwritableOutput(path=where, reason=reason(error))]) from None


def _report(saved: RunFile) -> RunReport:
    plan, state = saved["plan"], saved["state"]
    outcome = versions.outcome(plan, state)
    questions = () if outcome is not None or saved["cancelled"] else tuple(questions_of(saved))
    status: RunStatus = outcome["status"] if outcome is not None else "cancelled" if saved["cancelled"] else status_of(questions)
    record = versions.record(plan, state)
    config, steps, times = RunConfig.from_json(saved["how"]), step_keys(plan), (saved["began"], saved["ended"])
    return RunReport(saved["run"], saved["name"], status, outcome, questions, *times, config, record, steps)


def _read(file: Path, since: float = 0.0) -> RunFile | None:
    try:
        saved = loads(read_whole(str(file))) if file.stat().st_mtime >= since else None
    except (OSError, ValueError):
        return None
    return cast("RunFile", saved) if isinstance(saved, dict) and "plan" in saved and "state" in saved else None


def _overdue(saved: StoredRun) -> bool:
    """Return whether a timer may have ended since the run was stored."""
    return any(at <= time() for at in saved["due"].values()) or any(_overdue(child) for child in saved["children"].values())
