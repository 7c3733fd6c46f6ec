"""The data of a run's page: its steps with their states, folded if there are many, and its picture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from instrc.problems.errors import InstrcError
from instrc.process import flow
from instrc.process.layout import layout
from instrc.process.picture import (
    WORDS,
    Box,
    PictureStep,
    folded,
    name_of_step,
    picture_of,
    picture_of_block,
    schemas_of,
    titles_of,
)
from instrc.process.process import Process
from instrc.process.svg import figure
from instrc.runtime.questions import Question
from instrc.runtime.run_report import step_values
from instrc.runtime.trace_page import keys_of, time_text, title_of
from instrc.runtime.traces import SpanState, TimelineSpan
from instrc.server.forms import Words
from instrc.server.views import QuestionInfo, RunStory
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, mapping, optional_text

FOLDED: Final = 2
"""Elements of a step shown while it is folded."""
STEPS: Final = 200
"""Maximum steps in a list."""
_EXCERPT: Final = 1_000
"""Maximum characters of a value in the list of steps."""
_SIGNS: Final = {"done": "\u2713", "failed": "\u2717", "rejected": "\u21ba", "open": "\u2026", "cancelled": "\u2013"}
_FACTS: Final = ("input", "show", "answer", "output", "error", "complaints")


def run_facts(story: RunStory, query: Mapping[str, str], records: Sequence[Json], words: Words) -> dict[str, object]:
    """Return the facts of a run's page; `records` are its own and that of the run in `with`, which it is compared with."""
    number = query.get("page", "1")
    facts: dict[str, object] = {"groups": [], "answers": [], "element_of": element_of, "state": query.get("state")}
    facts |= dict.fromkeys(("title", "inputs", "picture", "chosen"))
    facts["number"] = int(number) if re.fullmatch(r"[1-9][0-9]{0,5}", number) else 1
    if story.launch is None:
        return facts
    process, spans = Process.from_json(story.launch.plan["process"]), story.spans
    titles, outcome = titles_of(process), story.info.report.outcome
    groups = groups_of(spans, titles)
    names = {span.id: title_of(span, titles) for span in spans if span.id in story.votes}
    votes = [(vote, names.get(name) or name) for name, given in story.votes.items() for vote in given]
    facts |= {
        "title": process.title,
        "name_of": lambda key: titles.get(key) or name_of_step(key),
        "inputs": labelled(story.launch.inputs, {"properties": process.inputs or {}}),
        "groups": groups[:STEPS],
        "length": max((span.began if span.ended is None else span.ended for span in spans), default=0.0),
        "facts_of": partial(facts_of, steps=labels_of(process)),
        "chosen": next((group for group in groups if group.key == query.get("step")), None),
        "picture": drawn(process, story.info.report.name, groups, words, query.get("block", "")),
        "block": query.get("block"),
        "answers": sorted(votes, key=lambda vote: vote[0].at),
    }
    if outcome is not None and outcome["status"] == "done":
        facts["result"] = labelled(outcome.get("value", outcome["output"]), result_schema(process))
    if records:
        facts |= {"against": query["with"], "compared": compared(records[0], records[1], titles)}
    return facts


class StepGroup(Struct):
    """A step of a run with all its executions: one, or one per element and round."""

    key: str
    """Its command without element and round numbers."""
    title: str
    lane: str
    spans: list[TimelineSpan] = field(default_factory=list)
    tokens: int = 0
    """The tokens read and written by models."""
    cost: float = 0
    """Known cost of models in US dollars."""

    def add(self, span: TimelineSpan) -> None:
        """Add an execution."""
        self.spans.append(span)
        self.tokens += span.tokens
        self.cost += span.cost

    @property
    def counts(self) -> dict[str, int]:
        """The number of executions in each state, most urgent first."""
        counted = Counter(span.state for span in self.spans)
        return {state: counted[state] for state in ("failed", "rejected", "open", "done", "cancelled") if state in counted}

    @property
    def state(self) -> str:
        """The most urgent state."""
        return next(iter(self.counts))

    @property
    def tally(self) -> str:
        """The counts as signs and numbers."""
        return " ".join(
            f"{_SIGNS[state]} {count}" if len(self.spans) > 1 else _SIGNS[state] for state, count in self.counts.items()
        )

    @property
    def seconds(self) -> float | None:
        """The seconds from the first start to the last end; `None` while it is active."""
        ends = [span.ended for span in self.spans if span.ended is not None]
        return max(ends) - self.spans[0].began if len(ends) == len(self.spans) else None

    @property
    def tries(self) -> int:
        """The number of retries."""
        return sum(len(span.retries) for span in self.spans)

    @property
    def step(self) -> str | None:
        """The key of its first step, from which the run can be forked; `None` in child runs, elements and rounds."""
        span = self.spans[0]
        return None if "/" in span.id or "[" in span.id else keys_of(span)[0]

    def page(self, state: str | None, first: int, most: int) -> list[TimelineSpan]:
        """Return some executions, failed ones first, optionally in one state."""
        order = list(self.counts)
        chosen = [span for span in self.spans if state in {None, span.state}]
        return sorted(chosen, key=lambda span: order.index(span.state))[first : first + most]


def groups_of(spans: Iterable[TimelineSpan], titles: Mapping[str, str]) -> list[StepGroup]:
    """Return the steps of a run in order of their start."""
    groups: dict[str, StepGroup] = {}
    for span in spans:
        key = re.sub(r"\[\d+\]|#\d+", "", span.id)
        if key not in groups:
            groups[key] = StepGroup(key, title_of(span, titles), span.lane)
        groups[key].add(span)
    return list(groups.values())


def element_of(span: TimelineSpan) -> str:
    """Return the element and round of a command: "3", "3.2", or the empty string."""
    return ".".join(re.findall(r"\[(\d+)\]", span.id))


def facts_of(span: TimelineSpan, steps: Json) -> list[tuple[str, Json]]:
    """Return the input and output of a step, with the titles of the steps' schemas; a long one as the beginning of its text."""
    values = [(name, span.facts[name]) for name in _FACTS if span.facts.get(name) not in (None, {}, [], "")]
    texts = [(name, value, value if isinstance(value, str) else dumps(value)) for name, value in values]
    return [
        (name, labelled(value, steps) if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}\u2026") for name, value, text in texts
    ]


def labels_of(process: Process) -> JsonObject:
    """Return a schema of an object with all steps, each with a title."""
    return {"properties": {key: {"title": name_of_step(key), **mapping(schema)} for key, schema in schemas_of(process).items()}}


def result_schema(process: Process) -> Json:
    """Return the schema of what comes out, as far as a path leads to it; without a value of the process, that of all steps."""
    schema: Json = labels_of(process)
    value = process.body.value
    for segment in value.segments if isinstance(value, flow.Read) else ():
        schema = mapping(mapping(schema).get("properties")).get(segment.name)
    return schema if value is None or isinstance(value, flow.Read) else None


def labelled(value: Json, schema: Json) -> Json:
    """Return a value with the titles of its members instead of their names, as far as its schema has them at their place."""
    node = mapping(schema)
    if isinstance(value, list) and "items" in node:
        return [labelled(item, node["items"]) for item in value]
    if not isinstance(value, dict) or "properties" not in node:
        return value
    members = mapping(node["properties"])
    titles = {name: optional_text(mapping(members.get(name)).get("title")) or name for name in value}
    apart = len({*titles.values()}) == len(titles)  # members that share a title keep their names
    return {titles[name] if apart else name: labelled(part, members.get(name)) for name, part in value.items()}


def compared(mine: Json, other: Json, titles: Mapping[str, str]) -> list[tuple[str, Json, Json]]:
    """Return the title and both values of each step whose value differs between two records; of lists only what differs."""
    rows: list[tuple[str, Json, Json]] = []
    first, second = step_values(mine), step_values(other)
    for key in {**second, **first}:
        left, right = first.get(key), second.get(key)
        if isinstance(left, list) and isinstance(right, list):
            places = [at for at in range(max(len(left), len(right))) if left[at : at + 1] != right[at : at + 1]]
            left, right = ({str(at + 1): part for at in places for part in side[at : at + 1]} for side in (left, right))
        if left != right:
            rows.append((titles.get(key) or name_of_step(key), left, right))
    return rows


def drawn(process: Process, name: str, groups: Iterable[StepGroup], words: Words, block: str = "") -> str | None:
    """Return the picture of a program or of one of its blocks with the states of a run; `None` if it cannot be drawn."""
    by_key: dict[str, StepGroup] = {}
    for group in groups:
        for key in keys_of(group.spans[0]):
            by_key.setdefault(key, group)
    try:
        picture = picture_of(process, name, words={part: words[f"picture {part}"] for part in WORDS})
        picture = replace(picture, boxes=tuple(_marked(box, by_key, words["tokens_of"]) for box in picture.boxes))
        shown = layout(folded(picture_of_block(picture, block)))
        return figure(shown, styled=False, prefix="g", link="?block={}#picture")
    except InstrcError:
        return None


def _marked(box: Box, groups: Mapping[str, StepGroup], tokens: str) -> Box:
    sections = []
    for section in box.sections:
        items = [
            _marked(item, groups, tokens) if isinstance(item, Box) else _noted(item, groups.get(item.key), tokens)
            for item in section.items
        ]
        sections.append(replace(section, items=tuple(items)))
    return replace(box, sections=tuple(sections))


def _noted(step: PictureStep, group: StepGroup | None, tokens: str) -> PictureStep:
    if group is None:
        return replace(step, state="idle")
    spent = [
        *([time_text(seconds)] if (seconds := group.seconds) is not None else []),
        *([tokens.format(count=f"{group.tokens:,}")] if group.tokens else []),
    ]
    spent += [f"${group.cost:,.4f}"] if group.cost else []
    return replace(step, state=group.state, notes=(*step.notes, " \u00b7 ".join([group.tally, *spent])))


def sample_picture(process: Process, words: Words) -> str | None:
    """Return the picture of a process with a step in each of three states."""
    states: tuple[SpanState, ...] = ("done", "failed", "open")
    spans = [
        TimelineSpan(key, "model", 0.0, None if state == "open" else 1.0, state)
        for key, state in zip(schemas_of(process), states, strict=True)
    ]
    return drawn(process, "sample", groups_of(spans, {}), words)


_LINE: Final = 160
"""Maximum characters of the summary line."""


def question_title(question: Question) -> str:
    """Return the title of a question: that of its schema, or of its only step, or else its steps."""
    schema = mapping(question.schema)
    return optional_text(schema.get("title")) or steps_title(question.steps, question.id)


def steps_title(steps: tuple[str, ...], name: str) -> str:
    """Return the names of steps, or a name if there are none."""
    return ", ".join(name_of_step(key) for key in steps) or name


def summary_of(value: Json) -> str:
    """Return a one-line summary of the value to be decided."""
    line = next((text.strip().splitlines()[0] for text in _texts(value) if text.strip()), "")
    return line if len(line) <= _LINE else f"{line[:_LINE]}…"


def _texts(value: Json, most: int = 100) -> list[str]:
    """Return the first texts in a value, in order."""
    texts, waiting = list[str](), [value]
    while waiting and len(texts) < most:
        part = waiting.pop()
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict | list):
            waiting += reversed([*part.values()] if isinstance(part, dict) else part)
    return texts


def searched_text(card: tuple[QuestionInfo, str, str]) -> str:
    """Return what a search of the inbox looks at: the title of a question, its run, its people and the shown texts."""
    row, title, _ = card
    return " ".join([title, row.program, row.run, row.starter or "", row.claimed_by or "", *_texts(row.question.show)])
