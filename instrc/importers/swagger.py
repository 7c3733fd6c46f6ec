"""One operation of a Swagger 2.0 document becomes one tool, as an operation of OpenAPI 3 does.

What is different there: parameters are schemas themselves, a body and the fields of a form are parameters too, media types stand
in `consumes`, and a response holds its schema directly.
"""

from __future__ import annotations

from instrc.importers.given import Given
from instrc.importers.media_types import best_media_type
from instrc.importers.operation import Operation
from instrc.jsonvalue import Json, Location, as_object

_FORM = "application/x-www-form-urlencoded"
_FILES = "multipart/form-data"
_OF_A_PARAMETER = frozenset(
    {"name", "in", "required", "description", "allowEmptyValue", "collectionFormat", "deprecated", "example", "schema"}
)
"""Members that say something about a parameter and nothing about its values."""


class SwaggerOperation(Operation):
    """The making of one tool."""

    def __init__(self, given: Given, route: str, method: str, item: dict[str, Json], path: Location) -> None:
        super().__init__(given, route, method, item, path)
        self._bodies: list[tuple[dict[str, Json], Location]] = []

    def place_of(self, parameter: dict[str, Json], path: Location) -> str | None:
        """Return where a parameter goes; `None` for a body, which comes in when all parameters beside it are known."""
        if parameter.get("in") == "body":
            self._bodies.append((parameter, path))
            return None
        if parameter.get("in") != "formData":
            return super().place_of(parameter, path)
        kinds = self._consumed()
        if parameter.get("type") == "file" or (_FILES in kinds and _FORM not in kinds):
            self.extras["x-content-type"] = _FILES
        self.extras.setdefault("x-content-type", _FORM)
        return "body"

    def serialization(self, parameter: dict[str, Json]) -> dict[str, Json]:
        """Return how the value of a parameter is written, as far as the document says so."""
        return {"x-collection-format": parameter["collectionFormat"]} if "collectionFormat" in parameter else {}

    def schema_of(self, parameter: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema that a parameter is."""
        schema = {keyword: value for keyword, value in parameter.items() if keyword not in _OF_A_PARAMETER}
        if schema.get("type") == "file":
            schema |= {"type": "string", "format": "binary"}
        return schema, path

    def body(self) -> None:
        """Take the body of the request in."""
        for parameter, path in self._bodies[1:]:
            self.given.left_out(path, parameter["name"], "an operation has one body")
        for parameter, path in self._bodies[:1]:
            text = parameter.get("description")
            said: dict[str, Json] = {"description": text} if isinstance(text, str) else {}
            kind = best_media_type(dict.fromkeys(self._consumed() or ["application/json"]))
            self.put_in(parameter.get("schema"), (*path, "schema"), kind, said, required=parameter.get("required") is True)

    def _consumed(self) -> list[str]:
        """Return the media types of what is sent, those of the document if the operation names none."""
        for holder in (self.operation, as_object(self.given.value)):
            if isinstance(kinds := holder.get("consumes"), list):
                return [kind for kind in kinds if isinstance(kind, str)]
        return []

    def result_of(self, response: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema that a response gives, `None` if none, and its place."""
        schema = response.get("schema")
        if schema.__class__ is dict and schema.get("type") == "file":
            schema = {**schema, "type": "string", "format": "binary"}
        return schema, (*path, "schema")
