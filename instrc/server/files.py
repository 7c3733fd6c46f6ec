"""Files that people upload with their answers: stored beside a run, and named by a reference in the answer."""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256
from time import time
from typing import Final
from urllib.parse import quote

import sqlalchemy as sa
from msgspec import Struct

from instrc import problems
from instrc.engines.approvals import normal_name
from instrc.engines.service_tables import FILES, RUNS
from instrc.problems.errors import AnswerError, LimitError
from instrc.runtime.questions import Question
from instrc.server.records import Records
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

OTHER: Final = "bin"
_BEGINNINGS: Final = {
    "png": ("image/png", rb"\x89PNG\r\n\x1a\n"),
    "jpg": ("image/jpeg", rb"\xff\xd8\xff"),
    "gif": ("image/gif", rb"GIF8[79]a"),
    "webp": ("image/webp", rb"RIFF....WEBP"),
    "pdf": ("application/pdf", rb"%PDF-"),
}
"""Types of files that are recognized, and what the files begin with; all others are `OTHER`."""
_REFERENCE: Final = r"/inbox/runs/[^/\s]+/files/[0-9a-f]{64}\.([a-z]{3,4})"
_MOST: Final = 50
"""Maximum files of one run."""


class StoredFile(Struct, frozen=True):
    """A file, as it was uploaded."""

    name: str
    type: str
    data: bytes


def keep(records: Records, run: str, name: str, data: bytes, link: str | None = None) -> str:
    """Store a file of a run, and return its reference; raise `LimitError` if the run has too many, for a link half of them."""
    kind = next((kind for kind, (_, start) in _BEGINNINGS.items() if re.match(start, data, re.DOTALL)), OTHER)
    key = f"{sha256(data).hexdigest()}.{kind}"
    with suppress(sa.exc.IntegrityError), records.writing_of(run) as connection:  # it is stored already
        known = set(connection.scalars(sa.select(FILES.c.file).where(FILES.c.run == run)))
        if key not in known and len(known) >= (most := _MOST // 2 if link else _MOST):
            raise LimitError([problems.serving.TooMuch(what="files of a run", limit=most)])
        connection.execute(sa.insert(FILES).values(run=run, file=key, name=normal_name(name)[:200], at=time(), data=data))
    return reference_of(run, key)


def reference_of(run: str, key: str) -> str:
    """Return the reference of a file of a run: a path of the service."""
    return f"/inbox/runs/{quote(run, safe='')}/files/{key}"


def files_in(value: Json) -> set[str]:
    """Return the references of files in a value."""
    return {found[1] for found in re.finditer(f'"({_REFERENCE})"', dumps(value))}


def require_stored(records: Records, run: str, question: Question, data: Json) -> None:
    """Raise for an answer of a person that names a file of neither the run, a run that it stems from, nor what is shown."""
    named = files_in(data) - files_in(question.show) if question.by == "person" else set()
    for each in stems_of(records, run) if named else ():
        named -= {reference_of(each, row.file) for row in records.select(sa.select(FILES.c.file).where(FILES.c.run == each))}
    for each in sorted(named):
        reason = f"it names the file `{each}`, which the run does not have"
        raise AnswerError([problems.runs.RejectedAnswer(step=question.id, pointer="", reason=reason)])


def stems_of(records: Records, run: str) -> list[str]:
    """Return a run, and those that it was forked from."""
    runs = [run]
    for each in runs:
        rows = records.select(sa.select(RUNS.c.origin).where(RUNS.c.run == each, RUNS.c.origin.not_in(runs)))
        runs += [row.origin for row in rows]
    return runs


def stored_file(records: Records, run: str, key: str) -> StoredFile | None:
    """Return a file of a run."""
    row = next(iter(records.select(sa.select(FILES).where(FILES.c.run == run, FILES.c.file == key))), None)
    return None if row is None else StoredFile(row.name, type_of(key), row.data)


def type_of(reference: str) -> str:
    """Return the media type of a file by its reference."""
    return _BEGINNINGS.get(reference.rpartition(".")[2], ("application/octet-stream", b""))[0]


def is_reference(value: object) -> bool:
    """Return whether a value is the reference of a file."""
    return isinstance(value, str) and re.fullmatch(_REFERENCE, value) is not None


def fits(reference: str, media_type: str) -> bool:
    """Return whether a text is the reference of a file of a type such as `image/png` or `image/*`.

    What a file of another type begins with is not known, so any file fits.
    """
    group = media_type.removesuffix("*")
    known = [name for name, _ in _BEGINNINGS.values() if name == media_type or (group != media_type and name.startswith(group))]
    return is_reference(reference) and (not known or type_of(reference) in known)
