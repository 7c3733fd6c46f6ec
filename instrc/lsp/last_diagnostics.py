"""What is known of a text between an edit and the next full check: the problems found last, moved along with the text."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from instrc.lsp.positions import Lines
from instrc.lsp.segments import changed_range


@dataclass(frozen=True, slots=True)
class LastDiagnostics:
    """Problems as they were shown for a text, without those that reading alone finds."""

    lines: Lines
    shown: tuple[types.Diagnostic, ...]

    def moved(self, lines: Lines) -> LastDiagnostics:
        """Return the problems that an edit has left alone, where they stand now."""
        old, new = self.lines.source.text, lines.source.text
        if not self.shown or old == new:
            return LastDiagnostics(lines, self.shown)
        first, last = changed_range(old, new)
        by = len(new) - len(old)
        kept: list[types.Diagnostic] = []
        for each in self.shown:
            start, end = self.lines.offset(each.range.start), self.lines.offset(each.range.end)
            if end < first:
                kept.append(each)
            elif start > last:
                place = types.Range(lines.position(start + by), lines.position(end + by))
                kept.append(_at(place, each))
        return LastDiagnostics(lines, tuple(kept))


def _at(place: types.Range, shown: types.Diagnostic) -> types.Diagnostic:
    return types.Diagnostic(
        range=place,
        message=shown.message,
        severity=shown.severity,
        code=shown.code,
        source=shown.source,
        tags=shown.tags,
        related_information=shown.related_information,
    )
