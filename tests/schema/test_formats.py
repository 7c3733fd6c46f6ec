"""Formats, each by its grammar: what has it, and what looks like it only."""

from __future__ import annotations

import time

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.formats import CHECKS, has_format

CASES: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["1963-06-19", "2020-02-29", "0000-01-01", "0001-01-01", "9999-12-31"],
        [
            "2021-02-29",
            "1963-06-19\n",
            "1963-6-19",
            "1998-1-20",
            "19630619",
            "1963-06-1৪",
            "2020-W01-1",
            "0000-02-30",
            "10000-01-01",
            "",
        ],
    ),
    "time": (
        ["08:30:06Z", "08:30:06.283185z", "23:59:60Z", "01:29:60+01:30", "15:59:60-08:00", "12:00:00+23:59", "00:29:60-23:30"],
        [
            "08:30:06",
            "24:00:00Z",
            "00:60:00Z",
            "22:59:60Z",
            "01:02:03+24:00",
            "01:02:03+00:60",
            "08:30:06 PST",
            "01:01:01,1Z",
            "1২:00:00Z",
            "12:00:00.Z",
            "12:00:00+00:0০",
            "120000Z",
            "23:59:60+01:00",
        ],
    ),
    "date-time": (
        ["1963-06-19T08:30:06.283185Z", "1998-12-31T23:59:60Z", "1998-12-31t15:59:60.123-08:00", "2026-01-01T00:00:00+05:30"],
        [
            "1963-06-19 08:30:06Z",
            "1998-13-31T23:59:59Z",
            "1963-06-19T08:30:06",
            "2013-350T01:01:01Z",
            "1963-06-1৪T00:00:00Z",
            "T00:00:00Z",
        ],
    ),
    "duration": (
        ["P4DT12H30M5S", "P4Y", "PT0S", "P1M", "PT1M", "PT36H", "P1W", "P1Y2M3DT4H5M6S"],
        ["PT1D", "4DT12H30M5S", "P", "P1YT", "PT", "P2D1Y", "P1D2H", "P1H", "P1Y2W", "P২Y", "P1.5D", "PT1H1S", "P1Y1D"],
    ),
    "email": (
        ["joe@example.com", "te~st@example.com", '"joe bloggs"@example.com', "joe@[127.0.0.1]", "joe@[IPv6:::1]", "a.b@c"],
        [
            "2962",
            ".test@example.com",
            "te..st@example.com",
            "joe@invalid=domain",
            "joe@[127.0.0.300]",
            "@x",
            "a@",
            "a b@c",
            "é@a",
            "a@b@c",
            "a" * 65 + "@b",
        ],
    ),
    "idn-email": (["실례@실례.테스트", "joe@example.com"], ["2962", "@실례", "실 례@a"]),
    "hostname": (
        ["www.example.com", "xn--4gbwdl.xn--wgbh1c", "a", "a" * 63, "1host", "a-b"],
        ["-a", "a-", "a_b", "a..b", ".", "", "a" * 64, "a." * 127 + "a", "xn--X", "ab--c", "пример", "a\n"],
    ),
    "idn-hostname": (["실례.테스트", "пример", "example.com"], ["〮한국", "-a", "", "a" * 64, "a b"]),
    "ipv4": (
        ["192.168.0.1", "0.0.0.1"],
        ["127.0.0", "256.0.0.1", "0x7f.0.0.1", "087.10.0.1", "1.2.3.4\n", "1২7.0.0.1", "2130706433"],
    ),
    "ipv6": (["::1", "::", "1:2:3:4:5:6:7:8", "::ffff:192.168.0.1"], ["12345::", "::1%eth0", "1::2::3", "127.0.0.1", "::২", ""]),
    "uuid": (
        ["2EB8AA08-aa98-11ea-B4AA-73B441D16380", "00000000-0000-0000-0000-000000000000"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08-aa98-11ea-b4aa73b441d16380-", ""],
    ),
    "uri": (
        [
            "http://foo.bar/?baz=qux#quux",
            "urn:a:b",
            "mailto:a@b.c",
            "http://[2001:db8::7]:80/",
            "tel:+1-816-555-1212",
            "http://[v1.a]/",
            "a:",
        ],
        [
            "//foo.bar",
            "/abc",
            "\\\\a",
            "abc",
            "http:// a",
            "http://a\\b",
            "http://[::g]/",
            "http://[v.a]/",
            ":// a",
            "http://a:x/",
            "http://é",
            "http://a/%2",
            "1http://a",
            "http://a/[",
            "bar,�:a",
        ],
    ),
    "uri-reference": (["//a", "/abc", "abc", "#f", "", "./a:b", "?q", "a/b:c"], ["\\\\a", "#f\\a", "1:b", "a b", "é"]),
    "iri": (["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "http://[::1]/"], ["/abc", "http://2001:db8::7/ a", "âππ", "http://\ufdd0"]),
    "iri-reference": (["/âππ", "âππ", "#ƒräg", ""], ["\\\\WINDOWS", "#ƒräg\\mênt"]),
    "uri-template": (
        ["http://example.com/{term:1}/{term}", "{+x,y*}", "{?a,b.c}", "", "a"],
        ["http://example.com/{term:1}/{term", "{}", "{a", "}", "{a:0}", "{a b}", "a b", "{a,}"],
    ),
    "json-pointer": (["", "/", "/foo/bar~0/baz~1/%a", "/a//b"], ["a", "/~", "/foo/bar~2", "#/a"]),
    "relative-json-pointer": (["1", "0/foo/bar", "2/0/baz/1/zip", "0#"], ["/foo", "-1/a", "0##", "01/a", "", "২"]),
    "regex": (["([abc])+\\s+$", "", "^(?!a)"], ["^(abc]", "\\a", "*"]),
}


@every_case("name", CASES)
def test_a_format_is_its_grammar(name: str) -> None:
    right, wrong = CASES[name]
    assert [text for text in right if not has_format(name, text)] == []
    assert [text for text in wrong if has_format(name, text)] == []


def test_every_format_of_the_draft_has_cases() -> None:
    assert CASES.keys() == CHECKS.keys()


def test_what_is_no_text_and_a_format_nobody_knows_ask_for_nothing() -> None:
    assert has_format("date", 5)
    assert has_format("date", None)
    assert has_format("no-such-format", "x")


@given(st.sampled_from(sorted(CHECKS)), st.text() | st.text("0123456789-:.TZ+/@[]{}%#?~Px ", max_size=30))
def test_no_text_raises(name: str, text: str) -> None:
    assert has_format(name, text) in {True, False}


@pytest.mark.long
@every_case("unit", ["a", "a.", "1", "a@", "%", "{a.", "a:", '"\\a', "/~0", "xn--a."])
def test_a_long_text_costs_what_it_is_long(unit: str) -> None:
    start = time.process_time()
    for name in CHECKS:
        has_format(name, unit * 50_000)
        has_format(name, "http://" + unit * 50_000)
    assert time.process_time() - start < 10
