"""The page of a run: what went in and came out, its steps folded, its picture, and the buttons of operators."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa
from every_case import every_case
from serving import BOB, BOSS, LETTER, client, go, person, service, settled
from test_inbox import seen
from written_processes import DECISION, TEXT, call, chunk, each, is_, process, repeat, step

from instrc.engines.service_tables import VOTES  # rows, written as by carriers
from instrc.process.process import Process
from instrc.runtime.traces import TimelineSpan
from instrc.server.access import Caller  # the room behind its commands
from instrc.server.inbox import Inbox  # the room behind its commands
from instrc.server.run_page import compared, drawn, groups_of, labelled, result_schema  # the room behind its commands
from instrc.server.run_service import TOLD_ANSWERS  # the bound
from instrc.server.templates import SHOWN, languages  # the words that there are

MANY: Any = process(
    llmContext1=chunk(
        step1_read=step(
            {
                "title": "The letters",
                "type": "object",
                "properties": {"items": {"type": "array", "items": {"type": "string"}, "minItems": 7, "maxItems": 7}},
                "required": ["items"],
            },
            "prompt",
        )
    ),
    eachContext1=each(
        "item",
        "step1_read.items",
        chunk(llmContext2=chunk(step2_draft=step({**TEXT, "title": "A draft"}, "item"))),
        key="step3_each",
    ),
)


def on_a_run(place: Path, program: Any, test: Any, caller: Caller | None = None, status: str = "done") -> None:
    async def body() -> None:
        made = service(place, program=program)
        async with client(made, caller, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "program", "Ann comes", wait=20)).report.run
            await settled(made, run, status)
            await test(http, run)

    go(body())


def test_a_run_says_what_went_in_and_what_came_out_and_folds_elements(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(f"/inbox/runs/{run}")
        seen(page)
        main = page.text.partition("<main")[2]
        assert main.index("What went in") < main.index("Ann comes") < main.index("What came out") < main.index("What happened")
        assert "The letters" in main
        assert "7 done" in main
        assert len(re.findall('<details class="span', main)) == 3, "one of the first step, two of seven"
        assert "All 7" in main
        assert '<g class="step model done"' in main
        assert "\u2713 7" in main
        inner = (await http.get(f"/inbox/runs/{run}?step=eachContext1.llmContext2")).text
        assert "Element 7" in inner
        assert "done (7)" in inner
        assert (await http.get(f"/inbox/runs/{run}?step=nothing&state=odd&page=x")).status_code == 200

    on_a_run(tmp_path, MANY, test)


@every_case("value", [{f"k{number}": 0 for number in range(60_000)}, [[0] * 200] * 300], ids=["members", "elements"])
def test_pages_show_the_first_parts_of_a_large_value_and_count_the_others(value: Any, tmp_path: Path) -> None:
    async def body() -> None:
        looking = {**process(userContext1=chunk(step1_look=step(DECISION, "data"))), "inputs": {"data": {}}}
        made = service(tmp_path, program=looking)
        async with client(made, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "program", {"data": value}, wait=20)).report.run
            question, page = await http.get(f"/inbox/question/{run}:userContext1"), await http.get(f"/inbox/runs/{run}")
            assert question.text.count("<dd>") + question.text.count("<li>") < SHOWN + 100
            assert page.text.count("<dd>") + page.text.count("<li>") < 700
            for shown in (question, page):
                assert re.search(r"and \d+ more", shown.text)
            assert "only a part of what you decide about" in question.text

    go(body())


def test_a_long_member_pushes_no_other_off_the_page_of_its_question(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(
            tmp_path, program={**process(userContext1=chunk(step1_look=step(DECISION, "data"))), "inputs": {"data": {}}}
        )
        async with client(made, routes=Inbox(made).routes) as http:
            for items, cut in ([0] * SHOWN, True), ([0] * 2000, False):
                given = {"data": {"items": items, "payee": "Mallory", "amount": 1_000_000}}
                run = (await made.start(BOSS, "program", given, wait=20)).report.run
                page = (await http.get(f"/inbox/question/{run}:userContext1")).text
                assert "Mallory" in page
                assert "1000000" in page
                assert ("only a part of what you decide about" in page) is cut

    go(body())


def test_the_picture_of_a_run_has_the_words_of_the_page() -> None:
    body = process(userContext2=chunk(step2_ask=step(DECISION, "prompt", within="P1D")))
    rounds = repeat(body, until=is_("step2_ask.decision", "Approve"), most=2)
    program = Process.from_json(process(repeatContext1=rounds))
    english, russian = (str(drawn(program, "ask", [], languages()[name])) for name in ("en", "ru"))
    for said, other in (
        ("Person", "Человек"),
        ("inputs: prompt", "на входе: prompt"),
        ("within P1D", "срок P1D"),
        (
            "repeat until ask › decision is &quot;Approve&quot;",
            "повторять — пока не выполнится: ask › decision равно &quot;Approve&quot;",
        ),
    ):
        assert (said in english, other in english, said in russian, other in russian) == (True, False, False, True)
    assert "at most 2 rounds" in english
    assert "проходов не больше 2" in russian


def test_a_run_of_many_elements_has_a_small_page(tmp_path: Path) -> None:
    """What is shown of elements has a bound; those that have failed come first."""
    spans = [TimelineSpan("llmContext1", "model", 0.0, 1.0, "done", facts={"steps": ["step1_read"]})]
    for number in range(10_000):
        state = "failed" if number in {4_000, 9_000} else "done"
        facts: Any = {"steps": ["step2_draft"], "answer": "x" * 5_000, **({"error": "away"} if state == "failed" else {})}
        spans.append(TimelineSpan(f"eachContext1[{number + 1}].llmContext2", "model", 1.0, 2.0, state, facts=facts))  # type: ignore[arg-type]  # a state
    groups = groups_of(spans, {"step2_draft": "A draft"})
    assert [(group.title, group.counts) for group in groups] == [("read", {"done": 1}), ("A draft", {"failed": 2, "done": 9_998})]
    assert [span.id for span in groups[1].page(None, 0, 3)] == [f"eachContext1[{at}].llmContext2" for at in (4001, 9001, 1)]
    picture = drawn(Process.from_json(MANY), "many", groups, languages()["en"])
    assert picture is not None
    assert "\u2717 2 \u2713 9998" in picture
    assert '<g class="step model failed"' in picture

    async def body() -> None:
        made = service(tmp_path, program=MANY)
        async with client(made, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "program", "Ann comes", wait=20)).report.run
            events = []
            for span in spans:
                told: Any = {"run": run, "id": span.id, **span.facts}
                events += [{**told, "event": "asked", "at": 0.0}, {**told, "event": "answered", "at": 1.0}]
            made.engine.trace_from = lambda _run, place=0, _most=None: (events[place:], len(events))  # type: ignore[method-assign]  # a longer one
            for path in ("", "?step=eachContext1.llmContext2", "?step=eachContext1.llmContext2&page=100"):
                page = await http.get(f"/inbox/runs/{run}{path}")
                assert page.status_code == 200
                assert len(page.content) < 150_000
                assert "2 failed, 9998 done" in page.text
            trace = (await http.get(f"/inbox/runs/{run}/trace?first=200")).text
            assert re.findall(r'href="\?first=(\d+)"', trace) == ["0", "400"]
            assert "10001 commands" in trace
            assert trace.count("<details class=") == 200
            assert (await http.get(f"/inbox/runs/{run}/trace?first=x")).status_code == 200

    go(body())


def test_what_servers_and_people_do_is_among_the_steps(tmp_path: Path) -> None:
    lookup = chunk(step1_look=call("Look_Activity", {"what": "prompt"}))
    asked = chunk(step2_approve=step({**DECISION, "title": "May it go out?"}, "step1_look"))

    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(f"/inbox/runs/{run}")
        seen(page)
        assert '<span class="lane server">server</span>' in page.text
        assert '<span class="lane person">person</span>' in page.text
        assert 'name="step" value="step1_look"' in page.text
        assert '">May it go out?</a>' in page.text
        assert '<g class="step server done"' in page.text
        assert '<g class="step user open"' in page.text

    on_a_run(tmp_path, process(serverContext1=lookup, userContext1=asked), test, BOSS, "waiting")


def test_an_operator_forks_with_another_value(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = seen(await http.get(f"/inbox/runs/{run}"))
        assert {"retry", "fork", "edit"} <= {found.get("value") for tag, found in page.tags if tag == "button"}
        form = seen(await http.post(f"/inbox/runs/{run}", data={"do": "edit", "step": "step1_read"}))
        assert form.sent["rows:/data/items"] == "7"
        refused = await http.post(f"/inbox/runs/{run}", data={**form.sent, "do": "remove:/data/items/0", "step": "step1_read"})
        sent = seen(refused).sent
        short = seen(await http.post(f"/inbox/runs/{run}", data={**sent, "do": "answer", "step": "step1_read"}), 422)
        sent = {**short.sent, "rows:/data/items": "7", "/data/items/6": "the last"}
        done = await http.post(f"/inbox/runs/{run}", data={**sent, "do": "answer", "step": "step1_read"})
        assert done.status_code == 303
        other = (await http.get(done.headers["location"])).text
        assert f'<a href="/inbox/runs/{run}">{run}</a>' in other

    on_a_run(tmp_path, MANY, test, BOSS)


def test_an_operator_cancels_and_others_have_no_buttons(tmp_path: Path) -> None:
    async def cancel(http: httpx.AsyncClient, run: str) -> None:
        assert (await http.post(f"/inbox/runs/{run}", data={"do": "cancel"})).status_code == 303
        assert "cancelled" in (await http.get(f"/inbox/runs/{run}")).text
        again = await http.post(f"/inbox/runs/{run}", data={"do": "retry"})
        assert again.status_code == 409, "the page says why"
        seen(again, 409)

    async def look(http: httpx.AsyncClient, run: str) -> None:
        page = seen(await http.get(f"/inbox/runs/{run}"))
        assert not [found for tag, found in page.tags if tag == "button" and found.get("name") == "do"]
        for button in ("cancel", "retry", "fork", "edit", "answer"):
            assert (await http.post(f"/inbox/runs/{run}", data={"do": button, "step": "step1_draft"})).status_code == 403

    on_a_run(tmp_path, LETTER, cancel, BOSS, "waiting")
    on_a_run(tmp_path / "b", LETTER, look, person("eve", "viewer"), "waiting")


def test_who_may_not_see_a_run_may_not_operate_it(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        assert (await http.post(f"/inbox/runs/{run}", data={"do": "cancel"})).status_code == 404

    on_a_run(tmp_path, MANY, test, BOB)


def test_runs_are_found_by_their_id_their_person_and_their_error(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, letter=LETTER, many=MANY)
        async with client(made, routes=Inbox(made).routes) as http:
            first = (await made.start(BOSS, "letter", "Ann", wait=20)).report.run
            second = (await made.start(BOSS, "many", "Ann", wait=20)).report.run
            third = (await made.start(BOB, "letter", "Ann", wait=20)).report.run
            for query, found in {
                "": {first, second, third},
                f"q={second.upper()}": {second},
                "q=bob": set(),
                "starter=BO": {first, second, third},
                "starter=bob": {third},
                "q=%25": set(),
                "program=letter": {first, third},
                "program=letter&starter=boss&since=PT1H": {first},
                "status=waiting&starter=boss": {first},
            }.items():
                page = await http.get(f"/inbox/runs?{query}")
                seen(page)
                assert {run for run in (first, second, third) if f">{run}</a>" in page.text} == found, query
            assert (await http.get("/inbox/runs?since=yesterday")).status_code == 422

    go(body())


def test_values_have_the_titles_of_their_schemas() -> None:
    letter = {"title": "The letter", "type": "object", "properties": {"to": {"title": "Addressee"}, "text": {}, "list": {"items": {"properties": {"n": {"title": "No"}}}}}}  # fmt: skip  # noqa: E501  # one row
    given = {"to": "Ann", "text": {"a": 1}, "list": [{"n": 1}, 2], "more": None}
    labels = {"Addressee": "Ann", "text": {"a": 1}, "list": [{"No": 1}, 2], "more": None}
    assert labelled(given, letter) == labels
    assert labelled({"a": 1, "b": 2}, {"properties": {"a": {"title": "b"}, "b": {"title": "b"}}}) == {"a": 1, "b": 2}
    document = process(llmContext1=chunk(step1_write=letter, step2_note={"type": "string"}))
    for value, given_, shown in (
        (None, {"step1_write": given, "step2_note": "x"}, {"The letter": labels, "note": "x"}),
        ("step1_write", given, labels),
        ("step1_write.list", given["list"], labels["list"]),
        ({"a": "step1_write"}, {"a": given}, {"a": given}),
    ):
        read = Process.from_json(document if value is None else {**document, "value": value})
        assert labelled(given_, result_schema(read)) == shown


def test_two_runs_are_compared_by_step_and_lists_by_element(tmp_path: Path) -> None:
    first = {"llmContext1": {"step1_a": 1, "step2_b": 2}, "eachContext1": [{"llmContext2": {"step3_c": at}} for at in range(500)]}
    second = {"llmContext1": {"step1_a": 1, "step2_b": 3}, "eachContext1": [*first["eachContext1"][:499], {"llmContext2": {"step3_c": 0}}]}  # fmt: skip  # noqa: E501  # one row
    assert compared(first, second, {"step2_b": "B"}) == [("B", 2, 3), ("c", {"500": 499}, {"500": 0})]
    assert compared(first, first, {}) == []

    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(f"/inbox/runs/{run}?with={run}")
        seen(page)
        assert "Every step has given the same." in page.text
        assert (await http.get(f"/inbox/runs/{run}?with=another")).status_code == 404

    on_a_run(tmp_path, MANY, test)


def test_an_operator_hands_a_question_over_on_the_page_of_its_run(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = seen(await http.get(f"/inbox/runs/{run}"))
        [action] = {found["action"] for tag, found in page.tags if tag == "form" and "question" in found.get("action", "")}
        assert (await http.post(action, data={"do": "delegate", "to": "local"})).status_code == 200
        text = (await http.get(f"/inbox/runs/{run}")).text
        assert "Taken by local" in text
        assert 'value="release"' in text
        assert (await http.post(action, data={"do": "release"})).status_code == 200
        assert "Taken by" not in (await http.get(f"/inbox/runs/{run}")).text

    on_a_run(tmp_path, LETTER, test, BOSS, "waiting")


def test_a_block_that_is_folded_leads_to_its_picture_and_has_the_state_of_its_steps() -> None:
    steps = {f"llmContext{at + 2}": chunk(**{f"step{at + 2}_do": step(TEXT, "item")}) for at in range(70)}
    program = Process.from_json(process(eachContext1=each("item", 3, chunk(**steps)), llmContext1=chunk(step1_end=step(TEXT))))
    spans = [
        TimelineSpan(f"eachContext1[{at}].llmContext9", "model", 0.0, 1.0, state, facts={"steps": ["step9_do"]})
        for at, state in ((1, "done"), (2, "failed"))
    ]  # type: ignore[arg-type]  # a state
    groups = groups_of(spans, {})
    words = languages()["en"]
    whole = drawn(program, "many", groups, words)
    assert whole is not None
    assert '<g class="block folded failed" role="group"' in whole
    assert "70 steps" in whole
    [block] = re.findall(r'href="\?block=(\w+)#picture"', whole)
    inner = drawn(program, "many", groups, words, block)
    assert inner is not None
    assert inner.count('<g class="step ') == 70
    assert "\u2717 1 \u2713 1" in inner
    assert drawn(program, "many", groups, words, "nothing") == whole


def test_a_page_that_follows_its_run_reads_on_from_the_last_event(tmp_path: Path) -> None:
    """A reload reads no event again, and shows what a page shows that has read all of them."""
    places: list[int] = []

    async def body() -> None:
        made = service(tmp_path)
        read = made.engine.trace_from
        made.engine.trace_from = lambda run, place=0, most=None: (places.append(place), read(run, place, most))[1]  # type: ignore[method-assign]  # noted
        async with client(made, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            assert "waiting" in (await http.get(f"/inbox/runs/{run}")).text
            await made.answer(BOSS, run, "userContext1", {"decision": "Approve"})
            await settled(made, run, "done")
            on = (await http.get(f"/inbox/runs/{run}")).text
            assert places == sorted(places)
            assert (places[0], places[1] > 0) == (0, True)
            for _ in range(4):  # other runs take its place
                other = (await made.start(BOSS, "letter", "Bob comes", wait=20)).report.run
                await http.get(f"/inbox/runs/{other}")
            places.clear()
            assert (await http.get(f"/inbox/runs/{run}")).text == on
            assert places[0] == 0

    go(body())


def test_a_page_reads_no_more_answers_than_it_shows(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        about = {"run": run, "who": "bob", "means": "key", "data": {"decision": "Approve"}}
        made.records.execute(
            sa.insert(VOTES).values([{**about, "question": f"eachContext1[{n}].userContext1", "at": float(n)} for n in range(70)])
        )
        story = await made.story(BOSS, run)
        assert [vote.at for given in story.votes.values() for vote in given] == [float(n) for n in range(TOLD_ANSWERS)]
        async with client(made, routes=Inbox(made).routes) as http:
            page = (await http.get(f"/inbox/runs/{run}")).text
        assert page.count("<h3>eachContext1[") == TOLD_ANSWERS

    go(body())
