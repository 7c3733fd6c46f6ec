"""Rebuild a flat schema in the words of a target: the one walker, which the rewrites call back.

`forms` lists the ways a value can be written, one JSON type each; `combine` makes one schema of them.
Whatever the target has no word for goes into the description and into the list of losses.
"""

from __future__ import annotations

from typing import Any

from instrc.dialects.words import DEFINITION_NAME
from instrc.ir.codec import Codec, RefCodec
from instrc.ir.dialect import Dialect
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze
from instrc.lowering.ledger import Ledger
from instrc.lowering.names import KeyNames, legal, unique
from instrc.lowering.notes import joined, note
from instrc.lowering.rewrites import anything, arrays, literals, objects, plans, scalars, unions
from instrc.lowering.rewrites.apart import tagged
from instrc.lowering.variants import Variant, null_variant
from instrc.problems.problem import CompileError
from instrc.problems.targets import RecursiveForTarget
from instrc.schema.vocabulary import BY_TYPE, KEYWORDS, MANY, NAMED, NO_ASSERTIONS, ONE
from instrc.schema.walk import subschemas

_DEEPEST = 60
"""Objects and arrays inside one another, for targets that name no limit of their own."""
_MOST_NESTED = 90
"""Schemas inside one another, combinators included: far below what Python's own stack bears."""
_MOST_UNROLLED = 1000
"""Schema objects that are rebuilt below recursive references before unrolling stops early."""
_MOST_COPIED = 400
"""Schema objects of definitions that are written out in unions before the copies become definitions themselves."""
_MOST_DEFINED = 500
"""Definitions of a payload; what else is recursive is written as JSON text."""

Schema = dict[str, Any]

_SILENT = frozenset(
    {"$schema", "$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "title", "description"}
)
"""Annotations that have done their work in a flat schema, or are carried over elsewhere."""
_QUIET = _SILENT | (KEYWORDS.keys() - NO_ASSERTIONS)
"""Keywords of which `described` has nothing to say."""
_SAID = frozenset({"title", "description", "default", "propertyOrdering"})
"""Words of a payload that decide nothing."""
_APPLICATORS = ("not", "if", "then", "else")
_KINDS = ("string", "integer", "number", "boolean", "object", "array", "null")


class SchemaLowerer(Ledger):
    """One lowering under way: the target, the schema it reads, and what it has found out so far."""

    def __init__(
        self, dialect: Dialect, root: Json, *, ordered: bool, unroll: int, recursion: str | None = None, uniform: bool = False
    ) -> None:
        super().__init__(root)
        self.dialect = dialect
        self.ordered = ordered
        self._uniform = uniform
        self.keys = KeyNames(dialect.key, root)
        self.definitions: dict[str, Json] = {}
        self.codecs: dict[str, Codec] = {}
        self.enum_values = 0
        self._recursion = recursion or dialect.recursion
        self._unroll = unroll
        self._deepest = dialect.limits.depth or _DEEPEST
        self._count = 0
        self._nested = 0
        self._active: list[Any] = []
        self._named: dict[Any, str] = {}
        self._copied = 0
        self._sizes: dict[int, tuple[Json, int]] = {}
        self._variants: dict[str, str] = {}
        self._later: dict[tuple[str, str, str], str] = {}
        self._unannotated: dict[int, tuple[Json, Json]] = {}

    # the walk

    def fit(self, node: Json, level: int, extra: tuple[Variant, ...] = ()) -> tuple[Json, Codec]:
        """Return a schema in the target's words and the codec of its values; the schema is `None` if nothing fits."""
        return self.combine(node, [*self.forms(node, level), *extra])

    def forms(self, node: Json, level: int) -> list[Variant]:
        """Return the ways in which a value of a schema can be written; none if there is no such value."""
        if node is False:
            return []
        if node is True or not node:
            return [anything.anything(self, node)]
        if self._nested >= _MOST_NESTED:
            return [anything.written(self, node, "is nested too deeply")]
        self._count += bool(self._active)
        self._nested += 1
        try:
            return self._forms(node, level)
        finally:
            self._nested -= 1

    def _forms(self, node: Json, level: int) -> list[Variant]:
        if "allOf" in node:
            node = self.conjoined(node)
            if node is False or node is True or not node:
                return self.forms(node, level)
        if "$ref" in node:
            return self.reference(node, level)
        notes = [self.lose(node, keyword) for keyword in _APPLICATORS if keyword in node and not is_vacuous(node, keyword)]
        if "anyOf" in node or "oneOf" in node:
            forms = unions.branches(self, node, level)
        elif "enum" in node or "const" in node:
            forms = literals.literals(self, node)
        else:
            forms = self.typed(node, level)
        for keyword in node.get("allOf", ()) if "anyOf" not in node and "oneOf" not in node else ():
            self.lose_all(keyword, "cannot be folded with what stands beside it")
            notes.append(note("allOf", [keyword]))
        for form in forms:
            form.notes[:0] = [text for text in notes if text]
            if form.node is None:
                form.node = node
        return forms

    def conjoined(self, node: Schema) -> Json:
        """Fold the members of `allOf` into the schema around them; members that clash stay in an `allOf`."""
        rest = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
        return self.intersected([self.made(rest, node), *node["allOf"]])

    def reference(self, node: Schema, level: int) -> list[Variant]:
        """Keep a reference, write what it stands for, or refuse it: only recursive ones are left in a flat schema."""
        ref = node["$ref"]
        target = self.target(ref)
        siblings = {keyword: value for keyword, value in node.items() if keyword != "$ref" and keyword not in NO_ASSERTIONS}
        if not siblings and (not isinstance(target, dict) or target == {}):
            return self.forms(target, level)
        key: Any = (ref, freeze(siblings)) if siblings else ref
        if siblings:
            rest = self.made(siblings, node)
            spoken = self.made({name: value for name, value in target.items() if name not in _SILENT}, target)
            target = self.intersected([spoken, rest])
            if not isinstance(target, dict):
                return self.forms(target, level)
        if self._recursion == "refuse":
            raise CompileError([RecursiveForTarget(target=self.dialect.name, pointer=self.place(node, "$ref"), reference=ref)])
        if self._recursion == "keep":
            return [self.definition(key, ref, target)]
        if self._active.count(key) >= self._unroll or self._count > _MOST_UNROLLED or len(self._active) > 40:
            form = anything.written(self, target, f"is unrolled {self._unroll} times and written as JSON text below that")
            return [form]
        self._active.append(key)
        try:
            forms = self.forms(target, level)
        finally:
            self._active.pop()
        for form in forms:
            form.text = form.text or target.get("description")
        return forms

    def definition(self, key: Any, ref: str, target: Json) -> Variant:
        """Return a reference to a definition of the payload, which is made on first sight."""
        name = self._named.get(key)
        if name is None:
            if len(self._named) >= _MOST_DEFINED:
                return anything.written(self, target, "needs more definitions than can be kept apart")
            word = ref.rsplit("/", 1)[-1].replace("~1", "_").replace("~0", "_") if ref != "#" else "root"
            name = unique(legal(word, DEFINITION_NAME, "part"), set(self._named.values()), DEFINITION_NAME.most)
            self._named[key] = name
            self.definitions[name] = self.codecs[name] = None
            body, self.codecs[name] = self.fit(target, 1)
            if body is None:  # too late to say that there is no such value: the reference may be in use
                body, self.codecs[name] = self.combine(target, [anything.written(self, target, "cannot be satisfied")])
            self.definitions[name] = body
        return Variant("ref", {"$ref": f"#/$defs/{name}"}, RefCodec(name), node=target)

    def share(self, form: Variant) -> None:
        """Refer to the copy of a definition from where it stands, once too much has been copied.

        Unions of objects that lead to each other are copies of copies: written out they double with each of them.
        """
        name = form.definition
        assert name is not None
        self._copied += self._size(form.body)
        if self._copied <= _MOST_COPIED:
            return
        key = f"{name} {dumps(form.body.get('properties', {}), indent=False)}"
        if key not in self._variants:
            self._variants[key] = variant = unique(
                f"{name}_option"[: DEFINITION_NAME.most], self.definitions, DEFINITION_NAME.most
            )
            self.definitions[variant], self.codecs[variant] = form.body, form.codec
        form.kind, form.body, form.codec = (
            "ref",
            {"$ref": f"#/$defs/{self._variants[key]}"},
            RefCodec(self._variants[key]),
        )

    def tag_later(self, form: Variant, tag: str, label: str) -> None:
        """Refer to a definition that is not finished as it will be with a key in front that names it."""
        assert isinstance(form.codec, RefCodec)
        key = (form.codec.name, tag, label)
        if key not in self._later:
            self._later[key] = unique(f"{key[0]}_{label}"[: DEFINITION_NAME.most], self.definitions, DEFINITION_NAME.most)
            self.definitions[self._later[key]] = self.codecs[self._later[key]] = None
        form.body, form.codec = {"$ref": f"#/$defs/{self._later[key]}"}, RefCodec(self._later[key])

    def finish(self) -> None:
        """Make the definitions that were referred to before what they are made of was there."""
        for (name, tag, label), variant in self._later.items():
            body, codec = self.definitions[name], self.codecs[name]
            if isinstance(body, dict) and body.get("type") == "object" and isinstance(body.get("properties"), dict):
                body, codec = tagged(body, codec, tag, label, constant="const" in self.dialect.keywords)
            self.definitions[variant], self.codecs[variant] = body, codec

    def _size(self, body: Json) -> int:
        """Return how many schema objects are in a schema of the payload."""
        if not isinstance(body, dict):
            return 0
        if id(body) not in self._sizes:
            self._sizes[id(body)] = body, 1 + sum(self._size(child) for _, child in subschemas(body))
        return self._sizes[id(body)][1]

    def without_annotations(self, body: Json) -> Json:
        """Return a schema of the payload without what is said in it: maps repeat it, at each level of nested unions."""
        if not isinstance(body, dict):
            return body
        if id(body) not in self._unannotated:
            result: Schema = {}
            for keyword, value in body.items():
                if keyword in _SAID:
                    continue
                if keyword in NAMED and isinstance(value, dict):
                    result[keyword] = {name: self.without_annotations(child) for name, child in value.items()}
                elif keyword in MANY and isinstance(value, list):
                    result[keyword] = [self.without_annotations(child) for child in value]
                else:
                    result[keyword] = self.without_annotations(value) if keyword in ONE else value
            self._unannotated[id(body)] = (body, result)
        return self._unannotated[id(body)][1]

    def under_way(self, form: Variant) -> bool:
        """Say whether a reference leads to a definition that is not finished."""
        return isinstance(form.codec, RefCodec) and self.definitions.get(form.codec.name) is None

    def typed(self, node: Schema, level: int) -> list[Variant]:
        """Return the forms of a schema without combinators and without literals, one for each of its types."""
        types = node.get("type")
        if types is None:
            kinds = [kind for kind, keywords in BY_TYPE.items() if not keywords.isdisjoint(node)]
            if not kinds:
                return [anything.anything(self, node)]
            self.lose(node, "type", "narrowed", f"is not given, so what speaks of {' and '.join(kinds)} is taken for it")
        else:
            kinds = [types] if isinstance(types, str) else list(types)
            if "number" in kinds and "integer" in kinds:
                kinds.remove("integer")
        forms = []
        for kind in kinds:
            match kind:
                case "object":
                    form = objects.objects(self, node, level)
                case "array":
                    form = self._array(node, level)
                case "string":
                    form = scalars.strings(self, node)
                case "integer" | "number":
                    form = scalars.numbers(self, node, kind)
                case "null":
                    form = null_variant()
                case "boolean":
                    form = Variant("boolean", {"type": "boolean"})
                case _:
                    form = anything.anything(self, node)
            if form is not None:
                form.node = node
                forms.append(form)
        return forms

    def _array(self, node: Schema, level: int) -> Variant | None:
        branches = plans.branches_of(node) if self._uniform else None
        return arrays.arrays(self, node, level) if branches is None else plans.uniform(self, node, branches, level)

    def too_deep(self, level: int) -> bool:
        """Say whether an object or array at this level is one too many."""
        return level > self._deepest

    def beyond(self, level: int) -> str:
        """Say of an object or array that it is one too many."""
        return f"is nested too deeply: this is level {level}, and there are {self._deepest}"

    # putting together

    def combine(self, node: Json, forms: list[Variant], notes: tuple[str, ...] = ()) -> tuple[Json, Codec]:
        """Return one schema for several forms, described by what its node and the notes say of it."""
        if (plain := unions.plain(self, forms)) is not None:
            return self.described(node, plain, None, list(notes)), None
        forms = unions.merged(self, forms)
        if not forms:
            return None, None
        shared = [text for text in forms[0].notes if all(text in form.notes for form in forms if form.kind != "null")]
        if len(forms) == 1:
            shared += [text for text in [forms[0].text] if text]
        body, codec = unions.united(self, forms, shared)
        return self.described(node, body, codec, [*shared, *notes]), codec

    def described(self, node: Json, body: Schema, codec: Codec, notes: list[str]) -> Schema:
        """Return a schema with title and description in front, annotations the target lacks among the latter."""
        head: Schema = {}
        tail: Schema = {}
        description = title = None
        keywords = self.dialect.keywords
        if isinstance(node, dict):
            description, title = node.get("description"), node.get("title")
            description = description if isinstance(description, str) else None
            title = title if isinstance(title, str) else None
            more = node.keys() - _QUIET
            for keyword in (word for word in node if word in more) if more else ():
                if keyword == "default" and "default" in keywords and codec is None:
                    tail["default"] = node["default"]
                    continue
                said = self.lose(node, keyword, "annotation", "has no force; what a model can use of it is in the description")
                if said and keyword in NO_ASSERTIONS:
                    notes = [*notes, said]
        if title:
            if "title" in keywords:
                head["title"] = title
            elif not description:
                description = title
            else:
                self.lose(node, "title", "annotation", "has no place beside the description")
        if text := joined(description, *notes) if notes else description:
            head["description"] = text
        if head and "$ref" in body:
            body = {"anyOf": [body]}
        return {**head, **body, **tail} if head or tail else body


def is_vacuous(node: Schema, keyword: str) -> bool:
    """Say whether a keyword does nothing where it stands."""
    value = node[keyword]
    if keyword == "not":
        return value is False
    if keyword == "if":
        return node.get("then", True) in (True, {}) and node.get("else", True) in (True, {})
    return "if" not in node or value in (True, {})
