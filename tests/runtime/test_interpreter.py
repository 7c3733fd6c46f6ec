"""What a run does next is a function of its plan and of what has come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from written_processes import DECISION, TEXT, attempt, call, chunk, do, each, is_, otherwise, process, repeat, step, when

import instrc
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.interpreter.v1 import blocks, values  # a limit; what is done once, not for each element
from instrc.runtime.plan import plan_digest, plan_of  # the digest that a changed plan would have
from instrc.schema.walk import with_definitions  # as it counts
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json

Answer = Callable[[Any], Any]


class Played:
    """A run that is played to its end by a function from commands to results."""

    def __init__(self, document: Any, answer: Answer, inputs: Any = None, *, stored: bool = True, **options: Any) -> None:
        self.document = document
        self.plan = plan_of(document, **options)
        self.state = versions.begin(self.plan, inputs or {"prompt": "go"})
        self.commands: list[Any] = []
        self.withdrawn: list[str] = []
        waiting: list[Any] = []
        while True:
            new = versions.issue(self.plan, self.state)
            self.commands += new
            waiting += [command for command in new if command["kind"] != "fire"]
            self.state = loads(dumps(self.state)) if stored else self.state
            if self.outcome is not None:
                break
            answered = ((command, answer(command)) for command in waiting)
            ready = next((pair for pair in answered if pair[1] is not None), None)
            if ready is None:
                break
            waiting.remove(ready[0])
            gone = versions.apply(self.plan, self.state, ready[0]["id"], ready[1])
            self.withdrawn += gone
            waiting = [command for command in waiting if command["id"] not in gone]
        if self.outcome is not None and self.outcome["status"] == "done" and isinstance(document, dict):
            Draft202012Validator(self.plan["process"]).validate(self.record)

    @property
    def outcome(self) -> Any:
        return versions.outcome(self.plan, self.state)

    @property
    def record(self) -> Any:
        return versions.record(self.plan, self.state)

    @property
    def ids(self) -> list[str]:
        return [command["id"] for command in self.commands]

    def command(self, id_: str) -> Any:
        return next(command for command in self.commands if command["id"] == id_)


def ok(value: Any) -> Any:
    return {"ok": value}


def by_id(**answers: Any) -> Answer:
    """Answer by the end of a command's id, dots and brackets written as `_`."""

    def answer(command: Any) -> Any:
        if command["kind"] == "timer":
            return None
        name = command["id"].rpartition(".")[2].partition("#")[0] if command["kind"] != "activity" else command["step"]
        found = answers[name]
        return found(command) if callable(found) else ok(found)

    return answer


def failed(message: str = "it broke", code: str | None = None) -> Any:
    return {"error": {"kind": "failed", "code": code, "message": message}}


LINE = process(
    llmContext1=chunk(step1_a=step(TEXT, "prompt"), step2_b=step(TEXT, "step1_a")),
    serverContext1=chunk(step3_c=call("C_Activity", {"x": "step2_b.text", "n": {"const": 3}}, TEXT, "step2_b")),
    llmContext2=chunk(step4_d=step(TEXT, "step1_a.text", "step3_c")),
)


def test_a_line_of_chunks_runs_from_chunk_to_chunk() -> None:
    played = Played(
        LINE,
        by_id(
            llmContext1={"step1_a": {"text": "a"}, "step2_b": {"text": "b"}},
            step3_c={"text": "c"},
            llmContext2={"step4_d": {"text": "d"}},
        ),
    )
    assert played.ids == ["llmContext1", "serverContext1.step3_c", "llmContext2"]
    assert played.command("llmContext1")["context"] == {"prompt": "go"}
    assert played.command("serverContext1.step3_c")["input"] == {"x": "b", "n": 3}
    assert played.command("llmContext2")["context"] == {"step1_a": {"text": "a"}, "step3_c": {"text": "c"}}
    assert played.outcome["status"] == "done"
    assert list(played.outcome["output"]) == ["step1_a", "step2_b", "step3_c", "step4_d"]
    assert played.outcome["value"] == {"text": "d"}


def test_thoughts_and_metrics_travel_only_by_a_path_that_names_them() -> None:
    thinking = {
        "type": "object",
        "properties": {"_why": {"type": "string"}, "text": {"type": "string"}, "$score": {"type": "integer"}},
    }
    played = Played(
        process(
            llmContext1=chunk(step1_a=thinking),
            llmContext2=chunk(step2_b=step(TEXT, "step1_a")),
            llmContext3=chunk(step3_c=step(TEXT, "step1_a", "step1_a._why")),
            llmContext4=chunk(step4_d=step(TEXT, "step1_a.$score")),
        ),
        by_id(
            llmContext1={"step1_a": {"_why": "w", "text": "a", "$score": 7}},
            llmContext2={"step2_b": {"text": "b"}},
            llmContext3={"step3_c": {"text": "c"}},
            llmContext4={"step4_d": {"text": "d"}},
        ),
    )
    assert played.command("llmContext2")["context"] == {"step1_a": {"text": "a"}}
    assert played.command("llmContext3")["context"] == {"step1_a": {"text": "a", "_why": "w"}}
    assert played.command("llmContext4")["context"] == {"step1_a": {"$score": 7}}
    assert played.outcome["output"]["step1_a"] == {"text": "a"}
    assert played.record["llmContext1"]["step1_a"]["_why"] == "w"


def test_an_invalid_answer_is_asked_again_with_what_is_wrong_and_fails_at_last() -> None:
    answers = iter([{"step1_a": {}}, {"step1_a": {"text": 1}}, {"step1_a": {"text": "x"}}])
    played = Played(process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))), lambda _command: ok(next(answers)))
    assert played.ids == ["llmContext1", "llmContext1#2", "llmContext1#3"]
    assert played.command("llmContext1#2")["rejected"] == {"step1_a": {}}
    assert played.command("llmContext1#3")["complaints"][0]["pointer"] == "/step1_a/text"
    assert played.outcome["status"] == "done"

    played = Played(process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))), lambda _command: ok({"step1_a": {}}))
    assert played.outcome["error"]["kind"] == "invalid"
    assert played.outcome["error"]["step"] == "step1_a"
    assert len(played.outcome["error"]["attempts"]) == 3


def test_a_loop_inside_a_chunk_asks_again_while_it_wants_to_go_on() -> None:
    looping = {
        "type": "object",
        "properties": {
            "_iteration": {"type": "integer", "maximum": 3},
            "text": {"type": "string"},
            "_continue": {"type": "boolean"},
        },
    }
    rounds = iter([True, True, True, True])

    def answer(command: Any) -> Any:
        return ok({"step1_a": {"_iteration": 1, "text": command["id"], "_continue": next(rounds)}})

    played = Played(process(llmContext1=chunk(step1_a=step(looping, "prompt"))), answer)
    assert played.ids == ["llmContext1", "llmContext1@2", "llmContext1@3"]
    assert played.command("llmContext1@2")["previous"] == {"step1_a": {"_iteration": 1, "text": "llmContext1", "_continue": True}}
    assert played.outcome["output"] == {"step1_a": {"text": "llmContext1@3"}}


MEETING = process(
    llmContext1=chunk(
        step1_people=step(
            {"type": "object", "properties": {"attendees": {"type": "array", "items": {"type": "string"}}}}, "prompt"
        )
    ),
    userContext1=chunk(step2_confirm=step(DECISION, "step1_people", arguments="step1_people")),
    whenContext1=when(
        (
            is_("step2_confirm.decision", "Approve"),
            process(
                eachContext1=each(
                    "person",
                    "step1_people.attendees",
                    process(
                        tryContext1=attempt(
                            process(serverContext1=chunk(step3_send=call("Send_Activity", {"to": "person"}))),
                            process(serverContext2=chunk(step4_note=call("Note_Activity", {"who": "person", "error": "error"}))),
                            ("step3_send", "step4_note"),
                            key="step5_try",
                        )
                    ),
                    value="step5_try",
                    key="step6_each",
                )
            ),
            "step6_each",
        ),
        (None, process(llmContext2=chunk(step7_thank=step(TEXT, "prompt"))), "step7_thank"),
        key="step8_when",
    ),
)


def _meeting(decision: str) -> Played:
    return Played(
        MEETING,
        by_id(
            llmContext1={"step1_people": {"attendees": ["a", "b", "c"]}},
            userContext1={"decision": decision},
            step3_send=lambda command: failed("bounced", "550") if command["input"]["to"] == "b" else ok({"text": "sent"}),
            step4_note={"text": "noted"},
            llmContext2={"step7_thank": {"text": "thanks"}},
        ),
    )


def test_branches_elements_and_failures_of_one_element_follow_the_data() -> None:
    played = _meeting("Approve")
    assert "whenContext1.eachContext1[2].tryContext1.else.serverContext2.step4_note" in played.ids
    noted = next(command for command in played.commands if command["kind"] == "activity" and command["step"] == "step4_note")
    assert noted["input"] == {
        "who": "b",
        "error": {"step": "step3_send", "kind": "failed", "code": "550", "message": "bounced"},
    }
    assert played.outcome["output"]["step8_when"] == [{"text": "sent"}, {"text": "noted"}, {"text": "sent"}]
    assert [element["tryContext1"]["branch"] for element in played.record["whenContext1"]["eachContext1"]] == [0, 1, 0]


def test_a_refusal_that_a_condition_reads_takes_the_other_branch() -> None:
    played = _meeting("Reject")
    assert played.outcome["status"] == "done"
    assert played.outcome["value"] == {"text": "thanks"}


def test_a_refusal_that_no_condition_reads_stops_the_run() -> None:
    document = process(
        userContext1=chunk(step1_confirm=step(DECISION, "prompt")),
        serverContext1=chunk(step2_send=call("Send_Activity", "step1_confirm")),
    )
    played = Played(document, by_id(userContext1={"decision": "Reject"}))
    assert played.outcome == {"status": "stopped", "step": "step1_confirm"}
    assert played.ids == ["userContext1"]


def test_a_wrong_answer_of_a_person_leaves_the_question_open() -> None:
    document = process(userContext1=chunk(step1_confirm=step(DECISION, "prompt")))
    answers = iter([{"decision": "Perhaps"}, {"decision": "Approve"}])
    played = Played(document, lambda _command: ok(next(answers)))
    assert played.ids == ["userContext1", "userContext1"]
    assert played.outcome["status"] == "done"


def test_a_person_is_shown_for_each_step_of_a_form_what_that_step_reads() -> None:
    document = process(userContext1=chunk(step1_confirm=step(DECISION, "prompt"), step2_why=step(TEXT, "note")))
    answer = {"step1_confirm": {"decision": "Approve"}, "step2_why": {"text": "good"}}
    played = Played(document, by_id(userContext1=answer), inputs={"prompt": "go", "note": "soon"})
    assert played.commands[0]["show"] == {"step1_confirm": {"prompt": "go"}, "step2_why": {"note": "soon"}}


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("step1_confirm", {}),
        (["step1_confirm", "prompt"], {"step2_why": "go"}),
        (["prompt", "step1_confirm.decision", "prompt"], {"step2_why": ["go", "go"]}),
        ({"answer": "step1_confirm.decision", "asked": "prompt"}, {"step2_why": {"asked": "go"}}),
    ],
)
def test_a_person_is_not_shown_what_the_same_form_only_asks_for(arguments: Any, shown: Any) -> None:
    confirm = {**DECISION, "references": ["prompt"], "arguments": "prompt"}
    why = {**TEXT, "references": ["prompt", "step1_confirm"], "arguments": arguments}
    document = process(userContext1=chunk(step1_confirm=confirm, step2_why=why))
    answer = {"step1_confirm": {"decision": "Approve"}, "step2_why": {"text": "good"}}
    played = Played(document, by_id(userContext1=answer), inputs={"prompt": "go"})
    assert played.commands[0]["show"] == {"step1_confirm": "go", **shown}
    assert played.outcome["status"] == "done"


DRAFTS = process(
    repeatContext1=repeat(
        process(
            llmContext1=chunk(step1_draft=step(TEXT, "prompt", "round", "previous", "rounds")),
            userContext1=chunk(step2_ask=step(DECISION, "step1_draft")),
        ),
        until=is_("step2_ask.decision", "Approve"),
        most=3,
        keep=2,
        hands=["step1_draft"],
        value="step1_draft",
        key="step3_repeat",
    )
)


DRAFTED = {"step1_draft": {"text": "draft"}}


def test_a_repeat_goes_on_until_its_condition_holds_and_hands_on_its_rounds() -> None:
    decisions = iter(["Reject", "Reject", "Approve"])
    played = Played(
        DRAFTS,
        lambda command: (
            ok({"decision": next(decisions)})
            if command["kind"] == "user"
            else ok({"step1_draft": {"text": f"draft {command['context']['round']}"}})
        ),
    )
    third = played.command("repeatContext1@3.llmContext1")["context"]
    assert third["round"] == 3
    assert third["previous"] == {"step1_draft": {"text": "draft 2"}}
    assert third["rounds"] == [{"step1_draft": {"text": "draft 1"}}, {"step1_draft": {"text": "draft 2"}}]
    assert played.command("repeatContext1@1.llmContext1")["context"]["previous"] is None
    assert played.outcome["value"] == {"text": "draft 3"}
    assert played.state["vain"] == []


def test_what_a_model_was_asked_stays_as_it_was_when_the_run_goes_on() -> None:
    played = Played(DRAFTS, lambda command: ok({"decision": "Reject"} if command["kind"] == "user" else DRAFTED), stored=False)
    asked = [played.command(f"repeatContext1@{number}.llmContext1")["context"]["rounds"] for number in (1, 2, 3)]
    assert asked == [[], [DRAFTED], [DRAFTED, DRAFTED]]


def test_a_repeat_that_ends_in_vain_on_a_refusal_stops_the_run() -> None:
    played = Played(
        DRAFTS,
        lambda command: ok({"decision": "Reject"}) if command["kind"] == "user" else ok({"step1_draft": {"text": "draft"}}),
    )
    assert played.outcome == {"status": "stopped", "step": "step2_ask"}


@pytest.mark.parametrize("path", ["previous.step1_ask.decision", "rounds"])
def test_a_refusal_that_the_next_round_reads_does_not_stop_the_run(path: str) -> None:
    changed = process(llmContext1=chunk(step2_change=step(TEXT, "prompt")))
    document = process(
        repeatContext1=repeat(
            process(
                whenContext1=when((is_(path, "Reject"), changed, None)),
                userContext1=chunk(step1_ask=step(DECISION, "prompt")),
            ),
            item="one",
            hands=["step1_ask"],
            value="step1_ask",
            key="step3_repeat",
            **{"in": {"const": ["a", "b"]}},
        )
    )
    decisions = iter(["Reject", "Approve"])
    changed_once = {"step2_change": {"text": "a"}}
    played = Played(document, lambda command: ok({"decision": next(decisions)} if command["kind"] == "user" else changed_once))
    assert played.outcome["status"] == "done"
    assert played.outcome["value"] == [{"decision": "Reject"}, {"decision": "Approve"}]


COMMENTED = {"type": "object", "properties": {"decision": {}, "comment": {}}, "required": ["decision"]}
SEND = process(serverContext1=chunk(step8_send=call("Send", "prompt")))
ASKED_EACH = {
    "eachContext1": each(
        "who",
        {"const": ["ann"]},
        process(userContext1=chunk(step1_ask=step(COMMENTED, "who"))),
        value={"who": "who", "ask": "step1_ask"},
        key="step2_each",
    )
}
ASKED = {"userContext1": chunk(step1_ask=step(COMMENTED, "prompt"))}


def _looked_at(source: Any, path: str) -> Any:
    return each("one", source, process(whenContext1=when((is_(path, "x"), SEND, None))))


def _in_lists(path: str) -> Any:
    lists = do(process(), value=["step2_each"], key="step3_lists")
    return {"doContext1": lists, "eachContext2": each("list", "step3_lists", process(eachContext3=_looked_at("list", path)))}


def _listed(path: str) -> Any:
    return {
        "doContext1": do(process(), value=["prompt", {"ask": "step1_ask"}], key="step3_list"),
        "eachContext1": _looked_at("step3_list", path),
    }


def _rounds(path: str) -> Any:
    body = process(whenContext1=when((is_(path, "x"), SEND, None)))
    return repeat(body, until=is_("round", 1), **{"from": {"ask": "step1_ask"}})


@pytest.mark.parametrize(
    ("contexts", "status"),
    [
        (ASKED_EACH | {"eachContext2": _looked_at("step2_each", "one.ask.decision")}, "done"),
        (ASKED_EACH | {"eachContext2": _looked_at("step2_each", "one.ask")}, "done"),
        (ASKED_EACH | {"eachContext2": _looked_at("step2_each", "one.ask.comment")}, "stopped"),
        (ASKED_EACH | {"eachContext2": _looked_at("step2_each", "one.who")}, "stopped"),
        (ASKED_EACH | {"whenContext1": when((is_("step2_each.ask.decision", "x"), SEND, None))}, "stopped"),
        (ASKED_EACH | _in_lists("one.ask.decision"), "done"),
        (ASKED_EACH | _in_lists("one.ask.comment"), "stopped"),
        (ASKED | _listed("one.ask.decision"), "done"),
        (ASKED | _listed("one.ask.comment"), "stopped"),
        (ASKED_EACH | {"eachContext2": each("one", "step2_each", SEND, when=is_("one.ask.decision", "Approve"))}, "done"),
        (ASKED_EACH | {"eachContext2": each("one", "step2_each", SEND, when=is_("one.ask.comment", "x"))}, "stopped"),
        (ASKED | {"eachContext1": each("one", 2, SEND, when=is_("step1_ask.decision", "Approve"))}, "done"),
        (ASKED | {"eachContext1": each("one", 2, SEND, when=is_("step1_ask.comment", "x"))}, "stopped"),
        (ASKED | {"repeatContext1": _rounds("previous.ask.decision")}, "done"),
        (ASKED | {"repeatContext1": _rounds("previous.ask.comment")}, "stopped"),
    ],
)
def test_a_refusal_is_read_only_by_a_condition_that_leads_to_it(contexts: Any, status: str) -> None:
    played = Played(
        process(**contexts), lambda command: ok({"decision": "Reject"} if command["kind"] == "user" else {"text": "sent"})
    )
    assert played.outcome["status"] == status


@pytest.mark.parametrize(("path", "status"), [("one.step1_ask.decision", "done"), ("one.step2_a", "stopped")])
def test_a_refusal_is_read_by_a_condition_on_the_same_member_of_a_round(path: str, status: str) -> None:
    asks = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")), serverContext2=chunk(step2_a=call("A", "prompt")))
    body = process(eachContext1=_looked_at("rounds", path), **asks["properties"])
    decisions = iter(["Reject", "Approve"])
    played = Played(
        process(repeatContext1=repeat(body, item="i", **{"in": 2})),
        lambda command: ok({"decision": next(decisions)} if command["kind"] == "user" else {"text": "a"}),
    )
    assert played.outcome["status"] == status


def test_values_of_rounds_may_lead_deeper_into_each_other() -> None:
    again = when(
        (is_("step1_ask.decision", "Approve"), process(), "step1_ask"),
        (None, process(), "previous.step2_when.a"),
        key="step2_when",
    )
    document = process(
        repeatContext1=repeat(
            process(userContext1=chunk(step1_ask=step(DECISION, "prompt")), whenContext1=again),
            until=is_("step2_when.decision", "Approve"),
            most=2,
        )
    )
    played = Played(document, lambda _command: ok({"decision": "Reject"}))
    assert played.outcome == {"status": "stopped", "step": "step1_ask"}


@pytest.mark.parametrize(
    ("value", "path", "other", "status"),
    [
        ("step1_ask", "step2_repeat.decision", None, "done"),
        ({"before": "previous"}, "step2_repeat.before.step1_ask.decision", None, "stopped"),
        ("step1_ask", "step2_repeat.decision", {"const": {"decision": "Perhaps"}}, "done"),
        ("step1_ask", "step2_repeat", "rounds", "stopped"),
    ],
)
def test_only_a_refusal_in_the_value_that_the_last_round_reads_stops_the_run(
    value: Any, path: str, other: Any, status: str
) -> None:
    asks = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")))
    until = is_("round" if other is None else "prompt", 2)
    inner = process(repeatContext2=repeat(asks, until=until, most=2, hands=["step1_ask"], value=value, key="step2_repeat"))
    if other is not None:
        inner["properties"]["elseContext1"] = otherwise(process(), "repeatContext2", value=other)
    decisions = iter(["Reject", "Approve" if other is None else "Reject"])
    played = Played(
        process(repeatContext1=repeat(inner, until=is_(path, "never"), most=1)),
        lambda _command: ok({"decision": next(decisions)}),
    )
    assert played.outcome["status"] == status


def test_the_else_of_a_repeat_sees_the_rounds_and_gives_the_value() -> None:
    document = process(
        repeatContext1=repeat(
            process(llmContext1=chunk(step1_try=step(TEXT, "prompt"))),
            until=is_("step1_try.text", "yes"),
            most=2,
            hands=["step1_try"],
            value="step1_try",
            key="step3_repeat",
        ),
        elseContext1=otherwise(process(llmContext2=chunk(step2_best=step(TEXT, "rounds"))), value="step2_best"),
        llmContext3=chunk(step4_end=step(TEXT, "step3_repeat")),
    )
    answers = {"llmContext1": {"step1_try": {"text": "no"}}, "llmContext2": {"step2_best": {"text": "best"}}}
    played = Played(document, by_id(**answers, llmContext3={"step4_end": {"text": "end"}}))
    assert played.command("elseContext1.llmContext2")["context"] == {
        "rounds": [{"step1_try": {"text": "no"}}, {"step1_try": {"text": "no"}}]
    }
    assert played.command("llmContext3")["context"] == {"step3_repeat": {"text": "best"}}
    assert played.state["vain"] == ["repeatContext1"]
    answers["llmContext1"] = {"step1_try": {"text": "yes"}}
    played = Played(document, by_id(**answers, llmContext3={"step4_end": {"text": "end"}}))
    assert played.command("llmContext3")["context"] == {"step3_repeat": {"text": "yes"}}
    assert played.record["elseContext1"] is None


def test_a_repeat_over_a_list_takes_one_element_after_the_other() -> None:
    document = process(
        repeatContext1=repeat(
            process(llmContext1=chunk(step1_a=step(TEXT, "word", "previous.step1_a.text"))),
            most=1000,
            item="word",
            value="step1_a.text",
            key="step2_repeat",
            **{"in": "prompt.words"},
        )
    )
    played = Played(
        document,
        lambda command: ok({"step1_a": {"text": command["context"]["word"]}}),
        inputs={"prompt": {"words": ["x", "y", "z"]}},
    )
    assert played.command("repeatContext1@2.llmContext1")["context"] == {
        "word": "y",
        "previous": {"step1_a": {"text": "x"}},
    }
    assert played.outcome["value"] == ["x", "y", "z"]
    assert Played(document, by_id(), inputs={"prompt": {}}).outcome["value"] == []


@pytest.mark.parametrize(("until", "values"), [(None, ["x", "y", "z"]), (is_("word.text", "y"), ["x", "y"])])
def test_a_repeat_over_a_list_whose_body_does_nothing_gives_the_value_of_each_round(until: Any, values: list[str]) -> None:
    engine = {"in": "prompt.words", "item": "word", "value": "word.text", "key": "step1_repeat"}
    document = process(repeatContext1=repeat(process(), until=until, most=1000, **engine))
    words = [{"text": "x"}, {"text": "y"}, {"text": "z"}]
    assert Played(document, by_id(), inputs={"prompt": {"words": words}}).outcome["value"] == values


def test_rounds_without_a_step_and_numbers_to_count_to_count_as_what_a_run_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LOOKED_AT", 100)
    rounds = process(repeatContext1=repeat(process(), until=is_("round", "never"), most=1000, key="step1_repeat"))
    assert Played(rounds, by_id()).outcome["error"]["code"] == "too-many-elements"
    numbers = process(eachContext1=each("i", 10**12, process(), most=10**13, key="step1_each"))
    assert Played(numbers, by_id()).outcome["error"]["code"] == "too-many-elements"


def test_an_each_over_a_number_gives_samples_and_one_over_no_list_fails() -> None:
    body = process(llmContext1=chunk(step1_a=step(TEXT, "i")))
    document = process(eachContext1=each("i", 3, body, value="step1_a.text", key="step2_each"))
    played = Played(document, lambda command: ok({"step1_a": {"text": str(command["context"]["i"])}}))
    assert played.outcome["value"] == ["1", "2", "3"]
    assert "eachContext1[3].llmContext1" in played.ids
    document = process(eachContext1=each("i", "prompt", body))
    error = Played(document, by_id()).outcome["error"]
    assert error["code"] == "not-a-list"
    assert error["message"].endswith("is given a string")
    document = process(eachContext1=each("i", "prompt", body, most=2))
    played = Played(document, by_id(), inputs={"prompt": [1, 2, 3]})
    assert played.outcome["error"]["kind"] == "limit"


def test_elements_run_so_many_at_a_time_and_keep_their_order() -> None:
    body = process(llmContext1=chunk(step1_a=step(TEXT, "i")))
    document = process(eachContext1=each("i", 10, body, value="step1_a.text", key="step2_each"))
    plan = plan_of(document, elements=3)
    state = versions.begin(plan, {})
    open_ = versions.issue(plan, state)
    assert len(open_) == 3
    while open_:
        last = open_.pop()
        versions.apply(plan, state, last["id"], ok({"step1_a": {"text": str(last["context"]["i"])}}))
        open_ += versions.issue(plan, state)
        assert len(open_) <= 3
    assert versions.outcome(plan, state)["value"] == [str(number) for number in range(1, 11)]


def test_a_deadline_is_a_timer_that_fails_its_step_and_is_withdrawn_when_it_is_not_needed() -> None:
    document = process(
        tryContext1=attempt(
            process(userContext1=chunk(step1_ask=step(DECISION, "prompt", within="P2D"))),
            process(llmContext1=chunk(step2_late=step(TEXT, "error.kind"))),
            ("step1_ask", "step2_late"),
            key="step3_try",
        )
    )
    played = Played(document, by_id(userContext1={"decision": "Approve"}))
    assert played.command("tryContext1.userContext1!within") == {
        "kind": "timer",
        "id": "tryContext1.userContext1!within",
        "after": "P2D",
    }
    assert played.withdrawn == ["tryContext1.userContext1!within"]

    def late(command: Any) -> Any:
        return (
            ok(None) if command["kind"] == "timer" else None if command["kind"] == "user" else ok({"step2_late": {"text": "l"}})
        )

    played = Played(document, late)
    assert played.command("tryContext1.else.llmContext1")["context"] == {"error": {"kind": "timeout"}}
    assert played.withdrawn == ["tryContext1.userContext1"]
    assert played.outcome["value"] == {"text": "l"}


def test_the_deadline_of_a_try_bounds_its_first_block_only() -> None:
    document = process(
        tryContext1=attempt(
            process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))),
            process(llmContext2=chunk(step2_b=step(TEXT, "error"))),
            ("step1_a", "step2_b"),
            key="step3_try",
            within="PT1S",
        )
    )
    played = Played(
        document,
        lambda command: (
            ok(None) if command["kind"] == "timer" else None if command["id"].endswith("1") else ok({"step2_b": {"text": "b"}})
        ),
    )
    assert played.command("tryContext1.else.llmContext2")["context"]["error"]["step"] == "step3_try"
    assert played.outcome["value"] == {"text": "b"}


def test_a_delay_is_waited_for_before_anything_is_asked() -> None:
    document = process(serverContext1=chunk(step1_poll=call("Poll_Activity", "prompt", delay="PT30S")))
    played = Played(document, lambda command: ok(None) if command["kind"] == "timer" else ok({"text": "x"}))
    assert played.ids == ["serverContext1.step1_poll!delay", "serverContext1.step1_poll"]


def test_a_failure_withdraws_what_else_its_block_has_open_and_leaves_others_alone() -> None:
    document = process(
        tryContext1=attempt(
            process(serverContext1=chunk(step1_a=call("A", "prompt"), step2_b=call("B", "prompt"))),
            process(llmContext1=chunk(step3_c=step(TEXT, "error"))),
        ),
        serverContext2=chunk(step4_d=call("D", "prompt")),
    )

    def answer(command: Any) -> Any:
        if command["kind"] == "activity":
            return {"step1_a": None, "step2_b": failed(), "step4_d": ok({"text": "d"})}[command["step"]]
        return ok({"step3_c": {"text": "c"}})

    played = Played(document, answer)
    assert played.withdrawn == ["tryContext1.serverContext1.step1_a"]
    assert played.outcome["status"] == "done"


def test_fail_runs_last_in_its_block_and_ends_the_run_with_what_it_reads() -> None:
    document = process(
        tryContext1=attempt(
            process(serverContext1=chunk(step1_pay=call("Pay", "prompt"))),
            process(
                serverContext2=chunk(
                    step2_fail={"fail": True, "arguments": "error"},
                    step3_undo=call("Undo", "prompt"),
                )
            ),
        )
    )
    played = Played(document, by_id(step1_pay=lambda _c: failed("no money", "402"), step3_undo={"text": "undone"}))
    assert [command["step"] for command in played.commands] == ["step1_pay", "step3_undo"]
    assert played.outcome["error"] == {"step": "step1_pay", "kind": "failed", "code": "402", "message": "no money"}


def test_a_do_runs_by_itself_and_gives_its_value() -> None:
    document = process(
        llmContext1=chunk(step1_a=step(TEXT, "prompt")),
        doContext1=do(process(llmContext2=chunk(step2_b=step(TEXT, "step1_a"))), value={"b": "step2_b.text"}, key="step3_do"),
        llmContext3=chunk(step4_c=step(TEXT, "step3_do.b")),
    )
    answers = {
        "llmContext1": {"step1_a": {"text": "a"}},
        "llmContext2": {"step2_b": {"text": "b"}},
        "llmContext3": {"step4_c": {"text": "c"}},
    }
    played = Played(document, by_id(**answers))
    assert played.command("doContext1.llmContext2")["context"] == {"step1_a": {"text": "a"}}
    assert played.command("llmContext3")["context"] == {"step3_do": {"b": "b"}}


def test_a_choice_is_among_what_an_earlier_step_gave() -> None:
    document = process(
        serverContext1=chunk(step1_find=call("Find", "prompt", {"type": "object"})),
        llmContext1=chunk(
            step2_choose=step(
                {"type": "object", "properties": {"id": {"type": "string", "among": "step1_find.names"}}, "required": ["id"]},
                "prompt",
                "step1_find.names",
            )
        ),
    )
    played = Played(document, by_id(step1_find={"names": ["x", "y", "x"]}, llmContext1={"step2_choose": {"id": "y"}}))
    assert played.command("llmContext1")["schema"]["properties"]["step2_choose"]["properties"]["id"] == {
        "type": "string",
        "enum": ["x", "y"],
    }
    assert played.outcome["status"] == "done"
    played = Played(document, by_id(step1_find={"names": ["x"]}, llmContext1={"step2_choose": {"id": "z"}}))
    assert played.outcome["error"]["kind"] == "invalid"
    assert Played(document, by_id(step1_find={"names": []})).outcome["error"]["code"] == "no-choice"


@pytest.mark.parametrize("person", [False, True])
def test_a_choice_beside_an_enum_is_among_what_both_have(person: bool) -> None:  # noqa: FBT001  -- a parameter
    schema = {"type": "object", "properties": {"id": {"enum": ["x", 1, True], "among": "step1_find.names"}}, "required": ["id"]}
    chosen = chunk(step2_choose=step(schema, "prompt", "step1_find.names"))
    document = process(
        serverContext1=chunk(step1_find=call("Find", "prompt", {"type": "object"})),
        **{"userContext1" if person else "llmContext1": chosen},
    )

    def played(names: list[Any], *values: Any) -> Played:
        given = iter(values)

        def answer(command: Any) -> Any:
            if command["kind"] == "activity":
                return ok({"names": names})
            chosen = {"id": next(given)}
            return ok(chosen if person else {"step2_choose": chosen})

        return Played(document, answer)

    asked = played(["y", "x", 1], "y", "x")
    assert '"enum":["x",1]' in dumps(asked.commands[1]["schema"], indent=False)
    assert asked.outcome["value"] == {"id": "x"}
    assert len(asked.commands) == 3
    assert played(["y"]).outcome["error"]["code"] == "no-choice"


TOOLS = {
    "Search": {"activity": "Search", "arguments": {"properties": {"q": {"type": "string"}}, "required": ["q"]}, "output": {}},
    "Mail": {
        "activity": "Mail",
        "arguments": {"properties": {"to": {}, "text": {}, "sender": {}}},
        "output": TEXT,
        "bound": {"sender": "prompt"},
    },
}
PLANNED = process(
    llmContext1=chunk(
        step1_act=step({"type": "object", "properties": {"plan": {"type": "array", "plan": {"tools": TOOLS}}}}, "prompt")
    ),
    serverContext1=chunk(step2_run_plan=call("RunPlan_Activity", "step1_act.plan", {"type": "array"}, plan={"tools": TOOLS})),
)


def test_a_plan_runs_its_tasks_as_their_dependencies_allow_with_the_programs_own_arguments() -> None:
    plan = [
        {"tool": "Mail", "id": "m", "arguments": {"to": {"each": "s.people"}, "text": "hi"}},
        {"tool": "Search", "id": "s", "arguments": {"q": "who"}},
        {"tool": "Search", "id": "bad", "arguments": {"q": "fail"}, "after": ["s"]},
        {"tool": "Search", "id": "late", "arguments": {"q": {"from": "bad.x"}}},
    ]

    def answer(command: Any) -> Any:
        if command["kind"] == "model":
            return ok({"step1_act": {"plan": plan}})
        if command["called"] == "Mail":
            return ok({"text": f"{command['input']['to']} from {command['input']['sender']}"})
        return failed("down", "503") if command["input"]["q"] == "fail" else ok({"people": ["a", "b"]})

    played = Played(PLANNED, answer, inputs={"prompt": "me"})
    assert played.ids == [
        "llmContext1",
        "serverContext1.step2_run_plan[s]",
        "serverContext1.step2_run_plan[m[0]]",
        "serverContext1.step2_run_plan[m[1]]",
        "serverContext1.step2_run_plan[bad]",
    ]
    assert played.outcome["value"] == [
        {"id": "m", "tool": "Mail", "status": "ok", "output": [{"text": "a from me"}, {"text": "b from me"}]},
        {"id": "s", "tool": "Search", "status": "ok", "output": {"people": ["a", "b"]}},
        {
            "id": "bad",
            "tool": "Search",
            "status": "failed",
            "error": {"kind": "failed", "code": "503", "message": "down"},
        },
        {
            "id": "late",
            "tool": "Search",
            "status": "skipped",
            "error": {"kind": "failed", "code": "skipped", "message": "it waits for `bad`, which failed"},
        },
    ]


def test_a_plan_ends_whose_tasks_are_given_empty_lists_by_each_other() -> None:
    many = [{"tool": "Search", "id": f"t{number}", "arguments": {"q": {"each": f"t{number - 1}"}}} for number in range(1, 1000)]
    plan = [{"tool": "Search", "id": "t0", "arguments": {"q": "who"}}, *many]
    played = Played(PLANNED, lambda command: ok({"step1_act": {"plan": plan}} if command["kind"] == "model" else []))
    assert [task["status"] for task in played.outcome["value"]] == ["ok"] * 1000
    assert len(played.ids) == 2


def test_a_task_that_brings_what_its_tool_does_not_bring_has_failed() -> None:
    plan = [{"tool": "Mail", "id": "m", "arguments": {"to": "a"}}]
    answers = {"model": {"step1_act": {"plan": plan}}, "activity": {"text": 5}}
    played = Played(PLANNED, lambda command: ok(answers[command["kind"]]), inputs={"prompt": "me"})
    [task] = played.outcome["value"]
    assert (task["status"], task["error"]["kind"]) == ("failed", "invalid")
    assert task["error"]["message"].startswith("at `/text`: ")


def test_copies_of_a_task_combine_lists_that_differ_in_length_and_go_through_equal_ones_together() -> None:
    def sent(first: list[Any], second: list[Any]) -> list[Any]:
        plan = [
            {"tool": "Search", "id": "limit", "arguments": {"q": "x"}},
            {"tool": "Mail", "id": "m", "arguments": {"to": {"each": "limit.a"}, "text": {"each": "limit.b"}}},
        ]

        def answer(command: Any) -> Any:
            given = command["input"]
            return {"a": first, "b": second} if command["called"] == "Search" else {"text": f"{given['to']}{given['text']}"}

        played = Played(PLANNED, lambda c: ok({"step1_act": {"plan": plan}}) if c["kind"] == "model" else ok(answer(c)))
        done = played.outcome["value"][1]
        return [each["text"] for each in done["output"]] if done["status"] == "ok" else done["error"]

    assert sent(["a", "b"], ["x", "y"]) == ["ax", "by"]
    assert sent(["a", "b"], ["x", "y", "z"]) == ["ax", "ay", "az", "bx", "by", "bz"]
    assert sent(["a", "b"], []) == []
    assert sent(["a"] * 1001, ["x"] * 1001) == {
        "kind": "limit",
        "code": None,
        "message": "a task has a limit of 1000 copies, and there are 1001",
    }
    assert sent(["a"] * 40, ["x"] * 30)["message"].endswith("there are 1200")
    assert sent("a", [])["kind"] == "failed"  # type: ignore[arg-type]  # no list; the task has the name of another kind of error


def test_a_faulty_plan_runs_nothing_and_is_asked_for_again() -> None:
    answers = iter([[{"tool": "Srch", "id": "s", "arguments": {}}], []])
    played = Played(PLANNED, lambda _command: ok({"step1_act": {"plan": next(answers)}}))
    assert played.ids == ["llmContext1", "llmContext1#2"]
    assert "Srch" in played.command("llmContext1#2")["complaints"][0]["message"]
    assert played.outcome["value"] == []
    played = Played(PLANNED, lambda _command: ok({"step1_act": {"plan": [{"tool": "X", "id": "s", "arguments": {}}]}}))
    assert played.outcome["error"]["kind"] == "plan"


def test_a_step_that_is_called_like_an_activity_is_sent_to_it_as_well() -> None:
    played = Played(
        process(llmContext1=chunk(step1_log_event=step(TEXT, "prompt"))),
        by_id(llmContext1={"step1_log_event": {"text": "x"}}),
        activities=["LogEvent", "Other_Activity"],
    )
    assert played.commands[1] == {
        "kind": "fire",
        "id": "llmContext1.step1_log_event!fire",
        "step": "step1_log_event",
        "activity": "LogEvent",
        "input": {"text": "x"},
    }


DIRECT_CALL = {"activity": "Post_Activity", "arguments": {"text": "step1_a.text"}, "tool": chunk(step1_a=TEXT)}


def test_a_direct_call_waits_for_its_activity_and_a_tool_is_one_answer() -> None:
    played = Played(DIRECT_CALL, by_id(llmContext1={"step1_a": {"text": "x"}}, post_activity=[1]))
    assert [command["kind"] for command in played.commands] == ["model", "activity"]
    assert played.commands[0]["context"] == {"prompt": "go"}
    assert played.commands[1]["input"] == {"text": "x"}
    assert played.outcome == {"status": "done", "output": {"step1_a": {"text": "x"}}, "value": {"text": "x"}}
    played = Played({**TEXT, "title": "T"}, by_id(llmContext1={"text": "x"}))
    assert played.outcome == {"status": "done", "output": {"text": "x"}, "value": {"text": "x"}}


def test_a_direct_call_of_an_earlier_release_fires_its_activity() -> None:
    plan = plan_of(DIRECT_CALL)
    del plan["options"]["waits"]
    plan["digest"] = plan_digest(plan)
    state = versions.begin(plan, {"prompt": "go"})
    versions.issue(plan, state)
    versions.apply(plan, state, "llmContext1", ok({"step1_a": {"text": "x"}}))
    assert [command["kind"] for command in versions.issue(plan, state)] == ["fire"]
    assert versions.outcome(plan, state)["status"] == "done"


def test_a_budget_ends_a_run_with_limit() -> None:
    played = Played(process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))), lambda _command: ok({"step1_a": {}}), requests=2)
    assert played.outcome["error"]["kind"] == "limit"
    assert played.outcome["error"]["code"] == "requests"


def test_a_budget_of_one_request_is_enough_for_one_chunk() -> None:
    document = process(llmContext1=chunk(step1_a=step(TEXT, "prompt")))
    played = Played(document, lambda _command: ok({"step1_a": {"text": "a"}}), requests=1)
    assert played.outcome["status"] == "done"


def test_another_model_for_a_step_is_a_call_of_its_own() -> None:
    document = process(llmContext1=chunk(step1_a=step(TEXT, "prompt"), step2_b=step(TEXT, "step1_a")))
    played = Played(
        document,
        lambda command: ok({key: {"text": key} for key in command["steps"]}),
        models={"step2_b": "small"},
    )
    assert [(command["id"], command["model"]) for command in played.commands] == [
        ("llmContext1.step1_a", None),
        ("llmContext1.step2_b", "small"),
    ]
    assert played.commands[1]["context"] == {"step1_a": {"text": "step1_a"}}
    assert played.record == {"llmContext1": {"step1_a": {"text": "step1_a"}, "step2_b": {"text": "step2_b"}}}


def test_a_second_delivery_and_an_answer_to_nothing_change_nothing() -> None:
    plan = plan_of(LINE)
    state = versions.begin(plan, {"prompt": "p"})
    versions.apply(plan, state, "llmContext1", ok({}))
    versions.issue(plan, state)
    answer = ok({"step1_a": {"text": "a"}, "step2_b": {"text": "b"}})
    versions.apply(plan, state, "llmContext1", answer)
    before = dumps(state)
    versions.apply(plan, state, "llmContext1", answer)
    versions.apply(plan, state, "nothing", answer)
    assert dumps(state) == before


def test_a_result_that_is_none_fails_the_step() -> None:
    document = process(serverContext1=chunk(step1_a=call("A", "prompt")))
    for result in ({}, [], "x", {"error": True}, {"error": {"kind": "odd"}}):
        played = Played(document, lambda _command, result=result: result)
        assert played.outcome["status"] == "failed"
        assert played.outcome["error"]["kind"] == "failed"
    assert Played(document, lambda _command: ok({"text": 1})).outcome["error"]["kind"] == "invalid"


def test_a_condition_that_cannot_be_applied_holds_for_nothing() -> None:
    document = process(
        whenContext1=when(
            ({"path": "prompt", "schema": {"$ref": "#/$defs/nowhere"}}, process(llmContext1=chunk(step1_a=TEXT)), None),
            (None, process(llmContext1=chunk(step2_b=TEXT)), None),
        )
    )
    [command] = Played(document, lambda _command: None).commands
    assert command["steps"] == ["step2_b"]


def test_a_tool_that_does_not_say_what_it_brings_may_bring_anything() -> None:
    tools = {"Ping": {"activity": "Ping", "arguments": {"properties": {}}}}
    document = process(
        llmContext1=chunk(
            step1_act=step({"type": "object", "properties": {"plan": {"type": "array", "plan": {"tools": tools}}}}, "prompt")
        ),
        serverContext1=chunk(step2_run_plan=call("RunPlan_Activity", "step1_act.plan", {"type": "array"}, plan={"tools": tools})),
    )
    answers: dict[str, Any] = {"model": {"step1_act": {"plan": [{"tool": "Ping", "id": "p", "arguments": {}}]}}, "activity": 5}
    played = Played(document, lambda command: ok(answers[command["kind"]]), inputs={"prompt": "me"})
    assert played.command("serverContext1.step2_run_plan[p]")["schema"] is True
    assert played.outcome["value"] == [{"id": "p", "tool": "Ping", "status": "ok", "output": 5}]


def test_a_value_that_is_an_optional_argument_and_another_one_is_shown() -> None:
    given = {"tone": {"path": "prompt", "optional": True}, "topic": "prompt"}
    document = process(llmContext1=chunk(step1_a=step(TEXT, arguments=given)))
    plan = plan_of(document)
    [command] = versions.issue(plan, versions.begin(plan, {"prompt": "me"}))
    assert command["kind"] == "model"
    assert command["context"] == {"prompt": "me"}


@pytest.mark.parametrize(
    ("test", "kept"), [("x.n is 3", 1), ("x.n @ { maximum: 3 }", 4), ("x.n > 3 and x.n is not x.m", 995), ("x.ok", 500)]
)
def test_a_selection_prepares_its_condition_once_for_all_elements(monkeypatch: pytest.MonkeyPatch, test: str, kept: int) -> None:
    """A run may look at 300,000 elements in one go, and each service that reads it does so again."""
    prepared: list[Json] = []

    def counted(schema: Json, definitions: Any) -> Json:
        prepared.append(schema)
        return with_definitions(schema, definitions)

    monkeypatch.setattr(values, "with_definitions", counted)
    elements: Json = [{"n": n, "m": 999 - n if n == 500 else -1 if n < 999 else 999, "ok": n % 2 == 0} for n in range(1000)]
    run = instrc.run(
        f"input xs; const found = each x in xs when {test} {{ do {{ x.n }} }}; found", {"xs": elements}, vibes={}, model="sample"
    )
    assert len(run.value) == kept
    assert len(prepared) <= 4
