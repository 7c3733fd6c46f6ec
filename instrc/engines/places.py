"""Resolve a place, a folder or a URL, to a store or shared place."""

from __future__ import annotations

import os
import re
import stat
from importlib import import_module
from typing import TYPE_CHECKING, Final

from instrc import problems
from instrc.engines.stores import USUAL_FOLDER, RunStore
from instrc.problems.errors import UnavailableError, unusable
from instrc.text.files import refuse_planted

if TYPE_CHECKING:
    from instrc.engines.dbos.postgres import SharedDatabase

STORES: Final = {
    "": "instrc.engines.dbos.sqlite:SqliteStore",
    "postgres": "instrc.engines.dbos.postgres:PostgresStore",
    "postgresql": "instrc.engines.dbos.postgres:PostgresStore",
}
"""Class of a store by the scheme of its URL (a folder has none), as `module:class`; called with the place."""


def store_of(place: str | os.PathLike[str] | None) -> RunStore:
    """Return the store at a place: a folder, or the URL of a database."""
    place = os.fspath(place or USUAL_FOLDER)
    module, _, name = STORES[scheme_of(place)].partition(":")
    store: RunStore = getattr(import_module(module), name)(place)
    return store


def scheme_of(place: str | os.PathLike[str]) -> str:
    """Return the scheme of a store's URL, `postgresql` for `postgresql+psycopg://…`, or "" for a folder.

    A URL converted to a `Path` and back has only one slash.
    """
    scheme, colon, _ = os.fspath(place).partition(":")
    scheme = scheme.partition("+")[0]
    return scheme if colon and scheme in STORES else ""


def shared_place(place: str) -> SharedDatabase:
    """Return the shared place at a URL; raise `SettingsError` if there is none, or its extra is not installed."""
    reason = "it is a URL, such as `postgresql://HOST/NAME`"
    if ":/" in place and scheme_of(place):
        try:
            from instrc.engines.dbos.postgres import SharedDatabase  # the extra `durable`
        except ModuleNotFoundError as error:
            reason = f"`{error.name}` is not installed; it comes with `pip install 'instrc[durable]'`"
        else:
            return SharedDatabase(place)
    raise unusable("place of traces", place, reason)


_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""Beginning of a URL, also after conversion to a `Path`; a Windows drive has one letter."""


def require_place(place: str | os.PathLike[str]) -> None:
    """Raise if a folder does not exist and cannot be created; a database URL is checked when it is opened."""
    if scheme_of(place):
        return
    reason = None
    try:
        refuse_planted(place)
        if not stat.S_ISDIR(os.stat(place).st_mode):  # noqa: PTH116  -- any text, as the user wrote it
            reason = "it is not a folder"
    except FileNotFoundError:
        if _URL.match(os.fspath(place)) is None:
            return
        reason = "runs are kept in a folder, or in a database with a URL such as `postgresql://HOST/NAME`"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason is not None:
        shown = re.sub(rf"^({_URL.pattern})/?([^/]*@)?", r"\1/", os.fspath(place))  # without a password
        raise UnavailableError([problems.runs.UnusableStore(store=shown[:200], reason=reason)])
