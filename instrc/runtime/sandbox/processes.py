"""Processes that run the steps of agents: reading a value of their code may take for ever, and only a process can be ended."""

from __future__ import annotations

import atexit
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from threading import BoundedSemaphore
from typing import Final, TypeVar

from instrc.problems.errors import SettingsError
from instrc.problems.settings import SandboxNotStarted

_PROCESSES: Final = 8
_PATIENCE: Final = 120.0
"""Seconds to wait for a free process."""
_LATE: Final = 1
"""Exit status of a process that has ended itself as a step took too long."""
_KEPT: Final = ("PATH", "MONTY_BIN", "SYSTEMROOT", "TMPDIR", "TEMP")
"""Environment variables that a process gets; no secret is among them."""


_Given = TypeVar("_Given")
_Result = TypeVar("_Result")


class ProcessEndedError(Exception):
    """A process has ended before it answered; `is_late` if a step took too long."""

    def __init__(self, *, is_late: bool) -> None:
        super().__init__("the process that runs the code has ended")
        self.is_late = is_late


def call_in_process(function: Callable[[_Given], _Result], given: _Given) -> _Result:
    """Return the result of a function of a module in another process; raise `ProcessEndedError` if that ends.

    Raise the `SettingsError` of the function, or one if no process can be started.
    """
    with _leased() as process:
        return process.call(function, given)


class _Process:
    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        command = [sys.executable, "-P", "-m", __name__]
        paths = os.pathsep.join(path for path in sys.path if path)
        environment["PYTHONPATH"] = paths
        self._popen = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)  # noqa: S603  -- our own module

    def call(self, function: Callable[[_Given], _Result], given: _Given) -> _Result:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        try:
            pickle.dump((function, given), self._popen.stdin)
            self._popen.stdin.flush()
            result: _Result | SandboxNotStarted = pickle.load(self._popen.stdout)  # noqa: S301  -- of our own process
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            raise ProcessEndedError(is_late=self._popen.returncode == _LATE) from None
        if isinstance(result, SandboxNotStarted):
            raise SettingsError([result])
        return result

    def end(self) -> None:
        for pipe in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]  # both are pipes
        try:
            self._popen.wait(2)
        except TimeoutExpired:
            self._popen.kill()
            self._popen.wait()


class _Pool:
    def __init__(self) -> None:
        self.free = BoundedSemaphore(max(_PROCESSES, os.cpu_count() or 1))
        self.idle: list[_Process] = []


@cache
def _pool(_process: int) -> _Pool:
    """Return the processes of this process: one that was forked has its own."""
    return _Pool()


@atexit.register
def end_processes() -> None:
    """End the processes that run no step."""
    idle = _pool(os.getpid()).idle
    while idle:
        idle.pop().end()


@contextmanager
def _leased() -> Iterator[_Process]:
    pool = _pool(os.getpid())
    if not pool.free.acquire(timeout=_PATIENCE):
        raise SettingsError([SandboxNotStarted(reason=f"all {_PROCESSES} processes have been busy for {_PATIENCE:g} seconds")])
    process = None
    try:
        try:
            process = pool.idle.pop() if pool.idle else _Process()
        except (OSError, ValueError) as error:
            raise SettingsError([SandboxNotStarted(reason=str(error))]) from None
        yield process
    except BaseException:
        if process is not None:
            process.end()
        raise
    else:
        pool.idle.append(process)
    finally:
        pool.free.release()


def _serve() -> None:
    """Call functions until the other process ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    while True:
        try:
            function, given = pickle.load(sys.stdin.buffer)  # noqa: S301  -- of our own process
        except (EOFError, pickle.UnpicklingError):
            return
        try:
            result = function(given)
        except SettingsError as error:
            [result] = error.problems
        pickle.dump(result, answers)
        answers.flush()


if __name__ == "__main__":
    _serve()
