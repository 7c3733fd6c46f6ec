"""Budgets in money: a request is counted before it is made, and a run that has spent its budget is held."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from applications import run_in_app
from standins import KEY, Standin, called, completion

import instrc
from instrc.engines.operating import costs  # the table, as it is written
from instrc.problems.errors import SettingsError
from instrc.runtime.models.budget import read_budget  # its forms
from instrc.runtime.run_report import RunFilter
from instrc.server.records import Records  # the table, as it is written

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

TEXT = '{ type: "object", properties: { asks: { type: "string", maxLength: 20 } } }'
ONE = f'@{{ title: "Read", {TEXT[1:]}'
TWO = f"repeat i in 2 {{ {ONE} }}"
PRICE = "1000"  # dollars for a million tokens: an answer of 7 tokens costs 0.007, its estimate of 256 tokens 0.256
FILLED = {"asks": "x"}


@pytest.fixture(autouse=True)
def project(standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("openai")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", standin.url)
    prices = f'[tool.instrc.prices]\n"gpt-*" = {{ input = 0, output = {PRICE} }}\n'
    (tmp_path / "pyproject.toml").write_text(prices)
    (tmp_path / "one.aug").write_text(ONE)
    (tmp_path / "two.aug").write_text(TWO)
    return tmp_path


def answers(standin: Standin, *names: str) -> None:
    standin.answers += [(200, called(FILLED if name == "read" else {name: FILLED}, name)) for name in names]


def spent_one(standin: Standin, budget: str | None = None, **more: Any) -> instrc.Run:
    answers(standin, "read")
    return run_in_app("one.aug", "x", model="openai:gpt-5", budget=budget, **more)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2 USD", ("run", 2.0)),
        ("0.5USD/run", ("run", 0.5)),
        ("5 USD/day", ("day", 5.0)),
        ("20 USD/program", ("program", 20.0)),
        ("5 USD/program/day", ("program/day", 5.0)),
        *[
            (text, None)
            for text in ("", "5", "5 EUR", "-1 USD", "5 USD/week", "5 USD/run/day", "NaN USD", "1e9 USD", "5 USD/day x")
        ],
    ],
)
def test_the_forms_of_a_budget(text: str, read: tuple[str, float] | None) -> None:
    if read is not None:
        assert read_budget(text) == read
        return
    with pytest.raises(SettingsError, match=r"5 USD/day"):
        read_budget(text)


@pytest.mark.parametrize("engine", ["memory", "durable"])
@pytest.mark.parametrize("scope", ["", "/day", "/program"])
def test_a_run_over_its_budget_is_held_and_goes_on_with_a_higher_one(
    engine: Any, scope: str, standin: Standin, project: Path
) -> None:
    store = None if engine == "memory" else project / "store"
    answers(standin, "step1_read", "step1_read")
    run = run_in_app("two.aug", "x", model="openai:gpt-5", budget=f"0.26 USD{scope}", engine=engine, store=store)
    assert (run.status, len(standin.seen)) == ("held" if engine == "durable" else "failed", 1)
    assert run.usage["cost"] == pytest.approx(0.007)
    held = [event for event in run.trace if event["event"] == "failed"][-1]
    assert held["code"] == "budget"
    assert "0.007 is spent" in str(held["error"])
    assert run.retry(budget=f"1 USD{scope}").status == "done"
    assert run.usage["cost"] == pytest.approx(0.014)
    instrc.close_stores()


def test_a_day_and_a_program_are_counted_over_all_their_runs(standin: Standin) -> None:
    for _ in range(2):
        assert spent_one(standin, "0.27 USD/day").status == "done"
    assert spent_one(standin, "0.27 USD").status == "done"
    assert spent_one(standin, "0.27 USD/program/day").status == "failed"  # 3 × 0.007 + 0.256
    (Path("other.aug")).write_text(ONE)
    assert run_in_app("other.aug", "x", model="openai:gpt-5", budget="0.27 USD/program").status == "done"
    assert run_in_app("other.aug", "x", model="openai:gpt-5", budget="9 USD, 0.27 USD/day").status == "failed"
    assert run_in_app("other.aug", "x", model="openai:gpt-5", budget="0.27 USD/day, 9 USD/day").status == "failed"


def test_what_is_answered_with_an_error_costs_nothing_and_a_refused_request_is_not_made(standin: Standin) -> None:
    standin.answers += [(400, {"error": {"message": "no"}})]
    assert run_in_app("one.aug", "x", model="openai:gpt-5", budget="0.257 USD/day").status == "failed"
    assert spent_one(standin, "0.257 USD/day").status == "done"
    assert run_in_app("one.aug", "x", model="openai:gpt-5", budget="0.2 USD").status == "failed"
    assert len(standin.seen) == 2


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"usage": None},
        {"usage": {"prompt_tokens": -9, "completion_tokens": 10**30}},
        {"usage": {"prompt_tokens": 1, "completion_tokens": 10**30}},
        {"usage": {"completion_tokens": 1}},
    ],
)
def test_an_answer_that_does_not_say_its_tokens_costs_what_was_estimated(standin: Standin, usage: Any) -> None:
    body = called(FILLED, "read")
    del body["usage"]
    standin.answers.append((200, body | usage))
    run = run_in_app("one.aug", "x", model="openai:gpt-5", budget="0.27 USD/day")
    assert run.status == "done"
    assert any("how many tokens" in note for event in run.trace for note in event.get("notes") or ())
    assert spent_one(standin, "0.27 USD/day").status == "failed"


REFUSAL = completion({"content": None, "refusal": "no"})


@pytest.mark.parametrize("models", ["openai:gpt-5", "openai:gpt-5,openai:gpt-4"])
@pytest.mark.parametrize(
    ("body", "cost"), [(REFUSAL, 0.007), ({**REFUSAL, "usage": None}, 0.256), ({"usage": REFUSAL["usage"]}, 0.256)]
)
def test_what_is_used_without_an_answer_is_counted(body: Any, cost: float, models: str, standin: Standin) -> None:
    """A refusal has used its tokens; a response that cannot be read may have."""
    standin.answers += [(200, body)]
    if "," in models:
        answers(standin, "read")
        cost += 0.007
    run = run_in_app("one.aug", "x", model=models, budget="9 USD", settings={"attempts": 1})
    assert run.status == ("done" if "," in models else "failed")
    assert spent_one(standin, f"{cost + 0.255:.4f} USD/day").status == "failed"
    assert spent_one(standin, f"{cost + 0.257:.4f} USD/day").status == "done"


@pytest.mark.parametrize("engine", ["memory", "durable"])
@pytest.mark.parametrize(("models", "requests"), [("openai:gpt-5", 1), ("openai:gpt-5,openai:gpt-4", 2)])
def test_what_a_refusal_uses_is_shown(models: str, requests: int, engine: Any, standin: Standin, project: Path) -> None:
    standin.answers += [(200, REFUSAL)]
    answers(standin, "read")
    store = None if engine == "memory" else project / "store"
    run = run_in_app("one.aug", "x", model=models, engine=engine, store=store)
    assert (run.status, len(standin.seen)) == ("failed" if requests == 1 else "done", requests)
    tokens = {"input_tokens": 11 * requests, "output_tokens": 7 * requests}
    assert run.usage == {"requests": 1, **tokens, "cost": pytest.approx(0.007 * requests)}
    if engine == "durable":
        with closing(Records(str(store))) as records:
            assert [row.tokens for row in costs(records, ["program"], RunFilter())] == [18 * requests]


@pytest.mark.parametrize(
    ("model", "budget", "said"),
    [
        ("openai:o9", "5 USD", r"`openai:o9` cannot be used: there is a budget, and its price is not known: `\"o9\""),
        ("openai:gpt-5, anthropic:claude-x", "5 USD", "`anthropic:claude-x`"),
        ("openai:gpt-5", "5 EUR", "write it as `2 USD`"),
        ("openai:gpt-5", "5 USD, ", "write it as"),
    ],
)
def test_what_cannot_be_counted_is_a_problem_before_the_run(model: str, budget: str, said: str, standin: Standin) -> None:
    with pytest.raises(SettingsError, match=said):
        run_in_app("one.aug", "x", model=model, budget=budget)
    assert not standin.seen


def test_invented_answers_need_no_price() -> None:
    assert run_in_app("one.aug", "x", model="sample", budget="0.001 USD").status == "done"
