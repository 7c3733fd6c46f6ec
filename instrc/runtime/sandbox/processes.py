"""Run the steps of agents in processes that can be ended, since reading a value of their code may never finish."""

from __future__ import annotations

import atexit
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from threading import BoundedSemaphore
from typing import Final, TypeVar, TypeVarTuple

from instrc.problems.errors import SettingsError
from instrc.problems.problem import Problem
from instrc.problems.settings import SandboxNotStarted

_PROCESSES: Final = 8
"""Maximum processes on a machine with no more processors than that."""
_PATIENCE: Final = 120.0
"""Seconds to wait for a free process."""
_LATE: Final = 1
"""Exit status of a process that `faulthandler` has ended, since a step took too long."""
_FAILED: Final = 3
"""Exit status of a process in which a function has raised another error."""
_KEPT: Final = ("PATH", "MONTY_BIN", "SYSTEMROOT", "TMPDIR", "TEMP")
"""Environment variables passed to a process: none of them is a secret."""


_Given = TypeVarTuple("_Given")
_Result = TypeVar("_Result")


class ProcessEndedError(Exception):
    """Raised if a process ended before it answered; `is_late` if a step took too long."""

    def __init__(self, *, is_late: bool) -> None:
        super().__init__("the process that runs the code has ended")
        self.is_late = is_late


def call_in_process(function: Callable[[*_Given], _Result], *given: *_Given) -> _Result:
    """Return the result of a function of a module in another process; raise `ProcessEndedError` if that ends.

    Raise the `SettingsError` of the function, or one if no process can be started.
    """
    pool = _pool(os.getpid())
    if not pool.free.acquire(timeout=_PATIENCE):
        raise SettingsError([SandboxNotStarted(reason=f"all {_PROCESSES} processes have been busy for {_PATIENCE:g} seconds")])
    try:
        try:
            process = pool.idle_process() or _Process()
        except (OSError, ValueError) as error:
            raise SettingsError([SandboxNotStarted(reason=str(error))]) from None
        try:
            result = process.call(function, *given)
        except BaseException:
            process.end()
            raise
        pool.idle.append(process)
        return result
    finally:
        pool.free.release()


class _Process:
    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        command = [sys.executable, "-P", "-m", __name__]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        self._popen = Popen(  # noqa: S603  -- our own module
            command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment, start_new_session=True
        )  # Ctrl-C interrupts the command alone: otherwise the interrupted step would be recorded as an observation

    @property
    def is_usable(self) -> bool:
        """Whether it is still running."""
        return self._popen.poll() is None

    def call(self, function: Callable[[*_Given], _Result], *given: *_Given) -> _Result:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        try:
            pickle.dump((function, given), self._popen.stdin)
            self._popen.stdin.flush()
            result: _Result | Problem = pickle.load(self._popen.stdout)  # noqa: S301  -- of our own process
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            raise ProcessEndedError(is_late=self._popen.returncode == _LATE) from None
        if isinstance(result, Problem):
            raise SettingsError([result])
        return result

    def end(self) -> None:
        """End it; one that does not end within two seconds is killed."""
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

    def idle_process(self) -> _Process | None:
        """Return an idle process, or `None`."""
        with suppress(IndexError):  # other threads take them too
            while True:
                if (process := self.idle.pop()).is_usable:
                    return process
                process.end()
        return None


@cache
def _pool(_process: int) -> _Pool:
    """Return the pool of this process; a forked process has its own."""
    return _Pool()


@atexit.register
def end_processes() -> None:
    """End the idle processes."""
    while (process := _pool(os.getpid()).idle_process()) is not None:
        process.end()


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
            result = function(*given)
        except SettingsError as error:
            [result] = error.problems
        pickle.dump(result, answers)
        answers.flush()


if __name__ == "__main__":
    try:
        _serve()
    except Exception:  # noqa: BLE001  -- Python's own exit status is that of a late step
        sys.exit(_FAILED)
