"""The quick way for a conjunction of one conjunct."""

from __future__ import annotations

from instrc.flattening.conjunction import STRIPPED, Conjunct, Merging, PendingPart
from instrc.flattening.tracing import Tracing
from instrc.jsonvalue import Json
from instrc.schema.vocabulary import MANY, NAMED, ONE


def frame_of_one(run: Tracing, conjunct: Conjunct) -> Merging:
    """Return the frame of a conjunction of one conjunct: only what stands below it changes."""
    view, scope = conjunct.view, conjunct.scope
    references = scope.resource.dialect.references
    needs_flattening = run.store.needs_flattening
    out: dict[str, Json] = {}
    frame = Merging(out)
    pending = frame.pending
    for keyword, value in view.items():
        if keyword in STRIPPED or keyword == "allOf" or (keyword in references and value.__class__ is str):
            continue
        out[keyword] = value
        if isinstance(value, dict):
            if keyword in NAMED:
                changed: dict[str, Json] | None = None
                for name, child in value.items():
                    if child.__class__ is dict and id(child) in needs_flattening:
                        if changed is None:
                            out[keyword] = changed = value.copy()
                        pending.append(PendingPart(changed, name, [(child, run.store.below(child, scope))]))
            elif keyword in ONE and id(value) in needs_flattening:
                pending.append(PendingPart(out, keyword, [(value, run.store.below(value, scope))]))
        elif isinstance(value, list) and keyword in MANY:
            items: list[Json] | None = None
            for index, child in enumerate(value):
                if child.__class__ is dict and id(child) in needs_flattening:
                    if items is None:
                        out[keyword] = items = value.copy()
                    pending.append(PendingPart(items, index, [(child, run.store.below(child, scope))]))
    if run.options.trace:
        run.origins[id(out)] = (out, {keyword: [(conjunct, keyword)] for keyword in out})
    return frame
