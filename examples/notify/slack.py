"""Tell a channel of Slack that somebody is asked: `python slack.py`, with `SLACK_WEBHOOK` and `INSTRC_SECRET` set."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import Request, urlopen

import receiver

LONGEST = 2000
"""Letters of what is shown that a message holds; Slack takes 3,000."""


def escaped(text: str) -> str:
    """Return a text in which nothing is markup: what a model wrote may look like a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def message_of(question: dict[str, Any], link: str, *, again: bool) -> dict[str, Any]:
    """Return the message: the step, what is shown, and a button that opens the page of the question."""
    shown = json.dumps(question["show"], ensure_ascii=False, indent=1)[:LONGEST]
    title = f"{'Due soon: ' if again else ''}{question['program']} asks for {', '.join(question['steps'])}"
    return {
        "text": escaped(title),
        "blocks": [
            {"type": "section", "text": {"type": "plain_text", "text": title[:LONGEST]}},
            {"type": "section", "text": {"type": "plain_text", "text": shown}},
            {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Answer"}, "url": link}]},
        ],
    }


def tell(message: dict[str, Any]) -> None:
    """Send one message to the channel."""
    question = receiver.question_of(message["data"])
    made = message_of(question, message["data"]["link"], again=message["type"] == "question.due")
    address = os.environ["SLACK_WEBHOOK"]
    with urlopen(Request(address, json.dumps(made).encode(), {"Content-Type": "application/json"}), timeout=10):  # noqa: S310
        pass


if __name__ == "__main__":
    receiver.serve(tell, int(os.environ.get("PORT", "9000")), os.environ["INSTRC_SECRET"]).serve_forever()
