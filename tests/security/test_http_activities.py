"""Values of a call stay in the part of an HTTP request that the settings give them, and inner addresses are inner."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from http_server import Answer, Asked, serving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from instrc import ActivityError
from instrc.runtime.activities import ActivityCall  # one decision about a call
from instrc.runtime.effects import attempt_call  # calls without a run
from instrc.runtime.http_activities import HTTP_BYTES  # a limit
from instrc.runtime.served_activities import served  # an activity without a program
from instrc.server.webhooks import is_inner  # one address

SEEN: list[Asked] = []


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    def answer(asked: Asked) -> Answer:
        SEEN.append(asked)
        return Answer(b"null", 200, "application/json", None)

    with serving(answer) as address:
        yield address


def call(table: dict[str, Any], value: Any) -> Asked:
    """Return what the service is asked."""
    SEEN.clear()
    activity = served("Order_Activity", table, Path())
    asyncio.run(attempt_call(activity, value, ActivityCall("run 1/step2_order", activity.name, 1)))
    [asked] = SEEN
    return asked


def refused(table: dict[str, Any], value: Any) -> str:
    with pytest.raises(ActivityError) as raised:
        call(table, value)
    assert (raised.value.code, raised.value.retry, SEEN) == ("invalid-input", False, [])
    return str(raised.value)


def test_values_that_make_no_url_are_refused(url: str) -> None:
    huge = {"number": "x" * 2_000_000}
    for place in ("/orders/{number}", "/orders?number={number}"):
        assert "no valid URL" in refused({"url": url + place, "method": "POST"}, huge)
    assert call({"url": url + "/orders", "method": "POST"}, huge).path == "/orders"  # a body may be large


def squeezed(body: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        body = gzip.compress(body, 1)
    return body


ODD = ("hex", "rot13", "idna", "punycode", "undefined", "unicode_escape", "iso-8859-99", '"', "utf-8;charset=hex")
ANSWERS: list[tuple[str, str, bytes, Any]] = [
    ("gzip", "application/json", squeezed(b'{"a": 1}'), {"a": 1}),
    ("x-gzip", "text/plain", squeezed(b"ok"), "ok"),
    ("identity", "text/plain; charset=windows-1251", "да".encode("cp1251"), "да"),
    ("gzip", "application/json", squeezed(b" " * HTTP_BYTES + b"{}"), "too-large"),
    ("gzip, gzip", "application/json", squeezed(b"{}", 2), "unreachable"),
    ("br", "application/json", b"{}", "unreachable"),
    ("gzip", "application/json", b"{}", "unreachable"),
    ("gzip", "application/json", squeezed(b"{}")[:-4], "unreachable"),
    ("gzip", "application/json", squeezed(b"{}") + squeezed(b"{}"), "unreachable"),
    ("identity", "application/json", b"9" * 1_000_000, "no-json"),
    *(("identity", f"text/plain; charset={name}", b"a-9z", "a-9z") for name in ODD),
]


def test_an_answer_is_read_within_bounds_whatever_it_claims_to_be() -> None:
    sent: list[Answer] = []
    with serving(lambda _: sent[-1]) as address:
        activity = served("Order_Activity", {"url": address, "method": "GET"}, Path())
        for coding, kind, body, expected in ANSWERS:
            sent.append(Answer(body, 200, kind, headers=(("content-encoding", coding),)))
            try:
                result: Any = asyncio.run(attempt_call(activity, {}, ActivityCall("run 1/step2_order", activity.name, 1)))
            except ActivityError as error:
                result = error.code
            assert result == expected, (coding, kind)


DOTS = [
    *("", ".", "..", "...", " ", ". .", "..;x", ";x", "．．", "‥", "\t..", "..\n"),
    *("a/..", "../b", "..\\b", "a//b", "/", "a/", "/etc/passwd"),
]


@pytest.mark.parametrize("value", DOTS)
@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_a_value_is_one_segment_also_when_encoded(url: str, value: str, rounds: int) -> None:
    if rounds:
        value = "".join(f"%{byte:02x}" for byte in value.encode()).replace("%", "%" + "25" * (rounds - 1))
    message = refused({"url": f"{url}/tenant/42/orders/{{number}}", "method": "DELETE"}, {"number": value})
    assert "`number` is not a segment of a path" in message


@pytest.mark.parametrize("value", [None, [], ["a"], {}, {"a": 1}, "a\0b", "a\x7fb", "%00", "%2500", "%" + "25" * 20 + "2e"])
def test_what_is_no_text_or_number_is_no_segment(url: str, value: Any) -> None:
    refused({"url": f"{url}/orders/{{number}}", "method": "DELETE"}, {"number": value})


@pytest.mark.parametrize("template", ["{a}{b}", "{a}{b}{a}{b}", "%2e{a}{b}", ".{a}{b}", "x/../{c}"])
def test_several_values_make_no_other_segment(url: str, template: str) -> None:
    refused({"url": f"{url}/orders/{template}", "method": "DELETE"}, {"a": "%2", "b": "e", "c": "x"})


@pytest.mark.parametrize("value", ["7", 7, True, "a b", "a.b", ".env", "a/b@c", "100%", "?x=1", "#x", "й", "..a", "a;b", "a&b=c"])
def test_a_harmless_value_is_sent_as_one_segment(url: str, value: Any) -> None:
    asked = call({"url": f"{url}/tenant/42/orders/{{number}}/items?of=1", "method": "DELETE"}, {"number": value})
    path, _, query = asked.path.partition("?")
    assert len(path.split("/")) == 6
    assert path.startswith("/tenant/42/orders/")
    assert path.endswith("/items")
    assert query == "of=1"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text(alphabet="./\\%25eEfFc;? #&=a\0", max_size=12))
def test_no_text_changes_the_resource(url: str, value: str) -> None:
    table = {"url": f"{url}/tenant/42/orders/{{number}}", "method": "DELETE"}
    try:
        path = call(table, {"number": value}).path.partition("?")[0]
    except ActivityError:
        assert SEEN == []
        return
    for _ in range(4):  # servers behind each other decode it again
        parts = re.split(r"[/\\]", path)
        assert parts[1:4] == ["tenant", "42", "orders"]
        assert {"", ".", ".."}.isdisjoint(parts[4:])
        path = unquote(path)


@pytest.mark.parametrize("value", ["1&tenant=43", "1#x", "1;tenant=43", "1%26tenant=43", "a+b", "й"])
def test_a_value_of_the_query_is_one_value(url: str, value: str) -> None:
    asked = call({"url": f"{url}/orders?tenant=42&of={{number}}", "method": "GET"}, {"number": value})
    assert parse_qsl(urlsplit(asked.path).query) == [("tenant", "42"), ("of", value)]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("value", ["42", 42, ["a"]])
def test_nothing_is_deleted_without_an_argument_that_has_no_name(url: str, method: str, value: Any) -> None:
    """A call without arguments reads the prompt, which the request of a fixed address need not send."""
    if method == "DELETE":
        assert "label them" in refused({"url": url + "/orders", "method": method}, value)
    else:
        assert call({"url": url + "/orders", "method": method}, value).path == "/orders"
    assert call({"url": url + "/orders", "method": method, "query": {}}, value).path == "/orders"
    assert call({"url": url + "/orders", "method": method}, {"id": value}).path.startswith("/orders?id=")
    assert call({"url": url + "/orders?id={}", "method": method}, value).path.startswith("/orders?id=")


def test_the_query_of_the_url_stays_beside_that_of_the_call(url: str) -> None:
    asked = call({"url": f"{url}/orders?tenant=42", "method": "GET"}, {"tenant": 43, "of": [1, 2]})
    assert parse_qsl(urlsplit(asked.path).query) == [("tenant", "42"), ("of", "1"), ("of", "2")]
    asked = call({"url": f"{url}/orders?tenant=42", "query": {"of": "{n}"}}, {"n": "1&tenant=43"})
    assert parse_qsl(urlsplit(asked.path).query) == [("tenant", "42"), ("of", "1&tenant=43")]
    asked = call({"url": f"{url}/orders?tenant=", "method": "GET"}, {"tenant": 43, "of": 1})
    assert urlsplit(asked.path).query == "tenant=&of=1"


@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\nb", "a\rb", "a\0b", "a\x0bb", "a\x7fb", "й", "\u2028", "a\u010ab"])
@pytest.mark.parametrize("template", ["{name}", "Bearer {name}"])
def test_a_header_is_one_line_of_ascii(url: str, template: str, value: str) -> None:
    assert "the header `X-Name` is one line of ASCII" in refused({"url": url, "headers": {"X-Name": template}}, {"name": value})


@pytest.mark.parametrize("value", ["a; admin=1", "a, b", 'a"b', "a\\b"])
def test_a_value_in_a_header_ends_no_part_of_it(url: str, value: str) -> None:
    table = {"url": url, "headers": {"Cookie": "name={name}; admin=0"}}
    assert "holds what ends a part" in refused(table, {"name": value})
    assert call(table, {"name": "a b"}).headers["cookie"] == "name=a b; admin=0"
    assert call({"url": url, "headers": {"X-Name": "{name}"}}, {"name": value}).headers["x-name"] == value


@pytest.mark.parametrize(
    "address",
    [
        *(
            "fec0::1",
            "feff::1",
            "::1.2.3.4",
            "::7f00:1",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::ffff:0:10.0.0.1",
            "64:ff9b::10.0.0.1",
        ),
        *("64:ff9b:1::1", "2002:a00:1::", "fe80::1", "fd00::1", "ff02::1", "5f00::1", "3fff::1", "2001:db8::1", "100::1"),
        *("0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.192", "192.88.99.1"),  # noqa: S104
        *("192.168.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    ],
)
def test_an_address_inside_is_inner(address: str) -> None:
    assert is_inner(ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "64:ff9b::1.1.1.1", "::ffff:1.1.1.1"])
def test_an_address_outside_is_not(address: str) -> None:
    assert not is_inner(ip_address(address))


def test_an_answer_of_many_small_parts_is_refused_and_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The HTTP library takes one part after another from what it has read, without a pause."""
    beats, seen = 0, []
    monkeypatch.setattr("instrc.runtime.http_activities.HTTP_PARTS", 5_000)

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n1\r\n" * 5_001)
        await writer.drain()
        writer.close()

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    async def body() -> None:
        server = await asyncio.start_server(pour, "127.0.0.1", 0)
        table = {"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", "method": "POST"}
        activity = served("Order_Activity", table, Path())
        beating = asyncio.create_task(beat())
        with pytest.raises(ActivityError) as raised:
            await attempt_call(activity, {}, ActivityCall("run 1/step2_order", activity.name, 1))
        seen.append((raised.value.code, raised.value.retry))
        beating.cancel()
        server.close()

    asyncio.run(body())
    assert seen == [("too-large", False)]
    assert beats >= 5_000
