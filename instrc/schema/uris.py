"""URIs of schemas: how references are joined and read, and what is known to everybody.

URIs under `aug:` are opaque: they are split at `#`, never joined.
"""

from __future__ import annotations

import re

from instrc.jsonvalue import Json

_MIXIN = r"aug:[^#?]*_Mixin(?::[^/#?]*)?(?:\?[^#/]*)?#?"


def is_mixin(reference: Json) -> bool:
    """Tell whether a reference applies a mixin: its document's name ends in `_Mixin`, and it means the whole of it."""
    if reference.__class__ is not str or not reference.startswith("aug:"):
        return False
    return "_Mixin" in reference and re.fullmatch(_MIXIN, reference) is not None


def unescaped(fragment: str) -> str:
    """Return a fragment without percent escapes."""
    if "%" not in fragment:
        return fragment
    from urllib.parse import unquote  # rare

    plain: str = unquote(fragment)
    return plain


def join(base: str, reference: str) -> str:
    """Return a reference as an absolute URI; `aug:` is never joined."""
    if not base or reference.startswith("aug:") or not reference:
        return reference or base
    if base.startswith("aug:"):
        return reference
    from urllib.parse import urljoin  # rare: most references are fragments

    joined: str = urljoin(base, reference)
    return joined


def metaschema(uri: str) -> Json:
    """Return a meta-schema of JSON Schema itself, or `None`."""
    if "json-schema.org/" not in uri:
        return None
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no types; read when referred to

    for name in (uri, uri + "#"):
        found = REGISTRY.get(name)
        if found is not None:
            contents: Json = found.contents
            return contents
    return None
