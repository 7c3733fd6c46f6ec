"""One operation of an OpenAPI 3 document becomes one tool.

`x-in` says where a property goes (`path`, `query`, `header`, `cookie`, `body`), `x-name` what it is called there if otherwise.
`x-operation` says which operation it is: `GET /pets/{petId}`.
`x-content-type` is the media type of a body if not `application/json`.
`x-style` and `x-explode` say how a parameter is written, where the document does, `x-encoding` how the parts of a body are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from instrc.importers.calling import call_of
from instrc.importers.components import Components
from instrc.importers.directions import READ, WRITE
from instrc.importers.given import Given
from instrc.importers.media_types import best_media_type, is_usual
from instrc.importers.references import localize_references
from instrc.importers.tools import ImportedTool
from instrc.jsonvalue import Json, JsonObject, Location, as_object, as_text, listing, mapping
from instrc.schema.notes import describe_value
from instrc.schema.vocabulary import is_extension

PLACES = frozenset({"path", "query", "header", "cookie", "querystring"})
_OF_HTTP = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that OpenAPI tells to ignore: they are described elsewhere."""
_WRITTEN = ("style", "explode", "allowReserved", "allowEmptyValue")
"""Members of a parameter about how its value is written; a vibe has them after `x-`."""
_PLAIN = frozenset(
    {"type", "properties", "required", "title", "description", "additionalProperties", "example", "examples", "$ref", WRITE}
)
"""Keywords of a body whose properties can stand beside the parameters."""


class Operation:
    """The making of one tool."""

    def __init__(self, given: Given, route: str, method: str, item: dict[str, Json], path: Location) -> None:
        self.given = given
        self.item = item
        self.item_at = path
        self.label: str = f"{method.upper()} {route}"
        self.operation: JsonObject = as_object(item[method])
        self.at: Location = (*path, method)
        self.components: Components = Components(given)
        self.properties: dict[str, Json] = {}
        self.required: list[str] = []
        self.texts: list[Json] = []
        """What a body says about itself that is spread."""
        call = call_of(given, (item, path), (self.operation, self.at))
        self.extras: dict[str, Json] = {"x-operation": self.label, **call}

    def tool(self) -> ImportedTool:
        """Return the operation as a tool."""
        for parameter, path in self._parameters():
            self.parameter(parameter, path)
        self.body()
        schema = as_object(self.components.spelt_out({"type": "object", "properties": self.properties}, self.at))
        schema["properties"] = self.components.directed(as_object(schema["properties"]))
        if self.required:
            schema["required"] = [*dict.fromkeys(self.required)]
        if self.components.definitions:
            schema["$defs"] = self.components.definitions
        localize_references(schema, self.at, self.given)
        identifier = self.operation.get("operationId")
        texts = [*(self.operation.get(key) or self.item.get(key) for key in ("summary", "description")), *self.texts]
        if self.operation.get("deprecated") is True:
            self.extras["deprecated"] = True
        if "callbacks" in self.operation:
            self.given.left_out((*self.at, "callbacks"), "callbacks", "they are calls that come in")
        return ImportedTool(
            name=identifier if identifier.__class__ is str and identifier else self.label,
            at=self.at,
            schema=schema,
            schema_at=self.at,
            description="\n".join(dict.fromkeys(text for text in texts if text.__class__ is str and text)) or None,
            result=self._result(),
            extras=self.extras,
        )

    def _parameters(self) -> Iterator[tuple[dict[str, Json], Location]]:
        """Yield the parameters of the path, those that the operation says anew left aside, then its own."""
        found: dict[tuple[str, str], tuple[dict[str, Json], Location]] = {}
        for holder, path in ((self.item, self.item_at), (self.operation, self.at)):
            listed = holder.get("parameters")
            if listed is None:
                continue
            if listed.__class__ is not list:
                self.given.left_out((*path, "parameters"), "parameters", "it is not a list")
                continue
            for index, written in enumerate(listed):
                parameter, place = self.components.follow(written, (*path, "parameters", index))
                if parameter is None and written is not None:
                    continue  # it refers to what cannot be found, and that is noted
                name = parameter.get("name") if isinstance(parameter, dict) else None
                if not isinstance(parameter, dict) or not isinstance(name, str):
                    self.given.left_out((*path, "parameters", index), written, "it is not a parameter with a name")
                else:
                    found[str(parameter.get("in")), name] = (parameter, place)
        yield from found.values()

    def parameter(self, parameter: dict[str, Json], path: Location) -> None:
        """Take one parameter in."""
        where = self.place_of(parameter, path)
        if where is None:
            return
        schema, place = self.schema_of(parameter, path)
        made = self.components.schema({} if schema is None else schema, place)
        own = made if made.__class__ is dict else {} if made is True else {"not": {}}
        said: dict[str, Json] = {}
        if parameter.get("description").__class__ is str and parameter["description"]:
            said["description"] = parameter["description"]
        if parameter.get("deprecated") is True:
            said["deprecated"] = True
        if (samples := self.samples(parameter, path)) and "examples" not in own:
            said["examples"] = samples
        said |= self.serialization(parameter)
        self.add(
            as_text(parameter["name"]), {**own, **said}, where, required=where == "path" or parameter.get("required") is True
        )

    def serialization(self, parameter: dict[str, Json]) -> dict[str, Json]:
        """Return how the value of a parameter is written, as far as the document says so."""
        said = {f"x-{key}": parameter[key] for key in _WRITTEN if key in parameter}
        content = parameter.get("content")
        if parameter.get("schema") is None and content.__class__ is dict and content:
            said["x-content-type"] = next(iter(content))
        return said

    def samples(self, holder: dict[str, Json], path: Location) -> list[Json]:
        """Return the examples of a parameter or a body."""
        named = holder.get("examples")
        made = [holder["example"]] if "example" in holder else []
        for name, each in named.items() if named.__class__ is dict else ():
            sample, _ = self.components.follow(each, (*path, "examples", name))
            if sample.__class__ is dict and "value" in sample:
                made.append(sample["value"])
        return made

    def place_of(self, parameter: dict[str, Json], path: Location) -> str | None:
        """Return where a parameter goes; `None` if it does not come in."""
        name, where = as_text(parameter["name"]), parameter.get("in")
        if where.__class__ is not str or where not in PLACES:
            self.given.left_out(path, name, f"{describe_value(where)} is not a place for a parameter")
            return None
        return None if where == "header" and name.lower() in _OF_HTTP else str(where)

    def schema_of(self, parameter: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema of a parameter as it is written, and its place."""
        schema, content = parameter.get("schema"), parameter.get("content")
        if schema is None and content.__class__ is dict and content:
            kind = next(iter(content))
            return mapping(content[kind]).get("schema"), (*path, "content", kind, "schema")
        return schema, (*path, "schema")

    def add(self, name: str, schema: dict[str, Json], where: str, *, required: bool) -> None:
        """Add a property; a name that another place has taken gets its own place behind it."""
        key, count = name, 1
        while key in self.properties:
            key = f"{name}_{where}" if count == 1 else f"{name}_{where}_{count}"
            count += 1
        self.properties[key] = {**schema, "x-in": where, **({} if key == name else {"x-name": name})}
        if required:
            self.required.append(key)

    def body(self) -> None:
        """Take the body of the request in."""
        written = self.operation.get("requestBody")
        if written is None:
            return
        body, path = self.components.follow(written, (*self.at, "requestBody"))
        if body is None:
            return  # it refers to what cannot be found, and that is noted
        content = body.get("content") if body.__class__ is dict else None
        if content.__class__ is not dict or not content:
            self.given.left_out(path, "requestBody", "it has no content")
            return
        kind = best_media_type(content)
        for other in content:
            if other != kind:
                self.given.left_out((*path, "content", other), other, f"the body is read as `{kind}`")
        media, text = mapping(content[kind]), mapping(body).get("description")
        place: Location = (*path, "content", kind)
        said: JsonObject = {"description": text} if isinstance(text, str) else {}
        if samples := self.samples(media, place):
            said["examples"] = samples
        if encoding := mapping(media.get("encoding")):
            said["x-encoding"] = encoding
        self.put_in(media.get("schema"), (*place, "schema"), kind, said, required=mapping(body).get("required") is True)

    def put_in(self, raw: Json, place: Location, kind: str, said: dict[str, Json], *, required: bool) -> None:
        """Add the schema of a body: its properties, if nothing else is said by it, else all of it as one property.

        `said` are keywords for it, from beside the schema.
        """
        spread, spread_at = self.components.follow(raw, place)
        if spread.__class__ is dict and spread.get(READ) is True:
            self.given.left_out((*spread_at, READ), READ, "what is sent is not only read")
            raw = spread = {keyword: value for keyword, value in spread.items() if keyword != READ}
            place = spread_at
        if not is_usual(kind):
            said = {**said, "x-content-type": kind}
        if self._spreads(spread, required=required):
            self._spread(as_object(spread), spread_at, said)
            return
        schema = self.components.schema({} if raw is None else raw, place)
        own = schema if schema.__class__ is dict else {}
        self.add("body", {**{word: value for word, value in said.items() if word not in own}, **own}, "body", required=required)

    def _spreads(self, schema: Json, *, required: bool) -> bool:
        """Tell whether the properties of a body can stand by themselves, and nothing else is said by it."""
        if schema.__class__ is not dict or not schema.keys() <= _PLAIN or "$ref" in schema:
            return False
        properties = schema.get("properties")
        if properties.__class__ is not dict or not properties or schema.get("type", "object") != "object":
            return False
        if schema.get("additionalProperties", False) is not False and schema.get("additionalProperties") is not True:
            return False
        return not (properties.keys() & self.properties.keys()) and (required or not schema.get("required"))

    def _spread(self, schema: dict[str, Json], path: Location, said: dict[str, Json]) -> None:
        self.texts = [said.get("description"), schema.get("description")]
        self.extras |= {word: value for word, value in said.items() if is_extension(word)}
        required = schema.get("required") if schema.get("required").__class__ is list else []
        normal = as_object(self.components.schema({**schema, "required": required}, path))
        listed = normal.get("examples")
        own_samples = listed if isinstance(listed, list) else self.samples(normal, path)
        samples = [each for each in (*listing(said.get("examples")), *own_samples) if isinstance(each, dict)]
        for name, own in as_object(normal["properties"]).items():
            if self.components.is_left(own):
                continue
            part = own if own.__class__ is dict else {}
            shown = [each[name] for each in samples if name in each]
            if shown and part.keys().isdisjoint({"example", "examples"}):
                part = {**part, "examples": shown}
            self.add(name, part, "body", required=name in listing(normal.get("required")))

    def _result(self) -> Callable[[], Json] | None:
        """Return what makes the schema of the first answer that is a success, definitions included."""
        responses = self.operation.get("responses")
        if responses.__class__ is not dict:
            return None
        codes = sorted(code for code in responses if code.startswith("2"))
        for code in codes or (["default"] if "default" in responses else []):
            components = Components(self.given, leave=WRITE)
            response, path = components.follow(responses[code], (*self.at, "responses", code))
            if response.__class__ is dict:
                schema, place = self.result_of(response, path)
                if schema is not None:
                    return partial(components.whole, schema, place)
        return None

    def result_of(self, response: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema that a response gives, `None` if none, and its place."""
        content = response.get("content")
        if content.__class__ is not dict or not content:
            return None, path
        kind = best_media_type(content)
        schema = mapping(content[kind]).get("schema")
        return schema, (*path, "content", kind, "schema")
