"""Find tool calls in plain text, in the notations of models: between the marks of chat templates, as JSON, as Python."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from instrc.providers.lifting.reply import (
    MESSAGE,
    THOUGHT,
    RawCall,
    ends_early,
    loose_json,
    raw_call,
    recipient,
    strip_reasoning,
    with_repeated,
)
from instrc.text.jsontext import dumps, loads, repeated_keys
from instrc.text.jsonvalue import LITERALS, Json


class KnownTools(NamedTuple):
    """The tools that a text may call."""

    names: frozenset[str]
    owns: Callable[[Json], bool] = lambda _: False
    """Returns whether an object is a value of the only tool rather than a call: `{"search": {…}}` where `search` is a key."""


class InText(NamedTuple):
    """The content of a text."""

    calls: list[RawCall]
    rest: str
    """Text around the calls, without thoughts."""
    unended: bool = False
    """Whether the text consists of unfinished thoughts only."""


def extract_tool_calls(text: str, tools: KnownTools) -> InText:
    """Return the calls of tools in a text."""
    said, unended = strip_reasoning(text)
    if unended:
        return InText([], "", unended=True)
    if (is_json := _is_json(said)) is True:
        calls = _fenced(said, tools)[0] or _ours(said, tools)
        return InText(calls, "" if calls else said)
    calls, rest = tagged(said) if is_json is False else ([], said)
    rest = _AROUND_CALLS.sub("", rest) if calls else rest
    spoken = _LATER_THOUGHT.sub(lambda match: match["text"] or "", said) if is_json is False else said
    for search in (_fenced, _in_python, _lone):
        if calls or len(said) > SEARCHED_TEXT:
            break
        calls, rest = search(spoken, tools)
    return InText(calls, rest.strip() if calls else said)


_LATER_THOUGHT = re.compile(rf'(?P<text>(?<![\w\\])"(?:[^"\\\n]|\\.)*+")|{THOUGHT}', re.DOTALL)
"""A thought behind other text, or a text in quotes, which may speak of its marks."""
_AROUND_CALLS = re.compile(
    r"</?(?:[|｜‖]DSML[|｜‖]|\w+:)?(?:tool_?calls?|function_calls?|TOOLCALL|tools)>"
    r"|<[|｜‖](?:DSML[|｜‖])?/?tool[_▁]calls?(?:[_▁]section)?(?:[_▁:](?:begin|start|end))?[|｜]>"
    r"|<\|/?(?:tool_calls?|tools):(?:begin|start|end)\|>|\[/?TOOL_CALLS\]"
    r"|<[|｜](?:end[_▁]of[_▁]sentence|end▁of▁sentence|im_end|eo[tm]_id|call|return|end)[|｜]>|</s>"
)
"""Markers around all calls of a text, and after it, which are not part of the prose."""


def _is_json(text: str) -> bool | None:
    """Return whether a text is one JSON value, so that markers in it are quotations, or `None` if it is a truncated one."""
    begun = text.strip()
    if not begun.startswith(("{", "[", "```")):
        return False
    read = raw_call(None, begun)
    whole = read.unreadable is None and read.loose is None
    return whole or (None if begun.startswith("{") and ends_early(begun) else False)


def _fenced(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read calls in code fences."""
    result: list[CallsIn] = []
    for fence in _fences(text):
        calls = _ours(fence.body, tools)
        if not calls and fence.language in tools.names and (read := raw_call(fence.language, fence.body)).unreadable is None:
            calls = [read]
        if calls:
            result.append(CallsIn(fence.start, fence.end, calls))
    return taken_out(text, result)


class _Fence(NamedTuple):
    start: int
    end: int
    language: str
    body: str


_MARK = re.compile(r"^[ \t]*```(?P<language>[\w-]*)[ \t]*$", re.MULTILINE)


def _fences(text: str) -> Iterator[_Fence]:
    """Yield the text between lines of three backticks; a line that names a language always opens a fence."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if opened is None:
            opened = mark
        elif not mark["language"]:
            yield _Fence(opened.start(), mark.end(), opened["language"], text[opened.end() : mark.start()])
            opened = None
    if opened is not None:  # a model may stop at the end of the value
        yield _Fence(opened.start(), len(text), opened["language"], text[opened.end() :])


def _ours(text: str, tools: KnownTools) -> list[RawCall]:
    """Return the calls of known tools in a text that is JSON or nearly so."""
    read = raw_call(None, text)
    if read.unreadable is not None:
        return []
    result = calls_of_known_tools(read.arguments, tools)
    return [*with_repeated(result if read.loose is None else [replace(call, loose=text) for call in result], read.repeated)]


def _in_python(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read calls in Python syntax, if a fence or the text contains nothing else."""
    read = ((fence, python_calls(fence.body)) for fence in _fences(text))
    result = [CallsIn(fence.start, fence.end, calls) for fence, calls in read if calls and _all_ours(calls, tools)]
    if result:
        return taken_out(text, result)
    calls = python_calls(text) if text.rstrip().endswith((")", ")]")) else []
    return (calls, "") if calls and _all_ours(calls, tools) else ([], text)


def _all_ours(calls: list[RawCall], tools: KnownTools) -> bool:
    return all(call.name in tools.names for call in calls)


_LINE_END = re.compile(r"[ \t]*+;?[ \t]*+(?=\n|\Z)")


SEARCHED_STARTS: Final = 100
"""Maximum positions in a text at which parsing JSON is tried."""
_OBJECT = re.compile(r"\{\s*\"")


def _lone(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read calls as objects within the text, such as after `Action:`, or as a list that is the whole text."""
    if whole := _ours(text, tools):
        return whole, ""
    result: list[CallsIn] = []
    end = 0
    for _ in range(SEARCHED_STARTS):
        begin = _OBJECT.search(text, end)
        if begin is None:
            break
        value, end = value_at(text, begin.start()) or (None, begin.end())
        if calls := calls_of_known_tools(value, tools):
            result.append(CallsIn(begin.start(), end, [*with_repeated(calls, repeated_keys(text[begin.start() : end], value))]))
    return taken_out(text, result)


def fenced_value(text: str) -> tuple[RawCall, str] | None:
    """Return the object or list in the last fence of a text, and the surrounding text, or `None`."""
    for fence in reversed(list(_fences(text[:SEARCHED_TEXT]))):
        call = raw_call(None, fence.body)
        if call.unreadable is None and isinstance(call.arguments, dict | list):
            return call, (text[: fence.start] + text[fence.end :]).strip()
    return None


_OBJECT_ON_A_LINE = re.compile(r"^[ \t]*(?=\{\s*\")", re.MULTILINE)


def lone_value(text: str) -> tuple[RawCall, str] | None:
    """Return the only object of a text that begins and ends a line, and the surrounding text, or `None`."""
    if len(text) > SEARCHED_TEXT:
        return None
    result: list[tuple[Json, int, int]] = []
    for begun in islice(_OBJECT_ON_A_LINE.finditer(text), SEARCHED_STARTS):
        read = None if result and begun.start() < result[-1][2] else value_at(text, begun.end())
        if read is not None and _LINE_END.match(text, read[1]):
            result.append((read[0], begun.start(), read[1]))
    if len(result) != 1:
        return None
    [(_, start, end)] = result
    return raw_call(None, text[start:end]), (text[:start] + text[end:]).strip()


def calls_of_known_tools(value: Json, tools: KnownTools) -> list[RawCall]:
    """Return the calls of known tools in a value, or none if any of it is something else."""
    if tools.owns(value):
        return []
    if isinstance(value, dict) and isinstance(listed := value.get("tool_calls"), list):
        value = listed
    calls = [named_call(item) or _by_key(item, tools.names) for item in (value if isinstance(value, list) else [value])]
    return (
        [call for call in calls if call is not None]
        if all(call is not None and call.name in tools.names for call in calls)
        else []
    )


def _by_key(value: Json, names: frozenset[str]) -> RawCall | None:
    """Return the call in an object whose only key is the name of a known tool, or `None`."""
    [(name, arguments)] = value.items() if isinstance(value, dict) and len(value) == 1 else [("", None)]
    return RawCall(name, arguments) if name in names and isinstance(arguments, dict) else None


SEARCHED_TEXT: Final = 100_000
"""Maximum characters searched for objects and calls without markers."""


class CallsIn(NamedTuple):
    """Calls in a part of a text."""

    start: int
    end: int
    calls: list[RawCall]


def taken_out(text: str, found: Iterable[CallsIn]) -> tuple[list[RawCall], str]:
    """Return the calls in parts of a text, and the text around them."""
    calls: list[RawCall] = []
    rest: list[str] = []
    end = 0
    for part in found:
        calls += part.calls
        rest.append(text[end : part.start])
        end = part.end
    return calls, "".join([*rest, text[end:]])


def python_calls(text: str) -> list[RawCall]:
    """Return the calls of a text, in a list or one a line, or none if any of it is something else."""
    if len(text) > SEARCHED_TEXT:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no warnings about a model's backslashes
            body = ast.parse(text.strip()).body
        written = [item for each in body for item in _items(each.value if isinstance(each, ast.Expr) else each)]
        return [_in_python_call(item) for item in written]
    # SystemError: two threads that parse at once, before Python 3.11.9.
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError, SystemError):
        return []


def _items(node: ast.AST) -> list[ast.AST]:
    return [item for each in node.elts for item in _items(each)] if isinstance(node, ast.List) else [node]


def _in_python_call(node: ast.AST) -> RawCall:
    """Return the call that an expression is, its arguments all named; `print(…)` around it is only for show."""
    match node:
        case ast.Call(func=ast.Name(id="print"), args=[shown], keywords=[]):
            return _in_python_call(shown)
        case ast.Call(func=called, args=[], keywords=named):
            return RawCall(_name(called), {_key(item.arg): _literal(item.value) for item in named})
        case ast.Call(func=called, args=[ast.Dict() as one], keywords=[]):
            return RawCall(_name(called), _literal(one))
    raise ValueError(node)


_NAMESPACES = frozenset({"default_api", "functions", "tools"})


def _name(node: ast.AST) -> str:
    """Return the name of the callee: below a namespace that templates show, or with `.call` after it, as Llama 3 writes."""
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="call"):
            return name
        case ast.Attribute(value=ast.Name(id=namespace), attr=name) if namespace in _NAMESPACES:
            return name
    raise ValueError(node)


def _key(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004  -- one type of error for "not a call"
    return value


def _literal(node: ast.AST | None) -> Json:
    """Return the JSON value of a literal; raise `ValueError` if it has none."""
    match node:
        case ast.Constant(value=None | str() | bool() | int() as value):
            return value
        case ast.Constant(value=float() as value) if value - value == 0:
            return value
        case ast.Name(id=word) if word in LITERALS:
            return LITERALS[word]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            built = {_key(_literal(key)): _literal(value) for key, value in zip(keys, values, strict=True)}
            if len(built) == len(keys):
                return built  # it is unknown which value of a duplicate key counts
    raise ValueError(node)


_JSON_CALLS_ARGUMENTS = (
    "arguments",
    "parameters",
    "args",
    "input",
    "action_input",
    "tool_input",
    "tool_args",
    "params",
    "kwargs",
)
_JSON_CALLS_NAMES = ("name", "tool_name", "function_name", "action", "tool", "function")
_BETWEEN = re.compile(r"[\s;,]*")
"""Separators between two consecutive calls."""


def named_call(value: Json) -> RawCall | None:
    """Return the call that an object with a name and arguments is, or `None` if it is not one."""
    if isinstance(value, dict) and isinstance(inner := value.get("function", value.get("function_call")), dict):
        value = inner
    name = next((value[key] for key in _JSON_CALLS_NAMES if key in value), None) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(name, str):
        return None
    key = next((key for key in _JSON_CALLS_ARGUMENTS if isinstance(value.get(key), dict | str)), None)
    if key is None:
        return RawCall(name, {}) if value.keys() <= {"name", "id", *_JSON_CALLS_ARGUMENTS} else None
    return raw_call(name, value[key], value.get("id", value.get("tool_call_id")))


def value_at(text: str, place: int) -> tuple[Json, int] | None:
    """Return the JSON object or list that begins at a place of a text, and where it ends."""
    from json import JSONDecoder  # it can determine where a value ends

    try:
        return JSONDecoder().raw_decode(text, place)
    except (ValueError, RecursionError):
        return None


def json_calls(text: str) -> list[RawCall]:
    """Read one call, a list of calls, or several in a row, as JSON; a cut or damaged one is a call without arguments."""
    text = text.strip()
    if not text.startswith(("{", "[")):
        return []
    result: list[RawCall] = []
    for value, written in _values(text):
        if written is not None:
            result += with_repeated(_named_calls(value), repeated_keys(written, value))
        elif isinstance(value, str) and not result and (repaired := loose_json(value)) is not None:
            result += [replace(call, loose=value) for call in _named_calls(loads(repaired))]
        elif isinstance(value, str) and (ends_early(value) or '"name"' in value):
            name, cut = re.search(r'"name"\s*:\s*"([^"\\]+)"', value), ends_early(value)
            reason = "it has no end" if cut else "it is damaged"
            result.append(RawCall(name[1] if name else None, value, None, reason, partial=cut))
    return result


def _values(text: str) -> Iterator[tuple[Json, str | None]]:
    """Yield the adjacent JSON values, as they are written, and the rest of the text."""
    try:
        yield loads(text), text
    except (ValueError, RecursionError):
        pass
    else:
        return
    place = 0
    while place < len(text):
        read = value_at(text, place)
        if read is None:
            yield text[place:], None
            return
        yield read[0], text[place : read[1]]
        place = end_of(_BETWEEN, text, read[1])


def _named_calls(value: Json) -> list[RawCall]:
    calls = [named_call(item) for item in (value if isinstance(value, list) else [value])]
    return [call for call in calls if call is not None]


def end_of(run: re.Pattern[str], text: str, place: int) -> int:
    """Return where a run that begins at a place ends."""
    result = run.match(text, place)
    return place if result is None else result.end()


def tagged(text: str) -> tuple[list[RawCall], str]:
    """Return the calls between marks of one kind, and the text around them; a call inside a thought is not made."""
    thinks = re.search(THOUGHT, text, re.DOTALL) is not None
    for form, read in _FORMS:
        beside = thinks and form.search(text) is not None
        marks = re.compile(f"(?P<thought>{THOUGHT})|{form.pattern}", re.DOTALL) if beside else form
        parts = [CallsIn(*match.span(), [] if beside and match["thought"] else read(match)) for match in marks.finditer(text)]
        if result := [part for part in parts if part.calls]:
            return taken_out(text, result)
    return [], text


_GLM = re.compile(r"<arg_key>(?P<key>[^<]*+)</arg_key>\s*+<arg_value>(?P<value>.*?)(?P<end></arg_value>|\Z)", re.DOTALL)
_BEHIND_NAME = re.compile(r"(?:function<tool_sep>)?(?!call:)(?P<name>[\w.:-]+)\s*(?P<arguments>(?:```|\{).*)", re.DOTALL)
"""A name followed by JSON, as Hunyuan writes a call."""


def _tool_call(match: re.Match[str]) -> list[RawCall]:
    """Read the content of `<tool_call>`: JSON, XML, or a name with elements."""
    body = match["body"].strip()
    if "<function" in body:
        return _functions(body, ended=bool(match["end"]))
    if "<arg_key>" in body:
        name, _, rest = body.partition("<arg_key>")
        return [_elements(name, f"<arg_key>{rest}", _GLM)]
    if behind := _BEHIND_NAME.fullmatch(body):
        return [_marked_call(behind["name"], behind["arguments"], ended=bool(match["end"]))]
    if re.fullmatch(r"[\w.:-]+", body):  # how GLM calls a tool without arguments
        return [_elements(body, "", ended=bool(match["end"]))]
    return json_calls(body)


_MISTRAL_NAME = re.compile(r"(?P<name>[\w.:-]++)\s*+(?:\[CALL_ID\]\w++)?(?:(?:\[ARGS\])?\s*+(?=\{)|\[ARGS\]\s*+\Z)")
_SPACE = re.compile(r"\s*")


def _mistral(match: re.Match[str]) -> list[RawCall]:
    """Read the text after `[TOOL_CALLS]`: a list, or names followed by their arguments."""
    body = match["body"].strip()
    if body.startswith(("[", "{")):
        return json_calls(body)
    result: list[RawCall] = []
    place = 0
    while call := _MISTRAL_NAME.match(body, place):
        read = value_at(body, call.end())
        if read is None:
            return [*result, _marked_call(call["name"], body[call.end() :], ended=False)]
        result.append(call_at(call["name"], body, call.end(), read))
        place = end_of(_SPACE, body, read[1])
    return result


def _name_and_json(match: re.Match[str]) -> list[RawCall]:
    return [_marked_call(match["name"], match["body"], ended=bool(match["end"]))]


_PREFIX = r"(?:[|｜‖]DSML[|｜‖]|\w+:)?"
"""Prefix of element names: DeepSeek's marker or a namespace."""
_PARAMETER = re.compile(
    rf"<{_PREFIX}param(?:eter)?(?:=|\s+name=)[\"']?(?P<key>[^<>\"']++)[\"']?[^<>]*+>(?P<value>.*?)(?P<end></{_PREFIX}param(?:eter)?>|\Z)",
    re.DOTALL,
)


_ARGUMENT_BEGINS = re.compile(rf"<(?:{_PREFIX}param(?:eter)?(?:=|\s+name=)|arg_(?:key|value)>)")


def _elements(name: str, body: str, pattern: re.Pattern[str] = _PARAMETER, *, ended: bool = True) -> RawCall:
    """Return a call whose arguments are elements: each is a text, which the schema interprets.

    A call without an end is whole if its last argument is, since a server may take its mark for the end of the answer.
    """
    arguments: dict[str, Json] = {}
    repeated: dict[str, None] = {}
    cut, mixed = not ended, False
    place = 0
    for match in pattern.finditer(body):
        key = match["key"].strip()
        mixed = mixed or bool(arguments and body[place : match.start()].strip()) or bool(_ARGUMENT_BEGINS.search(match["value"]))
        repeated |= {key: None} if key in arguments else {}
        arguments[key] = match["value"].removeprefix("\n").removesuffix("\n")
        cut = not match["end"]
        place = match.end()
    mixed = mixed or (ended and bool(arguments) and bool(body[place:].strip()))
    cut = cut or (not ended and bool(body[place:].strip()))
    unreadable = (
        "its last argument has no end" if cut else "a mark of an argument is missing, or is inside a value" if mixed else None
    )
    return RawCall(name.strip(), arguments, unreadable=unreadable, partial=cut, repeated=tuple(repeated))


def _harmony(message: re.Match[str]) -> list[RawCall]:
    name = recipient(message)
    return [] if name is None else [_marked_call(name, message["body"], ended=bool(message["end"]))]


def _marked_call(name: str, arguments: str, *, ended: bool = True) -> RawCall:
    """Return the call that a name and JSON arguments are, as DeepSeek, Kimi and gpt-oss write them."""
    name = re.sub(r"\A(?:functions\.)?(.*?)(?::\d+)?\Z", r"\1", name.strip())
    if not ended and not arguments.strip():
        return RawCall(name, arguments, unreadable="they have no end", partial=True)
    return raw_call(name, arguments.strip())


_GEMMA = re.compile(
    r'(?P<mark><escape>|<\|"\|>)(?P<text>.*?)(?P=mark)|(?P<json>"(?:[^"\\]|\\.)*+"?)|(?P<key>(?<![\w.$-])[^\W\d][\w.$-]*+)(?=\s*:)',
    re.DOTALL,
)


def _as_json(text: str) -> str:
    """Return Gemma's object as JSON: its keys are bare words, and marks replace quotes."""

    def quoted(match: re.Match[str]) -> str:
        if match["json"]:
            return match["json"]
        return dumps(match["text"] if match["mark"] else match["key"], indent=False)

    return _GEMMA.sub(quoted, text)


_FUNCTION = re.compile(r"<function(?:=|\s+name=)[\"']?(?P<name>[^<>\"']++)[\"']?>(?P<body>.*?)(?P<end></function>|\Z)", re.DOTALL)


def _functions(text: str, *, ended: bool = False) -> list[RawCall]:
    result = []
    for match in _FUNCTION.finditer(text):
        body = match["body"].strip()
        if body.startswith("{"):
            result.append(raw_call(match["name"].strip(), body))
        else:
            result.append(_elements(match["name"], body, ended=ended or bool(match["end"])))
    return result


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[RawCall]]], ...] = (
    (re.compile(r"<\|?tool_call\|?>(?P<body>.*?)(?P<end></tool_call>|(?=<\|?tool_call\|?>)|\Z)", re.DOTALL), _tool_call),
    (re.compile(r"\[TOOL_CALLS\]\s*(?P<body>.*?)(?=\[TOOL_CALLS\]|</s>|\Z)", re.DOTALL), _mistral),
    (re.compile(r"\A\s*(?P<body>[\w.:-]+?(?:\[CALL_ID\]\w+)?\[ARGS\]\s*\{.*)", re.DOTALL), _mistral),
    (
        re.compile(r"<\|python_tag\|>(?P<body>.*?)(?:<\|eo[tm]_id\|>|\Z)", re.DOTALL),
        lambda match: json_calls(match["body"]) or python_calls(match["body"]),  # or a tool that Llama 3 was trained on
    ),
    (
        re.compile(
            r"<[|｜]tool▁call▁begin[|｜]>(?:function<[|｜]tool▁sep[|｜]>)?(?P<name>[^\n<]+)(?:\n|<[|｜]tool▁sep[|｜]>)"
            r"(?P<body>.*?)(?P<end><[|｜]tool▁call▁end[|｜]>|\Z)",
            re.DOTALL,
        ),
        _name_and_json,
    ),
    (
        re.compile(
            r"<\|tool_call_begin\|>(?P<name>[^<]*+)<\|tool_call_argument_begin\|>(?P<body>.*?)(?P<end><\|tool_call_end\|>|\Z)",
            re.DOTALL,
        ),
        _name_and_json,
    ),
    (
        re.compile(
            rf"<{_PREFIX}invoke\s+name=[\"'](?P<name>[^\"']+)[\"']\s*(?:(?P<none>/>)|>(?P<body>.*?)(?P<end></{_PREFIX}invoke>|\Z))",
            re.DOTALL,
        ),
        lambda match: [_elements(match["name"], match["body"] or "", ended=bool(match["none"] or match["end"]))],
    ),
    (MESSAGE, _harmony),
    (re.compile(r"<\|START_ACTION\|>(?P<body>.*?)(?:<\|END_ACTION\|>|\Z)", re.DOTALL), lambda match: json_calls(match["body"])),
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
        _name_and_json,
    ),
    (_FUNCTION, lambda match: _functions(match[0])),
    (re.compile(r"<TOOLCALL>(?P<body>.*?)(?:</TOOLCALL>|\Z)", re.DOTALL), lambda match: json_calls(match["body"])),
    (
        re.compile(r"<tool_calls>\s*(?P<body>[\[{].*?)(?:</tool_calls>|\Z)", re.DOTALL),
        lambda match: json_calls(match["body"]),
    ),
    (
        re.compile(r"\bfunctools(?P<body>\[(?:(?!functools\[).)*?\])(?=\s*+(?:functools\[|<\||\Z))", re.DOTALL),
        lambda match: json_calls(match["body"]),
    ),
)


def call_at(name: str, text: str, place: int, read: tuple[Json, int]) -> RawCall:
    """Return the call whose arguments were read at a place of a text."""
    value, end = read
    return RawCall(name, value, repeated=repeated_keys(text[place:end], value))
