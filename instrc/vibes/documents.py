"""The schemas of a registry as a mapping, as whoever follows references wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar, overload

from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.vibes.uri import SCHEME
from instrc.vibes.vibe import Vibe

_T = TypeVar("_T")


class Documents(Mapping[str, Json]):
    """Bare schemas by reference.

    An `aug:` reference that leads to none raises the `CompileError` that says why, not a bare `KeyError`:
    what is wrong with it (a version, a link, the file) would be lost on the way through other mappings.
    """

    def __init__(self, load: Callable[[str], Vibe], uris: Callable[[], Iterable[str]]) -> None:
        self._load = load
        self._uris = uris

    def __getitem__(self, uri: str) -> Json:
        if uri[: len(SCHEME)].lower() != SCHEME:
            raise KeyError(uri)
        return self._load(uri).schema

    def __contains__(self, uri: object) -> bool:
        return isinstance(uri, str) and self._find(uri) is not None

    @overload
    def get(self, uri: str, /) -> Json: ...
    @overload
    def get(self, uri: str, default: Json | _T, /) -> Json | _T: ...
    def get(self, uri: str, default: Json | _T | None = None, /) -> Json | _T:
        """Return a schema, or the default if the reference leads to none."""
        vibe = self._find(uri)
        return default if vibe is None else vibe.schema

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._uris()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _find(self, uri: str) -> Vibe | None:
        try:
            return self._load(uri)
        except CompileError:
            return None
