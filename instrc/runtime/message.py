"""The message that a model is sent for a chunk: always one shape. The schema travels beside it, as the provider takes it."""

from __future__ import annotations

from collections.abc import Sequence

from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.runtime.interpreter.commands import ModelCommand

RULER = "-----"


def model_message(command: ModelCommand) -> str:
    """Return the message: what the chunk reads, between two rulers, and one sentence that asks for it."""
    parts: list[str] = []
    if command["context"]:
        parts.append(_ruled("What is known so far:", command["context"]))
    if command["previous"] is not None:
        parts.append(_ruled("Your answer of the round before:", command["previous"]))
    if command["complaints"]:
        parts.append(_ruled("Your last answer, which was not accepted:", command["rejected"]))
        wrong = "\n".join(f"* at {complaint['pointer'] or '/'}: {complaint['message']}" for complaint in command["complaints"])
        parts.append(f"What is wrong with it:\n{wrong}")
    parts.append(_request(command))
    return "\n\n".join(parts) + "\n"


def tool_name(chunk: str, steps: Sequence[str], only: str | None) -> str:
    """Return the name of the tool that a model fills in for a chunk: the step, or the chunk where there are several.

    `only` is the name of the only step of a program, whose answer has no key for it.
    """
    return steps[0] if len(steps) == 1 else only if only and not steps else chunk


def _ruled(heading: str, value: Json) -> str:
    return f"{heading}\n{RULER}\n{dumps(value)}\n{RULER}"


def _request(command: ModelCommand) -> str:
    steps = command["steps"]
    what = (
        " and ".join(filter(None, [", ".join(f"`{step}`" for step in steps[:-1]), f"`{steps[-1]}`"])) if steps else "the answer"
    )
    if command["complaints"]:
        return f"Write {what} again, as JSON that satisfies the schema."
    if command["previous"] is not None:
        return f"Write the next round of {what}, as JSON that satisfies the schema."
    return f"Write {what}, as JSON that satisfies the schema."
