"""A process: contexts of chunks and blocks, read from its JSON; and how its contexts and chunks are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from instrc.ir.executors import Executor
from instrc.ir.flow import Body, Context, all_contexts
from instrc.ir.process_writer import write_contexts
from instrc.ir.reads import written_value
from instrc.ir.steps import Chunk
from instrc.jsonvalue import LATEST_DRAFT, Json, JsonObject, as_object

if TYPE_CHECKING:
    from instrc.ir.block_json import UnreadableProcessError
    from instrc.problems.problem import CompileError

CONTEXT: dict[Executor, str] = {"model": "llmContext", "server": "serverContext", "user": "userContext"}
"""What a chunk is called among the properties of a process."""
CHUNK: dict[Executor, str] = {"model": "LLM", "server": "SERVER", "user": "USER"}
"""What it is called among the definitions."""
NOTHING: JsonObject = {"type": "object", "properties": {}}
"""The entry of a process that does not begin with the model."""

_WRITTEN = r"(llm|server|user|when|each|repeat|try|do|else)Context[0-9]*"
"""The names of contexts as they are written; a tool may well have a parameter `user_context`."""
_CERTAIN = r"(llm|server|when|each|repeat|try|do|else)Context[0-9]+"
"""Names that nobody gives to a parameter of a tool."""


class Process(Struct, frozen=True):
    """A process, read once: any engine can run it from this alone.

    True of this form: contexts stand in an order in which they can run, every reference in it leads somewhere,
    every block has its engine property.
    """

    body: Body
    title: str | None = None
    inputs: JsonObject | None = None
    """The schemas of its inputs by name; `None` where the document does not list them."""
    definitions: JsonObject = field(default_factory=dict)
    """What its steps refer to, by name; contexts are not among them."""
    about: JsonObject | None = None
    """What else the document says; `None` if it is an object of today's dialect that requires all contexts."""

    @classmethod
    def from_json(cls, document: Json) -> Process:
        """Read a process, compiled or by hand; `CompileError` with an `unreadable-process` for each fault if it is not one."""
        from instrc.ir.block_json import UnreadableProcessError  # who writes a process does not read one
        from instrc.ir.process_reader import body_of

        try:
            body = body_of(document)
        except (UnreadableProcessError, RecursionError) as error:
            raise _unreadable(document, error) from None
        return cls.of(as_object(document), body)

    def to_json(self) -> JsonObject:
        """Return the JSON of the process; read again it is the same process.

        It is the document it was read from in the spelling of the compiler: order of keywords, lists for single references.
        """
        written = write_contexts(self.body)
        return self.with_contexts(written.properties, written.definitions)

    def with_contexts(self, properties: JsonObject, definitions: JsonObject) -> JsonObject:
        """Return the JSON of the process around its contexts: the `properties` of its root, and what these refer to."""
        document = _usual(properties) if self.about is None else self.about
        whole: JsonObject = {"$schema": document["$schema"]} if "$schema" in document else {}
        if self.title is not None:
            whole["title"] = self.title
        whole |= {word: value for word, value in document.items() if word not in {"properties", "required"}}
        whole["properties"] = properties
        if "required" in document:
            whole["required"] = document["required"]
        if self.inputs is not None:
            whole["inputs"] = self.inputs
        if self.body.value is not None:
            whole["value"] = written_value(self.body.value)
        if definitions or self.definitions:
            whole["$defs"] = definitions | self.definitions
        return whole

    def contexts(self) -> Iterator[Context]:
        """Yield all contexts, each block before what is in it."""
        return all_contexts(self.body)

    @property
    def entry(self) -> JsonObject:
        """What the model fills in to start the process; an empty object if somebody else begins."""
        first = self.body.contexts[0]
        return first.schema if isinstance(first, Chunk) and first.executor == "model" else NOTHING

    @classmethod
    def find(cls, schema: Json) -> Process | None:
        """Return a schema that may be anything as a process; `None` if it is not one.

        `CompileError` as in `from_json` if the names of its contexts show that it is to be one, and it cannot be read:
        beside `llmContext1`, a `robotContext1` is a context of an unknown kind.
        """
        if not isinstance(schema, dict):
            return None
        properties = schema.get("properties")
        if not isinstance(properties, dict) or not properties:
            return None
        strange = False
        for name in properties:
            if "Context" not in name:  # spares most schemas the patterns
                return None
            strange = strange or not re.fullmatch(_WRITTEN, name)
        from instrc.ir.block_json import UnreadableProcessError  # as above
        from instrc.ir.process_reader import body_of, is_context

        if strange and (all(map(is_context, properties)) or not any(re.fullmatch(_CERTAIN, name) for name in properties)):
            return None
        try:
            body = body_of(schema)
        except (UnreadableProcessError, RecursionError) as error:
            if any(re.fullmatch(_CERTAIN, name) for name in properties):
                raise _unreadable(schema, error) from None
            return None
        return cls.of(schema, body)

    @classmethod
    def of(cls, document: JsonObject, body: Body) -> Process:
        """Return a document with its contexts."""
        title, inputs, definitions = document.get("title"), document.get("inputs"), document.get("$defs")
        taken: set[str] = {"properties", "value"}
        shapes: dict[str, type] = {"title": str, "inputs": dict, "$defs": dict}
        taken |= {word for word, shape in shapes.items() if isinstance(document.get(word), shape)}
        about = {word: value for word, value in document.items() if word not in taken}
        own = {context.definition for context in all_contexts(body)}
        return cls(
            body,
            title if isinstance(title, str) else None,
            inputs if isinstance(inputs, dict) else None,
            {name: each for name, each in definitions.items() if name not in own} if isinstance(definitions, dict) else {},
            None if about == _usual(as_object(document["properties"])) else about,
        )

    @staticmethod
    def describes(document: Json) -> bool:
        """Tell whether a document is a process by the names of its properties."""
        from instrc.ir.process_reader import is_context  # as above

        properties = document.get("properties") if isinstance(document, dict) else None
        return isinstance(properties, dict) and bool(properties) and all(map(is_context, properties))


def _unreadable(document: Json, error: UnreadableProcessError | RecursionError) -> CompileError:
    from instrc.ir.block_json import UnreadableProcessError  # only what is wrong needs these
    from instrc.ir.process_faults import faults_of
    from instrc.problems.problem import CompileError
    from instrc.problems.runs import UnreadableProcess

    if isinstance(error, UnreadableProcessError):
        return CompileError(UnreadableProcess(pointer=each.pointer, reason=each.reason) for each in faults_of(document, error))
    return CompileError([UnreadableProcess(pointer="", reason="its values are nested too deep")])


def _usual(contexts: JsonObject) -> JsonObject:
    """Return what the document of a process says beside its contexts, definitions and inputs."""
    return {"$schema": LATEST_DRAFT, "type": "object", "required": list(contexts)}
