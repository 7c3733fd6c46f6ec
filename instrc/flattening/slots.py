"""Put schemas into the slots of mixins.

The slot `default` is replaced in place by the properties of what is put in; it is spliced, not intersected: what is put in
speaks about its own properties only, and must not forbid those of the mixin.  Other slots are filled by name,
as under `allOf`.  Both functions take and give flat schemas and change none of them.
"""

from __future__ import annotations

from instrc.flattening.definitions import Gathering
from instrc.flattening.flattener import intersect
from instrc.flattening.splicing import splice_parts
from instrc.jsonvalue import Json, as_object
from instrc.problems.report import Report
from instrc.source import Span


def splice(
    mixin: Json,
    filling: Json = None,
    *,
    report: Report | None = None,
    applied: str = "",
    at: Span | None = None,
) -> Json:
    """Return a mixin with something put into its slot `default`; `None` leaves the slot empty, so that it disappears.

    The result has the title and the description of what is put in, not those of the mixin.  It is closed if what is put in is,
    over all its properties.  If the mixin requires the slot, everything put in is required, unless that says itself what is.
    Without the slot, the mixin's properties come first.  What cannot be spliced, since it is no object, fills the property
    `default` as it is.  `applied` is how the mixin is referred to; it stands in the warnings that go to `report`.
    """
    gathering = Gathering()
    body = splice_parts(intersect, gathering.take(mixin), gathering.take(filling), report=report, applied=applied, at=at)
    return gathering.give(body)


def fill(mixin: Json, slot: str, filling: Json, *, report: Report | None = None) -> Json:
    """Return a mixin with something put into the slot of a name: both must hold, as under `allOf`."""
    gathering = Gathering()
    body, inside = gathering.take(mixin), gathering.take(filling)
    if body.__class__ is not dict:
        return mixin
    properties = dict(as_object(body.get("properties", {})))
    properties[slot] = intersect([properties[slot], inside], report=report) if slot in properties else inside
    return gathering.give({**body, "properties": properties})
