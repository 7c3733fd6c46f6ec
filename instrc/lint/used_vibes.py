"""Review the vibes that a program uses, as `instrc check` would, so that nothing compiles that is not valid."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from instrc.lint.review import hidden_versions, review
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.schema.uris import join
from instrc.schema.walk import walk
from instrc.vibes.registry import Registry
from instrc.vibes.uri import SCHEME, evergreen_of
from instrc.vibes.vibe import Vibe


def used_vibes(uris: Iterable[str], registry: Registry) -> tuple[Vibe, ...]:
    """Return the vibes that references lead to, and those that these refer to in turn; what leads nowhere is left out."""
    found: dict[str, Vibe] = {}
    waiting = list(uris)
    seen: set[str] = set()
    while waiting:
        uri = waiting.pop().partition("#")[0]
        if uri in seen or uri[: len(SCHEME)].lower() != SCHEME:
            continue
        seen.add(uri)
        try:
            vibe = registry.load(uri)
        except CompileError:  # it is reported where it is referred to
            continue
        if vibe.uri not in found:
            found[vibe.uri] = vibe
            waiting.extend(join(vibe.uri, written) for written in _references(vibe))
    return tuple(found[uri] for uri in sorted(found))


def review_used(uris: Iterable[str], registry: Registry, report: Report) -> None:
    """Report the errors of all vibes that a program uses, and versions that it does not use for want of a number."""
    for vibe in used_vibes(uris, registry):
        report.problems.extend(_errors(vibe, registry))
        if evergreen_of(vibe.uri) == vibe.uri:
            report.problems.extend(hidden_versions(vibe, registry))


@lru_cache(maxsize=4096)
def _errors(vibe: Vibe, registry: Registry) -> tuple[Problem, ...]:
    """Return what keeps a vibe from being used; it does not change while its registry lives."""
    found = Report()
    review(vibe, registry, found, suspicions=False)
    return tuple(problem for problem in found.problems if problem.severity == "error")


def _references(vibe: Vibe) -> Iterable[str]:
    for _, node in walk(vibe.schema):
        if node.__class__ is dict:
            yield from (found for found in map(node.get, ("$ref", "$dynamicRef")) if isinstance(found, str))
