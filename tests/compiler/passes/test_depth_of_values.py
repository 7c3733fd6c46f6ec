from __future__ import annotations

from pathlib import Path

import pytest

from instrc import CompileError, Report, Source
from instrc.compiler.driver import compile_source  # one program with its own registry and options
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.vibes.registry import Registry

VIBE = '{ "type": "object", "additionalProperties": true }'


@pytest.mark.parametrize(
    "text",
    [
        "do { const x = A(prompt); " + "{ a: " * 900 + "x" + " }" * 900 + " }",
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
    text = " ".join(opening.replace("NUMBER", str(number)) for number in range(300)) + " A(prompt) " + closing * 300
    assert compile_source(Source("t.aug", text), Registry([tmp_path]), CompileOptions(), Report(), stem="t")


def test_lists_in_lists_nest_as_deep_as_blocks(tmp_path: Path) -> None:
    """The schema of each element is that of the list around it, found once."""
    (tmp_path / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    openings = [f"each e{number} in {f'e{number - 1}' if number else 'prompt'} {{" for number in range(400)]
    text = " ".join(openings) + " A(e399) " + "}" * 400
    assert compile_source(Source("t.aug", text), Registry([tmp_path]), CompileOptions(), Report(), stem="t")


def test_the_keys_around_a_step_that_is_exported_nest_as_deep_as_brackets(tmp_path: Path) -> None:
    (tmp_path / "a.vibe.json").write_text(VIBE, encoding="utf-8")
    text = "const x = A(prompt); " + "{ a: " * 700 + "x" + " }" * 700
    assert compile_source(Source("t.aug", text), Registry([tmp_path]), CompileOptions(), Report(), stem="t")
