"""The small servers that come with the agents of `examples/agents` do what they say, and fail on demand."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

AGENTS = Path(__file__).parents[2] / "examples" / "agents"
SERVICES = AGENTS / "console-agent" / "services"


def module(path: Path) -> Any:
    name = f"example_{path.stem}"
    if name not in sys.modules:
        sys.path.insert(0, str(path.parent))
        try:
            spec = util.spec_from_file_location(name, path)
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        finally:
            sys.path.remove(str(path.parent))
    return sys.modules[name]


@contextmanager
def running(server: Any) -> Iterator[Any]:
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(url: str, body: Any = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode() if not isinstance(body, bytes) else body
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=60) as reply:  # noqa: S310  -- our own server
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.fixture
def rag() -> Iterator[Any]:
    found = module(SERVICES / "rag.py")
    index = found.Index()
    with running(module(SERVICES / "serve.py").Service("/search", lambda given: found.answer(index, given))) as server:
        yield server


@pytest.mark.parametrize(
    ("question", "title", "words"),
    [
        ("Сколько дней отпуск?", "Отпуск: Сколько дней", "28 календарных дней"),
        ("забытый пароль", "Техника: Пароль", "сбрасывает"),
        ("где принтер", "Техника: Принтер", "втором этаже"),
        ("новые ноутбуки", "Техника: Новый ноутбук", "оутбук"),
        ("перенести отпуск на год", "Отпуск: Перенос отпуска", "следующий год"),
    ],
)
def test_a_question_finds_its_section(rag: Any, question: str, title: str, words: str) -> None:
    status, said = ask(f"{rag.url}/search", {"question": question, "top_k": 2})
    assert status == 200
    assert said["chunk_title_list"][0] == title
    assert words in said["answer"]
    assert len(said["chunk_texts"]) == len(said["chunk_title_list"]) <= 2
    assert said["answer"] in said["chunk_texts"][0]


def test_a_question_without_an_answer_is_told(rag: Any) -> None:
    assert ask(f"{rag.url}/search", {"question": "квазар"})[1]["chunk_title_list"] == []


@pytest.mark.parametrize(
    "given", [{}, {"question": ""}, {"question": 3}, {"question": "x", "top_k": 0}, {"question": "x", "top_k": True}]
)
def test_wrong_parameters_are_an_error_in_the_answer(rag: Any, given: Any) -> None:
    status, said = ask(f"{rag.url}/search", given)
    assert status == 200
    assert said["error"]


def test_a_service_fails_on_demand(rag: Any) -> None:
    assert ask(f"{rag.url}/health") == (200, {"status": "ok"})
    for mode, expected in {"health": (500, 200), "status": (200, 200), "request": (200, 500), "answer": (200, 200)}.items():
        ask(f"{rag.url}/fail", {"mode": mode})
        health, found = ask(f"{rag.url}/health"), ask(f"{rag.url}/search", {"question": "отпуск"})
        assert (health[0], found[0]) == expected
        assert (health[1].get("status") == "ok") == (mode in {"request", "answer"})
        assert ("error" in found[1]) == (mode in {"request", "answer"})
    assert ask(f"{rag.url}/fail", {"mode": "none"})[0] == 200


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_what_is_no_object_is_refused(rag: Any, body: bytes) -> None:
    assert ask(f"{rag.url}/search", body)[0] == 400
    assert ask(f"{rag.url}/nowhere", {})[0] == 404
    assert ask(f"{rag.url}/nowhere")[0] == 404


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("тишина", 3),
        ("старый тихий пруд", 5),
        ("ёж", 1),
        ("в лесу", 2),
        ("the silent moon", 4),
        ("table", 2),
        ("walked", 1),
        ("painted", 2),
        ("rhythm", 1),
        ("", 0),
        ("123 !", 0),
    ],
)
def test_syllables_are_counted(text: str, count: int) -> None:
    assert module(SERVICES / "haiku.py").syllables(text) == count


@pytest.mark.parametrize(
    "theme", ["осень", "море", "кот", "тишина", "информатика", "автоматизация", "snow", "весенняя ночь", "Рим"]
)
def test_a_haiku_has_five_seven_and_five(theme: str) -> None:
    haiku = module(SERVICES / "haiku.py")
    said = haiku.answer({"theme": theme})
    assert said["syllables_per_line"] == [5, 7, 5]
    assert theme in said["haiku_text"]
    assert len(said["haiku_text"].split("\n")) == 3
    assert said["total_words"] == len(said["haiku_text"].split())
    assert said == haiku.answer({"theme": theme})


@pytest.mark.parametrize("given", [{}, {"theme": " "}, {"theme": 1}, {"theme": "сверхавтоматизированность"}, {"theme": "!!!"}])
def test_a_theme_that_fits_no_line_is_an_error(given: Any) -> None:
    assert module(SERVICES / "haiku.py").answer(given)["error"]


@pytest.fixture
def inference(tmp_path: Path) -> Iterator[Any]:
    with running(module(AGENTS / "hugging-gpt" / "inference.py").Inference(tmp_path)) as server:
        yield server


def test_models_answer_by_their_type(inference: Any) -> None:
    assert sum(map(len, inference.tasks.values())) >= 600
    kinds = set()
    for model, tasks in inference.tasks.items():
        for task in tasks:
            said = inference.run(model, task, {"text": "x"})
            [(kind, value)] = said.items()
            kinds.add(kind)
            assert said == inference.run(model, task, {"text": "x"})
            if kind in {"image", "audio", "video"}:
                assert Path(value).stat().st_size > 0
    assert kinds == {"text", "image", "audio", "video", "boxes"}
    for path in inference.folder.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    with wave.open(str(next(inference.folder.glob("*.wav")))) as sound:
        assert sound.getnframes() == 800


def test_a_model_is_there_or_fails_on_demand(inference: Any) -> None:
    model = "ProsusAI/finbert"
    assert ask(f"{inference.url}/health") == (200, {"status": "ok"})
    assert ask(f"{inference.url}/status/{model}")[1]["loaded"] is True
    assert set(ask(f"{inference.url}/models/{model}", {"inputs": {"text": "up"}})[1]) == {"text"}
    for mode, loaded, status in (("down", False, 503), ("error", True, 503), ("none", True, 200)):
        ask(f"{inference.url}/fail", {"model": model, "mode": mode})
        assert ask(f"{inference.url}/status/{model}")[1]["loaded"] is loaded
        assert ask(f"{inference.url}/models/{model}", {"inputs": "up"})[0] == status
    assert ask(f"{inference.url}/status/nobody/nothing")[0] == 404
    assert ask(f"{inference.url}/models/nobody/nothing", {})[0] == 404
