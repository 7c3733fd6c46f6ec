from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from printing import print_program
from programs import mutated, mutations, programs

from instrc import Report, Source
from instrc.language import tables  # counted, replaced or built anew here
from instrc.language.parser import parse
from instrc.language.surface import Program
from instrc.text import files  # JSON text in and out, as the package writes it

INSIDE_TOKENS = {"bad-escape", "lone-surrogate", "stray-character", "bad-number", "not-plain-data", "repeated-key"}
"""Mistakes that the grammar does not see."""


WORDS_AT_TIMES = ("or", "and", "not", "else", "in", "is", "until", "max", "keep")
NAMES_AT_TIMES = (*WORDS_AT_TIMES, "from", "race", "language")
"""Words that are names where the automaton has no action for them, which only our lexer asks."""


@cache
def larks_own_parser() -> Lark:
    """Return a parser of the same grammar, in which lark's contextual lexer tells the words that are names at times."""
    grammar = files.read("grammar", "aug.lark").replace(f"|{'|'.join(WORDS_AT_TIMES)})", ")")
    for word in ("from", "race", "language"):  # of two patterns the longer one goes first, unless the other is told to
        grammar = re.sub(rf"{word}\(\?=[^)]*\)\|", "", grammar)
        grammar = grammar.replace(f"\n{word.upper()}:", f"\n{word.upper()}.1:")
    return Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False, keep_all_tokens=True)


def read_by_lark(text: str) -> Tree[Token] | None:
    """Return what lark reads, with names for words that do not fit where they stand; nothing if it refuses the text."""
    while True:
        try:
            return larks_own_parser().parse(text)
        except UnexpectedToken as error:
            word = error.token
            if word.value not in NAMES_AT_TIMES:
                return None
            text = f"{text[: word.start_pos]}{'n' * len(word)}{text[word.end_pos :]}"
        except UnexpectedInput:
            return None


def begins_no_name(text: str, read: Tree[Token]) -> bool:
    """Tell whether lark has taken no beginning of a name for a word: `each x inner` is not `each x in ner`."""
    words = read.scan_values(lambda token: isinstance(token, Token) and token.type != "NAME" and token.value.isidentifier())
    return not any(text[word.end_pos : word.end_pos + 1].isidentifier() for word in words)


def test_the_kept_tables_are_those_of_the_grammar() -> None:
    kept = orjson.loads(files.read("grammar", "aug.tables.json"))
    assert kept == tables.build_tables(files.read("grammar", "aug.lark")), "run `python -m instrc.language.tables`"


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    from lark import logger

    logger.setLevel("DEBUG")
    Lark(files.read("grammar", "aug.lark"), parser="lalr", debug=True)
    assert [record.message for record in caplog.records if "onflict" in record.message] == []


@pytest.mark.long
@given(programs(most=3), mutations())
def test_lark_itself_takes_and_refuses_the_same_texts(program: Program, edits: list[tuple[str, int, str]]) -> None:
    printed = print_program(program)
    for text in (printed, mutated(printed, edits).replace("“", "")):  # whether a run is a name, only our lexer asks
        report = Report()
        parse(Source("any.aug", text), report)
        read = read_by_lark(text)
        if read is None:
            assert report.failed
        elif begins_no_name(text, read):
            assert {problem.name for problem in report.problems} <= INSIDE_TOKENS


@pytest.mark.parametrize(
    ("text", "name"),
    [("each x inner { A(x) }", "incomplete-block"), ("epeat { A } until A.b or A", None), ("each x in a.b { A(x) }", None)],
)
def test_words_are_told_from_names_where_lark_cannot(text: str, name: str | None) -> None:
    report = Report()
    parse(Source("any.aug", text), report)
    assert [problem.name for problem in report.problems] == ([name] if name else [])


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b'{"grammar": 1}', b"\xff\xfe", b'{"grammar": "start:"}', None])
def test_damaged_or_missing_tables_are_made_anew(damage: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "grammar").mkdir()
    (tmp_path / "grammar" / "aug.lark").write_text(files.read("grammar", "aug.lark"), encoding="utf-8")
    if damage is not None:
        (tmp_path / "grammar" / "aug.tables.json").write_bytes(damage)
    whole = tables.tables()
    monkeypatch.setattr(files, "root", lambda: tmp_path)
    made = tables.tables.__wrapped__()
    assert made.states == whole.states
    assert made.lexer.pattern == whole.lexer.pattern
    assert {path.name for path in (tmp_path / "grammar").iterdir()} <= {"aug.lark", "aug.tables.json"}


def test_a_changed_grammar_is_obeyed_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "grammar").mkdir()
    grammar = (
        files.read("grammar", "aug.lark").replace('CONST: "const"', 'CONST: "constant"').replace("(?:const|", "(?:constant|")
    )
    (tmp_path / "grammar" / "aug.lark").write_text(grammar, encoding="utf-8")
    (tmp_path / "grammar" / "aug.tables.json").write_bytes((files.folder("grammar") / "aug.tables.json").read_bytes())
    monkeypatch.setattr(files, "root", lambda: tmp_path)
    assert tables.tables.__wrapped__().token(" constant", 0) == ("CONST", 1, 9)


def test_a_good_program_is_read_without_lark_and_without_problem_classes() -> None:
    code = """if True:
        import sys
        from instrc.problems.report import Report
        from instrc.text.source import Source
        from instrc.language.parser import parse
        parse(Source("a", "A | B"), Report())
        unwanted = {"lark", *("instrc.problems." + part for part in ("text", "words", "brackets", "statements", "notation"))}
        print(sorted(unwanted & set(sys.modules)))
    """
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
