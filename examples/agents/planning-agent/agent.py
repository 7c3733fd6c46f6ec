"""An agent that plans every third round. `python agent.py` plays a prepared conversation; `--model` names a real model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import instrc

HERE = Path(__file__).parent
_KILOMETRES = {frozenset({"Paris", "Lyon"}): 466, frozenset({"Lyon", "Turin"}): 313}


def distance(given: Mapping[str, Any]) -> int:
    """Tell the length of a road that we know."""
    road = frozenset({given["start"], given["end"]})
    if road not in _KILOMETRES:
        message = f"no road from {given['start']} to {given['end']}"
        raise instrc.ActivityError(message, code="no-road", retry=False)
    return _KILOMETRES[road]


def divide(given: Mapping[str, Any]) -> float:
    """Divide one number by another."""
    if given["b"] == 0:
        message = "division by zero"
        raise instrc.ActivityError(message, code="zero", retry=False)
    return float(given["a"] / given["b"])


def without_plans(rounds: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return the rounds as a new plan is made from them: calls and what they gave, neither plans nor thoughts."""
    return [{key: value for key, value in each.items() if not key.endswith("_when")} for each in rounds or []]


TOOLS = {"distance_Activity": distance, "divide_Activity": divide}
"""What the model may call, by the names it sees."""
ACTIVITIES = {**TOOLS, "without-plans_Activity": without_plans}
PLAYED = {
    "make_plan": [{"facts": "Two roads are to be looked up.", "steps": "1. Look up each road. 2. Divide the sum by 90 km/h."}],
    "act": [
        {
            "_thought": "Step 1.",
            "plan": [
                {"tool": "distance_Activity", "id": "first", "arguments": {"start": "Paris", "end": "Lyon"}},
                {"tool": "distance_Activity", "id": "second", "arguments": {"start": "Lyon", "end": "Turin"}},
            ],
            "answer": None,
        },
        {
            "_thought": "Step 2.",
            "plan": [{"tool": "divide_Activity", "id": "hours", "arguments": {"a": 779, "b": 90}}],
            "answer": None,
        },
        {"_thought": "That is it.", "plan": [], "answer": "Nearly nine hours."},
    ],
}


def main() -> None:
    """Answer one question."""
    parser = argparse.ArgumentParser(description="An agent that plans, acts, and plans again.")
    parser.add_argument("question", nargs="?", default="How long does it take from Paris over Lyon to Turin at 90 km/h?")
    parser.add_argument("--model", help="a model such as `gigachat:GigaChat-2-Max`; without it a conversation is played")
    given = parser.parse_args()
    model = given.model or instrc.Scripted(PLAYED)
    run = instrc.run(HERE / "planning-agent.aug", given.question, model=model, activities=ACTIVITIES)
    try:
        print(run.value["answer"])
    except instrc.RunFailedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
