"""The registry in the form of `referencing`, for `jsonschema` validators that encounter `aug:` references.

Every vibe is one resource under its reference without fragment.
Besides `$anchor`s it has an anchor for each unique property name, the third kind of `aug:` fragment.
References that begin with `#` bypass `urllib`, whose `urljoin` joins nothing under an unknown scheme,
and `aug:` references are absolute, so neither needs a base.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import referencing
import referencing.exceptions
import referencing.jsonschema

from instrc.problems.errors import InstrcError
from instrc.text.jsonvalue import Json

if TYPE_CHECKING:
    from referencing.typing import Anchor as AnchorType

    from instrc.vibes.registry import Registry


_DIALECT = referencing.jsonschema.DRAFT202012
_attrs: Any = referencing  # the same module, untyped: mypy does not know the parameters of its attrs classes


def reference_registry(registry: Registry) -> referencing.Registry[Json]:
    """Return a `referencing.Registry` that reads the vibe of each `aug:` reference on demand, and nothing else."""

    def retrieve(uri: str) -> referencing.Resource[Json]:
        try:
            return resource(registry.load(uri).schema)
        except InstrcError as error:
            raise _attrs.exceptions.NoSuchResource(ref=uri) from error

    result: referencing.Registry[Json] = _attrs.Registry(retrieve=retrieve)
    return result


def resource(schema: Json) -> referencing.Resource[Json]:
    """Return a schema as a resource with anchors for unique property names."""

    def anchors(_: referencing.Specification[Json], contents: Json) -> Iterator[AnchorType[Json]]:
        if contents is schema:
            for name, target in unique_properties(schema).items():
                yield _attrs.Anchor(name=name, resource=_DIALECT.create_resource(target))
        yield from _DIALECT.anchors_in(contents)  # explicit anchors take precedence

    specification: referencing.Specification[Json] = _attrs.Specification(
        name="aug",
        id_of=_DIALECT.id_of,
        subresources_of=_DIALECT.subresources_of,
        anchors_in=anchors,
        maybe_in_subresource=_DIALECT.maybe_in_subresource,
    )
    return specification.create_resource(schema)


def unique_properties(schema: Json) -> dict[str, Json]:
    """Return the schemas of the properties whose name occurs once in a schema, at any depth."""
    found: dict[str, list[Json]] = {}
    pending = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            properties = part.get("properties")
            for name, target in properties.items() if isinstance(properties, dict) else ():
                found.setdefault(name, []).append(target)
        pending.extend(_DIALECT.subresources_of(part))
    return {name: targets[0] for name, targets in found.items() if len(targets) == 1}
