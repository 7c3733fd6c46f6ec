"""What steps have in common that differ in what they read only."""

from __future__ import annotations

from msgspec import Struct

from instrc.emit.hints import DescribedSchema
from instrc.jsonvalue import Json, JsonObject


class Frame(Struct, frozen=True):
    """All that a process says of a step that is given one path and nothing else, as most are, but for this path."""

    schema: JsonObject
    """With what is for the engine; `references` and `arguments` keep their places."""
    around: list[str] | None
    """What its description says around each place of the path; `None` if there is no hint."""

    def given(self, path: str) -> JsonObject:
        """Return the schema of the step that is given a path."""
        made = self.schema.copy()
        if self.around is not None:
            made["description"] = path.join(self.around)
        made["references"] = [path]
        made["arguments"] = path
        return made


class Form(Struct, frozen=True):
    """The schema of some steps, without what they read."""

    schema: Json
    room: DescribedSchema | None
    """The same with room for a hint, if it gets one."""
    frame: Frame | None = None
    """Only in a process, and only for steps of an instruction alone."""
