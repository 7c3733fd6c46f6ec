"""Evaluate paths: a name or a call, and a member of its value."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.evaluation import Evaluation, Reading
from instrc.compiler.bind.given import data_of, is_data
from instrc.compiler.bind.lookup import alias, find_in_context, find_instruction, knows
from instrc.compiler.bind.scopes import LocalName, Scope, is_defined
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Data, Inner, Members, StepResult
from instrc.compiler.ir import Local, Path, Reached
from instrc.language.surface import Access, Expression, Name, Object, Segment
from instrc.problems.suggest import nearest
from instrc.text.limits import PATH_MEMBERS
from instrc.text.source import Span


def access(ev: Evaluation, written: Access, context: EvaluationContext) -> BoundValue | None:
    """Evaluate the member that a path leads to."""
    if context.annotations or context.timing.within or context.timing.delay:
        ev.report.add(problems.calls.MisplacedAnnotation(at=written.span))
        return None
    if len(written.members) > PATH_MEMBERS:
        ev.report.add(problems.text.TooDeep(at=written.members[PATH_MEMBERS].span, limit=PATH_MEMBERS))
        return None
    if isinstance(written.base, Name):
        value = subject(ev, written.base, context)
    else:
        value = ev.value(written.base, replace(context.inside(), own=context.own))
    for segment in written.members:
        if value is None:
            return None
        value = member(ev, value, segment)
    return _expanded(ev, value, written.members[-1]) if isinstance(value, StepResult) else value


def _expanded(ev: Evaluation, value: StepResult, segment: Segment) -> BoundValue:
    """Return the value of a path; if it ends at an object of values from another round, the members of that."""
    origin, tail = value.path.origin, value.path.tail
    for place in range(len(tail)):
        home = ev.rounds.home_of(Path(origin, tail[:place]))
        if home is not None and tail[place] in home.locals:
            before = len(ev.accesses)
            whole = _handed(ev, Path(origin, tail[: place + 1]), home.locals[tail[place]].value, home, None, segment)
            for name in tail[place + 1 :]:
                whole = dict(whole.fields).get(name, value) if isinstance(whole, Members) else value
            if isinstance(whole, Members | Data):
                return whole
            del ev.accesses[before:]
    return value


def _handed(
    ev: Evaluation, path: Path, expression: Expression, scope: Scope, within: frozenset[str] | None, segment: Segment
) -> BoundValue:
    """Return the value of an expression in another round: an object of values yields its members, a literal is its own value.

    `within` has the preceding keys of the enclosing braces, or `None` for a name of the body.
    """
    keys = within or frozenset()
    end, home = (expression, scope) if _is_key(expression, keys) else ev.ends.end(expression, scope)
    if is_data(end) and not isinstance(end, Object):
        return Data(data_of(ev, end))
    if not isinstance(end, Object) or not end.fields or (within is not None and _is_step(end, home, keys)):
        return _reached(ev, path, segment)
    before = keys if end is expression else frozenset[str]()
    fields: list[tuple[str, BoundValue]] = []
    for field in end.fields:
        fields.append((field.key, _handed(ev, Path(path.origin, (*path.tail, field.key)), field.content, home, before, segment)))
        before |= {field.key}
    return Members(tuple(fields), sum(each.size if isinstance(each, Members) else 1 for _, each in fields))


def _is_key(expression: Expression, keys: frozenset[str]) -> bool:
    return isinstance(expression, Name) and expression.text in keys


def _is_step(written: Object, scope: Scope, keys: frozenset[str]) -> bool:
    """Return whether an object under a key is a single step: it contains calls, and nothing that is only read."""
    calls = False
    for field in written.fields:
        content = field.content
        reads = isinstance(content, Access) and isinstance(content.base, Name)
        if isinstance(content, Name):
            reads = content.text in keys or is_defined(content.text, scope)
        if reads or (isinstance(content, Object) and not is_data(content) and not _is_step(content, scope, keys)):
            return False
        calls = calls or not is_data(content)
        keys |= {field.key}
    return calls


def _reached(ev: Evaluation, path: Path, segment: Segment) -> StepResult:
    """Return the target of a path, which is resolved once the schemas are known."""
    ev.accesses.append(Reached(path, segment.span))
    return StepResult(path)


def read_local(ev: Evaluation, name: Name, found: LocalName, context: EvaluationContext) -> BoundValue | None:
    """Evaluate the expression of a local name; in brackets that place steps, the dependencies of a call there stay outside."""
    reading = ev.begin(name, found, context)
    if type(reading) is not Reading:
        return seen(ev, context, name.span, reading)
    value = ev.value(found.binding.value, reading.inside)
    return seen(ev, context, found.binding.span, ev.end(reading, value))


def seen(ev: Evaluation, context: EvaluationContext, span: Span, value: BoundValue | None) -> BoundValue | None:
    """Return a value as read by a name at a place: blocks of a called program do not hide the caller's names."""
    if not context.scope.program.calls or value is None:
        return value
    from instrc.compiler.bind.choices import seen_from  # rarely needed: few programs are called

    return seen_from(ev, value, context.scope, span)


def subject(ev: Evaluation, name: Name, context: EvaluationContext) -> BoundValue | None:
    """Evaluate the name at the head of a path; the name of an instruction has no value."""
    found = find_in_context(name, context)
    if found is not None:
        return seen(ev, context, name.span, found)
    scope = context.scope
    definition = scope.find(name.text)
    if definition is not None and not ev.ends.is_alias(definition):
        return read_local(ev, name, definition, context.inside())
    if scope.is_input(name.text):
        return StepResult(Path(name.text))
    if definition is not None and alias(ev, name, scope) is None:
        return None  # already reported
    if definition is not None or knows(name.text, scope) or find_instruction(ev, name, scope, reading=True) is not None:
        from instrc.compiler.bind.lookup import similar_values  # as the problem

        named = definition.binding.value.span if definition is not None else None
        near = similar_values(name, scope)
        ev.report.add(problems.steps.NotAValue(at=name.span, word=name.text, nearest=near, named=named))
    return None


def member(ev: Evaluation, value: BoundValue, segment: Segment) -> BoundValue | None:
    """Return a member of a value."""
    match value:
        case Members(fields):
            known = dict(fields)
            if segment.text in known:
                return known[segment.text]
            _unknown(ev, segment, tuple(known))
            return None
        case StepResult(Path(origin, tail)):
            first = isinstance(origin, Local) and origin.kind == "previous" and not tail
            if first and (home := ev.rounds.home_of(value.path)) is not None:
                return _of_round(ev, value.path, home, segment)
            if isinstance(origin, int) and ev.steps.table[origin].output and not tail:
                tail = ("output",)
                if segment.text == "output":
                    return StepResult(Path(origin, tail))
            return _reached(ev, Path(origin, (*tail, segment.text)), segment)
        case Inner():
            return value
        case Data(constant, given):
            if given and isinstance(constant, dict):  # optional, like any member of an input
                return Data(constant.get(segment.text), f"{given}.{segment.text}")
            _unknown(ev, segment, ())
    return None


def _unknown(ev: Evaluation, segment: Segment, known: tuple[str, ...], *, about: str = "") -> None:
    near = nearest(segment.text, known)
    ev.report.add(problems.steps.UnknownMember(at=segment.span, word=segment.text, known=known, nearest=near, about=about))


def _of_round(ev: Evaluation, path: Path, home: Scope, segment: Segment) -> BoundValue | None:
    """Return the value of a body's name in another round; `path` leads to that round."""
    known = tuple(name for name, each in home.locals.items() if not ev.ends.is_alias(LocalName(each, home)))
    if segment.text not in known:
        _unknown(ev, segment, known, about="previous" if isinstance(path.origin, Local) and not path.tail else "")
        return None
    named = Path(path.origin, (*path.tail, segment.text))
    return _handed(ev, named, home.locals[segment.text].value, home, None, segment)
