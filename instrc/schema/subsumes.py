"""Tell whether one schema accepts everything that another accepts, as far as `jsonschema-rs` can decide it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.schemas import MissingExtra


@dataclass(frozen=True, slots=True)
class Subsumption:
    """Whether one schema accepts all that another does; if not, an instance that only the other accepts, where one is known."""

    verdict: Literal["yes", "no", "unknown"]
    witness: Json = None
    """An instance that the second accepts and the first rejects; only where `has_witness`."""
    has_witness: bool = False


def engine() -> object:
    """Return the module `jsonschema_rs`; a `CompileError` that says how to install it if it is missing."""
    try:
        import jsonschema_rs  # an optional extra
    except ImportError:
        raise CompileError([MissingExtra(feature="subsumption", extra="subsume", package="jsonschema-rs")]) from None
    return jsonschema_rs
