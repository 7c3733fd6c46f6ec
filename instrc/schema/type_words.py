"""Words for types as people, Python, JavaScript, Java and SQL write them, as JSON Schema: `str`, `ArrayList`, `int[]`."""

from __future__ import annotations

from collections.abc import Sequence

from instrc.text.jsonvalue import Json, equal

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


def schema_of(text: str) -> dict[str, Json] | None:
    """Return the schema for the name of a type, or of a list of it (`int[]`), or `None` if it is not a known one."""
    word = text.strip()
    if word.endswith("[]"):
        items = schema_of(word[:-2])
        return None if items is None else {"type": "array", "items": items}
    known = _WORDS.get(word.rpartition(".")[2].lower())
    return None if known is None else dict(known)


def any_of(schemas: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Return one schema for alternatives: a list of types if possible, otherwise `anyOf`."""
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
