"""Keep the imported vibes that pass the check, after the two repairs that it shows how to make."""

from __future__ import annotations

from dataclasses import replace

from instrc.compiler import compile_vibe
from instrc.importers.read_tools import Imported
from instrc.importers.vibes import ImportedVibe, boxed, with_property
from instrc.ir.options import CompileOptions
from instrc.jsontext import dumps
from instrc.limits.incoming import IMPORT_ATTEMPTS
from instrc.lint.review import review
from instrc.problems.importing import ReadOtherwise, UnusableTool
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.steps import OutputNotObject
from instrc.problems.vibes import MissingFromProperties
from instrc.source import Source
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe


def sound_vibes(imported: Imported) -> Imported:
    """Leave out the vibes that the check refuses: a registry is no place for broken ones."""
    registry = Registry()
    sound: list[ImportedVibe] = []
    report = Report()
    report.problems += imported.problems
    for vibe in imported.vibes:
        made, fault, is_boxed = vibe, _fault(vibe, registry), False
        for _ in range(IMPORT_ATTEMPTS):
            if isinstance(fault, OutputNotObject) and not is_boxed:
                report.add(
                    ReadOtherwise(at=vibe.at, what=vibe.name, meaning="an object with one property `value`: it is none itself")
                )
                made, is_boxed = boxed(made), True
            elif isinstance(fault, MissingFromProperties):
                report.add(ReadOtherwise(at=vibe.at, what=fault.word, meaning="a property of which nothing is said"))
                made = with_property(made, fault.word)
            else:
                break
            fault = _fault(made, registry)
        if fault is None:
            sound.append(made)
        else:
            report.add(UnusableTool(at=vibe.at, tool=str(vibe.document.get("title", vibe.name)), reason=fault.message))
    return replace(imported, vibes=tuple(sound), problems=report.once())


def _fault(vibe: ImportedVibe, registry: Registry) -> Problem | None:
    """Return what the check says of a vibe, or what keeps it from being composed."""
    found = Report()
    written = Vibe(f"aug:{vibe.name}", vibe.name, Source(vibe.path, dumps(vibe.document)), vibe.document, "")
    try:
        review(written, registry, found)
        if not found.failed:
            compile_vibe(written, registry, CompileOptions(), found, stem=vibe.name)
    except CompileError as error:
        found.take(error)
    return next((problem for problem in found.ordered() if problem.severity == "error"), None)
