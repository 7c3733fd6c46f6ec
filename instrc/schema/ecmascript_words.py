r"""The words of regular expressions of ECMA 262: classes of characters, escapes, groups, categories of Unicode."""

from __future__ import annotations

SPACES = r"\x09-\x0d\x20\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NO_SPACES = (
    r"\x00-\x08\x0e-\x1f\x21-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e"
    r"\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff"
)
CLASSES = {
    "d": "0-9",
    "D": r"\x00-\x2f\x3a-\U0010ffff",
    "w": "0-9A-Z_a-z",
    "W": r"\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\U0010ffff",
    "s": SPACES,
    "S": NO_SPACES,
}
NOT_A_LINE_END = r"[^\x0a\x0d\u2028\u2029]"
CONTROLS = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
SYNTAX = frozenset("^$\\.*+?()[]{}|/-")
REPEAT = r"\{([0-9]{1,9})(?:(,)([0-9]{0,9}))?\}"
GROUP = (
    r"\(\?(?:(?P<atomic>>)|(?P<look><?[=!])|P?<(?P<name>[^\W\d]\w*)>"
    r"|(?P<flags>[aimsu]*(?:-[ims]+)?)(?P<open>[:)]))"
)
ESCAPE = (
    r"(?s)\\(?:u\{(?P<braced>[0-9A-Fa-f]{1,8})\}"
    r"|u(?P<pair>[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2})|u(?P<four>[0-9A-Fa-f]{4})|x(?P<two>[0-9A-Fa-f]{2})"
    r"|c(?P<control>[A-Za-z])|(?P<sign>[pP])(?:\{(?P<property>\^?[\w=]{1,80})\}|(?P<letter>[A-Z]))"
    r"|k<(?P<named>[^\W\d]\w*)>|(?P<number>[1-9][0-9]*)|(?P<other>.))"
)
CATEGORIES = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Combining_Mark": "M",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "punct": "P",
    "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe",
    "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po",
    "Symbol": "S",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Other": "C",
    "Control": "Cc",
    "cntrl": "Cc",
    "Format": "Cf",
    "Surrogate": "Cs",
    "Private_Use": "Co",
    "Unassigned": "Cn",
}
"""The general categories of Unicode by their long names."""
