"""The address of a process that a plan may call, as it is found from the program that is compiled."""

from __future__ import annotations

from os.path import realpath

from instrc.problems.problem import CompileError
from instrc.vibes.registry import Registry

_SCHEME = "aug:"
_SHARED = "aug:/"


def address_from(registry: Registry, target: str, file: str) -> str | None:
    """Return an address that leads to a file in these roots: the one given, or that of the shared roots; `None` if none does."""
    shared = target if target.startswith(_SHARED) else _SHARED + target.removeprefix(_SCHEME)
    return next((each for each in (target, shared) if _leads_to(registry, each, file)), None)


def _leads_to(registry: Registry, address: str, file: str) -> bool:
    document = address.partition("#")[0]
    try:
        if registry.has(document):
            found = registry.peek(document).source.name
        else:
            program = registry.load_program(document)
            found = "" if program is None else program.path
    except CompileError:
        return False
    return bool(found) and realpath(found) == realpath(file)
