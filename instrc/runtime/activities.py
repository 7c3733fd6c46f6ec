"""Activities: the functions of a server, registered by name in Python; their retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Annotated, Final, TypeAlias, TypeVar, cast

from msgspec import Meta, Struct, field

from instrc.problems.suggest import comparison_key
from instrc.runtime.interpreter.documents import Complaint, bare_name
from instrc.schema.validation import SchemaValidator, Violation, validate
from instrc.text.arguments import attribute, excerpt, several, text
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.sentences import translated
from instrc.text.streams import SPEAKER
from instrc.tools.python_types import schema_of_type
from instrc.tools.python_values import called_with_json, instruction_name

_Amount: TypeAlias = Annotated[float, Meta(ge=0)]


class Retry(Struct, frozen=True, forbid_unknown_fields=True):
    """A number of attempts with growing pauses between them: by default 1 second, then 2."""

    attempts: Annotated[int, Meta(ge=0)] = 3
    pause: _Amount = 1.0
    """Pause before the second attempt, in seconds."""
    factor: _Amount = 2.0
    """Factor by which each pause grows."""
    longest: _Amount = 60.0
    """Maximum pause, in seconds."""
    timeout: _Amount | None = None
    """Timeout of one attempt, in seconds."""
    jitter: _Amount = 0.0
    """Maximum random change of a pause, as a share of it, so that simultaneous failures are not retried together."""
    total: _Amount | None = None
    """Time after which no further attempt begins, in seconds."""
    codes: frozenset[str] | None = None
    """Codes for which errors with a code are retried; `None` for all."""
    programming_errors: bool = False
    """Whether programming errors such as `TypeError` or `KeyError` are retried: the next attempt would meet them too."""

    def wait(self, attempt: int) -> float:
        """Return the pause in seconds after an attempt, counted from 1."""
        with suppress(OverflowError):  # hundreds of attempts
            return min(self.pause * self.factor ** (attempt - 1), self.longest)
        return self.longest if self.pause else 0.0

    def again(self, attempt: int, code: str | None) -> bool:
        """Return whether to retry after an attempt, counted from 1, that failed with or without a code."""
        return attempt < self.attempts and (self.codes is None or code is None or code in self.codes)


class ServedTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings that activities without code have in common."""

    retry: Retry = Retry()
    input: JsonObject | bool = True
    """Schema that its input must satisfy."""


Handler: TypeAlias = "Callable[[Json], HandlerResult | Awaitable[HandlerResult]]"


class Activity(Struct, frozen=True):
    """A handler under a name, with its retry policy; or a process that serves the name."""

    name: str
    handler: Handler | None
    """Called with the arguments of a call, of which an object has the labelled ones."""
    process: Json = None
    """JSON of a process that replaces a handler."""
    retry: Retry = field(default_factory=Retry)
    input: Json = True
    """Schema that its input must satisfy."""
    processes: Mapping[str, Json] = field(default_factory=dict)
    """Processes that the plans of its process name, by address."""
    takes: Mapping[str, Json] = field(default_factory=dict)
    """Input schemas of the activities that its process calls, from their vibes, by the digest of a process and the use in it."""
    whole: Handler | None = None
    """Called instead of `handler` with an object that a program passes without labels, if the two differ."""
    service: str = ""
    """Server that it calls, if any."""


class Activities:
    """A registry; names are compared without case, `_` and `-`."""

    def __init__(self, given: Activities | Mapping[str, object] | Iterable[object] | None = None) -> None:
        self._known: dict[str, Activity] = {**given._known} if isinstance(given, Activities) else {}  # noqa: SLF001  -- of this class
        if isinstance(given, Mapping):
            for name, value in given.items():
                self.add(name, value)
        elif given is not None and not isinstance(given, Activities):
            for value in several("activities", given):
                self.add(instruction_name(value) or "", value)

    def add(self, name: str, value: object, *, retry: Retry | None = None, input: object = None) -> None:  # noqa: A002  -- its name
        """Register a callable, an `Activity`, or the JSON of a process under a name.

        `input` is the schema of its argument, or a type: a model, a dataclass, a `TypedDict`.
        """
        if isinstance(value, Activity):
            result = value
        elif isinstance(value, dict):
            result = Activity(name, None, value)
        elif callable(value):
            policy = retry or getattr(value, "activity_retry", None) or Retry()
            result = Activity(
                name,
                cast("Handler", called_with_json(value)),
                None,
                policy,
                _input_schema(input, getattr(value, "activity_input", None)),
                whole=cast("Handler", called_with_json(value, whole=True)),
            )
        else:
            raise TypeError(f"an activity is a function or a process, not {excerpt(value)}")
        if not bare_name(text("name", name)):
            raise TypeError("an activity needs a name")
        self._known[comparison_key(name)] = result

    def __bool__(self) -> bool:
        return bool(self._known)

    def with_those_of(self, others: Activities) -> Activities:
        """Return a registry of both; for equal names, the others' entry."""
        result = Activities(self)
        result._known |= others._known
        return result

    def find(self, name: str) -> Activity | None:
        """Return the activity of a name, or else of the key of a step."""
        return self._known.get(comparison_key(name)) or self._known.get(bare_name(name))

    def processes(self) -> Iterator[tuple[str, Json]]:
        """Yield the processes named by plans of its processes, with their addresses."""
        for activity in self._known.values():
            yield from activity.processes.items()

    def takes(self) -> dict[str, Json]:
        """Return the input schemas of the activities that its processes call, by the digest of a process and the use in it."""
        return {name: schema for activity in self._known.values() for name, schema in activity.takes.items()}

    def names(self) -> tuple[str, ...]:
        """Return the registered names."""
        return tuple(activity.name for activity in self._known.values())


def _input_schema(*given: object) -> Json:
    """Return the first argument that is set as a schema: a Python type means its values, a function its parameters."""
    result = next((item for item in given if item is not None), True)
    described = None if isinstance(result, dict | bool) else schema_of_type(result)
    if described is None and not isinstance(result, dict | bool):
        raise TypeError(f"`input` is a JSON Schema or a type, not {excerpt(result)}")
    return cast("Json", result) if described is None else described.schema


COMPLAINTS: Final = 20
"""Maximum complaints about one answer."""
_TEMPORARY = frozenset({408, 409, 425, 429})


def is_temporary(status: int) -> bool:
    """Return whether a request with this HTTP status may succeed later: the server is busy or broken, or timed out."""
    return status in _TEMPORARY or status >= 500


def connection_code(error: BaseException) -> str | None:
    """Return the code of an error of any library that is not the run's fault: its HTTP status, or `unreachable`."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int) and is_temporary(status):
        return str(status)
    words = ("Timeout", "Connect", "RemoteProtocol")
    is_lost = isinstance(error, ConnectionError) or any(word in type(error).__name__ for word in words)
    return "unreachable" if is_lost else None


ONCE = Retry(attempts=1)
INVALID_OUTPUT: Final = "invalid-output"
"""Error code of an activity whose result violates its own schema; its kind is `invalid`."""
PROGRAMMING_ERRORS = (
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    SyntaxError,
    TypeError,
)
"""Exceptions that indicate a bug in a handler."""
HandlerResult: TypeAlias = "Json | Pending"
"""Return value of a handler."""
_F = TypeVar("_F", bound=Callable[..., object])


class ActivityError(Exception):
    """Raised by a handler that failed: with a `code` for programs, and whether to `retry`."""

    def __init__(self, message: str, *, code: str | None = None, retry: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.retry = retry


class Pending:
    """The type of `PENDING`, which a handler returns if the result comes later.

    ```python
    @instrc.activity("Approve_Activity")
    def approve(mail):
        notify(mail)
        return instrc.PENDING  # `Run.answer` delivers the result
    ```
    """

    def __repr__(self) -> str:
        return "instrc.PENDING"


PENDING = Pending()
"""Returned by a handler whose result arrives later through `answer`."""


class ActivityCall(Struct):
    """The current call of a handler."""

    key: str
    """`run/command`, equal for all attempts: an idempotency key for the handler."""
    activity: str
    attempt: int


_current: ContextVar[ActivityCall] = ContextVar("instrc_call")


def current_call() -> ActivityCall:
    """Return the current call.

        @instrc.activity("Pay_Activity")
        def pay(bill: dict) -> str:
            return f"paid once as {instrc.current_call().key}"

    Raise `LookupError` outside a handler.
    """
    return _current.get()


@contextmanager
def calling(call: ActivityCall) -> Iterator[None]:
    """Make a call the current one."""
    token, before = _current.set(call), SPEAKER.set(call.activity)
    try:
        yield
    finally:
        SPEAKER.reset(before)
        _current.reset(token)


def activity(name: str, *, retry: Retry | None = None, input: object = None) -> Callable[[_F], _F]:  # noqa: A002  -- its name
    """Mark a function as the handler of an activity, for `instrc.run(activities=[…])`.

        @instrc.activity("Send_Activity")
        def send(mail: dict) -> str:
            return "sent"

    `input` is the schema of its argument, or a type: a model, a dataclass, a `TypedDict`.
    Raise `TypeError` without a name, such as when the brackets are missing.
    """
    if not isinstance(name, str):
        called = attribute(name, "__name__")
        own = "".join(word.capitalize() for word in called.split("_")) if isinstance(called, str) else "Send"
        raise TypeError(f'an activity is marked with its name: `@instrc.activity("{own}_Activity")`')
    taken = None if input is None else _input_schema(input)

    def mark(function: _F) -> _F:
        marks: dict[str, object] = {"activity_name": name, "activity_retry": retry, "activity_input": taken}
        vars(function).update(marks)
        return function

    return mark


def complaints(value: Json, schema: Json) -> list[Complaint]:
    """Return the first errors of a value, formats included."""
    return _complaints_of(validate(value, schema, most=COMPLAINTS))


def _complaints_of(found: tuple[Violation, ...]) -> list[Complaint]:
    return [{"pointer": item.instance, "message": item.message} for item in found]


def in_language(found: Iterable[Complaint], value: Json, schema: Json, faults: Mapping[str, str]) -> list[Complaint]:
    """Return complaints about a value in another language, with the sentences `faults`, or in English if one is missing."""
    if not faults:
        return [*found]
    english, ours = validate(value, schema), validate(value, schema, faults=faults)
    said = {(a.instance, a.message): b.message for a, b in zip(english, ours, strict=True)}
    places = [(item["pointer"], item["message"]) for item in found]
    return [{"pointer": place, "message": translated(said.get((place, text), text), faults)} for place, text in places]


def beyond_schema(found: Iterable[Complaint], value: Json, schema: Json) -> list[Complaint]:
    """Return the complaints that a schema does not produce, without duplicates: validating the value again would repeat those."""
    items = [*found]
    said = [item for number, item in enumerate(items) if item not in items[:number]]
    known = complaints(value, schema) if said else []
    return [item for item in said if item not in known]


def complaints_by(validator: SchemaValidator, value: Json) -> list[Complaint]:
    """Return the errors of a JSON value under a schema used for many values."""
    return _complaints_of(validator.validate(value, most=COMPLAINTS, is_json=True))
