"""Other users of the machine read nothing of a store, whatever the umask is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import ANSWER, BOSS, go, opened, service, settled

from instrc import SettingsError
from instrc.cli import main
from instrc.engines.stores import exposed  # what a service says when it begins
from instrc.runtime.models.forms import learn  # remembers in a file
from instrc.server.identity import Identity  # what callers are known by
from instrc.server.records import secrets_given  # of the environment

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
            assert exposed(place, signs=False) == []

    go(body())
    assert {each.name for each in place.rglob("*")} >= {"server.sqlite", "traces"}
    assert wide(place) == []


def test_what_is_open_to_others_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service(tmp_path / "s", records=str(tmp_path / "s")).records.close()
    (tmp_path / "s").chmod(0o755)
    (tmp_path / "s" / "server.sqlite").chmod(0o644)
    told = exposed(tmp_path / "s", signs=False)
    assert [line.partition(" is open")[0] for line in told] == [f"`{tmp_path / 's'}`", f"`{tmp_path / 's' / 'server.sqlite'}`"]
    [last] = exposed(tmp_path / "s", signs=True)[len(told) :]
    assert "INSTRC_SECRETS" in last
    assert exposed(None, signs=True) == [last]
    monkeypatch.setenv("INSTRC_SECRETS", "a secret of more than thirty-two characters")
    assert exposed(tmp_path / "s", signs=True) == told


@pytest.mark.parametrize("given", ["short", "a secret of more than thirty-two characters,short"])
def test_a_secret_that_can_be_guessed_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSTRC_SECRETS", given)
    with pytest.raises(SettingsError, match="at least 32 characters"):
        secrets_given()


def test_what_is_remembered_of_models_is_for_its_owner_alone(tmp_path: Path) -> None:
    learn(tmp_path / ".instrc" / "models.sqlite", "openai:m", "forced", "no")
    assert wide(tmp_path / ".instrc") == []
    assert (tmp_path / ".instrc" / "models.sqlite").is_file()


def test_large_values_of_temporal_are_for_their_owner_alone(tmp_path: Path) -> None:
    pytest.importorskip("temporalio")
    from temporalio.api.common.v1 import Payload  # an extra

    from instrc.engines.temporal.connection import Blobs  # keeps large values

    blobs = Blobs(tmp_path / "store" / "blobs", large=10)
    payload = Payload(metadata={"encoding": b"json/plain"}, data=b'"' + b"x" * 100 + b'"')
    [kept] = asyncio.run(blobs.encode([payload]))
    assert asyncio.run(blobs.decode([kept])) == [payload]
    assert wide(tmp_path / "store" / "blobs") == []


def test_the_doctor_warns_of_what_others_may_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INSTRC_SECRETS", raising=False)
    assert main(["doctor"]) == 0
    assert "warning" not in capsys.readouterr().out
    (tmp_path / ".instrc").mkdir(mode=0o755)
    (tmp_path / ".instrc" / "server.sqlite").touch()
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert "warning: `.instrc` is open to other users of this machine: `chmod -R go= .instrc`" in told
    assert "set `INSTRC_SECRETS`" in told


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
