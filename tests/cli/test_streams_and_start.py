"""As a process among others, `instrc` is polite: no traceback, whatever its streams are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_lines import Instrc
from every_case import every_case

from instrc.version import __version__

COMMAND = [sys.executable, "-m", "instrc"]
PROGRAM = b'"Say hello" | Greet | Answer\n'


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_it_tells_its_version(process: Instrc, flag: str) -> None:
    assert process(flag) == (0, f"instrc {__version__}\n", "")


def test_the_version_needs_no_library() -> None:
    script = (
        "import sys; from instrc.cli import main; main(['--version']); "
        "print(sorted({'typer', 'lark', 'orjson', 'rich', 'dataclasses'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


ROOMS = {
    "--version": {"cli", "text", "version"},
    "check": {"cli", "text", "version", "problems", "schema", "process", "tools", "language", "vibes", "compiler"},
    "compile": {"cli", "text", "version", "problems", "schema", "process", "tools", "language", "vibes", "compiler"},
}
"""Which rooms a command loads for a program that is right."""
SLOW = {
    "rich", "typer", "jsonschema", "pydantic", "lark", "referencing", "asyncio", "idna", "regex", "re2", "tomllib", "string",
    "instrc.language.view", "instrc.vibes.lock", "instrc.schema.formats", "instrc.schema.ecmascript", "instrc.schema.validation",
    "instrc.compiler.lint.keywords", "instrc.compiler.lint.coherence", "instrc.compiler.bind.called_programs",
    "instrc.compiler.bind.processes", "instrc.tools.python_types", "instrc.tools.plan_tools",
}  # fmt: skip
"""Libraries and modules that take long to load, and that neither command needs for it."""


@pytest.mark.parametrize("command", ROOMS)
def test_a_command_loads_no_room_that_it_does_not_need(folder: Path, command: str) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    given = [command] if command == "--version" else [command, "a.aug"]
    script = f"import sys; from instrc.cli import main; assert main({given!r}) == 0; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    loaded = done.stdout.splitlines()[-1].split()
    assert {name.split(".")[1] for name in loaded if name.startswith("instrc.")} == ROOMS[command]
    assert sorted(SLOW & set(loaded)) == []


def test_compile_in_python_loads_no_room_that_the_command_does_not_need(folder: Path) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    script = "import sys, instrc; assert instrc.compile('a.aug'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    loaded = done.stdout.split()
    assert {name.split(".")[1] for name in loaded if name.startswith("instrc.")} == ROOMS["compile"] - {"cli"} | {"api"}
    assert sorted({*SLOW, "instrc.compiler.resolve"} & set(loaded)) == []


@every_case("module", ["instrc.schema.formats", "instrc.text.durations"])
def test_patterns_are_read_when_they_are_needed(module: str) -> None:
    script = (
        "import re, ipaddress, datetime; made = []; plain = re.compile; "
        "re.compile = lambda *said: made.append(said) or plain(*said); "
        f"import {module}; print(made)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_check_loads_nothing_that_writes_documents(folder: Path) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    script = (
        "import sys; from instrc.cli import main; assert main(['check', 'a.aug']) == 0; "
        "print(sorted({'instrc.compiler.emit.emit', 'instrc.cli.compile_files', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_help_of_all_commands_loads_none_of_their_work() -> None:
    script = (
        "import sys; from instrc.cli import main; assert main(['--help']) == 0; "
        "heavy = {'rich', 'pydantic', 'asyncio', 'lark', 'importlib.metadata', 'instrc.testing', 'instrc.language.parser'}; "
        "print(sorted(heavy & set(sys.modules)), [name for name in sys.modules if name.startswith('instrc.problems.p')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] ['instrc.problems.problem']"


ENDING = """\
import atexit, sys, threading
from instrc.__main__ import main
sys.argv, held = ["instrc", "check", "a.aug"], threading.Event()
{}
main()
print("after it")
held.set()
"""


def test_the_process_ends_with_its_command(folder: Path) -> None:
    """Nothing is freed one by one, as the system frees it all."""
    (folder / "a.aug").write_bytes(PROGRAM)
    done = subprocess.run([sys.executable, "-c", ENDING.format("")], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout == ""


@pytest.mark.parametrize(
    "waiting",
    ["atexit.register(print, 'end')", "sys.setprofile(lambda *_: None)", "threading.Thread(target=held.wait).start()"],
)
def test_the_process_goes_on_for_whoever_waits_for_its_end(folder: Path, waiting: str) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    done = subprocess.run([sys.executable, "-c", ENDING.format(waiting)], capture_output=True, text=True, check=True, cwd=folder)
    assert "after it" in done.stdout.splitlines()


def test_a_library_whose_threads_crash_a_python_that_ends_is_not_waited_for(folder: Path) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    loaded = "sys.modules['temporalio.bridge.temporal_sdk_bridge'] = sys; sys.setprofile(lambda *_: None)"
    script = ENDING.format(loaded) + "atexit.register(print, 'end', flush=True)\nsys.exit(7)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=folder)
    assert done.stdout.splitlines()[-1] == "end"
    assert done.returncode == 0, "it ended as the command did"


@pytest.mark.parametrize("words", [["compile", "a.aug"], ["--help"]])
def test_a_reader_that_goes_away_is_no_reason_to_complain(words: list[str], folder: Path) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, *words], stdout=write, stderr=subprocess.PIPE, check=False, cwd=folder)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", [["compile", "a.aug"], ["compile", "--help"]])
def test_a_full_disk_is_a_problem(words: list[str], folder: Path) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, check=False, cwd=folder)
    assert done.returncode == 1
    assert b"[unwritable-output]" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_wrong_use_is_wrong_use_even_if_nobody_can_be_told(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "targets", "x"], stdout=subprocess.PIPE, stderr=full, check=False, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("compile a.aug >&-", 1),
        ("compile - <&-", 1),
        ("check missing.aug 2>&-", 1),
        ("--version >&-", 1),
        ("mcp a.aug <&-", 1),
        ("mcp a.aug </dev/null >&-", 1),
    ],
)
def test_closed_streams_end_in_an_exit_code(line: str, code: int, folder: Path) -> None:
    (folder / "a.aug").write_bytes(PROGRAM)
    shell = f"{sys.executable} -m instrc {line}"
    done = subprocess.run(shell, shell=True, capture_output=True, check=False, cwd=folder)  # noqa: S602  -- it is about the shell
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert b"internal" not in done.stderr


def test_text_is_utf_8_whatever_the_locale_says(process: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_text('"Привет" | Приветствие\n', encoding="utf-8")
    (folder / "b.aug").write_text('"Привет" | Приветстие\n', encoding="utf-8")
    for settings in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C"}):
        assert "Привет" in process("compile", "a.aug", **settings).out
        assert "Приветстие" in process("check", "b.aug", **settings).err


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_an_interruption_is_answered_with_silence(folder: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what runs in the background ignore it
    try:
        running = subprocess.Popen([*COMMAND, "check", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    finally:
        signal.signal(signal.SIGINT, before)
    assert running.stdin is not None
    while running.poll() is None and not _waits_for_input(running.pid):
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate()
    assert (running.returncode, err) == (130, b"")


def _waits_for_input(pid: int) -> bool:
    """Tell whether a process has come so far that it reads its standard input."""
    try:
        called = Path(f"/proc/{pid}/syscall").read_text().split()
    except OSError:
        pytest.skip("there is no /proc to tell what a process does")
    return called[:2] == ["0", "0x0"]


def test_standard_input_is_a_program(process: Instrc) -> None:
    done = process("compile", "-", stdin=PROGRAM)
    assert (done.code, done.err) == (0, "")
    assert '"step1_greet"' in done.out


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_hash_seed_changes_nothing(process: Instrc, folder: Path, seed: str) -> None:
    (folder / "a.aug").write_bytes(b'"Hi" | Gret | Anser | Send\nfoo')
    first, second = (process("check", "a.aug", PYTHONHASHSEED=each) for each in ("0", seed))
    assert first == second
    assert first.code == 1


def test_colours_are_for_terminals_and_for_those_who_ask(process: Instrc) -> None:
    assert "\x1b[" not in process("check", "missing.aug").err
    assert "\x1b[" in process("check", "missing.aug", FORCE_COLOR="1").err
    assert "\x1b[" not in process("check", "missing.aug", FORCE_COLOR="1", NO_COLOR="1").err


def test_colours_change_no_character(process: Instrc, folder: Path) -> None:
    import re

    (folder / "a.aug").write_text('"Привет [bold]" | Gret :smile: \t会議\n', encoding="utf-8")
    plain, coloured = process("check", "a.aug").err, process("check", "a.aug", FORCE_COLOR="1").err
    assert coloured != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="terminals of Unix")
@pytest.mark.parametrize(("setting", "coloured"), [({}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False)])
def test_on_a_terminal_problems_are_coloured(folder: Path, setting: dict[str, str], coloured: bool) -> None:  # noqa: FBT001
    ours, theirs = os.openpty()
    environment = os.environ | {"TERM": "xterm"} | setting
    done = subprocess.run([*COMMAND, "check", "missing.aug"], stderr=theirs, check=False, cwd=folder, env=environment)
    os.close(theirs)
    said = os.read(ours, 10_000)
    os.close(ours)
    assert done.returncode == 1
    assert (b"\x1b[" in said) is coloured
