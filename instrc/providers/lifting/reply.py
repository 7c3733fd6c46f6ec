"""The content of a provider's answer, and the arguments of one call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest
from typing import Final

from msgspec import Struct, structs

from instrc.text.jsontext import dumps, loads, repeated_keys, value_in
from instrc.text.jsonvalue import Json, equal

LOOSE_TEXT: Final = 1_000_000
"""Maximum characters of a text in which JSON errors are repaired."""
_CUT = frozenset(
    {"length", "max_tokens", "maxtokens", "max_output_tokens", "max_prompt_tokens", "max_completion_tokens", "model_length"}
    | {"model_context_window_exceeded", "token_limit", "time_limit", "limit", "truncated", "error_limit", "not_finished"}
    | {"maximum_tokens", "maxpredictedtokensreached", "contextlengthreached", "starting", "processing", "repetition"}
)
_REFUSED = frozenset(
    {"refusal", "content_filter", "content_filtered", "blacklist", "sensitive", "error_toxic", "guardrail_intervened"}
    | {"safety", "recitation", "blocklist", "prohibited_content", "spii", "language", "model_armor", "jailbreak"}
    | {"image_safety", "image_prohibited_content", "image_recitation"}
)
_MALFORMED = frozenset(
    {"malformed_function_call", "malformed_response", "unexpected_tool_call", "too_many_tool_calls", "missing_thought_signature"}
    | {"malformed_tool_use", "malformed_model_output"}
)
_FAILED = frozenset(
    {"error", "failed", "cancelled", "canceled", "expired", "other", "timeout", "user_cancel", "abort", "network_error"}
    | {"insufficient_system_resource", "aborted", "image_other", "no_image"}
)


class RawCall(Struct, frozen=True):
    """A call as read: its arguments in the target's form, or the text that should be JSON."""

    name: str | None
    arguments: Json
    id: str | None = None
    unreadable: str | None = None
    """Why the arguments are not JSON."""
    partial: bool = False
    """Whether the arguments' text ends before their JSON does, or Gemini announces more."""
    repeated: tuple[str, ...] = ()
    """Duplicate keys of an object in the text; the last one is used."""
    loose: str | None = None
    """The text that was parsed, if it is not valid JSON but has one unambiguous reading."""
    nothing: str | None = None
    """The JSON taken as no arguments, `null` or an empty text; a tool without arguments may be called with it."""


class RawReply(Struct, frozen=True):
    """The content of an answer."""

    calls: tuple[RawCall, ...] = ()
    texts: tuple[str, ...] = ()
    refusal: str | None = None
    cut: bool = False
    malformed: str | None = None
    failure: str | None = None
    """The provider's error, if there is no answer."""
    envelope: bool = False
    """Whether a provider's envelope was recognised."""
    paused: bool = False
    """Whether the provider says that the turn continues once the answer is sent back."""
    result: bool = False
    """Whether it is the result of an MCP tool rather than a call."""
    thoughts: str = ""
    """Thoughts next to an empty text: some servers put the whole answer there."""

    def __or__(self, other: RawReply) -> RawReply:
        """Return the content of both: calls and texts of this one first, the first value where only one is possible."""
        return RawReply(
            self.calls + other.calls,
            self.texts + other.texts,
            self.refusal if self.refusal is not None else other.refusal,
            self.cut or other.cut,
            self.malformed if self.malformed is not None else other.malformed,
            self.failure if self.failure is not None else other.failure,
            self.envelope or other.envelope,
            self.paused or other.paused,
            self.result or other.result,
            self.thoughts or other.thoughts,
        )


def join_replies(replies: Iterable[RawReply]) -> RawReply:
    """Return the content of several replies together, joined in pairs: one after another would copy each many times."""
    joined = [RawReply(), *replies]
    while len(joined) > 1:
        joined = [first | second for first, second in zip_longest(joined[::2], joined[1::2], fillvalue=RawReply())]
    return joined[0]


def says_something(reply: RawReply) -> bool:
    """Return whether a reply contains a call, a text or a refusal."""
    return bool(reply.calls) or reply.refusal is not None or any(text.strip() for text in reply.texts)


def stop_reply(reason: Json) -> RawReply:
    """Return the reply for the stop reason of a model.

    The reasons of OpenAI, Anthropic, Gemini, Mistral, GigaChat, Ollama, Bedrock, Cohere, DeepSeek, GLM and MCP differ, and are
    written in upper or lower case, so one table holds them all;
    a normal stop, or one for a tool call, adds nothing.
    """
    if not isinstance(reason, str):
        return RawReply()
    reason = reason.rsplit(".", 1)[-1]  # `FinishReason.SAFETY`, as some libraries print it
    word = reason.casefold().replace("-", "_")
    return RawReply(
        cut=word in _CUT,
        refusal=reason if word in _REFUSED else None,
        malformed=reason if word in _MALFORMED else None,
        failure=reason if word in _FAILED else None,
        paused=word == "pause_turn",
    )


def first(item: dict[str, Json], *keys: str) -> Json:
    """Return the first existing member of several synonyms, or `None`."""
    return next((item[key] for key in keys if item.get(key) is not None), None)


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
"""Text allowed after a value: extra closing brackets, the marker that ends a turn or a call."""
_ESCAPE = re.compile(
    r"""\\(?:(?P<kept>["\\/bfnrt]|u[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|U(?P<far>00(?:0[1-9a-fA-F]|10)[0-9a-fA-F]{4})|(?P<other>.))|(?P<bare>["\x00-\x1f])""",
    re.DOTALL,
)
_COLON = re.compile(r"\s*+:")
_WORDS = {"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null"}


def loose_json(text: str) -> str | None:
    """Return the unambiguous JSON equivalent of a text, or `None`.

    `{'a': [1, 2,]}` means `{ "a" : [ 1 , 2 ] }`.
    """
    text = text.strip()
    if not text.startswith(("{", "[")) or len(text) > LOOSE_TEXT:
        return None
    for read in (_unescaped, _undoubled, _strict):
        if (result := read(text)) is not None and isinstance(value_in(result), dict | list):
            return result
    return None


def _unescaped(text: str) -> str | None:
    r"""Return `{"a": 1}` for `{\"a\": 1}`."""
    if not re.match(r'[\[{\s]+\\"', text):
        return None
    held = value_in(f'"{text}"')
    return held if isinstance(held, str) else None


def _undoubled(text: str) -> str | None:
    """Return `{"a": 1}` for `{{"a": 1}}`."""
    return text[1:-1] if text.startswith("{{") and text.endswith("}}") else None


def _strict(text: str) -> str | None:
    """Return a text converted token by token to JSON, or `None` for an invalid token."""
    built: list[str] = []
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
        if word in {"}", "]"} and len(built) > 1 and built[-1] == "," and built[-2] not in {"[", "{", ",", ":"}:
            built.pop()
        built.append(word)
        depth += (word in {"{", "["}) - (word in {"}", "]"})
        if depth == 0:
            return " ".join(built) if _BEHIND.match(text, place) else None
    return None


def _written(token: re.Match[str], text: str) -> str | None:
    """Return a token in JSON syntax, or `None` for a word without a JSON value."""
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
    """Return an escape, or a character that must be escaped in a text, in JSON syntax."""
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


CHANNEL = "<|channel|>"
_BEGINS_CHANNEL = re.compile(r"[^<]*(?:<\|end\|>\s*)?(?:<\|start\|>assistant[^<]*)?<\|channel\|>")
"""A text in the channels of gpt-oss; behind the mark of another template theirs are quotations."""
MESSAGE = re.compile(
    r"(?:(?:<\|start\|>assistant|\A)(?P<before>[^<]*+))?<\|channel\|>(?P<channel>\w*+)(?P<after>[^<]*+)(?:<\|constrain\|>[^<]*+)?"
    r"<\|message\|>(?P<body>.*?)(?P<end><\|(?:end|return|call)\|>|(?=<\|start\|>)|\Z)",
    re.DOTALL,
)
_RECIPIENT = re.compile(r"to=(\S+)")


def recipient(message: re.Match[str]) -> str | None:
    """Return the tool that a message is for, or `None` if it is for the user."""
    result = _RECIPIENT.search(message["before"] or "") or _RECIPIENT.search(message["after"])
    return None if result is None else result[1]


def without_analysis(text: str) -> tuple[str, bool]:
    """Return the text outside the channel for thoughts, with calls unchanged, and whether unclosed thoughts are all there is."""
    said: list[str] = []
    end = 0
    unended = False
    for message in MESSAGE.finditer(text):
        said.append(text[end : message.start()])
        end = message.end()
        if recipient(message) is not None:
            said.append(message[0])
        elif message["channel"] != "analysis":
            said.append(message["body"])
        else:
            unended = not message["end"] and end == len(text)
    rest = "".join([*said, text[end:]])
    return ("", True) if unended and not rest.strip() else (rest, False)


_PAIRS = (
    *((f"<{word}>", f"</{word}>") for word in ("think", "thinking", "thought", "reasoning", "seed:think")),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
)
"""Markers around thoughts: of DeepSeek, Qwen and most others; of Seed; of Magistral, Command, Kimi, Gemma."""
THOUGHT = "|".join(rf"(?<![`'\"]){re.escape(opening)}.*?(?:{re.escape(ending)}|\Z)" for opening, ending in _PAIRS)
"""Pattern of a thought, which may have no end; behind a quotation mark, it is spoken of."""


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Return a text without the thoughts at its beginning, and whether they are unclosed.

    Some chat templates put the opening marker into the prompt, so the closing marker may be the only one.
    """
    begun = text.lstrip()
    for opening, ending in _PAIRS:
        if begun.startswith(opening):
            _, end, rest = begun.partition(ending)
            return (_inside(rest, _DEBRIS, _DEBRIS_ENDS), False) if end else ("", True)
    if _BEGINS_CHANNEL.match(text) and _place_of(CHANNEL, text) >= 0:
        return without_analysis(text)
    place = _place_of("</think>", text)
    text = text[place + len("</think>") :] if place >= 0 and "<think>" not in text[:place] else text
    return _inside(text, _DEBRIS, _DEBRIS_ENDS), False


_DEBRIS = re.compile(r"\s*+(?:\[ARGS\](?=\s*+\{)|json(?=\s*+[\[{])[^\S\n]*+\n|<\|(?:begin_of_box|START_(?:RESPONSE|TEXT))\|>)")
"""Remains of Mistral's markers and of a fence before a value; the beginning of GLM's box and of Command's marks around one."""
_DEBRIS_ENDS = ("<|end_of_box|>", "<|END_RESPONSE|>", "<|END_TEXT|>")


def _inside(text: str, opening: re.Pattern[str], endings: tuple[str, ...]) -> str:
    """Return the part of a text after its opening mark and before its closing one, if it has any."""
    if (begun := opening.match(text)) is None:
        return text
    text = text[begun.end() :].rstrip()
    return text.removesuffix(next(filter(text.endswith, endings), ""))


_BEGINS_JSON = re.compile(r"\s*+(?:```[\w-]*+\s*+)?[\[{]")


def _place_of(mark: str, text: str) -> int:
    """Return the offset of a marker outside JSON strings, or -1."""
    if not _BEGINS_JSON.match(text):
        return text.find(mark)
    quoted = False
    for token in re.finditer(rf'\\.|"|{re.escape(mark)}', text, re.DOTALL):
        if token[0] == '"':
            quoted = not quoted
        elif token[0] == mark and not quoted:
            return token.start()
    return -1


_FENCE = re.compile(r"\s*+```[\w-]*+[ \t]*+\n")
"""Code fence around a whole text; the closing one is missing in an answer that was cut off."""


def raw_call(name: Json, arguments: Json, call_id: Json = None) -> RawCall:
    """Return a call from arguments as an object or JSON text, optionally in a code fence; the name may be of any type."""
    name, call_id = text_of(name), text_of(call_id)
    if not isinstance(arguments, str):
        return RawCall(name, {} if arguments is None else arguments, call_id)
    text, _ = strip_reasoning(arguments.removeprefix("\ufeff"))
    text = _inside(text, _FENCE, ("```",))
    if not text.strip():
        return RawCall(name, {}, call_id)
    try:
        value = loads(text)
        if name is not None and (value is None or equal(value, "")):  # how some servers write an empty list
            return RawCall(name, {}, call_id, nothing=dumps(value))
        return RawCall(name, value, call_id, repeated=repeated_keys(text, value))
    except (ValueError, RecursionError) as error:
        if (repaired := loose_json(text)) is not None:
            value = loads(repaired)
            return RawCall(name, value, call_id, repeated=repeated_keys(repaired, value), loose=arguments)
        return RawCall(name, arguments, call_id, str(error), partial=ends_early(text))


def with_repeated(calls: Iterable[RawCall], keys: Iterable[str]) -> tuple[RawCall, ...]:
    """Return calls from one text, marked if a key occurs twice in an object of the text."""
    names = tuple(keys)
    if not names:
        return tuple(calls)
    own = [(call, _keys_in(call.arguments)) for call in calls]
    return tuple(
        structs.replace(call, repeated=tuple(dict.fromkeys([*call.repeated, *filter(held.__contains__, names)])))
        for call, held in own
    )


def _keys_in(value: Json) -> set[str]:
    """Return the keys of all objects in a value."""
    result: set[str] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            result.update(part)
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return result


def text_of(value: Json) -> str | None:
    """Return a name, an id or an error text, which may have any type in a hostile answer."""
    if value is None or isinstance(value, str):
        return value
    try:
        return dumps(value, indent=False)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?P<end>"?)|[][{}]', re.DOTALL)


def ends_early(text: str) -> bool:
    """Return whether a text begins as JSON and ends before its brackets are closed."""
    text = text.strip()
    if not text.startswith(("{", "[", '"')):
        return False
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        if token["end"] == "":
            return True
        depth += (token[0] in {"{", "["}) - (token[0] in {"}", "]"})
    return depth > 0
