"""An HTTP service as an activity: the URL of a call, its contents, and the part of the response that is the result."""

from __future__ import annotations

import asyncio
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from ssl import SSLContext
from typing import Final, NoReturn
from unicodedata import normalize
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import httpx
from msgspec import field

from instrc.runtime.activities import ActivityError, Handler, ServedTable, current_call, is_temporary
from instrc.runtime.secrets import UnusableTableError, redacted
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, at

HTTP_BYTES: Final = 10 * 1024 * 1024
"""Maximum size of a response from an HTTP service, in bytes; a larger one is an error with the code `too-large`."""
HTTP_PARTS: Final = 50_000
"""Maximum parts of such a response: each takes time, also one of a byte."""
SHOWN_HTTP: Final = 300
"""Maximum characters of a response shown in an error of an HTTP service."""
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_WITHOUT_BODY = ("GET", "DELETE")
_PLACE = re.compile(r"\{([^{}]*)\}")


class HttpTable(ServedTable, frozen=True):
    """The settings of an HTTP activity."""

    url: str
    method: str = "POST"
    headers: JsonObject = field(default_factory=dict)
    query: JsonObject | None = None
    body: JsonObject | list[Json] | str | None = None
    result: str = ""
    idempotency: str = "Idempotency-Key"


def handler_of(name: str, table: HttpTable, folder: Path) -> Handler:  # noqa: ARG001  -- both kinds are called alike
    """Return the handler of an HTTP activity.

    `url`, `headers`, `query` and `body` may contain `{member.member}` for a member of the argument, and `{}` for all of it.
    A text that is only a placeholder becomes the value itself; in a longer text, and in the URL, the value becomes text.
    A value cannot leave its part: in a path it is one segment (`/` is sent as `%2F`), never empty, `.` or `..`, even encoded.
    Without `body` the argument is sent as JSON; `GET` and `DELETE` send it as the query instead, except names in the URL.
    `result` is a JSON Pointer into the response. Calls other than `GET` send their key in the header `idempotency`.
    Redirects are not followed.
    """
    method = table.method.upper()
    parts = urlsplit(_PLACE.sub("x", table.url))
    if method not in _METHODS:
        raise UnusableTableError(f"`method` is one of {', '.join(_METHODS)}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UnusableTableError("`url` begins with `http://` or `https://` and names a host")
    if "{" in table.url.split("/", 3)[2]:
        raise UnusableTableError("the host of `url` is fixed: only what follows it may hold places")
    if table.result and not table.result.startswith("/"):
        raise UnusableTableError("`result` is a JSON Pointer and begins with `/`")

    async def call(value: Json) -> Json:
        try:
            request = _request(method, table, value)
        except httpx.InvalidURL as error:  # httpx limits the length of a URL
            _refuse(f"the values make no valid URL ({error})")
        try:
            async with httpx.AsyncClient(timeout=None, follow_redirects=False, verify=trusted_certificates()) as client:  # noqa: S113  -- the policy has a limit
                answer = await client.send(request, stream=True)
                body = await _body(answer)
        except httpx.HTTPError as error:
            said = f"{type(error).__name__}: {error}"
            raise ActivityError(f"no answer from {request.url.netloc.decode()} ({said})", code="unreachable") from error
        return await asyncio.to_thread(_result, answer, body, table.result)

    return call


def _request(method: str, table: HttpTable, given: Json) -> httpx.Request:
    url = urlsplit(_url(table.url, given))
    headers = httpx.Headers({key: _header(key, value, given) for key, value in table.headers.items()})
    query = {key: fill_template(value, given) for key, value in (table.query or {}).items()}
    content, is_written = None, _PLACE.search(f"{table.url} {[*table.headers.values()]}")
    if table.body is not None:
        content = dumps(fill_template(table.body, given))
    elif method not in _WITHOUT_BODY:
        content = dumps(given)
    elif table.query is None and isinstance(given, dict):
        fixed = {name for name, _ in parse_qsl(url.query, keep_blank_values=True)}
        named = fixed.union(place.partition(".")[0] for place in _PLACE.findall(table.url))
        query = {key: value for key, value in given.items() if key not in named}
    elif method == "DELETE" and table.query is None and given is not None and not is_written:
        _refuse("a DELETE sends named arguments: label them, write `{}` into `url`, or set `query = {}` to send none")
    if content is not None:
        headers.setdefault("Content-Type", "application/json")
    if method != "GET":
        headers.setdefault(table.idempotency, quote(current_call().key, safe="/@[]!#"))
    flat: list[tuple[str, str | int | float | bool | None]] = [
        (key, _plain(item))
        for key, value in query.items()
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]
    joined = "&".join(filter(None, (url.query, str(httpx.QueryParams(flat)))))  # `params` would replace that of the URL
    target = url._replace(query=joined, fragment="").geturl()
    return httpx.Request(method, target, headers=headers, content=content.encode() if content is not None else None)


def _url(template: str, given: Json) -> str:
    """Return the URL of a call: each value is part of one path segment, or of one query value."""
    query = _PLACE.sub(lambda place: "x" * len(place[0]), template).find("?")

    def fill(place: re.Match[str]) -> str:
        text = _plain(_member(place[1], given))
        if 0 <= query < place.start():
            return quote(text, safe="")
        if not isinstance(_member(place[1], given), str | int | float) or _leaves_segment(text):
            _refuse(f"`{place[1]}` is not a segment of a path: it is empty, `.` or `..`, or holds such a part")
        return quote(text, safe="")

    url = _PLACE.sub(fill, template)
    if any(_leaves_segment(segment) for segment in urlsplit(url).path.split("/") if segment):  # joined from several values
        _refuse("a segment of the path is `.` or `..`")
    return url


_DECODINGS = 8
"""Maximum decodings of a value that are checked: chained servers decode a path more than once."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NO_SEGMENT = re.compile(r"[.\s]*(;.*)?", re.DOTALL)


def _leaves_segment(text: str) -> bool:
    """Return whether a server could decode a text, once or repeatedly, to something other than one segment."""
    for _ in range(_DECODINGS):
        parts = re.split(r"[/\\]", normalize("NFKC", text))
        if _CONTROL.search(text) or any(_NO_SEGMENT.fullmatch(part) for part in parts):
            return True
        decoded = unquote(text)
        if decoded == text:
            return False
        text = decoded
    return True


def _refuse(message: str) -> NoReturn:
    raise ActivityError(message, code="invalid-input", retry=False)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value)


def _member(path: str, given: Json) -> Json:
    value = given
    for name in path.split(".") if path else ():
        if not isinstance(value, dict) or name not in value:
            _refuse(f"the call needs `{path}`, which it is not given")
        value = value[name]
    return value


def _header(name: str, template: Json, given: Json) -> str:
    text = _plain(fill_template(template, given)).strip(" \t")
    if not text.isascii() or _CONTROL.search(text):
        _refuse(f"the header `{name}` is one line of ASCII")
    if isinstance(template, str) and not _PLACE.fullmatch(template):
        for place in _PLACE.findall(template):
            if set(_plain(_member(place, given))) & set(',;"\\'):
                _refuse(f"`{place}` is a part of the header `{name}`, and holds what ends a part")
    return text


@lru_cache(maxsize=1)
def trusted_certificates() -> SSLContext:
    """Return the trusted certificates for HTTPS, cached, as reading them takes a tenth of a second."""
    return httpx.create_ssl_context()


async def _body(answer: httpx.Response) -> bytes:
    """Return the body of a response within the size limit, also of what it is decompressed to."""
    parts: list[bytes] = []
    size = 0
    async for part in answer.aiter_raw():
        size += len(part)
        _require_size(size)
        if len(parts) >= HTTP_PARTS:
            raise ActivityError(f"the answer comes in more than {HTTP_PARTS} parts", code="too-large", retry=False)
        parts.append(part)
        await asyncio.sleep(0)  # the library takes many small parts from what it has read, without a pause
    body, coding = b"".join(parts), answer.headers.get("content-encoding", "identity").strip().lower()
    if coding == "identity":
        return body
    reader = zlib.decompressobj(_GZIP)
    try:
        inflated = reader.decompress(body, HTTP_BYTES + 1) if coding in {"gzip", "x-gzip"} else b""
    except zlib.error:
        inflated = b""
    _require_size(len(inflated))
    if not reader.eof or reader.unused_data:  # another coding, several of them, or what is cut or damaged
        raise ActivityError(f"the answer is not one stream of gzip, but `{coding[:80]}`", code="unreachable")
    return inflated


_GZIP: Final = 31
"""Format of `gzip` for zlib."""


def _require_size(size: int) -> None:
    if size > HTTP_BYTES:
        raise ActivityError(f"the answer is longer than {HTTP_BYTES} bytes", code="too-large", retry=False)


_CHARSET: Final = re.compile(
    r"utf-?(8|(16|32)(-?[lb]e)?)|us-ascii|iso-8859-([1-9]|1[013-6])|windows-125[0-8]|koi8-[ru]|gb(k|2312|18030)|big5|shift_jis|euc-(jp|kr)",
    re.IGNORECASE,
)
"""Character sets that are read; some other codecs of Python do not return text, or take quadratic time."""


def _result(answer: httpx.Response, body: bytes, pointer: str) -> Json:
    status = answer.status_code
    if not answer.is_success:
        message = f"HTTP {status}: {redacted(body[: SHOWN_HTTP * 100].decode('utf-8', 'replace'))[:SHOWN_HTTP]}"
        raise ActivityError(message, code=str(status), retry=is_temporary(status))
    if not body:
        return None
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.startswith("text/") and not pointer:
        return body.decode(coding if _CHARSET.fullmatch(coding := answer.charset_encoding or "") else "utf-8", "replace")
    try:
        value = loads(body.removeprefix(BOM_UTF8))
    except ValueError as error:
        raise ActivityError(f"the answer is not JSON: {error}", code="no-json", retry=False) from error
    try:
        return at(value, pointer)
    except (LookupError, ValueError, TypeError) as error:
        raise ActivityError(f"the answer has no `{pointer}`", code="no-result", retry=False) from error


def fill_template(template: Json, given: Json) -> Json:
    """Return a template with its placeholders replaced by members of the argument."""
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        return _member(whole[1], given) if whole else _PLACE.sub(lambda found: _plain(_member(found[1], given)), template)
    if isinstance(template, Mapping):
        return {key: fill_template(item, given) for key, item in template.items()}
    return [fill_template(item, given) for item in template] if isinstance(template, list) else template
