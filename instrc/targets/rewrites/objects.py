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

from typing import TYPE_CHECKING, Any

from instrc.jsonvalue import Json, dumps
from instrc.targets.forms import Form, null_form
from instrc.targets.names import unique
from instrc.targets.reverse import NULL_WORD, Codec, wrapped
from instrc.targets.rewrites import anything
from instrc.targets.rewrites.meet import matches
from instrc.targets.rewrites.scalars import taken

if TYPE_CHECKING:
    from instrc.targets.fit import Fitter

_ABSENT: Any = object()
_MORE = "additional_properties"


def objects(fitter: Fitter, node: dict[str, Any], level: int) -> Form | None:
    """Return the form of an object; `None` if there is no such object."""
    needed = len({name for name in node.get("required") or () if isinstance(name, str)})
    if max(needed, node.get("minProperties", 0)) > node.get("maxProperties", float("inf")):
        fitter.lose(node, "maxProperties", "annotation", "is less than the properties there must be")
        return None
    if fitter.too_deep(level):
        return anything.written(fitter, fitter.made({**node, "type": "object"}, node), "is nested too deeply for the target")
    rest = node.get("additionalProperties", node.get("unevaluatedProperties", _ABSENT))
    declared = node.get("properties") or {}
    required = [name for name in dict.fromkeys(node.get("required") or ()) if isinstance(name, str)]
    names = [*declared, *(name for name in required if name not in declared)]
    patterns = node.get("patternProperties") or {}
    if not names and not patterns and rest is _ABSENT and _no_arguments(fitter, node):
        if fitter.dialect.closed:
            fitter.lose(node, "additionalProperties", "convention", "is not given at the root: a tool without parameters")
        return _Shape(fitter, node, level).form()
    if not names and (patterns or rest is not False):
        return _map(fitter, node, level, patterns, True if rest is _ABSENT else rest)
    shape = _Shape(fitter, node, level)
    for name in names:
        if not shape.add(name, _schema_of(fitter, node, name, declared, patterns, rest), required=name in required):
            return None
    if rest is _ABSENT and not patterns:
        if fitter.dialect.closed:
            fitter.lose(node, "additionalProperties", "convention", "is not given, so there are no undeclared properties")
    elif patterns or rest is not False:
        shape.others(patterns, rest)
    elif not fitter.dialect.closed and not fitter.is_own(node):
        fitter.lose(
            node, "additionalProperties", reason="has no word in the target; undeclared keys are found when the answer is lifted"
        )
    closed = not patterns and (rest is False or (rest is _ABSENT and fitter.dialect.closed))
    if closed and node.get("minProperties", 0) > len(shape.body["properties"]):
        fitter.lose(node, "minProperties", "annotation", "asks for more properties than there can be")
        return None
    return shape.form()


def _no_arguments(fitter: Fitter, node: dict[str, Any]) -> bool:
    """Say whether an object is the root of a tool and says nothing of properties."""
    return node is fitter.root and fitter.dialect.tool and node.keys().isdisjoint({"propertyNames", "minProperties"})


def _schema_of(
    fitter: Fitter, node: dict[str, Any], name: str, declared: dict[str, Json], patterns: dict[str, Json], rest: Json
) -> Json:
    """Return all that is demanded of one property."""
    demands = [declared[name]] if name in declared else []
    matched = [schema for pattern, schema in patterns.items() if matches(pattern, name)]
    demands += matched
    if name not in declared and not matched and rest is not _ABSENT:
        demands.append(rest)
    if "propertyNames" in node:
        from instrc.targets.judge import accepts

        if not accepts(node["propertyNames"], name):
            return False
    if not demands:
        return True
    return demands[0] if len(demands) == 1 else fitter.made({"allOf": demands}, node)


class _Shape:
    """An object under construction."""

    def __init__(self, fitter: Fitter, node: dict[str, Any], level: int) -> None:
        self.fitter = fitter
        self.node = node
        self.level = level
        self.body: dict[str, Any] = {"type": "object", "properties": {}}
        self.required: list[str] = []
        self.entries: dict[str, dict[str, Any]] = {}
        self.declared: list[str] = []
        self.notes: list[str] = []
        self.extra: dict[str, Any] = {}
        """What the codec knows of undeclared properties."""

    def add(self, name: str, schema: Json, *, required: bool) -> bool:
        """Add a property; `False` if it must be there and cannot."""
        fitter, dialect = self.fitter, self.fitter.dialect
        forms = fitter.forms(schema, self.level + 1)
        if not forms:
            if not required and not dialect.closed:
                fitter.lose(self.node, "properties", reason=f"forbids {name!r}, for which the target has no word")
                fitter.lose_all(schema, "cannot be satisfied", "part")
            if required:
                fitter.lose(self.node, "required", "annotation", f"asks for {name!r}, which has no value")
            self.declared.append(name)
            return not required
        fitter_keys = dialect.keys_at_root_only and self.level > 1
        sent = name if fitter_keys else fitter.keys.sent(name)
        entry: dict[str, Any] = {} if sent == name else {"key": name}
        asked = required
        nullable = any(admits_null(fitter, form) for form in forms)
        if not required and (dialect.every_required or (fitter.ordered and dialect.reorders)):
            asked = True
            entry["absent"] = True
            forms = self._or_left_out(schema, forms, entry, nullable=nullable)
        elif not dialect.null and nullable and any(form.kind == "null" for form in forms):
            asked, forms = self._missing(schema, forms, entry, required=required)
        elif dialect.spelling == "smolagents" and self.level == 1 and not required and not nullable:
            entry["absent"] = "also"  # `nullable` there lets null through as well
        notes = (f'null leaves it out, "{entry["null"]}" sets it to null.',) if "null" in entry else ()
        body, codec = fitter.combine(schema, forms, notes)
        if dialect.described and not body.get("description") and (dialect.spelling != "smolagents" or self.level == 1):
            body = {"description": name.replace("_", " ").strip() or "The value.", **body}
        if codec is not None:
            entry["codec"] = codec
        self.body["properties"][sent] = body
        self.declared.append(name)
        if asked:
            self.required.append(sent)
        if entry:
            self.entries[sent] = entry
        return True

    def _or_left_out(self, schema: Json, forms: list[Form], entry: dict[str, Any], *, nullable: bool) -> list[Form]:
        """Let null say that a property is left out, and a word say null where null is a value."""
        written = any(form.written and (form.anything or "null" in (form.codec or {})["kinds"]) for form in forms)
        if nullable and not written:
            if isinstance(schema, dict) and "default" in schema and schema["default"] is None:
                reason = "is null, so null and leaving out mean the same; null is taken for left out"
                self.fitter.lose(schema, "default", "convention", reason)
            else:
                word = NULL_WORD
                known = [value for form in forms for value in (*form.body.get("enum", ()), form.body.get("const"))]
                while any(isinstance(value, str) and wrapped(value, word) is not None for value in known):
                    word = f"<{word}>"
                entry["null"] = word
                if not any(form.kind == "any" for form in forms):
                    forms = [*(form for form in forms if form.kind != "null"), Form("string", {"type": "string", "enum": [word]})]
        return [*forms, null_form()] if not any(form.kind == "null" for form in forms) else forms

    def _missing(self, schema: Json, forms: list[Form], entry: dict[str, Any], *, required: bool) -> tuple[bool, list[Form]]:
        """Let a missing key say null, for a target without null."""
        kept = [form for form in forms if form.kind != "null"]
        if not kept:
            return required, forms
        if required:
            entry["missing"] = True
            return False, kept
        if isinstance(schema, dict):
            same = "default" in schema and schema["default"] is None
            self.fitter.lose(schema, "type", "convention" if same else "narrowed", "null cannot be told from leaving out")
        entry["unsaid"] = True
        return False, kept

    def others(self, patterns: dict[str, Json], rest: Json) -> None:
        """Let properties in that are not declared."""
        fitter, dialect = self.fitter, self.fitter.dialect
        if dialect.maps == "keep":
            renamed = any("key" in entry for entry in self.entries.values())
            body, codec, notes = _kept_map(fitter, self.node, self.level, patterns, rest, renamed=renamed)
            self.body.update(body)
            self.notes += notes
            if codec is not None:
                self.extra["other"] = codec
                self.extra["declared"] = list(self.body["properties"])
            return
        form = _pairs(fitter, self.node, self.level + 1, patterns, True if rest is _ABSENT else rest)
        if form is None:
            return
        sent = unique(_MORE, self.body["properties"], 64)
        asked = dialect.every_required or (fitter.ordered and dialect.reorders)
        self.body["properties"][sent], _ = fitter.combine(
            {"description": "Further properties, each a key with its value."}, [form]
        )
        if asked:
            self.required.append(sent)
        if not dialect.closed:
            reason = "has no word in the target; what is not in the list is found when the answer is lifted"
            for keyword in ("additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"):
                if keyword in self.node:
                    fitter.lose(self.node, keyword, reason=reason)
        self.extra["more"] = {"at": sent, "codec": form.codec, "declared": self.declared, "asked": asked}

    def form(self) -> Form:
        """Return the finished object."""
        fitter, dialect, node = self.fitter, self.fitter.dialect, self.node
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
        _count(fitter, node, body, self.notes, more="more" in self.extra)
        for keyword in ("dependentRequired", "dependentSchemas"):
            if any(needs not in (True, {}, []) for needs in (node.get(keyword) or {}).values()):
                self.notes.append(fitter.lose(node, keyword))
        if "propertyNames" in node and "other" not in self.extra and not dialect.closed:
            self.notes.append(fitter.lose(node, "propertyNames"))
        codec: Codec = {"as": "object", "keys": self.entries, **self.extra} if self.entries or self.extra else None
        return Form("object", body, codec, [text for text in self.notes if text])


def _count(fitter: Fitter, node: dict[str, Any], body: dict[str, Any], notes: list[str], *, more: bool) -> None:
    """Say how many properties there may be, where the number says more than the shape does."""
    properties = body.get("properties", {})
    optional_as_null = bool(properties) and (fitter.dialect.every_required or (fitter.ordered and fitter.dialect.reorders))
    mixed = len(body.get("required", ())) < len(properties) and not fitter.dialect.counts_optional
    sayable = not (optional_as_null or more or mixed)
    needed = len([name for name in node.get("required") or () if isinstance(name, str)])
    if node.get("minProperties", 0) > needed:
        if "minProperties" in fitter.dialect.keywords and sayable:
            body["minProperties"] = int(node["minProperties"])
        else:
            notes.append(fitter.lose(node, "minProperties"))
    closed = body.get("additionalProperties") is False and "patternProperties" not in body and not more
    if "maxProperties" in node and not (closed and len(properties) <= node["maxProperties"]):
        if "maxProperties" in fitter.dialect.keywords and sayable:
            body["maxProperties"] = int(node["maxProperties"])
        else:
            notes.append(fitter.lose(node, "maxProperties"))


def admits_null(fitter: Fitter, form: Form) -> bool:
    """Say whether null is among the values of a form."""
    if form.kind in {"null", "any"} or form.anything:
        return True
    if form.written and form.codec is not None:
        return "null" in form.codec["kinds"]
    if form.codec is not None and form.codec["as"] == "values":
        return any(value is None for _, value in form.codec["values"])
    return form.kind == "ref" and _nullish(fitter, form.node, set())


def _nullish(fitter: Fitter, node: Json, seen: set[int]) -> bool:
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
    if "$ref" in node and not _nullish(fitter, fitter.target(node["$ref"]), seen):
        return False
    if any(not _nullish(fitter, member, seen) for member in node.get("allOf", ())):
        return False
    if types is None and node.keys() & {"properties", "items", "minLength", "pattern", "minimum", "maximum"}:
        return False  # read as that type
    return all(
        any(_nullish(fitter, member, seen) for member in node[keyword]) for keyword in ("anyOf", "oneOf") if keyword in node
    )


# maps


def _map(fitter: Fitter, node: dict[str, Any], level: int, patterns: dict[str, Json], rest: Json) -> Form | None:
    """Say an object none of whose properties is declared."""
    if fitter.dialect.maps == "keep":
        body, codec, notes = _kept_map(fitter, node, level, patterns, rest)
        form = Form("object", {"type": "object", **body}, {"as": "object", "other": codec} if codec else None, notes)
        if not body:  # any object
            form.body["additionalProperties"] = True
        _count(fitter, node, form.body, form.notes, more=False)
    else:
        entries = _pairs(fitter, node, level, patterns, rest)
        if entries is None:
            return _empty(fitter, node)
        form = entries
        form.notes.insert(0, "An object, written as a list of its keys and values.")
        _count_pairs(fitter, node, form)
    for keyword in ("dependentRequired", "dependentSchemas"):
        if node.get(keyword):
            form.notes.append(fitter.lose(node, keyword))
    form.notes = [text for text in form.notes if text]
    return form


def _empty(fitter: Fitter, node: dict[str, Any]) -> Form | None:
    """Say a map that cannot hold anything."""
    if node.get("minProperties", 0) > 0:
        fitter.lose(node, "minProperties", "annotation", "asks for more properties than there can be")
        return None
    form = _Shape(fitter, {"type": "object", "additionalProperties": False}, 1).form()
    if not fitter.dialect.closed:
        fitter.lose(node, "additionalProperties", reason="has no word in the target")
    return form


def _count_pairs(fitter: Fitter, node: dict[str, Any], form: Form) -> None:
    """Say how many entries a map has: a list may hold one key twice, so that a least number is exact up to one only."""
    keywords, limit = fitter.dialect.keywords, fitter.dialect.most_min_items
    least = int(node.get("minProperties", 0))
    if least > 0:
        sendable = "minItems" in keywords
        if sendable:
            form.body["minItems"] = least if limit is None else min(least, limit)
        if least > 1 or not sendable:
            form.notes.append(fitter.lose(node, "minProperties"))
    if "maxProperties" in node:
        if "maxItems" in keywords:
            form.body["maxItems"] = int(node["maxProperties"])
        else:
            form.notes.append(fitter.lose(node, "maxProperties"))


def _kept_map(
    fitter: Fitter, node: dict[str, Any], level: int, patterns: dict[str, Json], rest: Json, *, renamed: bool = False
) -> tuple[dict[str, Any], Codec, list[str]]:
    """Say undeclared properties with the keywords of JSON Schema: Mistral, vLLM and smolagents take them."""
    keywords = fitter.dialect.keywords
    notes: list[str] = []
    body: dict[str, Any] = {}
    codecs: list[Codec] = []
    single = len(patterns) == 1 and not renamed  # llguidance refuses patterns that overlap
    if patterns and single and "patternProperties" in keywords and all(taken(pattern, "plain") for pattern in patterns):
        said: dict[str, Json] = {}
        for pattern, schema in patterns.items():
            value, codec = fitter.fit(schema, level + 1)
            said[pattern] = False if value is None else value
            codecs.append(codec)
        body["patternProperties"] = said
        if len(patterns) > 1 or node.get("properties"):
            notes.append(fitter.lose(node, "patternProperties"))
    elif patterns:
        notes.append(fitter.lose(node, "patternProperties"))
        _lose_rest(fitter, node, rest)
        values = [schema for schema in patterns.values() if schema is not False]
        if rest is _ABSENT or rest is True:
            rest = True
        else:
            rest = (
                fitter.made({"anyOf": [*values, *([] if rest is False else [rest])]}, node)
                if values or rest is not False
                else False
            )
    if rest is not _ABSENT and rest is not False:
        value, codec = fitter.fit(rest, level + 1)
        codecs.append(codec)
        body["additionalProperties"] = False if value is None else True if value == {} else value
    elif rest is _ABSENT:
        body["additionalProperties"] = True
    else:
        body["additionalProperties"] = False
    if "propertyNames" in node:
        if "propertyNames" in keywords:
            names, _ = fitter.fit(fitter.made({"allOf": [{"type": "string"}, node["propertyNames"]]}, node), level + 1)
            body["propertyNames"] = {"enum": []} if names is None else names
        else:
            notes.append(fitter.lose(node, "propertyNames"))
    busy = [codec for codec in codecs if codec is not None]
    if len(codecs) > 1 and busy and any(codec != busy[0] for codec in codecs):
        # which pattern a key falls under cannot be told on the way back, so the values are written as they are not
        fitter.lose(node, "patternProperties", "narrowed", "holds values that are written in several ways")
    return body, busy[0] if busy else None, notes


def _lose_rest(fitter: Fitter, node: dict[str, Any], rest: Json) -> None:
    """Lose what holds for keys no pattern matches, where patterns are not told."""
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in node and rest is not True:
            fitter.lose(node, keyword)


def _pairs(fitter: Fitter, node: dict[str, Any], level: int, patterns: dict[str, Json], rest: Json) -> Form | None:
    """Say entries as a list of `{key, value}`, one alternative for each pattern of keys; `None` if there can be no entry."""
    wanted: list[tuple[str | None, Json]] = [(pattern, schema) for pattern, schema in patterns.items() if schema is not False]
    if rest is not False:
        wanted.append((None, rest))
    if patterns and (len(patterns) > 1 or rest is not False or node.get("properties")):
        fitter.lose(node, "patternProperties")
    for pattern in patterns:
        if "pattern" not in fitter.dialect.keywords or not taken(pattern, fitter.dialect.patterns):
            fitter.lose(node, "patternProperties")
            _lose_rest(fitter, node, rest)
    if fitter.dialect.unions == "choice" and len(wanted) > 1:
        wanted = [(None, fitter.made({"anyOf": [schema for _, schema in wanted]}, node))]
    entries: list[tuple[str | None, Form]] = []
    for pattern, schema in wanted:
        forms = fitter.forms(_entry(fitter, node, pattern, schema), level + 1)
        if len(forms) == 1:
            entries.append((pattern, forms[0]))
    if not entries:
        return None
    distinct: dict[str, Form] = {}
    kept = [(pattern, distinct.setdefault(dumps([form.body, form.codec], indent=False), form)) for pattern, form in entries]
    items, codec = fitter.combine({}, list(distinct.values()))
    pairs: dict[str, Any] = {"as": "pairs", "item": codec}
    if len(distinct) > 1:
        pairs["by"] = [{"pattern": pattern, "codec": form.codec} for pattern, form in kept]
    return Form("array", {"type": "array", "items": items}, pairs)


def _entry(fitter: Fitter, node: dict[str, Any], pattern: str | None, value: Json) -> Json:
    """Return the schema of one entry."""
    key: Json = {"type": "string"} if pattern is None else {"type": "string", "pattern": pattern}
    if "propertyNames" in node:
        key = {"allOf": [key, node["propertyNames"]]}
    pair = {
        "type": "object",
        "properties": {"key": key, "value": value},
        "required": ["key", "value"],
        "additionalProperties": False,
    }
    fitter.made(key, node)
    return fitter.own(pair, node)
