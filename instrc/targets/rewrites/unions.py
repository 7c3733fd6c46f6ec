"""Say unions: `anyOf`, `oneOf`, types in a list, null beside something.

* `oneOf` is refused by OpenAI and Gemini's Schema, and by llguidance unless its branches exclude each other: it becomes `anyOf`.
* What stands beside `anyOf` goes into its branches: xgrammar and outlines-core misread siblings.
* OpenAI refuses objects of one union that begin with the same key, unless that key tells them apart:
  a constant that does is moved to the front, and where there is none a key `option` is added, which the way back removes.
* GigaChat knows no union: values that are no objects share one string, objects become properties of one object
  whose `choice` names the one that is meant.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from instrc.jsonvalue import Json, dumps, freeze
from instrc.targets.forms import Form, kind_of
from instrc.targets.names import legal, unique
from instrc.targets.notes import joined
from instrc.targets.positions import ANNOTATIONS
from instrc.targets.reverse import Codec
from instrc.targets.rewrites import anything
from instrc.targets.rewrites.meet import both

if TYPE_CHECKING:
    from instrc.targets.fit import Fitter

_MOST_FORMS = 300


def branches(fitter: Fitter, node: dict[str, Any], level: int) -> list[Form]:
    """Return the forms of all branches of `anyOf` or `oneOf`, each with what stands beside it."""
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    beside = {
        name: value
        for name, value in node.items()
        if name != keyword and name not in ANNOTATIONS and name not in {"not", "if", "then", "else"}
    }
    fitter.made(beside, node)
    forms: list[Form] = []
    schemas: list[Json] = []
    for branch in node[keyword]:
        schema = fitter.made(both(beside, branch), branch, beside) if beside else branch
        schemas.append(schema)
        found = fitter.forms(schema, level)
        if isinstance(branch, dict):
            text, title = branch.get("description"), branch.get("title")
            for form in found:
                form.text = form.text or (text if isinstance(text, str) else None)
                form.title = form.title or (title if isinstance(title, str) else None)
        forms += found
        if len(forms) > _MOST_FORMS:
            return [anything.written(fitter, node, "has more alternatives than can be kept apart")]
    if keyword == "oneOf" and not _exclusive(fitter, schemas):
        reason = "is said as anyOf; that exactly one holds is checked when the answer is lifted"
        fitter.lose(node, "oneOf", reason=reason)
    return forms


# telling branches apart


def _exclusive(fitter: Fitter, schemas: list[Json]) -> bool:
    """Say whether no value satisfies two of the schemas, as far as types and constants tell."""
    if len(schemas) > 60:
        return False
    return all(_disjoint(fitter, left, right, 0) for left, right in combinations(schemas, 2))


def _disjoint(fitter: Fitter, left: Json, right: Json, depth: int) -> bool:
    if left is False or right is False:
        return True
    if not isinstance(left, dict) or not isinstance(right, dict) or depth > 4:
        return False
    left, right = _seen_through(fitter, left), _seen_through(fitter, right)
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    mine, theirs = _kinds(left), _kinds(right)
    if mine is not None and theirs is not None and not mine & theirs:
        return True
    my_values, their_values = _listed(left), _listed(right)
    if my_values is not None and their_values is not None:
        return not my_values & their_values
    if mine == {"object"} and theirs == {"object"}:
        needed = set(left.get("required") or ()) & set(right.get("required") or ())
        here, there = left.get("properties") or {}, right.get("properties") or {}
        return any(name in here and name in there and _disjoint(fitter, here[name], there[name], depth + 1) for name in needed)
    return False


def _seen_through(fitter: Fitter, schema: Json) -> Json:
    for _ in range(5):
        if not isinstance(schema, dict) or "$ref" not in schema:
            break
        schema = fitter.target(schema["$ref"])
    return schema


def _kinds(schema: dict[str, Any]) -> set[str] | None:
    listed = _listed(schema)
    if listed is not None:
        return {kind_of(value) for value in _literals(schema)} | (
            {"number"} if any(kind_of(value) == "integer" for value in _literals(schema)) else set()
        )
    types = schema.get("type")
    if types is None:
        return None
    kinds = {types} if isinstance(types, str) else set(types)
    return kinds | {"integer"} if "number" in kinds else kinds


def _literals(schema: dict[str, Any]) -> list[Json]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _listed(schema: dict[str, Any]) -> set[Any] | None:
    return {freeze(value) for value in _literals(schema)} if schema.keys() & {"const", "enum"} else None


# putting forms together


def merged(fitter: Fitter, forms: list[Form]) -> list[Form]:
    """Return forms that differ: equal ones once, what accepts anything alone, strings that cannot be told apart as one."""
    for form in forms:
        if form.anything:
            return [form, *(other for other in forms if other.kind == "null" and form.written and fitter.dialect.null)]
    if len(forms) < 2:
        return forms
    if any(form.bare and form.kind == "number" for form in forms):
        forms = [form for form in forms if not (form.bare and form.kind == "integer")]
    if any(form.bare and form.kind == "string" for form in forms):
        forms = [
            form for form in forms if form.kind != "string" or form.codec is not None or form.bare or form.text or form.notes
        ]
    if any(form.written for form in forms):
        strings = [form for form in forms if form.kind == "string"]
        if len(strings) > 1:
            forms = [*(form for form in forms if form.kind != "string"), anything.texts(fitter, strings)]
    nulls = [form for form in forms if form.kind == "null"]
    if len(nulls) > 1:
        nulls[0].text = joined(*(form.text for form in nulls))
        forms = [form for form in forms if form.kind != "null" or form is nulls[0]]
    known: dict[str, Form] = {}
    for form in forms:
        known.setdefault(dumps([form.body, form.codec, form.text], indent=False), form)
    return _enumerations(fitter, list(known.values()))


def _enumerations(fitter: Fitter, forms: list[Form]) -> list[Form]:
    """Join enums of one type into one enum, unless each describes its values."""
    result: list[Form] = []
    for form in forms:
        mate = next((other for other in result if _same_enumeration(other, form)), None)
        if mate is None or (fitter.dialect.unions == "anyOf" and (form.text or mate.text)):
            result.append(form)
            continue
        values = [
            *_values_of(mate),
            *(value for value in _values_of(form) if freeze(value) not in {freeze(v) for v in _values_of(mate)}),
        ]
        codec: Codec = None
        if mate.codec is not None or form.codec is not None:
            table = {json: pair for one in (mate, form) for json, pair in _table(one).items()}
            codec = {"as": "values", "values": list(table.values())}
            if any(one.codec is not None and one.codec.get("fold") for one in (mate, form)):
                codec["fold"] = True
        text = joined(mate.text, form.text)
        result[result.index(mate)] = Form(mate.kind, {"type": mate.kind, "enum": values}, codec, mate.notes, text, node=mate.node)
    return result


def _same_enumeration(left: Form, right: Form) -> bool:
    if (
        left.kind != right.kind
        or not left.body.keys() <= {"type", "enum", "const"}
        or not right.body.keys() <= {"type", "enum", "const"}
    ):
        return False
    if len(left.body) < 2 or len(right.body) < 2 or any(form.codec and form.codec["as"] != "values" for form in (left, right)):
        return False
    theirs = _table(right)
    return all(key not in theirs or freeze(theirs[key][1]) == freeze(pair[1]) for key, pair in _table(left).items())


def _values_of(form: Form) -> list[Json]:
    return list(form.body["enum"]) if "enum" in form.body else [form.body["const"]]


def _table(form: Form) -> dict[Any, list[Json]]:
    pairs = form.codec["values"] if form.codec else [[value, value] for value in _values_of(form)]
    return {freeze(sent): [sent, value] for sent, value in pairs}


def united(fitter: Fitter, forms: list[Form], shared: list[str]) -> tuple[dict[str, Any], Codec]:
    """Return one schema for forms that differ, and the codec that finds the form of an answer."""
    dialect = fitter.dialect
    if len(forms) == 1 and forms[0].kind == "null" and dialect.spelling == "openapi":  # null is no type there
        return {"type": ["string", "null"], "enum": ["null", None]}, {"as": "values", "values": [["null", None]]}
    if len(forms) == 1 and (forms[0].kind != "null" or dialect.null):
        return forms[0].body, forms[0].codec
    if dialect.unions == "choice":
        return _choice(fitter, forms)
    others = [form for form in forms if form.kind != "null"]
    nulls = [form for form in forms if form.kind == "null"]
    if len(others) == 1:
        form = others[0]
        shared += [text for text in [form.text, *form.notes] if text and text not in shared]
        return _nullable(fitter, form), form.codec
    _untangle(fitter, others)
    if dialect.first_keys:
        _told_apart(fitter, others)
    if dialect.type_lists and all(form.bare for form in others):
        return {"type": [form.kind for form in [*others, *nulls]]}, None
    shared += [text for form in nulls for text in [form.text, *form.notes] if text and text not in shared]
    bodies = []
    for form in others:
        head = {"title": form.title} if form.title and "title" in dialect.keywords else {}
        if text := joined(form.text, *(note for note in form.notes if note not in shared)):
            head["description"] = text
        if head and "$ref" in form.body:
            bodies.append({**head, "anyOf": [form.body]})
        else:
            bodies.append({**head, **form.body} if head else form.body)
    return {"anyOf": [*bodies, *(form.body for form in nulls)]}, codec_of(others, nulls)


def codec_of(others: list[Form], nulls: list[Form]) -> Codec:
    """Return the codec of a union: nothing if nothing changes in any branch."""
    if all(form.codec is None for form in others):
        return None
    return {"as": "union", "of": [{"when": form.body, "codec": form.codec} for form in [*others, *nulls]]}


def _nullable(fitter: Fitter, form: Form) -> dict[str, Any]:
    """Return a schema that takes null besides."""
    body, dialect = form.body, fitter.dialect
    if form.kind == "any":
        return body
    scalar = form.kind in {"string", "integer", "number", "boolean"} and "anyOf" not in body
    if not scalar or (("enum" in body or "const" in body) and "null" not in dialect.enums):
        return {"anyOf": [body, {"type": "null"}]}
    types = {"type": [body["type"], "null"]}
    if "const" in body:
        return {**types, "enum": [body["const"], None]}
    if "enum" in body:
        return {**body, **types, "enum": [*body["enum"], None]}
    return {**body, **types}


def _untangle(fitter: Fitter, forms: list[Form]) -> None:
    """Box a map written as a list that stands beside another list, so that an empty one shows which it is."""
    lists = [form for form in forms if form.kind == "array"]
    if len(lists) < 2:
        return
    taken = {name for form in forms if form.kind == "object" for name in form.body.get("properties", {})}
    for form in lists:
        if form.codec is not None and form.codec["as"] == "pairs":
            key = unique("entries", taken, 60)
            box: dict[str, Any] = {"type": "object", "properties": {key: form.body}, "required": [key]}
            if fitter.dialect.closed:
                box["additionalProperties"] = False
            if "propertyOrdering" in fitter.dialect.keywords:
                box["propertyOrdering"] = [key]
            form.kind, form.body = "object", box
            form.codec = {"as": "box", "key": key, "codec": form.codec}


# first keys


def _told_apart(fitter: Fitter, forms: list[Form]) -> None:
    """Give objects of one union first keys that differ or discriminate."""
    for index, form in enumerate(forms):
        if form.kind == "ref" and form.codec is not None and form.codec["as"] == "ref":
            body = fitter.definitions.get(form.codec["name"])
            if isinstance(body, dict) and body.get("type") == "object":
                copy = {name: value for name, value in body.items() if name not in {"title", "description"}}
                forms[index] = Form(
                    "object",
                    copy,
                    fitter.codecs[form.codec["name"]],
                    form.notes,
                    form.text or body.get("description"),
                    form.title,
                    form.node,
                )
    groups: dict[str, list[Form]] = {}
    for form in forms:
        if form.kind == "object" and form.body.get("properties"):
            groups.setdefault(next(iter(form.body["properties"])), []).append(form)
    for first, group in groups.items():
        if len(group) < 2 or _discriminates(group, first):
            continue
        shared = [name for name in group[0].body["properties"] if all(name in form.body["properties"] for form in group[1:])]
        leader = next((name for name in shared if _discriminates(group, name)), None)
        if leader is not None:
            for form in group:
                _lead(form, leader, form.body["properties"][leader])
                if isinstance(form.node, dict):
                    fitter.lose(
                        form.node, "properties", "annotation", f"begins with {leader!r}, which tells the alternatives apart"
                    )
            continue
        taken = {name for form in group for name in form.body["properties"]}
        tag = unique("option", taken, 64)
        labels: list[str] = []
        for number, form in enumerate(group, 1):
            label = unique(form.title or f"option_{number}", labels, 60)
            labels.append(label)
            _lead(form, tag, {"type": "string", "const": label})
            if form.codec is not None and form.codec["as"] == "box":
                form.codec = {**form.codec, "tag": {"key": tag, "value": label}}
            elif form.codec is None or form.codec["as"] == "object":
                form.codec = {"as": "object", "keys": {}, **(form.codec or {}), "tag": {"key": tag, "value": label}}
            else:  # a tuple: the tag belongs to the object it is written as
                item = form.codec.get("item") or {"as": "object", "keys": {}}
                form.codec = {**form.codec, "item": {**item, "tag": {"key": tag, "value": label}}}


def _discriminates(group: list[Form], name: str) -> bool:
    """Say whether a property has constant values that differ in all objects of a group."""
    seen: set[Any] = set()
    for form in group:
        schema = form.body["properties"].get(name)
        if not isinstance(schema, dict) or not schema.keys() & {"const", "enum"} or name not in form.body.get("required", ()):
            return False
        values = {freeze(value) for value in _literals(schema)}
        if values & seen:
            return False
        seen |= values
    return True


def _lead(form: Form, name: str, schema: Json) -> None:
    """Put a property in front of the others."""
    body = dict(form.body)
    rest = {key: value for key, value in body["properties"].items() if key != name}
    body["properties"] = {name: schema, **rest}
    body["required"] = [name, *(key for key in body.get("required", ()) if key != name)]
    form.body = body


# targets without unions


def _choice(fitter: Fitter, forms: list[Form]) -> tuple[dict[str, Any], Codec]:
    """Say a union as one string, or as one object that names the alternative it holds."""
    if all(_finite(form) for form in forms):
        table: dict[str, list[Json]] = {}
        for form in forms:
            for sent, value in _finite_table(form):
                word = sent if isinstance(sent, str) else dumps(sent, indent=False)
                if word in table and freeze(table[word][1]) != freeze(value):
                    word = unique(word, table, 10_000)
                table[word] = [word, value]
        codec: Codec = {"as": "values", "values": list(table.values())}
        if all(sent == value for sent, value in table.values()):
            codec = None
        return {"type": "string", "enum": list(table)}, codec
    scalars = [form for form in forms if form.kind not in {"object", "array", "ref"}]
    containers = [form for form in forms if form.kind in {"object", "array", "ref"}]
    if scalars:
        scalars = [anything.texts(fitter, scalars)] if len(scalars) > 1 else scalars
    if not containers:
        return {**scalars[0].body, **({"description": joined(*scalars[0].notes)} if scalars[0].notes else {})}, scalars[0].codec
    for form in forms:
        if isinstance(form.node, dict):
            fitter.lose(form.node, "type", reason="is one of several, which the target cannot tie to the name of the choice")
    labels: list[str] = []
    of: dict[str, Any] = {}
    properties: dict[str, Json] = {}
    for form in [*containers, *scalars]:
        label = unique(_label(fitter, form), [*labels, "choice"], 60)
        labels.append(label)
        if form.kind == "null":
            of[label] = {"null": True}
            continue
        text = joined(form.text, *form.notes) or f"If the choice is {label}."
        properties[label] = {"description": text, **form.body}
        of[label] = {"key": label, "codec": form.codec, "when": form.body}
    choice = {"type": "string", "enum": labels, "description": "Which of the other properties is given."}
    return {"type": "object", "properties": {"choice": choice, **properties}, "required": ["choice"]}, {"as": "choice", "of": of}


def _label(fitter: Fitter, form: Form) -> str:
    """Return a word for an alternative: its title, the constant it begins with, its type."""
    words = [form.title] if form.title else []
    for schema in form.body.get("properties", {}).values() if form.kind == "object" else ():
        words += [value for value in _literals(schema)[:1] if isinstance(value, str) and len(_literals(schema)) == 1]
    rule = fitter.dialect.key
    plain = (word if rule is None else legal(word, rule, "") for word in words)
    return next((word for word in plain if word), {"array": "list", "string": "value"}.get(form.kind, form.kind))


def _finite(form: Form) -> bool:
    return form.kind in {"null", "boolean"} or bool(form.body.keys() & {"enum", "const"})


def _finite_table(form: Form) -> list[list[Json]]:
    if form.kind == "null":
        return [["null", None]]
    if form.kind == "boolean":
        return [["true", True], ["false", False]]
    return list(_table(form).values())
