"""Find out what each comment belongs to.

* One on a line of its own belongs to the word behind it and stays above that.
* One at the end of a line belongs to the word before it and stays on its line.
* `/* … */` directly before a word stays directly before it; before a closing sign it belongs to the word before it.
"""

from __future__ import annotations

from msgspec import Struct

from instrc.ir.tree import Leaf, Tree, Trivia

_CLOSERS = frozenset({"RPAR", "RSQB", "RBRACE", "COMMA", "SEMICOLON", "VBAR", "COLON", "EQUAL", "DOT"})


class Comment(Struct, frozen=True, gc=False):
    """A comment as it is printed: directly before its word (`inline`) or on a line, perhaps with an empty one before it."""

    text: str
    inline: bool = False
    blank: bool = False


class WordComments(Struct, gc=False):
    """What belongs to one word: comments above and directly before it, and at the end of its line."""

    lead: tuple[Comment, ...] = ()
    blank: bool = False
    """Whether an empty line stands before the word and the comments directly before it."""
    trail: tuple[Comment, ...] = ()


_NOTHING = frozenset((Trivia("space", space),) for space in (" ", "\n", "\n  "))
"""What stands before most words, and says nothing."""


def comments_of_words(tree: Tree) -> tuple[dict[int, WordComments], tuple[Comment, ...]]:
    """Return what belongs to words by their offsets, and the comments behind the last line of the program.

    Most words are not among them: nothing belongs to those.
    """
    found: dict[int, WordComments] = {}
    last: Leaf | None = None
    for leaf in tree.leaves():
        if leaf.before and leaf.before not in _NOTHING:
            found[leaf.start] = here = WordComments()
            _share(leaf.before, last, leaf, _of(last, found), here)
        last = leaf
    end = WordComments()
    _share(tree.behind, last, None, _of(last, found), end)
    return found, end.lead


def _of(word: Leaf | None, found: dict[int, WordComments]) -> WordComments:
    """Return what belongs to a word so far."""
    return WordComments() if word is None else found.setdefault(word.start, WordComments())


def _share(gap: tuple[Trivia, ...], last: Leaf | None, leaf: Leaf | None, before: WordComments, here: WordComments) -> None:
    """Give the comments between two words to the one or the other."""
    if len(gap) == 1 and gap[0].kind == "space":  # as between most
        here.blank = _line_ends(gap[0].text) > 1
        return
    same_line = last is not None
    lines = 0
    for number, trivia in enumerate(gap):
        if trivia.kind == "space":
            lines += _line_ends(trivia.text)
            continue
        same_line = same_line and not lines
        blank, lines = lines > 1, 0
        text = _tidy(trivia.text)
        alone = text.startswith("/*") and "\n" not in text and not any(_ends_line(each) for each in gap[number + 1 :])
        if alone and leaf is not None and leaf.kind not in _CLOSERS:
            here.lead += (Comment(text, inline=True),)
            here.blank = here.blank or blank
        elif same_line:
            before.trail += (Comment(text),)
        else:
            here.lead += (Comment(text, blank=blank or here.blank),)
            here.blank = False
    here.blank = here.blank or lines > 1


def _ends_line(trivia: Trivia) -> bool:
    return trivia.text.startswith("//") or _line_ends(trivia.text) > 0


def _line_ends(text: str) -> int:
    if "\r" not in text:
        return text.count("\n")
    return text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


def _tidy(comment: str) -> str:
    """Return a comment with plain line ends and nothing invisible before them."""
    return "\n".join(line.rstrip() for line in comment.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
