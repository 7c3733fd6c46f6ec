"""The parameters of a tool, for checking calls."""

from __future__ import annotations

from instrc.schema.validation import validate
from instrc.text.jsonvalue import Json


class ToolParameters:
    """The parameters of one tool: the properties of a schema, in their order."""

    def __init__(self, tool: str, schema: Json) -> None:
        known = schema if isinstance(schema, dict) else {}
        properties, required = known.get("properties"), known.get("required")
        self._tool = tool
        self._properties: dict[str, Json] = properties if isinstance(properties, dict) else {}
        self._required = [name for name in required if name in self._properties] if isinstance(required, list) else []
        self._definitions = known.get("$defs", {})
        self._schemas = {name: self._with_definitions(part) for name, part in self._properties.items()}
        self._is_open = not self._properties or known.get("additionalProperties") is True

    def named(self, given: list[Json], by_name: dict[str, Json]) -> dict[str, Json]:
        """Return all arguments by name; raise a `TypeError` in Python's wording if they are wrong."""
        names = list(self._properties)
        if len(given) > len(names):
            self._fail(f"takes {len(names)} arguments but {len(given)} were given")
        arguments = dict(zip(names, given, strict=False))
        for name, value in by_name.items():
            if name in arguments:
                self._fail(f"got two values for the argument '{name}'")
            if name not in self._properties and not self._is_open:
                self._fail(f"got an unexpected argument '{name}': it takes {', '.join(names)}")
            arguments[name] = value
        arguments = {name: value for name, value in arguments.items() if value is not None or name in self._required}
        for name in self._required:
            if name not in arguments:
                self._fail(f"needs the argument '{name}'")
        for name, value in arguments.items():
            for violation in validate(value, self._schemas.get(name, True), most=1):
                self._fail(f"got a wrong argument '{name}': {violation.message}")
        return arguments

    def _with_definitions(self, schema: Json) -> Json:
        return {**schema, "$defs": self._definitions} if isinstance(schema, dict) and self._definitions else schema

    def _fail(self, reason: str) -> None:
        raise TypeError(f"{self._tool}() {reason}")
