"""A manager with a researcher in its team. `python agent.py` plays a prepared conversation; `--model` names a real model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import instrc

HERE = Path(__file__).parent
_ARTICLES = {
    "paris": "Paris is the capital of France. It has 2,048,472 inhabitants.",
    "oslo": "Oslo is the capital of Norway. It has 717,710 inhabitants.",
}


def search(given: Mapping[str, Any]) -> str:
    """Return the article of a name that we know."""
    query = given["query"].strip().lower()
    if query not in _ARTICLES:
        message = f"there is no article about {given['query']}"
        raise instrc.ActivityError(message, code="no-article", retry=False)
    return _ARTICLES[query]


def add_up(given: Mapping[str, Any]) -> float:
    """Add numbers up."""
    return sum(given["numbers"])


@lru_cache(maxsize=1)
def researcher() -> Any:
    """Return the process that serves as a member of the team."""
    return instrc.compile(HERE / "schemas" / "researcher.aug", emit="process")[0]


TOOLS = {"search_Activity": search, "sum_Activity": add_up}
PLAYED = {
    "act": [
        {
            "_thought": "Two things to look up, by two researchers at the same time.",
            "plan": [
                {"tool": "researcher_Activity", "id": "paris", "arguments": {"task": "How many people live in Paris?"}},
                {"tool": "researcher_Activity", "id": "oslo", "arguments": {"task": "How many people live in Oslo?"}},
            ],
            "answer": None,
        },
        {
            "_thought": "Now the sum.",
            "plan": [{"tool": "sum_Activity", "id": "sum", "arguments": {"numbers": [2_048_472, 717_710]}}],
            "answer": None,
        },
        {"_thought": "That is it.", "plan": [], "answer": "2,766,182 people live in the two cities."},
    ],
}


class Team:
    """A model for a prepared conversation: the manager's words stand above, a researcher looks up the city in its task."""

    def __init__(self) -> None:
        self.manager = instrc.Scripted(PLAYED)

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        """Answer the manager or one of the researchers."""
        step = next(iter(request.schema["properties"]))
        if not step.endswith("look"):
            reply: instrc.Reply = await self.manager.answer(request)
            return reply
        city = "Paris" if "Paris?" in request.message else "Oslo"
        if (article := _ARTICLES[city.lower()]) in request.message:
            return instrc.Reply({step: {"calls": [], "report": article}})
        calls = [{"tool": "search_Activity", "id": "article", "arguments": {"query": city}}]
        return instrc.Reply({step: {"calls": calls, "report": None}})


def main() -> None:
    """Answer one question."""
    parser = argparse.ArgumentParser(description="An agent whose tools are agents.")
    parser.add_argument("question", nargs="?", default="How many people live in Paris and Oslo together?")
    parser.add_argument("--model", help="a model such as `gigachat:GigaChat-2-Max`; without it a conversation is played")
    given = parser.parse_args()
    activities = {**TOOLS, "researcher_Activity": researcher()}
    run = instrc.run(HERE / "managed-agents.aug", given.question, model=given.model or Team(), activities=activities)
    try:
        print(run.value["answer"])
    except instrc.RunFailedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
