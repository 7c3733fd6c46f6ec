"""A run whose answers are visible while models write them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Generic, TypeVar, cast

from instrc.problems.errors import InputError
from instrc.problems.settings import InvalidOption
from instrc.runtime.interpreter.documents import bare_name
from instrc.runtime.models.partial import AnswerPart, TellPart
from instrc.runtime.run import Run, Value
from instrc.text import arguments
from instrc.text.jsonvalue import Json, mapping
from instrc.tools.partial_instances import partial_instance

_T = TypeVar("_T")


class RunStream(Generic[Value]):
    """The partial answers of a run, for `async for`; it starts with the loop, and is cancelled if the loop is left early."""

    def __init__(self, begin: Callable[[TellPart], Coroutine[object, object, Run[Value]]], also: TellPart | None = None) -> None:
        """`begin` runs the program with a listener for the parts; `also` is another listener."""
        self._begin = begin
        self._also = also
        self._run: Run[Value] | None = None

    @property
    def run(self) -> Run[Value]:
        """The run, once the loop over its parts has ended; before that, raises `RuntimeError`."""
        if self._run is None:
            raise RuntimeError("the run has not ended: loop over its parts first, with `async for`")
        return self._run

    async def __aiter__(self) -> AsyncGenerator[AnswerPart]:
        """Run the program, and yield the parts as they arrive; raise the errors of the run."""
        queue: asyncio.Queue[AnswerPart | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(part: AnswerPart) -> None:
            with suppress(RuntimeError):  # a run in a store continues after the loop
                loop.call_soon_threadsafe(queue.put_nowait, part)
            if self._also is not None:
                self._also(part)

        task = loop.create_task(self._begin(tell))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (part := await queue.get()) is not None:
                yield part
            self._run = await task
        finally:
            task.cancel()

    async def values(self, as_: type[_T], step: str | None = None) -> AsyncGenerator[_T]:
        """Run the program, and yield the growing value of a step as class instances, with `None` for missing members.

            async for draft in app.stream("mail.aug", "Thank Ann").values(Draft):
                print(draft.text)

        The default step has the name of the class, without `Partial`.  No validator is called: `run.step("draft", as_=Draft)`
        is the complete, validated value.  Raises `InputError` after the run if it has no such step.
        """
        name = getattr(as_, "__name__", "").removeprefix("Partial") if step is None else arguments.text("step", step)
        async with aclosing(self._members(name, [])) as values:
            async for _, value in values:
                yield cast("_T", partial_instance(as_, value))

    async def text(self, path: str) -> AsyncGenerator[str]:
        """Run the program, and yield additions to one text: `letter.body` is the member `body` of the step `letter`.

        If the model is asked again, the new text starts over.  Raises `InputError` after the run if it has no such step.
        """
        step, *members = arguments.text("path", path).split(".")
        key, reported = "", ""
        async with aclosing(self._members(step, members)) as values:
            async for part_key, result in values:
                if not isinstance(result, str):
                    continue
                if part_key != key or not result.startswith(reported):
                    key, reported = part_key, ""
                if result != reported:
                    yield result[len(reported) :]
                    reported = result

    async def _members(self, step: str, members: list[str]) -> AsyncGenerator[tuple[str, Json]]:
        """Yield the key of each part, and its value at a path; raise `InputError` after the run if no step has the name."""
        seen = False
        async with aclosing(aiter(self)) as parts:
            async for part in parts:
                value = _member(part, step, members)
                if value is not None:
                    seen = True
                    yield part.key, value
        if not seen and bare_name(step) not in map(bare_name, steps := self.run.steps) and steps:
            wanted = f"one of {', '.join(f'`{key}`' for key in steps)}"
            raise InputError([InvalidOption(option="step", given=f"`{step}`", wanted=wanted)])


def _member(part: AnswerPart, step: str, members: list[str]) -> Json:
    """Return the value of a part at a path so far; the value of a single step may be the whole part."""
    name = bare_name(step)
    named = {bare_name(key): value for key, value in mapping(part.value).items()}
    value = named.get(name, part.value if [*map(bare_name, part.steps)] == [name] else None)
    for item in members:
        value = mapping(value).get(item)
    return value
