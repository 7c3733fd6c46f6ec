"""Encode a value with the map of one tool."""

from __future__ import annotations

from typing import cast

from instrc.problems.errors import AnswerError
from instrc.problems.targets import InvalidAnswer
from instrc.providers.arrange import arranged
from instrc.providers.codec import ToolMap
from instrc.providers.key_renaming import KeyRenamer, undeclared_key
from instrc.providers.targets import known_target
from instrc.providers.transcode import Inexpressible, Transcoder
from instrc.schema.validation import json_fault, validate
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, equal, pointer
from instrc.tools.python_values import json_of, why_unwritten


def encoded(value: object, record: ToolMap, schema: Json, *, check: bool = True) -> tuple[Json, bool]:
    """Return a value in its sent form, ordered by the payload's schema, and whether nulls had to be left out."""
    written = cast("Json", json_of(value, as_input=True))
    if (fault := json_fault(written)) is not None:
        reason = why_unwritten(value) if not fault[0] else ""
        raise AnswerError([InvalidAnswer(pointer=fault[0], reason=f"{fault[1]}: {reason}" if reason else fault[1])])
    own = record.schema
    if check:
        if wrong := validate(written, own):
            raise AnswerError([InvalidAnswer(pointer=item.instance, reason=item.message) for item in wrong])
        _refuse_undeclared(written, record)
    try:
        sent, left_out = Transcoder(record).write(arranged(written, own)), False
    except Inexpressible:
        spared = KeyRenamer(own, spare=True).converted(written, [own])
        if equal(spared, written):
            raise
        sent, left_out = Transcoder(record).write(spared), True
    return arranged(sent, schema), left_out


def _refuse_undeclared(value: Json, record: ToolMap) -> None:
    """Raise `Inexpressible` for a key that the schema allows and the payload's closed objects forbid."""
    dialect = known_target(record.target)
    if dialect is None or not dialect.closed:
        return
    place = undeclared_key(value, record.schema, levels=dialect.limits.depth)
    if place is not None:
        key, where = dumps(place[-1], indent=False), pointer(place[:-1]) or "/"
        message = (
            f"the key {key} at {where} is not declared, and `{dialect.name}` closes objects: "
            "declare it in `properties`, or allow other keys by `additionalProperties`"
        )
        raise Inexpressible(message)
