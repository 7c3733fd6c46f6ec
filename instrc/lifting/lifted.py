"""What a lifted answer is: its calls in our names and shapes, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import UnionType
from typing import Literal, TypeVar, assert_never, overload

from instrc.jsonvalue import Json, JsonObject, Payload
from instrc.lifting.slips import Repair
from instrc.problems.problem import CompileError, Problem
from instrc.problems.targets import AmbiguousAnswer, CutAnswer, FailedAnswer, InvalidAnswer, NoAnswer, RefusedAnswer
from instrc.python.types import Adapter
from instrc.schema.validation import Violation
from instrc.source import Span

T = TypeVar("T")

LiftStatus = Literal["ok", "failed", "refused", "cut", "malformed", "ambiguous", "empty", "invalid"]
"""In the order in which they are looked for, `ok` last:
`failed`: the provider reports an error instead of an answer; `refused`: the model or a filter declined;
`cut`: a limit of length was reached; `malformed`: the provider could not read the model's own call;
`ambiguous`: it may be arguments or an envelope around them, and both readings hold, or neither (see `Lifted.readings`);
`empty`: nothing was called and no value given; `invalid`: a value breaks its schema, or its JSON is none."""


@dataclass(frozen=True)
class LiftedCall:
    """One call of a tool, in our names and shapes."""

    name: str | None
    """The name the tool was lowered under; what the model wrote if no tool is called so; `None` if nothing was said."""
    value: Json
    violations: tuple[Violation, ...] = ()
    """Where the value breaks the schema it was lowered from; empty if it does not."""
    id: str | None = None
    """The provider's id of the call, for the answer to it."""
    truncated: bool = False
    """Whether the arguments end before their JSON does, or before the provider says that they are whole."""
    repairs: tuple[Repair, ...] = ()
    """What was read otherwise than it was written, because it was invalid as it stood; and keys that were written twice."""
    record: JsonObject | None = field(default=None, repr=False, compare=False)
    """The map of its tool; `None` if no tool is called so."""

    @property
    def valid(self) -> bool:
        """Whether the value may be used."""
        return not self.violations and not self.truncated

    @cached_property
    def _parts(self) -> dict[str, Json]:
        if any(violation.keyword == "json" for violation in self.violations):  # what is no JSON has no parts
            return {"output": self.value, "thoughts": {}, "metrics": {}}
        from instrc.flattening.split import split

        parts = split(self.value)
        return {"output": parts["output"], "thoughts": parts["thoughts"], "metrics": parts["metrics"]}

    @property
    def output(self) -> Json:
        """The answer proper, without thoughts and metrics."""
        return self._parts["output"]

    @property
    def thoughts(self) -> Json:
        """What was kept under names with `_`, by path."""
        return self._parts["thoughts"]

    @property
    def metrics(self) -> Json:
        """What was kept under names with `$`, by path."""
        return self._parts["metrics"]

    @overload
    def as_model(self, model: type[T] | Adapter[T], step: str | None = None) -> T: ...

    @overload
    def as_model(self, model: UnionType, step: str | None = None) -> object: ...

    def as_model(self, model: type[T] | Adapter[T] | UnionType, step: str | None = None) -> object:
        """Return the value as an instance of a pydantic model, a dataclass or a `TypedDict`; a `CompileError` if it is not one.

        To a type checker, `as_model(A | B)` gives an `object`, and `as_model(TypeAdapter[A | B](A | B))` an `A | B`.

        `step` is the key of one step (`step2_write_reply`), if the model is that of this step and not of the whole.
        Thoughts and metrics are left out if the model does not take them.
        """
        from instrc.lifting.models import as_instance  # pydantic is an extra

        return as_instance(self.value, self.output, self.violations, model, step)

    def result(self, value: object, *, error: bool = False) -> Payload:
        """Return the message that tells the model what the call gave, in the words of the provider that made it.

        `value` is a text, anything that JSON has, or the result of an MCP server, which itself says whether it is an error;
        `error` says that the value tells why there is no result.
        """
        from instrc.lifting.results import message  # needed where a call is answered

        return message(self.record or {}, self.name, self.id, value, error=error)

    def to_json(self) -> JsonObject:
        """Return the call as plain JSON."""
        return {
            "name": self.name,
            "id": self.id,
            "value": self.value,
            "truncated": self.truncated,
            "repairs": [repair.to_json() for repair in self.repairs],
            "invalid": [violation.to_json() for violation in self.violations],
        }


@dataclass(frozen=True)
class Lifted:
    """What an answer says."""

    calls: tuple[LiftedCall, ...]
    refusal: str | None = None
    """The words, or the reason, with which the model or its provider declined; `None` if it did not."""
    truncated: bool = False
    """Whether the answer was cut off at a limit of length."""
    text: str | None = None
    """What was said beside the calls."""
    malformed: str | None = None
    """The provider's word for a call it could not read itself."""
    failure: str | None = None
    """What the provider reports instead of an answer: its error, or that of a tool of MCP."""
    readings: tuple[Lifted, ...] = ()
    """Where the answer is ambiguous: what it is in either reading."""

    @property
    def status(self) -> LiftStatus:
        """In one word what came of it; `LiftStatus` says what each word means, the first that applies."""
        if self.failure is not None:
            return "failed"
        if self.refusal is not None:
            return "refused"
        if self.truncated or any(call.truncated for call in self.calls):
            return "cut"
        if self.readings:
            return "ambiguous"
        if not self.calls:
            return "empty" if self.malformed is None else "malformed"
        return "ok" if all(call.valid for call in self.calls) else "invalid"

    @property
    def ok(self) -> bool:
        """Whether there are values and nothing is wrong with any of them."""
        return self.status == "ok"

    @property
    def call(self) -> LiftedCall:
        """The only call; `LookupError` if there is none or several."""
        if len(self.calls) != 1:
            message = f"the answer holds {len(self.calls)} calls, not one"
            raise LookupError(message)
        return self.calls[0]

    @overload
    def as_model(self, model: type[T] | Adapter[T], step: str | None = None) -> T: ...

    @overload
    def as_model(self, model: UnionType, step: str | None = None) -> object: ...

    def as_model(self, model: type[T] | Adapter[T] | UnionType, step: str | None = None) -> object:
        """Return the value of the only call, or of one step in it, as an instance of a model.

        A `CompileError` says why the answer cannot be used.
        """
        if self.problems:
            raise CompileError(self.problems)
        return self.call.as_model(model, step)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Why the answer cannot be used; empty if it can."""
        return self.problems_at(None)

    def problems_at(self, at: Span | None) -> tuple[Problem, ...]:
        """Return why the answer cannot be used, with the place of the answer."""
        match self.status:
            case "ok":
                return ()
            case "failed":
                return (FailedAnswer(at=at, words=self.failure or ""),)
            case "refused":
                return (RefusedAnswer(at=at, words=self.refusal or ""),)
            case "cut":
                return (CutAnswer(at=at),)
            case "ambiguous":
                return (AmbiguousAnswer(at=at, readings=tuple(reading.status for reading in self.readings)),)
            case "empty" | "malformed":
                return (NoAnswer(at=at, said=self.malformed or self.text),)
            case "invalid":
                return tuple(InvalidAnswer(at=at, pointer=each.instance, reason=each.message) for each in self.invalid)
            case other:
                assert_never(other)

    @property
    def value(self) -> Json:
        """The value of the only call."""
        return self.call.value

    @property
    def values(self) -> list[Json]:
        """The values of all calls, in order."""
        return [call.value for call in self.calls]

    @property
    def invalid(self) -> tuple[Violation, ...]:
        """What is wrong with the values of all calls."""
        return tuple(violation for call in self.calls for violation in call.violations)

    @property
    def output(self) -> Json:
        """The answer proper of the only call, without thoughts and metrics."""
        return self.call.output

    @property
    def thoughts(self) -> Json:
        """The thoughts of the only call, by path."""
        return self.call.thoughts

    @property
    def metrics(self) -> Json:
        """The metrics of the only call, by path."""
        return self.call.metrics

    def to_json(self) -> JsonObject:
        """Return the whole as plain JSON."""
        return {
            "status": self.status,
            "calls": [call.to_json() for call in self.calls],
            "refusal": self.refusal,
            "truncated": self.truncated,
            "text": self.text,
            "malformed": self.malformed,
            "failure": self.failure,
            **({"readings": [reading.to_json() for reading in self.readings]} if self.readings else {}),
        }
