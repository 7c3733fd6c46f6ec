"""Other users of the machine read nothing of a store, whatever the umask is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import ANSWER, BOSS, go, opened, service, settled

from instrc import SettingsError
from instrc.cli import main
from instrc.engines.approvals import Opening  # who may answer
from instrc.engines.stores import exposed  # what a service says when it begins
from instrc.runtime.models.database import require_file  # what keeps budgets
from instrc.runtime.models.forms import learn  # remembers in a file
from instrc.runtime.questions import Question  # of a held run
from instrc.runtime.run_report import RunReport  # what is written
from instrc.server.identity import Identity  # what callers are known by
from instrc.server.records import secrets_given  # of the environment
from instrc.server.studio import Studio  # copies files
from instrc.text.files import refuse_planted  # chains of links, of which a command has one

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


@pytest.mark.parametrize("where", ["here", "above", "below"])
def test_settings_that_another_user_put_in_a_folder_for_everybody_are_refused(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They name functions that are run: in `/tmp`, everybody could name some for the programs of others."""
    (tmp_path / "evil.py").write_text("raise SystemExit('code of another user')")
    place = tmp_path if where == "here" else tmp_path / "mine"
    place.mkdir(exist_ok=True)
    settings = (place if where == "below" else tmp_path) / "pyproject.toml"
    settings.write_text('[tool.instrc.activities]\n"Send_Activity" = "evil:send"\n')
    (place / "p.aug").write_text("Send_Activity(prompt)\n")
    (place / "schemas").mkdir()
    (place / "schemas" / "send_Activity.vibe.json").write_text("{}")
    monkeypatch.chdir(place)
    tmp_path.chmod(0o1777)
    of_another_user(place if where == "below" else settings, monkeypatch)
    assert main(["run", "p.aug", "--input", "x"]) == 1
    assert "belongs to another user, in a folder that everybody may write to" in capsys.readouterr().err
    tmp_path.chmod(0o755)  # whose files are those of whom its owner trusts
    assert main(["run", "p.aug", "--input", "x"]) == 1
    assert "code of another user" in capsys.readouterr().err


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize("name", ["memory", "durable"])
def test_a_store_that_another_user_put_in_a_folder_for_everybody_is_refused(
    name: str, *, is_link: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its owner would read what is put into it, and its runs name functions that are run."""
    monkeypatch.chdir(tmp_path)
    Path("p.aug").write_text('@{ title: "Draft", type: "object" }\n', encoding="utf-8")
    store = Path(".instrc")
    if is_link:
        Path("elsewhere").mkdir()
        store.symlink_to("elsewhere")
    else:
        store.mkdir(mode=0o777)
    tmp_path.chmod(0o1777)
    of_another_user(store, monkeypatch)
    assert main(["run", "p.aug", "--rehearse", "--engine", name]) != 0
    assert "the store `.instrc` cannot be used: it belongs to another user" in capsys.readouterr().err
    assert [*store.iterdir()] == []


@pytest.mark.parametrize("name", ["memory", "durable"])
def test_a_store_of_another_user_is_refused_through_an_own_link(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In `/tmp` whoever is first after a restart of the machine puts something where the link leads."""
    everybody, mine = tmp_path / "tmp", tmp_path / "mine"
    (everybody / "store").mkdir(parents=True)
    mine.mkdir()
    monkeypatch.chdir(mine)
    Path("p.aug").write_text('@{ title: "Draft", type: "object" }\n', encoding="utf-8")
    Path(".instrc").symlink_to(everybody / "store")
    everybody.chmod(0o1777)
    of_another_user(everybody / "store", monkeypatch)
    assert main(["run", "p.aug", "--rehearse", "--engine", name]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert f"the store `.instrc` cannot be used: `{everybody / 'store'}` belongs to another user" in said
    assert [*(everybody / "store").iterdir()] == []


def chain(tmp_path: Path) -> tuple[Path, Path]:
    """Return a link to settings in a folder for everybody, and the folder of their owner in it: itself a link elsewhere."""
    everybody, mine, elsewhere = (tmp_path / name for name in ("share", "mine", "elsewhere"))
    for folder in (everybody, mine, elsewhere):
        folder.mkdir()
    (elsewhere / "pyproject.toml").touch()
    (everybody / "ann").symlink_to("../elsewhere")
    (mine / "pyproject.toml").symlink_to("../share/ann/pyproject.toml")
    everybody.chmod(0o777)
    return mine / "pyproject.toml", everybody / "ann"


def test_a_link_that_another_user_put_between_two_of_ones_own_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first link begins and the last one ends, nobody else may write."""
    settings, between = chain(tmp_path)
    refuse_planted(settings)
    of_another_user(between, monkeypatch)
    with pytest.raises(OSError, match=f"`{settings.parent}/../share/ann` belongs to another user"):
        refuse_planted(settings)


def test_ones_own_links_may_lead_up_out_of_the_folder_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`..` is no entry that somebody could replace."""
    home, shared = tmp_path / "home", tmp_path / "home" / "shared"
    shared.mkdir(parents=True)
    (tmp_path / "pyproject.toml").symlink_to(home / "shared" / ".." / "settings")
    (home / "settings").touch()
    shared.chmod(0o777)
    of_another_user(shared / "..", monkeypatch)
    refuse_planted(tmp_path / "pyproject.toml")


@pytest.mark.parametrize("target", ["a", "../{}/a", "b"])
def test_a_ring_of_links_is_refused(target: str, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(target.format(tmp_path.name))
    (tmp_path / "b").symlink_to("./a")
    with pytest.raises(OSError, match="symbolic links"):
        refuse_planted(tmp_path / "a")


def test_the_earlier_files_of_the_studio_stay_in_a_private_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others would read them, and settings that they put beside them in `/tmp` would be those of the comparison."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    (project / "p.aug").write_text("Draft(prompt)\n")
    made = Studio(project, service(None))
    [folder] = tmp_path.glob("instrc-studio-*")
    before = folder.stat()
    made.keep()
    assert (folder.stat().st_ino, folder.stat().st_mode & 0o777) == (before.st_ino, 0o700)
    assert [*folder.rglob("p.aug")]
    made.close()
    assert not folder.exists()


def test_the_code_of_an_error_goes_with_its_run(tmp_path: Path) -> None:
    """An activity chooses it, and may put data of a person into it."""
    made = service(tmp_path, records=str(tmp_path))
    error: Any = {"kind": "failed", "step": "send", "message": "no such mailbox", "code": "ann@example.org"}
    asked = Question("send", ("send",), {"error": error}, {}, "operator")
    made.records.note(RunReport("r", "letter", "held", None, (asked,)), lambda _: Opening(()))
    made.records.forget_all(["r"])
    made.records.close()
    assert b"ann@example.org" not in b"".join(file.read_bytes() for file in tmp_path.glob("server.sqlite*"))


def of_another_user(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file belong to another user than this process: to one that there is, if that may be chosen."""
    if os.geteuid() == 0:
        os.chown(place, 65534, -1, follow_symlinks=False)
        return
    place, known = place.absolute(), os.lstat

    def lstat(path: Any) -> os.stat_result:
        found = known(path)
        return os.stat_result([*found[:4], found.st_uid + (Path(path) == place), *found[5:]])

    monkeypatch.setattr(os, "lstat", lstat)


def test_an_evaluation_uses_no_store_that_another_user_put_in_a_folder_for_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its owner would read the traces, and choose the answers that are kept there."""
    monkeypatch.chdir(tmp_path)
    Path("p.aug").write_text('@{ title: "Draft", type: "object" }\n', encoding="utf-8")
    Path("p.eval.jsonl").write_text('{"id": "1", "input": "x"}\n', encoding="utf-8")
    store = Path(".instrc")
    store.mkdir(mode=0o777)
    tmp_path.chmod(0o1777)
    of_another_user(store, monkeypatch)
    assert main(["eval", "p.aug", "--model", "sample"]) != 0
    assert "the store `.instrc` cannot be used: it belongs to another user" in capsys.readouterr().err
    with pytest.raises(SettingsError, match="it belongs to another user"):
        require_file(store / "models.sqlite", "spent (a)", "budget")
    assert [*store.iterdir()] == []
