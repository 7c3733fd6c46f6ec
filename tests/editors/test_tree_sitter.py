"""The tree-sitter grammar reads every program that we show, and knows every word of the language."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "grammar" / "tree-sitter"
PROGRAM = """\
a = when x is 3 or y.z @ { type: "object" } { b = A(); c(d) @ "n" } else when q { "x" } else { 'y' }
k = { when: 1, else: 2, is, "s": [-1.5e3,] };
(is) | aug:mail/note:2(x, try: 2) | else // a comment
r = repeat x in a.b { F() } until a.b is true max 3 keep 2 else { G() }
письмо.$оценка
tool const t = @{ a: 1 } /* two
lines */
c = race { F(race) } or { G() }
race = each x in xs { F(x) } until x.ok
e = each x in 3 max 5 { try { F(x) } else { do { x.when } } }
input goal @ "what is wanted"
"""
needs_engine = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("tree-sitter", "node", "cc")), reason="needs tree-sitter, node and a C compiler"
)


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}
    return subprocess.run(
        ["tree-sitter", *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parser") / "aug"
    shutil.copytree(FOLDER, folder)
    (folder / "package.json").write_text('{"tree-sitter": [{"scope": "source.aug", "file-types": ["aug"]}]}')
    made = run(folder, "generate")
    assert made.returncode == 0, made.stderr
    return folder


def test_every_word_of_the_language_is_in_it() -> None:
    grammar = (FOLDER / "grammar.js").read_text("utf-8")
    words = re.findall(r'^[A-Z]+: "([a-z]+)"$', (ROOT / "grammar" / "aug.lark").read_text("utf-8"), re.MULTILINE)
    assert len(words) > 15
    assert [word for word in words if f'"{word}"' not in grammar] == []


@needs_engine
def test_it_reads_every_example(parser: Path) -> None:
    programs = [path for path in sorted((ROOT / "examples").rglob("*.aug")) if "mistakes" not in path.parts]
    assert len(programs) > 20
    (parser / "it.aug").write_text(PROGRAM, encoding="utf-8")
    read = run(parser, "parse", "--quiet", "it.aug", *programs)
    assert read.returncode == 0, read.stdout


@needs_engine
def test_it_marks_a_mistake(parser: Path) -> None:
    (parser / "wrong.aug").write_text("a = = 3 {")
    read = run(parser, "parse", "--quiet", "wrong.aug")
    assert (read.returncode, "ERROR" in read.stdout) == (1, True)


@needs_engine
def test_its_colours_are_those_of_its_tree(parser: Path) -> None:
    (parser / "it.aug").write_text(PROGRAM, encoding="utf-8")
    seen = run(parser, "query", "queries/highlights.scm", "it.aug")
    assert seen.returncode == 0, seen.stderr
    for kind in ("comment", "string", "function", "variable.parameter", "keyword.control", "constant.builtin"):
        assert f" - {kind}," in seen.stdout, kind
