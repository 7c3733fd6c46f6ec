"""OpenAPI operations become tools whose properties are their parameters and their body."""

from __future__ import annotations

import json
import sys
import time
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import yaml
from every_case import every_case
from jsonschema import Draft202012Validator

from instrc import Source, import_tools
from instrc.text.jsonvalue import Json
from instrc.tools.openapi_components import CHILDREN  # the limit that is tried here

PET = {
    "type": "object",
    "required": ["name", "id"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "parent": {"$ref": "#/components/schemas/Pet"},
    },
}


def document(operation: Json, *, version: str = "3.1.0", method: str = "post", **rest: Json) -> Json:
    route = "/pets/{petId}" if '"path"' in json.dumps([operation, rest]) else "/pets"
    return {
        "openapi": version,
        "paths": {route: {method: {"operationId": "savePet", **operation}, **rest}},
        "components": {"schemas": {"Pet": PET}},
    }


def tool(source: Json, **options: Any) -> Json:
    imported = import_tools("openapi", source, **options)
    assert imported.problems == ()
    return imported.vibes[0].document


def body(schema: Json, *, required: bool = True, kind: str = "application/json") -> Json:
    return {"requestBody": {"required": required, "content": {kind: {"schema": schema}}}}


PARAMETERS = [
    {"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}},
    {"name": "limit", "in": "query", "description": "At most.", "schema": {"type": "integer"}},
    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
    {"name": "session", "in": "cookie", "required": True, "schema": {"type": "string"}},
]


@every_case("source", [document({"parameters": {"name": "petId"}}), document({}, parameters="none")], ids=["operation", "path"])
def test_parameters_that_are_no_list_are_left_out_and_told(source: Json) -> None:
    imported = import_tools("openapi", source)
    assert [problem.message for problem in imported.problems] == ["`parameters` is left out: it is not a list"]
    assert imported.vibes[0].document["properties"] == {}


@every_case(
    ("said", "what"),
    [
        ({"in": "query", "schema": {"type": "string"}}, "parameter 1"),
        ({"$ref": "#/components/parameters/none"}, "#/components/parameters/none"),
        (3, "parameter 1"),
    ],
)
def test_a_parameter_without_a_name_is_left_out_and_told(said: Json, what: str) -> None:
    source = document({"parameters": [said]}) | {"components": {"parameters": {"none": {"in": "query", "schema": {}}}}}
    imported = import_tools("openapi", source)
    assert [problem.message for problem in imported.problems] == [f"`{what}` is left out: a parameter needs a `name`"]
    assert imported.vibes[0].document["properties"] == {}


def test_parameters_and_body_stand_side_by_side_and_say_where_they_go() -> None:
    made = tool(
        document(
            {
                "parameters": PARAMETERS,
                **body({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
            }
        )
    )
    assert made["x-operation"] == "POST /pets/{petId}"
    assert {name: schema["x-in"] for name, schema in made["properties"].items()} == {
        "petId": "path",
        "limit": "query",
        "X-Trace": "header",
        "session": "cookie",
        "name": "body",
    }
    assert list(made["properties"]) == ["petId", "limit", "X-Trace", "session", "name"]
    assert made["required"] == ["petId", "session", "name"]
    assert made["properties"]["limit"]["description"] == "At most."


def test_names_are_the_operations_or_the_route() -> None:
    (vibe,) = import_tools("openapi", document({})).vibes
    assert (vibe.name, vibe.document["title"]) == ("save-pet", "savePet")
    (vibe,) = import_tools("openapi", document({"operationId": None, "parameters": PARAMETERS[:1]})).vibes
    assert (vibe.name, vibe.document["title"]) == ("post-pets-pet-id", "POST /pets/{petId}")


def test_summary_and_description_are_both_said() -> None:
    assert tool(document({"summary": "Save it.", "description": "All of it."}))["description"] == "Save it.\nAll of it."


def test_parameters_of_the_path_hold_unless_the_operation_says_otherwise() -> None:
    source = document({"parameters": [{**PARAMETERS[0], "schema": {"type": "integer"}}]}, parameters=PARAMETERS[:2])
    made = tool(source)
    assert {name: schema["type"] for name, schema in made["properties"].items()} == {"petId": "integer", "limit": "integer"}


def test_names_of_headers_are_equal_in_any_case() -> None:
    named = [{"name": name, "in": where} for name in ("X-Trace", "x-trace") for where in ("header", "query")]
    made = tool(document({"parameters": named[2:]}, parameters=named[:2]))
    assert {name: item["x-in"] for name, item in made["properties"].items()} == {
        "x-trace": "header",
        "X-Trace": "query",
        "x-trace_query": "query",
    }


def test_one_name_in_two_places_is_two_properties() -> None:
    made = tool(document({"parameters": [PARAMETERS[0], {"name": "petId", "in": "query", "schema": {"type": "boolean"}}]}))
    assert made["properties"]["petId"] == {"type": "string", "x-in": "path"}
    assert made["properties"]["petId_query"] == {"type": "boolean", "x-in": "query", "x-name": "petId"}


@every_case(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"oneOf": [{"type": "object"}, {"type": "string"}]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"petId": {"type": "string"}}},
        {"type": "object", "properties": {}},
    ],
)
def test_a_body_that_cannot_be_spread_is_one_property(schema: Json) -> None:
    made = tool(document({"parameters": PARAMETERS[:1], **body(schema)}))
    assert made["properties"]["body"] == {**schema, "x-in": "body"}
    assert made["required"] == ["petId", "body"]


def test_a_body_that_may_be_missing_keeps_what_it_requires_to_itself() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    made = tool(document(body(schema, required=False)))
    assert made["properties"] == {"body": {**schema, "x-in": "body"}}
    assert "required" not in made


def test_components_become_definitions_and_answers_only_properties_go() -> None:
    made = tool(document(body({"$ref": "#/components/schemas/Pet"})))
    assert list(made["properties"]) == ["name", "parent"]
    assert made["properties"]["parent"] == {"$ref": "#/$defs/Pet", "x-in": "body"}
    assert made["$defs"]["Pet"]["properties"]["parent"] == {"$ref": "#/$defs/Pet"}
    assert made["required"] == ["name"]


def test_references_to_parameters_and_bodies_are_followed() -> None:
    source = document(
        {"parameters": [{"$ref": "#/components/parameters/Limit"}], "requestBody": {"$ref": "#/components/requestBodies/Pet"}}
    )
    source["components"] |= {
        "parameters": {"Limit": PARAMETERS[1]},
        "requestBodies": {
            "Pet": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}
        },
    }
    assert list(tool(source)["properties"]) == ["limit", "name", "parent"]


def test_a_form_is_told_by_its_media_type() -> None:
    made = tool(document(body({"type": "array", "items": {}}, kind="multipart/form-data")))
    assert made["properties"]["body"]["x-content-type"] == "multipart/form-data"


def test_a_member_of_a_body_is_not_taken_for_the_body() -> None:
    whole = tool(document(body({"type": "string"})))["properties"]["body"]
    assert whole == {"type": "string", "x-in": "body"}
    member = tool(document(body({"type": "object", "properties": {"body": {"type": "string"}}})))["properties"]["body"]
    assert member == {"type": "object", "properties": {"body": {"type": "string"}}, "x-in": "body"}


@every_case("others", [["application/json-patch+json"], ["application/json-seq", "application/jsonl"], ["*/*"], ["text/json"]])
@every_case("plain", ["application/json", "application/json; charset=utf-8"])
def test_plain_json_is_read_whatever_a_document_lists_before_it(others: list[str], plain: str) -> None:
    content = {**{kind: {"schema": {"type": "array"}} for kind in others}, plain: {"schema": {"type": "string"}}}
    imported = import_tools("openapi", document({"requestBody": {"content": content}}))
    assert imported.vibes[0].document["properties"] == {"body": {"type": "string", "x-in": "body"}}
    assert [problem.message for problem in imported.problems] == [
        f"`{other}` is left out: the body is read as `{plain}`" for other in others
    ]


def test_further_methods_are_called_as_they_are_written() -> None:
    operations: Json = {"COPY": {"operationId": "copyPet", "deprecated": True}, "Link": {}, "LOCK": 1}
    imported = import_tools("openapi", document({}, version="3.2.0", additionalOperations=operations))
    assert [vibe.document["x-operation"] for vibe in imported.vibes] == ["POST /pets", "COPY /pets", "Link /pets"]
    assert [problem.message for problem in imported.problems] == ["this is left out: it is not an operation"]


@every_case(("where", "left"), [("path", []), ("query", ["`petId` is left out: the path has it, but no parameter describes it"])])
def test_a_part_of_a_path_that_no_parameter_describes_is_told(where: str, left: list[str]) -> None:
    in_query = {"name": "petId", "in": "query", "schema": {"type": "string"}}
    parameters = [in_query, {**in_query, "in": where}]
    given = {"openapi": "3.1.0", "paths": {"/pets/{petId}": {"post": {"parameters": parameters}}}}
    assert [problem.message for problem in import_tools("openapi", given).problems] == left


def test_version_3_0_is_read_by_its_own_words() -> None:
    schema = {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "nullable": True, "example": 5}
    made = tool(document({"parameters": [{"name": "n", "in": "query", "schema": schema}]}, version="3.0.3"))
    assert made["properties"]["n"] == {"type": ["integer", "null"], "exclusiveMinimum": 0, "examples": [5], "x-in": "query"}


ANSWER: Json = {
    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
    "404": {"description": "none"},
}


class TestResults:
    def test_are_told_when_left_out(self) -> None:
        (problem,) = import_tools("openapi", document({"responses": ANSWER})).problems
        assert problem.name == "results-left-out"

    def test_become_an_activity(self) -> None:
        imported = import_tools("openapi", document({"responses": ANSWER}), results="activity")
        activity = imported.vibes[1].document
        assert imported.vibes[1].name == "save-pet_Activity"
        assert activity["properties"] == {"output": {"$ref": "#/$defs/Pet"}}
        assert activity["$defs"]["Pet"]["properties"]["id"] == {"type": "integer", "readOnly": True}

    def test_become_the_output(self) -> None:
        made = tool(document({"responses": ANSWER, **body({"$ref": "#/components/schemas/Pet"})}), results="output")
        assert list(made["properties"]) == ["name", "parent", "output"]
        assert set(made["$defs"]) == {"Pet", "Pet_2"}


class TestProblems:
    def found(self, source: Json) -> list[tuple[str, str | None]]:
        text = Source("api.json", json.dumps(source))
        return [(problem.name, problem.at and problem.at.text[:30]) for problem in import_tools("openapi", text).problems]

    def test_what_cannot_be_said_has_its_place(self) -> None:
        content = {
            "application/json": {"schema": {"type": "object", "properties": {"a": {"$ref": "other.json#/a"}}}},
            "text/plain": 1,
        }
        source = document({"requestBody": {"required": True, "content": content}, "callbacks": {"x": 1}, "parameters": [3]})
        assert sorted(self.found(source)) == [
            ("left-out", '"other.json#/a"'),
            ("left-out", "1"),
            ("left-out", "3"),
            ("left-out", '{"x": 1}'),
        ]

    @pytest.mark.parametrize(
        "source", [{"swagger": "1.2", "paths": {}}, {"openapi": "4.0.0", "paths": {"/a": {}}}, [1], {"openapi": 3, "paths": {}}]
    )
    def test_other_documents_are_told(self, source: Json) -> None:
        names = [name for name, _ in self.found(source)]
        assert sorted(names) == ["no-tools", "not-a-tool"]

    def test_circles_of_references_end(self) -> None:
        source = document({"requestBody": {"$ref": "#/components/requestBodies/a"}})
        source["components"]["requestBodies"] = {"a": {"$ref": "#/components/requestBodies/a"}}
        assert [name for name, _ in self.found(source)] == ["left-out"]


def test_yaml_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    (problem,) = import_tools("openapi", Source("api.yaml", "openapi: 3.1.0")).problems
    assert problem.hint == 'install it: `pip install "instrc[import]"`'


def test_yaml_is_read_with_places() -> None:
    pytest.importorskip("yaml")
    text = """\
openapi: 3.0.0
paths:
  /slots:
    get:
      operationId: listSlots
      parameters:
        - { name: day, in: query, schema: { type: string, pattern: "((" , example: 2026-01-02 } }
      responses:
        200: { description: ok }
"""
    imported = import_tools("openapi", Source("api.yaml", text))
    assert imported.vibes[0].document["properties"] == {"day": {"type": "string", "examples": ["2026-01-02"], "x-in": "query"}}
    (problem,) = imported.problems
    assert problem.at is not None
    assert (problem.name, problem.at.line, problem.at.text) == ("left-out", 7, '"(("')


@every_case("text", ["a: [", "a: &x [*x]\n", "\t", "a: !!python/object:os.system {}", "- &a [x,x]\n- &b [*a,*a]\n- [*b,*b]"])
def test_yaml_that_is_none_of_ours_is_told(text: str) -> None:
    pytest.importorskip("yaml")
    imported = import_tools("openapi", Source("api.yaml", text))
    assert imported.vibes == ()
    assert imported.problems


BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))


@every_case(
    ("text", "reason"),
    [
        ("", "it holds nothing"),
        ("# a comment\n", "it holds nothing"),
        ("a: !!int abc", '"abc" cannot be read as a whole number'),
        ("a: !!float x", '"x" cannot be read as a number'),
        ("a: !!int true", '"true" cannot be read as a whole number'),
        ("a: !!bool 1", '"1" cannot be read as true or false'),
        ("a: !!null x", '"x" cannot be read as null'),
        ("a: !!float " + "1" * 400, "too large"),
        ("a: !!bool x", '"x" cannot be read as true or false'),
        ("a: " + "1" * 5000, "1… cannot be read as a whole number"),
        ("a: !!binary é", "JSON has no value for the tag `!!binary`"),
        *(
            (f"a: {tag} {value}", f"JSON has no value for the tag `{tag}`")
            for tag, value in (
                ("!!timestamp", "abc"),
                ("!!timestamp", "2026-01-02"),
                ("!!set", "{a, b}"),
                ("!!omap", "[1]"),
                ("!!pairs", "5"),
                ("!!python/name:os.system", "''"),
                ("!own", "1"),
            )
        ),
        ("a: 1\n---\nb: 2", "it holds several documents"),
        ("paths:\n  /a: {get: {}}\n  /a: {post: {}}\n", "the key `/a` is written twice in one mapping"),
        ("? [a]: b", "a key of JSON is a text"),
        ("a: &a [*a]", "it would contain itself"),
        (BOMB, "its aliases stand for"),
        (f"a: &a {{{', '.join(f'k{key}: 1' for key in range(1000))}}}\nb:\n" + "- {<<: *a}\n" * 50_000, "its aliases stand for"),
        ("- " * 5000, "it nests too deeply"),
        ("a: \x01", "characters are not allowed"),
        ('a: "\\ud83d"', "surrogate" if not yaml.__with_libyaml__ else "invalid Unicode character escape code"),
        ("a: *b", 'no anchor `"b"` precedes it'),
        ("200: a\n'200': b", "the key `200` is written twice in one mapping"),
        ("<<: 5", "`<<` takes a mapping, or a list of mappings"),
        ("a: {<<: [{b: 1}, 2]}", "`<<` takes a mapping, or a list of mappings"),
        ("a: !!merge x", "JSON has no value for the tag `!!merge`"),
        ("!!merge x: 1", "JSON has no value for the tag `!!merge`"),
    ],
    ids=lambda text: text[:20],
)
def test_hostile_yaml_is_one_problem(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text(text, encoding="utf-8")
    start = time.process_time()
    imported = import_tools("openapi", tmp_path / "api.yaml")
    assert time.process_time() - start < 2
    assert [problem.name for problem in imported.problems] == ["invalid-json"]
    assert reason in imported.problems[0].message
    assert imported.problems[0].at is not None


@every_case("number", [".nan", "-.INF", "+.inf", "1.0e+999"])
def test_the_place_of_a_number_that_json_lacks_is_shown(number: str) -> None:
    (problem,) = import_tools("openapi", Source("api.yaml", f"a: 1\nb: [2, {number}]\n")).problems
    assert problem.at is not None
    assert (problem.message, problem.at.line, problem.at.text) == (
        f"this YAML cannot be read: JSON has no number `{number}`",
        2,
        number,
    )


def test_an_equals_sign_and_a_date_are_texts_and_keys_are_merged() -> None:
    text = """\
openapi: 3.1.0
x: &shared { type: string, enum: [=, <, 2026-01-02] }
paths: { /a: { post: { operationId: f, parameters: [{ name: q, in: query, schema: { <<: *shared, description: d } }] } } }
"""
    imported = import_tools("openapi", Source("api.yaml", text))
    assert imported.problems == ()
    assert imported.vibes[0].document["properties"]["q"] == {
        "description": "d",
        "type": "string",
        "enum": ["=", "<", "2026-01-02"],
        "x-in": "query",
    }


def test_the_place_of_a_wrong_scalar_is_shown(tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text("a: 1\nb: [2, !!int x]\n")
    (problem,) = import_tools("openapi", tmp_path / "api.yaml").problems
    assert problem.at is not None
    assert problem.at.source.locate(problem.at.start) == (2, 8)


def test_aliases_that_share_a_little_are_read(tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.1.0\nx: &text {type: string}\npaths: {/a: {post: {operationId: f, requestBody: {content: {application/json: "
        "{schema: {type: object, properties: {a: *text, b: *text}}}}}}}}\n"
    )
    (vibe,) = import_tools("openapi", tmp_path / "api.yaml").vibes
    assert [schema["type"] for schema in vibe.document["properties"].values()] == ["string", "string"]


CAT = {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}}
DOG = {"allOf": [{"type": "object", "properties": {"kind": {"enum": ["dog"]}}}]}


def told_apart(discriminator: Json, *, version: str = "3.0.3", dog: Json = DOG) -> tuple[Json, list[str]]:
    branches = [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]
    given = document(body({"oneOf": branches, "discriminator": discriminator}), version=version)
    given["components"]["schemas"] |= {"Cat": CAT, "Dog": dog}
    imported = import_tools("openapi", given)
    return imported.vibes[0].document["properties"]["body"]["oneOf"], [problem.message for problem in imported.problems]


def test_a_discriminator_becomes_a_const_of_each_alternative_that_has_none() -> None:
    branches, problems = told_apart({"propertyName": "kind"})
    is_cat = {"type": "object", "properties": {"kind": {"const": "Cat"}}, "required": ["kind"]}
    assert branches[0] == {"allOf": [{"$ref": "#/$defs/Cat"}, is_cat]}
    assert branches[1] == {"allOf": [{"$ref": "#/$defs/Dog"}, {"type": "object", "required": ["kind"]}]}
    assert problems == []


def test_an_alternative_whose_const_says_what_it_is_keeps_its_value() -> None:
    dog: Json = {"type": "object", "properties": {"kind": {"const": "dog"}}}
    branches, _ = told_apart({"propertyName": "kind"}, version="3.1.0", dog=dog)
    assert branches[1] == {"allOf": [{"$ref": "#/$defs/Dog"}, {"type": "object", "required": ["kind"]}]}


def test_the_mapping_of_a_discriminator_says_the_values() -> None:
    mapping = {"cat": "Cat", "kitten": "#/components/schemas/Cat", "dog": "Dog"}
    branches, problems = told_apart({"propertyName": "kind", "mapping": mapping}, version="3.1.0")
    assert branches[0]["allOf"][1]["properties"] == {"kind": {"enum": ["cat", "kitten"]}}
    assert problems == []


@every_case("discriminator", [{"propertyName": "kind", "mapping": {"hound": "Dog"}}, {}, "kind", {"propertyName": 1}])
def test_a_discriminator_that_no_keyword_can_say_is_told(discriminator: Json) -> None:
    branches, problems = told_apart(discriminator)
    assert branches == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]
    assert problems == ["`discriminator` is left out: JSON Schema tells alternatives apart by their properties"]


PARENT: Json = {"type": "object", "properties": {"kind": {"type": "string"}}}


def of_parents(*discriminators: Json, mapped: str = "Cat") -> tuple[dict[str, Json], list[str]]:
    """Return the definitions and problems where `Pet` has the children `Cat` and `Dog`, and `Cat` perhaps one of its own."""
    given = document(body({"$ref": "#/components/schemas/Pet"}))
    schemas = {
        "Pet": PARENT,
        mapped: extending("Pet", lives={"$ref": "#/components/schemas/Pet"}),
        "Dog": extending("Pet"),
        "Lion": extending(mapped),
    }
    for name, said in zip(schemas, discriminators, strict=False):
        schemas[name] = {**schemas[name], "discriminator": said}
    given["components"]["schemas"] |= schemas
    imported = import_tools("openapi", given)
    return imported.vibes[0].document["$defs"], [problem.message for problem in imported.problems]


def extending(parent: str, **properties: Json) -> Json:
    return {"allOf": [{"$ref": f"#/components/schemas/{parent}"}, {"type": "object", "properties": properties}]}


def alternatives(schema: Json) -> dict[str, Json]:
    """Return the values of the property that tells alternatives apart, by the definitions that they refer to."""
    return {
        one["$ref"].rpartition("/")[2]: other["properties"]["kind"]["const"]
        for one, other in map(itemgetter("allOf"), schema["anyOf"])
    }


@every_case(
    ("said", "wanted"),
    [
        ({"cat": "#/components/schemas/Cat", "dog": "Dog"}, {"Cat": "cat", "Dog": "dog", "Lion": "Lion"}),
        ({}, {"Cat": "Cat", "Dog": "Dog", "Lion": "Lion"}),
        ({"pet": "Pet", "cat": "Cat"}, {"Pet_base": "pet", "Cat": "cat", "Dog": "Dog", "Lion": "Lion"}),
    ],
)
def test_a_parent_is_any_schema_that_extends_it_under_its_own_name_or_that_of_the_mapping(
    said: Json, wanted: dict[str, str]
) -> None:
    definitions, problems = of_parents({"propertyName": "kind", "mapping": said})
    assert alternatives(definitions["Pet"]) == wanted
    assert definitions["Pet_base"] == PARENT
    branches = definitions["Cat"]["allOf"]
    assert branches[0] == {"$ref": "#/$defs/Pet_base"}
    assert branches[1]["properties"]["lives"] == {"$ref": "#/$defs/Pet"}, "not what it extends, but any pet"
    assert problems == []


def test_a_child_that_is_a_parent_itself_is_told_apart_by_both() -> None:
    whole: Json = {"propertyName": "kind", "mapping": {"cat": "Cat", "lion": "Lion"}}
    definitions, _ = of_parents(whole, {"propertyName": "kind", "mapping": {"lion": "Lion"}})
    assert alternatives(definitions["Pet"]) == {"Cat_base": "cat", "Lion": "lion", "Dog": "Dog"}
    assert alternatives(definitions["Cat"]) == {"Cat_base": "cat", "Lion": "lion"}
    assert definitions["Lion"]["allOf"][0] == {"$ref": "#/$defs/Cat_base"}


@every_case("dots", ["", "Zoo.", "Zoo.v1."])
@every_case(
    ("said", "values"),
    [({}, ["@Cat", "@Dog"]), ({"d": "#/components/schemas/@Dog", "c": "@Cat"}, ["c", "d"])],
    ids=["own", "mapped"],
)
@every_case("keyword", ["oneOf", "anyOf"])
def test_a_dot_does_not_end_the_name_of_a_schema(keyword: str, said: Json, values: list[str], dots: str) -> None:
    pet: Json = {"discriminator": {"propertyName": "kind", "mapping": said}}
    pet |= {keyword: [{"$ref": f"#/components/schemas/@{name}"} for name in ("Cat", "Dog")]} if keyword == "oneOf" else PARENT
    child = PARENT if keyword == "oneOf" else extending("@Pet")
    given = document(body({"$ref": "#/components/schemas/@Pet"}))
    given["components"]["schemas"] |= {"@Pet": pet, "@Cat": child, "@Dog": child}
    made = tool(json.loads(json.dumps(given).replace("@", dots)))["$defs"]
    told = alternatives({"anyOf": made[f"{dots}Pet"][keyword]})
    assert told == dict(zip([f"{dots}Cat", f"{dots}Dog"], (value.replace("@", dots) for value in values), strict=True))


def test_children_that_are_not_there_or_too_many_are_told() -> None:
    definitions, problems = of_parents({"propertyName": "kind", "mapping": {"cat": "Cat", "cow": "Cow"}})
    assert alternatives(definitions["Pet"]) == {"Cat": "cat", "Dog": "Dog", "Lion": "Lion"}
    assert problems == ["`#/components/schemas/Cow` is left out: it leads nowhere"]
    definitions, problems = of_parents({"propertyName": "kind", "mapping": {str(n): f"K{n}" for n in range(CHILDREN + 1)}})
    assert definitions == {"Pet": PARENT}
    assert problems == ["`discriminator` is left out: it tells 44 schemas apart, which are too many for one tool"]


def test_how_a_parameter_and_a_body_are_written_is_kept() -> None:
    parameters: list[Json] = [
        {
            "name": "ids",
            "in": "query",
            "style": "form",
            "explode": False,
            "schema": {"type": "array", "items": {"type": "string"}},
        },
        {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
    ]
    made = tool(document({"parameters": parameters, **body({}, kind="application/merge-patch+json")}))
    assert made["properties"] == {
        "ids": {"type": "array", "items": {"type": "string"}, "x-style": "form", "x-explode": False, "x-in": "query"},
        "filter": {"type": "object", "x-content-type": "application/json", "x-in": "query"},
        "body": {"x-content-type": "application/merge-patch+json", "x-in": "body"},
    }


def test_an_operation_says_where_it_is_called_and_with_what_right() -> None:
    given = document({"tags": ["pets"], "externalDocs": {"url": "https://x.example"}})
    given |= {"servers": [{"url": "https://a.example/v1"}], "security": [{"key": []}]}
    given["components"]["securitySchemes"] = {
        "key": {"$ref": "#/components/securitySchemes/header"},
        "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    }
    made = tool(given)
    assert made["x-servers"] == [{"url": "https://a.example/v1"}]
    assert made["x-security"] == [{"key": []}]
    assert made["x-security-schemes"] == {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    assert (made["x-tags"], made["x-external-docs"]) == (["pets"], {"url": "https://x.example"})


def test_the_innermost_servers_and_security_hold() -> None:
    given = document({"security": []}, servers=[{"url": "/path"}])
    made = tool({**given, "servers": [{"url": "/document"}], "security": [{"key": []}]})
    assert made["x-servers"] == [{"url": "/path"}]
    assert "x-security" not in made


def test_a_security_scheme_that_is_not_described_is_told() -> None:
    (problem,) = import_tools("openapi", document({"security": [{"key": []}]})).problems
    assert problem.message == "`key` is left out: the document does not describe this security scheme"


def test_examples_of_parameters_and_bodies_are_kept() -> None:
    query = {**PARAMETERS[1], "examples": {"few": {"value": 3}, "many": {"value": 99}}}
    asked = body({"type": "object", "properties": {"name": {"type": "string"}}, "example": {"name": "Tom"}})
    asked["requestBody"]["content"]["application/json"]["example"] = {"name": "Rex"}
    asked["requestBody"]["description"] = "The pet."
    made = tool(document({"parameters": [query], **asked}))
    assert made["properties"]["limit"]["examples"] == [3, 99]
    assert made["properties"]["name"]["examples"] == ["Rex", "Tom"]
    assert made["description"] == "The pet."


MARKED = {
    "type": "object",
    "properties": {"id": {"$ref": "#/components/schemas/Id"}, "name": {}, "password": {"writeOnly": True}},
    "required": ["id", "name", "password"],
}


class TestDirections:
    def made(self, schema: Json, **options: Any) -> Json:
        responses = {"200": {"description": "", "content": {"application/json": {"schema": schema}}}}
        given = document({**body(schema, required=False), "responses": responses})
        given["components"]["schemas"] |= {"Id": {"type": "integer", "readOnly": True}, "Marked": MARKED}
        return tool(given, results="output", **options)

    def test_a_request_has_no_properties_that_only_answers_have(self) -> None:
        made = self.made({"type": "array", "items": {"$ref": "#/components/schemas/Marked"}})
        assert list(made["$defs"]["Marked"]["properties"]) == ["name", "password"]
        assert made["$defs"]["Marked"]["required"] == ["name", "password"]

    def test_an_answer_has_no_properties_that_only_requests_have(self) -> None:
        made = self.made(MARKED)
        assert list(made["properties"]["output"]["properties"]) == ["id", "name"]
        assert made["properties"]["output"]["required"] == ["id", "name"]

    def test_nothing_else_requires_them(self) -> None:
        made = self.made({"allOf": [{"$ref": "#/components/schemas/Marked"}, {"required": ["id"]}]})
        assert made["properties"]["body"]["allOf"] == [{"$ref": "#/$defs/Marked"}, {}]

    @pytest.mark.parametrize(
        ("said", "kept"),
        [
            ({"anyOf": [{"required": ["id"]}, {"required": ["id", "name"]}]}, {"anyOf": [{}, {"required": ["name"]}]}),
            ({"if": {"required": ["name"]}, "then": {"required": ["id"]}}, {"if": {"required": ["name"]}, "then": {}}),
            ({"dependentRequired": {"name": ["id", "password"]}}, {"dependentRequired": {"name": ["password"]}}),
        ],
    )
    def test_no_part_of_a_schema_requires_them(self, said: dict[str, Json], kept: dict[str, Json]) -> None:
        sent = self.made({**MARKED, **said})["properties"]["body"]
        assert {word: sent[word] for word in kept} == kept

    def test_a_parameter_is_sent_whatever_its_schema_says(self) -> None:
        made = tool(document({"parameters": [{**PARAMETERS[0], "schema": {"type": "string", "readOnly": True}}]}))
        assert made["required"] == ["petId"]

    def test_a_body_that_is_only_read_is_told(self) -> None:
        schema = {"type": "object", "readOnly": True, "properties": {"name": {}}}
        imported = import_tools("openapi", document(body(schema)))
        assert imported.vibes[0].document["properties"] == {"name": {"x-in": "body"}}
        assert [problem.message for problem in imported.problems] == ["`readOnly` is left out: what is sent is not only read"]

    def test_a_body_that_is_only_written_is_as_any_other(self) -> None:
        made = tool(document(body({"type": "object", "writeOnly": True, "properties": {"name": {}}})))
        assert made["properties"] == {"name": {"x-in": "body"}}


BODY = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
BESIDE: list[dict[str, Json]] = [
    {},
    {"required": ["a"]},
    {"description": "outer", "required": ["b"]},
    {"properties": {"c": {"type": "boolean"}}, "required": ["c"]},
    {"properties": {"a": {"minLength": 2}}},
    {"allOf": [{"required": ["a"]}]},
    {"additionalProperties": False},
    {"minProperties": 1},
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
]
SENT: list[Json] = [
    {},
    {"a": "x"},
    {"b": 1},
    {"a": "xy", "b": 1},
    {"a": "x", "c": True},
    {"c": True},
    {"a": "xy", "d": 0},
    {"a": 1},
    [],
]


def bodies_taken(schema: Json, schemas: Json) -> list[bool]:
    """Return which of `SENT` the tool of a body takes."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    paths: Json = {"/a": {"post": {"operationId": "f", "requestBody": body}}}
    (vibe,) = import_tools("openapi", {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}).vibes
    validator = Draft202012Validator(vibe.document)
    is_spread = "body" not in vibe.document["properties"]
    return [validator.is_valid(value if is_spread else {"body": value}) for value in SENT]


@every_case("outer", BESIDE, ids=json.dumps)
def test_a_body_behind_references_takes_what_it_takes_written_out(outer: dict[str, Json]) -> None:
    for inner in BESIDE:
        for closed in ({}, {"additionalProperties": False}):
            base = {**BODY, **closed}
            written_out: Json = {"allOf": [base, inner, outer]}
            schemas: Json = {"Base": base, "Middle": {"$ref": "#/components/schemas/Base", **inner}}
            expected = [Draft202012Validator(written_out).is_valid(value) for value in SENT]
            if not any(expected):
                continue  # a tool that nobody could call is left out
            assert bodies_taken({"$ref": "#/components/schemas/Middle", **outer}, schemas) == expected, (inner, closed)
            assert bodies_taken(written_out, schemas) == expected, (inner, closed)


def through_doors(schema: Json, schemas: Json) -> dict[str, list[bool]]:
    """Return which of `SENT` a tool takes where a schema stands, by the place; what is sent back is in `output`."""
    content: Json = {"application/json": {"schema": {"type": "object", "required": ["inner"], "properties": {"inner": schema}}}}
    shared: Json = {
        "parameters": {"p": {"name": "named", "in": "query", "schema": schema}},
        "requestBodies": {"b": {"required": True, "content": content}},
        "responses": {"r": {"description": "", "content": {"application/json": {"schema": schema}}}},
        "pathItems": {
            "i": {"parameters": [{"name": "shared", "in": "query", "content": {"application/json": {"schema": schema}}}]}
        },
        "schemas": schemas,
    }
    parameters: Json = [{"name": "direct", "in": "query", "schema": schema}, {"$ref": "#/components/parameters/p"}]
    operation: Json = {
        "operationId": "f",
        "parameters": parameters,
        "requestBody": {"$ref": "#/components/requestBodies/b"},
        "responses": {"200": {"$ref": "#/components/responses/r"}},
    }
    paths: Json = {"/a": {"$ref": "#/components/pathItems/i", "post": operation}}
    (vibe,) = import_tools("openapi", {"openapi": "3.1.0", "paths": paths, "components": shared}, results="output").vibes
    doors = ("direct", "named", "shared", "inner", "output")
    found = {}
    for door in doors:
        validator = Draft202012Validator(
            {"$ref": f"#/properties/{door}", **{key: vibe.document[key] for key in ("properties", "$defs")}}
        )
        found[door] = [validator.is_valid(value) for value in SENT]
    return found


@every_case("outer", BESIDE, ids=json.dumps)
def test_a_reference_says_at_every_door_what_it_says_written_out(outer: dict[str, Json]) -> None:
    for inner in BESIDE[::2]:
        schemas: Json = {"Base": BODY, "Middle": {"$ref": "#/components/schemas/Base", **inner}}
        expected = [Draft202012Validator({"allOf": [BODY, inner, outer]}).is_valid(value) for value in SENT]
        if any(expected):
            taken = through_doors({"$ref": "#/components/schemas/Middle", **outer}, schemas)
            assert taken == dict.fromkeys(taken, expected), inner


def test_beside_a_reference_words_count_and_the_rest_is_told() -> None:
    item = {"get": {"operationId": "g"}, "summary": "inner"}
    operation = {
        "operationId": "f",
        "parameters": [{"$ref": "#/components/parameters/q", "description": "outer", "required": True}],
    }
    shared = {"parameters": {"q": {"name": "q", "in": "query", "schema": {}, "description": "inner"}}, "pathItems": {"p": item}}
    paths = {"/a": {"$ref": "#/components/pathItems/p", "post": operation}}
    imported = import_tools("openapi", {"openapi": "3.1.0", "paths": paths, "components": shared})
    tools = {vibe.name: vibe.document for vibe in imported.vibes}
    assert tools["g"]["description"] == "inner"
    assert tools["f"]["properties"] == {"q": {"description": "outer", "x-in": "query"}}
    assert ["required" in problem.message for problem in imported.problems] == [True]


@every_case("version", ["3.0", "3.1"])
def test_a_version_without_quotes_is_read(version: str) -> None:
    query = "parameters: [{name: q, in: query, schema: {$ref: '#/x', minLength: 2}}]"
    rest = f"x: {{type: string}}\npaths: {{/a: {{get: {{operationId: f, {query}}}}}}}\n"
    (one,) = import_tools("openapi", Source("api.yaml", f"openapi: {version}\n{rest}")).vibes
    (other,) = import_tools("openapi", Source("api.yaml", f"openapi: '{version}'\n{rest}")).vibes
    assert one.document == other.document
    assert ("minLength" in json.dumps(one.document)) == (version == "3.1")


NEVER: dict[str, Json] = {"allOf": [{"type": "string"}, {"type": "integer"}]}


@every_case(
    "wrong", [NEVER, {"$ref": "#/components/schemas/X"}, {"$ref": "#/components/schemas/Y", "minLength": 7}], ids=json.dumps
)
def test_a_contradictory_optional_property_is_left_out(wrong: Json) -> None:
    schemas: Json = {"X": NEVER, "Y": {"type": "string", "maxLength": 2}}

    def imported(**required: Json) -> Any:
        inner: Json = {"type": "object", "properties": {"deep": wrong, "y": {"$ref": "#/components/schemas/Y"}}}
        schema: Json = {"type": "object", "properties": {"bad": wrong, "good": inner}, **required}
        body: Json = {"required": True, "content": {"application/json": {"schema": schema}}}
        paths: Json = {"/a": {"post": {"operationId": "f", "requestBody": body}}}
        return import_tools("openapi", {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}})

    document = imported().vibes[0].document
    assert [*document["properties"]] == ["good"]
    assert [*document["properties"]["good"]["properties"]] == ["y"]
    assert [(problem.name, problem.what) for problem in imported().problems] == [("left-out", "deep"), ("left-out", "bad")]
    assert imported(required=["bad"]).vibes == ()
