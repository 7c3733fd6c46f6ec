"""What a name stands for: a local name, an input, or an instruction of the registry, in this order."""

from __future__ import annotations

from instrc import problems
from instrc.ir.fusion import Instruction, suffix_of
from instrc.ir.surface import Access, Annotated, Call, Expression, Name, Object, Uri
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.names import RESERVED, SPECIAL, Called, CalledProgram, InputName, Meaning, Special
from instrc.passes.bind.scopes import LocalName, Scope, is_defined
from instrc.passes.bind.values import BoundValue
from instrc.problems.problem import CompileError
from instrc.source import Span


def meaning(ev: Evaluation, name: Name, scope: Scope) -> Meaning | None:
    """Return what a name stands for; `None`, once it is reported, if for nothing or for too much."""
    return scope.find(name.text) or undefined_meaning(ev, name, scope)


def undefined_meaning(ev: Evaluation, name: Name, scope: Scope) -> InputName | Called | None:
    """Return what a name stands for that no statement defines."""
    if name.text in scope.inputs:
        return InputName(name.text)
    if name.text in SPECIAL:
        if name.text in scope.program.survey.refused:
            return None
        return Special(name.text)
    return find_instruction(ev, name, scope)


def knows(name: str, scope: Scope) -> bool:
    """Tell whether a name stands for something outside of braces."""
    instructions = scope.program.instructions
    known = is_defined(name, scope) or name in RESERVED or bool(instructions.named(name))
    return known or bool(instructions.programs_named(name))


def find_instruction(ev: Evaluation, name: Name, scope: Scope, *, reading: bool = False) -> Instruction | CalledProgram | None:
    """Return the instruction of the registry that a name finds, else the program; with `reading`, a value should stand there."""
    instructions = scope.program.instructions
    if known := instructions.found.get(name.text):
        return known
    found = instructions.named(name.text) or instructions.programs_named(name.text)
    if len(found) == 1:
        suffix = suffix_of(name.text)
        if suffix and not found[0].endswith(suffix):  # names are compared without case, `_` and `-`, suffixes are not
            ev.report.add(problems.vibes.SuffixInAnotherCase(at=name.span, word=name.text, suffix=suffix, uri=found[0]))
        vibe = find_vibe(ev, Uri(found[0], name.span), scope)
        if isinstance(vibe, Instruction) and (not suffix or found[0].endswith(suffix)):
            instructions.found[name.text] = vibe
        return vibe
    if found:
        ev.report.add(problems.names.AmbiguousName(at=name.span, word=name.text, uris=found))
    else:
        from instrc.passes.bind.suggestions import is_second_word, misspelt_value, suggestions  # for a mistake

        if instructions.sketch and not misspelt_value(name, scope):
            return instructions.sketched(name.text)
        if is_second_word(name, instructions.names()):
            return None
        offered = suggestions(name, scope, instructions.callable_names(), RESERVED)
        searched, inside = instructions.searched(), scope.program.survey.defined(name.text)
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
        )
        ev.report.add(problem)
    return None


def find_vibe(ev: Evaluation, uri: Uri, scope: Scope) -> Instruction | CalledProgram | None:
    """Return the instruction that an `aug:` reference leads to, else the program."""
    instructions = scope.program.instructions
    try:
        file = instructions.program(uri.text, uri.span)
        if file is not None:
            return CalledProgram(file, uri.text.partition("#")[2] or None, instructions.of(file))
        return instructions.instruction(uri.text, uri.span)
    except CompileError as error:
        from instrc.passes.bind.suggestions import with_programs  # for a mistake

        for problem in error.problems:
            ev.report.add(with_programs(problem, uri.text, instructions))
        return None


def look_up(name: Name, context: EvaluationContext) -> LocalName | BoundValue | None:
    """Return what a name stands for at a place that braces or blocks around it named, or a statement defines.

    Braces name a value by its key or, where nothing else is called so, by its slot.
    """
    if context.keys is None:
        return context.scope.look_up(name.text)
    found = context.find(name.text) or context.scope.look_up(name.text)
    if found is None:
        part = context.keys.part(name.text)
        if part is not None and not knows(name.text, context.scope):
            return part
    return found


def find_in_context(name: Name, context: EvaluationContext) -> BoundValue | None:
    """Return what braces or blocks around a place named."""
    found = look_up(name, context)
    return None if isinstance(found, LocalName) else found


def known_instruction(callee: Name | Uri, context: EvaluationContext) -> Instruction | None:
    """Return the instruction that stands before brackets, if it was found before and nothing else can be meant."""
    program = context.scope.program
    if context.keys is not None or callee.text in program.taken:
        return None
    return program.instructions.found.get(callee.text)  # it has no references


def callee_of(ev: Evaluation, name: Name, context: EvaluationContext) -> Called | None:
    """Return what a name before brackets calls; a name that stands for a value calls nothing."""
    if known := known_instruction(name, context):
        return known  # as most are
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
    ev.report.add(problems.calls.NotCallable(at=name.span, word=name.text, places=places, hides=hides))


def alias(ev: Evaluation, expression: Expression, scope: Scope) -> Called | None:
    """Return what an expression names, if it does nothing but name something to call, through any number of locals."""
    end, home = ev.ends.end(expression, scope)
    if isinstance(end, Name) and not is_defined(end.text, home):
        found = meaning(ev, end, home)
        return found if isinstance(found, Instruction | Special | CalledProgram) else None
    return find_vibe(ev, end, home) if isinstance(end, Uri) else None


def names_a_value(ev: Evaluation, expression: Expression, context: EvaluationContext) -> bool:
    """Tell whether an expression in braces is the bare name of a value that exists already."""
    if isinstance(expression, Access):
        return True
    if not isinstance(expression, Name):
        return False
    if find_in_context(expression, context) is not None or context.scope.is_input(expression.text):
        return True
    found = context.scope.find(expression.text)
    return found is not None and not ev.ends.is_alias(found)


def reads_and_calls(ev: Evaluation, expression: Expression, context: EvaluationContext) -> tuple[bool, bool]:
    """Tell whether an object in braces reads values, and whether it calls or sets something as well."""
    reads = calls = False
    waiting: list[Expression] = [expression]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Object):
            waiting.extend(field.value or Name(field.key, field.key_span) for field in each.fields)
        elif names_a_value(ev, each, context):
            reads = True
        else:
            calls = True
    return reads, calls


def is_plan_or_one_of(ev: Evaluation, expression: Expression, context: EvaluationContext) -> bool:
    """Tell whether an expression in braces is `Plan(…)` or `OneOf(…)`."""
    while isinstance(expression, Annotated):
        expression = expression.value
    return isinstance(expression, Call) and isinstance(expression.callee, Name) and _is_word(ev, expression.callee, context)


def _is_word(ev: Evaluation, name: Name, context: EvaluationContext) -> bool:
    if name.text not in {"Plan", "OneOf"} or context.find(name.text) is not None:
        return False
    return isinstance(meaning(ev, name, context.scope), Special)
