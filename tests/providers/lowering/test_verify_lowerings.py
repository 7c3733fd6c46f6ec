"""What `lower` returns can be verified as it is, by the rules and the envelope it was made for."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from pydantic import BaseModel

import instrc
from instrc.text.jsonvalue import Json


class Reply(BaseModel):
    text: str
    days: int | None = None
    notes: dict[str, int] = {}


@pytest.mark.long
@every_case("target", instrc.targets())
def test_no_payload_breaks_the_rules_it_was_made_for_in_any_envelope(target: str) -> None:
    rules = instrc.targets()[target]
    for envelope in [None, *instrc.targets().values()]:
        assert instrc.verify(instrc.lower(Reply, rules, envelope=envelope)).breaches == ()


def test_options_of_a_provider_beside_the_name_are_no_breach() -> None:
    schema: Json = {"type": "object", "properties": {"a": {"type": "string"}}}
    for target, options in (("anthropic", {"defer_loading": True}), ("openai", {"defer_loading": True})):
        lowered = instrc.lower({**schema, "x-tool": {target: options}}, target)
        assert "defer_loading" in str(lowered.payload)
        assert instrc.verify(lowered).breaches == ()


@every_case(
    ("target", "word"), [("anthropic", "input_shema"), ("anthropic", "inputSchema"), ("openai", "strct"), ("openai", "paramters")]
)
def test_a_misspelt_member_of_the_envelope_is_no_option(target: str, word: str) -> None:
    payload: Any = instrc.lower({"type": "object", "properties": {"a": {"type": "string"}}}, target).payload
    payload.get("function", payload)[word] = {}
    assert [breach.message for breach in instrc.verify(payload, target).breaches] == [f'"{word}" is not known']


@every_case("target", instrc.targets())
def test_a_lowering_is_verified_as_its_payload(target: str) -> None:
    lowered = instrc.lower(Reply, instrc.targets()[target])
    assert instrc.verify(lowered) == instrc.verify(lowered.payload, target)


def test_another_target_can_be_asked_about_a_lowering() -> None:
    assert instrc.verify(instrc.lower(Reply, "anthropic"), "openai").breaches


@pytest.mark.parametrize("given", [Reply, instrc.lower_all([Reply]), object(), {"type": {1, 2}}])
def test_what_is_no_payload_is_said(given: Json) -> None:
    with pytest.raises(TypeError, match="is not a payload: `verify` takes what `lower` returns"):
        instrc.verify(given)
