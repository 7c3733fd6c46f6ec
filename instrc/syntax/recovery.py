"""Name what is wrong with a source that is no program."""

from __future__ import annotations

from instrc.problems.notation import UnexpectedText
from instrc.source import Source
from instrc.syntax.build import Builder
from instrc.syntax.tables import Tables


def recover(source: Source, automaton: Tables, builder: Builder) -> None:
    """Add the problems of a source."""
    del automaton
    builder.problems.append(UnexpectedText(at=source.whole(), what="something"))
