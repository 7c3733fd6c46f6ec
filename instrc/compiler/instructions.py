"""The instructions of one compilation, with cached flat schemas, and checks of arguments against them."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.ir import Instruction
from instrc.language.program_places import place_in
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import FOREIGN_VALUES, comparison_key, nearest
from instrc.process.chunk_json import WORDS
from instrc.process.process import Process
from instrc.schema.flattening.flatten import flatten
from instrc.schema.relations import disjoint, literal_fault, satisfies
from instrc.schema.walk import map_schemas, refers, walk, without
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping, tokens
from instrc.text.limits import FLAT_SCHEMAS, LISTED_VALUES
from instrc.text.sentences import EN, Sentences
from instrc.text.source import Span
from instrc.vibes.registry import ProgramFile, Registry

if TYPE_CHECKING:
    from instrc.vibes.roots import Misnamed

PLACEHOLDER: dict[str, Json] = {"type": "object", "additionalProperties": True}
"""Schema of an instruction that has none yet: any object."""
EntryOf: TypeAlias = "Callable[[ProgramFile, str | None, Registry], JsonObject | None]"
"""Compiles a program on its own with the registry visible to it, and returns its entry for callers that launch it."""
Relocate: TypeAlias = Callable[[Problem], Problem]
"""Returns the problem at a more precise place, if one is known."""
PART = "part:"
"""Prefix of the addresses of recursive schemas that are parts of others."""


def fatal_in_program(problem: Problem) -> Problem:
    """Return a problem of a schema as one of a program: an error if the schema cannot be completed."""
    match problem:
        case problems.schemas.Contradiction():
            return replace(problem, fatal=True)
        case problems.schemas.SlotConflict(impossible=fatal) | problems.schemas.ClosedAway(required=fatal):
            return replace(problem, fatal=fatal)
        case _:
            return problem


def documents_of(schema: Json, registry: Registry) -> Mapping[str, Json]:
    """Return the vibes that a vibe may refer to: without engine properties, unless it stands for another process."""
    target = schema.get("$ref") if isinstance(schema, dict) else None
    return registry.documents if isinstance(target, str) and not target.startswith("#") else _WithoutWords(registry.documents)


class _WithoutWords(Mapping[str, Json]):
    """Vibes without their engine properties."""

    def __init__(self, documents: Mapping[str, Json]) -> None:
        self._documents = documents

    def __getitem__(self, uri: str) -> Json:
        return map_schemas(self._documents[uri], lambda node: without(node, *WORDS))

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)


class InstructionTable:
    """A registry with the cache of one compilation; with `sketch`, unknown names are instructions too.

    Called programs with other roots have their own tables, which are linked.
    `documents` are the vibes that schemas refer to, by default those of the registry.
    """

    def __init__(
        self,
        registry: Registry,
        report: Report,
        *,
        sketch: bool = False,
        limit: int = FLAT_SCHEMAS,
        sentences: Sentences = EN,
        launch: EntryOf | None = None,
        tables: list[InstructionTable] | None = None,
        documents: Mapping[str, Json] | None = None,
    ) -> None:
        self.tables: list[InstructionTable] = [] if tables is None else tables
        """Those of one compilation, by the `home` of their instructions."""
        self._home = len(self.tables)
        self.tables.append(self)
        self.registry = registry
        self.limit = limit
        self.sentences = sentences
        """The sentences that models read."""
        self.report = report
        self.sketch = sketch
        self._instructions: dict[str, Instruction] = {}
        self.found: dict[str, Instruction] = {}
        """What names have been found to stand for without any doubt."""
        self._launch = launch
        self._loaded: set[str] = set()
        """References that lead to vibes."""
        self._named: dict[str, tuple[str, ...]] = {}
        self._flat: dict[str, Json] = {}
        self._misnamed: dict[str, dict[str, Misnamed]] = {}
        """Nearby files saved under unfindable names, by the file of the program."""
        self._inline: dict[int, tuple[Json, Json]] = {}
        """Inline schemas with their flat ones, by the identity of what is written, which is kept: several exports share it."""
        self._parts: dict[str, Json] = {}
        self._documents = ChainMap(self._parts, documents or registry.documents)  # type: ignore[arg-type]  # never written to

    def named(self, name: str) -> tuple[str, ...]:
        """Return the references of the vibes with a name."""
        found = self._named.get(name)
        if found is None:
            found = self._named[name] = self.registry.lookup(name)
        return found

    def program(self, uri: str, at: Span | None) -> ProgramFile | None:
        """Return the program of a reference, or `None` if it is a vibe or unresolvable."""
        document = uri.partition("#")[0]
        if document in self._loaded:
            return None
        if self.registry.has(document):
            self._loaded.add(document)
            return None
        return self.registry.load_program(document, at)

    def of(self, file: ProgramFile) -> InstructionTable:
        """Return the table of a called program, for the vibes of its own roots."""
        registry = self.registry.of(file)
        for table in self.tables:
            if table.registry is registry:
                return table
        return InstructionTable(
            registry,
            self.report,
            sketch=self.sketch,
            limit=self.limit,
            sentences=self.sentences,
            launch=self._launch,
            tables=self.tables,
        )

    def registry_of(self, instruction: Instruction) -> Registry:
        """Return the registry in which an instruction was found."""
        return self.tables[instruction.home].registry

    def launched(self, file: ProgramFile, export: str | None) -> JsonObject | None:
        """Return the entry of a separately compiled program, or `None` if it is not a process."""
        return None if self._launch is None else self._launch(file, export, self.registry)

    def callable_names(self) -> tuple[str, ...]:
        """Return the name of every callable vibe and program."""
        return tuple(dict.fromkeys((*self.registry.names(), *self.registry.program_names())))

    def instruction(self, uri: str, at: Span | None) -> Instruction:
        """Return the instruction of a reference; raise `CompileError` if it is unresolvable."""
        found = self._instructions.get(uri)
        if found is None:
            document, mark, fragment = uri.partition("#")
            vibe = self.registry.load(document, at)
            name = fragment.rpartition("/")[2] or vibe.segment  # a part of a vibe has its own name
            found = self._instructions[uri] = Instruction(name, vibe.uri + mark + fragment, None, self._home)
        return found

    def misnamed(self, name: str, at: Span) -> Misnamed | None:
        """Return the file that was probably meant to be the vibe of a name used in a program, or `None`."""
        from instrc.vibes.roots import misnamed  # for a mistake

        program = at.source.name
        if program not in self._misnamed:
            there = os.path.isfile(program)  # noqa: PTH113  -- no error for a NUL
            self._misnamed[program] = misnamed(Path(program), self.registry.roots) if there else {}
        return self._misnamed[program].get(comparison_key(name))

    def uris(self) -> tuple[str, ...]:
        """Return the references of the vibes looked up so far."""
        return tuple(self._instructions)

    def schema(self, instruction: Instruction, at: Span | None = None) -> Json:
        """Return the flat schema of an instruction; raise `CompileError` if it cannot be composed.

        `at` is the place of an instruction without a file.
        """
        if instruction.uri is None:
            return self._flat_inline(instruction.schema, at)
        if instruction.home != self._home:
            return self.tables[instruction.home].schema(instruction, at)
        flat = self._flat.get(instruction.uri)
        if flat is None:
            uri, _, fragment = instruction.uri.partition("#")
            part: Json = {"$ref": instruction.uri}  # a document of its own, so that the fragment is looked for in the vibe
            flat = self.flatten(part) if fragment else self.flatten(self.registry.load(uri).schema, uri)
            self._flat[instruction.uri] = flat
        return flat

    def _flat_inline(self, schema: Json, at: Span | None) -> Json:
        """Return the flat form of a schema written in a program; its problems are reported wherever it is used."""
        known = self._inline.get(id(schema))
        if known is not None:
            return known[1]
        before = len(self.report.problems)
        flat = self.flatten(schema, at=at, place=partial(_inline, at))
        if len(self.report.problems) == before:
            self._inline[id(schema)] = schema, flat
        return flat

    def flatten(self, schema: Json, base: str = "", at: Span | None = None, place: Relocate = lambda problem: problem) -> Json:
        """Compose a schema; problems go to the report, at the place `at` unless a better one is known.

        `place` may find a better place for a problem.
        Schemas may have unsatisfiable parts, but the schema of a program's step must be satisfiable:
        there they are errors.
        """
        found = Report()
        made = flatten(
            schema,
            self._documents,
            base=base,
            nullable=True,
            limit=self.limit,
            share=False,  # parts composed further are searched
            report=found,
            locate=self.registry.locate,
        )
        for problem in found.problems:
            placed = place(fatal_in_program(problem))
            self.report.add(placed if placed.at is not None else replace(placed, at=at))
        return made

    def part(self, schema: Json) -> Json:
        """Return a flat schema as a part of another; a recursive one is inserted by reference."""
        if not isinstance(schema, dict) or not ("$defs" in schema or refers(schema)):
            return schema
        uri = f"{PART}{len(self._parts)}"
        self._parts[uri] = schema
        return {"$ref": uri}

    def entry(self, instruction: Instruction) -> JsonObject | None:
        """Return the entry of a process vibe: its first context if the model completes it; `None` if it is not a process."""
        process = Process.find(self.schema(instruction))
        return None if process is None else process.entry


def _inline(at: Span | None, problem: Problem) -> Problem:
    """Return a contradiction inside an inline schema with the places of both sides; any other problem unchanged."""
    if at is None or not at.text.startswith("@") or not isinstance(problem, problems.schemas.Contradiction):
        return problem
    left, right = (
        origin if origin.uri else replace(origin, uri=at.source.name, at=place_in(at, origin.pointer))
        for origin in (problem.left, problem.right)
    )
    return replace(problem, left=left, right=right, at=right.at or left.at)


def unknown_argument(name: str, at: Span, callee: str, known: tuple[str, ...]) -> Problem:
    """Return the problem of an argument that the callee does not accept."""
    near = nearest(name, known)
    return problems.plans.UnknownArgument(at=at, pointer="", callee=callee, argument=name, nearest=near, known=known)


def missing_arguments(
    given: Collection[str], at: Span, callee: str, known: tuple[str, ...], required: tuple[str, ...]
) -> Problem | None:
    """Return the problem of missing required arguments, unless unknown arguments are probably misspellings of them."""
    unknown = [name for name in given if name not in known]
    meant = {near for name in unknown for near in nearest(name, known)}
    missing = [name for name in required if name not in given and name not in meant]
    if len(missing) <= sum(not nearest(name, known) for name in unknown):
        return None
    first, *others = missing
    return problems.plans.MissingArgument(at=at, pointer="", callee=callee, argument=first, others=tuple(others))


def fitting_literals(value: Json, schema: Json, place: str) -> tuple[str, ...]:
    """Return the values allowed in place of a literal, at a JSON Pointer, in program notation."""
    around: list[tuple[Json, str | int]] = []
    part = value
    for step in tokens(place):
        key = int(step) if isinstance(part, list) else step
        around.append((part, key))
        part = part[key] if isinstance(part, list) and isinstance(key, int) else mapping(part)[step]
    for each in _readings(part, schema):
        whole = each
        for holder, key in reversed(around):
            whole = _with(holder, key, whole)
        if literal_fault(whole, schema) is None:
            return (dumps(each, indent=False),)
    return ()


def _readings(value: Json, schema: Json) -> Iterator[Json]:
    """Yield the probable intentions behind a value: with other quoting, a similar listed one, a list of it."""
    if isinstance(value, str):
        with suppress(ValueError):
            yield loads(FOREIGN_VALUES.get(value, value).lower())
        listed = (text for _, node in walk(schema) if isinstance(node, dict) for text in listing(node.get("enum")))
        yield from nearest(value, (text for text in listed if isinstance(text, str)))
    elif isinstance(value, int | float):
        yield dumps(value, indent=False)
    if not isinstance(value, list | dict) and satisfies([], schema) is not False:
        yield [value]


def _with(holder: Json, key: str | int, part: Json) -> Json:
    """Return a list or an object with another part under a key."""
    if isinstance(holder, list):
        return [part if place == key else each for place, each in enumerate(holder)]
    return {name: part if name == key else each for name, each in mapping(holder).items()}


def fitting_members(value: Json, schema: Json) -> tuple[str, ...]:
    """Return the members of a value that fit a schema, without unknown ones."""
    members = mapping(mapping(value).get("properties")) if isinstance(value, dict) else {}
    return tuple(name for name, own in members.items() if own not in (True, {}) and not disjoint(own, schema))[:LISTED_VALUES]
