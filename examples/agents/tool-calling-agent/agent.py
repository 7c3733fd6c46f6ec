"""An agent that calls tools. `python agent.py` plays a prepared conversation; `--model` names a real model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import instrc

HERE = Path(__file__).parent
_CELSIUS = {"Paris": 18, "Oslo": 4}


def multiply(given: Mapping[str, Any]) -> int:
    """Multiply two whole numbers."""
    return int(given["a"]) * int(given["b"])


def weather(given: Mapping[str, Any]) -> str:
    """Tell the weather of a city that we know."""
    if given["city"] not in list(_CELSIUS):  # a stored value may be of any type
        message = f"no such city: {given['city']}"
        raise instrc.ActivityError(message, code="unknown-city", retry=False)
    celsius = _CELSIUS[given["city"]]
    return f"{celsius * 9 // 5 + 32} F" if given.get("unit") == "fahrenheit" else f"{celsius} C"


def with_stored_values(tool: Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Return a tool in whose arguments the name of a stored value stands for that value."""

    def call(given: Mapping[str, Any]) -> Any:
        values = given.get("stored") or {}
        written = {name: value for name, value in given.items() if name != "stored"}
        return tool({name: values.get(value, value) if isinstance(value, str) else value for name, value in written.items()})

    return call


TOOLS = {"multiply_Activity": multiply, "weather_Activity": weather}
"""What the model may call, by the names it sees."""
ACTIVITIES = {name: with_stored_values(tool) for name, tool in TOOLS.items()}
PLAYED = [
    {
        "_thought": "Both can be asked for at once.",
        "plan": [
            {"tool": "weather_Activity", "id": "paris", "arguments": {"city": "Paris"}},
            {"tool": "weather_Activity", "id": "oslo", "arguments": {"city": "Oslo"}},
        ],
        "answer": None,
    },
    {"_thought": "That is enough.", "plan": [], "answer": "Paris is warmer: 18 C, Oslo has 4 C."},
]


def main() -> None:
    """Answer one question."""
    parser = argparse.ArgumentParser(description="An agent that calls tools.")
    parser.add_argument("question", nargs="?", default="Which is warmer, Paris or Oslo?")
    parser.add_argument("--model", help="a model such as `gigachat:GigaChat-2-Max`; without it a conversation is played")
    given = parser.parse_args()
    model = given.model or instrc.Scripted({"act": PLAYED})
    run = instrc.run(HERE / "tool-calling-agent.aug", given.question, model=model, activities=ACTIVITIES)
    try:
        print(run.value["answer"])
    except instrc.RunFailedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
