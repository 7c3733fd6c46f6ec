"""Find code in a program that compiles but was probably not intended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import pairwise

from msgspec.structs import replace

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.lint.placeholders import placeholders, program_nodes
from instrc.compiler.lint.review import hidden_versions, review
from instrc.language import surface
from instrc.language.program_places import place_in
from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.schema.drafts import join
from instrc.schema.vocabulary import ENGINE
from instrc.schema.walk import required_names, walk
from instrc.schema.wellformed import problems_of
from instrc.text.durations import is_duration
from instrc.text.jsonvalue import Json, mapping
from instrc.text.source import Span
from instrc.vibes.registry import Registry
from instrc.vibes.uri import SCHEME, evergreen_of
from instrc.vibes.vibe import Vibe


def review_annotations(written: list[object], allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield the problems of annotations and inline schemas, in source order; `allowed` are the project's own keywords."""
    for schema, at, inline in _schemas(written):
        from instrc.compiler.lint.keywords import suspicious_words  # many programs annotate nothing

        place = partial(place_in, at)
        unsound = problems_of(schema, place)
        yield from unsound
        if not unsound:
            found = suspicious_words(schema, place, allowed if inline else allowed | ENGINE)
            yield from (_at_the_top(problem, schema, at, inline=inline) for problem in found)


def _schemas(written: list[object]) -> Iterator[tuple[Json, Span, bool]]:
    """Yield each object after an `@` with the place that holds it, and whether it is a schema of its own."""
    for node in written:
        match node:
            case (
                surface.Annotated(annotation=dict() as schema, annotation_span=at)
                | surface.Input(annotation=dict() as schema, span=at)
            ):
                yield schema, at, False
            case surface.Matches(schema=schema, schema_span=at):
                yield schema, at, False
            case surface.Inline(schema, at):
                yield schema, at, True
            case _:
                pass


def _at_the_top(problem: Problem, schema: Json, at: Span, *, inline: bool) -> Problem:
    """Return a problem, flagged if it concerns a keyword at the top of an annotation."""
    if isinstance(problem, problems.schemas.UnknownKeyword) and isinstance(schema, dict) and problem.word in schema:
        at_the_top = problem.at == place_in(at, f"/{problem.word}", key=True)
        return replace(problem, annotating=at_the_top and not inline, inline=at_the_top and inline)
    return problem


_PEOPLE = ("_User", "_Human")


def slips(program: surface.Program, written: list[object]) -> Iterator[Problem]:
    """Yield probable slips in a program that compiles."""
    yield from _goals_like_names(program)
    yield from _indented(program, written)
    yield from _bare_fails(written)
    yield from _below_fails(program, written)
    yield from _timed_people(written)


def _goals_like_names(program: surface.Program) -> list[Problem]:
    """Return a problem for each goal that spells the name of a value exactly: its quotes were probably not intended."""
    goals = []
    known = {"prompt"}
    for statement in program.statements:
        if isinstance(statement, surface.Input | surface.Binding):
            known.add(statement.name.text)
        value = statement.value if isinstance(statement, surface.Binding | surface.Anonymous) else None
        if (
            isinstance(value, surface.Pipe)
            and isinstance(first := value.stages[0], surface.Literal)
            and isinstance(first.value, str)
        ):
            goals.append((first.value, first.span))
    if not any(text in known for text, _ in goals):
        return []
    return [problems.habits.QuotedName(at=at, word=text) for text, at in goals if text in known]


def _indented(program: surface.Program, written: list[object]) -> Iterator[Problem]:
    for lines in _bodies(program, written):
        for before, after in pairwise(lines):
            value = after.value if isinstance(after, surface.Anonymous) else after
            if (
                isinstance(before, surface.Binding | surface.Anonymous)
                and _could_be_stage(value)
                and _is_deeper(before.span, value.span)
            ):
                yield problems.habits.IndentedStatement(
                    at=value.stages[0].span if isinstance(value, surface.Pipe) else value.span
                )


def _bodies(program: surface.Program, written: list[object]) -> Iterator[tuple[surface.Statement | surface.Expression, ...]]:
    """Yield the lines of the file and of each block, with the value of a block last."""
    yield program.statements
    yield from ((*node.statements, node.value) for node in written if isinstance(node, surface.Body))


def _could_be_stage(value: object) -> bool:
    """Return whether an expression is an instruction without an argument."""
    if isinstance(value, surface.Pipe):
        return _could_be_stage(value.stages[0])
    if isinstance(value, surface.Annotated):
        return _could_be_stage(value.value)
    if isinstance(value, surface.Call):
        return all(
            argument.label is None and isinstance(argument.value, surface.Name | surface.Object) for argument in value.arguments
        ) and (not value.arguments or value.callee.text.endswith("_Mixin"))
    return isinstance(value, surface.Name | surface.Uri)


def _is_deeper(before: Span, after: Span) -> bool:
    """Return whether a statement starts a line indented deeper than that of the preceding statement, which has no `;`."""
    text = before.source.text
    first, second = _margin(text, before.start), _margin(text, after.start)
    if first is None or second is None or not (len(second) > len(first) and second.startswith(first)):
        return False
    between = text[before.end : after.start]
    return ";" not in between and not text[before.start : before.end].endswith(";")


def _margin(text: str, start: int) -> str | None:
    """Return the white space before the start of a line, or `None` if anything else precedes it."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return None if line.strip() else line


def _labelled(call: surface.Call) -> Iterator[tuple[str, Span, object]]:
    """Yield the labels of a call's arguments with their places and values, those in braces last."""
    for argument in call.arguments:
        if argument.label and argument.label_span:
            yield argument.label, argument.label_span, argument.value
    for argument in call.arguments:
        if argument.label is None and isinstance(argument.value, surface.Object):
            yield from ((each.key, each.key_span, each.value) for each in argument.value.fields)


def _bare_fails(written: list[object]) -> Iterator[Problem]:
    """Yield each `Fail` without a reason or a value, except arguments, which are reported as missing values."""
    piped = {id(_plain(stage)) for node in written if isinstance(node, surface.Pipe) for stage in node.stages[1:]}
    calls = [node for node in written if isinstance(node, surface.Call)]
    elsewhere = piped | {id(part) for call in calls for part in (call.callee, *(_plain(each.value) for each in call.arguments))}
    for node in written:
        match node:
            case surface.Call(callee=surface.Name(text="Fail"), arguments=()) | surface.Name(text="Fail") if (
                id(node) not in elsewhere
            ):
                yield problems.habits.BareFail(at=node.span)
            case _:
                pass


def _below_fails(program: surface.Program, written: list[object]) -> Iterator[Problem]:
    """Yield the first line below each `Fail` on its own line, which fails only after all lines of its body."""
    for lines in _bodies(program, written):
        for before, after in pairwise(lines):
            last = _plain(before.value) if isinstance(before, surface.Anonymous) else None
            last = _plain(last.stages[-1]) if isinstance(last, surface.Pipe) else last
            name = last.callee if isinstance(last, surface.Call) else last
            if isinstance(name, surface.Name) and name.text == "Fail":
                yield problems.habits.BelowFail(at=after.span, fail=before.span)
                break


def _plain(value: object) -> object:
    while isinstance(value, surface.Annotated):
        value = value.value
    return value


def _timed_people(written: list[object]) -> Iterator[Problem]:
    """Yield each human step passed as an argument whose name is a word for a deadline."""
    for node in written:
        if not isinstance(node, surface.Call) or not node.callee.text.endswith(_PEOPLE):
            continue
        for label, at, value in _labelled(node):
            if (
                label in ir.TIMING
                and isinstance(value, surface.Literal)
                and isinstance(value.value, str)
                and is_duration(value.value)
            ):
                yield problems.habits.DeadlineAsArgument(at=at, word=label, written=value.value)


def used_vibes(uris: Iterable[str], registry: Registry) -> tuple[Vibe, ...]:
    """Return the vibes that references lead to, directly or through each other, without unresolvable ones."""
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
        except CompileError:  # reported where it is referenced
            continue
        if vibe.uri not in found:
            found[vibe.uri] = vibe
            waiting.extend(join(vibe.uri, written) for written in _references(vibe))
    return tuple(found[uri] for uri in sorted(found))


def _references(vibe: Vibe) -> Iterable[str]:
    for _, node in walk(vibe.schema):
        if node.__class__ is dict:
            yield from (found for found in map(node.get, ("$ref", "$dynamicRef")) if isinstance(found, str))


def review_used(uris: Iterable[str], registry: Registry, report: Report) -> None:
    """Report the errors of all vibes that a program uses, and versions that it ignores because it names no number."""
    for vibe in used_vibes(uris, registry):
        report.problems.extend(_errors(vibe, registry))
        if evergreen_of(vibe.uri) == vibe.uri:
            report.problems.extend(hidden_versions(vibe, registry))


@lru_cache(maxsize=4096)
def _errors(vibe: Vibe, registry: Registry) -> tuple[Problem, ...]:
    """Return the errors of a vibe, which are constant for its registry."""
    found = Report()
    review(vibe, registry, found, suspicions=False)
    return tuple(problem for problem in found.problems if problem.severity == "error")


def review_program(program: surface.Program, options: ir.CompileOptions) -> Iterator[Problem]:
    """Yield the problems of the schemas and texts in a program, and probable slips."""
    written = list(program_nodes(program))
    yield from review_annotations(written, options.keywords)
    yield from slips(program, written)
    if not options.templates:
        yield from placeholders(written)


def review_vibes(instructions: InstructionTable, report: Report) -> None:
    """Report the problems of the vibes used by a program and by the programs that it calls."""
    for table in instructions.tables:
        review_used(table.uris(), table.registry, report)


_SAYS_NOTHING = frozenset({"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"})


def empty_slots(graph: ir.Graph, schema_of: Callable[[ir.Instruction], Json]) -> Iterator[Problem]:
    """Yield the required slots of mixins that a program leaves empty; `schema_of` returns the flat schema of an instruction."""
    for application in _applications(graph):
        schema = schema_of(application.mixin)
        for name in _slots(schema):
            filled = any(slot.name == name for slot in application.slots)
            if not filled and not any(_names(annotation, name) for annotation in application.annotations):
                yield problems.schemas.EmptySlot(at=application.span, word=name, mixin=application.mixin.name)


def _applications(graph: ir.Graph) -> Iterator[ir.Application]:
    """Yield every use of a mixin in a graph, once each."""
    seen: set[int] = set()
    contents = [step.content for step in graph.compounds()]
    groups = _groups(graph.units)
    while contents or groups:
        found: tuple[ir.Application, ...] = ()
        if groups:
            group = groups.pop()
            found = (group.application,)
            groups += _groups(group.members)
        else:
            match contents.pop():
                case ir.Fusion(slots=slots, mixins=mixins):
                    contents.extend(slot.content for slot in slots)
                    found = mixins
                case ir.StepObject(units=inner):
                    groups += _groups(inner)
                case block:
                    for region in ir.regions_of(block):
                        groups += _groups(region.units)
        for application in found:
            if id(application) not in seen:
                seen.add(id(application))
                contents.extend(slot.content for slot in application.slots)
                yield application


def _groups(units: tuple[ir.Unit, ...]) -> list[ir.MixinGroup]:
    return [unit for unit in units if not isinstance(unit, int)]


def _slots(schema: Json) -> list[str]:
    """Return the required properties of a mixin, except `default`, whose schemas are open."""
    properties, required = mapping(mapping(schema).get("properties")), required_names(mapping(schema))
    return [name for name, part in properties.items() if name in required and name != "default" and _is_open(part)]


def _is_open(schema: Json) -> bool:
    if not isinstance(schema, dict):
        return schema is True
    return schema.keys() - {"type"} <= _SAYS_NOTHING and schema.get("type", "object") == "object"


def _names(annotation: Json, name: str) -> bool:
    return name in mapping(mapping(annotation).get("properties"))
