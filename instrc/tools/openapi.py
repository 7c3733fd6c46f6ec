"""Import OpenAPI 3 and Swagger 2.0: each operation becomes a tool with its parameters and body as arguments.

`x-in` is the place of a property (`path`, `query`, `header`, `cookie`, `body`), `x-name` its original name if different.
A property in the `body` is a member of it, or the whole body if its original name is `body`.
`x-style` and `x-explode` are the serialization of a parameter, `x-encoding` is that of the parts of a body.
`x-operation` is the operation, `GET /pets/{petId}`, `x-content-type` the media type of a body if not `application/json`.
`x-servers` has its addresses in OpenAPI 3 format; `x-security` has its requirements, of which a caller meets one;
`x-security-schemes` has the schemes that they name; `x-tags` and `x-external-docs` are `tags` and `externalDocs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from instrc.problems.importing import NotATool
from instrc.schema.normalize import describe_value
from instrc.schema.vocabulary import is_extension
from instrc.text.jsonvalue import Json, JsonObject, Location, as_object, as_text, listing, mapping
from instrc.text.names import free_name
from instrc.tools.openapi_components import READ, WRITE, Components, file_of
from instrc.tools.sources import Given, ImportedTool, localize_references

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


def openapi_tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the operations of a document in the order in which it lists them."""
    document = given.value
    if document.__class__ is not dict or document.get("paths", {}).__class__ is not dict:
        given.problems.append(NotATool(at=given.locate(()), reason="it is not an OpenAPI document"))
        return
    kind = _kind(document, given)
    if kind is None:
        return
    if document.get("webhooks"):
        given.left_out(("webhooks",), "webhooks", "they are incoming calls")
    for route, item in as_object(document.get("paths", {})).items():
        path: Location = ("paths", route)
        if route.startswith("x-"):
            continue
        if item.__class__ is dict and "$ref" in item:
            item, path = Components(given).follow(item, path, is_item=True)  # noqa: PLW2901  -- the same thing, found elsewhere
        if item.__class__ is not dict:
            if item is not None:
                given.problems.append(NotATool(at=given.locate(path), reason=f"{describe_value(item)} is not a path item"))
            continue
        operations = {method: item[method] for method in item if method in METHODS} | mapping(item.get("additionalOperations"))
        for method, operation in operations.items():
            if operation.__class__ is dict:
                yield kind(given, route, method, {**item, **operations}, path).tool()
            else:
                given.problems.append(NotATool(at=given.locate((*path, method)), reason="it is not an operation"))


def _kind(document: dict[str, Json], given: Given) -> type[Operation] | None:
    """Return the class that reads the operations of a document, or `None` for an unsupported version."""
    version, older = document.get("openapi"), document.get("swagger")
    if isinstance(version, str | float) and str(version).startswith("3."):  # without quotes `3.1` is a number
        return Operation
    if version is None and str(older) == "2.0":  # YAML reads it as a number
        return SwaggerOperation
    said = (
        f"version {describe_value(version or older)}"
        if version or older
        else "a document without `openapi: 3…` or `swagger: 2.0`"
    )
    member = "openapi" if version is not None else "swagger"
    given.problems.append(NotATool(at=given.locate((member,)), reason=f"{said} is not read, only OpenAPI 3 and Swagger 2.0"))
    return None


Level = tuple[JsonObject, Location]
"""An object that may hold `servers` or `security`, with its location."""


def call_of(given: Given, item: Level, operation: Level) -> JsonObject:
    """Return the vibe keywords for the HTTP call of an operation."""
    document = given.value if isinstance(given.value, dict) else {}
    result: JsonObject = {}
    servers = _nearest("servers", (operation, item, (document, ())), given) or _of_swagger(document, operation[0])
    if servers:
        result["x-servers"] = servers
    security = _nearest("security", (operation, (document, ())), given)
    if security:
        result["x-security"] = security
        schemes = _schemes(security, document, given)
        if schemes:
            result["x-security-schemes"] = schemes
    tags, more = operation[0].get("tags"), operation[0].get("externalDocs")
    if isinstance(tags, list) and tags:
        result["x-tags"] = tags
    if isinstance(more, dict) and more:
        result["x-external-docs"] = more
    return result


def _nearest(key: str, levels: tuple[Level, ...], given: Given) -> list[Json]:
    """Return the list that the innermost level has under a key; an empty list there means none."""
    for holder, path in levels:
        value = holder.get(key)
        if isinstance(value, list):
            return list(value)
        if value is not None:
            given.left_out((*path, key), key, "it is not a list")
    return []


def _of_swagger(document: JsonObject, operation: JsonObject) -> list[Json]:
    """Return the servers that a Swagger 2.0 document describes in parts."""
    host, base = (text if isinstance(text := document.get(key), str) else "" for key in ("host", "basePath"))
    if "swagger" not in document or not (host or base):
        return []
    schemes = operation.get("schemes", document.get("schemes"))
    said = [scheme for scheme in schemes if isinstance(scheme, str)] if isinstance(schemes, list) else []
    starts = [f"{scheme}://{host}" for scheme in said] if host and said else [f"//{host}" if host else ""]
    return [{"url": f"{start}{base}"} for start in starts]


def _schemes(security: list[Json], document: JsonObject, given: Given) -> JsonObject:
    """Return the schemes that requirements name."""
    components = document.get("components")
    place: Location = ("securityDefinitions",) if "swagger" in document else ("components", "securitySchemes")
    holder = document if "swagger" in document else components if isinstance(components, dict) else {}
    defined = holder.get(str(place[-1]))
    known = defined if isinstance(defined, dict) else {}
    result: JsonObject = {}
    for requirement in security:
        for name in requirement if isinstance(requirement, dict) else ():
            scheme, _ = Components(given).follow(known.get(name), (*place, name))
            if isinstance(scheme, dict):
                result[name] = scheme
            elif name not in result:
                given.left_out(place, name, "the document does not describe this security scheme")
    return result


def best_media_type(content: dict[str, Json]) -> str:
    """Return the best media type for a model: JSON, then forms, then the first."""
    return min(content, key=lambda kind: (not is_usual(kind), kind == "*/*", not is_json_media_type(kind), "form" not in kind))


def is_json_media_type(kind: str) -> bool:
    """Return whether a media type is JSON."""
    essence = kind.partition(";")[0].strip().lower()
    return essence.endswith(("/json", "+json")) or essence == "*/*"


def is_usual(kind: str) -> bool:
    """Return whether a media type is the default of a body."""
    return kind.partition(";")[0].strip().lower() in {"application/json", "*/*"}


PLACES = frozenset({"path", "query", "header", "cookie", "querystring"})
_OF_HTTP = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that OpenAPI says to ignore, as they are described elsewhere."""
_WRITTEN = ("style", "explode", "allowReserved", "allowEmptyValue")
"""Members of a parameter that define how its value is serialized; a vibe holds them under `x-`."""
_WORDS = frozenset({"title", "description", "example", "examples"})
"""Keywords whose outermost occurrence applies."""
_PLAIN = frozenset(
    {"type", "properties", "required", "title", "description", "additionalProperties", "example", "examples", "$ref", WRITE}
)
"""Keywords of a body whose properties can be merged with the parameters."""


class Operation:
    """Builds the tool of an operation."""

    def __init__(self, given: Given, route: str, method: str, item: dict[str, Json], path: Location) -> None:
        self.given = given
        self.item = item
        self.item_at = path
        self.label: str = f"{method.upper() if method in METHODS else method} {route}"
        self.operation: JsonObject = as_object(item[method])
        self.at: Location = (*path, method)
        self.components: Components = Components(given)
        self.properties: dict[str, Json] = {}
        self.required: list[str] = []
        self.texts: list[Json] = []
        """What a body says about itself that is spread."""
        self.is_closed = False
        """Whether a body that is spread allows no other properties."""
        call = call_of(given, (item, path), (self.operation, self.at))
        self.extras: dict[str, Json] = {"x-operation": self.label, **call}

    def tool(self) -> ImportedTool:
        """Return the operation as a tool."""
        for parameter, path in self._parameters():
            self.parameter(parameter, path)
        placed = {name: mapping(item) for name, item in self.properties.items()}
        described = {item.get("x-name", name) for name, item in placed.items() if item["x-in"] == "path"}
        for name in dict.fromkeys(re.findall(r"\{([^{}]+)\}", self.label)):
            if name not in described:
                self.given.left_out(self.at, name, "the path has it, but no parameter describes it")
        self.body()
        schema = as_object(self.components.spelt_out({"type": "object", "properties": self.properties}, self.at))
        schema["properties"] = self.components.directed(as_object(schema["properties"]))
        if self.is_closed:
            schema["additionalProperties"] = False
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
            self.given.left_out((*self.at, "callbacks"), "callbacks", "they are incoming calls")
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
        """Yield the parameters of the path, without those that the operation overrides, then its own."""
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
                    continue  # its reference cannot be resolved, which is noted
                name = parameter.get("name") if isinstance(parameter, dict) else None
                if not isinstance(parameter, dict) or not isinstance(name, str):
                    what = mapping(written).get("$ref", f"parameter {index + 1}")
                    self.given.left_out((*path, "parameters", index), what, "a parameter needs a `name`")
                else:
                    where = str(parameter.get("in"))
                    found[where, name.lower() if where == "header" else name] = (parameter, place)
        yield from found.values()

    def parameter(self, parameter: dict[str, Json], path: Location) -> None:
        """Add a parameter."""
        where = self.place_of(parameter, path)
        if where is None:
            return
        schema, place = self.schema_of(parameter, path)
        built = self.components.schema({} if schema is None else schema, place)
        own = built if built.__class__ is dict else {} if built is True else {"not": {}}
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
        """Return the serialization of a parameter, as far as the document declares it."""
        said = {f"x-{key}": parameter[key] for key in _WRITTEN if key in parameter}
        content = parameter.get("content")
        if parameter.get("schema") is None and content.__class__ is dict and content:
            said["x-content-type"] = next(iter(content))
        return said

    def samples(self, holder: dict[str, Json], path: Location) -> list[Json]:
        """Return the examples of a parameter or a body."""
        named = holder.get("examples")
        result = [holder["example"]] if "example" in holder else []
        for name, item in named.items() if named.__class__ is dict else ():
            sample, _ = self.components.follow(item, (*path, "examples", name))
            if sample.__class__ is dict and "value" in sample:
                result.append(sample["value"])
        return result

    def place_of(self, parameter: dict[str, Json], path: Location) -> str | None:
        """Return the location of a parameter, or `None` if it is left out."""
        name, where = as_text(parameter["name"]), parameter.get("in")
        if where.__class__ is not str or where not in PLACES:
            self.given.left_out(path, name, f"{describe_value(where)} is not a place for a parameter")
            return None
        return None if where == "header" and name.lower() in _OF_HTTP else str(where)

    def schema_of(self, parameter: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the original schema of a parameter, and its place."""
        schema, content = parameter.get("schema"), parameter.get("content")
        if schema is None and content.__class__ is dict and content:
            kind = next(iter(content))
            return mapping(content[kind]).get("schema"), (*path, "content", kind, "schema")
        return schema, (*path, "schema")

    def add(self, name: str, schema: dict[str, Json], where: str, *, required: bool) -> None:
        """Add a property; if its name is already used, its location is appended."""
        key = name if name not in self.properties else free_name(f"{name}_{where}", self.properties.__contains__)
        self.properties[key] = {**schema, "x-in": where, **({} if key == name else {"x-name": name})}
        if required:
            self.required.append(key)

    def body(self) -> None:
        """Add the body of the request."""
        written = self.operation.get("requestBody")
        if written is None:
            return
        body, path = self.components.follow(written, (*self.at, "requestBody"))
        if body is None:
            return  # its reference cannot be resolved, which is noted
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
        """Add the schema of a body: its properties if it has no other keywords, otherwise the whole body as one property.

        `said` contains keywords from outside the schema.
        """
        spread, spread_at = self._joined(raw, place)
        if spread.__class__ is dict and spread.get(READ) is True:
            self.given.left_out((*spread_at, READ), READ, "what is sent is not only read")
            spread = {keyword: value for keyword, value in spread.items() if keyword != READ}
            if "$ref" not in spread:
                raw, place = spread, spread_at
        if not is_usual(kind):
            said = {**said, "x-content-type": kind}
        if self._spreads(spread, required=required):
            self._spread(as_object(spread), spread_at, said)
            return
        schema = self.components.schema({} if raw is None else raw, place)
        own = schema if schema.__class__ is dict else {}
        self.add("body", {**{word: value for word, value in said.items() if word not in own}, **own}, "body", required=required)

    def _joined(self, raw: Json, place: Location) -> tuple[Json, Location]:
        """Return the schema that a body refers to, merged with sibling keywords if properties can express these."""
        chain = self.components.chain(raw, place) or [(None, place)]
        target, at = chain[-1]
        for holder, holder_at in reversed(chain[:-1] if self.components.reads_siblings else []):
            if own := {word: value for word, value in mapping(holder).items() if word != "$ref"}:
                target = _both(own, target) if file_of(holder_at) == file_of(at) else None
                if target is None:
                    return raw, place
        return target, at

    def _spreads(self, schema: Json, *, required: bool) -> bool:
        """Return whether the properties of a body can become separate arguments, since it has no other keywords."""
        if schema.__class__ is not dict or not schema.keys() <= _PLAIN or "$ref" in schema:
            return False
        properties = schema.get("properties")
        if properties.__class__ is not dict or not properties or "body" in properties or schema.get("type", "object") != "object":
            return False
        if schema.get("additionalProperties", False) is not False and schema.get("additionalProperties") is not True:
            return False
        return not (properties.keys() & self.properties.keys()) and (required or not schema.get("required"))

    def _spread(self, schema: dict[str, Json], path: Location, said: dict[str, Json]) -> None:
        self.texts = [said.get("description"), schema.get("description")]
        self.extras |= {word: value for word, value in said.items() if is_extension(word)}
        required = schema.get("required") if schema.get("required").__class__ is list else []
        normal = as_object(self.components.schema({**schema, "required": required}, path))
        self.is_closed = normal.get("additionalProperties") is False
        listed = normal.get("examples")
        own_samples = listed if isinstance(listed, list) else self.samples(normal, path)
        samples = [sample for sample in (*listing(said.get("examples")), *own_samples) if isinstance(sample, dict)]
        for name, own in as_object(normal["properties"]).items():
            if self.components.is_left(own):
                continue
            part = own if own.__class__ is dict else {}
            shown = [sample[name] for sample in samples if name in sample]
            if shown and part.keys().isdisjoint({"example", "examples"}):
                part = {**part, "examples": shown}
            self.add(name, part, "body", required=name in listing(normal.get("required")))

    def _result(self) -> Callable[[], Json] | None:
        """Return a function for the schema of the first successful response, definitions included."""
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
        """Return the schema of a response, or `None` if there is none, and its place."""
        content = response.get("content")
        if content.__class__ is not dict or not content:
            return None, path
        kind = best_media_type(content)
        schema = mapping(content[kind]).get("schema")
        return schema, (*path, "content", kind, "schema")


def _both(own: JsonObject, other: Json) -> Json:
    """Return the schema equivalent to two, if keywords of a separable body suffice for it, or `None`."""
    if not isinstance(other, dict) or not {*own, *other} <= _PLAIN:
        return None
    pair = (other, own)
    if any(one.get("additionalProperties", True) is not True and "properties" in two for one, two in (pair, pair[::-1])):
        return None
    result: JsonObject = {**other, **own}
    for word in own.keys() & other.keys() - _WORDS:
        first, second = other[word], own[word]
        if isinstance(first, list) and isinstance(second, list):
            result[word] = [*first, *second]
        elif (
            isinstance(first, dict)
            and isinstance(second, dict)
            and all(first[name] == second[name] for name in first.keys() & second)
        ):
            result[word] = {**first, **second}
        elif first != second:
            return None
    return result


_FORM = "application/x-www-form-urlencoded"
_FILES = "multipart/form-data"
_OF_A_PARAMETER = frozenset(
    {"name", "in", "required", "description", "allowEmptyValue", "collectionFormat", "deprecated", "example", "schema"}
)
"""Members that describe a parameter and not its values."""


class SwaggerOperation(Operation):
    """Builds the tool of an operation."""

    def __init__(self, given: Given, route: str, method: str, item: dict[str, Json], path: Location) -> None:
        super().__init__(given, route, method, item, path)
        self._bodies: list[tuple[dict[str, Json], Location]] = []

    def place_of(self, parameter: dict[str, Json], path: Location) -> str | None:
        """Return the location of a parameter, or `None` for a body, which is read after all other parameters."""
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
        """Return the serialization of a parameter, as far as the document declares it."""
        return {"x-collection-format": parameter["collectionFormat"]} if "collectionFormat" in parameter else {}

    def schema_of(self, parameter: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema that a parameter consists of."""
        schema = {keyword: value for keyword, value in parameter.items() if keyword not in _OF_A_PARAMETER}
        if schema.get("type") == "file":
            schema |= {"type": "string", "format": "binary"}
        return schema, path

    def body(self) -> None:
        """Add the body of the request."""
        for parameter, path in self._bodies[1:]:
            self.given.left_out(path, parameter["name"], "an operation has one body")
        for parameter, path in self._bodies[:1]:
            text = parameter.get("description")
            said: dict[str, Json] = {"description": text} if isinstance(text, str) else {}
            kind = best_media_type(dict.fromkeys(self._consumed() or ["application/json"]))
            self.put_in(parameter.get("schema"), (*path, "schema"), kind, said, required=parameter.get("required") is True)

    def _consumed(self) -> list[str]:
        """Return the media types of requests, those of the document if the operation names none."""
        for holder in (self.operation, as_object(self.given.value)):
            if isinstance(kinds := holder.get("consumes"), list):
                return [kind for kind in kinds if isinstance(kind, str)]
        return []

    def result_of(self, response: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema of a response, or `None` if there is none, and its place."""
        schema = response.get("schema")
        if schema.__class__ is dict and schema.get("type") == "file":
            schema = {**schema, "type": "string", "format": "binary"}
        return schema, (*path, "schema")
