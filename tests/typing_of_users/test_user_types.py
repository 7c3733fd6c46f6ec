"""What type checkers see of a small project that uses the package: literals, and no `Any` where a type can be said."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import pytest

RIGHT = """
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypedDict, assert_type

import instrc
from instrc.providers.lifting.lift import Lifted
from pydantic import BaseModel, TypeAdapter


class Reply(BaseModel):
    text: str


class PartialReply(BaseModel):
    text: str | None = None


class ToolParam(TypedDict):
    name: str


def send(tools: list[ToolParam]) -> None:
    print(tools)  # each library of a provider has types of its own for what it is sent


documents = instrc.compile("Reply", vibes={"Reply": Reply}, emit="tool")
fitted = [instrc.lower(document, "openai", document_name) for document, document_name in zip(documents, ("reply",), strict=True)]
fitted += [instrc.lower(Reply, dialect) for dialect in instrc.targets().values()]
lowered = instrc.lower(Reply, target="anthropic-strict", envelope="openai")
send([lowered.payload])
sent = instrc.encode(Reply(text="Yes."), lowered)
assert_type(instrc.verify(lowered).accepted, bool)
assert_type(lowered, instrc.Lowering)
several = instrc.lower_all([("one", Reply)], target="gemini")
assert_type(several, instrc.LoweredTools)
send(several.payload)
lifted = instrc.lift({"text": "Yes."}, lowered)
assert_type(lifted, Lifted)
assert_type(lifted.as_model(Reply), Reply)
assert_type(lifted.call.as_model(Reply), Reply)
assert_type(lifted.ok, bool)
assert_type(lifted.text, str | None)
assert_type(instrc.types("reply.aug"), str)
assert_type(instrc.check("."), tuple[instrc.Problem, ...])
assert_type(instrc.artefacts("reply.aug"), tuple[instrc.Artefact, ...])
assert_type([problem.message for problem in instrc.check(".")], list[str])


def look_up(word: str, times: int = 1) -> list[str]:
    return [word] * times


class Question(BaseModel):
    asks: str


class Served(BaseModel):
    # as libraries keep a tool: `mcp.types.Tool`
    name: str
    inputSchema: dict[str, object]


fitted += [instrc.lower(Reply | Question, target) for target in instrc.targets()]
fitted += [instrc.lower(TypeAdapter(Reply)), instrc.lower(Served(name="a", inputSchema={})), instrc.lower(look_up)]
assert_type(lifted.as_model(TypeAdapter[Reply | Question](Reply | Question)), Reply | Question)
assert_type(lifted.call.as_model(TypeAdapter(Reply)), Reply)
assert_type(lifted.as_model(Reply | Question), object)
schema = {"type": "object", "properties": {"text": {"type": "string"}}}
instrc.flatten(Reply | Question)
instrc.lower_all([instrc.Tool("reply", Reply, priority=1), instrc.Tool("look_up", look_up, strict=False)])
for described in (Reply, ToolParam, look_up, Reply.model_json_schema()):
    instrc.flatten(described)
    instrc.strip(described, {"all"})
    instrc.split({"text": "Yes."}, described)
    assert_type(instrc.subsumes(described, schema).verdict, Literal["yes", "no", "unknown"])
assert_type(instrc.flatten(Reply, trace=True), instrc.Flat)
assert not instrc.check_plan([], [look_up, Reply])
assert not instrc.check_plan([], {"look_up": look_up})
instrc.compile("LookUp_Activity(word: prompt)", vibes={"LookUp_Activity": look_up})


@instrc.instruction(name="Approve_User")
class Approve(BaseModel):
    decision: Literal["Approve", "Reject"]


@dataclass
class Order:
    item: str
    due: date


@instrc.instruction(name="Send_Activity")
def send_reply(text: str) -> list[str]:
    return [text]


assert_type(Approve(decision="Reject").decision, Literal["Approve", "Reject"])
assert_type(send_reply("a"), list[str])
script = instrc.Scripted({"reply": Reply(text="Yes."), "order": [Order("cake", date(2026, 1, 1))]})
order = Order("cake", date(2026, 1, 1))
given: dict[str, list[date]] = {"prompt": [date(2026, 1, 1)]}
for asked in (order, given, Reply(text="Yes."), "a text", {"prompt": order, "days": [date(2026, 1, 1)]}):
    run = instrc.run("Approve_User(Reply(prompt))", asked, vibes=[Reply, Approve, send_reply], activities=[send_reply])
    run.answer("approve", Approve(decision="Approve"))
assert_type(instrc.run("Reply", as_=Approve).value, Approve)
assert_type(instrc.run("Reply", as_=list[str]).value, list[str])
assert_type(instrc.run("Reply", as_=TypeAdapter[Reply | Approve](Reply | Approve)).value, Reply | Approve)
assert_type(instrc.find_run("friday", as_=Reply).answer("approve", order), instrc.Run[Reply])
assert_type(instrc.find_run("friday", as_=Reply).fork("draft").retry().value, Reply)
untyped: int | str | float | bool | list[Any] | dict[str, Any] | None = run.value
assert_type(run.output_as(TypeAdapter(dict[str, Reply])), dict[str, Reply])
assert_type(run.step("draft", as_=Reply), Reply)
assert_type(run.step("draft", as_=list[Reply]), list[Reply])
assert_type(run.answer("approve", Approve(decision="Approve")), instrc.Run)
run.answer("order", order)
run.answer("approve", {"decision": "Approve"})
run.step("draft")
instrc.run("Reply", model=script)


async def work() -> None:
    async with instrc.App(model="openai:gpt-5", vibes=[Reply, Approve], engine="durable", store="runs") as app:
        run = await app.run("Reply", order, id="friday")
        assert_type(run, instrc.Run)
        typed = await app.run("Reply", order, as_=Reply)
        assert_type(typed, instrc.Run[Reply])
        assert_type((await typed.answer_async("approve", order)).value.text, str)
        assert_type((await app.find("friday", as_=Reply)).value, Reply)
        stream = app.stream("Reply", "a text", as_=Reply)
        async for growing in stream.values(PartialReply, "reply"):
            assert_type(growing.text, str | None)
        assert_type(stream.run.value, Reply)
        async for part in app.stream("Reply", "a text"):
            assert_type(part, instrc.AnswerPart)
        async for item in app.map("Reply", ["a", {"prompt": "b"}], concurrency=20, rate=5, progress=print):
            assert_type(item, instrc.ItemResult)
            assert_type(item.run, instrc.Run | None)
        async for answered in app.map("Reply", ["a"], as_=Reply):
            assert_type(answered.value, Reply)
        async for reply in app.stream("Reply", "a text").values(Reply):
            assert_type(reply, Reply)
        assert_type(await app.find("friday", model="openai:gpt-5"), instrc.Run)
        assert_type(await app.runs(status="held"), list[instrc.Run])
        results: instrc.EvaluationResult = await app.evaluate("Reply", [{"input": "a"}])
        assert_type(results.scores(), dict[str, float])
        comparison = (await app.evaluate("Reply", [{"input": "a"}], against="main")).comparison
        assert_type(None if comparison is None else comparison.overall.shown, bool | None)
    async for part in instrc.stream("Reply", "a text"):
        assert_type(part.complete, tuple[str, ...])
"""

WRONG = [  # with what the messages of both checkers contain
    ('instrc.lower({}, target="opnai")', "opnai"),
    ('instrc.lower({}, envelope="opnai")', "opnai"),
    ('instrc.lower_all([], target="opnai")', "opnai"),
    ('instrc.compile("A", emit="schema")', "schema"),
    ('instrc.compile("A", naming="snake")', "snake"),
    ("instrc.compile(3)", "int|3"),
    ('instrc.run("A", engine="durabel")', "durabel"),
    ('instrc.run("A", rehearse="all")', "all"),
    ('instrc.run("A", len)', "Sized"),
    ("instrc.run('A').answer('a', len)", "Sized"),
    ("instrc.find_run('a', engine='durabel')", "durabel"),
    ("instrc.App(engine='durabel')", "durabel"),
    ("instrc.App(model=3)", "int|3"),
    ("instrc.App().run(3)", "int|3"),
    ("instrc.App().runs(status='helt')", "helt"),
    ("instrc.App().stream('A').values(3)", "int|3"),
    ("instrc.run('A', as_=3)", "int|3"),
    ("instrc.run('A', as_=date).value.txet", "txet"),
    ("typed: instrc.Run[str] = instrc.find_run('a', as_=date)", "date"),
    ("text: str = instrc.run('A').value", "str"),
    ("instrc.run('A', budget='2 USD')", "budget"),
]


WRONG_LINES = "".join(f"{line}\n" for line in ("import instrc", "from datetime import date", *(line for line, _ in WRONG)))
"""The wrong lines begin in line 3."""
README = Path(__file__).parents[2] / "README.md"
FRAMEWORKS = README.parent / "examples" / "frameworks" / "README.md"


def pieces(page: Path) -> list[tuple[str, str]]:
    """Return the Python of a page, each piece with the library that it is for."""
    return re.findall(r"^```py(?:thon)?(?: ([\w.]+))?\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, piece in files.items():
        (folder / name).write_text(piece, encoding="utf-8")


def mypy(folder: Path, text: str, others: Mapping[str, str] = MappingProxyType({})) -> tuple[int, str]:
    files = {"user.py": f"import instrc\n{text}\n", **others}
    write(folder, files)
    options = ["--strict", "--cache-dir", str(folder.parent / "types"), "--follow-imports", "silent"]  # one cache for all tests
    command = [sys.executable, "-m", "mypy", *options, *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.long
def test_a_right_project_passes_and_its_types_are_exact(tmp_path: Path) -> None:
    """So do the pieces of README that need no library of a provider."""
    readme = {f"readme_{number}.py": text for number, (_, text) in enumerate(pieces(README)) if "openai import" not in text}
    assert readme
    assert mypy(tmp_path, RIGHT, readme) == (0, f"Success: no issues found in {len(readme) + 1} source files\n")


@pytest.mark.long
def test_the_lines_for_frameworks_pass_too(tmp_path: Path) -> None:
    """Those of Mistral do not: no type checker takes a list of plain messages for its own, with or without this package.

    `boto3` and smolagents have no types.
    """
    [(_, first), *others] = pieces(FRAMEWORKS)
    tried = [(library, text) for library, text in others if library not in {"", "mistralai", "boto3", "smolagents"}]
    chosen = [f"{first}{text}" for library, text in tried if find_spec(library.split(".")[0])]
    if find_spec("openai"):
        chosen += [text for _, text in pieces(README) if "openai import" in text]
    files = {f"piece_{number}.py": text for number, text in enumerate(chosen)}
    assert mypy(tmp_path, "", files) == (0, f"Success: no issues found in {len(files) + 1} source files\n")


@pytest.mark.long
def test_names_of_targets_and_documents_are_known_to_the_type_checker(tmp_path: Path) -> None:
    code, told = mypy(tmp_path, "", {"wrong.py": WRONG_LINES})
    assert code == 1
    require_each_refused(re.findall(r"^wrong\.py:(\d+): error: (.*)", told, re.MULTILINE))


def require_each_refused(refusals: list[tuple[str, str]]) -> None:
    for number, (line, word) in enumerate(WRONG, start=3):
        assert any(at == str(number) and re.search(word, message) for at, message in refusals), (line, refusals)
    assert {int(at) for at, _ in refusals} == {*range(3, 3 + len(WRONG))}


@pytest.mark.long
def test_pyright_agrees(tmp_path: Path) -> None:
    """Pyright is a program of Node; `pip install pyright` brings it where a network is."""
    pytest.importorskip("pyright")
    config = '{"typeCheckingMode": "strict", "reportUnusedCoroutine": false}'
    write(tmp_path, {"user.py": RIGHT, "wrong.py": WRONG_LINES, "pyrightconfig.json": config})
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "user.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert [item for item in found if item["file"].endswith("user.py")] == []
    require_each_refused([(str(item["range"]["start"]["line"] + 1), item["message"]) for item in found])
