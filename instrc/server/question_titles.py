"""Titles and one-line summaries of questions, as lists show them."""

from __future__ import annotations

from typing import Final

from instrc.process.picture import name_of_step
from instrc.runtime.questions import Question
from instrc.server.views import QuestionInfo
from instrc.text.jsonvalue import Json, mapping, optional_text

_LINE: Final = 160
"""Maximum characters of the summary line."""


def question_title(question: Question) -> str:
    """Return the title of a question: that of its schema, or of its only step, or else its steps."""
    schema = mapping(question.schema)
    return optional_text(schema.get("title")) or steps_title(question.steps, question.id)


def steps_title(steps: tuple[str, ...], name: str) -> str:
    """Return the names of steps, or a name if there are none."""
    return ", ".join(name_of_step(key) for key in steps) or name


def summary_of(value: Json) -> str:
    """Return a one-line summary of the value to be decided."""
    line = next((text.strip().splitlines()[0] for text in _texts(value) if text.strip()), "")
    return line if len(line) <= _LINE else f"{line[:_LINE]}…"


def _texts(value: Json, most: int = 100) -> list[str]:
    """Return the first texts in a value, in order."""
    texts, waiting = list[str](), [value]
    while waiting and len(texts) < most:
        part = waiting.pop()
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict | list):
            waiting += reversed([*part.values()] if isinstance(part, dict) else part)
    return texts


def searched_text(card: tuple[QuestionInfo, str, str]) -> str:
    """Return what a search of the inbox looks at: the title of a question, its run, its people and the shown texts."""
    row, title, _ = card
    return " ".join([title, row.program, row.run, row.starter or "", row.claimed_by or "", *_texts(row.question.show)])
