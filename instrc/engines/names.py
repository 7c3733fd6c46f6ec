"""The spelling of people, groups and everybody in settings and programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from unicodedata import category, normalize

from msgspec import Struct

ALL: Final = "*"
"""All programs; among candidates, everybody."""
OUTSIDER: Final = "link:"
"""Prefix of the name of a person who is known only by a link."""


def normal_name(text: str) -> str:
    """Return a name in the form in which names are compared: NFKC, single spaces, no invisible characters."""
    return " ".join("".join(each for each in normalize("NFKC", text) if category(each) != "Cf").split())


class NameRules(Struct, frozen=True):
    """Reads names of settings and programs: `key:NAME`, `oidc:ISSUER#SUB`, `group:NAME`, `*`, or a bare name.

    The owner of a key is named by the bare name; a bearer of a token, by `oidc:ISSUER#SUB`.
    A bare name in settings or a program is of the only issuer there is.
    """

    issuer: str | None = None
    """Identity provider; `None` if only keys are accepted."""
    has_keys: bool = True

    def read(self, word: str) -> tuple[str, ...]:
        """Return the possible meanings of a name: several where two issuers are configured and it names none."""
        word = normal_name(word)
        if self.issuer is None or word == ALL or word.startswith(("group:", "oidc:", "key:", OUTSIDER)):
            return (word.removeprefix("key:"),)
        subject = f"oidc:{self.issuer}#{word}"
        return (word, subject) if self.has_keys else (subject,)

    def clear(self, words: Iterable[str]) -> list[str]:
        """Return the names that words mean, without the ambiguous ones, which mean nobody."""
        return [names[0] for names in map(self.read, words) if len(names) == 1]
