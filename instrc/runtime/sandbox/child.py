"""The inside of the process that runs code of a model; it talks JSON, a message a line."""

from __future__ import annotations

import builtins
import json
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from instrc.runtime.sandbox.child_process import RoundLimits, limits_of
from instrc.schema.validation import validate
from instrc.text.jsonvalue import Json, as_object, as_text

if TYPE_CHECKING:
    from smolagents.local_python_executor import LocalPythonExecutor

_SAMPLE: Json = {"type": "array", "anyOf": [{"$ref": "#/$defs/a"}], "pattern": "a", "format": "date-time", "$defs": {"a": False}}


class ToolParameters:
    """What one tool takes: the properties of a schema, in their order."""

    def __init__(self, tool: str, schema: Json) -> None:
        known = schema if isinstance(schema, dict) else {}
        properties, required = known.get("properties"), known.get("required")
        self._tool = tool
        self._properties: dict[str, Json] = properties if isinstance(properties, dict) else {}
        self._required = [name for name in required if name in self._properties] if isinstance(required, list) else []
        self._definitions = known.get("$defs", {})
        self._schemas = {name: self._with_definitions(part) for name, part in self._properties.items()}
        for part in (_SAMPLE, *self._schemas.values()):
            validate({}, part)  # whatever it loads late, it loads now: files cannot be read later
        self._is_open = not self._properties or known.get("additionalProperties") is True

    def named(self, given: list[Json], by_name: dict[str, Json]) -> dict[str, Json]:
        """Return all arguments by name; a `TypeError`, worded as Python words it, says what is wrong with them."""
        names = list(self._properties)
        if len(given) > len(names):
            self._fail(f"takes {len(names)} arguments but {len(given)} were given")
        found = dict(zip(names, given, strict=False))
        for name, value in by_name.items():
            if name in found:
                self._fail(f"got two values for the argument '{name}'")
            if name not in self._properties and not self._is_open:
                self._fail(f"got an unexpected argument '{name}': it takes {', '.join(names)}")
            found[name] = value
        found = {name: value for name, value in found.items() if value is not None or name in self._required}
        for name in self._required:
            if name not in found:
                self._fail(f"needs the argument '{name}'")
        for name, value in found.items():
            for violation in validate(value, self._schemas.get(name, True), most=1):
                self._fail(f"got a wrong argument '{name}': {violation.message}")
        return found

    def _with_definitions(self, schema: Json) -> Json:
        return {**schema, "$defs": self._definitions} if isinstance(schema, dict) and self._definitions else schema

    def _fail(self, reason: str) -> None:
        message = f"{self._tool}() {reason}"
        raise TypeError(message)


_FORBIDDEN = (
    *("socket.", "os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "os.kill", "os.killpg"),
    *("subprocess.", "pty.", "ctypes.", "signal.pthread_kill", "urllib.", "http.client", "ftplib.", "smtplib.", "syslog."),
    *(
        "webbrowser.",
        "winreg.",
        "gc.",
        "sys._current_frames",
        "sys.addaudithook",
        "sys.setprofile",
        "sys.settrace",
        "resource.setrlimit",
    ),
)


_PATHS = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate"),
    *("os.listdir", "os.scandir", "os.chdir", "os.utime", "os.setxattr", "os.removexattr", "glob.glob", "shutil.", "tempfile."),
)


_UNSEEN = ("mkfifo", "mknod", "chroot", "lchmod", "lchflags", "pidfd_open")
"""Functions of `os` that no audit event tells of, as far as they change or show something outside: they are taken away."""


def limit_memory(size: int) -> None:
    """Limit the memory of this process and the size of its files, and forbid dumps of its memory."""
    try:
        import resource  # not on Windows
    except ImportError:
        return
    for name, value in (("RLIMIT_AS", size), ("RLIMIT_FSIZE", 16 * 1024 * 1024), ("RLIMIT_CORE", 0), ("RLIMIT_NPROC", 0)):
        if hasattr(resource, name):
            limit = getattr(resource, name)
            _, most = resource.getrlimit(limit)
            least = value if most < 0 else min(value, most)
            resource.setrlimit(limit, (least, least))


def _take_away() -> None:
    for module in (sys.modules.get(name) for name in ("os", "posix", "nt")):
        for name in _UNSEEN:
            if module is not None and hasattr(module, name):
                delattr(module, name)


def forbid(folder: str) -> None:
    """Forbid what the code of a model does not need; files may be read where modules lie, and written in the folder."""
    own = Path(folder).resolve()
    _take_away()
    readable = tuple({str(Path(place).resolve()) for place in [sys.prefix, sys.base_prefix, *sys.path] if place})

    def inside(path: object) -> bool:
        if isinstance(path, int):
            return True  # it is open already
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        try:
            return Path(os.fsdecode(path)).resolve().is_relative_to(own)
        except (TypeError, ValueError, OSError):
            return False

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments[0], arguments[1], arguments[2]
            reads = not (isinstance(flags, int) and flags & 3) if mode is None else not set(str(mode)) & set("wax+")
            if inside(path) or (reads and isinstance(path, str) and str(Path(path).resolve()).startswith(readable)):
                return
            message = f"the file `{path}` is outside of what this code may read and write"
            raise PermissionError(message)
        if event.startswith(_FORBIDDEN):
            message = f"this code may not do that: {event}"
            raise PermissionError(message)
        if event.startswith(_PATHS):
            for path in arguments[:2]:
                if isinstance(path, str | bytes) and not inside(path):
                    message = f"`{os.fsdecode(path)}` is outside of what this code may read and write"
                    raise PermissionError(message)

    sys.addaudithook(hook)


class Names(dict[str, object]):
    """What names stand for; one of a tool is refused: by `def`, `class` or `import`, as smolagents refuses it by `=`.

    A copy is a plain dictionary: within a function of its own, code may call its variables as it likes.
    """

    def __init__(self, first: Mapping[str, object], tools: frozenset[str]) -> None:
        super().__init__(first)
        self.tools = tools

    def __setitem__(self, name: str, value: object) -> None:
        """Bind a name; `InterpreterError` of smolagents, in its own words, if it is that of a tool."""
        if name in self.tools:
            from smolagents.local_python_executor import InterpreterError

            message = f"Cannot assign to name '{name}': doing this would erase the existing tool!"
            raise InterpreterError(message)
        super().__setitem__(name, value)


_LONGEST_VALUE = 20_000
"""Characters of a last value that smolagents shows."""


_LONGEST_NOTE = 100
"""Characters of the note in a text that smolagents has shortened, at most."""


_TOO_MANY = re.compile(r"Reached the max number of operations|iterations in While loop exceeded")


_RAISED = re.compile(r"(\w+): (.*)", re.DOTALL)


class _TimeIsUp(BaseException):
    """Raised by the alarm; `except Exception` in the code does not catch it."""


class _Pipe:
    """The two ends that the process around holds."""

    def __init__(self) -> None:
        self._out: BinaryIO = os.fdopen(os.dup(1), "wb")
        self._in: BinaryIO = os.fdopen(os.dup(0), "rb")
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123  -- what the code prints to descriptors goes nowhere
            os.dup2(nothing.fileno(), 0)
            os.dup2(nothing.fileno(), 1)

    def send(self, message: dict[str, Json]) -> None:
        self._out.write(json.dumps(message).encode() + b"\n")
        self._out.flush()

    def receive(self) -> dict[str, Json]:
        line = self._in.readline()
        if not line:
            raise SystemExit
        told: dict[str, Json] = json.loads(line)
        return told


def main() -> None:
    """Read the limits, then code, round by round."""
    pipe = _Pipe()
    start = pipe.receive()
    limits, tools = limits_of(as_object(start["limits"])), as_object(start["tools"])
    try:
        executor = _executor(limits, tools, pipe)
    except Exception as error:  # noqa: BLE001  -- a module that is not installed, smolagents itself
        pipe.send({"refused": str(error)})
        return
    json.loads(json.dumps([1.5]))  # whatever it loads late, it loads now
    random.seed(0)  # code that is run again does the same again
    limit_memory(limits.memory)
    forbid(str(Path.cwd()))
    pipe.send({"ready": True})
    while True:
        pipe.send(_run(executor, as_text(pipe.receive()["code"]), limits))


def _executor(limits: RoundLimits, schemas: dict[str, Json], pipe: _Pipe) -> LocalPythonExecutor:
    from smolagents import local_python_executor

    local_python_executor.MAX_OPERATIONS = limits.operations
    local_python_executor.MAX_WHILE_ITERATIONS = limits.operations
    executor = local_python_executor.LocalPythonExecutor(
        list(limits.imports), max_print_outputs_length=limits.output, timeout_seconds=None
    )
    tools = {name: _tool(name, schema, pipe) for name, schema in schemas.items()}
    executor.send_tools({"final_answer": final_answer, **tools})
    taken = frozenset({"final_answer", *tools})
    executor.state, executor.custom_tools = Names(executor.state, taken), Names(executor.custom_tools, taken)
    return executor


def final_answer(answer: object) -> object:
    """Return the answer that the code ends the run with; what the code calls has this name."""
    return answer


def _tool(name: str, schema: Json, pipe: _Pipe) -> Callable[..., Json]:
    check = None if schema is None else ToolParameters(name, schema)

    def call(*arguments: object, **named: object) -> Json:
        given, by_name = [_plain(each) for each in arguments], {key: _plain(value) for key, value in named.items()}
        if check is not None:
            given, by_name = [], check.named(given, by_name)
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)  # waiting for a tool is not the code's time
        try:
            pipe.send({"call": name, "arguments": given, "named": by_name})
            told = pipe.receive()
        finally:
            signal.setitimer(signal.ITIMER_REAL, left)
        if told["error"] is not None:
            raise _failure(str(told["error"]))
        return told["value"]

    call.__name__ = name
    return call


def _failure(said: str) -> Exception:
    """Return the error of a tool: of its own class if Python has it, so that the code can tell one from another."""
    parts = _RAISED.fullmatch(said)
    kind = getattr(builtins, parts[1], None) if parts else None
    if parts and isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(parts[2])
        except TypeError:  # a class that needs more than a text
            pass
    return RuntimeError(said)


def _run(executor: LocalPythonExecutor, code: str, limits: RoundLimits) -> dict[str, Json]:
    found: dict[str, Json] = {"value": None, "text": "None", "final": False, "kind": None, "message": None}
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds, 0.2)  # again, should the first one be swallowed
    try:
        result = executor(code)
        text = _shortened(_whole(str(result.output)), min(_LONGEST_VALUE, limits.output))
        found |= {"value": _plain(result.output), "text": text, "final": result.is_final_answer}
    except _TimeIsUp:
        found |= {"kind": "time", "message": f"the code ran longer than {limits.seconds:g} seconds"}
    except MemoryError:
        found |= {"kind": "memory", "message": f"the code needs more than {limits.memory:,} bytes of memory"}
    except BaseException as error:  # noqa: BLE001  -- whatever the code raises is shown to the model
        found |= {"kind": _kind(error), "message": _whole(f"{error}"[: limits.output]) or type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return {"logs": _logs(executor, limits), **found}


def _shortened(text: str, most: int) -> str:
    """Return a text as smolagents shows it: of a long one the beginning and the end, and a note between them."""
    from smolagents.utils import truncate_content

    return str(truncate_content(text, most))


def _kind(error: BaseException) -> str:
    said = str(error)
    if isinstance(error.__cause__ or error.__context__, MemoryError) or "MemoryError" in said:
        return "memory"
    return "operations" if _TOO_MANY.search(said) else "error"


def _alarm(_number: int, _frame: object) -> None:
    raise _TimeIsUp


def _logs(executor: LocalPythonExecutor, limits: RoundLimits) -> str:
    """Return what the code printed; the interpreter shortens it itself unless a limit has ended the round."""
    printed = _whole(str(executor.state.get("_print_outputs", "")))
    return printed if len(printed) <= limits.output + _LONGEST_NOTE else _shortened(printed, limits.output)


def _whole(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no JSON can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _plain(value: object) -> Json:
    """Return a value as JSON, as far as it is that; else as Python writes it."""
    try:
        plain: Json = json.loads(_whole(json.dumps(value, allow_nan=False, ensure_ascii=False)))
    except (TypeError, ValueError, RecursionError):
        pass
    else:
        return plain
    if isinstance(value, dict):
        return {_whole(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return _whole(str(value))


if __name__ == "__main__":
    sys.setrecursionlimit(5000)
    main()
