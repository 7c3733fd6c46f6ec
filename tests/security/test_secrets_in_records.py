"""Secrets of the environment are masked in all that is recorded, as they are and as services repeat them."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import pytest

import instrc
from instrc.engines.places import require_place  # what is said of a store
from instrc.runtime.http_activities import SHOWN_HTTP, _result  # how the error of a service is shown
from instrc.runtime.models.failures import as_model_error  # how the error of a provider is
from instrc.runtime.secrets import redacted  # the one place that masks

SECRETS = ["sk-proj-abcDEF0123456789_-xyz", 's3cr"et/tök+en==\\', "pa ss/wo+rd&", "短い鍵だよね"]
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda text: json.dumps({"token": text}),
    "JSON with its letters": lambda text: json.dumps([text], ensure_ascii=False),
    "JSON of PHP": lambda text: json.dumps(text).replace("/", "\\/"),
    "a part of a path": lambda text: quote(text, safe=""),
    "a path": quote,
    "a query": lambda text: f"?key={quote_plus(text)}&more=1",
    "hexadecimal": lambda text: text.encode().hex(),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_secret_is_masked_in_every_usual_spelling(spelling: str, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = SPELLINGS[spelling]("").strip(), SPELLINGS[spelling](secret)
    monkeypatch.setenv("SHOP_TOKEN", secret)
    [masked] = redacted([f"told: {after}"])
    assert masked.count("***") == 1
    assert len(masked) == len(f"told: {before}***")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "a", "me:", "user:"])
@pytest.mark.parametrize("after", ["", "b", "cd"])
def test_a_secret_is_masked_within_base64(
    before: str, after: str, encode: Callable[[bytes], bytes], secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a header `Authorization: Basic …`, in which a name precedes it."""
    monkeypatch.setenv("SHOP_TOKEN", secret)
    [masked] = redacted([encode(f"{before}{secret}{after}".encode()).decode()])
    left = masked.replace("***", "").rstrip("=")
    assert "***" in masked
    assert len(left) * 6 <= len(f"{before}{after}".encode()) * 8 + 20


def test_what_is_cut_is_masked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a secret is not found by what masks whole ones."""
    monkeypatch.setenv("SHOP_TOKEN", secret := "sk-0123456789abcdef0123456789abcdef")
    with pytest.raises(instrc.ActivityError) as refused:
        _result(httpx.Response(500), f"{'x' * (SHOWN_HTTP - 20)}{secret}".encode(), "")
    assert "sk-0" not in str(refused.value)
    assert "sk-0" not in str(as_model_error(ValueError("x" * 570 + secret)))


def test_the_code_of_an_error_is_masked_like_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", secret := "sk-0123456789abcdef")

    def send(_given: object) -> str:
        raise instrc.ActivityError(f"refused: {secret}", code=f"bad {secret}", retry=False)

    run = instrc.run("Send_Activity()", vibes={"Send_Activity": {}}, activities={"Send_Activity": send})
    assert run.status == "failed"
    assert secret not in repr(run.outcome)


@pytest.mark.parametrize("place", ["mysql://ann:se%40cret@h/d", "mysql:/ann:se%40cret@h/d", Path("mysql://ann:se%40cret@h/d")])
def test_a_refused_store_is_named_as_it_was_written_without_its_password(place: str | Path) -> None:
    with pytest.raises(instrc.UnavailableError) as raised:
        require_place(place)
    assert "`mysql://h/d`" in str(raised.value)
    assert "cret" not in str(raised.value)
