"""Render a JSON Schema as an HTML form without scripts, with the submitted values and their errors.

The name of a field is the JSON Pointer of its value in the REST interface's request body, `/data/decision`.
A few names have a prefix: `kind:/data/x` chooses an alternative, `rows:/data/x` counts the rows of a list,
`null:/data/x` and `empty:/data/x` are ticked for those values, `item:/data/x/0` for the first of several, `zone:/data/x` is
the zone of a time, `json:/data/x` a value as JSON, `rest:/data/x` an object of the members without fields as JSON,
`as_json:/data/x` is ticked if a value of any type is JSON rather than text, and `large:/data/x` tells of a file that is too
large.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import Final, TypeAlias
from urllib.parse import quote

from msgspec import Struct, field

from instrc import problems
from instrc.problems.errors import LimitError
from instrc.runtime.activities import complaints, in_language
from instrc.runtime.interpreter.documents import Complaint
from instrc.schema.kinds import types_of
from instrc.schema.validation import accepts
from instrc.server.bounds import loads_bounded
from instrc.server.files import fits
from instrc.server.form_data import EMPTY, FIELDS, NAMES, ROOT, ROWS, json_number, moment_of, named_values, objects_in
from instrc.server.form_shapes import (
    LEVELS,
    FieldKind,
    FieldShape,
    additions,
    fixed_values,
    has_rest,
    is_fixed,
    is_read_only,
    shape_of,
)
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping, optional_text, pointer, tokens
from instrc.text.names import free_name, readable
from instrc.text.sentences import LANGUAGES, filled, sentences_in, translated

Words: TypeAlias = Mapping[str, str]
"""Texts of the pages in one language."""


class Absent(Enum):
    """Placeholder for a missing value."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class FormField(Struct):
    """A field of a form, or a group of fields."""

    kind: FieldKind
    name: str
    """JSON Pointer to its value."""
    label: str
    required: bool
    number: int
    """Number, unique in the form."""
    description: str = ""
    form: str = ""
    """Format of a text: `date-time`, `email`; `integer` for a number."""
    text: str = ""
    """Text entered or chosen."""
    options: list[tuple[str, str]] = field(default_factory=list)
    """Options: a value as JSON, or the number of an alternative or of one of several values, with its label."""
    chosen: list[str] = field(default_factory=list)
    """Selected values."""
    zone: str = ""
    """Time zone."""
    positive: bool = False
    """Whether a number is never negative, so that a telephone may show digits only."""
    hints: list[str] = field(default_factory=list)
    """Requirements on the value, as text."""
    decides: bool = False
    """Whether its options are the buttons that submit the form."""
    plain: list[str] = field(default_factory=list)
    """Alternatives that are such buttons."""
    added: bool = False
    """Whether it was added by a condition that did not hold when the form was shown."""
    children: list[FormField] = field(default_factory=list)
    constants: list[tuple[str, bool]] = field(default_factory=list)
    """Offered constants `null`, `empty` and `as_json`, and whether they are selected."""
    sources: list[str] = field(default_factory=list)
    """Pointers into the shown value from which it can be filled."""
    excerpts: dict[str, str] = field(default_factory=dict)
    """Beginnings of these values, if they are texts or numbers."""
    problems: list[tuple[str, bool]] = field(default_factory=list)
    """Problems, and whether the page shows them in English, for lack of a translation."""
    value: Json | Absent = ABSENT
    filled: bool = False
    """Whether it has content: a required list without rows has a value, but no content."""
    focused: bool = False
    branch: Json = None
    """Schema of the chosen alternative."""
    where: str = ""
    """Its label, preceded by those of the enclosing groups and rows."""

    def walk(self) -> Iterator[FormField]:
        """Yield the field and all nested fields."""
        yield self
        for child in self.children:
            yield from child.walk()

    def place(self, above: str = "") -> None:
        """Record the labels of the enclosing groups in the field and all nested fields."""
        self.where = above + self.label
        for child in self.children:
            child.place(f"{self.where} › " if above or self.name != ROOT else "")

    def first(self) -> FormField:
        """Return the first nested field that can be filled in."""
        inside = [child for child in self.children if child.kind != "fixed"]
        return inside[0].first() if inside else self

    @property
    def control(self) -> str:
        """The id of the focusable element: for a group its box, for a list the button that adds a row."""
        return f"f{self.number}{ {'union': '-k', 'list': '-a'}.get(self.kind, '') }"

    def at(self, parts: Iterable[str]) -> FormField:
        """Return the field of a part of its value, or the closest enclosing one; empty rows do not count.

        Only the field's own alternatives are searched.
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
                of_name = [each for each in inside if each.kind not in {"fixed", "rest"} and tokens(each.name)[-1] == part]
                inside = of_name or [each for each in inside if each.kind == "rest"]
            if not inside:
                break
            found = inside[0]
        return found

    def parts(self) -> list[FormField]:
        """Return the fields of its members or rows: for a choice, those of the chosen alternative."""
        return self.children[0].parts() if self.kind == "union" and self.children else self.children

    def missing(self, message: str) -> FormField | None:
        """Return the nested field whose value is required according to a message of `check`."""
        absent = [part for part in self.parts() if part.value is ABSENT and part.kind != "rest" and self.kind != "list"]
        return next((part for part in absent if message.startswith(_required(tokens(part.name)[-1]))), None)


def _required(name: str) -> str:
    """Return the beginning of a validator's message about a required member."""
    return complaints({}, {"required": [name]})[0]["message"].removesuffix(_REQUIRED)


_REQUIRED: Final = "a required property"


EXCERPT: Final = 40
"""Maximum characters of a value on a button."""
BUTTONS: Final = 4
"""Maximum options shown as buttons."""


class _TooManyError(Exception):
    """A form exceeds the maximum number of fields."""


class AnswerForm:
    """A form: its fields with the submitted values, the resulting value, and its errors."""

    def __init__(
        self,
        schema: Json,
        data: Mapping[str, str],
        words: Words,
        *,
        show: Json = None,
        label: str = "",
        decides: bool = False,
        zone: str = "Z",
        files: int = 0,
    ) -> None:
        """Read the names and texts sent by a browser, or none for an empty form; `show` is the value shown to the person.

        With `decides`, the options of the only required choice become submit buttons, if they are few.
        `zone` is the default time zone; `files` is the maximum size of an upload, 0 if a reference is typed.
        """
        self.schema = schema
        self.words = words
        self.data = data
        self._shown = objects_in(show)
        self._zone = zone
        self._files = files
        common = sentences_in(words["language"]).faults if words["language"] in LANGUAGES else {}
        self._faults = {**common, **_beginning(words, "fault "), "decimal": words["decimal"]}
        self._hints = _beginning(words, "hint ")
        self._count = 0
        try:
            self.root = self._field(schema, (), label or words["answer"], required=True, inside=frozenset())
        except _TooManyError:
            if data:
                raise LimitError([problems.serving.TooMuch(what="fields of a form", limit=FIELDS)]) from None
            self._count = 0
            self.root = self._json({}, ROOT, label or words["answer"], required=True)
        self.root.place()
        choices = [part for part in (self.root, *self.root.children) if part.kind == "choice" and part.required]
        if decides and len(choices) == 1 and 2 <= len(choices[0].options) <= BUTTONS and not choices[0].constants:
            choices[0].decides = True
        if decides and self.root.kind == "union":
            branches = shape_of(schema, schema).branches
            self.root.plain = [str(index) for index, branch in enumerate(branches) if is_fixed(branch, schema)]

    @property
    def decisions(self) -> list[tuple[str, str]]:
        """The submit buttons: what each chooses, `NAME TEXT`, and its label; for alternatives, those without fields."""
        plain = [(f"kind:{quote(self.root.name)} {index}", self.root.options[int(index)][1]) for index in self.root.plain]
        decided = [part for part in (self.root, *self.root.children) if part.decides]
        return plain + [(f"{quote(part.name)} {code}", label) for part in decided for code, label in part.options]

    @property
    def value(self) -> Json:
        """The value that was entered; `None` if empty."""
        return None if self.root.value is ABSENT else self.root.value

    @property
    def errors(self) -> list[tuple[FormField, str, bool]]:
        """The errors: the field, the text, and whether it is English."""
        parts = sorted(self.root.walk(), key=lambda part: part.decides)  # the buttons come after all fields
        return [(part, said, english) for part in parts for said, english in part.problems]

    @property
    def uploads(self) -> bool:
        """Whether a file can be uploaded."""
        return any(part.kind == "file" for part in self.root.walk())

    @property
    def unseen(self) -> list[FormField]:
        """The fields added by conditions since the form was shown."""
        return [part for part in self.root.walk() if part.added]

    @property
    def leftover(self) -> dict[str, str]:
        """Submitted data without a field in the current form, kept in case its condition holds again."""
        shown = {part.name for part in self.root.walk()}
        other = {name: name[name.find("/") :] for name in self.data if f"{name[name.find('/') :]}/".startswith(f"{ROOT}/")}
        places = {name: place.rpartition("/")[0] if name.startswith("item:") else place for name, place in other.items()}
        return {name: self.data[name] for name, place in places.items() if place not in shown and self.data[name]}

    def check(self) -> bool:
        """Validate the value like an answer, assign errors to their fields, and return whether there are none."""
        if self.root.value is ABSENT:
            self.root.problems += [] if self.errors else [(self.words["nothing"], False)]
        for row in [row for part in self.root.walk() if part.kind == "list" for row in part.children if row.value is ABSENT]:
            row.problems += [] if row.problems else [(self.words["empty_row"], False)]
            self._offer_empty(row)
        self.refuse(() if self.root.value is ABSENT else complaints(self.value, self.schema))
        return not self.errors

    def refuse(self, found: Iterable[Complaint]) -> None:
        """Assign errors in parts of the value to their fields, in the page's language; focus the first one."""
        self._note(self.root, found, self.value, self.schema)
        for first, *_ in self.errors[:1]:
            (first.first() if first.kind == "object" else first).focused = True

    def _note(self, field: FormField, found: Iterable[Complaint], value: Json, schema: Json, *, inside: bool = False) -> None:
        """Assign the errors of a field's value under a schema; for alternatives, under the chosen one."""
        complained, noted = list(found), list[FormField]()
        for english, said in zip(complained, in_language(complained, value, schema, self._faults), strict=True):
            place = field.at(tokens(english["pointer"]) if english["pointer"].startswith("/") else [])
            if not (place is field and inside) and place.branch is not None and place.value is not ABSENT:
                of_branch = self._alone(place.branch)
                wrong = complaints(place.value, of_branch)
                if wrong and place not in noted:
                    self._note(place, wrong, place.value, of_branch, inside=True)
                noted += [place]
                if wrong:
                    continue
            missing = place.missing(english["message"])
            if missing is not None:
                missing.required = True
                missing.problems += [] if any(part.problems for part in missing.walk()) else [(self.words["missing"], False)]
                self._offer_empty(missing)
            else:
                entry = (said["message"], said == english and self.words["language"] != "en")
                place.problems += [] if entry in place.problems else [entry]

    def _alone(self, branch: Json) -> JsonObject:
        """Return the schema of a single alternative, with the definitions of the whole."""
        whole = mapping(self.schema)
        name, definitions = optional_text(whole.get("$id")) or "urn:whole", mapping(whole.get("$defs"))
        here = free_name("alternative", definitions.__contains__)
        document: JsonObject = {**whole, "$id": name, "$defs": {**definitions, here: branch}}
        return {"$ref": f"{name.rstrip('#')}#/$defs/{here}", "$defs": {"whole": document}}

    def focus(self, name: str) -> None:
        """Focus a field."""
        found = next((each for each in self.root.walk() if each.name == name), self.root)
        found.first().focused = True

    def _offer_empty(self, found: FormField) -> None:
        if found.kind in {"text", "line", "any"} and not found.constants:
            found.constants.append(("empty", False))

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
        kind = "line" if shape.kind == "file" and not self._files else shape.kind
        made = self._new(kind, name, label, told, required=required)
        types = types_of(shape.schema.get("type")) or ()
        made.form = optional_text(shape.schema.get("format")) or (
            "integer" if "integer" in types and "number" not in types else ""
        )
        least = shape.schema.get("minimum", shape.schema.get("exclusiveMinimum"))
        made.positive = isinstance(least, int | float) and least >= 0
        made.constants = self._constants(shape, made)
        made.text = _lines(self.data.get(f"kind:{name}" if shape.kind == "union" else name, ""))
        self._read(made, shape, path)
        ticked = [word for word, is_ticked in made.constants if is_ticked and word != "as_json"]
        if ticked:
            if made.value is not ABSENT or len(ticked) > 1:
                made.problems.append((self.words["both"], False))
            made.value, made.filled = None if ticked[0] == "null" else EMPTY.get(made.kind, ""), True
        elif not made.filled and made.kind != "any":
            made.excerpts = self._sources(schema, path)
            made.sources = list(made.excerpts)
        made.hints = self._hinted(shape)
        if made.kind == "file":
            self._check_file(made, shape)
        return made

    def _check_file(self, made: FormField, shape: FieldShape) -> None:
        """Set the type and the limit of an upload, and refuse a file of another type."""
        made.form = str(shape.schema["contentMediaType"])
        made.hints.append(self.words["hint_file"].format(size=self._files // 1024))
        if made.text and not fits(made.text, made.form):
            made.problems.append((self.words["not_file"].format(type=made.form), False))
            made.value = ABSENT
        if f"large:{made.name}" in self.data:
            made.problems.append((self.words["large_file"].format(size=self._files // 1024), False))

    def _hinted(self, shape: FieldShape) -> list[str]:
        """Return the requirements and examples of a schema as text."""
        texts = dict[str, str]()
        for word, value in shape.schema.items() if shape.kind not in {"choice", "union"} else ():
            samples = listing(value)[:3] if word == "examples" else [value]
            texts[word] = ", ".join(self._word(sample) for sample in samples)
        needed = [(word, text) for word, text in texts.items() if word in self._hints and (word, text) not in _PLAIN_BOUNDS]
        return [filled(self._hints[word], value=text) for word, text in needed]

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
                made.value, made.filled = loads_bounded(made.text), True
            except ValueError as error:
                reason = translated(str(error), self._faults)
                made.problems.append((self.words["not_json"].format(reason=reason), False))

    def _constants(self, shape: FieldShape, made: FormField) -> list[tuple[str, bool]]:
        """Return the offered empty values: no value, and an empty one if it is the current value."""
        found = [("null", f"null:{made.name}" in self.data)] if shape.nullable and shape.kind != "choice" else []
        found += [("as_json", f"as_json:{made.name}" in self.data)] if shape.kind == "any" else []
        return [*found, ("empty", True)] if f"empty:{made.name}" in self.data and shape.kind in EMPTY else found

    def _read(self, made: FormField, shape: FieldShape, path: tuple[str | int, ...]) -> None:
        """Read the submitted fields."""
        match shape.kind:
            case "object":
                self._read_object(made, shape, path, {})
            case "list":
                self._read_list(made, shape, path)
            case "union":
                self._read_union(made, shape, path)
            case "choice":
                codes = [dumps(option, indent=False) for option in shape.options]
                made.options = list(zip(codes, self._labels(shape, codes), strict=True))
                if made.text:
                    found = [each for each, code in zip(shape.options, codes, strict=True) if code == made.text]
                    made.value, made.filled = found[0] if found else ABSENT, True
                    made.problems += [] if found else [(self.words["not_offered"], False)]
            case "checks":
                codes = [dumps(option, indent=False) for option in shape.options]
                made.options = [(str(index), label) for index, label in enumerate(self._labels(shape, codes))]
                made.chosen = [index for index, _ in made.options if f"item:{made.name}/{index}" in self.data]
                made.filled = bool(made.chosen)
                if made.filled or (made.required and not any(tick for _, tick in made.constants)):
                    made.value = [shape.options[int(index)] for index in made.chosen]
            case "moment":
                made.zone = self.data.get(f"zone:{made.name}", self._zone).strip()
                made.value, made.filled = moment_of(made.text, made.zone, made.form) or ABSENT, bool(made.text)
            case "number":
                self._read_number(made)
            case "any" if f"as_json:{made.name}" in self.data:
                self._read_json(made)
            case _:
                made.value, made.filled = made.text or ABSENT, bool(made.text)

    def _labels(self, shape: FieldShape, codes: list[str]) -> list[str]:
        """Return the labels of options: their titles, or else their values; as JSON where labels would be equal."""
        titles = shape.labels or ("",) * len(codes)
        labels = [title or self._word(option) for title, option in zip(titles, shape.options, strict=True)]
        return labels if len(set(labels)) == len(labels) else codes

    def _word(self, value: Json) -> str:
        if isinstance(value, str):
            return value
        if value is None:
            return self.words["no_value"]
        if isinstance(value, float):
            return dumps(value).replace(".", self.words["decimal"])
        return self.words["yes" if value else "no"] if isinstance(value, bool) else dumps(value, indent=False)

    def _read_number(self, made: FormField) -> None:
        text = json_number(made.text, self.words["decimal"])
        try:
            value = loads_bounded(text) if text else ABSENT
        except ValueError:
            value = None
        if value is not ABSENT and (isinstance(value, bool) or not isinstance(value, int | float)):
            made.problems.append((self.words["not_number"], False))
            value = ABSENT
        made.value, made.filled = value, bool(text)

    def _read_object(self, made: FormField, shape: FieldShape, path: tuple[str | int, ...], fixed: Mapping[str, Json]) -> None:
        required = listing(shape.schema.get("required"))
        members = {name: part for name, part in mapping(shape.schema.get("properties")).items() if part is not False}
        new = {name: part for name, part in members.items() if name in required or not is_read_only(part, self.schema)}
        while True:
            for name, part in new.items():
                if name in fixed:
                    child = self._new("fixed", ROOT + pointer((*path, name)), readable(name), {}, required=True)
                    child.value, child.text = fixed[name], self._word(fixed[name])
                else:
                    child = self._field(part, (*path, name), readable(name), required=name in required, inside=shape.inside)
                    child.added = name not in members and bool(self.data) and not self._was_sent(child.name)
                made.children.append(child)
            members |= new
            values = {tokens(child.name)[-1]: child.value for child in made.children if child.value is not ABSENT}
            added, needed = additions(shape, self.schema, values)
            new = {name: part for name, part in added.items() if name not in members}
            required = [*required, *needed]
            if not new:
                break
        for child in made.children:
            child.required = child.required or tokens(child.name)[-1] in required
            if child.required and child.value is ABSENT and child.kind in {"list", "checks"} and not child.constants:
                child.value = []
        if has_rest(shape.schema) and all(child.kind != "fixed" for child in made.children):
            made.children.append(self._rest(made, members))
        made.filled = any(child.filled for child in made.children)
        if made.filled or (made.required and not any(tick for _, tick in made.constants)):
            value: JsonObject = {}
            for child in made.children:
                if child.kind == "rest":
                    value |= child.value if isinstance(child.value, dict) else {}
                elif child.value is not ABSENT:
                    value[tokens(child.name)[-1]] = child.value
            made.value = value

    def _was_sent(self, name: str) -> bool:
        """Return whether a browser has submitted a field, even empty."""
        return any(f"{key[key.find('/') :]}/".startswith(f"{name}/") for key in self.data)

    def _rest(self, around: FormField, members: Collection[str]) -> FormField:
        """Return the field for the members of an object without fields of their own."""
        made = self._new("rest", around.name, self.words["rest"], {}, required=False)
        made.text = _lines(self.data.get(f"rest:{around.name}", ""))
        self._read_json(made)
        if made.value is not ABSENT and (not isinstance(made.value, dict) or made.value.keys() & set(members)):
            made.problems.append((self.words["not_rest"], False))
            made.value = ABSENT
        return made

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
            self._read_object(child, inner, path, fixed_values(inner.schema, self.schema))
        else:
            child = self._field(branch, path, labels[chosen], required=True, inside=shape.inside)
        child.label, made.filled = labels[chosen], True
        child.constants = [each for each in child.constants if each[0] != "null"]
        made.children.append(child)
        made.value = child.value

    def _sources(self, schema: Json, path: tuple[str | int, ...]) -> dict[str, str]:
        """Return the places of shown values that fit a field of the same name."""
        if not path or any(isinstance(step, int) for step in path):
            return {}
        definitions = mapping(self.schema).get("$defs")
        return {
            where: "" if isinstance(value, dict | list) else self._word(value)[:EXCERPT]
            for where, value in named_values(self._shown, str(path[-1]))
            if accepts(schema, value, definitions)
        }


def fitted(form: Callable[[int], AnswerForm]) -> AnswerForm:
    """Return a form that has no more than `FIELDS` fields; `form` is given the maximum names of the values that it shows."""
    for most in (NAMES, NAMES // 16, NAMES // 256, 1):
        with suppress(LimitError):
            return form(most)
    return form(0)


def _beginning(words: Words, start: str) -> dict[str, str]:
    return {name.removeprefix(start): text for name, text in words.items() if name.startswith(start)}


_PLAIN_BOUNDS: Final = {(word, bound) for word in ("minLength", "minItems") for bound in "01"}
"""Bounds that need not be shown."""


def _lines(text: str) -> str:
    """Return a text with its line ends converted to line feeds, as browsers send others."""
    return text.replace("\r\n", "\n")


def _label(branch: Json, root: Json, words: Words) -> str:
    """Return the label of an alternative: its title, its constants, or else its type."""
    shape = shape_of(branch, root)
    title = optional_text(shape.schema.get("title"))
    if title:
        return title
    members = mapping(shape.schema.get("properties"))
    told = [
        optional_text(mapping(members[name]).get("title")) or (value if isinstance(value, str) else readable(name))
        for name, value in fixed_values(shape.schema, root).items()
    ]
    if told:
        return ", ".join(told)
    if shape.kind == "object":
        return (
            optional_text(shape.schema.get("description"))
            or ", ".join(optional_text(mapping(part).get("title")) or readable(name) for name, part in members.items())
            or words["object"]
        )
    if shape.kind == "choice":
        return words["choice"]
    return words[
        {"line": "text", "moment": "date", "checks": "list", "any": "json", "union": "choice", "file": "text"}.get(
            shape.kind, shape.kind
        )
    ]
