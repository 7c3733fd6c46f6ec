"""Files that people upload with an answer: where a form has a field for them, once, under a name that shows what it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from encodings.aliases import aliases
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa
from serving import BOB, BOSS, client, go, person, service, settled
from written_processes import DECISION, chunk, process, step

from instrc.engines.service_tables import FILES  # what is stored
from instrc.problems.errors import AnswerError, LimitError
from instrc.runtime.questions import Question  # of a system
from instrc.runtime.retry import ForkOptions
from instrc.server.files import keep, reference_of, require_stored, stored_file  # several requests at once
from instrc.server.inbox import Inbox  # the room behind its commands
from instrc.server.records import Records  # the room behind its commands

PHOTO = {"type": "object", "properties": {"photo": {"type": "string", "contentMediaType": "image/*"}}, "required": ["photo"]}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def stored(records: Records) -> list[str]:
    with records.engine.connect() as connection:
        return list(connection.execute(sa.select(FILES.c.name)).scalars())


def test_a_file_is_kept_only_for_its_field_of_the_form(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, look=process(userContext1=chunk(step1_look=step(PHOTO, "prompt"))))
        run = (await made.start(BOSS, "look", "x", wait=20)).report.run
        for caller, field, kept in (
            (BOB, "file:/data/other", []),
            (BOB, "file:/data", []),
            (BOB, "/data/photo", []),
            (person("eve", "viewer"), "file:/data/photo", []),
            (BOB, "file:/data/photo", ["photognp.exe"]),  # without the character that turns the direction of text
        ):
            async with client(made, caller, routes=Inbox(made).routes) as http:
                for button in ("answer", "check", "add:/data/photo"):
                    files = {field: ("photo\u202egnp.exe", PNG if button == "check" else PNG + b"1", "image/gif")}
                    sent = await http.post(f"/inbox/question/{run}:userContext1", data={"do": button}, files=files)
                    assert sent.status_code < 500
                    assert {*stored(made.records)} == {*kept}
                    if kept:
                        break

    go(body())


def test_an_answer_names_only_files_of_its_run_or_of_what_it_shows(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, look=process(userContext1=chunk(step1_look=step(PHOTO, "prompt"))))
        other = (await made.start(BOSS, "look", "x", wait=20)).report.run
        shown = keep(made.records, other, "a.png", PNG)
        run = (await made.start(BOSS, "look", shown, wait=20)).report.run
        own = keep(made.records, run, "b.png", PNG + b"1")
        for reference in (keep(made.records, other, "c.png", PNG + b"2"), reference_of(run, "0" * 64 + ".png")):
            with pytest.raises(AnswerError, match="which the run does not have"):
                await made.answer(BOB, run, "userContext1", {"photo": reference})
        assert (await made.answer(BOB, other, "userContext1", {"photo": shown})).report.has_ended
        assert (await made.answer(BOB, run, "userContext1", {"photo": shown, "more": own})).report.has_ended

    go(body())


def test_an_answer_in_a_fork_names_files_of_the_runs_that_it_stems_from(tmp_path: Path) -> None:
    """It may be the answer of the origin, sent again."""

    async def body() -> None:
        made = service(tmp_path, look=process(userContext1=chunk(step1_look=step(PHOTO, "prompt"))))
        run = (await made.start(BOSS, "look", "x", wait=20)).report.run
        photo = keep(made.records, run, "a.png", PNG)
        for _ in range(2):
            run = (await made.fork(BOSS, run, ForkOptions())).report.run
        await settled(made, run, "waiting")
        assert (await made.answer(BOB, run, "userContext1", {"photo": photo})).report.has_ended

    go(body())


def test_a_file_is_sent_to_who_is_asked_in_a_fork_that_shows_it(tmp_path: Path) -> None:
    chunks = {
        "userContext1": chunk(step1_send=step(PHOTO, "prompt")),
        "userContext2": chunk(step2_approve=step({**DECISION, "x-links": True}, "step1_send")),
    }

    async def body() -> None:
        made = service(tmp_path, ask=process(**chunks), look=process(userContext1=chunk(step1_look=step(DECISION, "prompt"))))
        run = (await made.start(BOSS, "ask", "x", wait=20)).report.run
        photo = keep(made.records, run, "a.png", PNG)
        await made.answer(BOB, run, "userContext1", {"photo": photo})
        await made.answer(BOB, run, "userContext2", {"decision": "Approve"})
        routes = Inbox(made).routes
        async with (
            client(made, person("cat", "answerer"), routes=routes) as cat,
            client(made, person("eve"), routes=routes) as eve,
            client(made, person("eyes", "answerer", program="look"), routes=routes) as eyes,
        ):
            assert (await cat.get(photo)).status_code == 404
            fork = (await made.fork(BOSS, run, ForkOptions("approve"))).report.run
            await settled(made, fork, "waiting")
            assert [(await each.get(photo)).status_code for each in (cat, eve)] == [200, 404]
            word = await made.link(BOSS, fork, "userContext2", "bob")
            sent = await eve.get(f"/inbox/link/{word}/files/{photo.rpartition('/')[2]}")
            assert (sent.status_code, sent.content) == (200, PNG)
            other = (await made.start(BOSS, "look", photo, wait=20)).report.run  # which shows what was typed
            assert (await eyes.get(f"/inbox/question/{other}:userContext1")).status_code == 200
            assert (await eyes.get(photo)).status_code == 404

    go(body())


def test_what_is_no_person_may_name_files_of_other_runs(tmp_path: Path) -> None:
    """An archive, or a report over several runs, answers with those of others."""
    made, answer = service(tmp_path).records, {"photo": keep(Records(None), "other", "a.png", PNG)}
    question = Question("a", ("a",), {}, {})
    with pytest.raises(AnswerError):
        require_stored(made, "r", question, answer)
    require_stored(made, "r", msgspec.structs.replace(question, by="system"), answer)


def test_the_bearer_of_a_link_leaves_room_for_files_of_others(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, look=process(userContext1=chunk(step1_look=step(PHOTO, "prompt"))))
        run = (await made.start(BOSS, "look", "x", wait=20)).report.run
        for number in range(25):
            keep(made.records, run, "a.png", PNG + bytes([number]), "nonce")
        with pytest.raises(LimitError, match="25"):
            keep(made.records, run, "a.png", PNG + b"more", "nonce")
        keep(made.records, run, "a.png", PNG + b"more")

    go(body())


def test_the_page_of_a_used_link_stores_no_files(tmp_path: Path) -> None:
    """Nor reads its form: its bearer could fill what all links of the run have."""

    async def body() -> None:
        rules = {"x-links": True, "x-needed": 2}
        made = service(tmp_path, look=process(userContext1=chunk(step1_look=step(PHOTO, "prompt") | rules)))
        run = (await made.start(BOSS, "look", "x", wait=20)).report.run
        word = await made.link(BOSS, run, "userContext1", "guest")
        async with client(made, routes=Inbox(made).routes) as http:
            for number, status in enumerate((200, 401)):
                files = {"file:/data/photo": ("a.png", PNG + bytes([number]), "image/png")}
                sent = await http.post(f"/inbox/link/{word}", data={"do": "answer"}, files=files)
                assert (sent.status_code, len(stored(made.records))) == (status, 1), sent.text

    go(body())


def test_a_form_is_in_utf_8_whatever_codec_it_names(tmp_path: Path) -> None:
    """Anybody may send one to log in: in `punycode`, 600 KB took twenty seconds, in which nobody was answered."""

    async def body() -> None:
        made = service(tmp_path)
        part = b'--B\r\nContent-Disposition: form-data; name="do"; filename="+2AA-\xff"\r\n\r\nx\r\n--B--\r\n'
        async with client(made, BOB, routes=Inbox(made).routes) as http:
            for name in sorted({*aliases.values(), "idna", "none", '"punycode"', "utf-8; charset=punycode", "utf-8-sig"}):
                for word in (f"charset={name}", f"CharSet = {name}"):
                    headers = {"content-type": f"multipart/form-data; {word}; boundary=B"}
                    sent = await http.post("/inbox/login", content=part, headers=headers)
                    assert sent.status_code == (200 if word == "charset=utf_8" else 400), word
            for word in ("", "charset=utf-8; ", 'charset="UTF-8"; '):
                headers = {"content-type": f"multipart/form-data; {word}boundary=B"}
                assert (await http.post("/inbox/login", content=part, headers=headers)).status_code == 200, word

    go(body())


def test_the_same_file_sent_several_times_at_once_is_kept_once() -> None:
    records = Records(None)
    with ThreadPoolExecutor(8) as pool:
        kept = {*pool.map(lambda _: keep(records, "r", "a.png", PNG), range(24))}
    assert len(kept) == 1
    assert stored(records) == ["a.png"]
    assert stored_file(records, "other", kept.pop().rpartition("/")[2]) is None
