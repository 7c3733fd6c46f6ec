"""Every command with whatever files: it ends with one of its codes, in time, and says so in our words."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hunting import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from values import LIKE_SCHEMAS

from instrc.cli import main
from instrc.cli.app import COMMANDS  # the list of all commands

CODES = {0, 1, 2, 5}
"""Fine, problems, wrong use; `instrc test` has 5 where there are no cases."""
SERVERS = {"lsp", "mcp", "serve", "studio", "worker"}
"""Commands that go on until they are stopped: `tests/lsp`, `tests/server` and `tests/engines` begin and end them."""

LINES = """
answer {} step --data {}
answer {} step --data @{}.json
cancel {}
audit
audit --run {} --since P1D
check {}.aug
check {}.vibe.json
check {}.json
check {}
compile {}.aug
compile {}.aug -o out
compile {}.vibe.json --target openai
costs --by program,day
delete {}
deliveries --store {}
diff {}.json {}.vibe.json
diff {}.aug {}.json
doctor
eval {}.aug --data {}.json --model sample
eval {}
tune {}.aug --data {}.json --model sample --yes
explain {}
flatten {}.json
fmt {}.aug
fork {} --at step
fmt --check {}.vibe.json {}.json
fmt {}
graph {}.aug --format html
graph {}.vibe.json --format svg
import openai {}.json
import openapi {}.yaml
import taskbench {}.json -o vibes
import mcp {}.json -o out
init {}
lift {}.json --map {}.json
lock {}.aug
lock --check
models
new instruction {}
plan check {}.json --tools {}.json
plan export {}.json --tools {}.json
plan import {}.json --tools {}.json
plan sample --tools {}.json
plan score {}.json {}.json --tools {}.json
preview {}.aug
retry {}
preview {}.vibe.json --full
resume {}
run {}.aug --engine memory --input x --model sample -q
run {}.json --engine memory --input @{}.json --model sample
run {}.vibe.json --engine memory --items {}.json --model sample
runs
runs --store {}
runs --store {}.json
schedule add x {}.aug --cron {} --store out
schedule list --store out
schedule pause {} --store out
schedule remove {} --store out
schedule resume {} --store out
schedule trigger {} --store out
show {}
show {} --record
split {}.json --schema {}.json
targets
test {}.aug
test {}
trace {}
trace {} --format html
types {}.vibe.json
verify {}.vibe.json --target gemini
workers
"""


def groups() -> set[str]:
    """Return every command as it is typed, those of groups with two words."""
    found = set()
    for name, module in COMMANDS.items():
        loaded = import_module(f"instrc.cli.{module}")
        if group := getattr(loaded, f"{name}_group", None):
            found |= {f"{name} {each.name or each.callback.__name__}" for each in group.registered_commands}
        else:
            found.add(name)
    return found


def lines() -> list[str]:
    """Return the command lines of the commands there are."""
    return [line for line in LINES.strip().splitlines() if line.split()[0] in COMMANDS]


def test_every_command_has_a_line() -> None:
    known = groups()
    assert {name for name in known if not any(f"{line} ".startswith(f"{name} ") for line in lines())} == SERVERS & known


TEXTS = (
    st.binary(max_size=60)
    | LIKE_SCHEMAS.map(lambda value: json.dumps(value, default=str).encode())
    | st.text("aug:tool input A(){}[]|@;,.\"'=-0x1é\n ", max_size=60).map(str.encode)
    | st.text("a: -&*!<[]{}|>#%'\"\n0x_", max_size=40).map(str.encode)
)
NAMES = st.sampled_from(
    ["x", "x", "x", "..", "../../x", "-", "a\nb", "con", "é", "a" * 300, "x/y", "", ".", "~", "%00", "<script>"]
)
ENDINGS = ("aug", "vibe.json", "json", "yaml")


def carry_out(line: str, name: str) -> int:
    """Carry a command line out, in a folder of its own."""
    return main([word.replace("{}", name) for word in line.split(" ")])


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the standard input be empty, and no address be opened."""

    def refuse(*_: object) -> None:
        pytest.fail("something was opened over the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        yield


@pytest.mark.parametrize("line", lines())
@settings(suppress_health_check=[*HealthCheck], deadline=None, max_examples=examples(20).max_examples)
@given(data=TEXTS, name=NAMES)
def test_a_command_ends_with_one_of_its_codes(
    line: str, data: bytes, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in" / "side"
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    for ending in ENDINGS:
        (folder / f"x.{ending}").write_bytes(data)
    assert carry_out(line, name) in CODES, capfd.readouterr().err
    capfd.readouterr()
    if line != "init {}":  # a project is begun where it is asked for
        assert {each.name for each in tmp_path.iterdir()} == {"in"}, "nothing is written outside of the folder"


@pytest.mark.parametrize(
    "run", ["../../x", "..", "a/../../../b", "a/b", "/x", "a\nb", ".hidden", "a" * 300, "con", "NUL.x", "a."]
)
@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_an_id_of_a_run_leads_nowhere(
    run: str, engine: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "in" / "side"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    (inside / "x.aug").write_text('@{ title: "A", type: "object" }', encoding="utf-8")
    line = ["run", "x.aug", "--engine", engine, "--store", "store", "--input", "x", "--model", "sample", "-q", "--id", run]
    assert main(line) == 1
    assert "[unusable-setting]" in capfd.readouterr().err
    assert {each.name for each in inside.rglob("*")} <= {"x.aug", "store"}
    assert {each.name for each in tmp_path.iterdir()} == {"in"}


def as_fifo(path: Path) -> None:
    os.mkfifo(path)


def as_link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def as_folder(path: Path) -> None:
    path.mkdir()


def as_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def as_socket(path: Path) -> None:
    made = socket.socket(socket.AF_UNIX)
    made.bind(path.name)
    made.close()


def as_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("make", [as_fifo, as_link_to_itself, as_folder, as_device, as_socket, as_huge])
def test_what_is_no_ordinary_file_ends_at_once_in_every_command(
    make: object, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for ending in ENDINGS:
        make(tmp_path / f"x.{ending}")  # type: ignore[operator]  -- one of those above
    for line in lines():
        assert carry_out(line, "x") in CODES, (line, capfd.readouterr().err)
        capfd.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("line", lines())
@settings(suppress_health_check=[*HealthCheck], deadline=None, max_examples=1000)
@given(data=TEXTS, name=NAMES)
def test_a_thousand_files_for_each_command(
    line: str, data: bytes, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for ending in ENDINGS:
        (tmp_path / f"x.{ending}").write_bytes(data)
    assert carry_out(line, name) in CODES, capfd.readouterr().err
    capfd.readouterr()
