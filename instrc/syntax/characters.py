"""Characters that are no signs of the language, and what they look like."""

from __future__ import annotations

LOOKALIKES = dict(zip("（）［］｛｝，；：｜＝＠、∣❘❙❚¦│┃⎮⏐‖", "()[]{},;:|=@,||||||||||", strict=True))
"""Characters that look like a sign of the language."""
SIGN_KINDS = {"(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE"}
SIGN_KINDS |= {",": "COMMA", ";": "SEMICOLON", ":": "COLON", "|": "VBAR", "=": "EQUAL", "@": "AT"}
DASHES = "−–—‐‑‒―"
"""Signs that look like `-`: of a number, of a list, between two stages."""
OPERATORS = frozenset("-+*/%<>!?&^~$\\.,") | frozenset(DASHES)
"""Characters that are operators elsewhere."""
