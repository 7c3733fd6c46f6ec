"""Mistakes that people make when they call programs: each is one problem, at the place between the marks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from marked_mistakes import TEXT, problems_of
from objects import an_object

import instrc

VIBES = {"Draft": an_object(text=TEXT), "Write": an_object(letter=TEXT)}
PROGRAMS = {
    "triage": "input ticket; input tone; Write(Draft(ticket), tone)",
    "letters": "tool Formal = Draft(prompt); tool Warm = Write(prompt)",
}
MISTAKES = [
    ("«Triage(prompt)»", "missing-argument", "`ticket: …, tone: …`"),
    ("«Triage(ticket: prompt)»", "missing-argument", "`tone: …`"),
    ("Triage(ticket: prompt, tone: prompt, «extra»: 3)", "unknown-argument", "`ticket`, `tone`"),
    ("Triage(ticket: prompt, «tones»: prompt)", "unknown-argument", "did you mean `tone`?"),
    ("«Triag»(ticket: prompt, tone: prompt)", "unknown-name", "did you mean `Triage`?"),
    ("Triage(ticket: prompt, tone: prompt).«text»", "unknown-member", "`letter`"),
    ("«Letters(prompt)»", "unchosen-export", "`#Formal`"),
    ("«aug:letters.Formal»(prompt)", "unresolved-reference", "did you mean `aug:letters#Formal`?"),
    ("«aug:letters/Formal»(prompt)", "unresolved-reference", "did you mean `aug:letters#Formal`?"),
    ("«aug:leters#Formal»(prompt)", "unresolved-reference", "did you mean `aug:letters`?"),
    ("letters«#»Formal(prompt)", "hash-comment", "`aug:letters#Formal`"),
    ("Triage(prompt, «prompt», ticket: prompt, tone: prompt)", "too-many-arguments", "`ticket: …`"),
    ("LaunchProcess(«Triag»)", "unknown-name", "did you mean `Triage`?"),
    ("LaunchProcess(Triage, «prompt»)", "not-a-process", "the name alone"),
    ('LaunchProcess(«"triage"»)', "not-a-process", "the name alone"),
    ("Triage(ticket: prompt, «voice»: prompt)", "unknown-argument", "it has `prompt`, `ticket`, `tone`"),
    ("Triage({ ticket: prompt, voice: «Draft» })", "misplaced-call", "pass its result in brackets"),
    ("«call» Triage(ticket: prompt, tone: prompt)", "foreign-statement", "by its name"),
]


@pytest.mark.parametrize(("marked", "name", "advice"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_each_mistake_is_one_problem_at_its_place(marked: str, name: str, advice: str, tmp_path: Path) -> None:
    for vibe, schema in VIBES.items():
        (tmp_path / f"{vibe}.vibe.json").write_text(json.dumps(schema))
    for program, text in PROGRAMS.items():
        (tmp_path / f"{program}.aug").write_text(text)
    with pytest.raises(instrc.CompileError) as raised:
        instrc.artefacts(marked.replace("«", "").replace("»", ""), roots=[tmp_path])
    [problem] = raised.value.problems
    assert problem.name == name
    assert problem.at is not None
    assert (problem.at.start, problem.at.text) == (marked.index("«"), marked.partition("«")[2].partition("»")[0])
    assert advice in (problem.hint or "")


CALLED = {
    "plain": "prompt | Draft",
    "toned": "input tone; Style({ tone })",
    "outer": "input mood; Toned(tone: mood)",
}


@pytest.mark.parametrize(
    ("text", "name", "calls"),
    [
        ('Toned(tone: "loud")', "contradiction", ['Toned(tone: "loud")']),
        ('Outer(mood: "loud")', "contradiction", ["Toned(tone: mood)", 'Outer(mood: "loud")']),
        (
            'do { const a = Toned(tone: "warm"); Outer(mood: "loud") }',
            "contradiction",
            ["Toned(tone: mood)", 'Outer(mood: "loud")'],
        ),
        ('Plain(prompt) @ { required: ["mood"] }', "missing-from-properties", ["Plain(prompt)"]),
        ("Plain(prompt) @ { maxLength: 3 }", "idle-annotation", ["Plain(prompt)"]),
        ('Plain(prompt) @ { within: "PT5S" }', "idle-deadline", ["Plain(prompt)"]),
    ],
)
def test_what_later_stages_find_in_a_called_program_shows_the_calls(
    text: str, name: str, calls: list[str], tmp_path: Path
) -> None:
    for program, written in CALLED.items():
        (tmp_path / f"{program}.aug").write_text(written)
    vibes = {**VIBES, "Style": an_object(tone={"enum": ["warm", "cool"]})}
    [problem] = problems_of(text, vibes=vibes, roots=[tmp_path])
    assert problem.name == name
    assert problem.at.source.name.endswith(".aug")
    assert problem.at.source.name != "program.aug"
    assert [call.text for call in problem.calls] == calls
