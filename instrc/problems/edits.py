"""Make and apply the edits that problems carry."""

from __future__ import annotations

from collections.abc import Iterable

from instrc.problems.problem import Edit, Fix
from instrc.problems.suggest import surely
from instrc.source import Span

_QUOTES = frozenset({'"', "'"})


def replacement(at: Span | None, text: str, *, safe: bool = True) -> tuple[Fix, ...]:
    """Return the fix that replaces the text at a place; an empty text removes it."""
    if at is None:
        return ()
    if text == ":":  # it stands close to the key
        at = at.source.span(_close(at), at.end)
    title = f"replace by `{text.strip()}`" if text.strip() else f"remove `{at.text[:20]}`"
    return (Fix(title, (Edit(at, text),), safe),)


def insertion(at: Span | None, text: str, *, safe: bool = True) -> tuple[Fix, ...]:
    """Return the fix that inserts a text directly before a place; a comma is inserted directly after the word before it."""
    if at is None:
        return ()
    place = at.start
    if text == "," and _close(at) < place:
        place = _close(at)
    elif text == ",":
        text = ", "
    return (Fix(f"insert `{text.strip()}`", (Edit(Span(at.source, place, place), text),), safe),)


def _close(at: Span) -> int:
    """Return where the word before a place ends; the place itself if there is a comment between them."""
    before = at.source.text[: at.start].rstrip()
    line = before[before.rfind("\n") + 1 :]
    return at.start if "//" in line or "*/" in line else len(before)


def renamings(at: Span | None, word: str, names: tuple[str, ...]) -> tuple[Fix, ...]:
    """Return the fixes that replace a word, quoted or not, by another name; a fix is safe if the name is beyond doubt."""
    if at is None or not names:
        return ()
    quote = at.text[:1] if at.text[:1] in _QUOTES and at.text[-1:] == at.text[:1] else ""
    if at.text != f"{quote}{word}{quote}":
        return ()
    sure = surely(word, names)
    return tuple(
        Fix(f"replace by `{name}`", (Edit(at, f"{quote}{name}{quote}"),), sure and not number)
        for number, name in enumerate(names)
    )


def applied(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """Return a text with the edits of fixes applied, and their number; of two that overlap, only the first is applied."""
    taken: list[Edit] = []
    count = 0
    for fix in fixes:
        if not any(_touch(edit, other) for edit in fix.edits for other in taken):
            taken += fix.edits
            count += 1
    for edit in sorted(taken, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text, count


def _touch(one: Edit, other: Edit) -> bool:
    if one.span.start == other.span.start:
        return True
    return one.span.start < other.span.end and other.span.start < one.span.end
