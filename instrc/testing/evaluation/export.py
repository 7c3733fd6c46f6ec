"""Export evaluations: cases that `instrc test` replays, and answers for `scripted:FILE`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from instrc.runtime.interpreter.documents import Done, Outcome, bare_name
from instrc.runtime.models.catalogue import RECORDED, prompt_digest
from instrc.runtime.traces import Event, read_trace, steps_of
from instrc.testing.evaluation.results import CaseResult, EvaluationResult
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject


def recorded_cases(found: EvaluationResult, folder: Path, export: str | None = None) -> tuple[str, int]:
    """Return a file of cases with the first run of each case: the accepted answers, and the results; and how many it lacks.

    Traces of runs are in a folder.  Runs without a trace, an answer, or an end with a value or an error are left out.
    """
    traces = _traces(found, folder)
    first = [results[0] for results in found.by_case().values()]
    kept = [item for item in first if traces.get(item.trace) and not item.unanswered]
    parts = [part for item in kept if (part := _recorded(item, traces[item.trace], export)) is not None]
    head = f"# {found.program}: recorded by `instrc eval --record`, with {found.model}\n\n"
    return head + "\n".join(parts), len(first) - len(parts)


def _traces(found: EvaluationResult, folder: Path) -> dict[str, list[Event]]:
    """Return the events of runs, by id."""
    return {result.trace: read_trace(folder, result.trace) for result in found.results if result.trace}


def recorded_answers(found: EvaluationResult, folder: Path, settings: JsonObject) -> str:
    """Return a file of answers for `scripted:FILE`: by the digests of their prompts, and by step for other prompts."""
    traces = _traces(found, folder)
    answers: dict[str, list[Json]] = {}
    prompts: dict[str, list[Json]] = {}
    in_order = sorted(found.results, key=lambda result: result.repeat)  # as they are asked
    for events in (traces[result.trace] for result in in_order if traces.get(result.trace)):
        for name, value in _answers(events).items():
            answers.setdefault(name, []).append(value)
        asked = {(event["run"], event["id"]): event for event in events if event["event"] == "asked"}
        for event in events:
            if event["event"] != "answered" or (before := asked.get((event["run"], event["id"]))) is None:
                continue
            digest = prompt_digest(event.get("sent", before["sent"]), before["schema"], settings)
            prompts.setdefault(digest, []).append(event["answer"])
    model: Json = {"model": found.model, "prompts": cast("Json", prompts), "settings": settings}
    return f"{dumps({RECORDED: model, **answers})}\n"


def _recorded(result: CaseResult, events: Sequence[Event], export: str | None) -> str | None:
    outcome = next((event["outcome"] for event in reversed(events) if event["event"] == "ended"), None)
    if result.error is None:
        outcome = {"status": "done", "value": result.value, "output": None}
    elif outcome is None or outcome["status"] != "failed":
        return None
    return test_case(" ".join(result.case.split()) or "case", result.input, outcome, events, export)


def test_case(title: str, inputs: Json, outcome: Outcome | None, events: Iterable[Event], export: str | None) -> str:
    """Return a case of `instrc test` of a run: its input, the accepted answers, and its value or error."""
    ended: JsonObject = {}
    if outcome is not None and outcome["status"] == "done":
        ended = {"value": outcome["value"]}
    elif outcome is not None and outcome["status"] == "failed":
        ended = {"error": {"message": outcome["error"]["message"]}}
    blocks = {"input" if export is None else f"input export={export}": inputs, "answers": _answers(events), **ended}
    return f"## {title}\n\n" + "".join(_block(word, value) for word, value in blocks.items())


def eval_case(title: str, inputs: Json, outcome: Done, events: Iterable[Event]) -> str:
    """Return a line of a data set of a run that is done: its value is expected, and no person or activity is asked again."""
    given = [event for event in events if event["event"] not in {"answered", "asked"}]
    case: JsonObject = {"id": title, "input": inputs, "expected": outcome["value"], "answers": _answers(given)}
    return f"{dumps(case, indent=False)}\n"


def _answers(events: Iterable[Event]) -> JsonObject:
    """Return the accepted answers of models, people and activities: by step for steps that answer once, otherwise by command."""
    about: dict[str, tuple[str, ...]] = {}
    values: dict[str, Json] = {}
    for event in events:
        if "/" in event["run"] or "id" not in event:
            continue  # the work of a child process is the result of its activity
        command = event["id"].partition("#")[0]
        match event["event"]:
            case "asked" | "question":
                about[command] = tuple(steps_of(event))
            case "called" | "launched":
                about[command] = (event.get("step", command.rpartition(".")[2]),)
            case "answered" if not event["complaints"]:
                values[command] = event["answer"]
            case "told":
                about[command] = tuple(steps_of(event))
                values[command] = event["answer"]
            case "returned":
                values[command] = event.get("output")
            case "failed":
                values[command] = {"fail": {"message": str(event["error"]), "code": event.get("code")}}
            case _:
                pass
    result: JsonObject = {}
    names = [bare_name(steps[0]) for steps in about.values() if len(steps) == 1]
    for command, value in values.items():
        steps = about.get(command, ())
        once = len(steps) == 1 and names.count(bare_name(steps[0])) == 1
        result[bare_name(steps[0]) if once else command] = [value] if isinstance(value, list) else value
    return result


def _block(word: str, value: Json) -> str:
    fence = "```"
    text = dumps(value)
    while fence in text:
        fence += "`"
    return f"{fence}json {word}\n{text}\n{fence}\n"
