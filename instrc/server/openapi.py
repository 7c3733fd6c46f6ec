"""The OpenAPI 3.1 document of the service, built from the table of its operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from instrc.schema.walk import nodes, redirected
from instrc.server.operation_json import SCHEMAS, WORD
from instrc.server.operations import ENDPOINTS, Endpoint, in_path
from instrc.server.views import ProgramInfo
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object
from instrc.version import __version__

EVENTS: Final = "text/event-stream"
_ALWAYS: Final = (400, 401, 403, 413, 429, 503)
_TITLES: Final = {
    400: "The request does not match this document.",
    401: "The caller is not authenticated.",
    403: "The caller is not allowed to do this.",
    404: "Not found, or not visible to the caller.",
    409: "Conflicts with the current state.",
    410: "It was deleted, or has expired.",
    412: "It has changed since it was read.",
    413: "The request is too large.",
    422: "A value does not fit its schema; `errors` has the places.",
    429: "Too many requests; see `Retry-After`.",
    503: "The store does not answer.",
}


def document_of(programs: Iterable[ProgramInfo], operations: Iterable[Endpoint] = ENDPOINTS) -> JsonObject:
    """Return the document, with program inputs as emitted by the compiler."""
    listed = [*programs]
    inputs = {f"Input{number}": _placed(f"Input{number}", each) for number, each in enumerate(listed, 1)}
    starts: list[Json] = [_start(each, name) for name, each in zip(inputs, listed, strict=True)]
    paths: JsonObject = {}
    for operation in operations:
        known = paths.setdefault(operation.path, {})
        assert isinstance(known, dict)
        known[operation.method.lower()] = _operation(operation, starts)
    return {
        "openapi": "3.1.0",
        "info": {"title": "instrc", "version": __version__, "description": "Runs of programs, and the people who answer."},
        "paths": paths,
        "components": {
            "schemas": {**SCHEMAS, **inputs},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or a token."}},
        },
        "security": [{"bearer": []}, {}],
    }


def _placed(name: str, program: ProgramInfo) -> JsonObject:
    """Return the schema of a program's inputs, with references adapted to the document."""
    here = f"#/components/schemas/{name}"
    moved = {each: here + each[1:] for node in nodes(program.inputs) if (each := _reference(node)).startswith("#")}
    return {"title": program.name, **as_object(redirected(program.inputs, moved))}


def _reference(node: Json) -> str:
    return str(node.get("$ref", "")) if isinstance(node, dict) else ""


def _start(program: ProgramInfo, schema: str) -> JsonObject:
    """Return the request body that starts a run of one program: its inputs by name, or the text of its only input."""
    body = as_object(next(each for each in ENDPOINTS if each.name == "startRun").body)
    given: JsonObject = {"$ref": f"#/components/schemas/{schema}"}
    prompt = as_object(program.inputs.get("properties", {})).get("prompt")
    alone = all(name == "prompt" for name in as_array(program.inputs.get("required", [])))
    if alone and isinstance(prompt, dict) and prompt.get("type") == "string" and not _reference(prompt):
        given = {"anyOf": [given, prompt]}
    properties: JsonObject = {"program": {"const": program.name}, "input": given}
    required: list[Json] = ["program", *(["input"] if program.inputs.get("required") else [])]
    return {**body, "title": program.name, "properties": {**as_object(body["properties"]), **properties}, "required": required}


def _operation(operation: Endpoint, starts: list[Json]) -> JsonObject:
    parameters: list[Json] = [{"name": name, "in": "path", "required": True, "schema": WORD} for name in in_path(operation)]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in operation.query.items()]
    parameters += [{"name": name, "in": "header", "schema": schema} for name, schema in operation.headers.items()]
    good: JsonObject = {"description": operation.summary}
    if operation.answer is not None:
        good["content"] = {EVENTS if operation.is_stream else "application/json": {"schema": operation.answer}}
    links = _LINKS.get(operation.name)
    if links is not None:
        good["links"] = links
    problem: Json = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    responses: JsonObject = {str(operation.status): good}
    if operation.is_stream and "{run}" in operation.path:
        responses["204"] = {"description": "The run has ended, and nothing has happened since."}
    for status in sorted({*_ALWAYS, *operation.errors}):
        responses[str(status)] = {"description": _TITLES[status], "content": problem}
    made: JsonObject = {"operationId": operation.name, "summary": operation.summary, "parameters": parameters}
    if operation.body is not None:
        needed = bool(operation.body.get("required"))
        schema: Json = {"anyOf": starts} if operation.name == "startRun" and starts else operation.body
        made["requestBody"] = {"required": needed, "content": {"application/json": {"schema": schema}}}
    return {**made, "responses": responses, **({"security": []} if operation.by_link else {})}


def _to(operation: str, **parameters: str) -> JsonObject:
    return {"operationId": operation, "parameters": {**parameters}}


_RUN: Final = "$response.body#/run"
_LINKS: Final[dict[str, JsonObject]] = {
    "startRun": {
        name: _to(name, run=_RUN) for name in ("getRun", "getTrace", "cancelRun", "resumeRun", "retryRun", "forkRun", "deleteRun")
    },
    "getRun": {
        name: _to(name, question="$response.body#/questions/0/id") for name in ("getQuestion", "claimQuestion", "answerQuestion")
    },
}
