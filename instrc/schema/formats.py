"""Check the formats of JSON Schema 2020-12, each by its grammar.

The library's own checks need ten more packages, and differ from the grammars in places: digits of other scripts, invalid
offsets, leap seconds.  An unregistered format is an annotation and asserts nothing.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema import FormatChecker


def has_format(name: str, value: object) -> bool:
    """Return whether a value matches a format; values other than texts, and unknown formats, pass."""
    check = CHECKS.get(name)
    return check is None or not isinstance(value, str) or check(value)


# Patterns are compiled when they are used: all of them would take longer than a small program.
_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"


def _is_date(text: str) -> bool:
    match = re.fullmatch(_DATE, text)
    try:
        return match is not None and dt.date(*map(int, match.groups())).year > 0
    except ValueError:  # 30 February; year 0 is none to Python, and not to ISO 8601
        return text.startswith("0000-") and _is_date(f"2000{text[4:]}")


_TIME = r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]+)?(?:[zZ]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"


def _is_time(text: str) -> bool:
    match = re.fullmatch(_TIME, text)
    if match is None or match[3] != "60":
        return match is not None
    away = (int(match[5]) * 60 + int(match[6])) * (1 if match[4] == "+" else -1) if match[4] else 0
    return (int(match[1]) * 60 + int(match[2]) - away) % 1440 == 1439  # a leap second ends a day of UTC


def _is_date_time(text: str) -> bool:
    return len(text) > 11 and text[10] in "tT" and _is_date(text[:10]) and _is_time(text[11:])


def _is_written(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text) is not None


_DAYS = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_CLOCK = "(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION = f"P(?:[0-9]+W|{_DAYS}(?:T{_CLOCK})?|T{_CLOCK})"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_LOCAL = rf'{_ATOM}+(?:\.{_ATOM}+)*|"(?:[ !#-\[\]-~]|\\[ -~])*"'


_UNICODE_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]"
_UNICODE_LOCAL = rf'{_UNICODE_ATOM}+(?:\.{_UNICODE_ATOM}+)*|"(?:[ !#-\[\]-~\u0080-\U0010ffff]|\\[ -~])*"'


def _is_email(local: str, is_host: Callable[[str], bool], text: str) -> bool:
    name, _, domain = text.rpartition("@")
    return len(name) <= 64 and re.fullmatch(local, name) is not None and (_is_literal(domain) or is_host(domain))


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"


def _is_hostname(text: str) -> bool:
    labels = text.split(".")
    if not 0 < len(text) <= 253 or not all(re.fullmatch(_LABEL, label) for label in labels):
        return False
    return all(label[2:4] != "--" or (label[:2].lower() == "xn" and _is_encoded(label)) for label in labels)


def _is_idn_hostname(text: str) -> bool:
    import idna

    try:
        return 0 < len(text) <= 1000 and len(idna.encode(text)) <= 253
    except (idna.IDNAError, UnicodeError):
        return False


def _is_ipv4(text: str) -> bool:
    try:
        return text.isascii() and bool(ipaddress.IPv4Address(text))
    except ValueError:
        return False


def _is_ipv6(text: str) -> bool:
    try:
        return text.isascii() and "%" not in text and ipaddress.IPv6Address(text) is not None
    except ValueError:
        return False


_UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_ESCAPE = "%[0-9A-Fa-f]{2}"


def _uri(other_letters: str, *, relative: bool) -> Callable[[str], bool]:
    """Return the check for RFC 3986, or for RFC 3987 with letters of other scripts."""
    plain = rf"A-Za-z0-9\-._~{other_letters}!$&'()*+,;="
    private = r"\ue000-\uf8ff\U000f0000-\U0010fffd" if other_letters else ""
    whole = (
        rf"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?"
        rf"(?://(?:(?:[{plain}:]|{_ESCAPE})*@)?(?:\[(?P<literal>[^\[\]]*)\]|(?:[{plain}]|{_ESCAPE})*)(?::[0-9]*)?(?=[/?#]|\Z)|(?!//))"
        rf"(?P<path>(?:[{plain}:@/]|{_ESCAPE})*)(?:\?(?:[{plain}:@/?{private}]|{_ESCAPE})*)?(?:#(?:[{plain}:@/?]|{_ESCAPE})*)?"
    )

    def check(text: str) -> bool:
        match = re.fullmatch(whole, text)
        if match is None or (match["scheme"] is None and not relative):
            return False
        if match["scheme"] is None and not text.startswith("//") and ":" in match["path"].partition("/")[0]:
            return False  # the part before the colon would be parsed as a scheme
        literal = match["literal"]
        return literal is None or _is_ipv6(literal) or re.fullmatch(rf"[vV][0-9A-Fa-f]+\.[{plain}:]+", literal) is not None

    return check


_OTHER_LETTERS = r"\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"\\U{plane:04x}{'1000' if plane == 14 else '0000'}-\\U{plane:04x}fffd" for plane in range(1, 15)
)
_VARIABLE = rf"(?:[A-Za-z0-9_]|{_ESCAPE})(?:\.?(?:[A-Za-z0-9_]|{_ESCAPE}))*(?::[1-9][0-9]{{0,3}}|\*)?"
_TEMPLATE = rf"""(?:[^\x00-\x20"'%<>\\^`{{|}}\x7f]|{_ESCAPE}|\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}})*"""
_POINTER = r"(?:/(?:[^~/]|~[01])*)*"
_RELATIVE_POINTER = r"(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)"


def _is_regex(text: str) -> bool:
    from instrc.schema.ecmascript import is_ecmascript
    from instrc.schema.patterns import search

    return is_ecmascript(text) and search(text, "") is not None  # within the time for all patterns of a value


CHECKS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "duration": partial(_is_written, _DURATION),
    "email": partial(_is_email, _LOCAL, _is_hostname),
    "idn-email": partial(_is_email, _UNICODE_LOCAL, _is_idn_hostname),
    "hostname": _is_hostname,
    "idn-hostname": _is_idn_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "uuid": partial(_is_written, _UUID),
    "uri": _uri("", relative=False),
    "uri-reference": _uri("", relative=True),
    "iri": _uri(_OTHER_LETTERS, relative=False),
    "iri-reference": _uri(_OTHER_LETTERS, relative=True),
    "uri-template": partial(_is_written, _TEMPLATE),
    "json-pointer": partial(_is_written, _POINTER),
    "relative-json-pointer": partial(_is_written, _RELATIVE_POINTER),
    "regex": _is_regex,
}
"""Checks by the name of the format."""


def _is_literal(domain: str) -> bool:
    if not domain.startswith("[") or not domain.endswith("]"):
        return False
    address = domain[1:-1]
    return _is_ipv6(address[5:]) if address[:5].lower() == "ipv6:" else _is_ipv4(address)


def _is_encoded(label: str) -> bool:
    """Return whether a label that begins with `xn--` encodes a name in another script."""
    import idna

    try:
        return idna.ulabel(label.lower()) != label
    except (idna.IDNAError, UnicodeError):
        return False


@lru_cache(maxsize=1)
def checker() -> FormatChecker:
    """Return all checks as the class that `jsonschema` expects."""
    from jsonschema import FormatChecker  # loaded only for validation

    result = FormatChecker(formats=())
    for name in CHECKS:
        result.checks(name)(partial(has_format, name))
    return result
