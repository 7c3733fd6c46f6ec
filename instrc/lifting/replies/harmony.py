"""Read Harmony, the format of gpt-oss: messages, each on a channel, where a server leaves its marks in the text.

`<|channel|>analysis<|message|>…<|end|>` holds thoughts, a message whose header bears `to=functions.NAME` is a call of that
tool, and any other is text for the user (github.com/openai/harmony, docs/format.md, 2026-11-22).
"""

from __future__ import annotations

import re

CHANNEL = "<|channel|>"
MESSAGE = re.compile(
    r"(?:(?:<\|start\|>assistant|\A)(?P<before>[^<]*+))?<\|channel\|>(?P<channel>\w*+)(?P<after>[^<]*+)(?:<\|constrain\|>[^<]*+)?"
    r"<\|message\|>(?P<body>.*?)(?P<end><\|(?:end|return|call)\|>|(?=<\|start\|>)|\Z)",
    re.DOTALL,
)
_RECIPIENT = re.compile(r"to=(\S+)")


def recipient(message: re.Match[str]) -> str | None:
    """Return the tool that a message is for; `None` if it is for the user."""
    found = _RECIPIENT.search(message["before"] or "") or _RECIPIENT.search(message["after"])
    return None if found is None else found[1]


def without_analysis(text: str) -> tuple[str, bool]:
    """Return what is said outside the channel for thoughts, calls as they stand, and whether thoughts without an end are all."""
    said: list[str] = []
    end = 0
    unended = False
    for message in MESSAGE.finditer(text):
        said.append(text[end : message.start()])
        end = message.end()
        if recipient(message) is not None:
            said.append(message[0])
        elif message["channel"] != "analysis":
            said.append(message["body"])
        else:
            unended = not message["end"] and end == len(text)
    rest = "".join([*said, text[end:]])
    return ("", True) if unended and not rest.strip() else (rest, False)
