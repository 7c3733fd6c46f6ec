"""Write the classes of what programs compile to."""

from __future__ import annotations

from collections.abc import Iterable

from instrc.classes.generate import module
from instrc.classes.parts import module_parts
from instrc.ir.artefact import Artefact
from instrc.jsonvalue import Json
from instrc.naming import free_name


def module_of(artefacts: Iterable[Artefact], source: str) -> str:
    """Return a module with the classes of each export: what the model fills in, call by call, its steps, and the result.

    `source` is named in the first line.
    """
    documents: dict[str, tuple[dict[str, Json], Json]] = {}
    for artefact in artefacts:
        name = free_name(artefact.name, documents.__contains__)
        documents[name] = ({name: artefact.documents["tool"], **_later(artefact, name)}, artefact.documents["result"])
    return module(f"Classes for {source}.", module_parts(documents))


def _later(artefact: Artefact, name: str) -> dict[str, Json]:
    """Return what the model fills in after the entry of a process, by name."""
    if "process" not in artefact.documents:
        return {}
    from instrc.previewing import later_schemas  # brings the interpreter

    return {f"{name}_{chunk}": schema for chunk, schema in later_schemas(artefact).items()}
