"""The layout of pieces, put together, is the layout of the whole."""

from __future__ import annotations

import pytest
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from test_format_of_programs import UNTIDY, commented

from instrc import Report, Source
from instrc.language.formatter import format_program  # a text without a file
from instrc.language.incremental_format import Piece, PiecewiseLayout, format_pieces  # pieces that only an editor keeps
from instrc.language.parser import parse
from instrc.lsp.session import segments_of  # a session without a client


def laid_out(text: str, known: dict[str, Piece]) -> PiecewiseLayout:
    source = Source("formatted.aug", text)
    return format_pieces(source, segments_of(parse(source, Report()), ()).cuts, known)


def whole(text: str) -> str:
    return format_program(Source("formatted.aug", text))


@examples(40)
@given(st.lists(commented(), min_size=1, max_size=3), st.sampled_from(["\n", "\n\n", ";\n", " // d\n", "\n/* e */ ", "\r\n"]))
def test_pieces_give_the_layout_of_the_whole(texts: list[str], between: str) -> None:
    known: dict[str, Piece] = {}
    for text in (between.join(f"{each};" for each in texts[:count]) for count in (*range(1, len(texts) + 1), 1)):
        found = laid_out(text, known)
        assert found.text == whole(text), text
        known |= found.pieces


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n// only a comment\n",
        "Draft(prompt)",
        "Draft(prompt);",
        "Draft(prompt);\n\n\n// the end",
        "const a = Draft(prompt); // trails\n\n// above\nDraft(a)",
        "const a = Draft(prompt); /* trails */\nDraft(a)",
        "const a = Draft(prompt); /* goes\n on */ Draft(a)",
        "const a = Draft(prompt);\n/* before */ ;\nDraft(a)",
        "const a = Draft(prompt);\n;\n;Draft(a);\n",
        'when prompt.kind is "a" { Draft(prompt) };\n(Draft | Send);\n',
        'when prompt.kind is "a" { Draft(prompt) };\nDraft(prompt);\n',
        '(when prompt.kind is "a" { Draft(prompt) });\n// c\n(Draft)\n',
        "const a = Draft(prompt);\rconst b = Draft(a);\r\n\r\nDraft(b);\u2028Draft(a)",
        UNTIDY,
    ],
)
def test_no_cut_changes_the_layout(text: str) -> None:
    found = laid_out(text, {})
    assert found.text == whole(text)
    assert laid_out(text, dict(found.pieces)) == found
    for first in range(0, len(text), 3):
        assert laid_out(f"const z = Draft(prompt);\n{text}", dict(list(found.pieces.items())[first % 2 :])).text == whole(
            f"const z = Draft(prompt);\n{text}"
        )


def test_only_pieces_that_are_not_known_are_read() -> None:
    text = "".join(f"const s{number} = Draft(prompt);\n" for number in range(50))
    found = laid_out(text, {})
    assert len(found.pieces) == 51
    marked = {
        piece: each if "s7" in piece or not each.text else Piece("marked", each.apart, each.first, each.closed)
        for piece, each in found.pieces.items()
    }
    again = laid_out(text.replace("s20 ", "t20   "), marked)
    assert again.text.count("marked") == 48
    assert "const t20 = Draft(prompt);\n" in again.text
