"""Texts of programs are no templates: what looks like a place of one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from instrc import Report, Source
from instrc.compiler.workspace import OptionOverrides, Workspace


def found(program: str, folder: Path) -> list[tuple[int, str]]:
    """Return the places and the words that are told."""
    report = Report()
    Workspace().compile(Source(str(folder / "x.aug"), program), OptionOverrides(sketch=True), report)
    told = [problem for problem in report.ordered() if problem.name == "placeholder"]
    assert all(problem.at for problem in told)
    return [(problem.at.start, problem.at.text) for problem in told if problem.at]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ('"To {{name}} and ${ user.name }, {{{ body }}}" | A', ["{{name}}", "${ user.name }", "{{{ body }}}"]),
        ('input user; "To {user.name}, {prompt}" | A(user)', ["{user.name}", "{prompt}"]),
        ('A(prompt) @ "As {{ tone }}"', ["{{ tone }}"]),
        ('A(prompt) @ { description: "As {{tone}}" }', ["{{tone}}"]),
        ('@{ type: "object", properties: { a: { description: "<%= a %>" } } }', ["<%= a %>"]),
        ('input who @ "{{a}}"; A(who)', ["{{a}}"]),
        ('A(prompt) | B_Activity({ to: "{{mail}}" })', ["{{mail}}"]),
        ('const a = A(prompt); when a.x is "${y}" { B(a) }', ["${y}"]),
        ('"It\'s {prompt}" | A', ["{prompt}"]),
        ('"Hello {\\n prompt}" | A', ['"Hello {\\n prompt}"']),
        ('"Hello \\u007b\\u007bprompt}}" | A', ['"Hello \\u007b\\u007bprompt}}"']),
        ('const a = A(prompt); each who in a.all { B_Activity({ to: "{who}" }) }', ["{who}"]),
    ],
)
def test_what_a_template_would_fill_in_is_told_with_its_place(program: str, words: list[str], tmp_path: Path) -> None:
    assert [word for _, word in found(program, tmp_path)] == words


@pytest.mark.parametrize(
    "program",
    [
        '"Answer as JSON: {\\"name\\": \\"…\\"}" | A',
        '"Write {name} where a name goes" | A',
        '"Use \\\\frac{prompt}{2}, $\\\\{a\\\\} and {}" | A',
        'A(prompt) @ { properties: { a: { pattern: "^x{prompt}$", default: "{{name}}" } } }',
        'A(prompt) | B_Activity({ url: "/pets/{petId}" })',
        '// {{name}}\n"Say $5 to { a, b }" | A',
        '{ a: A, b: "{" }',
    ],
)
def test_other_braces_are_words(program: str, tmp_path: Path) -> None:
    assert found(program, tmp_path) == []


def test_a_project_whose_texts_are_templates_says_so(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.instrc]\ntemplates = true\n", encoding="utf-8")
    assert found('"To {{name}}" | A', tmp_path) == []
