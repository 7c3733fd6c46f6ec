"""The engines by their names."""

from __future__ import annotations

import os
import stat
from importlib import import_module
from pathlib import Path
from typing import Literal, TypeAlias

from instrc import problems
from instrc.launching.equipping import equip
from instrc.launching.launcher import names_as_text
from instrc.problems.problem import CompileError
from instrc.problems.suggest import nearest
from instrc.runtime.engine import Engine, Equip, Keep
from instrc.runtime.events import Sink
from instrc.runtime.questions import People

EngineName: TypeAlias = Literal["memory", "durable", "temporal"]
ENGINES: dict[str, str] = {
    "memory": "instrc.runtime.folder:FolderEngine",
    "durable": "instrc.runtime.drivers.dbos.engine:DurableEngine",
    "temporal": "instrc.runtime.drivers.temporal.engine:TemporalEngine",
}
"""What makes each engine: `module:callable`, called with the folder of its store, `equip`, `people`, `watch` and `keep`."""


STORE = ".instrc"
"""The folder that runs are kept in."""


def engine_of(
    name: str,
    store: Path | None,
    *,
    equip: Equip = equip,
    people: People | None = None,
    watch: Sink | None = None,
    keep: Keep = "all",
) -> Engine:
    """Return the engine of a name, with its store."""
    if name not in ENGINES:
        reason = f"engines are {names_as_text(ENGINES)}"
        near = nearest(name, ENGINES)
        raise CompileError([problems.runs.UnusableSetting(what="engine", word=name, reason=reason, nearest=near)])
    if store is not None:
        _require_folder(store)
    module, _, maker = ENGINES[name].partition(":")
    try:
        loaded = import_module(module)
    except ModuleNotFoundError as error:
        reason = f"`{error.name}` is not installed; it comes with `pip install 'instrc[{name}]'`"
        raise CompileError([problems.runs.UnusableSetting(what="engine", word=name, reason=reason)]) from None
    made: Engine = getattr(loaded, maker)(store, equip, people=people, watch=watch, keep=keep)
    return made


def _require_folder(store: Path) -> None:
    """Refuse a store where no folder is and none can be made; an address of a database is none of our business."""
    if "://" in os.fspath(store) or os.fspath(store).startswith(("postgres:", "postgresql:", "postgresql+")):
        return
    reason = None
    try:
        if not stat.S_ISDIR(store.stat().st_mode):
            reason = "it is not a folder"
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason is not None:
        raise CompileError([problems.runs.UnusableStore(store=os.fspath(store)[:200], reason=reason)])
