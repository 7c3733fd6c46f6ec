"""Media types: which of several says most, and what they name."""

from __future__ import annotations

from instrc.jsonvalue import Json


def best_media_type(content: dict[str, Json]) -> str:
    """Return the media type that says most to a model: JSON, then forms, then whatever is first."""
    kinds = sorted(
        content, key=lambda kind: (not kind.startswith("application/json"), not is_json_media_type(kind), "form" not in kind)
    )
    return kinds[0]


def is_json_media_type(kind: str) -> bool:
    """Tell whether what a media type names is JSON."""
    essence = kind.partition(";")[0].strip().lower()
    return essence.endswith(("/json", "+json")) or essence == "*/*"


def is_usual(kind: str) -> bool:
    """Tell whether a media type is what a body has unless another one is said."""
    return kind.partition(";")[0].strip().lower() in {"application/json", "*/*"}
