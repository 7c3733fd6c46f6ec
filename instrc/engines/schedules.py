"""Runs started by the clock: schedules on a server that keeps runs, or in a database table next to the runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, runtime_checkable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

from instrc.problems.errors import SettingsError, unusable

if TYPE_CHECKING:
    from instrc.runtime.run_config import Launch

Overlap: TypeAlias = Literal["skip", "queue", "both"]
"""What a tick does while the last run is active: nothing, start after it (at most one tick waits), or start concurrently."""

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}")


class Clock(Struct, frozen=True):
    """A schedule's times: five cron fields (minute, hour, day, month, weekday) in a time zone.

    They are validated when the next time is computed, as a store may hold times accepted by an earlier release.
    """

    cron: str
    zone: str = "UTC"

    def after(self, moment: float) -> float:
        """Return the next time after a given one, in seconds since 1970; raise `SettingsError` for invalid times.

        When clocks go back, fixed times occur once, and hours that begin with `*` occur every hour;
        a time skipped by the clock moves to the next existing one.
        """
        from cronsim import CronSim, CronSimError  # the extras `durable` and `temporal` bring it

        local = self._local(moment)
        try:
            times = (time.timestamp() for time in CronSim(" ".join(_checked_fields(self.cron)), local))
            return next(time for time in times if time > moment)  # in a repeated hour it continues from the first of the two
        except (CronSimError, StopIteration):
            raise unusable(what="times", word=self.cron, reason="no such day comes") from None

    def offset(self, moment: float) -> timedelta | None:
        """Return the offset of the zone from UTC at a time."""
        return self._local(moment).utcoffset()

    def _local(self, moment: float) -> datetime:
        try:
            return datetime.fromtimestamp(moment, tz=ZoneInfo(self.zone))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise unusable(what="time zone", word=self.zone, reason="it is a name such as `Europe/Berlin`") from None


_FIELDS: Final = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day": "1 to 31",
    "month": "1 to 12, or JAN to DEC",
    "weekday": "0 to 7, or SUN to SAT",
}


def _checked_fields(cron: str) -> list[str]:
    """Return the five fields of a cron expression; raise `SettingsError` for the first one that is invalid."""
    from cronsim import CronSim, CronSimError  # as above

    fields = cron.split()
    if len(fields) != len(_FIELDS):
        reason = f"times are five fields, such as `0 6 * * 1-5`: minute, hour, day, month, weekday; there are {len(fields)}"
        raise unusable(what="times", word=cron, reason=reason)
    for place, (field, name) in enumerate(zip(fields, _FIELDS, strict=True)):
        alone = ["*"] * len(fields)
        alone[place] = field
        try:
            CronSim(" ".join(alone), datetime.now(UTC))
        except (CronSimError, ValueError):  # `ValueError`: more digits than Python reads
            values = f"{_FIELDS[name]}: a value, a range upwards as `2-5`, a list as `2,5`, or a step as `*/2`"
            raise unusable(what="times", word=cron, reason=f"the {name} `{field}` is not within {values}") from None
    return fields


class Schedule(Struct, frozen=True):
    """A program that is started repeatedly."""

    name: str
    clock: Clock
    program: str
    due: float | None
    """Start of its next run, in seconds since 1970; `None` while paused."""
    last: str | None = None
    """Id of its latest run."""
    trouble: str | None = None
    """Why the latest tick started no run: an invalid program, which each tick compiles, or invalid times."""
    overlap: Overlap = "skip"

    def run_at(self, moment: float) -> str:
        """Return the id of the run at a time, equal on every worker."""
        return f"{self.name}-{datetime.fromtimestamp(moment, tz=UTC):%Y%m%dT%H%M%SZ}"


@runtime_checkable
class Scheduling(Protocol):
    """An engine that starts runs by the clock."""

    @property
    def keeps_schedules(self) -> bool:
        """Whether its store can hold schedules."""

    async def schedules(self) -> list[Schedule]:
        """Return all schedules, by name."""

    async def schedule(self, name: str, clock: Clock, launch: Launch, overlap: Overlap = "skip") -> Schedule:
        """Add a schedule whose runs start like `launch`."""

    async def pause(self, name: str, *, paused: bool) -> Schedule:
        """Pause a schedule or resume it; runs in progress continue."""

    async def unschedule(self, name: str) -> None:
        """Remove a schedule; its runs stay."""

    async def trigger(self, name: str) -> str:
        """Start a run now, in addition to the scheduled ones; return its id."""


def require_name(name: str) -> None:
    """Raise for a schedule name that is not a valid prefix of a run id."""
    if _NAME.fullmatch(name) is None:
        raise unusable(what="schedule", word=name[:80], reason="its name is at most 80 letters, digits, `_` and `-`")


def missing(name: str) -> SettingsError:
    """Return the error for an unknown schedule."""
    return unusable(what="schedule", word=name, reason="there is none with this name: `instrc schedule list` shows all")


def taken(name: str) -> SettingsError:
    """Return the error for a name used by another schedule."""
    return unusable(what="schedule", word=name, reason="there is one with this name: remove it first, or choose another name")


def misread(clock: Clock) -> SettingsError:
    """Return the error for times that a server interprets differently."""
    return unusable(what="times", word=clock.cron, reason="the server interprets them differently; write them with plain numbers")
