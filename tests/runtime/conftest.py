"""A stand-in for the servers of all providers."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

import pytest
from http_server import serving
from standins import HOSTED, KEY, LIBRARIES, VARIABLES, Standin

from instrc.runtime.models.catalogue import ADAPTERS  # the list of all adapters

_tls = cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def _certificates_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share what all clients read at their start, which takes longer than most of the tests: no test speaks TLS."""
    monkeypatch.setattr(ssl, "create_default_context", _tls)


@pytest.fixture
def standin() -> Iterator[Standin]:
    made = Standin()
    with serving(made.answer) as made.url:
        yield made


_ALIKE = {*HOSTED, "anthropic-strict", "gemini-output", "llamafile", "lmstudio", "vllm"}
"""Adapters that differ from one of the others in little."""


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.long if name in _ALIKE else ()) for name in sorted(ADAPTERS)])
def kind(request: pytest.FixtureRequest, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    package = LIBRARIES.get(name, name)
    if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    key, url = VARIABLES[name]
    monkeypatch.setenv(key, KEY)
    monkeypatch.setenv(url, standin.url)
    if name == "bedrock":
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    if name == "gigachat":
        monkeypatch.setenv("GIGACHAT_AUTH_URL", f"{standin.url}/oauth")
    if package in {"openai", "anthropic"}:  # they give up after five seconds: a busy machine takes longer to load them
        monkeypatch.setattr(f"{package}._base_client.DEFAULT_TIMEOUT", 120.0)
    return name
