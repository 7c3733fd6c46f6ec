"""A few vibes of every kind, and what programs that use them become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from objects import an_object

import instrc
from instrc import Artefact, Report

TEXT = {"type": "string"}


VIBES: dict[str, Any] = {
    "A": an_object(x=TEXT),
    "B": an_object(y=TEXT),
    "Judge": an_object(good={"type": "boolean"}, advice=TEXT),
    "Get_Activity": an_object(id=TEXT),
    "Ask_User": an_object(answer=TEXT),
    "Look_Activity": {"type": "object", "properties": {"q": TEXT, "output": TEXT}, "required": ["output"]},
    "Perhaps": an_object(word={"type": ["string", "null"]}),
    "Find": an_object(query=TEXT, output=TEXT),
    "Find_Activity": an_object(query=TEXT, output=TEXT),
    "Slot": an_object(part={}),
    "Noted_Mixin": {"type": "object", "properties": {"note": TEXT, "default": {}}},
    "Rated_Mixin": {"type": "object", "properties": {"default": {}, "rate": TEXT}},
    "Closed": an_object(part={"type": "object", "additionalProperties": False}),
    "Own": an_object(part=an_object(b={"type": "integer"})),
    "Base": an_object(x=TEXT),
    "Derived": {"$ref": "aug:Base"},
    "Names": an_object(names={"type": "array", "items": TEXT}),
    "Odd": an_object(**{"b c": TEXT, "b.c": TEXT, "b": TEXT}),
}


def compiled(text: str, folder: Path) -> Artefact:
    [made] = instrc.artefacts(text, roots=[folder])
    return made


def problems(text: str, folder: Path) -> list[instrc.Problem]:
    report = Report()
    try:
        instrc.artefacts(text, roots=[folder], report=report)
    except instrc.CompileError as error:
        return list(error.problems)
    return list(report.problems)
