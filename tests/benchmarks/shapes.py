"""Inputs of one shape each, as large as one likes: schemas, programs, and what goes with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from instrc.text.jsontext import dumps

Schema = dict[str, Any]


def named(size: int, schema: Callable[[int], Any], word: str = "p") -> Schema:
    """Return properties with a schema each."""
    return {f"{word}{i}": schema(i) for i in range(size)}


def an_object(**properties: Any) -> Schema:
    """Return an object that requires its properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def in_one_another(size: int, around: Callable[[int, Any], Any], core: Any = None) -> Any:
    """Return schemas inside one another."""
    schema = {"type": "string"} if core is None else core
    for i in range(size):
        schema = around(i, schema)
    return schema


def with_definitions(size: int, definition: Callable[[int], Any], **root: Any) -> Schema:
    """Return a schema that begins with the first of its definitions."""
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": named(size, definition, "d"), **root}


def _next(i: int, size: int) -> Schema:
    return {"$ref": f"#/$defs/d{(i + 1) % size}"}


def _described(i: int) -> Schema:
    return {"$ref": "#/$defs/d", "description": f"The part {i}."}


_PART = an_object(**{f"q{i}": {"type": "string", "minLength": i} for i in range(5)})

SCHEMAS: dict[str, Callable[[int], Schema]] = {
    "wide": lambda n: an_object(**named(n, lambda _: {"type": "string"})),
    "wide, optional": lambda n: {"type": "object", "properties": named(n, lambda i: {"type": "integer", "minimum": i})},
    "wide, open and closed": lambda n: an_object(**named(n, lambda i: an_object(a={}) | {"additionalProperties": i % 2 == 0})),
    "deep": lambda n: in_one_another(min(n, 3000), lambda i, s: an_object(**{f"p{i}": s})),
    "deep lists": lambda n: in_one_another(min(n, 3000), lambda _, s: {"type": "array", "items": s}),
    "deep unions": lambda n: in_one_another(min(n, 3000), lambda i, s: {"anyOf": [an_object(**{f"p{i}": s}), {"type": "null"}]}),
    "deep allOf": lambda n: in_one_another(min(n, 3000), lambda i, s: {"allOf": [s, an_object(**{f"p{i}": {}})]}),
    "deep not": lambda n: in_one_another(min(n, 3000), lambda i, s: {"not": {"anyOf": [s, {"const": i}]}}),
    "branching": lambda n: in_one_another(n.bit_length() - 1, lambda _, s: an_object(a=s, b=s)),
    "shared": lambda n: {"properties": named(n, lambda _: {"$ref": "#/$defs/d"}), "$defs": {"d": _PART}},
    "described references": lambda n: {"properties": named(n, _described), "$defs": {"d": _PART}},
    "described recursion": lambda n: {"properties": named(n, _described), "$defs": {"d": an_object(x={"$ref": "#/$defs/d"})}},
    "doubling references": lambda n: with_definitions(
        n, lambda i: an_object(a=_next(i, n), b=_next(i, n)) if i + 1 < n else {"type": "string"}
    ),
    "chain of references": lambda n: with_definitions(n, lambda i: _next(i, n) if i + 1 < n else {"type": "string"}),
    "ring": lambda n: with_definitions(
        n, lambda i: {"type": "object", "properties": {"v": {"type": "string"}, "x": _next(i, n)}}
    ),
    "web": lambda n: with_definitions(
        n, lambda i: {"type": "object", "properties": named(5, lambda k: {"$ref": f"#/$defs/d{(i * 7 + k * k) % n}"})}
    ),
    "extended in a chain": lambda n: with_definitions(
        n, lambda i: {"allOf": [*([_next(i, n)] if i + 1 < n else []), {"properties": {f"p{i}": {"type": "string"}}}]}
    ),
    "recursive union": lambda n: {
        "properties": {"a": {"$ref": "#/$defs/d"}},
        "$defs": {"d": {"anyOf": [an_object(kind={"const": f"k{i}"}, next={"$ref": "#/$defs/d"}) for i in range(n)]}},
    },
    "anyOf objects": lambda n: {"anyOf": [an_object(**{f"p{i}": {"type": "string"}}) for i in range(n)]},
    "oneOf by kind": lambda n: {"properties": {"a": {"oneOf": [an_object(kind={"const": f"k{i}"}, v={}) for i in range(n)]}}},
    "anyOf ranges": lambda n: {"properties": {"a": {"anyOf": [{"minimum": 3 * i, "maximum": 3 * i + 1} for i in range(n)]}}},
    "many unions": lambda n: an_object(**named(n, lambda i: {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": i}]})),
    "allOf objects": lambda n: {"allOf": [an_object(**{f"p{i}": {"type": "string"}}) for i in range(n)]},
    "allOf one property": lambda n: {"allOf": [an_object(a={"minLength": i, "maxLength": 2 * n - i}) for i in range(n)]},
    "allOf unions": lambda n: {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(n)]},
    "allOf closed": lambda n: {
        "allOf": [{"properties": {f"p{i}": {}, "a": {}}, "additionalProperties": False} for i in range(n)],
        "type": "object",
    },
    "allOf conditions": lambda n: {
        "type": "object",
        "allOf": [{"if": {"properties": {"k": {"const": i}}}, "then": {"required": [f"p{i}"]}, "else": {}} for i in range(n)],
    },
    "allOf patterns": lambda n: {"properties": {"a": {"type": "string", "allOf": [{"pattern": f"x{i}"} for i in range(n)]}}},
    "allOf not": lambda n: {"properties": {"a": {"allOf": [{"not": {"const": f"v{i}"}} for i in range(n)]}}},
    "allOf contains": lambda n: {"properties": {"a": {"type": "array", "allOf": [{"contains": {"const": i}} for i in range(n)]}}},
    "allOf multipleOf": lambda n: {"properties": {"a": {"allOf": [{"multipleOf": i + 1} for i in range(n)]}}},
    "enum words": lambda n: an_object(a={"enum": [f"value {i}" for i in range(n)]}),
    "enum objects": lambda n: an_object(a={"enum": [{"x": i, "y": [i]} for i in range(n)]}),
    "enums that meet": lambda n: {"allOf": [an_object(a={"enum": [f"v{i + k}" for i in range(n)]}) for k in range(2)]},
    "many enums": lambda n: an_object(**named(n // 8 + 1, lambda i: {"enum": [f"v{i}_{k}" for k in range(8)]})),
    "patternProperties": lambda n: {"type": "object", "patternProperties": {f"^x{i}": {"type": "string"} for i in range(n)}},
    "names and patterns": lambda n: {
        "type": "object",
        "properties": named(n, lambda _: {}),
        "patternProperties": {f"^p{i}$": {"minLength": 1} for i in range(n)},
    },
    "patterns": lambda n: an_object(**named(n, lambda i: {"type": "string", "pattern": f"^[a-z]{{1,{i % 50 + 1}}}$"})),
    "broken patterns": lambda n: an_object(**named(n, lambda i: {"type": "string", "pattern": f"([a-z{i}"})),
    "long pattern": lambda n: an_object(a={"type": "string", "pattern": "^(" + "|".join(f"w{i}" for i in range(n)) + ")$"}),
    "counted pattern": lambda n: an_object(a={"type": "string", "pattern": "^" + "[a-c]{2,9}x?" * n + "$"}),
    "dependentRequired": lambda n: {
        "type": "object",
        "properties": named(n, lambda _: {}),
        "dependentRequired": {f"p{i}": [f"p{(i + 1) % n}"] for i in range(n)},
    },
    "dependentSchemas": lambda n: {
        "type": "object",
        "properties": named(n, lambda _: {}),
        "dependentSchemas": {f"p{i}": {"required": [f"p{(i + 1) % n}"]} for i in range(n)},
    },
    "tuple": lambda n: an_object(a={"type": "array", "prefixItems": [{"const": i} for i in range(n)]}),
    "one long name": lambda n: an_object(**{"p" * n: {"type": "string"}}),
    "long names": lambda n: an_object(**{f"{'p' * 80}{i}": {"type": "string"} for i in range(n)}),
    "odd names": lambda n: an_object(**{f"имя поля {i}!": {"type": "string"} for i in range(n)}),
    "long description": lambda n: an_object(a={"type": "string", "description": "Say it well. " * n}),
    "many descriptions": lambda n: an_object(**named(n, lambda i: {"type": "string", "description": f"Say part {i} of p{i}."})),
    "examples": lambda n: an_object(a={"type": "integer", "examples": [*range(n)], "default": "x"}),
    "examples of an object": lambda n: {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "examples": [{"a": i} for i in range(n)],
    },
    "large default": lambda n: an_object(a={"type": "array", "default": [{"x": [i]} for i in range(n)]}),
    "unknown words": lambda n: an_object(**named(n, lambda i: {"type": "string", f"minLenght{i}": 5, "discription": "x"})),
    "wrong types": lambda n: an_object(**named(n, lambda _: {"type": "strng", "minimum": "4"})),
    "no such definition": lambda n: an_object(**named(n, lambda i: {"$ref": f"#/$defs/x{i}"})),
    "anchors": lambda n: {
        "properties": named(n, lambda i: {"$ref": f"#a{i}"}),
        "$defs": named(n, lambda i: {"$anchor": f"a{i}", "type": "string"}, "d"),
    },
    "ids": lambda n: {
        "properties": named(n, lambda i: {"$ref": f"https://x.org/d{i}"}),
        "$defs": named(n, lambda i: {"$id": f"https://x.org/d{i}", "type": "string"}, "d"),
    },
    "thoughts": lambda n: an_object(**named(n, lambda _: an_object(_why={"type": "string"}, text={"type": "string"}))),
    "if in one another": lambda n: in_one_another(
        min(n, 3000), lambda i, s: {"if": {"required": [f"p{i}"]}, "then": s, "else": {"minProperties": i}}
    ),
    "unevaluated": lambda n: {
        "allOf": [{"properties": {f"p{i}": {"type": "string"}}} for i in range(n)],
        "unevaluatedProperties": False,
        "type": "object",
    },
    "required by many": lambda n: {"type": "object", "anyOf": [{"required": [f"p{i}", f"p{i + 1}"]} for i in range(n)]},
    "propertyNames": lambda n: {
        "type": "object",
        "properties": named(n, lambda _: {}),
        "propertyNames": {"enum": [f"p{i}" for i in range(0, 2 * n, 2)]},
    },
}


def rows(size: int, row: Callable[[int], str]) -> str:
    """Return a line for each number."""
    return "".join(f"{row(i)}\n" for i in range(size))


def before(number: int, first: str = "prompt") -> str:
    """Return the name that a row reads: that of the row before."""
    return f"a{number - 1}" if number else first


def brackets(size: int, opening: Callable[[int], str], core: str, closing: str) -> str:
    """Return brackets inside one another."""
    return "".join(opening(i) for i in range(size)) + core + closing * size


PROGRAMS: dict[str, Callable[[int], str]] = {
    "chain": lambda n: rows(n, lambda i: f"const a{i} = A{i}({before(i)});"),
    "pipe": lambda n: '"Go"' + "".join(f" | A{i}" for i in range(n)),
    "fan-out": lambda n: "const a = A(prompt);\n" + rows(n, lambda i: f"tool t{i} = B{i}(a);"),
    "fan-in": lambda n: (
        rows(n, lambda i: f"const a{i} = A{i}(prompt);") + "B(" + ", ".join(f"x{i}: a{i}" for i in range(n)) + ")"
    ),
    "reads all before": lambda n: rows(
        int(n**0.5), lambda i: f"const a{i} = A{i}(" + (", ".join(f"x{j}: a{j}" for j in range(i)) or "prompt") + ");"
    ),
    "steps by turns": lambda n: rows(n, lambda i: f"const a{i} = A{i}{('', '_Activity', '_User')[i % 3]}({before(i)});"),
    "activities side by side": lambda n: (
        "const a = A(prompt);\n"
        + rows(n, lambda i: f"const b{i} = B{i}_Activity(a);")
        + "C("
        + ", ".join(f"x{i}: b{i}" for i in range(n))
        + ")"
    ),
    "exports that share": lambda n: (
        rows(int(n**0.5), lambda i: f"const a{i} = A{i}({before(i)});")
        + rows(int(n**0.5), lambda i: f"tool t{i} = T{i}(a{int(n**0.5) - 1});")
    ),
    "exports": lambda n: rows(n, lambda i: f"tool t{i} = A{i}(prompt);"),
    "blocks in a row": lambda n: rows(
        n, lambda i: f"const b{i} = when prompt is 'x' {{ A{i}(prompt) }} else {{ B{i}(prompt) }};"
    ),
    "blocks in one another": lambda n: brackets(
        min(n, 250), lambda i: f"when prompt is 'x{i}' {{ A{i}(prompt); ", "B(prompt)", " }"
    ),
    "each in one another": lambda n: (
        "input l @ { type: 'array' };\n" + brackets(min(n, 100), lambda i: f"each e{i} in l {{ A{i}(e{i}); ", "B(prompt)", " }")
    ),
    "one long block": lambda n: "each e in 3 {\n" + rows(n, lambda i: f"const a{i} = A{i}({before(i, 'e')});") + f"a{n - 1}\n}}",
    "else when": lambda n: "const a = A(prompt);\n" + " else ".join(f"when a.x is {i} {{ B{i}(a) }}" for i in range(n)),
    "or": lambda n: "const a = A(prompt);\nwhen " + " or ".join(f"a.x is {i}" for i in range(n)) + " { B(a) }",
    "repeat": lambda n: (
        "repeat {\n" + rows(n, lambda i: f"const a{i} = A{i}(previous.a{i}, prompt);") + f"a{n - 1}\n}} until a0.done max 3"
    ),
    "try": lambda n: rows(n, lambda i: f"const t{i} = try {{ A{i}_Activity(prompt) }} else {{ B{i}(error) }};"),
    "braces": lambda n: "{ " + ", ".join(f"k{i}: A{i}" for i in range(n)) + " }",
    "braces in one another": lambda n: brackets(min(n, 500), lambda i: f"{{ k{i}: A{i}, d{i}: ", "B", " }"),
    "slots in one another": lambda n: brackets(min(n, 500), lambda i: f"S{i}({{ k: ", "B", " })"),
    "mixins in one another": lambda n: brackets(min(n, 500), lambda i: f"M{i}_Mixin(", "B", ")"),
    "mixins in a row": lambda n: rows(n, lambda i: f"const a{i} = Introspect_Mixin(A{i}({before(i)}));"),
    "a mixin around many": lambda n: "Introspect_Mixin({ default: { " + ", ".join(f"k{i}: A{i}" for i in range(n)) + " } })",
    "calls in one another": lambda n: brackets(min(n, 500), lambda i: f"A{i}(", "prompt", ")"),
    "annotations": lambda n: rows(
        n,
        lambda i: f"const a{i} = A{i}({before(i)}) @ {{ description: 'Say {i}.', properties: {{ x: {{ type: 'string' }} }} }};",
    ),
    "annotations on one": lambda n: (
        "A(prompt)" + "".join(f" @ {{ properties: {{ p{i}: {{ type: 'string' }} }} }}" for i in range(min(n, 900)))
    ),
    "inline": lambda n: rows(
        n,
        lambda i: f"const a{i} = @{{ title: 'A{i}', type: 'object', properties: {{ x: {{ type: 'string' }} }} }}({before(i)});",
    ),
    "one inline": lambda n: (
        "@{ title: 'A', type: 'object', properties: { " + ", ".join(f"p{i}: {{ type: 'string' }}" for i in range(n)) + " } }"
    ),
    "paths": lambda n: (
        "const a = @{ title: 'A', type: 'object', properties: { "
        + ", ".join(f"p{i}: {{ type: 'string' }}" for i in range(n))
        + " } }(prompt);\n"
        + rows(n, lambda i: f"tool t{i} = B{i}(a.p{i});")
    ),
    "one long path": lambda n: "const a = A(prompt);\nB(a" + "".join(f".m{i}" for i in range(min(n, 90))) + ")" + " // x" * n,
    "inputs": lambda n: (
        rows(n, lambda i: f"input i{i} @ {{ type: 'string' }};") + "A(" + ", ".join(f"i{i}" for i in range(n)) + ")"
    ),
    "process": lambda n: (
        "Process({ "
        + ", ".join(
            f"llmContext{i}: LLM_Context({{ A{i} }})" if i % 2 else f"serverContext{i}: Server_Context({{ B{i}_Activity }})"
            for i in range(n)
        )
        + " })"
    ),
    "plan": lambda n: (
        "const p = Act(prompt, { plan: Plan(" + ", ".join(f"T{i}_Activity" for i in range(n)) + ") });\nRunPlan_Activity(p.plan)"
    ),
    "names nobody uses": lambda n: rows(n, lambda i: f"const a{i} = A{i}(prompt);") + "tool t = B(prompt);",
    "unknown names": lambda n: rows(n, lambda i: f"const a{i} = A{i}(b{i}x);").replace("x)", ")"),
    "defined twice": lambda n: rows(n, lambda _: "const a = A(prompt);"),
    "slips": lambda n: rows(n, lambda i: f"const a{i} == A{i}[0];"),
    "open brackets": lambda n: "A(" * n,
    "open strings": lambda n: rows(n, lambda i: f'"text {i}'),
    "comments": lambda n: rows(n, lambda i: f"/* {i} */ // {i}") + "A(prompt)",
    "one comment": lambda n: "/*" + " x" * n + "*/ A(prompt)",
    "long string": lambda n: f'"{"Say it. " * n}" | A',
    "long name": lambda n: f"{'A' * n}(prompt)",
    "labels": lambda n: "A(" + ", ".join(f"x{i}: prompt" for i in range(n)) + ")",
    "equal steps": lambda n: rows(n, lambda i: f"tool t{i} = B{i}(A(prompt));"),
    "literals": lambda n: "A({ " + ", ".join(f"k{i}: {i}" for i in range(n)) + " })",
    "a long list": lambda n: "A({ k: [" + ", ".join(str(i) for i in range(n)) + "] })",
    "circle": lambda n: rows(n, lambda i: f"const a{i} = A{i}(a{(i + 1) % n});"),
    "aliases": lambda n: "const a0 = A;\n" + rows(n, lambda i: f"const a{i + 1} = a{i};") + f"a{n}(prompt)",
    "OneOf": lambda n: (
        "const f = F(prompt);\n"
        + rows(n, lambda i: f"const c{i} = C{i}({{ id: OneOf(f.l) }});")
        + "D("
        + ", ".join(f"c{i}" for i in range(n))
        + ")"
    ),
    "doubling values": lambda n: (
        "const a0 = { x: A };\n" + rows(n, lambda i: f"const a{i + 1} = {{ x: a{i}, y: a{i} }};") + f"B(a{n})"
    ),
    "doubling calls": lambda n: "const a0 = A(prompt);\n" + rows(n, lambda i: f"const a{i + 1} = A{i}(a{i}, a{i});"),
    "deadlines": lambda n: rows(n, lambda i: f"const a{i} = A{i}_Activity({before(i)}) @ {{ within: 'PT{i + 1}S' }};"),
}


def text_of(shape: str, size: int) -> str:
    """Return the text of a shape."""
    return dumps(SCHEMAS[shape](size), indent=False) if shape in SCHEMAS else PROGRAMS[shape](size)


def fitting(shape: str, length: int) -> int:
    """Return the size at which a shape has about so many characters."""
    size = 4
    while size < 1 << 20 and len(text_of(shape, 2 * size)) <= length:
        if len(text_of(shape, 2 * size)) == len(text_of(shape, size)):
            return size
        size *= 2
    return max(4, size * length // max(1, len(text_of(shape, size))))
