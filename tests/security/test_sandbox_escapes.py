"""Code of a model that wants out of its sandbox ends as an observation: no frame, file, process or socket is reached, and no tool
is called with arguments that were not checked."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from sandboxes import Sandbox

from instrc.runtime.sandbox.execution import worker_session  # no agent
from instrc.runtime.sandbox.processes import ProcessEndedError, call_in_process, end_processes  # no agent
from instrc.runtime.sandbox.rounds import AnsweredCall, Observation, Round, RoundLimits, ToolCall, ToolResult  # no agent
from instrc.runtime.sandbox.sandbox import CodeRuns  # no agent
from instrc.text.jsonvalue import Json

pytest.importorskip("pydantic_monty")

LIMITS = RoundLimits(seconds=0.5, memory=64 * 1024 * 1024)
SECRET = "s3cr3t-of-the-parent"
PAY = {"type": "object", "properties": {"amount": {"type": "integer", "maximum": 10}}, "required": ["amount"]}

FRAMES = {
    "the frame of a generator": "g = (x for x in [1])\ng.gi_frame.f_locals['authorized_imports'].append('*')",
    "the code of a generator": "(x for x in [1]).gi_code",
    "a generator's yield": "def g():\n    yield 1\ng().gi_frame.f_back.f_globals",
    "the frame of a coroutine": "async def c():\n    pass\nc().cr_frame.f_back.f_globals",
    "the code of a coroutine": "async def c():\n    pass\nc().cr_code.replace(co_consts=())",
    "an awaited frame": "async def c():\n    pass\nx = c()\nx.cr_await.cr_frame",
    "an asynchronous generator": "async def g():\n    yield 1\ng().ag_frame",
    "a traceback": "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_back.f_globals",
    "a traceback by a method": "try:\n    1 / 0\nexcept Exception as e:\n    e.with_traceback(None).__traceback__.tb_next",
    "the context of an error": "try:\n    1 / 0\nexcept Exception as e:\n    e.__context__.__traceback__.tb_frame",
    "sys._getframe": "import sys\nsys._getframe(1).f_globals",
    "sys._current_frames": "import sys\nsys._current_frames()",
    "sys.exc_info": "import sys\nsys.exc_info()[2].tb_frame",
    "sys.settrace": "import sys\nsys.settrace(lambda *a: None)",
    "inspect": "import inspect\ninspect.stack()",
    "traceback": "import traceback\ntraceback.extract_stack()",
    "gc": "import gc\ngc.get_objects()",
    "the globals of a function": "def f():\n    pass\nf.__globals__['__builtins__']",
    "the code of a function": "def f():\n    pass\nf.__code__ = f.__code__.replace(co_code=b'')",
    "the closure of a function": "def f(a):\n    return lambda: a\nf(1).__closure__[0].cell_contents",
    "the globals of a tool": "pay.__globals__",
    "the closure of a tool": "pay.__closure__",
    "what a tool is of": "pay.__self__.__class__",
    "what a tool wraps": "pay.__wrapped__",
    "the module of a tool": "pay.__module__.__dict__",
}
CLASSES = {
    "__subclasses__": "().__class__.__base__.__subclasses__()",
    "__bases__": "''.__class__.__bases__[0].__subclasses__()",
    "__mro__": "type(()).__mro__[1].__subclasses__()",
    "mro()": "int.mro()[-1].__subclasses__()",
    "getattr": "getattr((), '__cl' + 'ass__')",
    "a format": "'{0.__class__.__base__}'.format(())",
    "a format of a map": "'{a.__init__.__globals__}'.format_map({'a': pay})",
    "an f-string": "f'{().__class__.__base__!r}'",
    "object": "object.__subclasses__()",
    "type": "type('X', (object,), {'__init__': pay}).__subclasses__()",
    "a metaclass": "class M(type):\n    def __call__(cls):\n        return 1",
    "a derived class": "class S(str):\n    pass",
    "__reduce_ex__": "(1).__reduce_ex__(2)",
    "__getattribute__": "object.__getattribute__((), '__class__')",
    "__init_subclass__": "class A:\n    def __init_subclass__(cls):\n        pass\nclass B(A):\n    pass",
    "__class_getitem__": "list[int].__origin__.__subclasses__()",
    "__class__ assigned": "class A:\n    pass\na = A()\na.__class__ = int\na.__class__.__base__",
    "__dict__": "class A:\n    pass\nA.__dict__['__module__'].x",
    "__set_name__": "class D:\n    def __set_name__(self, *a):\n        pass\nclass A:\n    d = D()\nA.d.__class__.__base__",
    "methodcaller": "import operator\noperator.attrgetter('__class__.__base__')(())",
    "pattern matching": "match ():\n    case object(__class__=c):\n        pass\nc.__base__",
    "an exception group": "try:\n    1 / 0\nexcept* Exception as e:\n    e.__class__",
    "an instance as a key": "class A:\n    pass\n{A(): 1}",
    "an instance as a key of an argument": "class A:\n    pass\npay({(A(),): 1})",
    "an instance in a set": "class A:\n    pass\nfinal_answer({A()})",
    "an instance as a key of a series": "class A:\n    pass\nimport statistics\nstatistics.mean({A(): 1})",
    "the type of a tool": "type(pay).__base__.__subclasses__()",
}
IMPORTS = {
    "__import__": "__import__('os').system('id')",
    "__builtins__": "__builtins__['__import__']('os')",
    "__loader__": "__loader__.load_module('os')",
    "__spec__": "__spec__.loader",
    "builtins": "import builtins\nbuiltins.open",
    "importlib": "import importlib\nimportlib.import_module('subprocess')",
    "an import hook": "import sys\nsys.meta_path.insert(0, pay)",
    "a path hook": "import sys\nsys.path_hooks.append(pay)",
    "sys.modules": "import sys\nsys.modules['os']",
    "sys.path": "import sys\nsys.path.append('/tmp')",
    "ctypes": "import ctypes\nctypes.CDLL(None).system(b'id')",
    "pickle": "import pickle\npickle.loads(b\"cos\\nsystem\\n(S'id'\\ntR.\")",
    "marshal": "import marshal\nmarshal.loads(b'')",
    "code": "import code\ncode.interact()",
    "a module of ours": "from instrc.runtime.sandbox import execution",
    "a relative import": "from . import execution",
    "the module under a module": "import random\nrandom._os.system('id')",
    "a module in collections": "import collections\ncollections.sys.modules",
    "a module in statistics": "import statistics\nstatistics.sys.modules",
    "a private member of statistics": "import statistics\nstatistics.__loader__",
    "the frames of statistics": "import statistics\nstatistics.mean.__globals__",
    "a codec": "import codecs\ncodecs.open('/etc/passwd').read()",
    "a declared encoding": "# -*- coding: utf-7 -*-\n+AG8AcwAuAHMAeQBzAHQAZQBt-('id')",
    "unicode names": "ｏｓ.ｓｙｓｔｅｍ('id')",
    "eval of an import": "eval(\"__import__('os').system('id')\")",
    "exec of an import": "exec(\"import subprocess\\nsubprocess.run(['id'])\")",
    "compile": "eval(compile(\"__import__('os')\", 'x', 'eval'))",
    "a null byte": "eval('1\\x00; import os')",
    "a decorator": "@__import__\ndef os():\n    pass",
    "a decorator of eval": "@eval\n@'__import__(chr(111)+chr(115))'.format\ndef f():\n    pass",
    "breakpoint": "breakpoint()",
    "help": "help()",
    "input": "input()",
}
OUTSIDE = {
    "a file": "open('/etc/passwd').read()",
    "a file written": "open('/tmp/instrc-escaped', 'w').write('x')",
    "a file by a path": "import pathlib\npathlib.Path('/etc/passwd').read_text()",
    "a file written by a path": "import pathlib\npathlib.Path('/tmp/instrc-escaped').write_text('x')",
    "a file above": "open('../../../../etc/passwd').read()",
    "a link": "import os\nos.symlink('/etc/passwd', 'x')",
    "a folder": "import os\nos.listdir('/')",
    "a folder by a path": "import pathlib\nlist(pathlib.Path('/').iterdir())",
    "the environment": "import os\nos.environ['INSTRC_SECRET']",
    "getenv": "import os\nos.getenv('INSTRC_SECRET')",
    "the environment of the parent": "import os\nopen(f'/proc/{os.getppid()}/environ').read()",
    "the memory of the process": "open('/proc/self/mem', 'rb').read()",
    "dir_fd": "import os\nos.open('passwd', 0, dir_fd=os.open('/etc', 0))",
    "fork_exec": "import _posixsubprocess\n_posixsubprocess.fork_exec()",
    "a descriptor": 'open(3, \'wb\').write(b\'{"call": "pay", "named": {"amount": 1000}}\')',
    "a descriptor by os": 'import os\nos.write(3, b\'{"call": "pay"}\')',
    "a descriptor closed": "import os\nos.closerange(0, 64)",
    "standard output": "import sys\nsys.stdout.buffer.write(b'\\x00\\x01')",
    "standard input": "import sys\nsys.stdin.read()",
    "a fork": "import os\nos.fork()",
    "a shell": "import os\nos.system('id')",
    "exec of a program": "import os\nos.execv('/bin/sh', ['sh'])",
    "the end of the process": "import os\nos._exit(0)",
    "a signal": "import os\nos.kill(os.getppid(), 9)",
    "a socket": "import socket\nsocket.create_connection(('127.0.0.1', 80))",
    "a connection of asyncio": "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', 80))",
    "a process of asyncio": "import asyncio\nasyncio.run(asyncio.create_subprocess_shell('id'))",
    "an address": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')",
    "a thread": "import threading\nthreading.Thread(target=pay).start()",
    "mmap": "import mmap\nmmap.mmap(-1, 10)",
}
_SHARED = "a = [0]\nfor i in range(60):\n    a = [a, a]\n"
BOMBS = {
    "an endless loop": "while True:\n    pass",
    "an endless loop that catches all": "while True:\n    try:\n        x = 1\n    except BaseException:\n        pass",
    "an endless search for a name": "while True:\n    try:\n        nothing\n    except NameError:\n        pass",
    "an endless import": "while True:\n    try:\n        import socket\n    except ImportError:\n        pass",
    "endless wrong calls": f"{_SHARED}while True:\n    try:\n        pay(a)\n    except Exception:\n        pass",
    "endless statistics": "import statistics\nn = [i / 7 for i in range(50_000)]\nwhile True:\n    statistics.stdev(n)",
    "endless print": "while True:\n    print('x' * 10_000)",
    "a power": "10 ** 10 ** 10",
    "a product": "x = 10 ** 10 ** 6\nwhile True:\n    x = x * x",
    "digits": "str(10 ** 1_000_000)",
    "a shift": "1 << 10 ** 12",
    "a text": "'a' * 10 ** 10",
    "a list": "[0] * 10 ** 10",
    "a list that grows": "x = [0]\nwhile True:\n    x = x + x",
    "bytes": "bytes(10 ** 10)",
    "a range as a list": "list(range(10 ** 10))",
    "a format of width": "f'{1:>{10 ** 10}}'",
    "a pattern": "import re\nre.match(r'(?=(a+))\\1*b|(a|aa)+$', 'a' * 60 + 'c')\n1 / 0",
    "a replacement": "('a' * 10_000).replace('a', 'b' * 10 ** 7)",
    "a join": "('x' * 10 ** 6).join(['y'] * 10 ** 6)",
    "a product of itertools": "import itertools\nlist(itertools.product(range(1000), repeat=4))",
    "permutations": "import itertools\nsum(1 for _ in itertools.permutations(range(13)))",
    "a deep recursion": "def f(n):\n    return f(n + 1)\nf(0)",
    "a recursion of methods": "class A:\n    def __eq__(self, other):\n        return self == other\nA() == A()",
    "a recursion of repr": "class A:\n    def __repr__(self):\n        return repr(self)\nrepr(A())",
    "nested brackets": "(" * 100_000,
    "nested signs": "-" * 200_000 + "1",
    "nested members": "a" + ".b" * 100_000,
    "nested JSON": "import json\njson.loads('[' * 100_000)",
    "shared parts as the value": f"{_SHARED}a",
    "shared parts as the answer": "a = [0]\nfor i in range(60):\n    a = {'x': a, 'y': a}\nfinal_answer(a)",
    "shared parts in a class": "class A:\n    pass\na = 0\nfor i in range(60):\n    b = A()\n    b.x = [a, a]\n    a = b\na",
    "shared parts printed": f"{_SHARED}print(a)",
    "a deep value": "a = []\nfor i in range(100_000):\n    a = [a]\na",
    "a large integer as the value": "2 ** 200_000",
    "a large integer as the answer": "final_answer(2 ** 200_000)",
    "a large integer as an argument": "pay(2 ** 200_000)",
    "large integers as the value": "[10 ** 4000] * 190_000",
    "large integers as the answer": "final_answer([10 ** 4000] * 190_000)",
    "large integers as an argument": "pay([10 ** 900] * 190_000)",
    "long sums of statistics": "import statistics\nstatistics.mean([10 ** 400_000] * 1000)",
    "many series of statistics": "import statistics\nstatistics.mean(*[[1.5] * 100_000] * 2)",
    "a long error": "raise ValueError('x' * 10_000_000)",
    "sleep": "import time\nfor i in range(10):\n    time.sleep(10 ** 6)\n1 / 0",
    "a sleep of asyncio": "import asyncio\nasyncio.run(asyncio.sleep(10 ** 6))\n1 / 0",
    "the end of Python": "raise SystemExit",
    "an interruption": "raise KeyboardInterrupt",
}
FORGED = {
    "too much": "pay(1000)",
    "too much by name": "pay(amount=1000)",
    "a truth for a number": "pay(True)",
    "a text for a number": "pay('1')",
    "a number that is small": "class N:\n    def __le__(self, other):\n        return True\npay(N())",
    "another argument": "pay(amount=1, account='mine')",
    "two values": "pay(1, amount=1000)",
    "a star": "pay(*[1, 2])",
    "two stars": "pay(**{'amount': 1000})",
    "a tool of another name": "send(1)",
    "a tool by eval": "eval('pay(1000)')",
    "a tool by a partial": "import functools\nfunctools.partial(pay, 1000)()",
    "a tool by a map": "list(map(pay, [1000]))",
    "a tool as a key": "sorted([1, 2], key=pay)",
    "a tool as a decorator": "@pay\ndef f():\n    pass",
    "a tool awaited": "import asyncio\nasync def f():\n    await pay(1000)\nasyncio.run(f())",
    "two keys that are one text": "final_answer({1: 'a', '1': 'b'})",
    "an operation of the host": "globals()['Path.read_text']('/etc/passwd')",
}


def processor_seconds() -> float:
    """Return the seconds of the processor that this process and its children have used: other load does not count."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            _state, parent, *numbers = place.read_text().rpartition(")")[2].split()
            ticks += int(numbers[9]) + int(numbers[10]) if int(parent) == os.getpid() else 0
    return time.process_time() + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def held(code: str, limits: RoundLimits = LIMITS) -> str:
    """Run code; it fails, nothing is called, and what was known before is known after."""
    calls: list[object] = []
    sandbox = Sandbox({"pay": PAY}, limits)
    assert sandbox.run("kept = 41").kind is None
    before = processor_seconds()
    seen = sandbox.run(code, pay=lambda **named: calls.append(named))
    assert processor_seconds() - before < 10  # it ends at a limit, and is ended then
    assert seen.kind in {"error", "time", "memory", "ended"}, seen
    assert seen.message
    assert SECRET not in str(seen.to_json())
    assert calls == []
    assert sandbox.run("kept + 1").value == 42
    return seen.message


@pytest.fixture(autouse=True)
def _a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSTRC_SECRET", SECRET)


@pytest.mark.parametrize("code", FRAMES.values(), ids=FRAMES)
def test_no_frame_is_reached(code: str) -> None:
    held(code)


@pytest.mark.parametrize("code", CLASSES.values(), ids=CLASSES)
def test_no_class_of_python_is_reached(code: str) -> None:
    held(code)


@pytest.mark.parametrize("code", IMPORTS.values(), ids=IMPORTS)
def test_no_module_outside_is_imported(code: str) -> None:
    held(code)


@pytest.mark.parametrize("code", OUTSIDE.values(), ids=OUTSIDE)
def test_nothing_outside_is_reached(code: str) -> None:
    held(code)
    assert not Path("/tmp/instrc-escaped").exists()  # noqa: S108  -- what the code wants to write


@pytest.mark.parametrize("code", BOMBS.values(), ids=BOMBS)
def test_a_bomb_ends_at_a_limit(code: str) -> None:
    assert len(held(code)) < 60_000


@pytest.mark.parametrize(
    "code",
    [
        f"class {'A' * 40_000}:\n    pass\n[{'A' * 40_000}()] * 2_000",
        f"from collections import namedtuple\n[namedtuple('P', ['{'f' * 40_000}'])(1)] * 2_000",
        "['\\x01' * 16_000_000]",
        "frozenset(['\\x01' * 16_000_000])",
        "[ValueError('\\x01' * 16_000_000)]",
        "[b'\\x00' * 4_000_000]",
    ],
    ids=["a class", "a field", "a text", "a set", "an exception", "bytes"],
)
def test_the_text_of_a_value_is_never_written_as_a_whole(code: str) -> None:
    """Each instance has the name of its class, and one character may be written as ten."""
    sandbox = Sandbox({}, LIMITS)
    sandbox.run("1")
    tracemalloc.start()
    try:
        seen = sandbox.run(code)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen.kind is None
    assert len(seen.text) < 21_000
    assert most < 60_000_000


@pytest.mark.parametrize("code", FORGED.values(), ids=FORGED)
def test_no_call_of_a_tool_is_forged(code: str) -> None:
    held(code)


@pytest.mark.parametrize(
    "schema",
    [
        {"if": {"properties": {"amount": {"minimum": 100}}}, "then": {"required": ["reason"]}},
        {"oneOf": [{"required": ["to"]}, {"required": ["reason"]}]},
        {"dependentRequired": {"amount": ["to"]}},
        {"allOf": [{"properties": {"amount": {"maximum": 10}}}]},
        {"not": {"required": ["amount"]}},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_arguments_are_held_against_the_whole_schema_of_a_tool(schema: dict[str, Json]) -> None:
    properties: Json = {"amount": {"type": "integer"}, "to": {"type": "string"}, "reason": {"type": "string"}}
    runs = CodeRuns({"pay": {"type": "object", "properties": properties, **schema}}, LIMITS)
    step = runs.step("run", (), "pay(1000)")
    assert isinstance(step, Observation)
    assert "pay() got a wrong argument" in str(step.message)


def test_arguments_are_held_against_a_schema_that_is_elsewhere() -> None:
    runs = CodeRuns({"pay": {"$ref": "#/$defs/Pay", "$defs": {"Pay": PAY}}}, LIMITS)
    assert "greater than the maximum of 10" in str(runs.step("run", (), "pay(amount=1000)"))
    assert runs.step("run", (), "pay(amount=10)") == ToolCall("pay", (), {"amount": 10})


def test_nothing_is_called_after_the_answer() -> None:
    calls: list[object] = []
    code = "while True:\n    try:\n        final_answer(1)\n    except BaseException:\n        pay(1)"
    seen = Sandbox({"pay": PAY}, LIMITS).run(code, pay=calls.append)
    assert (seen.final, seen.value, calls) == (True, 1, [])


def test_there_are_a_hundred_escapes() -> None:
    assert (
        len({*FRAMES.values(), *CLASSES.values(), *IMPORTS.values(), *OUTSIDE.values(), *BOMBS.values(), *FORGED.values()}) > 150
    )


CODE = "total = 0\nfor i in range(4):\n    total += pay(i)\n    print(i)\ntotal"
LONG = "print('x' * 90_000)\npay(1)\nprint('y' * 90_000)\npay(2)\nprint('z')"


def test_code_goes_on_in_another_process_and_repeats_no_recorded_call() -> None:
    """The process is gone between any two calls: each step knows nothing but the record."""
    earlier = (Round("kept = pay(5)", (AnsweredCall(ToolCall("pay", (), {"amount": 5}), ToolResult(50)),)),)
    calls: list[AnsweredCall] = []
    while isinstance(step := CodeRuns({"pay": PAY}, LIMITS).step("run", earlier, CODE, calls), ToolCall):
        calls.append(AnsweredCall(step, ToolResult(step.named["amount"] * 10)))
    assert [recorded.call.named["amount"] for recorded in calls] == [0, 1, 2, 3]
    assert (step.value, step.logs) == (60, "0\n1\n2\n3\n")


@pytest.mark.parametrize("code", [CODE, LONG], ids=["a loop", "long prints"])
def test_a_state_that_is_kept_gives_what_the_record_gives(code: str) -> None:
    kept = CodeRuns({"pay": PAY}, LIMITS)
    calls: list[AnsweredCall] = []
    while isinstance(step := kept.step("run", (), code, calls), ToolCall):
        assert step == CodeRuns({"pay": PAY}, LIMITS).step("run", (), code, calls)
        calls.append(AnsweredCall(step, ToolResult(step.named["amount"])))
    assert step == CodeRuns({"pay": PAY}, LIMITS).step("run", (), code, calls)
    rounds = (Round(code, tuple(calls)),)
    assert kept.step("run", rounds, "pay") == CodeRuns({"pay": PAY}, LIMITS).step("run", rounds, "pay")


def test_code_that_each_call_runs_again_ends_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state over 4 MB is kept, so that a round of a thousand calls would compute a thousand times as long as it may."""

    def called(*given: Any) -> tuple[Any, None, float]:
        step, _kept, _seconds = call_in_process(*given)
        return step, None, 0.3

    monkeypatch.setattr("instrc.runtime.sandbox.sandbox.call_in_process", called)
    runs, calls = CodeRuns({"pay": PAY}, LIMITS), list[AnsweredCall]()
    while isinstance(step := runs.step("run", (), "while True:\n    pay(1)", calls), ToolCall):
        calls.append(AnsweredCall(step, ToolResult(1)))
    assert (step.kind, len(calls)) == ("time", 4)
    assert isinstance(runs.step("run", (), "pay(1)"), ToolCall)  # the next round has time of its own


def test_small_states_of_many_agents_do_not_displace_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each call runs the code again, which then ends at the limit for large states."""
    begun: list[bool] = []

    def called(*given: Any) -> tuple[Any, Any, float]:
        begun.append(given[-1] is None)
        return call_in_process(*given)

    monkeypatch.setattr("instrc.runtime.sandbox.sandbox.call_in_process", called)
    runs, call = CodeRuns({"pay": PAY}, LIMITS), AnsweredCall(ToolCall("pay", (), {"amount": 1}), ToolResult(1))
    for calls in ((), (call,)):
        for agent in range(40):
            step = runs.step(f"run {agent}", (), "pay(1)\npay(2)", calls)
            assert isinstance(step, ToolCall)
    assert begun == [True] * 40 + [False] * 40


def test_at_most_so_many_bytes_of_states_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = CodeRuns({"pay": PAY}, LIMITS)
    for agent in range(4):
        runs.step(f"run {agent}", (), "text = 'x' * 4_000\npay(1)")
        [*_, state] = runs._states.values()
        monkeypatch.setattr("instrc.runtime.sandbox.sandbox._KEPT_BYTES", len(state.dump) * 5 // 2)
    assert [*runs._states] == ["run 2", "run 3"]  # it has no other effect than time


def test_code_that_calls_something_else_when_it_runs_again_is_lost() -> None:
    recorded = AnsweredCall(ToolCall("pay", (), {"amount": 7}), ToolResult(1))
    step = CodeRuns({"pay": PAY}, LIMITS).step("run", (), CODE, [recorded])
    assert isinstance(step, Observation)
    assert step.kind == "lost"
    assert "now calls pay(amount=0), where it called pay(amount=7)" in str(step.message)


def test_a_call_that_a_message_names_is_never_written_as_a_whole() -> None:
    given: list[Json] = ["\U000e0001" * 100_000] * 160
    tracemalloc.start()
    text = str(ToolCall("pay", (1, given), {"to": given, "amount": 7}))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text.startswith(r"pay(1, ['\U000e0001")
    assert text.endswith("amount=7)")
    assert len(text) < 3_000
    assert most < 5_000_000


TASKS = Path("/proc/self/task")


def _workers(parent: str = "self") -> list[int]:
    """Return the workers below a process: each is a child of a process that runs steps."""
    threads = Path(f"/proc/{parent}/task").glob("*/children")
    children = [child for each in threads for child in each.read_text("ascii").split()]
    own = [int(child) for child in children if "monty" in Path(f"/proc/{child}/cmdline").read_text("utf-8")]
    return own + [worker for child in children for worker in _workers(child)]


@pytest.mark.skipif(not any(TASKS.glob("*/children")), reason="workers are found by /proc")
def test_the_death_of_a_worker_is_an_observation() -> None:
    sandbox = Sandbox(["pay"], RoundLimits(seconds=20))
    sandbox.run("kept = pay(1)", pay=lambda amount: amount)
    timer = Timer(0.5, lambda: [os.kill(worker, signal.SIGKILL) for worker in _workers()])
    timer.start()
    seen = sandbox.run("while True:\n    pass")
    timer.join()
    assert (seen.kind, seen.message) == ("ended", "the worker that runs the code has ended")
    assert sandbox.run("kept").value == 1


@pytest.mark.skipif(not TASKS.exists(), reason="workers are looked at by /proc")
def test_a_worker_has_no_environment_and_no_file_of_ours(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w"), worker_session(LIMITS) as session:
        session.feed_run("1")
        worker = Path(f"/proc/{session.worker_pid}")
        assert (worker / "environ").read_bytes() == b""
        assert str(tmp_path / "secret") not in [str(link.readlink()) for link in (worker / "fd").iterdir()]


def test_the_depth_of_recursion_is_a_limit() -> None:
    code = "def f(n):\n    return n and f(n - 1)\nf(60)"
    assert Sandbox([], RoundLimits(recursion=100)).run(code).value == 0
    assert "RecursionError" in str(Sandbox([], RoundLimits(recursion=50)).run(code).message)


def test_agents_do_not_meet() -> None:
    runs = CodeRuns([], LIMITS)
    assert isinstance(mine := runs.step("one", (), "secret = 1\nimport math\nmath.mine = 2"), Observation)
    assert isinstance(other := runs.step("two", (), "secret"), Observation)
    assert mine.kind in {None, "error"}
    assert "name 'secret' is not defined" in str(other.message)


HIDDEN = "x = (0,)\nfor i in range(40):\n    x = (x, x)\n"


@pytest.mark.long  # it waits for the time of a round, and for that of reading
@pytest.mark.parametrize("use", ["{x: 1}", "{x}", "search({x: 1})", "final_answer(frozenset([x]))"])
def test_a_value_that_takes_for_ever_to_read_is_an_observation(use: str) -> None:
    """The worker knows the hash of each tuple; where the value is read, the hash of 40 levels takes a day, in one call of C."""
    sandbox = Sandbox({"search": {"properties": {"q": {}}}}, RoundLimits(seconds=0.5))
    sandbox.run("kept = 1")
    seen = sandbox.run(HIDDEN + use)
    assert (seen.kind, seen.message) == ("time", "the code ran longer than 0.5 seconds")
    assert sandbox.run("kept").value == 1


def _processes() -> list[int]:
    """Return the processes that run steps."""
    children = [child for each in TASKS.glob("*/children") for child in each.read_text("ascii").split()]
    return [int(child) for child in children if "sandbox.processes" in Path(f"/proc/{child}/cmdline").read_text("utf-8")]


@pytest.mark.skipif(not any(TASKS.glob("*/children")), reason="processes are found by /proc")
def test_a_process_that_has_died_at_rest_is_replaced() -> None:
    sandbox = Sandbox([])
    assert sandbox.run("kept = 1").kind is None
    for process in _processes():
        os.kill(process, signal.SIGKILL)
    time.sleep(0.2)  # until the system has ended it
    assert sandbox.run("kept + 1").value == 2
    end_processes()
    assert _processes() == []


def test_many_agents_of_many_threads_get_their_own_results() -> None:
    runs = CodeRuns(["pay"], LIMITS)
    with ThreadPoolExecutor(20) as threads:
        seen = list(threads.map(lambda number: runs.step(str(number), (), f"{number} * {number}"), range(40)))
    assert [each.value for each in seen if isinstance(each, Observation)] == [number * number for number in range(40)]


def test_an_error_of_the_process_itself_is_not_taken_for_a_late_step() -> None:
    with pytest.raises(ProcessEndedError) as ended:
        call_in_process(json.loads, "{")
    assert not ended.value.is_late
    assert call_in_process(json.loads, "[1]") == [1]


@pytest.mark.skipif(not any(TASKS.glob("*/children")), reason="processes are found by /proc")
def test_a_process_that_runs_steps_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "sk-0123456789abcdef")
    end_processes()
    Sandbox([]).run("1")
    assert (running := _processes())
    assert not any(b"sk-0123456789abcdef" in Path(f"/proc/{each}/environ").read_bytes() for each in running)
