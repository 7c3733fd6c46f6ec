"""Nothing that an object of values holds is lost on the way to who reads it, whatever stands beside it."""

from __future__ import annotations

from typing import Any

import pytest

import instrc
from instrc import Report

VIBES: dict[str, Any] = {
    name: {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    for name, key in {"Ma": "a", "Mb": "b", "Look_Activity": "seen", "Log_Activity": "id"}.items()
}


@pytest.mark.parametrize(
    ("nested", "given"),
    [
        ("{ z: c }", {"y.z": "step1_ma"}),
        ("{ z: c, w: 3 }", {"y.z": "step1_ma", "y.w": {"const": 3}}),
        ("{ z: c, w: Mb(c) }", {"y.z": "step1_ma", "y.w": "y.w"}),
        ("{ z: c.a, w: Mb(c), v: [1] }", {"y.z": "step1_ma.a", "y.w": "y.w", "y.v": "y.v"}),
        ("{ z: Look_Activity(c), w: Mb(c) }", {"y.z": "z", "y.w": "y.w"}),
        ("{ z: Ma(c), w: Mb(c) }", {"y": "y"}),
        ("{ z: { u: c, t: Mb(c) }, w: Mb(c) }", {"y.z.u": "step1_ma", "y.z.t": "y.z.t", "y.w": "y.w"}),
    ],
)
def test_each_member_of_a_nested_object_is_handed_on(nested: str, given: dict[str, Any]) -> None:
    text = f"const c = Ma(prompt); const o = {{ x: c, y: {nested} }}; do {{ Log_Activity(o) }}"
    [artefact] = instrc.artefacts(text, vibes=VIBES, report=Report())
    process = artefact.documents["process"]
    [step] = [
        each["properties"]
        for each in process["$defs"].values()
        if "step" in str(each) and "log" in str(each) and "activity" in str(each)
    ][-1:]
    [arguments] = [each["arguments"] for each in step.values() if each.get("activity") == "Log_Activity"]
    assert arguments == {"x": "step1_ma", **given}


@pytest.mark.parametrize(
    "nested", ["{ z: c, w: 3 }", "{ z: c, w: Mb(c) }", "{ z: Look_Activity(c), w: Mb(c) }", "{ z: { u: c, t: Mb(c) }, w: c }"]
)
def test_each_member_of_a_nested_object_is_there_when_it_runs(nested: str) -> None:
    text = f"const c = Ma(prompt); const o = {{ x: c, y: {nested} }}; do {{ Log_Activity(o) }}"
    [artefact] = instrc.artefacts(text, vibes=VIBES, report=Report())
    seen: list[Any] = []

    def log(given: Any) -> Any:
        seen.append(given)
        return {"id": "1"}

    ended = instrc.run(
        artefact.documents["process"],
        "p",
        rehearse="with-activities",
        activities={"Log_Activity": log, "Look_Activity": lambda _: {"seen": "s"}},
    )
    assert ended.status == "done", ended
    assert len(seen) == 1
    assert None not in seen[0].values()


@pytest.mark.parametrize(
    ("slot", "read"),
    [
        ("{ c }", "step1_ma"),
        ("{ z: c.a }", "step1_ma.a"),
        ("{ c, w: 3 }", "step1_ma"),
        ("{ c, w: Mb(c) }", "step1_ma"),
        ("{ d: { e: c, f: 3 }, w: Mb(c) }", "step1_ma"),
    ],
)
@pytest.mark.parametrize("call", ["Page({ part: SLOT })", "Around_Mixin(Mb(c), { part: SLOT })"])
def test_a_value_in_the_braces_of_a_slot_is_read(call: str, slot: str, read: str) -> None:
    part = {"type": "object", "properties": {"part": {"type": "object"}}}
    around = {"type": "object", "properties": {**part["properties"], "default": {}}}
    text = f"const c = Ma(prompt); {call.replace('SLOT', slot)}"
    [artefact] = instrc.artefacts(text, vibes={**VIBES, "Page": part, "Around_Mixin": around}, report=Report())
    *_, step = artefact.documents["tool"]["properties"].values()
    reads = ["step1_ma"] if "Mixin" in call else [read]  # the mixin stands around a step that reads the whole
    labels = {"{ c }": " as part.c", "{ z: c.a }": " as part.z"}  # elsewhere the slot is composed, and says nothing of labels
    assert step["description"] == f"Use {', '.join(reads)}{'' if 'Mixin' in call else labels.get(slot, '')}."
