"""The verdict of a JSON Schema validator on the values of arguments."""

from __future__ import annotations

from typing import Any

from instrc.jsonvalue import Json

_LONGEST = 300
_STOP = (KeyboardInterrupt, SystemExit, GeneratorExit)


class Judge:
    """The verdict on values of one schema; a schema that cannot be applied accepts all."""

    def __init__(self, schema: Json, definitions: dict[str, Json]) -> None:
        self._schema = {**schema, "$defs": definitions} if definitions and schema.__class__ is dict else schema
        self._only_text = schema.__class__ is dict and schema.get("type") == "string" and _KNOWN.issuperset(schema)
        self._validator: Any = None

    def accepts(self, value: Json) -> bool:
        """Tell whether a value satisfies the schema."""
        return self.fault(value) is None

    def fault(self, value: Json) -> str | None:
        """Return what is wrong with a value, in a few words; `None` if nothing is."""
        if self._only_text and value.__class__ is str:  # most arguments of most tools
            return None
        try:
            if self._validator is None:
                from jsonschema import Draft202012Validator  # 100 ms, needed where there are values only

                self._validator = Draft202012Validator(self._schema)
            error = next(self._validator.iter_errors(value), None)
        except _STOP:
            raise
        except BaseException:  # noqa: BLE001  -- patterns Python cannot read, references that lead nowhere, endless recursion
            return None
        if error is None:
            return None
        said = str(error.message)
        return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


_KNOWN = frozenset({"type", "title", "description", "default", "examples", "contentMediaType", "contentEncoding", "$comment"})
