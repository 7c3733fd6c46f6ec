"""The vectors of `schemas/vectors`: runs that any engine can be tested by, as files; those that are not there are written.

`contract_vectors.py` writes them from the cases below.  A file that is there stays: it is what other engines rest on.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from written_processes import (
    DECISION,
    LOOP,
    TEXT,
    attempt,
    call,
    chunk,
    do,
    each,
    is_,
    otherwise,
    process,
    repeat,
    step,
    when,
)

from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.text.jsontext import dumps, loads

FOLDER = Path(__file__).parents[2] / "schemas" / "vectors"


def t(text: str) -> Any:
    return {"text": text}


def error(kind: str, code: Any = None, message: str = "down") -> Any:
    return {"error": {"kind": kind, "code": code, "message": message}}


ANY: Any = {}
GO = {"prompt": "go"}
OUTPUT = {"type": "object", "properties": {"output": {"type": "string"}}, "required": ["output"]}
META = {
    "type": "object",
    "properties": {"_why": {}, "text": {"type": "string"}, "$sure": {"type": "number"}},
    "required": ["text"],
}
FAIL = {"type": "object", "fail": True}
TOOLS = {"Find": {"activity": "Find", "arguments": {"properties": {"q": {}}}, "output": {}}}
PLAN = [
    {"tool": "Find", "id": "days", "arguments": {"q": 1}},
    {"tool": "Find", "id": "bad", "arguments": {"q": 2}},
    {"tool": "Find", "id": "each", "arguments": {"q": {"each": "days.list"}}},
    {"tool": "Find", "id": "late", "arguments": {"q": {"from": "bad"}}},
]
WRITE = {"llmContext1": chunk(step1_write=step(TEXT, "prompt"))}
TWO_FAIL = process(serverContext1=chunk(step1_slow=call("Slow", "prompt"), step2_bad=call("Bad", "prompt")))
CASES: dict[str, tuple[str, Any, Any, list[tuple[str, Any]], dict[str, Any]]] = {
    "chain": (
        "What a step gives is read by paths; independent commands are issued together.",
        process(
            **WRITE,
            serverContext1=chunk(step2_one=call("One", "step1_write.text"), step3_two=call("Two", "prompt")),
            llmContext2=chunk(step4_end=step(TEXT, "step2_one", "step3_two.text")),
        ),
        GO,
        [
            ("serverContext1.step3_two", t("2")),
            ("llmContext1", {"step1_write": t("w")}),
            ("serverContext1.step2_one", t("1")),
            ("llmContext2", {"step4_end": t("e")}),
        ],
        {},
    ),
    "after": (
        "A step begins when what it is after has ended, a block with all that is in it; it reads nothing of that.",
        {
            "instrc": 2,
            **process(
                serverContext1=chunk(step1_book=call("Book", "prompt"), step2_look=call("Look", "prompt")),
                doContext1=do(process(serverContext2=chunk(step3_pay=call("Pay", "prompt"))), after=["step1_book"]),
                serverContext3=chunk(step4_send=call("Send", "prompt", after=["step2_look", "doContext1"])),
            ),
        },
        GO,
        [
            ("serverContext1.step1_book", t("b")),
            ("doContext1.serverContext2.step3_pay", t("p")),
            ("serverContext1.step2_look", t("l")),
            ("serverContext3.step4_send", t("s")),
        ],
        {},
    ),
    "context": (
        "Context is nested by the paths; a path below another is in it; a chunk shows its steps; what leads nowhere is null.",
        process(
            **WRITE,
            llmContext2=chunk(
                step2_end=step(
                    TEXT, "a.b", "a.b.c", "a.d", "llmContext1.step1_write", '"odd name".x', "nowhere.y", "step1_write.text"
                )
            ),
        ),
        {"prompt": "go", "a": {"b": {"c": 1}, "d": [2], "e": 3}, "odd name": {"x": 4}},
        [("llmContext1", {"step1_write": t("w")}), ("llmContext2", {"step2_end": t("e")})],
        {},
    ),
    "arguments": (
        "Arguments are a path, a list, an object, a constant, or optional: left out where they are null.",
        process(
            serverContext1=chunk(
                step1_a=call("A", "x.y", ANY),
                step2_b=call("B", ["x", {"const": [1]}], ANY),
                step3_c=call("C", {"n": {"const": None}, "o": {"path": "no", "optional": True}, "p": "x.y"}, ANY),
                step4_d=call("D", None, ANY, "prompt", "x.y"),
            )
        ),
        {"prompt": "go", "x": {"y": 5}},
        [(f"serverContext1.step{n}", n) for n in ("1_a", "2_b", "3_c", "4_d")],
        {},
    ),
    "output": (
        "Of an activity with `output` the handler gives that member; the value of the run is the member.",
        process(serverContext1=chunk(step1_a=call("A", "prompt", OUTPUT))),
        GO,
        [("serverContext1.step1_a", "x")],
        {},
    ),
    "halves": (
        "One key in a chunk of the model and one of a server is one step: the activity is called once, with its inputs.",
        process(
            llmContext1=chunk(step1_find=step({"type": "object", "properties": {"q": {}}, "required": ["q"]}, "prompt")),
            serverContext1=chunk(step1_find=step(OUTPUT, "step1_find", arguments="step1_find", activity="Find")),
        ),
        GO,
        [("llmContext1", {"step1_find": {"q": 1}}), ("serverContext1.step1_find", "x")],
        {"activities": ["Find"]},
    ),
    "thoughts": (
        "Thoughts and metrics are recorded, and shown only to who names them.",
        process(
            llmContext1=chunk(step1_a=step(META, "prompt")),
            llmContext2=chunk(step2_b=step(TEXT, "step1_a"), step3_c=step(TEXT, "step1_a._why")),
        ),
        GO,
        [
            ("llmContext1", {"step1_a": {"_why": "w", "text": "a", "$sure": 1}}),
            ("llmContext2", {"step2_b": t("b"), "step3_c": t("c")}),
        ],
        {},
    ),
    "fire": (
        "A step of a model whose name is registered is sent to that activity after its answer is accepted; nobody waits.",
        process(llmContext1=chunk(step1_log_event=step(META, "prompt"))),
        GO,
        [("llmContext1", {"step1_log_event": {"_why": "w", "text": "x"}})],
        {"activities": ["LogEvent"]},
    ),
    "direct-call": (
        "A direct call: the model fills in the tool, the activity gets what the arguments say; what it gives is not recorded.",
        {
            "tool": {"type": "object", "properties": {"step1_a": TEXT}, "required": ["step1_a"]},
            "activity": "Send",
            "arguments": "step1_a",
        },
        GO,
        [("llmContext1", {"step1_a": t("x")}), ("serverContext1.send", "sent")],
        {},
    ),
    "tool": (
        "A tool whose properties are no steps is one answer.",
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        GO,
        [("llmContext1", t("x"))],
        {},
    ),
    "asked-again": (
        "An answer that does not fit is asked for again, with the answer and what is wrong with it.",
        process(**WRITE),
        GO,
        [("llmContext1", {"step1_write": {}}), ("llmContext1#2", {"step1_write": t("x")})],
        {},
    ),
    "never-fits": (
        "After `asks` times the step has failed: kind `invalid`, code null, with all attempts.",
        process(**WRITE),
        GO,
        [("llmContext1", {"step1_write": {}}), ("llmContext1#2", 5)],
        {"asks": 1},
    ),
    "loop": (
        "A loop in a chunk is asked again with its last answer while `_continue` is true.",
        process(llmContext1=chunk(step1_think=step(LOOP, "prompt"))),
        GO,
        [
            ("llmContext1", {"step1_think": {"_iteration": 1, "text": "a", "_continue": True}}),
            ("llmContext1@2", {"step1_think": {"_iteration": 2, "text": "b", "_continue": False}}),
        ],
        {},
    ),
    "misfit": (
        "A result of an activity that does not fit fails the step: kind `invalid`, code null.",
        process(serverContext1=chunk(step1_a=call("A", "prompt"))),
        GO,
        [("serverContext1.step1_a", {"text": 1})],
        {},
    ),
    "error": (
        "An error has kind, code and message of the result; an unknown kind is `failed`, a code that is no text null.",
        process(
            tryContext1=attempt(
                process(serverContext1=chunk(step1_a=call("A", "prompt"))),
                process(serverContext2=chunk(step2_b=call("B", "error", ANY))),
                ("step1_a", "step2_b"),
                key="step3_try",
            ),
            serverContext3=chunk(step4_c=call("C", "step3_try")),
        ),
        GO,
        [
            ("tryContext1.serverContext1.step1_a", error("odd", 7)),
            ("tryContext1.else.serverContext2.step2_b", "noted"),
            ("serverContext3.step4_c", error("limit", "x")),
        ],
        {},
    ),
    "failure-ends-siblings": (
        "A failure ends its body; what is open in it is withdrawn; the record of the body that failed is not kept.",
        process(
            tryContext1=attempt(
                TWO_FAIL,
                process(serverContext2=chunk(step3_note=call("Note", "error.step"))),
                (None, "step3_note"),
                key="step4_try",
            )
        ),
        GO,
        [("tryContext1.serverContext1.step2_bad", error("failed", "7")), ("tryContext1.else.serverContext2.step3_note", t("n"))],
        {},
    ),
    "fail": (
        "A step with `fail` waits for all others of its body; step, kind and code are those of what it reads, if there are.",
        process(
            tryContext1=attempt(
                TWO_FAIL, process(serverContext2=chunk(step3_fail=step(FAIL, "error", arguments="error"))), key="step4_try"
            )
        ),
        GO,
        [("tryContext1.serverContext1.step2_bad", error("timeout", "late"))],
        {},
    ),
    "fail-by-text": (
        "A step with `fail` that reads a text fails with it: step is its key, kind `failed`, code null.",
        process(serverContext1=chunk(step1_fail=step(FAIL, "prompt", arguments="prompt"))),
        {"prompt": "no more"},
        [],
        {},
    ),
    "when": (
        "The first branch whose condition holds is entered; a missing value is null; the record begins with `branch`.",
        process(
            whenContext1=when(
                (is_("nowhere", 1), process(serverContext1=chunk(step1_a=call("A", "prompt"))), "step1_a"),
                (is_("prompt", "go"), process(serverContext2=chunk(step2_b=call("B", "prompt"))), "step2_b"),
                key="step3_when",
            ),
            whenContext2=when((is_("prompt", "stop"), process(serverContext3=chunk(step4_c=call("C", "prompt"))), None)),
        ),
        GO,
        [("whenContext1.serverContext2.step2_b", t("b"))],
        {},
    ),
    "each": (
        "The elements of a list, `elements` at a time; the key gives their values in order.",
        process(
            eachContext1=each(
                "x",
                "prompt",
                process(serverContext1=chunk(step1_a=call("A", {"x": "x"}))),
                value="step1_a.text",
                key="step2_each",
            )
        ),
        {"prompt": [7, 8, 9]},
        [
            ("eachContext1[2].serverContext1.step1_a", t("8")),
            ("eachContext1[1].serverContext1.step1_a", t("7")),
            ("eachContext1[3].serverContext1.step1_a", t("9")),
        ],
        {"elements": 2},
    ),
    "selected-elements": (
        "`when` chooses elements before the block, `first` takes so many of them; ids, record and value count those.",
        {
            "instrc": 2,
            **process(
                eachContext1=each(
                    "x",
                    "items",
                    process(serverContext1=chunk(step1_a=call("A", "x.n"))),
                    when={"allOf": [{"path": "x.ok", "schema": {"const": True}}, {"path": "x.n", "minimum": "low"}]},
                    first="count",
                    value="step1_a",
                    key="step2_each",
                )
            ),
        },
        {
            "prompt": "go",
            "low": 2,
            "count": 2,
            "items": [{"n": 9}, {"n": 1, "ok": True}, *({"n": n, "ok": True} for n in (2, 3, 4))],
        },
        [("eachContext1[1].serverContext1.step1_a", t("a")), ("eachContext1[2].serverContext1.step1_a", t("b"))],
        {},
    ),
    "no-count": (
        "A number of elements that is no whole number, 0 or more, fails with `not-a-count`.",
        {
            "instrc": 2,
            **process(
                eachContext1=each(
                    "x",
                    "items",
                    process(serverContext1=chunk(step1_a=call("A", "x"))),
                    max="count",
                    key="step2_each",
                    most=1000000,
                )
            ),
        },
        {"prompt": "go", "count": "2", "items": [1]},
        [],
        {},
    ),
    "compared-by-size": (
        "Two paths are compared as numbers: `minimum` is at least, `exclusiveMaximum` less; what is no number satisfies neither.",
        {
            "instrc": 2,
            **process(
                whenContext1=when(
                    ({"path": "prompt", "minimum": "low"}, process(serverContext1=chunk(step1_a=call("A", "prompt"))), "step1_a"),
                    ({"path": "low", "minimum": "high"}, process(serverContext2=chunk(step2_b=call("B", "prompt"))), "step2_b"),
                    (
                        {"path": "low", "exclusiveMaximum": "high"},
                        process(serverContext3=chunk(step3_c=call("C", "low"))),
                        "step3_c",
                    ),
                    key="step4_when",
                )
            ),
        },
        {"prompt": "9", "low": 3, "high": 3.5},
        [("whenContext1.serverContext3.step3_c", t("c"))],
        {},
    ),
    "each-of-nothing": (
        "An empty list gives an empty list; what is no list fails with `not-a-list`.",
        process(
            eachContext1=each("x", "none", process(serverContext1=chunk(step1_a=call("A", "x"))), key="step2_each"),
            eachContext2=each("x", "prompt", process(serverContext2=chunk(step3_b=call("B", "x"))), key="step4_each"),
        ),
        {"prompt": "go", "none": []},
        [],
        {},
    ),
    "too-many-elements": (
        "A list over `maxItems` fails: kind `limit`, code `too-many-elements`.",
        process(eachContext1=each("x", 3, process(serverContext1=chunk(step1_a=call("A", "x"))), key="step2_each", most=2)),
        GO,
        [],
        {},
    ),
    "repeat": (
        "Rounds read `round`, `previous` and `rounds`; `until` ends them; the key gives the value of the last.",
        process(
            repeatContext1=repeat(
                process(serverContext1=chunk(step1_a=call("A", {"n": "round", "before": "previous", "all": "rounds"}))),
                until=is_("step1_a.text", "2"),
                most=5,
                hands=["step1_a"],
                value="step1_a.text",
                key="step2_repeat",
            )
        ),
        GO,
        [("repeatContext1@1.serverContext1.step1_a", t("1")), ("repeatContext1@2.serverContext1.step1_a", t("2"))],
        {},
    ),
    "repeat-else": (
        "The `else` of a `repeat` runs when all its rounds are used up; it gives the value of its key.",
        process(
            repeatContext1=repeat(
                process(serverContext1=chunk(step1_a=call("A", "round"))),
                until=is_("step1_a.text", "never"),
                most=1,
                hands=["step1_a"],
                value="step1_a",
                key="step2_repeat",
            ),
            elseContext1=otherwise(process(serverContext2=chunk(step3_b=call("B", "rounds"))), value="step3_b"),
        ),
        GO,
        [("repeatContext1@1.serverContext1.step1_a", t("1")), ("elseContext1.serverContext2.step3_b", t("b"))],
        {},
    ),
    "do": (
        "A `do` is a body with a value.",
        process(doContext1=do(process(serverContext1=chunk(step1_a=call("A", "prompt"))), value="step1_a.text", key="step2_do")),
        GO,
        [("doContext1.serverContext1.step1_a", t("a"))],
        {},
    ),
    "delay": (
        "A delay is a timer before the step.",
        process(serverContext1=chunk(step1_a=call("A", "prompt", delay="PT1S"))),
        GO,
        [("serverContext1.step1_a!delay", None), ("serverContext1.step1_a", t("a"))],
        {},
    ),
    "within": (
        "A deadline is a timer beside the step: in time it is withdrawn, else the step fails with the kind `timeout`.",
        process(
            serverContext1=chunk(step1_a=call("A", "prompt", within="PT1S")),
            serverContext2=chunk(step2_b=call("B", "step1_a", within="PT1S")),
        ),
        GO,
        [("serverContext1.step1_a", t("a")), ("serverContext2.step2_b!within", None)],
        {},
    ),
    "within-try": (
        "On a `try` the deadline bounds its first body.",
        process(
            tryContext1=attempt(
                process(serverContext1=chunk(step1_a=call("A", "prompt"))),
                process(
                    serverContext2=chunk(step2_b=call("B", {"kind": "error.kind", "code": "error.code", "step": "error.step"}))
                ),
                ("step1_a", "step2_b"),
                key="step3_try",
                within="PT1S",
            )
        ),
        GO,
        [("tryContext1!within", None), ("tryContext1.else.serverContext2.step2_b", t("b"))],
        {},
    ),
    "person": (
        "A chunk is one form, one step alone is its value; what a wrong answer does not answer is asked again under the same id.",
        process(
            userContext1=chunk(step1_ok=step(DECISION, "prompt", arguments="prompt")),
            userContext2=chunk(
                step2_a=step(TEXT, "step1_ok", arguments="step1_ok"), step3_b=step(TEXT, "prompt", arguments="prompt")
            ),
        ),
        GO,
        [
            ("userContext1", {"decision": "Perhaps"}),
            ("userContext1", {"decision": "Approve"}),
            ("userContext2", {"step2_a": t("a"), "step3_b": t("b")}),
        ],
        {},
    ),
    "refused": (
        "A refusal that no condition reads stops the run.",
        process(
            userContext1=chunk(step1_ok=step(DECISION, "prompt", arguments="prompt")),
            serverContext1=chunk(step2_send=call("Send", "step1_ok")),
        ),
        GO,
        [("userContext1", {"decision": "Reject"})],
        {},
    ),
    "refusal-is-read": (
        "A refusal that a condition reads is a value.",
        process(
            userContext1=chunk(step1_ok=step(DECISION, "prompt", arguments="prompt")),
            whenContext1=when(
                (is_("step1_ok.decision", "Approve"), process(serverContext1=chunk(step2_a=call("A", "prompt"))), "step2_a"),
                (None, process(serverContext2=chunk(step3_b=call("B", "prompt"))), "step3_b"),
                key="step4_when",
            ),
        ),
        GO,
        [("userContext1", {"decision": "Reject"}), ("whenContext1.serverContext2.step3_b", t("b"))],
        {},
    ),
    "plan": (
        "Tasks of a plan: copies over a list; one that has failed skips those that wait for it; the step does not fail.",
        process(serverContext1=chunk(step1_run=call("RunPlan_Activity", "prompt", {"type": "array"}, plan={"tools": TOOLS}))),
        {"prompt": PLAN},
        [
            ("serverContext1.step1_run[days]", {"list": [5, 6]}),
            ("serverContext1.step1_run[each[1]]", "six"),
            ("serverContext1.step1_run[bad]", error("failed", "404")),
            ("serverContext1.step1_run[each[0]]", "five"),
        ],
        {},
    ),
    "bad-plan": (
        "A plan that is wrong fails the step: kind `plan`, and the name of the problem as code.",
        process(serverContext1=chunk(step1_run=call("RunPlan_Activity", "prompt", {"type": "array"}, plan={"tools": TOOLS}))),
        {"prompt": [{"tool": "Nobody", "id": "a", "arguments": {}}]},
        [],
        {},
    ),
    "among": (
        "The choices of a property are known when it is asked; without any the step fails with `no-choice`.",
        process(
            llmContext1=chunk(
                step1_pick=step(
                    {"type": "object", "properties": {"who": {"type": "string", "among": "prompt"}}, "required": ["who"]},
                    "prompt",
                )
            ),
            llmContext2=chunk(
                step2_pick=step(
                    {"type": "object", "properties": {"who": {"type": "string", "among": "none"}}, "required": ["who"]},
                    "step1_pick",
                )
            ),
        ),
        {"prompt": ["ann", "ben"], "none": []},
        [("llmContext1", {"step1_pick": {"who": "ben"}})],
        {},
    ),
    "budget": (
        "Over the budget a chunk is not asked: kind `limit`, code `requests` or `tokens`.",
        process(**WRITE, llmContext2=chunk(step2_end=step(TEXT, "step1_write"))),
        GO,
        [("llmContext1", {"step1_write": t("w")})],
        {"requests": 1},
    ),
    "value": (
        "`value` at the root is what the run gives.",
        {**process(**WRITE), "value": {"said": "step1_write.text", "n": {"const": 1}}},
        GO,
        [("llmContext1", {"step1_write": t("w")})],
        {},
    ),
    "no-last-key": (
        "A run without a key gives null, and an empty output.",
        process(doContext1=do(process(serverContext1=chunk(step1_a=call("A", "prompt"))))),
        GO,
        [("doContext1.serverContext1.step1_a", t("a"))],
        {},
    ),
}


def result_of(given: Any) -> Any:
    return given if isinstance(given, dict) and given.keys() == {"error"} else {"ok": given}


def played(case: Any) -> dict[str, Any]:
    """Return a case as a vector: each command that is issued, each result, the end."""
    about, document, inputs, script, options = case
    options = dict(options)
    activities = options.pop("activities", [])
    plan = plan_of(document, activities=activities, **options)
    state = versions.begin(plan, loads(dumps(inputs)))
    moves: list[Any] = [{"commands": loads(dumps(versions.issue(plan, state)))}]
    for command, given in script:
        result = result_of(given)
        open_ = {each["id"] for each in versions.pending(plan, state)}
        assert command in open_, f"{command} is not open: {sorted(open_)}"
        gone = sorted(versions.apply(plan, state, command, result))
        moves.append(
            {"answered": command, "result": result, "withdrawn": gone, "commands": loads(dumps(versions.issue(plan, state)))}
        )
    made = {"about": about, "process": document, "inputs": inputs, "activities": activities, "options": options, "moves": moves}
    return {**made, "outcome": versions.outcome(plan, state), "record": versions.record(plan, state)}


def write() -> None:
    """Write the vectors that are not there."""
    for name, case in CASES.items():
        file = FOLDER / f"{name}.json"
        if not file.exists():
            vector = played(case)
            assert vector["outcome"] is not None, f"{name} does not end"
            file.write_text(dumps(vector) + "\n", encoding="utf-8")
            print(f"{name}: {vector['outcome']}")  # noqa: T201  -- a program


if __name__ == "__main__":
    write()
