"""An intersection says of each schema in it which ones it is made of."""

from __future__ import annotations

from instrc.schema.flattening.flattener import intersect  # compared with the thorough way, which users do not choose
from instrc.schema.flattening.parts import intersection


def test_it_is_the_intersection_and_names_its_sources() -> None:
    left = {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 0.5}}}
    right = {"properties": {"a": {"minimum": 3}}, "required": ["a"]}
    found = intersection([left, right])
    assert found.schema == intersect([left, right])
    assert found.schema["properties"]["a"] == {"type": "number", "multipleOf": 0.5, "minimum": 3}
    sources = {id(new): of for new, of in found.sources}
    assert [id(each) for each in sources[id(found.schema)]] == [id(left), id(right)]
    inner = sources[id(found.schema["properties"]["a"])]
    assert [id(each) for each in inner] == [id(left["properties"]["a"]), id(right["properties"]["a"])]


def test_what_cannot_both_hold_is_false_and_what_no_keyword_says_stays_apart() -> None:
    assert intersection([{"type": "string"}, {"type": "integer"}]).schema is False
    assert intersection([{"multipleOf": 0.5}, {"multipleOf": 0.3}]).schema == {"multipleOf": 0.5, "allOf": [{"multipleOf": 0.3}]}
