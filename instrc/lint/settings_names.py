"""Find settings for vibes that do not exist: entries of `[tool.instrc.models]` and `[tool.instrc.checks]`."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from instrc.problems.problem import Problem
from instrc.problems.suggest import comparison_key, nearest
from instrc.source import Source
from instrc.vibes.registry import Registry
from instrc.vibes.settings import Settings, readable_path
from instrc.vibes.settings_places import entry_place
from instrc.vibes.uri import evergreen_of


def idle_entries(settings: Settings, registry: Registry) -> Iterator[Problem]:
    """Yield the entries of the settings that are for no vibe which the registry sees.

    A check may also be for a key that a program writes by hand, so only a name that is similar to that of a vibe is told there.
    """
    if settings.file is None or not (settings.models or settings.checks):
        return
    names = registry.names()
    paths = [evergreen_of(uri).removeprefix("aug:").strip("/") for uri in registry.uris()]
    known = {comparison_key(name) for name in names}
    entries = [("models", pattern) for pattern in settings.models] + [("checks", name) for name in settings.checks]
    for table, entry in entries:
        place = entry.removeprefix("aug:").strip("/")
        there = known if "/" not in place else {comparison_key(path) for path in paths}
        if any(fnmatchcase(name, comparison_key(place)) for name in there):
            continue
        close = nearest(place, names if "/" not in place else tuple(paths))
        if close or table == "models":
            from instrc.problems.settings import IdleSetting  # only where there is one

            name = readable_path(settings.file).as_posix()
            at = entry_place(Source(name, settings.file.read_text("utf-8-sig", errors="replace")), entry)
            yield IdleSetting(at=at, table=table, entry=entry, nearest=close)
