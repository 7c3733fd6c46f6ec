"""Hostile and huge schemas: no crash, no blow-up, no surprise."""

# ruff: noqa: FBT003  -- booleans are schemas and instances here

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from typing import Any

import orjson
import pytest
from every_case import every_case
from making import Maker

from instrc import CompileError
from instrc.schema.flattening.flatten import flatten, sizes  # the size that its limit is held against
from instrc.schema.patterns import broken  # one expression without a schema
from instrc.schema.strip import split, strip
from instrc.schema.upgrade import upgrade
from instrc.schema.validation import is_valid
from instrc.schema.vocabulary import KEYWORDS
from instrc.schema.walk import map_schemas, walk
from instrc.schema.wellformed import problems_of
from instrc.text.jsontext import dumps

LEVELS = 10_000
LEAF = {"allOf": [{"type": "string"}, {"minLength": 1}]}
WRAPS: dict[str, Callable[[Any], Any]] = {
    "properties": lambda inner: {"properties": {"a": inner}},
    "allOf": lambda inner: {"allOf": [inner, {"maxLength": 9}]},
    "branches of properties": lambda inner: {"allOf": [{"properties": {"a": inner}}, {"properties": {"a": {"title": "t"}}}]},
    "anyOf": lambda inner: {"anyOf": [inner, {"type": "null"}]},
    "not": lambda inner: {"not": inner},
    "if": lambda inner: {"if": inner, "then": True},
    "items": lambda inner: {"prefixItems": [inner]},
    "unevaluated": lambda inner: {"allOf": [inner], "unevaluatedProperties": False},
}


def nested(levels: int, wrap: Callable[[Any], Any], leaf: Any) -> Any:
    for _ in range(levels):
        leaf = wrap(leaf)
    return leaf


@pytest.mark.long
@every_case("what", WRAPS)
def test_depth_is_no_limit(what: str) -> None:
    flat = flatten(nested(LEVELS, WRAPS[what], LEAF))
    assert not any(isinstance(node, dict) and "allOf" in node for _, node in shallow(flat))


def shallow(schema: Any) -> Any:
    """Walk without paths, which would be as long as the schema is deep."""
    found: list[Any] = []
    map_schemas(schema, lambda node: found.append(((), node)) or node)  # type: ignore[func-returns-value]
    return found


@pytest.mark.long
def test_everything_else_goes_as_deep() -> None:
    deep = nested(LEVELS, lambda inner: {"properties": {"a": inner, "_t": {}}}, {"type": "string"})
    bare = strip(deep, {"thoughts"})
    assert dumps(bare, indent=False).count("_t") == 0
    assert upgrade({"$schema": "http://json-schema.org/draft-07/schema#", "items": [deep]})["prefixItems"]
    assert len(split(nested(300, lambda inner: {"a": inner, "_t": 1}, 1))["thoughts"]) == 300
    assert len(list(walk(nested(1000, lambda inner: {"not": inner}, True)))) == 1001


def chain(levels: int, link: Callable[[int], Any]) -> Any:
    return {"$ref": "#/$defs/d0", "$defs": {**{f"d{n}": link(n + 1) for n in range(levels)}, f"d{levels}": {"type": "string"}}}


def to(n: int) -> Any:
    return {"$ref": f"#/$defs/d{n}"}


def test_long_chains_of_references() -> None:
    assert flatten(chain(LEVELS, to)) == {"type": "string"}
    assert flatten(chain(LEVELS, lambda n: {**to(n), "minLength": n})) == {"type": "string", "minLength": LEVELS}
    assert flatten(chain(LEVELS, lambda n: {"properties": {"a": to(n)}}))


BOMBS: dict[str, Any] = {
    "properties": chain(64, lambda n: {"properties": {"a": to(n), "b": to(n)}}),
    "branches": chain(64, lambda n: {"allOf": [{"properties": {"a": to(n)}}, {"properties": {"b": to(n)}}]}),
    "alternatives": chain(64, lambda n: {"anyOf": [to(n), to(n)]}),
    "one object at many places": nested(64, lambda inner: {"properties": {"a": inner, "b": inner}}, LEAF),
}


@every_case("what", BOMBS)
def test_what_would_blow_up_keeps_its_parts_once(what: str) -> None:
    flat = flatten(BOMBS[what])
    assert len(dumps(flat)) < 20_000
    assert flatten(flat) == flat


@every_case("what", BOMBS)
def test_what_blows_up_when_it_is_written_out_is_too_large(what: str) -> None:
    with pytest.raises(CompileError) as error:
        flatten(BOMBS[what], share=False)
    (problem,) = error.value.problems
    assert problem.name == "too-large"
    assert "1,000,000" in problem.message


def test_the_limit_is_adjustable_and_counts_schemas() -> None:
    small = chain(4, lambda n: {"properties": {"a": to(n), "b": to(n)}})
    flat = flatten(small)
    assert sizes(flat)[id(flat)] == 31
    assert flatten(small, limit=31)
    with pytest.raises(CompileError):
        flatten(small, limit=30)
    wide = {"properties": {f"p{n}": {"allOf": [{"minimum": n}]} for n in range(100)}}
    assert flatten(wide, limit=101)  # one for each property, and the whole
    with pytest.raises(CompileError):
        flatten(wide, limit=100)
    periods = {
        f"{kind}{n}": {"items": {"$ref": f"#/$defs/{kind}{(n + 1) % length}"}}
        for kind, length in (("a", 31), ("b", 37))
        for n in range(length)
    }
    recursive = {"allOf": [{"$ref": "#/$defs/a0"}, {"$ref": "#/$defs/b0"}], "$defs": periods}
    assert flatten(recursive)
    with pytest.raises(CompileError):
        flatten(recursive, limit=500)


def test_a_ring_of_resources_with_recursive_anchors_is_too_large() -> None:
    """Each of them is another schema for each one that was entered first."""
    ring = {
        f"d{each}": {
            "$id": f"/{each}",
            "$recursiveAnchor": True,
            "properties": {"x": {"$ref": f"/{(each + 1) % 60}"}, "y": {"$recursiveRef": "#"}},
        }
        for each in range(60)
    }
    first = {f"p{each}": {"$ref": f"/{each}"} for each in range(60)}
    draft = "https://json-schema.org/draft/2019-09/schema"
    with pytest.raises(CompileError):
        flatten({"$schema": draft, "$id": "https://e.org/", "properties": first, "$defs": ring}, limit=50_000)


def mutual(count: int) -> dict[str, Any]:
    """Return a schema whose every property is two of some definitions together: each set of them may meet, in any order."""
    pairs = [
        {f"p{j}": {"allOf": [{"$ref": f"#/$defs/d{j}"}, {"$ref": f"#/$defs/d{i}"}]} for j in range(count)} for i in range(count)
    ]
    schemas = {f"d{i}": {"type": "object", "properties": each, "maxProperties": i} for i, each in enumerate(pairs)}
    return {"properties": {f"r{i}": {"$ref": f"#/$defs/d{i}"} for i in range(count)}, "$defs": schemas}


def test_schemas_that_recur_together_are_one_in_all_but_a_few_orders() -> None:
    schema = mutual(4)
    flat = flatten(schema)
    assert len(flat["$defs"]) < 40, "of 15 sets in 64 orders"
    of_two, of_one = {"p3": {}, "p2": {}}, {"p3": {}}
    values = [{root: {part: value}} for root, part, value in product(("r3", "r2", "r1"), ("p3", "p2", "p1"), (of_two, of_one))]
    verdicts = [is_valid(value, schema) for value in values]
    assert {True, False} == set(verdicts)
    assert [is_valid(value, flat) for value in values] == verdicts


def test_very_many_sets_of_schemas_that_recur_together_are_too_large() -> None:
    with pytest.raises(CompileError, match="recur together"):
        flatten(mutual(12))


def test_many_branches_that_speak_of_all_other_names_become_one() -> None:
    branches = [{"properties": {f"p{i}": {}}, "additionalProperties": {"minLength": i}} for i in range(300)]
    longest = {f"p{i}": {"minLength": 299} for i in range(299)} | {"p299": {"minLength": 298}}
    assert flatten({"allOf": branches}) == {"properties": longest, "additionalProperties": {"minLength": 299}}


def test_the_same_branch_a_thousand_times_over_is_one() -> None:
    assert flatten(chain(64, lambda n: {"allOf": [to(n), to(n)]})) == {"type": "string"}


def test_one_object_at_several_places_is_folded_at_each() -> None:
    part = {"items": {"$ref": "#/$defs/a"}}
    schema = {"properties": {"x": {"not": part}, "y": {"contains": part}, "z": part}, "$defs": {"a": {"minimum": 1}}}
    inside = {"items": {"minimum": 1}}
    assert flatten(schema) == {"properties": {"x": {"not": inside}, "y": {"contains": inside}, "z": inside}}


def test_threads_do_not_disturb_each_other() -> None:
    schemas = [Maker(seed).document() for seed in range(200)]
    alone = [orjson.dumps(flatten(schema)) for schema in schemas]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda schema: orjson.dumps(flatten(schema)), schemas * 3))
    assert together == alone * 3


def test_one_schema_object_may_be_flattened_by_many_at_once() -> None:
    schema = Maker(7).document()
    before = copy.deepcopy(schema)
    with ThreadPoolExecutor(8) as pool:
        assert len({orjson.dumps(flat) for flat in pool.map(flatten, [schema] * 50)}) == 1
    assert schema == before


def test_results_do_not_depend_on_the_hash_seed() -> None:
    program = """
import sys
sys.path.insert(0, "tests")
import orjson
from making import Maker
from instrc.problems.report import Report
from instrc.schema.flattening.flatten import flatten
for seed in range(150):
    report = Report()
    print(orjson.dumps(flatten(Maker(seed).document(), report=report)), [str(problem) for problem in report.problems])
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert all(outputs)


def test_importing_it_is_cheap() -> None:
    heavy = {"jsonschema", "referencing", "hypothesis", "urllib.parse", "jsonschema_rs", "lark"}
    program = f"import sys; import instrc.schema.flattening.flatten; print([name for name in sys.modules if name in {heavy!r}])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


@every_case("value", [{"$ref": 3}, {"properties": {"$ref": "#/x"}}, {"allOf": {"a": 1}}, {"allOf": 3}, {"items": [{}]}])
def test_odd_schemas_are_left_alone(value: Any) -> None:
    assert flatten(value) == value


ODD = (3, "x", [], {}, None, True, [3], {"a": 3}, ["a"])


@every_case("keyword", sorted(KEYWORDS))
def test_malformed_keywords_raise_nothing_but_problems(keyword: str) -> None:
    for one in ODD:
        for other in ODD:
            schema = {
                "allOf": [{keyword: one, "type": "array"}, {keyword: other, "if": {}, "contains": {}}],
                keyword: one,
                "unevaluatedItems": False,
            }
            with suppress(CompileError):
                flatten(schema)


def test_all_of_that_is_no_list_is_a_problem_where_it_is_read() -> None:
    with pytest.raises(CompileError) as error:
        flatten({"allOf": [{"allOf": 3}, {"minimum": 1}]})
    assert "/allOf" in error.value.problems[0].message


def test_bounds_of_which_one_is_malformed_both_stay() -> None:
    assert flatten({"allOf": [{"minimum": "a"}, {"exclusiveMinimum": 1}]}) == {"minimum": "a", "exclusiveMinimum": 1}


def test_a_repetition_beyond_all_counting_is_not_called_broken() -> None:
    assert broken("a{99999999999999999999}") is None


def test_one_place_that_is_wrong_twice_is_told_once() -> None:
    assert [problem.pointer for problem in problems_of({"patternProperties": {"(": 3}})] == ["/patternProperties/("]
