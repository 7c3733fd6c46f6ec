"""Words for types as people, Python, JavaScript, Java and SQL write them, as JSON Schema.

`str`, `ArrayList`, `List[Tuple[int, float]]`, `string | null`, `Dict[str, object]`, `str, optional`, `Literal['a', 'b']`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from instrc.text.jsonvalue import Json, as_object, equal

TYPE_WORD: Final = 1000
"""Maximum characters of a type name."""
TYPE_WORD_DEPTH: Final = 40
"""Maximum nesting of brackets in a type name."""
_SPELLINGS = {
    "object": (
        "dict dictionary defaultdict ordereddict typeddict map mapping hashtable hashmap treemap linkedhashmap json jsonb struct "
        "record"
    ),
    "string": (
        "str text char character varchar nvarchar varchar2 nchar bpchar clob tinytext mediumtext longtext charsequence path file "
        "password bytes bytearray bytea blob buffer"
    ),
    "integer": (
        "int long short byte bigint biginteger smallint tinyint mediumint serial bigserial int2 int4 int8 int16 int32 int64 "
        "uint uint8 uint16 uint32 uint64"
    ),
    "number": "float double decimal bigdecimal numeric real money float4 float8 float32 float64",
    "boolean": "bool",
    "array": "list arraylist linkedlist sequence iterable collection queue deque stack vector tuple arr",
    "null": "none nonetype nil void undefined",
}
_FORMATS = {
    "date": "date",
    "date-time": "datetime date-time timestamp timestamptz",
    "time": "time",
    "duration": "timedelta duration interval",
    "uuid": "uuid",
    "uri": "url uri",
    "email": "email",
}
_WORDS: dict[str, dict[str, Json]] = {
    **{word: {"type": name} for name, spellings in _SPELLINGS.items() for word in (name, *spellings.split())},
    **{word: {"type": "string", "format": name} for name, spellings in _FORMATS.items() for word in spellings.split()},
    **{word: {"type": "array", "uniqueItems": True} for word in ("set", "hashset", "frozenset", "treeset")},
    **{word: {} for word in ("any", "anytype", "unknown", "mixed", "value", "jsonvalue", "enum")},
}
_ARRAYS = frozenset(word for word, schema in _WORDS.items() if schema.get("type") == "array") - {"tuple"}
_MAPS = frozenset(word for word, schema in _WORDS.items() if schema.get("type") == "object")
_TOKEN = re.compile(r"""\s*(?:([^\W\d][\w.-]*)|("[^"]*"|'[^']*')|(-?\d+(?:\.\d+)?)|(\.\.\.|\[\]|[\[\](){}<>,|?:]))""")
_OPENING = {"[": "]", "<": ">", "(": ")", "{": "}"}
_REMARKS = frozenset({"optional", "required"})


def schema_of(text: str) -> dict[str, Json] | None:
    """Return the schema for a word or an expression of a type, or `None` if it is not a known one."""
    result = _parsed(text)
    return None if result is None else as_object(_copy(result))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> dict[str, Json] | None:
    if len(text) > TYPE_WORD:
        return None
    tokens: list[str] = []
    position = 0
    text = text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        tokens.append(match.group().strip())
        position = match.end()
    try:
        words = _Words(tokens)
        schema = words.union(0)
        return schema if words.ended() else None
    except _NoTypeError:
        return None


class _Words:
    """A reader of one expression."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def ended(self) -> bool:
        """Skip remarks at the end, as in `str, optional` and `int, default 5`; return whether nothing else is left."""
        while self.peek() == ",":
            self.take()
            word = self.take().lower()
            if word == "default":
                self.position = len(self.tokens)
            elif word not in _REMARKS:
                return False
        return self.remark() or self.position >= len(self.tokens)

    def remark(self) -> bool:
        """Return whether the rest is `(optional)` or the like."""
        rest = self.tokens[self.position :]
        return len(rest) == 3 and rest[0] == "(" and rest[1].lower() in _REMARKS

    def union(self, depth: int) -> dict[str, Json]:
        """Read alternatives: `a | b`, `a or b`."""
        if depth > TYPE_WORD_DEPTH:
            raise _NoTypeError
        result = [self.one(depth)]
        while self.peek() == "|" or self.peek().lower() == "or":
            self.take()
            result.append(self.one(depth))
        return any_of(result)

    def one(self, depth: int) -> dict[str, Json]:
        token = self.take()
        if token == "(":
            schema = self.union(depth + 1)
            self.close(")")
        elif token[:1] in {"'", '"'}:
            schema = {"const": token[1:-1]}
        elif not token or not (token[0].isalpha() or token[0] == "_"):
            raise _NoTypeError
        else:
            schema = self.named(token.rpartition(".")[2].lower(), depth)
        while self.peek() in {"[]", "?"}:
            schema = {"type": "array", "items": schema} if self.take() == "[]" else any_of([schema, {"type": "null"}])
        return schema

    def named(self, word: str, depth: int) -> dict[str, Json]:
        """Read the parameters after a word, if there are any."""
        parameters = self.parameters(word, depth) if self.peek() in _OPENING and not self.remark() else None
        if parameters is None:
            if word not in _WORDS:
                raise _NoTypeError
            return dict(_WORDS[word])
        if word == "literal":
            return {"enum": [parameter["const"] for parameter in parameters]}
        if word == "union":
            return any_of(parameters)
        if word == "optional" and len(parameters) == 1:
            return any_of([*parameters, {"type": "null"}])
        if word in {"annotated", "final", "classvar", "type", "enum"} and parameters:
            return parameters[0]
        if word in _ARRAYS:
            base = dict(_WORDS[word])
            return {**base, "items": any_of(parameters)} if parameters and any_of(parameters) else base
        if word == "tuple" and self.tokens[self.position - 2] == "...":
            return {"type": "array", "items": any_of(parameters)} if parameters and any_of(parameters) else {"type": "array"}
        if word == "tuple":
            return {"type": "array", "prefixItems": [*parameters], "minItems": len(parameters), "maxItems": len(parameters)}
        if word in _MAPS and len(parameters) == 2 and parameters[1]:
            return {"type": "object", "additionalProperties": parameters[1]}
        if word in _WORDS:
            return dict(_WORDS[word])  # `string(20)`
        raise _NoTypeError

    def parameters(self, word: str, depth: int) -> list[dict[str, Json]]:
        """Read the content of brackets; `...` has no meaning of its own."""
        closing = _OPENING[self.take()]
        result: list[dict[str, Json]] = []
        while self.peek() != closing:
            token = self.peek()
            if token == "...":
                self.take()
            elif token[:1] == "-" or token[:1].isdigit():
                number = self.take()
                result.append({"const": float(number) if "." in number else int(number)})
            elif word == "literal" and token.lower() in {"true", "false", "none", "null"}:
                result.append({"const": {"true": True, "false": False}.get(self.take().lower())})
            elif token == "[":
                raise _NoTypeError  # `Callable[[int], str]`
            else:
                result.append(self.union(depth + 1))
            if self.peek() == ",":
                self.take()
            elif self.peek() != closing:
                raise _NoTypeError
        self.take()
        if word == "literal" and not all("const" in item for item in result):
            raise _NoTypeError
        return result

    def close(self, closing: str) -> None:
        if self.take() != closing:
            raise _NoTypeError


class _NoTypeError(ValueError):
    pass


def _copy(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def any_of(schemas: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Return one schema for alternatives: a list of types where that suffices, else `anyOf`."""
    kept: list[dict[str, Json]] = []
    for schema in schemas:
        if not schema:
            return {}
        if not any(equal(schema, item) for item in kept):
            kept.append(schema)
    if len(kept) == 1:
        return kept[0]
    if all("const" in schema for schema in kept):
        return {"enum": [schema["const"] for schema in kept]}
    if all(schema.keys() == {"type"} for schema in kept):
        names = [name for schema in kept for name in (schema["type"] if isinstance(schema["type"], list) else [schema["type"]])]
        return {"type": list(dict.fromkeys(names))}
    return {"anyOf": [*kept]}
