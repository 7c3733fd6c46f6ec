"""Mistakes that people make when they call programs: each is one problem, at the place between the marks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from marked_mistakes import TEXT
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
