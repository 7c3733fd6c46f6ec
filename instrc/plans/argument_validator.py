"""The verdict on the values of arguments."""

from __future__ import annotations

from instrc.jsonvalue import Json
from instrc.limits.runs import SHOWN_VERDICT
from instrc.schema.validation import validate

_SAYS_NOTHING = frozenset({"title", "description", "default", "examples", "contentMediaType", "contentEncoding", "$comment"})


class ArgumentValidator:
    """The verdict on values of one schema; a schema that cannot be applied accepts all."""

    def __init__(self, schema: Json, definitions: dict[str, Json]) -> None:
        self._schema = {**schema, "$defs": definitions} if definitions and schema.__class__ is dict else schema
        self._any_text = (
            isinstance(schema, dict) and schema.get("type") == "string" and _SAYS_NOTHING.issuperset(schema.keys() - {"type"})
        )

    def accepts(self, value: Json) -> bool:
        """Tell whether a value satisfies the schema."""
        return self.fault(value) is None

    def fault(self, value: Json) -> str | None:
        """Return what is wrong with a value, in a few words; `None` if nothing is."""
        if self._any_text and value.__class__ is str:  # most arguments of most tools
            return None
        for violation in validate(value, self._schema, most=1):
            if violation.keyword == "schema":  # the schema cannot be applied: that is not the plan's fault
                return None
            said = violation.message
            return said if len(said) <= SHOWN_VERDICT else f"{said[: SHOWN_VERDICT - 1]}…"
        return None
