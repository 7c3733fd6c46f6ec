"""Read calls of tools that stand between marks in a text, as the chat templates of open models have them write.

Hermes and Qwen (JSON or XML in `<tool_call>`), Llama (`<|python_tag|>`, `<function=…>`), Mistral (`[TOOL_CALLS]`), DeepSeek, GLM
(`<arg_key>`), Kimi, MiniMax and Step (`<invoke>`), gpt-oss (`to=functions.…`), Command (`<|START_ACTION|>`), Gemma (`call:…{…}`),
Olmo and LFM2 (calls as in Python), Functionary (`>>>…`), Solar (`<|tool_call:name|>`), Qwen-Agent (`✿FUNCTION✿`): forms that the
tool parsers of vLLM and of llama.cpp read (docs.vllm.ai, github.com/ggml-org/llama.cpp, 2026-11-22).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.lifting.replies.arguments import raw_call
from instrc.lifting.replies.harmony import MESSAGE, recipient
from instrc.lifting.replies.in_python import python_calls
from instrc.lifting.replies.json_calls import end_of, json_calls, value_at
from instrc.lifting.replies.reply import RawCall


def tagged(text: str) -> tuple[list[RawCall], str]:
    """Return the calls between marks of one kind, and the text around them."""
    for form, read in _FORMS:
        calls: list[RawCall] = []
        rest: list[str] = []
        end = 0
        for match in form.finditer(text):
            if found := read(match):
                calls += found
                rest.append(text[end : match.start()])
                end = match.end()
        if calls:
            return calls, "".join([*rest, text[end:]])
    return [], text


_PREFIX = r"(?:[|｜]DSML[|｜]|\w+:)?"
"""What the names of elements begin with: DeepSeek's mark, or a namespace."""
_PARAMETER = re.compile(
    rf"<{_PREFIX}param(?:eter)?(?:=|\s+name=)[\"']?(?P<key>[^>\"']+)[\"']?[^>]*>(?P<value>.*?)(?P<end></{_PREFIX}param(?:eter)?>|\Z)",
    re.DOTALL,
)
_GLM = re.compile(r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)(?P<end></arg_value>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function(?:=|\s+name=)[\"']?(?P<name>[^>\"']+)[\"']?>(?P<body>.*?)(?P<end></function>|\Z)", re.DOTALL)


def _elements(name: str, body: str, pattern: re.Pattern[str] = _PARAMETER, *, ended: bool = True) -> RawCall:
    """Return a call whose arguments are elements: each is a text, and the schema says what it stands for.

    A call without an end is whole if its last argument is, since a server may take its mark for the end of the answer.
    """
    arguments: dict[str, Json] = {}
    repeated: list[str] = []
    cut = not ended
    place = 0
    for match in pattern.finditer(body):
        key = match["key"].strip()
        repeated += [key] if key in arguments and key not in repeated else []
        arguments[key] = match["value"].removeprefix("\n").removesuffix("\n")
        cut = not match["end"]
        place = match.end()
    cut = cut or (not ended and bool(body[place:].strip()))
    unreadable = "its last argument has no end" if cut else None
    return RawCall(name.strip(), arguments, unreadable=unreadable, partial=cut, repeated=tuple(repeated))


def _functions(text: str, *, ended: bool = False) -> list[RawCall]:
    found = []
    for match in _FUNCTION.finditer(text):
        body = match["body"].strip()
        if body.startswith("{"):
            found.append(raw_call(match["name"].strip(), body))
        else:
            found.append(_elements(match["name"], body, ended=ended or bool(match["end"])))
    return found


_BEHIND_NAME = re.compile(r"(?:function<tool_sep>)?(?!call:)(?P<name>[\w.:-]+)\s*(?P<arguments>(?:```|\{).*)", re.DOTALL)
"""A name with JSON behind it, as Hunyuan writes a call."""


def _tool_call(match: re.Match[str]) -> list[RawCall]:
    """Read what stands between `<tool_call>` and its end: JSON, XML, or a name with elements."""
    body = match["body"].strip()
    if "<function" in body:
        return _functions(body, ended=bool(match["end"]))
    if "<arg_key>" in body:
        name, _, rest = body.partition("<arg_key>")
        return [_elements(name, f"<arg_key>{rest}", _GLM)]
    if behind := _BEHIND_NAME.fullmatch(body):
        return [_marked_call(behind["name"], behind["arguments"], ended=bool(match["end"]))]
    if re.fullmatch(r"[\w.:-]+", body):  # GLM calls a tool without arguments so
        return [_elements(body, "", ended=bool(match["end"]))]
    return json_calls(body)


_SPACE = re.compile(r"\s*")
_MISTRAL_NAME = re.compile(r"(?P<name>[\w.:-]+?)\s*(?:\[CALL_ID\]\w+)?(?:(?:\[ARGS\])?\s*(?=\{)|\[ARGS\]\s*\Z)")


def _mistral(match: re.Match[str]) -> list[RawCall]:
    """Read what follows `[TOOL_CALLS]`: a list, or names with their arguments behind them."""
    body = match["body"].strip()
    if body.startswith(("[", "{")):
        return json_calls(body)
    found: list[RawCall] = []
    place = 0
    while call := _MISTRAL_NAME.match(body, place):
        read = value_at(body, call.end())
        if read is None:
            return [*found, _marked_call(call["name"], body[call.end() :], ended=False)]
        found.append(RawCall(call["name"], read[0]))
        place = end_of(_SPACE, body, read[1])
    return found


def _marked_call(name: str, arguments: str, *, ended: bool = True) -> RawCall:
    """Return the call that a name and JSON arguments are, as DeepSeek, Kimi and gpt-oss write them."""
    name = re.sub(r"\A(?:functions\.)?(.*?)(?::\d+)?\Z", r"\1", name.strip())
    if not ended and not arguments.strip():
        return RawCall(name, arguments, unreadable="they have no end", partial=True)
    return raw_call(name, arguments.strip())


def _harmony(message: re.Match[str]) -> list[RawCall]:
    name = recipient(message)
    return [] if name is None else [_marked_call(name, message["body"], ended=bool(message["end"]))]


_GEMMA = re.compile(
    r'(?P<mark><escape>|<\|"\|>)(?P<text>.*?)(?P=mark)|(?P<json>"(?:[^"\\]|\\.)*+")|(?P<key>(?<![\w.$-])[^\W\d][\w.$-]*+)(?=\s*:)',
    re.DOTALL,
)


def _as_json(text: str) -> str:
    """Return Gemma's object as JSON: its keys are bare words, and marks stand where quotes would."""

    def quoted(match: re.Match[str]) -> str:
        if match["json"]:
            return match["json"]
        return dumps(match["text"] if match["mark"] else match["key"], indent=False)

    return _GEMMA.sub(quoted, text)


def _json_or_python(match: re.Match[str]) -> list[RawCall]:
    """Read what follows `<|python_tag|>`: JSON, or a call of a tool that Llama 3 was trained on."""
    return json_calls(match["body"]) or python_calls(match["body"])


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[RawCall]]], ...] = (
    (re.compile(r"<\|?tool_call\|?>(?P<body>.*?)(?P<end></tool_call>|(?=<\|?tool_call\|?>)|\Z)", re.DOTALL), _tool_call),
    (re.compile(r"\[TOOL_CALLS\]\s*(?P<body>.*?)(?=\[TOOL_CALLS\]|</s>|\Z)", re.DOTALL), _mistral),
    (re.compile(r"<\|python_tag\|>(?P<body>.*?)(?:<\|eo[tm]_id\|>|\Z)", re.DOTALL), _json_or_python),
    (
        re.compile(
            r"<[|｜]tool▁call▁begin[|｜]>(?:function<[|｜]tool▁sep[|｜]>)?(?P<name>[^\n<]+)(?:\n|<[|｜]tool▁sep[|｜]>)"
            r"(?P<body>.*?)(?P<end><[|｜]tool▁call▁end[|｜]>|\Z)",
            re.DOTALL,
        ),
        lambda match: [_marked_call(match["name"], match["body"], ended=bool(match["end"]))],
    ),
    (
        re.compile(
            r"<\|tool_call_begin\|>(?P<name>.*?)<\|tool_call_argument_begin\|>(?P<body>.*?)(?P<end><\|tool_call_end\|>|\Z)",
            re.DOTALL,
        ),
        lambda match: [_marked_call(match["name"], match["body"], ended=bool(match["end"]))],
    ),
    (
        re.compile(
            rf"<{_PREFIX}invoke\s+name=[\"'](?P<name>[^\"']+)[\"']\s*(?:(?P<none>/>)|>(?P<body>.*?)(?P<end></{_PREFIX}invoke>|\Z))",
            re.DOTALL,
        ),
        lambda match: [_elements(match["name"], match["body"] or "", ended=bool(match["none"] or match["end"]))],
    ),
    (MESSAGE, _harmony),
    (
        re.compile(r"<\|START_ACTION\|>(?P<body>.*?)(?:<\|END_ACTION\|>|\Z)", re.DOTALL),
        lambda match: json_calls(match["body"]),
    ),
    (
        re.compile(
            r"(?:<\|tool_call>|<start_function_call>)\s*call:(?P<name>[\w.:-]+)(?P<body>\{.*?)"
            r"(?:<tool_call\|>|<end_function_call>|(?=<\|tool_call>|<start_function_call>)|\Z)",
            re.DOTALL,
        ),
        lambda match: [_marked_call(match["name"], _as_json(match["body"]))],
    ),
    (
        re.compile(
            r"<(?:function_calls|\|tool_call_start\||tool_code|\|python_start\|)>(?P<body>.*?)"
            r"(?:<(?:/function_calls|\|tool_call_end\||/tool_code|\|python_end\|)>|\Z)",
            re.DOTALL,
        ),
        lambda match: python_calls(match["body"]),
    ),
    (
        re.compile(
            r"<\|tool_call:begin\|>[^<]*+<\|tool_call:name\|>(?P<name>[^<]*+)<\|tool_call:args\|>"
            r"(?P<body>.*?)(?P<end><\|tool_call:end\|>|\Z)",
            re.DOTALL,
        ),
        lambda match: [_marked_call(match["name"], match["body"], ended=bool(match["end"]))],
    ),
    (
        re.compile(
            r"✿FUNCTION✿:?\s*(?P<name>[^\n✿]*+)\s*✿ARGS✿:?\s*(?P<body>.*?)(?P<end>✿(?:RESULT|RETURN)✿.*\Z|(?=✿FUNCTION✿)|\Z)",
            re.DOTALL,
        ),
        lambda match: [_marked_call(match["name"], match["body"])],
    ),
    (
        re.compile(r"^>>>(?P<name>[\w.:-]+)\n(?P<body>\{.*?)(?=^>>>|\Z)", re.DOTALL | re.MULTILINE),
        lambda match: [_marked_call(match["name"], match["body"])],
    ),
    (_FUNCTION, lambda match: _functions(match[0])),
)
