"""Report what cannot be and what gets lost, with the places where both sides were written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from instrc import problems
from instrc.jsonvalue import Json, dumps, pointer
from instrc.schema.objects import Lost
from instrc.schema.pieces import Piece

if TYPE_CHECKING:
    from instrc.schema.fold import Folder  # it calls us with itself

_SHORT = 60
_RULING_OUT = ("const", "enum", "type", "properties")


def report_contradiction(folder: Folder, left: tuple[Piece, str], right: tuple[Piece, str]) -> None:
    """Warn of two keywords that leave nothing."""
    report = folder.options.report
    if report is not None:
        one, other = origin(folder, *left), origin(folder, *right)
        report.add(problems.schemas.Contradiction(at=other.at or one.at, left=one, right=other))


def report_refusal(folder: Folder, pieces: Sequence[Piece], keyword: str) -> None:
    """Warn of a keyword all of whose branches are ruled out, beside the keyword that is likeliest to do so."""
    refused = next(piece for piece in reversed(pieces) if keyword in piece.view)
    others = ((piece, word) for word in _RULING_OUT for piece in reversed(pieces) if word in piece.view)
    report_contradiction(folder, next(others, (refused, keyword)), (refused, keyword))


def report_lost(folder: Folder, pieces: list[Piece], lost: Lost) -> None:
    """Warn of a property that a closed schema forbids."""
    report = folder.options.report
    if report is None:
        return
    closer = pieces[lost.closer]
    keyword = "additionalProperties" if closer.view.get("additionalProperties") is False else "unevaluatedProperties"
    closed = origin(folder, closer, keyword)
    schemas = [schema for schema, _ in lost.terms]
    holder = next((piece for piece in pieces if _describes(piece, lost.name, schemas)), None)
    if holder is None:
        return  # it is only known to be looked at elsewhere
    described = origin(folder, holder, "properties", lost.name)
    report.add(problems.schemas.ClosedAway(at=closed.at or described.at, key=lost.name, closed=closed, described=described))


def _describes(piece: Piece, name: str, schemas: list[Json]) -> bool:
    properties = piece.view.get("properties")
    return properties.__class__ is dict and name in properties and any(properties[name] is schema for schema in schemas)


def origin(folder: Folder, piece: Piece, *path: str) -> problems.schemas.Origin:
    """Return where a keyword, or what it holds under a name, was written."""
    library = folder.library
    uri, place = library.where(piece.node) or ("", "")
    place += pointer(path)
    value: Json = piece.view
    for step in path:
        value = value[step]
    return problems.schemas.Origin(uri=uri, pointer=place, value=in_short(value), at=library.place(uri, place))


def in_short(value: Json) -> str:
    """Return a value as JSON on one line, cut if it is long."""
    text = dumps(value, indent=False)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
