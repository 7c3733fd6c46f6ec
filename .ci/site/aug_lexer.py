"""Colours programs in `.aug` on the site; the words are those of the grammar."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

__all__ = ["AugLexer"]
WORDS = (
    *("const", "let", "tool", "input", "language", "when", "each", "repeat", "try", "race", "do", "else"),
    *("in", "is", "or", "and", "not", "until", "max", "keep", "from"),
)


class AugLexer(RegexLexer):
    """Reads `.aug`."""

    name = "Aug"
    aliases: ClassVar[list[str]] = ["aug"]
    filenames: ClassVar[list[str]] = ["*.aug"]
    tokens: ClassVar[dict[str, list[tuple[str, object]]]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r"/\*.*?\*/", Comment.Multiline),
            (r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'", String),
            (rf"\b(?:{'|'.join(WORDS)})\b(?!\s*:)", Keyword),
            (r"\b(?:true|false|null)\b", Keyword.Constant),
            (r"aug:[^\s()\[\]{},;|@\"']+", Name.Namespace),
            (r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", Number),
            (r"\w+_Mixin\b", Name.Decorator),
            (r"\w+(?=\s*:)", Name.Attribute),
            (r"[^\W\d_a-z]\w*", Name.Class),
            (r"\w+", Name),
            (r"[|@]|[<>]=?", Operator),
            (r".", Punctuation),
        ]
    }
