"""What the descriptions of a document tell a model: the paths that a step reads, and what is left `null` for somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from instrc.emit.parts import has_output
from instrc.emit.paths import Paths, suffixed
from instrc.ir.paths import Path
from instrc.ir.plan import Plan
from instrc.ir.reads import Read
from instrc.jsonvalue import Json, JsonObject, as_object

LEFT_NULL = "Leave it null: it is given later by somebody else."
"""What the flat form says of what the model does not give."""
Purpose: TypeAlias = Literal["tool", "process", "flat", "result"]
"""What a step is rendered for: the model, its chunk, the whole chain as one model view, the contract of a finished run."""


class DescribedSchema(Struct, frozen=True):
    """A schema with room for a sentence at the end of its description."""

    schema: JsonObject
    before: str
    """What its description says already."""

    def saying(self, sentence: str) -> JsonObject:
        """Return the schema with a sentence."""
        return {**self.schema, "description": self.before + sentence}


class Hints:
    """The hints in one document; `sentence` has `{paths}` where the paths go, and is `None` if there are no hints."""

    def __init__(self, plan: Plan, part: Purpose, sentence: str | None, paths: Paths, items: tuple[int | None, ...]) -> None:
        self.graph = plan.flat.graph
        self.part = part
        self.sentence = sentence
        self._around_paths = (sentence or "").split("{paths}")
        self.paths = paths
        self._inputs: dict[str, Json] = {}
        """What the inputs say of themselves; a process lists its inputs, so that no hint repeats it."""
        if plan.shape != "process":
            self._inputs = {suffixed(name, item): each for name, each in self.graph.inputs.items() for item in items}
        self.tells_references = part == "process" and not self._inputs
        """Whether it tells the very paths that are written for the engine."""

    def told(self, reads: Sequence[Path], item: int | None) -> list[str]:
        """Return the paths that a step reads and that exist in this document, as a hint shows them."""
        if self.sentence is None:
            return []
        if self.part in {"flat", "result"}:
            reads = [path for path in reads if not self._is_absent(path)]
        if not self._inputs:
            return self.paths.references(reads, item)
        return [self._words_for(self.paths.read(path, item)) for path in self.paths.ordered(reads, item)]

    def room(self, schema: JsonObject) -> DescribedSchema | None:
        """Return a schema with room for a hint; `None` if there are no hints."""
        return None if self.sentence is None else with_room(schema)

    def said(self, told: Sequence[str]) -> str:
        """Return the hint for some paths."""
        return ", ".join(told).join(self._around_paths)

    def around(self, room: DescribedSchema) -> list[str]:
        """Return the parts of a description with a hint: before its path, and after it."""
        first, *others = self._around_paths
        return [room.before + first, *others]

    def _is_absent(self, path: Path) -> bool:
        """Tell whether a path leads to what the result drops, or to what somebody else gives to the flat form."""
        if self.part == "result":
            return any(name.startswith(("_", "$")) for name in path.tail)
        step = self.graph.steps.get(path.origin) if isinstance(path.origin, int) else None
        return step is not None and (step.executor in {"server", "user"} or step.output)

    def _words_for(self, read: Read) -> str:
        """Return a path with what the input says of itself: `prompt (What the user wants)`."""
        schema = self._inputs.get(read.first)
        if schema is None:
            return read.text
        for segment in read.segments[1:]:
            properties = schema.get("properties") if isinstance(schema, dict) else None
            schema = properties.get(segment.name) if isinstance(properties, dict) else None
        said = schema.get("description") if isinstance(schema, dict) else None
        words = " ".join(said.split()).removesuffix(".") if isinstance(said, str) else ""
        return f"{read.text} ({words})" if words else read.text

    def of_null(self, schema: Json) -> Json:
        """Say of what somebody else gives, a whole step or its `output`, that the model leaves it `null`."""
        if self.sentence is None or not isinstance(schema, dict):
            return schema
        if has_output(schema):
            properties = as_object(schema["properties"])
            output = properties["output"]
            said = with_room(output).saying(LEFT_NULL) if isinstance(output, dict) else output
            return {**schema, "properties": {**properties, "output": said}}
        return with_room(schema).saying(LEFT_NULL)


def with_room(schema: JsonObject) -> DescribedSchema:
    """Return a schema with room for a sentence; where there is no description it comes first, after a title."""
    if "description" in schema:
        return DescribedSchema(schema, f"{schema['description']}\n")
    if next(iter(schema), None) == "title":
        return DescribedSchema({"title": schema["title"], "description": "", **schema}, "")
    return DescribedSchema({"description": "", **schema}, "")
