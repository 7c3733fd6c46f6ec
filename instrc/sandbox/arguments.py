"""The arguments of a tool that code calls, checked before the call leaves the process."""

from __future__ import annotations

from instrc.jsonvalue import Json
from instrc.schema.validation import validate

_SAMPLE: Json = {"type": "array", "anyOf": [{"$ref": "#/$defs/a"}], "pattern": "a", "format": "date-time", "$defs": {"a": False}}


class ToolParameters:
    """What one tool takes: the properties of a schema, in their order."""

    def __init__(self, tool: str, schema: Json) -> None:
        known = schema if isinstance(schema, dict) else {}
        properties, required = known.get("properties"), known.get("required")
        self._tool = tool
        self._properties: dict[str, Json] = properties if isinstance(properties, dict) else {}
        self._required = [name for name in required if name in self._properties] if isinstance(required, list) else []
        self._definitions = known.get("$defs", {})
        self._schemas = {name: self._with_definitions(part) for name, part in self._properties.items()}
        for part in (_SAMPLE, *self._schemas.values()):
            validate({}, part)  # whatever it loads late, it loads now: files cannot be read later
        self._is_open = not self._properties or known.get("additionalProperties") is True

    def named(self, given: list[Json], by_name: dict[str, Json]) -> dict[str, Json]:
        """Return all arguments by name; a `TypeError`, worded as Python words it, says what is wrong with them."""
        names = list(self._properties)
        if len(given) > len(names):
            self._fail(f"takes {len(names)} arguments but {len(given)} were given")
        found = dict(zip(names, given, strict=False))
        for name, value in by_name.items():
            if name in found:
                self._fail(f"got two values for the argument '{name}'")
            if name not in self._properties and not self._is_open:
                self._fail(f"got an unexpected argument '{name}': it takes {', '.join(names)}")
            found[name] = value
        found = {name: value for name, value in found.items() if value is not None or name in self._required}
        for name in self._required:
            if name not in found:
                self._fail(f"needs the argument '{name}'")
        for name, value in found.items():
            for violation in validate(value, self._schemas.get(name, True), most=1):
                self._fail(f"got a wrong argument '{name}': {violation.message}")
        return found

    def _with_definitions(self, schema: Json) -> Json:
        return {**schema, "$defs": self._definitions} if isinstance(schema, dict) and self._definitions else schema

    def _fail(self, reason: str) -> None:
        message = f"{self._tool}() {reason}"
        raise TypeError(message)
