"""Ask a JSON Schema validator for its verdict; hostile schemas get an answer too."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from instrc.jsonvalue import Json, dumps, loads


@lru_cache(maxsize=512)
def validator(text: str) -> Any:
    """Return a validator of the schema that is written in a text."""
    from jsonschema import Draft202012Validator  # 100 ms, needed for answers and rare literals only

    return Draft202012Validator(loads(text))


_MOST_FOLLOWED = 10
"""References to references that are followed."""

ON_PURPOSE = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""What is raised on purpose; endless recursion may surface as a panic of the validator's own maps, which is no `Exception`."""


def accepts(schema: Json, value: Json, definitions: Json = None) -> bool:
    """Say whether a value satisfies a schema; a schema that cannot be judged accepts."""
    if isinstance(schema, bool):
        return schema
    if definitions:
        schema = {**schema, "$defs": definitions}
    try:
        return bool(validator(dumps(schema, indent=False)).is_valid(value))
    except ON_PURPOSE:
        raise
    except BaseException:  # noqa: BLE001  -- patterns Python cannot read, references that lead nowhere, endless recursion
        return True


class Judge:
    """The verdict on values of schemas that refer to common definitions, which are read once for all of them."""

    def __init__(self, definitions: Json) -> None:
        """`definitions` are schemas by name, and references to them begin with `#/$defs/`; `None` if there are none."""
        self._definitions: dict[str, Json] = definitions if isinstance(definitions, dict) else {}
        self._validator: Any = None

    def accepts(self, schema: Json, value: Json) -> bool:
        """Say whether a value satisfies a schema; a schema that cannot be judged accepts."""
        if isinstance(schema, bool):
            return schema
        try:
            if self._validator is None:
                from jsonschema import Draft202012Validator  # as above

                self._validator = Draft202012Validator({"$defs": self._definitions})
            return bool(self._validator.evolve(schema=schema).is_valid(value))
        except ON_PURPOSE:
            raise
        except BaseException:  # noqa: BLE001  -- as for `accepts`
            return True

    def seen_through(self, schema: Json) -> Json:
        """Return what a schema that only refers to a definition stands for."""
        for _ in range(_MOST_FOLLOWED):
            if not isinstance(schema, dict) or not isinstance(ref := schema.get("$ref"), str):
                break
            schema = self._definitions.get(ref.removeprefix("#/$defs/"), True)
        return schema
