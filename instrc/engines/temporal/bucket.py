"""Traces and large values in an object store that speaks the protocol of S3: keys and address are those of its environment."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from itertools import groupby
from typing import Final
from zlib import compress, decompress
from zlib import error as zlib_error

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from instrc import problems
from instrc.engines.event_writer import EventWriter
from instrc.problems.errors import UnreachableError
from instrc.runtime.boundary import ForeignError, guarded
from instrc.runtime.models.partial import AnswerPart, TellPart
from instrc.runtime.secrets import redacted
from instrc.runtime.traces import Event, is_event
from instrc.text.jsontext import dumps, loads

_PATIENCE: Final = timedelta(seconds=10)
"""Timeout for an answer, retries included."""


class Bucket:
    """A folder of a bucket, `s3://BUCKET/FOLDER`: a `SharedPlace`.

    `traces/RUN/MOMENT-HASH` has events that were written at once, deflated; `values/HASH` a large value.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        with self._trouble():
            self._store = S3Store.from_url(
                place,
                client_options={"allow_http": True, "timeout": _PATIENCE},
                retry_config={"max_retries": 3, "retry_timeout": _PATIENCE},
            )
        self.write: EventWriter = EventWriter(self._insert)

    def _insert(self, events: list[Event]) -> str | None:
        try:
            for run, some in groupby(sorted(events, key=_run_of), _run_of):
                together = [*some]
                body = compress(dumps([*together], indent=False).encode())
                name = f"{round(together[0]['at'] * 1e9):020}-{sha256(body).hexdigest()[:16]}"  # the same if it is tried again
                obstore.put(self._store, f"traces/{run}/{name}", body)
        except BaseError as error:
            return _reason(error)
        return None

    def read(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return the events of a run after a cursor, and the new cursor: the time of the last write."""
        self.write.flush()
        found: list[Event] = []
        with self._trouble():
            for name in self._names(run, place):
                data = bytes(obstore.get(self._store, name).bytes())
                try:
                    place, body = int(name.rpartition("/")[2].partition("-")[0]), loads(decompress(data))
                except (ValueError, zlib_error):
                    raise self._unusable(f"`{name[:200]}` is no part of a trace") from None
                found += [event for event in (body if isinstance(body, list) else ()) if is_event(event)]
        return sorted(found, key=lambda event: event["at"]), place

    def _names(self, run: str, place: int = 0) -> list[str]:
        folder = f"traces/{run.partition('/')[0]}/"
        listed = obstore.list(self._store, prefix=folder, offset=f"{folder}{place:020}~")
        return sorted(each["path"] for some in listed for each in some)

    def forget(self, run: str) -> None:
        """Delete the events of a run."""
        self.write.flush()
        with self._trouble():
            if names := self._names(run):
                obstore.delete(self._store, names)

    def put(self, name: str, data: bytes) -> None:
        """Keep a value by its name, the hash of it."""
        with self._trouble():
            obstore.put(self._store, f"values/{name}", data)

    def get(self, name: str) -> bytes | None:
        """Return a value, or `None` if there is none of the name."""
        with self._trouble():
            try:
                return bytes(obstore.get(self._store, f"values/{name}").bytes())
            except (FileNotFoundError, NotFoundError):
                return None

    def beside(self, heard: TellPart | None) -> TellPart | None:
        """Return no exchange of growing answers: they grow too fast for a bucket."""
        return heard

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:  # noqa: ARG002  -- as above
        """Return nothing: the answers of other processes come as a whole."""
        return []

    def close(self) -> None:
        """Write what is pending."""
        self.write.close()

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        for name in ("AWS_ENDPOINT", "AWS_ENDPOINT_URL"):
            if (address := os.environ.get(name)) is not None and not re.match("https?://[^/]", address):
                raise self._unusable(f"`{name}` is not an address as `https://HOST`")
        try:
            with guarded():
                yield
        except (BaseError, ForeignError) as error:
            raise self._unusable(_reason(error)) from None

    def _unusable(self, reason: str) -> UnreachableError:
        return UnreachableError([problems.runs.UnusableStore(store=self._place, reason=reason)])


def _run_of(event: Event) -> str:
    return event["run"].partition("/")[0]


_METADATA: Final = "169.254.169.254"
"""Address of the metadata service that provides keys on cloud machines, if the environment has none."""


def _reason(error: Exception) -> str:
    if _METADATA in str(error):
        return "there are no keys: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` are not set, nor has this machine a role"
    return redacted(str(error)).strip().splitlines()[0][:200]
