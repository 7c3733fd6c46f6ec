"""Blocks as schemas: each is one definition whose engine property says all about it; what is in it is referred to."""

from __future__ import annotations

from instrc.emit.paths import Paths, suffixed
from instrc.ir.graph import Do, Each, Region, Repeat, Step, Try, When
from instrc.ir.plan import Chunk, Plan
from instrc.ir.process import CHUNK, CONTEXT
from instrc.jsonvalue import AnyJson as Json

_CONTEXTS: dict[str, str] = {str(executor): name for executor, name in CONTEXT.items()}
_CHUNKS: dict[str, str] = {str(executor): name for executor, name in CHUNK.items()}


def context_name(chunk: Chunk, item: int | None = None) -> str:
    """Return what a chunk is called among the properties of a process."""
    word = _CONTEXTS.get(chunk.executor, f"{chunk.executor}Context")
    return suffixed(f"{word}{chunk.index}", item)


def definition_name(chunk: Chunk, item: int | None = None) -> str:
    """Return what it is called among the definitions."""
    word = _CHUNKS.get(chunk.executor, chunk.executor.upper())
    return suffixed(f"{word}_{chunk.index}", item)


class Blocks:
    """The blocks of one plan."""

    def __init__(self, plan: Plan, paths: Paths) -> None:
        self.plan = plan
        self.paths = paths
        self._rounds = {chunk.block: chunk for chunk in plan.walk() if chunk.executor == "repeat"}

    def schema(self, chunk: Chunk, item: int | None = None) -> Json:
        """Return the schema of a block, or of the `else` of a `repeat`."""
        step = self.plan.flat.graph.steps[chunk.units[0]]  # type: ignore[index]  # a block is a single step
        made = self._schema(step, chunk, item)
        return made if step.about is None or chunk.executor == "else" else {"description": step.about, **made}

    def _schema(self, step: Step, chunk: Chunk, item: int | None) -> dict[str, Json]:
        content = step.content
        common = self._common(step, item)
        match content:
            case When(branches):
                made: list[Json] = []
                for number, branch in enumerate(branches):
                    engine = self.paths.condition(branch.condition, item) if branch.condition else {}
                    engine["value"] = self.paths.value(branch.body.value, item)
                    made.append({**self._branch(number, branch.body, item), "when": engine})
                if branches[-1].condition:
                    made.append({"type": "null"})
                return {"anyOf": made, "when": common}
            case Try():
                bodies = (content.body, content.otherwise)
                whole = [
                    {**self._branch(number, body, item), "try": {"value": self.paths.value(body.value, item)}}
                    for number, body in enumerate(bodies)
                ]
                return {"anyOf": whole, "try": common}
            case Each():
                return self._each(content, common, item)
            case Repeat() if chunk.executor == "else":
                return self._else(content, step, item)
            case Repeat():
                return self._repeat(content, common, item)
            case Do(body):
                return {**self._object(body, item), "do": {"value": self.paths.value(body.value, item), **common}}
            case _:
                return {}

    def _each(self, content: Each, common: dict[str, Json], item: int | None) -> dict[str, Json]:
        counted = isinstance(content.source, int)
        source: Json = content.source if isinstance(content.source, int) else self.paths.text(content.source, item)
        return {
            "type": "array",
            "items": self._object(content.body, item),
            **({"minItems": source} if counted else {}),
            "maxItems": source if counted else content.most,
            "each": {
                "item": self.plan.elements[content.body.number],
                "in": source,
                "value": self.paths.value(content.body.value, item),
                **common,
            },
        }

    def _repeat(self, content: Repeat, common: dict[str, Json], item: int | None) -> dict[str, Json]:
        engine: dict[str, Json] = {}
        if content.source is not None:
            engine["item"] = self.plan.elements[content.body.number]
            engine["in"] = self.paths.text(content.source, item)
        if content.until:
            engine["until"] = self.paths.condition(content.until, item)
        if content.keep is not None:
            engine["keep"] = content.keep
        if content.handed:
            engine["hands"] = self.paths.hands(content, item)
        engine["value"] = self.paths.value(content.body.value, item)
        least = 1 if content.source is None else 0
        return {
            "type": "array",
            "items": self._object(content.body, item),
            "minItems": least,
            "maxItems": content.most,
            "repeat": {**engine, **common},
        }

    def _else(self, content: Repeat, step: Step, item: int | None) -> dict[str, Json]:
        body = content.otherwise
        if body is None:
            return {}
        of = next(
            context_name(chunk, item) for chunk in self.plan.walk() if chunk.block == step.number and chunk.executor != "else"
        )
        engine = {"of": of, "value": self.paths.value(body.value, item)}
        return {"anyOf": [{**self._object(body, item), "else": engine}, {"type": "null"}]}

    def _common(self, step: Step, item: int | None) -> dict[str, Json]:
        """Return what any block may say: its deadline, its delay, its key."""
        made: dict[str, Json] = {}
        if step.timing.within is not None:
            made["within"] = step.timing.within
        if step.timing.delay is not None:
            made["delay"] = step.timing.delay
        if step.number in self.plan.keys:
            made["key"] = suffixed(self.plan.keys[step.number], item)
        return made

    def _branch(self, number: int, body: Region, item: int | None) -> dict[str, Json]:
        contexts = self._contexts(body, item)
        properties = {"branch": {"const": number}, **contexts}
        return {"type": "object", "properties": properties, "required": list(properties)}

    def _object(self, body: Region, item: int | None) -> dict[str, Json]:
        contexts = self._contexts(body, item)
        required = {"required": list(contexts)} if contexts else {}
        return {"type": "object", "properties": contexts, **required}

    def _contexts(self, body: Region, item: int | None) -> dict[str, Json]:
        return {
            context_name(chunk, item): {"$ref": f"#/$defs/{definition_name(chunk, item)}"}
            for chunk in self.plan.inside[body.number]
        }
