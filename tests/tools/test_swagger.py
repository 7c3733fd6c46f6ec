"""Swagger 2.0 says the same as OpenAPI 3 in other places."""

from __future__ import annotations

from typing import Any

from instrc import import_tools

PET = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string", "x-nullable": True},
        "age": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
        "parent": {"$ref": "#/definitions/Pet"},
    },
}


def imported(operation: Any, **rest: Any) -> Any:
    in_path = [f"{{{each['name']}}}" for each in operation.get("parameters", ()) if each.get("in") == "path"]
    document = {
        "swagger": "2.0",
        "consumes": ["application/json"],
        "paths": {"/".join(["/pets", *in_path]): {"post": {"operationId": "savePet", **operation}}},
        "definitions": {"Pet": PET},
        "parameters": {"limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 9, "default": 3}},
        **rest,
    }
    return import_tools("openapi", document)


def tool(operation: Any, **rest: Any) -> Any:
    found = imported(operation, **rest)
    assert found.problems == ()
    return found.vibes[0].document


def test_parameters_are_schemas_themselves() -> None:
    made = tool(
        {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "type": "string", "format": "uuid", "description": "Which."},
                {"$ref": "#/parameters/limit"},
                {"name": "tags", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "csv"},
                {"name": "X-Trace", "in": "header", "type": "string", "enum": ["a", "b"]},
                {"name": "Accept", "in": "header", "type": "string"},
            ]
        }
    )
    assert made["properties"] == {
        "id": {"type": "string", "format": "uuid", "description": "Which.", "x-in": "path"},
        "limit": {"type": "integer", "maximum": 9, "default": 3, "x-in": "query"},
        "tags": {"type": "array", "items": {"type": "string"}, "x-collection-format": "csv", "x-in": "query"},
        "X-Trace": {"type": "string", "enum": ["a", "b"], "x-in": "header"},
    }
    assert made["required"] == ["id"]


def test_the_properties_of_a_body_stand_beside_the_parameters() -> None:
    body = {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}
    made = tool({"parameters": [body, {"name": "petId", "in": "path", "required": True, "type": "string"}]})
    assert list(made["properties"]) == ["petId", "name", "age", "parent"]
    assert made["properties"]["name"]["type"] == ["string", "null"]
    assert made["properties"]["age"]["exclusiveMinimum"] == 0
    assert made["required"] == ["petId", "name"]
    assert made["$defs"]["Pet"]["properties"]["parent"] == {"$ref": "#/$defs/Pet"}


def test_a_body_that_is_no_object_is_one_property() -> None:
    body = {"name": "ids", "in": "body", "description": "Whom.", "schema": {"type": "array", "items": {"type": "integer"}}}
    made = tool({"parameters": [body], "consumes": ["application/xml"]})
    assert made["properties"] == {
        "body": {
            "description": "Whom.",
            "type": "array",
            "items": {"type": "integer"},
            "x-content-type": "application/xml",
            "x-in": "body",
        }
    }
    assert "required" not in made


def test_fields_of_a_form_are_properties_and_the_form_is_named() -> None:
    fields = [{"name": "note", "in": "formData", "type": "string", "required": True}]
    assert tool({"parameters": fields})["x-content-type"] == "application/x-www-form-urlencoded"
    made = tool({"parameters": [*fields, {"name": "photo", "in": "formData", "type": "file"}]})
    assert made["x-content-type"] == "multipart/form-data"
    assert made["properties"]["photo"] == {"type": "string", "format": "binary", "x-in": "body"}
    assert made["required"] == ["note"]
    assert tool({"parameters": fields, "consumes": ["multipart/form-data"]})["x-content-type"] == "multipart/form-data"


def test_a_response_holds_its_schema() -> None:
    document = {"swagger": "2.0", "paths": {"/a": {"get": {"responses": {"200": {"schema": {"$ref": "#/definitions/Pet"}}}}}}}
    (vibe,) = import_tools("openapi", {**document, "definitions": {"Pet": PET}}, results="output").vibes
    assert vibe.document["properties"]["output"] == {"$ref": "#/$defs/Pet"}
    assert vibe.document["$defs"]["Pet"]["properties"]["id"] == {"type": "integer", "readOnly": True}


def test_what_cannot_be_said_is_told() -> None:
    twice = [{"name": name, "in": "body", "schema": {"type": "object"}} for name in ("a", "b")]
    found = imported({"parameters": [*twice, {"name": "c", "in": "elsewhere", "type": "string"}]})
    assert [problem.message for problem in found.problems] == [
        "`c` is left out: elsewhere is not a place for a parameter",
        "`b` is left out: an operation has one body",
    ]


def test_a_version_that_is_a_number_is_that_version() -> None:
    assert len(import_tools("openapi", {"swagger": 2.0, "paths": {"/a": {"get": {}}}}).vibes) == 1


def test_servers_are_the_parts_of_their_address() -> None:
    made = tool({"schemes": ["https", "http"]}, host="a.example", basePath="/v1", schemes=["ws"])
    assert made["x-servers"] == [{"url": "https://a.example/v1"}, {"url": "http://a.example/v1"}]
    assert tool({}, basePath="/v1")["x-servers"] == [{"url": "/v1"}]
    key = {"type": "apiKey", "in": "query", "name": "k"}
    made = tool({}, security=[{"key": []}], securityDefinitions={"key": key})
    assert (made["x-security"], made["x-security-schemes"]) == ([{"key": []}], {"key": key})
