"""The activities of a run: those of the project, those that are given, and made ones for a rehearsal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path

from instrc import problems
from instrc.jsonvalue import Json, as_object
from instrc.launching.preparing import Prepared, process_at
from instrc.problems.problem import CompileError, Problem
from instrc.problems.suggest import nearest
from instrc.runtime.activities import Activities, Activity
from instrc.runtime.interpreter.documents import PinnedPlan
from instrc.runtime.models.sampling import instance_of
from instrc.runtime.plan import plan_of
from instrc.runtime.retrying import ONCE
from instrc.runtime.served import served
from instrc.workspace import Workspace

_ADDRESS = "aug:"


def activities_of(prepared: Prepared, workspace: Workspace | None = None) -> Activities:
    """Return the activities that the project has registered."""
    found = Activities()
    for name, said in prepared.settings.activities.items():
        if isinstance(said, str) and said.startswith(_ADDRESS):
            where = (prepared.folder / "pyproject.toml").as_posix()
            process, named = process_at(said, workspace or Workspace(), where)
            found.add(name, Activity(name, None, process, processes=named))
        elif isinstance(said, str):
            found.add(name, imported("activity", said, prepared.folder))
        elif isinstance(said, dict):
            found.add(name, served(name, said, prepared.folder))
    return found


def rehearsed(plan: PinnedPlan, processes: Mapping[str, Json]) -> Activities:
    """Return activities that make their results from the schemas, for all that a plan calls and the processes it may call."""
    found = Activities()
    schemas: dict[str, Json] = {}
    for each in (plan, *map(plan_of, processes.values())):
        for name, schema in called_activities(each):
            schemas.setdefault(name, schema)
    for name, schema in schemas.items():

        def answer(_input: Json, schema: Json = schema) -> Json:
            return instance_of(schema)

        found.add(name, Activity(name, answer, None, ONCE))
    return found


def all_activities(prepared: Prepared, given: Activities, *, rehearse: bool) -> Activities:
    """Return all activities of a run: those given, before those of the project; in a rehearsal, made ones for the others."""
    found = rehearsed(plan_of(prepared.document), prepared.processes) if rehearse else activities_of(prepared)
    return found.with_those_of(given)


def imported(what: str, words: str, folder: Path) -> Callable[..., object]:
    """Return the function that `package.module:function` of the settings names; modules beside the settings are found."""
    module, colon, name = words.partition(":")
    try:
        if not colon or not module or not name:
            message = "it is written `package.module:function`"
            raise ImportError(message)  # noqa: TRY301  -- told below like the others
        with_folder = os.fspath(folder.absolute())
        if with_folder not in sys.path:
            sys.path.insert(0, with_folder)
        found: object = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # noqa: BLE001  -- whatever a module does when it is imported
        raise CompileError([problems.runs.UnusableSetting(what=what, word=words, reason=str(error))]) from None
    if not callable(found):
        raise CompileError([problems.runs.UnusableSetting(what=what, word=words, reason="it is not a function")])
    return found


def called_activities(plan: PinnedPlan) -> Iterable[tuple[str, Json]]:
    """Yield the activities that a plan calls, with the schema of what they give back."""
    from instrc.runtime.interpreter.v1.runnable import RunnablePlan

    for region in RunnablePlan(plan).regions:
        for unit in region.units:
            if unit.kind in {"activity", "fire"}:
                step = unit.steps[0]
                schema = unit.schema
                if step.output and isinstance(schema, dict):
                    inside = as_object(schema["properties"])["output"]
                    schema = {**inside, "$defs": schema["$defs"]} if "$defs" in schema and isinstance(inside, dict) else inside
                yield step.activity or step.key, schema
            elif unit.kind == "plan":
                for name, tool in (unit.steps[0].plan or {}).items():
                    if isinstance(tool, dict) and not isinstance(tool.get("process"), str):
                        yield str(tool.get("activity", name)), tool.get("output", True)


def unregistered(plan: PinnedPlan, activities: Activities) -> Iterable[Problem]:
    """Yield a problem for each activity that a plan calls and nobody has registered."""
    for name in dict.fromkeys(name for name, _ in called_activities(plan)):
        if activities.find(name) is None:
            found = activities.find(name.removesuffix("_Activity"))
            near = nearest(name, activities.names())
            handler = None if found is None else found.name
            yield problems.runs.UnregisteredActivity(activity=name, nearest=near, handler=handler)
