"""Many items through one program: results as they arrive, failures included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sized
from contextlib import aclosing, contextmanager
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from instrc.problems.errors import CompileError, InstrcError, SettingsError
from instrc.runtime.run import Run, Value, state_as_json
from instrc.runtime.run_report import RunStatus
from instrc.text import notebook
from instrc.text.jsonvalue import JsonObject
from instrc.tools.python_values import JsonLike


class ItemResult(msgspec.Struct, Generic[Value], frozen=True):
    """The run of one item, or the error that prevented it."""

    number: int
    """Index of the item among the inputs."""
    input: JsonLike
    run: Run[Value] | None
    error: InstrcError | None = None

    @property
    def status(self) -> RunStatus:
        """The status of the run; `failed` if an error prevented it."""
        return "failed" if self.run is None else self.run.status

    @property
    def ok(self) -> bool:
        """Whether the run is done."""
        return self.status == "done"

    @property
    def value(self) -> Value:
        """The value of the run; raises the error of an item that has none."""
        if self.run is not None:
            return self.run.value
        assert self.error is not None
        raise self.error

    def to_json(self) -> JsonObject:
        """Return the line that `instrc run --items` prints: `item`, `run`, `status`, and `output`, `error` or `questions`."""
        if self.run is None:
            error: JsonObject = {"kind": "invalid", "message": str(self.error)}
            return {"item": self.number, "status": self.status, "error": error}
        return {"item": self.number, "run": self.run.id, **state_as_json(self.run)}


class Pace(NamedTuple):
    """Limits of a batch: runs at the same time, and runs started per second."""

    concurrency: int
    rate: float | None


_Listener: TypeAlias = Callable[[ItemResult[Any]], object]  # a listener accepts results of any class
Progress: TypeAlias = _Listener | Literal[True]


_Input = TypeVar("_Input", bound=JsonLike)


async def mapped(
    begin: Callable[[int, _Input], Awaitable[Run[Value]]],
    inputs: Iterable[_Input] | AsyncIterable[_Input],
    pace: Pace,
    *,
    progress: Progress | None,
    ordered: bool = False,
) -> AsyncIterator[ItemResult[Value]]:
    """Yield the result of each item once it is available, or in the order of the inputs."""

    async def work(number: int, item: _Input) -> ItemResult[Value]:
        try:
            return ItemResult(number, item, await begin(number, item))
        except InstrcError as error:
            return ItemResult(number, item, None, error)

    results = streamed(_paced(inputs, pace.rate), work, window=pace.concurrency, ordered=ordered)
    with _shown(progress, len(inputs) if isinstance(inputs, Sized) else None) as tell:
        async with aclosing(results):
            async for result in results:
                if isinstance(result.error, CompileError | SettingsError):
                    raise result.error  # of the program or its settings: all items would fail in the same way
                tell(result)
                yield result


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def streamed(
    items: AsyncIterable[_Item], work: Callable[[int, _Item], Awaitable[_Result]], *, window: int, ordered: bool
) -> AsyncGenerator[_Result]:
    """Yield the result for each item once it is done, or in order.

    At most `window` items are started and not yet yielded.
    The slowest of items, model and reader thus limits the others; only waiting for an item blocks nothing.
    `work` must not raise.
    """
    room = asyncio.Semaphore(window)
    begun: asyncio.Queue[asyncio.Future[_Result] | None] = asyncio.Queue()
    running: set[asyncio.Future[_Result]] = set()

    async def begin_each() -> None:
        number = 0
        following = aiter(items)
        try:
            while await room.acquire():
                task = asyncio.ensure_future(work(number, await anext(following)))
                running.add(task)
                task.add_done_callback(running.discard)
                if ordered:
                    begun.put_nowait(task)
                else:
                    task.add_done_callback(begun.put_nowait)
                number += 1
        except StopAsyncIteration:
            if running and not ordered:
                await asyncio.wait(running)
        finally:
            begun.put_nowait(None)

    beginning = asyncio.ensure_future(begin_each())
    try:
        while (task := await begun.get()) is not None:
            yield await task
            room.release()
        await beginning  # raises any error from reading the items
    finally:
        beginning.cancel()
        for item in running:
            item.cancel()


async def _paced(inputs: Iterable[_Input] | AsyncIterable[_Input], rate: float | None) -> AsyncIterator[_Input]:
    loop = asyncio.get_running_loop()
    due = loop.time()
    async for item in _each(inputs):
        if rate is not None:
            await asyncio.sleep(due - loop.time())
            due = max(due, loop.time()) + 1 / rate
        yield item


async def _each(inputs: Iterable[_Input] | AsyncIterable[_Input]) -> AsyncIterator[_Input]:
    if isinstance(inputs, AsyncIterable):
        async for item in inputs:
            yield item
    else:
        for item in inputs:
            yield item


@contextmanager
def _shown(progress: Progress | None, total: int | None) -> Iterator[_Listener]:
    """Yield the listener for results; `True` is a progress bar, in a terminal or notebook."""
    if progress is not True:
        yield progress or (lambda _: None)
        return
    failed = 0
    with progress_bar(total) as advance:

        def tell(result: ItemResult) -> None:
            nonlocal failed
            failed += not result.ok
            advance(f"running, {failed} not done" if failed else "running")

        yield tell


@contextmanager
def progress_bar(total: int | None) -> Iterator[Callable[[str], object]]:
    """Yield a function that advances a bar by one item, with a text: on standard error, or in the output of a notebook's cell."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    if Console(stderr=True).is_jupyter:  # there rich would need `ipywidgets`
        yield notebook.bar(total)
        return
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("running", total=total)
        yield lambda text: bar.update(task, advance=1, description=text)
