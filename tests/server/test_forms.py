"""Forms: a value that a schema allows goes through HTML and comes back the same; what others wrote is text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making import Maker

from instrc.problems.errors import InstrcError, LimitError
from instrc.schema.samples import instances
from instrc.schema.validation import validate
from instrc.schema.vocabulary import KEYWORDS  # each has a row
from instrc.server.form_data import FIELDS, NAMES, ROWS, begun, changed, data_of  # what a browser sends back
from instrc.server.form_shapes import shape_of  # what is read for each field
from instrc.server.forms import ABSENT, AnswerForm, fitted  # what a browser is sent
from instrc.server.templates import render, words_for  # as above
from instrc.text.jsonvalue import equal, pointer

WORDS = words_for("en")
ALLOWED = {"a", "button", "div", "fieldset", "form", "h1", "h2", "input", "label", "legend", "li", "main", "option", "p", "select", "span", "textarea", "ul"}  # fmt: skip  # noqa: E501


class Browser(HTMLParser):
    """Reads a page as a browser does, and sends its form: its successful controls, without buttons."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sent: dict[str, str] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: tuple[str, str] | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        name, value = found.get("name"), found.get("value") or ""
        if tag == "textarea" and name:
            self._open = (name, "")
        elif tag == "select" and name:
            self.sent[name] = ""
            self._select = name
        elif tag == "option" and "selected" in found:
            self.sent[self._select] = value
        elif tag == "input" and name and (found.get("type") != "checkbox" or "checked" in found):
            self.sent[name] = value.replace("\n", "") if found.get("type") != "hidden" else value

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open = (self._open[0], self._open[1] + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._open:
            name, text = self._open
            self.sent[name] = text.removeprefix("\n").replace("\n", "\r\n")
            self._open = None


def page(form: AnswerForm) -> str:
    """Return the page on which a run is started, without what stands around its form."""
    made = render(
        "start.html", WORDS, form=form, info={"name": "", "title": ""}, key="", problems=(), who=None, path="/", linked=False
    )
    return made[made.index("<main") : made.index("</main>")]


def through_html(schema: Any, value: Any) -> AnswerForm:
    sent = Browser(page(AnswerForm(schema, data_of(schema, value), WORDS, files=1024))).sent
    return AnswerForm(schema, sent, WORDS, files=1024)


# One place of a form each, and what a person may give there.

STRING = {"type": "string"}
ADDRESS = {
    "type": "object",
    "properties": {"street": STRING, "zip": {"type": "string", "pattern": "^[0-9]+$"}},
    "required": ["street"],
}
TO = {"anyOf": [STRING, {"$ref": "#/$defs/from"}]}
TASK = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"tool": {"const": tool}, "id": STRING, "arguments": {"type": "object", "properties": {"to": TO}}},
            "required": ["tool", "id"],
            "additionalProperties": False,
        }
        for tool in ("train", "hotel")
    ]
}  # fmt: skip
FROM = {"anyOf": [{"type": "object", "properties": {word: STRING}, "required": [word]} for word in ("from", "each")]}
PLACES: dict[str, Any] = {
    "text": STRING,
    "line": {"type": "string", "maxLength": 20},
    "date": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "file": {"type": "string", "contentMediaType": "image/*"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "answer": {"enum": ["Approve", "Reject", 1, "1", None, {"a": [1]}]},
    "only": {"const": True},
    "flag": {"type": "boolean"},
    "flag or nothing": {"type": ["boolean", "null"]},
    "text or nothing": {"type": ["string", "null"]},
    "text or number": {"type": ["string", "number", "null"]},
    "address": ADDRESS,
    "address by name": {"$ref": "#/$defs/address", "description": "Where to."},
    "address or nothing": {"oneOf": [{"$ref": "#/$defs/address"}, {"type": "null"}]},
    "names": {"type": "array", "items": STRING},
    "addresses": {"type": "array", "items": {"$ref": "#/$defs/address"}},
    "pair": {"type": "array", "prefixItems": [STRING, {"type": "integer"}], "items": False},
    "plan": {"type": "array", "items": TASK},
    "tree": {"$ref": "#/$defs/tree"},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "anything": {},
    "a/b ~ c": STRING,
    "": STRING,
}
DEFINITIONS = {
    "address": ADDRESS,
    "from": FROM,
    "tree": {"type": "object", "properties": {"name": STRING, "below": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
}

texts = st.text(max_size=30) | st.sampled_from(["", " ", "\n", "\r", "a\r\nb", "\t", "<b>&amp;", '"', "'", "\x00", "ё", "\ufeff"])
addresses = st.fixed_dictionaries(
    {"street": texts}, optional={"zip": st.from_regex(r"[0-9]+", fullmatch=True), "more": st.integers()}
)
references = st.fixed_dictionaries({"from": texts}) | st.fixed_dictionaries({"each": texts})
trees = st.recursive(
    st.just({}),
    lambda below: st.fixed_dictionaries({"name": texts}, optional={"below": st.lists(below, max_size=2)}),
    max_leaves=4,
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": texts,
    "line": st.text(max_size=20),
    "date": st.dates().map(str),
    "moment": st.datetimes().map(lambda each: f"{each.isoformat()}Z"),
    "file": texts | st.sampled_from([f"/inbox/runs/r/files/{'0a' * 32}.{kind}" for kind in ("png", "pdf")]),
    "whole": st.integers() | st.just(2.0),
    "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
    "answer": st.sampled_from(PLACES["answer"]["enum"]),
    "only": st.just(True),  # noqa: FBT003  -- a value of JSON
    "flag": st.booleans(),
    "flag or nothing": st.none() | st.booleans(),
    "text or nothing": st.none() | texts,
    "text or number": st.none() | texts | st.integers(),
    "address": addresses,
    "address by name": addresses,
    "address or nothing": st.none() | addresses,
    "names": st.lists(texts, max_size=4),
    "addresses": st.lists(addresses, max_size=3),
    "pair": st.tuples(texts, st.integers()).map(list) | st.just([]) | texts.map(lambda each: [each]),
    "plan": st.lists(
        st.fixed_dictionaries(
            {"tool": st.sampled_from(["train", "hotel"]), "id": texts},
            optional={"arguments": st.fixed_dictionaries({}, optional={"to": texts | references})},
        ),
        max_size=3,
    ),
    "tree": trees,
    "map": st.dictionaries(texts, st.integers(), max_size=2),
    "anything": st.none() | texts | st.lists(st.integers()),
    "a/b ~ c": texts,
    "": texts,
}  # fmt: skip


@given(st.data())
def test_a_value_comes_back_the_same(data: st.DataObject) -> None:
    """Every value that fits goes into a form, through HTML, and out of what a browser sends."""
    names = data.draw(st.lists(st.sampled_from(sorted(PLACES)), unique=True, max_size=5))
    required = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    schema = {"type": "object", "properties": {name: PLACES[name] for name in names}, "required": required, "$defs": DEFINITIONS}
    value = {name: data.draw(VALUES[name]) for name in names if name in required or data.draw(st.booleans())}
    assume(not validate(value, schema))
    form = through_html(schema, value)
    assert equal(form.value, value)
    assert form.check()


@given(st.integers(0, 10**6))
def test_a_value_of_any_schema_comes_back_the_same(seed: int) -> None:
    """Shapes that no form shows are written as JSON."""
    schema = Maker(seed).document()
    for value in list(instances(schema))[:20]:
        if not validate(value, schema):
            form = through_html(schema, value)
            assert equal(form.value, value), (schema, value)
            assert form.root.value is not None or value is None


@given(st.integers(0, 10**6))
def test_no_value_passes_that_its_schema_forbids(seed: int) -> None:
    """Values of any schema, fitting or not, are judged in a form as everywhere, and what is wrong is said."""
    maker = Maker(seed)
    schema = maker.document()
    for value in [*list(instances(schema))[:5], *(maker.value() for _ in range(15))]:
        form = through_html(schema, value)
        fits = form.check()
        assert fits == (not form.errors)
        if equal(form.value, value) and form.root.value is not ABSENT:
            assert fits == (not validate(value, schema)), (schema, value, form.errors)
        assert not fits or not validate(form.value, schema), (schema, value)


@given(st.integers(0, 10**6))
def test_nothing_is_chosen_beforehand(seed: int) -> None:
    """An empty form has nothing selected and nothing ticked, and is no answer unless an empty object or list is one."""
    schema = Maker(seed).document()
    form = AnswerForm(schema, {}, WORDS)
    seen = Browser(page(form))
    assert not [found for _, found in seen.tags if "selected" in found or "checked" in found]
    assert form.value in ({}, [], None) or form.root.kind == "fixed"


@pytest.mark.parametrize("name", [name for name in PLACES if name not in {"names", "addresses", "plan", "pair", "tree"}])
def test_empty_means_absent(name: str) -> None:
    schema = {"type": "object", "properties": {name: PLACES[name]}, "$defs": DEFINITIONS}
    assert AnswerForm(schema, Browser(page(AnswerForm(schema, {}, WORDS))).sent, WORDS).value == {}


PREFIXES = ["", "kind:", "rows:", "null:", "empty:", "json:"]
POINTERS = ["", "/plan", "/plan/0", "/plan/0/id", "/plan/0/arguments/to", "/address", "/answer"]
names_sent = st.builds("{}/data{}".format, st.sampled_from(PREFIXES), st.sampled_from(POINTERS)) | st.just("x")


@given(
    st.dictionaries(
        names_sent, st.sampled_from(["", "0", "1", "-1", "9" * 30, "200", "{", "null", "x", '"1"', "[" * 9999]), max_size=12
    )
)
def test_whatever_is_sent_is_read_or_refused(sent: dict[str, str]) -> None:
    """Nothing but our own problems comes out, and what is read is checked."""
    schema = {"type": "object", "properties": PLACES, "$defs": DEFINITIONS}
    try:
        form = AnswerForm(schema, sent, WORDS, show={"plan": []})
        assert form.check() == (not form.errors)
        page(form)
        for button in ("add:/data/plan", "remove:/data/plan/0", "take:/data/plan /plan", "take:x", "add:", "remove:/data/plan/x"):
            changed(schema, sent, button, {"plan": []})
    except InstrcError as error:
        names = {each.name for each in error.problems}
        assert names == {"too-much"}


LETTER = {
    "type": "object",
    "properties": {"plan": {"type": "array", "items": TASK}, "names": {"type": "array", "items": STRING}, "draft": STRING},
    "$defs": DEFINITIONS,
}


def test_rows_are_added_taken_out_and_filled_from_what_is_shown() -> None:
    show = {"idea": {"plan": [{"tool": "train", "id": "t1"}], "names": [1]}}
    data, at = changed(LETTER, {"rows:/data/names": "2", "/data/names/0": "Ann", "/data/names/1": "Bob"}, "add:/data/names", show)
    assert at == "/data/names/2"
    data, _ = changed(LETTER, {**data, "/data/names/2": "Cid"}, "remove:/data/names/1", show)
    assert AnswerForm(LETTER, data, WORDS).value == {"names": ["Ann", "Cid"]}
    offered = {each.name: each.sources for each in AnswerForm(LETTER, data, WORDS, show=show).root.walk() if each.sources}
    assert offered == {"/data/plan": ["/idea/plan"]}
    data, _ = changed(LETTER, data, "take:/data/plan /idea/plan", show)
    assert AnswerForm(LETTER, data, WORDS).value == {"plan": [{"tool": "train", "id": "t1"}], "names": ["Ann", "Cid"]}


NEEDED = {
    "type": "object",
    "properties": {
        "decision": {"enum": ["Approve", "Reject"]},
        "guests": {"type": "array", "items": {"type": "object", "properties": {"name": STRING}, "required": ["name"]}},
        "count": {"type": "integer", "minimum": 1},
        "note": {"type": ["string", "null"]},
    },
    "required": ["decision", "note"],
}


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        ({}, {"Decision": "fill this in", "Note": "fill this in"}),
        ({"/data/decision": '"Maybe"', "null:/data/note": "1"}, {"Decision": WORDS["not_offered"]}),
        ({"/data/decision": '"Reject"', "/data/note": "a", "/data/count": "many"}, {"Count": WORDS["not_number"]}),
        ({"/data/decision": '"Reject"', "/data/note": "a", "/data/count": "0"}, {"Count": "this is too small: at least 1"}),
        ({"/data/decision": '"Reject"', "/data/note": "a", "null:/data/note": "1"}, {"Note": WORDS["both"]}),
        ({"/data/decision": '"Reject"', "/data/note": "a", "rows:/data/guests": "1"}, {"Name": "fill this in"}),
        ({"json:/data": "{"}, {"Answer": "this is not JSON: a key in double quotes is expected at character 1"}),
    ],
)
def test_what_is_wrong_stands_at_its_field(sent: dict[str, str], wrong: dict[str, str]) -> None:
    form = AnswerForm(NEEDED, sent, WORDS)
    assert not form.check()
    assert {each.label: told for each, told, _ in form.errors} == wrong
    kept = Browser(page(form)).sent
    assert {name: text for name, text in kept.items() if text and (name, text) != ("rows:/data/guests", "0")} == {
        name: text for name, text in sent.items() if text != '"Maybe"'
    }


GUEST = {"type": "object", "properties": {"name": STRING, "age": {"type": "integer", "maximum": 120}}, "required": ["name"]}
HOME = {"type": "object", "properties": {"kind": {"const": "home"}, "street": STRING}, "required": ["kind", "street"]}
MANY = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "pattern": "^[A-Z]+$", "maxLength": 4},
        "day": {"type": "string", "format": "date"},
        "guests": {"type": "array", "minItems": 3, "items": GUEST},
        "names": {"type": "array", "items": {"type": "string", "minLength": 3}},
        "place": {"oneOf": [HOME, STRING]},
        "more": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["place"],
}
WRONG = {
    "/data/code": "abcde",
    "/data/day": "2026-13-01",
    "rows:/data/guests": "2",
    "/data/guests/1/age": "130",
    "rows:/data/names": "2",
    "/data/names/1": "ab",
    "kind:/data/place": "0",
    "json:/data/more": '{"a": "b"}',
}


@pytest.mark.parametrize(
    ("language", "wrong"),
    [
        (
            "en",
            [
                ("Code", "this is not written in the form that is asked for"),
                ("Code", "this is too long: at most 4 characters"),
                ("Day", "write a day, such as 2026-01-31"),
                ("Guests", "there are too few: at least 3"),
                ("Name", "fill this in"),
                ("Name", "fill this in"),
                ("Age", "this is too large: at most 120"),
                ("Row 1", WORDS["empty_row"]),
                ("Row 2", "this is too short: at least 3 characters"),
                ("Street", "fill this in"),
                ("More", "write a whole number, such as 12"),
            ],
        ),
        (
            "ru",
            [
                ("Code", "это записано не в том виде, какой нужен"),
                ("Code", "слишком длинно: знаков нужно не больше 4"),
                ("Day", "напишите день, например 2026-01-31"),
                ("Guests", "слишком мало: нужно не меньше 3"),
                ("Name", "это нужно заполнить"),
                ("Name", "это нужно заполнить"),
                ("Age", "слишком много: нужно не больше 120"),
                ("Строка 1", "эта строка пуста: заполните её или уберите"),
                ("Строка 2", "слишком коротко: знаков нужно не меньше 3"),
                ("Street", "это нужно заполнить"),
                ("More", "напишите целое число, например 12"),
            ],
        ),
    ],
)
def test_several_things_are_said_at_once_in_the_language_of_the_page(language: str, wrong: list[tuple[str, str]]) -> None:
    """An empty row moves no complaint about another one, and the keyboard begins at the first field that is wrong."""
    form = AnswerForm(MANY, WRONG, words_for(language))
    assert not form.check()
    assert [(each.label, told) for each, told, _ in form.errors] == wrong
    assert not any(english for *_, english in form.errors)
    assert [each.name for each in form.root.walk() if each.focused] == ["/data/code"]
    row = {"en": "Guests › Row 2 › Age", "ru": "Guests › Строка 2 › Age"}[language]
    assert row in [each.where for each, *_ in form.errors]
    data, at = changed(MANY, WRONG, "kind:/data/place", None)
    assert (data["kind:/data/place"], at) == ("0", "/data/place"), "what is chosen stays chosen"


INNER = {"type": "object", "properties": {"zip": {"type": "string", "pattern": "^[0-9]+$"}, "floor": {"$ref": "#/$defs/floor"}}}
OUTER = {
    "type": "object",
    "properties": {
        "kind": {"const": "flat"},
        "street": {"type": "string", "minLength": 3},
        "rooms": {"type": "integer"},
        "at": {"anyOf": [{**INNER, "required": ["zip", "floor"]}, {"type": "string", "maxLength": 2}]},
        "phones": {"type": "array", "items": {"type": "string", "pattern": "^[+]"}},
    },
    "required": ["kind", "street", "rooms"],
}


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
@pytest.mark.parametrize("language", ["en", "ru"])
def test_all_that_is_wrong_in_the_chosen_alternative_stands_at_its_fields(word: str, language: str) -> None:
    """Alternatives inside of it too; of the others nothing is said."""
    union = {word: [STRING, {"$ref": "#/$defs/outer"}]}
    schema: Any = {
        "type": "object",
        "properties": {"home": union, "name": STRING},
        "required": ["home", "name"],
        "$defs": {"outer": OUTER, "floor": {"type": "integer", "maximum": 50}},
    }
    sent = {"kind:/data/home": "1", "/data/home/street": "a", "rows:/data/home/phones": "2", "/data/home/phones/0": "+1", "/data/home/phones/1": "2"}  # fmt: skip  # noqa: E501
    words = words_for(language)
    form = AnswerForm(schema, {**sent, "kind:/data/home/at": "0", "/data/home/at/zip": "x", "/data/home/at/floor": "99"}, words)
    assert not form.check()
    missing = {"en": "fill this in", "ru": "это нужно заполнить"}[language]
    form_of = {"en": "this is not written in the form that is asked for", "ru": "это записано не в том виде, какой нужен"}
    wrong = {each.name.removeprefix("/data/"): told for each, told, _ in form.errors}
    assert wrong == {
        "home/street": {"en": "this is too short: at least 3 characters", "ru": "слишком коротко: знаков нужно не меньше 3"}[
            language
        ],
        "home/rooms": missing,
        "home/at/zip": form_of[language],
        "home/at/floor": {"en": "this is too large: at most 50", "ru": "слишком много: нужно не больше 50"}[language],
        "home/phones/1": form_of[language],
        "name": missing,
    }
    assert not any(english for *_, english in form.errors)
    both: Any = {"type": "object", "properties": {"a": {"oneOf": [STRING, {"type": "string", "minLength": 2}]}}}
    form = AnswerForm(both, {"kind:/data/a": "0", "/data/a": "long"}, words)
    assert form.check() is (form.errors == []) is False, "a value of two alternatives fits neither"
    assert [each.name for each, *_ in form.errors] == ["/data/a"]


NAME = {"type": "string", "minLength": 2, "maxLength": 50}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</textarea><b>",
    "javascript:alert(1)",
    "{{ 7*7 }}",
    "' autofocus onfocus='x",
)


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "1,000", 1000),
        ("en", "12,345.5", 12345.5),
        ("ru", "12,125", 12.125),
        ("en", "1,5", 1.5),
        ("en", ".5", 0.5),
        ("en", "-.5", -0.5),
        ("en", "5.", 5),
        ("en", "+5", 5),
        ("en", "1e3", 1000),
        ("en", "\N{MINUS SIGN}2", -2),
        ("ru", "2,5", 2.5),
        ("ru", "2.5", 2.5),
        ("ru", ",5", 0.5),
        ("ru", "1 000", 1000),
        ("ru", "12\N{NO-BREAK SPACE}345,6", 12345.6),
        ("ru", "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567", 1234567),
        ("ru", "1,000", 1),
        ("en", "1 2", None),
        ("en", "1,2,3", None),
        ("en", "1,00,000", None),
        ("ru", "1 00", None),
        ("ru", "1.000,5", None),
        ("ru", "12.500", None),
        ("ru", "0.125", 0.125),
        ("en", "012", None),
        ("en", "true", None),
        ("en", "many", None),
    ],
)
def test_numbers_are_read_as_a_language_writes_them(language: str, text: str, value: float | None) -> None:
    words = words_for(language)
    form = AnswerForm({"type": "number"}, {"/data": text}, words)
    assert form.value == value
    assert [said for _, said, _ in form.errors] == ([] if value is not None else [words["not_number"]])
    assert form.root.text == text, "what was typed stays"
    if value is not None:
        assert AnswerForm({"type": "number"}, data_of({"type": "number"}, value), words).value == value


REJECTED: Any = {"properties": {"decision": {"const": "Reject"}}, "required": ["decision"]}
REASON: Any = {
    "properties": {"reason": {"type": "string", "minLength": 3}, "copy": {"type": "boolean"}},
    "required": ["reason", "note"],
}
REPLY: Any = {
    "type": "object",
    "properties": {"decision": {"enum": ["Approve", "Reject"]}, "note": STRING},
    "required": ["decision"],
    "allOf": [{"if": REJECTED, "then": REASON}],
}


def test_a_condition_adds_fields_and_makes_others_required() -> None:
    """It takes one more step, and no script; what was filled in stays when the condition holds no more, and again."""
    form = AnswerForm(REPLY, {}, WORDS)
    assert [child.name for child in form.root.children] == ["/data/decision", "/data/note"]
    form = AnswerForm(REPLY, {"/data/decision": '"Reject"', "/data/note": ""}, WORDS)
    assert [child.name for child in form.unseen] == ["/data/reason", "/data/copy"]
    sent = {**Browser(page(form)).sent, "/data/reason": "no"}
    form = AnswerForm(REPLY, sent, WORDS)
    assert not form.check()
    assert form.unseen == []
    assert {child.name: said for child, said, _ in form.errors} == {
        "/data/note": "fill this in",
        "/data/reason": "this is too short: at least 3 characters",
    }
    assert {child.name: child.required for child in form.root.children} == {
        "/data/decision": True,
        "/data/note": True,
        "/data/reason": True,
        "/data/copy": False,
    }
    approved = AnswerForm(REPLY, {**sent, "/data/decision": '"Approve"'}, WORDS)
    assert approved.check()
    assert approved.value == {"decision": "Approve"}
    assert Browser(page(approved)).sent["/data/reason"] == "no"


LETTERS = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}}
ONE_OF = {"title": "Size", "oneOf": [{"const": "s", "title": "Small"}, {"const": "m", "title": "Medium"}]}
PET = {
    "type": "object",
    "properties": {"name": STRING},
    "required": ["name"],
    "oneOf": [
        {"title": "A cat", "properties": {"kind": {"const": "cat"}, "indoor": {"type": "boolean"}}, "required": ["kind"]},
        {"title": "A dog", "properties": {"kind": {"const": "dog"}, "tricks": {"type": "integer"}}, "required": ["kind"]},
    ],
}
MORE = {"type": "object", "properties": {"a": {"type": "integer"}}, "patternProperties": {"^x-": STRING}}
BASED = {"allOf": [{"$ref": "#/$defs/base"}, {"type": "object", "properties": {"b": STRING}, "required": ["b"]}]}
MOMENT = {"type": "string", "format": "date-time"}
BASE = {"$defs": {"base": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}}


@pytest.mark.parametrize(
    ("schema", "sent", "value"),
    [
        (ONE_OF, {"/data": '"m"'}, "m"),
        (LETTERS, {"item:/data/0": "1", "item:/data/2": "1"}, ["a", "c"]),
        (MOMENT, {"/data": "2026-01-31T09:30", "zone:/data": "+3"}, "2026-01-31T09:30:00+03:00"),
        (MOMENT, {"/data": "2026-01-31T09:30:15", "zone:/data": "Z"}, "2026-01-31T09:30:15Z"),
        ({"type": "string", "format": "time"}, {"/data": "09:30", "zone:/data": "-02:30"}, "09:30:00-02:30"),
        (PET, {"kind:/data": "1", "/data/name": "Rex", "/data/tricks": "3"}, {"kind": "dog", "name": "Rex", "tricks": 3}),
        (MORE, {"/data/a": "1", "rest:/data": '{"x-b": "c"}'}, {"a": 1, "x-b": "c"}),
        ({**BASED, **BASE}, {"/data/a": "1", "/data/b": "c"}, {"a": 1, "b": "c"}),
        ({"properties": {"c": {"$ref": "#/$defs/base", "minProperties": 1}}, **BASE}, {"/data/c/a": "1"}, {"c": {"a": 1}}),
    ],
)  # fmt: skip
def test_members_are_fields_whatever_else_a_schema_says(schema: Any, sent: dict[str, str], value: Any) -> None:
    """Nothing turns a form into one text of JSON, and what a browser sends for its fields is the value."""
    form = AnswerForm(schema, sent, WORDS)
    assert not [child for child in form.root.walk() if child.kind == "json"]
    assert form.check(), form.errors
    assert equal(form.value, value)
    assert equal(through_html(schema, value).value, value)


TWO_TYPES = {"type": ["array", "object"], "anyOf": [{"properties": {"a": {}}}, {"properties": {"b": STRING}}]}
ANY_OR_TEXT = {"anyOf": [{"allOf": [{}, {"title": ""}]}, {"type": "string"}]}


@pytest.mark.parametrize(("schema", "value"), [(TWO_TYPES, {}), (TWO_TYPES, []), (ANY_OR_TEXT, "a"), (ANY_OR_TEXT, 1)])
def test_a_choice_within_a_choice_has_a_name_of_its_own(schema: Any, value: Any) -> None:
    assert equal(through_html(schema, value).value, value)


@pytest.mark.parametrize(
    ("text", "wrong"), [('{"x-b": 1}', "write a text"), ('{"a": 1}', WORDS["not_rest"]), ("[]", WORDS["not_rest"])]
)
def test_what_is_wrong_with_other_members_stands_at_their_field(text: str, wrong: str) -> None:
    form = AnswerForm(MORE, {"rest:/data": text}, WORDS)
    assert not form.check()
    assert [(child.kind, said) for child, said, _ in form.errors] == [("rest", wrong)]


def test_a_form_begins_with_defaults_and_with_what_is_to_be_edited() -> None:
    draft = {
        "type": "object",
        "properties": {"subject": {"type": "string", "maxLength": 80}, "text": STRING},
        "required": ["text"],
    }
    schema = {
        "type": "object",
        "properties": {"decision": {"enum": ["Approve", "Reject"]}, "draft": draft, "copies": {"type": "integer", "default": 2}},
    }
    show = {"draft": {"subject": "Hi", "text": "Dear"}, "decision": "Approve"}
    form = AnswerForm(schema, begun(schema, show), WORDS, show=show)
    assert form.value == {"draft": {"subject": "Hi", "text": "Dear"}, "copies": 2}
    named = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}, "count": {"type": "integer"}}}
    several = {"a": {"day": "2026-01-31", "count": 3}, "b": {"day": "2026-02-01", "count": 3}}
    form = AnswerForm(named, begun(named, several), WORDS, show=several)
    assert form.value == {}, "which is meant is not known"
    assert [child.sources for child in form.root.children] == [["/a/day", "/b/day"], ["/a/count", "/b/count"]]


def test_what_tells_alternatives_apart_is_a_name_and_never_true() -> None:
    """A constant that is no text says nothing: its member does, or a title."""

    def only(name: str, value: Any, **more: Any) -> Any:
        return {"type": "object", "properties": {name: {"const": value}}, "required": [name], **more}

    schema = {"anyOf": [only("retry", value=True), only("fail", value=True, title="Let it fail"), only("level", value="low")]}
    form = AnswerForm(schema, {}, WORDS, decides=True)
    assert [label for _, label in form.root.options] == ["Retry", "Let it fail", "low"]
    assert form.decisions == [("kind:/data 0", "Retry"), ("kind:/data 1", "Let it fail"), ("kind:/data 2", "low")]


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_thing_is_said_once(language: str) -> None:
    form = AnswerForm({"type": "object", "required": ["a", "b"], "not": {}}, {"json:/data": "{}"}, words_for(language))
    assert not form.check()
    assert len({said for _, said, _ in form.errors}) == len(form.errors)


@pytest.mark.parametrize(
    ("reference", "more"),
    [
        ("#/properties/name", {}),
        ("#/definitions/name", {"definitions": {"name": NAME}}),
        ("#name", {"$defs": {"name": {**NAME, "$anchor": "name"}}}),
        ("https://example.com/whole#/$defs/name", {"$id": "https://example.com/whole#", "$defs": {"name": NAME}}),
        ("name", {"$id": "whole.json", "$defs": {"name": {**NAME, "$id": "name"}}}),
    ],
)
def test_references_lead_from_the_chosen_alternative_where_they_do_from_the_whole(reference: str, more: Any) -> None:
    parts = {"first": {"$ref": reference}, "second": {"$ref": reference}}
    branch = {"type": "object", "properties": parts, "required": ["first", "second"]}
    schema = {"properties": {"name": NAME, "of": {"anyOf": [branch, {"type": "string"}]}}, "required": ["of"], **more}
    filled = {f"{kind}/data/of/{name}": '"x"' if kind else "x" for name in parts for kind in ("", "json:")}
    form = AnswerForm(schema, {"kind:/data/of": "0", **filled}, words_for("en"))
    assert not form.check()
    assert [(each.name, said) for each, said, _ in form.errors] == [
        (f"/data/of/{name}", "this is too short: at least 2 characters") for name in parts
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_others_are_text(text: str) -> None:
    told = {"title": text, "description": text}
    branches = [{**told, **STRING}, {"type": "object", "properties": {"k": {"const": text}}, "required": ["k"]}]
    listed = {"type": "array", "items": {"type": "string", "default": text, "examples": [text]}}
    parts = {text: {**told, "enum": [text]}, "b": {"anyOf": branches}, f"c{text}": listed}
    schema = {**told, "type": "object", "properties": parts}
    data = {f"json:/data{pointer([text])}": text, "kind:/data/b": "0", "/data/b": text, f"rows:/data{pointer([f'c{text}'])}": "1"}
    form = AnswerForm(schema, data, WORDS, show={text: text, "b": text})
    form.check()
    form.refuse([{"pointer": "/b", "message": text}])
    seen = Browser(page(form))
    assert {tag for tag, _ in seen.tags} <= ALLOWED
    assert not [key for _, found in seen.tags for key in found if key.startswith("on") or key in {"src", "style"}]
    assert all(str(found["href"]).startswith("#") for _, found in seen.tags if "href" in found)
    assert seen.sent["/data/b"] == text


EITHER: Any = {"type": "object", "properties": {"mail": {**STRING, "title": "Mail"}, "phone": {**STRING, "title": "Telephone"}}}
OTHERS: Any = {"type": "object", "properties": {"a": STRING}, "patternProperties": {"^x-": {}}, "additionalProperties": False}
SHORT: Any = {"propertyNames": {"pattern": "^[a-z]+$"}}
TEAM: Any = {"type": "array", "items": STRING, "contains": {"const": "boss"}}
BRANCHES: Any = [{"required": ["mail"]}, {"required": ["phone"]}]


@pytest.mark.parametrize(
    ("schema", "data", "wrong"),
    [
        ({**EITHER, "anyOf": BRANCHES}, {"/data/mail": ""}, 'заполните хотя бы одно из этого: "Mail", "Telephone"'),
        (
            {**EITHER, "oneOf": BRANCHES},
            {"/data/mail": "a", "/data/phone": "b"},
            'заполните только одно из этого: "Mail", "Telephone"',
        ),
        ({**STRING, "not": {"enum": ["root"]}}, {"/data": "root"}, 'здесь не может быть ничего из ["root"]'),
        (TEAM, {"rows:/data": "1", "/data/0": "a"}, 'здесь должно быть и "boss"'),
        ({"type": "number", "multipleOf": 0.25}, {"/data": "0,3"}, "нужно кратное 0,25"),
        ({"type": ["integer", "string"]}, {"kind:/data": "0", "/data": "x"}, "напишите число, например 12 или 2,5"),
        (OTHERS, {"rest:/data": '{"x-a": 1, "b": 1}'}, 'здесь этого не нужно: "b"'),
        (
            {**EITHER, **SHORT, "additionalProperties": STRING},
            {"rest:/data": '{"x-a": "1"}'},
            'такое имя здесь не подходит: "x-a"',
        ),
        (
            {"allOf": [EITHER], "unevaluatedProperties": False, "type": "object"},
            {"json:/data": '{"mail": "a", "b": 1}'},
            'здесь этого не нужно: "b"',
        ),
    ],
)
def test_a_refusal_names_what_is_missing_or_wrong_by_its_label(schema: Any, data: dict[str, str], wrong: str) -> None:
    form = AnswerForm(schema, data, words_for("ru"))
    assert not form.check()
    assert [said for _, said, _ in form.errors] == [wrong]


@pytest.mark.parametrize(("language", "hint"), [("ru", "Не меньше 0,5."), ("en", "At least 0.5.")])
def test_bounds_are_written_as_the_language_writes_numbers(language: str, hint: str) -> None:
    assert AnswerForm({"type": "number", "minimum": 0.5}, {}, words_for(language)).root.hints == [hint]


def test_the_page_has_a_row_for_each_keyword_and_its_words() -> None:
    text = (Path(__file__).parents[2] / "instrc" / "server" / "inbox.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for name, said in WORDS.items():
        kind, _, keyword = name.partition(" ")
        word, _, value = keyword.partition(" ")
        if kind in {"fault", "hint"}:
            of_word = [row for row in rows if f"`{word}`" in row]
            assert of_word, f"no row for {word}"
            if kind == "fault" and not value and word not in {"type", "required", "dependentRequired"}:  # said at the members
                assert any(f'"{re.sub("{[a-z]+}", "…", said)}"' in row for row in of_word), f"other words for {word}"
    shown = {word for row in rows for word in re.findall(r"`([$a-zA-Z]+)`", row)}
    assert {
        name for name, row in KEYWORDS.items() if row.group in {"applicator", "validation", "unevaluated", "content"}
    } <= shown


def test_forms_have_limits() -> None:
    many = {"type": "object", "properties": {f"p{index}": STRING for index in range(FIELDS + 1)}}
    assert AnswerForm(many, {}, WORDS).root.kind == "json"
    nested: Any = STRING
    for _ in range(40):
        nested = {"type": "array", "items": nested, "minItems": 1}
    assert len(list(AnswerForm(nested, {}, WORDS).root.walk())) < 20
    listed = {"type": "array", "items": {"type": "array", "items": STRING}}
    for rows in (str(ROWS + 1), "9" * 6):
        with pytest.raises(LimitError, match="too-much"):
            AnswerForm(listed, {"rows:/data": rows}, WORDS)
    with pytest.raises(LimitError, match="too-much"):
        AnswerForm(listed, {"rows:/data": "200", **{f"rows:/data/{index}": "200" for index in range(200)}}, WORDS)
    branches: Any = {"$ref": "#/$defs/d0"}
    definitions = {f"d{index}": {"anyOf": [{"$ref": f"#/$defs/d{index + 1}"}] * 9} for index in range(30)}
    assert AnswerForm({**branches, "$defs": {**definitions, "d30": STRING}}, {}, WORDS).root.kind in {"union", "json"}


def table(rows: int, columns: int = 12) -> tuple[Any, Any]:
    """Return the schema of a decision with a table, and a value that shows its rows."""
    row: Any = {"type": "object", "properties": {f"c{index}": STRING for index in range(columns)}}
    members: Any = {"decision": {"enum": ["Approve", "Reject"]}, "rows": {"type": "array", "items": row}, "note": STRING}
    shown = {"rows": [{f"c{index}": "x" for index in range(columns)} for _ in range(rows)], "note": "a draft"}
    return {"type": "object", "properties": members, "required": ["decision", "rows"]}, shown


def shown_form(schema: Any, show: Any) -> AnswerForm:
    return fitted(lambda most: AnswerForm(schema, begun(schema, show, most), WORDS, show=show, decides=True))


@pytest.mark.parametrize(("rows", "kind"), [(150, "list"), (155, "json"), (180, "json"), (201, "json")])
def test_a_shown_table_that_is_too_large_is_a_text_of_json_beside_the_other_fields(rows: int, kind: str) -> None:
    schema, show = table(rows)
    form = shown_form(schema, show)
    assert [part.kind for part in form.root.children[:2]] == ["choice", kind]
    assert form.value == show
    assert form.root.children[2].text == "a draft"


def test_a_form_with_too_many_fields_of_its_own_begins_as_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.forms.FIELDS", 50)
    many: Any = {"type": "object", "properties": {f"p{index}": {**STRING, "default": "x"} for index in range(50)}}
    assert shown_form(many, None).root.kind == "json"
    data: Any = dict.fromkeys(many["properties"], "x")
    form = fitted(lambda most: AnswerForm(many, data_of(many, data, most=most), WORDS))
    assert (form.root.kind, form.value) == ("json", data)


def test_what_a_form_shows_of_a_large_value_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=shape_of)
    monkeypatch.setattr("instrc.server.form_data.shape_of", read)
    items: Any = {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": STRING}}}
    rows: Any = [[["x"] * 25] * 25] * 25
    schema: Any = {"type": "object", "properties": {"rows": items}}
    form = shown_form(schema, {"rows": rows})
    assert form.value == {"rows": rows}
    assert form.root.children[0].children[0].children[0].kind == "json", "what is too much is a text, and the rest is rows"
    data, _ = changed(schema, {}, "take:/data/rows /rows", {"rows": rows})
    assert len(data) < NAMES
    assert read.call_count < NAMES * 3


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("orderId", "Order id"),
        ("order_id", "Order id"),
        ("дата_встречи", "Дата встречи"),
        ("IBAN", "IBAN"),
        ("$x", "$x"),
        ("", ""),
    ],
)
def test_a_member_without_a_title_is_shown_by_its_name_in_words(name: str, shown: str) -> None:
    form = AnswerForm({"type": "object", "properties": {name: {"type": "string"}}}, {}, WORDS)
    assert [each.label for each in form.root.children] == [shown]
