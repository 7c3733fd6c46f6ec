"""HuggingGPT as a program: plan, choose models, run, answer; each defect of the original is a test."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import instrc

FOLDER = Path(__file__).parents[2] / "examples" / "agents" / "hugging-gpt"
spec = importlib.util.spec_from_file_location("hugging_gpt_agent", FOLDER / "agent.py")
assert spec is not None
assert spec.loader is not None
agent = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = agent
spec.loader.exec_module(agent)

ANSWER = {"answer": "Here it is.", "how": "By models.", "files": []}


class Plays:
    """A model that gives one plan, chooses the first candidate and answers."""

    def __init__(self, *plans: Any, choices: tuple[dict[str, Any], ...] = ()) -> None:
        self.plans = list(plans)
        self.choices = list(choices)
        self.sent: list[tuple[str, instrc.Request]] = []

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        (step, schema), *_ = request.schema["properties"].items()
        name = step.partition("_")[2]
        self.sent.append((name, request))
        match name:
            case "plan_tasks":
                return instrc.Reply({step: {"tasks": self.plans.pop(0)}})
            case "choose_model" if self.choices:
                return instrc.Reply({step: self.choices.pop(0)})
            case "choose_model":
                return instrc.Reply({step: {"id": schema["properties"]["id"]["enum"][0], "reason": "The first."}})
            case "do_yourself":
                return instrc.Reply({step: {"text": "done by the language model"}})
            case "answer_directly":
                return instrc.Reply({step: {"answer": "Hello."}})
        return instrc.Reply({step: ANSWER})

    def asked(self, name: str) -> list[instrc.Request]:
        return [request for each, request in self.sent if each == name]

    def records(self) -> list[Any]:
        (request,) = self.asked("answer_from_records")
        known = json.loads(request.message.split("-----")[1])
        (found,) = (value["output"] for key, value in known.items() if key.endswith("sort_records"))
        return list(found)


def task(tool: str, name: str, after: list[str] | None = None, **arguments: Any) -> dict[str, Any]:
    return {"tool": f"{tool}_Activity", "id": name, "arguments": arguments, **({"after": after} if after else {})}


def original(tool: str, number: int, dep: list[int], **args: Any) -> dict[str, Any]:
    return {"task": tool, "id": number, "dep": dep, "args": args}


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with agent.service() as service:
        yield service


@pytest.fixture
def service(started: Any) -> Iterator[Any]:
    yield started
    started.modes.clear()


def carried_out(service: Any, *tasks: Any) -> list[Any]:
    model = Plays(list(tasks))
    run = agent.played("Do it.", model, service.url)
    assert run.outcome["status"] == "done", run.outcome
    return model.records()


def ids(task_type: str) -> list[str]:
    return [model["id"] for model in agent.Registry().models[task_type]]


def test_a_request_is_planned_carried_out_and_answered(service: Any) -> None:
    model = Plays([task("text-to-image", "t0", text="a cat"), task("image-to-text", "t1", image={"from": "t0.image"})])
    run = agent.played("Draw a cat and tell what is on it.", model, service.url)
    assert run.value == ANSWER
    painted, told = model.records()
    assert Path(painted["output"]["image"]).read_bytes().startswith(b"\x89PNG")
    assert isinstance(told["output"]["text"], str)
    assert painted["output"]["model"] == ids("text-to-image")[0]
    process = agent.compiled(agent.PROGRAM)
    assert not list(Draft202012Validator(process).iter_errors(run.record))


@pytest.mark.parametrize("tool", sorted(agent.LANGUAGE))
def test_what_a_language_model_does_itself_is_answered_directly(service: Any, tool: str) -> None:
    model = Plays([task(tool, "t0", text="Good morning.")])
    assert agent.played("Translate: Good morning.", model, service.url).value == {"answer": "Hello."}
    assert [name for name, _ in model.sent] == ["plan_tasks", "answer_directly"]


def test_a_request_that_needs_no_task_is_answered_directly(service: Any) -> None:
    assert agent.played("Hi!", Plays([]), service.url).value == {"answer": "Hello."}


@pytest.fixture(scope="module")
def one_of_each(started: Any) -> dict[str, Any]:
    tools = sorted(agent.Registry().models)
    tasks = [
        task(tool, f"t{number}") | {"arguments": dict.fromkeys(agent.tools()[f"{tool}_Activity"]["arguments"]["properties"], "x")}
        for number, tool in enumerate(tools)
    ]
    return dict(zip(tools, carried_out(started, *tasks), strict=True))


@pytest.mark.parametrize("tool", sorted(agent.Registry().models))
def test_every_type_of_task_gives_the_kind_that_its_vibe_says(one_of_each: dict[str, Any], tool: str) -> None:
    found = one_of_each[tool]
    assert found["status"] == "ok"
    assert set(found["output"]) == set(agent.tools()[f"{tool}_Activity"]["output"]["properties"])


# choosing a model


def test_candidates_are_the_first_five_of_ten_that_answer_in_the_order_of_the_registry(service: Any) -> None:
    first = ids("text-to-image")
    service.modes.update({first[0]: "down", first[3]: "down"})
    model = Plays([task("text-to-image", "t0", text="a cat")])
    agent.played("Draw", model, service.url)
    (request,) = model.asked("choose_model")
    (schema,) = request.schema["properties"].values()
    assert schema["properties"]["id"]["enum"] == [first[at] for at in (1, 2, 4, 5, 6)]
    (shown,) = (v["output"]["models"] for k, v in json.loads(request.message.split("-----")[1]).items() if "offer" in k)
    assert all(
        set(each) == {"id", "endpoint", "likes", "description", "tags"} and len(each["description"]) <= 100 for each in shown
    )


def test_one_candidate_is_taken_without_asking_the_model(service: Any) -> None:
    first = ids("text-to-image")[:10]
    service.modes.update(dict.fromkeys(first[:9], "down"))
    model = Plays([task("text-to-image", "t0", text="a cat")])
    agent.played("Draw", model, service.url)
    assert model.records()[0]["output"]["model"] == first[9]
    assert not model.asked("choose_model")


def test_no_candidate_is_a_result_with_an_error(service: Any) -> None:
    service.modes.update(dict.fromkeys(ids("text-to-image")[:10], "down"))
    (record,) = carried_out(service, task("text-to-image", "t0", text="a cat"))
    assert record["status"] == "failed"
    assert record["error"]["code"] == "no-model"
    assert "text-to-image" in record["error"]["message"]


def test_an_id_that_is_no_candidate_is_asked_again_and_quotes_break_nothing(service: Any) -> None:
    first = ids("text-to-image")[0]
    reason = 'It is "the best", they\'d say: {"id": 1}'
    model = Plays(
        [task("text-to-image", "t0", text="a")], choices=({"id": "no/such", "reason": ""}, {"id": first, "reason": reason})
    )
    agent.played("Draw", model, service.url)
    assert len(model.asked("choose_model")) == 2
    assert model.records()[0]["output"]["reason"] == reason


# running


def test_a_failing_model_skips_what_depends_on_it_and_nothing_else(service: Any) -> None:
    service.modes[ids("text-to-image")[0]] = "error"
    found = carried_out(
        service,
        task("text-to-image", "t0", text="a cat"),
        task("image-to-text", "t1", image={"from": "t0.image"}),
        task("text-to-speech", "t2", text="hello"),
    )
    assert [each["status"] for each in found] == ["failed", "skipped", "ok"]
    assert found[0]["error"]["code"] == "503"
    assert "t0" in json.dumps(found[1]["error"])
    assert all("<GENERATED>" not in json.dumps(each) for each in found)


def test_records_are_in_the_order_of_ids(service: Any) -> None:
    found = carried_out(service, *(task("text-to-speech", f"t{n}", text="x") for n in (10, 2, 1)))
    assert [each["id"] for each in found] == ["t1", "t2", "t10"]


def test_user_text_reaches_the_model_as_it_is(service: Any) -> None:
    text = "Say 'hi' to \"{{input}}\", <GENERATED>-0 {context}\n"
    model = Plays([])
    agent.played(text, model, service.url)
    assert all(json.loads(request.message.split("-----")[1])["prompt"] == text for _, request in model.sent)


@pytest.mark.parametrize("wrong", [{}, {"error": "x"}, "[ ]", [{"tool": "text-to-image_Activity"}], [task("paint", "t0")]])
def test_what_is_no_plan_is_asked_again(service: Any, wrong: Any) -> None:
    model = Plays(wrong, [task("text-to-speech", "t0", text="an error")])
    agent.played("Say it.", model, service.url)
    assert len(model.asked("plan_tasks")) == 2
    assert model.records()[0]["status"] == "ok"


# plans in the original's own form


def plan(*tasks: Any) -> Any:
    found = agent.read_plan(list(tasks))
    assert not found.problems
    return found


def test_explicit_dependencies_are_kept_beside_references() -> None:
    found = plan(
        original("text-to-image", 0, [-1], text="a"),
        original("text-to-speech", 1, [0], text="b"),
        original("image-to-text", 2, [1], image="<GENERATED>-0"),
    )
    assert found.plan[1]["after"] == ["t0"]
    assert found.plan[2] == task("image-to-text", "t2", ["t1"], image={"from": "t0.image"})


def test_a_forward_dependency_runs_after_what_it_needs(service: Any) -> None:
    found = plan(original("image-to-text", 0, [1], image="<GENERATED>-1"), original("text-to-image", 1, [-1], text="a cat"))
    assert [each["status"] for each in carried_out(service, *found.plan)] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("tasks", "name"),
    [
        ([original("image-to-text", 0, [7], image="<GENERATED>-7")], "dangling-task"),
        ([original("text-to-speech", 0, [7], text="a")], "dangling-task"),
        ([original("image-to-text", 0, [1], image="a"), original("image-to-text", 1, [0], image="b")], "circular-plan"),
        ([original("paint", 0, [-1], text="a")], "unknown-tool"),
        ([original("text-to-image", 0, [-1], text="a")] * 2, "duplicate-task"),
        ([original("text-to-image", 0, [-1])], "missing-argument"),
        ([original("text-to-speech", 0, [-1], text="say <GENERATED>-0 aloud")], "tag-in-text"),
        ([original("text-to-speech", 0, [-1], text={})], "wrong-argument"),
        ([original("text-to-speech", 0, [-1], text=[])], "wrong-argument"),
        ({"task": "text-to-image"}, "no-plan"),
        ("I have an error", "no-plan"),
        ([7], "no-task"),
        ([original("text-to-image", 0, ["0"], text="a")], "no-task"),  # type: ignore[list-item]
        (
            [original("text-to-speech", 0, [-1], text="a"), original("image-to-text", 1, [0], image="<GENERATED>-0")],
            "no-such-kind",
        ),
    ],
)
def test_a_faulty_plan_has_a_problem_before_anything_runs(tasks: Any, name: str) -> None:
    assert any(problem.startswith(f"{name}: ") for problem in agent.read_plan(tasks).problems)


@pytest.mark.parametrize("text", ["[]", "[ ]", " [\n]"])
def test_an_empty_list_is_an_empty_plan(text: str) -> None:
    assert agent.read_plan(text) == agent.read_plan([])


@pytest.mark.parametrize("text", ["red, blue", "a-b/c-1.png", "<GENERATED>", "GENERATED-0", "1,2", "error"])
def test_only_a_tag_is_a_tag(text: str) -> None:
    found = plan(original("text-to-speech", 0, [-1], text=text))
    assert found.plan[0]["arguments"] == {"text": text}
    assert not found.notes


def test_a_number_is_read_as_a_text_with_a_note() -> None:
    found = plan(original("text-to-speech", 0, [-1], text=7))
    assert found.plan[0]["arguments"] == {"text": "7"}
    assert len(found.notes) == 1


@pytest.mark.parametrize("tag", ["<GENERATED-0>", ["<GENERATED>-0"], ["<GENERATED-0>"]])
def test_other_spellings_of_a_tag_are_read_with_a_note(tag: Any) -> None:
    found = plan(original("text-to-image", 0, [-1], text="a"), original("image-to-text", 1, [0], image=tag))
    assert found.plan[1]["arguments"] == {"image": {"from": "t0.image"}}
    assert found.notes


def test_a_dependant_gets_the_kind_it_needs_from_the_nearest_task_that_has_it(service: Any) -> None:
    found = plan(
        original("text-to-image", 0, [-1], text="a street"),
        original("object-detection", 1, [0], image="<GENERATED>-0"),
        original("image-to-text", 2, [1], image="<GENERATED>-1"),
    )
    assert found.plan[2] == task("image-to-text", "t2", ["t1"], image={"from": "t0.image"})
    assert len(found.notes) == 1
    assert [each["status"] for each in carried_out(service, *found.plan)] == ["ok"] * 3


def test_a_task_that_the_model_answers_hands_on_its_output(service: Any) -> None:
    found = plan(original("translation", 0, [-1], text="hallo"), original("text-to-speech", 1, [0], text="<GENERATED>-0"))
    model = Plays(found.plan)
    run = agent.played("Say it in English.", model, service.url)
    assert model.records()[0]["output"]["text"] == "done by the language model"
    spoken = [each for each in run.trace if each["event"] == "launched" and "t1" in each["id"]]
    assert spoken
    (request,) = model.asked("choose_model")
    assert json.loads(request.message.split("-----")[1])["prompt"] == {"text": "done by the language model"}


def test_several_tags_make_copies_with_ids_of_their_own(service: Any) -> None:
    found = plan(
        original("text-to-image", 0, [-1], text="a"),
        original("text-to-image", 1, [-1], text="b"),
        original("image-to-text", 2, [0, 1], image="<GENERATED>-0, <GENERATED>-1"),
        original("text-to-speech", 3, [2], text="<GENERATED>-2"),
    )
    assert [each["id"] for each in found.plan] == ["t0", "t1", "t2_1", "t2_2", "t3_1", "t3_2"]
    assert [each["arguments"] for each in found.plan[2:4]] == [{"image": {"from": "t0.image"}}, {"image": {"from": "t1.image"}}]
    assert [each["arguments"] for each in found.plan[4:]] == [{"text": {"from": "t2_1.text"}}, {"text": {"from": "t2_2.text"}}]
    records = carried_out(service, *found.plan)
    assert [each["id"] for each in records] == [each["id"] for each in found.plan]
    assert {each["status"] for each in records} == {"ok"}


@pytest.mark.parametrize(
    ("texts", "pairs"),
    [
        (["a", "b"], ["0a", "1b"]),
        (["a", "b", "c"], ["0a", "0b", "0c", "1a", "1b", "1c"]),
        ("a", ["0a", "1a"]),
    ],
)
def test_two_lists_pair_up_if_equally_long_else_every_pair(texts: Any, pairs: list[str]) -> None:
    found = plan(
        original("text-to-image", 0, [-1], text="x"),
        original("text-to-image", 1, [-1], text="y"),
        original("visual-question-answering", 2, [0, 1], image="<GENERATED>-0,<GENERATED>-1", text=texts),
    )
    made = [each["arguments"] for each in found.plan[2:]]
    assert [each["image"]["from"][1] + each["text"] for each in made] == pairs
    assert len({each["id"] for each in found.plan}) == len(found.plan)


@pytest.mark.parametrize(
    "hostile", [None, 7, "", "[" * 100_000, [[]], [{"task": 1}], {"a": 1}, [original("text-to-image", 10**30, [-1])]]
)
def test_whatever_is_given_is_read_or_has_a_problem(hostile: Any) -> None:
    assert agent.read_plan(hostile).problems


def test_copies_of_copies_are_bounded() -> None:
    tags = ",".join(["<GENERATED>-0"] * 100)
    found = agent.read_plan(
        [original("text-to-image", 0, [-1], text="a"), original("visual-question-answering", 1, [0], image=tags, text=["x"] * 99)]
    )
    assert [problem.partition(":")[0] for problem in found.problems] == ["too-many-tasks"]
