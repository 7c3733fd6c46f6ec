"""Words that several targets share: alphabets of names, sets of keywords and formats."""

from __future__ import annotations

from instrc.ir.dialect import Fact, NameRule

WORD = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64)
IDENTIFIER = NameRule("a-zA-Z_", "a-zA-Z0-9_", 64)
PRINTABLE = NameRule(r"^\x00-\x1f\x7f\"\\", r"^\x00-\x1f\x7f\"\\", 256)
"""No control characters, quotes or backslashes: several decoders write keys into their grammar unescaped."""
DEFINITION_NAME = NameRule("A-Za-z0-9_", "A-Za-z0-9_.-", 64)
"""Names of definitions: llguidance refuses others, percent-encoding breaks xgrammar and outlines-core (run 2026-11-20)."""

NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
CORE = frozenset({"type", "enum", "anyOf", "properties", "required", "items", "description"})
STRICT = CORE | {"title", "const", "$ref", "$defs", "additionalProperties", "pattern", "format"}
FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

PRINTABLE_KEYS = Fact(
    "no alphabet of keys is published; a line break is refused by every provider, "
    "and some decoders write quotes and backslashes unescaped into their grammar",
    "harbor#1788; outlines-core 0.2.14 and lm-format-enforcer 0.11.3, run",
    "2026-11-20",
    ("key",),
)
NOT_ENFORCED = "without `strict` the schema is only shown to the model: any keyword passes, and answers keep no order"
