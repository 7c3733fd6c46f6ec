"""Code of a model runs in a process with limits: each violation is an observation, and the next round goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from instrc.sandbox.observation import Limits
from instrc.sandbox.sandbox import Sandbox

LIMITS = Limits(
    seconds=3, memory=700 * 1024 * 1024, operations=200_000_000, imports=("os", "socket", "subprocess", "pathlib", "io")
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(["search"], LIMITS) as made:
        made.run_with("kept = 41", {})
        yield made


def test_prints_and_the_last_value_are_seen(sandbox: Sandbox) -> None:
    found = sandbox.run_with("print('one')\nprint(2)\n[1, 'x', None]", {})
    assert found.logs == "one\n2\n"
    assert found.value == [1, "x", None]
    assert found.text == "[1, 'x', None]"
    assert (found.final, found.kind) == (False, None)


def test_variables_live_from_round_to_round(sandbox: Sandbox) -> None:
    sandbox.run_with("a = [1]", {})
    assert sandbox.run_with("a.append(2)\na", {}).value == [1, 2]


def test_final_answer_ends_the_round_even_if_code_follows(sandbox: Sandbox) -> None:
    found = sandbox.run_with("final_answer({'n': 3})\nprint('never')", {})
    assert found.final
    assert found.value == {"n": 3}
    assert "never" not in found.logs


def test_tools_are_functions_of_whoever_runs_the_code(sandbox: Sandbox) -> None:
    found = sandbox.run_with("x = search('boats', limit=2)\nx['n'] + 1", {"search": lambda word, limit: {"n": len(word) * limit}})
    assert found.value == 11


def test_a_failing_tool_is_an_error_of_the_code(sandbox: Sandbox) -> None:
    def search(_word: str) -> None:
        message = "no network"
        raise OSError(message)

    found = sandbox.run_with("search('boats')", {"search": search})
    assert found.kind == "error"
    assert "no network" in str(found.message)
    caught = sandbox.run_with("try:\n    search('boats')\nexcept Exception as error:\n    print('caught')", {"search": search})
    assert caught.logs == "caught\n"


def test_a_tool_cannot_be_reassigned(sandbox: Sandbox) -> None:
    assert sandbox.run_with("search = 3", {}).kind == "error"


VIOLATIONS = {
    "an endless loop": ("while True:\n    pass", "time"),
    "an endless loop that catches all": ("while True:\n    try:\n        x = 1\n    except Exception:\n        pass", "time"),
    "ten gigabytes": ("x = 'a' * 10**10\nlen(x)", "memory"),
    "a list that grows": ("x = [0]\nwhile True:\n    x = x + x", "memory"),
    "a fork": ("import os\nos.fork()", "error"),
    "a process": ("import subprocess\nsubprocess.run(['true'])", "error"),
    "a shell": ("import os\nos.system('true')", "error"),
    "a file outside": ("import pathlib\npathlib.Path('/etc/passwd').read_text()", "error"),
    "a file written outside": ("import pathlib\npathlib.Path('/tmp/instrc-outside').write_text('x')", "error"),
    "a folder outside": ("import os\nos.listdir('/')", "error"),
    "a socket": ("import socket\nsocket.create_connection(('127.0.0.1', 80))", "error"),
    "an import that is not allowed": ("import shutil", "error"),
    "no builtin": ("eval('1')", "error"),
    "a syntax error": ("x = = 1", "error"),
    "a division by zero": ("1 / 0", "error"),
    "the end of the process": ("import os\nos._exit(3)", "ended"),
    "a deep recursion": ("def f(n):\n    return f(n + 1)\nf(0)", "error"),
}


@pytest.mark.parametrize(("code", "kind"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_a_violation_is_an_observation_and_the_run_goes_on(sandbox: Sandbox, code: str, kind: str) -> None:
    found = sandbox.run_with(code, {})
    assert found.kind in ({kind, "error", "ended"} if "recursion" in code or "f(n" in code else {kind}), found
    assert found.message
    assert sandbox.run_with("kept + 1", {}).value == 42


def test_a_file_in_its_own_folder_may_be_written(sandbox: Sandbox) -> None:
    found = sandbox.run_with("import pathlib\npathlib.Path('note.txt').write_text('x')\npathlib.Path('note.txt').read_text()", {})
    assert found.value == "x"


def test_operations_are_counted() -> None:
    with Sandbox([], Limits(operations=1000)) as sandbox:
        found = sandbox.run_with("for i in range(10000):\n    x = i", {})
        assert found.kind == "error"
        assert "operations" in str(found.message)
        assert sandbox.run_with("1", {}).value == 1


def test_after_its_end_the_process_is_made_again_with_recorded_results() -> None:
    calls = []
    with Sandbox(["search"], LIMITS) as sandbox:
        sandbox.run_with("found = search('boats')", {"search": lambda word: calls.append(word) or [word]})
        assert sandbox.run_with("import os\nos._exit(1)", {}).kind == "ended"
        assert sandbox.run_with("found", {}).value == ["boats"]
    assert calls == ["boats"]


def test_the_environment_holds_no_secrets(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    with Sandbox([], LIMITS) as fresh:
        assert fresh.run_with("import os\nos.environ.get('TOKEN')", {}).value is None
    assert sandbox.limits is LIMITS
