"""A sink that writes events into a store asynchronously: no run waits for its trace."""

from __future__ import annotations

import atexit
import threading
import warnings
from collections.abc import Callable
from queue import SimpleQueue
from time import sleep
from typing import Final

from instrc.runtime.traces import Event

_BEFORE_REPEATING: Final = 60.0
"""Seconds to wait before work that may be repeated: a busy machine may need long."""
_AT_LONGEST: Final = 5.0
"""Maximum seconds to wait on shutdown for events to be written."""
_AT_ONCE: Final = 1000
"""Maximum events written at once."""
_PAUSE: Final = 1.0
"""Seconds before a failed write of events is retried."""


class EventWriter:
    """Writes events in its own thread.

    Only an effect that may be repeated waits for the write, since the process may die again during it.
    """

    def __init__(self, insert: Callable[[list[Event]], str | None]) -> None:
        """`insert` writes events and returns an error on failure; it may then be called with them again."""
        self._insert = insert
        self._events: SimpleQueue[Event | threading.Event] = SimpleQueue()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._gate = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Accept an event."""
        with self._gate:
            if self._thread is None:
                self._closing = False
                self._thread = threading.Thread(target=self._serve, name="instrc-events", daemon=True)
                self._thread.start()
                atexit.register(self.close)
        self._events.put(event)
        if event["event"] == "repeated":
            self.flush(_BEFORE_REPEATING)

    def flush(self, longest: float = 5.0) -> None:
        """Wait until pending events are written, for a few seconds."""
        if self._thread is not None:
            written = threading.Event()
            self._events.put(written)
            written.wait(longest)

    def close(self) -> None:
        """Write pending events, and end."""
        with self._gate:
            thread, self._thread = self._thread, None
        if thread is not None:
            atexit.unregister(self.close)
            self._closing = True
            self._events.put(threading.Event())
            thread.join(_AT_LONGEST)

    def _serve(self) -> None:
        while True:
            taken = [self._events.get()]
            while len(taken) < _AT_ONCE and not self._events.empty():
                taken.append(self._events.get())
            self._write([each for each in taken if not isinstance(each, threading.Event)])
            for each in taken:
                if isinstance(each, threading.Event):
                    each.set()
            if self._closing and self._events.empty():
                return

    def _write(self, events: list[Event]) -> None:
        while events and (reason := self._insert(events)) is not None:
            if self._closing:
                warnings.warn(f"the trace of `{events[0]['run']}` is not whole: {reason}", RuntimeWarning, stacklevel=2)
                return
            sleep(_PAUSE)
