from __future__ import annotations

import sys
from pathlib import Path

import pytest

from instrc import CompileError, Report, Source
from instrc.compiler.bind import evaluation  # its limit is lowered here
from instrc.compiler.driver import compile_source  # one program with its own registry and options
from instrc.compiler.ir import Artefact, CompileOptions  # options of the driver
from instrc.vibes.registry import Registry

VIBE = '{ "type": "object", "additionalProperties": true }'


@pytest.mark.parametrize(
    "text",
    [
        "do { const x = A(prompt); " + "{ a: " * 200 + "x" + " }" * 200 + " }",
        "input p; A(p" + ".x" * 3000 + ")",
    ],
)
def test_what_lies_too_deep_is_one_problem(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    with pytest.raises(CompileError) as raised:
        compile_source(Source("t.aug", text), Registry([tmp_path]), CompileOptions(), Report(), stem="t")
    assert {problem.name for problem in raised.value.problems} == {"too-deep"}


@pytest.mark.parametrize("opening", ["do {", "when prompt.ok {", "each x_NUMBER in prompt {", "repeat {"])
def test_blocks_nest_as_deep_as_brackets(opening: str, tmp_path: Path) -> None:
    (tmp_path / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    closing = "} until round is 2" if opening == "repeat {" else "}"
    text = " ".join(opening.replace("NUMBER", str(number)) for number in range(200)) + " A(prompt) " + closing * 200
    assert compile_source(Source("t.aug", text), Registry([tmp_path]), CompileOptions(), Report(), stem="t")


def test_lists_in_lists_nest_as_deep_as_blocks(tmp_path: Path) -> None:
    """The schema of each element is that of the list around it, found once."""
    (tmp_path / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    openings = [f"each e{number} in {f'e{number - 1}' if number else 'prompt'} {{" for number in range(200)]
    text = " ".join(openings) + " A(e199) " + "}" * 200
    assert compile_source(Source("t.aug", text), Registry([tmp_path]), CompileOptions(), Report(), stem="t")


def test_the_keys_around_a_step_that_is_exported_nest_as_deep_as_brackets(tmp_path: Path) -> None:
    (tmp_path / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    text = "const x = A(prompt); " + "{ a: " * 200 + "x" + " }" * 200
    assert compile_source(Source("t.aug", text), Registry([tmp_path]), CompileOptions(), Report(), stem="t")


def _compiled(text: str, folder: Path) -> tuple[Artefact, ...]:
    (folder / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    return compile_source(Source("t.aug", text), Registry([folder]), CompileOptions(), Report(), stem="t")


@pytest.mark.parametrize(
    ("opening", "closing", "count"),
    [("A(", ")", 200), ("(", ")", 200), ("A({ x: ", " })", 100), ("A(y: ", ")", 200), ("{ a: A | ", " }", 200)],
)
def test_calls_and_braces_nest_as_deep_as_brackets(opening: str, closing: str, count: int, tmp_path: Path) -> None:
    assert _compiled(opening * count + "A(prompt)" + closing * count, tmp_path)


@pytest.mark.parametrize("call", ["A(a{0})", "A({{ x: a{0} }})", "A(a{0} | A)", "a{0} @ 'Be brief.'", "do {{ A(a{0}) }}"])
def test_a_thousand_definitions_may_need_each_other(call: str, tmp_path: Path) -> None:
    limit = sys.getrecursionlimit()
    text = "".join(f"const a{number} = {call.format(number + 1)};\n" for number in range(1000))
    assert _compiled(f"tool t = A(a0);\n{text}const a1000 = A(prompt);\n", tmp_path)
    assert sys.getrecursionlimit() == limit


def test_more_definitions_than_are_evaluated_are_one_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "EVALUATED_LEVELS", 500)
    text = "".join(f"const a{number} = A(a{number + 1});\n" for number in range(300))
    with pytest.raises(CompileError) as raised:
        _compiled(f"tool t = a0;\n{text}const a300 = A(prompt);\n", tmp_path)
    assert [problem.name for problem in raised.value.problems] == ["too-large"]
