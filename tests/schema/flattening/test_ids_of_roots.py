"""Who a schema is: its `$id` stays, and never becomes what the new dialect forbids."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from instrc.schema.flattening.flatten import flatten

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("http://a.test/b", "http://a.test/b"),
        ("http://a.test/b#", "http://a.test/b"),
        ("http://a.test/b#c", "http://a.test/b"),
        ("#c", None),
    ],
)
def test_the_id_of_an_old_root_loses_its_anchor(old: str, new: str | None) -> None:
    flat = flatten({"$schema": DRAFT_7, "$id": old, "allOf": [{"type": "string"}]})
    assert flat.get("$id") == new
    Draft202012Validator.check_schema(flat)
