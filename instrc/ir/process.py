"""A process: contexts of chunks and blocks, read from its JSON; and how its contexts and chunks are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from instrc.ir.flow import Body, Context, walk
from instrc.ir.graph import Executor
from instrc.ir.process_json import UnreadableProcessError, body_of, is_context
from instrc.jsonvalue import AnyJson as Json

CONTEXT: dict[Executor, str] = {"model": "llmContext", "server": "serverContext", "user": "userContext"}
"""What a chunk is called among the properties of a process."""
CHUNK: dict[Executor, str] = {"model": "LLM", "server": "SERVER", "user": "USER"}
"""What it is called among the definitions."""
NOTHING: Json = {"type": "object", "properties": {}}
"""The entry of a process that does not begin with the model."""

_CONTEXT = re.compile(f"({'|'.join(CONTEXT.values())})[0-9]*")


def contexts_of(schema: Json) -> dict[str, Json] | None:
    """Return the contexts of a flat process schema by name, in order; `None` if it is not one."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict) and properties and all(_CONTEXT.fullmatch(name) for name in properties):
        return properties
    return None


def executor_of(context: str) -> Executor:
    """Return who carries out a context, by its name."""
    return next(executor for executor, name in CONTEXT.items() if context.startswith(name))


def entry_of(contexts: dict[str, Json]) -> Json:
    """Return what the model fills in to start the process."""
    name, schema = next(iter(contexts.items()))
    return schema if executor_of(name) == "model" else NOTHING


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
        title, inputs = document.get("title"), document.get("inputs")
        return cls(body, title if isinstance(title, str) else None, inputs if isinstance(inputs, dict) else None, document)

    def to_json(self) -> Json:
        """Return the JSON of the process, as it was read."""
        return self.document

    def contexts(self) -> Iterator[Context]:
        """Yield all contexts, each block before what is in it."""
        return walk(self.body)

    @staticmethod
    def describes(document: Json) -> bool:
        """Tell whether a document is a process by the names of its properties."""
        properties = document.get("properties") if isinstance(document, dict) else None
        return isinstance(properties, dict) and bool(properties) and all(map(is_context, properties))
