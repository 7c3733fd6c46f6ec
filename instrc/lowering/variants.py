"""One way a value can be written for a target, before the ways are put together into one schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from instrc.ir.codec import Codec, TextCodec, ValuesCodec
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import equal, freeze


@dataclass(slots=True)
class Variant:
    """A schema of one JSON type in the target's words, with the codec of its values."""

    kind: str
    """The JSON type of what is sent; `ref` for a reference, `any` for the empty schema."""
    body: dict[str, Any]
    codec: Codec = None
    notes: list[str] = field(default_factory=list)
    """Sentences for the description: what the body does not say."""
    text: str | None = None
    """The description of this alternative, if it has its own."""
    title: str | None = None
    definition: str | None = None
    """The definition of the payload that the body is a copy of."""
    node: Json = None
    """The schema it was made of, for losses found later."""

    @property
    def anything(self) -> bool:
        """Whether every JSON value can be written so."""
        return self.kind == "any" or (isinstance(self.codec, TextCodec) and self.codec.kinds is None)

    @property
    def written(self) -> bool:
        """Whether the value is JSON written into a string."""
        return isinstance(self.codec, TextCodec)

    @property
    def bare(self) -> bool:
        """Whether the form says a type and nothing else."""
        return self.body.keys() == {"type"} and self.codec is None and not self.notes and not self.text


def distinct(forms: list[Variant]) -> list[Variant]:
    """Return the first of each of the forms that say the same."""
    kept: list[Variant] = []
    for form in forms:
        if not any(
            form.kind == other.kind and form.text == other.text and form.codec == other.codec and equal(form.body, other.body)
            for other in kept
        ):
            kept.append(form)
    return kept


def null_variant() -> Variant:
    """Return the form of null."""
    return Variant("null", {"type": "null"})


def listed_values(schema: dict[str, Any]) -> list[Json]:
    """Return the values that `const` or `enum` lists."""
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def values_of(form: Variant) -> list[Json]:
    """Return what is sent for the values of an enumeration."""
    return list(form.body["enum"]) if "enum" in form.body else [form.body["const"]]


def table(form: Variant) -> dict[Any, tuple[Json, Json]]:
    """Return pairs of what is sent and what it means, by what is sent."""
    values = form.codec.values if isinstance(form.codec, ValuesCodec) else [(value, value) for value in values_of(form)]
    return {freeze(sent): (sent, value) for sent, value in values}
