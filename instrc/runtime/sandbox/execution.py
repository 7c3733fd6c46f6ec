"""Code in a pydantic-monty worker: its requests are answered or refused here, and its tool calls are checked."""

from __future__ import annotations

import faulthandler
import statistics
import string
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Final, NoReturn, get_args
from uuid import NAMESPACE_URL, uuid5

from instrc.problems.errors import SettingsError
from instrc.problems.settings import MissingExtra, SandboxNotStarted
from instrc.runtime.sandbox.rounds import Observation, ObservationKind, RoundLimits, RoundStep, ToolCall, ToolResult
from instrc.runtime.sandbox.values import Printed, plain, show, whole
from instrc.schema.validation import is_valid, validate
from instrc.schema.walk import required_names, with_definitions
from instrc.text.jsonvalue import Json, as_object, mapping, tokens

if TYPE_CHECKING:
    from pydantic_monty import FunctionSnapshot, Monty, MontyError, MontySession, SyncSnapshot

_SUSPENSIONS = 10_000_000
"""Maximum requests of a session, which may repeat all rounds; rounds are limited by their time."""
_VALUE_CHARACTERS = 20_000
"""Maximum characters of a last value shown to a model, as in smolagents."""
_READING = 2.0
"""Seconds to read a value after twice the time limit of a round has passed; then the process ends."""
_PATIENCE = 120.0
"""Seconds to wait for the worker."""
_ANSWER: Json = {"properties": {"answer": {}}, "required": ["answer"]}


def require_monty() -> None:
    """Raise a `SettingsError` if pydantic-monty is not installed."""
    if find_spec("pydantic_monty") is None:
        raise SettingsError([MissingExtra(feature="code of agents", extra="sandbox", package="pydantic-monty")])


class Execution:
    """The code of one agent in one worker, up to the pending tool call."""

    def __init__(self, session: MontySession, tools: Mapping[str, Json], limits: RoundLimits) -> None:
        self._session = session
        self._tools = {**tools, "final_answer": _ANSWER}
        self._limits = limits
        self._printed = Printed(limits.output)
        self._snapshot: SyncSnapshot | None = None
        self._answer: Observation | None = None
        self.is_usable = True
        """Whether the variables are those that the code has made: a limit leaves none that can be relied on."""

    def start(self, code: str) -> RoundStep:
        """Run one round of code until its first tool call or its end."""
        self._printed, self._answer = Printed(self._limits.output), None
        tools = {name: _named(name) for name in self._tools}  # bound anew, whatever the round before has bound there
        return self._advance(lambda: self._session.feed_start(whole(code), inputs=tools, print_callback=self._printed))

    def resume(self, result: ToolResult) -> RoundStep:
        """Pass the result of the pending call to the code."""
        answer: dict[str, object] = {"return_value": result.value}
        if result.error is not None:
            kind, _, message = result.error.partition(": ")
            if kind not in _raisable():
                kind, message = "RuntimeError", result.error
            answer = {"exc_type": kind, "message": whole(message)}
        return self._advance(lambda: _answer(self._snapshot, answer))

    def dump(self) -> tuple[bytes, Printed]:
        """Return the state of the worker, and the output of this round."""
        return self._session.dump(), self._printed

    def load(self, state: bytes, printed: Printed, *, is_waiting: bool) -> None:
        """Continue from a state stored by this process."""
        self._printed = printed
        if is_waiting:
            self._snapshot = self._session.load_snapshot(state, print_callback=self._printed)
        else:
            self._session.load_session(state)

    def _advance(self, proceed: Callable[[], SyncSnapshot]) -> RoundStep:
        from pydantic_monty import FunctionSnapshot, MontyComplete, MontyError

        until = monotonic() + 2 * self._limits.seconds
        faulthandler.dump_traceback_later(2 * self._limits.seconds + _READING, exit=True)  # it needs no turn of the interpreter
        try:
            snapshot = proceed()
            while not isinstance(snapshot, MontyComplete):
                if monotonic() > until:  # serving its requests takes time that its own clock does not count
                    failed = self._failed("time", self._late())
                    return self._answer or failed
                if isinstance(snapshot, FunctionSnapshot):
                    answer = self._served(snapshot)
                    if isinstance(answer, ToolCall):
                        self._snapshot = snapshot
                        return answer
                    snapshot = answer
                else:
                    snapshot = snapshot.resume()  # type: ignore[call-arg]  # an unbound name
            return self._answer or self._completed(snapshot.output)
        except MontyError as error:
            failed = self._fault(error)
            return self._answer or failed
        except Exception as error:  # noqa: BLE001  -- of an out-of-sync worker, or a value that has no form here: an instance as a key
            return self._failed("ended", str(error))
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _served(self, snapshot: FunctionSnapshot) -> SyncSnapshot | ToolCall:
        """Answer a request of the code, or return a tool call once its arguments are checked."""
        name = str(snapshot.function_name)
        if snapshot.is_os_function:
            if name != "import":
                return snapshot.resume_not_handled()
            module = str(snapshot.args[0])
            if module in MODULES:
                return snapshot.resume_auto()
            return _answer(snapshot, {"exc_type": "ModuleNotFoundError", "message": missing_module(module)})
        if self._answer is not None:
            return _answer(snapshot, {"exc_type": "SystemExit"})  # nothing runs after the answer
        try:
            if name in HOST_FUNCTIONS:
                return _answer(snapshot, {"return_value": HOST_FUNCTIONS[name](*snapshot.args, **snapshot.kwargs)})
            if name not in self._tools:
                return _answer(snapshot, {"exc_type": "NameError", "message": f"name '{name}' is not defined"})
            call = self._checked(name, snapshot)
        except (TypeError, ValueError, ArithmeticError) as error:
            kind = type(error).__name__
            return _answer(snapshot, {"exc_type": kind if kind in _raisable() else "ValueError", "message": whole(str(error))})
        if name != "final_answer":
            return call
        answer = call.named["answer"]
        text = self._text(snapshot.args[0] if snapshot.args else snapshot.kwargs["answer"])
        self._answer = Observation(logs=str(self._printed), value=answer, text=text, final=True)
        return _answer(snapshot, {"exc_type": "SystemExit"})

    def _checked(self, name: str, snapshot: FunctionSnapshot) -> ToolCall:
        given = [plain(item) for item in snapshot.args]
        by_name = as_object(plain(snapshot.kwargs))
        if (schema := self._tools[name]) is None:
            return ToolCall(name, tuple(given), by_name)
        return ToolCall(name, (), _named_arguments(name, schema, given, by_name))

    def _completed(self, output: object) -> Observation:
        for name in self._tools:
            if self._session.feed_run(name) != name:
                message = f"`{name}` is a tool: no other value can have its name, and from the next round on it is the tool again"
                return self._failed("error", message)
        try:
            value = plain(output)
        except ValueError as error:
            return self._failed("error", str(error))
        return Observation(logs=str(self._printed), value=value, text=self._text(output))

    def _text(self, value: object) -> str:
        text = Printed(min(_VALUE_CHARACTERS, self._limits.output))
        show(value, partial(text, ""))
        return str(text)

    def _fault(self, error: MontyError) -> Observation:
        from pydantic_monty import MontyCrashedError, MontyRuntimeError

        said, raised = str(error), error.exception()
        if isinstance(error, MontyCrashedError) and not error.timed_out:
            return self._failed("ended", "the worker that runs the code has ended")
        if isinstance(error, MontyCrashedError) or (isinstance(raised, TimeoutError) and "time limit exceeded" in said):
            return self._failed("time", self._late())
        if isinstance(raised, MemoryError):
            return self._failed("memory", f"MemoryError: the code needs more than {self._limits.memory:,} bytes of memory")
        if not isinstance(error, MontyRuntimeError):
            return self._failed("error", f"{type(raised).__name__}: {said}")
        frames = error.traceback()
        place = f" (line {frames[0].line}: {(frames[0].source_line or '').strip()[:200]})" if frames else ""
        return self._failed("error", f"{said[: self._limits.output]}{place}")

    def _late(self) -> str:
        return f"the code ran longer than {self._limits.seconds:g} seconds"

    def _failed(self, kind: ObservationKind, message: str) -> Observation:
        self.is_usable = kind == "error"
        return Observation(logs=str(self._printed), kind=kind, message=whole(message[: self._limits.output + 300]))


@contextmanager
def worker_session(limits: RoundLimits) -> Iterator[MontySession]:
    """Lease an unused worker, and end it afterwards; raise `SettingsError` if there is none."""
    from pydantic_monty import ExternalModule

    modules = {name: ExternalModule(members, id=uuid5(NAMESPACE_URL, name)) for name, members in MODULES.items()}
    with ExitStack() as stack:
        try:
            session = _pool().checkout(
                limits={
                    "max_feed_duration_secs": limits.seconds,
                    "max_memory": limits.memory,
                    "max_recursion_depth": limits.recursion,
                    "max_suspensions": _SUSPENSIONS,
                },
                os_policy={"random_start": {"seed": 0}, "sleep": "zero"},  # so that repeated code behaves the same
                external_modules=modules,
                assert_message_annotations=False,  # the message raised by the code, as in Python
            )
            opened = stack.enter_context(session)
        except (OSError, RuntimeError) as error:  # `TimeoutError` is one
            raise SettingsError([SandboxNotStarted(reason=str(error))]) from None
        yield opened


@cache
def _pool() -> Monty:
    """Return the worker of this process; it serves one session, so that agents cannot see each other's data."""
    from pydantic_monty import Monty

    return Monty(max_processes=1, checkout_timeout=_PATIENCE, max_checkouts_per_worker=1).__enter__()


@cache
def _raisable() -> frozenset[str]:
    from pydantic_monty import ExcType

    return frozenset(get_args(ExcType))


@cache
def _named(name: str) -> Callable[[], None]:
    """Return the stub of a tool: the worker receives only its name."""

    def tool() -> None:
        """Represent the tool."""

    tool.__name__ = name
    return tool


def _answer(snapshot: object, result: dict[str, object]) -> SyncSnapshot:
    answered: SyncSnapshot = snapshot.resume(result)  # type: ignore[attr-defined]  # every kind of snapshot has this method
    return answered


SERIES_NUMBERS: Final = 100_000
"""Maximum numbers passed to a function of `statistics`."""
_NUMBER_BITS: Final = 64
"""Maximum bits of an integer in a series: sums of long ones take long."""
_SERIES = (
    *("fmean", "geometric_mean", "harmonic_mean", "mean", "median", "median_high", "median_low", "mode", "multimode"),
    *("pstdev", "pvariance", "quantiles", "stdev", "variance", "correlation", "covariance"),
)
_INSTEAD = {
    "queue": "use `collections.deque`",
    "stat": "there are no files",
    "threading": "nothing runs at the same time",
    **dict.fromkeys(("socket", "requests", "urllib", "http"), "there is no network: call a tool"),
    **dict.fromkeys(("numpy", "pandas"), "use lists, `math` and `statistics`"),
}


def missing_module(name: str) -> str:
    """Return the message for an import of a module that does not exist."""
    instead = _INSTEAD.get(name.partition(".")[0], "use what Python has built in, `math`, `statistics`, `collections`, or a tool")
    return f"No module named '{name[:100]}' in this sandbox: {instead}"


def _bounded(function: Callable[..., object]) -> Callable[..., object]:
    def call(*given: object) -> object:
        series = [each for each in given if isinstance(each, list | tuple | set | frozenset)]
        if len(series) < len(given) or sum(map(len, series)) > SERIES_NUMBERS:
            raise TypeError(f"{function.__name__}() takes lists of at most {SERIES_NUMBERS:,} numbers here")
        for number in chain.from_iterable(series):
            if not isinstance(number, float) and not (isinstance(number, int) and number.bit_length() <= _NUMBER_BITS):
                raise TypeError(f"{function.__name__}() takes numbers of at most {_NUMBER_BITS} bits here")
        return function(*given)

    return call


MODULES: Final[dict[str, dict[str, object]]] = {
    "statistics": {name: getattr(statistics, name) for name in _SERIES},
    "string": {name: value for name, value in vars(string).items() if isinstance(value, str) and name[0] != "_"},
}
"""Members of each module."""
HOST_FUNCTIONS: Final = {f"statistics.{name}": _bounded(getattr(statistics, name)) for name in _SERIES}


def _named_arguments(tool: str, schema: Json, given: list[Json], by_name: dict[str, Json]) -> dict[str, Json]:
    """Return all arguments of a tool by name, in the order of its schema; raise a `TypeError` in Python's wording if wrong."""

    def fail(reason: str) -> NoReturn:
        raise TypeError(f"{tool}() {reason}")

    def takes_null(name: str) -> bool:
        return name in required or is_valid(None, with_definitions(names.get(name, {}), mapping(known.get("$defs"))))

    known = mapping(schema)
    names = mapping(known.get("properties"))
    required = [name for name in required_names(known) if name in names]
    is_open = not names or known.get("additionalProperties") is True
    if len(given) > len(names):
        fail(f"takes {len(names)} arguments but {len(given)} were given")
    arguments = dict(zip(names, given, strict=False))
    for name, value in by_name.items():
        if name in arguments:
            fail(f"got two values for the argument '{name}'")
        if name not in names and not is_open:
            fail(f"got an unexpected argument '{name}': it takes {', '.join(names)}")
        arguments[name] = value
    arguments = {name: value for name, value in arguments.items() if value is not None or takes_null(name)}
    for name in required:
        if name not in arguments:
            fail(f"needs the argument '{name}'")
    for violation in validate(arguments, schema, most=1):
        which = "".join(f" '{name}'" for name in tokens(violation.instance)[:1])
        fail(f"got a wrong argument{which}: {violation.message}")
    return arguments
