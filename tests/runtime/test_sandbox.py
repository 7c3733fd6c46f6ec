"""Code of a model runs in a worker with limits: what it prints and gives is seen, and a run goes on from its record."""

from __future__ import annotations

import sys

import pytest
from sandboxes import Sandbox

from instrc.problems.errors import SettingsError
from instrc.runtime.sandbox.processes import end_processes  # their worker cannot start
from instrc.runtime.sandbox.rounds import AnsweredCall, Round, RoundLimits, ToolCall, ToolResult  # rounds without an agent

pytest.importorskip("pydantic_monty")


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox(["search"], RoundLimits(seconds=5))


def test_prints_and_the_last_value_are_seen(sandbox: Sandbox) -> None:
    seen = sandbox.run("print('one')\nprint(2)\n[1, 'x', None]")
    assert seen.logs == "one\n2\n"
    assert seen.value == [1, "x", None]
    assert seen.text == "[1, 'x', None]"
    assert (seen.final, seen.kind) == (False, None)


def test_variables_live_from_round_to_round(sandbox: Sandbox) -> None:
    sandbox.run("a = [1]")
    assert sandbox.run("a.append(2)\na").value == [1, 2]


def test_variables_of_a_round_that_failed_are_there(sandbox: Sandbox) -> None:
    assert sandbox.run("a = 1\n1 / 0").message == "ZeroDivisionError: division by zero (line 2: 1 / 0)"
    assert sandbox.run("a").value == 1


def test_final_answer_ends_the_round_even_if_code_follows(sandbox: Sandbox) -> None:
    seen = sandbox.run("a = 1\nprint('before')\nfinal_answer({'n': 3})\nprint('never')")
    assert (seen.final, seen.value, seen.logs) == (True, {"n": 3}, "before\n")
    assert sandbox.run("a").value == 1


def test_tools_are_functions_of_whoever_runs_the_code(sandbox: Sandbox) -> None:
    seen = sandbox.run("x = search('boats', limit=2)\nx['n'] + 1", search=lambda word, limit: {"n": len(word) * limit})
    assert seen.value == 11


def test_a_none_is_an_argument_unless_its_schema_excludes_null() -> None:
    maybe = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    own = {"id": {"type": "integer"}, "mail": {"$ref": "#/$defs/maybe"}, "name": {"type": "string"}}
    sandbox = Sandbox({"update": {"type": "object", "properties": own, "required": ["id"], "$defs": {"maybe": maybe}}})
    assert sandbox.run("update(1, mail=None, name=None)", update=lambda **given: given).value == {"id": 1, "mail": None}


@pytest.mark.parametrize(
    "code",
    [
        "[search(n) for n in range(3)]",
        "def f(n):\n    return search(n)\n[f(0), f(1), f(2)]",
        "find = search\n[*(find(n) for n in range(3))]",
    ],
)
def test_tools_are_called_wherever_code_stands(sandbox: Sandbox, code: str) -> None:
    assert sandbox.run(code, search=lambda n: n * 2).value == [0, 2, 4]


def test_a_failing_tool_is_an_error_of_the_code(sandbox: Sandbox) -> None:
    def search(_word: str) -> None:
        message = "no network"
        raise OSError(message)

    seen = sandbox.run("search('boats')", search=search)
    assert (seen.kind, seen.message) == ("error", "OSError: no network (line 1: search('boats'))")
    caught = sandbox.run("try:\n    search('boats')\nexcept OSError as error:\n    print(error)", search=search)
    assert caught.logs == "no network\n"


def test_an_error_of_a_tool_that_is_late_is_no_limit(sandbox: Sandbox) -> None:
    def search(_word: str) -> None:
        raise TimeoutError

    assert sandbox.run("search('x')", search=search).kind == "error"


@pytest.mark.parametrize(
    "code",
    [
        "search = 3",
        "def search(word):\n    return 'mine'",
        "class search:\n    pass",
        "import math as search",
        "from math import pi as search",
        "for search in [1]:\n    pass",
        "def final_answer(x):\n    return x",
    ],
)
def test_the_name_of_a_tool_stays_the_tool(sandbox: Sandbox, code: str) -> None:
    seen = sandbox.run(code)
    assert seen.kind == "error"
    assert "is a tool: no other value can have its name" in str(seen.message)
    assert sandbox.run("search('boats')", search=len).value == 5
    assert sandbox.run("final_answer(1)").final


def test_variables_of_a_function_may_be_called_like_a_tool(sandbox: Sandbox) -> None:
    assert sandbox.run("def double(search):\n    return search * 2\ndouble(4)").value == 8


def test_of_a_long_text_the_beginning_and_the_end_are_shown() -> None:
    seen = Sandbox([], RoundLimits(output=5000)).run("print('p' + 'x' * 100_000 + 'q')\n'a' + 'x' * 100_000 + 'b'")
    assert (seen.text[0], seen.text[-1], seen.logs[0], seen.logs[-2:]) == ("a", "b", "p", "q\n")
    assert "[95,002 characters are omitted]" in seen.text
    assert "[95,003 characters are omitted]" in seen.logs
    assert len(str(seen.value)) == 100_002


def test_what_is_printed_has_a_limit_in_a_round_that_time_has_ended_too() -> None:
    seen = Sandbox([], RoundLimits(seconds=0.5, output=5000)).run("while True:\n    print('x' * 100)")
    assert seen.kind == "time"
    assert 5000 < len(seen.logs) < 5100


def test_halves_of_surrogate_pairs_are_replaced(sandbox: Sandbox) -> None:
    seen = sandbox.run("print('a\\ud800b')\n{'\\ud800': ['\\udc00', '\U0001f30a']}")
    assert seen.logs == "a\ufffdb\n"
    assert seen.value == {"\ufffd": ["\ufffd", "\U0001f30a"]}


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("(1, {2}, frozenset([3]))", [1, [2], [3]]),
        ("{1: 'a', (1, 2): 'b', None: 'c'}", {"1": "a", "[1, 2]": "b", "None": "c"}),
        ("[float('nan'), float('inf'), 1.5]", ["nan", "inf", 1.5]),
        ("import datetime\ndatetime.date(2024, 2, 29)", "2024-02-29"),
        ("b'ab'", "b'ab'"),
        ("class P:\n    def __init__(self):\n        self.n = [3]\nP()", {"n": [3]}),
        ("x = [1]\nx.append(x)\nx", [1, "[...]"]),
        ("2 ** 70", 2**70),
    ],
)
def test_values_are_json_as_far_as_they_are_that(sandbox: Sandbox, code: str, value: object) -> None:
    assert sandbox.run(code).value == value


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("import statistics\nstatistics.mean([1, 2, 6])", 3),
        ("from statistics import stdev, quantiles\n[stdev([1.0, 3.0]), quantiles([1, 2, 3])]", [2**0.5, [1.0, 2.0, 3.0]]),
        ("import string\nstring.digits", "0123456789"),
        ("import collections\nlist(collections.deque([1]))", [1]),
    ],
)
def test_modules_that_agents_use_are_there(sandbox: Sandbox, code: str, value: object) -> None:
    assert sandbox.run(code).value == value
    assert sandbox.run(code.splitlines()[-1]).value == value  # imported before, by a worker that is gone


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import queue", "No module named 'queue' in this sandbox: use `collections.deque`"),
        ("import numpy as np", "use lists, `math` and `statistics`"),
        ("import requests", "there is no network: call a tool"),
        ("import statistics\nstatistics.mean(['a'])", "mean() takes numbers of at most 64 bits here"),
        ("import statistics\nstatistics.mean([0] * 100_001)", "mean() takes lists of at most 100,000 numbers here"),
        ("yield 1", "yield"),
        ("class E(Exception):\n    pass", "class inheritance"),
        ("x = 1\ndel x", "'del' statement"),
        ("list(map(search, [1]))", "external function 'search' cannot suspend in this synchronous context"),
    ],
)
def test_what_is_not_there_is_said(sandbox: Sandbox, code: str, message: str) -> None:
    seen = sandbox.run(code)
    assert seen.kind == "error"
    assert message in str(seen.message)


def test_a_round_that_a_limit_has_ended_leaves_nothing_behind() -> None:
    sandbox = Sandbox([], RoundLimits(seconds=0.5))
    sandbox.run("a = 1")
    assert sandbox.run("a = 2\nwhile True:\n    pass").kind == "time"
    assert sandbox.run("a").value == 1


def test_a_run_goes_on_from_the_rounds_of_another_sandbox() -> None:
    code = "import random\nseen = search('boats')\nn = random.randint(0, 10**9)\nletters = list({'a', 'b', 'c', 'd'})"
    first = Sandbox(["search"])
    first.run(code, search=lambda word: {word: 1})
    second = Sandbox(["search"], earlier=first.rounds)
    assert second.run("[seen, n, letters]").value == first.run("[seen, n, letters]").value


@pytest.mark.parametrize(
    ("earlier", "reason"),
    [
        (
            Round("search('boats')", (AnsweredCall(ToolCall("search", ("ships",), {}), ToolResult([])),)),
            "now calls search('boats')",
        ),
        (Round("import os", (), "error"), "now ends (without a fault), where it ended with: error"),
        (Round("def g():\n    yield 1\nprint(list(g()))"), "yield expressions"),
        (Round("for i in range(10):\n    a = i", (), "operations"), "where it ended with: operations"),
    ],
    ids=["another call", "an import that was forbidden", "a statement that was known", "a count of operations"],
)
def test_a_round_of_a_former_sandbox_that_does_something_else_is_lost_and_the_run_goes_on(earlier: Round, reason: str) -> None:
    sandbox = Sandbox(["search"], earlier=[earlier])
    seen = sandbox.run("1")
    assert seen.kind == "lost"
    assert "round 1 of the earlier code cannot be run again: " in str(seen.message)
    assert reason in str(seen.message)
    assert sandbox.run("1").value == 1


def test_a_worker_that_cannot_start_is_a_problem_of_ours(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/no/such/program")
    end_processes()  # they know their worker
    try:
        with pytest.raises(SettingsError) as caught:
            sandbox.run("1")
    finally:
        end_processes()
    assert [problem.name for problem in caught.value.problems] == ["sandbox-not-started"]


def test_without_its_library_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(SettingsError) as caught:
        Sandbox(["search"])
    assert [problem.name for problem in caught.value.problems] == ["missing-extra"]
    assert "instrc[sandbox]" in str(caught.value)


@pytest.mark.parametrize("name", ["look-up", "class", "", "final_answer"])
def test_a_tool_has_a_name_that_code_can_call(name: str) -> None:
    with pytest.raises(TypeError, match="takes names of functions"):
        Sandbox([name])
