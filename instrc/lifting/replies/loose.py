"""Read text that is meant as JSON and is not quite: as JavaScript or Python writes a value, or as a template spoils it.

Read are only slips that leave no doubt about the value: quotes of the other kind or of print, keys without quotes, commas
before a closing bracket, comments, line breaks inside of texts, escapes that JSON does not have, `True`, `None`, `+1` and `.5`,
quotes escaped throughout, brackets doubled, and brackets or marks of a chat template behind the end.
Nothing is closed that is open, and no comma or bracket is added: what was cut off stays cut off.
"""

from __future__ import annotations

import re

from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json
from instrc.limits.payloads import LOOSE_TEXT

_TOKEN = re.compile(
    r"""
      (?P<beside>\s++|//[^\n]*+|/\*.*?\*/|\#[^\n]*+)
    | (?P<text>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[“”„](?:[^“”„\\]|\\.)*+[“”]|[‘’‚](?:[^‘’‚\\]|\\.)*+[‘’]|«(?:[^«»\\]|\\.)*+»)
    | (?P<number>[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?+)(?![\w.])
    | (?P<word>[^\W\d][\w$]*+)
    | (?P<mark>[][{}:,])
    """,
    re.VERBOSE | re.DOTALL,
)
_BEHIND = re.compile(r"(?:[\s}\];]|```|<\|[^|<>]*+\|>|</[\w|]*+>)*+\Z")
"""What may stand behind a value: brackets too many, the mark that a turn or a call ends."""
_ESCAPE = re.compile(
    r"""\\(?:(?P<kept>["\\/bfnrt]|u[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|U(?P<far>00(?:0[1-9a-fA-F]|10)[0-9a-fA-F]{4})|(?P<other>.))|(?P<bare>["\x00-\x1f])""",
    re.DOTALL,
)
_COLON = re.compile(r"\s*+:")
_WORDS = {"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null"}


def loose_json(text: str) -> str | None:
    """Return the JSON text that a text stands for beyond doubt; `None` if it stands for none.

    `{'a': [1, 2,]} // done` stands for `{"a":[1,2]}`.
    """
    text = text.strip()
    if not text.startswith(("{", "[")) or len(text) > LOOSE_TEXT:
        return None
    for read in (_unescaped, _undoubled, _strict):
        if (found := read(text)) is not None and isinstance(_value(found), dict | list):
            return found
    return None


def _value(text: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


def _unescaped(text: str) -> str | None:
    r"""Return `{"a": 1}` for `{\"a\": 1}`."""
    if not re.match(r'[\[{\s]+\\"', text):
        return None
    held = _value(f'"{text}"')
    return held if isinstance(held, str) else None


def _undoubled(text: str) -> str | None:
    """Return `{"a": 1}` for `{{"a": 1}}`."""
    return text[1:-1] if text.startswith("{{") and text.endswith("}}") else None


def _strict(text: str) -> str | None:
    """Return a text token by token as JSON has it; `None` if a token has no place there."""
    made: list[str] = []
    place = depth = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return None
        place = token.end()
        if token.lastgroup == "beside":
            continue
        if (word := _written(token, text)) is None:
            return None
        if word in {"}", "]"} and len(made) > 1 and made[-1] == "," and made[-2] not in {"[", "{", ",", ":"}:
            made.pop()
        made.append(word)
        depth += (word in {"{", "["}) - (word in {"}", "]"})
        if depth == 0:
            return "".join(made) if _BEHIND.match(text, place) else None
    return None


def _written(token: re.Match[str], text: str) -> str | None:
    """Return a token as JSON writes it; `None` for a word that JSON has no value for."""
    match token.lastgroup:
        case "text":
            return '"' + _ESCAPE.sub(_escaped, token[0][1:-1]) + '"'
        case "number":
            whole, point, rest = token[0].removeprefix("+").partition(".")
            fraction = rest if rest[:1].isdigit() or not point else f"0{rest}"
            return f"{whole if whole.strip('-') else f'{whole}0'}{point}{fraction}"
        case "word" if _COLON.match(text, token.end()):
            return dumps(token[0], indent=False)
        case "word":
            return _WORDS.get(token[0])
        case _:
            return token[0]


def _escaped(found: re.Match[str]) -> str:
    """Return one escape, or a character that must not stand bare in a text, as JSON writes it."""
    if found["kept"]:
        return found[0]
    if found["byte"]:
        return f"\\u00{found['byte']}"
    if found["far"]:
        return chr(int(found["far"], 16))
    if found["bare"]:
        return dumps(found["bare"], indent=False)[1:-1]
    other = found["other"]
    return "'" if other == "'" else dumps(f"\\{other}", indent=False)[1:-1]
