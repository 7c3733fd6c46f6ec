"""The quick way for plain schemas gives the same text, warnings and errors as the thorough way, which all others go."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hunting import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from making import Maker

from instrc import CompileError, Report
from instrc.schema.flattening.flatten import flatten
from instrc.schema.flattening.flattener import (  # compared with the thorough way, which users do not choose
    PlainMerging,
    intersect,
)
from instrc.text.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

SEEDS = st.integers(0, 2**48)
A_HUNDRED = 100
SELDOM_PLAIN = ("unevaluatedProperties", "unevaluatedItems", "if", "then", "else", "contains", "minContains", "maxContains")
COUNTS = (2, 2, 2, 3, 4, 12, 20)


class PlainMaker(Maker):
    """Makes schemas that mostly go the quick way; parts stand at several places, and branches hold branches."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.made: list[Any] = []

    def schema(self, depth: int, *, empty: float = 0.05) -> Any:
        r = self.random
        if self.made and r.random() < 0.05:
            return r.choice(self.made)
        made = super().schema(depth, empty=empty)
        if isinstance(made, dict):
            for word in SELDOM_PLAIN:
                if r.random() < 0.95:
                    made.pop(word, None)
            self.made.append(made)
        return made

    def conjunction(self) -> Any:
        """Make a schema with branches, whose `allOf` stands first, last or in between; most are objects, so that they meet."""
        r = self.random
        own = self.schema(1, empty=0.4) if r.random() < 0.6 else {}
        branches = [self.schema(2) if r.random() < 0.5 else self.of_object() for _ in range(r.choice(COUNTS))]
        items = list(own.items()) if isinstance(own, dict) else []
        items.insert(r.randint(0, len(items)), ("allOf", branches))
        return dict(items)

    def of_object(self) -> dict[str, Any]:
        """Make a schema of an object with properties that others have as well, some of them conjunctions."""
        r = self.random
        names = r.sample(("a", "b", "c"), r.randint(1, 3))
        below = {name: self.conjunction() if r.random() < 0.1 else self.schema(1) for name in names}
        words = {"type": "object", "properties": below, "required": r.sample(names, 1), "title": r.choice("AB")}
        return {word: value for word, value in words.items() if r.random() < 0.8}


def told(schema: Any, **options: Any) -> str:
    """Return all that flattening tells: the result, its warnings, or its errors."""
    report = Report()
    try:
        text = dumps(flatten(schema, report=report, **options))
    except CompileError as error:
        text = repr(error.problems)
    return text + repr(list(report.problems)) + told_silently(schema, **options)


def told_silently(schema: Any, **options: Any) -> str:
    """Return what flattening gives to somebody who wants no warnings."""
    try:
        return dumps(flatten(schema, **options))
    except CompileError as error:
        return repr(error.problems)


@contextmanager
def the_thorough_way() -> Iterator[None]:
    """Leave the quick way out."""
    with patch.object(PlainMerging, "merged_plainly", lambda _run, _pieces: None):
        yield


def differing(seed: int) -> list[tuple[int, str]]:
    """Return what differs between the two ways."""
    found = []
    for offset in range(A_HUNDRED):
        maker = PlainMaker(seed + offset)
        parts = [maker.schema(2) for _ in range(3)]
        schema = maker.conjunction() if maker.random.random() < 0.8 else maker.document()
        for options in ({}, {"limit": maker.random.randint(3, 60)}, {"distribute": 6, "share": False}):
            quick = told(schema, **options)
            with the_thorough_way():
                if told(schema, **options) != quick:
                    found.append((seed + offset, repr(options)))
        quick = dumps(intersect([flatten(part) for part in parts]))
        with the_thorough_way():
            if dumps(intersect([flatten(part) for part in parts])) != quick:
                found.append((seed + offset, "intersect"))
    return found


@examples(12)
@given(SEEDS)
def test_the_quick_way_tells_what_the_thorough_way_tells(seed: int) -> None:
    assert differing(seed) == []


@pytest.mark.slow
@settings(max_examples=2000)
@given(SEEDS)
def test_the_quick_way_tells_the_same_in_a_long_run(seed: int) -> None:
    assert differing(seed) == []


def test_most_of_these_schemas_go_the_quick_way() -> None:
    merged = PlainMerging.merged_plainly
    results: list[bool] = []

    def counted(run: PlainMerging, pieces: Any) -> Any:
        found = merged(run, pieces)
        results.append(found is not None)
        return found

    with patch.object(PlainMerging, "merged_plainly", counted):
        for seed in range(A_HUNDRED):
            flatten(PlainMaker(seed).conjunction())
    assert len(results) > A_HUNDRED
    assert sum(results) > len(results) // 2
