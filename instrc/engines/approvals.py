"""The approval rule of a question, as its schema states it, the names in it, and the count of votes by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias
from unicodedata import category, normalize

from msgspec import Struct

from instrc import problems
from instrc.problems.errors import AnswerError
from instrc.runtime.activities import complaints
from instrc.runtime.questions import Question
from instrc.schema.vocabulary import APPROVAL
from instrc.schema.walk import nodes
from instrc.text.durations import is_duration, seconds
from instrc.text.jsontext import digest_of, dumps
from instrc.text.jsonvalue import Json, mapping

NOBODY: Final = "group:"
"""Candidate that matches no caller, used if no approver can be determined."""
ERASED: Final = "erased:"
"""Name of a person that was erased, and the prefix of their pseudonyms in the audit log."""
REFUSAL: Final = "Reject"
"""The `decision` with which a person refuses."""


class Opening(Struct, frozen=True):
    """The candidates and the due time of a question, fixed when it opens."""

    candidates: Sequence[str]
    due: float | None = None


class OwnOpening(Protocol):
    """An `OpeningOf` by the settings of a service."""

    def __call__(self, program: str, question: Question, *, named: bool = True) -> Opening:
        """Return who may answer a question of a run; `named` is whether its project has a name."""


OpeningOf: TypeAlias = "Callable[[str, Question], Opening]"
"""Returns who may answer a question of a program, and when the answer is due."""


class Vote(Struct, frozen=True):
    """The answer of one person."""

    who: str
    means: str
    at: float
    data: Json
    comment: str | None = None
    sender: str | None = None
    """Who asked for the link by which the person answered."""
    excludes: bool | None = None
    """Whether its question excluded anybody (`x-not`); `None` if that is not known, as of an answer of an earlier release."""

    @property
    def people(self) -> frozenset[str]:
        """The people who may have given the answer: the one it names, and the one who requested the link."""
        return frozenset(map(known_as, (self.who, self.sender or self.who)))

    def may_be_of(self, other: Vote) -> bool:
        """Return whether one person may have given both answers, possibly as an outsider with the same name."""
        return not self.people.isdisjoint(other.people)


class Approval(Struct, frozen=True):
    """The rule of a question: who answers, how many must agree, who is excluded."""

    approvers: tuple[str, ...] = ()
    """Approvers named by the program (`x-approvers`); empty if the settings name them."""
    needed: int = 1
    """Number of different people who must agree (`x-needed`)."""
    veto: bool = True
    """Whether one refusal decides (`x-veto`)."""
    claim: float | None = None
    """Duration of a claim in seconds (`x-claim`); `None` for that of the settings."""
    excluded: frozenset[str] = frozenset()
    """People who may not answer (`x-not`), such as the starter of the run: four eyes."""
    outsiders: bool = False
    """Whether a link may be for a person who is not a candidate (`x-links`)."""

    def require_fit(self, question: Question, data: Json) -> None:
        """Raise for an answer that violates the schema of its question, with all errors and their places."""
        wrong = complaints(data, question.schema)
        if wrong:
            raise AnswerError(
                problems.runs.RejectedAnswer(step=question.id, pointer=each["pointer"], reason=each["message"]) for each in wrong
            )

    def tally(self, votes: Sequence[Vote]) -> Vote | None:
        """Return the deciding answer once enough people agree or one refuses, or `None`.

        People agree if they gave the same answer, whatever its comments are. Answers that may be of one person count once.
        """
        if self.needed <= 1:
            return votes[0] if votes else None
        sides: dict[str, list[Vote]] = {}
        for vote in votes:
            if self.veto and is_refusal(vote.data):
                return vote
            sides.setdefault(side_of(vote.data), []).append(vote)
        for side in sides.values():
            if _apart(side) >= self.needed:
                return side[-1]
        refused = [vote for vote in votes if is_refusal(vote.data)]
        people = len([each for each in self.approvers if each not in self.excluded])
        grouped = any(each.startswith("group:") or each == ALL for each in self.approvers)  # a group has any number of members
        certain = people and not grouped and not self.outsiders  # who may agree as well
        return refused[-1] if refused and certain and people - len(refused) < self.needed else None


def _apart(votes: Iterable[Vote]) -> int:
    """Return the number of answers that must come from different people, counting the earliest first."""
    people, count = frozenset[str](), 0
    for vote in votes:
        if people.isdisjoint(vote.people):
            people, count = people | vote.people, count + 1
    return count


def agreeing(votes: Sequence[Vote], decided: Vote) -> str:
    """Return the people whose answer agrees with the deciding one, as text in which a name with a comma is not read as two."""
    side = side_of(decided.data)
    return ", ".join(_written(each.who) for each in votes if side_of(each.data) == side)


def agreed(name: str, who: str) -> bool:
    """Return whether a person is among the people in a text of `agreeing`, also as an outsider with their name."""
    return any(f", {_written(each)}, " in f", {who}, " for each in (name, f"{OUTSIDER}{known_as(name)}"))


def _written(name: str) -> str:
    return dumps(name) if "," in name else name


def is_refusal(data: Json) -> bool:
    """Return whether an answer is a refusal: all that it decides, in each of its steps, is `Reject`.

    One refusal may decide for all, so no answer is one that lets anything else take effect.
    """
    decided = _decisions(data)
    complete = isinstance(data, dict) and ("decision" in data or len(decided) == len(data))
    return bool(decided) and complete and all(each == REFUSAL for each in decided)


def side_of(data: Json) -> str:
    """Return a digest of an answer, equal for people who agree: on a refusal, or on all but the text `comment` of a decision."""
    if is_refusal(data) or not isinstance(data, dict):
        return digest_of(_decisions(data) or data)
    return digest_of(_uncommented({key: _uncommented(each) if isinstance(each, dict) else each for key, each in data.items()}))


def _decisions(data: Json) -> list[Json]:
    """Return the decisions in an answer and in the answers of its steps."""
    parts = [data, *data.values()] if isinstance(data, dict) else []
    return [part["decision"] for part in parts if isinstance(part, dict) and "decision" in part]


def _uncommented(part: dict[str, Json]) -> dict[str, Json]:
    is_comment = "decision" in part and isinstance(part.get("comment"), str)
    return {key: each for key, each in part.items() if key != "comment" or not is_comment}


def disputed_by(earlier: Iterable[Vote], vote: Vote) -> Vote | None:
    """Return an earlier answer with the same decision as a vote, but with other data: one of the two must not take effect."""
    alike = (each for each in earlier if _decisions(vote.data) and _decisions(each.data) == _decisions(vote.data))
    return next((each for each in alike if side_of(each.data) != side_of(vote.data)), None)


ALL: Final = "*"
"""All programs; among candidates, everybody."""
OUTSIDER: Final = "link:"
"""Prefix of the name of a person who is known only by a link."""


def normal_name(text: str) -> str:
    """Return a name in the form in which names are compared: NFKC, single spaces, no invisible characters."""
    text = " ".join(normalize("NFKC", text).split())
    if text.isprintable() and not _EMPTY.search(text):  # as nearly all: lists of people may be long
        return text
    seen = [each for each in text if not (category(each) in _UNSEEN or _EMPTY.match(each))]
    return " ".join(normalize("NFKC", "".join(seen)).split())


def known_as(name: str) -> str:
    """Return a name without the prefix of outsiders, who count as the person with the same name."""
    return re.sub(f"^(?:key:|{OUTSIDER})+", "", name)


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs"})
"""Categories of control and format characters, and of halves of characters, which no database holds."""
_EMPTY: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\ufe00-\ufe0f\U000e0000-\U000e0fff]")
"""Characters of other categories that show nothing: fillers, joiners and variation selectors (`Default_Ignorable_Code_Point`)."""


_LONGEST: Final = 500
"""Maximum characters of a name: databases have them in an index, and a run may state any."""


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
        word = re.sub(f"(?i)^(key|group|{OUTSIDER[:-1]}) ?: ?", lambda found: f"{found[1].lower()}:", normal_name(word))
        if self.issuer is None or word == ALL or word.startswith(("group:", "oidc:", "key:", OUTSIDER)):
            return (word.removeprefix("key:"),)
        subject = f"oidc:{self.issuer}#{word}"
        return (word, subject) if self.has_keys else (subject,)

    def clear(self, words: Iterable[str]) -> list[str]:
        """Return the names that words mean, without ambiguous and overlong ones, which match no person."""
        return [names[0] for names in map(self.read, words) if len(names) == 1 and len(names[0]) <= _LONGEST]


def approval_of(question: Question, starters: Iterable[str | None], names: NameRules = NameRules()) -> Approval:  # noqa: B008  -- it is a value
    """Return the rule in the schema of a question; `starters` started the run, or one it was forked from.

    An ambiguous name approves nothing, and excludes everybody it may refer to; so does the name of an erased starter.
    If the rule is invalid, or `x-approvers` is empty, no one can answer.
    A rule of any part of the schema counts for the whole answer.
    """
    stated = {key: [node[key] for node in nodes(question.schema) if key in node] for key in APPROVAL}
    members = mapping(mapping(question.schema).get("properties"))
    steps = [members.get(step) for step in question.steps] if len(question.steps) > 1 else [question.schema]
    counts = [each for each in stated["x-needed"] if isinstance(each, int) and not isinstance(each, bool) and each >= 1]
    readable = len(counts) == len(stated["x-needed"]) and all(_are_people(each) for each in stated["x-not"])
    listed = common(names.clear(_people(each)) for each in stated["x-approvers"]) if readable and stated["x-approvers"] else []
    barred = {normal_name(word) for each in stated["x-not"] for word in _people(each)}
    excluded = {name for word in barred for name in names.read(word)}
    if "starter" in map(str.lower, barred):
        excluded.update(ALL if each == ERASED else each for each in starters if each is not None)
    return Approval(
        tuple(listed) or ((NOBODY,) if stated["x-approvers"] or not readable else ()),
        max(counts, default=1),
        not stated["x-veto"] or any(each is not False for each in stated["x-veto"]),
        min((seconds(each) for each in stated["x-claim"] if isinstance(each, str) and is_duration(each)), default=None),
        frozenset(excluded),
        all("x-links" in mapping(step) for step in steps) and all(each is True for each in stated["x-links"]),
    )


def common(lists: Iterable[Sequence[str]]) -> list[str]:
    """Return the candidates that every list has; one with `*` has everybody."""
    limited = [dict.fromkeys(each) for each in lists if ALL not in each] or [{ALL: None}]
    return [name for name in limited[0] if all(name in each for each in limited)]


_MOST: Final = 1000
"""Maximum people of a list, which a value of a run may give: each is compared and stored for each question."""


def _people(said: Json) -> list[str]:
    """Return the people of a list that is not too long, or the only one."""
    listed = [said] if isinstance(said, str) else said if isinstance(said, list) and len(said) <= _MOST else []
    return [str(each) for each in listed if isinstance(each, str | int)]


def _are_people(said: Json) -> bool:
    return isinstance(said, str | list) and len(_people(said)) == (len(said) if isinstance(said, list) else 1)
