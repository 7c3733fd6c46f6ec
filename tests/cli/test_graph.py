"""`instrc graph` draws programs of every kind, and says what it cannot draw."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_lines import Instrc

TOOL = 'tool it = @{ title: "A", type: "object" } | @{ title: "B", type: "object" }'


@pytest.mark.parametrize("kind", ["text", "mermaid", "svg", "html"])
def test_a_tool_is_drawn_with_what_its_steps_read(instrc: Instrc, folder: Path, kind: str) -> None:
    (folder / "it.aug").write_text(TOOL)
    done = instrc("graph", "it.aug", "--format", kind)
    assert (done.code, done.err) == (0, "")
    assert done.out.index("A") < done.out.rindex("B")
    assert done.out == instrc("graph", "it.aug", *(["--format", kind] if kind != "text" else [])).out


def test_a_page_shows_the_line_of_the_source(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text(f"// first\n{TOOL}")
    done = instrc("graph", "it.aug", "--format", "html", "-o", "out/it.html")
    assert (done.code, done.out, done.err) == (0, "", "wrote out/it.html\n")
    assert "it.aug:2" in (folder / "out" / "it.html").read_text()


def test_the_ending_of_the_file_says_the_format(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text(TOOL)
    for name, beginning in {
        "a.svg": "<?xml",
        "a.HTML": "<!doctype",
        "a.htm": "<!doctype",
        "a.mmd": "---",
        "a": "it\n● Model",
        "a.txt": "it\n● Model",
    }.items():
        assert instrc("graph", "it.aug", "-o", name).code == 0
        assert (folder / name).read_text().startswith(beginning)
    done = instrc("graph", "it.aug", "-o", "a.png")
    assert (done.code, done.out) == (2, "")
    assert "`.png`: the formats are text, mermaid, svg, html" in " ".join(done.err.split())
    assert not (folder / "a.png").exists()


def test_a_program_in_one_long_line_is_not_repeated_for_each_step(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text(" | ".join(f"Step{number}" for number in range(200)))
    page = instrc("graph", "it.aug", "--sketch", "--format", "html").out
    assert page.count("…") > 190
    assert len(page) < 400_000


def test_several_exports_are_drawn_on_one_page_or_chosen(instrc: Instrc, folder: Path) -> None:
    (folder / "two.aug").write_text(f'{TOOL}; tool other = @{{ title: "C", type: "object" }}')
    assert instrc("graph", "two.aug", "--format", "html").out.count("<figure") == 2
    assert instrc("graph", "two.aug", "--format", "svg").code == 2
    assert ">C<" not in instrc("graph", "two.aug", "--format", "svg", "--export", "it").out
    assert "[no-such-export]" in instrc("graph", "two.aug", "--export", "its").err


def test_what_does_not_compile_is_not_drawn(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text("Nothing")
    done = instrc("graph", "it.aug")
    assert (done.code, done.out) == (1, "")
    assert "[unknown-name]" in done.err


def test_a_vibe_is_drawn(instrc: Instrc, folder: Path) -> None:
    (folder / "it.vibe.json").write_text('{ "title": "It", "type": "object", "properties": { "a": { "type": "string" } } }')
    assert "● It" in instrc("graph", "it.vibe.json").out


def test_several_exports_are_one_flowchart_and_a_markdown_file_has_it_in_a_fence(instrc: Instrc, folder: Path) -> None:
    """Mermaid reads one chart from a text, and what draws Markdown only draws fenced ones."""
    (folder / "it.aug").write_text('tool first = "One" | A;\ntool second = "Two" | A | B;\n')
    assert instrc("graph", "it.aug", "--sketch", "-o", "it.md").code == 0
    text = (folder / "it.md").read_text()
    assert text.startswith("```mermaid\nflowchart TD\n")
    assert text.endswith("\n```\n")
    assert text.count("flowchart TD") == 1
    names = re.findall(r"^ *(?:subgraph )?(\w+)[\[(]", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert {'subgraph e0["One"]', 'subgraph e1["Two"]'} < {line.strip() for line in text.splitlines()}
