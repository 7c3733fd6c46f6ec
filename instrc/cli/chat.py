"""`instrc chat`: a session with a model that has compiled tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.options import LockedOption, ProblemFormat, Roots, Shared
from instrc.cli.outputs import try_to_write
from instrc.cli.run import ModelOption
from instrc.cli.running import EngineName, Store, engine, exit_with, run_to_end, warn_of_made_up_answers
from instrc.cli.show import Format
from instrc.cli.terminal import is_terminal, write_error, write_report
from instrc.files import STDIN, unreadable
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.regular import read_whole

if TYPE_CHECKING:
    from instrc.runtime.session import Session


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Programs or vibes; each export is a tool of the model.")],
    model: ModelOption = None,
    engine_name: EngineName = None,
    rehearse: Annotated[bool, typer.Option("--rehearse", help="Generate the results of activities from their schemas.")] = False,
    session_id: Annotated[str, typer.Option("--id", metavar="SESSION", help="Continue this session, or begin it.")] = "chat",
    store: Store = None,
    locked: LockedOption = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Talk with a model that has the programs as tools.

    It fills in tools, makes direct calls, and starts processes, which then run separately.
    """
    from instrc.launching.engines import STORE
    from instrc.launching.sessions import offers_of, session_model
    from instrc.runtime.session import Session
    from instrc.vibes.project import read_settings

    try:
        kept = engine(store, engine_name)
        found = [
            offer
            for file in files
            for offer in offers_of(file, kept, model, rehearse=rehearse, roots=root or (), shared=shared or (), locked=locked)
        ]
        warn_of_made_up_answers(model, read_settings(Path(files[0]).parent), rehearse=rehearse)
        chosen = session_model(model, Path(files[0]))
        place = (store or Path(STORE)) / "sessions" / f"{Path(session_id).name}.json"
        run_to_end(_talk(Session(session_id, chosen, tuple(found), _read(place)), place))
    except CompileError as error:
        raise exit_with(error, shape) from None


async def _talk(session: Session, file: Path) -> None:
    from instrc.arriving import LineTooLongError, read_lines  # they need an event loop, the help does not
    from instrc.runtime.models.model import ModelError

    _ask()
    try:
        async for line in read_lines():
            if line.strip():
                try:
                    write_report(f"{await session.say(line.strip())}\n")
                except ModelError as error:
                    write_error(f"the model gave no answer: {error}\n")
                _keep(file, session)
            _ask()
    except UnicodeDecodeError:
        raise CompileError([unreadable(STDIN, "it is not UTF-8")]) from None
    except LineTooLongError as error:
        raise CompileError([unreadable(STDIN, str(error))]) from None


def _ask() -> None:
    if is_terminal(sys.stdin):
        write_error("> ")


def _read(file: Path) -> list[Json]:
    try:
        turns = loads(read_whole(str(file)))
    except (OSError, ValueError):
        return []
    return turns if isinstance(turns, list) else []


def _keep(file: Path, session: Session) -> None:
    if found := try_to_write({file: dumps(session.turns)}):
        raise CompileError(found)
