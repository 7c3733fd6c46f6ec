"""Answers of models and of servers that were written by somebody hostile: they cost time by their length, and show no secret."""

from __future__ import annotations

import asyncio
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from applications import run_in_app
from http_server import Answer, serving

import instrc
from instrc.providers.lifting.lift import lift_response
from instrc.providers.lifting.streams import assemble
from instrc.providers.lowering.lower import lower
from instrc.providers.targets import dialect
from instrc.runtime.activities import Activities, Activity, ActivityCall  # one attempt of a call
from instrc.runtime.boundary import received
from instrc.runtime.effects import Effects, attempt_call  # one attempt of a call
from instrc.runtime.interpreter.v1 import blocks  # the limit itself
from instrc.runtime.models.adapters import OpenAI  # an adapter whose server is slow
from instrc.runtime.models.failures import as_model_error, failure_of  # what an error of a provider is told as
from instrc.runtime.models.model import Request, Sample
from instrc.runtime.models.partial import prefix_value  # a partial answer, of any text
from instrc.runtime.models.provider import _lowered  # what is kept
from instrc.runtime.plan import PLAN_CALLS  # the limit itself
from instrc.runtime.served_activities import served
from instrc.schema.validation import _cached, validate  # what is kept
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json
from instrc.tools.plan_check import check_plan, with_unique_ids
from instrc.tools.tool import Tool

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array"}}, "required": ["a"]}
SPACES = " " * 200_000
TEXTS = {
    "spaces in a fence": f"```json\n{SPACES}x",
    "spaces in a value in a fence": f'```json\n{{"a":{SPACES}x',
    "spaces behind a mark": f"[ARGS]{{{SPACES}x",
    "lines behind a word": "json" + "\n" * 200_000 + "x",
    "spaces behind an object": '\n{"a":1}' + " " * 90_000 + "x",
    "spaces behind a name": f"[TOOL_CALLS]a{SPACES}x",
    "quotes without an end": '<|tool_call>call:a{"' + '\\"' * 200_000,
    "calls without a name": "<|tool_call_begin|>" * 40_000,
    "calls without a bracket": "functools[" * 60_000,
    "calls with many brackets": "functools[]x" * 60_000,
    "keys without an end": "<tool_call>a" + "<arg_key>" * 80_000,
    "keys without a value": "<tool_call>a" + "<arg_key>a</arg_key>x" * 40_000,
    "a parameter without an end": "<function=a><parameter=" + "a" * 20_000,
    "parameters without an end": "<function=a>" + "<parameter=a" * 60_000,
    "functions without an end": "<function=" * 60_000,
    "parameters that are repeated": "<function=a>" + "".join(f"<parameter=k{n}></parameter>" * 2 for n in range(12_000)),
    "an escaped quote before many numbers": '{"a":"\\u0022","b":[' + "0," * 200_000 + "0]}",
    "keys that are repeated": '{"name":"answer","arguments":{"b":['
    + ",".join(f'{{"k{n}":1,"k{n}":1}}' for n in range(6_000))
    + "]}}",
}


def _fragment(arguments: str) -> str:
    call = {"index": 0, "function": {"name": "answer", "arguments": arguments}}
    return "data: " + dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}, indent=False) + "\n\n"


def seconds(target: str, answer: Json) -> float:
    """Return the seconds of the processor that reading an answer takes."""
    lowering = lower(Tool("answer", SCHEMA), target=dialect(target))
    begun = process_time()
    lift_response(answer, lowering.map)
    return process_time() - begun


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_reading_an_answer_takes_time_by_its_length(text: str) -> None:
    said: Json = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    assert max(seconds("openai", text), seconds("ollama", said)) < 2


def test_joining_a_stream_takes_time_by_its_length() -> None:
    assert seconds("openai", _fragment('{"a":"' + "x" * 200_000) + _fragment("{") * 1_500) < 1.5


@pytest.mark.parametrize(
    "events",
    [
        [
            {"type": "response.output_item.added", "output_index": n, "item": {"type": "message", "id": f"m{n}"}}
            for n in range(4_000)
        ],
        [
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": f"m{n}"}}
            for n in range(4_000)
        ],
        [{"type": "response.output_text.delta", "item_id": "m", "content_index": n, "delta": ""} for n in range(4_000)],
    ],
    ids=["items", "items at one place", "parts"],
)
def test_a_stream_of_many_items_takes_time_by_its_length(events: list[Any]) -> None:
    begun = process_time()
    answer = assemble(events)
    assert process_time() - begun < 2
    assert answer is not None
    assert len(answer["output"]) == len({event.get("item_id") or event["item"]["id"] for event in events})


def test_an_answer_of_many_parts_takes_time_by_its_length() -> None:
    parts: Json = [{"text": '{"a":"x"}'} for _ in range(12_000)]
    said: Json = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    assert seconds("gemini", said) < 2


@pytest.mark.parametrize("target", ["openai", "anthropic"])
def test_a_list_of_many_alternatives_takes_time_by_its_length(target: str) -> None:
    """Tasks of the last of many tools, wrong ones among them: each repair checks all."""
    arguments = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    tools = [
        {
            "type": "object",
            "properties": {"tool": {"const": f"t{number}"}, "arguments": arguments},
            "required": ["tool", "arguments"],
        }
        for number in range(40)
    ]
    schema = {"type": "object", "properties": {"plan": {"type": "array", "items": {"anyOf": tools}}}, "required": ["plan"]}
    lowering = lower(Tool("answer", schema), target=dialect(target))
    right, wrong = ({"tool": tool, "arguments": {"x": "1"}} for tool in ("t39", "T39 "))
    begun = process_time()
    lifted = lift_response({"name": "answer", "arguments": {"plan": [*[right] * 600, *[wrong] * 200]}}, lowering.map)
    assert process_time() - begun < 2.5
    assert lifted.calls[0].violations


def test_an_object_of_many_unknown_members_takes_time_by_its_length() -> None:
    branches: Json = [{"properties": {f"a{number}": {}}, "additionalProperties": False} for number in range(20)]
    begun = process_time()
    assert "k0" in validate({f"k{number}": 1 for number in range(50_000)}, {"allOf": branches})[0].message
    assert process_time() - begun < 1


@pytest.mark.parametrize(
    ("word", "wanted", "said"),
    [
        ("type", "string", 'is not of type "string"'),
        ("contains", {"const": 1}, "does not contain items matching the given schema"),
        ("maxItems", 0, "is expected to be empty"),
        ("minItems", 3, "is too short"),
        ("not", {"type": "array"}, 'should not be valid under {"type":"array"}'),
        ("uniqueItems", True, "has non-unique elements"),
        ("maxProperties", 0, "is expected to be empty"),
        ("minProperties", 2, "does not have enough properties"),
    ],
)
def test_a_large_value_is_written_into_no_message_of_each_of_its_levels(word: str, wanted: Json, said: str) -> None:
    is_object = word.endswith("Properties")
    value: Json = ["a" * 300_000]
    for _ in range(60):
        value = {"a": value} if is_object else [value, 0, 0] if word == "uniqueItems" else [value]
    part: Json = {word: wanted, "additionalProperties" if is_object else "items": {"$ref": "#/$defs/part"}}
    tracemalloc.start()
    [told] = validate(value, {"$defs": {"part": part}, "$ref": "#/$defs/part"}, most=1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told.message.endswith(said)
    assert most < 8_000_000


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_nested_unions_take_time_by_their_depth(word: str) -> None:
    schema: Json = {"properties": {"a": True}}
    for _ in range(80):
        schema = {word: [schema], "unevaluatedProperties": False}
    begun = process_time()
    assert validate({"a": 1}, schema) == ()
    assert process_time() - begun < 0.5


def test_calls_that_share_an_id_take_time_by_their_number() -> None:
    arguments = [dumps({"a": str(number)}) for number in range(8_000)]
    calls: Json = [{"id": "c", "type": "function", "function": {"name": "answer", "arguments": text}} for text in arguments]
    assert seconds("openai", {"choices": [{"message": {"tool_calls": calls}}]}) < 1.5


def test_the_beginning_of_a_deep_answer_takes_time_by_its_length() -> None:
    begun = process_time()
    assert prefix_value("[" * 400_000) == (None, ())
    assert process_time() - begun < 1


def test_a_plan_takes_time_by_its_length() -> None:
    task: Json = {"properties": {"tool": {}, "id": {}, "arguments": {}}}
    tools: Json = {"find": {"activity": "find", "arguments": {"properties": {"text": {"type": "string"}}}, "output": {}}}
    begun = process_time()
    twice = [{"tool": "find", "id": "a" * 30 + str(number), "arguments": {}} for number in range(4_000) for _ in range(2)]
    assert len(with_unique_ids(twice, {"type": "array", "items": task})[1]) == 4_000
    reads = {"tool": "find", "id": "b", "arguments": {"text": {"from": "a" + ".x" * 200_000}}}
    assert not check_plan([{"tool": "find", "id": "a", "arguments": {}}, reads], tools)
    assert process_time() - begun < 2


def test_a_plan_makes_a_limited_number_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.runtime.plan.PLAN_CALLS", 12)
    schemas: dict[str, Any] = {"Act": {"properties": {"plan": {}}, "required": ["plan"]}}
    for name, output in (("List_Activity", {"type": "array"}), ("Use_Activity", {})):
        schemas[name] = {"properties": {"x": {}, "output": output}, "required": ["output"]}
    listed: Json = {"tool": "List_Activity", "id": "a", "arguments": {"x": 1}}
    copied: list[Json] = [{"tool": "Use_Activity", "id": f"t{number}", "arguments": {"x": {"each": "a"}}} for number in range(4)]
    single: list[Json] = [{"tool": "Use_Activity", "id": f"s{number}", "arguments": {"x": 1}} for number in range(13)]
    model = instrc.Scripted({"act": [{"plan": single}, {"plan": [listed, *copied]}]})
    made: list[Json] = []
    activities = {"List_Activity": lambda _: [1, 2, 3, 4], "Use_Activity": made.append}
    program = "const act = Act(prompt, { plan: Plan(List_Activity, Use_Activity) }); RunPlan_Activity(act.plan)"
    run = run_in_app(program, "go", vibes=schemas, model=model, activities=activities)
    assert PLAN_CALLS <= 1_000  # all begin at once: five times as many took the loop four seconds
    assert "a limit of 12 calls" in model.sent[1].message
    assert [item["status"] for item in run.value] == ["ok", "ok", "ok", "failed", "failed"]
    assert run.value[3]["error"]["kind"] == "limit"
    assert len(made) == 8


@pytest.mark.parametrize(
    ("program", "listed"),
    [
        ("Pick(found, { id: OneOf(found.listed) })", [f"a{number}" for number in range(20_000)]),
        ("each n in found.listed when n is 7 { Use_Activity(n) }", 1_000_000),
        ("each n in found.listed when n is 7 { Use_Activity(n) }", [1] * 500_000),
    ],
    ids=["choices", "a number of elements", "elements"],
)
def test_a_list_of_a_service_takes_time_by_its_length(program: str, listed: Json) -> None:
    schemas: Any = {"Pick": {"properties": {"id": {"type": "string"}}, "required": ["id"]}}
    schemas |= {name: {"properties": {"x": {}, "output": {}}} for name in ("Find_Activity", "Use_Activity")}
    begun = process_time()
    model = instrc.Scripted({"pick": {"id": "a19999"}})
    activities = {"Find_Activity": lambda _: {"listed": listed}, "Use_Activity": lambda x: x}
    run = run_in_app(f"const found = Find_Activity(prompt); {program}", "go", vibes=schemas, model=model, activities=activities)
    assert process_time() - begun < 2.5
    assert run.status == "done" or "a limit of 100000 elements" in run.outcome["error"]["message"]


def looped(program: str) -> Any:
    schemas: Any = {name: {"properties": {"x": {}, "output": {}}} for name in ("Find_Activity", "Use_Activity")}
    activities = {"Find_Activity": lambda _: {"listed": [1] * 40}, "Use_Activity": lambda x: x}
    return run_in_app(f"const found = Find_Activity(prompt); {program}", "go", vibes=schemas, activities=activities)


ROUNDS = "until s @ { minItems: 9 } max 40"
INNER = ROUNDS.replace(" s ", " t ")


@pytest.mark.parametrize(
    "program",
    [
        f"repeat {{ const s = each n in found.listed when n is 7 first 1 {{ Use_Activity(n) }}; s }} {ROUNDS}",
        "each i in 40 { each n in found.listed when n is 7 or n is 8 { Use_Activity(n) } }",
        "each i in 40 { each n in found.listed { when n is 7 { Use_Activity(n) } } }",
        f"repeat {{ const s = repeat {{ const t = when found.x is 7 {{ Use_Activity(found) }}; t }} {INNER}; s }} {ROUNDS}",
    ],
    ids=["selections in rounds", "selections in elements", "elements in elements", "rounds in rounds"],
)
def test_loops_in_loops_without_results_end(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert blocks.LOOKED_AT <= 300_000  # five seconds; a thousand rounds through a list of 99,000 took the worker an hour
    monkeypatch.setattr(blocks, "LOOKED_AT", 1000)
    run = looped(program)
    assert run.outcome["error"]["code"] == "too-many-elements"
    assert "more than 1,000 blocks and elements were evaluated" in run.outcome["error"]["message"]


@pytest.mark.parametrize(("most", "status"), [(34, "waiting"), (33, "failed")])
def test_questions_that_are_open_at_once_are_bounded(most: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer of a run costs something for all that are open: ten thousand of them cost seconds."""
    assert blocks.LOOKED_AT / blocks.ASKED <= 10_000
    monkeypatch.setattr(blocks, "ASKED", 2)
    monkeypatch.setattr(blocks, "LOOKED_AT", most)  # four loops, twelve elements, and nine questions
    schemas: Any = {"Tell_User": {"properties": {"decision": {}}, "required": ["decision"]}}
    run = run_in_app("each i in 3 { each n in 3 { const t = Tell_User({ i, n }); t } }", "go", vibes=schemas)
    assert run.status == status
    if run.outcome is not None:
        assert "of which a question is 2:" in run.outcome["error"]["message"]


def test_a_loop_with_results_may_be_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LOOKED_AT", 100)
    assert (
        looped(f"repeat {{ const s = each n in found.listed when n is 1 first 1 {{ Use_Activity(n) }}; s }} {ROUNDS}").status
        == "done"
    )


def test_a_schema_with_many_choices_is_not_kept_for_later_runs() -> None:
    schema: Json = {"type": "object", "properties": {"id": {"enum": [f"item {number}" for number in range(20_000)]}}}
    kept = _cached.cache_info().currsize, _lowered.cache_info().currsize
    assert validate({"id": "no item"}, schema)
    OpenAI("gpt-5").preview(Request("run/a", "answer", "Read.", schema))
    assert (_cached.cache_info().currsize, _lowered.cache_info().currsize) == kept


def test_a_value_with_a_long_integer_takes_time_by_its_length() -> None:
    begun = process_time()
    assert received([10**30, *[1] * 100_000]) == [10**30, *[1] * 100_000]
    assert process_time() - begun < 2
    value, begun = [10**30, *({} for _ in range(50_000))], process_time()
    assert loads(dumps(value)) == value
    for _ in range(40):  # an answer is written many times
        dumps(value)
    assert process_time() - begun < 2.5


SECRET = "sk-0123456789-abcdefghijklmnop"


def called(table: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Return the result of an activity, and the events of its call."""
    activities, events = Activities(), []
    activities.add("Ask", served("Ask", {**table, "retry": {"attempts": 1}}, Path()))
    command: Any = {"kind": "fire", "id": "c", "activity": "Ask", "step": "ask", "input": {}}
    return asyncio.run(Effects("run", Sample(), activities, events.append).call(command)), events


def test_an_error_that_is_cut_inside_a_secret_shows_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    for length in (270, 290, 295):
        with serving(lambda _, length=length: Answer(b"x" * length + SECRET.encode(), 400)) as url:
            assert SECRET[:4] not in str(called({"url": url}))
    for length in (560, 580, 590):
        assert SECRET[:4] not in str(as_model_error(ValueError("x" * length + SECRET)))
        assert SECRET[:4] not in str(failure_of("x" * length + SECRET, None))


MCP = """
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    given = asked.get("params") or {}
    schema = {"type": "object", "properties": {"n": {"pattern": "^(a+)+$"}}}
    pages = {"nextCursor": given.get("cursor", "") + "x"} if "pages" in sys.argv else {}
    about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}
    known = {
        "initialize": {"protocolVersion": given.get("protocolVersion"), **about},
        "tools/list": {"tools": [{"name": "Ask", "inputSchema": {"type": "object"}, "outputSchema": schema}], **pages},
        "tools/call": {"content": [], "structuredContent": {"n": "a" * 50 + "!"}},
    }
    if "tools" in sys.argv:
        known["tools/list"]["tools"] *= 5001
    if "blocks" in sys.argv:
        known["tools/call"]["content"] = [{"type": "text", "text": "a"}] * 5001
    said = {"type": "text", "text": "a", "annotations": {"audience": [0] * 5000}}
    if "a block" in sys.argv:
        known["tools/call"]["content"] = [said]
    if "the server" in sys.argv:
        known["initialize"]["serverInfo"]["icons"] = [{"src": "a", "sizes": [0] * 5000}]
    if "input" in sys.argv:
        known["server/discover"] = {"supportedVersions": ["2026-07-28"], "resultType": "complete", **about}
        asks = {str(number): {"method": "roots/list"} for number in range(5001)}
        known["tools/call"] = {"resultType": "input_required", "inputRequests": asks}
        known["tools/list"] |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    method = asked.get("method")
    if "pings" in sys.argv and method == "tools/call":
        print(*(json.dumps({"jsonrpc": "2.0", "id": 1_000 + each, "method": "ping"}) for each in range(5)), sep="\\n", flush=True)
    if "a request" in sys.argv and method == "tools/call":
        params = {"messages": [{"role": "user", "content": said}], "maxTokens": 1}
        print(json.dumps({"jsonrpc": "2.0", "id": 1_000, "method": "sampling/createMessage", "params": params}), flush=True)
    said = {"result": known[method]} if method in known else {"error": {"code": -32601, "message": "Method not found"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""


@pytest.mark.parametrize("how", ["pattern", "pages"])
def test_a_server_of_tools_does_not_stop_the_loop_by_what_it_lists(how: str, tmp_path: Path) -> None:
    """A pattern that takes exponential time in its schema, and a list that never ends."""
    pytest.importorskip("mcp")
    (tmp_path / "server.py").write_text(MCP, encoding="utf-8")
    result, _ = called({"mcp": f"{sys.executable} {tmp_path / 'server.py'} {how}"})
    assert result["error"]["code"] == "invalid-output"
    assert "does not match" in result["error"]["message"]


@pytest.mark.parametrize("how", ["blocks", "tools", "a block", "the server", "input"])
def test_a_server_of_tools_does_not_stop_the_loop_by_very_many_parts(how: str, tmp_path: Path) -> None:
    """The library would check each of them in the loop."""
    pytest.importorskip("mcp")
    (tmp_path / "server.py").write_text(MCP, encoding="utf-8")
    result, _ = called({"mcp": f"{sys.executable} {tmp_path / 'server.py'} '{how}'"})
    assert "its answer has more than 5,000 parts" in result["error"]["message"]


def test_a_request_of_a_server_with_very_many_parts_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, read = pytest.importorskip("mcp.client.session"), []
    monkeypatch.setattr(session._methods, "parse_server_request", lambda *given: read.append(given))
    (tmp_path / "server.py").write_text(MCP, encoding="utf-8")
    result, _ = called({"mcp": f"{sys.executable} {tmp_path / 'server.py'} 'a request' pages"})
    assert result["error"]["code"] == "invalid-output"
    assert read == []


def test_a_server_of_tools_is_answered_a_limited_number_of_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer over HTTP is a request of its own."""
    session, read = pytest.importorskip("mcp.client.session"), []
    parse = session._methods.parse_server_request
    monkeypatch.setattr(session._methods, "parse_server_request", lambda *given: (read.append(given[0]), parse(*given))[1])
    monkeypatch.setattr("instrc.runtime.mcp_activities.REQUESTS", 2)
    (tmp_path / "server.py").write_text(MCP, encoding="utf-8")
    result, _ = called({"mcp": f"{sys.executable} {tmp_path / 'server.py'} pings"})
    assert result["error"]["code"] == "invalid-output"
    assert read == ["ping"] * 2


def test_a_server_of_tools_that_ends_its_stream_is_not_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp")
    import httpx2

    from instrc.runtime import mcp_activities  # its client over HTTP

    @asynccontextmanager
    async def connect(url: str, http_client: Any) -> Any:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(http_client.get(url), 0.01)
        yield (await http_client.post(url)).status_code

    async def ask() -> Any:
        async with mcp_activities._over_http("http://shop.example/mcp") as status:
            return status

    web = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda request: httpx2.Response(200, request=request)))
    monkeypatch.setattr(mcp_activities, "PAUSE", 3_600)
    monkeypatch.setattr(mcp_activities, "create_mcp_http_client", lambda: web)
    monkeypatch.setattr(mcp_activities, "streamable_http_client", connect)
    assert asyncio.run(ask()) == 200


@pytest.mark.long  # the time in which the server begins
def test_a_server_of_tools_that_never_answers_keeps_no_step_and_no_session_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mcp")
    monkeypatch.setattr("instrc.runtime.served_activities.SERVED_SECONDS", 3)
    (tmp_path / "server.py").write_text("import sys; sys.stdin.read()", encoding="utf-8")
    table = {"mcp": f"{sys.executable} {tmp_path / 'server.py'}", "retry": {"attempts": 1}}
    activities, events = Activities({"Ask": served("Ask", table, Path())}), []
    command: Any = {"kind": "fire", "id": "c", "activity": "Ask", "step": "ask", "input": {}}

    async def call() -> tuple[Any, list[str]]:
        result = await Effects("run", Sample(), activities, events.append).call(command)
        await asyncio.sleep(0)
        return result, [text for task in asyncio.all_tasks() if "_Session._answer" in (text := repr(task.get_coro()))]

    result, left = asyncio.run(call())
    assert (result["error"]["kind"], result["error"]["code"]) == ("timeout", "timeout")
    assert [item["event"] for item in events] == ["called", "failed"]
    assert left == []


def test_a_plan_takes_a_limited_number_of_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand tasks would take all that the process has, and the service could accept no connection."""
    monkeypatch.setattr("instrc.runtime.simultaneous.CALLS", 3)
    assert [served("Ask", {"url": f"https://shop.example/{path}"}, Path()).service for path in "ab"] == ["shop.example"] * 2
    now, most = [0], [0]

    async def answer(*_: Any) -> Any:
        now[0] += 1
        most[0] = max(now[0], most[0])
        await asyncio.sleep(0)
        now[0] -= 1
        return {"choices": []}

    class Slow(OpenAI):
        send = answer

        def client(self) -> None:
            """Have none: nothing is sent."""

    async def begin(begun: Callable[[], Any]) -> int:
        await asyncio.gather(*(begun() for _ in range(10)))
        return most[0]

    activity = Activity("Ask", answer, service="shop.example")
    assert asyncio.run(begin(lambda: attempt_call(activity, {}, ActivityCall("", "Ask", 1)))) == 3
    assert asyncio.run(begin(lambda: Slow("gpt-5").answer(Request("run/a", "answer", "Read.", SCHEMA)))) == 3
