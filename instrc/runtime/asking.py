"""Let people answer what a run asks, where they can be asked at once."""

from __future__ import annotations

from inspect import isawaitable

from instrc.runtime.engine import Engine, RunReport
from instrc.runtime.questions import People, question_command


async def ask_people(engine: Engine, report: RunReport, people: People | None) -> RunReport:
    """Ask for what a run waits for, until nobody answers any more; `CompileError` for a wrong answer, which leaves it open."""
    while people is not None and report.status == "waiting":
        for question in report.questions:
            answer = people(question_command(question)) if question.by == "person" else None
            if isawaitable(answer):
                answer = await answer
            if answer is not None:
                report = await engine.answer(report.run, question.id, answer)
                break
        else:
            return report
    return report
