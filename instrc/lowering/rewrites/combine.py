"""Make one schema of the forms of a value, with what is said of it in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from instrc.ir.codec import Codec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject
from instrc.lowering.context import Context, Forms
from instrc.lowering.notes import join_notes
from instrc.lowering.progress import Progress, said
from instrc.lowering.rewrites import unions
from instrc.lowering.rewrites.scalars import plain_type
from instrc.lowering.variants import Variant
from instrc.schema.vocabulary import KEYWORDS, NO_ASSERTIONS

SILENT = frozenset({"$schema", "$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "title", "description"})
"""Annotations that have done their work in a flat schema, or are carried over elsewhere."""
_QUIET = SILENT | (KEYWORDS.keys() - NO_ASSERTIONS)
"""Keywords of which `described` has nothing to say."""
_IN_DESCRIPTION = "has no force; what a model can use of it is in the description"


Fitted: TypeAlias = tuple[JsonObject | None, Codec, Progress]
"""A schema in the target's words, `None` if there is no such value, the codec of its values, and what was found out."""


def fit(node: Json, context: Context, progress: Progress, forms: Forms, extra: Sequence[Variant] = ()) -> Fitted:
    """Return the schema in the target's words for a schema, with `extra` forms beside its own."""
    if not extra and (kind := plain_type(node, context)) is not None:
        return described(node, {"type": kind}, None, (), context.dialect, progress)
    found, progress = forms(node, context, progress)
    return combine(node, [*found, *extra] if extra else found, context, progress)


def combine(node: Json, forms: Sequence[Variant], context: Context, progress: Progress, notes: Sequence[str] = ()) -> Fitted:
    """Return one schema for several forms, described by what its node and the notes say of it."""
    if (plain := unions.plain(context.dialect, forms)) is not None:
        return described(node, plain, None, notes, context.dialect, progress)
    if len(forms) == 1 and forms[0].kind != "null":
        form = forms[0]
        told = [*form.notes, *([form.text] if form.text else ()), *notes]
        return described(node, form.body, form.codec, told, context.dialect, progress)
    return together(node, forms, context, progress, notes).fitted


class Together(NamedTuple):
    """One schema for several forms, and the forms as they stand in it: some are changed so that they can be told apart."""

    fitted: Fitted
    forms: Sequence[Variant]


def together(node: Json, forms: Sequence[Variant], context: Context, progress: Progress, notes: Sequence[str] = ()) -> Together:
    """Return one schema for several forms, and what became of them."""
    forms, progress = unions.merge_variants(context, forms, progress)
    if not forms:
        return Together((None, None, progress), forms)
    shared = [text for text in forms[0].notes if all(text in form.notes for form in forms if form.kind != "null")]
    if len(forms) == 1:
        shared += [text for text in [forms[0].text] if text]
    united, progress = unions.united(context, forms, tuple(shared), progress)
    told = [*united.notes, *notes]
    return Together(described(node, united.body, united.codec, told, context.dialect, progress), united.forms)


def described(node: Json, body: JsonObject, codec: Codec, notes: Sequence[str], dialect: Dialect, progress: Progress) -> Fitted:
    """Return a schema with title and description in front, annotations the target lacks among the latter."""
    if not isinstance(node, dict):
        text = join_notes(*notes) if notes else None
        return (_headed({"description": text}, body, {}) if text else body, codec, progress)
    head: JsonObject = {}
    tail: JsonObject = {}
    description, title = node.get("description"), node.get("title")
    description = description if isinstance(description, str) else None
    for keyword in node:
        if keyword in _QUIET:
            continue
        if keyword == "default" and codec is None and "default" in dialect.keywords:
            tail["default"] = node["default"]
            continue
        progress = progress.lose(node, keyword, "annotation", _IN_DESCRIPTION)
        if keyword in NO_ASSERTIONS and (text := said(node, keyword)):
            notes = [*notes, text]
    if title and isinstance(title, str):
        if "title" in dialect.keywords:
            head["title"] = title
        elif not description:
            description = title
        else:
            progress = progress.lose(node, "title", "annotation", "has no place beside the description")
    if text := join_notes(description, *notes) if notes else description:
        head["description"] = text
    if not tail and "$ref" not in body:
        return ({**head, **body} if head else body, codec, progress)
    return (_headed(head, body, tail) if head or tail else body, codec, progress)


def _headed(head: JsonObject, body: JsonObject, tail: JsonObject) -> JsonObject:
    """Return a schema with something in front and something behind; nothing may stand beside a reference."""
    return {**head, "anyOf": [body], **tail} if head and "$ref" in body else {**head, **body, **tail}
