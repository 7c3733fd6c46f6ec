"""A JSON Schema as a form of HTML that needs no script: what its fields are, what was filled in, what is wrong with it.

The name of a field is the JSON Pointer of its value in the body that the REST interface takes, `/data/decision`.
A few names have a word before the pointer: `kind:/data/x` chooses an alternative, `rows:/data/x` counts the rows of a list,
`null:/data/x` and `empty:/data/x` are ticked for those values, `json:/data/x` is a value as JSON, and `as_json:/data/x` is ticked
where what may be anything is no text but JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, TypeAlias, TypeGuard

from instrc import problems
from instrc.problems.errors import LimitError
from instrc.runtime.activities import complaints, in_language
from instrc.runtime.interpreter.documents import Complaint
from instrc.schema.kinds import types_of
from instrc.schema.validation import accepts
from instrc.schema.walk import local_target
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, at, equal, listing, mapping, optional_text, pointer, tokens
from instrc.text.names import free_name
from instrc.text.sentences import SENTENCES, translated

FIELDS: Final = 2_000
"""Fields of a form; a schema with more is one field for JSON."""
ROWS: Final = 200
"""Rows of a list."""
LEVELS: Final = 12
"""Fields inside one another; what is deeper is a field for JSON."""
ROOT: Final = "/data"
SHORT: Final = 120
"""A text of at most so many characters has one line."""
SOURCES: Final = 20
"""Values of what is shown that a field can be filled from."""

Words: TypeAlias = Mapping[str, str]
"""The words of the pages in one language."""
FieldKind: TypeAlias = Literal["object", "list", "choice", "line", "text", "date", "number", "any", "json", "union", "fixed"]


class Absent(Enum):
    """Stands for a value that is not there."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(slots=True)
class FormField:
    """A field of a form, or a group of fields."""

    kind: FieldKind
    name: str
    """The JSON Pointer of its value."""
    label: str
    required: bool
    number: int
    """Distinct in the form."""
    description: str = ""
    form: str = ""
    """What a text has to look like: `date-time`, `email`; of a number `integer`."""
    text: str = ""
    """What was filled in, or chosen."""
    options: list[tuple[str, str]] = field(default_factory=list)
    """What can be chosen: a value as JSON, or the number of an alternative, and its label."""
    children: list[FormField] = field(default_factory=list)
    constants: list[tuple[str, bool]] = field(default_factory=list)
    """`null`, `empty` and `as_json`, where they are offered, and whether they are ticked."""
    sources: list[str] = field(default_factory=list)
    """Where in what is shown a value stands that it can be filled with."""
    problems: list[tuple[str, bool]] = field(default_factory=list)
    """What is wrong, and whether the page says it in English, for want of words in its language."""
    value: Json | Absent = ABSENT
    filled: bool = False
    """Whether somebody gave it content: a required list without rows has a value, and none."""
    focused: bool = False
    branch: Json = None
    """The schema of the alternative that was chosen."""
    where: str = ""
    """Its label behind those of the groups and rows around it."""

    def walk(self) -> Iterator[FormField]:
        """Yield it and all fields in it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def place(self, above: str = "") -> None:
        """Note where it and all fields in it stand."""
        self.where = above + self.label
        for child in self.children:
            child.place(f"{self.where} › " if above or self.name != ROOT else "")

    def first(self) -> FormField:
        """Return the first field in it that can be filled in."""
        inside = [each for each in self.children if each.kind != "fixed"]
        return inside[0].first() if inside else self

    @property
    def control(self) -> str:
        """The id of what the keyboard reaches: of a group its box, of a list the button that adds a row."""
        return f"f{self.number}{ {'union': '-k', 'list': '-a'}.get(self.kind, '') }"

    def at(self, parts: Iterable[str]) -> FormField:
        """Return the field of a part of its value, or the closest one around it; rows that are empty are no part of it.

        It goes into no alternatives but its own.
        """
        found = self
        for part in parts:
            if found.branch is not None and found is not self:
                break
            inside = found.parts()
            if found.kind == "list":
                rows = [each for each in inside if each.value is not ABSENT]
                inside = rows[int(part) : int(part) + 1] if part.isdecimal() else []
            else:
                inside = [each for each in inside if each.kind != "fixed" and tokens(each.name)[-1] == part]
            if not inside:
                break
            found = inside[0]
        return found

    def parts(self) -> list[FormField]:
        """Return the fields of its members or rows: those of the chosen alternative, if it is a choice of them."""
        return self.children[0].parts() if self.kind == "union" and self.children else self.children

    def missing(self, message: str) -> FormField | None:
        """Return the field in it whose value a message of `check` says is required."""
        absent = [each for each in self.parts() if each.required and each.value is ABSENT and self.kind != "list"]
        return next((each for each in absent if message == _required(tokens(each.name)[-1])), None)


def _required(name: str) -> str:
    return complaints({}, {"required": [name]})[0]["message"]


# What a schema is as a field.


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A schema, read as a field."""

    kind: FieldKind
    schema: JsonObject
    nullable: bool = False
    options: tuple[Json, ...] = ()
    branches: tuple[Json, ...] = ()
    inside: frozenset[str] = frozenset()
    """The references that have led here."""


_UNIONS: Final = ("anyOf", "oneOf")
_ABOUT: Final = frozenset({"title", "description", "default", "examples", "$comment", "$schema", "$defs", "$id", "deprecated"})
_CONDITIONS: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas")
"""Where a schema says more of the same value."""
_OPEN: Final = ("patternProperties", "$dynamicRef", "$ref")
"""What has no fields of its own."""
_LINES: Final = frozenset(
    {"date-time", "time", "duration", "email", "idn-email", "uri", "iri", "uuid", "hostname", "ipv4", "ipv6"}
)
_DATE: Final = re.compile(r"(?!0000)\d{4}-\d\d-\d\d")


def _reads(schema: Json, root: Json, inside: frozenset[str]) -> tuple[JsonObject | None, frozenset[str]]:
    """Return a schema without references at its top; `None` if they lead back to themselves, or it says what no field shows."""
    for _ in range(LEVELS):
        if not isinstance(schema, dict):
            break
        both, reference = schema.get("allOf"), schema.get("$ref")
        if isinstance(both, list) and len(both) == 1 and schema.keys() - {"allOf"} <= _ABOUT:
            target = both[0]
        elif isinstance(reference, str) and schema.keys() - {"$ref"} <= _ABOUT:
            target = local_target(root, reference)
            if reference in inside or target is None:
                break
            inside |= {reference}
        else:
            return schema, inside
        told: JsonObject = {key: schema[key] for key in ("title", "description") if key in schema}
        schema = {**target, **told} if isinstance(target, dict) else None
    return None, inside


def shape_of(schema: Json, root: Json, inside: frozenset[str] = frozenset(), nested: int = 0) -> FieldShape:
    """Return what field a schema is; `nested` counts the unions around it."""
    read, inside = _reads(schema, root, inside)
    if read is None:
        return FieldShape("json", mapping(schema), inside=inside)
    if isinstance(listed := read.get("enum"), list):
        return FieldShape("choice", read, options=tuple(listed), inside=inside)
    if "const" in read:
        return FieldShape("choice", read, options=(read["const"],), inside=inside)
    named = [word for word in _UNIONS if word in read]
    types = types_of(read.get("type")) or _guessed(read)
    nullable = "null" in types
    types = tuple(each for each in types if each != "null")
    if len(named) == 1 and read.keys() - {named[0], "type", "discriminator"} <= _ABOUT and nested < _NESTED:
        return _union(read, listing(read[named[0]]), root, inside, nested)
    if len(types) > 1:
        each = tuple({**read, "type": each, "title": "", "description": ""} for each in types)
        return FieldShape("union", read, nullable, branches=each, inside=inside)
    if not types and read.keys() <= _ABOUT:
        return FieldShape("any", read, inside=inside)
    if not types:
        return FieldShape("choice" if nullable else "json", read, nullable, (None,) if nullable else (), inside=inside)
    kind = _kind(read, types[0])
    values = (True, False, None) if nullable else (True, False)
    return FieldShape(kind, read, nullable, values if kind == "choice" else (), inside=inside)


_NESTED: Final = 2
"""Unions in one another whose alternatives are one list."""
_ALTERNATIVES: Final = 100


def _guessed(schema: JsonObject) -> tuple[str, ...]:
    """Return the type of a schema that has none, by what it says."""
    return ("object",) if "properties" in schema else ("array",) if "items" in schema or "prefixItems" in schema else ()


def _kind(schema: JsonObject, named: str) -> FieldKind:
    if any(word in schema for word in _OPEN) or not _names_beside(schema) <= mapping(schema.get("properties")).keys():
        return "json"
    match named:
        case "object":
            return "object" if mapping(schema.get("properties")) or schema.get("additionalProperties") is False else "json"
        case "array":
            items = schema.get("items", True)
            return "list" if items not in (True, {}) or "prefixItems" in schema else "json"
        case "integer" | "number":
            return "number"
        case "boolean":
            return "choice"
        case "string":
            return _kind_of_text(schema)
    return "json"


def _kind_of_text(schema: JsonObject) -> FieldKind:
    most, form = schema.get("maxLength"), schema.get("format")
    if form == "date":
        return "date"
    short = isinstance(most, int) and most <= SHORT
    return "line" if short or form in _LINES or "pattern" in schema else "text"


def _names_beside(schema: JsonObject) -> set[str]:
    """Return the properties that conditions of an object name: a form that does not have them cannot give them."""
    found: set[str] = set()
    waiting = [schema[word] for word in _CONDITIONS if word in schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            found |= mapping(each.get("properties")).keys()
            found |= {"$ref"} if "$ref" in each or "patternProperties" in each else set()
            waiting += [each[word] for word in _CONDITIONS if word in each and word != "dependentSchemas"]
    return found


def _union(schema: JsonObject, listed: list[Json], root: Json, inside: frozenset[str], nested: int) -> FieldShape:
    """Return alternatives; those inside of alternatives stand among them, and null is none."""
    found: list[Json] = []
    nullable = False
    for branch in listed:
        shape = shape_of(branch, root, inside, nested + 1)
        nullable = nullable or shape.nullable or (shape.kind == "choice" and None in shape.options and len(shape.options) == 1)
        if shape.kind == "json" and any(word in shape.schema for word in _UNIONS):
            return FieldShape("json", schema, inside=inside)  # too deep
        if shape.kind == "union":
            found += shape.branches
        elif shape.options != (None,):
            found.append(branch)
    if len(found) == 1:
        only = shape_of(found[0], root, inside)
        told: JsonObject = {key: schema[key] for key in ("title", "description") if key in schema}
        options = (*only.options, None) if only.kind == "choice" and nullable and None not in only.options else only.options
        return FieldShape(only.kind, {**only.schema, **told}, nullable, options, only.branches, only.inside)
    kind: FieldKind = "union" if 0 < len(found) <= _ALTERNATIVES else "json"
    return FieldShape(kind, schema, nullable, branches=tuple(found), inside=inside)


def _fixed(schema: JsonObject, root: Json) -> dict[str, Json]:
    """Return the properties of an alternative that tell it from others: choosing it gives them their only value."""
    required = listing(schema.get("required"))
    read = {name: shape_of(part, root) for name, part in mapping(schema.get("properties")).items() if name in required}
    return {name: shape.schema["const"] for name, shape in read.items() if "const" in shape.schema}


# From what was submitted to a form.


class _TooManyError(Exception):
    """A form has more fields than it may have."""


class AnswerForm:
    """A form: its fields, with what was filled in, the value that this is, and what is wrong with it."""

    def __init__(self, schema: Json, data: Mapping[str, str], words: Words, *, show: Json = None, label: str = "") -> None:
        """Read what a browser has sent, names and texts, nothing for an empty form; `show` is what the person is shown."""
        self.schema = schema
        self.words = words
        self.data = data
        self._show = show
        self._faults = SENTENCES[words["language"]].faults
        self._count = 0
        try:
            self.root = self._field(schema, (), label or words["answer"], required=True, inside=frozenset())
        except _TooManyError:
            if data:
                raise LimitError([problems.serving.TooMuch(what="fields of a form", limit=FIELDS)]) from None
            self._count = 0
            self.root = self._json({}, ROOT, label or words["answer"], required=True)
        self.root.place()

    @property
    def value(self) -> Json:
        """The value that was filled in; `None` as well for nothing at all."""
        return None if self.root.value is ABSENT else self.root.value

    @property
    def errors(self) -> list[tuple[FormField, str, bool]]:
        """What is wrong: the field, the words, and whether these are English."""
        return [(each, told, english) for each in self.root.walk() for told, english in each.problems]

    def check(self) -> bool:
        """Check the value as an answer is checked, note at its field what is wrong, and tell whether nothing is."""
        if self.root.value is ABSENT:
            self.root.problems += [] if self.errors else [(self.words["nothing"], False)]
        for row in [row for each in self.root.walk() if each.kind == "list" for row in each.children if row.value is ABSENT]:
            row.problems += [] if row.problems else [(self.words["empty_row"], False)]
            self._offer_empty(row)
        self.refuse(() if self.root.value is ABSENT else complaints(self.value, self.schema))
        return not self.errors

    def refuse(self, found: Iterable[Complaint]) -> None:
        """Note what is wrong with parts of the value, each at its field, in the language of the page; begin at the first one."""
        self._note(self.root, found, self.value, self.schema)
        for first, *_ in self.errors[:1]:
            (first.first() if first.kind == "object" else first).focused = True

    def _note(self, field: FormField, found: Iterable[Complaint], value: Json, schema: Json) -> None:
        """Note what is wrong with the value of a field by a schema; of alternatives, all that is wrong by the chosen one."""
        listed, inner = list(found), list[FormField]()
        for each, told in zip(listed, in_language(listed, value, schema, self._faults), strict=True):
            place = field.at(tokens(each["pointer"]) if each["pointer"].startswith("/") else [])
            if place is not field and place.branch is not None and place.value is not ABSENT:
                of_branch = self._alone(place.branch)
                wrong = complaints(place.value, of_branch)
                if wrong and place not in inner:
                    self._note(place, wrong, place.value, of_branch)
                inner += [place]
                if wrong:
                    continue
            missing = place.missing(each["message"])
            if missing is None:
                said = (told["message"], told == each and self.words["language"] != "en")
                place.problems += [] if said in place.problems else [said]
            elif not missing.problems:
                missing.problems.append((self.words["missing"].format(reason=each["message"]), False))
                self._offer_empty(missing)

    def _alone(self, branch: Json) -> JsonObject:
        """Return the schema of an alternative alone, whose references lead where they do in the whole."""
        whole = mapping(self.schema)
        name, definitions = optional_text(whole.get("$id")) or "urn:whole", mapping(whole.get("$defs"))
        here = free_name("alternative", definitions.__contains__)
        document: JsonObject = {**whole, "$id": name, "$defs": {**definitions, here: branch}}
        return {"$ref": f"{name.rstrip('#')}#/$defs/{here}", "$defs": {"whole": document}}

    def focus(self, name: str) -> None:
        """Let the keyboard begin at a field."""
        found = next((each for each in self.root.walk() if each.name == name), self.root)
        found.first().focused = True

    def _offer_empty(self, found: FormField) -> None:
        if found.kind in {"text", "line", "any"} and not found.constants:
            found.constants.append(("empty", False))

    # --- fields ---------------------------------------------------------------------------------------------------------------

    def _field(
        self, schema: Json, path: tuple[str | int, ...], label: str, *, required: bool, inside: frozenset[str]
    ) -> FormField:
        name = ROOT + pointer(path)
        shape = shape_of(schema, self.schema, inside)
        told = shape.schema if shape.kind != "json" else mapping(schema)
        label = optional_text(told.get("title")) or label
        as_json = f"json:{name}" in self.data and not self.data.get(f"kind:{name}")
        if as_json or shape.kind == "json" or len(path) > LEVELS:
            return self._json(told, name, label, required=required)
        made = self._new(shape.kind, name, label, told, required=required)
        types = types_of(shape.schema.get("type")) or ()
        made.form = optional_text(shape.schema.get("format")) or (
            "integer" if "integer" in types and "number" not in types else ""
        )
        made.constants = self._constants(shape, made)
        made.text = _lines(self.data.get(f"kind:{name}" if shape.kind == "union" else name, ""))
        self._read(made, shape, path)
        ticked = [word for word, is_ticked in made.constants if is_ticked and word != "as_json"]
        if ticked:
            if made.value is not ABSENT or len(ticked) > 1:
                made.problems.append((self.words["both"], False))
            made.value, made.filled = None if ticked[0] == "null" else _EMPTY.get(made.kind, ""), True
        elif not made.filled and self._show is not None and made.kind in {"list", "object", "text", "union"}:
            made.sources = self._sources(schema, path)
        return made

    def _new(self, kind: FieldKind, name: str, label: str, schema: JsonObject, *, required: bool) -> FormField:
        self._count += 1
        if self._count > FIELDS:
            raise _TooManyError
        return FormField(kind, name, label, required, self._count, optional_text(schema.get("description")) or "")

    def _json(self, schema: JsonObject, name: str, label: str, *, required: bool) -> FormField:
        """Return a field for JSON."""
        made = self._new("json", name, label, schema, required=required)
        made.text = _lines(self.data.get(f"json:{name}", ""))
        self._read_json(made)
        return made

    def _read_json(self, made: FormField) -> None:
        if made.text.strip():
            try:
                made.value, made.filled = loads(made.text), True
            except (ValueError, RecursionError) as error:
                reason = translated(str(error), self._faults)
                made.problems.append((self.words["not_json"].format(reason=reason), False))

    def _constants(self, shape: FieldShape, made: FormField) -> list[tuple[str, bool]]:
        """Return the values without content that are offered: no value, and, where it is given already, an empty one."""
        found = [("null", f"null:{made.name}" in self.data)] if shape.nullable and shape.kind != "choice" else []
        found += [("as_json", f"as_json:{made.name}" in self.data)] if shape.kind == "any" else []
        return [*found, ("empty", True)] if f"empty:{made.name}" in self.data and shape.kind in _EMPTY else found

    def _read(self, made: FormField, shape: FieldShape, path: tuple[str | int, ...]) -> None:
        """Read what was filled in."""
        match shape.kind:
            case "object":
                self._read_object(made, shape, path, {})
            case "list":
                self._read_list(made, shape, path)
            case "union":
                self._read_union(made, shape, path)
            case "choice":
                labels = [self._word(each) for each in shape.options]
                apart = len(set(labels)) == len(labels)
                codes = [dumps(each, indent=False) for each in shape.options]
                made.options = list(zip(codes, labels if apart else codes, strict=True))
                if made.text:
                    found = [each for each, code in zip(shape.options, codes, strict=True) if code == made.text]
                    made.value, made.filled = found[0] if found else ABSENT, True
                    made.problems += [] if found else [(self.words["not_offered"], False)]
            case "number":
                self._read_number(made)
            case "any" if f"as_json:{made.name}" in self.data:
                self._read_json(made)
            case _:
                made.value, made.filled = made.text or ABSENT, bool(made.text)

    def _word(self, value: Json) -> str:
        if isinstance(value, str):
            return value
        if value is None:
            return self.words["no_value"]
        return self.words["yes" if value else "no"] if isinstance(value, bool) else dumps(value, indent=False)

    def _read_number(self, made: FormField) -> None:
        text = made.text.strip()
        try:
            value = loads(text) if text else ABSENT
        except ValueError:
            value = None
        if value is not ABSENT and (isinstance(value, bool) or not isinstance(value, int | float)):
            made.problems.append((self.words["not_number"], False))
            value = ABSENT
        made.value, made.filled = value, bool(text)

    def _read_object(self, made: FormField, shape: FieldShape, path: tuple[str | int, ...], fixed: Mapping[str, Json]) -> None:
        required = listing(shape.schema.get("required"))
        for name, part in mapping(shape.schema.get("properties")).items():
            if part is False:
                continue
            if name in fixed:
                child = self._new("fixed", ROOT + pointer((*path, name)), name, {}, required=True)
                child.value, child.text = fixed[name], self._word(fixed[name])
            else:
                child = self._field(part, (*path, name), name, required=name in required, inside=shape.inside)
            made.children.append(child)
        made.filled = any(child.filled for child in made.children)
        if made.filled or (made.required and not any(tick for _, tick in made.constants)):
            made.value = {tokens(each.name)[-1]: each.value for each in made.children if each.value is not ABSENT}

    def _read_list(self, made: FormField, shape: FieldShape, path: tuple[str | int, ...]) -> None:
        least = shape.schema.get("minItems")
        at_first = least if made.required and isinstance(least, int) and not self.data else 0
        given = self.data.get(f"rows:{made.name}", str(min(at_first, ROWS)))
        count = int(given) if re.fullmatch(r"[0-9]{1,6}", given) else 0
        if count > ROWS:
            raise LimitError([problems.serving.TooMuch(what="rows of a list", limit=ROWS)])
        heads = listing(shape.schema.get("prefixItems"))
        values: list[Json] = []
        for index in range(count):
            part = heads[index] if index < len(heads) else shape.schema.get("items", True)
            label = f"{self.words['row']} {index + 1}"
            child = self._field(part, (*path, index), label, required=True, inside=shape.inside)
            made.children.append(child)
            if child.value is not ABSENT:
                values.append(child.value)
        made.text, made.filled = str(count), count > 0
        if count or (made.required and not any(tick for _, tick in made.constants)):
            made.value = values

    def _read_union(self, made: FormField, shape: FieldShape, path: tuple[str | int, ...]) -> None:
        labels = [_label(branch, self.schema, self.words) for branch in shape.branches]
        made.options = [(str(index), label) for index, label in enumerate(labels)]
        chosen = int(made.text) if re.fullmatch(r"[0-9]{1,4}", made.text) else len(labels)
        if chosen >= len(labels):
            made.problems += [(self.words["not_offered"], False)] if made.text else []
            return
        made.branch = branch = shape.branches[chosen]
        inner = shape_of(branch, self.schema, shape.inside)
        if inner.kind == "object" and f"json:{made.name}" not in self.data:
            child = self._new("object", made.name, labels[chosen], inner.schema, required=True)
            self._read_object(child, inner, path, _fixed(inner.schema, self.schema))
        else:
            child = self._field(branch, path, labels[chosen], required=True, inside=shape.inside)
        child.label, made.filled = labels[chosen], True
        child.constants = [each for each in child.constants if each[0] != "null"]
        made.children.append(child)
        made.value = child.value

    def _sources(self, schema: Json, path: tuple[str | int, ...]) -> list[str]:
        """Return where in what is shown a value stands that fits a field of the same name."""
        if not path or any(isinstance(step, int) for step in path):
            return []
        definitions = mapping(self.schema).get("$defs")
        return [where for where, value in _named(self._show, str(path[-1])) if accepts(schema, value, definitions)]


_EMPTY: Final[dict[str, Json]] = {"text": "", "line": "", "any": "", "list": [], "object": {}}


def _lines(text: str) -> str:
    """Return a text with the ends of lines that a text of JSON has; a browser sends others."""
    return text.replace("\r\n", "\n")


def _named(value: Json, name: str) -> list[tuple[str, Json]]:
    """Return the values of a name inside a value, and where they stand; the first ones."""
    found: list[tuple[str, Json]] = []
    waiting: list[tuple[str, Json]] = [("", value)]
    for where, each in waiting:
        if isinstance(each, dict) and len(waiting) < FIELDS:
            below = [(where + pointer([key]), part) for key, part in each.items()]
            found += [(place, part) for (place, part), key in zip(below, each, strict=True) if key == name]
            waiting += below
    return found[:SOURCES]


def _label(branch: Json, root: Json, words: Words) -> str:
    """Return what an alternative is called: its title, its constants, else its type."""
    shape = shape_of(branch, root)
    title = optional_text(shape.schema.get("title"))
    if title:
        return title
    told = [dumps(each, indent=False) if not isinstance(each, str) else each for each in _fixed(shape.schema, root).values()]
    if told:
        return ", ".join(told)
    if shape.kind == "object":
        return (
            optional_text(shape.schema.get("description"))
            or ", ".join(mapping(shape.schema.get("properties")))
            or words["object"]
        )
    if shape.kind == "choice":
        return words["choice"]
    return words[{"line": "text", "integer": "number"}.get(shape.kind, shape.kind)]


# From a value to what a browser would send for it, and what its buttons change.


def data_of(schema: Json, value: Json, path: tuple[str | int, ...] = (), root: Json = None) -> dict[str, str]:
    """Return the names and texts that a form of a schema has to hold for a value; as JSON where its fields cannot show it."""
    whole = schema if root is None else root
    made: dict[str, str] = {}
    _write(schema, value, path, whole, frozenset(), made)
    return made


def _write(
    schema: Json, value: Json, path: tuple[str | int, ...], root: Json, inside: frozenset[str], made: dict[str, str]
) -> None:
    name, shape = ROOT + pointer(path), shape_of(schema, root, inside)
    if shape.kind == "choice":
        same = [option for option in shape.options if dumps(option, indent=False) == dumps(value, indent=False)]
        made[name if same else f"json:{name}"] = dumps(value, indent=False)
    elif value is None and shape.nullable:
        made[f"null:{name}"] = "1"
    elif len(path) > LEVELS or not _writes(shape, value):
        made[f"json:{name}"] = dumps(value)
    elif shape.kind == "union":
        _write_branch(shape, value, path, root, made)
    elif value in ("", [], {}) and type(value) is type(_EMPTY.get(shape.kind)):
        made[f"empty:{name}"] = "1"
    elif isinstance(value, dict) and shape.kind == "object":
        for key, part in value.items():
            _write(as_object(shape.schema["properties"])[key], part, (*path, key), root, shape.inside, made)
    elif isinstance(value, list) and shape.kind == "list":
        made[f"rows:{name}"] = str(len(value))
        heads = listing(shape.schema.get("prefixItems"))
        for index, part in enumerate(value):
            item = heads[index] if index < len(heads) else shape.schema.get("items", True)
            _write(item, part, (*path, index), root, shape.inside, made)
    else:
        made[name] = value if isinstance(value, str) else dumps(value)
        if shape.kind == "any" and not isinstance(value, str):
            made[f"as_json:{name}"] = "1"


def _write_branch(shape: FieldShape, value: Json, path: tuple[str | int, ...], root: Json, made: dict[str, str]) -> None:
    """Write a value by the first alternative that takes it."""
    name, definitions = ROOT + pointer(path), mapping(root).get("$defs")
    for index, branch in enumerate(shape.branches):
        inner = shape_of(branch, root, shape.inside)
        if not accepts(branch, value, definitions) or not (inner.kind == "json" or _writes(inner, value)):
            continue
        fixed = _fixed(inner.schema, root) if inner.kind == "object" else {}
        if not all(equal(mapping(value).get(key), each) for key, each in fixed.items()):
            continue
        made[f"kind:{name}"] = str(index)
        if isinstance(value, dict) and inner.kind == "object":
            left: Json = {key: each for key, each in value.items() if key not in fixed}
            if left:
                _write(branch, left, path, root, shape.inside, made)
        else:
            _write(branch, value, path, root, shape.inside, made)
        return
    made[f"json:{name}"] = dumps(value)


def _writes(shape: FieldShape, value: Json) -> bool:
    """Tell whether the fields of a shape can hold a value of its type; a text of HTML cannot hold all characters."""
    match shape.kind:
        case "object":
            known = {name for name, part in mapping(shape.schema.get("properties")).items() if part is not False}
            return isinstance(value, dict) and value.keys() <= known
        case "list":
            return isinstance(value, list) and len(value) <= ROWS
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "text" | "any":
            return _is_html(value) or (shape.kind == "any" and not isinstance(value, str))
        case "line":
            return _is_html(value) and "\n" not in value
        case "date":
            return isinstance(value, str) and _DATE.fullmatch(value) is not None
        case "union":
            return True
    return False


def _is_html(value: Json) -> TypeGuard[str]:
    return (
        isinstance(value, str) and re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]", value) is None
    )


def changed(schema: Json, data: dict[str, str], button: str, show: Json) -> tuple[dict[str, str], str]:
    """Return what a form holds after one of its buttons, and the name of the field to go on at.

    `add:NAME` adds a row, `remove:NAME` takes one out, `take:NAME POINTER` fills a field from what is shown; `kind:NAME` shows
    the fields of the chosen alternative.
    """
    action, _, name = button.partition(":")
    if action == "add":
        count = data.get(f"rows:{name}", "0")
        rows = int(count) if re.fullmatch(r"[0-9]{1,6}", count) else 0
        return {**data, f"rows:{name}": str(rows + 1)}, f"{name}/{rows}"
    if action == "remove":
        return _without_row(data, name)
    if action == "take":
        return _filled(schema, data, name, show)
    return data, name


def _without_row(data: dict[str, str], name: str) -> tuple[dict[str, str], str]:
    above, _, number = name.rpartition("/")
    count = data.get(f"rows:{above}", "")
    if not (re.fullmatch(r"[0-9]{1,6}", number) and re.fullmatch(r"[0-9]{1,6}", count) and int(number) < int(count)):
        return data, above
    made = {f"rows:{above}": str(int(count) - 1)}
    for key, text in data.items():
        word, slash, place = key.partition("/")
        row = re.match(rf"{re.escape(above)}/([0-9]{{1,6}})(?=/|\Z)", slash + place)
        if key == f"rows:{above}" or (row is not None and int(row[1]) == int(number)):
            continue
        after = row is not None and int(row[1]) > int(number)
        made[f"{word}{above}/{int(row[1]) - 1}{(slash + place)[row.end() :]}" if row is not None and after else key] = text
    return made, above


def _filled(schema: Json, data: dict[str, str], button: str, show: Json) -> tuple[dict[str, str], str]:
    name, _, source = button.partition(" ")
    path = tuple(tokens(name.removeprefix(ROOT))) if name.startswith(f"{ROOT}/") else ()
    try:
        value, part = at(show, source), schema
        for step in path:
            part = mapping(shape_of(part, schema).schema.get("properties"))[step]
    except (LookupError, ValueError):
        return data, name
    kept = {key: text for key, text in data.items() if not f"{key[key.find('/') :]}/".startswith(f"{name}/")}
    return {**kept, **data_of(part, value, path, schema)}, name


def pairs(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what a browser has sent, by name."""
    found = dict(items)
    if len(found) > FIELDS * 3:
        raise LimitError([problems.serving.TooMuch(what="fields of a form", limit=FIELDS)])
    return found
