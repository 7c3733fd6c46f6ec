"""An OpenAPI document may be spread over files of its folder, and over no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from instrc import Source, import_tools

FILES: dict[str, Any] = {
    "api.json": {
        "openapi": "3.0.3",
        "paths": {
            "/pets/{id}": {"$ref": "paths/pet.json"},
            "/owners": {"post": {"operationId": "addOwner", "requestBody": {"$ref": "./bodies.json#/owner"}}},
        },
    },
    "paths/pet.json": {
        "put": {
            "operationId": "savePet",
            "parameters": [{"name": "id", "in": "path", "schema": {"$ref": "../schemas/owner.json#/Id"}}],
            "requestBody": {"content": {"application/json": {"schema": {"$ref": "../schemas/pet.json"}}}},
        }
    },
    "bodies.json": {
        "owner": {"required": True, "content": {"application/json": {"schema": {"$ref": "schemas/owner.json#/Owner"}}}}
    },
    "schemas/pet.json": {
        "type": "object",
        "properties": {
            "owner": {"$ref": "owner.json#/Owner"},
            "parent": {"$ref": "#"},
            "odd": {"type": "string", "minLength": "x"},
        },
    },
    "schemas/owner.json": {
        "Id": {"type": "integer"},
        "Owner": {
            "type": "object",
            "properties": {"id": {"$ref": "#/Id"}, "pets": {"type": "array", "items": {"$ref": "pet.json"}}},
        },
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "api"
    for name, value in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return root


def rewrite(folder: Path, reference: str) -> Path:
    """Return a document with one parameter that refers to something."""
    path = folder / "other.json"
    path.write_text(
        json.dumps({"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"$ref": reference}]}}}}), encoding="utf-8"
    )
    return path


def test_references_lead_into_other_files_and_on_from_there(folder: Path) -> None:
    found = import_tools("openapi", str(folder / "api.json"))
    pet, owner = (vibe.document for vibe in found.vibes)
    assert pet["properties"]["id"] == {"$ref": "#/$defs/Id", "x-in": "path"}
    assert pet["$defs"]["pet"]["properties"]["parent"] == {"$ref": "#/$defs/pet"}
    assert pet["$defs"]["Owner"]["properties"]["pets"]["items"] == {"$ref": "#/$defs/pet"}
    assert list(owner["properties"]) == ["id", "pets"]


def test_a_note_about_another_file_shows_its_place_there(folder: Path) -> None:
    noted = {str(problem.at) for problem in import_tools("openapi", str(folder / "api.json")).problems if problem.at}
    assert len(noted) == 1
    (problem,) = {problem.message: problem for problem in import_tools("openapi", str(folder / "api.json")).problems}.values()
    assert problem.message == "`minLength` is left out: it is not a count"
    assert problem.at is not None
    assert problem.at.source.name.endswith("pet.json")
    assert problem.at.source.text[problem.at.start : problem.at.end] == '"x"'


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("../secret.json#/p", "it lies outside of the folder of the source"),
        ("schemas/../../secret.json#/p", "it lies outside of the folder of the source"),
        ("link.json#/p", "it lies outside of the source's folder"),
        ("missing.json#/p", "there is no such file"),
        ("broken.json#/p", "this is not JSON"),
        ("schemas/owner.json#/Nobody", "it leads nowhere"),
        ("https://example.org/p.json#/p", "nothing is fetched from elsewhere"),
        ("file:///etc/hostname", "nothing is fetched from elsewhere"),
        ("/etc/hostname", "nothing is fetched from elsewhere"),
        ("%2e%2e/secret.json#/p", "it lies outside of the folder of the source"),
        ("a\0b.json", "nothing is fetched from elsewhere"),
    ],
)
def test_what_is_not_in_the_folder_is_not_read(folder: Path, reference: str, reason: str) -> None:
    secret = folder.parent / "secret.json"
    secret.write_text('{"p": {"name": "q", "in": "query"}}', encoding="utf-8")
    (folder / "link.json").symlink_to(secret)
    (folder / "broken.json").write_text("{", encoding="utf-8")
    found = import_tools("openapi", str(rewrite(folder, reference)))
    assert [vibe.document["properties"] for vibe in found.vibes] == [{}]
    (problem,) = found.problems
    assert reason in problem.message


def test_a_text_without_a_folder_has_no_neighbours(folder: Path) -> None:
    text = (folder / "api.json").read_text(encoding="utf-8")
    found = import_tools("openapi", Source("api.json", text))
    assert {problem.name for problem in found.problems} >= {"left-out"}
    assert all("fetched from elsewhere" in problem.message for problem in found.problems if problem.name == "left-out")


def test_a_discriminator_tells_the_schemas_of_another_file_apart(folder: Path) -> None:
    kind = {"type": "object", "properties": {"kind": {"type": "string"}}}
    pets = {"Pet": {**kind, "discriminator": {"propertyName": "kind"}}, "Cat": {"allOf": [{"$ref": "#/Pet"}]}}
    (folder / "pets.json").write_text(json.dumps(pets), encoding="utf-8")
    (folder / "cow.v1.yaml").write_text(json.dumps(kind), encoding="utf-8")
    either = {
        "oneOf": [{"$ref": "../pets.json#/Pet"}, {"$ref": "../cow.v1.yaml"}, {"$ref": "owner.json#/Owner"}],
        "discriminator": {"propertyName": "kind", "mapping": {"owner": "owner.json#/Owner"}},
    }
    (folder / "schemas/pet.json").write_text(json.dumps(either), encoding="utf-8")
    found = import_tools("openapi", str(folder / "api.json"))
    assert found.problems == ()
    definitions = found.vibes[0].document["$defs"]
    kinds = [branch["allOf"][1]["properties"]["kind"]["const"] for branch in definitions["pet"]["oneOf"]]
    assert kinds == ["Pet", "cow.v1", "owner"]
    assert [branch["allOf"][0]["$ref"] for branch in definitions["Pet"]["anyOf"]] == ["#/$defs/Cat"]
