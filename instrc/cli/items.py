"""`instrc run --items`: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import typer

from instrc.arriving import LineTooLongError, read_lines
from instrc.cli.progress import item_counter
from instrc.cli.running import report_as_json
from instrc.cli.terminal import write
from instrc.files import reason
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json
from instrc.problems.files import UnwritableOutput
from instrc.problems.problem import CompileError
from instrc.problems.render import render_text
from instrc.regular import is_inherited_stream, is_regular, refuse_irregular

if TYPE_CHECKING:
    from instrc.runtime.engine import Engine, Launch


async def stream(path: str, begin: Callable[[int, Json], Launch], engine: Engine, *, window: int, output: Path | None) -> int:
    """Run a program for every line of a file or of the standard input; return how many have failed."""
    from instrc.runtime.items import streamed

    async def work(number: int, line: str) -> dict[str, Json]:
        try:
            report = await engine.start(begin(number, loads(line)))
        except ValueError as error:
            return {"item": number, "status": "failed", "error": {"kind": "invalid", "message": f"this is not JSON: {error}"}}
        except CompileError as error:
            return {
                "item": number,
                "status": "failed",
                "error": {"kind": "invalid", "message": render_text(error.problems).strip()},
            }
        made = report_as_json(report)
        del made["name"]
        return {"item": number, **made}

    failed = 0
    with item_counter("Running") as done, _line_writer(output) as say:
        async for result in streamed(_lines(path), work, window=window):
            say(f"{dumps(result, indent=False)}\n")
            failed += result["status"] == "failed"
            done()
    return failed


@contextmanager
def _line_writer(output: Path | None) -> Iterator[Callable[[str], object]]:
    """Give what lines are written with: to the standard output, or to a file."""
    if output is None:
        yield write
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.is_symlink() or (output.exists() and not is_regular(str(output))):
            raise OSError(0, "only a regular file is replaced", str(output))  # noqa: TRY301  -- told below like the others
        file = output.open("w", encoding="utf-8")
    except (OSError, ValueError) as error:
        message = f"`{output}` cannot be written: {error}"
        raise typer.BadParameter(message) from None

    def say(line: str) -> None:
        try:
            file.write(line)
            file.flush()  # what is done is kept, whatever ends the run
        except OSError as error:
            raise CompileError([UnwritableOutput(path=str(output), reason=reason(error))]) from None

    try:
        yield say
    finally:
        with suppress(OSError):
            file.close()


async def _lines(path: str) -> AsyncIterator[str]:
    """Yield the lines that say something, as they arrive."""
    try:
        if path != "-" and not is_inherited_stream(path):
            refuse_irregular(path, os.stat(path).st_mode)  # noqa: PTH116  -- a string: a `Path` would tidy what the user wrote
        opened: AbstractContextManager[IO[bytes] | None]
        opened = nullcontext() if path == "-" else Path(path).open("rb")  # noqa: ASYNC230, SIM115  -- it never waits; closed below
    except (OSError, ValueError) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else error
        message = f"`{path}` cannot be read: {reason}"
        raise typer.BadParameter(message) from None
    with opened as file:
        try:
            async for line in read_lines(file):
                if said := line.removeprefix("\ufeff").strip():
                    yield said
        except UnicodeDecodeError as error:
            message = f"`{path}` is not UTF-8: {error}"
            raise typer.BadParameter(message) from None
        except LineTooLongError as error:
            message = f"`{path}` cannot be read: {error}"
            raise typer.BadParameter(message) from None
