"""Say objects: keys, optional properties, maps, properties that are not declared.

* **Keys** outside a target's alphabet are renamed (Anthropic, Gemini, GigaChat, Ollama, the top of smolagents).
* **Optional** properties become required and nullable where a target asks for all (OpenAI), or moves optional ones out of their
  place (Anthropic strict, Gemini, Ollama) and order matters.  Null then means "left out";
  where null is a value too, the word `<null>` says it.  GigaChat has no null: there a missing key says it.
* **Maps** become arrays of `{key, value}` where each object must be closed (OpenAI, Anthropic strict) or
  maps come back empty (Gemini); undeclared properties beside declared ones go into one such array.
* **Open objects** that do not speak of other properties are closed; that nobody means them is a convention, and it is reported.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from instrc.codecs.patterns import matches
from instrc.ir.codec import NULL_WORD, Member, More, ObjectCodec, TextCodec, ValuesCodec, wrapped
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import pointer
from instrc.lowering.names import unique
from instrc.lowering.rewrites import anything, maps
from instrc.lowering.variants import Variant, null_variant
from instrc.lowering.walk import Walk

_ABSENT: Any = None
"""No word on properties that are not declared: JSON has no such schema."""
_MORE = "additional_properties"
_MARKING = frozenset({"if", "dependentSchemas", "allOf", "anyOf", "oneOf"})
"""Keywords whose schemas may mark properties as evaluated, in an instance that satisfies them."""


def objects(lowerer: Walk, node: dict[str, Any], level: int) -> Variant | None:
    """Return the form of an object; `None` if there is no such object."""
    needed = len({name for name in node.get("required") or () if isinstance(name, str)})
    if max(needed, node.get("minProperties", 0)) > node.get("maxProperties", float("inf")):
        lowerer.lose(node, "maxProperties", "annotation", "is less than the properties there must be")
        return None
    if lowerer.too_deep(level):
        return anything.written(lowerer, lowerer.made({**node, "type": "object"}, node), lowerer.beyond(level))
    rest = node.get("additionalProperties", node.get("unevaluatedProperties", _ABSENT))
    if rest is not _ABSENT and "additionalProperties" not in node and not _MARKING.isdisjoint(node):
        lowerer.lose(node, "unevaluatedProperties", "narrowed", "is taken for all that is not declared, whatever marks it")
    declared = node.get("properties") or {}
    required = [name for name in dict.fromkeys(node.get("required") or ()) if isinstance(name, str)]
    names = [*declared, *(name for name in required if name not in declared)]
    patterns = node.get("patternProperties") or {}
    if not names and not patterns and rest is _ABSENT and _no_arguments(lowerer, node):
        if lowerer.dialect.closed:
            lowerer.lose(node, "additionalProperties", "convention", "is not given at the root: a tool without parameters")
        return _Shape(lowerer, node, level).form()
    if not names and (patterns or rest is not False):
        return maps.maps(lowerer, node, level, patterns, True if rest is _ABSENT else rest)
    kept = lowerer.dialect.maps == "keep" and (patterns or rest not in (_ABSENT, False))
    shape = _Shape(lowerer, node, level, leaky=bool(kept) or not lowerer.dialect.closed)
    for name in names:
        if not shape.add(name, _schema_of(lowerer, node, name, declared, patterns, rest), required=name in required):
            return None
    if rest is _ABSENT and not patterns:
        if lowerer.dialect.closed:
            lowerer.lose(node, "additionalProperties", "convention", "is not given, so there are no undeclared properties")
    elif patterns or rest is not False:
        shape.others(patterns, rest)
    elif not lowerer.dialect.closed and not lowerer.is_own(node):
        for closing in ("additionalProperties", "unevaluatedProperties"):
            if closing in node:
                lowerer.lose(
                    node, closing, reason="has no word in the target; undeclared keys are found when the answer is lifted"
                )
    closed = not patterns and (rest is False or (rest is _ABSENT and lowerer.dialect.closed))
    if closed and node.get("minProperties", 0) > len(shape.body["properties"]):
        lowerer.lose(node, "minProperties", "annotation", "asks for more properties than there can be")
        return None
    return shape.form()


def _no_arguments(lowerer: Walk, node: dict[str, Any]) -> bool:
    """Say whether an object is the root of a tool and says nothing of properties."""
    return node is lowerer.root and lowerer.dialect.tool and node.keys().isdisjoint({"propertyNames", "minProperties"})


def _schema_of(
    lowerer: Walk, node: dict[str, Any], name: str, declared: dict[str, Json], patterns: dict[str, Json], rest: Json
) -> Json:
    """Return all that is demanded of one property."""
    if not patterns and name in declared and "propertyNames" not in node:
        return declared[name]
    demands = [declared[name]] if name in declared else []
    matched = [schema for pattern, schema in patterns.items() if matches(pattern, name)]
    demands += matched
    if name not in declared and not matched and rest is not _ABSENT:
        demands.append(rest)
    if "propertyNames" in node:
        from instrc.codecs.judge import accepts

        if not accepts(node["propertyNames"], name):
            return False
    if not demands:
        return True
    return demands[0] if len(demands) == 1 else lowerer.made({"allOf": demands}, node)


def _said_of(node: dict[str, Any], name: str) -> list[Json]:
    """Return the schemas that an object has for a property that its name forbids."""
    declared = node.get("properties") or {}
    said = [declared[name]] if name in declared else []
    said += [schema for pattern, schema in (node.get("patternProperties") or {}).items() if matches(pattern, name)]
    return said or [node[word] for word in ("additionalProperties", "unevaluatedProperties") if word in node]


class _Shape:
    """An object under construction."""

    def __init__(self, lowerer: Walk, node: dict[str, Any], level: int, *, leaky: bool = False) -> None:
        self.lowerer = lowerer
        self.leaky = leaky
        """Whether a property that is not told of may come all the same."""
        self.node = node
        self.level = level
        self.body: dict[str, Any] = {"type": "object", "properties": {}}
        self.required: list[str] = []
        self.members: dict[str, Member] = {}
        self.declared: list[str] = []
        self.notes: list[str] = []
        self.more: More | None = None
        self.undeclared: ObjectCodec | None = None
        """The codec of undeclared properties that are kept."""

    def add(self, name: str, schema: Json, *, required: bool) -> bool:
        """Add a property; `False` if it must be there and cannot."""
        lowerer, dialect = self.lowerer, self.lowerer.dialect
        forms = lowerer.forms(schema, self.level + 1)
        if not forms:
            if not required and self.leaky:
                lowerer.lose(self.node, "properties", reason=f"forbids {name!r}, for which the target has no word")
                place = lowerer.place(self.node, "properties") + pointer(("properties", name))
                for demand in (schema, *_said_of(self.node, name)):
                    lowerer.lose_all(demand, "cannot be satisfied", "part", place)
            elif not required:
                lowerer.contradict(self.node, name, schema)
            if required:
                lowerer.lose(self.node, "required", "annotation", f"asks for {name!r}, which has no value")
            self.declared.append(name)
            return not required
        keeps_key = dialect.keys_at_root_only and self.level > 1
        sent = name if keeps_key else lowerer.keys.sent(name)
        asked = required
        absent: bool | Literal["also"] = False
        word: str | None = None
        missing = unsaid = False
        nullable = any(admits_null(lowerer, form) for form in forms)
        if not required and (dialect.every_required or (lowerer.ordered and dialect.reorders)):
            asked = absent = True
            forms, word = self._or_left_out(schema, forms, nullable=nullable)
        elif not dialect.null and nullable and any(form.kind == "null" for form in forms):
            if kept := [form for form in forms if form.kind != "null"]:
                forms, missing, unsaid = kept, required, not required
                asked = False
                if unsaid:
                    self._lose_null(schema)
        elif dialect.null_leaves_out and self.level == 1 and not required and not nullable:
            absent = "also"  # `nullable` there lets null through as well
        notes = () if word is None else (f'null leaves it out, "{word}" sets it to null.',)
        body, codec = lowerer.combine(schema, forms, notes)
        if dialect.described and not body.get("description") and (dialect.described_inside or self.level == 1):
            body = {"description": name.replace("_", " ").strip() or "The value.", **body}
        self.body["properties"][sent] = body
        self.declared.append(name)
        if asked:
            self.required.append(sent)
        if sent != name or absent or missing or unsaid or codec is not None or sent.endswith("_"):
            # what ends with an underscore and is unknown stands for another key
            self.members[sent] = Member(None if sent == name else name, absent, word, missing, unsaid, codec)
        return True

    def _or_left_out(self, schema: Json, forms: list[Variant], *, nullable: bool) -> tuple[list[Variant], str | None]:
        """Let null say that a property is left out; where null is a value a word says it, which is returned, too."""
        word: str | None = None
        written = any(isinstance(form.codec, TextCodec) and "null" in (form.codec.kinds or ("null",)) for form in forms)
        if nullable and not written:
            if isinstance(schema, dict) and "default" in schema and schema["default"] is None:
                reason = "is null, so null and leaving out mean the same; null is taken for left out"
                self.lowerer.lose(schema, "default", "convention", reason)
            else:
                word = NULL_WORD
                known = [value for form in forms for value in (*form.body.get("enum", ()), form.body.get("const"))]
                while any(isinstance(value, str) and wrapped(value, word) is not None for value in known):
                    word = f"<{word}>"
                if not any(form.kind == "any" for form in forms):
                    forms = [
                        *(form for form in forms if form.kind != "null"),
                        Variant("string", {"type": "string", "enum": [word]}),
                    ]
        return ([*forms, null_variant()] if not any(form.kind == "null" for form in forms) else forms), word

    def _lose_null(self, schema: Json) -> None:
        """Note that null cannot be said of a property that may be left out, for a target without null."""
        if isinstance(schema, dict):
            same = "default" in schema and schema["default"] is None
            self.lowerer.lose(schema, "type", "convention" if same else "narrowed", "null cannot be told from leaving out")

    def others(self, patterns: dict[str, Json], rest: Json) -> None:
        """Let properties in that are not declared."""
        lowerer, dialect = self.lowerer, self.lowerer.dialect
        if dialect.maps == "keep":
            renamed = any(member.key is not None for member in self.members.values())
            body, codec, notes = maps.kept(lowerer, self.node, self.level, patterns, rest, renamed=renamed)
            self.body.update(body)
            self.notes += notes
            if codec is not None:
                self.undeclared = replace(codec, declared=tuple(self.body["properties"]))
            return
        if not dialect.closed:
            reason = "has no word in the target; what is not in the list is found when the answer is lifted"
            for keyword in ("additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"):
                if keyword in self.node:
                    lowerer.lose(self.node, keyword, reason=reason)
        form = maps.pairs(lowerer, self.node, self.level + 1, patterns, True if rest is _ABSENT else rest)
        if form is None:
            return
        sent = unique(_MORE, self.body["properties"], 64)
        asked = dialect.every_required or (lowerer.ordered and dialect.reorders)
        self.body["properties"][sent], _ = lowerer.combine(
            {"description": "Further properties, each a key with its value."}, [form]
        )
        if asked:
            self.required.append(sent)
        self.more = More(sent, form.codec, tuple(self.declared), asked)

    def form(self) -> Variant:
        """Return the finished object."""
        lowerer, dialect, node = self.lowerer, self.lowerer.dialect, self.node
        body = self.body
        body["required"] = [name for name in body["properties"] if name in set(self.required)]
        if dialect.closed and "additionalProperties" not in body and "patternProperties" not in body:
            body["additionalProperties"] = False
        elif "patternProperties" in body:
            body.setdefault("additionalProperties", False)
        if "propertyOrdering" in dialect.keywords:
            body["propertyOrdering"] = list(body["properties"])
        if not body["required"] and not dialect.every_required:
            del body["required"]
        maps.count(lowerer, node, body, self.notes, more=self.more is not None)
        for keyword in ("dependentRequired", "dependentSchemas"):
            if any(needs not in (True, {}, []) for needs in (node.get(keyword) or {}).values()):
                self.notes.append(lowerer.lose(node, keyword))
        if "propertyNames" in node and (self.undeclared is None or self.undeclared.other is None) and not dialect.closed:
            self.notes.append(lowerer.lose(node, "propertyNames"))
        return Variant("object", body, self._codec(), [text for text in self.notes if text])

    def _codec(self) -> ObjectCodec | None:
        if self.undeclared is not None:
            return replace(self.undeclared, members=self.members)
        busy = self.more is not None or any(member.acts or member.codec is not None for member in self.members.values())
        return ObjectCodec(self.members, self.more) if busy else None


def admits_null(lowerer: Walk, form: Variant) -> bool:
    """Say whether null is among the values of a form."""
    if form.kind in {"null", "any"} or form.anything:
        return True
    if isinstance(form.codec, TextCodec):
        return "null" in (form.codec.kinds or ("null",))
    if isinstance(form.codec, ValuesCodec):
        return any(value is None for _, value in form.codec.values)
    return form.kind == "ref" and _nullish(lowerer, form.node, set())


def _nullish(lowerer: Walk, node: Json, seen: set[int]) -> bool:
    """Say whether a schema allows null, as far as its outer keywords tell."""
    if not isinstance(node, dict):
        return node is True
    if id(node) in seen:
        return True
    seen.add(id(node))
    types = node.get("type")
    if types is not None and types != "null" and (isinstance(types, str) or "null" not in types):
        return False
    if ("enum" in node and None not in node["enum"]) or ("const" in node and node["const"] is not None):
        return False
    if "$ref" in node and not _nullish(lowerer, lowerer.target(node["$ref"]), seen):
        return False
    if any(not _nullish(lowerer, member, seen) for member in node.get("allOf", ())):
        return False
    if types is None and node.keys() & {"properties", "items", "minLength", "pattern", "minimum", "maximum"}:
        return False  # read as that type
    return all(
        any(_nullish(lowerer, member, seen) for member in node[keyword]) for keyword in ("anyOf", "oneOf") if keyword in node
    )
