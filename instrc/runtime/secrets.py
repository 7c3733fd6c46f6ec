"""Keep secrets of the environment out of stored data, and read settings tables that refer to them."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeVar, cast
from urllib.parse import quote, quote_plus

from instrc.text.jsonvalue import Json

_told: set[str] = set()
_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6
"""Minimum characters of a secret that is masked: shorter texts occur by chance."""


def secrets() -> list[str]:
    """Return the secrets in the current environment in all their spellings, longest first."""
    raw = getattr(os.environ, "_data", os.environ)  # its own dictionary: comparing that takes 5 µs, decoding it 100
    return _spelled(frozenset(raw.items()), len(_told))


@lru_cache(maxsize=1)
def _spelled(_environment: frozenset[object], _count: int) -> list[str]:
    """Return the secrets, cached for one state of the environment and a number of told ones."""
    result = {value for name, value in os.environ.items() if _NAME.search(name) and len(value) >= _SHORTEST}
    return sorted({said for each in result | _told for said in _spellings(each)}, key=len, reverse=True)


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret as it is, and as services repeat it: in JSON, in URLs, in hexadecimal, and within Base64."""
    data = secret.encode("utf-8", "surrogateescape")
    texts = [secret, data.hex(), *(json.dumps(secret, ensure_ascii=escaped)[1:-1] for escaped in (True, False))]
    texts += [quote(data, safe=""), quote(data), quote_plus(data)]
    # in Base64, what precedes it and what follows share the characters at its ends
    texts += [b64encode(bytes(n) + data).decode()[(n * 8 + 5) // 6 : (n + len(data)) * 8 // 6] for n in range(3)]
    for text in texts:
        yield from (text, text.replace("/", r"\/"), text.translate(_URL_SAFE), re.sub("%..", lambda code: code[0].lower(), text))


_URL_SAFE: Final = {ord("+"): "-", ord("/"): "_"}
MASK = "***"
_T = TypeVar("_T")


def secret(name: str) -> str | None:
    """Return an environment variable, and treat its value as a secret whatever its name."""
    value = os.environ.get(name)
    if value and len(value) >= _SHORTEST:
        _told.add(value)
    return value


def redacted(value: _T) -> _T:
    """Return JSON with the currently known secrets masked in its texts and keys.

    Mask a text before it is cut: part of a secret is not found.
    """
    return cast("_T", _redacted(cast("Json", value), hidden)) if (hidden := secrets()) else value


def _redacted(value: Json, hidden: list[str]) -> Json:
    if isinstance(value, str):
        return _masked(value, hidden)
    if isinstance(value, dict):
        return {_masked(key, hidden): _redacted(item, hidden) for key, item in value.items()}
    return [_redacted(item, hidden) for item in value] if isinstance(value, list | tuple) else value


def _masked(text: str, hidden: list[str]) -> str:
    for item in hidden if len(text) >= len(hidden[-1]) else ():  # very many texts are short
        text = text.replace(item, MASK)
    return text


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class UnusableTableError(ValueError):
    """The error of a table; `served` is its owner."""


def with_variables(value: object, unset: str | None = None) -> object:
    """Replace the environment variables in all texts of a table; `unset` replaces unset ones."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _variable(found[1], unset), value)
    if isinstance(value, Mapping):
        return {key: with_variables(item, unset) for key, item in value.items()}
    return [with_variables(item, unset) for item in value] if isinstance(value, list) else value


def _variable(name: str, unset: str | None) -> str:
    value = secret(name)
    value = unset if value is None else value
    if value is None:
        raise UnusableTableError(f"the environment variable `{name}` is not set")
    return value
