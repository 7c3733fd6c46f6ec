"""The shared parts of an OpenAPI document, as the definitions of one tool."""

from __future__ import annotations

from urllib.parse import unquote

from instrc.flattening.definitions import ascii_name
from instrc.importers.directions import READ, Marks
from instrc.importers.given import File, Given
from instrc.importers.normalizing import DISCRIMINATOR, sound
from instrc.importers.references import localize_references
from instrc.jsonvalue import Json, Location, at, tokens
from instrc.limits.incoming import COMPONENT_HOPS
from instrc.naming import free_name
from instrc.problems.problem import CompileError
from instrc.schema.discriminators import expand_discriminators
from instrc.schema.drafts import LATEST, OPENAPI_3_0, Draft
from instrc.schema.normalize import Rules
from instrc.schema.walk import is_schema

_ELSEWHERE = "nothing is fetched from elsewhere"
_OUTSIDE = "it lies outside of the folder of the source"


class Components:
    """What the schemas of one operation refer to, gathered under `$defs`."""

    def __init__(self, given: Given, *, leave: str = READ) -> None:
        """With `leave`, the mark of the properties that stay out: those of answers, unless it says otherwise."""
        self.given = given
        self._leave = leave
        self.definitions: dict[str, Json] = {}
        self._names: dict[Location, str] = {}
        self._waiting: list[tuple[str, Json, Location]] = []
        self._rules = Rules(dialect=dialect_of(given.value), refer=self._refer, shorthand=False)

    def follow(self, value: Json, path: Location) -> tuple[Json, Location]:
        """Return what an object stands for that may be a reference, and its place; `None` if it leads nowhere."""
        for _ in range(COMPONENT_HOPS):
            reference = value.get("$ref") if value.__class__ is dict else None
            if reference.__class__ is not str:
                return value, path
            target, target_at = self._find(reference, path)
            if target is None:
                return None, path
            value, path = target, target_at
        self.given.left_out(path, "$ref", "it leads in a circle")
        return None, path

    def schema(self, raw: Json, path: Location) -> Json:
        """Return a normalized schema; what it refers to becomes a definition."""
        schema = sound(raw, path, self.given, self._rules)
        while self._waiting:
            name, definition, place = self._waiting.pop(0)
            self.definitions[name] = sound(definition, place, self.given, self._rules)
        return schema

    def spelt_out(self, schema: Json, path: Location) -> Json:
        """Return a schema, which the definitions of this object belong to, without the discriminators of OpenAPI."""
        places = {name: place for place, name in self._names.items()}
        written = {name: str(place[-1]).rpartition("/")[2].partition(".")[0] for name, place in places.items()}

        def spelt(part: Json, start: Location) -> Json:
            return expand_discriminators(
                part,
                self.definitions,
                written,
                lambda inner: self.given.left_out((*start, *inner), "discriminator", DISCRIMINATOR),
            )

        definitions = {name: spelt(definition, places[name]) for name, definition in self.definitions.items()}
        made = spelt(schema, path)
        self.definitions = definitions
        return made

    def is_left(self, schema: Json) -> bool:
        """Tell whether a property goes in the other direction only."""
        return Marks(self.definitions, self._leave).are_on(schema)

    def directed(self, schemas: dict[str, Json]) -> dict[str, Json]:
        """Return schemas, which the definitions of this object belong to, without what goes in the other direction."""
        marks = Marks(self.definitions, self._leave)
        self.definitions = {name: marks.without(each) for name, each in self.definitions.items()}
        return {name: marks.without(each) for name, each in schemas.items()}

    def whole(self, raw: Json, path: Location) -> Json:
        """Return a normalized schema with its definitions."""
        schema = self.directed({"": self.spelt_out(self.schema(raw, path), path)})[""]
        if schema.__class__ is dict and self.definitions:
            schema = {**schema, "$defs": self.definitions}
        localize_references(schema, path, self.given)
        return schema

    def _refer(self, reference: str, path: Location) -> str | None:
        target, place = self._find(reference, path)
        if target is None:
            return None
        name = self._names.get(place)
        if name is None:
            if not is_schema(target):
                self.given.left_out(path, reference, "it leads to no schema")
                return None
            wanted = ascii_name(str(place[-1]).rpartition("/")[2].partition(".")[0]) or "schema"
            name = self._names[place] = free_name(wanted, lambda each: each in self._names.values())
            self._waiting.append((name, target, place))
        return f"#/$defs/{name}"

    def _find(self, reference: str, path: Location) -> tuple[Json, Location]:
        """Return the part that a reference leads to, as seen from the file it stands in, and its path.

        `None` if there is none, which is noted.
        """
        name, _, fragment = reference.partition("#")
        here = str(path[0]) if path and path[0].__class__ is File else ""
        file = _beside(here, unquote(name)) if name else here
        try:
            if file is None or (file and self.given.neighbours is None):
                self.given.left_out(path, reference, _OUTSIDE if file is None and _is_relative(name) else _ELSEWHERE)
                return None, ()
            document = self.given.neighbours.given(file).value if file and self.given.neighbours else self.given.value
            pointer = unquote(fragment)
            target = at(document, pointer) if pointer.startswith("/") or not pointer else None
        except CompileError as error:
            self.given.left_out(path, reference, error.problems[0].message)
            return None, ()
        except (LookupError, ValueError):
            target = None
        if target is None or not (file or fragment):
            self.given.left_out(path, reference, "it leads nowhere")
            return None, ()
        return target, (*((File(file),) if file else ()), *tokens(pointer))


def _is_relative(name: str) -> bool:
    return ":" not in name.partition("/")[0] and not name.startswith(("/", "\\")) and "\0" not in name


def _beside(here: str, name: str) -> str | None:
    """Return the name of a file as seen from the source's folder; `None` if it is no file there or below."""
    if not _is_relative(name):
        return None
    steps: list[str] = []
    for step in [*here.split("/")[:-1], *name.replace("\\", "/").split("/")]:
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in {"", "."}:
            steps.append(step)
    return "/".join(steps) or None


def dialect_of(document: Json) -> Draft:
    """Return how the schemas of a document are to be read."""
    version = document.get("openapi", document.get("swagger")) if document.__class__ is dict else None
    return OPENAPI_3_0 if str(version).startswith(("3.0", "2.")) else LATEST
