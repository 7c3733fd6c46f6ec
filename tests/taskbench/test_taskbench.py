"""TaskBench: whatever models write becomes a sound plan or problems; nothing sound is refused, and it all comes back."""

from __future__ import annotations

import json
import re
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

import instrc
from instrc.taskbench.convert import to_bench  # the graph of tools that plans are drawn from
from instrc.tools.taskbench import BenchTool, media, output_schema, tools_map  # one record without a file

DATA = Path(__file__).parent.parent / "data" / "agents"
FILES = ("taskbench-huggingface", "taskbench-multimedia", "taskbench-daily-life", "tmdb")


@cache
def tools(name: str) -> Any:
    return json.loads((DATA / f"{name}.tools.json").read_text("utf-8"))


@cache
def lines(name: str) -> tuple[Any, ...]:
    return tuple(map(json.loads, (DATA / name).read_text("utf-8").splitlines()))


HUGGING = tools("taskbench-huggingface")
PLANS = lines("taskbench-huggingface.plans.jsonl")
MEDIA = {
    "image": ".jpg .png .jpeg .gif .bmp .tiff .svg .ico",
    "audio": ".mp3 .wav .wma .ogg .aac .flac .aiff .au",
    "video": ".mp4 .avi .mov .flv .wmv .mkv .webm .m4v .mpg .mpeg",
}


def kind_of(text: str) -> str:
    return next((kind for kind, endings in MEDIA.items() if any(ending in text for ending in endings.split())), "text")


def sound(record: Any) -> bool:
    """Say whether a record is a sound plan, by rules written down for this test alone."""
    known = {node["id"]: node for node in HUGGING["nodes"]}
    nodes, links = record["task_nodes"], record["task_links"]
    edges: set[tuple[int, int]] = set()
    for number, node in enumerate(nodes):
        tool = known.get(node["task"])
        arguments = node.get("arguments")
        if tool is None or not isinstance(arguments, list) or len(arguments) != len(tool["input-type"]):
            return False
        for argument, kind in zip(arguments, tool["input-type"], strict=True):
            if not isinstance(argument, str):
                return False
            exact = re.fullmatch(r"<node-(\d+)>", argument)
            if exact is None and re.search(r"<\W*(node|output|task_nodes|generated)", argument, re.IGNORECASE):
                return False
            if exact is None:
                if kind_of(argument) != kind and kind_of(argument) != "text" and kind != "text":
                    return False
                continue
            source = int(exact.group(1))
            if source >= len(nodes) or source == number or known.get(nodes[source]["task"]) is None:
                return False
            if kind not in known[nodes[source]["task"]]["output-type"]:
                return False
            edges.add((source, number))
        wrong = [kind_of(argument) != kind for argument, kind in zip(arguments, tool["input-type"], strict=True)]
        kinds = [
            kind_of(a) if not a.startswith("<node") else known[nodes[int(a[6:-1])]["task"]]["output-type"][0] for a in arguments
        ]
        if any(wrong) and sorted(kinds) == sorted(tool["input-type"]) and kinds != tool["input-type"]:
            return False
    done: set[int] = set()
    while len(done) < len(nodes):
        ready = {n for n in range(len(nodes)) if n not in done and all(s in done for s, t in edges if t == n)}
        if not ready:
            return False
        done |= ready
    said = {(nodes[source]["task"], nodes[target]["task"]) for source, target in edges}
    return {(link["source"], link["target"]) for link in links} == said


@every_case("repair", [False, True])
def test_every_plan_of_a_model_is_sound_or_has_problems(*, repair: bool) -> None:
    for record in PLANS:
        found = instrc.import_plan(record, HUGGING, repair=repair)
        errors = [problem for problem in found.problems if problem.severity == "error"]
        assert (found.plan is None) == bool(errors)
        for problem in found.problems:
            assert problem.message
            assert problem.pointer == "" or at(record, problem.pointer)
        if found.plan is not None:
            assert instrc.check_plan(found.plan, tools_map(to_bench(HUGGING))) == ()


def at(record: Any, pointer: str) -> bool:
    for step in pointer.split("/")[1:]:
        record = record[int(step)] if isinstance(record, list) else record[step]
    return True


def test_sound_plans_are_those_that_the_rules_call_sound() -> None:
    accepted = {record["id"] for record in PLANS if instrc.import_plan(record, HUGGING).plan is not None}
    assert accepted == {record["id"] for record in PLANS if sound(record)}
    assert len(accepted) > 50


def test_sound_plans_come_back_as_they_were() -> None:
    for record in PLANS:
        found = instrc.import_plan(record, HUGGING)
        if found.plan is not None:
            assert instrc.export_plan(found.plan, HUGGING, record) == record
            assert instrc.import_plan(instrc.export_plan(found.plan, HUGGING), HUGGING).plan == found.plan


def test_the_plans_of_people_over_open_tools_are_sound() -> None:
    found = [instrc.import_plan(record, tools("tmdb")) for record in lines("tmdb.gold.jsonl")]
    refused = [{problem.name for problem in each.problems if problem.severity == "error"} for each in found if each.plan is None]
    assert refused == [{"ambiguous-reference"}]
    for record, each in zip(lines("tmdb.gold.jsonl"), found, strict=True):
        if each.plan is not None:
            assert instrc.export_plan(each.plan, tools("tmdb"), record) == record


def test_repairs_are_listed_and_gain_plans() -> None:
    before = [instrc.import_plan(record, HUGGING) for record in PLANS]
    after = [instrc.import_plan(record, HUGGING, repair=True) for record in PLANS]
    for one, other in zip(before, after, strict=True):
        assert one.plan is None or (other.plan == one.plan and not other.repairs)
        assert one.plan is not None or other.plan is None or other.repairs
    assert sum(each.plan is not None for each in after) > sum(each.plan is not None for each in before) + 50


TEXT = {"id": "Say It", "desc": "", "input-type": ["text"], "output-type": ["text"]}
DRAW = {"id": "Draw-It", "desc": "", "input-type": ["text"], "output-type": ["image"]}
EDIT = {"id": "Edit It", "desc": "", "input-type": ["text", "image"], "output-type": ["image"]}
LIKE = {"id": "Compare", "desc": "", "input-type": ["text", "text"], "output-type": []}
SMALL = {"nodes": [TEXT, DRAW, EDIT, LIKE]}


def node(task: str, *arguments: Any) -> dict[str, Any]:
    return {"task": task, "arguments": list(arguments)}


SAID = node("Say It", "hello")
RESOURCE: dict[str, tuple[Any, str, bool]] = {
    "references from 1": ([SAID, node("Say It", "<node-1>")], "counted-from-one", True),
    "a reference to itself": ([node("Say It", "<node-0>")], "circular-plan", False),
    "a circle": ([node("Say It", "<node-1>"), node("Say It", "<node-0>")], "circular-plan", False),
    "nobody": ([SAID, node("Say It", "<node-7>")], "dangling-task", False),
    "no hyphen": ([SAID, node("Say It", "<node0>")], "odd-reference", True),
    "a capital": ([SAID, SAID, node("Say It", "<Node-1>")], "odd-reference", True),
    "an underscore": ([SAID, SAID, node("Say It", "<node_1>")], "odd-reference", True),
    "by name": ([SAID, node("Draw-It", "<output_of_Say_It>")], "odd-reference", True),
    "a member": ([SAID, node("Say It", "<node-0>.output")], "odd-reference", True),
    "an argument of another": ([SAID, node("Say It", "<task_nodes[0].arguments[0].value>")], "odd-reference", True),
    "an argument that another does not have": (
        [SAID, node("Say It", "<task_nodes[0].arguments[1].value>")],
        "odd-reference",
        False,
    ),
    "the way of HuggingGPT": ([SAID, node("Say It", "<GENERATED>-0")], "odd-reference", True),
    "the other way of HuggingGPT": ([SAID, node("Say It", "<GENERATED-0>")], "odd-reference", True),
    "spaces around": ([SAID, node("Say It", " <node-0> ")], "odd-reference", True),
    "two in one": ([SAID, SAID, node("Say It", "<node-0>, <node-1>")], "several-references", False),
    "in a text": ([SAID, node("Say It", "again: <node-0>")], "reference-in-text", False),
    "almost the name": ([node("Say-It", "hello")], "unknown-tool", True),
    "underscores for spaces": ([node("say_it", "hello")], "unknown-tool", True),
    "an invented tool": ([node("Cook Dinner", "hello")], "unknown-tool", False),
    "no arguments": ([{"task": "Say It"}], "odd-arguments", False),
    "a text as arguments": ([{"task": "Say It", "arguments": "hello"}], "odd-arguments", False),
    "an object as arguments": ([{"task": "Say It", "arguments": {"text": "hello"}}], "odd-arguments", False),
    "objects in the list": ([node("Say It", {"name": "text", "value": "hello"})], "odd-arguments", False),
    "one too many": ([node("Say It", "hello", "again")], "surplus-argument", False),
    "one too few": ([node("Edit It", "blue")], "missing-argument", False),
    "the other order": ([node("Edit It", "a.jpg", "blue")], "argument-order", True),
    "the other order of outputs": ([SAID, node("Draw-It", "x"), node("Edit It", "<node-1>", "<node-0>")], "argument-order", True),
    "a text for an image": ([SAID, node("Edit It", "blue", "<node-0>")], "wrong-argument", False),
    "a sound for an image": ([node("Edit It", "blue", "a.wav")], "wrong-argument", False),
    "nothing from a tool": ([node("Compare", "a", "b"), node("Say It", "<node-0>")], "wrong-argument", False),
    "a number": ([node("Say It", 7)], "wrong-argument", False),
    "no task": ([SAID, "Say It"], "invalid-plan", False),
    "a task with an empty name": ([node("", "hello")], "invalid-plan", False),
    "a task without a name": ([{"arguments": []}], "invalid-plan", False),
    "an object of tasks": ({"0": SAID}, "invalid-plan", False),
}


@every_case(("nodes", "name", "repaired"), RESOURCE.values(), ids=RESOURCE)
def test_each_oddity_has_a_name_or_a_listed_repair(nodes: Any, name: str, *, repaired: bool) -> None:
    found = instrc.import_plan({"task_nodes": nodes}, SMALL)
    assert name in {problem.name for problem in found.problems if problem.severity == "error"}
    told = [(problem.name, problem.pointer) for problem in found.problems]
    assert len(told) == len(set(told))
    imported = instrc.import_plan({"task_nodes": nodes}, SMALL, repair=True)
    assert (imported.plan is not None) == repaired
    assert not repaired or name in {repair.mistake for repair in imported.repairs}


DUB = {"id": "Dub", "desc": "", "input-type": ["image", "audio"], "output-type": ["video"]}


def test_files_are_told_apart_by_their_endings() -> None:
    imported = instrc.import_plan({"task_nodes": [node("Dub", "a.wav", "b.png")]}, {"nodes": [DUB]}, repair=True)
    assert imported.plan == [{"tool": "Dub", "id": "n0", "arguments": {"image": "b.png", "audio": "a.wav"}}]


def test_links_follow_the_arguments() -> None:
    nodes = [SAID, node("Draw-It", "<node-0>")]
    links = [{"source": "Draw-It", "target": "Say It"}]
    found = instrc.import_plan({"task_nodes": nodes, "task_links": links}, SMALL)
    assert [problem.name for problem in found.problems] == ["contradicting-links"] * 2
    imported = instrc.import_plan({"task_nodes": nodes, "task_links": links}, SMALL, repair=True)
    assert imported.plan is not None
    assert instrc.export_plan(imported.plan, SMALL)["task_links"] == [{"source": "Say It", "target": "Draw-It"}]


def test_forward_references_and_tools_that_come_twice_are_fine() -> None:
    nodes = [node("Draw-It", "<node-2>"), SAID, node("Say It", "<node-1>")]
    links = [{"source": "Say It", "target": "Draw-It"}, {"source": "Say It", "target": "Say It"}]
    found = instrc.import_plan({"task_nodes": nodes, "task_links": links, "task_steps": ["1", "2", "3"]}, SMALL)
    assert found.problems == ()
    assert found.plan == [
        {"tool": "DrawIt", "id": "n0", "arguments": {"text": {"from": "n2"}}},
        {"tool": "SayIt", "id": "n1", "arguments": {"text": "hello"}},
        {"tool": "SayIt", "id": "n2", "arguments": {"text": {"from": "n1"}}},
    ]


FLY = {
    "id": "book_flight",
    "desc": "",
    "parameters": [{"name": "from", "type": "string", "desc": ""}, {"name": "to", "type": "string", "desc": ""}],
}
DAILY = {"nodes": [FLY, {"id": "get_news", "desc": "", "parameters": [{"name": "topic", "type": "string", "desc": "what"}]}]}


def named(**arguments: Any) -> list[dict[str, Any]]:
    return [{"name": name.strip("_"), "value": value} for name, value in arguments.items()]


@every_case(
    ("last", "problem"),
    [({"name": "to", "value": 7}, "wrong-argument"), ({"name": "into", "value": "Rome"}, "unknown-argument")],
)
def test_a_mistake_in_an_argument_is_told_where_it_stands(last: Any, problem: str) -> None:
    record = {"task_nodes": [{"task": "book_flight", "arguments": [*named(from_="Paris"), last]}], "task_links": []}
    found = instrc.import_plan(record, DAILY)
    assert (problem, "/task_nodes/0/arguments/1") in [(each.name, each.pointer) for each in found.problems]


def test_a_parameter_may_be_called_from() -> None:
    record = {"task_nodes": [{"task": "book_flight", "arguments": named(from_="Paris", to="Rome")}], "task_links": []}
    found = instrc.import_plan(record, DAILY)
    assert found.plan == [{"tool": "BookFlight", "id": "n0", "arguments": {"from": "Paris", "to": "Rome"}}]
    assert instrc.export_plan(found.plan, DAILY, record) == record


def test_links_order_what_arguments_do_not() -> None:
    nodes = [{"task": "book_flight", "arguments": named(to="get_news")}, {"task": "get_news", "arguments": named(topic="Rome")}]
    link = {"source": "get_news", "target": "book_flight"}
    read = instrc.import_plan({"task_nodes": nodes, "task_links": [link]}, DAILY)
    assert read.plan is not None
    assert read.plan[0]["arguments"] == {"to": {"from": "n1"}}
    nodes[0]["arguments"] = named(to="Rome")
    waits = instrc.import_plan({"task_nodes": nodes, "task_links": [link]}, DAILY)
    assert waits.plan is not None
    assert waits.plan[0] == {"tool": "BookFlight", "id": "n0", "arguments": {"to": "Rome"}, "after": ["n1"]}
    assert instrc.export_plan(waits.plan, DAILY)["task_links"] == [link]


@every_case("links", [{"source": "a", "target": "b"}, "a → b", 7])
def test_links_that_are_no_list_are_told(links: Any) -> None:
    read = instrc.import_plan({"task_nodes": [{"task": "get_news", "arguments": []}], "task_links": links}, DAILY)
    [problem] = [each for each in read.problems if each.name == "invalid-plan"]
    assert (problem.pointer, problem.message) == ("/task_links", "the links are not a list")


def test_every_link_that_is_none_is_told() -> None:
    read = instrc.import_plan({"task_nodes": [{"task": "get_news", "arguments": []}], "task_links": [{}, 7]}, DAILY)
    assert [problem.pointer for problem in read.problems if problem.name == "invalid-plan"] == ["/task_links/0", "/task_links/1"]


TEMPORAL: dict[str, tuple[Any, Any, str, bool]] = {
    "no such parameter": ([{"task": "get_news", "arguments": named(subject="Rome")}], [], "unknown-argument", False),
    "by name": ([{"task": "get_news", "arguments": {"topic": "Rome"}}], [], "odd-arguments", False),
    "by position": ([{"task": "get_news", "arguments": ["Rome"]}], [], "odd-arguments", False),
    "a name given twice": (
        [{"task": "get_news", "arguments": [*named(topic="a"), *named(topic="b")]}],
        [],
        "odd-arguments",
        False,
    ),
    "a link from nobody": (
        [{"task": "get_news", "arguments": []}],
        [{"source": "book_flight", "target": "get_news"}],
        "dangling-task",
        False,
    ),
    "a link in a circle": (
        [{"task": "get_news", "arguments": []}],
        [{"source": "get_news", "target": "get_news"}],
        "circular-plan",
        False,
    ),
    "one of two": (
        [{"task": "get_news", "arguments": named(topic=x)} for x in "ab"] + [{"task": "book_flight", "arguments": []}],
        [{"source": "get_news", "target": "book_flight"}],
        "ambiguous-reference",
        True,
    ),
    "read without a link": (
        [{"task": "get_news", "arguments": []}, {"task": "book_flight", "arguments": named(to="get_news")}],
        [],
        "contradicting-links",
        True,
    ),
}


@every_case(("nodes", "links", "name", "repaired"), TEMPORAL.values(), ids=TEMPORAL)
def test_each_oddity_by_name_has_a_name_or_a_listed_repair(nodes: Any, links: Any, name: str, *, repaired: bool) -> None:
    record = {"task_nodes": nodes, "task_links": links}
    assert name in {problem.name for problem in instrc.import_plan(record, DAILY).problems}
    imported = instrc.import_plan(record, DAILY, repair=True)
    assert (imported.plan is not None) == repaired
    assert not repaired or name in {repair.mistake for repair in imported.repairs}


def test_both_releases_and_answers_of_models_are_read_alike() -> None:
    first = next(record for record in PLANS if instrc.import_plan(record, HUGGING).plan is not None)
    inner = {key: first[key] for key in ("task_steps", "task_nodes", "task_links")}
    later = {key.replace("task_", "tool_"): json.dumps(value) for key, value in inner.items()}
    forms = [
        {"id": "1", "instruction": "x", **later},
        {"id": "1", "user_request": "x", "result": inner},
        {"id": "1", "result": json.dumps(inner, indent=1)},
    ]
    for form in forms:
        found = instrc.import_plan(form, HUGGING)
        assert found.plan == instrc.import_plan(first, HUGGING).plan
        assert instrc.export_plan(found.plan, HUGGING, form) == form


def _hangs_together(tasks: set[str], links: set[tuple[str, str]]) -> bool:
    """Tell whether each task can be reached from the first by its links, forth or back."""
    met = {min(tasks)}
    while further := {end for link in links if met & {*link} for end in link} - met:
        met |= further
    return met == tasks


@pytest.mark.long
@every_case("name", FILES)
def test_sampled_plans_are_sound(name: str) -> None:
    plans = instrc.sample_plans(tools(name), 300, seed=7)
    assert plans == instrc.sample_plans(tools(name), 300, seed=7) != instrc.sample_plans(tools(name), 300, seed=8)
    shapes = set()
    fitting = set(to_bench(tools(name)).edges())
    for plan in plans:
        record = instrc.export_plan(plan, tools(name))
        found = instrc.import_plan(record, tools(name))
        assert found.problems == ()
        assert found.plan == plan
        assert len({task["tool"] for task in plan}) == len(plan)
        links = {(link["source"], link["target"]) for link in record["task_links"]}
        assert links <= fitting
        assert _hangs_together({task["task"] for task in record["task_nodes"]}, links)
        shapes.add(found.shape)
    assert shapes == {"single", "chain", "dag"}


@every_case(("name", "edges"), [("taskbench-huggingface", 225), ("taskbench-multimedia", 449)])
def test_an_edge_leads_where_an_output_is_an_input(name: str, edges: int) -> None:
    assert len(to_bench(tools(name)).edges()) == edges


@every_case("name", FILES)
def test_tools_become_activities(name: str, tmp_path: Path) -> None:
    imported = instrc.import_tools("taskbench", DATA / f"{name}.tools.json")
    assert [problem for problem in imported.problems if problem.severity == "error"] == []
    assert len(imported.vibes) == 2 * len(tools(name)["nodes"])
    assert {vibe.document["title"] for vibe in imported.vibes} == {each["id"] for each in tools(name)["nodes"]}
    for vibe in imported.vibes:
        (tmp_path / vibe.path).write_text(json.dumps(vibe.document), "utf-8")
    assert [problem for problem in instrc.check(tmp_path) if problem.severity == "error"] == []


def task(tool: str, name: str, after: tuple[str, ...] = (), **arguments: Any) -> dict[str, Any]:
    given = {key.strip("_"): value for key, value in arguments.items()}
    return {"tool": tool, "id": name, "arguments": given, **({"after": list(after)} if after else {})}


@every_case(
    ("plan", "bench"),
    [
        ([task("SayIt", "a", text="hello"), task("SayIt", "b", text="<node-0>")], SMALL),
        ([task("SayIt", "a", text="as in <node-0>")], SMALL),
        ([task("SayIt", "a", text="hello"), task("DrawIt", "b", text="a hut", after=("a",))], SMALL),
        ([task("EditIt", "a", text="a.jpg", image="blue")], SMALL),
        ([task("EditIt", "a", text="blue", image="a.wav")], SMALL),
        ([task("GetNews", "a"), task("BookFlight", "b", to="get_news")], DAILY),
        ([task("GetNews", "a"), task("GetNews", "b"), task("BookFlight", "c", after=("a",))], DAILY),
        ([task("GetNews", "a"), task("GetNews", "b"), task("BookFlight", "c", after=("b",))], DAILY),
    ],
)
def test_a_plan_that_would_be_read_as_another_one_is_not_exported(plan: Any, bench: Any) -> None:
    assert instrc.check_plan(plan, tools_map(to_bench(bench))) == ()
    with pytest.raises(instrc.CompileError) as raised:
        instrc.export_plan(plan, bench)
    assert {problem.name for problem in raised.value.problems} == {"unexportable-plan"}


def test_a_task_with_inputs_by_type_that_waits_for_what_it_reads_is_exported() -> None:
    plan = [task("SayIt", "a", text="hello"), task("DrawIt", "b", after=("a",), text={"from": "a"})]
    assert instrc.export_plan(plan, SMALL)["task_links"] == [{"source": "Say It", "target": "Draw-It"}]


def test_a_task_that_waits_for_what_it_reads_is_exported_once() -> None:
    plan = [task("GetNews", "first"), task("BookFlight", "then", after=("first", "first"), to={"from": "first"})]
    record = instrc.export_plan(plan, DAILY)
    assert record["task_links"] == [{"source": "get_news", "target": "book_flight"}]
    assert instrc.import_plan(record, DAILY).plan == [task("GetNews", "n0"), task("BookFlight", "n1", to={"from": "n0"})]


@every_case("links", [[{}], [7], [{"source": 1, "target": []}], {}, "x", None, [{"source": "Say It"}]])
def test_a_plan_is_exported_into_a_record_whose_links_are_none(links: Any) -> None:
    plan = [task("SayIt", "a", text="hello")]
    made = instrc.export_plan(plan, SMALL, {"id": 1, "task_nodes": [], "task_links": links})
    assert (made["id"], made["task_links"]) == (1, [])
    assert made["task_nodes"] == [SAID]


@every_case(
    "around",
    ["```json\n{}\n```", "Here it is:\n{}", "{} I hope this helps.", "# RESULT #: {}", json.dumps],
    ids=["fenced", "words before", "words after", "its mark", "twice"],
)
def test_a_plan_inside_a_text_has_a_name_and_is_read_if_wished(around: Any) -> None:
    inner = json.dumps({"task_nodes": [SAID, node("Say It", "<node-0>")]})
    text = around(inner) if callable(around) else around.replace("{}", inner)
    for record in ({"id": "1", "result": text}, text):
        found = instrc.import_plan(record, SMALL)
        assert [problem.name for problem in found.problems] == ["plan-in-text"]
        imported = instrc.import_plan(record, SMALL, repair=True)
        assert [repair.mistake for repair in imported.repairs] == ["plan-in-text"]
        assert imported.plan == instrc.import_plan(json.loads(inner), SMALL).plan
        assert instrc.import_plan(instrc.export_plan(imported.plan, SMALL, record), SMALL).plan == imported.plan
        scores = instrc.score_plans([{"id": "1", "task_nodes": [SAID]}], [record], SMALL)
        assert scores.overall.unreadable == scores.overall.requests == (1 if isinstance(record, dict) else 0)


@every_case("value", [10**5000, [[10**5000]], json.loads("[" * 500 + "]" * 500)], ids=["long", "in lists", "deep"])
def test_values_that_python_will_not_write_are_taken(value: Any) -> None:
    copied = node("Say It", "<task_nodes[0].arguments[0]>")
    for record in (
        {"id": value, "task_nodes": [SAID]},
        {"task_nodes": [node("Say It", value), copied]},
        {"task_nodes": [node("Edit It", value, "blue"), node("Edit It", "a.jpg", value)]},
    ):
        for repair in (False, True):
            instrc.import_plan(record, SMALL, repair=repair)
    daily = {"id": value if isinstance(value, int) else 1, "task_nodes": [{"task": "get_news", "arguments": named(topic=value)}]}
    scores = instrc.score_plans([daily], [daily], DAILY)
    assert scores.overall.values()["v-F1"] == 1


def test_ids_are_the_same_as_a_number_and_as_its_digits() -> None:
    assert instrc.score_plans([{"id": 7, "task_nodes": [SAID]}], [{"id": "7", "task_nodes": [SAID]}], SMALL).overall.requests == 1


def test_a_tool_with_inputs_by_type_may_have_an_underscore_in_its_name() -> None:
    bench = {"nodes": [{**TEXT, "id": "say_it"}]}
    record = {"id": 1, "task_nodes": [node("say_it", "hello")]}
    assert instrc.score_plans([record], [record], bench).overall.values()["n-F1"] == 1


KEYS = ["task", "arguments", "task_nodes", "tool_nodes", "task_links", "source", "target", "result", "name", "value", "id"]
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["Say It", "Draw-It", "<node-0>", "<node-1>", "<output_of_Say It>", "get_news", "<node-99999999999999999999>"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)
RECORDS = ANYTHING | st.fixed_dictionaries({"task_nodes": st.lists(ANYTHING, max_size=4), "task_links": ANYTHING})


@examples(400)
@given(record=RECORDS, bench=st.sampled_from([SMALL, DAILY]), repair=st.booleans())
def test_nothing_is_raised_by_any_record(record: Any, bench: Any, *, repair: bool) -> None:
    found = instrc.import_plan(record, bench, repair=repair)
    assert found.plan is not None or found.problems
    instrc.score_plans([record, {"id": 1, "task_nodes": [SAID]}], [{"id": 1, "result": record}], bench).to_json()


@given(ANYTHING | st.fixed_dictionaries({"nodes": st.lists(ANYTHING, max_size=4)}))
def test_nothing_is_raised_by_any_tools(bench: Any) -> None:
    instrc.import_plan({"task_nodes": [SAID]}, bench)
    instrc.sample_plans(bench, 2)
    instrc.import_tools("taskbench", bench)


@pytest.mark.parametrize("count", [pytest.param(3_400, marks=pytest.mark.long), pytest.param(17_000, marks=pytest.mark.slow)])
def test_a_thousand_plans_are_planned_checked_and_scored_in_a_second(count: int) -> None:
    start = time.process_time()
    records = [{**PLANS[number % len(PLANS)], "id": str(number)} for number in range(count)]
    read = [instrc.import_plan(record, HUGGING) for record in records]
    scores = instrc.score_plans(records, records, HUGGING)
    assert time.process_time() - start < count / 1_000  # a quarter of that on an idle machine
    assert len(read) == scores.overall.requests == count


@every_case(
    "text",
    [f"<node{' ' * 50_000}", f"<generated>{' ' * 50_000}", f"<node-0{'.a' * 50_000}", "<output_of_" * 5_000, "< " * 50_000],
    ids=lambda text: text[:12],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    start = time.process_time()
    instrc.import_plan({"task_nodes": [node("Say It", text)]}, SMALL, repair=True)
    assert time.process_time() - start < 2


@every_case(
    ("outputs", "schema"),
    [
        ((), {"type": "null"}),
        (("image",), media("image")),
        (("image", "text"), {"type": "object", "properties": {"image": media("image"), "text": media("text")}}),
    ],
)
def test_a_tool_gives_nothing_one_value_or_several_by_their_types(outputs: tuple[str, ...], schema: Any) -> None:
    tool = BenchTool("Make It", "MakeIt", "resource", "", (), outputs, 0)
    required = {"required": [*outputs]} if len(outputs) > 1 else {}
    assert output_schema(tool) == {**schema, **required}
