"""Characters that are no signs of the language, and what they look like."""

from __future__ import annotations

import re

LOOKALIKES = dict(zip("（）［］｛｝，；：｜＝＠．、。∣❘❙❚¦│┃⎮⏐‖", "()[]{},;:|=@.,.||||||||||", strict=True))
"""Characters that look like a sign of the language."""
SIGN_KINDS = {"(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE"}
SIGN_KINDS |= {",": "COMMA", ";": "SEMICOLON", ":": "COLON", "|": "VBAR", "=": "EQUAL", "@": "AT", ".": "DOT"}
DASHES = "−–—‐‑‒―"
"""Signs that look like `-`: of a number, of a list, between two stages."""
OPERATORS = frozenset("-+*/%<>!?&^~$\\.,") | frozenset(DASHES)
"""Characters that are operators elsewhere."""
FOREIGN_OPERATOR = re.compile(
    r"(?P<COMPARISON>===?|!==?|:=)|(?P<ARROW>--?>|=>|<-|\|>|>>|[→⇒➔➜⟶⟹])|"
    r"(?P<OPERATOR>&&|\?\?|\?\.(?!\d)|\.\.\.?|\+\+|\*\*|::)"
)
"""An operator of other languages that is written with two signs or more, or with one that is no sign here."""
