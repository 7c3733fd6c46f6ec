"""The scores of TaskBench, as its own evaluator computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec import Struct, field

from instrc.problems.errors import InstrcError
from instrc.taskbench.arguments import content_type
from instrc.taskbench.convert import BenchLike, export_plan, to_bench
from instrc.testing.evaluation.checks import CheckedRun, CheckPlace, CheckScore
from instrc.text.arguments import excerpt, several, takes_plain_values
from instrc.text.files import read_whole
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, listing
from instrc.tools.taskbench import SHAPES, Bench, PlanShape, TaskRecord, ends_of, id_of, read_bench, read_record, shape_of


class Compared(NamedTuple):
    """The comparison of a prediction with the truth."""

    counts: tuple[tuple[int, int, int], ...]
    """For each F1: common, predicted and expected counts."""
    ratio: float | None
    """Similarity of the tool sequences; `None` if the prediction cannot be read."""


METRICS = ("n-F1", "e-F1", "t-F1", "v-F1", "NED")


class Score(Struct):
    """The scores of a group of requests."""

    requests: int = 0
    unreadable: int = 0
    _counts: list[list[int]] = field(default_factory=lambda: [[0, 0] for _ in range(4)])
    """For each F1: the common count, and the sum of the predicted and expected counts."""
    _missed: list[int] = field(default_factory=lambda: [0] * 4)
    """Expected counts for predictions that cannot be read."""
    _ratios: float = 0.0

    def add(self, request: Compared) -> None:
        """Count one request."""
        self.requests += 1
        if request.ratio is None:
            self.unreadable += 1
            for number, (_, _, right) in enumerate(request.counts):
                self._missed[number] += right
            return
        for count, (matched, said, right) in zip(self._counts, request.counts, strict=True):
            count[0] += matched
            count[1] += said + right
        self._ratios += request.ratio

    def values(self, *, with_unreadable: bool = False) -> dict[str, float]:
        """Return the scores by name."""
        result: dict[str, float] = {}
        for name, (matched, listed), missed in zip(METRICS, self._counts, self._missed, strict=False):
            total = listed + (missed if with_unreadable else 0)
            result[name] = 2 * matched / total if total else 0.0
        compared = self.requests if with_unreadable else self.requests - self.unreadable
        result["NED"] = 1 - self._ratios / compared if compared else 1.0
        return result

    def to_json(self) -> Json:
        """Return the scores with the counts behind them."""
        return {
            "requests": self.requests,
            "unreadable": self.unreadable,
            "scores": dict(self.values()),
            "with_unreadable": dict(self.values(with_unreadable=True)),
        }


class Scores(Struct):
    """The scores of all requests, by shape and by number of tasks."""

    overall: Score = field(default_factory=Score)
    by_shape: dict[PlanShape, Score] = field(default_factory=dict)
    by_size: dict[int, Score] = field(default_factory=dict)

    def to_json(self) -> Json:
        """Return all of it as plain JSON."""
        return {
            "overall": self.overall.to_json(),
            "by_shape": {shape: score.to_json() for shape, score in self.by_shape.items()},
            "by_size": {str(size): score.to_json() for size, score in self.by_size.items()},
        }


@takes_plain_values
def score_plans(gold: Iterable[Json], predictions: Iterable[Json], tools: BenchLike) -> Scores:
    """Return how close predicted records are to the right ones.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        records = [instrc.export_plan(plan, tools) for plan in instrc.sample_plans(tools, 3)]
        scores = instrc.score_plans(records, records, tools)

    The scores are n-F1, e-F1, t-F1, v-F1 and NED: overall, by shape, by number of tasks.
    Of equal ids the last one counts; `7` is `"7"`.
    """
    bench = to_bench(tools)
    known, predicted = several("gold", gold), several("predictions", predictions)
    said = {key: value for value in predicted if (key := id_of(value)) is not None}
    right = {key: value for value in known if (key := id_of(value)) is not None and key in said}
    index = {tool.id: number for number, tool in enumerate(bench.tools, 1)}
    result = Scores()
    groups: list[tuple[PlanShape, int, Compared]] = []
    for key, value in right.items():
        record = read_record(value)
        facts = None if record is None or record.within else compared_facts(record, bench, index)
        if record is None or facts is None:
            continue  # nothing to compare with
        shape = record.shape or shape_of(len(facts.names), frozenset(facts.places))
        prediction = read_record(said[key])
        other = None if prediction is None or prediction.within else compared_facts(prediction, bench, index)
        groups.append((shape, len(facts.names), compared(facts, other)))
    result.by_shape = {shape: Score() for shape in SHAPES if any(group[0] == shape for group in groups)}
    result.by_size = {size: Score() for size in sorted({group[1] for group in groups})}
    for shape, size, request in groups:
        for score_ in (result.overall, result.by_shape[shape], result.by_size[size]):
            score_.add(request)
    return result


class PlanFacts(Struct):
    """The compared facts of a plan."""

    names: list[str]
    tools: set[str] = field(default_factory=set)
    edges: set[tuple[str, str]] = field(default_factory=set)
    arguments: set[tuple[str, str]] = field(default_factory=set)
    values: set[tuple[str, str, str]] = field(default_factory=set)
    sequence: tuple[int, ...] = ()
    places: set[tuple[int, int]] = field(default_factory=set)
    """Edges by task positions, which determine the shape."""

    def sets(self) -> tuple[AbstractSet[object], ...]:
        """Return the sets that the four F1 scores compare, in order."""
        return self.tools, self.edges, self.arguments, self.values


def compared(gold: PlanFacts, prediction: PlanFacts | None) -> Compared:
    """Compare one prediction with the truth."""
    if prediction is None:
        return Compared(tuple((0, 0, len(right)) for right in gold.sets()), None)
    pairs = zip(prediction.sets(), gold.sets(), strict=True)
    counts = tuple((len(said & right), len(said), len(right)) for said, right in pairs)
    return Compared(counts, _ratio(prediction.sequence, gold.sequence))


def _ratio(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Return the similarity of two sequences: 1 minus their distance (substitution costs 2) over the sum of their lengths."""
    total = len(one) + len(other)
    if one == other:
        return 1.0
    return 2 * _common(one, other) / total  # with substitution cost 2, the distance is the sum minus twice the common part


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the length of the longest common subsequence: a table row is the bits of one number (Hyyrö, 2004)."""
    places: dict[int, int] = {}
    for number, item in enumerate(other):
        places[item] = places.get(item, 0) | 1 << number
    whole = (1 << len(other)) - 1
    row = whole
    for item in one:
        result = row & places.get(item, 0)
        row = (row + result | row - result) & whole
    return len(other) - row.bit_count()


def compared_facts(record: TaskRecord, bench: Bench, index: Mapping[str, int]) -> PlanFacts | None:
    """Return the compared facts of a plan, or `None` if it is unreadable."""
    words = _words(record.nodes)
    if words is None:
        return None
    resource = bench.is_resource
    # `_` counts as a space, unless a tool with typed inputs is called so
    names = [word.replace("_", " ") if resource and word not in index else word for word, _ in words]
    facts = PlanFacts(names)
    facts.tools = {name for name in names if name in index}
    facts.sequence = tuple(index.get(name, 0) for name in names)
    for number, (_, arguments) in enumerate(words):
        for argument in arguments if isinstance(arguments, list) else [] if arguments is None else [arguments]:
            if resource:
                _by_type(facts, number, argument, bench)
            elif isinstance(argument, dict) and "name" in argument:
                name = _text(argument["name"])
                facts.arguments.add((names[number], name))
                facts.values.add((names[number], name, _text(argument.get("value"))))
    if not resource:
        _by_links(facts, record.links)
    return facts


def _words(nodes: Json) -> list[tuple[str, Json]] | None:
    """Return the tool and the arguments of each task, or `None` if one of them has no tool."""
    result: list[tuple[str, Json]] = []
    for node in nodes if isinstance(nodes, list) else [None]:
        word = node.get("task") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(word, str):
            return None
        result.append((word, node.get("arguments")))
    return result


def _by_type(facts: PlanFacts, number: int, argument: Json, bench: Bench) -> None:
    """Count an argument of a tool with typed inputs: a text, or the output of another task."""
    if isinstance(argument, dict):
        argument = argument.get("value", next(iter(argument.values()), None))
    if isinstance(argument, list):
        parts = [item for item in argument if isinstance(item, str)]
        argument = " ".join(parts) if len(parts) == len(argument) else None
    if not isinstance(argument, str):
        return
    name = facts.names[number]
    if "<node-" not in argument:
        kind, value = content_type(argument.strip("'")), argument
    else:
        digits = argument.partition("<node-")[2].partition(">")[0].strip()
        node = int(digits) if digits.isdecimal() and len(digits) < 10 else len(facts.names)
        if node == number or node >= len(facts.names):
            return
        value = facts.names[node]
        tool = bench.by_id.get(value)
        kind = "other" if tool is None else tool.outputs[0] if tool.outputs else "none"
        facts.edges.add((value, name))
        facts.places.add((node, number))
    facts.arguments.add((name, kind))
    facts.values.add((name, kind, value))


def _text(value: Json) -> str:
    """Return a value as text for comparison."""
    if isinstance(value, str):
        return value
    try:
        return str(value) if value is None or isinstance(value, bool) else dumps(value, indent=False)
    except (TypeError, ValueError):  # no JSON
        return excerpt(value)


def _by_links(facts: PlanFacts, links: Json) -> None:
    """Count the links, if arguments do not show the dependencies."""
    first = {name: number for number, name in reversed(list(enumerate(facts.names)))}
    for source, target in filter(None, map(ends_of, listing(links))):
        facts.edges.add((source, target))
        if source in first and target in first:
            facts.places.add((first[source], first[target]))


def plan_check(options: JsonObject, place: CheckPlace) -> Callable[[CheckedRun, Json, Json], CheckScore]:
    """Return the check for one score of a plan, or for all of them: plans are our own, or TaskBench records.

    `tools` is a TaskBench tool file or its path, `score` one of `METRICS` (all by default), `min` the passing score (default 1).
    NED is inverted here, so that 1 is right.
    """
    tools, least, metric = options.get("tools"), options.get("min", 1), options.get("score")
    if isinstance(tools, str):
        try:
            tools = loads(read_whole(str(place.folder / tools)))
        except (OSError, ValueError) as error:
            raise ValueError(f"`tools` cannot be read: {error}") from None
    if not isinstance(least, int | float) or metric not in (None, *METRICS):
        raise ValueError(f"`min` is a number, and `score` one of {', '.join(METRICS)}")
    wrong: list[str] = []
    bench = read_bench(tools, lambda _path, reason: wrong.append(reason))
    if wrong or not bench.tools:
        raise ValueError(f"`tools` are not tools of TaskBench: {wrong[0] if wrong else 'there are none'}")

    index = {tool.id: number for number, tool in enumerate(bench.tools, 1)}

    def look(_seen: CheckedRun, part: Json, expected: Json) -> CheckScore:
        try:
            gold, said = (_facts_of(plan, bench, index) for plan in (expected, part))
        except InstrcError as error:
            return CheckScore(0.0, passed=False, reason=error.problems[0].message)
        if gold is None or said is None:
            return CheckScore(0.0, passed=False, reason=f"the plan {'that is expected ' if gold is None else ''}cannot be read")
        both = compared(gold, said)
        values = [2 * same / (here + there) if here + there else 1.0 for same, here, there in both.counts]
        named = dict(zip(METRICS, [*values, both.ratio or 0.0], strict=True))
        result = min(named.values()) if metric is None else named[str(metric)]
        return CheckScore(result, result >= least, ", ".join(f"{name} {value:.2f}" for name, value in named.items()))

    return look


def _facts_of(plan: Json, bench: Bench, index: dict[str, int]) -> PlanFacts | None:
    """Return the compared facts of one of our plans, or of a record."""
    record = read_record(plan if isinstance(plan, dict) else export_plan(plan, bench))
    return None if record is None or record.within else compared_facts(record, bench, index)
