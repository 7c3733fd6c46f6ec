"""What has changed between two flat schemas, for those who write instances and for those who read them.

A change breaks a writer if something that was accepted no longer is; it breaks a reader if something comes that could not come.
`yes` is proven; `no` is shown by an instance; where neither is found the answer is `unknown`, and nothing is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass

from instrc.comparing.closing import closed
from instrc.comparing.definitions import named_alike
from instrc.comparing.differences import Change, differences
from instrc.comparing.inclusion import Inclusion, certainly_includes, includes
from instrc.jsonvalue import Json
from instrc.schema.upgrade import upgrade


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences, and whether one schema accepts what the other does."""

    changes: tuple[Change, ...]
    writers: Inclusion
    """Whether all that the old schema accepts is accepted by the new one."""
    readers: Inclusion
    """Whether all that the new schema accepts is accepted by the old one."""
    refused: Json = None
    """With `no` for writers: an instance that was accepted."""
    surprising: Json = None
    """With `no` for readers: an instance that could not come before."""
    refused_named: bool = False
    """With `no` for writers: whether one may be refused all of whose properties the old schema names."""
    surprising_named: bool = False
    """With `no` for readers: whether one may come all of whose properties the new schema names."""


def compare(old: Json, new: Json) -> Comparison:
    """Return what has changed from one flat schema to another; each is read in the words of its own draft."""
    old, new = upgrade(old), upgrade(new)
    new = named_alike(old, new)
    changes = tuple(differences(old, new))
    writers, refused = includes(new, old)
    readers, surprising = includes(old, new)
    if not changes and not writers == readers == "yes":
        changes = (Change("", "changed"),)
    refused_named = writers == "no" and not certainly_includes(new, closed(old))
    surprising_named = readers == "no" and not certainly_includes(old, closed(new))
    return Comparison(changes, writers, readers, refused, surprising, refused_named, surprising_named)
