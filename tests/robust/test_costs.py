"""What twice as much costs, in calls of functions: the same on every machine, however busy it is."""

from __future__ import annotations

import gc
import itertools
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import instrc
from instrc import Report, Source
from instrc.compiler.lint.coherence import dataflow_faults  # counts its calls alone
from instrc.compiler.lint.placeholders import program_nodes  # the nodes that the next one reads
from instrc.compiler.lint.programs import slips  # counts its calls alone, or one finding without the others
from instrc.compiler.lint.review import review  # one vibe by itself, without a folder
from instrc.language.parser import parse
from instrc.problems.names import UnknownName  # the class of one problem
from instrc.problems.suggest import NearestNames
from instrc.process.process import Process
from instrc.providers.lowering.context import unique_name  # one step of a lowering
from instrc.schema.differences import compare
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import JsonObject
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe

UNION = {
    "type": "object",
    "properties": {"t": {"$ref": "#/$defs/n"}},
    "$defs": {
        "n": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"k": {"const": "a"}, "c": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
                    "required": ["k", "c"],
                },
                {"type": "object", "properties": {"k": {"const": "b"}, "v": {"type": "string"}}, "required": ["k", "v"]},
            ]
        }
    },
}
UNIQUE = instrc.lower({"type": "array", "uniqueItems": True, "items": {"type": "object"}}, "mcp").map
TURNS = itertools.count()
TREE = instrc.lower(UNION, "openai").map


def chain(size: int) -> object:
    schema: Any = {"type": "integer"}
    for _ in range(size):
        schema = {"allOf": [schema, schema]}
    return instrc.flatten(schema)


def branches(size: int) -> object:
    rest = [{"properties": {f"p{i}": {}}, "additionalProperties": {"minLength": i}} for i in range(size)]
    return instrc.flatten({"allOf": rest})


def too_many_branches(size: int) -> object:
    with pytest.raises(instrc.CompileError, match="too-large"):
        branches(size)
    return None


def fan_in(size: int) -> object:
    """Let each step read all before it: the text alone grows with the square."""
    calls = (", ".join(f"x{j}: a{j}" for j in range(i)) or "prompt" for i in range(size))
    return instrc.compile("".join(f"const a{i} = A{i}({given});\n" for i, given in enumerate(calls)), sketch=True)


def far_down(size: int) -> object:
    """Compare schemas that differ in the innermost place only."""
    old, new = ({"type": kind} for kind in ("integer", "string"))
    for _ in range(size):
        old, new = ({"type": "object", "properties": {"a": each}} for each in (old, new))
    return compare(old, new)


def recursive(size: int) -> object:
    """Compare definitions that all lead to each other and have changed, each of them."""

    def graph(kind: str) -> JsonObject:
        node: JsonObject = {
            f"d{i}": {
                "type": "object",
                "properties": {
                    "a": {"$ref": f"#/$defs/d{(i + 1) % size}"},
                    "b": {"$ref": f"#/$defs/d{i * 7 % size}"},
                    "v": {"type": kind},
                },
            }
            for i in range(size)
        }
        return {"$ref": "#/$defs/d0", "$defs": node}

    return compare(graph("integer"), graph("number"))


def ranges(size: int) -> object:
    """Compare unions of very many ranges, of which one is wider: each instance is held against each branch."""
    branches = [{"minimum": 3 * i, "maximum": 3 * i + 1} for i in range(size)]
    old, new = ({"type": "object", "properties": {"a": {"anyOf": each}}} for each in (branches, [*branches, {"const": -7.5}]))
    return compare(old, new)


def nested(size: int) -> object:
    text = "A"
    for i in range(size):
        text = f"{{ k{i}: {text}, l{i}: B }}"
    return instrc.compile(text, sketch=True)


def slots(size: int) -> object:
    text = "A"
    for i in range(size):
        text = f"S{i}({{ k: {text} }})"
    return instrc.compile(text, sketch=True)


def annotated(size: int) -> object:
    """Annotate each step of a row: behind each stands all the rest of the program."""
    rows = (f'const a{i} = A({f"a{i - 1}" if i else "prompt"}) @ "Say {i}.";\n' for i in range(size))
    return instrc.compile("".join(rows), sketch=True)


def unique(size: int) -> object:
    return instrc.lift({"value": [{"a": i, "b": [i]} for i in range(size)]}, UNIQUE)


def wrong_items(size: int) -> object:
    return instrc.lift({"t": {"k": "a", "c": [{"k": "b", "v": i} for i in range(size)]}}, TREE)


def items(size: int) -> object:
    return instrc.compile('@{ title: "A", type: "object" } | @{ title: "B", type: "object" }', batch=size)


def choices(size: int) -> object:
    """Lower objects that each need one of two names, many times over: together they would have 2**size forms."""
    needs = [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(size)]
    return instrc.lower({"type": "object", "allOf": needs}, "openai")


def patterns(size: int) -> object:
    rest = {f"^p{i}": {"type": "string"} for i in range(size)}
    return instrc.lower({"type": "object", "patternProperties": rest}, "openai")


def closed_with_patterns(size: int) -> object:
    return instrc.flatten(
        {
            "allOf": [
                {"properties": {f"p{i}": {}}, "patternProperties": {f"^x{i}": {}}, "additionalProperties": False}
                for i in range(size)
            ]
        }
    )


def closed_with_one_pattern(size: int) -> object:
    """Intersect closed objects that each list another name which the pattern of all allows."""
    return instrc.flatten(
        {
            "allOf": [
                {"properties": {f"p{i}": {}}, "patternProperties": {"^p": {}}, "additionalProperties": False} for i in range(size)
            ]
        }
    )


def names_and_patterns(size: int) -> object:
    turn = next(TURNS)  # what was looked up before is remembered
    closed = {"properties": {f"p{turn}_{i}": {} for i in range(size)}, "additionalProperties": False}
    return instrc.flatten({"allOf": [closed, {"patternProperties": {f"^p{turn}_{i}$": {"minLength": 1} for i in range(size)}}]})


def lost_branches(size: int) -> object:
    """Lower a schema of which many branches of `allOf` stay that the target has no word for."""
    return instrc.lower({"type": "array", "allOf": [{"contains": {"const": i}} for i in range(size)]}, "openai")


def references_to_many_branches(size: int) -> object:
    """Flatten very many references to a definition of very many branches that refer to it again."""
    branches = [{"properties": {f"p{i}": {"$ref": "#/$defs/d"}}} for i in range(size)]
    properties = {f"q{i}": {"$ref": "#/$defs/d"} for i in range(size)}
    return instrc.flatten({"properties": properties, "$defs": {"d": {"allOf": branches}}})


def forbidden_names(size: int) -> object:
    """Lower an object that forbids very many names, each in a branch of its own."""
    return instrc.lower({"type": "object", "allOf": [{"properties": {f"p{i}": False}} for i in range(size)]}, "openai")


def names_listed(size: int) -> object:
    """Lower an object whose many names are all held against a list of as many."""
    names = {f"p{i}": {} for i in range(size)}
    return instrc.lower(
        {"type": "object", "properties": names, "propertyNames": {"enum": [f"p{2 * i}" for i in range(size)]}}, "vllm"
    )


def alike_names(size: int) -> object:
    """Give numbers to names that are the same as far as a target takes letters."""
    taken: set[str] = set()
    for _ in range(size):
        taken.add(unique_name("name", taken, 60))
    return taken


def different_in_each_property(size: int) -> object:
    """Look for a witness in objects that differ in each of very many properties."""
    wide, narrow = (
        {"type": "object", "properties": {f"p{i}": {"type": kind} for i in range(size)}} for kind in ("string", "integer")
    )
    return instrc.subsumes(wide, narrow)


def unused_beside_errors(size: int) -> object:
    """Ask of very many names that nobody uses whether one of very many mistakes shows them."""
    unused = "".join(f"const a{i} = A{i}(prompt);\n" for i in range(size))
    wrong = "".join(f'tool t{i} = B(prompt) @ {{ minimum: "{i}" }};\n' for i in range(size))
    return refused(unused + wrong, sketch=True)


def idle_keys(size: int) -> object:
    """Ask of a key in each of very many contexts whether a later one reads it."""
    contexts = "".join(f", LLM_Context({{ x{i}: A{i}(k), y{i}: k }})" for i in range(size))
    return instrc.compile(f"Process(LLM_Context({{ k: A }}){contexts})", sketch=True, report=instrc.Report())


def unseparated(size: int) -> object:
    """Carry on with steps that each have a warning."""
    text = "".join(f"tool t{i} = A{i}(prompt) B\n" for i in range(size))
    return instrc.compile(text, sketch=True, report=instrc.Report())


def refused(text: str, **options: Any) -> list[instrc.Problem]:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile(text, report=instrc.Report(), **options)
    return list(caught.value.problems)


def broken_patterns(size: int) -> object:
    """Take out very many regular expressions that nobody reads."""
    return instrc.lower({"properties": {f"p{i}": {"pattern": f"([a-z{i}"} for i in range(size)}}, "openai")


def labels(size: int) -> object:
    """Look for labels that differ by one letter among many that differ by more, beside a very long one."""
    calls = "".join(f"Draft({chr(97 + i % 26) * 5}{i * i}: prompt);\n" for i in range(size))
    slip = f"Draft({'y' * 9_000}: prompt, people: prompt);\nDraft(peple: prompt)"
    program = parse(Source("x.aug", calls + slip), Report())
    return list(slips(program, list(program_nodes(program))))


def reviewed(schema: JsonObject) -> Report:
    """Review a vibe as `instrc check` does."""
    report = Report()
    review(Vibe("aug:x", "x", Source("x.vibe.json", dumps(schema)), schema, ""), Registry(), report)
    return report


def required_beside_patterns(size: int) -> object:
    """Look in many patterns for many required names that nothing describes."""
    patterns = {f"^z{i}": True for i in range(size)}
    return reviewed({"required": [f"r{i}" for i in range(size)], "properties": {"a": True}, "patternProperties": patterns})


def dangling_paths(size: int) -> object:
    """Offer names for paths of very many steps that lead nowhere."""
    turn = next(TURNS)  # what was looked up before is remembered
    steps = {f"step{turn}_{i}_a": {"type": "object", "references": [f"stop{turn}_{i}_a"]} for i in range(size)}
    return reviewed({"type": "object", "properties": steps})


def references_to_nothing(size: int) -> object:
    """Find the places of very many references that lead nowhere."""
    return reviewed({"properties": {f"p{i}": {"$ref": f"#/$defs/x{i}"} for i in range(size)}})


def unevaluated_properties(size: int) -> object:
    """Intersect objects that each forbid what is unevaluated, all of them of one type."""
    branches = [{"type": "object", "properties": {f"p{i}": {}}, "unevaluatedProperties": False} for i in range(size)]
    return instrc.flatten({"allOf": branches})


def unevaluated_items(size: int) -> object:
    """Intersect lists that each describe what is unevaluated."""
    return instrc.flatten({"allOf": [{"prefixItems": [{"const": i}], "unevaluatedItems": {"minimum": i}} for i in range(size)]})


def conditions_alone(size: int) -> object:
    """Ask of each `if` without `then` whether a schema, the last one, asks what it evaluates."""
    alone = {f"p{i}": {"if": {"minProperties": i}} for i in range(size)}
    return reviewed({"properties": {**alone, "last": {"unevaluatedProperties": False}}})


def recursive_in_each_property(size: int) -> object:
    """Look for a witness in definitions that refer to one another, in very many properties."""
    narrow, wide = (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                f"d{i}": {
                    "type": "object",
                    "properties": {"v": {"type": kind}, **{f"p{k}": {"$ref": f"#/$defs/d{(i + k) % size}"} for k in range(5)}},
                }
                for i in range(size)
            },
        }
        for kind in ("string", "integer")
    )
    return instrc.subsumes(wide, narrow)


COSTS = [
    (chain, 1_200, 2.5),  # beyond a thousand levels the classes of a value are looked at in Python: that costs half as much again
    (far_down, 100, 2.5),
    pytest.param(far_down, 300, 2.5, marks=pytest.mark.long),
    pytest.param(ranges, 300, 1.3, marks=pytest.mark.long),  # 0.9 to 1.2 while instances are fewer, as there are more branches
    (recursive, 100, 2.5),
    (branches, 200, 3),
    pytest.param(too_many_branches, 8_000, 2.5, marks=pytest.mark.long),
    (fan_in, 30, 5),
    (nested, 20, 3.5),
    (slots, 20, 3.5),
    (annotated, 100, 2.5),
    (unique, 200, 2.5),
    (wrong_items, 50, 3),
    (items, 200, 2.5),
    pytest.param(choices, 110, 3, marks=pytest.mark.long),
    (patterns, 200, 2.5),
    pytest.param(closed_with_patterns, 300, 2.5, marks=pytest.mark.long),
    (closed_with_one_pattern, 300, 2.5),
    (names_and_patterns, 200, 2.5),
    (lost_branches, 300, 2.5),
    (names_listed, 300, 2.5),
    (alike_names, 400, 2.5),
    (references_to_many_branches, 200, 2.5),
    (recursive_in_each_property, 10, 3),
    (forbidden_names, 300, 2.5),
    (broken_patterns, 200, 2.5),
    (labels, 200, 2.5),
    (unused_beside_errors, 100, 2.5),
    (unseparated, 300, 2.5),
    (idle_keys, 50, 2.5),
    (required_beside_patterns, 150, 2.5),
    (dangling_paths, 100, 2.5),
    (conditions_alone, 200, 2.5),
    (unevaluated_properties, 400, 2.5),
    (unevaluated_items, 200, 2.5),
    (references_to_nothing, 100, 2.5),
    (different_in_each_property, 200, 2.5),
]
"""What is done, with how much, and how many times the calls that twice as much may take; 4 is the square."""


def counted(work: Callable[[int], object], size: int) -> int:
    """Return how many functions were called."""
    count = 0

    def count_one(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        work(size)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(("work", "size", "most"), COSTS, ids=lambda value: getattr(value, "__name__", ""))
def test_twice_as_much_costs_no_more_than_it_may(work: Callable[[int], object], size: int, most: float) -> None:
    work(size)  # what is loaded and kept by the first call is not counted
    assert counted(work, 2 * size) / counted(work, size) <= most


def test_searches_that_go_back_share_a_time_limit_however_many_names_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[object] = []
    made = instrc.schema.patterns._Clock

    def counting(**options: float) -> object:
        limits.append(options)
        return made(**options)

    def count(ask: Callable[[JsonObject], object], size: int) -> int:
        names = {f"p{next(TURNS)}": {"type": "string"} for _ in range(size)}
        limits.clear()
        ask({"type": "object", "patternProperties": {"^(?!b)[a-z0-9]+$": {"minLength": 1}}, "properties": names})
        return len(limits)

    monkeypatch.setattr("instrc.schema.patterns._Clock", counting)
    asked = {"required": ["p"], "minProperties": 2}
    for ask in (
        lambda schema: instrc.lower(schema, "openai"),
        lambda schema: instrc.flatten({"allOf": [schema, asked]}),
        lambda schema: instrc.subsumes({**schema, **asked}, schema),
    ):
        assert count(ask, 20) == count(ask, 10) <= 2


def test_blocks_keep_no_copies_of_the_names_that_they_can_read() -> None:
    def peak(count: int) -> int:
        text = "".join(f"const b{i} = when prompt is 'x{i}' {{ B(prompt) }};\n" for i in range(count))
        read = ", ".join(f"b{i}: b{i}" for i in range(count))
        [document] = instrc.compile(f"{text}C({read})", sketch=True, emit="process")
        process = Process.find(document)
        assert process is not None
        gc.collect()  # otherwise it depends on the tests before when cycles are collected
        tracemalloc.start()
        assert not list(dataflow_faults(process, ()))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(400) / peak(200) < 2.5


def test_names_are_offered_for_unknown_ones_until_very_many_were_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NearestNames.__init__, "__defaults__", (5_000,))
    told = refused("".join(f"const draft{i} = A_Activity(draf{i}t);\n" for i in range(100)))
    offered = [bool(each.nearest) for each in told if isinstance(each, UnknownName) and each.word.startswith("draf")]
    assert len(offered) == 100
    assert offered[:20] == [True] * 20
    assert not any(offered[60:])


def test_more_items_than_anybody_needs_are_refused_with_a_word() -> None:
    with pytest.raises(instrc.SettingsError, match="invalid-option"):
        items(100_000)


def test_lowering_refuses_very_many_names_beside_very_many_patterns() -> None:
    names = {f"p{i}": {} for i in range(400)}
    with pytest.raises(instrc.CompileError, match="160,000 pairs of a property and a pattern"):
        instrc.lower({"type": "object", "properties": names, "patternProperties": {f"^{name}$": {} for name in names}}, "openai")


def test_parts_of_a_deep_contradiction_are_told_as_far_as_their_places_are_short() -> None:
    schema: JsonObject = {"type": "string"}
    for i in range(1_500):
        schema = {"allOf": [schema, {"type": "object", "required": [f"p{i}"]}]}
    losses = instrc.lower(schema, "vllm", report=Report()).losses
    assert "part" in {loss.kind for loss in losses}
    assert sum(len(loss.pointer) for loss in losses) < 12_000_000


def test_exports_that_share_sketched_steps_have_one_placeholder_flattened_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    flattened: list[object] = []

    def counting(schema: object, *rest: Any, **options: Any) -> object:
        flattened.append(schema)
        return instrc.schema.flattening.flatten.flatten(schema, *rest, **options)

    monkeypatch.setattr("instrc.compiler.instructions.flatten", counting)
    exports = "".join(f"tool t{i} = T{i}(b);\n" for i in range(20))
    instrc.compile(f"const a = A(prompt);\nconst b = B(a);\n{exports}", sketch=True)
    assert len(flattened) == 1
