"""Find where a part of a compiled tool was written: in a vibe, else at the step that has it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from instrc.flattening.flatten import flatten
from instrc.ir.fusion import Fusion
from instrc.ir.graph import Step
from instrc.jsonvalue import pointer, tokens
from instrc.problems.problem import CompileError

if TYPE_CHECKING:
    from instrc.flattening.provenance import KeywordOrigin
    from instrc.ir.artefact import Artefact
    from instrc.ir.plan import Plan
    from instrc.source import Span
    from instrc.vibes.registry import Registry
    from instrc.vibes.vibe import Vibe

_ITEM = re.compile(r"_item\d+$")
"""How the key of a step ends in a batch."""


class Places:
    """The places of one artefact; each vibe is flattened once, to know where its keywords come from."""

    def __init__(self, artefact: Artefact, file: str, registry: Registry) -> None:
        self.plan: Plan | None = artefact.plan
        self.file = file
        self.registry = registry
        self._origins: dict[str, Mapping[str, tuple[KeywordOrigin, ...]]] = {}

    def of(self, place: str) -> Span | None:
        """Return where the part at a JSON Pointer of the tool was written; `None` if that is not known."""
        try:
            if self.plan is None:
                return self._in_vibe(self.registry.open(Path(self.file)), place)
            return self._in_program(self.plan, tuple(map(str, tokens(place))))
        except (CompileError, OSError):
            return None

    def _in_program(self, plan: Plan, path: tuple[str, ...]) -> Span | None:
        steps = plan.flat.graph.steps
        by_key = {key: steps[number] for number, key in plan.keys.items()}
        step: Step | None
        if plan.bare and len(by_key) == 1:
            (step,) = by_key.values()
        elif path[:1] == ("properties",) and len(path) > 1:
            step, path = by_key.get(path[1]) or by_key.get(_ITEM.sub("", path[1])), path[2:]
        else:
            step = None
        return None if step is None else self._in_step(step, path)

    def _in_step(self, step: Step, path: tuple[str, ...]) -> Span:
        """Return the place in the vibe of a step, or of a mixin around it, that has the property; else the step's own."""
        content = step.content
        used = (content.instruction, *(each.mixin for each in content.mixins)) if isinstance(content, Fusion) else ()
        for uri in (each.uri for each in used):
            vibe = None if uri is None or "#" in uri else self.registry.load(uri)
            if vibe is not None and any(each.startswith(pointer(path[:2])) for each in self._origins_in(vibe)):
                return self._in_vibe(vibe, pointer(path))
        return step.span

    def _in_vibe(self, vibe: Vibe, place: str) -> Span:
        for origin in self._origins_in(vibe).get(place, ()):
            found = vibe.span(origin.pointer) if origin.uri in {"", vibe.uri} else self.registry.locate(*origin)
            if found is not None:
                return found
        return vibe.span(place)

    def _origins_in(self, vibe: Vibe) -> Mapping[str, tuple[KeywordOrigin, ...]]:
        found = self._origins.get(vibe.uri)
        if found is None:
            try:
                flat = flatten(vibe.schema, self.registry.documents, base=vibe.uri, trace=True, nullable=True, share=False)
                found = flat.origins
            except CompileError:  # what cannot be traced is told at the step
                found = {}
            self._origins[vibe.uri] = found
        return found
