"""What a session offers its model: the exports of files as tools."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

from instrc.jsonvalue import Json, JsonObject, without_type
from instrc.launching.equipping import how_of
from instrc.launching.handlers import all_activities
from instrc.launching.launcher import Launcher, new_id
from instrc.launching.preparing import prepare
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.runtime.activities import Activities
from instrc.runtime.engine import Engine, RunReport
from instrc.runtime.models.catalogue import model_of
from instrc.runtime.models.model import Model
from instrc.runtime.session import SessionTool
from instrc.vibes.project import read_settings
from instrc.workspace import OptionOverrides, Workspace


def offers_of(
    file: str,
    engine: Engine,
    model: str | None,
    *,
    rehearse: bool,
    roots: Iterable[str] = (),
    shared: Iterable[str] = (),
    locked: bool = False,
) -> Iterator[SessionTool]:
    """Yield the exports of a file as tools of a session."""
    report = Report()
    compiled = Workspace(roots, shared, locked=locked).compile(file, OptionOverrides(), report)
    report.stop_if_failed()
    for artefact in compiled:
        prepared = prepare(file, export=artefact.name, roots=roots, shared=shared, locked=locked)
        if artefact.kind == "tool":
            yield SessionTool(artefact.name, artefact.documents["tool"])
            continue
        known = all_activities(prepared, Activities(), rehearse=rehearse)
        launcher = Launcher(prepared, activities=known, how=how_of(prepared, model=model, rehearse=rehearse), rehearse=rehearse)

        async def begin(name: str, entry: Json, prompt: str, launcher: Launcher = launcher) -> Json:
            try:
                launch = launcher.launch(prompt, new_id(name), entry)
            except CompileError as error:
                return {"error": str(error)}
            work = asyncio.ensure_future(engine.start(launch))  # it goes on alone
            done, _ = await asyncio.wait({work}, timeout=_PATIENCE)
            if not done:
                _going.add(work)
                work.add_done_callback(_going.discard)
                return {"run": launch.run, "status": "running"}
            report = work.result()
            ended: JsonObject = {"run": launch.run, "status": report.status}
            if report.outcome is not None and report.outcome["status"] == "done":
                ended["output"] = report.outcome["output"]
            elif report.outcome is not None and report.outcome["status"] == "failed":
                ended["error"] = without_type(report.outcome["error"])
            return ended

        yield SessionTool(artefact.name, artefact.documents["tool"], begin)


_PATIENCE = 0.5
"""Seconds after which a process that was started goes on alone."""


_going: set[asyncio.Future[RunReport]] = set()
"""Runs that go on alone: the loop itself keeps no hold on tasks."""


def session_model(words: str | None, file: Path) -> Model:
    """Return the model of a session: the one that is named, else that of the project."""
    settings = read_settings(file.parent)
    folder = settings.file.parent if settings.file is not None else file.parent
    return model_of(words or settings.run.get("model") or "sample", folder)
