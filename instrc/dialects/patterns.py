"""What the known engines read alike in regular expressions, each fact with its source and date.

Providers change their engines without a word, so one rule holds for all targets that constrain by an engine:
a pattern is sent only where ECMA 262 and all engines that are known read it alike.
"""

from __future__ import annotations

from instrc.ir.dialect import Fact

_RUN = "llguidance 1.9.1, xgrammar 0.2.8 and outlines-core 0.2.14, run"
_DATE = "2026-11-23"

COMMON_ESCAPES = frozenset("dDsSwWnrtvf")
"""The letters that all read behind a backslash, in a class and outside of one; digits they do not."""
WORD_ENDS = ("\\<", "\\>")
"""Ends of words to the engines in Rust, and needless escapes of signs to ECMA 262."""
CLASS_OPERATIONS = ("&&", "--", "~~")
"""What joins two classes to the engines in Rust, and lists or bounds signs in a class to ECMA 262."""
ESCAPED_IN_CLASSES = ("&&", "||", "~~")
"""What is written with backslashes in a class: Python warns that each of them will be an operation."""

PLAIN_PATTERNS = (
    Fact(
        r"all read \d \D \s \S \w \W \n \r \t \v \f, and signs of ASCII behind a backslash but \< and \>; "
        r"\b, \p, \0, back-references, other letters and signs behind a backslash are refused by one or read otherwise",
        _RUN,
        _DATE,
        ("patterns",),
    ),
    Fact(
        r"characters by number such as \u0041 are no escapes to RE2, so letters are sent themselves",
        "google-re2 1.1.20251105, run",
        _DATE,
        ("patterns",),
    ),
    Fact(
        "look-around, an empty class, a bare `[` in a class, and anchors inside of a pattern are refused by one",
        _RUN,
        _DATE,
        ("patterns",),
    ),
    Fact(
        "`[a-c&&b-d]` is b and c, `[a-c--b]` a and c, `[a-c~~b-d]` a and d: operations on classes",
        "outlines-core 0.2.14, run",
        _DATE,
        ("patterns",),
    ),
)
"""Stands among the facts of each target that takes patterns of this kind only."""
