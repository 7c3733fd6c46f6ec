"""A process with blocks, kept as a vibe: its paths are looked up where they can be read, and nothing sound is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from every_case import every_case
from objects import an_object as chunk

from instrc import Problem, Report
from instrc.compiler.lint.review import review  # one vibe by itself, without a folder
from instrc.text.jsontext import dumps, loads
from instrc.vibes.registry import Registry

PROCESSES = sorted((Path(__file__).parents[3] / "examples").glob("*/expected/**/*.process.json"))
ITEM = {"type": "object", "properties": {"list": {"type": "array"}, "ok": {"type": "boolean"}}, "required": ["list", "ok"]}


def check(document: Any, folder: Path) -> list[Problem]:
    file = folder / "it.vibe.json"
    file.write_text(dumps(document), encoding="utf-8")
    report = Report()
    registry = Registry([folder])
    review(registry.open(file), registry, report)
    return list(report.ordered())


@every_case("path", PROCESSES, ids=lambda path: path.parent.parent.name + "/" + path.name)
def test_what_the_compiler_writes_is_sound_as_a_vibe(path: Path, tmp_path: Path) -> None:
    assert check(loads(path.read_bytes()), tmp_path) == []


def process(**reads: str) -> Any:
    """Return a process in which some paths are others than they should be."""
    read = {
        "list": "step1_find.list",
        "of_each": "person",
        "condition": "step1_find.ok",
        "until": "step3_ask.ok",
        "error": "error.kind",
        "after": "step4_each",
        "value": "step2_write",
        **reads,
    }

    def step(name: str, **more: Any) -> Any:
        return {**ITEM, "references": [read[name]], **more}

    each = {"item": "person", "in": read["list"], "value": read["value"], "key": "step4_each"}
    until = {"path": read["until"], "schema": {"const": True}}
    condition = {"path": read["condition"], "schema": {"const": True}}
    return chunk(
        llmContext1=chunk(step1_find=ITEM),
        eachContext1={"type": "array", "items": chunk(llmContext2=chunk(step2_write=step("of_each"))), "each": each},
        repeatContext1={"type": "array", "items": chunk(llmContext3=chunk(step3_ask=ITEM)), "repeat": {"until": until}},
        tryContext1={
            "anyOf": [
                {
                    **chunk(branch={"const": 0}, serverContext1=chunk(step5_send=step("after", activity="Send_Activity"))),
                    "try": {},
                },
                {**chunk(branch={"const": 1}, llmContext4=chunk(step6_say=step("error"))), "try": {}},
            ],
            "try": {},
        },
        whenContext1={
            "anyOf": [
                {**chunk(branch={"const": 0}, llmContext5=chunk(step7_end=ITEM)), "when": condition},
                {"type": "null"},
            ],
            "when": {},
        },
    )


def test_names_of_blocks_and_keys_in_them_are_known_inside(tmp_path: Path) -> None:
    assert check(process(), tmp_path) == []


@every_case(
    ("what", "path", "problem", "hint"),
    [
        ("list", "step1_find.lists", "dangling-reference", "did you mean `step1_find.list`?"),
        ("condition", "step1_fnd.ok", "dangling-reference", "did you mean `step1_find.ok`?"),
        ("condition", "step3_ask.ok", "dangling-reference", None),
        ("until", "step3_ask.lst", "dangling-reference", "did you mean `step3_ask.list`?"),
        ("after", "person", "dangling-reference", None),
        ("error", "round", "dangling-reference", None),
        ("of_each", "error", "dangling-reference", None),
        ("of_each", "step4_each", "forward-reference", "move `step2_write` after the step that it reads"),
        ("value", "step2_wrote", "dangling-reference", "did you mean `step2_write`?"),
        ("list", "step7_end.list", "dangling-reference", None),
    ],
)
def test_a_path_that_cannot_be_read_where_it_stands_is_one_problem(
    what: str, path: str, problem: str, hint: str | None, tmp_path: Path
) -> None:
    [found] = check(process(**{what: path}), tmp_path)
    assert (found.name, found.at and found.at.text) == (problem, dumps(path))
    assert hint is None or found.hint == hint


def test_a_step_of_a_later_chunk_is_a_forward_reference_that_shows_it(tmp_path: Path) -> None:
    document = process()
    document["properties"]["llmContext1"]["properties"]["step1_find"] = {**ITEM, "references": ["step9_last"]}
    document["properties"]["llmContext9"] = chunk(step9_last=ITEM)
    [found] = check(document, tmp_path)
    assert found.name == "forward-reference"


PICK = {"type": "object", "properties": {"id": {"type": "string", "among": "find.list"}}}
CHAIN = {**chunk(llmContext1=chunk(find=ITEM), llmContext2=chunk(pick=PICK)), "inputs": {"language": {}}}


@every_case("value", ["pick.id", {"all": ["llmContext1.find", {"const": 1}], "of": "prompt"}, ["language"]])
def test_a_list_to_choose_from_and_a_value_of_a_process_without_blocks_are_followed(value: Any, tmp_path: Path) -> None:
    assert check({**CHAIN, "value": value}, tmp_path) == []


@every_case(
    ("among", "value", "path", "problem", "hint"),
    [
        ("find.lst", "pick", "find.lst", "dangling-reference", "did you mean `find.list`?"),
        ("fnd.list", "pick", "fnd.list", "dangling-reference", "did you mean `find.list`?"),
        ("last.list", "pick", "last.list", "forward-reference", None),
        ("find.list", "pik", "pik", "dangling-reference", "did you mean `pick`?"),
        ("find.list", {"of": ["find.okay"]}, "find.okay", "dangling-reference", None),
    ],
)
def test_one_of_them_that_leads_nowhere_is_one_problem(
    among: str, value: Any, path: str, problem: str, hint: str | None, tmp_path: Path
) -> None:
    pick = chunk(pick={"type": "object", "properties": {"id": {"type": "string", "among": among}}})
    document = {**chunk(llmContext1=chunk(find=ITEM), llmContext2=pick, llmContext3=chunk(last=ITEM)), "value": value}
    [found] = check(document, tmp_path)
    assert found.name == problem
    assert path in found.message
    assert found.at is not None
    assert dumps(path) in found.at.text
    assert hint is None or found.hint == hint
