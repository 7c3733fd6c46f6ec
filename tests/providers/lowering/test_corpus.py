"""Tools as others write them go to every target and come back, with nothing lost that is not told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from journeys import ENDINGS, tools, tried

from instrc import encode, import_tools, lift, lower, targets

FOLDER = Path(__file__).parents[2] / "data" / "functions"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in ENDINGS)
pytestmark = pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
"""Tools have patterns with `[[`, of which Python's `re` warns; here it only judges the values that come back."""

TOOLS: dict[str, Any] = dict(tool for path in FILES for tool in tools(path))


def test_each_file_is_read_by_its_own_importer() -> None:
    counts = {path.name: sum(name.startswith(f"{path.name}:") for name in TOOLS) for path in FILES}
    assert counts == {
        "bfcl.jsonl": 6,
        "mcp.json": 3,
        "openai.json": 3,
        "openapi.yaml": 4,
        "smolagents.json": 2,
        "swagger.json": 3,
    }


@pytest.mark.long
@every_case("name", TOOLS)
def test_a_tool_goes_to_every_target_and_back(name: str) -> None:
    finds = [find for target in targets() for find in tried(name, TOOLS[name], target)]
    assert not finds


@every_case("target", ["mistral", "vllm"])
def test_the_engines_of_a_target_take_all_of_them(target: str) -> None:
    finds = [find for name, schema in TOOLS.items() for find in tried(name, schema, target, engines=True)]
    assert [find for find in finds if "keeps no order" not in find.kind] == []


FILLED: dict[str, Any] = {
    "bfcl.jsonl:cache-store.put/all": {"entries": {"a.b": [1]}, "keys": ["a.b"], "monitor": None, "ttl": 10**12, "force": True},
    "bfcl.jsonl:заказ.изменить": {"номер": "7", "новое": {"размер": "малый", "сладость": 2}},
    "mcp.json:query_with_sort": {
        "filter": {"$and": [{"$eq": None, "field.name": "x"}]},
        "sort": ["a"],
        "$top": 5,
        "@odata.context": "https://example.org/a",
        "x[y]": "z",
        "any": [None],
    },
    "openai.json:schedule-event.v2": {
        "title": "Tea",
        "when": {"kind": "in", "minutes": 5},
        "repeat": None,
        "place": [1.5, 2],
        "attendees": {"Ада": {"role": "host"}},
        "labels": {"x-a": "b"},
    },
    "openapi.yaml:pets/get-one.v1": {
        "petId": 1,
        "X-Trace-Id": "123e4567-e89b-12d3-a456-426614174000",
        "filter[owner.name]": {"is": "Ада"},
        "fields": ["name", None],
        "session": "s",
        "where": {"and": [{"eq": {"a": 1}}], "not": {"eq": False}},
    },
    "swagger.json:PUT /orders/{id}": {
        "id": "abcdefgh",
        "body": {"lines": [{"sku": "a", "count": 1, "options": {"b": "c"}}], "total": 2.5},
    },
}


@every_case("target", targets())
@every_case("name", FILLED)
def test_a_filled_in_tool_comes_back_key_for_key(name: str, target: str) -> None:
    record = lower(TOOLS[name], target, name).map
    lifted = lift(encode(FILLED[name], record), record)
    assert lifted.ok, lifted.invalid
    assert lifted.value == FILLED[name]


def test_what_a_vibe_has_no_place_for_is_told() -> None:
    told = {problem.message for path in FILES for problem in import_tools(_kind(path), str(path)).problems}
    assert "`application/xml` is left out: the body is read as `application/json`" in told
    assert "`discriminator` is left out: JSON Schema tells alternatives apart by their properties" in told
    assert not {message for message in told if "cannot" in message}


def _kind(path: Path) -> str:
    from journeys import kind_of

    return kind_of(path.read_text(encoding="utf-8"))
