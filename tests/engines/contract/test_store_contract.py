"""What every store of durable runs gives the engine; a store that is added to the table has to pass this file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from instrc.engines.dbos import store as common  # what is common to all stores is tried on each of them
from instrc.engines.places import STORES, RunStore, scheme_of, store_of  # the table that this is the contract of

KINDS = {"": "folder", "postgres": "postgres", "postgresql": "postgres"}
"""A place to test each scheme with."""


@pytest.fixture(params=sorted(set(KINDS.values())))
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return where an empty store is."""
    monkeypatch.chdir(tmp_path)
    if request.param == "postgres":
        made: str = request.getfixturevalue("postgres_server").fresh(request.getfixturevalue("prepared_database"))
        return made
    return str(tmp_path / "store")


@pytest.fixture
def opened(place: str) -> Iterator[tuple[RunStore, sa.Engine]]:
    """Return a store, and the engine of its connections."""
    store = store_of(place)
    engine = store.open()
    common.create(engine)
    yield store, engine
    common.close_engine(engine)


def test_every_scheme_has_a_place_to_test_it_with() -> None:
    assert KINDS.keys() == STORES.keys()


def test_a_place_is_read_back_from_a_path(place: str) -> None:
    assert scheme_of(Path(place)) == scheme_of(place)
    assert store_of(Path(place)).address == store_of(place).address


def test_a_store_is_shown_without_its_password(place: str) -> None:
    store = store_of(place)
    password = sa.make_url(store.address).password
    assert password is None or password not in store.shown.replace(":***@", "")
    assert store.folder == Path(place if store.is_local else ".instrc")


def test_nothing_is_made_before_it_is_opened(place: str, tmp_path: Path) -> None:
    store = store_of(place)
    assert not store.is_local or not store.exists()
    assert not list(tmp_path.iterdir())


def test_one_process_holds_the_lock_of_a_folder_and_any_number_that_of_a_server(opened: tuple[RunStore, sa.Engine]) -> None:
    store, engine = opened
    held = store.lock(engine)
    assert held is not None
    assert held.is_locked
    second = store_of(store.address if not store.is_local else store.folder).lock(engine)
    assert (second is None) == store.is_local
    assert second is None or second.queue != held.queue
    for lock in (held, second):
        if lock is not None:
            lock.release()
    again = store.lock(engine)
    assert again is not None
    again.release()


def test_a_watch_sees_what_another_connection_writes(opened: tuple[RunStore, sa.Engine]) -> None:
    store, engine = opened
    watch = store.watch(engine)
    if watch is None:
        assert not store.is_local, "a server is read each time"
        return
    assert watch.changed()
    assert not watch.changed()
    common.send(engine, common.Letter("a", "r1", {"cancel": True}))
    assert watch.changed()
    watch.close()


def test_mail_is_kept_in_order_until_it_is_dealt_with(opened: tuple[RunStore, sa.Engine]) -> None:
    _, engine = opened
    letters = [common.Letter(name, "r1", {"answer": "c", "data": {"ü": [1, None]}}) for name in "ba"]
    for letter in letters:
        common.send(engine, letter)
    assert common.unread(engine) == letters
    common.settle(engine, "b", "taken")
    assert common.unread(engine) == letters[1:]
    assert (common.verdict_of(engine, "b"), common.verdict_of(engine, "a")) == ("taken", "open")


def test_what_was_written_is_there_for_another_engine(opened: tuple[RunStore, sa.Engine]) -> None:
    store, engine = opened
    common.send(engine, common.Letter("a", "r1", {"cancel": True}))
    assert store.exists()
    other = store.open()
    assert [letter.id for letter in common.unread(other)] == ["a"]
    assert not common.has_tables(store, other) or not store.is_local
    common.close_engine(other)
