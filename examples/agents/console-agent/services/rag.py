"""`POST /search {question, top_k}`: answers from the documents beside this file, found by BM25 over stems of words."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from serve import main

DOCUMENTS = Path(__file__).parent / "documents"
_WORD = re.compile(r"\w+")
_RUSSIAN = """
ами ями ого его ому ему ыми ими иях ах ях ов ев ей ой ый ий ая яя ое ее ые ие ую юю ам ям ом ем ешь ет ют ут ить ать ять
ла ло ли а я о е ы и у ю ь й
"""
_ENGLISH = "s es ed ing ly"
_ENDINGS = sorted(f"{_RUSSIAN} {_ENGLISH}".split(), key=len, reverse=True)
_SMALL = "и в во на не что как а то о об по из за для с со к ко у от до при это эта этот the a an of in on is are to and what how"
_STOP = frozenset(_SMALL.split())
_K, _B = 1.5, 0.75


class Chunk(NamedTuple):
    """A section of a document."""

    title: str
    text: str
    words: Counter[str]


class Index:
    """Sections by the stems of their words."""

    def __init__(self, folder: Path = DOCUMENTS) -> None:
        self.chunks = [chunk for path in sorted(folder.glob("*.md")) for chunk in _chunks(path.read_text("utf-8"))]
        self._holding = Counter(word for chunk in self.chunks for word in chunk.words)
        self._mean = sum(sum(chunk.words.values()) for chunk in self.chunks) / max(len(self.chunks), 1)

    def search(self, question: str, count: int) -> list[Chunk]:
        """Return the sections that fit best, those that share no word left out."""
        words = stems(question)
        ranked = sorted(((self._score(chunk, words), -number) for number, chunk in enumerate(self.chunks)), reverse=True)
        return [self.chunks[-place] for score, place in ranked[:count] if score > 0]

    def _score(self, chunk: Chunk, words: list[str]) -> float:
        length = _K * (1 - _B + _B * sum(chunk.words.values()) / self._mean)
        return sum(self._rarity(word) * chunk.words[word] * (_K + 1) / (chunk.words[word] + length) for word in set(words))

    def _rarity(self, word: str) -> float:
        found = self._holding[word]
        return math.log(1 + (len(self.chunks) - found + 0.5) / (found + 0.5)) if found else 0.0


def stems(text: str) -> list[str]:
    """Return the words of a text without their endings."""
    words = (word for word in _WORD.findall(text.lower().replace("ё", "е")) if word not in _STOP)
    return [
        next((word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), word) for word in words
    ]


def answer(index: Index, given: dict[str, Any]) -> dict[str, Any]:
    """Return the answer, and the titles and texts it is taken from."""
    question, count = given.get("question"), given.get("top_k", 2)
    if not isinstance(question, str) or not question.strip():
        return {"error": "the parameter `question` is missing"}
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 20:
        return {"error": "`top_k` is a number from 1 to 20"}
    found = index.search(question, count)
    said = _sentence(found[0].text, set(stems(question))) if found else "В документах об этом ничего нет."
    return {"answer": said, "chunk_title_list": [chunk.title for chunk in found], "chunk_texts": [chunk.text for chunk in found]}


def _sentence(text: str, words: set[str]) -> str:
    """Return the sentence of a section that shares most with the question."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return max(sentences, key=lambda sentence: len(words & set(stems(sentence))))


def _chunks(text: str) -> list[Chunk]:
    title, *sections = re.split(r"^## +", text, flags=re.MULTILINE)
    name = title.strip().removeprefix("# ").splitlines()[0]
    made = []
    for section in sections:
        head, _, body = section.partition("\n")
        plain = " ".join(body.split())
        made.append(Chunk(f"{name}: {head.strip()}", plain, Counter(stems(f"{name} {head} {plain}"))))
    return made


if __name__ == "__main__":
    known = Index()
    main("/search", lambda given: answer(known, given), 8001)
