"""Golden journals: whole runs as files, with every command and every answer, that each later release has to replay.

`journals.py FOLDER` writes those that are not there; one that is there stays: it stands for runs in flight.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))

from durable.dying import DOCUMENT, INPUTS
from written_processes import LOOP, TEXT, call, chunk, do, each, is_, otherwise, process, repeat, step, when

from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.models.model import instance_of
from instrc.runtime.plan import plan_of
from instrc.text.jsontext import dumps, loads

EXAMPLES = Path(__file__).parents[2] / "examples"
BLOCKS = process(
    llmContext1=chunk(step1_think=step(LOOP, "prompt")),
    repeatContext1=repeat(
        process(
            llmContext2=chunk(step2_try=step(TEXT, "rounds")),
            serverContext1=chunk(step3_judge=call("Judge", "step2_try.text", within="PT9S")),
        ),
        until=is_("step3_judge.text", "never"),
        most=2,
        hands=["step2_try"],
        value="step3_judge",
        key="step4_repeat",
    ),
    elseContext1=otherwise(process(llmContext3=chunk(step5_sum=step(TEXT, "rounds"))), value="step5_sum"),
    doContext1=do(process(serverContext2=chunk(step6_wait=call("Wait", "step4_repeat", delay="PT1S"))), key="step7_do"),
    eachContext1=each("n", 3, process(llmContext4=chunk(step8_one=step(TEXT, "n"))), value="step8_one", key="step9_each"),
    whenContext1=when(
        (is_("step7_do", 1), process(serverContext3=chunk(step10_a=call("A", "prompt"))), None),
        (None, process(serverContext4=chunk(step10_b=call("B", "step9_each", schema=TEXT))), "step10_b"),
        key="step11_when",
    ),
)


def documents() -> dict[str, tuple[Any, Any]]:
    """Return processes with their inputs, by name: two by hand that hold every block, and the compiled examples."""
    found = {"every-effect": (DOCUMENT, INPUTS), "every-block": (BLOCKS, {"prompt": "go"})}
    for file in sorted(EXAMPLES.glob("**/expected/**/*.process.json")):
        document = loads(file.read_bytes())
        inputs = {name: instance_of(schema) for name, schema in document.get("inputs", {}).items()}
        found[file.relative_to(EXAMPLES).as_posix().replace("/", "--").removesuffix(".process.json")] = (
            document,
            {"prompt": "go", **inputs},
        )
    return found


def answer_to(command: Any, times: int) -> Any:
    """Answer a command, the first time with what does not fit where a model or a person is asked."""
    kind = command["kind"]
    if kind == "timer":
        return {"ok": None}
    if kind == "model" and not times and command["id"] == "llmContext1":
        return {"ok": {"odd": 1}, "usage": {"input_tokens": 3}}
    if kind == "activity" and command["activity"] == "Bad":
        return {"error": {"kind": "failed", "code": "7", "message": "down"}}
    value = instance_of(command["schema"])
    if kind == "activity" and isinstance(value, dict) and value.keys() == {"output"}:
        value = value["output"]
    return {"ok": value}


def played(plan: Any, inputs: Any) -> dict[str, Any]:
    """Return a run from its beginning to its end."""
    state = versions.begin(plan, inputs)
    waiting: list[Any] = []
    moves: list[Any] = []
    times: dict[str, int] = {}
    while True:
        new = versions.issue(plan, state)
        waiting += [command for command in new if command["kind"] != "fire"]
        moves.append({"issued": loads(dumps(new))})
        if (outcome := versions.outcome(plan, state)) is not None:
            break
        due = [command for command in waiting if not command["id"].endswith("!within")] or waiting
        command = due[-1 if len(moves) % 3 == 0 else 0]
        waiting.remove(command)
        result = answer_to(command, times.get(command.get("chunk", ""), 0))
        if "chunk" in command:
            times[command["chunk"]] = times.get(command["chunk"], 0) + 1
        gone = versions.apply(plan, state, command["id"], result)
        moves[-1] |= {"answered": command["id"], "result": result, "withdrawn": sorted(gone)}
        waiting = [each for each in waiting if each["id"] not in gone]
    return {"plan": plan, "inputs": inputs, "moves": moves, "outcome": outcome, "record": versions.record(plan, state)}


def write(folder: Path) -> None:
    """Write the journals that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (document, inputs) in documents().items():
        file = folder / f"{name}.json"
        if not file.exists():
            journal = played(plan_of(document, activities=["Plan"]), inputs)
            file.write_text(dumps(journal, indent=False) + "\n", encoding="utf-8")
            print(f"{file.name}: {len(journal['moves'])} moves, {journal['outcome']['status']}")  # noqa: T201  -- a program


if __name__ == "__main__":
    write(Path(sys.argv[1]))
