"""The exports of programs as tools of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.engines.equip import request_table, require_chosen_model
from instrc.engines.launch import Launcher, RehearseMode, new_id
from instrc.engines.prepare import Reach, prepare
from instrc.problems.errors import InstrcError
from instrc.problems.report import Report
from instrc.runtime.engine_protocol import Engine
from instrc.runtime.models.catalogue import model_of, words_from
from instrc.runtime.models.model import Model
from instrc.runtime.run_report import RunReport
from instrc.runtime.session import SessionTool
from instrc.text.jsonvalue import Json, JsonObject, without_type
from instrc.vibes.project import DEFAULT_PROJECT, Project
from instrc.vibes.settings import read_settings

_PATIENCE = 0.5
"""Seconds after which a process that was started goes on alone."""


_going: set[asyncio.Future[RunReport]] = set()
"""Runs that go on alone: the loop itself keeps no hold on tasks."""


def offers_of(
    file: str,
    engine: Engine,
    model: str | None,
    *,
    rehearse: RehearseMode,
    project: Project = DEFAULT_PROJECT,
) -> Iterator[SessionTool]:
    """Yield the exports of a file as tools of a session."""
    report = Report()
    compiled = Workspace(project).compile(file, OptionOverrides(), report)
    report.stop_if_failed()
    for artefact in compiled:
        prepared = prepare(file, export=artefact.name, project=project)
        if artefact.kind == "tool":
            yield SessionTool(artefact.name, artefact.documents["tool"])
            continue
        launcher = Launcher(prepared, model=model, rehearse=rehearse)

        async def begin(name: str, entry: Json, prompt: str, launcher: Launcher = launcher) -> Json:
            try:
                launch = launcher.launch(prompt, new_id(name), entry)
            except InstrcError as error:
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


def session_model(words: str | None, file: Path, *, rehearse: bool = False) -> Model:
    """Return the model of a session: the one that is named, else that of the project."""
    settings = read_settings(file.parent)
    folder = settings.file.parent if settings.file is not None else file.parent
    chosen = words_from(words, Path()) if words else "sample" if rehearse else settings.run.get("model")
    if chosen is None:
        require_chosen_model(Reach({None: "chat"}), settings)
    return model_of(str(chosen), folder, request_table(settings, {}))
