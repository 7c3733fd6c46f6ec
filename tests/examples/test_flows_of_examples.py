"""The processes of the examples run to their end, and no step of an example is blamed for reaching nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from every_case import every_case
from jsonschema import Draft202012Validator

import instrc
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.text.jsontext import loads

ROOT = Path(__file__).parents[2] / "examples"
PROCESSES = sorted(ROOT.glob("**/expected/**/*.process.json"))
PROGRAMS = sorted(each for each in ROOT.glob("**/*.aug") if "mistakes" not in each.parts and "expected" not in each.parts)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def filled(schema: Any, definitions: Any, choice: int) -> Any:
    """Return a value with every property; of listed values the one that is chosen."""
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].rpartition("/")[2]], definitions, choice)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][choice % len(schema["enum"])]
    if "anyOf" in schema:
        return filled(schema["anyOf"][choice % len(schema["anyOf"])], definitions, choice)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = next(each for each in kind if each != "null") if isinstance(kind, list) else kind
    if kind == "object":
        return {name: filled(each, definitions, choice) for name, each in schema.get("properties", {}).items()}
    if kind == "array":
        least = schema.get("minItems", 0 if "plan" in schema or _is_plan(schema) else 2)
        return [filled(schema.get("items", {}), definitions, choice) for _ in range(min(least, schema.get("maxItems", least)))]
    if kind in {"integer", "number"}:
        return max(schema.get("minimum", 1), 1)
    formats = {"date-time": "2026-11-22T09:00:00Z", "date": "2026-11-22", "email": "a@example.org", "time": "09:00:00Z"}
    return {"string": formats.get(schema.get("format"), "x" * max(1, schema.get("minLength", 1))), "boolean": choice == 0}.get(
        kind
    )


def _is_plan(schema: Any) -> bool:
    return "tool" in str(schema.get("items", {}))


@every_case("choice", [0, 1])
@every_case("path", PROCESSES, ids=named)
def test_the_process_of_an_example_runs_and_its_record_validates(path: Path, choice: int) -> None:
    document = loads(path.read_text(encoding="utf-8"))
    plan = plan_of(document)
    inputs = {name: filled(schema, {}, 0) for name, schema in document.get("inputs", {"prompt": {}}).items()}
    state = versions.begin(plan, {**inputs, "prompt": "Do it."})
    for _ in range(300):
        waiting = [each for each in versions.issue(plan, state) if each["kind"] != "timer"]
        if versions.outcome(plan, state) is not None:
            break
        for command in waiting:
            if versions.outcome(plan, state) is None:
                schema = command.get("schema") or {}
                versions.apply(plan, state, command["id"], {"ok": filled(schema, schema.get("$defs", {}), choice)})
    outcome = versions.outcome(plan, state)
    if outcome is None:
        longest = max(each.get("maxItems", 0) for each in document["$defs"].values() if "repeat" in each)
        assert longest > 15, "nothing is open, and the run has not ended"
        return
    if outcome["status"] == "done":
        Draft202012Validator(document).validate(versions.record(plan, state))
    else:
        assert outcome["error"]["code"] == "not-approved", outcome


@every_case("path", PROGRAMS, ids=named)
def test_no_example_has_a_step_that_reaches_nobody(path: Path) -> None:
    assert [str(problem) for problem in instrc.check(path) if problem.name in {"unread-result", "missing-separator"}] == []


@every_case(
    ("example", "shown", "instead"),
    [
        ("meeting-with-approval/meeting.aug", "Approve_User({ draft, people })", "Approve_User({ people })"),
        ("meeting-with-approval/meeting.aug", "Approve_User({ draft, people })", "Approve_User(prompt)"),
        ("schedule-meeting/schedule-meeting.aug", "ConfirmInvitation_User({ draft, slot })", "ConfirmInvitation_User({ slot })"),
        ("schedule-meeting/by-hand.aug", "ConfirmInvitation_User({ invitation, slot })", "ConfirmInvitation_User({ slot })"),
        ("support-triage/triage.aug", "Review_User({ ticket, draft })", "Review_User({ ticket })"),
    ],
)
def test_an_example_whose_person_is_not_shown_the_letter_is_warned_of(example: str, shown: str, instead: str) -> None:
    text = (ROOT / example).read_text(encoding="utf-8")
    assert shown in text
    report = instrc.Report()
    instrc.artefacts(text.replace(shown, instead), roots=[ROOT / example.partition("/")[0] / "schemas"], report=report)
    assert [problem.at.text for problem in report.ordered() if problem.name == "unread-result"] == [instead]
