"""The code agent does what the one of smolagents does with one scripted model; code that goes too far is an observation."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import process_time
from typing import Any

import pytest

import instrc
from instrc.runtime.sandbox.rounds import RoundLimits  # rounds without an agent
from instrc.runtime.sandbox.sandbox import CodeRuns  # rounds without an agent

smolagents = pytest.importorskip("smolagents")
pytest.importorskip("pydantic_monty")
from smolagents_tools import smolagents_tool  # noqa: E402  -- only with smolagents

FOLDER = Path(__file__).parents[2] / "examples" / "agents" / "code-agent"
_spec = spec_from_file_location("code_agent", FOLDER / "agent.py")
assert _spec is not None
assert _spec.loader is not None
agent = module_from_spec(_spec)
sys.modules[_spec.name] = agent
_spec.loader.exec_module(agent)

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_OMITTED = re.compile(r"\n(\.{3}_This content has been truncated to stay below \d+ .*_\.{3}|\[\S+ characters are omitted])\n")
_DERIVED = "NotImplementedError: The monty syntax parser does not yet support class inheritance and metaclasses"
_DERIVED += " (line 1: class Mine(Exception):\n    pass)"
_DELETED = "NotImplementedError: The monty syntax parser does not yet support the 'del' statement (line 2: del a)"
_YIELDS = "NotImplementedError: The monty syntax parser does not yet support yield expressions (line 2: yield 1)"
_CLASS = "AttributeError: 'tuple' object has no attribute '__class__' (line 1: ().__class__.__bases__[0].__subclasses__())"
_OPEN = "PermissionError: Permission denied: '/etc/passwd' (line 1: open('/etc/passwd').read())"
PROCESS = instrc.compile(FOLDER / "code-agent.aug", emit="process")[0]


@dataclass
class Played:
    answer: Any = None
    printed: list[str] = field(default_factory=list)
    """What each round printed."""
    values: list[str | None] = field(default_factory=list)
    """The last value of each round, as Python writes it; `None` where it has failed."""
    errors: list[str | None] = field(default_factory=list)
    """The error that the model is shown of each round."""
    calls: list[str] = field(default_factory=list)
    asked: int = 0


def logged(log: list[str], name: str) -> Any:
    def call(given: Any) -> Any:
        log.append(f"{name} {json.dumps(given, sort_keys=True)}")
        return agent.TOOLS[name](given)

    return call


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```py\nx = 1\n```\nb\n```python\ny\n```", "x = 1\n\ny"),
        ("```py\nx = '```'\n```", "x = '```'"),
        ("```py" * 20_000, None),
        ("-" * 50_000 + "1", None),
        ("a." * 50_000 + "a", None),
    ],
    ids=["blocks", "fence in a text", "many beginnings", "deep", "long"],
)
def test_code_is_read_in_time_by_its_length_or_costs_a_round(text: str, code: str | None) -> None:
    began = process_time()
    assert agent.read_code({"rounds": [], "act": {"code": text}})["code"] == code
    assert process_time() - began < 2


def theirs(script: list[str], last: Any = None) -> Played:
    played = Played()

    class Model(smolagents.Model):  # type: ignore[misc]
        def generate(self, messages: Any, **_how: Any) -> Any:
            played.asked += 1
            ending = "unable to answer" in str(messages[0].content).lower() or played.asked > 20
            return smolagents.ChatMessage(
                role="assistant", content=str(last) if ending else script[min(played.asked, len(script)) - 1]
            )

    tools = [smolagents_tool(agent.arguments_of(name), logged(played.calls, name), name=name) for name in agent.TOOLS]
    run = smolagents.CodeAgent(tools=tools, model=Model(), verbosity_level=0)
    played.answer = run.run("q")
    for step in run.memory.steps:
        if isinstance(step, smolagents.ActionStep):
            logs, _, value = (
                (step.observations or "").removeprefix("Execution logs:\n").partition("Last output from code snippet:\n")
            )
            played.printed.append(_OMITTED.sub("…", logs.strip()))
            played.values.append(None if step.error else _ADDRESS.sub("", _OMITTED.sub("…", value)))
            played.errors.append(step.error and step.error.message)
    if played.asked > 20:  # the last answer has no code
        played.printed, played.values, played.errors = played.printed[:20], played.values[:20], played.errors[:20]
    return played


@pytest.fixture(scope="module")
def runs() -> CodeRuns:
    return agent.code_runs()


def ours(runs: CodeRuns, script: list[str], last: Any = None) -> Played:
    played = Played()
    model = instrc.Scripted(
        {"write_code": [{"thought": "", "code": text} for text in script], "provide_final_answer": {"answer": last}}
    )
    activities = agent.activities(runs)
    activities |= {f"{name.replace('_', '-')}_Activity": logged(played.calls, name) for name in agent.TOOLS}
    run = instrc.run(PROCESS, "q", model=model, activities=activities)
    assert run.status == "done", run.outcome
    played.answer = run.value["answer"]
    played.asked = len(model.sent)
    for seen in rounds_of(run.record):
        played.printed.append(_OMITTED.sub("…", seen["logs"].strip()))
        played.values.append(None if seen["error"] else _ADDRESS.sub("", _OMITTED.sub("…", seen["text"])))
        played.errors.append(seen["error"])
    return played


def rounds_of(record: Any) -> list[Any]:
    found = []
    for each in record["repeatContext1"]:
        (calls,) = [value for key, value in each["doContext1"].items() if key.startswith("repeat")]
        found.append(next(iter(calls[-1]["serverContext3"].values()))["output"])
    return found


def code(*lines: str) -> str:
    return "\n".join(["<code>", *lines, "</code>"])


SCRIPTS = {
    "an answer at once": [code("final_answer(3)")],
    "an answer that is an object": [code("final_answer({'a': [1, None, True]})")],
    "an answer by name": [code("final_answer(answer='x')")],
    "an answer in a loop": [code("for i in range(5):", "    if i == 3:", "        final_answer(i)")],
    "a tool and a print, variables stay": [code("x = multiply(6, 7)", "print(x)"), code("final_answer(x)")],
    "tools with named arguments": [code("print(multiply(b=6, a=7))"), code("final_answer(look_up(city='Oslo'))")],
    "a tool whose result another tool takes": [code("final_answer(multiply(look_up('Oslo'), 2))")],
    "ten calls in a loop": [code("t = 0", "for i in range(10):", "    t += multiply(i, i)", "print(t)"), code("final_answer(t)")],
    "a function that calls a tool": [
        code("def square(n):", "    return multiply(n, n)"),
        code("print([square(n) for n in range(4)])"),
        code("final_answer(square(9))"),
    ],
    "a fenced block": ["Thought\n```python\nfinal_answer('b')\n```"],
    "several blocks": [code("a = 1") + " and " + code("final_answer(a + 1)")],
    "a missing end tag": ["Thought <code>\nfinal_answer(5)\n"],
    "a last value": [code("[1, 2] + [3]"), code("final_answer('done')")],
    "an allowed import": [code("import math", "print(math.floor(2.5))", "final_answer(math.ceil(2.5))")],
    "an import that is not allowed": [code("import os"), code("final_answer('no')")],
    "an error after a print": [code("print('before')", "1 / 0"), code("final_answer('ok')")],
    "an error that the code catches": [
        code("try:", "    1 / 0", "except ZeroDivisionError as e:", "    print(e)"),
        code("final_answer(1)"),
    ],
    "an unknown name": [code("print(nothing)"), code("final_answer('x')")],
    "an unknown tool": [code("fly(1)"), code("final_answer('x')")],
    "a syntax error in the tags": [code("x = = 1"), code("final_answer('x')")],
    "a tool assigned to": [code("multiply = 3"), code("final_answer('x')")],
    "a variable of a round that failed": [code("a = 5", "1 / 0"), code("final_answer(a)")],
    "code after the answer": [code("final_answer(1)", "print('after')")],
    "a class": [code("class P:", "    n = 3", "p = P()", "print(p.n)"), code("final_answer(p.n)")],
    "thirty thousand prints": [code("for i in range(30000):", "    print('line', i)"), code("final_answer('x')")],
    "a very long print": [code("print('x' * 300000)"), code("final_answer('x')")],
    "a very long last value": [code("'y' * 200000"), code("final_answer('z' * 100000)")],
    "many letters": [code("print('Осло 🌊', 'é')", "'日本'"), code("final_answer('Привет')")],
    "two syntax errors in a row": [code("x = = 1"), code("def f(:"), code("final_answer(1)")],
    "arguments left out": [code("print(look_up('Oslo'), look_up('Oslo', 2020))"), code("final_answer(look_up(city='Paris'))")],
    "an answer in an endless loop": [code("i = 0", "while True:", "    i += 1", "    if i > 4:", "        final_answer(i)")],
    "an answer in a function": [code("def done(x):", "    final_answer(x * 2)", "done(21)")],
    "an answer where errors are caught": [code("try:", "    final_answer(5)", "except Exception:", "    print('caught')")],
    "an answer that is nothing": [code("final_answer(None)")],
    "a failing tool that is caught": [
        code("try:", "    look_up('Rome')", "except Exception:", "    print('caught')"),
        code("final_answer('x')"),
    ],
    "an error of its own": [code("class Mine(Exception):", "    pass", "raise Mine('own')"), code("final_answer('x')")],
    "a failing assertion": [code("assert 1 == 2, 'no'"), code("final_answer('x')")],
    "comprehensions": [
        code("a = {i: i * i for i in range(4)}", "b = sorted({i % 3 for i in range(9)})", "print(a, [x for x in b if x])"),
        code("final_answer(b)"),
    ],
    "stars and formats": [code("first, *rest = [1, 2, 3]", "print(f'{first:>5}|{rest!r}', *rest)"), code("final_answer(rest)")],
    "a variable that is gone": [code("a = 1", "del a", "print(a)"), code("final_answer('x')")],
    "dates": [code("import datetime", "d = datetime.date(2024, 2, 29)", "print(d)"), code("final_answer(str(d))")],
    "what the interpreter does not know": [
        code("match 3:", "    case 3:", "        print('three')"),
        code("def g():", "    yield 1", "print(list(g()))"),
        code("().__class__.__bases__[0].__subclasses__()"),
        code("open('/etc/passwd').read()"),
        code("final_answer(2 ** 70)"),
    ],
    "wrong indexes, keys, members and types": [
        *(code(each) for each in ("[1][5]", "{}['k']", "(1).nothing", "1 + 'a'")),
        code("final_answer('x')"),
    ],
    "only a comment": [code("# nothing"), code("final_answer('x')")],
    "twenty rounds in vain": [code("print('again')")],
}


DIFFERENT: dict[str, dict[str, Any]] = {
    "a function that calls a tool": {"values": ["None", "None", "81"]},  # a definition has no value
    "an import that is not allowed": {"values": ["None", "no"], "errors": [None, None]},  # this `os` reaches nothing
    "an error of its own": {"errors": [_DERIVED, None]},
    "a variable that is gone": {"errors": [_DELETED, None]},
    "stars and formats": {
        "answer": [2, 3],
        "printed": ["1|[2, 3] 2 3", ""],
        "values": ["None", "[2, 3]"],
        "errors": [None, None],
        "asked": 2,
    },
    "what the interpreter does not know": {
        "printed": ["three", "", "", "", ""],
        "values": ["None", None, None, None, "1180591620717411303424"],
        "errors": [None, _YIELDS, _CLASS, _OPEN, None],
    },
}
"""Where the interpreter of ours knows more, or less, than that of smolagents: what ours gives."""


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_does_what_smolagents_does(runs: CodeRuns, name: str) -> None:
    we, they = vars(ours(runs, SCRIPTS[name], last="enough")), vars(theirs(SCRIPTS[name], last="enough"))
    different = DIFFERENT.get(name, {})
    assert {key: we[key] for key in different} == different
    assert all(we[key] != they[key] for key in different)
    for key in we.keys() - different.keys() - {"errors"}:
        assert we[key] == they[key]
    if "errors" not in different:
        assert [same_error(*pair) for pair in zip(we["errors"], they["errors"], strict=True)] == [True] * len(they["errors"])


def same_error(our: str | None, their: str | None) -> bool:
    """Return whether both say the same, as far as their words are those of Python."""
    if our is None or their is None:
        return our is their
    reason = their.partition("due to: ")[2]
    if reason.startswith("InterpreterError: "):  # words of its own; at the end may be those of Python
        return True
    return our.startswith("SyntaxError: ") if reason.startswith("SyntaxError: ") else our.partition(" (line ")[0] == reason


def test_an_answer_without_code_is_told_and_costs_a_round(runs: CodeRuns) -> None:
    script = [code(""), "I do not know.", code("final_answer('now')")]
    we, they = ours(runs, script), theirs(script)
    assert (we.answer, we.asked) == (they.answer, they.asked)
    assert all("no code was found" in str(each) for each in we.errors[:2])
    assert all(they.errors[:2])


def test_an_answer_without_a_value_is_an_error_of_the_code(runs: CodeRuns) -> None:
    script = [code("final_answer()"), code("final_answer('now')")]
    we, they = ours(runs, script), theirs(script)
    assert (we.answer, we.asked) == (they.answer, they.asked)
    assert "final_answer() needs the argument 'answer'" in str(we.errors[0])
    assert "missing 1 required positional argument: 'answer'" in str(they.errors[0])


def test_an_answer_is_plain_json(runs: CodeRuns) -> None:
    assert ours(runs, [code("final_answer((1, '\\ud800'))")]).answer == [1, "\ufffd"]


def test_a_failing_tool_is_an_error_of_the_code(runs: CodeRuns) -> None:
    script = [code("print('a')", "look_up('Rome')"), code("final_answer('x')")]
    we, they = ours(runs, script), theirs(script)
    assert (we.answer, we.printed, we.calls, we.asked) == (they.answer, they.printed, they.calls, they.asked)
    assert "no such city: Rome" in str(we.errors[0])
    assert "no such city: Rome" in str(they.errors[0])


WRONG = {
    "look_up()": "look_up() needs the argument 'city'",
    "look_up('Oslo', 1, 2)": "look_up() takes 2 arguments but 3 were given",
    "look_up(town='Oslo')": "look_up() got an unexpected argument 'town': it takes city, year",
    "multiply('six', 7)": 'multiply() got a wrong argument \'a\': "six" is not of type "integer"',
    "multiply(True, 7)": "multiply() got a wrong argument 'a': true is not of type \"integer\"",
}


def test_wrong_arguments_of_a_tool_are_told_and_nothing_is_called(runs: CodeRuns) -> None:
    played = ours(runs, [*map(code, WRONG), code("final_answer('x')")])
    assert [said for said, error in zip(WRONG.values(), played.errors, strict=False) if said not in str(error)] == []
    assert not played.calls


VIOLATIONS = {
    "an endless loop": (["while True:", "    pass"], "the code ran longer than 0.5 seconds"),
    "ten gigabytes": (["x = 'a' * 10**10", "len(x)"], "MemoryError: the code needs more than 67,108,864 bytes"),
    "a fork": (["import os", "os.fork()"], "module 'os' has no attribute 'fork'"),
    "a file outside": (["import pathlib", "pathlib.Path('/etc/passwd').read_text()"], "PermissionError: Permission denied"),
    "a socket": (["import socket", "socket.create_connection(('127.0.0.1', 80))"], "there is no network: call a tool"),
    "an import that is not there": (["import shutil"], "No module named 'shutil' in this sandbox"),
}


def test_each_violation_is_shown_to_the_model_and_the_run_goes_on() -> None:
    limits = RoundLimits(seconds=0.5, memory=64 * 1024 * 1024)
    script = [code("kept = look_up('Oslo')"), *(code(*lines) for lines, _ in VIOLATIONS.values()), code("final_answer(kept)")]
    model = instrc.Scripted({"write_code": [{"thought": "", "code": text} for text in script]})
    calls: list[str] = []
    activities = agent.activities(agent.code_runs(limits)) | {"look-up_Activity": logged(calls, "look_up")}
    run = instrc.run(PROCESS, "q", model=model, activities=activities)
    assert run.value["answer"] == 717_710
    assert len(calls) == 1
    for number, (_, message) in enumerate(VIOLATIONS.values(), 2):
        shown = json.loads(model.sent[number].message.split("-----")[1])
        (observed,) = (value["output"] for key, value in shown.items() if key.endswith("observe"))
        assert message in observed[number - 1]["error"]


@pytest.mark.slow
def test_a_thousand_calls_of_tools_in_one_round_are_enough(runs: CodeRuns) -> None:
    script = [code("while True:", "    multiply(1, 1)"), code("final_answer('x')")]
    played = ours(runs, script)
    assert len(played.calls) == 1000
    assert played.answer == "x"
