"""A program that another calls is bound in its own roots: its names and versions are those of its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from instrc import Report
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.engines.prepare import prepare
from instrc.problems.errors import SettingsError
from instrc.text.jsontext import dumps

OURS = {"type": "object", "properties": {"ours": {"type": "string"}}, "required": ["ours"]}
THEIRS = {"type": "object", "properties": {"theirs": {"type": "string"}}, "required": ["theirs"]}
PROJECT = '[tool.instrc]\nroots = ["vibes"]\nshared = ["../library/vibes"]\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make a project that shares the folder of another project."""
    for name, text in {
        "app/pyproject.toml": PROJECT,
        "library/pyproject.toml": '[tool.instrc]\nroots = ["vibes"]\n',
        "app/vibes/Judge.vibe.json": dumps(OURS),
        "app/vibes/OnlyOurs.vibe.json": dumps(OURS),
        "library/vibes/Judge.vibe.json": dumps(THEIRS),
        "library/vibes/review.aug": "Judge(prompt)",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def compiled(place: Path, text: str) -> tuple[Any, list[str]]:
    """Return the tool of a program of the project, or nothing, and the names of its problems."""
    (place / "app" / "main.aug").write_text(text, encoding="utf-8")
    report = Report()
    made = Workspace().compile(str(place / "app" / "main.aug"), OptionOverrides(), report)
    return (made[0].documents["tool"] if made else None), [problem.name for problem in report.problems]


def test_two_vibes_of_one_name_are_two_steps(place: Path) -> None:
    tool, problems = compiled(place, "{ a: Judge(prompt), b: Review(prompt) }")
    assert problems == []
    assert [list(step["properties"]) for step in tool["properties"].values()] == [["ours"], ["theirs"]]


def test_with_the_same_roots_equal_expressions_are_one_step(place: Path) -> None:
    (place / "app" / "vibes" / "mine.aug").write_text("Judge(prompt)", encoding="utf-8")
    tool, problems = compiled(place, "Judge(Judge(prompt), Mine(prompt))")
    assert problems == []
    assert len(tool["properties"]) == 2


def test_a_reference_without_a_version_means_the_newest_of_its_own_roots(place: Path) -> None:
    (place / "app" / "vibes" / "Weigh@2.vibe.json").write_text(dumps(OURS), encoding="utf-8")
    (place / "library" / "vibes" / "Weigh@1.vibe.json").write_text(dumps(THEIRS), encoding="utf-8")
    (place / "library" / "vibes" / "weighed.aug").write_text("aug:Weigh(prompt)", encoding="utf-8")
    tool, problems = compiled(place, "{ a: aug:Weigh(prompt), b: Weighed(prompt) }")
    assert problems == []
    assert [list(step["properties"]) for step in tool["properties"].values()] == [["ours"], ["theirs"]]


def test_references_in_a_vibe_lead_to_the_roots_it_was_found_in(place: Path) -> None:
    (place / "library" / "vibes" / "Judge.vibe.json").write_text('{ "$ref": "aug:Part" }', encoding="utf-8")
    (place / "library" / "vibes" / "Part.vibe.json").write_text(dumps(THEIRS), encoding="utf-8")
    (place / "app" / "vibes" / "Part.vibe.json").write_text(dumps(OURS), encoding="utf-8")
    tool, problems = compiled(place, "Review(prompt)")
    assert (list(tool["properties"]), problems) == (["theirs"], [])


def test_what_only_the_caller_has_is_not_known_in_the_program_that_it_calls(place: Path) -> None:
    (place / "library" / "vibes" / "review.aug").write_text("OnlyOurs(prompt)", encoding="utf-8")
    assert compiled(place, "Review(prompt)") == (None, ["unknown-name"])


def test_a_fault_in_a_vibe_of_the_program_that_is_called_is_reported(place: Path) -> None:
    (place / "library" / "vibes" / "Judge.vibe.json").write_text('{ "type": "objekt" }', encoding="utf-8")
    assert compiled(place, "Review(prompt)") == (None, ["invalid-schema"])


def test_a_program_that_calls_one_of_its_own_name_in_other_roots_is_no_circle(place: Path) -> None:
    (place / "app" / "vibes" / "review.aug").write_text("aug:/review(prompt)", encoding="utf-8")
    tool, problems = compiled(place, "Review(prompt)")
    assert (list(tool["properties"]), problems) == (["theirs"], [])


def test_a_circle_in_the_roots_of_the_program_that_is_called_is_found(place: Path) -> None:
    (place / "library" / "vibes" / "review.aug").write_text("Again(prompt)", encoding="utf-8")
    (place / "library" / "vibes" / "again.aug").write_text("Review(prompt)", encoding="utf-8")
    assert compiled(place, "Review(prompt)") == (None, ["circular-program"])


def test_a_program_that_is_launched_is_compiled_in_its_own_roots(place: Path) -> None:
    (place / "library" / "vibes" / "Send_Activity.vibe.json").write_text(dumps(THEIRS), encoding="utf-8")
    (place / "library" / "vibes" / "review.aug").write_text("Judge(Send_Activity(Judge(prompt)))", encoding="utf-8")
    tool, problems = compiled(place, "LaunchProcess(Review)")
    assert problems == []
    [step] = tool["properties"]["llmContext1"]["properties"].values()
    assert list(step["properties"]) == ["theirs"]


def test_a_program_in_a_root_without_a_project_sees_that_root(place: Path) -> None:
    (place / "library" / "pyproject.toml").unlink()
    tool, problems = compiled(place, "Review(prompt)")
    assert (list(tool["properties"]), problems) == (["theirs"], [])


PLANNING = "const a = Act(prompt, { plan: Plan(aug:helper) }); RunPlan_Activity(a.plan)"


def processes_of(place: Path, text: str) -> dict[str, Any]:
    """Return the steps of the processes that the plans of a program may call, by their addresses."""
    (place / "app" / "main.aug").write_text(text, encoding="utf-8")
    found = prepare(str(place / "app" / "main.aug")).processes
    return {address: list(process["$defs"]["LLM_1"]["properties"]) for address, process in found.items()}


def planning(place: Path) -> None:
    """Let a program of the library plan with another one of the library."""
    for name, text in {
        "library/vibes/Act.vibe.json": '{ "type": "object", "properties": { "plan": { "type": "array" } } }',
        "library/vibes/Save_Activity.vibe.json": "{}",
        "library/vibes/review.aug": PLANNING,
        "library/vibes/helper.aug": "when prompt is true { Judge(prompt) }",
        "app/vibes/helper.aug": "when prompt is true { OnlyOurs(prompt) }",
    }.items():
        (place / name).write_text(text, encoding="utf-8")


def test_an_address_in_a_plan_means_what_it_means_in_the_program_that_names_it(place: Path) -> None:
    planning(place)
    assert processes_of(place, "Review(prompt)") == {"aug:/helper": ["step1_judge"]}
    (place / "app" / "vibes" / "helper.aug").unlink()
    assert processes_of(place, "Review(prompt)") == {"aug:helper": ["step1_judge"]}


def test_the_processes_of_a_process_that_a_plan_calls_are_found_in_its_roots(place: Path) -> None:
    planning(place)
    text = "const a = Act(prompt, { plan: Plan(Review) }); RunPlan_Activity(a.plan)"
    assert processes_of(place, text).get("aug:helper") == ["step1_judge"]


def test_two_processes_of_one_name_have_two_addresses(place: Path) -> None:
    planning(place)
    text = PLANNING.replace("RunPlan", "const r = Review(prompt); { x: r, y: RunPlan") + " }"
    assert processes_of(place, text) == {"aug:helper": ["step1_only_ours"], "aug:/helper": ["step1_judge"]}


def test_a_compiled_document_leads_to_the_processes_of_the_program_that_names_them(place: Path) -> None:
    planning(place)
    (place / "app" / "main.aug").write_text("Review(prompt)", encoding="utf-8")
    made = prepare(str(place / "app" / "main.aug"))
    (place / "app" / "main.process.json").write_text(dumps(made.document), encoding="utf-8")
    assert prepare(str(place / "app" / "main.process.json")).processes == made.processes


def test_a_process_that_the_compiled_document_cannot_name_is_told(place: Path) -> None:
    planning(place)
    (place / "app" / "vibes" / "helper.aug").unlink()
    (place / "library" / "pyproject.toml").write_text('[tool.instrc]\nroots = ["private", "vibes"]\n', encoding="utf-8")
    (place / "library" / "private").mkdir()
    (place / "library" / "vibes" / "helper.aug").rename(place / "library" / "private" / "helper.aug")
    assert compiled(place, "Review(prompt)")[1] == ["foreign-process"]
    assert processes_of(place, "Review(prompt)") == {"aug:helper": ["step1_judge"]}


def test_one_address_for_two_processes_of_one_run_is_a_problem(place: Path) -> None:
    planning(place)
    with pytest.raises(SettingsError, match="two files"):
        processes_of(place, "const a = Act(prompt, { plan: Plan(Review, aug:helper) }); RunPlan_Activity(a.plan)")
