"""A stand-in for an object store with the protocol of S3: objects in a dict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from http_server import Answer, Asked, serving

_XML = "application/xml"


@contextmanager
def object_store() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Give the address of a store with any bucket, and its objects by `BUCKET/KEY`."""
    objects: dict[str, bytes] = {}

    def listed(bucket: str, asked: dict[str, list[str]]) -> Answer:
        prefix, after = (asked.get(name, [""])[0] for name in ("prefix", "start-after"))
        keys = sorted(key.partition("/")[2] for key in objects if key.startswith(f"{bucket}/{prefix}"))
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-27T12:00:00.000Z</LastModified>"
            f'<ETag>"{len(key)}"</ETag><Size>{len(objects[f"{bucket}/{key}"])}</Size></Contents>'
            for key in keys
            if key > after
        )
        name = f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><IsTruncated>false</IsTruncated>"
        return Answer(f"<ListBucketResult>{name}{rows}</ListBucketResult>".encode(), kind=_XML)

    def answer(asked: Asked) -> Answer:
        assert "Credential=known/" in asked.headers["authorization"]
        path, query = unquote(urlsplit(asked.path).path).strip("/"), parse_qs(urlsplit(asked.path).query, keep_blank_values=True)
        bucket = path.partition("/")[0]
        if asked.method == "GET" and "list-type" in query:
            return listed(bucket, query)
        if asked.method == "POST" and "delete" in query:
            keys = re.findall(r"<Key>([^<]*)</Key>", asked.body.decode())
            for key in keys:
                del objects[f"{bucket}/{key}"]
            gone = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
            return Answer(f"<DeleteResult>{gone}</DeleteResult>".encode(), kind=_XML)
        if asked.method == "PUT":
            objects[path] = asked.body
        elif path not in objects:
            return Answer(b"<Error><Code>NoSuchKey</Code></Error>", status=404, kind=_XML)
        elif asked.method == "DELETE":
            del objects[path]
        data = objects[path] if asked.method == "GET" else b""
        modified = ("last-modified", "Fri, 27 Nov 2026 12:00:00 GMT")
        return Answer(data, kind="binary/octet-stream", headers=(("etag", f'"{len(data)}"'), modified))

    with serving(answer) as address:
        yield address, objects
