"""Review one vibe by itself: find all problems that `instrc check` reports about a file of the registry."""

from __future__ import annotations

from collections.abc import Iterator

from instrc import problems
from instrc.compiler.lint.placeholders import placeholders_in_vibe
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.process.flow import is_value
from instrc.schema.vocabulary import is_extension
from instrc.schema.walk import every_schema, walk
from instrc.schema.wellformed import problems_of
from instrc.text.jsonvalue import LATEST_DRAFT, Json, listing, mapping, pointer
from instrc.tools.foreign_documents import foreign
from instrc.vibes.registry import Registry
from instrc.vibes.roots import ENDING
from instrc.vibes.uri import evergreen_of
from instrc.vibes.vibe import Vibe


def review(
    vibe: Vibe,
    registry: Registry,
    report: Report,
    allowed: frozenset[str] = frozenset(),
    *,
    templates: bool = True,
    suspicions: bool = True,
) -> None:
    """Report the problems of a vibe: its form, schema, references, names, paths and solution.

    `allowed` are the project's own keywords and formats; with `templates`, other code fills in the texts.
    Without `suspicions`, merely suspicious keywords are skipped, since they only cause warnings.
    """
    report.problems.extend(_name(vibe))
    if other := foreign(vibe.document, vibe.source.name):
        report.add(problems.schemas.ForeignDocument(at=vibe.source.whole(), kind=other.kind, way_out=other.way_out))
        return
    report.problems.extend(hidden_versions(vibe, registry))
    if vibe.pointer:
        report.problems.extend(_unknown_parts(vibe, allowed))
    nodes = [node for node in every_schema(vibe.schema) if node.__class__ is dict]
    unsound: list[Problem] = [*problems_of(vibe.schema, vibe.span)]
    if any(not _ENGINE.keys().isdisjoint(node) for node in nodes):
        unsound += _engine_properties(vibe)
    unreadable = [] if unsound else [*_unreadable(vibe, registry)]
    report.problems.extend(unsound or unreadable)
    if suspicions and not unsound and not unreadable:
        from instrc.compiler.lint.keywords import suspicious_words  # not needed by programs that use a vibe

        report.problems.extend(suspicious_words(vibe.schema, vibe.span, allowed))
        report.problems.extend(_replaced(vibe, allowed))
        report.problems.extend(() if templates else placeholders_in_vibe(vibe))
    if unsound or (not vibe.has_solution and all(map(_stands_alone, nodes))):
        return  # the rest assumes a valid schema, and checks how schemas relate to each other

    from instrc.compiler.lint.coherence import incoherences  # most vibes of a program are self-contained

    incoherences(vibe, registry, report)


def _name(vibe: Vibe) -> Iterator[Problem]:
    """Yield the problem of a file whose name cannot be referenced."""
    if "@" in vibe.segment and vibe.source.name.endswith(ENDING):
        version = vibe.segment.rpartition("@")[2]
        reason = f"`{version}` in its name is not a version (numbers joined by dots, as in `{vibe.segment.partition('@')[0]}@2`)"
        yield problems.vibes.InvalidVibe(at=vibe.source.whole(), reason=reason)


_PARTS = frozenset({"instrc", "schema", "input", "solution", "title", "description", "$schema", "$id", "$comment", "examples"})
"""Members allowed in a record."""


def _unknown_parts(vibe: Vibe, allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield the parts of a record that are never read."""
    for word in vibe.document:
        if word not in _PARTS and word not in allowed and not is_extension(word):
            at = vibe.place(pointer((word,)), key=True)
            yield problems.vibes.UnknownPart(at=at, word=word, nearest=nearest(word, ("input", "solution"), 1))


def _is_paths(value: Json) -> bool:
    return value.__class__ is list and all(item.__class__ is str and item for item in value)


def _is_arguments(value: Json) -> bool:
    """Return whether a value is a path, a constant, or a list or an object of these; a path may be optional."""
    if value.__class__ is dict and not value.keys() & {"const", "path"}:
        return all(map(_is_argument, value.values()))
    return all(map(_is_argument, value)) if value.__class__ is list else _is_argument(value)


_ENGINE = {
    "references": (_is_paths, "it is a list of paths"),
    "arguments": (_is_arguments, 'it is a path, or a list or an object of paths and of constants, `{ "const": … }`'),
    "activity": (lambda value: value.__class__ is str and bool(value), "it is the name of an activity"),
}


def _is_argument(value: Json) -> bool:
    """Return whether a value is one path or one constant."""
    return is_value(value) and (value.__class__ is str or (value.__class__ is dict and bool(value.keys() & {"const", "path"})))


def _engine_properties(vibe: Vibe) -> Iterator[Problem]:
    """Yield the problems of the form of `references`, `arguments` and `activity`."""
    for path, node in walk(vibe.schema):
        if node.__class__ is not dict or _ENGINE.keys().isdisjoint(node):
            continue
        for keyword, (sound, reason) in _ENGINE.items():
            if keyword in node and not sound(node[keyword]):
                place = pointer((*path, keyword))
                yield problems.schemas.InvalidSchema(at=vibe.span(place), pointer=place, reason=reason)


def _unreadable(vibe: Vibe, registry: Registry) -> Iterator[Problem]:
    """Yield what prevents a process, or its engine keywords, from being read."""
    properties = mapping(mapping(vibe.schema).get("properties"))
    if properties and all("Context" in name for name in properties):
        from instrc.compiler.lint.process_form import form_problems, reading_problems  # most vibes are not processes

        yield from reading_problems(vibe, registry)
        yield from form_problems(vibe)


_OF_SLOTS = frozenset({"type", "title", "description", "$comment"})
"""Keywords that tell a reader what belongs in the `default` of a mixin."""


def _replaced(vibe: Vibe, allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield the keywords in the `default` of a mixin, which are lost: its argument replaces the slot."""
    slot = mapping(mapping(vibe.schema).get("properties")).get("default")
    if not vibe.segment.partition("@")[0].endswith("_Mixin") or not isinstance(slot, dict):
        return
    for word in slot:
        if word not in _OF_SLOTS and word not in allowed and not is_extension(word):
            yield problems.schemas.IdleKeyword(
                at=vibe.span(pointer(("properties", "default", word)), key=True), word=word, cause="slot"
            )


_BRANCHES = frozenset({"then", "else", "dependentSchemas", "dependentRequired", "dependencies", "anyOf", "oneOf"})
_LINKS = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "allOf", "references", "arguments", "among", "value"})


def _stands_alone(node: dict[str, Json]) -> bool:
    """Return whether a schema of the current draft refers to nothing, describes all that it requires, and is not closed."""
    if node.get("additionalProperties") is False and not _BRANCHES.isdisjoint(node):
        return False
    return _LINKS.isdisjoint(node) and _describes_all(node) and str(node.get("$schema", LATEST_DRAFT)).rstrip("#") == LATEST_DRAFT


def _describes_all(node: dict[str, Json]) -> bool:
    """Return whether a schema describes by itself all that it requires, as most do."""
    required, properties = listing(node.get("required")), node.get("properties")
    return not required or (isinstance(properties, dict) and all(name in properties for name in required))


def hidden_versions(vibe: Vibe, registry: Registry) -> Iterator[Problem]:
    """Yield a problem for each numbered version that a file without a version hides: of this vibe, or this vibe itself."""
    versions = registry.versions_beside(vibe)
    if len(versions) < 2 or versions[0]:
        return
    evergreen = evergreen_of(vibe.uri)
    for version in versions[1:]:
        if vibe.uri in {evergreen, f"{evergreen}:{version}"}:
            at = registry.peek(f"{evergreen}:{version}").source.whole()
            yield problems.vibes.HiddenVersion(at=at, version=version, found=evergreen)
