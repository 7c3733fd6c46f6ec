"""Other users of the machine read nothing of a store, whatever the umask is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import ANSWER, BOSS, go, opened, service, settled

from instrc.server.hosting import exposed  # what a service says when it begins
from instrc.server.identity import Identity  # what callers are known by

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")


@pytest.fixture(autouse=True)
def _loose_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def wide(folder: Path) -> list[str]:
    return [str(each) for each in (folder, *folder.rglob("*")) if each.stat().st_mode & 0o077 and each.name != ".gitignore"]


@pytest.mark.parametrize("name", ["memory", "durable"])
def test_folders_and_files_are_for_their_owner_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / ".instrc"

    async def body() -> None:
        async with opened(service(place, name=name, records=str(place))) as made:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            await settled(made, run, "waiting")
            await made.answer(BOSS, run, "userContext1", ANSWER)
            await settled(made, run, "done")
            await asyncio.sleep(0.05)
            assert wide(place) == []
            assert exposed(made, known_callers=False) == []

    go(body())
    assert {each.name for each in place.rglob("*")} >= {"server.sqlite", "traces"}
    assert wide(place) == []


def test_what_is_open_to_others_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = service(tmp_path / "s", records=str(tmp_path / "s"))
    (tmp_path / "s").chmod(0o755)
    (tmp_path / "s" / "server.sqlite").chmod(0o644)
    told = exposed(made, known_callers=False)
    assert [line.partition(" is open")[0] for line in told] == [f"`{tmp_path / 's'}`", f"`{tmp_path / 's' / 'server.sqlite'}`"]
    [last] = exposed(made, known_callers=True)[len(told) :]
    assert "INSTRC_SECRETS" in last
    monkeypatch.setenv("INSTRC_SECRETS", "a secret of more than thirty-two characters")
    assert exposed(made, known_callers=True) == told


def test_whoever_reads_the_store_begins_no_session(tmp_path: Path) -> None:
    """The store has digests of keys and sessions; its secret, if it has one, signs links to single questions alone."""

    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path / "s"))
        identity = Identity(made.records, made.settings, made.signer)
        key = identity.new_key("boss", ["admin"])
        cookie = identity.session(await identity.bearer(key))
        stolen = b"".join(file.read_bytes() for file in (tmp_path / "s").glob("server.sqlite*"))
        assert cookie.partition("=")[2].partition(";")[0].encode() not in stolen
        forged = made.signer.sign("session", {"name": "boss", "groups": [], "key": None})
        assert await identity({"cookie": f"__Host-instrc={forged}"}) is None
        assert (await identity({"cookie": cookie})).name == "boss"  # type: ignore[union-attr]  # it is there

    go(body())
