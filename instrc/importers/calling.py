"""What an operation says about its call, beside what it is given: servers, security, tags and further documentation.

`x-servers` are the addresses that it is called at, as OpenAPI 3 writes them.
`x-security` are the requirements, of which a caller meets one; `x-security-schemes` are the schemes that they name.
`x-tags` and `x-external-docs` are what the document says in `tags` and `externalDocs`.
"""

from __future__ import annotations

from instrc.importers.components import Components
from instrc.importers.given import Given
from instrc.jsonvalue import Json, JsonObject, Location

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


def _of_swagger(document: JsonObject, operation: JsonObject) -> list[Json]:
    """Return the servers that a document of Swagger 2.0 describes in parts."""
    host, base = (text if isinstance(text := document.get(key), str) else "" for key in ("host", "basePath"))
    if "swagger" not in document or not (host or base):
        return []
    schemes = operation.get("schemes", document.get("schemes"))
    said = [each for each in schemes if isinstance(each, str)] if isinstance(schemes, list) else []
    starts = [f"{each}://{host}" for each in said] if host and said else [f"//{host}" if host else ""]
    return [{"url": f"{start}{base}"} for start in starts]
