"""Blocks: each is a step of the body around it, and its own bodies hold steps that are cut by themselves."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from msgspec.structs import replace

from instrc import problems
from instrc.ir import blocks, surface
from instrc.ir.blocks import Region, Test, regions_of, word_of
from instrc.ir.graph import Step
from instrc.ir.paths import BlockName, Path
from instrc.ir.reads import Constant
from instrc.ir.surface import Access, Literal, Name
from instrc.limits.programs import ELEMENTS, HIGHEST_BOUND, ROUNDS
from instrc.passes.bind.block_reads import reads_of_block, reads_rounds, refuse_hidden
from instrc.passes.bind.bodies import read_body
from instrc.passes.bind.conditions import asked, read_path
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.steps import PRIVATE
from instrc.passes.bind.values import BoundValue, StepResult, paths_read
from instrc.passes.trampoline import Task
from instrc.source import Span

_Made: TypeAlias = "tuple[blocks.Block, tuple[Hashable, ...], tuple[Path, ...]]"
"""A block, what tells it from others, and what it reads itself: its conditions and its list."""


def evaluate_block(ev: Evaluation, written: surface.Block, context: EvaluationContext) -> Task[BoundValue | None]:
    """Make a block a step, and return that as its value."""
    about = _about(ev, written, context)
    if context.key == PRIVATE or (context.direct and context.brackets is not None):
        ev.report.add(problems.calls.MisplacedBlock(at=written.span))
        return None
    place = ev.steps.places.label(context.region, written.span)
    context = replace(context, region=ev.steps.places.region_of(place, context.region))
    outside = context.inside()
    match written:
        case surface.Do():
            made = yield _do(ev, written, outside)
        case surface.When():
            made = yield _when(ev, written, outside)
        case surface.Each():
            made = yield _each(ev, written, outside)
        case surface.Repeat():
            made = yield _repeat(ev, written, outside)
        case surface.Try():
            made = yield _try(ev, written, outside)
    if made is None:
        return None
    content, signs, direct = made
    reads = reads_of_block(ev, content, direct)
    _warn_of_unread_pipe(ev, written, context, reads)
    number = len(ev.steps.table)
    word = word_of(content)
    key = context.key
    step = Step(number, word, key, "block", False, content, (), reads, None, written.span, context.timing, about=about)  # noqa: FBT003  # a block has no `output`
    ident = ev.steps.identities.of("block", word, signs, context.timing, about)
    found = ev.steps.one(step, ident, context)
    if key is None:
        ev.steps.places.note(place, context.region, ident, ev.steps.table[found], new=found == number)
    if found != number:
        ev.steps.drop(region.number for region in regions_of(content))
    if context.brackets is not None:
        context.brackets.barriers.add(found)
    return StepResult(Path(found))


def _about(ev: Evaluation, written: surface.Block, context: EvaluationContext) -> str | None:
    """Return the description of a block; its annotations take nothing else beside a deadline and a delay."""
    texts: list[str] = []
    for each in context.annotations:
        text = each.get("description") if isinstance(each, dict) and each.keys() == {"description"} else None
        if not isinstance(text, str):
            ev.report.add(problems.calls.MisplacedAnnotation(at=written.span, block=True))
        elif text not in texts:
            texts.append(text)
    return "\n".join(texts) or None


def _when(ev: Evaluation, written: surface.When, context: EvaluationContext) -> Task[_Made | None]:
    branches: list[blocks.Branch] = []
    reads: list[Path] = []
    otherwise = written.otherwise
    complete = True
    for each in written.branches:
        question = yield asked(ev, each.condition, context)
        if question is not None and question.holds:
            otherwise = each.body  # whatever comes after it is never reached
            break
        if question is not None and not question.tests:
            continue
        body = (yield read_body(ev, each.body, context, {})).region
        if question is None or body is None:
            complete = False
        else:
            branches.append(blocks.Branch(question.tests, body))
            reads += [test.path for test in question.tests]
    if otherwise is not None:
        body = (yield read_body(ev, otherwise, context, {})).region
        if body is None:
            return None
        if not branches:
            return blocks.Do(body), (ev.steps.identity(body),), ()
        branches.append(blocks.Branch((), body))
    if not complete:
        return None
    if not branches:
        body = Region(ev.steps.open_region(context.region, written.span), (), Constant(None), written.span)
        return blocks.Do(body), (ev.steps.identity(body),), ()
    signs = tuple((_tests(ev, each.condition), ev.steps.identity(each.body)) for each in branches)
    return blocks.When(tuple(branches)), signs, tuple(reads)


def _each(ev: Evaluation, written: surface.Each, context: EvaluationContext) -> Task[_Made | None]:
    most = _bound_number(ev, written.most, ELEMENTS)
    source = yield _elements(ev, written.source, context)
    body = (yield read_body(ev, written.body, context, {written.name.text: "item"}, over=source)).region
    if most is None or source is None or body is None:
        return None
    most = max(most, source) if isinstance(source, int) else most
    signs = (written.name.text, _source(ev, source), most, ev.steps.identity(body))
    return (
        blocks.Each(written.name.text, source, most, body, written.source.span),
        signs,
        (source,) if isinstance(source, Path) else (),
    )


def _repeat(ev: Evaluation, written: surface.Repeat, context: EvaluationContext) -> Task[_Made | None]:
    most = _bound_number(ev, written.most, ROUNDS if written.source is None else ELEMENTS)
    keep = _bound_number(ev, written.keep, 0)
    if written.keep is not None and keep and most and keep > most:
        ev.report.add(problems.blocks.KeepOverMax(at=written.keep.span, keep=keep, most=most))
    source = None if written.source is None else (yield read_path(ev, written.source, context))
    names: dict[str, BlockName] = {} if written.name is None else {written.name.text: "item"}
    names |= {"round": "round", "previous": "previous", "rounds": "rounds"}
    said = yield read_body(ev, written.body, context, names, written.until, keeps=True, over=source)
    body, tests, kept = said.region, said.tests, said.names
    otherwise = None
    if written.otherwise is not None:
        otherwise = (yield read_body(ev, written.otherwise, context, {"rounds": "rounds"}, after=said.number)).region
    if most is None or keep is None or body is None or (written.source is not None and source is None):
        return None
    if (written.until is not None and tests is None) or (written.otherwise is not None and otherwise is None):
        return None
    until = tests or ()
    identities = ev.steps.identities
    signs = (
        written.name and written.name.text,
        None if source is None else identities.path(source),
        most,
        keep,
        _tests(ev, until),
        ev.steps.identity(body),
        None if otherwise is None else ev.steps.identity(otherwise),
        tuple((name, identities.reading(reading)) for name, reading in kept),
    )
    refuse_hidden(ev, body, ("round", "previous", "rounds"), until)
    if otherwise is not None:
        refuse_hidden(ev, otherwise, ("rounds",))
    item = None if written.name is None else written.name.text
    at = written.span if written.source is None else written.source.span
    handed = reads_rounds(ev, body, otherwise)
    content = blocks.Repeat(item, source, most, keep or None, body, until, otherwise, kept, handed, at)
    return content, signs, () if source is None else (source,)


def _try(ev: Evaluation, written: surface.Try, context: EvaluationContext) -> Task[_Made | None]:
    body = (yield read_body(ev, written.body, context, {})).region
    otherwise = (yield read_body(ev, written.otherwise, context, {"error": "error"})).region
    if body is None or otherwise is None:
        return None
    refuse_hidden(ev, otherwise, ("error",))
    return blocks.Try(body, otherwise), (ev.steps.identity(body), ev.steps.identity(otherwise)), ()


def _do(ev: Evaluation, written: surface.Do, context: EvaluationContext) -> Task[_Made | None]:
    body = (yield read_body(ev, written.body, context, {})).region
    return None if body is None else (blocks.Do(body), (ev.steps.identity(body),), ())


def _tests(ev: Evaluation, tests: tuple[Test, ...]) -> tuple[Hashable, ...]:
    identities = ev.steps.identities
    return tuple((identities.path(test.path), identities.json(test.schema)) for test in tests)


def _source(ev: Evaluation, source: Path | int) -> Hashable:
    return ev.steps.identities.path(source) if isinstance(source, Path) else ("number", source)


def _elements(ev: Evaluation, written: Name | Access | Literal, context: EvaluationContext) -> Task[Path | int | None]:
    """Evaluate what an `each` goes through: a list that is read, or a number."""
    if isinstance(written, Literal):
        yield from ()
        return _bound_number(ev, written, 0)
    return (yield read_path(ev, written, context))


def _bound_number(ev: Evaluation, written: Literal | None, otherwise: int) -> int | None:
    """Return the number of a bound; `None`, once that is reported, if it is no number to count with."""
    if written is None:
        return otherwise
    value = written.value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= HIGHEST_BOUND:
        return value
    ev.report.add(problems.blocks.BadBound(at=written.span, limit=HIGHEST_BOUND))
    return None


def _warn_of_unread_pipe(ev: Evaluation, written: surface.Block, context: EvaluationContext, reads: tuple[Path, ...]) -> None:
    if context.own and context.piped is not None:
        piped = set(paths_read(context.piped))
        if piped and not any(_leads_into(read_, each) for each in piped for read_ in reads):
            ev.report.add(problems.steps.UnreadPipe(at=_head(written)))


def _leads_into(path: Path, other: Path) -> bool:
    return path.origin == other.origin and path.tail[: len(other.tail)] == other.tail


def _head(written: surface.Block) -> Span:
    return replace(written.span, end=min(written.span.end, written.span.start + len(type(written).__name__)))
