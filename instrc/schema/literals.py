"""What is wrong with a literal for the schema of its place, as far as that is certain; its formats are judged too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrc.jsonvalue import Json
from instrc.schema.evaluation import satisfies
from instrc.schema.walk import walk

if TYPE_CHECKING:
    from instrc.schema.validation import Violation


def literal_fault(value: Json, schema: Json) -> Violation | None:
    """Return why a literal cannot stand where a schema is asked for; `None` if it may."""
    if satisfies(value, schema) is not False:
        return missed_format(value, schema)
    from instrc.schema.validation import validate  # brings a library that few programs need

    return next(iter(validate(value, schema, most=1)), None)


def missed_format(value: Json, schema: Json) -> Violation | None:
    """Return which text in a literal has not the format that is asked of it; `None` if formats are not what is wrong."""
    formats = [node.get("format") for _, node in walk(schema) if isinstance(node, dict)]
    asked = {name for name in formats if isinstance(name, str)}
    if not asked:
        return None
    from instrc.schema.formats import has_format  # few literals have a format

    if all(has_format(name, text) for name in asked for text in _texts(value)):
        return None
    from instrc.schema.validation import is_valid, validate  # as above

    if not is_valid(value, schema, formats=False, unsure=False):
        return None
    return next(iter(validate(value, schema, most=1)), None)


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts in a literal that are values."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
