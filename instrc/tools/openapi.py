"""OpenAPI 3 and Swagger 2.0: each operation becomes a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final
from urllib.parse import unquote

from instrc.problems.errors import InstrcError
from instrc.problems.importing import NotATool
from instrc.schema.drafts import LATEST, OPENAPI_3_0, Draft
from instrc.schema.flattening.definitions import ascii_name
from instrc.schema.normalize import Rules, describe_value
from instrc.schema.upgrade import expand_discriminators
from instrc.schema.vocabulary import is_extension
from instrc.schema.walk import conjuncts, is_schema, map_schemas
from instrc.text.jsonvalue import Json, JsonObject, Location, as_object, as_text, at, listing, mapping, pointer, tokens
from instrc.text.names import free_name
from instrc.tools.sources import DISCRIMINATOR, File, Given, ImportedTool, localize_references, sound

COMPONENT_HOPS: Final = 50
"""References to references that are followed in an OpenAPI document."""
CHILDREN: Final = 40
"""Schemas of one parent, which its discriminator tells apart, that are described in a tool."""
READ, WRITE = "readOnly", "writeOnly"


class Marks:
    """What the definitions of one document say about the properties that have a mark.

    `definitions` are what `#/$defs/…` leads to, before anything is left out of them.
    """

    def __init__(self, definitions: Mapping[str, Json], mark: str) -> None:
        self.definitions = definitions
        self.mark = mark

    def without(self, schema: Json) -> Json:
        """Return a schema without the properties that have the mark, which nothing requires then."""
        return map_schemas(map_schemas(schema, self._unrequire), self._remove)

    def are_on(self, schema: Json) -> bool:
        """Tell whether a schema has the mark, or something that it consists of."""
        return isinstance(schema, dict) and any(part.get(self.mark) is True for part in conjuncts(schema, self.definitions))

    def _unrequire(self, node: Json) -> Json:
        """Return one schema that requires no marked property, neither itself nor in its `allOf`."""
        if not isinstance(node, dict) or not ("required" in node or "allOf" in node):
            return node
        gone = {name for part in conjuncts(node, self.definitions) for name in self._marked(part)}
        if not gone:
            return node
        made = _not_required(node, gone)
        if isinstance(branches := made.get("allOf"), list):
            made["allOf"] = [_not_required(each, gone) if isinstance(each, dict) else each for each in branches]
        return made

    def _remove(self, node: Json) -> Json:
        """Return one schema without its own marked properties."""
        gone = set(self._marked(node)) if isinstance(node, dict) else set()
        if not gone or not isinstance(node, dict) or not isinstance(properties := node.get("properties"), dict):
            return node
        return {**node, "properties": {name: each for name, each in properties.items() if name not in gone}}

    def _marked(self, node: dict[str, Json]) -> Iterator[str]:
        properties = node.get("properties")
        for name, each in properties.items() if isinstance(properties, dict) else ():
            if self.are_on(each):
                yield name


def _not_required(node: dict[str, Json], gone: set[str]) -> dict[str, Json]:
    """Return a copy of a schema that does not require what is gone."""
    required = node.get("required")
    if not isinstance(required, list):
        return dict(node)
    kept = [name for name in required if name not in gone]
    return {key: kept if key == "required" else value for key, value in node.items() if key != "required" or kept}


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
        self._children: dict[str, tuple[JsonObject, list[str]]] = {}
        """Of each definition that is a parent: its discriminator, and the definitions of its children."""
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
            self._find_children(name, mapping(definition), place)
        return schema

    def _find_children(self, name: str, parent: JsonObject, place: Location) -> None:
        """Have the children of a parent described: those that its discriminator names, else those that extend it."""
        written = parent.get("discriminator")
        said: JsonObject = {"propertyName": written} if isinstance(written, str) else mapping(written)
        if not isinstance(said.get("propertyName"), str) or {"oneOf", "anyOf"} & parent.keys():
            return
        inside = place[1:] if place[0].__class__ is File else place
        values = [value for value in mapping(said.get("mapping")).values() if isinstance(value, str)]
        found = [value if set("#/.") & {*value} else f"#{pointer((*inside[:-1], value))}" for value in values]
        found = list(dict.fromkeys(found)) or list(self._extending(f"#{pointer(inside)}", place))
        if len(found) > CHILDREN:
            reason = f"it tells {len(found):,} schemas apart, which are too many for one tool"
            self.given.left_out((*place, "discriminator"), "discriminator", reason)
            self.definitions[name] = {
                word: each for word, each in mapping(self.definitions[name]).items() if word != "discriminator"
            }
            return
        led = [self._refer(reference, (*place, "discriminator")) for reference in found]
        if children := [reference.removeprefix("#/$defs/") for reference in led if reference is not None]:
            self._children[name] = said, children

    def _extending(self, reference: str, place: Location) -> Iterator[str]:
        """Yield references to the schemas beside one at a place that have it in their `allOf`."""
        neighbours, around = self._find(reference.rpartition("/")[0], place)
        for name, schema in mapping(neighbours).items():
            if any(mapping(each).get("$ref") == reference for each in listing(mapping(schema).get("allOf"))):
                yield f"#{pointer((*around, name))}"

    def _divide_parents(self) -> dict[str, str]:
        """Let each parent be any of its children, which extend what it was; return the names of what they were."""
        made = {name: free_name(f"{name}_base", lambda each: each in self.definitions) for name in self._children}
        concrete = {child for _, children in self._children.values() for child in children}
        values = [pair for said, _ in self._children.values() for pair in mapping(said.get("mapping")).items()]
        for name, (_, children) in self._children.items():
            for child in {*children} - {name}:
                self.definitions[child] = _extended(self.definitions[child], name, made[name])
        for name, (said, children) in self._children.items():
            parent = mapping(self.definitions[name])
            words: JsonObject = {word: parent[word] for word in ("title", "description") if word in parent}
            alternatives = [*dict.fromkeys([*([name] if name in concrete else []), *children])]
            branches: list[Json] = [{"$ref": f"#/$defs/{made.get(each, each)}"} for each in alternatives]
            self.definitions[made[name]] = {word: each for word, each in parent.items() if word != "discriminator"}
            by_value = {value: each for value, each in values if str(each).rpartition("/")[2] == name}  # as its own parent says
            told = {**said, "mapping": {**by_value, **mapping(said.get("mapping"))}}
            self.definitions[name] = {**words, "anyOf": branches, "discriminator": told}
        self._children = {}
        return made

    def spelt_out(self, schema: Json, path: Location) -> Json:
        """Return a schema, which the definitions of this object belong to, without the discriminators of OpenAPI."""
        places = {name: place for place, name in self._names.items()}
        places |= {base: places[name] for name, base in self._divide_parents().items()}
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
        except InstrcError as error:
            self.given.left_out(path, reference, error.problems[0].message)
            return None, ()
        except (LookupError, ValueError):
            target = None
        if target is None or not (file or fragment):
            self.given.left_out(path, reference, "it leads nowhere")
            return None, ()
        return target, (*((File(file),) if file else ()), *tokens(pointer))


def _extended(schema: Json, name: str, base: str) -> Json:
    """Return a schema whose `allOf` refers to the base of a parent instead of the parent."""
    branches = mapping(schema).get("allOf")
    if not isinstance(branches, list):
        return schema
    parent = f"#/$defs/{name}"
    changed: list[Json] = [
        {**each, "$ref": f"#/$defs/{base}"} if isinstance(each, dict) and each.get("$ref") == parent else each
        for each in branches
    ]
    return {**mapping(schema), "allOf": changed}


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


def _is_relative(name: str) -> bool:
    return ":" not in name.partition("/")[0] and not name.startswith(("/", "\\")) and "\0" not in name


def dialect_of(document: Json) -> Draft:
    """Return how the schemas of a document are to be read."""
    version = document.get("openapi", document.get("swagger")) if document.__class__ is dict else None
    return OPENAPI_3_0 if str(version).startswith(("3.0", "2.")) else LATEST


Level = tuple[JsonObject, Location]
"""An object that may hold `servers` or `security`, and its place."""


def call_of(given: Given, item: Level, operation: Level) -> JsonObject:
    """Return the keywords of a vibe that tell how an operation is called."""
    document = given.value if isinstance(given.value, dict) else {}
    made: JsonObject = {}
    servers = _nearest("servers", (operation, item, (document, ())), given) or _of_swagger(document, operation[0])
    if servers:
        made["x-servers"] = servers
    security = _nearest("security", (operation, (document, ())), given)
    if security:
        made["x-security"] = security
        schemes = _schemes(security, document, given)
        if schemes:
            made["x-security-schemes"] = schemes
    tags, more = operation[0].get("tags"), operation[0].get("externalDocs")
    if isinstance(tags, list) and tags:
        made["x-tags"] = tags
    if isinstance(more, dict) and more:
        made["x-external-docs"] = more
    return made


def _nearest(key: str, levels: tuple[Level, ...], given: Given) -> list[Json]:
    """Return the list that the innermost level has under a key; an empty one there says that there is none."""
    for holder, path in levels:
        value = holder.get(key)
        if isinstance(value, list):
            return list(value)
        if value is not None:
            given.left_out((*path, key), key, "it is not a list")
    return []


def _of_swagger(document: JsonObject, operation: JsonObject) -> list[Json]:
    """Return the servers that a document of Swagger 2.0 describes in parts."""
    host, base = (text if isinstance(text := document.get(key), str) else "" for key in ("host", "basePath"))
    if "swagger" not in document or not (host or base):
        return []
    schemes = operation.get("schemes", document.get("schemes"))
    said = [each for each in schemes if isinstance(each, str)] if isinstance(schemes, list) else []
    starts = [f"{each}://{host}" for each in said] if host and said else [f"//{host}" if host else ""]
    return [{"url": f"{start}{base}"} for start in starts]


def _schemes(security: list[Json], document: JsonObject, given: Given) -> JsonObject:
    """Return the schemes that requirements name."""
    components = document.get("components")
    place: Location = ("securityDefinitions",) if "swagger" in document else ("components", "securitySchemes")
    holder = document if "swagger" in document else components if isinstance(components, dict) else {}
    defined = holder.get(str(place[-1]))
    known = defined if isinstance(defined, dict) else {}
    made: JsonObject = {}
    for requirement in security:
        for name in requirement if isinstance(requirement, dict) else ():
            scheme, _ = Components(given).follow(known.get(name), (*place, name))
            if isinstance(scheme, dict):
                made[name] = scheme
            elif name not in made:
                given.left_out(place, name, "the document does not describe this security scheme")
    return made


def best_media_type(content: dict[str, Json]) -> str:
    """Return the media type that says most to a model: JSON, then forms, then whatever is first."""
    kinds = sorted(
        content, key=lambda kind: (not kind.startswith("application/json"), not is_json_media_type(kind), "form" not in kind)
    )
    return kinds[0]


def is_json_media_type(kind: str) -> bool:
    """Tell whether what a media type names is JSON."""
    essence = kind.partition(";")[0].strip().lower()
    return essence.endswith(("/json", "+json")) or essence == "*/*"


def is_usual(kind: str) -> bool:
    """Tell whether a media type is what a body has unless another one is said."""
    return kind.partition(";")[0].strip().lower() in {"application/json", "*/*"}


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
        key = name if name not in self.properties else free_name(f"{name}_{where}", self.properties.__contains__)
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


_FORM = "application/x-www-form-urlencoded"
_FILES = "multipart/form-data"
_OF_A_PARAMETER = frozenset(
    {"name", "in", "required", "description", "allowEmptyValue", "collectionFormat", "deprecated", "example", "schema"}
)
"""Members that say something about a parameter and nothing about its values."""


class SwaggerOperation(Operation):
    """The making of one tool."""

    def __init__(self, given: Given, route: str, method: str, item: dict[str, Json], path: Location) -> None:
        super().__init__(given, route, method, item, path)
        self._bodies: list[tuple[dict[str, Json], Location]] = []

    def place_of(self, parameter: dict[str, Json], path: Location) -> str | None:
        """Return where a parameter goes; `None` for a body, which comes in when all parameters beside it are known."""
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
        """Return how the value of a parameter is written, as far as the document says so."""
        return {"x-collection-format": parameter["collectionFormat"]} if "collectionFormat" in parameter else {}

    def schema_of(self, parameter: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema that a parameter is."""
        schema = {keyword: value for keyword, value in parameter.items() if keyword not in _OF_A_PARAMETER}
        if schema.get("type") == "file":
            schema |= {"type": "string", "format": "binary"}
        return schema, path

    def body(self) -> None:
        """Take the body of the request in."""
        for parameter, path in self._bodies[1:]:
            self.given.left_out(path, parameter["name"], "an operation has one body")
        for parameter, path in self._bodies[:1]:
            text = parameter.get("description")
            said: dict[str, Json] = {"description": text} if isinstance(text, str) else {}
            kind = best_media_type(dict.fromkeys(self._consumed() or ["application/json"]))
            self.put_in(parameter.get("schema"), (*path, "schema"), kind, said, required=parameter.get("required") is True)

    def _consumed(self) -> list[str]:
        """Return the media types of what is sent, those of the document if the operation names none."""
        for holder in (self.operation, as_object(self.given.value)):
            if isinstance(kinds := holder.get("consumes"), list):
                return [kind for kind in kinds if isinstance(kind, str)]
        return []

    def result_of(self, response: dict[str, Json], path: Location) -> tuple[Json, Location]:
        """Return the schema that a response gives, `None` if none, and its place."""
        schema = response.get("schema")
        if schema.__class__ is dict and schema.get("type") == "file":
            schema = {**schema, "type": "string", "format": "binary"}
        return schema, (*path, "schema")


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
        given.left_out(("webhooks",), "webhooks", "they are calls that come in")
    for route, item in as_object(document.get("paths", {})).items():
        path: Location = ("paths", route)
        if route.startswith("x-"):
            continue
        if item.__class__ is dict and "$ref" in item:
            item, path = Components(given).follow(item, path)  # noqa: PLW2901  -- the same thing, found elsewhere
        if item.__class__ is not dict:
            if item is not None:
                given.problems.append(NotATool(at=given.locate(path), reason=f"{describe_value(item)} is not a path item"))
            continue
        for method in item:
            if method in METHODS and item[method].__class__ is dict:
                yield kind(given, route, method, item, path).tool()
            elif method in METHODS:
                given.problems.append(NotATool(at=given.locate((*path, method)), reason="it is not an operation"))


def _kind(document: dict[str, Json], given: Given) -> type[Operation] | None:
    """Return what the operations of a document are read as; `None` if its version is not known."""
    version, older = document.get("openapi"), document.get("swagger")
    if version.__class__ is str and version.startswith("3."):
        return Operation
    if version is None and str(older) == "2.0":  # YAML takes it for a number
        return SwaggerOperation
    said = (
        f"version {describe_value(version or older)}"
        if version or older
        else "a document without `openapi: 3…` or `swagger: 2.0`"
    )
    member = "openapi" if version is not None else "swagger"
    given.problems.append(NotATool(at=given.locate((member,)), reason=f"{said} is not read, only OpenAPI 3 and Swagger 2.0"))
    return None
