"""Optimize the prompt for one model: search over forms on some cases, and test the single winner on the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from math import ceil
from statistics import fmean
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct, field, structs

from instrc.compiler.ir import FlatGraph
from instrc.compiler.tuned import PromptForm, formed, other_calls, schemas_of, steps_of
from instrc.engines.prepare import Prepared, prepare
from instrc.problems.errors import InstrcError
from instrc.process.request_settings import WORDS_LEVELS, WordsLevel
from instrc.schema.vocabulary import WORDINGS
from instrc.testing.evaluation.comparison import VersionComparison, compared, evaluated_versions
from instrc.testing.evaluation.dataset import DataSet, EvalCase
from instrc.testing.evaluation.results import CaseResult, EvaluationResult
from instrc.testing.evaluation.runner import EvalOptions, ProgramRunner
from instrc.testing.evaluation.variants import PartKind, Version, parts_at
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_texts, equal, listing, mapping
from instrc.text.sentences import EN, Sentences, filled
from instrc.text.source import Source
from instrc.vibes.project import DEFAULT_PROJECT, Project

HELD: Final = 100
"""Minimum cases held back for the test; with fewer than these and one rung, nothing is changed."""
TESTED: Final = 400
"""Maximum cases held back."""
EXAMPLES: Final = 2
"""Maximum cases shown as examples."""
RUNGS: Final = (12, 24, 48)
"""Numbers of cases on which forms are compared; the worse half is dropped after each."""
GAIN: Final = 2.0
"""Minimum net number of cases that a form must win to be preferred in the search."""
NAMED: Final = 4
"""Maximum values of an enum named next to its key."""
WRONG: Final = 6
"""Maximum wrong cases shown to the model that proposes wordings."""
PLACES: Final = 4
"""Maximum places of a program that a stage tries."""
EXAMPLE: Final = 600
"""Maximum characters of an example."""

Scores: TypeAlias = Mapping[str, float]
"""Scores by case, from 0 to 1."""
Judge: TypeAlias = Callable[[Sequence[PromptForm], int], Awaitable[Sequence[Scores]]]
"""Returns the scores of forms on the first cases; a form that cannot run has none."""
Stage: TypeAlias = tuple[str, Callable[[PromptForm], Iterable[PromptForm]]]
"""Name of a stage, and the alternatives to the best form so far that it tries."""


async def searched(
    start: PromptForm, stages: Iterable[Stage], judge: Judge, cases: int, say: Callable[[str], object]
) -> PromptForm:
    """Return the best form that the stages find, each starting from the previous result."""
    best = start
    for name, alternatives in stages:
        arms = [form for form in alternatives(best) if form != best]
        before, best = best, await halved(best, arms, judge, cases) if arms else best
        if arms:
            say(f"{name}: {len(arms)} tried, {'kept as it is' if best == before else described(best)}")
    return best


async def halved(best: PromptForm, arms: Sequence[PromptForm], judge: Judge, cases: int) -> PromptForm:
    """Return the winner of successive halving if it beats the best form so far, or else that form."""
    left, gain = list(arms), 0.0
    for rung in dict.fromkeys(min(rung, cases) for rung in RUNGS):
        current, *others = await judge([best, *left], rung)
        gains = [sum(scores[case] - current[case] for case in current if case in scores) for scores in others]
        order = sorted(range(len(left)), key=lambda place: -gains[place])
        left, gain = [left[place] for place in order[: ceil(len(left) / 2)] if gains[place] > -GAIN], gains[order[0]]
        if not left:
            return best
    return left[0] if gain >= GAIN else best


def split_cases(data: DataSet) -> tuple[DataSet, DataSet]:
    """Return the cases for the search and those held back, independent of their order in the file."""
    ordered = sorted(data.cases, key=lambda case: sha256(dumps([case.input, case.expected], indent=False).encode()).digest())
    held = min(max(HELD, len(ordered) - RUNGS[-1] - EXAMPLES), TESTED) if len(ordered) >= HELD + RUNGS[0] else 0
    first, rest = tuple(ordered[held:]), tuple(ordered[:held])
    return structs.replace(data, cases=first), structs.replace(data, cases=rest)


class Subject(Struct):
    """The program to tune, and how it is run."""

    program: str
    data: DataSet
    options: EvalOptions
    export: str | None = None
    project: Project = DEFAULT_PROJECT
    words: WordsLevel | None = None
    """Level of words of the program as it is; `None` if messages do not describe the schema."""
    writer: str | None = None
    """Model that proposes wordings; without one, only the author's are tried."""
    sentences: Sentences = EN
    flat: FlatGraph | None = None
    results: dict[str, EvaluationResult] = field(default_factory=dict)
    """Largest evaluation of each form."""

    def prepared(self, form: PromptForm) -> Prepared:
        """Return the program in a form."""

        def change(flat: FlatGraph) -> FlatGraph:
            self.flat = flat if self.export in (None, flat.graph.name) else self.flat
            return formed(flat, form)

        return prepare(self.program, export=self.export, project=self.project, change=change, tuned=False)

    def version(self, form: PromptForm, name: str) -> Version:
        """Return a form as a version of the program."""
        return Version(name, self.prepared(form), None, None if form.words is None else {"words": form.words})

    async def judge(self, forms: Sequence[PromptForm], count: int) -> list[Scores]:
        """Return the scores of forms on the first cases; raise `SpentError` when the budget ends."""
        versions: dict[int, Version] = {}
        for place, form in enumerate(forms):
            try:
                versions[place] = self.version(form, described(form))
            except InstrcError:
                continue  # the omitted part is read elsewhere
        cases = structs.replace(self.data, cases=self.data.cases[:count])
        found = dict(zip(versions, await evaluated_versions([*versions.values()], cases, self.options), strict=True))
        for place, result in found.items():
            if result.stopped is not None:
                raise SpentError(result.stopped)
            self.results[dumps(msgspec.to_builtins(forms[place]))] = result
        return [_nearness(found[place]) if place in found else {} for place in range(len(forms))]

    def found(self, form: PromptForm) -> EvaluationResult | None:
        """Return the largest evaluation of a form."""
        return self.results.get(dumps(msgspec.to_builtins(form)))

    def bias(self, before: PromptForm, stage: Stage) -> Iterator[str]:
        """Yield warnings about answers that depend on an order without meaning."""
        old = self.found(before)
        for form in stage[1](before) if old is not None else ():
            new = self.found(form)
            values = {} if old is None else {result.case: result.value for result in old.results}
            both = [result for result in (() if new is None else new.results) if result.case in values]
            moved = sum(values[result.case] != result.value for result in both)
            if both and moved / len(both) >= _MANY:
                yield f"{moved} of {len(both)} answers change with the {stage[0]}: {described(form)}"

    def parts(self, form: PromptForm) -> list[tuple[str, JsonObject]]:
        """Return the schemas of model steps, and of those nested in them, by place."""
        assert self.flat is not None
        return [part for _, place, schema in steps_of(formed(self.flat, form)) for part in schemas_of(schema, place)]

    def roots(self) -> list[str]:
        """Return the places of the model steps."""
        assert self.flat is not None
        return [place for _, place, _ in steps_of(self.flat)]


def _nearness(found: EvaluationResult) -> Scores:
    """Return 1 for each run that passed, and up to half for another one, by the share of expected members that are right.

    Otherwise a search learns nothing where hardly any answer is right as a whole.
    """

    def near(result: CaseResult) -> float:
        expected, value = mapping(result.expected), mapping(result.value)
        right = sum(key in value and equal(member, value[key]) for key, member in expected.items())
        return 1.0 if result.passed else right / (2 * max(len(expected), 1))

    return {case: fmean(map(near, results)) for case, results in found.by_case().items()}


class SpentError(Exception):
    """The budget of the search was used up."""


class Tuning(NamedTuple):
    """The result of a search."""

    start: PromptForm
    best: PromptForm
    comparison: VersionComparison | None
    """Comparison on the held-back cases; `None` if nothing better was found, or there are too few cases for a test."""
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    """Why the search ended early."""

    @property
    def better(self) -> bool:
        """Whether enough held-back cases show that the best form is better."""
        found = None if self.comparison is None else self.comparison.overall
        return found is not None and found.shown and found.paired.difference > 0 and found.paired.cases >= HELD


async def tuned(subject: Subject, start: PromptForm, say: Callable[[str], object]) -> Tuning:
    """Return the best form of a program for its model, tested once on cases not used in the search."""
    whole, (train, held) = subject.data, split_cases(subject.data)
    examples, subject.data = train.cases[:EXAMPLES], structs.replace(train, cases=train.cases[EXAMPLES:])
    best, stopped, warnings = start, None, list[str]()
    subject.options.budget.counted = set()
    try:
        for stage in stages_of(subject, await _wordings(subject, start), examples):
            before, best = best, await searched(best, [stage], subject.judge, len(subject.data.cases), say)
            warnings += subject.bias(before, stage) if stage[0] in _PROBED else ()
    except SpentError as error:
        stopped = str(error)
    comparison = None
    if best != start and held.cases:
        subject.options.budget.requests = None  # the test was requested in addition to the search
        say(f"test on {len(held.cases)} cases that were held back: {described(best)}")
        versions = [subject.version(start, "as it is"), subject.version(best, described(best))]
        before_, after = await evaluated_versions(versions, held, subject.options)
        comparison = compared(before_, after, same=versions[0].is_like(versions[1]))
        stopped = before_.stopped or after.stopped or stopped
    subject.data = whole
    return Tuning(start, best, comparison, tuple(warnings), stopped)


_VALUES: Final = "order of values"
_PROPERTIES: Final = "order of properties"
_PROBED: Final = frozenset({_VALUES, _PROPERTIES})
_MANY: Final = 0.2
"""Minimum share of answers changing with the order that causes a warning."""


def stages_of(subject: Subject, wordings: Mapping[str, Sequence[str]], examples: Sequence[EvalCase]) -> Iterator[Stage]:
    """Yield the stages in order of their influence on answers."""
    for place, texts in wordings.items():
        yield f"wordings of {place}", partial(_reworded, place, texts)
    if subject.words is not None:
        yield "words", partial(_levels, subject)
    yield _VALUES, partial(_values, subject)
    yield "examples", partial(_examples, subject, examples)
    yield _PROPERTIES, partial(_without, subject, "order")
    yield "thoughts and mixins", partial(_without_thoughts, subject)
    yield "requests", partial(_calls, subject)


async def _wordings(subject: Subject, start: PromptForm) -> dict[str, list[str]]:
    """Return alternative descriptions by place: those of the author, and those proposed by a model from wrong cases."""
    subject.prepared(start)
    result = {place: as_texts(written) for place, part in subject.parts(start) if (written := listing(part.get(WORDINGS)))}
    if subject.writer is None:
        return result
    await subject.judge([start], RUNGS[0])
    writer = ProgramRunner(
        prepare(Source("writer.aug", f"prompt | @{dumps(_WRITER)}"), tuned=False),
        structs.replace(subject.options, model=subject.writer, settings={}),
    )
    found = subject.found(start)
    wrong: list[Json] = [
        {"input": case.input, "expected": case.expected, "answer": case.value}
        for case in (() if found is None else found.results)
        if not case.passed
    ]
    texts = {place: part.get("description", "") for place, part in subject.parts(start)}
    for place in subject.roots():
        asked: Json = {"text": texts.get(place, ""), "wrong": wrong[:WRONG]}
        facts = await writer.run(EvalCase(id="wordings", input=dumps(asked)))
        if facts.error is not None:
            raise SpentError(f"the writer gave no answer: {facts.error}")
        proposed = listing(mapping(facts.value).get("wordings"))
        result[place] = [*result.get(place, ()), *(text for text in proposed if isinstance(text, str) and text.strip())]
    return result


_WRITER: Final[Json] = {
    "title": "Propose_Wordings",
    "description": "A small model was given `text` as its task, and answered the inputs under `wrong` otherwise than expected. "
    "Write three other texts for the same task: short, plain, in the same language, and without these inputs.",
    "type": "object",
    "properties": {
        "wordings": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "maxLength": 600}},
    },
    "required": ["wordings"],
}


def _reworded(place: str, texts: Sequence[str], best: PromptForm) -> Iterator[PromptForm]:
    yield from (_said(best, {place: text}) for text in texts)


def _said(best: PromptForm, texts: Mapping[str, str]) -> PromptForm:
    return structs.replace(best, texts={**best.texts, **texts})


def _levels(subject: Subject, best: PromptForm) -> Iterator[PromptForm]:
    """Yield the levels of words: the task, and the keys with short lists of values."""
    yield from (structs.replace(best, words=level) for level in WORDS_LEVELS if level != (best.words or subject.words))
    short = {
        place: " ".join(
            [str(part.get("description", "")), f"({filled(subject.sentences.one_of, values=', '.join(map(_text, values)))})"]
        )
        for place, part in subject.parts(best)
        if 1 < len(values := listing(part.get("enum"))) <= NAMED
    }
    if short:
        yield structs.replace(_said(best, {place: text.strip() for place, text in short.items()}), words="keys")


def _values(subject: Subject, best: PromptForm) -> Iterator[PromptForm]:
    """Yield the values of each enum in reverse where they are described to the model: elsewhere the order has no effect."""
    if (best.words or subject.words) in (None, "all"):
        yield from _without(subject, "values", best)


def _without(subject: Subject, kind: PartKind, best: PromptForm) -> Iterator[PromptForm]:
    """Yield the form without each part of a kind."""
    parts = [part.form for place, schema in subject.parts(best) for part in parts_at(place, schema) if part.kind == kind]
    for form in parts[:PLACES]:
        yield structs.replace(
            best, values={**best.values, **form.values}, order={**best.order, **form.order}, off=[*best.off, *form.off]
        )


def _without_thoughts(subject: Subject, best: PromptForm) -> Iterator[PromptForm]:
    """Yield the form without each thought, and without all thoughts of a step."""
    single = [*_without(subject, "thought", best)]
    yield from single
    for root in subject.roots():
        thoughts = [place for form in single for place in form.off[len(best.off) :] if place.startswith(f"{root}.")]
        if len(thoughts) > 1:
            yield structs.replace(best, off=[*best.off, *thoughts])


def _calls(subject: Subject, best: PromptForm) -> Iterator[PromptForm]:
    """Yield the form with one request per step, or with shared ones."""
    assert subject.flat is not None
    yield from (structs.replace(best, calls=form.calls) for form in other_calls(formed(subject.flat, best)))


def _examples(subject: Subject, examples: Sequence[EvalCase], best: PromptForm) -> Iterator[PromptForm]:
    """Yield one and two examples in the description of the only step."""
    roots, parts = subject.roots(), dict(subject.parts(best))
    known = mapping(parts[roots[0]].get("properties")) if len(roots) == 1 else {}
    lines = [f"{_text(case.input)} → {dumps(case.expected, indent=False)}" for case in examples if _fits(case.expected, known)]
    said = str(parts[roots[0]].get("description", "")) if lines else ""
    for count in range(1, len(lines) + 1):
        if all(len(line) <= EXAMPLE for line in lines[:count]):
            yield _said(best, {roots[0]: "\n".join([said, "", subject.sentences.examples, *lines[:count]]).strip()})


def _fits(expected: Json, known: JsonObject) -> bool:
    return isinstance(expected, dict) and bool(expected) and expected.keys() <= known.keys()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value, indent=False)


def described(form: PromptForm) -> str:
    """Return a short description of a form."""
    parts = [f"words = {form.words}"] if form.words is not None else []
    parts += [f"another text of {place}" for place in form.texts]
    parts += [f"values of {place} in another order" for place in form.values]
    parts += [f"properties of {place} in another order" for place in form.order]
    parts += [] if form.calls is None else ["a request for each step" if form.calls == "each" else "common requests"]
    return ", ".join([*parts, *(f"without {place}" for place in form.off)]) or "as it is written"
