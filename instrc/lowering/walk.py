"""What a rewrite may ask of the walk that calls it: to lower what is inside, and to note what is lost."""

from __future__ import annotations

from typing import Protocol

from instrc.ir.codec import Codec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.losses import Kind
from instrc.lowering.names import KeyNames
from instrc.lowering.variants import Variant


class Walk(Protocol):
    """One lowering under way, as the rewrites see it: they are given it, and never import what makes it."""

    root: Json
    dialect: Dialect
    ordered: bool
    keys: KeyNames
    definitions: dict[str, Json]
    codecs: dict[str, Codec]
    enum_values: int

    def fit(self, node: Json, level: int, extra: tuple[Variant, ...] = ()) -> tuple[Json, Codec]:
        """Return a schema in the target's words and the codec of its values; the schema is `None` if nothing fits."""
        ...

    def forms(self, node: Json, level: int) -> list[Variant]:
        """Return the ways in which a value of a schema can be written; none if there is no such value."""
        ...

    def combine(self, node: Json, forms: list[Variant], notes: tuple[str, ...] = ()) -> tuple[Json, Codec]:
        """Return one schema for several variants."""
        ...

    def target(self, ref: str) -> Json:
        """Return what a reference stands for."""
        ...

    def too_deep(self, level: int) -> bool:
        """Say whether an object or array at this level is one too many."""
        ...

    def beyond(self, level: int) -> str:
        """Say of an object or array that it is one too many."""
        ...

    def under_way(self, form: Variant) -> bool:
        """Say whether a reference leads to a definition that is not finished."""
        ...

    def share(self, form: Variant) -> None:
        """Refer to the copy of a definition from where it stands, once too much has been copied."""
        ...

    def tag_later(self, form: Variant, tag: str, label: str) -> None:
        """Refer to a definition that is not finished as it will be with a key in front that names it."""
        ...

    def without_annotations(self, body: Json) -> Json:
        """Return a schema of the payload without what decides nothing in it."""
        ...

    def lose(self, node: Json, keyword: str, kind: Kind = "unenforced", reason: str | None = None) -> str:
        """Note a loss and return the sentence that tells the model."""
        ...

    def take(self, node: Json, keyword: str, kind: Kind, reason: str, *, parts: bool = True) -> None:
        """Note a loss of which there is nothing to tell a model."""
        ...

    def lose_all(self, node: Json, reason: str, kind: Kind = "unenforced", place: str = "") -> None:
        """Note every constraint of a schema as lost."""
        ...

    def contradict(self, node: Json, name: str, schema: Json) -> None:
        """Note that a property is left out, because no value satisfies its schema."""
        ...

    def intersected(self, schemas: list[Json]) -> Json:
        """Return one schema for several that all hold; what no keyword can say stays in its `allOf`."""
        ...

    def made(self, new: Json, *of: Json) -> Json:
        """Remember what a schema was made of, so that its losses are shown where they were written."""
        ...

    def own(self, new: Json, node: Json) -> Json:
        """Remember a schema that a rewrite made up: what nobody wrote cannot be lost."""
        ...

    def is_own(self, node: Json) -> bool:
        """Say whether a schema was made up by a rewrite."""
        ...

    def place(self, node: Json, keyword: str) -> str:
        """Return the pointer of the schema that a keyword of a node comes from."""
        ...
