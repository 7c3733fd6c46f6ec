"""Code of a model runs in a process with limits: each violation is an observation, and the next round goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from instrc.problems.problem import CompileError
from instrc.sandbox.observation import Limits, Recorded, Round, ToolCall, ToolResult
from instrc.sandbox.sandbox import Sandbox

LIMITS = Limits(
    seconds=5, memory=700 * 1024 * 1024, operations=200_000_000, imports=("os", "socket", "subprocess", "pathlib", "io")
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
    "nonsense in the pipe": (
        (
            "import os\n"
            "for fd in range(3, 9):\n    try:\n        os.write(fd, b'{\"call\": 3}\\n')\n    except OSError:\n        pass"
        ),
        "ended",
    ),
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
    with Sandbox([], Limits(operations=1000, imports=("os",))) as sandbox:
        sandbox.run_with("a = 1\nfor i in range(10000):\n    a = i", {})
        known = sandbox.run_with("a", {}).value
        assert sandbox.run_with("import os\nos._exit(1)", {}).kind == "ended"
        assert sandbox.run_with("a", {}).value == known


def test_a_round_that_a_limit_has_ended_leaves_nothing_behind() -> None:
    with Sandbox([], Limits(seconds=1)) as sandbox:
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
    with Sandbox([], Limits(imports=("no_such_module",))) as sandbox, pytest.raises(CompileError) as caught:
        sandbox.run_with("1", {})
    [problem] = caught.value.problems
    assert problem.name == "sandbox-not-started"
    assert "no_such_module" in problem.message


def test_the_environment_holds_no_secrets(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    with Sandbox([], LIMITS) as fresh:
        assert fresh.run_with("import os\nos.environ.get('TOKEN')", {}).value is None
    assert sandbox.limits is LIMITS
