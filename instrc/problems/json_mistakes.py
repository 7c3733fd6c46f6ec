"""What is probably wrong with a text that is not JSON, by what stands at the place of the mistake."""

from __future__ import annotations

import re

from instrc.source import Span

_NOT_JSON = (
    (r"//|/\*|#", "remove the comment: JSON has none"),
    ("```", "remove the fences of Markdown"),
    ("[\u201c\u201d\u201e\u00ab\u00bb]", 'write straight quotes, `"`'),
    ("'", 'write double quotes, `"`'),
    (r"True\b", "write `true`"),
    (r"False\b", "write `false`"),
    (r"(?:None|undefined|NaN|nil)\b", "write `null`"),
    (r"[A-Za-z_]\w*\s*:", "write the key in double quotes"),
)
"""What stands in a file that is nearly JSON, and what to do about it."""


def advice_for_json(at: Span | None) -> str | None:
    """Return what to do about a mistake in JSON; `None` if its place shows nothing that is known."""
    if at is None:
        return None
    text = at.source.text
    rest = text[at.start : at.start + 100]
    if rest[:1] in {"}", "]"} and text[: at.start].rstrip().endswith(","):
        return "remove the `,` before it"
    if rest.strip() in {"", "{", "[", ",", ":"} and text.strip():
        return "close the brackets that are open"
    if re.match(r"[A-Za-z_]\w*:\s", rest) and not text[: at.start].strip():
        return "write it as JSON: this looks like YAML"
    return next((advice for pattern, advice in _NOT_JSON if re.match(pattern, rest)), None)
