"""Find the tool that a name stands for, as models and the frameworks around them write names."""

from __future__ import annotations

import re

from instrc.codecs.maps import Records, map_of
from instrc.jsonvalue import JsonObject, mapping
from instrc.limits.payloads import CALLED_NAME
from instrc.problems.suggest import comparison_key

_BESIDE = re.compile(r"<\|[^|<>]*+\|>(?:commentary|analysis|final|json)?|\(\)\Z|:\d+\Z|[\s\"'`/]+\Z|\A[\s\"'`$]+")
"""What is no part of a name: marks of a chat template, an empty pair of brackets, the number of a call, quotes."""
_NAMESPACE = re.compile(r"__|[.:/]+")
"""What a namespace ends with: `functions.`, `default_api:`, `mcp__server__`."""


def named(name: str | None, records: Records) -> tuple[JsonObject | None, bool]:
    """Return the map of the tool that a name stands for, and whether it is written otherwise; no map if it stands for none.

    Read are another case, `-` for `_`, what stands beside the name, and a namespace before it; only where one tool fits.
    """
    exact = map_of(name, records)
    if exact is not None or name is None or len(name) > CALLED_NAME:
        return exact, False
    bare = name
    while (stripped := _BESIDE.sub("", bare)) != bare:
        bare = stripped
    for start in (0, *(end.end() for end in _NAMESPACE.finditer(bare))):
        found = _fitting(bare[start:], records)
        if len(found) == 1:
            return found[0], True
    return None, False


def _fitting(written: str, records: Records) -> list[JsonObject]:
    """Return the maps of the tools whose name, ours or the sent one, is this but for case and dashes."""
    if (exact := map_of(written, records)) is not None:
        return [exact]
    sought = comparison_key(written.strip().replace(" ", "_"))
    if not sought:
        return []
    return [record for sent, record in records.items() if sought in {comparison_key(sent), comparison_key(_own_name(record))}]


def _own_name(record: JsonObject) -> str:
    name = mapping(record.get("tool")).get("name")
    return name if isinstance(name, str) else ""


def names_of(records: Records) -> str:
    """Return our names of all tools, for a message."""
    names = [_own_name(record) or sent for sent, record in records.items()]
    shown = ", ".join(f"`{name}`" for name in names[:5])
    return f"{shown}, …" if len(names) > 5 else shown
