"""Many programs in one file: what they share is made once, and each comes out as if it stood alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from instrc import Artefact, CompileError, Report, Source
from instrc.compiler.bind import bind, calls  # counted or replaced here
from instrc.compiler.driver import check_source, compile_source  # one program with its own registry and options
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.vibes.registry import Registry

VIBE = '{ "type": "object", "properties": { "text": { "type": "string" }, "part": {} }, "required": ["text"] }'


def schema(title: str, more: str = "") -> str:
    return f'@{{ title: "{title}", type: "object", properties: {{ text: {{ type: "string"{more} }} }}, required: ["text"] }}'


def chain(steps: int, *, exported: tuple[int, ...]) -> str:
    """Return a chain of consts, of which some are read by a program of their own."""
    lines: list[str] = []
    for number in range(steps):
        before = f"s{number - 1}" if number else "prompt"
        lines.append(f"const s{number} = {before} | {schema(f'Step{number}')};")
        if number in exported:
            lines.append(f"tool t{number} = s{number} | {schema(f'End{number}')};")
    return "\n".join(lines)


def made(text: str, folder: Path, report: Report | None = None) -> dict[str, Artefact]:
    report = Report() if report is None else report
    return {
        each.name: each for each in compile_source(Source("t.aug", text), Registry([folder]), CompileOptions(), report, stem="t")
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    (tmp_path / "Do_Activity.vibe.json").write_text(VIBE, encoding="utf-8")
    (tmp_path / "Around_Mixin.vibe.json").write_text(
        '{ "type": "object", "properties": { "_why": { "type": "string" }, "default": {} }, "required": ["_why", "default"] }',
        encoding="utf-8",
    )
    return tmp_path


@pytest.mark.parametrize(
    "ends",
    [
        ["s | A", "s | @{ title: 'E', type: 'object' }"],
        ["Around_Mixin(s | A)", "{ x: s, y: A(s) }", "s | A"],
        ["A({ part: A(s) })", "s | A", "A({ part: A(s) })"],
        ["s @ { maxProperties: 3 }", "s", "when s.text is 'x' { A(s) } else { s | A }"],
        ["RunPlan_Activity(A(s, { part: Plan(Do_Activity) }).part)", "s | A"],
    ],
)
def test_an_export_among_others_is_what_it_is_alone(ends: list[str], folder: Path) -> None:
    start = f"const r = {schema('First')};\nconst s = r | {schema('Second', ', maxLength: 9')};\n"
    texts = [f"tool t{number} = {end.replace(chr(39), chr(34))};\n" for number, end in enumerate(ends)]

    def outcome(text: str) -> dict[str, object] | str:
        try:
            return {name: each.documents for name, each in made(text, folder).items()}
        except CompileError as error:
            return error.problems[0].name

    alone = [outcome(start + text) for text in texts]
    kept = [(text, each) for text, each in zip(texts, alone, strict=True) if isinstance(each, dict)]
    assert len(kept) == len(ends), alone
    together = outcome(start + "".join(text for text, _ in kept))
    assert together == {name: documents for _, each in kept for name, documents in each.items()}


def test_what_is_wrong_with_a_shared_step_is_told_of_it_once(folder: Path) -> None:
    text = chain(3, exported=(1, 2)).replace('required: ["text"]', 'required: ["txt"]', 1)
    with pytest.raises(CompileError) as raised:
        made(text, folder)
    assert {problem.name for problem in raised.value.problems} == {"missing-from-properties"}
    assert {problem.at.start for problem in raised.value.problems if problem.at} == {text.index('"txt"')}


def test_the_schema_of_a_shared_step_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flattened: list[object] = []
    plain = InstructionTable.flatten
    monkeypatch.setattr(InstructionTable, "flatten", lambda *given, **named: flattened.append(1) or plain(*given, **named))
    assert len(made(chain(30, exported=tuple(range(0, 30, 3))), folder)) == 10
    assert len(flattened) == 40


def test_consts_that_no_export_needs_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[object] = []
    plain = calls.property_names
    monkeypatch.setattr(calls, "property_names", lambda *given: evaluated.append(1) or plain(*given))
    made(chain(30, exported=()) + f"tool t = {schema('Other')};", folder)
    assert len(evaluated) < 3 * 30


def test_documents_that_would_be_too_large_are_refused_before_they_are_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bind, "EXPORTED_STEPS", 20)
    assert len(made(chain(8, exported=(3, 7)), folder)) == 2
    with pytest.raises(CompileError) as raised:
        made(chain(16, exported=(3, 7, 15)), folder)
    (problem,) = raised.value.problems
    assert problem.name == "too-large"
    assert problem.message == "the program has over 20 steps in all its exports"


def test_a_check_emits_nothing_that_cannot_fail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(text: str) -> None:
        check_source(Source("t.aug", text), Registry([folder]), CompileOptions(), Report(), stem="t")

    check(chain(3, exported=(2,)))
    monkeypatch.setattr("instrc.compiler.emit.emit.emit", lambda *_, **__: 1 / 0)
    check(chain(3, exported=(2,)))
    with pytest.raises(ZeroDivisionError):
        check("Around_Mixin(A(A(prompt)))")
