"""Processes, and their JSON format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from instrc import problems
from instrc.process import chunk_json, flow
from instrc.process.process_json import body_of, is_context, write_contexts
from instrc.text.jsonvalue import LATEST_DRAFT, Json, JsonObject, as_object

if TYPE_CHECKING:
    from instrc.problems.errors import CompileError

PROCESS_VERSION: Final = 2
"""Version of the process JSON; written only by processes that use what it introduced."""
NOTHING: JsonObject = {"type": "object", "properties": {}}
"""Input schema of a process that does not start with the model."""
_BLOCKS = "|".join(flow.FORMS)
_WRITTEN = rf"(llm|server|user|{_BLOCKS})Context[0-9]*"
"""Context names as written; a tool may well have a parameter `user_context`."""
_CERTAIN = rf"(llm|server|{_BLOCKS})Context[0-9]+"
"""Context names that are never parameter names of a tool."""


class Process(Struct, frozen=True):
    """A parsed process: any engine can run it from this alone.

    Invariant: contexts are in a possible execution order, every reference resolves,
    and every block has its engine property.
    """

    body: flow.Body
    title: str | None = None
    inputs: JsonObject | None = None
    """Schemas of the inputs by name; `None` if the document does not list them."""
    definitions: JsonObject = field(default_factory=dict)
    """Definitions that the steps refer to, by name; contexts are not included."""
    about: JsonObject | None = None
    """Remaining keywords of the document; `None` for an object in the current dialect that requires all contexts."""

    @classmethod
    def from_json(cls, document: Json) -> Process:
        """Read a process, compiled or by hand; `CompileError` with the first fault, an `unreadable-process`, if it is not one."""
        _refuse_newer(document)
        try:
            body = body_of(document)
        except (chunk_json.UnreadableProcessError, RecursionError) as error:
            raise _unreadable(error) from None
        return cls.of(as_object(document), body)

    def to_json(self) -> JsonObject:
        """Return the JSON of the process; parsing it returns an equal process.

        It is the source document in the compiler's spelling: order of keywords, lists for single references.
        """
        written = write_contexts(self.body)
        return self.with_contexts(written.properties, written.definitions)

    def with_contexts(self, properties: JsonObject, definitions: JsonObject, *, ordered: bool = False) -> JsonObject:
        """Return the JSON of the process around its contexts: the `properties` of its root, and their definitions.

        With `ordered`, some step in them follows another one that it does not read.
        """
        document = _usual(properties) if self.about is None else self.about
        whole: JsonObject = {"$schema": document["$schema"]} if "$schema" in document else {}
        if self.title is not None:
            whole["title"] = self.title
        if (version := flow.ORDERED if ordered else flow.version_needed(self.contexts())) is not None:
            whole["instrc"] = version
        whole |= {word: value for word, value in document.items() if word not in {"properties", "required"}}
        whole["properties"] = properties
        if "required" in document:
            whole["required"] = document["required"]
        if self.inputs is not None:
            whole["inputs"] = self.inputs
        if self.body.value is not None:
            whole["value"] = flow.written_value(self.body.value)
        if definitions or self.definitions:
            whole["$defs"] = definitions | self.definitions
        return whole

    def contexts(self) -> Iterator[flow.Context]:
        """Yield all contexts, each block before its contents."""
        return flow.all_contexts(self.body)

    def steps(self) -> Iterator[flow.Step]:
        """Yield all steps, in the order of their contexts."""
        for context in self.contexts():
            yield from context.steps if isinstance(context, flow.Chunk) else ()

    def reads(self) -> Iterator[flow.Read]:
        """Yield every path that is read anywhere: by steps, conditions and values."""
        yield from flow.reads_of(self.body.value)
        for step in self.steps():
            yield from (*step.references, *flow.reads_of(step.engine.arguments), *(each.choices for each in step.among))
        for context in self.contexts():
            yield from flow.reads_before(context)
            for part in flow.parts_of(context):
                yield from flow.reads_of(part.body.value)
                yield from [read for read, _ in part.until.tests] if part.until else ()

    @property
    def entry(self) -> JsonObject:
        """The schema that the model completes to start the process, or an empty object if the model does not start it."""
        first = self.body.contexts[0]
        return first.schema if isinstance(first, flow.Chunk) and first.executor == "model" else NOTHING

    @classmethod
    def find(cls, schema: Json) -> Process | None:
        """Return any schema as a process, or `None` if it is not one.

        Raise `CompileError` as `from_json` does if the names of its contexts show that it is intended as one but is invalid:
        next to `llmContext1`, a `robotContext1` is a context of an unknown kind.
        """
        if not isinstance(schema, dict):
            return None
        properties = schema.get("properties")
        if not isinstance(properties, dict) or not properties:
            return None
        strange = False
        for name in properties:
            if "Context" not in name:  # avoids matching patterns for most schemas
                return None
            strange = strange or not re.fullmatch(_WRITTEN, name)

        if strange and (all(map(is_context, properties)) or not any(re.fullmatch(_CERTAIN, name) for name in properties)):
            return None
        if not strange:
            _refuse_newer(schema)
        try:
            body = body_of(schema)
        except (chunk_json.UnreadableProcessError, RecursionError) as error:
            if any(re.fullmatch(_CERTAIN, name) for name in properties):
                raise _unreadable(error) from None
            return None
        return cls.of(schema, body)

    @classmethod
    def of(cls, document: JsonObject, body: flow.Body) -> Process:
        """Return a process from a document and its contexts."""
        title, inputs, definitions = document.get("title"), document.get("inputs"), document.get("$defs")
        taken: set[str] = {"properties", "value"}
        if "instrc" in document and document["instrc"] == flow.version_needed(flow.all_contexts(body)):
            taken.add("instrc")
        shapes: dict[str, type] = {"title": str, "inputs": dict, "$defs": dict}
        taken |= {word for word, shape in shapes.items() if isinstance(document.get(word), shape)}
        about = {word: value for word, value in document.items() if word not in taken}
        own = {context.definition for context in flow.all_contexts(body)}
        return cls(
            body,
            title if isinstance(title, str) else None,
            inputs if isinstance(inputs, dict) else None,
            {name: each for name, each in definitions.items() if name not in own} if isinstance(definitions, dict) else {},
            None if about == _usual(as_object(document["properties"])) else about,
        )

    @staticmethod
    def describes(document: Json) -> bool:
        """Return whether the property names of a document are those of a process."""
        properties = document.get("properties") if isinstance(document, dict) else None
        return isinstance(properties, dict) and bool(properties) and all(map(is_context, properties))


def _refuse_newer(document: Json) -> None:
    """Raise for a process of a newer version, which could be misread."""
    version = document.get("instrc") if isinstance(document, dict) else None
    if isinstance(version, int) and version > PROCESS_VERSION:
        from instrc.problems.errors import CompileError

        raise CompileError([problems.runs.NewerProcess(version=version, known=PROCESS_VERSION)])


def _unreadable(error: chunk_json.UnreadableProcessError | RecursionError) -> CompileError:
    from instrc.problems.errors import CompileError

    if isinstance(error, chunk_json.UnreadableProcessError):
        return CompileError([problems.runs.UnreadableProcess(pointer=error.pointer, reason=error.reason)])
    return CompileError([problems.runs.UnreadableProcess(pointer="", reason="its values are nested too deeply")])


def _usual(contexts: JsonObject) -> JsonObject:
    """Return the keywords of a process document besides its contexts, definitions and inputs."""
    return {"$schema": LATEST_DRAFT, "type": "object", "required": list(contexts)}
