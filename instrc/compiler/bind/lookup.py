"""Look names up, and suggest others for an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.scopes import (
    RESERVED,
    SPECIAL,
    Called,
    CalledProgram,
    InputName,
    LocalName,
    Meaning,
    Scope,
    Special,
    is_defined,
)
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue
from instrc.compiler.instructions import PLACEHOLDER, InstructionTable
from instrc.compiler.ir import Instruction, suffix_of
from instrc.language.surface import Access, Annotated, Binding, Call, Expression, Inline, Name, Object, Pipe, Uri
from instrc.problems.errors import InstrcError
from instrc.problems.problem import Problem
from instrc.problems.suggest import comparison_key, nearest, twin, typed_on_latin
from instrc.text.names import pascal
from instrc.text.source import Span


def look_up(name: Name, context: EvaluationContext) -> LocalName | BoundValue | None:
    """Return the meaning of a name at a place: from enclosing braces or blocks, or from a statement.

    Braces name a value by its key or, if the name is otherwise unused, by its slot.
    """
    if context.keys is None:
        return context.scope.look_up(name.text)
    found = context.find(name.text) or context.scope.look_up(name.text)
    if found is None:
        part = context.keys.part(name.text)
        if part is not None and not knows(name.text, context.scope):
            return part
    return found


SUGGESTED_NAMES: Final = 3
"""Maximum names suggested for one."""
_NEXT = re.compile(r"[ \t]+(\w+)")
_BEFORE = re.compile(r"(\w+)[ \t]+\Z")
_LOOKED_BACK = 100
"""Maximum characters before a name that are searched for the preceding word."""
_ELSEWHERE = {
    "previous": frozenset({"prev", "last", "prior", "earlier", "lastround", "previousround"}),
    "rounds": frozenset({"history", "iterations", "attempts", "results", "scratchpad"}),
    "round": frozenset({"i", "n", "idx", "index", "iteration", "attempt", "counter", "count", "step"}),
    "error": frozenset({"e", "ex", "exc", "err", "exception", "failure", "reason"}),
}
"""Names in other languages for what blocks define."""
_ELEMENTS = frozenset({"item", "element", "elem", "it", "x", "i", "current", "this", "self", "value", "each"})
"""Names in other languages for an element."""


def suggestions(name: Name, scope: Scope, vibes: Sequence[str], reserved: Iterable[str]) -> tuple[str, ...]:
    """Return up to three probable corrections of a name, likeliest first, or none once too many were compared.

    The name being defined at `name` is left out, and vibes are spelled as program names.
    """
    if not scope.program.offers.may_compare(scope.count() + len(vibes)):
        return ()
    values, own = _values(name, scope)
    given = scope.all_given()
    spelled = {vibe: _in_style_of(name.text, vibe) for vibe in vibes}
    known = (*values, *sorted(reserved), *spelled)  # prepared once, as it is the same for each name of a program
    without = own.difference(reserved, spelled)
    near = [spelled.get(each, each) for each in nearest(name.text, known, without=without)]
    looks_like = {comparison_key(word) for word in (twin(name.text), typed_on_latin(name.text), _with_next_word(name)) if word}
    seen = [each for each in known if each not in without] if looks_like else []
    same = [spelled.get(each, each) for each in seen if comparison_key(each) in looks_like]
    words = [each for each in given if comparison_key(name.text) in _ELSEWHERE.get(each, _ELEMENTS)]
    return tuple(dict.fromkeys([*same, *words, *near, *_completions(name.text, values, own)]))[:SUGGESTED_NAMES]


def _values(name: Name, scope: Scope) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the names of values visible at a name's place, and those of them that it cannot read."""
    locals_ = scope.visible()
    return (*scope.all_given(), *locals_, *scope.inputs), _defined_here(name, locals_).difference(scope.inputs)


def _defined_here(name: Name, locals_: Mapping[str, Binding]) -> frozenset[str]:
    """Return the local names whose values contain a name, so that they cannot be read there."""
    here = name.span
    return frozenset(
        local
        for local, binding in locals_.items()
        if binding.span.source is here.source and binding.span.start <= here.start < binding.span.end
    )


def _in_style_of(word: str, vibe: str) -> str:
    """Return the name of a vibe in the case style of `word`, as lookup ignores the style."""
    if word[:1].isupper() and "-" not in word:
        instruction = Instruction(vibe, None, None)
        return pascal(instruction.base_name) + vibe.removeprefix(instruction.base_name)
    return vibe.replace("-", "_")


def _with_next_word(name: Name) -> str | None:
    """Return a name joined with the following word: `find slot` for `find_slot`."""
    end = name.span.end
    found = _NEXT.match(name.span.source.text, end)
    return name.text + found[1] if found else None


def _completions(word: str, values: tuple[str, ...], without: frozenset[str]) -> list[str]:
    """Return the values whose names begin with a word: `participants` for `p`."""
    start = comparison_key(word)
    return [value for value in values if value not in without and comparison_key(value).startswith(start)]


def is_second_word(name: Name, vibes: Iterable[str]) -> bool:
    """Return whether a name and the preceding word together name a vibe; the preceding word is reported."""
    found = _BEFORE.search(name.span.source.text, max(0, name.span.start - _LOOKED_BACK), name.span.start)
    return found is not None and any(comparison_key(found[1] + name.text) == comparison_key(vibe) for vibe in vibes)


def misspelt_value(name: Name, scope: Scope) -> bool:
    """Return whether a bare name is probably a misspelt local name or input, rather than a future instruction."""
    text = name.span.source.text
    called = text[name.span.end : name.span.end + 100].lstrip()[:1] == "("
    if called or not name.text[:1].islower() or not scope.program.offers.may_compare(scope.count()):
        return False
    values, own = _values(name, scope)
    return bool(nearest(name.text, values, without=own) or _completions(name.text, values, own))


def similar_values(name: Name, scope: Scope) -> tuple[str, ...]:
    """Return the names of values that the name of an instruction may be a misspelling of."""
    if not scope.program.offers.may_compare(scope.count()):
        return ()
    values, own = _values(name, scope)
    aliases = {local for local, binding in scope.visible().items() if isinstance(binding.value, Name | Uri)}
    return nearest(name.text, tuple(value for value in values if value not in aliases), without=own)


def with_programs(problem: Problem, reference: str, instructions: InstructionTable) -> Problem:
    """Return a problem that also suggests programs, for an unresolvable reference in a program."""
    if not isinstance(problem, problems.vibes.UnresolvedReference) or problem.nearest:
        return problem
    document, mark, _ = reference.partition("#")
    for sign in "./":
        head, _, export = document.rpartition(sign)
        if head and not mark and _is_program(head, instructions):
            return replace(problem, nearest=(f"{head}#{export}",))
    registry = instructions.registry
    name = document.rpartition("/")[2].removeprefix("aug:")
    uris = [uri for near in nearest(name, registry.program_names()) for uri in registry.lookup_program(near)]
    return replace(problem, nearest=tuple(uris[:SUGGESTED_NAMES]))


def _is_program(reference: str, instructions: InstructionTable) -> bool:
    try:
        return instructions.program(reference, None) is not None
    except InstrcError:
        return False


def meaning(ev: Evaluation, name: Name, scope: Scope) -> Meaning | None:
    """Return the meaning of a name, or `None` after reporting that it is unknown or ambiguous."""
    return scope.find(name.text) or undefined_meaning(ev, name, scope)


def undefined_meaning(ev: Evaluation, name: Name, scope: Scope) -> InputName | Called | None:
    """Return the meaning of a name that no statement defines."""
    if name.text in scope.inputs:
        return InputName(name.text)
    if name.text in SPECIAL:
        if name.text in scope.program.survey.refused:
            return None
        return Special(name.text)
    return find_instruction(ev, name, scope)


def knows(name: str, scope: Scope) -> bool:
    """Return whether a name is known outside braces."""
    instructions = scope.program.instructions
    known = is_defined(name, scope) or name in RESERVED or bool(instructions.named(name))
    return known or bool(instructions.registry.lookup_program(name))


def find_instruction(ev: Evaluation, name: Name, scope: Scope, *, reading: bool = False) -> Instruction | CalledProgram | None:
    """Look a name up in the registry: an instruction, or else a program; with `reading`, a value is expected."""
    instructions = scope.program.instructions
    if known := instructions.found.get(name.text):
        return known
    found = instructions.named(name.text) or instructions.registry.lookup_program(name.text)
    if len(found) == 1:
        suffix = suffix_of(name.text)
        if suffix and not found[0].endswith(suffix):  # names are compared without case, `_` and `-`, suffixes are not
            ev.report.add(problems.vibes.SuffixCase(at=name.span, word=name.text, suffix=suffix, uri=found[0]))
        vibe = find_vibe(ev, Uri(found[0], name.span), scope)
        if isinstance(vibe, Instruction) and (not suffix or found[0].endswith(suffix)):
            instructions.found[name.text] = vibe
        return vibe
    if found:
        ev.report.add(problems.names.AmbiguousName(at=name.span, word=name.text, uris=found))
    else:
        if instructions.sketch and not misspelt_value(name, scope):
            return Instruction(name.text, None, PLACEHOLDER)
        if is_second_word(name, instructions.registry.names()):
            return None
        offered = suggestions(name, scope, instructions.callable_names(), RESERVED)
        searched, inside = instructions.registry.searched(), scope.program.survey.defined(name.text)
        element = inside is not None and inside == scope.program.survey.elements.get(name.text)
        at, word = name.span, name.text
        other = "" if inside is None else scope.program.survey.other_body(at, inside)
        file = None if inside is not None or reading else instructions.misnamed(word, at)
        offered = () if file else offered
        problem = problems.names.UnknownName(
            at=at,
            word=word,
            nearest=offered,
            searched=searched,
            inside=inside,
            element=element,
            reading=reading,
            file=file,
            other=other,
            vain=scope.program.survey.is_in_vain(at),
        )
        ev.report.add(problem)
    return None


def find_vibe(ev: Evaluation, uri: Uri, scope: Scope) -> Instruction | CalledProgram | None:
    """Return the instruction that an `aug:` reference leads to, or else the program."""
    instructions = scope.program.instructions
    try:
        file = instructions.program(uri.text, uri.span)
        if file is not None:
            return CalledProgram(file, uri.text.partition("#")[2] or None, instructions.of(file))
        return instructions.instruction(uri.text, uri.span)
    except InstrcError as error:
        for problem in error.problems:
            ev.report.add(with_programs(problem, uri.text, instructions))
        return None


def find_in_context(name: Name, context: EvaluationContext) -> BoundValue | None:
    """Return the value of a name bound by enclosing braces or blocks."""
    found = look_up(name, context)
    return None if isinstance(found, LocalName) else found


def callee_of(ev: Evaluation, name: Name, context: EvaluationContext) -> Called | None:
    """Return the callee of a name before brackets; the name of a value has none."""
    named = context.find(name.text) or context.scope.look_up(name.text)
    found = undefined_meaning(ev, name, context.scope) if named is None else named
    if found is None or isinstance(found, Called):
        return found
    if isinstance(found, LocalName) and ev.ends.is_alias(found):
        return alias(ev, name, context.scope)
    not_callable(ev, name, context.scope, (found.binding.name.span,) if isinstance(found, LocalName) else ())
    return None


def not_callable(ev: Evaluation, name: Name, scope: Scope, places: tuple[Span, ...] = ()) -> None:
    """Report the name of a value where an instruction is needed; `places` define it."""
    hides = bool(scope.program.instructions.named(name.text))
    found = scope.find(name.text)
    kind = None if found is None else type(found.binding.value)
    problem = problems.calls.NotCallable(
        at=name.span, word=name.text, places=places, hides=hides, inline=kind is Inline, pipe=kind is Pipe
    )
    ev.report.add(problem)


def alias(ev: Evaluation, expression: Expression, scope: Scope) -> Called | None:
    """Return the callee that an expression names, through any number of aliases, if it does nothing else."""
    end, home = ev.ends.end(expression, scope)
    if isinstance(end, Name) and not is_defined(end.text, home):
        found = meaning(ev, end, home)
        return found if isinstance(found, Instruction | Special | CalledProgram) else None
    return find_vibe(ev, end, home) if isinstance(end, Uri) else None


def names_a_value(ev: Evaluation, expression: Expression, context: EvaluationContext) -> bool:
    """Return whether an expression in braces is the bare name of an existing value."""
    if isinstance(expression, Access):
        return True
    if not isinstance(expression, Name):
        return False
    if find_in_context(expression, context) is not None or context.scope.is_input(expression.text):
        return True
    found = context.scope.find(expression.text)
    return found is not None and not ev.ends.is_alias(found)


def reads_and_calls(ev: Evaluation, expression: Expression, context: EvaluationContext) -> tuple[bool, bool]:
    """Return whether an object in braces reads values, and whether it also contains calls or literals."""
    reads = calls = False
    waiting: list[Expression] = [expression]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Object):
            waiting.extend(field.content for field in each.fields)
        elif names_a_value(ev, each, context):
            reads = True
        else:
            calls = True
    return reads, calls


def is_plan_or_one_of(ev: Evaluation, expression: Expression, context: EvaluationContext) -> bool:
    """Return whether an expression in braces is `Plan(…)` or `OneOf(…)`."""
    while isinstance(expression, Annotated):
        expression = expression.value
    return isinstance(expression, Call) and isinstance(expression.callee, Name) and _is_word(ev, expression.callee, context)


def _is_word(ev: Evaluation, name: Name, context: EvaluationContext) -> bool:
    if name.text not in {"Plan", "OneOf"} or context.find(name.text) is not None:
        return False
    return isinstance(meaning(ev, name, context.scope), Special)
