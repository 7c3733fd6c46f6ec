"""Code of a model runs in a process with limits: each violation is an observation, and the next round goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from instrc.problems.errors import SettingsError
from instrc.runtime.sandbox.child_process import Recorded, Round, RoundLimits, ToolCall, ToolResult  # rounds without an agent
from instrc.runtime.sandbox.sandbox import Sandbox  # rounds without an agent

LIMITS = RoundLimits(
    seconds=5,
    memory=700 * 1024 * 1024,
    operations=200_000_000,
    imports=("os", "socket", "subprocess", "pathlib", "io", "ctypes", "importlib", "threading", "time", "signal"),
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


@pytest.mark.parametrize(
    "code",
    [
        "def search(word):\n    return 'mine'",
        "class search:\n    pass",
        "import os as search",
        "from os import sep as search",
        "for search in [1]:\n    pass",
        "def outer():\n    def search(word):\n        return 'mine'\n    return search('x')\nouter()",
        "def final_answer(x):\n    return x",
    ],
)
def test_a_tool_cannot_be_replaced_by_a_definition_or_an_import(sandbox: Sandbox, code: str) -> None:
    found = sandbox.run_with(code, {})
    assert found.kind == "error"
    assert "would erase the existing tool" in str(found.message)
    assert sandbox.run_with("search('boats')", {"search": len}).value == 5


def test_variables_of_a_function_may_be_called_like_a_tool(sandbox: Sandbox) -> None:
    code = "def double(search):\n    return search * 2\ndouble(4)"
    assert sandbox.run_with(code, {}).value == 8


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
    "nonsense in the pipe": (
        (
            "import os\n"
            "for fd in range(3, 9):\n    try:\n        os.write(fd, b'{\"call\": 3}\\n')\n    except OSError:\n        pass"
        ),
        "ended",
    ),
    "a library of C": ("import ctypes\nctypes.CDLL(None).system(b'true')", "error"),
    "a shell by way of a module": ("import pathlib\npathlib.os.system('true')", "error"),
    "all classes there are": ("[c for c in ().__class__.__base__.__subclasses__()]", "error"),
    "an import by name": ("__import__('os')", "error"),
    "an import by a module": ("import importlib\nimportlib.import_module('subprocess').run(['true'])", "error"),
    "a file by its descriptor": ("import os\nos.read(os.open('/etc/passwd', 0), 10)", "error"),
    "the environment of the process": ("import pathlib\npathlib.Path('/proc/self/environ').read_text()", "error"),
    "the memory of the process around": ("import os\nos.open(f'/proc/{os.getppid()}/mem', 2)", "error"),
    "the end of the process around": ("import os\nos.kill(os.getppid(), 9)", "error"),
    "a file outside deleted": ("import os\nos.remove('/tmp/instrc-outside')", "error"),
    "a pipe outside": ("import os\nos.mkfifo('/tmp/instrc-outside')", "error"),
    "a node outside": ("import os\nos.mknod('/tmp/instrc-outside')", "error"),
    "another folder": ("import os\nos.chdir('/')", "error"),
    "a number of 60,000 digits as a value": ("2 ** 200000", "error"),
    "a number of 60,000 digits as an answer": ("final_answer(2 ** 200000)", "error"),
    "an answer without a value": ("final_answer()", "error"),
    "a list that holds itself": ("x = []\nx.append(x)\nfinal_answer(x)", "error"),
    "a value that cannot be written": ("class B:\n    def __str__(self):\n        return 1 / 0\nB()", "error"),
    "the end of Python": ("raise SystemExit", "error"),
    "an interruption": ("raise KeyboardInterrupt", "error"),
    "an alarm put off": ("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True:\n    pass", "time"),
    "a closed pipe": ("import os\nos.closerange(0, 64)", "ended"),
    "a deep recursion": ("def f(n):\n    return f(n + 1)\nf(0)", "error"),
}


@pytest.mark.long
@pytest.mark.parametrize(("code", "kind"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_a_violation_is_an_observation_and_the_run_goes_on(sandbox: Sandbox, code: str, kind: str) -> None:
    found = sandbox.run_with(code, {})
    assert found.kind in ({kind, "error", "ended"} if "recursion" in code or "f(n" in code else {kind}), found
    assert found.message
    assert sandbox.run_with("kept + 1", {}).value == 42


def test_two_thousand_threads_are_an_observation() -> None:
    code = "import threading, time\nfor i in range(2000):\n    threading.Thread(target=time.sleep, args=(60,)).start()"
    with Sandbox([], RoundLimits(memory=700 * 1024 * 1024, imports=("threading", "time"))) as sandbox:
        assert sandbox.run_with(code, {}).kind in {"error", "memory", "ended"}
        assert sandbox.run_with("1 + 1", {}).value == 2


def test_what_is_printed_has_a_limit_in_a_round_that_time_has_ended_too() -> None:
    with Sandbox([], RoundLimits(seconds=1, output=5000, operations=10**9)) as sandbox:
        found = sandbox.run_with("while True:\n    print('x' * 100)", {})
        assert found.kind == "time"
        assert len(found.logs) < 5200
        assert "has been truncated" in found.logs


def test_of_a_long_last_value_the_beginning_and_the_end_are_shown(sandbox: Sandbox) -> None:
    found = sandbox.run_with("'a' + 'x' * 100_000 + 'b'", {})
    assert (found.text[0], found.text[-1]) == ("a", "b")
    assert "has been truncated" in found.text
    assert len(str(found.value)) == 100_002


def test_halves_of_surrogate_pairs_are_replaced(sandbox: Sandbox) -> None:
    found = sandbox.run_with("print('a\\ud800b')\n{'\\ud800': ['\\udc00', '\\ud83c\\udf0a']}", {})
    assert found.logs == "a\ufffdb\n"
    assert found.value == {"\ufffd": ["\ufffd", "\U0001f30a"]}


def test_a_file_in_its_own_folder_may_be_written(sandbox: Sandbox) -> None:
    found = sandbox.run_with("import pathlib\npathlib.Path('note.txt').write_text('x')\npathlib.Path('note.txt').read_text()", {})
    assert found.value == "x"


def test_operations_are_counted() -> None:
    with Sandbox([], RoundLimits(operations=1000)) as sandbox:
        found = sandbox.run_with("for i in range(10000):\n    x = i", {})
        assert found.kind == "operations"
        assert "operations" in str(found.message)
        assert sandbox.run_with("x < 10000", {}).value is True
        assert sandbox.run_with("while True:\n    x = 1", {}).kind == "operations"


def test_after_its_end_the_process_is_made_again_with_recorded_results() -> None:
    calls = []
    with Sandbox(["search"], LIMITS) as sandbox:
        sandbox.run_with("found = search('boats')", {"search": lambda word: calls.append(word) or [word]})
        assert sandbox.run_with("import os\nos._exit(1)", {}).kind == "ended"
        assert sandbox.run_with("found", {}).value == ["boats"]
    assert calls == ["boats"]


def test_a_round_that_the_count_of_operations_has_ended_is_run_again_like_others() -> None:
    with Sandbox([], RoundLimits(operations=1000, imports=("os",))) as sandbox:
        sandbox.run_with("a = 1\nfor i in range(10000):\n    a = i", {})
        known = sandbox.run_with("a", {}).value
        assert sandbox.run_with("import os\nos._exit(1)", {}).kind == "ended"
        assert sandbox.run_with("a", {}).value == known


def test_a_round_that_a_limit_has_ended_leaves_nothing_behind() -> None:
    with Sandbox([], RoundLimits(seconds=1)) as sandbox:
        sandbox.run_with("a = 1", {})
        assert sandbox.run_with("a = 2\nwhile True:\n    pass", {}).kind == "time"
        assert sandbox.run_with("a", {}).value == 1


def test_a_sandbox_goes_on_from_the_rounds_of_another_one() -> None:
    calls: list[str] = []
    tools = {"search": lambda word: calls.append(word) or {word: len(calls)}}
    code = "import random\nfound = search('boats')\nn = random.randint(0, 10**9)\nletters = list({'a', 'b', 'c', 'd'})"
    with Sandbox(["search"], LIMITS) as first:
        first.run_with(code, tools)
        known = first.run_with("[found, n, letters]", {}).value
        with Sandbox(["search"], LIMITS, first.rounds) as second:
            assert second.run_with("[found, n, letters]", {}).value == known
    assert calls == ["boats"]


def test_code_that_does_something_else_when_it_is_run_again_is_lost_and_the_model_is_told() -> None:
    earlier = Round("search('boats')", (Recorded(ToolCall("search", ("ships",), {}), ToolResult([])),))
    with Sandbox(["search"], LIMITS, [earlier]) as sandbox:
        found = sandbox.run_with("1", {})
        assert found.kind == "lost"
        assert "search('boats')" in str(found.message)
        assert sandbox.run_with("1", {}).value == 1


def test_an_error_of_a_tool_has_its_own_class() -> None:
    def search(_word: str) -> None:
        message = "what?"
        raise ValueError(message)

    with Sandbox(["search"], LIMITS) as sandbox:
        found = sandbox.run_with("try:\n    search('x')\nexcept ValueError as error:\n    print(error)", {"search": search})
        assert found.logs == "what?\n"


def test_a_module_that_is_not_installed_is_a_problem_of_ours() -> None:
    with Sandbox([], RoundLimits(imports=("no_such_module",))) as sandbox, pytest.raises(SettingsError) as caught:
        sandbox.run_with("1", {})
    [problem] = caught.value.problems
    assert problem.name == "sandbox-not-started"
    assert "no_such_module" in problem.message


def test_the_environment_holds_no_secrets(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    with Sandbox([], LIMITS) as fresh:
        assert fresh.run_with("import os\nos.environ.get('TOKEN')", {}).value is None
    assert sandbox.limits is LIMITS
