"""A process: contexts of chunks and blocks, read from its JSON; and how its contexts and chunks are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from instrc.ir.flow import Body, Chunk, Context, walk
from instrc.ir.graph import Executor
from instrc.ir.process_json import UnreadableProcessError, body_of, is_context
from instrc.jsonvalue import AnyJson as Json

CONTEXT: dict[Executor, str] = {"model": "llmContext", "server": "serverContext", "user": "userContext"}
"""What a chunk is called among the properties of a process."""
CHUNK: dict[Executor, str] = {"model": "LLM", "server": "SERVER", "user": "USER"}
"""What it is called among the definitions."""
NOTHING: Json = {"type": "object", "properties": {}}
"""The entry of a process that does not begin with the model."""

_WRITTEN = r"(llm|server|user|when|each|repeat|try|do|else)Context[0-9]*"
"""The names of contexts as they are written; a tool may well have a parameter `user_context`."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process, read once: any engine can run it from this alone.

    True of this form: contexts stand in an order in which they can run, every reference in it leads somewhere,
    every block has its engine property.
    """

    body: Body
    title: str | None
    inputs: dict[str, Json] | None
    """The schemas of its inputs by name; `None` where the document does not list them."""
    document: Json = field(repr=False)
    """The JSON it was read from."""

    @classmethod
    def from_json(cls, document: Json) -> Process:
        """Read a process, compiled or written by hand; `CompileError` with one `unreadable-process` problem if it is none."""
        from instrc.problems.launches import UnreadableProcess
        from instrc.problems.problem import CompileError  # only what is wrong needs it

        try:
            body = body_of(document)
        except UnreadableProcessError as error:
            raise CompileError([UnreadableProcess(pointer=error.pointer, reason=error.reason)]) from None
        except RecursionError:
            raise CompileError([UnreadableProcess(pointer="", reason="its values are nested too deep")]) from None
        return cls.of(document, body)

    def to_json(self) -> Json:
        """Return the JSON of the process, as it was read."""
        return self.document

    def contexts(self) -> Iterator[Context]:
        """Yield all contexts, each block before what is in it."""
        return walk(self.body)

    @property
    def entry(self) -> Json:
        """What the model fills in to start the process; an empty object if somebody else begins."""
        first = self.body.contexts[0]
        return first.schema if isinstance(first, Chunk) and first.executor == "model" else NOTHING

    @classmethod
    def find(cls, schema: Json) -> Process | None:
        """Return a schema that may be anything as a process; `None` if it is none."""
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(properties, dict) or not properties or not all(re.fullmatch(_WRITTEN, name) for name in properties):
            return None
        try:
            body = body_of(schema)
        except (UnreadableProcessError, RecursionError):
            return None
        return cls.of(schema, body)

    @classmethod
    def of(cls, document: Json, body: Body) -> Process:
        """Return a document with its contexts."""
        title, inputs = document.get("title"), document.get("inputs")
        return cls(body, title if isinstance(title, str) else None, inputs if isinstance(inputs, dict) else None, document)

    @staticmethod
    def describes(document: Json) -> bool:
        """Tell whether a document is a process by the names of its properties."""
        properties = document.get("properties") if isinstance(document, dict) else None
        return isinstance(properties, dict) and bool(properties) and all(map(is_context, properties))
