"""Join the keywords that speak about items by position: `prefixItems` and `items`."""

from __future__ import annotations

from msgspec import Struct

from instrc.schema.resources import Term


class ItemRules(Struct):
    """What one schema says: its first items one by one, and all further ones (`None` if anything goes)."""

    prefix: list[Term]
    items: Term | None


def join(parts: list[ItemRules]) -> tuple[list[list[Term]], list[Term]]:
    """Return what each listed position and every further item must be.

    A position that one schema lists and another does not falls under the other's `items`.
    Beyond the end of a closed list nothing can stand, so nothing is listed there.
    """
    length = max(len(part.prefix) for part in parts)
    ends = [len(part.prefix) for part in parts if part.items is not None and part.items[0] is False]
    if ends:
        length = min(length, *ends)
    prefix: list[list[Term]] = [[] for _ in range(length)]
    for part in parts:
        for position in range(length):
            if position < len(part.prefix):
                prefix[position].append(part.prefix[position])
            elif part.items is not None:
                prefix[position].append(part.items)
    return prefix, [part.items for part in parts if part.items is not None]
