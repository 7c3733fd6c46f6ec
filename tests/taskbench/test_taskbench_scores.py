"""Scores equal the definitions, written down a second time for this test."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from every_case import every_case

import instrc

DATA = Path(__file__).parent.parent / "data" / "agents"
TOOLS = {name: json.loads((DATA / f"taskbench-{name}.tools.json").read_text("utf-8")) for name in ("huggingface", "daily-life")}
ENDINGS = [
    ("image", "jpg png jpeg gif bmp tiff svg ico"),
    ("audio", "mp3 wav wma ogg aac flac aiff au"),
    ("video", "mp4 avi mov flv wmv mkv webm m4v mpg mpeg"),
]
LITERALS = ["example.jpg", "a text", "b.wav", "c.mp4", "in example.png or d.mp3", "", "www.aurora.au"]


def f1(pairs: list[tuple[set[Any], set[Any]]]) -> float:
    true = sum(len(one & other) for one, other in pairs)
    wrong = sum(len(one - other) for one, other in pairs)
    missed = sum(len(other - one) for one, other in pairs)
    precision = true / (true + wrong) if true + wrong else 0.0
    recall = true / (true + missed) if true + missed else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def distance(one: list[int], other: list[int]) -> int:
    grid = [[i + j if not i or not j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            grid[i][j] = min(grid[i - 1][j] + 1, grid[i][j - 1] + 1, grid[i - 1][j - 1] + (0 if a == b else 2))
    return grid[-1][-1]


def ratio(one: list[int], other: list[int]) -> float:
    total = len(one) + len(other)
    return (total - distance(one, other)) / total if total else 1.0


def facts(nodes: list[Any], links: list[Any], tools: Any) -> list[Any]:
    known = {tool["id"]: tool for tool in tools["nodes"]}
    order = [tool["id"] for tool in tools["nodes"]]
    resource = "input-type" in tools["nodes"][0]
    names = [node["task"].replace("_", " ") if resource else node["task"] for node in nodes]
    edges, arguments, values = set(), set(), set()
    for number, node in enumerate(nodes):
        for argument in node.get("arguments", []):
            if not resource:
                arguments.add((names[number], argument["name"]))
                values.add((names[number], argument["name"], argument["value"]))
                continue
            if "<node-" in argument:
                source = int(argument.split("<node-")[1].split(">")[0])
                if source == number or source >= len(nodes):
                    continue
                value = names[source]
                outputs = known[value]["output-type"] if value in known else ["other"]
                kind = outputs[0] if outputs else "none"
                edges.add((value, names[number]))
            else:
                value = argument
                kind = next((kind for kind, words in ENDINGS if any(f".{word}" in argument for word in words.split())), "text")
            arguments.add((names[number], kind))
            values.add((names[number], kind, value))
    if not resource:
        edges = {(link["source"], link["target"]) for link in links}
    return [set(names) & set(order), edges, arguments, values, [order.index(n) + 1 if n in order else 0 for n in names]]


def of(record: Any, tools: Any) -> list[Any]:
    return facts(record["task_nodes"], record["task_links"], tools)


def expected(pairs: list[tuple[Any, Any]], tools: Any) -> dict[str, float]:
    empty = [set(), set(), set(), set(), None]
    both = [(empty if said is None else of(said, tools), of(right, tools)) for said, right in pairs]
    made = {name: f1([(one[n], other[n]) for one, other in both]) for n, name in enumerate(("n-F1", "e-F1", "t-F1", "v-F1"))}
    ratios = [0.0 if one[4] is None else ratio(one[4], other[4]) for one, other in both]
    return {**made, "NED": 1 - sum(ratios) / len(ratios) if ratios else 1.0}


def record(draw: random.Random, number: int, tools: Any) -> dict[str, Any]:
    ids = [tool["id"] for tool in tools["nodes"]]
    resource = "input-type" in tools["nodes"][0]
    nodes = []
    count = draw.randint(0, 6)
    for _ in range(count):
        task = draw.choice(ids) if draw.random() < 0.85 else draw.choice(["Invented", ids[0].replace(" ", "_")])
        made = [
            draw.choice(LITERALS) if draw.random() < 0.5 else f"<node-{draw.randint(0, 7)}>" for _ in range(draw.randint(0, 3))
        ]
        if not resource:
            made = [{"name": draw.choice(["topic", "date", "from"]), "value": value} for value in made]
        nodes.append({"task": task, "arguments": made})
    ends = [node["task"] for node in nodes] or ids
    links = [{"source": draw.choice(ends), "target": draw.choice(ends)} for _ in range(draw.randint(0, 4))]
    return {"id": str(number), "task_nodes": nodes, "task_links": links, "type": draw.choice(["single", "chain", "dag"])}


def close(found: dict[str, float], right: dict[str, float]) -> bool:
    return found.keys() == right.keys() and all(abs(found[name] - right[name]) <= 1e-9 for name in right)


@every_case("seed", range(300))
def test_scores_equal_the_definitions(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  -- no secrets here
    tools = TOOLS[draw.choice(list(TOOLS))]
    gold = [record(draw, number, tools) for number in range(draw.randint(1, 12))]
    predictions: list[Any] = []
    pairs = []
    for right in gold:
        chance = draw.random()
        said = {**right, "result": None} if chance < 0.1 else record(draw, 0, tools) if chance < 0.6 else right
        if chance > 0.95:
            continue  # an id that one side lacks
        if chance < 0.1:
            predictions.append({"id": right["id"], "result": draw.choice([{}, "no JSON", {"task_nodes": [{"tool": 1}]}, None])})
        else:
            predictions.append({"id": right["id"], "result": {key: said[key] for key in ("task_nodes", "task_links")}})
        pairs.append((None if chance < 0.1 else said, right))
    draw.shuffle(predictions)
    scores = instrc.score_plans(gold, [*predictions, record(draw, 999, tools)], tools)
    readable = [pair for pair in pairs if pair[0] is not None]
    assert scores.overall.requests == len(pairs)
    assert scores.overall.unreadable == len(pairs) - len(readable)
    assert close(scores.overall.values(), expected(readable, tools))
    assert close(scores.overall.values(with_unreadable=True), expected(pairs, tools))
    for shape, score in scores.by_shape.items():
        assert close(score.values(), expected([pair for pair in readable if pair[1]["type"] == shape], tools))
    for size, score in scores.by_size.items():
        assert close(score.values(), expected([pair for pair in readable if len(pair[1]["task_nodes"]) == size], tools))
    assert sum(score.requests for score in scores.by_shape.values()) == scores.overall.requests


def test_a_link_that_lacks_an_end_is_none() -> None:
    links = [{"source": "get_weather", "target": "book_car_rental"}]
    nodes = [{"task": name, "arguments": []} for name in ("get_weather", "book_car_rental")]
    gold = {"id": "1", "task_nodes": nodes, "task_links": links}
    for odd in ({"source": "get_weather"}, {"target": "get_weather"}, {"source": 1, "target": "get_weather"}, 7):
        scores = instrc.score_plans([gold], [{**gold, "task_links": [odd, *links]}], TOOLS["daily-life"])
        assert scores.overall.values()["e-F1"] == 1


def test_scores_count_what_cannot_be_read() -> None:
    draw = random.Random(1)  # noqa: S311  -- as above
    gold = [record(draw, number, TOOLS["huggingface"]) for number in range(8)]
    scores = instrc.score_plans(gold, [*gold[:6], {"id": "6"}], TOOLS["huggingface"])
    overall = scores.to_json()["overall"]
    assert (overall["requests"], overall["unreadable"]) == (7, 1)
    assert overall["scores"].keys() == overall["with_unreadable"].keys() == {"n-F1", "e-F1", "t-F1", "v-F1", "NED"}
