"""No text and no place in it breaks a question: whatever is typed, the answer is one or none."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types
from printing import print_program
from programs import mutated, mutations, programs

from instrc import Source
from instrc.language.surface import Program
from instrc.lsp import completion, hints, navigation  # questions to a session without a client
from instrc.lsp.hints import hover, signature  # questions to a session without a client
from instrc.lsp.session import EditorSession, Lines, actions, diagnostics, fix_all  # a session without a client

HERE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def ask_everything(session: EditorSession, path: Path, text: str, offset: int) -> None:
    document = session.put(str(path), text)
    whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    problems = (*(() if document.is_vibe else document.slips), *session.check(document))
    diagnostics(problems, document, session)
    actions(problems, document, whole, ())
    for action in fix_all(problems, document):
        edits = action.edit.changes[document.uri] if action.edit and action.edit.changes else []
        places = sorted((edit.range.start, edit.range.end) for edit in edits)
        assert all(one[1] <= other[0] for one, other in pairwise(places)), "the protocol forbids it"
    hover(document, offset, session)
    navigation.definition(document, offset, session)
    completion.completion(document, offset, session, snippets=True)
    known = navigation.instruction_at(document, offset, session)
    if known is not None:
        navigation.places_in_project(known, document, session, declaration=True)
    if not document.is_vibe:
        navigation.references(document, offset, declaration=True)
        navigation.rename(document, offset, "renamed", session)
        navigation.symbols(document)
        signature(document, offset, session)
        hints.semantic_tokens(document)


@HERE
@given(programs(most=3), mutations(), st.integers(0, 300))
def test_mutated_programs(folder: Path, program: Program, edits: list[tuple[str, int, str]], offset: int) -> None:
    text = mutated(print_program(program), edits)
    ask_everything(EditorSession(), folder / "a.aug", text, min(offset, len(text)))


@HERE
@given(st.text(max_size=60) | st.text("ab1 \n\"'()[]{},;:|=@<>-+.#`“”\\/*\r", max_size=60), st.integers(0, 60))
def test_any_text(folder: Path, text: str, offset: int) -> None:
    ask_everything(EditorSession(), folder / "a.aug", text, min(offset, len(text)))
    ask_everything(EditorSession(), folder / "schemas" / "draft.vibe.json", text, min(offset, len(text)))


@given(st.text("ab\U0001f600é\n\r", max_size=40), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_places_go_there_and_back(text: str, encoding: str) -> None:
    lines = Lines(Source("a.aug", text), encoding)
    for offset in range(len(text) + 1):
        inside_line_end = text[offset - 1 : offset + 1] == "\r\n"
        assert inside_line_end or lines.offset(lines.position(offset)) == offset


def test_two_fixes_of_one_sign_are_not_made_together(folder: Path) -> None:
    ask_everything(EditorSession(), folder / "a.aug", "Draft({ a ＝ prompt });", 0)


@pytest.mark.parametrize("size", [30, pytest.param(300, marks=pytest.mark.long)])
def test_deep_and_long_texts(folder: Path, size: int) -> None:
    deep = ("f(" * 3 * size + ")" * 3 * size, "{a:" * 3 * size, "a" + ".b" * 7 * size, "when a { " * size)
    for text in (*deep, "x;" * 17 * size):
        ask_everything(EditorSession(), folder / "a.aug", text, len(text) // 2)


@pytest.mark.parametrize("name", ["round", "a b", "tool", "", "9", "x" * 300])
def test_a_bad_new_name_is_refused_in_words(folder: Path, name: str) -> None:
    session = EditorSession()
    document = session.put(str(folder / "a.aug"), "const a = Draft(prompt);\nDraft(a)\n")
    refused = navigation.rename(document, 6, name, session)
    assert isinstance(refused, str) is (name not in {"round", "x" * 300})


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from instrc.cli import main

    monkeypatch.setitem(sys.modules, "instrc.lsp.server", None)
    assert main(["lsp"]) == 1
    assert 'pip install "instrc[lsp]"' in capsys.readouterr().err
